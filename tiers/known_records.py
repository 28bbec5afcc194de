"""Records that are found again: an engine need not tell what the asker has read, or will read.

A search looks at hundreds of turns and shows ten. What it weighs them by never changes once a turn
is stored, so an asker may keep it (as numbers, not as text) and say of which turns it does. Who
reads from the cold tier whatever an index finds has no use for the index's copy of anything. An
engine that can leaves those out of what it reads and tells only that it found them. Who may see
what is asked of the engine as ever.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, Protocol, TypeAlias, TypeGuard, runtime_checkable

from .recollection import WordStatistics
from .records import Hit, Scope, SearchQuery


class Sighted(NamedTuple):
    """A record of the own graph that was found, and that the asker knows.

    Attributes:
        id: Which one.
        score: As a hit has it; 0 of what only stands in a conversation.
        tier: Where it was found.
        words_only: As a hit has it.
        cosine: As a hit has it.
    """

    id: str
    score: float
    tier: Literal["warm", "cold"]
    words_only: bool = False
    cosine: float | None = None


class Known(Protocol):
    """Says of which records of the asked graph nothing need be told. Asked from any thread."""

    def __contains__(self, record_id: str) -> bool:
        """Whether a record is known. Who says so of one goes on knowing it."""


class Everything:
    """Knows every record: of whoever wants to know only which are found."""

    def __contains__(self, record_id: str) -> bool:
        """Whether a record is known, which each is."""
        return True


Seen: TypeAlias = Hit | Sighted
"""What a search found, told or known."""


class SightedWords(NamedTuple):
    """What a search by words found, and how rare the words are among records of the asked kinds.

    Attributes:
        found: Best first.
        statistics: As ``Recollection.word_statistics`` counts them; ``None`` where nothing is
            asked.
    """

    found: tuple[Seen, ...]
    statistics: WordStatistics | None


@runtime_checkable
class SightsMeaning(Protocol):
    """A ``WarmStore`` that tells only what is not known."""

    async def sight(self, scope: Scope, query: SearchQuery, known: Known) -> tuple[Seen, ...]:
        """Return what ``search`` does, in its order, records of ``known`` by their ids alone."""


def sights_meaning(index: object) -> TypeGuard[SightsMeaning]:
    """Whether an index can: as ``isinstance`` says, which looks the protocol through each time."""
    return hasattr(index, "sight")
