"""What recall asks of the cold tier besides a search: conversations, word counts, and the past.

The rules of ``tiers.ports`` hold.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NamedTuple, Protocol

from .records import Hit, Kind, Scope, SearchQuery


class Said(NamedTuple):
    """A turn as its conversation has it. ``text`` is its searchable form, as a hit shows it."""

    id: str
    agent_id: str
    user_id: str | None
    speaker: str
    text: str
    occurred_at: datetime
    recorded_at: datetime


class WordStatistics(NamedTuple):
    """How rare words are in one graph.

    Attributes:
        records: How many records of the asked kinds the graph holds.
        having: For each content word of a question (``tiers.lexical.content_words``), how many
            of them have it, whoever may see them. Words are compared by their stems
            (``tiers.cold.terms.term_of``).
    """

    records: int
    having: Mapping[str, int]


class Uses(NamedTuple):
    """How a fact was used around a moment.

    Attributes:
        since: How often after it.
        last: When last by then, if it was.
    """

    since: int
    last: datetime | None


class Place(NamedTuple):
    """Where a record stands in the order of a timeline: when it happened, and its id."""

    at: datetime
    id: str


class Recollection(Protocol):
    """Reads around and behind the hits of a search."""

    async def around(
        self,
        scope: Scope,
        turn_ids: Sequence[str],
        before: int,
        after: int,
        *,
        as_of: datetime | None = None,
    ) -> tuple[tuple[Said, ...], ...]:
        """Return the stretches of conversation around turns of the scope's own graph.

        A stretch is a run of visible, unredacted turns that follow each other in the order of
        recording, whatever their agent, oldest first: each asked turn with at most ``before``
        turns before and ``after`` behind it. Stretches that touch or overlap are one. Turns that
        are not there, not visible, or recorded after ``as_of`` are left out, as if they did not
        exist. At most 200 ids and 16 turns each way.
        """

    async def speakers(self, scope: Scope, limit: int) -> tuple[str, ...]:
        """Return different speakers of the graph's turns, whoever may see them, by name."""

    async def word_statistics(
        self, scope: Scope, text: str, kinds: Sequence[Kind], *, as_of: datetime | None = None
    ) -> WordStatistics:
        """Return how many records of the scope's own graph have each content word of a text.

        With ``as_of`` those that had been recorded by then count.
        """

    async def uses_by(self, scope: Scope, fact_ids: Sequence[str], at: datetime) -> dict[str, Uses]:
        """Return how often facts of the own graph were used after a moment, and when last by then.

        Facts of which no use is told one by one are left out.
        """

    async def ended(self, scope: Scope, query: SearchQuery) -> tuple[Hit, ...]:
        """Return visible records that were live at ``query.as_of`` and are not any more.

        Superseded and forgotten facts, expired summaries, beliefs that were active then; those
        whose content is destroyed are gone from every moment. All other conditions of the query
        hold (its words and vector are not looked at). Most recently ended first, then by id, at
        most ``query.limit``. Nothing without ``as_of``. Of a belief that is active now but was
        not then, ``search_words`` with ``as_of`` and this method both say nothing.
        """


class Timeline(Protocol):
    """What happened, by time alone."""

    async def latest(
        self, scope: Scope, query: SearchQuery, *, behind: Place | None = None
    ) -> tuple[Hit, ...]:
        """Return visible live records of the scope's own graph, the latest first, then by id.

        By when they happened: ``occurred_at``, or ``recorded_at`` where there is none; of a
        summary or episode, when the last of what it tells did. All conditions of the query hold
        as in ``search_words``, ``since``, ``until``, ``grains`` and ``as_of`` among them; its
        words and vector are not looked at. With ``behind``, only what comes after that place in
        this order: from the place of its last record a page goes on. At most ``query.limit``;
        scores are 0.
        """
