"""The ports of time grains: what is not yet in an episode, who was counted where, what is retired.

What asks here is the runtime itself, with the scope of a whole graph; an agent's scope is a
``UsageError``. The rules of ``tiers.ports`` hold.

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

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Literal, Protocol

from .plans import AnyGrain
from .records import Episode, Grain, Moment, Record, Scope, Summary, WorkDraft
from .upkeep import Page

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


class GrainStore(Protocol):
    """What rolls up into what, and what is past its retention."""

    async def loose(
        self, scope: Scope, grain: Grain, before: datetime, limit: int
    ) -> tuple[Summary | Episode, ...]:
        """Return what an episode of this grain is made of and that is in none of it yet.

        Level-0 summaries for ``daily``, else episodes of the grain that ``MADE_OF`` names, of
        every agent, user and topic, that began before ``before``; oldest first, ties by id, at
        most ``limit``. Redacted and retired ones are left out.
        """

    async def turn_marks(self, scope: Scope, cursor: str, limit: int) -> Page[TurnMark]:
        """Return every turn of the graph in a stable order, redacted and retired ones included."""

    async def made(self, scope: Scope, cursor: str, limit: int) -> Page[Made]:
        """Return every level-0 summary and every episode, redacted and retired ones included."""

    async def retirable(
        self, scope: Scope, grain: AnyGrain, before: datetime, limit: int
    ) -> tuple[Retirable, ...]:
        """Return records of a grain that are past their retention and have a stand-in.

        Of ``working``, turns and their level-0 summaries that were recorded before ``before`` and
        whose turns are in a daily episode; of other grains, episodes that ended before it and all
        of whose content is in every grain that ``MADE_OF`` makes of it (``daily``: in a weekly
        and a monthly one); a ``weekly`` one whose days are all in a monthly one; a ``yearly`` one
        in any case. A stand-in must not be redacted; one that was retired in its turn stands by
        what stands for it. Redacted and retired records are left out. Oldest first, ties by id,
        at most ``limit``.
        """

    async def count_grain(self, scope: Scope, grain: AnyGrain) -> GrainCount:
        """Return how many records of a grain the graph has; of ``working``, turns and summaries."""

    async def retire(
        self,
        scope: Scope,
        ids: Sequence[str],
        reason: str,
        now: datetime,
        work: Sequence[WorkDraft] = (),
    ) -> tuple[str, ...]:
        """Destroy the content of turns, summaries, episodes and facts for good; return which.

        Nothing that was made of them changes: that is what stays. Texts become ``[retired]``,
        subject, predicate, object, speaker and tool outputs go, so does the user; ``retired_at``
        and ``redacted_at`` are set; words leave the word index, and ``index`` work for each takes
        it out of the warm index. Rows, ids, ``seq``, coverage, children and chains stay. One audit
        event ``retired`` with the ids and the reason. What is redacted or retired already is
        passed over; if all is, nothing is written. All or nothing where the engine has
        transactions; otherwise repeating the call finishes what was begun.

        Raises:
            UsageError: ``reason`` is blank, or there are more than ``RETIRED_PER_CALL_MAX`` ids.
        """
