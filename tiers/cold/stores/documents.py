"""Documents: as they stand, and as they were."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime

from ...documents import Document, FormerDocument, Passage, PassageDraft, Revised, is_rolled_back
from ...errors import UsageError
from ...fields import Moment
from ...moments import earliest, microseconds
from ...records import Scope
from ...turn_io import FREE, Charge
from .. import revisions
from ..conditions import Absent, Among, Beyond, Condition, Either, Is, Within
from ..ownership import check_limit, in_order
from ..port import Collection, Find, Index, Steps, asked, every, one, write
from .graphs import check_writable
from .log import append_event
from .passages import (
    PASSAGES,
    index_again,
    move_passages,
    placed_passages,
    put_passages,
    retire_passages,
)
from .questions import among, by_then, not_by, numbers, own, whole
from .rows import all_bare, amend, bare, kept, moments, over, plain, put, replace
from .store_base import OverEngine, changing_long, reading
from .usage import charged

_NAMED = ("shelf", "name")
_THERE = (Absent("removed_at"), Absent("redacted_at"))
_SAID = ("name", "title", "properties", "text", "digest")


class Followed(FormerDocument):
    """A revision that another has followed: it stood until ``followed_at``.

    Attributes:
        followed_at: When the next one was recorded; ``None``: that one is not here.
    """

    followed_at: Moment | None = None


DOCUMENTS: Collection[Document] = Collection(
    "documents",
    Document,
    fields={
        **plain("shelf", "name"),
        **moments("recorded_at", "changed_at", "removed_at", "redacted_at"),
    },
    indexes={"all": Index(_NAMED), "there": Index(_NAMED, where=_THERE)},
)

FORMERS: Collection[Followed] = Collection(
    "document_revisions",
    Followed,
    fields={
        "document_id": lambda former: former.id,
        "revision": lambda former: former.revision,
        **moments("recorded_at", "changed_at", "followed_at", "removed_at", "redacted_at"),
    },
    indexes={
        "revision": Index(("document_id", "revision"), unique=True),
        "followed": Index(("document_id", "followed_at")),
    },
    key=lambda former: f"{former.id}/{former.revision}",
)


class DocumentShelf(OverEngine):
    """Documents and their passages. Passages are searched by ``LexicalIndex`` and ``WarmStore``."""

    @changing_long
    def revise(
        self,
        scope: Scope,
        document: Document,
        passages: Sequence[PassageDraft],
        *,
        even_if_redacted: bool = False,
        charge: Charge = FREE,
    ) -> Steps[Revised]:
        """Store a document, or its next revision, with its passages, in one step; it is charged.

        Passages that the former revision has too, word for word and under the same headings, stay
        (all of them are new where topics, privacy or user changed). The rest of the former is
        retired and leaves the word index; what is new enters it, and its ``index`` work is queued,
        as it is for the retired. Former revisions stay readable by ``revisions``. A document of
        the same digest, title, properties, topics and privacy that is not removed is returned as
        it is. One audit event ``revised`` names document and revision.

        Args:
            scope: Whose graph.
            document: As it is to be; ``id``, as ``document_id`` derives it, and ``revision``, one
                more than the stored one's (which is what its writer has seen; 1 for a new one).
            passages: In order.
            even_if_redacted: Whether it may bring back a document that was redacted, or the content
                that was rolled back.
            charge: What is counted for it, if it is new.

        Raises:
            BudgetExceeded: It is new, and a count would come to lie above its limit.
            WasRedacted: It was redacted, or rolled back with this content, and may not come back.
            Conflict: The stored revision is not the one before, the document of that name is one
                that the scope does not see, or the graph is archived.
            UsageError: There are more than ``PASSAGES_MAX`` passages, one is empty or too long, the
                id is not that of the name, or the properties are too long.
        """
        revisions.check_revision(scope, document, passages)
        named = [document.id]
        stored, seen = yield from asked(
            own(DOCUMENTS, scope, named), among(DOCUMENTS, scope, named)
        )
        if seen and revisions.is_repeated(seen[0], document):
            return Revised(seen[0], was_new=False, added=0, kept=seen[0].passages, retired=0)
        known = stored[0] if stored else None
        revisions.check_follows(
            document, known, is_visible=bool(seen), even_if_redacted=even_if_redacted
        )
        yield from check_writable(scope)
        yield from charged(scope, charge)
        current = yield from placed_passages(scope, document.id)
        revision = revisions.revision_of(document, passages, known, current)
        yield from _store(scope, revision, known)
        reason, at = f"revision {document.revision}", revision.document.changed_at
        yield from append_event(scope, revisions.REVISED_AUDIT_KIND, (document.id,), reason, at)
        return revision.outcome

    @changing_long
    def remove(
        self,
        scope: Scope,
        document_ids: Sequence[str],
        reason: str,
        now: datetime,
        charge: Charge = FREE,
    ) -> Steps[tuple[str, ...]]:
        """Remove documents and return which were there: their passages are in no answer any more.

        Rows and revisions stay, for questions to the past. One audit event ``removed`` for all,
        which are charged together.

        Raises:
            BudgetExceeded: A count would come to lie above its limit.
            Conflict: The graph is archived.
            UsageError: There are more than ``DOCUMENTS_PER_CALL_MAX`` ids.
        """
        revisions.check_removal(document_ids)
        found = yield from every(among(DOCUMENTS, scope, document_ids, *_THERE))
        there = in_order({document.id: document for document in found}, document_ids)
        if not there:
            return ()
        yield from check_writable(scope)
        yield from charged(scope, charge)
        for document in there:
            at = max(now, document.changed_at)
            yield from amend(DOCUMENTS, scope, [document], removed_at=at)
            current = yield from placed_passages(scope, document.id)
            ids = [placed.id for placed in current]
            yield from retire_passages(scope, ids, document.revision + 1, at, document)
        removed = tuple(document.id for document in there)
        yield from append_event(scope, revisions.REMOVED_AUDIT_KIND, removed, reason, now)
        return removed

    @reading
    def documents(
        self, scope: Scope, ids: Sequence[str], *, as_of: datetime | None = None
    ) -> Steps[tuple[Document, ...]]:
        """Return the visible ones among ``ids``, removed ones too, in the order asked.

        Of the own graph, and of ancestors that carry ``document``. With ``as_of``, and of an
        ancestor that is read as of a moment, of each the revision that was current then.
        """
        moments = {name: earliest(as_of, at) for name, at in _readable(scope).items()}
        standing = yield from every(
            *(among(DOCUMENTS, scope, ids, graph_id=name) for name in moments)
        )
        found: dict[str, Document] = {}
        changed: dict[str, list[str]] = defaultdict(list)
        for document in standing:
            then = moments[document.graph_id]
            if then is None or document.changed_at <= then:
                found[document.id] = revisions.as_of_then(document, then)
            else:
                changed[document.graph_id].append(document.id)
        for name, earlier in changed.items():
            found |= yield from _as_they_were(scope, name, earlier, moments[name])
        return in_order(found, ids)

    @reading
    def on_shelf(
        self,
        scope: Scope,
        shelf: str | None,
        *,
        behind: str = "",
        limit: int = 1000,
        removed: bool = False,
        as_of: datetime | None = None,
    ) -> Steps[tuple[Document, ...]]:
        """Return visible documents of the own graph in the order of shelf and name.

        Redacted ones come with the removed ones.

        Args:
            scope: Who asks.
            shelf: Of this shelf; of all if ``None``.
            behind: After the document of this id.
            limit: The most, 1 to 1,000.
            removed: Whether removed ones come too.
            as_of: As they stood at that moment: of each the revision that was current then; with
                it, what is removed at the moment counts as removed.

        Raises:
            UsageError: A limit outside 1 to ``LISTED_MAX``, or ``behind`` is no visible document.
        """
        check_limit(limit, revisions.LISTED_MAX)
        by = "all" if removed or as_of is not None else "there"
        last = yield from _last_seen(scope, behind)
        page = Find(DOCUMENTS, scope, by, _listed(shelf, last), _NAMED, limit)
        if as_of is None:
            return tuple((yield from every(page)))
        return (yield from _listed_then(page, shelf, as_of, removed=removed))

    @reading
    def revisions(
        self, scope: Scope, document_id: str, *, before: int | None = None, limit: int = 100
    ) -> Steps[tuple[Document, ...]]:
        """Return revisions of a document as they were, the latest first, lower than ``before``.

        Of a document of the own graph. A revision that the scope may not see is left out, even
        where it sees the document as it stands.

        Raises:
            UsageError: A limit outside 1 to ``LISTED_MAX``.
        """
        check_limit(limit, revisions.LISTED_MAX)
        last = yield from one(among(DOCUMENTS, scope, [document_id]))
        if last is None:
            return ()
        is_wanted = before is None or last.revision < before
        lower = last.revision if before is None else min(before, last.revision)
        where = (Is("document_id", document_id), Within("revision", until=lower))
        former = yield from every(Find(FORMERS, scope, "revision", where, ("-revision",), limit))
        found = [last] if is_wanted else []
        return (*found, *all_bare(Document, former))[:limit]

    async def passages(self, scope: Scope, ids: Sequence[str]) -> tuple[Passage, ...]:
        """Return the visible passages among ``ids``, retired ones too, in the order asked.

        Of the own graph, and of ancestors that carry ``document``.
        """
        finds = (among(PASSAGES, scope, ids, graph_id=name) for name in _readable(scope))
        found = await self._all("passages", *finds)
        return in_order({passage.id: passage for passage in found}, ids)

    async def passages_of(
        self, scope: Scope, document_id: str, *, behind: int = -1, limit: int = 1000
    ) -> tuple[Passage, ...]:
        """Return the current passages of a visible document of the own graph by ``number``.

        Raises:
            UsageError: A limit outside 1 to ``LISTED_MAX``.
        """
        check_limit(limit, revisions.LISTED_MAX)
        where = (
            Is("document_id", document_id),
            Within("number", since=behind + 1),
            Absent("redacted_at"),
        )
        find = Find(PASSAGES, scope, "current", where, ("number",), limit)
        return await self._all("passages_of", find)

    async def count(self, scope: Scope) -> tuple[int, int]:
        """Return how many documents and current passages of the own graph the scope sees."""
        documents = Find(DOCUMENTS, scope, by="there")
        passages = Find(PASSAGES, scope, by="current", where=(Absent("redacted_at"),))
        there, current = await self._store.read("count", lambda: numbers(documents, passages))
        return there, current


def put_document(scope: Scope, document: Document) -> Steps[None]:
    """Store a document as it is, inside a transaction."""
    yield from put(DOCUMENTS, scope, document)
    yield from _end_former(scope, document)


def put_former(scope: Scope, document: Document) -> Steps[None]:
    """Store a former revision as it is, inside a transaction, in whatever order they come."""
    last, former = yield from asked(
        own(DOCUMENTS, scope, [document.id]),
        _numbered(scope, document.id, document.revision + 1),
    )
    following = (one for one in (*former, *last) if one.revision == document.revision + 1)
    follower = next(following, None)
    yield from _put_former(scope, document, None if follower is None else follower.changed_at)
    yield from _end_former(scope, document)


def formers_of(scope: Scope, ids: Sequence[str]) -> Steps[dict[str, list[Document]]]:
    """Return the former revisions of documents of the scope's graph, whoever could see them."""
    found: dict[str, list[Document]] = {}
    for former in (yield from every(former_ones(scope, ids))):
        found.setdefault(former.id, []).append(bare(Document, former))
    return found


