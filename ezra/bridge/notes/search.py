"""Finds entities by what their notes say."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from tiers.errors import UsageError, check_within
from tiers.records import IDS_MAX, Hit

from ..memories import TYPE
from .entities import Entity
from .indexing import NOTES_TOPIC, TYPE_TOPIC
from .memory_labels import MEMORIES_TOPIC
from .names import slug

if TYPE_CHECKING:
    from ...documents.handle import Documents
    from ...handles.agent import Agent
    from ...recall.request import ModeName


DAYS = 180
DAYS_MAX = 36_500
LIMIT_MAX = 100
HITS = 100
"""Passages that one question may return: several of them may be of one note."""
BLOCKS_MAX = 10
"""So many questions, of ``IDS_MAX`` passages each, look through the notes of a window."""


@dataclass(frozen=True, slots=True)
class Found:
    """An entity that a search found.

    Attributes:
        id: Of it.
        type: Of it.
        title: Of it.
        status: Of it.
        changed_at: When its note changed last.
        score: Comparable inside one answer.
        text: The passage that was found.
        headings: Under which it stands.
        path: Of the note on its shelf.
    """

    id: str
    type: str
    title: str
    status: str
    changed_at: datetime
    score: float
    text: str
    headings: tuple[str, ...]
    path: str


async def search(
    agent: Agent,
    documents: Documents,
    entities: Iterable[Entity],
    text: str,
    now: datetime,
    *,
    types: Sequence[str] = (),
    days: int | None = DAYS,
    limit: int = 10,
    mode: ModeName = "hybrid",
) -> tuple[Found, ...]:
    """Return the entities that are about a text, best first; of each its best passage.

    Args:
        agent: Who asks.
        documents: Its documents.
        entities: All that is searched, as ``reading.searched`` returns it.
        text: What they are about.
        now: The time.
        types: Only entities of these types.
        days: Only notes that changed within so many days; ``None`` for all times.
        limit: How many, 1 to 100.
        mode: ``hybrid``, ``keyword`` or ``semantic``.

    Raises:
        UsageError: An argument is not acceptable.
    """
    check_within("limit", limit, 1, LIMIT_MAX)
    if days is not None and not 1 <= days <= DAYS_MAX:
        raise UsageError("days", days, f"1 to {DAYS_MAX}")
    since = None if days is None else now - timedelta(days=days)
    named = frozenset(slug(kind) for kind in types)
    wanted = _Wanted(entities, named, since)
    prefixes = (TYPE_TOPIC, TYPE)
    topics = [prefix + kind for prefix in prefixes for kind in sorted(named)] or [
        NOTES_TOPIC,
        MEMORIES_TOPIC,
    ]
    hits = await _recall(agent, text, topics, mode, ())
    found = wanted.among(hits)
    if len(found) >= limit or len(hits) < HITS or since is None:
        return found[:limit]
    # So much is too old that the best of all hold too few: the engine is told what is not.
    ranked: list[tuple[int, Hit]] = []
    for ids in await _blocks(documents, wanted.entities()):
        ranked += enumerate(await _recall(agent, text, topics, mode, ids))
    # Scores of different questions cannot be compared; their ranks can.
    return wanted.among([hit for _, hit in sorted(ranked, key=lambda one: one[0])])[:limit]


class _Wanted:
    """Which entities a search may return."""

    def __init__(
        self, entities: Iterable[Entity], types: frozenset[str], since: datetime | None
    ) -> None:
        self._by_document = {
            one.document_id: one
            for one in entities
            if (not types or one.type in types) and (since is None or one.changed_at >= since)
        }

    def entities(self) -> list[Entity]:
        """Return them, the latest change first."""
        return sorted(self._by_document.values(), key=lambda one: one.changed_at, reverse=True)

    def among(self, hits: Sequence[Hit]) -> tuple[Found, ...]:
        """Return the wanted entities behind passages, each once, in the order of the passages."""
        found: dict[str, Found] = {}
        for hit in hits:
            cited = hit.citation
            entity = None if cited is None else self._by_document.get(cited.document_id)
            if cited is not None and entity is not None and cited.document_id not in found:
                found[cited.document_id] = Found(
                    id=entity.id,
                    type=entity.type,
                    title=entity.title,
                    status=entity.status,
                    changed_at=entity.changed_at,
                    score=hit.score,
                    text=hit.text,
                    headings=cited.headings,
                    path=entity.path,
                )
        return tuple(found.values())


async def _recall(
    agent: Agent, text: str, topics: Sequence[str], mode: ModeName, ids: Sequence[str]
) -> Sequence[Hit]:
    found = await agent.recall(
        text, limit=HITS, kinds=("document",), mode=mode, topics=topics, ids=ids
    )
    return found.items


async def _blocks(documents: Documents, entities: Sequence[Entity]) -> list[tuple[str, ...]]:
    """Return the ids of the passages of entities, in blocks that one question may name."""
    ids: list[str] = []
    for entity in entities:
        passages = await documents.passages(entity.document_id, limit=IDS_MAX)
        ids += (one.id for one in passages)
        if len(ids) >= BLOCKS_MAX * IDS_MAX:
            break
    firsts = range(0, min(len(ids), BLOCKS_MAX * IDS_MAX), IDS_MAX)
    return [tuple(ids[first : first + IDS_MAX]) for first in firsts]
