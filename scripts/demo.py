"""Two race weekends, five questions: what scripts/demo runs."""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

from ezra import Ezra, Settings
from ezra.cli.screen import Screen
from ezra.replay.formats import read_script
from ezra.replay.play import Replayer

CONVERSATIONS = Path(__file__).parent / "conversations"
WEEKENDS: list[tuple[str, list[str]]] = [("monaco", []), ("imola", ["monaco"])]


async def demo(home: Path) -> int:
    """Play both weekends, ask the questions, and return how many answers missed their source."""
    screen = Screen()
    questions = json.loads((CONVERSATIONS / "questions.json").read_text())
    started = time.perf_counter()
    missed = 0
    async with Ezra.open(Settings(home=home)) as ezra:
        screen.line(f"embedding model: {ezra.embedder or 'none, recall is by words only'}")
        for name, parents in WEEKENDS:
            script = read_script([CONVERSATIONS / f"{name}.jsonl"], now=datetime.now(UTC))
            asked = [question for question in questions if question["graph"] == name]
            screen.line(f"\n── {name}" + (f", inherits from {parents[0]}" if parents else ""))
            with screen.progress("turns", len(script)) as advance:
                replayer = Replayer(ezra, script, {}, lambda _line, _new, step=advance: step())
                report = await replayer.play(
                    name, parents, [question["question"] for question in asked]
                )
            screen.replay(report)
            for question, answer in zip(asked, report.answers, strict=True):
                found = [f"{source.ref} {source.text}" for source in answer.sources]
                missed += not any(question["expected_source"] in text for text in found)
    elapsed = time.perf_counter() - started
    screen.line(
        f"\n{len(questions) - missed} of {len(questions)} answers name their source; "
        f"both weekends took {elapsed:.1f} s"
    )
    return missed


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="ezra-demo-") as folder:
        sys.exit(min(1, asyncio.run(demo(Path(folder)))))
