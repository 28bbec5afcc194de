"""Small sets to evaluate on, written as files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

CATEGORIES = {"1": "multi-hop", "5": "adversarial"}


def turn(number: int, speaker: str, text: str, **more: object) -> dict[str, Any]:
    """Return a turn of a document; its id is ``t`` and its number."""
    return {
        "id": f"t{number}",
        "date": f"2026-05-14T10:{number:02d}",
        "speaker": speaker,
        "text": text,
        **more,
    }


def asked(question: str, *evidence: str, category: object = 1, **more: object) -> dict[str, Any]:
    """Return a question of a document."""
    return {"question": question, "evidence": list(evidence), "category": category, **more}


def document(**conversations: tuple[list[dict[str, Any]], list[dict[str, Any]]]) -> dict[str, Any]:
    """Return a set in the documented form: turns and questions by conversation."""
    return {
        "categories": CATEGORIES,
        "conversations": [
            {"id": name, "turns": turns, "qa": questions}
            for name, (turns, questions) in conversations.items()
        ],
    }


def garage() -> dict[str, Any]:
    """Return a set of two conversations that share words, so that mixing them would show."""
    trip = [
        turn(1, "Ada", "We land in Lisbon on Friday."),
        turn(2, "Ben", "Here is where we sleep.", caption="a small hotel by the river"),
        turn(3, "Ada", "The gearbox made a noise on the way to the airport."),
        turn(4, "Ben", "Then the garage has to look at the gearbox."),
        turn(
            5, "Ada", "What did the garage say?", response="The clutch was worn, not the gearbox."
        ),
    ]
    race = [
        turn(1, "Cleo", "The gearbox has done 900 km."),
        turn(2, "Dan", "We change the gearbox on Friday."),
        turn(3, "Cleo", "The mediums lasted 18 laps."),
    ]
    return document(
        trip=(
            trip,
            [
                asked("When do we land in Lisbon?", "t1"),
                asked("Which hotel is by the river?", "t2", category="single-hop"),
                asked("What was wrong with the gearbox?", "t3", "t5"),
                asked("Who flew to Mars?", "t1", category=5),
                asked("What is not said?"),
            ],
        ),
        race=(race, [asked("When is the gearbox changed?", "t2", asked_at="2026-06-01")]),
    )


def written(path: Path, content: object) -> Path:
    """Write a set as JSON, or the lines of one, and return its path."""
    is_lines = isinstance(content, list) and path.suffix == ".jsonl"
    rows = content if is_lines and isinstance(content, list) else [content]
    path.write_text("\n".join(json.dumps(row) for row in rows))
    return path
