"""Reads documents beside the event loop: small ones in a thread, larger ones in a process.

A thread is not enough for a large one. Its parser makes a tree of a hundred thousand objects, and
while those are looked through for garbage, or a regular expression goes through megabytes, the
interpreter runs nothing else: the event loop stood still for up to 0.7 s.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from contextlib import suppress
from typing import Any
from weakref import WeakKeyDictionary

from tiers.documents import PASSAGES_MAX, PassageDraft
from tiers.errors import ConfigError, UsageError

from .parsed import unreadable
from .reading import LENGTH_BYTES, Reading, bytes_of, framed, reading_from, reading_of

log = logging.getLogger(__name__)

APART_BYTES = 128 * 1024
"""From here on a document is read in a process of its own, which takes half a second to start."""
PACKED_BYTES = 32 * 1024
"""The same for what is packed, and comes to many times its size."""
SECONDS_MAX = 660.0
"""A little longer than a PDF has: it has the better words for why it ends."""
MEMORY_BYTES_MAX = 4 * 1024**3
PROCESSES_MAX = 2
"""At one time; the other documents wait."""

_START_SECONDS_MAX = 60.0
_WRITE_BYTES = 64 * 1024
_PACKED = (b"PK\x03\x04", b"%PDF-")
_ENVIRONMENT = ("HOME", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "PATH", "SYSTEMROOT", "TMPDIR")

_places: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = WeakKeyDictionary()


class _Unstarted(Exception):
    """No process can be had here."""


async def read_document(
    name: str, content: str | bytes, media_type: str | None, *, keep_text: bool
) -> Reading:
    """Return all that is known of a document, without holding the event loop up.

    Raises:
        UsageError: It cannot be read, or not within the bounds of time and memory.
    """
    is_packed = isinstance(content, bytes) and content.startswith(_PACKED)
    if len(content) >= (PACKED_BYTES if is_packed else APART_BYTES):
        data = await asyncio.to_thread(bytes_of, content)
        asked = {
            "name": name,
            "media_type": media_type,
            "keep_text": keep_text,
            "is_text": isinstance(content, str),
            "seconds": SECONDS_MAX,
            "memory": MEMORY_BYTES_MAX,
        }
        try:
            return await _read_apart(asked, data)
        except _Unstarted as error:
            log.warning(
                "%r is read in this process, without bounds of time and memory: %s", name, error
            )
    return await asyncio.to_thread(reading_of, name, content, media_type, keep_text=keep_text)


async def _read_apart(asked: dict[str, Any], data: bytes) -> Reading:
    """Return what a process of its own reads; whatever happens, it has ended then."""
    loop = asyncio.get_running_loop()
    async with _places.setdefault(loop, asyncio.Semaphore(PROCESSES_MAX)):
        process = await _started()
        try:
            async with asyncio.timeout(_START_SECONDS_MAX):
                await _frame(process)
        except (TimeoutError, EOFError) as error:
            await _end(process)
            raise _Unstarted("a process to read it did not start") from error
        except BaseException:
            await _end(process)
            raise
        try:
            async with asyncio.timeout(SECONDS_MAX):
                return await _reading(process, asked, data)
        except TimeoutError as error:
            reason = f"a file that takes more than {SECONDS_MAX:g} s to read"
            raise unreadable(reason, "a simpler file") from error
        except EOFError as error:
            raise _too_much() from error
        finally:
            await _end(process)


async def _started() -> Process:
    """Return a new process that reads a document.

    Raises:
        _Unstarted: There is none to be had: no interpreter of its own, or the system refuses.
    """
    if not sys.executable:
        raise _Unstarted("there is no interpreter to start")
    kept = {one: os.environ[one] for one in _ENVIRONMENT if one in os.environ}
    # It finds its modules where this one does, and none in the folder that it happens to run in.
    paths = os.pathsep.join(one for one in sys.path if one)
    try:
        return await asyncio.create_subprocess_exec(
            sys.executable,
            "-P",
            "-m",
            "ezra.documents.reading",
            stdin=PIPE,
            stdout=PIPE,
            stderr=DEVNULL,
            env={**kept, "PYTHONPATH": paths},
        )
    except NotImplementedError as error:
        raise _Unstarted("the event loop starts no processes") from error
    except OSError as error:
        raise _Unstarted(f"no process can be started: {error}") from error


async def _reading(process: Process, asked: dict[str, Any], data: bytes) -> Reading:
    """Give a process its document, and return what it says of it."""
    await _give(process, asked, data)
    head = await _frame(process)
    if "missing" in head:
        raise ConfigError(**head["missing"])
    if "refused" in head:
        refused = head["refused"]
        raise _too_much() if refused is None else UsageError(**refused)
    count = min(head["passages"], PASSAGES_MAX)
    passages = []
    for _ in range(count):
        text, headings, page = await _frame(process)
        passages.append(PassageDraft(text, tuple(headings), page))
    return reading_from(head, passages)


async def _give(process: Process, asked: dict[str, Any], data: bytes) -> None:
    assert process.stdin is not None  # noqa: S101 - it was asked for
    with suppress(ConnectionError):  # it has ended, which is seen where it is read
        process.stdin.write(framed(asked) + len(data).to_bytes(LENGTH_BYTES, "big"))
        view = memoryview(data)
        for start in range(0, len(data), _WRITE_BYTES):
            process.stdin.write(view[start : start + _WRITE_BYTES])
            await process.stdin.drain()
        process.stdin.close()


async def _frame(process: Process) -> Any:  # noqa: ANN401 - as it was written
    """Return what a process writes next.

    Raises:
        EOFError: It has ended.
    """
    assert process.stdout is not None  # noqa: S101 - it was asked for
    length = int.from_bytes(await process.stdout.readexactly(LENGTH_BYTES), "big")
    return json.loads(await process.stdout.readexactly(length))


async def _end(process: Process) -> None:
    """End a process, if it has not ended by itself, and take it off the system's list."""
    with suppress(ProcessLookupError):
        process.kill()
    await asyncio.shield(process.wait())


def _too_much() -> UsageError:
    reason = "a file that takes more memory or time to read than there is"
    return unreadable(reason, "a simpler file")
