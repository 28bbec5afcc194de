"""Ingesting folders: each file one document, put through whichever handle there is."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from tiers.documents import DOCUMENTS_PER_CALL_MAX, Document, Revised, one_form, stays_away
from tiers.errors import (
    BudgetExceeded,
    Conflict,
    EzraError,
    PolicyDenied,
    UsageError,
    WasRedacted,
    WriteRefused,
)
from tiers.paging import parts
from tiers.records import Turn

from ..checks import checked
from .draft import SHELF, Draft, drafted
from .folders import Found, FoundFile, Patterns, found_in, gone_of, read_file
from .formats import MARKDOWN

if TYPE_CHECKING:
    from .handle import Documents

State: TypeAlias = Literal["new", "changed", "unchanged", "redacted", "failed"]
GONE_REASON = "its file is gone"
WAS_REDACTED = (
    "its document was redacted, or rolled back with this content; --even-if-redacted brings it back"
)
SHARE_MAX = 0.5
"""More of a folder's documents are never removed without being forced to."""


@dataclass(frozen=True)
class Plan:
    """What is ingested, and how.

    Attributes:
        paths: Files and folders.
        shelf: Of the documents.
        patterns: Which files of folders count.
        topics: Of every document; those that each names itself, if ``None``.
        topics_from_folder: Whether a document's topic is the folder under the one that is
            ingested, where it names none itself and none are given.
        prune: Whether documents are removed whose file is gone.
        force: Whether that may be most of them.
        dry_run: Only say what would be done.
        even_if_redacted: Whether documents come back that were redacted.
    """

    paths: tuple[Path, ...]
    shelf: str = SHELF
    patterns: Patterns = field(default_factory=Patterns)
    topics: tuple[str, ...] | None = None
    topics_from_folder: bool = False
    prune: bool = False
    force: bool = False
    dry_run: bool = False
    even_if_redacted: bool = False


@dataclass(frozen=True)
class FileDone:
    """What came of a file.

    Attributes:
        path: Where it is.
        name: Of its document.
        state: Whether the document is new, changed, unchanged, was redacted and therefore left
            out, or could not be read or stored.
        document_id: Of the document; ``None`` where there is none.
        revision: As it now is; what it is before a dry run.
        added: Passages that are new.
        kept: Passages that stayed.
        retired: Passages that are gone.
        reason: Why it failed or was left out, and what to ask for to have it.
        warnings: What could not be read of it; the rest was.
    """

    path: str
    name: str
    state: State
    document_id: str | None = None
    revision: int | None = None
    added: int = 0
    kept: int = 0
    retired: int = 0
    reason: str | None = None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Ingested:
    """What came of it all.

    Attributes:
        shelf: Of the documents.
        files: What came of each file, in the order of their names.
        removed: Names of documents whose file is gone.
        ignored: Files of the folders that are not read.
        dry_run: Whether nothing was written.
    """

    shelf: str
    files: tuple[FileDone, ...]
    removed: tuple[str, ...]
    ignored: int
    dry_run: bool = False

    @property
    def totals(self) -> dict[str, int]:
        """Numbers of files by state, of removed documents, and of passages."""
        states: tuple[State, ...] = get_args(State)
        counts = {state: sum(one.state == state for one in self.files) for state in states}
        passages = {
            "passages_added": sum(one.added for one in self.files),
            "passages_kept": sum(one.kept for one in self.files),
            "passages_retired": sum(one.retired for one in self.files),
        }
        return {**counts, "removed": len(self.removed), "ignored": self.ignored, **passages}


