"""What the lifecycle agent decides, as pure functions over records, a policy and ``now``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import get_args

from tiers.records import Episode, HistoricBelief, Retention, Summary, Turn

GRAINS: tuple[str, ...] = get_args(Episode.model_fields["grain"].annotation)
"""Of episodes, finest first."""


@dataclass(frozen=True)
class LifecyclePolicy:
    """When to compress and what to keep.

    Attributes:
        ring_capacity: Turns that stay in the hot ring and are not compressed.
        turns_per_summary: A full group; more turns never go into one summary.
        gap: Two turns further apart than this belong to different summaries.
        patience: A group that is not full is compressed once its last turn is this old.
        summary_ttl: How long a summary stays in the warm tier.
        consolidate_before: How long before its expiry a summary becomes part of an episode.
        summary_tokens: Budget of a summary's text.
        episode_tokens: Budget of an episode's text.
    """

    ring_capacity: int = 8
    turns_per_summary: int = 8
    gap: timedelta = timedelta(hours=6)
    patience: timedelta = timedelta(minutes=15)
    summary_ttl: timedelta = timedelta(hours=24)
    consolidate_before: timedelta = timedelta(hours=1)
    summary_tokens: int = 160
    episode_tokens: int = 320


@dataclass(eq=False)  # two groups are never the same, whatever they hold
class _OpenGroup:
    turns: list[Turn]
    topics: frozenset[str]


def shared_topics(records: Sequence[Turn | Summary]) -> tuple[str, ...]:
    """Return the topics that all records have.

    These are the topics of what is made of them: whoever holds one of them may see every part.
    """
    common = set(records[0].topics).intersection(*(record.topics for record in records))
    return tuple(sorted(common))


def group_turns(turns: Sequence[Turn], policy: LifecyclePolicy) -> list[tuple[Turn, ...]]:
    """Cut one agent's turns, oldest first, into groups that become one summary each.

    The turns of a group share a topic, or none has any, and are equal in privacy and user: what
    a summary tells to one reader, that reader could have read in every turn it covers. A group
    ends when it is full, at a pause longer than ``policy.gap``, and where a turn steps back in
    time. A turn that fits several groups joins the one it shares most topics with. Groups are
    ordered by their first turn.
    """
    groups: list[_OpenGroup] = []
    growing: list[_OpenGroup] = []
    for turn in turns:
        fitting = [group for group in growing if _fits(group, turn, policy)]
        if fitting:
            best = max(fitting, key=lambda group: len(group.topics & set(turn.topics)))
            best.turns.append(turn)
            best.topics &= frozenset(turn.topics)
        else:
            best = _OpenGroup([turn], frozenset(turn.topics))
            groups.append(best)
            growing.append(best)
        if len(best.turns) >= policy.turns_per_summary:
            growing.remove(best)
    return [tuple(group.turns) for group in groups]


def _fits(group: _OpenGroup, turn: Turn, policy: LifecyclePolicy) -> bool:
    last = group.turns[-1]
    pause = turn.occurred_at - last.occurred_at
    untopiced = not group.topics and not turn.topics
    return (
        timedelta(0) <= pause <= policy.gap
        and (turn.private, turn.user_id) == (last.private, last.user_id)
        and (untopiced or bool(group.topics & set(turn.topics)))
    )


def ready_groups(
    groups: Sequence[tuple[Turn, ...]], policy: LifecyclePolicy, now: datetime
) -> list[tuple[Turn, ...]]:
    """Return the groups to compress now: those that cannot grow any more, or have waited enough."""
    newest = max((group[-1].occurred_at for group in groups), default=now)
    return [
        group
        for group in groups
        if len(group) >= policy.turns_per_summary
        or newest - group[-1].occurred_at > policy.gap
        or now - group[-1].recorded_at >= policy.patience
    ]


def due_again(waiting: Sequence[tuple[Turn, ...]], policy: LifecyclePolicy) -> datetime | None:
    """Return when the first of the groups that wait has waited enough, or ``None`` for no group."""
    recorded = [group[-1].recorded_at for group in waiting]
    return min(recorded) + policy.patience if recorded else None


def group_by_day(
    summaries: Sequence[Summary],
) -> list[tuple[date, tuple[Summary, ...]]]:
    """Gather summaries by writer, equal topics, privacy and user, and the day (UTC) they start."""
    days: dict[tuple[str, tuple[str, ...], bool, str | None, date], list[Summary]] = {}
    for one in summaries:
        key = (one.agent_id, one.topics, one.private, one.user_id, one.starts_at.date())
        days.setdefault(key, []).append(one)
    return [(key[-1], tuple(members)) for key, members in days.items()]


def bottom_up(records: Sequence[Summary | Episode]) -> list[Summary | Episode]:
    """Return records so that each comes after what it may be made of, oldest period first."""

    def place(record: Summary | Episode) -> tuple[int, datetime, str]:
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
