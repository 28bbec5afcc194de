"""The folder of one embedded index: one owner at a time, one format, one vector length.

Inside: ``owner.lock``, held while open and released by the kernel when the owner dies;
``manifest.json``, ours; ``shard/``, the engine's. A new shard is built under another name and
renamed, so a crash while building leaves nothing that looks finished.

The engine leaves the bytes of what was deleted in its files. Whoever wants them gone has every
point copied into a new shard, which takes the place of the former one.

A write that finds the disk full in its middle would end the process, so room is looked for before.
"""

from __future__ import annotations

import asyncio
import errno
import json
import math
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from uuid import UUID

import qdrant_edge as edge
from filelock import FileLock, Timeout

from ..errors import ConfigError, CorruptRecord, DiskFull, TierRejected, TierUnavailable
from .edge_readers import READERS
from .payload import DENSE, INTEGER_KEYS, KEYWORD_KEYS, LEXICAL

WRITE_BYTES_MIN = 48 * 2**20
"""Free before anything is written. The engine's files are mapped and have holes: where the disk has
no room for a page of one, the kernel ends the process. A step of writes fills a few MiB of them,
and may begin a segment of the log and a page of each payload index."""

READ_BYTES_MIN = 4 * 2**20
"""Free before anything is read: on a file system in memory, looking at a hole fills it."""

BUILD_BYTES_MIN = 192 * 2**20
"""Free before an index is made: a new one takes about 80 MiB at once."""


AMPLE_BYTES = 2 * 2**30
"""Free room that nothing fills within ``LOOK_SECONDS``: 20 GB a second would."""

LOOK_SECONDS = 0.1
"""So long room that was ample is not looked at again: looking takes as long as a small question."""


class Room:
    """What is free where a folder lies."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._ample_until = -math.inf

    def check(self, operation: str, bytes_min: int) -> None:
        """Refuse what could run out of disk in the middle, as ``check_room`` does."""
        now = time.monotonic()
        if now < self._ample_until:
            return
        free = check_room(self._folder, operation, bytes_min)
        self._ample_until = now + LOOK_SECONDS if free >= AMPLE_BYTES else -math.inf


def check_room(folder: Path, operation: str, bytes_min: int) -> int:
    """Refuse what could run out of disk in the middle; return how many bytes are free.

    Raises:
        DiskFull: Less than so much is free.
    """
    with disk_call(operation):
        free = shutil.disk_usage(folder).free
    if free < bytes_min:
        reason = f"{free // 2**20} MiB are free under {folder}, {bytes_min // 2**20} are needed"
        raise DiskFull("warm", operation, reason)
    return free


@contextmanager
def disk_call(operation: str) -> Iterator[None]:
    """Turn what the operating system refuses inside the block into ``TierUnavailable``."""
    try:
        yield
    except OSError as error:
        is_full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        kind = DiskFull if is_full else TierUnavailable
        raise kind("warm", operation, str(error)) from error


DAMAGED = "damaged"
"""Where what could not be loaded is kept, for whoever wants to know why.

It holds words of records: the first erasure, redaction or retention after it removes it.
"""

INDEXED_FROM = 32
"""Points from which on payload keys are indexed.