class Ingestion:
    """Puts files as documents, one after the other: parsing is what takes the time.

    Args:
        documents: The handle that they are put through.
        plan: What is ingested.

    Raises:
        UsageError: The plan does not fit together.
    """

    def __init__(self, documents: Documents, plan: Plan) -> None:
        if not plan.paths:
            raise UsageError("path", None, "at least one file or folder")
        if plan.topics is not None and plan.topics_from_folder:
            raise UsageError("topics", plan.topics, "topics, or those from folders, not both")
        self._documents = documents
        self._plan = plan
        topics = plan.topics
        self._topics = None if topics is None else checked(Turn, topics=topics).topics

    async def found(self) -> Found:
        """Return the files as they are now.

        Raises:
            UsageError: A path is neither file nor folder, or there are too many files.
        """
        return await asyncio.to_thread(found_in, self._plan.paths, self._plan.patterns)

    async def run(self, found: Found, tell: Callable[[FileDone], None]) -> Ingested:
        """Put all files, and remove the documents whose file is gone if the plan says so.

        A file that cannot be read stops nothing.

        Args:
            found: The files.
            tell: Called with what came of each, in order.

        Raises:
            UsageError: Too many documents would be removed; nothing was written.
            EzraError: Nothing can be stored at all.
        """
        stored = await self.stored(found)
        gone = await self._gone(found, stored) if self._plan.prune else {}
        self._check_share(len(gone), stored, found)
        return await self.put(found.files, stored, gone, tell, ignored=found.ignored)

    async def put(
        self,
        files: Iterable[FoundFile],
        stored: Mapping[str, Document],
        gone: Mapping[str, str],
        tell: Callable[[FileDone], None],
        *,
        ignored: int = 0,
    ) -> Ingested:
        """Put some files and remove some documents; as ``run``, which decides which.

        Args:
            files: What is put.
            stored: Documents as they are, by name: of those that need not be read.
            gone: The ids of the documents that are removed, by name.
            tell: Called with what came of each file.
            ignored: How many files are not read.
        """
        done = []
        for one in files:
            came = await self._put(one, stored)
            done.append(came)
            tell(came)
        removed = await self._remove(gone)
        return Ingested(self._plan.shelf, tuple(done), removed, ignored, self._plan.dry_run)

    async def stored(self, found: Found) -> dict[str, Document]:
        """Return the documents that are there under the names of the folders and files."""
        named = {one.name for one in found.files}
        known: dict[str, Document] = {}
        after = ""
        while True:
            page = await self._documents.list(
                self._plan.shelf, after=after, limit=DOCUMENTS_PER_CALL_MAX
            )
            by_name = {one_form(one.name): one for one in page}
            known |= {
                name: one for name, one in by_name.items() if name in named or found.is_inside(name)
            }
            if len(page) < DOCUMENTS_PER_CALL_MAX:
                return known
            after = page[-1].id

    async def _gone(self, found: Found, stored: Mapping[str, Document]) -> dict[str, str]:
        """Return the documents whose file is not there, rather than left out: ids by name."""
        there = {one.name for one in found.files}
        missing = {
            name: found.paths_of(name)
            for name in stored
            if name not in there and found.is_inside(name)
        }
        return {name: stored[name].id for name in await asyncio.to_thread(gone_of, missing)}

    def _check_share(self, gone: int, stored: Mapping[str, Document], found: Found) -> None:
        if self._plan.force or not gone:
            return
        of_folders = sum(found.is_inside(name) for name in stored)
        if gone > SHARE_MAX * of_folders:
            shown = f"{gone} of {of_folders} documents would be removed"
            raise UsageError("prune", shown, "half of them at most, or --force")

    async def _put(self, file: FoundFile, stored: Mapping[str, Document]) -> FileDone:
        """Put a file; what is wrong with it alone is told."""
        known = stored.get(file.name)
        try:
            data = await asyncio.to_thread(read_file, file.path)
            if known is not None and await self._is_same(file, data, known):
                return _unchanged(file, known)
            draft = await drafted(file.name, data, shelf=self._plan.shelf, topics=self._topics)
            if draft.topics is None and self._plan.topics_from_folder:
                topics = checked(Turn, topics=(file.below,)).topics
                draft = draft.model_copy(update={"topics": topics})
            if self._plan.dry_run:
                is_out = known is None and await self._stays_away(file, draft.digest)
                return _left_out(file) if is_out else _would(file, draft, known)
            done = await self._documents.store(draft, even_if_redacted=self._plan.even_if_redacted)
        except WasRedacted:
            return _left_out(file)
        except (UsageError, Conflict, PolicyDenied, BudgetExceeded, WriteRefused) as error:
            return _failed(file, known, error)
        return _outcome(file, done, draft)

    async def _stays_away(self, file: FoundFile, digest: str) -> bool:
        """Whether storing a file would be refused because its document was redacted."""
        if self._plan.even_if_redacted:
            return False
        stored = await self._documents.named(self._plan.shelf, file.name)
        return stored is not None and stays_away(stored, digest)

    async def _is_same(self, file: FoundFile, data: bytes, known: Document) -> bool:
        """Whether a file need not even be read: its document was made of these very bytes.

        What names its own topics is read all the same: that is quick.
        """
        if known.media_type == MARKDOWN:
            return False
        topics = self._topics
        if topics is None:
            below = (file.below,) if self._plan.topics_from_folder else ()
            topics = checked(Turn, topics=below).topics
            if not self._plan.topics_from_folder and known.topics:
                return False  # an agent's own topics may have been put
        digest = await asyncio.to_thread(lambda: hashlib.sha256(data).hexdigest())
        return known.digest == digest and known.topics == topics

    async def _remove(self, gone: Mapping[str, str]) -> tuple[str, ...]:
        if self._plan.dry_run:
            return tuple(gone)
        names = {own_id: name for name, own_id in gone.items()}
        removed: list[str] = []
        for part in parts(list(names), DOCUMENTS_PER_CALL_MAX):
            removed += await self._documents.remove(part, reason=GONE_REASON)
        return tuple(names[one] for one in removed)


