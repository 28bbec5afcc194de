"""How good each candidate is for a question: legs scaled and added, signs beside them. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from itertools import accumulate
from operator import add
from typing import TypeAlias
from zoneinfo import ZoneInfo

from tiers.lexical import CALENDAR, MONTHS, STOP_WORDS, WEEKDAYS, content_words, words
from tiers.moments import local
from tiers.recollection import WordStatistics
from tiers.terms import WHOLE_TERMS_MIN

from .cues import ASSISTANTS, QUESTION_CHARS_READ, USERS, Cues, name_of, subject_of
from .pool import FORMER, NOWHERE, SESSION_GAP, Candidate, Pool
from .terms import key_of
from .time_words import naming_days, without_counted
from .weights import (
    BM25_B,
    BM25_K1,
    COSINE_SPAN,
    DOUBTED,
    LENGTHS_MIN,
    SCALED_OVER,
    SESSIONS_MIN,
    TIME_ALONE,
    WINDOW_SHARE,
    Weights,
)

Scores: TypeAlias = list[float]
"""One for each candidate, in the pool's order."""

DIGITS = 9
"""What is beyond is noise of adding up in another order."""

_SHARPNESS = 10.0**DIGITS


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
    has_sign: Sequence[bool]

    def best(self, most: int) -> list[int]:
        """Return the places of the best, best first, ties by key."""
        least = sorted(self.scores)[-most] if most < len(self.scores) else -math.inf
        among = (place for place, score in enumerate(self.scores) if score >= least)
        order = sorted(among, key=lambda place: (-self.scores[place], self.candidates[place].key))
        return order[:most]

    def contributions(self, place: int) -> dict[str, float]:
        """Return what made the score of one candidate, without what added nothing."""
        return {name: float(part[place]) for name, part in self.parts.items() if part[place]}


def score(pool: Pool, question: Question, weights: Weights) -> Scored:
    """Return every candidate of a pool with its score, in the pool's order.

    ``score = Σ weight * sign``, at least 0, with each sign scaled to 0 to 1. What is no turn
    has no neighbours; its own meaning stands for theirs.
    """
    candidates = list(pool)
    if not candidates:
        return Scored((), (), {}, ())
    weighed = {
        name: _times(-weights.question if name == "question" else getattr(weights, name), sign)
        for name, sign in _signs(pool, candidates, question).items()
    }
    total: Scores = [sum(parts, 0.0) for parts in zip(*weighed.values(), strict=True)]
    if (agreement := _agreement(candidates, total)) is not None:
        weighed["session"] = _times(weights.session, agreement)
        total = [one + more for one, more in zip(total, weighed["session"], strict=True)]
    has_sign = [max(parts) > 0 for parts in zip(*weighed.values(), strict=True)]
    return Scored(candidates, _rounded(max(one, 0.0) for one in total), weighed, has_sign)


def _times(weight: float, sign: Scores) -> Scores:
    return [weight * one for one in sign]


def _rounded(scores: Iterable[float]) -> Scores:
    return [round(one * _SHARPNESS) / _SHARPNESS for one in scores]


def _signs(pool: Pool, candidates: Sequence[Candidate], question: Question) -> dict[str, Scores]:
    """Return the signs by the names of ``Weights``; one that says nothing is left out."""
    by_words = bm25(pool, question)
    sign = {"words": scaled(by_words, max(by_words) if len(candidates) <= SCALED_OVER else 0.0)}
    # Where nothing was compared, closeness says nothing of anybody.
    if any(one.cosine is not None for one in candidates):
        sign |= _closeness(pool, candidates)
    cues = question.cues
    if cues.wants_time:
        sign["cue"] = [float(one.has_time) for one in candidates]
    elif cues.wants_number:
        sign["cue"] = [float(one.has_number) for one in candidates]
    if cues.spans or cues.days or cues.names_past:
        share = TIME_ALONE if cues.only_time else 1.0
        sign["date"] = [share * _is_of_that_time(one, question) for one in candidates]
    sign["question"] = [float(one.kind == "turn" and one.only_asks) for one in candidates]
    if (authorship := _authorship(candidates, cues, question.user_id)) is not None:
        sign["author"] = authorship
    return sign


def _is_of_that_time(candidate: Candidate, question: Question) -> bool:
    """Whether a candidate happened, or held, in the time that a question speaks of."""
    cues = question.cues
    held = cues.names_past and FORMER in candidate.ranks
    return held or cues.speaks_of(candidate.happened_at, question.zone)


