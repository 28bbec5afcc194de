"""Large documents are read in a process of their own, within bounds of time and memory."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import threading
from pathlib import Path

import pytest
from support.document_files import pdf_of

from ezra import UsageError
from ezra.documents import apart, drafted, formats

PAGE = "<h1>Tyres</h1>" + "<p>Mediums last <b>18</b> laps &amp; more.</p>" * 6_000


def _children() -> set[int]:
    """Return the processes that this one has started and that are there still."""
    found: set[int] = set()
    for one in Path(f"/proc/{os.getpid()}/task").glob("*/children"):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # a thread that ended
            found.update(int(pid) for pid in one.read_text().split())
    return found


async def _appeared(before: set[int]) -> None:
    async with asyncio.timeout(60):
        while not _children() - before:  # noqa: ASYNC110 - the system tells nobody
            await asyncio.sleep(0.01)


def _refuse(*_: object) -> None:
    message = "read in this process"
    raise AssertionError(message)


@pytest.mark.parametrize("kind", ["html", "markdown", "text", "pdf"])
async def test_r9_22_a_large_document_is_read_elsewhere(
    monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """The event loop's process parses none of it, and what comes of it is the same."""
    made: dict[str, tuple[str, str | bytes]] = {
        "html": ("page.html", PAGE.encode()),
        "markdown": ("a.md", "---\ntopics: [tyres]\n---\n# A\n\nÜber zwölf Runden.\n\n" * 8_000),
        "text": ("a.txt", "Twelve laps.\n\n" * 20_000),
        "pdf": ("a.pdf", pdf_of(12, 12)),
    }
    name, content = made[kind]
    with monkeypatch.context() as here:
        here.setattr(apart, "APART_BYTES", sys.maxsize)
        here.setattr(apart, "PACKED_BYTES", sys.maxsize)
        in_thread = await drafted(name, content)
    monkeypatch.setattr(apart, "PACKED_BYTES", 1_000)
    before = _children()
    monkeypatch.setattr(formats, "_module", _refuse)
    assert await drafted(name, content) == in_thread
    assert len(in_thread.passages) > 1
    assert _children() <= before
    with pytest.raises(AssertionError, match="in this process"):
        await drafted("small.md", "# A small one")


async def test_r9_22_what_cannot_be_read_is_said_in_the_same_words(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """An error of the other process is the error that a thread would raise."""
    deep = "<div>" * 40_000
    said = []
    for limit in (sys.maxsize, 1_000):
        monkeypatch.setattr(apart, "APART_BYTES", limit)
        with pytest.raises(UsageError) as refused:
            await drafted("deep.html", deep)
        said.append((refused.value.field, str(refused.value)))
    assert said[0] == said[1]
    with pytest.raises(UsageError, match="lone surrogates"):
        await drafted("a.txt", "\ud800" * 2_000)


async def test_r9_22_time_and_memory_of_reading_are_bounded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Who takes too much of either is ended and refused; the next document is read."""
    before = _children()
    with monkeypatch.context() as tight:
        tight.setattr(apart, "SECONDS_MAX", 0.01)
        with pytest.raises(UsageError, match="takes more than"):
            await drafted("page.html", PAGE)
    with monkeypatch.context() as tight:
        tight.setattr(apart, "MEMORY_BYTES_MAX", 1)
        with pytest.raises(UsageError, match="memory or time"):
            await drafted("page.html", PAGE)
    assert _children() <= before
    assert (await drafted("page.html", PAGE)).title == "Tyres"


async def test_r9_22_who_stops_waiting_stops_the_reading() -> None:
    """A cancelled call leaves no process behind, and its place is free."""
    before = _children()
    for _ in range(2 * apart.PROCESSES_MAX):
        reading = asyncio.create_task(drafted("page.html", PAGE))
        await _appeared(before)
        reading.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reading
        assert _children() <= before


async def test_r9_22_at_most_two_are_read_at_one_time() -> None:
    """The rest waits for a place, and all are read."""
    before, most = _children(), 0
    reading = asyncio.gather(*(drafted(f"{n}.html", PAGE) for n in range(5)))
    while not reading.done():
        most = max(most, len(_children() - before))
        await asyncio.sleep(0.005)
    assert len({one.digest for one in await reading}) == 1
    assert most == apart.PROCESSES_MAX


async def test_r9_22_without_a_process_a_thread_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no interpreter can be started, a document is read all the same, off the loop."""
    seen = []
    real = formats.parse_text

    def noted(content: str, media_type: str) -> object:
        seen.append(threading.current_thread() is threading.main_thread())
        return real(content, media_type)

    monkeypatch.setattr("ezra.documents.reading.parse_text", noted)
    for python in ("", "/nowhere/python", "/bin/false"):
        monkeypatch.setattr(sys, "executable", python)
        assert (await drafted("page.html", PAGE)).title == "Tyres"
    assert seen == [False] * 3
