"""Word search: which visible records of a graph have the words of a question, ranked by BM25.

Its rare words cost the same in a graph of any size: the rarest are looked up, until
``POSTINGS_MAX`` records have been looked at; the commonest, which tell the least, are then left
out. Only where that leaves fewer answers than were asked for, the rest is filled up with the newest
records that have one of the words left out, the rarest of them first: there, who may see next to
nothing of a large graph has all who have such a word looked at.

The formula is that of Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and
Beyond", 2009, with ``k1 = 1.2`` and ``b = 0.75``, as SQLite's FTS5 has it. Its figures are the
graph's own: what another graph holds does not change the ranks.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from heapq import nsmallest
from operator import itemgetter
from typing import NamedTuple, TypeAlias

from ...lexical import content_words
from ...moments import microseconds
from ...recollection import WordStatistics
from ...records import Kind, Scope, SearchQuery
from ...terms import WHOLE_TERMS_MIN, alike, term_of
from ..conditions import Among, Condition, Either, Holds, Is, Other, Topics, Within
from ..port import RECORDED, Find, Steps, counts_by_value, every, postings
from .belief_spans import active_then
from .questions import among, by_then, equal, not_by, window
from .words import SEARCHABLE, TOTALS, Filed, listed_as
from .work import WORK

QUERY_WORDS_MAX = 64
K1, B = 1.2, 0.75


class AskedTerm(NamedTuple):
    """What a question asks for: a stem, and how many of its words have it."""

    term: str
    times: int


def asked_terms(text: str) -> list[AskedTerm]:
    """Return the stems of a question's different content words, and of what means the same.

    Of ``QUERY_WORDS_MAX`` words at most.
    """
    found: dict[str, AskedTerm] = {}
    for word in content_words(text)[:QUERY_WORDS_MAX]:
        for term in sorted(alike(term_of(word)) - {""}):
            before = found.get(term, AskedTerm(term, 0))
            found[term] = before._replace(times=before.times + 1)
    return list(found.values())


def rarity(having: int, records: int) -> float:
    """Return the inverse document frequency of a term; above 0 however common it is."""
    return math.log(1 + (max(records, having) - having + 0.5) / (having + 0.5))


class Norm(NamedTuple):
    """How a record's length counts: a term that it has ``n`` times weighs ``n / (n + norm)``.

    The norm is ``flat`` plus ``per_word`` for each of its words.
    """

    flat: float
    per_word: float


def norm_of(records: int, all_words: int) -> Norm:
    """Return the norm in a graph of so many records that have so many words together."""
    average = max(1, all_words) / max(1, records)
    return Norm(K1 * (1 - B), K1 * B / average)


def looked_up(having: Mapping[str, int], most: int) -> list[str]:
    """Return the terms to look up: the rarest first, while their records are ``most`` at most.

    Terms that no record has are left out.
    """
    chosen: list[str] = []
    room = most
    for term in in_order_of_rarity(having):
        room -= having[term]
        if room < 0:
            break
        chosen.append(term)
    return chosen


def in_order_of_rarity(having: Mapping[str, int]) -> Sequence[str]:
    """Return the terms that any record has, the rarest first, those alike by name."""
    return sorted(filter(having.get, having), key=lambda term: (having[term], term))


POSTINGS_MAX = 1_500
"""So many records are looked at for the words of a question, the rarest words first."""

NEWEST_MAX = 1_000
"""So many of the newest records that may be found are ranked for a word too common for that."""

COUNTED_MAX = 2_000
"""Of one word and kind so many records are counted; how many more there are is estimated."""

COUNTED_THEN_MAX = 8_000
"""So many are of the past, where nothing is estimated."""


class Found(NamedTuple):
    """A record that has words of the question.

    ``score``: higher is better. ``words_only``: it still waits to be put into the vector index.
    """

    kind: Kind
    id: str
    score: float
    words_only: bool = False


Posting: TypeAlias = tuple[str, int, str, Kind, int]
"""A value of the word index, how often a record has it, that record's id, kind and length.

