"""What was remembered when: turns and episodes by their days, as lines that begin with them.

Read ``search_memory`` top to bottom. The window of days is part of what the engines are asked, so
that all of a narrow one is found, however much outside it fits better.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from metaagents.lifecycle.periods import day_of, period_of, period_start
from tiers.errors import NotFound, UsageError, check_whole
from tiers.forms import hit_of
from tiers.plans import ANY_GRAIN, AnyGrain
from tiers.records import Episode, Hit, Scope, SearchQuery

from ..recaller import Degradation
from ..rights.policy import scope_of
from ..runtime import Runtime
from ..turn.eliding import with_previews_of
from .handle_recall import ask
from .request import DAYS_MAX, RecallRequest

RESULTS_MAX = 100

_NOON = time(12)
_NONE: tuple[Hit, ...] = ()


@dataclass(frozen=True)
class MemorySearch:
    """What a search by days found.

    Attributes:
        lines: A line for each of ``items``: its day or period in brackets, such as
            ``[2026-11-20]``, ``[2026-W47]``, ``[2026-11]``, ``[2026-Q4]`` or ``[2026]``, and its
            text.
        items: The records: the best match first, or the latest where no text was given.
        since: The first day of the window.
        hint: What to try next: a coarser grain in which there is something, or a wider window;
            and that there may be more in this one, where ``items`` are as many as were asked for.
            ``None`` at the coarsest grain where nothing is older, and where the cold tier could
            not say.
        degraded: Tiers or capabilities that did not take part.
    """

    lines: tuple[str, ...]
    items: tuple[Hit, ...]
    since: date
    hint: str | None
    degraded: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Window:
    """Calendar days of a zone, counted back from the day of ``now``."""

    min_days_ago: int
    max_days_ago: int
    now: datetime
    zone: ZoneInfo

    @property
    def first_day(self) -> date:
        return day_of(self.now, self.zone) - timedelta(days=self.max_days_ago)

    def days_since(self, moment: datetime) -> int:
        return (day_of(self.now, self.zone) - day_of(moment, self.zone)).days

    def reach(self, grain: AnyGrain) -> int:
        """Return how many days the window goes back at a grain.

        A period that reaches into the window counts as a whole: what a week tells may have begun
        on a day before it.
        """
        if grain == "working":
            return self.max_days_ago
        noon = datetime.combine(self.first_day, _NOON, tzinfo=self.zone)
        return self.days_since(period_start(noon, grain, self.zone))

    def request(self, grain: AnyGrain, text: str, limit: int) -> RecallRequest:
        """Return what is asked of a grain, as a question to recall."""
        return RecallRequest(
            text=text,
            limit=limit,
            kinds=("turn",) if grain == "working" else ("episode",),
            # What this graph went through: its ancestors had other days.
            scope_name="session",
            grains=() if grain == "working" else (grain,),
            min_days_ago=self.min_days_ago,
            max_days_ago=self.reach(grain),
        )

    def latest(self, grain: AnyGrain, limit: int) -> SearchQuery:
        """Return what is asked of a grain, as a question to the timeline."""
        asked = self.request(grain, "", limit)
        since, until = asked.window(self.now, self.zone)
        return SearchQuery(
            text="",
            kinds=asked.kinds,
            grains=asked.grains,
            limit=limit,
            now=self.now,
            since=since,
            until=until,
        )

    def shows(self, grain: AnyGrain, hit: Hit) -> bool:
        """Whether what was found is in the window, and not before it."""
        return self.days_since(_began(hit)) <= self.reach(grain)


@dataclass(frozen=True)
class _Search:
    """One search: what it asks with, and how the tiers answered so far."""

    runtime: Runtime
    scope: Scope
    grain: AnyGrain
    window: _Window
    state: Degradation

    async def latest(self, window: _Window, grain: AnyGrain, limit: int) -> tuple[Hit, ...]:
        call = self.runtime.timeline.latest(self.scope, window.latest(grain, limit))
        return await self.state.answer("cold", "timeline", call, _NONE)

    async def newest(self, grain: AnyGrain, *, min_days_ago: int) -> Hit | None:
        """Return the newest record of a grain that is at least so old, if there is one."""
        wide = replace(self.window, min_days_ago=min_days_ago, max_days_ago=DAYS_MAX)
        found = await self.latest(wide, grain, 1)
        return found[0] if found else None


async def search_memory(
    runtime: Runtime,
    scope: Scope,
    text: str | None,
    *,
    grain: AnyGrain,
    min_days_ago: int,
    max_days_ago: int,
    max_results: int,
) -> MemorySearch:
    """Return what the scope may see of a grain in a window of days.

    Raises:
        UsageError: The grain is none, a number is out of range, or the window is inverted.
    """
    _check(grain, min_days_ago, max_days_ago, max_results)
    window = _Window(min_days_ago, max_days_ago, runtime.clock(), runtime.settings.zone)
    state = runtime.degradation()
    search = _Search(runtime, scope, grain, window, state)
    lost: tuple[str, ...] = ()
    if text is None or not text.strip():
        latest = await search.latest(window, grain, max_results)
        items = await with_previews_of(runtime.turns, scope, latest, state)
    else:
        found = await ask(runtime, scope, window.request(grain, text, max_results))
        items, lost = await _unfolded(search, found.items, max_results), found.degraded
    hint = None if "cold" in (*lost, *state.lost) else await _hint(search)
    if hint is not None and len(items) == max_results:
        hint += f" There may be more in the window than max_results {max_results}."
    return MemorySearch(
        lines=tuple(_line(hit, grain, window.zone) for hit in items),
        items=items,
        since=window.first_day,
        hint=hint,
        degraded=tuple(dict.fromkeys((*lost, *state.lost))),
    )


async def scope_as(runtime: Runtime, whole: Scope, agent_id: str | None) -> Scope:
    """Return what a member of a graph sees; without one, the graph's operator.

    Raises:
        NotFound: The graph never had such a member.
    """
    if agent_id is None:
        return whole
    standing = await runtime.membership.of_graph(whole.for_agent(agent_id))
    if standing.agent is None:
        raise NotFound("agent", agent_id)
    return scope_of(standing.agent, standing.lineage)


async def _unfolded(search: _Search, items: Sequence[Hit], limit: int) -> tuple[Hit, ...]:
    """Return the answers with those behind them that say the same of other days.

    Recall answers each thing once. Here every day or week is one of its own.
    """
    ids = [one for hit in items for one in hit.folded]
    if not ids:
        return tuple(items)
    call = search.runtime.episodic.written(search.scope, ids)
    written = await search.state.answer("cold", "episodes", call, ())
    same = {one.id: one for one in written if isinstance(one, Episode) and one.redacted_at is None}
    own = search.scope.graph_id
    unfolded = [
        shown
        for hit in items
        for shown in (
            hit.model_copy(update={"folded": ()}),
            *(hit_of(same[one], hit.score, own) for one in hit.folded if one in same),
        )
    ]
    return tuple(unfolded[:limit])


async def _hint(search: _Search) -> str | None:
    """Return what to try next. At most one question for each coarser grain, and one more."""
    window = search.window
    coarser = ANY_GRAIN[ANY_GRAIN.index(search.grain) + 1 :]
    for grain in coarser:
        newest = await search.newest(grain, min_days_ago=window.min_days_ago)
        if newest is not None:
            return _towards(grain, newest, window)
        if search.state.lost:
            return None
    older = await search.newest(search.grain, min_days_ago=window.reach(search.grain) + 1)
    if search.state.lost or (older is None and not coarser):
        return None
    nothing = f"{_looked(window)} Nothing coarser than {search.grain} tells of then or before"
    if older is None:
        return f"{nothing}, and nothing older is there."
    return f"{nothing}; {_back_to(older, window)} reaches what is older."


def _towards(grain: AnyGrain, newest: Hit, window: _Window) -> str:
    wider = "" if window.shows(grain, newest) else f" with {_back_to(newest, window)}"
    label = _label(newest, grain, window.zone)
    return f"{_looked(window)} Try grain {grain}{wider}: its latest is {label}."


def _looked(window: _Window) -> str:
    return f"Looked back to {window.first_day}."


def _back_to(hit: Hit, window: _Window) -> str:
    """Return the width of a window that has the record in it."""
    return f"max_days_ago {min(window.days_since(_began(hit)), DAYS_MAX)}"


def _line(hit: Hit, grain: AnyGrain, zone: ZoneInfo) -> str:
    """Return a record as one line, so that no text can look like the day of another."""
    label = _label(hit, grain, zone)
    said = hit.text.removeprefix(label)  # an episode says its period itself
    return f"[{label}] {' '.join(said.split())}"


def _label(hit: Hit, grain: AnyGrain, zone: ZoneInfo) -> str:
    return period_of(_began(hit), "daily" if grain == "working" else grain, zone)


def _began(hit: Hit) -> datetime:
    return hit.occurred_at or hit.recorded_at


def _check(grain: str, min_days_ago: int, max_days_ago: int, max_results: int) -> None:
    if grain not in ANY_GRAIN:
        raise UsageError("grain", grain, ", ".join(ANY_GRAIN))
    check_whole("min_days_ago", min_days_ago, 0, DAYS_MAX)
    check_whole("max_days_ago", max_days_ago, min_days_ago, DAYS_MAX)
    check_whole("max_results", max_results, 1, RESULTS_MAX)
