"""What a context tells of who speaks, whatever they say. Pure.

Somebody who asks for a dessert does not say what they must not eat, nor how they want to be
answered: no likeness of meaning tells that it matters.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from tiers.records import Hit

from ..ranking.cues import name_of

ASKED_OF_ALL = re.compile(
    r"\basks the assistant\b|\bwould rather have\b|^\S+(?<!'s) is called\b"
    r"|\b(?:prefers?|wants?|likes?|hates?)\b.*\b(?:answer|repl|respons|explanation|summar)"
    r"|\b(?:prefers?|wants?) (?:everything|all|every)\b",
    re.IGNORECASE,
)
"""How somebody wants to be answered, each time."""

NOT_TO_BE_MISSED = re.compile(
    r"\ballerg|\bintoleran|\bc(?:o)?eliac|\bdiabet|\bpregnan|\bvegan|\bvegetarian|\bkosher|\bhalal"
    r"|\bcan(?:no|')t (?:eat|drink|have|take|tolerate)\b|\b(?:colou?r-?)?blind\b|\bdeaf\b",
    re.IGNORECASE,
)
"""What is true of somebody whatever they ask for, and does harm where it is not known."""

NEAR_MIN = 0.08
"""Cosine of all-MiniLM-L6-v2 below which a fact of somebody does not help with what they say."""

STANDING_MAX = 8
"""Of what counts for every answer so much is shown."""

STANDING_WORDS = (
    "assistant answers replies allergic intolerant celiac diabetic pregnant vegan vegetarian "
    "kosher halal colour-blind deaf"
)
"""Rare words of both: facts are searched for by them too, whatever is said."""


def facts_of(speaker: str, user_id: str | None, hits: Sequence[Hit]) -> list[Hit]:
    """Return the facts among hits that are of who speaks: of their user, or told of them by name.

    Args:
        speaker: What facts call them.
        user_id: Whose facts are theirs, whomever they tell of.
        hits: Any.
    """
    name = name_of(speaker)
    return [hit for hit in hits if hit.kind == "fact" and _is_of(hit, name, user_id)]


def _is_of(fact: Hit, name: str, user_id: str | None) -> bool:
    if user_id is not None and fact.user_id == user_id:
        return True
    text = fact.text.casefold()
    return bool(name) and text.startswith(name) and not text[len(name) :][:1].isalnum()


def is_standing(hit: Hit) -> bool:
    """Whether a fact counts for every answer."""
    return bool(ASKED_OF_ALL.search(hit.text) or NOT_TO_BE_MISSED.search(hit.text))


def shown_of(facts: Sequence[Hit], room: int) -> tuple[Hit, ...]:
    """Return which facts of who speaks are shown, in their order but for what counts always first.

    Args:
        facts: The nearest to what is said first.
        room: How many are shown of those that do not count for every answer.
    """
    once = {fact.id: fact for fact in facts}.values()
    standing = [fact for fact in once if is_standing(fact)]
    others = [fact for fact in once if not is_standing(fact) and _is_near(fact)]
    return (*standing[:STANDING_MAX], *others[:room])


def _is_near(fact: Hit) -> bool:
    return fact.cosine is None or fact.cosine >= NEAR_MIN
