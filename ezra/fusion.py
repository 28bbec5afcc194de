"""Putting ranked lists together. Pure functions over hits and facts."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tiers.lexical import content_words, stem, words
from tiers.records import Fact, Hit, Scope

RRF_K = 10
"""Smoothing of reciprocal rank fusion (Cormack, Clarke and Büttcher 2009 used 60).

The warm engine fuses with ten as well: the scores of both are put side by side.
"""


@dataclass(frozen=True)
class Leg:
    """One ranked list and for which of its records it counts.

    Attributes:
        hits: Best first.
        only: Ids for which the leg counts, at their rank in the whole list; ``None`` for all.
    """

    hits: Sequence[Hit]
    only: frozenset[str] | None = None


def fuse(legs: Mapping[str, Leg], limit: int, k: int = RRF_K) -> tuple[Hit, ...]:
    """Return the best hits over all legs by reciprocal ranks, ties by id.

    A record found by several legs is returned once, in the form the first leg gave it, with
    ``score = Σ 1 / (k + rank)`` and rank counted from 1. In a leg that counts for some records
    only, rank counts half less: it was reached against all the records for which the leg does
    not count, so equal ranks are not equal.
    """
    scores: dict[str, float] = {}
    forms: dict[str, Hit] = {}
    for leg in legs.values():
        ahead = 0.0 if leg.only is None else 0.5
        for rank, hit in enumerate(leg.hits, start=1):
            if leg.only is None or hit.id in leg.only:
                scores[hit.id] = scores.get(hit.id, 0.0) + 1 / (k + rank - ahead)
                forms.setdefault(hit.id, hit)
    best = sorted(scores, key=lambda record_id: (-scores[record_id], record_id))[:limit]
    return tuple(
        forms[record_id].model_copy(update={"score": scores[record_id]}) for record_id in best
    )


@dataclass(frozen=True)
class CoreFacts:
    """Core facts an agent sees, and those hidden behind a nearer definition."""

    visible: tuple[Fact, ...] = ()
    shadowed: tuple[Fact, ...] = ()


def resolve_core(facts: Sequence[Fact]) -> CoreFacts:
    """Let the nearest graph's definition of a (subject, predicate) hide those further away.

    Args:
        facts: Own graph first, then the lineage in order.

    Facts of one graph never hide each other, and a fact without subject and predicate hides
    nothing.
    """
    defined_by: dict[tuple[str, str], str] = {}
    visible: list[Fact] = []
    shadowed: list[Fact] = []
    for fact in facts:
        if fact.subject is None or fact.predicate is None:
            visible.append(fact)
            continue
        key = (fact.subject.casefold().strip(), fact.predicate.casefold().strip())
        nearest = defined_by.setdefault(key, fact.graph_id)
        (visible if nearest == fact.graph_id else shadowed).append(fact)
    return CoreFacts(tuple(visible), tuple(shadowed))


BM25_K1 = 1.2
BM25_B = 0.75
"""The usual parameters (Robertson and Zaragoza 2009)."""


def merge_by_words(
    query: str, hits: Sequence[Hit], facts: Sequence[Fact], scope: Scope
) -> tuple[Hit, ...]:
    """Put inherited facts among a word search's hits, at the rank their words deserve.

    A store ranks one graph's records; inherited facts live in others. So all of them are scored
    together by BM25, with the hits and the facts as the collection. Facts that share no word with
    the query stay out; equal scores keep the hits' order.
    """
    asked = _stems(query)
    inherited = [fact_hit(fact, 0.0, scope) for fact in facts]
    pool = [*hits, *(hit for hit in inherited if asked & _stems(hit.text))]
    if len(pool) == len(hits):
        return tuple(hits)
    scores = _bm25(asked, [hit.text for hit in pool])
    order = sorted(range(len(pool)), key=lambda place: (-scores[place], place))
    return tuple(pool[place].model_copy(update={"score": scores[place]}) for place in order)


def _bm25(asked: set[str], texts: Sequence[str]) -> list[float]:
    bags = [Counter(stem(word) for word in words(text)) for text in texts]
    lengths = [bag.total() for bag in bags]
    mean = sum(lengths) / len(lengths) or 1.0
    scores = [0.0] * len(texts)
    for term in sorted(asked):
        having = sum(term in bag for bag in bags)
        weight = math.log(1 + (len(bags) - having + 0.5) / (having + 0.5))
        for place, bag in enumerate(bags):
            damping = BM25_K1 * (1 - BM25_B + BM25_B * lengths[place] / mean)
            scores[place] += weight * bag[term] * (BM25_K1 + 1) / (bag[term] + damping)
    return scores


def shared_words(query: str, text: str) -> float:
    """Return the share of the query's content words that the text has, 0 to 1."""
    asked = _stems(query)
    return len(asked & _stems(text)) / len(asked) if asked else 0.0


def _stems(text: str) -> set[str]:
    return {stem(word) for word in content_words(text)}


def fact_hit(fact: Fact, score: float, scope: Scope) -> Hit:
    """Return the fact as a hit of the cold tier, with the way by which it was inherited."""
    paths = {ancestor.graph_id: ancestor.path for ancestor in scope.lineage}
    return Hit(
        id=fact.id,
        kind="fact",
        text=fact.text,
        score=score,
        tier="cold",
        source_ids=fact.source_ids,
        graph_id=fact.graph_id,
        agent_id=fact.agent_id,
        topics=fact.topics,
        occurred_at=fact.valid_from,
        recorded_at=fact.recorded_at,
        valid_from=fact.valid_from,
        valid_to=fact.valid_to,
        inherited_from=fact.graph_id if fact.graph_id != scope.graph_id else None,
        path=paths.get(fact.graph_id, ()),
    )


def without_names(query: str, names: Sequence[str]) -> str:
    """Return the query without the names of known speakers, for the dense leg.

    A name pulls a sentence embedding towards every turn of that speaker; the lexical leg keeps
    it. Only capitalised words count as names, so that an agent called ``tyre engineer`` takes
    nothing away from a question about tyres. A query of nothing but names stays as it is.

    Args:
        query: The question.
        names: Agent ids; of a path such as ``chat/Ada`` only the last part is a name.
    """
    parts = [part for name in names for part in name.rpartition("/")[2].split()]
    known = {word for part in parts if part[:1].isupper() for word in words(part)}
    kept = [
        token for token in query.split() if not (token[:1].isupper() and set(words(token)) & known)
    ]
    return " ".join(kept) or query
