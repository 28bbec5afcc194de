"""Whom a handle acts for, looked up again at each call."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from tiers.errors import NotFound, UsageError
from tiers.fleet import CATALOG
from tiers.records import ALL_TOPICS, Scope, Standing

from .membership import Membership


@dataclass(frozen=True)
class Access:
    """Who a handle asks and writes for, looked up again at each call.

    Attributes:
        reading: Returns the scope to read with.
        writing: Returns the scope to write with, and the topics that a new record carries, given
            the topics that are asked for and what for.
        standing: Returns whose budgets count, as it was at the last call.
    """

    reading: Callable[[], Awaitable[Scope]]
    writing: Callable[[Sequence[str] | None, str], Awaitable[tuple[Scope, tuple[str, ...]]]]
    standing: Callable[[], Standing]


def access_of_operator(membership: Membership, scope: Scope) -> Access:
    """Return the access of whoever acts on a whole session graph, or on the catalog.

    What is written carries the topics that are asked for, and is shared.
    """
    operator = _Operator(membership, scope)
    return Access(operator.reading, operator.writing, operator.standing)


class _Operator:
    def __init__(self, membership: Membership, scope: Scope) -> None:
        self._membership = membership
        self._scope = scope
        self._standing: Standing | None = None

    def standing(self) -> Standing:
        if self._standing is None:
            raise UsageError("graph", self._scope.graph_id, "a graph that was looked up")
        return self._standing

    async def reading(self) -> Scope:
        try:
            self._standing = await self._membership.of_graph(self._scope)
        except NotFound:
            if self._scope.graph_id != CATALOG:
                raise
            return self._scope  # who only looks does not make it: nothing is in it yet
        return self._scope.model_copy(update={"lineage": self._standing.lineage})

    async def writing(self, asked: Sequence[str] | None, _: str) -> tuple[Scope, tuple[str, ...]]:
        topics = tuple(asked or ())
        if ALL_TOPICS in topics:
            raise UsageError("topics", ALL_TOPICS, "names of topics")
        return await self.reading(), topics
