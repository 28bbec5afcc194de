"""What a function behind a route or a page is given, by the types of its parameters."""

from __future__ import annotations

from typing import Any, cast

import pytest

from ezra.handles.graph import Graph
from ezra.service.caller import LOCAL, Caller
from ezra.service.handle_pool import HandlePool
from ezra.service.taking import Names, Taking
from ezra.wire.graphs import DiffAsked

GRAPH = cast("Graph", object())
NAMES = {"graph_id": "imola", "parent_id": "monaco"}


class _HandlePool:
    """Hands out one graph, and counts how often."""

    def __init__(self) -> None:
        self.asked_for: list[str] = []

    async def graph(self, graph_id: str, caller: Caller | None = None) -> Graph:
        assert caller is LOCAL, "whose token it is decides how far the handle looks"
        self.asked_for.append(graph_id)
        return GRAPH


async def _called(function: Any) -> tuple[Any, list[str]]:
    pool = _HandlePool()
    taking = Taking(function, tuple(NAMES), DiffAsked)
    found = await taking(cast("HandlePool", pool), LOCAL, NAMES, DiffAsked(other_id="monza"))
    return found, pool.asked_for


async def test_each_parameter_is_given_by_its_type_and_text_by_its_name() -> None:
    """In any order; the graph is that of the path."""

    async def takes(
        asked: DiffAsked, parent_id: str, graph: Graph, names: Names, who: Caller
    ) -> tuple[object, ...]:
        return asked, parent_id, graph, names, who

    found, asked_for = await _called(takes)
    assert found == (DiffAsked(other_id="monza"), "monaco", GRAPH, NAMES, LOCAL)
    assert asked_for == ["imola"]


async def test_nothing_is_looked_up_that_is_not_taken() -> None:
    """A function that takes no graph costs no look for one."""

    async def takes(asked: Any) -> object:
        return asked

    assert await _called(takes) == (DiffAsked(other_id="monza"), [])


def test_what_a_path_does_not_give_is_refused_at_once() -> None:
    """A name that is not in the path, a graph without its name, and any other type."""

    async def misspelt(parent: str) -> None: ...

    async def homeless(graph: Graph) -> None: ...

    async def other(count: int) -> None: ...

    for function, names in ((misspelt, ("parent_id",)), (homeless, ()), (other, ("count",))):
        with pytest.raises(TypeError, match="is given no"):
            Taking(function, names, DiffAsked)
