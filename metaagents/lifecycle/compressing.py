"""Turning turns into level-0 summaries: what left the ring, and whole days that are over."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING

from tiers.drafts import index_work
from tiers.errors import Conflict
from tiers.records import Scope, Turn

from . import rules
from .building import summary_of
from .periods import FIRST_MOMENT, day_of
from .reports import Pace, Waiting
from .writing import Writer

if TYPE_CHECKING:
    from tiers.cold.stores import EpisodicStore, GraphStore, TurnStore

TURNS_PER_PAGE = 512
PAGES_PER_PASS = 256


@dataclass(frozen=True)
class Held:
    """Turns of days that are over which are not compressed yet.

    Attributes:
        since: When the first of them occurred, or earlier; ``None`` if there are none.
        days: Their days; ``None`` for any day, where nobody has looked at all of them.
    """

    since: datetime | None = None
    days: frozenset[date] | None = frozenset()

    def has(self, day: date) -> bool:
        """Whether something of a day is held back."""
        return self.days is None or day in self.days


NOT_DONE = Held(FIRST_MOMENT, None)


@dataclass(eq=False, kw_only=True)
class Compressor:
    """Writes the summaries of one agent at a time.

    Attributes:
        graphs: Where a graph's own retention is.
        turns: Where uncovered turns come from.
        episodic: Where summaries go.
        writer: Makes their texts.
        policy: When and how much.
        done: Told of each summary that was stored, with the turns it covers.
    """

    graphs: GraphStore
    turns: TurnStore
    episodic: EpisodicStore
    writer: Writer
    policy: rules.LifecyclePolicy
    done: Callable[[int], None]

    async def summary_ttl(self, scope: Scope) -> timedelta:
        """Return how long the graph keeps its summaries."""
        graph = await self.graphs.graph(scope.tenant, scope.graph_id)
        own = None if graph is None else graph.retention.summary_ttl_hours
        return self.policy.summary_ttl if own is None else timedelta(hours=own)

    async def overflow(self, scope: Scope, now: datetime, pace: Pace) -> Waiting:
        """Compress what has left the ring of the scope's agent, as far as it is ready."""
        for _ in range(PAGES_PER_PASS):
            turns = await self.turns.waiting_turns(scope, self.policy.ring_capacity, TURNS_PER_PAGE)
            groups = rules.group_turns(turns, self.policy)
            ready = rules.ready_groups(groups, self.policy, now)
            if not await self._compress(scope, ready, now, pace):
                return Waiting(len(turns), now)
            taken = {id(group) for group in ready}
            left = [group for group in groups if id(group) not in taken]
            if len(turns) < TURNS_PER_PAGE or not ready:
                return Waiting(sum(map(len, left)), rules.due_again(left, self.policy))
        return Waiting(TURNS_PER_PAGE, now)

    async def days(
        self, scope: Scope, now: datetime, pace: Pace, *, everything: bool = False
    ) -> Held:
        """Compress all turns of the scope's agent whose day is over, those in the ring as well.

        A day of which something was recorded a moment ago waits: more of it may be on its way.
        What closes a day goes straight into its episode and never into the warm tier, where the
        turns themselves are found meanwhile.

        Args:
            scope: Of one agent.
            now: The current time.
            pace: How much may be done.
            everything: Whether the day is over or not.
        """
        before = None if everything else rules.days_over_until(now, self.policy)
        for _ in range(PAGES_PER_PASS):
            turns = await self.turns.waiting_turns(scope, 0, TURNS_PER_PAGE, before=before)
            unsettled = set() if everything else rules.unsettled_days(turns, self.policy, now)
            groups = rules.group_turns(turns, self.policy)
            settled = [group for group in groups if self._day(group[0]) not in unsettled]
            is_last = len(turns) < TURNS_PER_PAGE
            ready = settled
            if not is_last:
                # The others may go on behind the page.
                finished = {id(group) for group in rules.finished_groups(groups, self.policy)}
                ready = [group for group in settled if id(group) in finished] or settled
            if not await self._compress(scope, ready, now, pace, is_warm=everything):
                return NOT_DONE
            if is_last:
                since = [turn.occurred_at for turn in turns if self._day(turn) in unsettled]
                return Held(min(since), frozenset(unsettled)) if since else Held()
            if not ready:
                return NOT_DONE
        return NOT_DONE

    def _day(self, turn: Turn) -> date:
        return day_of(turn.occurred_at, self.policy.zone)

    async def _compress(
        self,
        scope: Scope,
        groups: Sequence[Sequence[Turn]],
        now: datetime,
        pace: Pace,
        *,
        is_warm: bool = True,
    ) -> bool:
        """Store the summaries of groups; whether all of them have one now."""
        if not groups:
            return True
        expires_at = now + await self.summary_ttl(scope) if is_warm else now
        is_done = True
        for group in groups:
            if pace.is_over:
                return False
            pace.count()
            wording = await self.writer.summary(scope, group)
            summary = summary_of(scope, group, wording, now, expires_at)
            work = [index_work(summary.id, summary.agent_id)] if is_warm else []
            try:
                if await self.episodic.put_summary(scope, summary, work):
                    self.done(len(group))
            except Conflict:
                # Another runtime covered some of these turns since they were read; the next pass
                # regroups what it left.
                is_done = False
        return is_done
