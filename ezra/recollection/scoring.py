"""How good each candidate is for a question: legs scaled and added, signs beside them. Pure."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from zoneinfo import ZoneInfo

import numpy as np
from numpy.typing import NDArray

from tiers.lexical import STOP_WORDS, content_words, words
from tiers.recollection import WordStatistics

from .cues import ASSISTANTS, USERS, Cues, name_of, subject_of
from .pool import NOWHERE, SESSION_GAP, Candidate, Pool
from .terms import key_of
from .weights import (
    BM25_B,
    BM25_K1,
    COSINE_SPAN,
    DOUBTED,
    LENGTHS_MIN,
    SCALED_OVER,
    SESSIONS_MIN,
    Weights,
)

Scores = NDArray[np.float64]
DIGITS = 9
"""What is beyond is noise of adding up in another order."""


@dataclass(frozen=True)
class Question:
    """What is asked, read.

    Attributes:
        text: The question's words.
        cues: What it says about its answer.
        statistics: How rare its words are; ``None`` while the cold tier is away.
        user_id: Who asks, where known.
        zone: Where days begin.
    """

    text: str
    cues: Cues
    statistics: WordStatistics | None
    user_id: str | None
    zone: ZoneInfo


@dataclass(frozen=True)
class Scored:
    """The candidates of a pool with their scores before priors, and what made them.

    Attributes:
        candidates: In the pool's order.
        scores: One for each.
        parts: Each sign's share of every sum, by the names of ``Weights``.
        has_sign: For each, whether anything speaks for it.
    """

    candidates: Sequence[Candidate]
    scores: Sequence[float]
    parts: Mapping[str, Scores]
    has_sign: NDArray[np.bool_]

    def best(self, most: int) -> list[int]:
        """Return the places of the best, best first, ties by key."""
        least = sorted(self.scores)[-most] if most < len(self.scores) else -math.inf
        among = (place for place, score in enumerate(self.scores) if score >= least)
        order = sorted(among, key=lambda place: (-self.scores[place], self.candidates[place].key))
        return order[:most]

    def parts_of(self, place: int) -> dict[str, float]:
        """Return what made the score of one candidate, without what added nothing."""
        return {name: float(part[place]) for name, part in self.parts.items() if part[place]}


def score(pool: Pool, question: Question, weights: Weights) -> Scored:
    """Return every candidate of a pool with its score, in the pool's order.

    ``score = Σ weight * sign``, at least 0, with each sign scaled to 0 to 1. What is no turn
    has no neighbours; its own meaning stands for theirs.
    """
    candidates = list(pool)
    if not candidates:
        return Scored((), (), {}, np.zeros(0, dtype=np.bool_))
    signs = _signs(pool, candidates, question)
    weighed = {name: getattr(weights, name) * sign for name, sign in signs.items()}
    weighed["question"] = -weighed["question"]
    total = np.sum(list(weighed.values()), axis=0)
    weighed["session"] = weights.session * _agreement(candidates, total)
    total = np.round(np.maximum(total + weighed["session"], 0.0), DIGITS)
    has_sign = np.any([part > 0 for part in weighed.values()], axis=0)
    return Scored(candidates, total.tolist(), weighed, has_sign)


def _signs(pool: Pool, candidates: Sequence[Candidate], question: Question) -> dict[str, Scores]:
    cosines = _cosines(candidates)
    or_floor = np.append(cosines, cosines.min())  # whose last place is that of who is NOWHERE

    place_of = [*(one.place for one in pool.read), NOWHERE]  # of the row of nobody, too

    # Where nothing was compared, closeness says nothing of anybody.
    is_compared = any(one.cosine is not None for one in candidates)

    def near(found: Scores) -> Scores:
        return scaled(found, COSINE_SPAN) if is_compared else np.zeros(len(candidates))

    def beside(rows: Iterable[int]) -> Scores:
        places = [
            (place_of[row] if one.kind == "turn" else one.place)
            for one, row in zip(candidates, rows, strict=True)
        ]
        return near(or_floor[places])

    cues = question.cues
    by_words = bm25(pool, question)
    sign = {
        "words": scaled(by_words, float(by_words.max()) if len(candidates) <= SCALED_OVER else 0.0),
        "meaning": near(cosines),
        "following": beside(one.after for one in candidates),
        "preceding": beside(one.before for one in candidates),
    }
    zeros = np.zeros(len(candidates))
    if cues.wants_time:
        sign["cue"] = np.array([float(one.has_time) for one in candidates])
    elif cues.wants_number:
        sign["cue"] = np.array([float(one.has_number) for one in candidates])
    else:
        sign["cue"] = zeros
    sign["date"] = zeros
    if cues.spans or cues.days:
        spoken_of = [cues.speaks_of(one.happened_at, question.zone) for one in candidates]
        sign["date"] = np.array(spoken_of, dtype=np.float64)
    asks = [one.kind == "turn" and one.only_asks for one in candidates]
    sign["question"] = np.array(asks, dtype=np.float64)
    sign["author"] = _authorship(candidates, cues, question.user_id)
    return sign


def scaled(scores: Scores, least_span: float = 0.0) -> Scores:
    """Return scores from 0 to 1, between the ``SCALED_OVER``-th best and the best; worse ones 0.

    Args:
        scores: One for each candidate.
        least_span: What lies closer together is not pulled further apart: of two candidates that
            are both close, the second is not nothing.
    """
    best = float(scores.max())
    worst = float(scores.min())
    if len(scores) > SCALED_OVER:
        worst = float(np.partition(scores, -SCALED_OVER)[-SCALED_OVER])
    span = max(best - worst, least_span)
    if span <= 0:
        return np.zeros_like(scores)
    within: Scores = np.clip(1 - (best - scores) / span, 0.0, 1.0)
    return within


def bm25(pool: Pool, question: Question) -> Scores:
    """Return BM25 of each candidate of a pool: its date, its text, and what was said before it.

    Rarity is that of the graph's records where it is known, else that of the pool. Lengths are
    compared with the mean of the pool, turns with turns and the rest with the rest.
    """
    text = subject_of(question.text)
    asked = [word for word in content_words(text) if word not in STOP_WORDS]
    keys = {key_of(word): word for word in asked}
    if not keys:
        return np.zeros(len(pool))
    candidates = list(pool)
    dates = _date_keys(keys, question.text)
    counts, lengths = _counted(pool, list(keys))
    said_at = np.zeros_like(counts)
    if dates:
        said_at = _date_counts(candidates, dates, list(keys), question.zone)
    rarity = _rarity(list(keys.items()), counts, said_at, question.statistics)
    counts += said_at
    # The mean length of a handful says little about what is long.
    share = BM25_B * min(1.0, len(candidates) / LENGTHS_MIN)
    damping = BM25_K1 * (1 - share + share * lengths / _means(candidates, lengths))
    weighed: Scores = (rarity * counts * (BM25_K1 + 1) / (counts + damping[:, None])).sum(axis=1)
    return np.round(weighed, DIGITS)


def _counted(pool: Pool, keys: Sequence[int]) -> tuple[Scores, Scores]:
    """Return how often each candidate has each term, and its length in terms, windows included."""
    bags, many = [one.counts for one in pool.read], len(pool.read)
    of_each = np.empty((many, len(keys) + 1))
    for column, key in enumerate(keys):
        of_each[:, column] = np.fromiter((bag.get(key, 0) for bag in bags), np.float64, many)
    of_each[:, -1] = np.fromiter((one.terms for one in pool.read), np.float64, many)
    totals = of_each[[one.row for one in pool]]
    if pool.said:
        up_to = np.zeros((len(pool.said) + 1, len(keys) + 1))
        np.cumsum(of_each[pool.said], axis=0, out=up_to[1:])
        firsts = [one.earlier[0] for one in pool]
        behind = [one.earlier[1] for one in pool]
        totals = totals + up_to[behind] - up_to[firsts]
    return totals[:, :-1], totals[:, -1]


def _rarity(
    keys: Sequence[tuple[int, str]],
    counts: Scores,
    said_at: Scores,
    statistics: WordStatistics | None,
) -> Scores:
    """Return the inverse document frequency of each term; above 0 however common it is."""
    in_pool = ((counts + said_at) > 0).sum(axis=0)
    records = len(counts)
    if statistics is not None:
        records = max(records, statistics.records)
    having = [
        max(int(in_dates), statistics.having.get(word, 0)) if statistics else int(in_all)
        for (_, word), in_all, in_dates in zip(
            keys, in_pool, (said_at > 0).sum(axis=0), strict=True
        )
    ]
    return np.array([math.log(1 + (records - n + 0.5) / (n + 0.5)) for n in having])


def _means(candidates: Sequence[Candidate], lengths: Scores) -> Scores:
    """Return for each candidate the mean length of those of its sort."""
    turns = np.array([candidate.kind == "turn" for candidate in candidates])
    means = np.ones(len(candidates))
    for sort in (turns, ~turns):
        if sort.any():
            means[sort] = max(1.0, float(lengths[sort].mean()))
    return means


def _date_keys(keys: Mapping[int, str], text: str) -> frozenset[int]:
    """Return the keys of the question's words that can be part of a date.

    The year of an ISO week is none: its first and last days lie in other years.
    """
    beside_weeks = set(words(_ISO_WEEK.sub(" ", text)))
    return frozenset(
        key
        for key, word in keys.items()
        if word in _DATE_WORDS or (word.isdigit() and word in beside_weeks)
    )


_ISO_WEEK = re.compile(r"\b\d{4}-W\d\d?\b", re.IGNORECASE)
_MONTHS = (
    "january february march april may june july august september october november december"
).split()
_WEEKDAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
_DATE_WORDS = frozenset((*_MONTHS, *_WEEKDAYS))


def _date_counts(
    candidates: Sequence[Candidate], dates: frozenset[int], keys: Sequence[int], zone: ZoneInfo
) -> Scores:
    """Return which of the terms that can be part of a date each candidate's day has."""
    days = [one.happened_at.astimezone(zone).date() for one in candidates]
    of_day: dict[date, list[bool]] = {}
    for day in set(days):
        month, weekday = _MONTHS[day.month - 1], _WEEKDAYS[day.weekday()]
        said = {key_of(word) for word in (str(day.day), month, str(day.year), weekday)}
        of_day[day] = [key in dates and key in said for key in keys]
    return np.array([of_day[day] for day in days], dtype=np.float64)


