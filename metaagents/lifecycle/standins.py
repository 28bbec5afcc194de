"""Reading back what stands for records that are about to lose their content.

What the store says stands for a record is not taken on trust: the stand-in is read, and has to say
something. Where a year that tells of a record is past its own retention nothing is left to be read;
then every step up to that year has to be one that retention has emptied.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple

from tiers.grains import Made, Retirable
from tiers.paging import parts
from tiers.plans import AnyGrain
from tiers.records import Grain, Scope

from .pages import rows_of

if TYPE_CHECKING:
    from tiers.cold.stores import EpisodicStore, GrainStore

STAND_INS_PER_READ = 64
_MONTHS: frozenset[AnyGrain] = frozenset(("monthly", "quarterly", "yearly"))
_MOMENT = timedelta(microseconds=1)


class _EpisodeSpan(NamedTuple):
    """An episode, as far as it matters here."""

    grain: Grain
    agent_id: str
    starts_at: datetime
    ends_at: datetime
    is_retired: bool


class StandIns:
    """Reads back stand-ins of one graph, for the length of one retention pass.

    Args:
        grains: Which episodes there are.
        episodic: What they say.
        scope: The runtime's scope of the graph.
    """

    def __init__(self, grains: GrainStore, episodic: EpisodicStore, scope: Scope) -> None:
        self._grains = grains
        self._episodic = episodic
        self._scope = scope
        self._episodes: dict[str, _EpisodeSpan] = {}
        self._days: dict[str, tuple[str, ...]] = {}
        self._in: dict[str, list[str]] = defaultdict(list)
        self._is_read = False

    async def backed(self, grain: AnyGrain, due: Sequence[Retirable]) -> list[str]:
        """Return the ids of those whose stand-ins all exist and say something, in order.

        A yearly episode has none and needs none; nor has what years tell that retention has
        emptied, such as the turns of an old history that was recorded lately. A week's are the
        months of its days.
        """
        if grain == "yearly":
            return [one.id for one in due]
        await self._survey()
        wanted = {
            one.id: self._of_week(one.id) if grain == "weekly" else set(one.replaced_by)
            for one in due
        }
        outlived = await self._outlived(grain, {one for one, names in wanted.items() if not names})
        telling = await self._telling({name for names in wanted.values() for name in names})
        return [
            one for one, names in wanted.items() if (names <= telling if names else one in outlived)
        ]

    async def _survey(self) -> None:
        """Find out which episodes there are, once."""
        if self._is_read:
            return
        async for one in rows_of(self._grains.made, self._scope):
            self._note(one)
        self._is_read = True

    def _note(self, one: Made) -> None:
        if one.grain == "working":
            return
        self._episodes[one.id] = _EpisodeSpan(
            one.grain, one.agent_id, one.starts_at, one.ends_at, one.retired
        )
        if one.grain == "weekly":
            self._days[one.id] = one.sources
        if one.grain != "weekly":
            for source in one.sources:
                self._in[source].append(one.id)

    def _of_week(self, week: str) -> set[str]:
        """Return what tells the days of a week now; nothing if one of them is in no month."""
        found: set[str] = set()
        for day in self._days.get(week, ()):
            months = self._up(self._in.get(day, ()))
            if not months and not self._is_outlived(day):
                return set()
            found |= months
        return found

    def _up(self, ids: Iterable[str]) -> set[str]:
        """Return episodes, or of those that were retired what was made of them; grain by grain."""
        found: set[str] = set()
        left = list(ids)
        for _ in _MONTHS:
            found.update(one for one in left if not self._episodes[one].is_retired)
            retired = [one for one in left if self._episodes[one].is_retired]
            left = [upper for one in retired for upper in self._in.get(one, ())]
        return found

    async def _outlived(self, grain: AnyGrain, ids: AbstractSet[str]) -> set[str]:
        """Return those of some records of a grain that only emptied years tell."""
        if grain == "weekly":
            weeks = {one: self._days.get(one, ()) for one in ids}
            return {
                one for one, days in weeks.items() if days and all(map(self._is_outlived, days))
            }
        if grain != "working":
            return {one for one in ids if self._is_outlived(one)}
        found: set[str] = set()
        if ids:  # of turns, too many to be kept in mind, only those that are asked about
            async for one in rows_of(self._grains.made, self._scope):
                if one.grain == "working" and self._is_outlived(one.id):
                    found |= ids & {one.id, *one.sources}
        return found

    def _is_outlived(self, record_id: str) -> bool:
        """Whether retention has emptied all that tells a record, weeks aside, up to its year."""
        above = [(one, self._episodes[one]) for one in self._in.get(record_id, ())]
        return bool(above) and all(
            span.is_retired and (span.grain == "yearly" or self._is_outlived(one))
            for one, span in above
        )

    async def _telling(self, ids: Iterable[str]) -> set[str]:
        """Return those of the episodes that can be read and have a text."""
        groups: dict[tuple[str, Grain], list[str]] = defaultdict(list)
        for one in ids:
            if one in self._episodes:
                groups[self._episodes[one].agent_id, self._episodes[one].grain].append(one)
        found: set[str] = set()
        for (agent_id, grain), members in groups.items():
            # As the agent itself: nobody else sees what is private to it.
            own = self._scope.for_graph().for_agent(agent_id)
            members.sort(key=lambda one: (self._episodes[one].starts_at, one))
            for ids_read in parts(members, STAND_INS_PER_READ):
                part = [self._episodes[one] for one in ids_read]
                since = min(one.starts_at for one in part)
                until = max(one.ends_at for one in part) + _MOMENT
                read = await self._episodic.episodes(own, since, until, grain)
                found.update(one.id for one in read if one.text.strip())
        return found.intersection(ids)
