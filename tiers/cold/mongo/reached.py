"""What a redaction comes upon: records by kind, and what was made of some of them."""

from __future__ import annotations

from collections.abc import Coroutine, Iterator, Mapping, Sequence
from typing import Any

from ...board import TASK_LOGS
from ...records import Scope
from ..redaction import MODELS, REACHED_MAX, RETIRED_KINDS, RecordKind, Redactable, Trace
from .board import CARDS
from .conditions import SHELVES
from .database import Session
from .documents import Document, record_of
from .scope import own
from .shelf_changes import DOCUMENTS, PASSAGES

COLLECTIONS_OF: Mapping[RecordKind, str] = {
    **{kind: shelf.collection for kind, shelf in SHELVES.items()},
    "document": DOCUMENTS,
    "passage": PASSAGES,
    "card": CARDS,
}
"""Where the records of each kind lie that can be redacted."""

_MADE_OF: Mapping[RecordKind, str] = {
    "summary": "covers",
    "episode": "consolidates",
    "fact": "source_ids",
    "rule": "source_ids",
    "belief": "source_ids",
    "passage": "document_id",
}
"""The field of each kind that names what a record was made of."""


def made_of(
    session: Session, scope: Scope, ids: Sequence[str]
) -> Iterator[Coroutine[Any, Any, list[Trace]]]:
    """Yield a question per kind: which records were made of one of these."""
    for kind, name in _MADE_OF.items():
        yield traces(session, scope, kind, **{name: {"$in": list(ids)}})
    yield _documents_of(session, scope, ids)
    log: list[Document] = [{"kind": "action", "type": {"$in": list(TASK_LOGS.values())}}]
    yield traces(session, scope, "card", thread={"$in": list(ids)}, **{"$and": log})


async def _documents_of(session: Session, scope: Scope, ids: Sequence[str]) -> list[Trace]:
    """Return the documents of passages: what a passage says, they say too."""
    where = own(scope, id={"$in": list(ids)})
    passages = await session.collection(PASSAGES).find(where, fields=["document_id"])
    names = list({one["document_id"] for one in passages})
    return await traces(session, scope, "document", id={"$in": names}) if names else []


async def traces(session: Session, scope: Scope, kind: RecordKind, **where: object) -> list[Trace]:
    """Return how records of one kind of the scope's graph stand that meet some conditions."""
    found = await session.collection(COLLECTIONS_OF[kind]).find(
        own(scope, **where), fields=["id", "redacted_at", "retired_at"], limit=REACHED_MAX + 1
    )
    return [
        Trace(
            kind,
            one["id"],
            is_redacted=one.get("redacted_at") is not None,
            # A passage that is retired was not emptied: a revision lacks it.
            is_retired=kind in RETIRED_KINDS and one.get("retired_at") is not None,
        )
        for one in found
    ]


async def records_of(
    session: Session, scope: Scope, kind: RecordKind, ids: Sequence[str], **where: object
) -> list[Redactable]:
    """Return records of one kind of the scope's graph, whoever could see them."""
    found = await session.collection(COLLECTIONS_OF[kind]).find(
        own(scope, id={"$in": list(ids)}, **where)
    )
    return [record_of(MODELS[kind], one) for one in found]