def _cosines(candidates: Sequence[Candidate]) -> Scores:
    """Return the cosines; what no dense leg found is as far as the farthest that one did."""
    known = [one.cosine for one in candidates if one.cosine is not None]
    floor = min(known, default=0.0)
    return np.array([floor if one.cosine is None else one.cosine for one in candidates])


def _authorship(candidates: Sequence[Candidate], cues: Cues, user_id: str | None) -> Scores:
    """Say of each candidate whether it was said by, or is about, somebody whom the question means.

    "I" means the user and "you" the one who answers, by name or by what they are called where
    nobody has one; who asks what you said about me means you.
    """
    meant = set(cues.named)
    if cues.addressed:
        meant |= ASSISTANTS
    elif cues.first_person:
        meant |= USERS | ({name_of(user_id)} if user_id is not None else set())
    if not meant:
        return np.zeros(len(candidates))
    speakers = {one.speaker for one in candidates}
    by = {speaker: bool(speaker) and name_of(speaker) in meant for speaker in speakers}
    named = [frozenset(map(key_of, words(name))) for name in cues.named]

    def about(candidate: Candidate) -> bool:
        has = candidate.counts.keys()
        return any(keys and keys <= has for keys in named)

    # A cue in doubt weighs less.
    sure = DOUBTED if cues.addressed and cues.in_doubt else 1.0
    is_by = [by[one.speaker] or (one.kind != "turn" and about(one)) for one in candidates]
    return sure * np.array(is_by, dtype=np.float64)


def _agreement(candidates: Sequence[Candidate], total: Scores) -> Scores:
    """Return for each turn how good the best three of its session are, scaled over sessions.

    Sessions are turns with no silence of ``SESSION_GAP`` between them. What is no turn counts
    nothing, and so do all when there are few sessions.
    """
    moments = [one.happened_at for one in candidates]
    turns = [number for number, one in enumerate(candidates) if one.kind == "turn"]
    sessions: list[list[int]] = []
    last: datetime | None = None
    for number in sorted(turns, key=moments.__getitem__):
        here = moments[number]
        if last is not None and here - last <= SESSION_GAP:
            sessions[-1].append(number)
        else:
            sessions.append([number])
        last = here
    found = np.zeros(len(candidates))
    if len(sessions) < SESSIONS_MIN:
        return found
    totals = total.tolist()
    means = []
    for session in sessions:
        best = sorted([totals[number] for number in session])[-3:]
        means.append(sum(best) / len(best))
    low, high = min(means), max(means)
    if high <= low:
        return found
    for mean, session in zip(means, sessions, strict=True):
        found[session] = (mean - low) / (high - low)
    return found
