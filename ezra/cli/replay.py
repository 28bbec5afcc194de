"""``ezra replay``: conversations are played through the runtime."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from ..replay.formats import derive_topics, read_script
from ..replay.play import Replayer
from ..replay.script import Script
from .command import Answer
from .doors import AnyEzra, Memory
from .screen import Screen


async def replay(
    memory: Memory,
    files: list[Path],
    graph: str | None = None,
    inherits_from: list[str] | None = None,
    ask: list[str] | None = None,
    topic: list[str] | None = None,
    format_: Annotated[str | None, typer.Option("--format")] = None,
    record: bool = False,
) -> Answer:
    """Play conversations through the runtime, one agent per speaker, and report.

    Replaying a file again adds nothing; a replay that was killed goes on where it stopped.

    Args:
        files: Conversations: JSONL, JSON or Markdown; exports of mem0 and ChatGPT.
        graph: Session graph to play into; default: the first file's name.
        inherits_from: A graph whose core facts are inherited. Repeatable.
        ask: A question to answer from recall. Repeatable.
        topic: A topic of every agent and untopiced line; derived if not given.
        format_: jsonl, openai, markdown, locomo, mem0 or chatgpt; told from the file.
        record: Record turns in bulk, without making contexts: much faster.

    Examples:
        ezra replay chat.jsonl --ask 'Who won?'
        ezra replay weekend.md --graph imola --inherits-from monaco
        ezra replay years.jsonl --record
        EZRA_TOKEN=… ezra replay chat.jsonl --url http://127.0.0.1:8765 --json
    """
    script = read_script(files, format=format_, now=datetime.now(UTC), topics=topic)
    topics = {one.id: tuple(topic) for one in script.conversations} if topic else _derived(script)
    screen = Screen()
    ezra = await memory.open(background=True, creates=True)
    _tell_of_words(ezra, screen)
    with screen.progress("turns", len(script)) as advance:
        replayer = Replayer(ezra, script, topics, lambda _line, _new: advance(), records=record)
        report = await replayer.play(graph or files[0].stem, inherits_from or [], ask or [])
    return Answer(report, [partial(Screen.replay, report=report)])


def _tell_of_words(ezra: AnyEzra, screen: Screen) -> None:
    from ..app import Ezra

    if not isinstance(ezra, Ezra):
        return
    if ezra.embedder is None and ezra.settings.embedder == "auto":
        screen.note("no embedding model: recall is by words only ('ezra embedder install')")


def _derived(script: Script) -> dict[str, tuple[str, ...]]:
    """Return each conversation's derived topics, for conversations that name none themselves."""
    derived = derive_topics(script)
    return {
        after.id: tuple(sorted({topic for line in after.lines for topic in line.topics or ()}))
        for before, after in zip(script.conversations, derived.conversations, strict=True)
        if all(line.topics is None for line in before.lines)
    }
