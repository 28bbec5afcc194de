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
from ezra.replay.play import Answer, Replayer

CONVERSATIONS = Path(__file__).parent / "conversations"
WEEKENDS: list[tuple[str, list[str]]] = [("monaco", []), ("imola", ["monaco"])]


async def demo(home: Path) -> int:
    """Play both weekends, ask the questions, and return how many were answered wrongly."""
    screen = Screen()
    questions = json.loads((CONVERSATIONS / "questions.json").read_text())
    started = time.perf_counter()
    complaints: list[str] = []
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
                if complaint := wrong(question["expected_source"], answer):
                    complaints.append(complaint)
    elapsed = time.perf_counter() - started
    right = len(questions) - len(complaints)
    screen.line(
        f"\n{right} of {len(questions)} questions are answered right; "
        f"both weekends took {elapsed:.1f} s"
    )
    for complaint in complaints:
        screen.line(complaint)
    return len(complaints)


def wrong(expected: str, answer: Answer) -> str | None:
    """Return what is wrong with an answer: another source than the expected one is its best.

    Args:
        expected: The ref of a turn, or words that only the right source has.
        answer: With its sources, best first; nothing but the first counts.
    """
    best = answer.sources[0] if answer.sources else None
    if best is not None and (expected == best.ref or expected in best.text):
        return None
    found = "nothing" if best is None else f"{best.ref}: {best.text}"
    return f"wrong: {answer.question!r} expected {expected!r}, found {found!r}"


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="ezra-demo-") as folder:
        sys.exit(min(1, asyncio.run(demo(Path(folder)))))
