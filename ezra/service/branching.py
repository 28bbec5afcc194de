"""Makes branches of graphs, and compares them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from ..difference import BeliefDiff
from ..wire import branching
from ..wire.graphs import GraphAnswer
from .caller import Caller
from .desk import Desk
from .handlers import handlers

Names: TypeAlias = Mapping[str, str]


@handlers.does(branching.BRANCH)
async def branch(
    desk: Desk, caller: Caller, names: Names, asked: branching.BranchAsked
) -> GraphAnswer:
    """Make a branch; a token for one graph makes none, since it could not reach it."""
    operation = branching.BRANCH
    caller.check(operation.needs, operation.name, asked.session_graph_id, None)
    made = await (await desk.graph(names["graph_id"])).branch(**asked.said)
    return GraphAnswer(id=made.id, inherits_from=made.inherits_from)


@handlers.does(branching.DIFF)
async def diff_of_graphs(
    desk: Desk, caller: Caller, names: Names, asked: branching.DiffAsked
) -> BeliefDiff:
    """Return how two graphs differ, both of which the caller may read."""
    operation = branching.DIFF
    caller.check(operation.needs, operation.name, asked.other_id, None)
    other = await desk.graph(asked.other_id)
    return await (await desk.graph(names["graph_id"])).diff(other)
