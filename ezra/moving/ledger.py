"""How far a move has come, in a file, so that a move that was killed goes on where it stopped.

The file says where each table and index is; the rows themselves are safe to write again, so it is
written after them. It outlives the move, and says from then on that there is nothing left to do.
One process has it at a time: the lock is the operating system's and goes with the process.
"""

from __future__ import annotations

import asyncio
from datetime import datetime
from pathlib import Path
from typing import Literal, Self
from uuid import uuid4

from filelock import FileLock, Timeout
from pydantic import Field, ValidationError

from tiers.errors import ConfigError, refused
from tiers.records import Moment, Record
from tiers.saved_file import place_of, replace_file

_SETTING = "ledger"


class Place(Record):
    """Where one table or index is.

    Attributes:
        cursor: Where to go on; ``None`` when all of it has been written.
        rows: How many rows have been written.
    """

    cursor: str | None = ""
    rows: int = 0


class TenantProgress(Record):
    """Where one tenant is. Finished when everything has been written and compared."""

    parts: dict[str, Place] = Field(default_factory=dict)
    finished_at: Moment | None = None


class _File(Record):
    format: Literal[1] = 1
    id: str
    source: str
    target: str
    tenants: dict[str, TenantProgress] = Field(default_factory=dict)


class Ledger:
    """The ledger of one move, for the length of an ``async with`` block.

    Args:
        path: The file; its folder must exist.
        source: Where the move comes from, without secrets.
        target: Where it goes.

    Raises:
        ConfigError: On entering: the file is of another move, in use, or cannot be used.
    """

    def __init__(self, path: Path, source: str, target: str) -> None:
        self._path = path
        self._file = _File(id=uuid4().hex, source=source, target=target)
        self._lock = FileLock(f"{path}.lock", timeout=0, thread_local=False)

    async def __aenter__(self) -> Self:
        try:
            self._lock.acquire()
        except Timeout as held:
            raise ConfigError(_SETTING, f"{self._path} is in use by another move") from held
        except OSError as error:
            raise ConfigError(_SETTING, f"cannot use {self._path}: {error.strerror}") from error
        try:
            self._load()
        except BaseException:
            self._lock.release()
            raise
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        self._lock.release()

    @property
    def id(self) -> str:
        """Names the move; the same each time it goes on."""
        return self._file.id

    def has_begun(self, tenant: str) -> bool:
        """Whether something of the tenant may have been written."""
        return tenant in self._file.tenants

    def is_finished(self, tenant: str) -> bool:
        """Whether the tenant has been moved and compared."""
        known = self._file.tenants.get(tenant)
        return known is not None and known.finished_at is not None

    def place(self, tenant: str, part: str) -> Place:
        """Return where a part is."""
        known = self._file.tenants.get(tenant, TenantProgress())
        return known.parts.get(part, Place())

    async def begin(self, tenant: str) -> None:
        """Note that the tenant is going to be written; before anything is."""
        if not self.has_begun(tenant):
            await self._save(tenant, TenantProgress())

    async def note(self, tenant: str, part: str, place: Place) -> None:
        """Note where a part is now; after its rows have been written."""
        known = self._file.tenants[tenant]
        parts = {**known.parts, part: place}
        await self._save(tenant, known.model_copy(update={"parts": parts}))

    async def finish(self, tenant: str, now: datetime) -> None:
        """Note that the tenant has been moved and compared. Its places are of no more use."""
        await self._save(tenant, TenantProgress(finished_at=now))

    def _load(self) -> None:
        try:
            found = _File.model_validate_json(self._path.read_bytes())
        except FileNotFoundError:
            return
        except (OSError, ValidationError) as error:
            reason = f"{self._path} cannot be read; it is not the ledger of a move"
            raise ConfigError(_SETTING, reason) from error
        if (found.source, found.target) != (self._file.source, self._file.target):
            reason = (
                f"{self._path} is of a move from {found.source} to {found.target}; "
                "give another --ledger"
            )
            raise ConfigError(_SETTING, reason)
        self._file = found

    async def _save(self, tenant: str, places: TenantProgress) -> None:
        tenants = {**self._file.tenants, tenant: places}
        file = self._file.model_copy(update={"tenants": tenants})
        await asyncio.to_thread(self._write, file.model_dump_json(indent=1))
        self._file = file

    def _write(self, text: str) -> None:
        """Replace the file in one step: whoever dies leaves the former or the new one."""
        with refused(lambda why: ConfigError(_SETTING, f"cannot write {self._path}: {why}")):
            replace_file(place_of(self._path), text.encode(), mode=0o666)
