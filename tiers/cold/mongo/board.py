"""The board of a graph in MongoDB: messages, tasks, actions.

A card is one document, with whom it is for (``inboxes``) and who has read it. What follows from
posting or changing one is an audit event, and perhaps a second card: see ``following``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from ...board import AGENTS_MAX, CARDS_MAX, COUNTS_MAX, Card, CardCount, CardQuery
from ...errors import Conflict, UsageError
from ...moments import microseconds
from ...recollection import Place
from ...records import Scope
from ..cards import changed_columns, check_change, check_log, check_reader
from ..ownership import check_limit, check_owned, in_order
from .conditions import shown_fields
from .database import Database, Session
from .documents import Document, document_of, record_of
from .following import LEFT_BEHIND_INDEX, LEFT_BEHIND_MAX, changed, finish, follow, told, told_once
from .graphs import check_writable
from .log import append_event
from .schema import Index, by, validator
from .scope import of_tenant, own, visible

CARDS = "cards"
FOR_ALL = ""
"""The inbox of everybody; no agent is called that."""

_SHOWN = shown_fields(Card)
_LEFT: Document = {"moved.at": {"$exists": True}}
_IDS = {"bsonType": "array", "items": {"bsonType": "string"}}

COLLECTIONS: Mapping[str, tuple[Sequence[Index], Mapping[str, Document] | None]] = {
    CARDS: (
        [
            by("id", unique=True),
            by("kind", "-changed_at", "-id"),
            by("kind", "inboxes", "-changed_at", "-id"),
            by("kind", "agent_id", "-changed_at", "-id"),
            by("kind", "thread", "-changed_at", "-id"),
            by("recorded_at"),
            LEFT_BEHIND_INDEX,
        ],
        validator(
            ("id", "kind", "agent_id", "inboxes", "read_by", "version", "recorded_at"),
            inboxes=_IDS,
            read_by=_IDS,
        ),
    ),
}


class MongoBoard:
    """A ``Board`` in MongoDB."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def post(self, scope: Scope, card: Card, log: Card | None = None) -> tuple[Card, bool]:
        """Store a card and return it, and whether it is new.

        Raises:
            Conflict: The id is another agent's card, or a card of another kind, or the graph is
                archived.
            TierTimeout: Others were first again and again.
        """
        check_owned(scope, card)
        if log is not None:
            check_log(scope, log)
        ids = [one.id for one in (card, log) if one is not None]
        follows = told(scope, "posted", ids, card.kind, card.recorded_at, ()) | _beside(log)

        async def change(session: Session) -> tuple[Card, bool]:
            known = await _known(session, scope, card)
            if known is not None:
                return known, False
            await check_writable(session, scope)
            if log is not None:
                await _check_free(session, scope, log)
            carried = {} if session.is_atomic else {"moved": follows}
            document = card_document(card) | carried
            await session.collection(CARDS).insert([document])
            await follow(session, scope, CARDS, document, follows)
            return card, True

        return await told_once(self._database, "post", scope, change)

    async def change(self, scope: Scope, card: Card, log: Card) -> bool:
        """Replace a visible task; ``False`` when it is not of the version before.

        Raises:
            Conflict: The id of ``log`` is taken, or the graph is archived.
            TierTimeout: Others were first again and again.
            UsageError: It is not a task.
        """
        check_change(scope, card, log)
        whole = card_document(card)
        becomes = {name: whole[name] for name in changed_columns(card)}
        reason = f"task {card.status}"
        follows = told(scope, "changed", [card.id, log.id], reason, card.changed_at, ())
        follows |= _beside(log)
        where = _seen(scope, id=card.id, kind="task", version=card.version - 1, redacted_at=None)

        async def change(session: Session) -> bool:
            await check_writable(session, scope)
            if not session.is_atomic:
                await finish(session, scope, CARDS, [card.id])
            cards = session.collection(CARDS)
            if await cards.first(where) is None:
                return False
            await _check_free(session, scope, log)
            still = where | {"moved": {"$exists": False}}
            moved = await cards.find_and_update(still, changed(session, follows, becomes))
            if moved is None:
                return False
            await follow(session, scope, CARDS, moved, follows)
            return True

        return await told_once(self._database, "change", scope, change)

    async def mark_read(
        self, scope: Scope, ids: Sequence[str], reader: str, now: datetime
    ) -> tuple[str, ...]:
        """Note that an agent has read messages; return the ids of those it had not read before.

        Raises:
            Conflict: The graph is archived, and there would be something to write.
            TierTimeout: Others were first again and again.
            UsageError: There are too many, or the scope is another agent's.
        """
        check_reader(scope, ids, reader)
        asked: Document = {"$in": list(ids)}
        where = _inbox(scope, reader, id=asked, read_by={"$ne": reader}, redacted_at=None)

        async def change(session: Session) -> tuple[str, ...]:
            cards = session.collection(CARDS)
            found = await cards.find(where, fields=["id"])
            read = in_order({one["id"]: one["id"] for one in found}, ids)
            if not read:
                return ()
            await check_writable(session, scope)
            # Told before it is done: what is cut off in between is told, and done by the repeat.
            cause = f"{CARDS}/read/{reader}/{_digest(read)}"
            await append_event(session, scope, "read", read, "message", now, cause)
            for one in read:
                mine = own(scope, id=one)
                await cards.update(mine, {"$addToSet": {"read_by": reader}})
            return read

        return await told_once(self._database, "mark_read", scope, change)

    async def cards(self, scope: Scope, ids: Sequence[str]) -> tuple[Card, ...]:
        """Return the visible cards among ``ids``, redacted ones too, in the order asked."""
        where = _seen(scope, id={"$in": list(ids)})

        async def question(session: Session) -> tuple[Card, ...]:
            found = await session.collection(CARDS).find(where, fields=_SHOWN)
            return in_order({one["id"]: card_of(one) for one in found}, ids)

        return await self._database.read("cards", question)

    async def latest(
        self, scope: Scope, query: CardQuery, *, behind: Place | None = None, limit: int = 100
    ) -> tuple[Card, ...]:
        """Return visible cards, the latest change first, ties by id downwards; behind a place."""
        check_limit(limit, CARDS_MAX)
        where = _wanted(scope, query, behind)

        async def question(session: Session) -> tuple[Card, ...]:
            found = await session.collection(CARDS).find(
                where, sort=[("changed_at", -1), ("id", -1)], limit=limit, fields=_SHOWN
            )
            return tuple(card_of(one) for one in found)

        return await self._database.read("latest cards", question)

    async def counts(self, scope: Scope, since: datetime, until: datetime) -> tuple[CardCount, ...]:
        """Return how many visible cards were recorded in ``[since, until)``, in order of day.

        Raises:
            UsageError: That would be more than ``COUNTS_MAX`` rows.
        """
        window = {"$gte": microseconds(since), "$lt": microseconds(until)}
        what = {"day": "$day", "kind": "$kind", "agent_id": "$agent_id"}
        pipeline: list[Document] = [
            {"$match": _seen(scope, recorded_at=window, redacted_at=None)},
            {
                "$group": {
                    "_id": what | {"state": {"$ifNull": ["$status", "$type"]}},
                    "number": {"$sum": 1},
                }
            },
            {"$limit": COUNTS_MAX + 1},
        ]

        async def question(session: Session) -> list[Document]:
            return await session.collection(CARDS).aggregate(pipeline)

        found = await self._database.read("card counts", question)
        if len(found) > COUNTS_MAX:
            raise UsageError("since", since, f"a window of at most {COUNTS_MAX:,} counts")
        return tuple(sorted(CardCount(**one["_id"], number=one["number"]) for one in found))

    async def unread(self, scope: Scope, agent_ids: Sequence[str]) -> Mapping[str, int]:
        """Return how many visible messages each of the agents has not read yet.

        Raises:
            UsageError: They are more than ``AGENTS_MAX``.
        """
        if len(agent_ids) > AGENTS_MAX:
            raise UsageError("agent_ids", len(agent_ids), f"at most {AGENTS_MAX:,}")

        async def question(session: Session) -> dict[str, int]:
            cards, found = session.collection(CARDS), dict[str, int]()
            for one in dict.fromkeys(agent_ids):
                where = _inbox(scope, one, read_by={"$ne": one}, redacted_at=None)
                found[one] = await cards.count(where)
            return found

        return await self._database.read("unread", question)


