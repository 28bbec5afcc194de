"""Following folders: what changes in them changes in the documents, until somebody stops it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path

from tiers.errors import ConfigError
from tiers.extras import needs

from .folders import Found, FoundFile, gone_of
from .ingesting import SHARE_MAX, FileDone, Ingested, Ingestion

DEBOUNCE_MS = 1_600
"""Changes that follow each other faster than this are one."""
STEP_MS = 50
IDLE_MS = 1_000
IDLE_LOOKS = 30
"""So many quiet seconds later folders are looked at: some systems do not tell of everything."""


async def changes_in(
    paths: tuple[Path, ...], stop: asyncio.Event | None = None
) -> AsyncIterator[None]:
    """Yield whenever something changed in folders, or beside files, until ``stop`` is set.

    And within a second of the beginning, since what changed before was told to nobody, and every
    now and then.

    Raises:
        ConfigError: The system does not tell of changes there.
    """
    with needs("documents", "--watch"):
        from watchfiles import awatch  # noqa: PLC0415 - only who follows folders pays for it

    watched = awatch(
        *await asyncio.to_thread(_folders, paths),
        watch_filter=None,
        debounce=DEBOUNCE_MS,
        step=STEP_MS,
        stop_event=stop,
        rust_timeout=IDLE_MS,
        yield_on_timeout=True,
        ignore_permission_denied=True,
    )
    idle = 0
    try:
        async for changes in watched:
            if changes or idle % IDLE_LOOKS == 0:
                yield
            idle = 1 if changes else idle + 1
    except (OSError, RuntimeError) as error:
        reason = f"the system does not tell of changes: {error}"
        raise ConfigError("--watch", reason) from error


def _folders(paths: tuple[Path, ...]) -> set[Path]:
    whole = [path.expanduser().resolve() for path in paths]
    return {path if path.is_dir() else path.parent for path in whole}


class Following:
    """Puts what changed since the last look, and removes the documents of files that went away.

    It looks at the folders anew each time: what a system tells of changes is not all of them.

    Args:
        ingestion: What puts the files.
        found: The files as they were when all of them were put.
        done: What came of them.
    """

    def __init__(self, ingestion: Ingestion, found: Found, done: Ingested) -> None:
        self._ingestion = ingestion
        self._ids = {one.name: one.document_id for one in done.files if one.document_id}
        self._seen = {one.name: one for one in found.files}
        self._held: tuple[str, ...] = ()

    @property
    def held(self) -> tuple[str, ...]:
        """Names of documents whose files went away all at once, which were not removed."""
        return self._held

    async def look(
        self, tell: Callable[[FileDone], None], *, force: bool = False
    ) -> Ingested | None:
        """Put what changed since the last look; ``None`` when nothing did.

        When more than half of the files, and more than one, went away at once, their documents
        stay: a folder that is not mounted looks like that.

        Args:
            tell: Called with what came of each file.
            force: Whether they are removed all the same.
        """
        found = await self._ingestion.found()
        now = {one.name for one in found.files}
        changed = [one for one in found.files if self._seen.get(one.name) != one]
        missing = {name: (one.path,) for name, one in self._seen.items() if name not in now}
        gone = await asyncio.to_thread(gone_of, missing)
        too_many = len(gone) > max(1, SHARE_MAX * len(self._seen)) and not force
        self._held = tuple(gone) if too_many else ()
        if not changed and (not gone or too_many):
            return None
        return await self._put(changed, () if too_many else tuple(gone), found, tell)

    async def _put(
        self,
        changed: list[FoundFile],
        gone: tuple[str, ...],
        found: Found,
        tell: Callable[[FileDone], None],
    ) -> Ingested:
        leaving = {name: self._ids[name] for name in gone if name in self._ids}
        done = await self._ingestion.put(changed, {}, leaving, tell, ignored=found.ignored)
        for name in gone:
            self._seen.pop(name, None)
            self._ids.pop(name, None)
        self._ids |= {one.name: one.document_id for one in done.files if one.document_id}
        self._seen |= {one.name: one for one in changed}
        return done
