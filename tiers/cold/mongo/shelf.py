"""Documents in MongoDB: as they stand, as they were, and the passages that recall finds."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import partial

from ...documents import Document as Shelved
from ...documents import Passage, PassageDraft, Revised
from ...errors import Conflict, TierTimeout, UsageError
from ...moments import microseconds
from ...records import Scope
from ..ownership import in_order
from ..shelving import (
    as_of_then,
    check_follows,
    check_page,
    check_removal,
    check_revision,
    is_repeated,
    revision_of,
)
from .conditions import shown_fields
from .database import Database, Session
from .documents import Document, record_of
from .following import told_once
from .pacing import worked_out
from .scope import inherited, own, visible
from .shelf_changes import (
    DOCUMENTS,
    PASSAGES,
    REVISIONS,
    STAGED_PER_WRITE,
    Change,
    Overtaken,
    decide,
    finish,
    fresh_name,
    places_of,
    shelved_of,
    stage,
    sweep,
    take_off,
    unstage,
)
from .word_counts import count_words

ATTEMPTS_MAX = 20
PAGES_MAX = 100_000
_BY_NAME = [("shelf", 1), ("name", 1)]
_THERE: Document = {"removed_at": None, "redacted_at": None}


class MongoDocumentShelf:
    """A ``DocumentShelf`` in MongoDB."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def revise(
        self, scope: Scope, document: Shelved, passages: Sequence[PassageDraft]
    ) -> Revised:
        """Store a document, or its next revision, with its passages.

        Decided by the update of the document; without transactions what follows is finished by
        whoever finds it unfinished.

        Raises:
            Conflict: The stored revision is not the one before, the document of that name is one
                that the scope does not see, or the graph is archived.
            UsageError: There are more than ``PASSAGES_MAX`` passages, one is empty or too long, the
                id is not that of the name, or the properties are too long.
            TierTimeout: Others were first again and again.
        """
        check_revision(scope, document, passages)
        for _ in range(ATTEMPTS_MAX):
            looked = await self._looked(scope, document, passages)
            if isinstance(looked, Revised):
                return looked
            if await self._stored(scope, looked):
                return looked.revision.outcome
        raise TierTimeout("cold", "revise", "others were first again and again")

    async def remove(
        self, scope: Scope, document_ids: Sequence[str], reason: str, now: datetime
    ) -> tuple[str, ...]:
        """Remove visible documents of the own graph and return which were there.

        Raises:
            Conflict: The graph is archived.
            UsageError: There are more than ``DOCUMENTS_PER_CALL_MAX`` ids.
        """
        check_removal(document_ids)
        where = visible(scope, id={"$in": list(document_ids)}, **_THERE)

        async def change(session: Session) -> tuple[str, ...]:
            if not session.is_atomic:
                await finish(session, scope, document_ids)
            found = await session.collection(DOCUMENTS).find(where)
            there = in_order({one["id"]: shelved_of(one) for one in found}, document_ids)
            return await take_off(session, scope, there, reason, now) if there else ()

        return await told_once(self._database, "remove", scope, change)

    async def documents(
        self, scope: Scope, ids: Sequence[str], *, as_of: datetime | None = None
    ) -> tuple[Shelved, ...]:
        """Return the visible ones among ``ids``, removed ones too, in the order asked.

        Of the own graph, and of ancestors that carry ``document``. With ``as_of``, and of an
        ancestor that is read as of a moment, of each the revision that was current then.
        """
        where = inherited(scope, "document", id={"$in": list(ids)})
        moments = {one.graph_id: one.as_of for one in scope.carrying("document")}

        async def question(session: Session) -> tuple[Shelved, ...]:
            rows = await session.collection(DOCUMENTS).find(where)
            found: dict[str, Shelved] = {}
            earlier: dict[tuple[str, datetime], list[str]] = {}
            for document in map(shelved_of, rows):
                then = _earlier(as_of, moments.get(document.graph_id))
                if then is None or document.changed_at <= then:
                    found[document.id] = as_of_then(document, then)
                else:
                    earlier.setdefault((document.graph_id, then), []).append(document.id)
            for (graph_id, then), changed in earlier.items():
                found |= await _as_they_were(session, _there(scope, graph_id), changed, then)
            return in_order(found, ids)

        return await self._database.read("documents", question)

    async def on_shelf(
        self,
        scope: Scope,
        shelf: str | None,
        *,
        behind: str = "",
        limit: int = 1000,
        removed: bool = False,
        as_of: datetime | None = None,
    ) -> tuple[Shelved, ...]:
        """Return visible documents of the own graph in the order of shelf and name.

        Redacted ones come with the removed ones.

        Raises:
            UsageError: A limit outside 1 to ``LISTED_MAX``, or ``behind`` is no visible document.
        """
        check_page(limit)

        async def question(session: Session) -> tuple[Shelved, ...]:
            place = await _place(session, scope, behind)
            listed: list[Shelved] = []
            for _ in range(PAGES_MAX):
                page = await _listed(
                    session,
                    scope,
                    shelf,
                    place,
                    limit,
                    also={} if removed or as_of is not None else _THERE,
                )
                then = page if as_of is None else await _page_then(session, scope, page, as_of)
                listed += [one for one in then if removed or _is_there(one)]
                if len(page) < limit or len(listed) >= limit:
                    break
                place = (page[-1].shelf, page[-1].name)
            return tuple(listed[:limit])

        return await self._database.read("on_shelf", question)

    async def revisions(
        self, scope: Scope, document_id: str, *, before: int | None = None, limit: int = 100
    ) -> tuple[Shelved, ...]:
        """Return revisions of a document as they were, the latest first, lower than ``before``.

        Of a document of the own graph. A revision that the scope may not see is left out, even
        where it sees the document as it stands.

        Raises:
            UsageError: A limit outside 1 to ``LISTED_MAX``.
        """
        check_page(limit)

        async def question(session: Session) -> tuple[Shelved, ...]:
            current = await session.collection(DOCUMENTS).first(visible(scope, id=document_id))
            if current is None:
                return ()
            last = shelved_of(current)
            lower = last.revision if before is None else min(before, last.revision)
            former = await session.collection(REVISIONS).find(
                visible(scope, id=document_id, revision={"$lt": lower}),
                sort=[("revision", -1)],
                limit=limit,
            )
            found = [last] if before is None or last.revision < before else []
            return tuple([*found, *map(shelved_of, former)][:limit])

        return await self._database.read("revisions", question)

    async def passages(self, scope: Scope, ids: Sequence[str]) -> tuple[Passage, ...]:
        """Return the visible passages among ``ids``, retired ones too, in the order asked.

        Of the own graph, and of ancestors that carry ``document``.
        """
        where = inherited(scope, "document", id={"$in": list(ids)}, staged=None)

        async def question(session: Session) -> tuple[Passage, ...]:
            found = await session.collection(PASSAGES).find(where, fields=shown_fields(Passage))
            return in_order({one["id"]: record_of(Passage, one) for one in found}, ids)

        return await self._database.read("passages", question)

    async def passages_of(
        self, scope: Scope, document_id: str, *, behind: int = -1, limit: int = 1000
    ) -> tuple[Passage, ...]:
        """Return the current passages of a visible document of the own graph by ``number``.

        Raises:
            UsageError: A limit outside 1 to ``LISTED_MAX``.
        """
        check_page(limit)
        more = {"document_id": document_id, "live": True, "number": {"$gt": behind}}
        where = visible(scope, redacted_at=None, **more)

        async def question(session: Session) -> tuple[Passage, ...]:
            found = await session.collection(PASSAGES).find(
                where, sort=[("number", 1)], limit=limit, fields=shown_fields(Passage)
            )
            return tuple(record_of(Passage, one) for one in found)

        return await self._database.read("passages_of", question)

    async def count(self, scope: Scope) -> tuple[int, int]:
        """Return how many documents and current passages of the own graph the scope sees."""

        async def question(session: Session) -> tuple[int, int]:
            documents = await session.collection(DOCUMENTS).count(visible(scope, **_THERE))
            current = visible(scope, live=True, redacted_at=None)
            return documents, await session.collection(PASSAGES).count(current)

        return await self._database.read("count", question)

    async def _looked(
        self, scope: Scope, document: Shelved, drafts: Sequence[PassageDraft]
    ) -> Revised | Change:
        """Return what there is to do, or what came of it when there is nothing."""

        async def ready(session: Session) -> None:
            await finish(session, scope, [document.id])
            await sweep(session, scope, document.id, document.changed_at)

        async def question(session: Session) -> Revised | Change:
            rows = session.collection(DOCUMENTS)
            found = await rows.first(own(scope, id=document.id))
            known = None if found is None else shelved_of(found)
            seen = await rows.count(visible(scope, id=document.id)) > 0
            if known is not None and seen and is_repeated(known, document):
                return Revised(known, was_new=False, added=0, kept=known.passages, retired=0)
            check_follows(document, known, is_visible=seen)
            current = await places_of(session, scope, document.id)
            name = fresh_name()
            revision = await worked_out(
                len(drafts), lambda: revision_of(document, drafts, known, current, name)
            )
            return Change(name, revision, known)

        await self._database.write("revise", ready)
        return await self._database.read("revise", question)

    async def _stored(self, scope: Scope, change: Change) -> bool:
        """Store a revision; ``False`` when the document has changed since it was looked at."""
        added, at = change.revision.added, change.revision.document.changed_at
        may_be_decided = False
        try:
            for start in range(0, len(added), STAGED_PER_WRITE):
                page = added[start : start + STAGED_PER_WRITE]
                await self._database.write(
                    "revise", partial(stage, passages=page, name=change.name, now=at)
                )
            may_be_decided = True
            may_be_decided = await self._decided(scope, change)
        except Conflict:
            may_be_decided = False
            raise
        finally:
            # What is decided, or may be, needs its passages; whoever comes next knows more.
            if added and not may_be_decided:
                await self._database.write(
                    "revise", partial(unstage, scope=scope, name=change.name)
                )
        return may_be_decided

    async def _decided(self, scope: Scope, change: Change) -> bool:
        """Let a revision be the one that counts; ``False`` when the document is not as known."""

        async def decided(session: Session) -> bool:
            return await decide(session, scope, change)

        async def counted(session: Session, is_stored: bool) -> None:  # noqa: FBT001 - as asked
            if is_stored:
                await count_words(session, *change.revision.added)

        try:
            return await told_once(self._database, "revise", scope, decided, counted=counted)
        except Overtaken:
            return False