def silence_formers(scope: Scope, document: Document) -> Steps[None]:
    """Let the former revisions of a redacted document say what it says, inside a transaction.

    Of a document that was rolled back each revision has its own digest.
    """
    silenced = [name for name in _SAID if name != "digest" or not is_rolled_back(document)]
    said = {name: getattr(document, name) for name in silenced}
    former = yield from every(former_ones(scope, (document.id,)))
    silent = (
        one.model_copy(update={**said, "redacted_at": one.redacted_at or document.redacted_at})
        for one in former
    )
    yield from replace(FORMERS, scope, *silent)


def former_ones(scope: Scope, ids: Sequence[str]) -> Find[Followed]:
    """Ask for the former revisions of documents of the scope's graph, whoever could see them."""
    return whole(FORMERS, scope, "revision", Among("document_id", tuple(ids)))


def _store(scope: Scope, revision: revisions.Revision, known: Document | None) -> Steps[None]:
    """Store a revision over the one before, and its passages beside those that stay."""
    document = revision.document
    at = document.changed_at
    if known is None:
        yield from put(DOCUMENTS, scope, document)
    else:
        yield from _put_former(scope, known, at)
        yield from replace(DOCUMENTS, scope, document)
        yield from retire_passages(scope, revision.retired, document.revision, at, known)
    yield from move_passages(scope, revision.moved)
    yield from put_passages(scope, revision.added)
    yield from index_again(scope, [passage.id for passage in revision.added], document, at)


