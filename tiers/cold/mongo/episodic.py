"""Summaries and episodes in MongoDB."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime

from ...errors import Conflict, NotFound, TierTimeout
from ...moments import microseconds
from ...records import Episode, Grain, Scope, Summary, WorkDraft
from ..ownership import check_limit, check_owned, in_order
from .coverage import (
    episode_document,
    make_up_for_children,
    mark_consolidated,
    mark_covered,
    summary_document,
)
from .database import Database, Session
from .documents import Document, record_of
from .outbox import send, send_left_behind, with_outbox
from .schema import Index, by, validator
from .scope import own, visible
from .translation import DuplicateKey
from .word_counts import count_words

ATTEMPTS_MAX = 100

_BY_PERIOD = [("starts_at", 1), ("id", 1)]
COLLECTIONS: Mapping[str, tuple[Sequence[Index], Mapping[str, Document] | None]] = {
    "summaries": (
        [
            by("id", unique=True),
            by("covers", "level", unique=True),
            by("starts_at", "id"),
            by("episode_id", "expires_at"),
            by("expires_at"),
            by("loose_for", "redacted_at", "starts_at", "id"),
            by("redacted_at", "recorded_at", "id"),
            by("terms", "id"),
        ],
        validator(
            (
                "id",
                "level",
                "covers",
                "for_user",
                "topics",
                "private_to",
                "starts_at",
                "episode_id",
                "loose_for",
                "made_by",
                "terms",
            ),
            covers={"bsonType": "array", "items": {"bsonType": "string"}},
            topics={"bsonType": "array", "items": {"bsonType": "string"}},
            loose_for={"bsonType": "array", "items": {"bsonType": "string"}},
            private_to={"bsonType": "string"},
        ),
    ),
    "episodes": (
        [
            by("id", unique=True),
            by("consolidates", "grain", unique=True, only_with=("consolidates",)),
            by("starts_at", "id"),
            by("grain", "starts_at", "id"),
            by("grain", "redacted_at", "starts_at", "id"),
            by("loose_for", "redacted_at", "starts_at", "id"),
            by("terms", "id"),
        ],
        validator(
            (
                "id",
                "grain",
                "period",
                "children",
                "for_user",
                "topics",
                "private_to",
                "starts_at",
                "ends_at",
                "loose_for",
                "made_by",
                "terms",
            ),
            topics={"bsonType": "array", "items": {"bsonType": "string"}},
            loose_for={"bsonType": "array", "items": {"bsonType": "string"}},
            private_to={"bsonType": "string"},
        ),
    ),
}


class MongoEpisodicStore:
    """An ``EpisodicStore`` in MongoDB."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def put_summary(
        self, scope: Scope, summary: Summary, work: Sequence[WorkDraft] = ()
    ) -> bool:
        """Store a summary and mark every turn in ``covers`` as covered, in one step.

        Returns ``False``, writing nothing, when the same summary id is already stored.

        Raises:
            Conflict: A turn is covered by another summary of the same level.
            NotFound: A turn in ``covers`` is not in the scope's graph.
            TierTimeout: Others were first again and again.
        """
        check_owned(scope, summary)
        document = summary_document(summary)

        async def change(session: Session) -> bool:
            known = await session.collection("summaries").first(own(scope, id=summary.id))
            if known is not None:
                await mark_covered(session, scope, known["covers"])
                await send_left_behind(session, scope, "summaries", known)
                return False
            await _check_uncovered(session, scope, summary)
            await _check_turns(session, scope, summary.covers)
            await _insert(session, "summaries", document, work, summary)
            await mark_covered(session, scope, summary.covers)
            await send(session, scope, "summaries", summary.id, work, summary.recorded_at)
            return True

        return await self._put("put_summary", scope, summary, change)

    async def summaries(self, scope: Scope) -> tuple[Summary, ...]:
        """Return the visible summaries of the scope's graph, oldest period first.

        Redacted and retired ones are left out.
        """
        where = visible(scope, redacted_at=None)

        async def question(session: Session) -> tuple[Summary, ...]:
            found = await session.collection("summaries").find(where, sort=_BY_PERIOD)
            return tuple(record_of(Summary, document) for document in found)

        return await self._database.read("summaries", question)

    async def put_episode(
        self, scope: Scope, episode: Episode, work: Sequence[WorkDraft] = ()
    ) -> bool:
        """Store an episode and mark its ``children`` as consolidated, in one step.

        Returns ``False``, writing nothing, when the same episode id is already stored.

        Raises:
            Conflict: A child belongs to another episode of the same grain.
            TierTimeout: Others were first again and again.
        """
        check_owned(scope, episode)
        document = episode_document(episode)

        async def change(session: Session) -> bool:
            known = await session.collection("episodes").first(own(scope, id=episode.id))
            if known is not None:
                await mark_consolidated(
                    session, scope, known["children"], episode.id, known["grain"]
                )
                await send_left_behind(session, scope, "episodes", known)
                return False
            await _check_free(session, scope, episode)
            await _insert(session, "episodes", document, work, episode)
            await mark_consolidated(session, scope, episode.children, episode.id, episode.grain)
            await send(session, scope, "episodes", episode.id, work, episode.recorded_at)
            return True

        return await self._put("put_episode", scope, episode, change)

    async def due_summaries(
        self, scope: Scope, before: datetime, limit: int
    ) -> tuple[Summary, ...]:
        """Return summaries of the scope's graph that expire by ``before`` and have no episode.

        Every agent's and every topic's that has its content; oldest period first, at most
        ``limit``.
        """
        check_limit(limit)
        expires_at = {"$lte": microseconds(before)}
        where = own(scope, episode_id=None, redacted_at=None, expires_at=expires_at)

        async def question(session: Session) -> tuple[Summary, ...]:
            for _ in range(ATTEMPTS_MAX):
                found = await session.collection("summaries").find(
                    where, sort=_BY_PERIOD, limit=limit
                )
                if not found or not await make_up_for_children(session, scope, found):
                    return tuple(record_of(Summary, document) for document in found)
            raise TierTimeout("cold", "due_summaries", "others consolidated them again and again")

        return await self._database.read("due_summaries", question)

    async def episodes(
        self,
        scope: Scope,
        since: datetime | None = None,
        until: datetime | None = None,
        grain: Grain | None = None,
    ) -> tuple[Episode, ...]:
        """Return visible episodes of the graph that overlap ``[since, until)``, oldest first.

        Of one grain, or of all. Redacted and retired ones are left out.
        """
        where = visible(scope, redacted_at=None)
        if grain is not None:
            where["grain"] = grain
        if since is not None:
            where["ends_at"] = {"$gte": microseconds(since)}
        if until is not None:
            where["starts_at"] = {"$lt": microseconds(until)}

        async def question(session: Session) -> tuple[Episode, ...]:
            found = await session.collection("episodes").find(where, sort=_BY_PERIOD)
            return tuple(record_of(Episode, document) for document in found)

        return await self._database.read("episodes", question)

    async def written(self, scope: Scope, ids: Sequence[str]) -> tuple[Summary | Episode, ...]:
        """Return the visible summaries and episodes among ``ids``, in the order asked.

        Expired ones included, and those whose content is destroyed, which say so.
        """
        where = visible(scope, id={"$in": list(ids)})

        async def question(session: Session) -> tuple[Summary | Episode, ...]:
            found: dict[str, Summary | Episode] = {}
            for document in await session.collection("summaries").find(where):
                found[document["id"]] = record_of(Summary, document)
            for document in await session.collection("episodes").find(where):
                found[document["id"]] = record_of(Episode, document)
            return in_order(found, ids)

        return await self._database.read("written", question)

    async def _put(
        self,
        operation: str,
        scope: Scope,
        record: Summary | Episode,
        change: Callable[[Session], Awaitable[bool]],
    ) -> bool:
        """Carry the step out, again when an index refused what others stored at this moment."""
        alone = (operation, scope.tenant, scope.graph_id)

        async def counted(session: Session, is_new: bool) -> None:  # noqa: FBT001 - what change said
            if is_new:
                await count_words(session, record)

        for _ in range(ATTEMPTS_MAX):
            try:
                return await self._database.step(operation, change, alone=alone, counted=counted)
            except DuplicateKey:
                continue
        raise TierTimeout("cold", operation, "others were first again and again")


