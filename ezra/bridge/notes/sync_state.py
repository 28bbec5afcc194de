"""What a folder of notes and a server last agreed on, kept on this machine."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from tiers.errors import ConfigError, UsageError, refused
from tiers.saved_file import replace_file

FILE_BYTES_MAX = 64 * 1024 * 1024
LOCK_SECONDS = 60.0
_TRY_SECONDS = 0.05
_VERSION = 1


@dataclass(frozen=True, slots=True)
class Agreed:
    """A note as both sides last had it.

    Attributes:
        digest: SHA-256 of its text.
        revision: Of the document.
    """

    digest: str
    revision: int


class SyncState:
    """The file of what was agreed, for one folder, agent, graph and memory.

    Args:
        state: The bridge's folder on this machine.
        key: Names agent, graph and memory.
        folder: Of the notes.
    """

    def __init__(self, state: Path, key: str, folder: Path) -> None:
        place = sha256(os.fsencode(folder)).hexdigest()[:16]
        self.path = state / "notes" / f"{key}-{place}.json"

    @asynccontextmanager
    async def held(self, wait_seconds: float = LOCK_SECONDS) -> AsyncIterator[None]:
        """Hold the state for the length of the block: one sync of a folder at a time.

        Raises:
            ConfigError: The bridge's folder cannot be written.
            UsageError: Another process holds it too long.
        """
        lock = FileLock(self.path.with_suffix(".lock"))
        await self._acquire(lock, wait_seconds)
        try:
            yield
        finally:
            lock.release()

    async def _acquire(self, lock: FileLock, wait_seconds: float) -> None:
        # Trying blocks nothing; a thread that waits would get it after a cancellation, for nobody.
        until = asyncio.get_running_loop().time() + wait_seconds
        while True:
            try:
                self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
                lock.acquire(timeout=0)
            except Timeout as error:
                if asyncio.get_running_loop().time() >= until:
                    accepted = "a folder that no other process is syncing; try again"
                    raise UsageError("sync-memories", str(self.path), accepted) from error
            except OSError as error:
                reason = f"cannot be written: {error.strerror or error}"
                raise ConfigError(str(self.path.parent), reason) from error
            else:
                return
            await asyncio.sleep(_TRY_SECONDS)

    def read(self) -> dict[str, Agreed]:
        """Return what was agreed, by name; nothing before the first sync.

        Raises:
            ConfigError: The file cannot be read. Without it every note that differs would be taken
                for a conflict; who wants that removes the file.
        """
        try:
            with self.path.open("rb") as file:
                content = file.read(FILE_BYTES_MAX + 1)
        except FileNotFoundError:
            return {}
        except OSError as error:
            reason = f"cannot be read: {error.strerror or error}"
            raise ConfigError(str(self.path), reason) from error
        try:
            return _agreed(json.loads(content))
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            reason = "is malformed; remove it to compare both sides anew"
            raise ConfigError(str(self.path), reason) from error

    def write(self, agreed: Mapping[str, Agreed]) -> None:
        """Replace the file in one step.

        Raises:
            ConfigError: It cannot be written.
        """
        notes = {
            name: {"digest": one.digest, "revision": one.revision}
            for name, one in sorted(agreed.items())
        }
        content = json.dumps({"version": _VERSION, "notes": notes}, ensure_ascii=False)
        with refused(lambda why: ConfigError(str(self.path), f"cannot be written: {why}")):
            replace_file(self.path, content.encode())


def _agreed(said: Any) -> dict[str, Agreed]:  # noqa: ANN401 - whatever the file says
    """Return what a file says.

    Raises:
        ValueError: It is of another version of ezra.
    """
    if said["version"] != _VERSION:
        raise ValueError(said["version"])
    return {
        name: Agreed(str(one["digest"]), int(one["revision"]))
        for name, one in said["notes"].items()
    }
