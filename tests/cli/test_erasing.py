"""Whether the terminal tells how far an erasure came, and of stores that are not clean yet."""

from __future__ import annotations

import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest
from support.cli_doors import Door

NAME = "Jane Miller"


@pytest.fixture
def door(tmp_path: Path) -> Door:
    """Return a door to a memory that speaks of somebody."""
    door = Door("embedded", ("--home", str(tmp_path / "home")))
    door.done("graph", "create", "imola")
    door.done("agent", "spawn", "imola", "strategist")
    door.done("remember", "imola", "strategist", f"{NAME} drives the truck.")
    return door


def _left(tmp_path: Path) -> list[str]:
    """Return the files in which the name is left."""
    files = [one for one in (tmp_path / "home").rglob("*") if one.is_file()]
    return [one.name for one in files if b"Miller" in one.read_bytes()]


@pytest.mark.parametrize("how", ["erase", "purge", "redact"])
def test_a_store_that_is_not_clean_is_named_and_the_exit_code_says_so(
    door: Door, how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever reads that somebody was erased relies on it; the same command finishes it later."""
    (fact,) = door.told("graph", "erase", "imola", "--subject", NAME, "--dry-run")["records"]
    chosen = {
        "erase": ("erase", "imola", "--subject", NAME),
        "purge": ("purge", "imola", "--yes"),
        "redact": ("redact", "imola", fact["id"]),
    }[how]
    command = ("graph", *chosen, "--reason", "case 17")
    with monkeypatch.context() as full:
        full.setattr(shutil, "disk_usage", lambda _folder: SimpleNamespace(free=1 << 20))
        for _ in range(2):
            found = door(*command)
            assert found.code == 1, found
            assert "not clean yet: warm: " in found.out
            assert _left(tmp_path)
        again = door(*command, "--json")
        assert (again.code, list(again.document["waiting"])) == (1, ["warm"])
    found = door.done(*command)
    assert "not clean yet" not in found.out
    assert _left(tmp_path) == []


def test_how_much_an_erasure_reached_is_told(door: Door) -> None:
    """Who mistyped a name reads that nothing was found under it."""
    command = ("graph", "erase", "imola", "--reason", "case 17", "--subject")
    for name, count in (("Jane Milner", 0), (NAME, 1)):
        told = door.done(*command, name).out
        assert told == f"{name} erased from imola, {count} records and receipts in all\n"
