"""What counts how much when candidates are weighed, and where each figure comes from."""

from __future__ import annotations

from dataclasses import dataclass

BM25_K1 = 1.2
BM25_B = 0.75
"""The usual parameters (Robertson and Zaragoza 2009)."""

LENGTHS_MIN = 20
"""Among fewer candidates than this, their lengths count by so much less."""

WINDOW_WORDS = 90
"""A turn is also found by the words before it, as far back as this many words reach.

A budget of words, not a number of turns: right for chat of twenty words a turn and for answers of
four hundred, where the turn stands alone.
"""

WINDOW_SHARE = 0.75
"""What a word said before a turn counts for it beside a word of its own, where only words are
compared.

As much would put the turn behind the one that is asked for level with it. At 0.5 a team's talk
loses two points of recall at ten; with vectors LoCoMo loses by any share, for they tell the two
apart.
"""

NEIGHBOUR_WORDS = 70
"""Turns of together at most so many words lend each other meaning; longer ones speak alone."""

SESSION_GAP_HOURS = 6.0
"""After so long a silence, what is said next belongs to another conversation."""

SESSIONS_MIN = 8
"""Fewer sessions than this among the candidates say nothing by agreeing."""

SCALED_OVER = 160
"""A leg's scores are scaled between its best and its so-many-th best: what is worse counts 0."""

COSINE_SPAN = 0.3
"""About how far the best and the worst candidate's cosines are apart in a large graph."""

QUESTION_WORDS_MAX = 25
TOLD_WORDS_MAX = 6
"""A turn that ends in a question mark, is no longer, and has no more words beside its questions
that say anything, asks more than it tells."""


DOUBTED = 0.5
"""The share of its weight that a cue keeps which may mean something else."""

TIME_ALONE = 3.0
"""The date counts so many times where a question has nothing else to go by: whatever its words are
like ("What did we do last week?"), what happened then answers it."""


@dataclass(frozen=True)
class Weights:
    """How much each sign counts beside the others; each is between 0 and 1 for a candidate.

    Chosen on three LoCoMo conversations, with two others and two generated sets beside them so
    that no kind of talk loses (``ezra eval``), and rounded.

    Attributes:
        words: BM25 of the text with its date and, for a turn, what was said before it.
        meaning: Cosine of the question, without the names of speakers, and the text.
        following: Cosine of the turn that follows: an answer speaks for its question's neighbour.
        preceding: Cosine of the turn before.
        author: It was said by, or is about, somebody whom the question names.
        date: It happened in the time that the question speaks of.
        cue: It has a time, or a number, where the question asks for one.
        question: Taken off a turn that is only a short question or greeting.
        session: Its conversation has other good candidates.
    """

    words: float = 0.5
    meaning: float = 0.5
    following: float = 0.1
    preceding: float = 0.05
    author: float = 0.4
    date: float = 0.3
    cue: float = 0.2
    question: float = 0.3
    session: float = 0.1


DEFAULT_WEIGHTS = Weights()