def _closeness(pool: Pool, candidates: Sequence[Candidate]) -> dict[str, Scores]:
    """Return how close each candidate's meaning is, and that of the turns right beside it."""
    cosines = _cosines(candidates)
    or_floor = [*cosines, min(cosines)]  # whose last place is that of who is NOWHERE
    place_of = [*(one.place for one in pool.read), NOWHERE]  # of the row of nobody, too

    def beside(rows: Iterable[int]) -> Scores:
        places = [
            (place_of[row] if one.kind == "turn" else one.place)
            for one, row in zip(candidates, rows, strict=True)
        ]
        return scaled([or_floor[place] for place in places], COSINE_SPAN)

    return {
        "meaning": scaled(cosines, COSINE_SPAN),
        "following": beside(one.after for one in candidates),
        "preceding": beside(one.before for one in candidates),
    }


def scaled(scores: Scores, least_span: float = 0.0) -> Scores:
    """Return scores from 0 to 1, between the ``SCALED_OVER``-th best and the best; worse ones 0.

    Args:
        scores: One for each candidate.
        least_span: What lies closer together is not pulled further apart: of two candidates that
            are both close, the second is not nothing.
    """
    best = max(scores)
    worst = sorted(scores)[-SCALED_OVER] if len(scores) > SCALED_OVER else min(scores)
    span = max(best - worst, least_span)
    if span <= 0:
        return [0.0] * len(scores)
    floor = best - span
    return [1 - (best - one) / span if one > floor else 0.0 for one in scores]


def bm25(pool: Pool, question: Question) -> Scores:
    """Return BM25 of each candidate of a pool: its date, its text, and what was said before it.

    A word said before counts as one that the candidate says itself where meaning tells the two
    apart, and else ``WINDOW_SHARE`` of it.
    Rarity is that of the graph's records where it is known, else that of the pool. Lengths are
    compared with the mean of the pool, turns with turns and the rest with the rest; that of what
    has all terms itself counts nothing.
    """
    text = subject_of(question.text)
    asked = _without_counts([w for w in content_words(text) if w not in STOP_WORDS], text)
    keys = {key_of(word): word for word in asked}
    candidates = list(pool)
    if not keys:
        return [0.0] * len(candidates)
    dates = _date_keys(keys, question.text)
    said_at = _date_counts(candidates, dates, list(keys), question.zone) if dates else {}
    has_meaning = any(one.cosine is not None for one in candidates)
    counts = _counted(pool, list(keys), 1.0 if has_meaning else WINDOW_SHARE)
    lengths = _with_windows(pool, [one.terms for one in pool.read], 1.0)
    # The mean length of a handful says little about what is long.
    share = BM25_B * min(1.0, len(candidates) / LENGTHS_MIN)
    means = _means(candidates, lengths)
    whole = _whole(candidates, keys)
    damping = [
        BM25_K1 * (1 - share + (0.0 if is_whole else share * length / mean))
        for is_whole, length, mean in zip(whole, lengths, means, strict=True)
    ]
    found = [0.0] * len(candidates)
    for (key, word), column in zip(keys.items(), counts, strict=True):
        in_dates = said_at.get(key)
        both = column if in_dates is None else list(map(add, column, in_dates))
        rarity = _rarity(word, both, sum(in_dates or ()), question.statistics)
        for place, count in enumerate(both):
            if count:
                found[place] += rarity * count * (BM25_K1 + 1) / (count + damping[place])
    return _rounded(found)


def _without_counts(asked: Sequence[str], text: str) -> list[str]:
    """Return the words that are asked for without figures that only count days: "10 days ago"."""
    if not any(map(str.isdigit, asked)):
        return list(asked)
    read, rest = text[:QUESTION_CHARS_READ], text[QUESTION_CHARS_READ:]
    counts = set(words(read)) - set(words(without_counted(read))) - set(words(rest))
    return [word for word in asked if not (word.isdigit() and word in counts)]


def _whole(candidates: Sequence[Candidate], keys: Iterable[int]) -> list[bool]:
    """Return of each candidate whether its own text has all terms of a question of several."""
    asked = set(keys)
    if len(asked) < WHOLE_TERMS_MIN:
        return [False] * len(candidates)
    return [asked <= one.counts.keys() for one in candidates]


def _counted(pool: Pool, keys: Sequence[int], share: float) -> list[Scores]:
    """Return how often each candidate has each term, itself and in its window by a share."""
    bags = [one.counts for one in pool.read]
    columns = [[bag.get(key, 0) for bag in bags] for key in keys]
    return [_with_windows(pool, column, share) for column in columns]


def _with_windows(pool: Pool, column: Sequence[int], share: float) -> Scores:
    """Return what each candidate has, and added a share of what was said right before it."""
    if not pool.said or not any(column):
        return [column[one.row] for one in pool]
    up_to = list(accumulate((column[row] for row in pool.said), initial=0))
    return [
        column[one.row] + share * (up_to[one.earlier[1]] - up_to[one.earlier[0]]) for one in pool
    ]


