"""The commands about live sources, on an embedded store and on a server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from support.cli_doors import DOORS, Door, command, door_to
from support.mesh_sources import Shop, mesh_file, shop_at, stock


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
