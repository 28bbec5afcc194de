"""Who is in which summary, episode and period, counted from stored rows by code of its own.

Nothing here is taken from what it judges: coverage is followed row by row, calendar labels are made
from the turns themselves, and what should be gone is decided from the plan's own words.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import cached_property
from zoneinfo import ZoneInfo

from tiers.records import Episode, Summary, Turn

from .memory_rows import MemoryRows

GRAINS = ("working", "daily", "weekly", "monthly", "quarterly", "yearly")
FINER = {
    "daily": "working",
    "weekly": "daily",
    "monthly": "daily",
    "quarterly": "monthly",
    "yearly": "quarterly",
}
COARSER = {
    "working": ("daily",),
    "daily": ("weekly", "monthly"),
    "weekly": (),
    "monthly": ("quarterly",),
    "quarterly": ("yearly",),
    "yearly": (),
}
FREE = {
    "working": "48 hours",
    "daily": "30 days",
    "weekly": "42 days",
    "monthly": "6 months",
    "quarterly": "12 months",
    "yearly": "24 months",
}
"""The plan ``free``, written down anew."""

GONE = ("[retired]", "[redacted]")


def label(grain: str, moment: datetime, zone: ZoneInfo) -> str:
    """Return the calendar label of a moment where people live."""
    day = moment.astimezone(zone).date()
    if grain == "daily":
        return f"{day.year:04}-{day.month:02}-{day.day:02}"
    if grain == "weekly":
        # The week belongs to the year that has its Thursday.
        thursday = day - timedelta(days=day.weekday() - 3)
        week = (thursday - date(thursday.year, 1, 1)).days // 7 + 1
        return f"{thursday.year:04}-W{week:02}"
    if grain == "monthly":
        return f"{day.year:04}-{day.month:02}"
    if grain == "quarterly":
        return f"{day.year:04}-Q{(day.month + 2) // 3}"
    return f"{day.year:04}"


def period_end(grain: str, moment: datetime, zone: ZoneInfo) -> datetime:
    """Return when the period that a moment lies in is over."""
    day = moment.astimezone(zone).date()
    mine = label(grain, moment, zone)
    while label(grain, datetime(day.year, day.month, day.day, 12, tzinfo=zone), zone) == mine:
        day += timedelta(days=1)
    return datetime(day.year, day.month, day.day, tzinfo=zone).astimezone(UTC)


def kept_since(span: str, now: datetime) -> datetime:
    """Return the moment before which a span such as ``6 months`` keeps nothing."""
    count, unit = span.split()
    if unit != "months":
        return now - timedelta(**{unit: int(count)})
    year, month, day = now.year, now.month - int(count), now.day
    while month < 1:
        year, month = year - 1, month + 12
    while True:
        try:
            return now.replace(year=year, month=month, day=day)
        except ValueError:
            day -= 1


@dataclass(frozen=True)
class GrainOracle:
    """Judges the rows of one graph."""

    rows: MemoryRows
    zone: ZoneInfo

    @cached_property
    def turns(self) -> Mapping[str, Turn]:
        """Every turn by its id."""
        return {one.id: one for one in self.rows.turns}

    @cached_property
    def by_grain(self) -> Mapping[str, Sequence[Summary | Episode]]:
        """Every summary and episode, by grain."""
        found: dict[str, list[Summary | Episode]] = {grain: [] for grain in GRAINS}
        found["working"] += [one for one in self.rows.summaries if one.level == 0]
        for one in self.rows.episodes:
            found[one.grain].append(one)
        return found

    @cached_property
    def records(self) -> Mapping[str, Summary | Episode]:
        """Every summary and episode by its id."""
        return {one.id: one for some in self.by_grain.values() for one in some}

    @cached_property
    def reached(self) -> Mapping[str, tuple[str, ...]]:
        """The turns that each summary and episode stands for, through all that is between."""
        found: dict[str, tuple[str, ...]] = {}
        for grain in GRAINS:
            for one in self.by_grain[grain]:
                if isinstance(one, Summary):
                    found[one.id] = one.covers
                else:
                    found[one.id] = tuple(t for child in one.children for t in found.get(child, ()))
        return found

    def holders(self, grain: str) -> Mapping[str, str]:
        """Return the record of a grain that stands for each turn."""
        return {
            turn: one.id for one in self.by_grain[grain] for turn in self.reached.get(one.id, ())
        }

    def counts(self) -> dict[str, tuple[int, int]]:
        """Return, by grain, how many turns are in a record of it and how many are in its tail."""
        held = {grain: len(self.holders(grain)) for grain in GRAINS}
        return {grain: (count, len(self.turns) - count) for grain, count in held.items()}

    def conservation_problems(self) -> list[str]:
        """Return every way in which a turn is lost, doubled, or in the wrong place."""
        problems = self._problems_of_turns()
        for grain in GRAINS:
            times = Counter(t for one in self.by_grain[grain] for t in self.reached[one.id])
            problems += [f"{grain}: turn {t} {n} times" for t, n in times.items() if n > 1]
            problems += [f"{grain}: {t} is no turn" for t in times if t not in self.turns]
            for one in self.by_grain[grain]:
                problems += self._problems_of(grain, one)
        return problems

    def _problems_of_turns(self) -> list[str]:
        seqs: dict[str, list[int]] = {}
        for turn in self.rows.turns:
            seqs.setdefault(turn.agent_id, []).append(turn.seq)
        return [
            f"{agent}: seqs have gaps"
            for agent, found in seqs.items()
            if sorted(found) != list(range(1, len(found) + 1))
        ]

    def _problems_of(self, grain: str, one: Summary | Episode) -> list[str]:
        problems: list[str] = []
        turns = [self.turns[t] for t in self.reached[one.id] if t in self.turns]
        if not turns:
            problems.append(f"{grain} {one.id} stands for nothing")
        if isinstance(one, Episode):
            children = [self.records.get(child) for child in one.children]
            wrong = [c for c in children if c is None or self._grain(c) != FINER[grain]]
            if wrong or len(set(one.children)) != len(one.children):
                problems.append(f"{grain} {one.id} has wrong children")
            if {label(grain, turn.occurred_at, self.zone) for turn in turns} != {one.period}:
                problems.append(f"{grain} {one.id} is labelled {one.period}")
        if {turn.agent_id for turn in turns} - {one.agent_id}:
            problems.append(f"{grain} {one.id} mixes agents")
        problems += [f"{grain} {one.id} {why}" for why in _leaks(one, turns)]
        first = min((turn.occurred_at for turn in turns), default=one.starts_at)
        last = max((turn.occurred_at for turn in turns), default=one.ends_at)
        if (one.starts_at, one.ends_at) != (first, last):
            problems.append(f"{grain} {one.id} tells {one.starts_at} to {one.ends_at}")
        return problems

    def _grain(self, one: Summary | Episode) -> str:
        return one.grain if isinstance(one, Episode) else "working"

    def stale(self, now: datetime, patience: timedelta) -> list[str]:
        """Return what should be in a record of a grain by now and is not.

        Every turn of a period that was over, and in which nothing was recorded, a while ago.
        """
        problems: list[str] = []
        for grain in GRAINS[1:]:
            held = self.holders(grain)
            late = Counter(
                label(grain, turn.occurred_at, self.zone)
                for turn in self.rows.turns
                if turn.id not in held
                and turn.recorded_at + patience < now
                and self._ended(grain, turn) + patience < now
            )
            problems += [f"{grain} {period}: {n} turns" for period, n in late.items()]
        return problems

    def _ended(self, grain: str, turn: Turn) -> datetime:
        return _end(grain, label(grain, turn.occurred_at, self.zone), turn, self.zone)

    # Retention.

    def retention_problems(self, now: datetime, plan: Mapping[str, str] = FREE) -> list[str]:
        """Return what has its content and should not, and what has not and should.

        To be asked at the moment of a retention pass.
        """
        problems: list[str] = []
        for grain in GRAINS:
            since = kept_since(plan[grain], now)
            members: list[Turn | Summary | Episode] = [*self.by_grain[grain]]
            members += self.rows.turns if grain == "working" else ()
            for one in members:
                must_go = self._is_past(one, since) and self._is_replaced(one, grain)
                if must_go and one.retired_at is None:
                    problems.append(f"{grain} {_kind(one)} {one.id} outlived its plan")
                if one.retired_at is not None and not must_go:
                    problems.append(f"{grain} {_kind(one)} {one.id} was retired before its time")
                problems += _half_gone(one)
        return problems

    def _is_past(self, one: Turn | Summary | Episode, since: datetime) -> bool:
        if isinstance(one, Episode):
            return one.ends_at < since
        return one.recorded_at < since

    def _is_replaced(self, one: Turn | Summary | Episode, grain: str) -> bool:
        if grain in ("yearly", "weekly"):
            wanted: Sequence[str] = ("monthly",) if grain == "weekly" else ()
        else:
            wanted = COARSER[grain]
        mine = (one.id,) if isinstance(one, Turn) else self.reached[one.id]
        return all(set(mine) <= self._held[coarser].keys() for coarser in wanted)

    @cached_property
    def _held(self) -> Mapping[str, Mapping[str, str]]:
        return {grain: self.holders(grain) for grain in GRAINS}

    def chain_problems(self) -> list[str]:
        """Return turns that are gone and of which no record tells any more, too early.

        A turn that was retired must be told by a daily episode that has its content, or that was
        retired in its turn, and then by a monthly one, and so on.
        """
        problems: list[str] = []
        for turn in self.rows.turns:
            if turn.retired_at is None:
                continue
            grain: str | None = "daily"
            while grain is not None:
                holder = self._held[grain].get(turn.id)
                if holder is None:
                    problems.append(f"turn {turn.id} has no {grain} episode")
                    break
                if self.records[holder].retired_at is None:
                    break
                grain = {"daily": "monthly", "monthly": "quarterly", "quarterly": "yearly"}.get(
                    grain
                )
        return problems


def _leaks(one: Summary | Episode, turns: Sequence[Turn]) -> list[str]:
    """Return how a record could tell somebody of a turn whom the turn would not be told to."""
    found: list[str] = []
    for turn in turns:
        if one.private != turn.private:
            found.append("crosses privacy")
        if one.user_id != turn.user_id and one.retired_at is None and turn.retired_at is None:
            found.append("crosses users")
        if set(one.topics) - set(turn.topics) or (turn.topics and not one.topics):
            found.append("crosses topics")
    return sorted(set(found))


def _half_gone(one: Turn | Summary | Episode) -> list[str]:
    text = one.input if isinstance(one, Turn) else one.text
    rest = (one.response, *one.tool_outputs) if isinstance(one, Turn) else ()
    if one.retired_at is None:
        return [f"{_kind(one)} {one.id} lost its text"] if text in GONE else []
    is_gone = text == "[retired]" and one.redacted_at is not None and one.user_id is None
    if isinstance(one, Turn):
        is_gone = is_gone and not any(str(part) not in ("", *GONE) for part in rest)
    return [] if is_gone else [f"{_kind(one)} {one.id} is only half retired"]


def _kind(one: Turn | Summary | Episode) -> str:
    return type(one).__name__.lower()


_ENDS: dict[tuple[str, str, str], datetime] = {}


def _end(grain: str, name: str, turn: Turn, zone: ZoneInfo) -> datetime:
    """Return the end of a period; asked once for each, as there are many turns in one."""
    key = (grain, name, zone.key)
    if key not in _ENDS:
        _ENDS[key] = period_end(grain, turn.occurred_at, zone)
    return _ENDS[key]
