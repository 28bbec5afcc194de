"""Keeps an agent's folder of notes and its shelf at the server alike, and loses neither's word."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from tiers.documents import Document, document_id, is_rolled_back, spellings, stays_away
from tiers.errors import (
    BudgetExceeded,
    Conflict,
    EzraError,
    TierError,
    UsageError,
    WasRedacted,
    refused,
)

from .memory_labels import labels_of, shown_title
from .names import DIGEST_CHARS, digest_of, memories_shelf
from .note_files import LocalNote, local_notes, remove_note, write_note
from .reading import all_documents
from .sync_state import Agreed, SyncState
from .three_way import CONFLICTS, FROM_SERVER, REMOVALS, Sides, Step, conflict_name, step_of

if TYPE_CHECKING:
    from ...documents.handle import Documents

Outcome: TypeAlias = Literal[
    "unchanged",
    "pushed",
    "removed",
    "pulled",
    "deleted",
    "conflict",
    "behind",
    "held",
    "redacted",
    "failed",
]

TRIES = 3
SAVE_EVERY = 25
REMOVED_HERE = "its file was removed"
WAS_REDACTED = (
    "its memory was redacted: the file is kept as it is, and is not sent; to store it anew, give "
    "it another name, or put it with even_if_redacted"
)
WAS_ROLLED_BACK = (
    "its memory was rolled back: the file is kept as it is, and is not sent; change it, undo the "
    "roll-back, or put it with even_if_redacted"
)
_DONE: Mapping[Step, Outcome] = {
    "unchanged": "unchanged",
    "push": "pushed",
    "remove": "removed",
    "pull": "pulled",
    "delete": "deleted",
    "conflict": "conflict",
    "set_aside": "conflict",
    "restore": "conflict",
}


@dataclass(frozen=True, slots=True)
class MemoryFolder:
    """Whose notes are where.

    Attributes:
        agent: The agent whose notes they are.
        machine: Where this is.
        folder: Of the notes.
        state: What was agreed with the server.
    """

    agent: str
    machine: str
    folder: Path
    state: SyncState

    @property
    def shelf(self) -> str:
        """Where its notes stand at the server."""
        return memories_shelf(self.agent)


@dataclass(frozen=True, slots=True)
class Synced:
    """What came of one note.

    Attributes:
        name: Of it.
        outcome: ``unchanged``; ``pushed`` or ``removed`` at the server; ``pulled`` or ``deleted``
            here; ``conflict``: both sides had changed it; ``behind``: the server has changed it,
            and pulling is off; ``held``: too much would be removed; ``redacted``: the server's was
            redacted or rolled back, the file is kept and not sent again; ``failed``.
        kept_as: Of a conflict, the name of the note with this machine's version.
        reason: Why, where that is not plain.
    """

    name: str
    outcome: Outcome
    kept_as: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class SyncReport:
    """What came of a sync, by name."""

    notes: tuple[Synced, ...]

    @property
    def counts(self) -> dict[str, int]:
        """How many notes there are of each outcome."""
        return dict(sorted(Counter(one.outcome for one in self.notes).items()))

    @property
    def needs_people(self) -> bool:
        """Whether there are conflicts, failures, or removals that were held back."""
        return any(one.outcome in ("conflict", "held", "failed") for one in self.notes)


def _ignore(_: Synced) -> None:
    """Tell nobody."""


async def sync_memories(
    documents: Documents,
    memory: MemoryFolder,
    *,
    pull: bool = True,
    force: bool = False,
    begin: Callable[[int], None] | None = None,
    step: Callable[[Synced], None] = _ignore,
) -> SyncReport:
    """Bring a folder of notes and its shelf together.

    Each note is compared with what both sides had at the last sync: who alone has changed it wins,
    and where both have, both versions are kept. Redacting a note at the server is no change of the
    folder, which is the user's own: its file stays, and is not sent. May be repeated, also after it
    was cut off.

    Args:
        documents: Of the agent.
        memory: Whose notes are where.
        pull: Whether the folder is changed too; else what the server has changed is only told.
        force: Also where more than half of the notes of a side would be removed.
        begin: Told how many notes there are.
        step: Told of each note as it is done.

    Raises:
        UsageError: The folder is gone or cannot be read, or another process is at it.
        ConfigError: The state cannot be read or written.
        TierError: The server is away; what was done is noted.
    """
    async with memory.state.held():
        agreed = await asyncio.to_thread(memory.state.read)
        here = await asyncio.to_thread(_read_folder, memory.folder, bool(agreed))
        found = await all_documents(documents, memory.shelf, removed=True)
        there = _by_name(found, {*here, *agreed})
        run = _Run(documents, memory, agreed, here, there, pull=pull)
        run.hold_removals(force=force)
        try:
            names = run.names()
            if begin is not None:
                begin(len(names))
            done = []
            for number, name in enumerate(names, 1):
                done.append(await run.synced(name))
                step(done[-1])
                if number % SAVE_EVERY == 0:
                    await asyncio.to_thread(memory.state.write, run.agreed)
        finally:
            # Synchronous: it is done even when this was cancelled.
            memory.state.write(run.agreed)
    return SyncReport(tuple(done))


def _read_folder(folder: Path, is_known: bool) -> dict[str, LocalNote]:  # noqa: FBT001
    def unusable(why: str) -> UsageError:
        return UsageError("folder", str(folder), f"a folder that can be made and read: {why}")

    with refused(unusable):
        if not folder.is_dir():
            if is_known or folder.exists():
                raise UsageError("folder", str(folder), "the folder that was synced before")
            folder.mkdir(parents=True)
    return local_notes(folder)


class _Run:
    """One sync: what both sides have, and what was done about it."""

    def __init__(
        self,
        documents: Documents,
        memory: MemoryFolder,
        agreed: dict[str, Agreed],
        here: dict[str, LocalNote],
        there: dict[str, Document],
        *,
        pull: bool,
    ) -> None:
        self.agreed = agreed
        self._documents, self._memory = documents, memory
        self._here, self._there, self._pull = here, there, pull
        self._held: frozenset[str] = frozenset()

    def names(self) -> list[str]:
        """Return the names of all notes that either side has, or had."""
        live = [name for name, one in self._there.items() if _is_live(one)]
        return sorted({*self._here, *live, *self.agreed})

    def hold_removals(self, *, force: bool) -> None:
        """Hold back the removals of a side where they are more than half of what it has."""
        if force:
            return
        names = [name for name in self.names() if not self._why_kept(name)]
        steps = {name: step_of(self._sides(name)) for name in names}
        live = sum(_is_live(one) for one in self._there.values())
        for kind, total in (("remove", live), ("delete", len(self._here))):
            removed = [name for name, step in steps.items() if step == kind]
            # One note is no folder that somebody has lost.
            if len(removed) > 1 and 2 * len(removed) > total:
                self._held |= frozenset(removed)

    async def synced(self, name: str) -> Synced:
        """Bring one note together, and say what came of it."""
        note = self._here.get(name)
        if note is not None and note.problem:
            return Synced(name, "failed", reason=note.problem)
        try:
            for _ in range(TRIES):
                why = self._why_kept(name)
                if why:
                    return Synced(name, "redacted", reason=why)
                try:
                    return await self._apply(name, step_of(self._sides(name)))
                except WasRedacted:
                    return Synced(name, "redacted", reason=WAS_REDACTED)
                except Conflict:
                    # Somebody was faster at the server: what they wrote is looked at anew.
                    self._refresh(name, await self._documents.named(self._memory.shelf, name))
                    if self._here.get(name) != await asyncio.to_thread(self._look, name):
                        raise
            return Synced(name, "failed", reason="it is being changed; the next sync takes it")
        except (TierError, BudgetExceeded):
            raise
        except EzraError as error:
            return Synced(name, "failed", reason=str(error))

    def _why_kept(self, name: str) -> str:
        """Return why a file is neither sent nor removed; empty where it may be."""
        note, document = self._here.get(name), self._there.get(name)
        if note is None or document is None or not stays_away(document, note.digest):
            return ""
        return WAS_ROLLED_BACK if is_rolled_back(document) else WAS_REDACTED

    def _look(self, name: str) -> LocalNote | None:
        return local_notes(self._memory.folder).get(name)

    def _refresh(self, name: str, document: Document | None) -> None:
        if document is None:
            self._there.pop(name, None)
        else:
            self._there[name] = document

    def _sides(self, name: str) -> Sides:
        base, note, document = self.agreed.get(name), self._here.get(name), self._there.get(name)
        return Sides(
            base=None if base is None else base.digest,
            local=None if note is None else note.digest,
            server=None if document is None or not _is_live(document) else digest_of(document.text),
        )

    async def _apply(self, name: str, step: Step) -> Synced:
        if step in REMOVALS and name in self._held:
            return Synced(name, "held", reason="more than half of the notes would be removed")
        kept_as = ""
        if step in CONFLICTS and step != "restore":
            kept_as = await self._keep_beside(name)
        if step == "push":
            await self._push(name, self._here[name].text)
        elif step == "remove":
            await self._remove(name)
        elif step in FROM_SERVER and self._pull:
            await self._take(name)
        elif step in FROM_SERVER:
            outcome: Outcome = "conflict" if step in CONFLICTS else "behind"
            return Synced(name, outcome, kept_as, reason="pulling is off")
        self._agree(name)
        return Synced(name, _DONE[step], kept_as, reason=_REASONS.get(step, ""))

    async def _keep_beside(self, name: str) -> str:
        """Keep this machine's version beside the note, on both sides; return its name."""
        note = self._here[name]
        kept_as = self._name_beside(name, note)
        if self._pull and kept_as not in self._here:
            write = asyncio.to_thread(write_note, self._memory.folder, kept_as, note.text, None)
            self._here[kept_as] = await write
        await self._push(kept_as, note.text)
        if self._pull:
            self._agree(kept_as)
        return kept_as

    def _name_beside(self, name: str, note: LocalNote) -> str:
        """Return a name that is free on both sides, or has this version on them already."""
        for digits in (DIGEST_CHARS, 2 * DIGEST_CHARS, len(note.digest)):
            kept_as = conflict_name(name, self._memory.machine, note.digest, digits)
            sides = self._sides(kept_as)
            # Somebody may have gone on with a former copy of this version.
            if {sides.local, sides.server} <= {None, note.digest}:
                return kept_as
        raise UsageError("note", name, "a note whose conflict can be told apart from former ones")

    async def _push(self, name: str, text: str) -> None:
        document = self._there.get(name)
        stored = await self._documents.put(
            name,
            text,
            shelf=self._memory.shelf,
            media_type="text/markdown",
            title=shown_title(name, text),
            topics=labels_of(self._memory.shelf, name, text),
            keep_text=True,
            expected_revision=0 if document is None else document.revision,
            machine=self._memory.machine,
        )
        self._there[name] = stored.document

    async def _remove(self, name: str) -> None:
        """Remove a note at the server that still is as it was seen."""
        seen = self._there[name]
        now = await self._documents.named(self._memory.shelf, name)
        if now is None or now.removed_at is not None or now.revision != seen.revision:
            raise Conflict(f"document {name}", seen.revision, None if now is None else now.revision)
        await self._documents.remove([seen.id], reason=REMOVED_HERE)
        del self._there[name]

    async def _take(self, name: str) -> None:
        """Make the folder have of a note what the server has."""
        note, document, folder = self._here.get(name), self._there.get(name), self._memory.folder
        if document is not None and _is_live(document):
            write = asyncio.to_thread(write_note, folder, name, document.text, note)
            self._here[name] = await write
        elif note is not None:
            await asyncio.to_thread(remove_note, folder, name, note)
            del self._here[name]

    def _agree(self, name: str) -> None:
        """Note what both sides have of a note now."""
        note, document = self._here.get(name), self._there.get(name)
        if note is None or document is None:
            self.agreed.pop(name, None)
        else:
            self.agreed[name] = Agreed(note.digest, document.revision)


def _by_name(found: Iterable[Document], names: Iterable[str]) -> dict[str, Document]:
    """Return documents by name; one whose name was destroyed by that of the names that led to it.

    Such a one is called by its id, which its name makes.
    """
    documents = {one.name: one for one in found}
    nameless = [one for one in documents.values() if one.name == one.id]
    if nameless:
        by_id = {one.id: one for one in nameless}
        first = nameless[0]
        shelf = (first.tenant, first.graph_id, first.shelf)
        for name in names:
            for spelled in spellings(name):
                document = by_id.get(document_id(*shelf, spelled))
                if document is not None:
                    documents[name] = document
    return documents


def _is_live(document: Document) -> bool:
    return document.removed_at is None and document.redacted_at is None


_REASONS: Mapping[Step, str] = {
    "conflict": "both sides had changed it; the server's version has the name",
    "set_aside": "the server had removed it, this machine changed it",
    "restore": "this machine had removed it, the server changed it",
}
