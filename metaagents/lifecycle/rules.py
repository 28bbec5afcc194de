"""What the lifecycle agent decides, as pure functions over records, a policy and ``now``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import NamedTuple, TypeAlias
from zoneinfo import ZoneInfo

from tiers.plans import GRAINS
from tiers.records import Episode, Grain, HistoricBelief, Retention, Summary, Turn

from .periods import bounds, day_of, period_of, period_start

SummaryOrEpisode: TypeAlias = Summary | Episode
"""What an episode is made of."""

EPISODE_TOKENS: Mapping[Grain, int] = {
    "daily": 320,
    "weekly": 480,
    "monthly": 640,
    "quarterly": 800,
    "yearly": 960,
}
"""Grows with the grain, though slower than what it stands for.

A year in the words of a day would say nothing in particular; and an episode must still fit into a
context beside other things.
"""


@dataclass(frozen=True)
class LifecyclePolicy:
    """When to compress and what to keep.

    Attributes:
        ring_capacity: Turns that stay in the hot ring and are not compressed.
        turns_per_summary: A full group; more turns never go into one summary.
        gap: Two turns further apart than this belong to different summaries.
        patience: A group that is not full is compressed once its last turn is this old, and a day
            is over once it has ended this long ago.
        summary_ttl: How long a summary stays in the warm tier.
        consolidate_before: How long before its expiry a summary becomes part of an episode, if
            its day is not over by then.
        summary_tokens: Budget of a summary's text.
        episode_tokens: Budget of an episode's text, by grain.
        zone: Where days, weeks and months begin.
    """

    ring_capacity: int = 8
    turns_per_summary: int = 8
    gap: timedelta = timedelta(hours=6)
    patience: timedelta = timedelta(minutes=15)
    summary_ttl: timedelta = timedelta(hours=24)
    consolidate_before: timedelta = timedelta(hours=1)
    summary_tokens: int = 160
    episode_tokens: Mapping[Grain, int] = field(default_factory=lambda: dict(EPISODE_TOKENS))
    zone: ZoneInfo = ZoneInfo("UTC")  # noqa: RUF009 - immutable


class Audience(NamedTuple):
    """Whose a record is and who may see it: what one episode tells is of one of these."""

    agent_id: str
    topics: tuple[str, ...]
    private: bool
    user_id: str | None


@dataclass(eq=False)  # two groups are never the same, whatever they hold
class _OpenGroup:
    turns: list[Turn]
    day: date


def group_turns(turns: Sequence[Turn], policy: LifecyclePolicy) -> list[tuple[Turn, ...]]:
    """Cut one agent's turns, oldest first, into groups that become one summary each.

    The turns of a group are equal in topics, privacy and user: what a summary tells to one reader,
    whatever topics they hold or are denied, that reader could have read in every turn it covers.
    A group ends when it is full, with its day, at a pause longer than ``policy.gap``, and where a
    turn steps back in time. Groups are ordered by their first turn.
    """
    groups: list[_OpenGroup] = []
    growing: list[_OpenGroup] = []
    for turn in turns:
        day = day_of(turn.occurred_at, policy.zone)
        fitting = (one for one in growing if one.day == day and _fits(one, turn, policy))
        group = next(fitting, None)
        if group is None:
            group = _OpenGroup([], day)
            groups.append(group)
            growing.append(group)
        group.turns.append(turn)
        if len(group.turns) >= policy.turns_per_summary:
            growing.remove(group)
    return [tuple(group.turns) for group in groups]


def _fits(group: _OpenGroup, turn: Turn, policy: LifecyclePolicy) -> bool:
    last = group.turns[-1]
    pause = turn.occurred_at - last.occurred_at
    return audience_of(turn) == audience_of(last) and timedelta(0) <= pause <= policy.gap


def ready_groups(
    groups: Sequence[tuple[Turn, ...]], policy: LifecyclePolicy, now: datetime
) -> list[tuple[Turn, ...]]:
    """Return the groups to compress now: those that cannot grow any more, or have waited enough."""
    finished = {id(group) for group in finished_groups(groups, policy)}
    return [
        group
        for group in groups
        if id(group) in finished or now - group[-1].recorded_at >= policy.patience
    ]


def finished_groups(
    groups: Sequence[tuple[Turn, ...]], policy: LifecyclePolicy
) -> list[tuple[Turn, ...]]:
    """Return the groups that no turn after all these will join, unless it comes late.

    They are full, or the newest turn is of a later day or a long pause after their last one.
    """
    if not groups:
        return []
    newest = max(group[-1].occurred_at for group in groups)
    today = day_of(newest, policy.zone)
    return [
        group
        for group in groups
        if len(group) >= policy.turns_per_summary
        or newest - group[-1].occurred_at > policy.gap
        or day_of(group[-1].occurred_at, policy.zone) < today
    ]


def due_again(waiting: Sequence[tuple[Turn, ...]], policy: LifecyclePolicy) -> datetime | None:
    """Return when the first of the groups that wait has waited enough, or ``None`` for no group."""
    recorded = [group[-1].recorded_at for group in waiting]
    return min(recorded) + policy.patience if recorded else None


def days_over_until(now: datetime, policy: LifecyclePolicy) -> datetime:
    """Return the moment before which every day is over: its end lies ``patience`` back."""
    return period_start(now - policy.patience, "daily", policy.zone)


def unsettled_days(turns: Sequence[Turn], policy: LifecyclePolicy, now: datetime) -> set[date]:
    """Return the days of which something was recorded so lately that more may come at once."""
    return {
        day_of(turn.occurred_at, policy.zone)
        for turn in turns
        if now - turn.recorded_at < policy.patience
    }


def is_leaving_early(summary: Summary, policy: LifecyclePolicy) -> bool:
    """Whether a summary leaves the warm tier before its day is over and can be told."""
    if summary.expires_at is None:
        return False
    day = period_of(summary.starts_at, "daily", policy.zone)
    return summary.expires_at < bounds(day, "daily", policy.zone).ends + policy.patience


def audience_of(record: SummaryOrEpisode | Turn) -> Audience:
    """Return whose a turn, summary or episode is and who may see it."""
    return Audience(record.agent_id, record.topics, record.private, record.user_id)


def group_by_period(
    records: Sequence[SummaryOrEpisode], grain: Grain, zone: ZoneInfo
) -> list[tuple[str, tuple[SummaryOrEpisode, ...]]]:
    """Gather what episodes are made of by period, writer, equal topics, privacy and user.

    Oldest period first; the members of one in order of time.
    """
    groups: dict[tuple[str, Audience], list[SummaryOrEpisode]] = {}
    for one in sorted(records, key=lambda one: (one.starts_at, one.id)):
        key = (period_of(one.starts_at, grain, zone), audience_of(one))
        groups.setdefault(key, []).append(one)
    return [(period, tuple(members)) for (period, _), members in groups.items()]


def whole_periods(
    records: Sequence[SummaryOrEpisode], grain: Grain, zone: ZoneInfo
) -> tuple[SummaryOrEpisode, ...]:
    """Return of the oldest records those whose period cannot have more.

    The period of the last one may go on behind the page that these are.
    """
    if not records:
        return ()
    open_since = period_start(max(one.starts_at for one in records), grain, zone)
    return tuple(one for one in records if one.starts_at < open_since)


def bottom_up(records: Sequence[SummaryOrEpisode]) -> list[SummaryOrEpisode]:
    """Return records so that each comes after what it may be made of, oldest period first."""

    def place(record: SummaryOrEpisode) -> tuple[int, datetime, str]:
        height = 0 if isinstance(record, Summary) else 1 + GRAINS.index(record.grain)
        return height, record.starts_at, record.id

    return sorted(records, key=place)


def beliefs_kept_since(retention: Retention, now: datetime) -> datetime | None:
    """Return the moment from which on ended beliefs keep their content; ``None``: all of them."""
    days = retention.beliefs_days
    return None if days is None else now - timedelta(days=days)


def is_past_retention(belief: HistoricBelief, last_seq: int) -> bool:
    """Whether a belief that ended by this event is to lose its content.

    Not one that is active or pinned, and not twice.
    """
    if belief.status not in {"superseded", "reverted"} or belief.ended_seq is None:
        return False
    return belief.ended_seq <= last_seq and not belief.pinned and belief.redacted_at is None
