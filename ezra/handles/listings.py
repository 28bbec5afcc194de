"""What a graph holds, the latest first, page by page."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from datetime import datetime
from typing import Any, TypeVar

from tiers.errors import UsageError
from tiers.plans import GRAINS
from tiers.recollection import Place
from tiers.records import (
    Episode,
    Fact,
    FactTier,
    Grain,
    Hit,
    Kind,
    Rule,
    Scope,
    SearchQuery,
    Summary,
)
from tiers.upkeep import Page

from ..checks import checked, checked_ids, narrowing_topics
from ..operations import SHORT_PAGE_MAX, Ids, PageOf100, operation
from ..runtime import Runtime
from .paging import cursor_of, place_of

R = TypeVar("R", Fact, Rule)


class LatestOfGraph:
    """The part of a graph's handle that lists what it holds."""

    _runtime: Runtime
    _scope: Scope

    @operation("GET", "/summaries")
    async def summaries(self) -> tuple[Summary, ...]:
        """Return all shared summaries of the graph, oldest period first."""
        return await self._runtime.episodic.summaries(self._scope)

    @operation("GET", "/episodes")
    async def episodes(
        self,
        since: datetime | None = None,
        until: datetime | None = None,
        *,
        grain: Grain | None = None,
    ) -> tuple[Episode, ...]:
        """Return all shared episodes that overlap ``[since, until)``, oldest first.

        Args:
            since: The beginning; open if not given.
            until: The end, not included; open if not given.
            grain: ``daily``, ``weekly``, ``monthly``, ``quarterly`` or ``yearly``; all of them if
                not given.

        Raises:
            UsageError: There is no such grain, or a moment has no zone.
        """
        if grain is not None and grain not in GRAINS:
            raise UsageError("grain", grain, ", ".join(GRAINS))
        for name, moment in (("since", since), ("until", until)):
            if moment is not None and moment.tzinfo is None:
                raise UsageError(name, moment, "a time with its zone")
        return await self._runtime.episodic.episodes(self._scope, since, until, grain)

    @operation("POST", "/facts/lookup")
    async def facts(self, ids: Ids) -> tuple[Fact, ...]:
        """Return the shared facts among ``ids``, in the order asked."""
        return await self._runtime.semantic.facts(self._scope, checked_ids("ids", ids))

    @operation("GET", "/facts")
    async def latest_facts(
        self,
        *,
        tier: FactTier | None = None,
        topics: Iterable[str] | None = None,
        all_topics: Iterable[str] | None = None,
        after: str = "",
        limit: PageOf100 = SHORT_PAGE_MAX,
    ) -> Page[Fact]:
        """Return the graph's shared facts that are live, the latest first, page by page.

        By when they began to be true, or else were recorded.

        Args:
            tier: ``core`` or ``archival``; both if not given.
            topics: Only facts with one of these.
            all_topics: Only facts with every one of these, 16 at most.
            after: The ``cursor`` of the page before; empty begins.
            limit: 1 to 100.

        Raises:
            UsageError: An argument is not acceptable.
        """
        return await facts_page(
            self._runtime,
            self._scope,
            tier=tier,
            topics=topics,
            all_topics=all_topics,
            after=after,
            limit=limit,
        )

    @operation("GET", "/rules")
    async def latest_rules(
        self,
        *,
        topics: Iterable[str] | None = None,
        after: str = "",
        limit: PageOf100 = SHORT_PAGE_MAX,
    ) -> Page[Rule]:
        """Return the graph's shared rules, the latest first, page by page; as ``latest_facts``.

        Raises:
            UsageError: An argument is not acceptable.
        """
        found = await _latest(self._runtime, self._scope, "rule", after, limit, topics=topics)
        return await _page(
            found, limit, lambda ids: self._runtime.playbooks.rules(self._scope, ids)
        )


async def facts_page(
    runtime: Runtime,
    scope: Scope,
    *,
    tier: FactTier | None,
    topics: Iterable[str] | None,
    all_topics: Iterable[str] | None,
    after: str,
    limit: int,
) -> Page[Fact]:
    """Return live facts that a scope sees, the latest first; as ``LatestOfGraph.latest_facts``.

    Raises:
        UsageError: An argument is not acceptable.
    """
    found = await _latest(
        runtime, scope, "fact", after, limit, topics=topics, all_topics=all_topics, tier=tier
    )
    return await _page(found, limit, lambda ids: runtime.semantic.facts(scope, ids))


async def _latest(
    runtime: Runtime,
    scope: Scope,
    kind: Kind,
    after: str,
    limit: int,
    *,
    topics: Iterable[str] | None,
    all_topics: Iterable[str] | None = None,
    tier: FactTier | None = None,
) -> tuple[Hit, ...]:
    """Return so many and one more, which tells whether there is a further page."""
    behind = place_of(after) if after else None
    named = narrowing_topics("topics", topics, every=False)
    every = narrowing_topics("all_topics", all_topics, every=True)
    said: dict[str, Any] = {"kinds": (kind,), "tier": tier, "topics": named, "all_topics": every}
    query = checked(SearchQuery, text="", limit=limit + 1, now=runtime.clock(), **said)
    return await runtime.timeline.latest(scope, query, behind=behind)


async def _page(
    found: Sequence[Hit], limit: int, read: Callable[[Sequence[str]], Awaitable[tuple[R, ...]]]
) -> Page[R]:
    shown = found[:limit]
    rows = await read([one.id for one in shown]) if shown else ()
    return Page(rows=rows, cursor=_cursor_of(shown[-1]) if len(found) > limit else None)


def _cursor_of(hit: Hit) -> str:
    return cursor_of(Place(hit.occurred_at or hit.recorded_at, hit.id))
