"""Rolling up: summaries into days, days into weeks and months, months into quarters and years.

From the bottom up, and never a period of which something finer is still on its way. What comes late
all the same becomes a part of its own.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from tiers.drafts import index_work
from tiers.errors import Conflict
from tiers.paging import parts
from tiers.records import Episode, Grain, Scope

from . import rules
from .building import episode_of
from .compressing import Held
from .periods import LAST_MOMENT, bounds, day_of, period_of, period_start
from .reports import Pace
from .rules import SummaryOrEpisode
from .writing import Writer

if TYPE_CHECKING:
    from tiers.cold.stores import EpisodicStore, GrainStore, Redactor

log = logging.getLogger(__name__)

LOOSE_PER_PAGE = 1_000
LOOSE_MAX = 10_000
"""A period of which there is more is told in parts."""

MEMBERS_MAX = 512
"""An episode of more would be made of next to nothing of each; it is told in parts."""

PAGES_PER_PASS = 64
_OF_THE_YEAR: tuple[Grain, ...] = ("monthly", "quarterly", "yearly")

_MOMENT = timedelta(microseconds=1)


@dataclass(eq=False, kw_only=True)
class Roller:
    """Writes the episodes of one graph at a time.

    Attributes:
        episodic: Where episodes go.
        grains: What is in none of them yet.
        redactor: Says whether an episode is gone because somebody asked.
        writer: Makes the texts.
        policy: When and how much.
        done: Told of each episode that was stored, by its grain.
    """

    episodic: EpisodicStore
    grains: GrainStore
    redactor: Redactor
    writer: Writer
    policy: rules.LifecyclePolicy
    done: Callable[[Grain], None]

    async def days(
        self,
        scope: Scope,
        held: dict[str, Held],
        now: datetime,
        pace: Pace,
        *,
        everything: bool,
    ) -> None:
        """Tell the days that are over, save those of which something is held back, by agent."""
        zone = self.policy.zone

        def is_free(one: SummaryOrEpisode) -> bool:
            back = held.get(one.agent_id)
            return back is None or not back.has(day_of(one.starts_at, zone))

        before = LAST_MOMENT if everything else rules.days_over_until(now, self.policy)
        await self._roll(scope, "daily", before, now, pace, is_free)

    async def leaving(self, scope: Scope, lead: timedelta, now: datetime, pace: Pace) -> bool:
        """Tell early what is about to leave the warm tier and is in no day yet.

        With what else there is of the same day and audience. Whether all of it is told now.
        """
        over_until = rules.days_over_until(now, self.policy)
        for _ in range(PAGES_PER_PASS):
            due = [
                one
                for one in await self.episodic.due_summaries(scope, now + lead, LOOSE_PER_PAGE)
                if one.starts_at < over_until or rules.is_leaving_early(one, self.policy)
            ]
            if not due:
                return True
            company = await self._company(scope, due)
            if not await self._write_all(scope, "daily", [*due, *company], now, pace):
                return False
        return False

    async def periods(
        self,
        scope: Scope,
        held: dict[str, Held],
        now: datetime,
        pace: Pace,
        *,
        everything: bool,
    ) -> None:
        """Tell the weeks, months, quarters and years that are over, from the bottom up."""
        since = [one.since for one in held.values() if one.since is not None]
        until = LAST_MOMENT if everything else rules.days_over_until(now, self.policy)
        until = min([until, *since])
        loose = await self.grains.loose(scope, "daily", until, 1)
        until = min([until, *(one.starts_at for one in loose)])
        await self._roll(scope, "weekly", self._begun(until, "weekly"), now, pace)
        for grain in _OF_THE_YEAR:
            # Of what comes before, nothing is loose any more once it is rolled up.
            until = self._begun(until, grain)
            if not await self._roll(scope, grain, until, now, pace):
                return

    def _begun(self, moment: datetime, grain: Grain) -> datetime:
        """Return when the period of a moment began: those before it are over."""
        if moment >= LAST_MOMENT:
            return moment
        return period_start(moment, grain, self.policy.zone)

    async def _company(
        self, scope: Scope, due: Sequence[SummaryOrEpisode]
    ) -> list[SummaryOrEpisode]:
        """Return what else is loose of the days and audiences of what is due."""
        zone = self.policy.zone
        ends = [bounds(period_of(one.starts_at, "daily", zone), "daily", zone).ends for one in due]
        wanted = {(rules.audience_of(one), day_of(one.starts_at, zone)) for one in due}
        known = {one.id for one in due}
        return [
            one
            for one in await self.grains.loose(scope, "daily", max(ends), LOOSE_PER_PAGE)
            if one.id not in known
            and (rules.audience_of(one), day_of(one.starts_at, zone)) in wanted
        ]

    async def _roll(
        self,
        scope: Scope,
        grain: Grain,
        before: datetime,
        now: datetime,
        pace: Pace,
        is_free: Callable[[SummaryOrEpisode], bool] = lambda _: True,
    ) -> bool:
        """Tell what is loose and free; whether nothing that began before ``before`` is left."""
        for _ in range(PAGES_PER_PASS):
            found, is_cut = await self._whole(scope, grain, before)
            free = [one for one in found if is_free(one)]
            is_done = await self._write_all(scope, grain, free, now, pace)
            if not is_cut or not is_done or not free:
                return is_done and not is_cut and len(free) == len(found)
        return False

    async def _whole(
        self, scope: Scope, grain: Grain, before: datetime
    ) -> tuple[Sequence[SummaryOrEpisode], bool]:
        """Return the oldest loose records, whole periods of them, and whether there are more."""
        found: Sequence[SummaryOrEpisode] = ()
        for limit in (LOOSE_PER_PAGE, LOOSE_MAX):
            found = await self.grains.loose(scope, grain, before, limit)
            if len(found) < limit:
                return found, False
            whole = rules.whole_periods(found, grain, self.policy.zone)
            if whole:
                return whole, True
        return found, True

    async def _write_all(
        self,
        scope: Scope,
        grain: Grain,
        loose: Sequence[SummaryOrEpisode],
        now: datetime,
        pace: Pace,
    ) -> bool:
        """Tell periods; whether all of it was told and read back."""
        is_done = True
        for period, members in rules.group_by_period(loose, grain, self.policy.zone):
            for part in parts(members, MEMBERS_MAX):
                if pace.is_over:
                    return False
                pace.count()
                is_done &= await self._write(scope, grain, period, part, now)
        return is_done

    async def _write(
        self,
        scope: Scope,
        grain: Grain,
        period: str,
        members: Sequence[SummaryOrEpisode],
        now: datetime,
    ) -> bool:
        """Store the episode of a period; whether it is there."""
        wording = await self.writer.episode(scope, grain, period, members)
        episode = episode_of(scope, grain, period, members, wording, now)
        work = [index_work(episode.id, episode.agent_id)]
        try:
            is_new = await self.episodic.put_episode(scope, episode, work, made_of=members)
        except Conflict:
            # Another runtime told some of it since it was read, or some of it was redacted; the
            # next pass has what is left.
            return False
        if is_new:
            self.done(grain)
        return await self._is_there(scope, episode)

    async def _is_there(self, scope: Scope, episode: Episode) -> bool:
        """Whether an episode can be read back with a text, or is gone because somebody asked."""
        own = scope.for_graph().for_agent(episode.agent_id)
        until = episode.ends_at + _MOMENT if episode.ends_at < LAST_MOMENT else None
        found = await self.episodic.episodes(own, episode.starts_at, until, episode.grain)
        if any(one.id == episode.id and one.text.strip() for one in found):
            return True
        if await self.redactor.redacted(scope, [episode.id]):
            return True
        log.error("the %s episode %s was stored and is not there", episode.grain, episode.id)
        return False
