"""What recall asks of the cold tier besides a search: conversations, word counts, and the past."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple


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
