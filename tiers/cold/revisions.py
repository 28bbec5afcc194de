"""What a new revision of a document changes, for every engine of the cold tier. Pure."""

from __future__ import annotations

import json
from collections import defaultdict, deque
from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from .. import documents
from ..documents import Document, Passage, PassageDraft, Revised
from ..errors import Conflict, UnfitRecord, UsageError, WasRedacted
from ..fields import AuditKind
from ..ids import derived_id
from ..records import Scope
from .ownership import check_owned, private_to, whose

LISTED_MAX = 1_000
"""Documents, revisions or passages of one page."""

REVISED_AUDIT_KIND: AuditKind = "revised"
REMOVED_AUDIT_KIND: AuditKind = "removed"


class Placed(NamedTuple):
    """A current passage as far as a revision has to know it."""

    id: str
    digest: str
    number: int
    page: int | None


class Revision(NamedTuple):
    """What storing a revision comes to.

    Attributes:
        document: As it is to stand.
        added: Passages that are new.
        moved: Passages that stay in another place: id, number and page.
        kept: How many stay, moved or not.
        retired: Ids of the passages that go.
    """

    document: Document
    added: tuple[Passage, ...]
    moved: tuple[Placed, ...]
    kept: int
    retired: tuple[str, ...]

    @property
    def outcome(self) -> Revised:
        """What the caller is told."""
        return Revised(
            self.document,
            was_new=True,
            added=len(self.added),
            kept=self.kept,
            retired=len(self.retired),
        )


def check_revision(scope: Scope, document: Document, passages: Sequence[PassageDraft]) -> None:
    """Refuse a revision that cannot be stored, whatever is there.

    Raises:
        UsageError: It is not the scope's to write, its id is not that of its name, its properties
            are too long or no JSON, or there are too many passages.
    """
    check_owned(scope, document)
    expected = documents.document_id(
        document.tenant, document.graph_id, document.shelf, document.name
    )
    if document.id != expected:
        raise UsageError("id", document.id, f"{expected!r}, as document_id derives it")
    if len(passages) > documents.PASSAGES_MAX:
        raise UsageError(
            "passages", len(passages), f"at most {documents.PASSAGES_MAX:,} of one document"
        )
    try:
        said = json.dumps(document.properties, ensure_ascii=False, allow_nan=False)
    except ValueError as error:
        raise UsageError("properties", str(error), "JSON values, numbers finite") from error
    if len(said) > documents.PROPERTIES_CHARS_MAX:
        accepted = f"at most {documents.PROPERTIES_CHARS_MAX:,} characters as JSON"
        raise UsageError("properties", len(said), accepted)


def check_removal(document_ids: Sequence[str]) -> None:
    """Refuse to remove more documents than one call may.

    Raises:
        UsageError: There are more.
    """
    if len(document_ids) > documents.DOCUMENTS_PER_CALL_MAX:
        accepted = f"at most {documents.DOCUMENTS_PER_CALL_MAX:,} ids"
        raise UsageError("document_ids", len(document_ids), accepted)


def is_repeated(known: Document, document: Document) -> bool:
    """Whether a stored document says what is to be stored, so that there is nothing to do."""
    if known.removed_at is not None or known.redacted_at is not None:
        return False
    return (_content(known), _owner(known)) == (_content(document), _owner(document))


def check_follows(
    document: Document, known: Document | None, *, is_visible: bool, even_if_redacted: bool
) -> None:
    """Refuse a revision that does not follow the stored one, or that brings it back unasked.

    Raises:
        WasRedacted: The stored one was redacted, or rolled back with the same content, and nobody
            asked to have it back.
        Conflict: It does not, or the stored one is not the asker's to see; the error tells nothing
            of it but its number.
    """
    what = f"revision of document {document.id}"
    if known is not None and not is_visible:
        raise Conflict(what, "a document of the asker", "another")
    if known is not None and not even_if_redacted and documents.stays_away(known, document.digest):
        raise WasRedacted(f"document {document.id}", rolled_back=documents.is_rolled_back(known))
    stored = 0 if known is None else known.revision
    if document.revision != stored + 1:
        raise Conflict(what, document.revision - 1, stored)


def revision_of(
    document: Document,
    drafts: Sequence[PassageDraft],
    known: Document | None,
    current: Sequence[Placed],
) -> Revision:
    """Return what storing a revision comes to.

    Args:
        document: As it is to be.
        drafts: Its passages, in order.
        known: As it stands, if it does.
        current: Its current passages.

    Raises:
        UsageError: A passage is empty or too long, or stands under too much.
    """
    document = _current(document, known, len(drafts))
    # What was redacted is gone: nothing of it may come back by being like it.
    is_kept = known is not None and known.redacted_at is None and _owner(known) == _owner(document)
    waiting: dict[str, deque[Placed]] = defaultdict(deque)
    for placed in sorted(current, key=lambda one: one.number):
        waiting[placed.digest].append(placed)
    added, moved, stay = [], [], set()
    for number, draft in enumerate(drafts):
        passage = _passage(document, number, draft)
        alike = waiting.get(passage.digest) if is_kept else None
        if not alike:
            added.append(passage)
            continue
        before = alike.popleft()
        stay.add(before.id)
        if (before.number, before.page) != (number, draft.page):
            moved.append(before._replace(number=number, page=draft.page))
    retired = tuple(one.id for one in current if one.id not in stay)
    return Revision(document, tuple(added), tuple(moved), len(stay), retired)


def as_of_then(document: Document, as_of: datetime | None) -> Document:
    """Return a revision as it stood at a moment: what was removed later was there."""
    if as_of is None or document.removed_at is None or document.removed_at <= as_of:
        return document
    return document.model_copy(update={"removed_at": None})


def _content(document: Document) -> tuple[object, ...]:
    return document.digest, document.title, document.properties


def _owner(document: Document) -> tuple[object, ...]:
    """Return what decides who sees a document: its passages are seen by the same."""
    return document.topics, document.private, private_to(document), document.user_id


def _current(document: Document, known: Document | None, passages: int) -> Document:
    # A document never changes before it did so last, whatever the clocks of several writers say.
    changed_at = document.changed_at
    if known is not None:
        changed_at = max(changed_at, known.changed_at, known.removed_at or known.changed_at)
    return document.model_copy(
        update={
            "recorded_at": changed_at if known is None else known.recorded_at,
            "changed_at": changed_at,
            "removed_at": None,
            "redacted_at": None,
            "passages": passages,
        }
    )


def _passage(document: Document, number: int, draft: PassageDraft) -> Passage:
    # With a part that is empty, as the ids of all passages were made.
    place = (document.id, str(document.revision), "", str(number))
    try:
        return Passage(
            id=derived_id(document.changed_at, "passage", *place),
            **whose(document),
            recorded_at=document.changed_at,
            document_id=document.id,
            number=number,
            headings=draft.headings,
            page=draft.page,
            text=draft.text,
            digest=documents.passage_digest(draft.headings, draft.text),
            since=document.revision,
        )
    except UnfitRecord as error:
        accepted = (
            f"1 to {documents.PASSAGE_CHARS_MAX:,} characters under headings of bounded length"
        )
        raise UsageError(f"passages.{number}.{error.field}", error.accepted, accepted) from error
