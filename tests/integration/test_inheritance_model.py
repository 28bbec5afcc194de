"""Inheritance against a reference of forty lines, over random session graphs.

Each world is made step by step in a real cold store. Then agents ask what they inherit, and every
answer is the reference's: ancestors and how each is read, core facts with what they shadow, rules.
"""

from __future__ import annotations

import ast
import inspect
from pathlib import Path
from random import Random

import pytest
from support import lineage_reference as reference
from support.cold_backends import COLD_BACKENDS, Cold, ColdBackend
from support.lineage_worlds import WORD, Reader, Told, Way, WorldMaker, number
from support.records import START

from ezra.turn.shadowing import resolve_core
from tiers.records import Fact, Scope

SERVERS = [one for one in COLD_BACKENDS if one.name in {"mongo", "mongo-live"}]
BACKENDS = [
    next(one for one in COLD_BACKENDS if one.name == "sqlite"),
    *(pytest.param(one, marks=pytest.mark.slow) for one in SERVERS),
]
"""Who inherits what is decided by the stores, which are the same over every engine; what an engine
has part in is asked of each by the contract of graphs."""
SHORT_WORLDS = {"sqlite": 30}
READERS = 12
CODE_LINES_MAX = 40

Seen = list[tuple[str, str, tuple[str, ...]]]


async def _check_world(cold: Cold, seed: int, graphs_max: int) -> None:
    draw = Random(seed)
    maker = WorldMaker(cold, f"tenant {seed}", draw)
    graphs = draw.randint(graphs_max // 2, graphs_max)
    await maker.make(graphs, draw.randint(4, 10) * graphs)
    for _ in range(READERS):
        reader = maker.reader()
        await _check_reader(cold, maker, reader, f"world {seed}, {reader}")


async def _check_reader(cold: Cold, maker: WorldMaker, reader: Reader, why: str) -> None:
    world, bare = maker.world, maker.scope(reader)
    standing = await cold.graphs.standing(bare)
    assert standing is not None
    ways = reference.ways(world, reader.graph)
    lineage = [
        (one.graph_id, one.path, number(one.as_of), frozenset(one.carries))
        for one in standing.lineage
    ]
    assert lineage == [(name, *_as_tuple(way)) for name, way in ways.items()], why
    paths = {name: way.path for name, way in ways.items()}

    scope = bare.model_copy(update={"lineage": standing.lineage})
    resolved = resolve_core(scope, await cold.semantic.core(scope), now=START)
    seen, shadowed = reference.core(world, reader)
    assert _stored(resolved.visible, scope) == _told(seen, paths), why
    assert _stored(resolved.shadowed, scope) == _told(shadowed, paths), why

    rules = await cold.procedural.match_rules(scope, WORD, 200)
    assert {rule.id for rule in rules} == reference.rules(world, reader), why
    assert len({rule.id for rule in rules}) == len(rules), why


def _as_tuple(way: Way) -> tuple[tuple[str, ...], int | None, frozenset[str]]:
    return way.path, way.moment, way.carries


def _stored(facts: tuple[Fact, ...], scope: Scope) -> Seen:
    paths = {ancestor.graph_id: ancestor.path for ancestor in scope.lineage}
    return [(fact.id, fact.graph_id, paths.get(fact.graph_id, ())) for fact in facts]


def _told(told: list[Told], paths: dict[str, tuple[str, ...]]) -> Seen:
    return [(one.id, one.graph, paths.get(one.graph, ())) for one in told]


@pytest.mark.parametrize("backend", BACKENDS, ids=lambda backend: backend.name)
async def test_inheritance_agrees_with_the_reference(backend: ColdBackend, tmp_path: Path) -> None:
    """A few repeatable worlds of up to 30 graphs."""
    async with backend.opened(tmp_path) as cold:
        for seed in range(SHORT_WORLDS.get(backend.name, 3)):
            await _check_world(cold, seed, graphs_max=30 if seed % 4 == 0 else 8)


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("backend", BACKENDS, ids=lambda backend: backend.name)
async def test_inheritance_agrees_with_the_reference_in_many_worlds(
    backend: ColdBackend, tmp_path: Path
) -> None:
    """Three hundred worlds, half of them large."""
    async with backend.opened(tmp_path) as cold:
        for seed in range(1000, 1300):
            await _check_world(cold, seed, graphs_max=30 if seed % 2 else 10)


def test_reference_is_short_enough_to_be_believed() -> None:
    """At most forty lines of code, imports and docstrings aside."""
    source = inspect.getsource(reference)
    tree = ast.parse(source)
    lines: set[int] = set()
    for function in tree.body:
        if isinstance(function, ast.FunctionDef):
            first = function.body[1 if ast.get_docstring(function) else 0].lineno
            end = function.end_lineno or first
            lines |= {function.lineno, *range(first, end + 1)}
        elif isinstance(function, ast.Assign):
            lines.add(function.lineno)
    assert 20 < len(lines) <= CODE_LINES_MAX