Thousands are weighed for one question: they are plain.
"""


class Totals(NamedTuple):
    """What a graph holds, whoever may see it: records of each kind, and words of all together."""

    of_kind: Mapping[str, int]
    words: int

    @property
    def records(self) -> int:
        """How many records there are."""
        return sum(self.of_kind.values())


class Words(NamedTuple):
    """A question's words as the graph has them.

    Attributes:
        kinds: The kinds that are asked about, of which the graph has any.
        having: In how many records of those a term is; terms that none has are left out.
        weights: By how much a term counts.
        norm: How a record's length counts.
        records: How many records of those kinds there are.
    """

    kinds: Sequence[Kind]
    having: Mapping[str, int]
    weights: Mapping[str, float]
    norm: Norm
    records: int

    def scored(self, rows: Iterable[Posting]) -> dict[tuple[str, Kind], float]:
        """Return the ids and kinds of what has terms, with the sum of what those weigh.

        What has all terms of the rows is not held to be long: see ``WHOLE_TERMS_MIN``.
        """
        rows = list(rows)
        asked = len({value.partition(" ")[2] for value, *_ in rows})
        having = Counter(map(itemgetter(2, 3), rows)) if asked >= WHOLE_TERMS_MIN else {}
        weights = {
            listed_as(kind, term): weight
            for kind in self.kinds
            for term, weight in self.weights.items()
        }
        flat, per_word = self.norm.flat, self.norm.per_word
        scores: dict[tuple[str, Kind], float] = defaultdict(float)
        for value, times, record_id, kind, length in rows:
            record = record_id, kind
            norm = flat if having.get(record) == asked else flat + per_word * length
            scores[record] += weights[value] * times / (times + norm)
        return scores


def stored_kinds(kinds: Iterable[Kind]) -> list[Kind]:
    """Return as which kinds the asked ones are stored, each once: outputs of tools are in turns."""
    stored: list[Kind] = ["turn" if kind == "tool_output" else kind for kind in kinds]
    return list(dict.fromkeys(stored))


def words_of(scope: Scope, query: SearchQuery) -> Steps[Words | None]:
    """Return a question's words as the scope's graph has them; ``None`` where nothing is asked."""
    terms, kinds = asked_terms(query.text), stored_kinds(query.kinds)
    if query.inherited or query.mode == "dense" or not terms or not kinds:
        return None
    totals = yield from totals_of(scope)
    held = [kind for kind in kinds if totals.of_kind.get(kind)]
    having = yield from having_of(scope, [one.term for one in terms], held, totals)
    records = sum(totals.of_kind[kind] for kind in held)
    weights = {
        one.term: one.times * (K1 + 1) * rarity(having[one.term], records)
        for one in terms
        if one.term in having
    }
    return Words(held, having, weights, norm_of(totals.records, totals.words), records)


def ranked(
    scope: Scope,
    query: SearchQuery,
    words: Words,
    where: tuple[Condition, ...] | None = None,
) -> Steps[list[Found]]:
    """Return the best visible records of the scope's graph for a question's words, best first.

    Args:
        scope: Who asks.
        query: The question.
        words: Its words.
        where: What must hold of the records; what ``conditions`` says if not given.
    """
    where = conditions(query) if where is None else where
    chosen = looked_up(words.having, POSTINGS_MAX)
    rows = yield from _having(scope, words, chosen, where, as_of=query.as_of)
    found = words.scored(rows)
    common = in_order_of_rarity(words.having)[len(chosen) :]
    for term in common:
        if len(found) >= query.limit:
            break
        rows = yield from _having(scope, words, [term], where, as_of=query.as_of, newest=NEWEST_MAX)
        once = [(value, 1, one, kind, length) for value, _, one, kind, length in rows]
        found = {**words.scored(once), **found}
    best = nsmallest(query.limit, found.items(), key=lambda one: (-one[1], one[0]))
    return (yield from _marked(scope, [Found(kind, one, score) for (one, kind), score in best]))


def found_by_words(
    scope: Scope, query: SearchQuery, where: tuple[Condition, ...] | None = None
) -> Steps[list[Found]]:
    """Return what ``ranked`` does for the question's own words; nothing where none is asked."""
    words = yield from words_of(scope, query)
    return [] if words is None else (yield from ranked(scope, query, words, where))


def statistics_of(query: SearchQuery, words: Words) -> WordStatistics:
    """Return how rare the words of a question are."""
    return statistics(query.text, words.having, words.records)


def statistics(text: str, having: Mapping[str, int], records: int) -> WordStatistics:
    """Return how rare the words of a text are, of its first ``QUERY_WORDS_MAX`` content words.

    Args:
        text: What is looked at.
        having: How many records have a term; none have those that are missing.
        records: How many there are.
    """
    named = content_words(text)[:QUERY_WORDS_MAX]
    counted = {word: sum(having.get(one, 0) for one in alike(term_of(word))) for word in named}
    return WordStatistics(records, {word: min(records, many) for word, many in counted.items()})


def totals_of(scope: Scope) -> Steps[Totals]:
    """Return what the scope's graph holds."""
    found = yield from every(Find(TOTALS, scope))
    return Totals({one.kind: one.records for one in found}, sum(one.words for one in found))


