"""kill -9 right before any write of any pass, then the pass again: the same memory as without."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import pytest
from support.folder_copies import copied
from support.pass_acts import BEFORE, OFTEN, PASSES
from support.write_points import Forge, forge

EVERY = 60
"""The normal run takes every sixtieth point of a pass; the slow one takes all of them."""


class Memory:
    """The folders that passes begin with: each what another pass left, made when asked for."""

    def __init__(self, folder: Path, smithy: Forge) -> None:
        self.folder = folder
        self.forge = smithy

    def before(self, name: str) -> Path:
        """Return the folder that a pass begins with."""
        home = self.folder / f"before {name}"
        if not home.exists():
            former = BEFORE[name]
            if former is None:
                self.forge.run("live", home)
            else:
                copied(self.before(former), home)
                self.forge.run(former, home)
        return home

    def undisturbed(self, name: str) -> tuple[int, Mapping[str, object]]:
        """Return how many writes a pass makes when nobody kills it, and what is there after it."""
        home = self.folder / "undisturbed"
        copied(self.before(name), home)
        writes = self.forge.run(name, home).writes
        answer = self.forge.run(f"{name}, settled", home).answer
        shutil.rmtree(home)
        return writes, answer

    def killed(self, name: str, point: int) -> Mapping[str, object]:
        """Return what is there when a pass died before a write, and somebody began it again."""
        home = self.folder / "killed"
        copied(self.before(name), home)
        try:
            assert self.forge.run(name, home, die_at=point).died
            return self.forge.run(f"{name}, again", home).answer
        finally:
            shutil.rmtree(home)


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    """The folders of this module's tests."""
    folder = tmp_path_factory.mktemp("points")
    with forge("support.pass_acts", folder) as smithy:
        yield Memory(folder, smithy)


def _check(memory: Memory, name: str, every: int) -> None:
    writes, expected = memory.undisturbed(name)
    assert writes > 0, "a pass that writes nothing has no points"
    points = {*range(1, writes + 1, every), writes}
    wrong = {p: _differences(expected, memory.killed(name, p)) for p in sorted(points)}
    assert {point: found for point, found in wrong.items() if found} == {}, f"of {writes} writes"


def _differences(expected: Mapping[str, object], found: Mapping[str, object]) -> list[str]:
    """Return what is missing and what is too much, table by table."""
    told: list[str] = []
    for table in sorted({*expected, *found}):
        one, other = _items(expected.get(table)), _items(found.get(table))
        told += [f"{table}: missing {row}" for row in _without(one, other)]
        told += [f"{table}: too much {row}" for row in _without(other, one)]
    return told


def _items(rows: object) -> list[str]:
    if isinstance(rows, dict):
        return [f"{key}: {count}" for key, count in sorted(rows.items())]
    return [str(row) for row in rows] if isinstance(rows, list) else []


def _without(rows: Iterable[str], others: Iterable[str]) -> list[str]:
    left = list(others)
    return [row for row in rows if row not in left or left.remove(row)]


@pytest.mark.parametrize("name", OFTEN)
def test_a_pass_killed_before_a_write_ends_as_if_it_never_was(memory: Memory, name: str) -> None:
    """One in sixty points of the pass, the first and the last among them."""
    _check(memory, name, EVERY)


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", PASSES)
def test_a_pass_killed_before_each_of_its_writes(memory: Memory, name: str) -> None:
    """Every point of the pass."""
    _check(memory, name, 1)