def _put_former(scope: Scope, document: Document, followed_at: datetime | None) -> Steps[None]:
    """Store a revision that another follows; what moved here from elsewhere may have it already."""
    former = kept(Followed, document, followed_at=followed_at)
    known = yield from one(own(FORMERS, scope, [FORMERS.key(former)]))
    yield from write(over(known, FORMERS, scope, former))


def _end_former(scope: Scope, document: Document) -> Steps[None]:
    """Note that the revision before a stored one stood until then."""
    former = yield from every(_numbered(scope, document.id, document.revision - 1))
    yield from amend(FORMERS, scope, former, followed_at=document.changed_at)


def _numbered(scope: Scope, document_id: str, number: int) -> Find[Followed]:
    of_it, numbered = Is("document_id", document_id), Is("revision", number)
    return whole(FORMERS, scope, "revision", of_it, numbered)


def _as_they_were(
    scope: Scope, graph_id: str, ids: Sequence[str], then: datetime | None, *where: Condition
) -> Steps[dict[str, Document]]:
    """Return the revisions that were current in a graph at a moment, by the document's id.

    Args:
        scope: Who asks; it sees the documents as they stand.
        graph_id: Its own graph or an ancestor.
        ids: Of documents that have changed since.
        then: The moment.
        where: What must hold of them besides.
    """
    if not ids or then is None:
        return {}
    stood = (*by_then("changed_at", then), Within("followed_at", since=microseconds(then) + 1))
    asked_for = (Among("document_id", tuple(ids)), *stood, *where)
    former = yield from every(Find(FORMERS, scope, "followed", asked_for, graph_id=graph_id))
    return {
        document.id: revisions.as_of_then(bare(Document, document), then) for document in former
    }


