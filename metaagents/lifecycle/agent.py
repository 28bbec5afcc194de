"""The lifecycle agent: compresses what left the ring, consolidates what is about to expire.

Every record it makes has an id derived from what it covers and is stored together with its
coverage, so a pass that is repeated, or runs twice at once, changes nothing the second time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime

import numpy as np

from tiers.errors import Conflict
from tiers.ids import derived_id
from tiers.lexical import estimate_tokens
from tiers.ports import Embedder, EpisodicStore, TurnStore, WarmStore
from tiers.records import Episode, Scope, Summary, Turn, Work, WorkDraft

from .extract import Matrix, extract, sentences_of, summarise
from .rules import (
    LifecyclePolicy,
    due_again,
    group_by_day,
    group_turns,
    ready_groups,
    shared_topics,
)

TURNS_PER_PASS = 512
SUMMARIES_PER_PASS = 256
PASSES_MAX = 10_000


@dataclass(frozen=True)
class LifecycleReport:
    """What lifecycle passes did.

    Attributes:
        summaries_written: New level-0 summaries.
        turns_covered: Turns that these summaries stand for.
        turns_waiting: Overflowed turns that still wait for company, after the pass.
        episodes_written: New daily episodes.
        entries_evicted: Warm entries removed because they had expired.
        problems: Work that failed, and why; it is tried again.
    """

    summaries_written: int = 0
    turns_covered: int = 0
    turns_waiting: int = 0
    episodes_written: int = 0
    entries_evicted: int = 0
    problems: tuple[str, ...] = ()

    def since(self, before: LifecycleReport) -> LifecycleReport:
        """Return what was counted after ``before``."""
        return LifecycleReport(
            summaries_written=self.summaries_written - before.summaries_written,
            turns_covered=self.turns_covered - before.turns_covered,
            episodes_written=self.episodes_written - before.episodes_written,
            entries_evicted=self.entries_evicted - before.entries_evicted,
        )


@dataclass(frozen=True)
class Waiting:
    """Overflowed turns that wait for company.

    Attributes:
        turns: How many.
        until: When the first of them is compressed even without it; ``None`` if none waits.
    """

    turns: int
    until: datetime | None


class LifecycleAgent:
    """Compresses, consolidates and evicts for one graph at a time.

    Args:
        turns: Where uncovered turns come from.
        episodic: Where summaries and episodes go.
        warm: What expired summaries are evicted from.
        embedder: Places sentences around their centroid; ``None`` compares words instead.
        policy: When and how much.
    """

    def __init__(
        self,
        turns: TurnStore,
        episodic: EpisodicStore,
        warm: WarmStore,
        embedder: Embedder | None,
        policy: LifecyclePolicy,
    ) -> None:
        self._turns = turns
        self._episodic = episodic
        self._warm = warm
        self._embedder = embedder
        self._policy = policy
        self._done = LifecycleReport()

    @property
    def done(self) -> LifecycleReport:
        """What this agent has done since it was made."""
        return self._done

    async def handle(self, items: Sequence[Work], now: datetime) -> Mapping[str, datetime]:
        """Compress for each item's agent; an item comes back when its last group is of age."""
        later: dict[str, datetime] = {}
        for item in items:
            everything = bool(item.payload.get("everything"))
            waiting = await self.compress(item.scope, now, everything=everything)
            if waiting.until is not None:
                later[item.id] = waiting.until
        return later

    async def compress(self, scope: Scope, now: datetime, *, everything: bool = False) -> Waiting:
        """Turn the overflowed, uncovered turns of the scope's agent into summaries.

        Args:
            scope: The runtime's scope for one agent.
            now: The current time.
            everything: The agent is done: compress its ring as well, and wait for nothing.
        """
        keep_last = 0 if everything else self._policy.ring_capacity
        left: list[tuple[Turn, ...]] = []
        for _ in range(PASSES_MAX):
            turns = await self._turns.waiting_turns(scope, keep_last, TURNS_PER_PASS)
            groups = group_turns(turns, self._policy)
            ready = groups if everything else ready_groups(groups, self._policy, now)
            for group in ready:
                await self._compress_group(scope, group, now)
            done = {group[0].id for group in ready}
            left = [group for group in groups if group[0].id not in done]
            if len(turns) < TURNS_PER_PASS or not ready:
                break
        return Waiting(sum(len(group) for group in left), due_again(left, self._policy))

    async def consolidate(self, scope: Scope, now: datetime) -> None:
        """Make daily episodes of summaries about to expire, then evict what has expired."""
        before = now + self._policy.consolidate_before
        for _ in range(PASSES_MAX):
            due = await self._episodic.due_summaries(scope, before, SUMMARIES_PER_PASS)
            written = 0
            for day, members in group_by_day(due):
                written += await self._write_episode(scope, day, members, now)
            self._count(episodes_written=written)
            if len(due) < SUMMARIES_PER_PASS or not written:
                break
        self._count(entries_evicted=await self._warm.delete_expired(scope, now))

    def _count(self, **more: int) -> None:
        counted = {name: getattr(self._done, name) + count for name, count in more.items()}
        self._done = replace(self._done, **counted)

    async def _compress_group(self, scope: Scope, group: Sequence[Turn], now: datetime) -> None:
        summary = await self._summary_of(scope, group, now)
        work = [index_work(summary.id, summary.agent_id)]
        try:
            written = await self._episodic.put_summary(scope, summary, work)
        except Conflict:
            # Another runtime covered some of these turns since they were read; the next pass
            # regroups what it left.
            return
        if written:
            self._count(summaries_written=1, turns_covered=len(group))

    async def _summary_of(self, scope: Scope, group: Sequence[Turn], now: datetime) -> Summary:
        found = sentences_of(group)
        vectors = await self._vectors([sentence.text for sentence in found])
        text = summarise(found, vectors, self._policy.summary_tokens)
        first, last = group[0], group[-1]
        covers = tuple(turn.id for turn in group)
        return Summary(
            id=derived_id(first.occurred_at, "summary", scope.tenant, scope.graph_id, *covers),
            tenant=scope.tenant,
            graph_id=scope.graph_id,
            agent_id=first.agent_id,
            user_id=first.user_id,
            topics=shared_topics(group),
            private=first.private,
            recorded_at=now,
            text=text,
            covers=covers,
            tokens=estimate_tokens(text),
            starts_at=first.occurred_at,
            ends_at=last.occurred_at,
            expires_at=now + self._policy.summary_ttl,
        )

    async def _write_episode(
        self, scope: Scope, day: date, members: Sequence[Summary], now: datetime
    ) -> bool:
        lines = [line for member in members for line in member.text.splitlines()]
        kept = extract(lines, await self._vectors(lines), self._policy.episode_tokens)
        first = members[0]
        children = tuple(member.id for member in members)
        episode = Episode(
            id=derived_id(first.starts_at, "daily", scope.tenant, scope.graph_id, *children),
            tenant=scope.tenant,
            graph_id=scope.graph_id,
            agent_id=first.agent_id,
            user_id=first.user_id,
            topics=first.topics,
            private=first.private,
            recorded_at=now,
            grain="daily",
            text="\n".join([day.isoformat(), *(lines[row] for row in kept)]),
            children=children,
            starts_at=first.starts_at,
            ends_at=max(member.ends_at for member in members),
        )
        work = [index_work(episode.id, episode.agent_id)]
        try:
            return await self._episodic.put_episode(scope, episode, work)
        except Conflict:
            return False

    async def _vectors(self, texts: Sequence[str]) -> Matrix | None:
        if self._embedder is None or not texts:
            return None
        return np.asarray(await self._embedder.embed(texts), dtype=np.float32)


def index_work(record_id: str, agent_id: str | None) -> WorkDraft:
    """Return the work of putting a stored record into the warm index."""
    return WorkDraft(
        kind="index", key=record_id, agent_id=agent_id or None, payload={"id": record_id}
    )