async def _listed(
    session: Session,
    scope: Scope,
    shelf: str | None,
    place: tuple[str, str],
    limit: int,
    *,
    also: Document,
) -> list[Shelved]:
    """Return the visible documents behind a place, as they stand."""
    where = visible(scope, **also) | ({} if shelf is None else {"shelf": shelf})
    after: list[Document] = [
        {"shelf": {"$gt": place[0]}},
        {"shelf": place[0], "name": {"$gt": place[1]}},
    ]
    rows = await session.collection(DOCUMENTS).find(
        where | {"$or": after}, sort=_BY_NAME, limit=limit
    )
    return [shelved_of(one) for one in rows]


async def _page_then(
    session: Session, scope: Scope, page: Sequence[Shelved], as_of: datetime
) -> list[Shelved]:
    """Return the documents of a page as they stood at a moment; those to come are left out."""
    changed = [one.id for one in page if one.changed_at > as_of]
    earlier = await _as_they_were(session, scope, changed, as_of) if changed else {}
    then = {one.id: as_of_then(one, as_of) for one in page if one.changed_at <= as_of} | earlier
    return [then[one.id] for one in page if one.id in then]


async def _as_they_were(
    session: Session, scope: Scope, ids: Sequence[str], then: datetime
) -> dict[str, Shelved]:
    """Return the revisions that were current at a moment and that the scope sees, by id."""
    rows = session.collection(REVISIONS)
    by_then = {"id": {"$in": list(ids)}, "changed_at": {"$lte": microseconds(then)}}
    # Which one counts does not depend on who asks; whether it is shown does.
    numbers = await rows.find(own(scope, **by_then), fields=["id", "revision"])
    last: dict[str, int] = {}
    for one in numbers:
        last[one["id"]] = max(one["revision"], last.get(one["id"], 0))
    if not last:
        return {}
    wanted = {"id": {"$in": list(last)}, "revision": {"$in": list(set(last.values()))}}
    found = await rows.find(visible(scope, **wanted))
    return {
        one["id"]: as_of_then(shelved_of(one), then)
        for one in found
        if one["revision"] == last[one["id"]]
    }


async def _place(session: Session, scope: Scope, behind: str) -> tuple[str, str]:
    """Return behind which shelf and name a page begins."""
    if not behind:
        return "", ""
    found = await session.collection(DOCUMENTS).first(visible(scope, id=behind))
    if found is None:
        raise UsageError("behind", behind, "the id of a document of this graph")
    return found["shelf"], found["name"]


def _is_there(document: Shelved) -> bool:
    return document.removed_at is None and document.redacted_at is None


def _earlier(*moments: datetime | None) -> datetime | None:
    return min((one for one in moments if one is not None), default=None)


def _there(scope: Scope, graph_id: str) -> Scope:
    """Return the scope by which somebody looks into a graph that carries documents to them."""
    if graph_id == scope.graph_id:
        return scope
    # An agent of the same id in another graph is another writer.
    return scope.model_copy(update={"graph_id": graph_id, "agent_id": None, "lineage": ()})
