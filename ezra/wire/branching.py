"""Branches of a session graph, as operations."""

from __future__ import annotations

from pydantic import Field, TypeAdapter

from tiers.fields import NAME_CHARS_MAX

from ..difference import BeliefDiff
from .graphs import GraphAnswer
from .operation import Asked, Operation
from .points import Count, Time


class BranchAsked(Asked):
    """As ``Graph.branch``."""

    session_graph_id: str = Field(max_length=NAME_CHARS_MAX, examples=["what-if"])
    turn: Count | None = None
    time: Time | None = None


class DiffAsked(Asked):
    """With which graph."""

    other_id: str = Field(max_length=NAME_CHARS_MAX)


BRANCH = Operation(
    "graph.branch",
    "POST",
    "/v1/graphs/{graph_id}/branches",
    BranchAsked,
    TypeAdapter(GraphAnswer),
    "operate",
    "Make a graph that begins with what this one believed at a moment, and goes on alone.",
    repeats=False,
)
DIFF = Operation(
    "graph.diff",
    "GET",
    "/v1/graphs/{graph_id}/diff",
    DiffAsked,
    TypeAdapter(BeliefDiff),
    "read",
    "How what another graph believes now differs from what this one does.",
)
