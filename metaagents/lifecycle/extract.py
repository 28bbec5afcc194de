"""Extractive compression: choose the sentences that say most, change none of them.

A sentence's weight is its closeness to the centroid of all sentences (Radev et al. 2004,
centroid-based summarization), less its likeness to what is chosen already (maximal marginal
relevance, Carbonell and Goldstein 1998, lambda 0.7). Without vectors, sentences are compared as
word sets. Pure: vectors come in as an argument, and the same input gives the same text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar
from zoneinfo import ZoneInfo

import numpy as np
from numpy.typing import NDArray

from tiers.dots import dots
from tiers.lexical import content_words, estimate_tokens, sentences, stem
from tiers.records import Turn

RELEVANCE_SHARE = 0.7
SENTENCES_MAX = 256
VOCABULARY_MAX = 2048

UTC_ZONE = ZoneInfo("UTC")

Matrix = NDArray[np.float32]
T = TypeVar("T")


@dataclass(frozen=True)
class Sentence:
    """One sentence with who said it and when, by the clock of where people live."""

    text: str
    speaker: str
    at: datetime


def sentences_of(turns: Sequence[Turn], zone: ZoneInfo = UTC_ZONE) -> list[Sentence]:
    """Return the sentences of the turns in order, at most ``SENTENCES_MAX``.

    If there are more, each turn has its share of them, the first ones it says.
    """
    return [
        one for said in fair([_said(turn, zone) for turn in turns], SENTENCES_MAX) for one in said
    ]


def fair(parts: Sequence[Sequence[T]], most: int) -> list[list[T]]:
    """Return the beginnings of the parts, at most ``most`` in all.

    Each has an equal share; what a short one leaves of its own is shared by the others.
    """
    shares = [0] * len(parts)
    left, open_parts = most, [place for place, part in enumerate(parts) if part]
    while left >= len(open_parts) > 0:
        share = left // len(open_parts)
        for place in open_parts:
            more = min(share, len(parts[place]) - shares[place])
            shares[place] += more
            left -= more
        open_parts = [place for place in open_parts if shares[place] < len(parts[place])]
    for place in open_parts[:left]:
        shares[place] += 1
    return [list(part[:share]) for part, share in zip(parts, shares, strict=True)]


def _said(turn: Turn, zone: ZoneInfo) -> list[Sentence]:
    at = local(turn.occurred_at, zone)
    parts = [(turn.speaker or turn.agent_id, turn.input), (turn.agent_id, turn.response)]
    parts += [(f"{turn.agent_id}/{output.tool}", output.output) for output in turn.tool_outputs]
    return [Sentence(part, speaker, at) for speaker, text in parts for part in sentences(text)]


def local(moment: datetime, zone: ZoneInfo) -> datetime:
    """Return a moment by the clock of a zone; by its own at the ends of the calendar."""
    try:
        return moment.astimezone(zone)
    except OverflowError:
        return moment


def word_vectors(texts: Sequence[str]) -> Matrix:
    """Return one unit-length row of word weights per text, for when there is no embedding."""
    bags = [Counter(stem(word) for word in content_words(text)) for text in texts]
    counts = Counter(word for bag in bags for word in bag)
    frequent = [word for word, _ in counts.most_common(VOCABULARY_MAX)]
    vocabulary = {word: column for column, word in enumerate(frequent)}
    matrix = np.zeros((len(texts), max(1, len(vocabulary))), dtype=np.float32)
    for row, bag in enumerate(bags):
        for word, count in bag.items():
            if word in vocabulary:
                matrix[row, vocabulary[word]] = count
    norms = np.linalg.norm(matrix, axis=1, keepdims=True)
    np.divide(matrix, norms, out=matrix, where=norms > 0)
    return matrix


def choose(vectors: Matrix, costs: Sequence[int], budget: int) -> list[int]:
    """Return the rows to keep, in order of appearance, with a total cost of at most ``budget``.

    Args:
        vectors: Unit-length rows, one per sentence.
        costs: Tokens of each sentence.
        budget: Tokens to spend. The best sentence is kept even when it alone is over budget.
    """
    if not len(vectors):
        return []
    centroid = vectors.mean(axis=0)
    relevance = dots(vectors, centroid) / max(float(np.linalg.norm(centroid)), 1e-9)
    likeness = np.zeros(len(vectors), dtype=np.float32)
    left = np.ones(len(vectors), dtype=bool)
    chosen: list[int] = []
    spent = 0
    while left.any():
        weight = RELEVANCE_SHARE * relevance - (1 - RELEVANCE_SHARE) * likeness
        best = int(np.argmax(np.where(left, weight, -np.inf)))
        left[best] = False
        if chosen and spent + costs[best] > budget:
            continue
        chosen.append(best)
        spent += costs[best]
        likeness = np.maximum(likeness, dots(vectors, vectors[best]))
    return sorted(chosen)


def stamp(at: datetime) -> str:
    """Return how a line of a summary says when it was said."""
    return f"[{at:%Y-%m-%d %H:%M}]"


def render(chosen: Sequence[Sentence]) -> str:
    """Return the chosen sentences as text: a line per moment and speaker, dates kept."""
    lines: list[str] = []
    before: tuple[datetime, str] | None = None
    for sentence in chosen:
        if before == (sentence.at, sentence.speaker):
            lines[-1] = f"{lines[-1]} {sentence.text}"
        else:
            lines.append(f"{stamp(sentence.at)} {sentence.speaker}: {sentence.text}")
        before = (sentence.at, sentence.speaker)
    return "\n".join(lines)


def extract(texts: Sequence[str], vectors: Matrix | None, budget: int) -> list[int]:
    """Return which texts to keep, in order, in about ``budget`` tokens.

    Args:
        texts: Sentences or lines.
        vectors: One unit-length row per text; ``None`` compares their words instead.
        budget: Tokens to spend.
    """
    rows = word_vectors(texts) if vectors is None else vectors
    return choose(rows, [estimate_tokens(text) for text in texts], budget)


def summarise(found: Sequence[Sentence], vectors: Matrix | None, budget: int) -> str:
    """Return the extractive summary of ``found`` in about ``budget`` tokens."""
    kept = extract([sentence.text for sentence in found], vectors, budget)
    return render([found[row] for row in kept])