def _unchanged(file: FoundFile, known: Document) -> FileDone:
    return FileDone(
        path=shown(file.path),
        name=shown(file.name),
        state="unchanged",
        document_id=known.id,
        revision=known.revision,
        kept=known.passages,
    )


def _left_out(file: FoundFile) -> FileDone:
    """Return that a document was redacted and stays so."""
    return FileDone(
        path=shown(file.path), name=shown(file.name), state="redacted", reason=WAS_REDACTED
    )


def _failed(file: FoundFile, known: Document | None, error: EzraError) -> FileDone:
    """Return that a file could not be put; a document that was made of it before stays."""
    return FileDone(
        path=shown(file.path),
        name=shown(file.name),
        state="failed",
        document_id=None if known is None else known.id,
        revision=None if known is None else known.revision,
        reason=_reason(error),
    )


def _outcome(file: FoundFile, done: Revised, draft: Draft) -> FileDone:
    document = done.document
    state: State = "unchanged"
    if done.was_new:
        state = "new" if document.revision == 1 else "changed"
    return FileDone(
        path=shown(file.path),
        name=shown(file.name),
        state=state,
        document_id=document.id,
        revision=document.revision,
        added=done.added,
        kept=done.kept,
        retired=done.retired,
        warnings=draft.warnings,
    )


def _would(file: FoundFile, draft: Draft, known: Document | None) -> FileDone:
    """Return what would come of a file, as far as it can be told before."""
    if known is None:
        count = len(draft.passages)
        return FileDone(
            shown(file.path), shown(file.name), "new", added=count, warnings=draft.warnings
        )
    is_same = (
        (draft.digest, draft.title, draft.properties)
        == (known.digest, known.title, known.properties)
        and (draft.topics is None or draft.topics == known.topics)
    )  # fmt: skip
    return FileDone(
        path=shown(file.path),
        name=shown(file.name),
        state="unchanged" if is_same else "changed",
        document_id=known.id,
        revision=known.revision,
        warnings=draft.warnings,
    )


def shown(name: Path | str) -> str:
    """Return a name as it can be printed: names of files may be bytes of any kind."""
    return str(name).encode("utf-8", "replace").decode()


def _reason(error: EzraError) -> str:
    """Return why a file failed, on one line."""
    return shown(" ".join(str(error).split()))
