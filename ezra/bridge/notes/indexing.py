"""Brings Markdown files into a memory, and takes out what is gone from the disk."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from tiers.documents import DOCUMENTS_PER_CALL_MAX, Document
from tiers.errors import BudgetExceeded, EzraError, TierError, UsageError, WasRedacted
from tiers.paging import parts

from ..config import Root
from .entities import Notice, Said, said_by
from .entity_graph import Edge, EntityGraph
from .folders import NoteFile, file_in, notes_in, text_of
from .names import digest_of, entity_id, is_note, notes_shelf, stem_of
from .reading import all_documents, graph_of
from .rules import NoteRules, is_entity_file

if TYPE_CHECKING:
    from ...documents.handle import Documents

Outcome: TypeAlias = Literal["new", "changed", "unchanged", "skipped", "redacted", "failed"]

NOTES_TOPIC = "notes"
"""Every entity has it, and ``entity:`` with its type: search narrows by them."""
TYPE_TOPIC = "entity:"
GONE = "its file is gone"


@dataclass(frozen=True, slots=True)
class NoteIndexer:
    """Who indexes which folders, and how notes are read.

    Attributes:
        agent: The agent whose entities they are.
        machine: Where this is.
        roots: The watched folders.
        rules: How notes are read.
    """

    agent: str
    machine: str
    roots: tuple[Root, ...]
    rules: NoteRules

    def shelf_of(self, root: Root) -> str:
        """Return the shelf of a folder: two agents may watch folders of the same name."""
        return notes_shelf(f"{self.agent}/{root.name}")


@dataclass(frozen=True, slots=True)
class Indexed:
    """What came of one file.

    Attributes:
        path: Where it is.
        outcome: ``new``, ``changed`` or ``unchanged``; ``skipped`` is no entity, or is as it was
            before another machine changed it; ``redacted``: its document was, and does not come
            back; ``failed``.
        id: Of its entity, where it is one.
        reason: Why it was skipped or failed.
        notices: What is wrong with the note, which is indexed nevertheless.
    """

    path: str
    outcome: Outcome
    id: str = ""
    reason: str = ""
    notices: tuple[Notice, ...] = ()


@dataclass(frozen=True, slots=True)
class Reconciled:
    """What came of comparing the shelves with the folders.

    Attributes:
        checked: How many documents were looked at.
        gone: Paths of the notes whose file is gone; removed, unless ``is_refused``.
        pruned: Edges of other notes that led to them.
        elsewhere: Paths whose file is not here, but which another machine indexed last.
        is_refused: Whether nothing was removed, since that is more than half of a shelf.
    """

    checked: int
    gone: tuple[str, ...]
    pruned: tuple[Edge, ...]
    elsewhere: tuple[str, ...]
    is_refused: bool = False


def _ignore(_: Indexed) -> None:
    """Tell nobody."""


async def index_all(
    documents: Documents,
    indexer: NoteIndexer,
    *,
    begin: Callable[[int], None] | None = None,
    step: Callable[[Indexed], None] = _ignore,
) -> tuple[Indexed, ...]:
    """Bring every note of the watched folders into the memory; what is unchanged is not sent.

    Nor is a note that is here as it was before another machine changed it: nobody changed it here.

    Args:
        documents: Of the agent.
        indexer: Who indexes what.
        begin: Told how many files there are.
        step: Told of each file as it is done.

    Raises:
        UsageError: A folder is not there, or has too many files.
        TierError: The memory is away; what was done before is indexed.
    """
    files = [(root, await asyncio.to_thread(notes_in, root.path)) for root in indexer.roots]
    if begin is not None:
        begin(sum(len(found) for _, found in files))
    done = []
    for root, found in files:
        shelf = indexer.shelf_of(root)
        known = {one.name: one for one in await all_documents(documents, shelf, removed=True)}
        for file in found:
            before = known.get(file.name)
            done.append(await _indexed(documents, indexer, shelf, file, before, brings_back=False))
            step(done[-1])
    return tuple(done)


async def index_files(
    documents: Documents, indexer: NoteIndexer, paths: Iterable[Path]
) -> tuple[Indexed, ...]:
    """Bring single files into the memory, in order; what is no entity is skipped.

    Each as it is here, also as it was once: who names it wants it so.

    Raises:
        UsageError: One of them is in no watched folder. Those before are indexed.
    """
    done = []
    for path in paths:
        root, file = await asyncio.to_thread(file_in, indexer.roots, path)
        reason = _no_entity(file)
        if reason:
            done.append(Indexed(str(path), "skipped", reason=reason))
            continue
        shelf = indexer.shelf_of(root)
        known = await documents.named(shelf, file.name)
        done.append(await _indexed(documents, indexer, shelf, file, known, brings_back=True))
    return tuple(done)


def _no_entity(file: NoteFile) -> str:
    if not is_note(file.name):
        return "it is no Markdown"
    if any(part.startswith(".") for part in Path(file.name).parts):
        return "it is hidden"
    return "" if is_entity_file(file.name) else "it lists other notes, or is in an archive"


async def _indexed(
    documents: Documents,
    indexer: NoteIndexer,
    shelf: str,
    file: NoteFile,
    known: Document | None,
    *,
    brings_back: bool,
) -> Indexed:
    """Bring one file into the memory, and say what came of it."""
    path = str(file.path)
    try:
        text, note = await asyncio.to_thread(_read, file, indexer.rules)
    except UsageError as error:
        return Indexed(path, "failed", reason=str(error))
    named = entity_id(indexer.agent, note.type, stem_of(file.name))
    topics = tuple(sorted((NOTES_TOPIC, f"{TYPE_TOPIC}{note.type}")))
    if known is not None and _is_same(known, text, topics):
        return Indexed(path, "unchanged", named, notices=note.notices)
    if known is not None and not brings_back and await _is_former(documents, indexer, known, text):
        reason = f"{known.machine} has changed it since; index-file brings it back as it is here"
        return Indexed(path, "skipped", named, reason, note.notices)
    try:
        stored = await documents.put(
            file.name,
            text,
            shelf=shelf,
            title=note.title[:_TITLE_CHARS],
            media_type="text/markdown",
            topics=topics,
            keep_text=True,
            machine=indexer.machine,
        )
    except WasRedacted as error:
        return Indexed(path, "redacted", named, str(error), note.notices)
    except (TierError, BudgetExceeded):
        raise  # the next file would fare no better
    except EzraError as error:
        return Indexed(path, "failed", named, str(error), note.notices)
    outcome: Outcome = "changed" if stored.was_new else "unchanged"
    if stored.was_new and (known is None or known.removed_at is not None):
        outcome = "new"
    return Indexed(path, outcome, named, notices=note.notices)


_TITLE_CHARS = 512


def _read(file: NoteFile, rules: NoteRules) -> tuple[str, Said]:
    text = text_of(file)
    return text, said_by(file.name, text, rules)


def _is_same(known: Document, text: str, topics: Sequence[str]) -> bool:
    if known.removed_at is not None or known.redacted_at is not None:
        return False
    return digest_of(text) in (known.digest, digest_of(known.text)) and known.topics == tuple(
        topics
    )


async def _is_former(
    documents: Documents, indexer: NoteIndexer, known: Document, text: str
) -> bool:
    """Whether a file is as its document was before another machine changed that."""
    if known.removed_at is not None or known.machine in ("", indexer.machine):
        return False
    former = await documents.revisions(known.id, before=known.revision)
    return digest_of(text) in {one.digest for one in former}


async def reconcile(
    documents: Documents,
    indexer: NoteIndexer,
    *,
    force: bool = False,
    all_machines: bool = False,
) -> Reconciled:
    """Remove the entities whose file is gone; edges to them are gone with them.

    Args:
        documents: Of the agent.
        indexer: Who indexed what.
        force: Also where that is more than half of a folder's.
        all_machines: Also what another machine indexed last: its folder may have it still.

    Raises:
        UsageError: A folder is not there.
    """
    gone: list[Document] = []
    elsewhere: list[Document] = []
    checked, is_refused = 0, False
    for root in indexer.roots:
        there = {file.name for file in await asyncio.to_thread(notes_in, root.path)}
        stored = await all_documents(documents, indexer.shelf_of(root))
        missing = [one for one in stored if one.name not in there]
        ours = [one for one in missing if all_machines or one.machine in ("", indexer.machine)]
        checked += len(stored)
        gone += ours
        elsewhere += [one for one in missing if one not in ours]
        is_refused = is_refused or (not force and 2 * len(ours) > len(stored))
    pruned: tuple[Edge, ...] = ()
    if gone:
        pruned = _pruned(await graph_of(documents, indexer.rules), {one.id for one in gone})
    if not is_refused:
        for ids in parts([one.id for one in gone], DOCUMENTS_PER_CALL_MAX):
            await documents.remove(ids, reason=GONE)
    return Reconciled(
        checked=checked,
        gone=tuple(one.name for one in gone),
        pruned=pruned,
        elsewhere=tuple(one.name for one in elsewhere),
        is_refused=is_refused,
    )


def _pruned(graph: EntityGraph, gone: set[str]) -> tuple[Edge, ...]:
    """Return the edges that lead from what stays to what goes."""
    going = {one.id for one in graph.entities if one.document_id in gone}
    return tuple(
        edge for edge in graph.edges() if edge.target in going and edge.source not in going
    )
