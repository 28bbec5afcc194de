"""Passages of documents: the current ones, which recall finds, and those that are over."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from ...documents import Document, Passage
from ...drafts import index_work
from ...records import Scope
from ..conditions import Absent, Is
from ..ownership import private_to
from ..port import Collection, Index, Steps, counts, every
from ..redaction import pages
from ..revisions import Placed
from .questions import own, whole
from .rows import moments, plain, put, replace
from .words import file_again, file_words
from .work import queue_work

PASSAGES: Collection[Passage] = Collection(
    "passages",
    Passage,
    fields={
        **plain("document_id", "digest", "number", "page", "since", "until"),
        **moments("recorded_at", "redacted_at"),
    },
    indexes={
        "current": Index(("document_id", "number"), where=(Absent("until"),)),
        "document": Index(("document_id", "since", "number", "id")),
    },
)


def placed_passages(scope: Scope, document_id: str) -> Steps[list[Placed]]:
    """Return the current passages of a document as far as a revision has to know them.

    They are counted by what is wanted of them, so that not one of their texts is read.
    """
    find = whole(PASSAGES, scope, "current", Is("document_id", document_id))
    found: Iterable[Any] = yield from counts(find, "number", "page", "id", "digest")
    return [Placed(name, digest, number, page) for number, page, name, digest in found]


def put_passages(scope: Scope, passages: Sequence[Passage]) -> Steps[None]:
    """Store passages as they are and let their words find them, inside a transaction."""
    for some in pages(passages):
        yield from put(PASSAGES, scope, *some)
        yield from file_words(scope, *some)


def move_passages(scope: Scope, moved: Sequence[Placed]) -> Steps[None]:
    """Give passages that stay their new places."""
    for some in pages(moved):
        places = {one.id: {"number": one.number, "page": one.page} for one in some}
        found = yield from every(own(PASSAGES, scope, places))
        there = (one.model_copy(update=places[one.id]) for one in found)
        yield from replace(PASSAGES, scope, *there)


def retire_passages(
    scope: Scope, ids: Sequence[str], until: int, now: datetime, document: Document
) -> Steps[None]:
    """Take passages out of every answer; those who ask for the past still find them.

    Args:
        scope: Of their graph.
        ids: Of current ones.
        until: The first revision that lacks them.
        now: When it was recorded.
        document: As it stood with them.
    """
    for some in pages(ids):
        found = yield from every(own(PASSAGES, scope, some))
        over = [one.model_copy(update={"until": until, "retired_at": now}) for one in found]
        yield from replace(PASSAGES, scope, *over)
        yield from file_again(scope, *over, same_words=True)
    yield from index_again(scope, ids, document, now)


def index_again(scope: Scope, ids: Sequence[str], document: Document, now: datetime) -> Steps[None]:
    """Queue the work by which the warm index learns of passages that came or went."""
    for some in pages(ids):
        work = [index_work(one, private_to(document)) for one in some]
        yield from queue_work(scope, work, now)
