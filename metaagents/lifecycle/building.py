"""The records that the lifecycle agent stores, made of what it was given. Pure.

Their ids are derived from what they stand for: done twice, it is the same record.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from tiers.ids import derived_id
from tiers.lexical import estimate_tokens
from tiers.ports import Expired
from tiers.records import Episode, Grain, Scope, Summary, Turn

from .rules import SummaryOrEpisode
from .writing import Wording

NAMED_PER_EVENT_MAX = 1_000
"""So many turns one audit event names; more than one entry stands for go into another."""


def summary_of(
    scope: Scope, group: Sequence[Turn], wording: Wording, now: datetime, expires_at: datetime
) -> Summary:
    """Return the level-0 summary of a group of turns, of which there is one."""
    first, last = group[0], group[-1]
    covers = tuple(turn.id for turn in group)
    return Summary(
        id=derived_id(first.occurred_at, "summary", scope.tenant, scope.graph_id, *covers),
        tenant=scope.tenant,
        graph_id=scope.graph_id,
        agent_id=first.agent_id,
        user_id=first.user_id,
        topics=first.topics,
        private=first.private,
        recorded_at=now,
        text=wording.text,
        covers=covers,
        tokens=estimate_tokens(wording.text),
        starts_at=first.occurred_at,
        ends_at=last.occurred_at,
        expires_at=expires_at,
        made_by=wording.made_by,
        lost=wording.lost,
        answers=wording.answers,
    )


def episode_of(
    scope: Scope,
    grain: Grain,
    period: str,
    members: Sequence[SummaryOrEpisode],
    wording: Wording,
    now: datetime,
) -> Episode:
    """Return the episode of a period that is made of members of one audience."""
    first = members[0]
    children = tuple(member.id for member in members)
    return Episode(
        id=derived_id(first.starts_at, grain, scope.tenant, scope.graph_id, *children),
        tenant=scope.tenant,
        graph_id=scope.graph_id,
        agent_id=first.agent_id,
        user_id=first.user_id,
        topics=first.topics,
        private=first.private,
        recorded_at=now,
        grain=grain,
        period=period,
        text=wording.text,
        children=children,
        starts_at=first.starts_at,
        ends_at=max(member.ends_at for member in members),
        made_by=wording.made_by,
        lost=wording.lost,
        answers=wording.answers,
    )


def by_event(evicted: Expired) -> list[tuple[list[str], int]]:
    """Return what audit events name of evicted entries, and how many entries each is about.

    An entry is named by the turns that it stood for, or by its own id if it stood for nothing.
    """
    events: list[tuple[list[str], int]] = []
    for entry_id, turn_ids in evicted.items():
        named = turn_ids or (entry_id,)
        if not events or len(events[-1][0]) + len(named) > NAMED_PER_EVENT_MAX:
            events.append(([], 0))
        before, count = events[-1]
        events[-1] = ([*before, *named], count + 1)
    return events
