"""Whether a text that stands for others may be stored: nothing in it may be invented. Pure.

A model's text is a stranger's. Each of its sentences is taken only when somebody has said it, and
what nobody has said is left out alone; the rest has to be a text worth having.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from tiers.lexical import STOP_WORDS, content_words, estimate_tokens, sentences, stem, words

from ..claims.forms import root
from ..claims.support import Sources
from ..distinctive import distinctive, missing, vocabulary

TOKENS_TIMES_MAX = 2
"""A text may be so many times its budget: models count badly. What is longer is not an answer."""

ANSWER_CHARS_MAX = 50_000

TOKENS_SHARE_MIN = 1 / 16
"""Of the budget, or of the sources where these are shorter: below it, next to nothing is said."""

TOUCHED_SHARE_MIN = 1 / 4
"""Of the sources, that a text must share a content word with: one sentence stands for no day."""

WORDS_SHARE_MIN = 1 / 2
"""Of the ordinary words of a sentence, that claims which rest on it have for it to be told."""

REPEATED_SHARE_MAX = 0.5


def cleaned(answer: object) -> str:
    """Return an answer as text: without what cannot be printed; empty if it is no such text.

    What is far too long for any is not even looked at.
    """
    if not isinstance(answer, str) or len(answer) > ANSWER_CHARS_MAX:
        return ""
    lines = ("".join(filter(str.isprintable, line)).strip() for line in answer.splitlines())
    return "\n".join(line for line in lines if line)


class Borne(NamedTuple):
    """What of a text somebody has said.

    Attributes:
        text: The text without what nobody has said, and without repetitions; empty if it is all.
        told: The sentences of its sources that it tells in words of its own.
        left_out: Why sentences are left out, each reason with how often.
    """

    text: str
    told: frozenset[str]
    left_out: Mapping[str, int]


def borne_out(text: str, sources: Sources) -> Borne:
    """Return a text without the statements that nobody has made.

    Args:
        text: As ``cleaned`` returns it.
        sources: What was said.
    """
    reading, left_out = sources.reader(), Counter[str]()
    rests_on: dict[str, list[str]] = {}
    kept: dict[str, None] = {}
    lines = []
    for line in text.splitlines():
        supported = []
        for sentence in sentences(line):
            found = reading.support(sentence)
            if found.reason is not None or sentence in kept:
                left_out[found.reason or "repeated"] += 1
                continue
            kept[sentence] = None
            supported.append(sentence)
            for source in found.sentences:
                rests_on.setdefault(source, []).append(sentence)
        lines.append(" ".join(supported))
    whole = frozenset(one for one, some in rests_on.items() if _is_supported(one, " ".join(some)))
    return Borne("\n".join(filter(None, lines)), whole, left_out)


def _is_supported(source: str, claims: str) -> bool:
    """Whether claims that rest on a sentence have all its numbers and names, and half its words."""
    have = vocabulary(claims)
    ordinary = set(content_words(source)) - set(distinctive(source))
    roots = {root(word) for word in words(claims)}
    found = sum(root(word) in roots for word in ordinary)
    return not missing(distinctive(source), have) and found >= WORDS_SHARE_MIN * len(ordinary)


def refusal(text: str, sources: Sequence[str], budget: int) -> str:
    """Return why a text is not taken; empty if it may be.

    Args:
        text: What ``borne_out`` leaves of an answer.
        sources: What was said.
        budget: Tokens that it was asked to have.
    """
    return misshapen(text, sources, budget) or _beside_the_point(text, sources)


def misshapen(text: str, sources: Sequence[str], budget: int) -> str:
    """Return why a text has no shape that it could be taken in; empty if it has."""
    if not words(text):
        return "it is blank"
    tokens = estimate_tokens(text)
    least = TOKENS_SHARE_MIN * min(budget, sum(map(estimate_tokens, sources)))
    if not least <= tokens <= TOKENS_TIMES_MAX * budget:
        return f"it is of {tokens} tokens instead of {budget}"
    parts = sentences(text)
    is_repeated = len(set(parts)) < (1 - REPEATED_SHARE_MAX) * len(parts)
    return "it repeats itself" if is_repeated else ""


def _beside_the_point(text: str, sources: Sequence[str]) -> str:
    """Return why a text stands for too few of its sources; empty if it does not."""
    stems = {stem(word) for word in content_words(text)} - STOP_WORDS
    touched = sum(
        not stems.isdisjoint(stem(word) for word in content_words(one)) for one in sources
    )
    if touched < TOUCHED_SHARE_MIN * len(sources):
        return f"it speaks of {touched} of {len(sources)} sources"
    return ""
