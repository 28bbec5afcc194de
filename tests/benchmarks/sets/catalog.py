"""The generated sets by name, and the form in which they are written.

A set is a JSON document: ``dataset``, ``categories`` (number to name) and ``conversations``, each
with ``id``, ``speakers``, ``turns`` (``id``, ``date``, ``speaker``, ``text``, and ``tool_outputs``
where tools ran) and ``qa`` (``id``, ``question``, ``evidence``, ``category``, ``answer``).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from . import assistant, requests, sealed, team
from .proofs import Question, Turn

Conversation = tuple[list[str], list[Turn], list[Question]]


@dataclass(frozen=True)
class Kind:
    """A set that can be made.

    Attributes:
        categories: What its questions are about; numbered from 1 in this order.
        turns: How many turns each conversation has.
        size: How many conversations are made unless asked otherwise.
        conversation: Writes one from a seed.
    """

    categories: Mapping[str, str]
    turns: int
    size: int
    conversation: Callable[[str], Conversation]


KINDS: Mapping[str, Kind] = {
    "assistant": Kind(assistant.CATEGORIES, assistant.TURNS, 6, assistant.conversation),
    "requests": Kind(requests.CATEGORIES, requests.TURNS, 4, requests.conversation),
    "team": Kind(team.CATEGORIES, team.TURNS, 5, team.conversation),
    "sealed": Kind(sealed.CATEGORIES, sealed.TURNS, 4, sealed.conversation),
}


def drawn(name: str, seed: int, size: int | None = None) -> dict[str, Conversation]:
    """Return the conversations of a set by id; the n-th is the same for every size."""
    kind = KINDS[name]
    numbers = range(1, (kind.size if size is None else size) + 1)
    return {f"{name}-{number}": kind.conversation(f"{name}/{seed}/{number}") for number in numbers}


def made(name: str, seed: int, size: int | None = None) -> dict[str, Any]:
    """Return a whole set, ready to be written as JSON."""
    kind = KINDS[name]
    numbers = {category: number for number, category in enumerate(kind.categories, start=1)}
    return {
        "dataset": f"{name} (generated, seed {seed})",
        "categories": {str(numbers[key]): text for key, text in kind.categories.items()},
        "conversations": [
            {
                "id": id_,
                "speakers": speakers,
                "turns": [_turn(turn) for turn in turns],
                "qa": [
                    _question(question, f"{id_}/q{number}", numbers)
                    for number, question in enumerate(questions)
                ],
            }
            for id_, (speakers, turns, questions) in drawn(name, seed, size).items()
        ],
    }


def written(document: Mapping[str, Any]) -> str:
    """Return the text of a set's file; the same set always has the same bytes."""
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"


def _turn(turn: Turn) -> dict[str, Any]:
    said: dict[str, Any] = {
        "id": turn.id,
        "date": f"{turn.at:%Y-%m-%dT%H:%M}",
        "speaker": turn.speaker,
        "text": turn.text,
    }
    if turn.tool_outputs:
        said["tool_outputs"] = [
            {"tool": tool, "output": output} for tool, output in turn.tool_outputs
        ]
    return said


def _question(question: Question, id_: str, numbers: Mapping[str, int]) -> dict[str, Any]:
    return {
        "id": id_,
        "question": question.text,
        "evidence": [turn.id for turn in question.evidence],
        "category": numbers[question.category],
        "answer": question.answer,
    }
