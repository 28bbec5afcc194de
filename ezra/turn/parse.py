"""Step 1: what a message asks for, by heuristics. Pure, and no model call."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from tiers.lexical import STOP_WORDS, sentences, words

Intent = Literal["question", "request", "report"]

ENTITIES_MAX = 32
_QUESTION_WORDS = frozenset(
    "who whom whose what when where which why how is are was were do does did can could will "
    "would should has have had may might am".split()
)
_REQUEST_WORDS = frozenset(
    "please show tell give find list make remember forget set add remove compare explain write "
    "send open close start stop check plan call book update".split()
)
_URGENT = re.compile(
    r"\b(urgent|urgently|immediately|asap|right now|at once|emergency|critical|box box)\b|!{2,}",
    re.IGNORECASE,
)
_NAME = re.compile(r"\b[A-Z][\w'-]*(?:\s+[A-Z][\w'-]*){0,3}|\b\d[\d.,:/-]*\w*")


@dataclass(frozen=True)
class Parsed:
    """What step 1 found.

    Attributes:
        intent: A question, a request for action, or a report of something.
        entities: Names and numbers in order of appearance, each once.
        urgent: Whether the words press for time.
    """

    intent: Intent
    entities: tuple[str, ...]
    urgent: bool


def parse(text: str) -> Parsed:
    """Return intent, entities and urgency of ``text``."""
    return Parsed(_intent(text), _entities(text), _URGENT.search(text) is not None)


def _intent(text: str) -> Intent:
    last = (sentences(text) or [""])[-1].strip()
    first_words = words(last)[:1]
    if last.endswith("?") or (first_words and first_words[0] in _QUESTION_WORDS):
        return "question"
    opening = words(text)[:1]
    return "request" if opening and opening[0] in _REQUEST_WORDS else "report"


def _entities(text: str) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for sentence in sentences(text):
        for match in _NAME.finditer(sentence):
            name = match.group().strip(".,:;-/")
            if match.start() == 0:
                name = _without_opening(name)
            if name:
                found.setdefault(name)
    return tuple(found)[:ENTITIES_MAX]


def _without_opening(name: str) -> str:
    """Drop a common word that is capitalised only because it opens the sentence."""
    first, _, rest = name.partition(" ")
    return rest if first.lower() in STOP_WORDS | _QUESTION_WORDS else name
