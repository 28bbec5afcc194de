"""``ezra call``, and the commands about live sources."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from support.cli_doors import DOORS, Door, command, door_to, module_door
from support.mesh_sources import Shop, mesh_file, shop_at, stock

from ezra.cli import call
from ezra.handles.quarantine import QuarantineReview
from ezra.operations import operation
from ezra.wire.handles import GRAPH_QUARANTINE, HANDLES

# ``ezra call``: what a handle offers is there at the terminal too, as soon as it is offered.


@pytest.fixture(scope="module")
def ezra(shared: Door) -> Door:
    """Each door, to a graph with an agent and two facts."""
    door = module_door(shared, "called", "strategist")
    for fact in ("Mediums last 18 laps.", "Softs last 9 laps."):
        door.done("remember", "called", "strategist", fact, "--topic", "tyres")
    return door


def test_an_operation_is_called_by_its_name(ezra: Door) -> None:
    """Of a graph, of what a graph has, of an agent; with numbers, lists and text."""
    facts = ezra.told("call", "graph.latest_facts", "called", "--with", "limit=1")
    assert [one["text"] for one in facts["rows"]] == ["Softs last 9 laps."]
    again = json.loads(ezra.done("call", "graph.latest_facts", "called", "--with", "limit=1").out)
    assert again == facts
    said = ("--with", "claim=It will rain.", "--with", 'topic="tyres"')
    belief = ezra.told("call", "agent.commit", "called", "strategist", *said)
    assert [one["id"] for one in ezra.told("call", "beliefs.active", "called")] == [belief["id"]]
    gone = ("--with", "reason=a test")
    ended = ezra.told("call", "agent.forget", "called", "strategist", facts["rows"][0]["id"], *gone)
    assert ended is True


def test_what_cannot_be_called_is_refused_by_its_name(ezra: Door) -> None:
    """No such operation, a name too few, a field too many or twice, a bound, no equals sign."""
    unknown = ezra("call", "graph.fly", "called")
    assert (unknown.code, unknown.err.split(":")[0]) == (1, "NotFound")
    latest = ("call", "graph.latest_facts")
    assert "graph_id" in ezra.refused(*latest)
    assert "colour" in ezra.refused(*latest, "called", "--with", "colour=red")
    assert "limit" in ezra.refused(*latest, "called", "--with", "limit=0")
    assert "NAME=VALUE" in ezra.refused(*latest, "called", "--with", "limit")
    twice = ezra.refused(*latest, "called", "--with", "limit=1", "--with", "limit=2")
    assert "limit was given twice" in twice


def test_all_operations_are_listed() -> None:
    """Without a memory: by name, with the names that each needs."""
    listed = command("call", "--json").document
    handed_out = sum(len(one.offered.keys() & one.answers.keys()) for one in HANDLES)
    offered = sum(len(one.offered) for one in HANDLES) - handed_out  # these end with the command
    assert len(listed) == len(set(listed)) == offered
    assert "graph.knowledge.entity" in listed
    assert "agent.forget  graph_id agent_id fact_id" in command("call").lines


def test_what_a_handle_offers_anew_is_a_command_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A decorated method is all that it takes."""

    @operation("GET", "/waiting/{kind}")
    async def waiting(self: QuarantineReview, kind: str, *, least: int = 0) -> dict[str, int]:
        """Return how many texts of a kind wait."""
        return {kind: max(least, len(await self.list()))}

    monkeypatch.setattr(QuarantineReview, "waiting", waiting, raising=False)
    monkeypatch.setattr(call, "HANDLES", (replace(GRAPH_QUARANTINE),))
    with door_to("embedded", tmp_path / "home") as door:
        door.done("graph", "create", "imola")
        asked = ("call", "graph.quarantine.waiting", "imola", "fact", "--with", "least=3")
        assert door.told(*asked) == {"fact": 3}


# The commands about live sources, on an embedded store and on a server.


@pytest.fixture(scope="module", params=DOORS)
def cli(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Door, Path]]:
    """The command line on a store with one source, and the source's file."""
    folder = tmp_path_factory.mktemp("mesh-cli")
    file = mesh_file(folder / "mesh.yaml", stock=stock(shop_at(folder / "shop.db")))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EZRA_MESH_FILE", str(file))
        with door_to(request.param, folder / "home") as door:
            door.done("graph", "create", "imola")
            door.done("agent", "spawn", "imola", "buyer", "--topic", "tyres")
            yield door, file


def test_the_command_line_lists_shows_and_asks(cli: tuple[Door, Path]) -> None:
    """For people and for programs, through either door."""
    door, _ = cli
    assert "stock" in door.done("mesh", "list").out
    (listed,) = door.told("mesh", "list", "--graph", "imola", "--agent", "buyer")["sources"]
    assert set(listed["questions"]) == {"all", "level", "low", "named", "price", "total"}
    shown = door.done("mesh", "show", "stock").out
    assert "level: How many pieces of an article there are." in shown
    assert "sku: text of at most 5 characters like [A-Z][0-9]{1,4}" in shown
    who = ("--graph", "imola", "--agent", "buyer")
    found = door.told("mesh", "ask", "stock", "level", "--slot", "sku=A1", *who)
    assert found["rows"][0]["level"] == 42
    words = door.done("mesh", "ask", "stock", "--message", "level of B2", *who)
    assert "Right gear" in words.out
    assert "stock, queried 2026-" in words.err
    past = door.told(
        *("mesh", "ask", "stock", "price", "--slot", "sku=A1", "--as-of", "2026-02-01", *who)
    )
    assert past["rows"] == [{"sku": "A1", "price": 800}]
    assert "slots.sku" in door.refused("mesh", "ask", "stock", "level", "--slot", "sku=a", *who)
    assert "NAME=VALUE" in door.refused("mesh", "ask", "stock", "level", "--slot", "sku", *who)
    assert "--agent" in door.refused("mesh", "ask", "stock", "level", "--graph", "imola")
    assert door("mesh", "show", "nothing").code == 1


def test_the_command_line_checks_a_file(cli: tuple[Door, Path], tmp_path: Path) -> None:
    """The file itself, and each source against what is there; nothing is asked for."""
    _, file = cli
    done = command("mesh", "check", file)
    assert (done.code, done.out.splitlines()) == (0, ["stock (sql): ok"])
    declared = stock(Shop(file.with_name("shop.db")))
    declared["tables"]["nothing"] = {"columns": ["a"]}
    wrong = mesh_file(tmp_path / "wrong.yaml", stock=declared)
    done = command("mesh", "check", wrong, "--json")
    assert done.code == 1
    assert "there is no such table" in done.document["sources"]["stock"]["problem"]
    broken = mesh_file(tmp_path / "broken.yaml", stock={**declared, "kind": "oracle"})
    done = command("mesh", "check", broken)
    assert done.code == 3
    assert done.err.startswith("ConfigError: EZRA_MESH_FILE: ")
