"""Fit the weights of the marks by which a sentence is known to last, and say how well they do.

    python -m tests.benchmarks.lasting

Reads the open sets of statements: a sentence with what a turn is labelled with lasts, one of a turn
without labels does not. What the grammar takes apart counts a little only. Prints each weight
beside the one in use, and what the marks tell right of the fifth of sentences that a fit had not
seen, five times over.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ezra.evaluation.learning.labels import SaidTurn, statements
from ezra.evaluation.learning.scoring import has, tokens
from ezra.evaluation.learning.sections import OPEN_STATEMENTS
from metaagents.learning.grammar.as_said import candidate
from metaagents.learning.grammar.claims import claims_of
from metaagents.learning.grammar.lasting import BIAS, LASTS_FROM, MARKS, Sentence
from metaagents.learning.plain_speech import is_plain
from tiers.lexical import sentences

FOLDS, STEPS, RATE, DECAY = 5, 4_000, 2.0, 0.002
TAKEN_APART, AGAINST = 0.3, 2.0
"""What a sentence that the grammar reads counts for, and one that states nothing: there are fewer
of these, and a false fact is worse than a missed one."""


def main() -> None:
    """Print the weights, and how they do."""
    told = [
        one
        for name in OPEN_STATEMENTS
        for turn in statements(name).turns
        for one in _sentences(turn)
    ]
    marks = np.array(
        [[*(mark.found(Sentence(one.said)) for mark in MARKS.values()), 1.0] for one in told]
    )
    lasts = np.array([one.lasts for one in told], dtype=float)
    counts = np.array([one.counts for one in told])
    weights = fitted(marks, lasts, counts)
    used = [*(one.weight for one in MARKS.values()), BIAS]
    for name, now, fit in zip([*MARKS, "bias"], used, weights, strict=True):
        print(f"{name:20} {now:+.1f} {fit:+.2f}")  # noqa: T201
    fold = np.random.default_rng(0).integers(0, FOLDS, len(told))
    unseen = np.zeros(len(told))
    for one in range(FOLDS):
        rest = fold != one
        unseen[~rest] = marks[~rest] @ fitted(marks[rest], lasts[rest], counts[rest])
    left = np.array([one.counts > TAKEN_APART for one in told])
    for least in (LASTS_FROM - 0.5, LASTS_FROM, LASTS_FROM + 0.5):
        kept, is_so = (unseen >= least) & left, (lasts == 1) & left
        right, wrong = int((kept & is_so).sum()), int((kept & ~is_so).sum())
        of_these, of_those = int(is_so.sum()), int((left & ~is_so).sum())
        print(f"from {least:.1f}: {right}/{of_these} that last, {wrong}/{of_those} that do not")  # noqa: T201


def fitted(marks: np.ndarray, lasts: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return the weights of a logistic regression, by gradient descent."""
    weights = np.zeros(marks.shape[1])
    for _ in range(STEPS):
        guessed = 1 / (1 + np.exp(-marks @ weights))
        slope = marks.T @ (counts * (guessed - lasts)) / counts.sum()
        weights -= RATE * (slope + DECAY * weights)
    return weights


class Told(NamedTuple):
    """A sentence that could be told as it was said, whether it lasts, and how much it counts."""

    said: str
    lasts: bool
    counts: float


def _sentences(turn: SaidTurn) -> Iterator[Told]:
    """Yield the sentences of a turn that could be told as they were said."""
    if not is_plain(turn.text):
        return
    for before, sentence in pairwise(["", *sentences(turn.text)]):
        said = candidate(sentence, before)
        words = tokens(sentence)
        lasts = any(has(words, one) for label in turn.facts for one in label.values)
        if not said or (turn.facts and not lasts):
            continue
        is_read = any(one.is_news for one in claims_of(sentence, "Ada"))
        yield Told(said, lasts, TAKEN_APART if is_read else 1.0 if lasts else AGAINST)


if __name__ == "__main__":
    main()