So few are looked through at once; the indexes alone are a hundred files, also when they are empty.
"""

_INTEGER = edge.IntegerIndexParams(lookup=False, range=True)
_REWRITTEN, _FORMER = "shard.rewritten", "shard.former"
SHARD_FORMAT = 3
"""Raised when what a shard stores changes its meaning; the index is then rebuilt."""

_FORMER_FORMATS = (1, 2)

SHARD_KEYWORD_KEYS = (*KEYWORD_KEYS, READERS)

_MANIFEST = "manifest.json"
_REBUILD = "remove the folder and let the index be rebuilt from the cold tier"


class EngineCall:
    """A block of calls into the engine; what the engine raises becomes ``TierRejected``.

    The engine raises the bare ``Exception`` class and, from a panic, a ``BaseException`` of its
    own. Exactly these are translated; everything else is a mistake of ours and passes.
    """

    def __init__(self, operation: str) -> None:
        self._operation = operation

    def __enter__(self) -> None:
        return None

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if kind is not None and (kind is Exception or kind.__module__ == "pyo3_runtime"):
            raise TierRejected("warm", self._operation, str(error)) from error


class OpenShard:
    """The shard of a folder that is held open.

    Attributes:
        engine: The engine's own; another takes its place when its files are written anew.
        folder: Where its files are.
    """

    def __init__(
        self, folder: Path, dimensions: int, engine: edge.EdgeShard, indexed_from: int
    ) -> None:
        self.engine = engine
        self.folder = folder
        self._dimensions = dimensions
        self._indexed_from = indexed_from
        self._unindexed = _unindexed(engine)

    async def prepare_for(self, points: int, operation: str) -> None:
        """Index the payload keys, once, if so many more points make it worth while.

        One after the other, with the event loop's turn in between; nobody else may write meanwhile.

        Raises:
            DiskFull: There is no room for the indexes.
        """
        if not self._unindexed:
            return
        with EngineCall(operation):
            points += self.engine.info().points_count
        if points < self._indexed_from:
            return
        check_room(self.folder, operation, BUILD_BYTES_MIN)
        while self._unindexed:
            with EngineCall(operation):
                _index(self.engine, self._unindexed[0])
            del self._unindexed[0]
            await asyncio.sleep(0)

    async def rewrite_files(self, step_points: int) -> None:
        """Copy every point into new files and remove the former ones; nobody may write meanwhile.

        What was set aside, of this index or another, goes first: nothing can be taken out of it.
        In steps with the event loop in between: the engine holds the interpreter's lock. A crash
        leaves the former files or the new ones, never neither.
        """
        await asyncio.to_thread(_remove_damaged, self.folder.parent)
        check_room(self.folder, "rewrite files", BUILD_BYTES_MIN)
        draft, former = self.folder / _REWRITTEN, self.folder / _FORMER
        with disk_call("rewrite files"):
            for left in (draft, former):  # by one that was cut off
                await asyncio.to_thread(shutil.rmtree, left, ignore_errors=not left.exists())
        copy = _created(draft, self._dimensions)
        try:
            for key in _unindexed(copy):
                if key not in self._unindexed:
                    with EngineCall("rewrite files"):
                        _index(copy, key)
                    await asyncio.sleep(0)
            offset: int | str | UUID | None = None
            while True:
                with EngineCall("rewrite files"):
                    request = edge.ScrollRequest(
                        offset=offset, limit=step_points, with_payload=True, with_vector=True
                    )
                    points, offset = self.engine.scroll(request)
                    same = [edge.Point(one.id, one.vector or {}, one.payload) for one in points]
                    if same:
                        copy.update(edge.UpdateOperation.upsert_points(same))
                if offset is None:
                    break
                await asyncio.sleep(0)
            with EngineCall("rewrite files"):
                copy.flush()
        finally:
            with EngineCall("rewrite files"):
                copy.close()
        with disk_call("rewrite files"):
            self._put_in_place(draft)
            await asyncio.to_thread(shutil.rmtree, former)

    def _put_in_place(self, draft: Path) -> None:
        with EngineCall("rewrite files"):
            self.engine.close()
        (self.folder / "shard").rename(self.folder / _FORMER)
        draft.rename(self.folder / "shard")
        self.engine = _load(self.folder / "shard")


@contextmanager
def opened_shard(
    folder: Path, dimensions: int, indexed_from: int = INDEXED_FROM
) -> Iterator[OpenShard]:
    """Hold the folder and its shard for the length of the block; make both when new.

    Blocks the event loop for about 5 ms, once payload keys are indexed for about 20 ms, and for
    about 60 µs per point not yet flushed when the last owner was killed.

    Args:
        folder: Where it is.
        dimensions: Length of the dense vectors.
        indexed_from: How many points it takes for payload keys to be indexed.

    Raises:
        ConfigError: The folder cannot be used: in use, not writable, of another format, or made
            for vectors of another length.
        CorruptRecord: What is in the folder cannot be loaded.
    """
    path = folder / "shard"
    with owned(folder):
        if is_former(folder):
            shutil.rmtree(path, ignore_errors=not path.exists())
            (folder / _MANIFEST).unlink()
        _check_manifest(folder, dimensions)
        _finish_rewriting(folder)
        if not path.exists():
            check_room(folder, "open", BUILD_BYTES_MIN)
            _build(folder, dimensions)
        check_room(folder, "open", WRITE_BYTES_MIN)
        shard = OpenShard(folder, dimensions, _load(path), indexed_from)
        try:
            yield shard
        finally:
            with EngineCall("close"):
                shard.engine.close()


@contextmanager
def owned(folder: Path) -> Iterator[None]:
    """Hold the folder's lock for the length of the block; makes the folder when it is new.

    Raises:
        ConfigError: It is held already, in this process or another, or cannot be used.
    """
    lock = FileLock(folder / "owner.lock", thread_local=False)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock.acquire(blocking=False)
    except Timeout as error:
        reason = f"{folder} is already open, in this process or another; one owner at a time"
        raise ConfigError("warm folder", reason) from error
    except OSError as error:
        raise unusable(folder, error) from error
    try:
        yield
    finally:
        lock.release()


def check_folder(folder: Path) -> None:
    """Refuse what is no folder where an index has, or is to have, one.

    Raises:
        ConfigError: There is something else.
    """
    if os.path.lexists(folder) and not folder.is_dir():
        raise unusable(folder, NotADirectoryError())


def unusable(folder: Path, error: OSError) -> ConfigError:
    """Return the error that a folder cannot be used, as the system said."""
    why = error.strerror or str(error)
    if isinstance(error, FileExistsError | NotADirectoryError):
        why = "something that is no folder is in its place"
    return ConfigError("warm folder", f"{folder} cannot be used: {why}")


def is_former(folder: Path) -> bool:
    """Whether an earlier version made the index, in another format: a new one takes its place."""
    try:
        manifest = json.loads((folder / _MANIFEST).read_text("utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(manifest, dict) and manifest.get("format") in _FORMER_FORMATS


def set_aside(folder: Path) -> Path:
    """Put a shard that cannot be loaded out of the way, and return where it is kept.

    Only the last one is kept: it is as large as an index.
    """
    kept = folder / DAMAGED
    with owned(folder), disk_call("set aside"):
        if kept.exists():
            shutil.rmtree(kept)
        kept.mkdir()
        for name in ("shard", _MANIFEST):
            if (folder / name).exists():
                (folder / name).rename(kept / name)
    return kept


def _remove_damaged(warm: Path) -> None:
    with disk_call("rewrite files"):
        for kept in warm.glob(f"*/{DAMAGED}"):
            shutil.rmtree(kept)


def _check_manifest(folder: Path, dimensions: int) -> None:
    path = folder / _MANIFEST
    if not path.exists():
        if (folder / "shard").exists():
            reason = f"{folder} holds a shard but no manifest.json; {_REBUILD}"
            raise CorruptRecord("warm", "open", reason)
        return
    try:
        manifest = json.loads(path.read_text("utf-8"))
        stored_format, stored_dimensions = manifest["format"], manifest["dimensions"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise CorruptRecord("warm", "open", f"{path} cannot be read; {_REBUILD}") from error
    if stored_format != SHARD_FORMAT:
        reason = (
            f"{folder} has format {stored_format}, this version reads {SHARD_FORMAT}; {_REBUILD}"
        )
        raise ConfigError("warm folder", reason)
    if stored_dimensions != dimensions:
        reason = (
            f"{folder} holds vectors of {stored_dimensions} dimensions, the embedder makes "
            f"{dimensions}; use the former embedder, or {_REBUILD}"
        )
        raise ConfigError("warm folder", reason)


def _finish_rewriting(folder: Path) -> None:
    """Bring what a crash has left of writing files anew to one of its two ends."""
    path, draft, former = (folder / name for name in ("shard", _REWRITTEN, _FORMER))
    if former.exists():
        if not path.exists():  # it was moved away, so the draft is complete
            draft.rename(path)
        shutil.rmtree(former)
    if draft.exists():
        shutil.rmtree(draft)


def _created(path: Path, dimensions: int) -> edge.EdgeShard:
    """Make an empty shard, which is searched in the thread that asks: one asks at a time.

    Waking threads of the engine for it costs more than a search of a few hundred points.
    """
    config = edge.EdgeConfig(
        vectors={DENSE: edge.EdgeVectorParams(size=dimensions, distance=edge.Distance.Cosine)},
        sparse_vectors={LEXICAL: edge.EdgeSparseVectorParams(modifier=edge.Modifier.Idf)},
        max_search_threads=1,
    )
    with EngineCall("open"):
        return edge.EdgeShard.create(str(path), config)


def _build(folder: Path, dimensions: int) -> None:
    unfinished = folder / "shard.new"
    if unfinished.exists():
        shutil.rmtree(unfinished)
    shard = _created(unfinished, dimensions)
    with EngineCall("open"):
        shard.close()
    manifest = folder / "manifest.json.new"
    manifest.write_text(json.dumps({"format": SHARD_FORMAT, "dimensions": dimensions}), "utf-8")
    manifest.replace(folder / _MANIFEST)
    unfinished.rename(folder / "shard")


def _load(path: Path) -> edge.EdgeShard:
    try:
        with EngineCall("open"):
            shard = edge.EdgeShard.load(str(path))
    except TierRejected as error:
        if "WouldBlock" in error.reason:
            reason = f"{path} is open in a process that does not hold owner.lock"
            raise ConfigError("warm folder", reason) from error.__cause__
        reason = f"{path} cannot be loaded ({error.reason}); {_REBUILD}"
        raise CorruptRecord("warm", "open", reason) from error.__cause__
    return shard


def _unindexed(shard: edge.EdgeShard) -> list[str]:
    """Return the payload keys that are to be indexed and are not; some, where a crash came."""
    indexed = shard.info().payload_schema
    return [key for key in (*SHARD_KEYWORD_KEYS, *INTEGER_KEYS) if key not in indexed]


def _index(shard: edge.EdgeShard, key: str) -> None:
    """Make the index of one payload key, which takes some milliseconds."""
    index = _INTEGER if key in INTEGER_KEYS else edge.KeywordIndexParams(is_tenant=key == "tenant")
    shard.update(edge.UpdateOperation.create_field_index(key, index))
