"""Machines of one agent that keep their notes alike, and a way to the memory that is cut off."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

from ezra.bridge.notes.reading import all_documents
from ezra.bridge.notes.sync_state import SyncState
from ezra.bridge.notes.syncing import MemoryFolder, SyncReport, sync_memories
from tiers.documents import Document
from tiers.errors import TierUnavailable


class Machine:
    """One of several machines of an agent: a folder of notes, and a state of its own."""

    def __init__(self, home: Path, agent: Any, name: str) -> None:
        self.agent, self.name = agent, name
        self.folder = home / name / "notes"
        self.folder.mkdir(parents=True)
        state = SyncState(home / name / "state", "key", self.folder)
        self.memory = MemoryFolder(agent.id, name, self.folder, state)

    def write(self, name: str, text: str) -> None:
        """Write a note."""
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="")

    def remove(self, name: str) -> None:
        """Remove a note."""
        (self.folder / name).unlink()

    def notes(self) -> dict[str, str]:
        """Return what the folder says."""
        files = [one for one in self.folder.rglob("*") if one.is_file()]
        return {str(one.relative_to(self.folder)): one.read_bytes().decode() for one in files}

    async def sync(self, documents: Any = None, **more: Any) -> SyncReport:
        """Sync, by another way to the documents if one is given."""
        return await sync_memories(documents or self.agent.documents, self.memory, **more)

    async def live(self) -> dict[str, Document]:
        """Return the notes at the server by name."""
        found = await all_documents(self.agent.documents, self.memory.shelf)
        return {one.name: one for one in found}


class CutOff:
    """Documents that are cut off: a write fails, or it is done and its answer is lost.

    Args:
        documents: The real ones.
        random: Decides which write it is, and which of both happens.
    """

    def __init__(self, documents: Any, random: Random) -> None:
        self._documents = documents
        self._left = random.randrange(4)
        self._is_done = random.random() < 0.5

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._documents, name)
        if name not in ("put", "remove"):
            return method

        async def cut(*arguments: Any, **more: Any) -> Any:
            self._left -= 1
            if self._left >= 0:
                return await method(*arguments, **more)
            if self._is_done:
                await method(*arguments, **more)
            raise TierUnavailable("server", name, "cut off by a test")

        return cut
