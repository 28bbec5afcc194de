"""Storing what is said once: facts and rules are known by what they say, who says it, for whom."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Mapping, Sequence
from typing import TypeVar

from pydantic import JsonValue

from ...errors import Conflict, TierTimeout
from ...history.chain import canonical
from ...learning import fact_key
from ...records import Fact, Rule, Scope, WorkDraft
from ..edges import edge_keys, edge_of
from ..learnt import is_said_again
from ..ownership import private_to
from .database import Database, Session
from .documents import Document, record_of
from .graphs import check_writable
from .outbox import send, send_left_behind, with_outbox
from .scope import own
from .translation import DuplicateKey
from .word_counts import count_words

S = TypeVar("S", Fact, Rule)

ATTEMPTS_MAX = 20


def identity_of(statement: Fact | Rule, *said: str) -> str:
    """Return what makes a statement the same as another: writer, user, words, topics and privacy.

    A redacted one says nothing that could be said again: it is like no other.
    """
    identity: dict[str, JsonValue] = {
        "writer": statement.agent_id,
        "said": [*said],
        "topics": [*sorted(set(statement.topics))],
        "private_to": private_to(statement),
    }
    if statement.user_id is not None:
        identity["user"] = statement.user_id
    if statement.redacted_at is not None:
        identity = {"redacted": statement.id}
    return hashlib.sha256(canonical(identity)).hexdigest()


def key_digest_of(fact: Fact) -> str | None:
    """Return the digest of a keyed fact's address, by which it is found; else ``None``.

    A redacted or retired fact has no address any more.
    """
    key = None if fact.redacted_at is not None else fact_key(fact)
    if key is None:
        return None
    subject, predicate = key
    address = canonical({"subject": subject, "predicate": predicate})
    return hashlib.sha256(address).hexdigest()


def edge_fields(fact: Fact) -> Document:
    """Return the fields by which a fact is found as an edge of the knowledge graph.

    ``ends`` has the digests of subject and object, none for a fact that is no edge; ``joins`` has
    them of a fact that only joins two names.
    """
    edge = edge_of(fact)
    if edge is None:
        return {"ends": []}
    ends = [edge.subject, edge.object]
    return {"ends": ends, **edge_keys(fact)} | ({"joins": ends} if edge.is_alias else {})


async def put_once(
    database: Database,
    scope: Scope,
    collection: str,
    statement: S,
    *,
    same: Mapping[str, str],
    document: Document,
    work: Sequence[WorkDraft],
) -> tuple[S, bool]:
    """Store a statement, or return the one that says the same, and whether it is new.

    Args:
        database: Where to.
        scope: Whose graph.
        collection: Which holds statements of this kind.
        statement: What.
        same: The field of documents, and its value, by which one that says the same is known.
        document: The statement in stored form.
        work: Queued when it is new.

    Raises:
        Conflict: The id is another statement's, or the graph is archived.
        TierTimeout: It was stored and changed under our hands again and again.
    """

    async def store(session: Session) -> tuple[S, bool]:
        await check_writable(session, scope)
        stored = with_outbox(session, dict(document), work, statement.recorded_at)
        await session.collection(collection).insert([stored])
        await send(session, scope, collection, statement.id, work, statement.recorded_at)
        return statement, True

    async def look_and_store(session: Session) -> tuple[S, bool]:
        known = await _known(session, scope, collection, statement, same)
        return (known, False) if known is not None else await store(session)

    async def counted(session: Session, stored: tuple[S, bool]) -> None:
        if stored[1]:
            await count_words(session, statement)

    operation = f"put_{collection[:-1]}"
    # Most statements are new: whether one is known is asked when an index has refused it, or when
    # none would.
    first = store if same.items() <= document.items() else look_and_store
    for change in itertools.chain([first], [look_and_store] * ATTEMPTS_MAX):
        try:
            return await database.step(operation, change, counted=counted)
        except DuplicateKey:
            continue
        except Conflict:
            if change is not store:
                raise
            # The graph is archived. What is known there is still returned as it is.
    raise TierTimeout("cold", operation, "it changed under every attempt")


async def _known(
    session: Session, scope: Scope, collection: str, statement: S, same: Mapping[str, str]
) -> S | None:
    """Return the stored statement that says the same, or did, if any, with its work queued.

    Raises:
        Conflict: There is none, and the id is another statement's.
    """
    rows = session.collection(collection)
    found = await rows.first(own(scope, **same))
    taken = None if found is not None else await rows.first(own(scope, id=statement.id))
    known = found or taken
    if known is None:
        return None
    record = record_of(type(statement), known)
    if taken is not None and not is_said_again(record, statement):
        # Not what it says: the asker may not be allowed to see it.
        raise Conflict(collection[:-1], "an id of its own", statement.id)
    await send_left_behind(session, scope, collection, known)
    return record
