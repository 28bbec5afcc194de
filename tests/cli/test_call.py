"""``ezra call``: what a handle offers is there at the terminal too, as soon as it is offered."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from support.cli_doors import Door, command, door_to, module_door

from ezra.cli import call
from ezra.handles.quarantine import QuarantineReview
from ezra.operations import operation
from ezra.wire.handles import GRAPH_QUARANTINE, HANDLES


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
    """An operation that is not there, a name too few, a field too many, a bound, no equals sign."""
    unknown = ezra("call", "graph.fly", "called")
    assert (unknown.code, unknown.err.split(":")[0]) == (1, "NotFound")
    latest = ("call", "graph.latest_facts")
    assert "graph_id" in ezra.refused(*latest)
    assert "colour" in ezra.refused(*latest, "called", "--with", "colour=red")
    assert "limit" in ezra.refused(*latest, "called", "--with", "limit=0")
    assert "NAME=VALUE" in ezra.refused(*latest, "called", "--with", "limit")


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