def _listed_then(
    page: Find[Document], shelf: str | None, as_of: datetime, *, removed: bool
) -> Steps[tuple[Document, ...]]:
    """Return the documents of a page as they stood at a moment.

    Pages of documents as they stand are read until enough were there then: a revision that the
    asker may not see is left out.
    """
    scope, at = page.scope, microseconds(as_of)
    was_there = () if removed else (Absent("redacted_at"), not_by("removed_at", at))
    known_then = by_then("recorded_at", as_of)
    if was_there:
        known_then += (Either(((Within("changed_at", since=at + 1),), was_there)),)
    where, listed = page.where, list[Document]()
    while True:
        find = Find(DOCUMENTS, scope, page.by, (*where, *known_then), _NAMED, page.limit)
        standing = yield from every(find)
        changed = [one.id for one in standing if one.changed_at > as_of]
        earlier = yield from _as_they_were(scope, scope.graph_id, changed, as_of, *was_there)
        then = {
            one.id: revisions.as_of_then(one, as_of) for one in standing if one.changed_at <= as_of
        }
        listed += in_order(then | earlier, [one.id for one in standing])
        if len(standing) < page.limit or len(listed) >= page.limit:
            return tuple(listed[: page.limit])
        where = _listed(shelf, standing[-1])


def _last_seen(scope: Scope, behind: str) -> Steps[Document | None]:
    """Return the visible document that a page begins behind; ``None``: at the beginning.

    Raises:
        UsageError: There is none of this id.
    """
    if not behind:
        return None
    found = yield from one(among(DOCUMENTS, scope, [behind]))
    if found is None:
        raise UsageError("behind", behind, "the id of a document of this graph")
    return found


def _listed(shelf: str | None, last: Document | None) -> tuple[Condition, ...]:
    """Return what holds of the documents of a shelf, or of all, behind one."""
    on_it = () if shelf is None else (Is("shelf", shelf),)
    if last is None:
        return on_it
    if shelf == last.shelf:
        return (*on_it, Beyond(("name",), (last.name,)))
    return (*on_it, Beyond(_NAMED, (last.shelf, last.name)))


def _readable(scope: Scope) -> dict[str, datetime | None]:
    """Return the graphs whose documents a scope reads, and as of which moment each."""
    carrying = {one.graph_id: one.as_of for one in scope.carrying("document")}
    return {scope.graph_id: None, **carrying}
