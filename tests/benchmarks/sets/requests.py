"""The user with an assistant again, who also makes requests; about 280 messages over six months.

Requests are polite and ask for nothing that the assistant has said: in which order the user brought
something up, and what to use, where what the user once said they like decides. The user says it in
long messages that tell something and end in a question, amid advice in the request's own words.
"""

from __future__ import annotations

from . import assistant
from .grammar import of_kind, read
from .proofs import Question, Turn

TURNS = 280
CATEGORIES = {
    **assistant.CATEGORIES,
    "order": "in which order it was brought up",
    "wish": "what the user would like",
}


def conversation(seed: str) -> tuple[list[str], list[Turn], list[Question]]:
    """Return speakers, turns and questions of one conversation."""
    sections = read("requests")
    more = of_kind(sections, "order") + of_kind(sections, "wish")
    return assistant.conversation(seed, more, TURNS)
