"""Time grains: what is not yet in an episode, who was counted where, what is retired.

What asks here is the runtime itself, with the scope of a whole graph; an agent's scope is a
``UsageError``.

=========  =====================  ==========================================================
grain      made of                period, in the installation's time zone
=========  =====================  ==========================================================
working    turns                  none: the level-0 summaries
daily      working                ``2026-11-20``
weekly     daily                  ``2026-W47``, ISO year and week
monthly    daily, not weekly      ``2026-11``; a week may lie in two months
quarterly  monthly                ``2026-Q4``
yearly     quarterly              ``2026``
=========  =====================  ==========================================================
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from .plans import AnyGrain
from .records import Grain, Moment, Record

MADE_OF: Mapping[Grain, AnyGrain] = {
    "daily": "working",
    "weekly": "daily",
    "monthly": "daily",
    "quarterly": "monthly",
    "yearly": "quarterly",
}

RETIRED = "[retired]"
"""What a record says whose content retention has destroyed: records must say something."""

RETIRED_PER_CALL_MAX = 1_000


class TurnMark(Record):
    """A turn as the conservation report counts it, without what was said.

    Attributes:
        covered: The store takes it for covered by a summary, and never offers it again.
    """

    id: str
    agent_id: str
    seq: int
    occurred_at: Moment
    covered: bool = False
    redacted: bool = False
    retired: bool = False


class Made(Record):
    """A summary or episode as the conservation report counts it, without its text.

    Attributes:
        grain: ``working`` for a level-0 summary.
        sources: The turns it covers, or the summaries or episodes it has as children.
        lost: Statements of what it stands for that its text does not tell.
        told_in: Grains of which the store takes it for part of an episode, and never offers it
            again.
        redacted: Its content was destroyed on request.
        retired: Its content was destroyed by retention.
    """

    id: str
    grain: AnyGrain
    agent_id: str
    period: str = ""
    sources: tuple[str, ...]
    starts_at: Moment
    ends_at: Moment
    made_by: str
    lost: int = 0
    told_in: tuple[Grain, ...] = ()
    redacted: bool = False
    retired: bool = False


class Retirable(Record):
    """A record that is past its retention.

    Attributes:
        replaced_by: The summaries or episodes that stand for it now, every one of which has its
            content; empty for a yearly episode and for a weekly one, whose days are in months.
    """

    kind: Literal["turn", "summary", "episode", "fact"]
    id: str
    replaced_by: tuple[str, ...] = ()


class GrainCount(Record):
    """How many records of a grain there are: ever stored, and with their content."""

    total: int
    live: int