def card_document(card: Card) -> Document:
    """Return a card in stored form, with whose inboxes it is in and the day it was recorded on.

    What is no message is in everybody's: only messages are asked for in an inbox, and whoever may
    see a record sees it.
    """
    is_for_some = card.kind == "message" and card.to
    return document_of(
        card,
        inboxes=list(dict.fromkeys(card.to)) if is_for_some else [FOR_ALL],
        day=card.recorded_at.date().isoformat(),
        moves=1,
    )


def card_of(document: Mapping[str, Any]) -> Card:
    """Return the card that a document holds.

    Raises:
        CorruptRecord: The document does not make one.
    """
    return record_of(Card, document, read_by=sorted(document["read_by"]))


async def finish_cards(session: Session, scope: Scope) -> None:
    """Do what must still follow from cards of the scope's graph where a crash came in between."""
    left = await session.collection(CARDS).find(own(scope, **_LEFT), limit=LEFT_BEHIND_MAX)
    for document in left:
        await follow(session, scope, CARDS, document, document["moved"])


async def finish_all_cards(session: Session, tenant: str) -> None:
    """Do the same for every graph of a tenant, before its cards are read out."""
    cards = session.collection(CARDS, whole_tenant=True)
    for document in await cards.find(of_tenant(tenant, **_LEFT), limit=LEFT_BEHIND_MAX):
        scope = Scope(tenant=tenant, graph_id=document["graph_id"])
        await follow(session, scope, CARDS, document, document["moved"])