def having_of(
    scope: Scope,
    terms: Sequence[str],
    kinds: Sequence[Kind],
    totals: Totals,
    *,
    as_of: datetime | None = None,
) -> Steps[dict[str, int]]:
    """Return in how many records of some kinds each term is, those apart that are in none.

    Exact up to ``COUNTED_MAX``. Beyond that a term is taken to be as common in later records as in
    those that were looked at: what it tells of them is little anyway. With ``as_of`` only records
    that had been recorded by then count, ``COUNTED_THEN_MAX`` at most.
    """
    most = COUNTED_MAX if as_of is None else COUNTED_THEN_MAX
    pairs = {listed_as(kind, term): (term, kind) for term in terms for kind in kinds}
    by = _by(scope, tuple(pairs), by_then("recorded_at", as_of), limit=most)
    counted = yield from counts_by_value(by)
    having: dict[str, int] = {}
    for value, at_most in counted.items():
        (term, kind), number = pairs[value], at_most
        if number == COUNTED_MAX and as_of is None:
            number = yield from _estimated(scope, value, totals.of_kind[kind])
        having[term] = having.get(term, 0) + number
    return having


def conditions(query: SearchQuery) -> tuple[Condition, ...]:
    """Return what a question asks of a record besides its words."""
    return (*asked_for(query), *_conditions(query))


def asked_for(query: SearchQuery) -> tuple[Condition, ...]:
    """Return what a question asks of a record besides its words, and besides when it stood."""
    where: list[Condition] = []
    if "turn" not in query.kinds:
        where.append(Either(((Other("kind", "turn"),), (Is("has_tools", 1),))))
    if query.tier is not None:
        where.append(Either(((Other("kind", "fact"),), (Is("tier", query.tier),))))
    if query.grains:
        where.append(Either(((Other("kind", "episode"),), (Among("grain", query.grains),))))
    return (*where, *narrowing(query))


def narrowing(query: SearchQuery) -> Iterator[Condition]:
    """Yield what a question asks of a record of any kind: whose, which, when, about what."""
    yield from equal(user_id=query.user_id, agent_id=query.writer_id)
    if query.ids:
        yield Among("id", query.ids)
    yield from window("happened_at", query.since, query.until)
    if query.topics:
        yield Topics(query.topics, or_none=False)
    yield from (Topics((topic,), or_none=False) for topic in query.all_topics)


def _conditions(query: SearchQuery) -> tuple[Condition, ...]:
    """Return what must hold of a record that stands, now or at the moment that is asked about.

    A belief may have come back since: whether it stood then is asked of its spans.
    """
    lasting = not_by("expires_at", microseconds(query.as_of or query.now))
    if query.as_of is None:
        return (Is("live", 1), lasting)
    ended_later = (Is("live", 0), Within("ended", until=-microseconds(query.as_of)))
    live = Either(((Is("live", 1),), ended_later))
    return (*by_then("recorded_at", query.as_of), lasting, live)


def _having(
    scope: Scope,
    words: Words,
    terms: Sequence[str],
    where: tuple[Condition, ...],
    *,
    as_of: datetime | None,
    newest: int | None = None,
) -> Steps[list[Posting]]:
    if not terms or not words.kinds:
        return []
    values = tuple(listed_as(kind, term) for term in terms for kind in words.kinds)
    where = (*where, Holds("terms", values))
    find = Find(SEARCHABLE, scope, by="terms", where=where)
    if newest is not None:
        order = (f"-{RECORDED}",)
        sorts = len(values) > 1
        find = Find(SEARCHABLE, scope, "terms", where, order, limit=newest, sorts=sorts)
    rows = yield from postings(find, "id", "kind", "length")
    if as_of is None:
        return rows
    beliefs = sorted({row[2] for row in rows if row[3] == "belief"})
    were = yield from active_then(scope, as_of, beliefs)
    return [row for row in rows if row[3] != "belief" or row[2] in were]


def _by(
    scope: Scope, values: tuple[str, ...], where: tuple[Condition, ...], *order: str, limit: int
) -> Find[Filed]:
    where = (*where, Holds("terms", values))
    return Find(SEARCHABLE, scope, "terms", where, order, limit, reach="own")


def _estimated(scope: Scope, value: str, records: int) -> Steps[int]:
    last = _by(scope, (value,), (), RECORDED, limit=1)._replace(skip=COUNTED_MAX - 1)
    ((_, _, place),) = yield from postings(last, "place")
    looked_at: int = max(COUNTED_MAX, place)
    return COUNTED_MAX * max(looked_at, records) // looked_at


def _marked(scope: Scope, found: Sequence[Found]) -> Steps[list[Found]]:
    """Return what was found, those marked that wait to be put into the vector index."""
    waiting = yield from every(among(WORK, scope, [f"index/{one.id}" for one in found]))
    keys = {item.key for item in waiting}
    return [one._replace(words_only=one.id in keys) for one in found]
