"""Retention: what is past its time loses its content, finest grain first, and stays accounted for.

Nothing goes before what stands for it is stored and read back, and no pass takes a large share of a
grain at once unless it is forced to.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Literal, TypeAlias

from tiers.errors import NotFound, TierError
from tiers.grains import RETIRED_PER_CALL_MAX
from tiers.paging import parts
from tiers.plans import ANY_GRAIN, AnyGrain, Kept, Plan, plan_of
from tiers.ports import HotStore
from tiers.records import UNRECORDED, Retention, Scope

from .pages import rows_of
from .periods import FIRST_MOMENT
from .retired_traces import RetiredTraces
from .standins import StandIns

if TYPE_CHECKING:
    from tiers.cold.stores import EpisodicStore, FactReview, FleetStore, GrainStore, GraphStore

log = logging.getLogger(__name__)

Aged: TypeAlias = AnyGrain | Literal["facts"]

DUE_MAX = 10_000
"""What is looked at with one question."""

ROUNDS_MAX = 10
"""So many questions a pass asks of one grain; the next pass goes on."""


@dataclass(frozen=True)
class RetentionPolicy:
    """How long content is kept where a graph says nothing else, and how much goes at once.

    Attributes:
        plan: As of ``tiers.plans``; ``keep`` destroys nothing.
        superseded_facts_days: How long a fact that gave way keeps its content (Martha: 90).
        forgotten_facts_days: The same of one that somebody asked to forget (Martha: 30).
        share_max: The share of all records of a grain that one pass touches without being forced.
        records_min: So few records are never too large a share.
    """

    plan: str = "keep"
    superseded_facts_days: float = 90
    forgotten_facts_days: float = 30
    share_max: float = 0.5
    records_min: int = 200

    def under(self, retention: Retention) -> RetentionPolicy:
        """Return the policy with what a graph says of its own."""
        own = {
            name: value
            for name in ("plan", "superseded_facts_days", "forgotten_facts_days")
            if (value := getattr(retention, name)) is not None
        }
        return replace(self, **own)

    def is_too_much(self, due: int, total: int) -> bool:
        """Whether the safety floor refuses to touch ``due`` of ``total`` records."""
        return due >= self.records_min and due > self.share_max * total


@dataclass(frozen=True)
class Retired:
    """What a retention pass did to one grain, or to facts.

    Attributes:
        grain: Which; ``facts`` for facts.
        due: Records past their retention that have what stands for them.
        retired: Those that lost their content now.
        refused: Why not all of them did; empty if they did.
    """

    grain: Aged
    due: int = 0
    retired: int = 0
    refused: str = ""


@dataclass(frozen=True)
class RetentionReport:
    """What a retention pass did, or would do.

    Attributes:
        grains: By grain, finest first, facts last; grains that are kept for ever are there too.
        dry_run: Nothing was written.
    """

    grains: tuple[Retired, ...]
    dry_run: bool = False

    @property
    def retired(self) -> int:
        """How many records lost their content."""
        return sum(one.retired for one in self.grains)


@dataclass(eq=False, kw_only=True)
class Retirement:
    """Carries out retention for one graph at a time; may break off anywhere and be repeated.

    Attributes:
        graphs: Where a graph's own retention is.
        grains: What is past its retention, and what retires it.
        review: Which facts ended when.
        episodic: Where stand-ins are read back.
        policy: For graphs that say nothing else.
        hot: Where turns may still be at hand that lose their content.
        fleet: Whose rings there are.
        traces: Cleans what the records leave elsewhere.
    """

    graphs: GraphStore
    grains: GrainStore
    review: FactReview
    episodic: EpisodicStore
    policy: RetentionPolicy
    hot: HotStore
    fleet: FleetStore
    traces: RetiredTraces

    async def run(
        self, scope: Scope, now: datetime, *, dry_run: bool = False, force: bool = False
    ) -> RetentionReport:
        """Retire what is past its retention, finest grain first, then facts.

        Args:
            scope: The runtime's scope of the graph.
            now: The current time.
            dry_run: Only say what would be done.
            force: Also where more than the policy's share would be touched.

        Raises:
            NotFound: There is no such graph.
        """
        graph = await self.graphs.graph(scope.tenant, scope.graph_id)
        if graph is None:
            raise NotFound("session graph", scope.graph_id)
        whole = scope.for_graph()
        policy = self.policy.under(graph.retention)
        sweep = _Sweep(self.grains, self.review, whole, policy, now, dry_run, force)
        stand_ins = StandIns(self.grains, self.episodic, whole)
        plan = plan_of(policy.plan)
        grains = [
            await sweep.grain(grain, plan[grain], stand_ins) if grain in plan else Retired(grain)
            for grain in ANY_GRAIN
        ]
        facts = await sweep.facts()
        if not dry_run:
            if "working" in plan:
                await self._clear_rings(whole, plan["working"].since(now))
            await self._clean(sweep, plan, grains)
        return RetentionReport((*grains, facts), dry_run)

    async def _clean(self, sweep: _Sweep, plan: Plan, grains: Sequence[Retired]) -> None:
        """Clean what is left beside the records of a pass: receipts, the index and its files."""
        scope, now = sweep.scope, sweep.now
        # Where turns stay because too many would go at once, so do the receipts of them.
        if "working" in plan and not grains[0].refused:
            kept = plan["working"]
            reason = f"retention: receipts kept for {kept.amount}{kept.unit}, as turns are"
            await self.traces.blank_receipts(scope, kept.since(now), reason, now)
            reason = f"retention: roll-backs can be undone for {kept.amount}{kept.unit}"
            await self.traces.confirm_roll_backs(scope, kept.since(now), reason, now)
        await self.traces.clean_index(scope, sweep.retired, now)

    async def _clear_rings(self, scope: Scope, since: datetime) -> None:
        """Clear the rings that hold turns as they were before they lost their content.

        They are filled again from cold. While the tier is away they are left to the next pass.
        """
        try:
            for member in await self.fleet.agents(scope):
                own = scope.for_agent(member.id)
                state = await self.hot.read(own)
                ring = state.turns
                is_old = any(one.retired_at is None and one.recorded_at < since for one in ring)
                if is_old or (state.mesh is not None and state.mesh.queried_at < since):
                    await self.hot.clear(own)
        except TierError as error:
            log.warning("retired turns stay in the rings of %r for now: %s", scope.graph_id, error)


@dataclass(frozen=True)
class _Sweep:
    """One pass over one graph."""

    grains: GrainStore
    review: FactReview
    scope: Scope
    policy: RetentionPolicy
    now: datetime
    dry_run: bool
    force: bool
    retired: list[str] = field(default_factory=list)

    async def grain(self, grain: AnyGrain, kept: Kept, stand_ins: StandIns) -> Retired:
        """Retire what is due of a grain."""
        since = kept.since(self.now)
        due = await self.grains.retirable(self.scope, grain, since, DUE_MAX)
        count, total = await self._due_of(grain, since, len(due))
        if not self.force and self.policy.is_too_much(count, total):
            return Retired(grain, count, 0, self._too_much(count, total))
        reason = f"retention: {grain} kept for {kept.amount}{kept.unit}"
        done = left = 0
        for _ in range(ROUNDS_MAX):
            backed = await stand_ins.backed(grain, due)
            done += await self._retire(backed, reason)
            left = len(due) - len(backed)
            if self.dry_run or len(due) < DUE_MAX or not backed:
                break
            due = await self.grains.retirable(self.scope, grain, since, DUE_MAX)
        refused = f"of {left} nothing could be read back that stands for them" if left else ""
        return Retired(grain, max(count, done + left), done, refused)

    async def _due_of(self, grain: AnyGrain, since: datetime, found: int) -> tuple[int, int]:
        """Return how many records are due, and of how many; close enough to decide by."""
        if self.force or found < self.policy.records_min:
            return found, found
        count = await self.grains.count_grain(self.scope, grain)
        if found == DUE_MAX and self.policy.is_too_much(count.live, count.total):
            # There may be more, and it matters how many.
            found = max(found, await self._count_past(grain, since))
        return found, count.total

    async def _count_past(self, grain: AnyGrain, since: datetime) -> int:
        """Return how many records of a grain tell what ended before a moment, and have content.

        That is no less than are due, save where something was recorded before it happened.
        """
        count = 0
        if grain == "working":
            async for mark in rows_of(self.grains.turn_marks, self.scope):
                count += mark.occurred_at < since and not (mark.redacted or mark.retired)
        async for made in rows_of(self.grains.made, self.scope):
            is_past = made.grain == grain and made.ends_at < since
            count += is_past and not (made.redacted or made.retired)
        return count

    async def facts(self) -> Retired:
        """Retire facts that gave way, or that somebody asked to forget, long enough ago."""
        superseded = _days_before(self.now, self.policy.superseded_facts_days)
        forgotten = _days_before(self.now, self.policy.forgotten_facts_days)
        due = await self.review.ended(self.scope, superseded, forgotten, DUE_MAX)
        if not self.force and len(due) >= self.policy.records_min:
            total = await self._count_facts()
            # Of so many that there may be more, nobody can say what share they are.
            if len(due) == DUE_MAX or self.policy.is_too_much(len(due), total):
                return Retired("facts", len(due), 0, self._too_much(len(due), total))
        done = 0
        for _ in range(ROUNDS_MAX):
            retired = 0
            for ids, reason in await self._facts_by_reason(due, superseded):
                retired += await self._retire(ids, reason)
            done += retired
            if self.dry_run or len(due) < DUE_MAX or not retired:
                break
            due = await self.review.ended(self.scope, superseded, forgotten, DUE_MAX)
        return Retired("facts", max(len(due), done), done)

    async def _count_facts(self) -> int:
        """Return how many facts have their content: those that are live, and those that ended."""
        ended = len(await self.review.ended(self.scope, self.now, self.now, DUE_MAX))
        live = 0
        async for _ in rows_of(self.review.live_facts, self.scope):
            live += 1
        return live + ended

    async def _facts_by_reason(
        self, due: Sequence[str], superseded: datetime
    ) -> list[tuple[list[str], str]]:
        """Return the facts that gave way and those that were forgotten, each with its reason."""
        if not due:
            return []
        gave_way = set(await self.review.ended(self.scope, superseded, UNRECORDED, DUE_MAX))
        days, forgotten_days = self.policy.superseded_facts_days, self.policy.forgotten_facts_days
        return [
            (
                [one for one in due if one in gave_way],
                f"retention: superseded facts kept for {days:g} days",
            ),
            (
                [one for one in due if one not in gave_way],
                f"retention: forgotten facts kept for {forgotten_days:g} days",
            ),
        ]

    async def _retire(self, ids: list[str], reason: str) -> int:
        if self.dry_run:
            return 0
        done = 0
        for page in parts(ids, RETIRED_PER_CALL_MAX):
            gone = await self.grains.retire(self.scope, page, reason, self.now)
            self.retired.extend(gone)
            done += len(gone)
        return done

    def _too_much(self, due: int, total: int) -> str:
        return f"{due} of {total} are more than {self.policy.share_max:.0%}; it takes force"


def _days_before(now: datetime, days: float) -> datetime:
    """Return the moment so many days ago; before the calendar begins there is nothing."""
    try:
        return now - timedelta(days=days)
    except OverflowError:
        return FIRST_MOMENT
