"""The lifecycle agent: compresses what left the ring, rolls up what is over, evicts what expired.

Every record it makes has an id derived from what it stands for and is stored together with its
coverage, so a pass that is repeated, breaks off anywhere, or runs twice at once, changes nothing
the second time. It may stop after any write: the next pass finds what is left by asking the store.

Consolidating and retention are of a whole graph, and are done as queued work.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from tiers.plans import GRAINS
from tiers.ports import WarmStore
from tiers.records import Grain, Scope, Work
from tiers.upkeep import Redacted

from .building import by_event
from .compressing import Compressor
from .periods import LAST_MOMENT
from .reports import LifecycleReport, Pace, Waiting
from .retirement import Retirement
from .rewriting import Rewriter
from .rolling import Roller
from .rules import LifecyclePolicy
from .writing import Writer

if TYPE_CHECKING:
    from tiers.cold import stores

LEAD_SHARE = 0.25
"""Of a summary's life, that it is told early at most: short lives are not told at their birth."""


@dataclass(eq=False, kw_only=True)
class LifecycleAgent:
    """Compresses, consolidates and evicts for one graph at a time.

    Attributes:
        graphs: Where a graph's own retention is.
        turns: Where uncovered turns come from.
        episodic: Where summaries and episodes go.
        grains: What is in no episode yet.
        warm: What expired summaries are evicted from.
        writer: Makes the texts.
        policy: When and how much.
        redactor: Says whether an episode is gone because somebody asked.
        fleet: Whose turns there are.
        log: The audit feed, which says what was evicted.
    """

    graphs: stores.GraphStore
    turns: stores.TurnStore
    episodic: stores.EpisodicStore
    grains: stores.GrainStore
    warm: WarmStore
    writer: Writer
    policy: LifecyclePolicy
    redactor: stores.Redactor
    fleet: stores.FleetStore
    log: stores.RecordLog

    def __post_init__(self) -> None:
        self._done = LifecycleReport()
        self._rewriter = Rewriter(self.writer, self.policy)
        self._compressor = Compressor(
            graphs=self.graphs,
            turns=self.turns,
            episodic=self.episodic,
            writer=self.writer,
            policy=self.policy,
            done=self._compressed,
        )
        self._roller = Roller(
            episodic=self.episodic,
            grains=self.grains,
            redactor=self.redactor,
            writer=self.writer,
            policy=self.policy,
            done=self._count_done,
        )

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
        """Turn uncovered turns of the scope's agent into summaries.

        Those of days that are over, those in the ring included, and those that have left the ring,
        as soon as their group is complete or has waited long enough.

        Args:
            scope: The runtime's scope for one agent.
            now: The current time.
            everything: The agent is done: compress its ring as well, and wait for nothing.

        Returns:
            What has left the ring and waits; it is due at once where a pass did all it may do.
        """
        pace = Pace(is_slow=self.writer.is_slow)
        held = await self._compressor.days(scope, now, pace, everything=everything)
        if everything:
            return Waiting(0, None if held.since is None else now)
        return await self._compressor.overflow(scope, now, pace)

    async def consolidate(self, scope: Scope, now: datetime, *, everything: bool = False) -> int:
        """Tell all that is over, from the bottom up, then evict what has expired.

        Days that are over are compressed for every agent; days, weeks, months, quarters and years
        that are over are told, whenever they were, and summaries that are about to expire before
        their day is over are told early. Nothing leaves the warm tier before that.

        Args:
            scope: The runtime's scope of the graph.
            now: The current time.
            everything: The graph is done: compress every turn and roll up every period.

        Returns:
            How many entries were evicted.
        """
        pace = Pace(is_slow=self.writer.is_slow)
        held = {
            agent.id: await self._compressor.days(
                scope.for_agent(agent.id), now, pace, everything=everything
            )
            for agent in await self.fleet.agents(scope)
        }
        await self._roller.days(scope, held, now, pace, everything=everything)
        life = await self._compressor.summary_ttl(scope)
        lead = min(self.policy.consolidate_before, LEAD_SHARE * life)
        is_told = await self._roller.leaving(scope, lead, now, pace)
        await self._roller.periods(scope, held, now, pace, everything=everything)
        if not is_told or await self.episodic.due_summaries(scope, now, 1):
            return 0
        evicted = await self.warm.delete_expired(scope, now)
        for named, count in by_event(evicted):
            reason = f"{count} expired entries of the warm index"
            await self.log.append_audit(scope.for_graph(), "evicted", named, reason, now)
        self._done = self._done.plus(evicted=len(evicted))
        return len(evicted)

    async def is_compact(self, scope: Scope) -> bool:
        """Whether every turn of the graph is in an episode of every grain."""
        for agent in await self.fleet.agents(scope):
            if await self.turns.waiting_turns(scope.for_agent(agent.id), 0, 1):
                return False
        for grain in GRAINS:
            if await self.grains.loose(scope, grain, LAST_MOMENT, 1):
                return False
        return True

    async def rewrite(
        self,
        scope: Scope,
        redacted: Redacted,
        redactor: stores.Redactor,
        *,
        leave: Collection[str] = (),
        is_barred: Callable[[str], bool] = lambda _: False,
    ) -> tuple[str, ...]:
        """Give redacted summaries and episodes a new text, from what is left of their sources.

        From the bottom up, so that an episode is made of summaries that have theirs already. Ids
        and coverage stay. A record of which nothing is left stays redacted. May be repeated.

        Args:
            scope: The runtime's scope of the graph.
            redacted: What a redaction reached.
            redactor: What reached it.
            leave: Ids that get no text: somebody wanted to be rid of just that.
            is_barred: Whether a text must not be written: it would say what had to go.

        Returns:
            The ids of those that have a text again.
        """
        return await self._rewriter.rewrite(scope, redacted, redactor, leave, is_barred)

    def _compressed(self, turns: int) -> None:
        self._done = self._done.plus(summaries=1, turns=turns)

    def _count_done(self, grain: Grain) -> None:
        self._done = self._done.plus(**{grain: 1})


log = logging.getLogger(__name__)


class ConsolidateHandler:
    """Carries out work of the kind ``consolidate``.

    Args:
        lifecycle: Does it.
    """

    def __init__(self, lifecycle: LifecycleAgent) -> None:
        self._lifecycle = lifecycle

    async def handle(self, items: Sequence[Work], now: datetime) -> Mapping[str, datetime]:
        """Consolidate each item's graph once."""
        for scope in _graphs_of(items):
            await self._lifecycle.consolidate(scope, now)
        return {}


class RetainHandler:
    """Carries out work of the kind ``retain``.

    Args:
        retirement: Does it.
    """

    def __init__(self, retirement: Retirement) -> None:
        self._retirement = retirement

    async def handle(self, items: Sequence[Work], now: datetime) -> Mapping[str, datetime]:
        """Retire what is past its retention in each item's graph."""
        for scope in _graphs_of(items):
            report = await self._retirement.run(scope, now)
            for line in report.grains:
                if line.refused:
                    log.warning("retention of %r, %s: %s", scope.graph_id, line.grain, line.refused)
        return {}


def _graphs_of(items: Sequence[Work]) -> list[Scope]:
    scopes = [item.scope.for_graph() for item in items]
    return list({(one.tenant, one.graph_id): one for one in scopes}.values())