def _seen(scope: Scope, **more: object) -> Document:
    """Return the filter for what a scope may see of a board; ``more`` has no ``$and``."""
    where = visible(scope, **more)
    if scope.agent_id is None:
        return where
    mine: list[Document] = [
        {"inboxes": {"$in": [FOR_ALL, scope.agent_id]}},
        {"agent_id": scope.agent_id},
    ]
    return where | {"$and": [{"$or": mine}]}


def _inbox(scope: Scope, reader: str, **more: object) -> Document:
    """Return the filter for the messages in an agent's inbox that a scope may see."""
    where = _seen(scope, kind="message", **more)
    mine: list[Document] = [
        {"inboxes": reader},
        {"inboxes": FOR_ALL, "agent_id": {"$ne": reader}},
    ]
    return where | {"$and": [*where.get("$and", ()), {"$or": mine}]}


def _wanted(scope: Scope, query: CardQuery, behind: Place | None) -> Document:
    asked: Document = {"redacted_at": None}
    if query.unread_by is not None:
        asked["read_by"] = {"$ne": query.unread_by}
    plain = {"agent_id": query.agent_id, "thread": query.thread, "tags": query.tag}
    asked |= {name: value for name, value in plain.items() if value is not None}
    several = {"type": query.types, "status": query.statuses}
    asked |= {name: {"$in": list(values)} for name, values in several.items() if values}
    bounds = {"$gte": query.since, "$lt": query.until}
    period = {name: microseconds(at) for name, at in bounds.items() if at is not None}
    asked |= {"changed_at": period} if period else {}
    if query.inbox_of is None:
        where = _seen(scope, kind=query.kind, **asked)
    elif query.kind == "message":
        where = _inbox(scope, query.inbox_of, **asked)
    else:
        return own(scope, id={"$in": []})  # only messages are in inboxes
    if behind is None:
        return where
    at = microseconds(behind.at)
    later: Document = {
        "$or": [{"changed_at": {"$lt": at}}, {"changed_at": at, "id": {"$lt": behind.id}}]
    }
    return where | {"$and": [*where.get("$and", ()), later]}


def _beside(log: Card | None) -> Document:
    """Return the second card as what follows from the first."""
    if log is None:
        return {}
    return {"row": {"collection": CARDS, "document": card_document(log)}}


async def _known(session: Session, scope: Scope, card: Card) -> Card | None:
    """Return the card that was posted under the id by the same agent before, if any.

    What must still follow from it is done.

    Raises:
        Conflict: The id is another's, or a card's of another kind.
    """
    cards = session.collection(CARDS)
    taken = await cards.first(own(scope, id=card.id))
    if taken is None:
        return None
    seen = await cards.first(_seen(scope, id=card.id, agent_id=card.agent_id, kind=card.kind))
    if seen is None:
        # Not what it says: the asker may not be allowed to see it.
        raise Conflict("card", "an id of its own", card.id)
    await finish(session, scope, CARDS, [card.id])
    return card_of(seen)


async def _check_free(session: Session, scope: Scope, log: Card) -> None:
    if await session.collection(CARDS).first(own(scope, id=log.id)) is not None:
        raise Conflict("card", "an id of its own", log.id)


def _digest(ids: Sequence[str]) -> str:
    return hashlib.sha256("\n".join(ids).encode()).hexdigest()
