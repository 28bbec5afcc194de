"""The lifecycle agent: compresses what left the ring, consolidates what is about to expire.

Every record it makes has an id derived from what it covers and is stored together with its
coverage, so a pass that is repeated, or runs twice at once, changes nothing the second time.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta

import numpy as np

from tiers.errors import Conflict
from tiers.ids import derived_id
from tiers.lexical import estimate_tokens
from tiers.ports import Embedder, EpisodicStore, TurnStore, WarmStore
from tiers.records import Episode, Scope, Summary, Turn, Work, WorkDraft
from tiers.registry import GraphStore
from tiers.upkeep import Redacted, Redactor

from .extract import Matrix, extract, sentences_of, summarise
from .rules import (
    LifecyclePolicy,
    bottom_up,
    due_again,
    group_by_day,
    group_turns,
    ready_groups,
    shared_topics,
)

TURNS_PER_PASS = 512
SUMMARIES_PER_PASS = 256
PASSES_MAX = 10_000
REWRITES_PER_PAGE = 500
REWRITE_ATTEMPTS_MAX = 5
REDACTED_MEANWHILE = "made of what was redacted meanwhile"
"""Why an episode is redacted that nobody wants to be rid of: it is written anew at once."""

LAST_MOMENT = datetime(9999, 1, 1, tzinfo=UTC)
"""Later than anything expires."""


@dataclass(frozen=True)
class LifecycleReport:
    """What lifecycle passes did.

    Attributes:
        summaries_written: New level-0 summaries.
        turns_covered: Turns that these summaries stand for.
        turns_waiting: Overflowed turns that still wait for company, after the pass.
        episodes_written: New daily episodes.
        entries_evicted: Warm entries removed because they had expired.
        beliefs_retired: Beliefs that lost their content because the graph's retention says so.
        problems: Work that failed, and why; it is tried again.
    """

    summaries_written: int = 0
    turns_covered: int = 0
    turns_waiting: int = 0
    episodes_written: int = 0
    entries_evicted: int = 0
    beliefs_retired: int = 0
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
        graphs: Where a graph's own retention is.
        turns: Where uncovered turns come from.
        episodic: Where summaries and episodes go.
        warm: What expired summaries are evicted from.
        embedder: Places sentences around their centroid; ``None`` compares words instead.
        policy: When and how much.
        redactor: Says whether what an episode was made of was redacted while it was made.
    """

    def __init__(
        self,
        graphs: GraphStore,
        turns: TurnStore,
        episodic: EpisodicStore,
        warm: WarmStore,
        embedder: Embedder | None,
        policy: LifecyclePolicy,
        redactor: Redactor,
    ) -> None:
        self._graphs = graphs
        self._turns = turns
        self._episodic = episodic
        self._warm = warm
        self._embedder = embedder
        self._policy = policy
        self._redactor = redactor
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
            if ready:
                expires_at = now + await self._summary_ttl(scope)
                for group in ready:
                    await self._compress_group(scope, group, now, expires_at)
            done = {group[0].id for group in ready}
            left = [group for group in groups if group[0].id not in done]
            if len(turns) < TURNS_PER_PASS or not ready:
                break
        return Waiting(sum(len(group) for group in left), due_again(left, self._policy))

    async def consolidate(self, scope: Scope, now: datetime, *, everything: bool = False) -> int:
        """Make daily episodes of summaries about to expire, then evict what has expired.

        Args:
            scope: The runtime's scope of the graph.
            now: The current time.
            everything: The graph is done: consolidate every summary, whenever it expires.

        Returns:
            How many entries were evicted.
        """
        before = LAST_MOMENT if everything else now + self._policy.consolidate_before
        for _ in range(PASSES_MAX):
            due = await self._episodic.due_summaries(scope, before, SUMMARIES_PER_PASS)
            written = 0
            for day, members in group_by_day(due):
                written += await self._write_episode(scope, day, members, now)
            self._count(episodes_written=written)
            if len(due) < SUMMARIES_PER_PASS or not written:
                break
        evicted = await self._warm.delete_expired(scope, now)
        self._count(entries_evicted=evicted)
        return evicted

    async def rewrite(
        self,
        scope: Scope,
        redacted: Redacted,
        redactor: Redactor,
        *,
        leave: Collection[str] = (),
    ) -> tuple[str, ...]:
        """Give redacted summaries and episodes a new text, from what is left of their sources.

        From the bottom up, so that an episode is made of summaries that have theirs already. Ids
        and coverage stay. A record of which nothing is left stays redacted. May be repeated.

        Args:
            scope: The runtime's scope of the graph.
            redacted: What a redaction reached.
            redactor: What reached it.
            leave: Ids that get no text: somebody wanted to be rid of just that.

        Returns:
            The ids of those that have a text again.
        """
        ids = [*redacted.ids.get("summary", ()), *redacted.ids.get("episode", ())]
        wanted = [one for one in ids if one not in leave]
        lost: list[Summary | Episode] = []
        for start in range(0, len(wanted), REWRITES_PER_PAGE):
            found = await redactor.redacted(scope, wanted[start : start + REWRITES_PER_PAGE])
            lost += [one for one in found if isinstance(one, Summary | Episode)]
        written = [
            record.id for record in bottom_up(lost) if await self._rewrite(scope, record, redactor)
        ]
        return tuple(written)

    async def _rewrite(self, scope: Scope, record: Summary | Episode, redactor: Redactor) -> bool:
        for _ in range(REWRITE_ATTEMPTS_MAX):
            text = await self._text_of(record, await redactor.left_of(scope, record))
            if not text:
                return False
            told: dict[str, object] = {"text": text}
            if isinstance(record, Summary):
                told["tokens"] = estimate_tokens(text)
            work = [index_work(record.id, record.agent_id)]
            if await redactor.rewrite(scope, record.model_copy(update=told), work):
                return True
            # Either somebody wrote it first, or more of its sources was redacted meanwhile.
            found = await redactor.redacted(scope, [record.id])
            still = [one for one in found if isinstance(one, Summary | Episode)]
            if not still:
                return False
            record = still[0]
        return False

    async def _text_of(
        self, record: Summary | Episode, sources: Sequence[Turn | Summary | Episode]
    ) -> str:
        """Return the text of a record that is made of these; empty when they say nothing."""
        if isinstance(record, Summary):
            return await self._summary_text([one for one in sources if isinstance(one, Turn)])
        members = [one for one in sources if not isinstance(one, Turn)]
        return await self._episode_text(record.starts_at.date(), members)

    def _count(self, **more: int) -> None:
        counted = {name: getattr(self._done, name) + count for name, count in more.items()}
        self._done = replace(self._done, **counted)

    async def _summary_ttl(self, scope: Scope) -> timedelta:
        """Return how long the graph keeps its summaries."""
        graph = await self._graphs.graph(scope.tenant, scope.graph_id)
        own = None if graph is None else graph.retention.summary_ttl_hours
        return self._policy.summary_ttl if own is None else timedelta(hours=own)

    async def _compress_group(
        self, scope: Scope, group: Sequence[Turn], now: datetime, expires_at: datetime
    ) -> None:
        summary = await self._summary_of(scope, group, now, expires_at)
        work = [index_work(summary.id, summary.agent_id)]
        try:
            written = await self._episodic.put_summary(scope, summary, work)
        except Conflict:
            # Another runtime covered some of these turns since they were read; the next pass
            # regroups what it left.
            return
        if written:
            self._count(summaries_written=1, turns_covered=len(group))

    async def _summary_of(
        self, scope: Scope, group: Sequence[Turn], now: datetime, expires_at: datetime
    ) -> Summary:
        text = await self._summary_text(group)
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
            expires_at=expires_at,
        )

    async def _write_episode(
        self, scope: Scope, day: date, members: Sequence[Summary], now: datetime
    ) -> bool:
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
            text=await self._episode_text(day, members) or day.isoformat(),
            children=children,
            starts_at=first.starts_at,
            ends_at=max(member.ends_at for member in members),
        )
        work = [index_work(episode.id, episode.agent_id)]
        try:
            written = await self._episodic.put_episode(scope, episode, work)
        except Conflict:
            return False
        if written:
            await self._check_episode(scope, episode, members, self._redactor, now)
        return written

    async def _check_episode(
        self,
        scope: Scope,
        episode: Episode,
        members: Sequence[Summary],
        redactor: Redactor,
        now: datetime,
    ) -> None:
        """Write a new episode anew if its members were redacted between reading and storing.

        The redaction may have looked for it before it was there.
        """
        left = await redactor.left_of(scope, episode)
        if [(one.id, _said(one)) for one in left] == [(one.id, one.text) for one in members]:
            return
        reason = "made of what was redacted meanwhile"
        await self.rewrite(scope, await redactor.redact(scope, [episode.id], reason, now), redactor)

    async def _summary_text(self, turns: Sequence[Turn]) -> str:
        found = sentences_of(turns)
        vectors = await self._vectors([sentence.text for sentence in found])
        return summarise(found, vectors, self._policy.summary_tokens)

    async def _episode_text(self, day: date, members: Sequence[Summary | Episode]) -> str:
        """Return what is worth keeping of the members, under its day; empty when there is none."""
        lines = [line for member in members for line in member.text.splitlines()]
        kept = extract(lines, await self._vectors(lines), self._policy.episode_tokens)
        return "\n".join([day.isoformat(), *(lines[row] for row in kept)]) if kept else ""

    async def _vectors(self, texts: Sequence[str]) -> Matrix | None:
        if self._embedder is None or not texts:
            return None
        return np.asarray(await self._embedder.embed(texts), dtype=np.float32)


def _said(record: Turn | Summary | Episode) -> str:
    return "" if isinstance(record, Turn) else record.text


def index_work(record_id: str, agent_id: str | None) -> WorkDraft:
    """Return the work of putting a stored record into the warm index."""
    return WorkDraft(
        kind="index", key=record_id, agent_id=agent_id or None, payload={"id": record_id}
    )