def _rarity(
    word: str, counts: Sequence[float], in_dates: int, statistics: WordStatistics | None
) -> float:
    """Return the inverse document frequency of a term; above 0 however common it is.

    Args:
        word: The term.
        counts: How often each candidate has it, its date included.
        in_dates: How many candidates have it in their date.
        statistics: How many of the graph's records have it in their text, where that is known.
    """
    records = len(counts)
    having = records - counts.count(0)
    if statistics is not None:
        records = max(records, statistics.records)
        having = max(in_dates, statistics.having.get(word, 0))
    return math.log(1 + (records - having + 0.5) / (having + 0.5))


def _means(candidates: Sequence[Candidate], lengths: Scores) -> Scores:
    """Return for each candidate the mean length of those of its sort."""
    turns = [candidate.kind == "turn" for candidate in candidates]
    means = {}
    for sort in set(turns):
        of_sort = [length for length, turn in zip(lengths, turns, strict=True) if turn is sort]
        means[sort] = max(1.0, sum(of_sort) / len(of_sort))
    return [means[turn] for turn in turns]


def _date_keys(keys: Mapping[int, str], text: str) -> frozenset[int]:
    """Return the keys of the question's words that can be part of a date.

    None is what only counts days or weeks, or bounds a time: "10 days ago", "before October".
    """
    found = {word: key for key, word in keys.items() if word in CALENDAR or word.isdigit()}
    if not found:
        return frozenset()
    named = frozenset(words(naming_days(text[:QUESTION_CHARS_READ])))
    return frozenset(key for word, key in found.items() if word in named)


def _date_counts(
    candidates: Sequence[Candidate], dates: frozenset[int], keys: Sequence[int], zone: ZoneInfo
) -> dict[int, list[int]]:
    """Return whether each candidate's day has a term, for those that can be part of a date."""
    days = [local(one.happened_at, zone).date() for one in candidates]
    of_day: dict[date, set[int]] = {}
    for day in set(days):
        month, weekday = MONTHS[day.month - 1], WEEKDAYS[day.weekday()]
        of_day[day] = {key_of(word) for word in (str(day.day), month, str(day.year), weekday)}
    return {key: [int(key in of_day[day]) for day in days] for key in keys if key in dates}


def _cosines(candidates: Sequence[Candidate]) -> Scores:
    """Return the cosines; what no dense leg found is as far as the farthest that one did."""
    known = [one.cosine for one in candidates if one.cosine is not None]
    floor = min(known, default=0.0)
    return [floor if one.cosine is None else one.cosine for one in candidates]


def _authorship(candidates: Sequence[Candidate], cues: Cues, user_id: str | None) -> Scores | None:
    """Say of each candidate whether it was said by, or is about, somebody whom the question means.

    ``None``: the question means nobody.

    "I" means the user and "you" the one who answers, by name or by what they are called where
    nobody has one; who asks what you said about me means you. What was learnt of a user has their
    name for "I".
    """
    meant, subjects = set(cues.named), set(cues.named)
    if cues.addressed:
        meant |= ASSISTANTS
    elif cues.first_person:
        subjects |= {name_of(user_id)} if user_id is not None else set()
        meant |= USERS | subjects
    if not meant:
        return None
    speakers = {one.speaker for one in candidates}
    by = {speaker: bool(speaker) and name_of(speaker) in meant for speaker in speakers}
    named = [frozenset(map(key_of, words(name))) for name in subjects]

    def about(candidate: Candidate) -> bool:
        has = candidate.counts.keys()
        return any(keys and keys <= has for keys in named)

    # A cue in doubt weighs less.
    sure = DOUBTED if cues.addressed and cues.in_doubt else 1.0
    is_by = [by[one.speaker] or (one.kind != "turn" and about(one)) for one in candidates]
    return [sure * one for one in is_by]


def _agreement(candidates: Sequence[Candidate], total: Scores) -> Scores | None:
    """Return for each turn how good the best three of its session are, scaled over sessions.

    Sessions are turns with no silence of ``SESSION_GAP`` between them. What is no turn counts
    nothing. ``None``: there are few sessions, or all are as good.
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
    if len(sessions) < SESSIONS_MIN:
        return None
    means = []
    for session in sessions:
        best = sorted([total[number] for number in session])[-3:]
        means.append(sum(best) / len(best))
    low, high = min(means), max(means)
    if high <= low:
        return None
    found = [0.0] * len(candidates)
    for mean, session in zip(means, sessions, strict=True):
        for number in session:
            found[number] = (mean - low) / (high - low)
    return found
