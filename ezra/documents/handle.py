"""The documents of a handle: put, listed, read and removed in the scope that it has."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Annotated

from pydantic import Field, JsonValue

from tiers.documents import (
    DOCUMENTS_PER_CALL_MAX,
    Document,
    Passage,
    Revised,
    document_id,
    one_form,
    spellings,
)
from tiers.errors import Conflict, UsageError, WasRedacted
from tiers.fields import TOPICS_MAX
from tiers.records import Scope, Standing

from ..checks import called, check_text, checked, checked_ids
from ..operations import PageOf1000, Reason, Sent, composed, operation
from ..rights.access import Access, access_of_operator
from ..rights.metering import charge_of_write
from ..runtime import Runtime
from ..write_guard import Write, admitted
from .draft import SHELF, Draft, drafted, texts_of

ATTEMPTS = 20
"""So often a document is stored anew that others change at the same moment."""


class Documents:
    """Documents as one agent, the operator of a session graph or a tenant's catalog sees them.

    A document stands on a shelf under a name. Putting it again under that name makes its next
    revision: passages that did not change stay with their vectors, the others leave every answer.
    Former revisions stay readable.
    """

    def __init__(self, runtime: Runtime, access: Access, *, is_released: bool = False) -> None:
        self._is_released = is_released  # a person has let pass what is stored by this handle
        self._runtime = runtime
        self._access = access

    @classmethod
    def of_graph(cls, runtime: Runtime, scope: Scope) -> Documents:
        """Return the documents of a whole session graph, as its operator.

        Every topic and user is seen, private documents are not. What is put belongs to everybody,
        with the topics that it names itself unless some are given.
        """
        return cls(runtime, access_of_operator(runtime.membership, scope))

    @composed
    @operation("POST", "", changes=True, repeats=False)
    async def put(
        self,
        name: str,
        content: Annotated[str | bytes, Sent(str)],
        *,
        shelf: str = SHELF,
        title: str | None = None,
        media_type: str | None = None,
        properties: Mapping[str, JsonValue] | None = None,
        topics: Annotated[Iterable[str], Field(max_length=TOPICS_MAX)] | None = None,
        keep_text: bool = False,
        expected_revision: int | None = None,
        machine: str = "",
        private: bool = False,
        even_if_redacted: bool = False,
    ) -> Revised:
        """Read a document, cut it into passages, and store it or its next revision.

        Markdown, text, HTML, PDF and Word files are read. The same content with the same title,
        properties and topics is no new revision. It can be recalled at once by its words, and by
        meaning within seconds.

        Args:
            name: On its shelf: a path with ``/``, up to 1,024 characters.
            content: The file, up to 64 MiB, or its text.
            shelf: What names are unique in.
            title: What people call it; what it calls itself, else its name, if not given.
            media_type: Of the content; told from name and content if not given.
            properties: Beside what the file says of itself, and before that.
            topics: Its topics; those that its front matter names, else the handle's own. Front
                matter that names some and cannot be read is refused, unless topics are given.
            keep_text: Whether the whole text, up to 200,000 characters, is kept in the document.
            expected_revision: What the caller has seen, 0 for none: otherwise nothing is stored.
            machine: Where this revision was written, where that matters.
            private: Whether only this agent may see it.
            even_if_redacted: Whether it comes back if a document of that name was redacted.

        Raises:
            WasRedacted: The document of that name was redacted, or rolled back with this very
                content; ``even_if_redacted`` brings it back.
            Conflict: The stored revision is not the expected one, the graph is archived, the name
                is taken by a document that the handle does not see, or others change the document
                again and again.
            PolicyDenied: A topic is not the agent's.
            BudgetExceeded: The agent or the graph has no write left.
            UsageError: It cannot be read, or an argument is not acceptable.
            WriteRefused: The write guard has put it aside or blocks it.
        """
        draft = await drafted(
            name,
            content,
            shelf=shelf,
            title=title,
            media_type=media_type,
            properties=properties,
            topics=topics,
            keep_text=keep_text,
        )
        return await self.store(
            draft,
            expected_revision=expected_revision,
            machine=machine,
            private=private,
            even_if_redacted=even_if_redacted,
        )

    @operation("POST", "/drafts", changes=True, repeats=False)
    async def store(
        self,
        draft: Draft,
        *,
        expected_revision: int | None = None,
        machine: str = "",
        private: bool = False,
        even_if_redacted: bool = False,
    ) -> Revised:
        """Store what ``drafted`` has read, wherever that was done; otherwise as ``put``."""
        scope, topics = await self._access.writing(draft.topics, "store a document")
        if not self._is_released:
            more: dict[str, JsonValue] = {"machine": machine, "even_if_redacted": even_if_redacted}
            write = Write("document", "document", topics, private, more)
            draft = await admitted(self._runtime, scope, write, draft, texts_of)
        name, stored = await self._called(scope, draft.shelf, draft.name)
        draft = draft.model_copy(update={"name": name})
        own_id = document_id(scope.tenant, scope.graph_id, draft.shelf, name)
        for attempt in range(1, ATTEMPTS + 1):
            stored = stored if attempt == 1 else await self._stored(scope, own_id)
            revision = 0 if stored is None else stored.revision
            if expected_revision is not None and revision != expected_revision:
                raise Conflict(f"document {draft.name!r}", expected_revision, revision)
            document = self._document(scope, draft, stored, topics, machine, private=private)
            document = document.model_copy(update={"id": own_id})
            try:
                return await self._revise(scope, document, draft, even_if_redacted=even_if_redacted)
            except WasRedacted:
                raise
            except Conflict:
                # Somebody was faster, and what is stored now is looked at anew.
                if expected_revision is not None or attempt == ATTEMPTS:
                    raise
                if await self._revision(scope, own_id) == revision:
                    raise
        raise AssertionError  # pragma: no cover - the last attempt returns or raises

    @operation("GET")
    async def list(
        self,
        shelf: str | None = None,
        *,
        after: str = "",
        limit: PageOf1000 = 100,
        removed: bool = False,
        as_of: datetime | None = None,
    ) -> tuple[Document, ...]:
        """Return documents in the order of shelf and name.

        Args:
            shelf: Of this shelf; of all if not given.
            after: Behind the document of this id: the last of the page before.
            limit: How many, 1 to 1,000.
            removed: Whether removed ones come too.
            as_of: As they stood at that moment.

        Raises:
            UsageError: An argument is not acceptable.
        """
        _check_moment(as_of)
        moment = self._runtime.apart_from_now(as_of)
        scope = await self._access.reading()
        with called(behind="after"):
            return await self._runtime.shelf.on_shelf(
                scope, shelf, behind=after, limit=limit, removed=removed, as_of=moment
            )

    @operation("GET", "/{document_id}")
    async def get(self, document_id: str) -> Document | None:
        """Return a document, a removed one too; ``None`` when none of that id is seen here."""
        return await self._stored(await self._access.reading(), document_id)

    @operation("POST", "/lookup")
    async def named(self, shelf: str, name: str) -> Document | None:
        """Return the document of a name, a removed one too; ``None`` when none is seen here."""
        try:
            return (await self._called(await self._access.reading(), shelf, name))[1]
        except UnicodeEncodeError:  # half a character: no document has such a name
            return None

    @operation("GET", "/{document_id}/revisions")
    async def revisions(
        self, document_id: str, *, before: int | None = None, limit: PageOf1000 = 100
    ) -> tuple[Document, ...]:
        """Return revisions of a document as they were, the latest first.

        Args:
            document_id: Of which document.
            before: Only lower ones than this: the last of the page before.
            limit: How many, 1 to 1,000.

        Raises:
            UsageError: ``limit`` is out of range.
        """
        scope = await self._access.reading()
        return await self._runtime.shelf.revisions(scope, document_id, before=before, limit=limit)

    @operation("GET", "/{document_id}/passages")
    async def passages(
        self,
        document_id: str,
        *,
        behind: Annotated[int, Field(ge=-1)] = -1,
        limit: PageOf1000 = 1000,
    ) -> tuple[Passage, ...]:
        """Return the current passages of a document in order.

        Args:
            document_id: Of which document.
            behind: After the passage of this ``number``: the last of the page before.
            limit: How many, 1 to 1,000.

        Raises:
            UsageError: ``limit`` is out of range.
        """
        scope = await self._access.reading()
        return await self._runtime.shelf.passages_of(scope, document_id, behind=behind, limit=limit)

    @operation("POST", "/remove", changes=True, repeats=False)
    async def remove(
        self,
        document_ids: Annotated[Sequence[str], Field(max_length=DOCUMENTS_PER_CALL_MAX)],
        *,
        reason: Reason,
    ) -> tuple[str, ...]:
        """Remove documents and return which were there: no answer has them from now on.

        Their rows and revisions stay, for questions to the past; ``graph.redact`` destroys them.

        Args:
            document_ids: Up to 1,000 documents of the own graph.
            reason: Why; kept in the audit feed.

        Raises:
            BudgetExceeded: The agent or the graph has no write left.
            Conflict: The graph is archived.
            UsageError: The reason is blank, or there are too many.
        """
        check_text("reason", reason, "why; it is kept in the audit feed")
        ids = checked_ids("document_ids", document_ids, DOCUMENTS_PER_CALL_MAX)
        scope, _ = await self._access.writing(None, "remove a document")
        arguments = (scope, ids, reason, self._runtime.clock())
        async with self._runtime.meter.refusals(scope):
            done = await self._runtime.shelf.remove(
                *arguments, charge_of_write(self._access.standing())
            )
        if done:
            self._runtime.wake_learning()
        return done

    @operation("GET", "/count")
    async def count(self) -> tuple[int, int]:
        """Return how many documents there are, and how many current passages they have."""
        return await self._runtime.shelf.count(await self._access.reading())

    def _document(
        self,
        scope: Scope,
        draft: Draft,
        stored: Document | None,
        topics: tuple[str, ...],
        machine: str,
        *,
        private: bool,
    ) -> Document:
        now = self._runtime.clock()
        document = checked(
            Document,
            shelf=draft.shelf,
            name=draft.name,
            title=draft.title,
            media_type=draft.media_type,
            digest=draft.digest,
            revision=1 if stored is None else stored.revision + 1,
            properties=draft.properties,
            text=draft.text,
            machine=machine,
            passages=len(draft.passages),
            topics=topics,
            private=private,
            changed_at=now,
        )
        began = now if stored is None else stored.recorded_at
        owned = document.stamped(scope, "", began)
        return owned.model_copy(update={"private": private and scope.agent_id is not None})

    async def _revise(
        self, scope: Scope, document: Document, draft: Draft, *, even_if_redacted: bool
    ) -> Revised:
        await self._runtime.make_room()
        async with self._runtime.meter.refusals(scope):
            done = await self._runtime.shelf.revise(
                scope,
                document,
                draft.passages,
                even_if_redacted=even_if_redacted,
                charge=charge_of_write(self._access.standing()),
            )
        if done.was_new:
            self._runtime.wake_learning()
        return done

    async def _called(self, scope: Scope, shelf: str, name: str) -> tuple[str, Document | None]:
        """Return what a document of a name is called, however its accents were typed, and it."""
        forms = {
            document_id(scope.tenant, scope.graph_id, shelf, one): one for one in spellings(name)
        }
        for found in await self._runtime.shelf.documents(scope, list(forms)):
            return forms[found.id], found  # which a redacted one does not say itself
        return one_form(name), None

    async def _stored(self, scope: Scope, own_id: str) -> Document | None:
        found = await self._runtime.shelf.documents(scope, (own_id,))
        return found[0] if found else None

    async def _revision(self, scope: Scope, own_id: str) -> int:
        stored = await self._stored(scope, own_id)
        return 0 if stored is None else stored.revision


class DocumentsOfGraph:
    """The part of a handle that has documents: of a session graph, and of the catalog."""

    _runtime: Runtime
    _scope: Scope

    @property
    def documents(self) -> Documents:
        """The documents of everybody, as the operator sees them, to read and to change."""
        return Documents.of_graph(self._runtime, self._scope)


class DocumentsOfAgent:
    """The part of an agent's handle that has documents."""

    _runtime: Runtime
    _standing: Standing

    if TYPE_CHECKING:

        async def _scope(self) -> Scope: ...

        async def _writing(
            self, asked: Sequence[str] | None, action: str
        ) -> tuple[Scope, tuple[str, ...]]: ...

    @property
    def documents(self) -> Documents:
        """The documents that the agent sees, and those that it puts."""
        access = Access(self._scope, self._writing, lambda: self._standing)
        return Documents(self._runtime, access)


def _check_moment(as_of: datetime | None) -> None:
    if as_of is not None and as_of.tzinfo is None:
        raise UsageError("as_of", as_of, "a time with its zone")
