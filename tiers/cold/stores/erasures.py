"""Erasures that have begun, and which turns that were open meanwhile they reach.

An erasure looks through what is stored. A turn that was opened before it and is replied to after
it would be stored behind its back, with what its agent was told before. So the graph names the
last erasure that began in it, a turn remembers which one that was when it was opened, and its
reply is held to those that began since: by the very test by which each finds what is stored.

The tests are kept in memory alone, since to keep what was erased on a disk would undo it. Of an
erasure that another process began nothing is known but that there was one: it may reach any turn.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import NamedTuple

from ...errors import ErasedMeanwhile
from ...records import Scope, SessionGraph, Turn
from ..port import Steps
from .graphs import found_graph
from .known_graphs import GRAPHS
from .rows import amend

KNOWN_MAX = 1_000
"""So many erasures are remembered; an older one may reach any turn that is still open."""


class Begun(NamedTuple):
    """An erasure that this process began.

    Attributes:
        graph: Its tenant and graph.
        before: The one before it in its graph.
        whose: What it erases: ``subject``, ``user`` or ``agent``.
        reaches: Whether it would redact a turn.
    """

    graph: tuple[str, str]
    before: str
    whose: str
    reaches: Callable[[Turn], bool]


class Erasures:
    """The last erasures that this process began, by their ids."""

    def __init__(self) -> None:
        self._begun: OrderedDict[str, Begun] = OrderedDict()
        self._last: dict[tuple[str, str], str] = {}

    def begin(
        self, scope: Scope, erasure_id: str, whose: str, reaches: Callable[[Turn], bool]
    ) -> Steps[None]:
        """Let the scope's graph name an erasure, inside a transaction; remember its test.

        It may be run again from its start, and knows then which erasure was before it.
        """
        graph = yield from found_graph(scope)
        if graph is None:
            return
        key = (scope.tenant, scope.graph_id)
        self._begun[erasure_id] = Begun(key, graph.erasure_id, whose, reaches)
        self._last[key] = erasure_id
        while len(self._begun) > KNOWN_MAX:
            forgotten, erasure = self._begun.popitem(last=False)
            if self._last.get(erasure.graph) == forgotten:
                del self._last[erasure.graph]
        yield from amend(GRAPHS, scope, [graph], erasure_id=erasure_id)

    def check(self, since: str, graph: SessionGraph, turn: Turn) -> None:
        """Refuse a turn that an erasure reaches which began after it was opened.

        Args:
            since: The last erasure of the graph when the turn was opened.
            graph: As it is now.
            turn: As it is to be stored.

        Raises:
            ErasedMeanwhile: There is one, or this process cannot tell.
        """
        for begun in self._back_to(since, graph.erasure_id):
            if begun is None:
                raise ErasedMeanwhile(turn.id, "somebody, by another process")
            if begun.reaches(turn):
                raise ErasedMeanwhile(turn.id, f"its {begun.whose}")

    def has_begun(self, scope: Scope, since: str) -> bool:
        """Whether this process began an erasure of the scope's graph after another one."""
        last = self._last.get((scope.tenant, scope.graph_id), since)
        return last != since and None not in self._back_to(since, last)

    def _back_to(self, since: str, last: str) -> Iterator[Begun | None]:
        """Yield the erasures after one, the last first; ``None`` for one that is not known."""
        while last != since:
            begun = self._begun.get(last)
            yield begun
            if begun is None:
                return
            last = begun.before
