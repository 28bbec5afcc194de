"""Two race weekends, five questions: what scripts/demo runs. The memory stays, to be explored."""

from __future__ import annotations

import argparse
import asyncio
import json
import shutil
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

from ezra import Ezra, EzraError, Settings
from ezra.cli.screen import Screen
from ezra.replay.formats import read_script
from ezra.replay.play import Answer, Replayer, ReplayReport

ROOT = Path(__file__).resolve().parents[1]
CONVERSATIONS = Path(__file__).parent / "conversations"
HOME = ROOT / ".ezra-demo"
WEEKENDS: list[tuple[str, list[str]]] = [("monaco", []), ("imola", ["monaco"])]
SHOWN_CHARS = 100
DATABASE = "ezra.db"


async def demo(home: Path) -> int:
    """Play both weekends, ask the questions, and return how many were answered wrongly.

    What was played before is known, so a second time only the questions are asked.
    """
    screen = Screen()
    questions = json.loads((CONVERSATIONS / "questions.json").read_text())
    started = time.perf_counter()
    complaints: list[str] = []
    async with Ezra.open(Settings(home=home)) as ezra:
        screen.line(f"embedding model: {ezra.embedder or 'none, recall is by words only'}")
        for name, parents in WEEKENDS:
            asked = [question for question in questions if question["graph"] == name]
            report = await _played(ezra, screen, name, parents, asked)
            inherits = f", inherits from {parents[0]}" if parents else ""
            turns = f"{report.played} turns played, {report.known} known before"
            screen.line(f"\n{name}{inherits}: {turns}, {report.summaries} summaries")
            for question, answer in zip(asked, report.answers, strict=True):
                _show(screen, answer)
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


async def _played(
    ezra: Ezra, screen: Screen, name: str, parents: list[str], asked: list[dict[str, str]]
) -> ReplayReport:
    script = read_script([CONVERSATIONS / f"{name}.jsonl"], now=datetime.now(UTC))
    with screen.progress(name, len(script)) as advance:
        replayer = Replayer(ezra, script, {}, lambda _line, _new: advance())
        return await replayer.play(name, parents, [question["question"] for question in asked])


def _show(screen: Screen, answer: Answer) -> None:
    """Print a question and where its best answer comes from."""
    screen.line(f"  {answer.question}")
    for source in answer.sources[:1]:
        text = " ".join(source.text.split())
        text = text if len(text) <= SHOWN_CHARS else f"{text[:SHOWN_CHARS]}…"
        said = f"{source.at:%d %B %H:%M}" if source.at else "undated"
        where = f", inherited from {source.inherited_from}" if source.inherited_from else ""
        screen.line(f"    {text}\n    {source.kind} {source.ref or source.id}, {said}{where}")


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


def emptied(home: Path) -> None:
    """Remove the memory in a folder, if a memory is what is there."""
    if (home / DATABASE).exists():
        shutil.rmtree(home)


def main() -> int:
    """Play, ask, and say where to look; 1 if an answer is wrong or nothing could be played."""
    parser = argparse.ArgumentParser(
        prog="scripts/demo",
        description="Two race weekends of a team, five questions, and a memory to explore.",
        epilog="examples: scripts/demo  ·  scripts/demo --reset  ·  scripts/demo --home /tmp/look",
    )
    parser.add_argument("--home", type=Path, default=HOME, help="where the memory is kept")
    parser.add_argument("--reset", action="store_true", help="begin with an empty memory")
    options = parser.parse_args()
    if options.reset:
        emptied(options.home)
    try:
        is_wrong = asyncio.run(demo(options.home))
    except EzraError as error:
        Screen().error(error)
        return 1
    kept = options.home.relative_to(ROOT) if options.home.is_relative_to(ROOT) else options.home
    Screen().line(
        f"\nLook around in the console: .venv/bin/ezra serve --home {kept}"
        "\nthen open http://127.0.0.1:8765 in a browser. scripts/demo --reset begins anew."
    )
    return min(1, is_wrong)


if __name__ == "__main__":
    sys.exit(main())
