"""A shelf of documents from the words of its port alone: every version of everything, in lists.

And what tests put on shelves, small, and different where it matters.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from random import Random
from typing import Any

from tiers.documents import Document, Passage, PassageDraft, document_id
from tiers.records import ALL_TOPICS, Scope

from .tier_samples import NOW, scope_of

MINUTE = timedelta(minutes=1)
NAMES = ("a.md", "b/a.md", "b/c.md", "notes/Ann's day.md", "z")
WORDS = ("tyres", "laps", "rain", "mediums", "pit wall", "telemetry")
TOPICS = ((), ("tyres",), ("weather",), ("tyres", "weather"))
OPERATOR = Scope.of_graph("acme", "race")
ASKERS = (
    OPERATOR,
    scope_of("acme", "race", "strategist", topics=("tyres",), user_id="ann"),
    scope_of("acme", "race", "engineer", topics=(ALL_TOPICS,), denied=("weather",)),
    scope_of("acme", "race", "engineer", topics=(), user_id="bob"),
)
Told = tuple[object, ...]
"""A passage as far as a reference can know it."""


def document_by(
    scope: Scope = OPERATOR,
    name: str = "a.md",
    said: str = "Mediums last 18 laps.",
    revision: int = 1,
    minute: float = 0,
    **fields: Any,
) -> Document:
    """Return a document as its writer hands it over, changed ``minute`` minutes after ``NOW``."""
    shelf = fields.pop("shelf", "files")
    return Document(
        id=document_id(scope.tenant, scope.graph_id, shelf, name),
        tenant=scope.tenant,
        graph_id=scope.graph_id,
        shelf=shelf,
        name=name,
        digest=hashlib.sha256(said.encode()).hexdigest(),
        revision=revision,
        changed_at=NOW + minute * MINUTE,
        **{"agent_id": scope.agent_id or "", "user_id": scope.user_id, **fields},
    )


def passage_by(scope: Scope = OPERATOR, text: str = "rain", **fields: Any) -> Passage:
    """Return a passage that says a text wherever it can say something."""
    return Passage(
        tenant=scope.tenant,
        graph_id=scope.graph_id,
        agent_id=scope.agent_id or "",
        **{
            "id": "p",
            "document_id": "d",
            "number": 0,
            "headings": (text,),
            "text": text,
            "digest": hashlib.sha256(text.encode()).hexdigest(),
            "recorded_at": NOW,
            **fields,
        },
    )


def drafts_of(*texts: str, under: tuple[str, ...] = ()) -> list[PassageDraft]:
    """Return passages of these texts, all under the same headings."""
    return [PassageDraft(text, under) for text in texts]


def random_drafts(random: Random) -> list[PassageDraft]:
    """Return a few passages, some of them alike."""
    return [
        PassageDraft(
            f"{random.choice(WORDS)} {random.choice(WORDS)}",
            random.choice([(), ("Race",), ("Race", "Stint 1")]),
            random.choice([None, 1, 2]),
        )
        for _ in range(random.randrange(5))
    ]


@dataclass
class _Piece:
    """One passage that has ever been: what it says, whose it is, and from when until when."""

    draft: PassageDraft
    owner: Document
    number: int
    since: int
    until: int | None = None
    retired_at: datetime | None = None

    def told(self) -> Told:
        document, draft = self.owner, self.draft
        return (
            *(document.id, self.number, draft.headings, draft.page, draft.text),
            *(document.topics, document.private, document.agent_id, document.user_id),
            *(document.changed_at, self.since, self.until, self.retired_at),
        )


@dataclass
class ReferenceShelf:
    """Documents of one graph: all their versions, and all passages that have ever been."""

    versions: dict[str, list[Document]] = field(default_factory=dict)
    pieces: dict[str, list[_Piece]] = field(default_factory=dict)

    def revise(self, document: Document, drafts: Sequence[PassageDraft]) -> tuple[int, int, int]:
        """Store a revision that follows; return how many passages are new, stay and go."""
        known = self.versions.setdefault(document.id, [])
        pieces = self.pieces.setdefault(document.id, [])
        current = [one for one in pieces if one.until is None]
        keeps = bool(known) and _owner(known[-1]) == _owner(document)
        before = len(current)
        added = 0
        for number, draft in enumerate(drafts):
            alike = [one for one in current if keeps and one.draft[:2] == draft[:2]]
            if alike:
                current.remove(alike[0])
                alike[0].number, alike[0].draft = number, draft
            else:
                pieces.append(_Piece(draft, document, number, document.revision))
                added += 1
        for one in current:
            one.until, one.retired_at = document.revision, document.changed_at
        first = known[0].recorded_at if known else document.changed_at
        told = {"recorded_at": first, "passages": len(drafts)}
        known.append(document.model_copy(update=told))
        return added, before - len(current), len(current)

    def remove(self, document_id: str, now: datetime) -> None:
        """Remove a document that is there."""
        last = self.versions[document_id].pop()
        self.versions[document_id].append(last.model_copy(update={"removed_at": now}))
        for one in self.pieces[document_id]:
            if one.until is None:
                one.until, one.retired_at = last.revision + 1, now

    def last(self, document_id: str) -> Document | None:
        """Return a document as it stands, whoever may see it."""
        known = self.versions.get(document_id)
        return known[-1] if known else None

    def seen(self, scope: Scope, as_of: datetime | None = None) -> dict[str, Document]:
        """Return the documents that a scope sees as they stood at a moment, removed ones too."""
        found: dict[str, Document] = {}
        for name, known in self.versions.items():
            then = [one for one in known if as_of is None or one.changed_at <= as_of]
            if not then or not sees(scope, known[-1]) or not sees(scope, then[-1]):
                continue
            last = then[-1]
            if as_of is not None and last.removed_at is not None and last.removed_at > as_of:
                last = last.model_copy(update={"removed_at": None})
            found[name] = last
        return found

    def listed(
        self, scope: Scope, shelf: str | None, *, removed: bool, as_of: datetime | None
    ) -> list[Document]:
        """Return what ``on_shelf`` has to give, without a limit."""
        return sorted(
            (
                one
                for one in self.seen(scope, as_of).values()
                if shelf in {None, one.shelf} and (removed or one.removed_at is None)
            ),
            key=lambda one: (one.shelf, one.name),
        )

    def revisions(self, scope: Scope, document_id: str) -> list[Document]:
        """Return the revisions of a document that a scope sees, the latest first."""
        known = self.versions.get(document_id, [])
        if not known or not sees(scope, known[-1]):
            return []
        return [one for one in reversed(known) if sees(scope, one)]

    def passages(self, scope: Scope, document_id: str) -> list[Told]:
        """Return the current passages of a document that a scope sees, in order."""
        current = [one for one in self.pieces.get(document_id, ()) if one.until is None]
        return [
            one.told()
            for one in sorted(current, key=lambda one: one.number)
            if sees(scope, one.owner)
        ]

    def texts(self, scope: Scope, as_of: datetime | None, *, is_over: bool = False) -> Counter[str]:
        """Return the texts of the passages that a scope could find, now or at a moment.

        With ``is_over`` those alone that are gone by now.
        """
        return Counter(
            one.draft.text
            for pieces in self.pieces.values()
            for one in pieces
            if sees(scope, one.owner) and _was_there(one, as_of)
            if not is_over or one.until is not None
        )


def told_of(passage: Passage) -> Told:
    """Return a stored passage as the reference tells it."""
    return (
        *(passage.document_id, passage.number, passage.headings, passage.page, passage.text),
        *(passage.topics, passage.private, passage.agent_id, passage.user_id),
        *(passage.recorded_at, passage.since, passage.until, passage.retired_at),
    )


def sees(scope: Scope, record: Document) -> bool:
    """Whether a scope of the record's graph sees it."""
    topics = set(record.topics)
    return (
        (not record.private or record.agent_id == scope.agent_id)
        and (scope.every_user or record.user_id in {None, scope.user_id})
        and (not topics or scope.sees_all_topics or bool(topics & set(scope.topics)))
        and topics.isdisjoint(scope.denied)
    )


def _was_there(piece: _Piece, as_of: datetime | None) -> bool:
    if as_of is None:
        return piece.until is None
    is_over = piece.retired_at is not None and piece.retired_at <= as_of
    return piece.owner.changed_at <= as_of and not is_over


def _owner(document: Document) -> tuple[object, ...]:
    writer = document.agent_id if document.private else ""
    if document.removed_at is not None:
        return ()
    return document.topics, document.private, writer, document.user_id
