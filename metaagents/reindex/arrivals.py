"""What was kept just now and is not in the index yet: who asks next waits for it, briefly."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from tiers.records import Scope

WAIT_SECONDS_MAX = 0.5
"""How long after it was kept nobody waits for a record any more: its words find it at once."""
RECORDS_MAX = 64
"""Of all graphs: where more is on its way the index is behind, and nobody waits for the rest."""


@dataclass
class _Coming:
    until: dict[str, float] = field(default_factory=dict)
    all_there: asyncio.Event = field(default_factory=asyncio.Event)


class Arrivals:
    """The records of this process that the index is to have at once, by their graph."""

    def __init__(self) -> None:
        self._graphs: dict[tuple[str, str], _Coming] = {}

    @contextmanager
    def coming(self, scope: Scope, record_id: str) -> Iterator[None]:
        """Announce a record that the block stores; one that it does not store is not awaited."""
        now = asyncio.get_running_loop().time()
        self._give_up_before(now)
        if sum(len(graph.until) for graph in self._graphs.values()) < RECORDS_MAX:
            graph = self._graphs.setdefault((scope.tenant, scope.graph_id), _Coming())
            graph.until[record_id] = now + WAIT_SECONDS_MAX
        try:
            yield
        except BaseException:
            self.arrived(scope, [record_id])
            raise

    def arrived(self, scope: Scope, ids: Iterable[str]) -> None:
        """Note that nobody need wait for records any more."""
        self._drop((scope.tenant, scope.graph_id), ids)

    async def wait(self, scope: Scope) -> None:
        """Return when the index has what was kept in a graph before, or when it takes too long."""
        graph = self._graphs.get((scope.tenant, scope.graph_id))
        if graph is None:
            return
        awaited = dict(graph.until)
        try:
            async with asyncio.timeout_at(max(awaited.values())):
                await graph.all_there.wait()
        except TimeoutError:
            self.arrived(scope, awaited)

    def _give_up_before(self, now: float) -> None:
        for key, graph in list(self._graphs.items()):
            self._drop(key, [one for one, until in graph.until.items() if until < now])

    def _drop(self, key: tuple[str, str], ids: Iterable[str]) -> None:
        graph = self._graphs.get(key)
        if graph is None:
            return
        for one in ids:
            graph.until.pop(one, None)
        if not graph.until:
            del self._graphs[key]
            graph.all_there.set()