async def _insert(
    session: Session,
    collection: str,
    document: Document,
    work: Sequence[WorkDraft],
    record: Summary | Episode,
) -> None:
    stored = with_outbox(session, dict(document), work, record.recorded_at)
    await session.collection(collection).insert([stored])


async def _check_uncovered(session: Session, scope: Scope, summary: Summary) -> None:
    """Refuse a summary of a turn that another one of its level covers."""
    wanted = set(summary.covers)
    other = await session.collection("summaries").first(
        own(scope, covers={"$in": list(wanted)}, level=summary.level)
    )
    if other is not None:
        taken = next(turn_id for turn_id in other["covers"] if turn_id in wanted)
        raise Conflict(f"summary of turn {taken}", summary.id, other["id"])


async def _check_turns(session: Session, scope: Scope, turn_ids: Sequence[str]) -> None:
    """Refuse turns that are not in the scope's graph."""
    found = await session.collection("turns").find(
        own(scope, id={"$in": list(turn_ids)}), fields=["id"]
    )
    missing = set(turn_ids).difference(turn["id"] for turn in found)
    if missing:
        raise NotFound("turn", min(missing))


async def _check_free(session: Session, scope: Scope, episode: Episode) -> None:
    """Refuse an episode of a child that another one of its grain consolidates."""
    wanted = set(episode.children)
    other = await session.collection("episodes").first(
        own(scope, consolidates={"$in": list(wanted)}, grain=episode.grain)
    )
    if other is not None:
        taken = next(child for child in other["children"] if child in wanted)
        raise Conflict(f"{episode.grain} episode of {taken}", episode.id, other["id"])
