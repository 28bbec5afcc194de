"""What recall is compared with: BM25 alone, dense alone, and both fused by reciprocal ranks.

All of them rank the turns of one conversation, each by the text that ezra itself finds it by:
``speaker: text``, with ``[shares image: caption]``, the reply and the tools' outputs where there
are any. None knows anything else of a turn. Equal scores keep the order of the conversation.
"""

from __future__ import annotations

import math
import time
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from tiers.cosines import dots
from tiers.lexical import STOP_WORDS, words
from tiers.ports import Embedder
from tiers.terms import term_of

from ..replay.script import TurnLine

BM25_K1 = 1.2
BM25_B = 0.75
RRF_K = 60
RRF_LEG = 80
"""The usual recipe: 80 of each leg, fused with k = 60 (Cormack, Clarke and Büttcher 2009)."""

Baseline: TypeAlias = Literal["bm25", "dense", "rrf"]
Scores: TypeAlias = npt.NDArray[np.float64]
Places: TypeAlias = npt.NDArray[np.int64]
Postings: TypeAlias = tuple[Places, Scores]


@dataclass(frozen=True, slots=True)
class Ranking:
    """What a baseline returns: places in the conversation, best first, and how long it took."""

    places: tuple[int, ...]
    milliseconds: float


def text_of(turn: TurnLine) -> str:
    """Return the text that a turn is found by."""
    said = [f"{turn.speaker}: {turn.text}".strip(), turn.response]
    said += [f"{output.tool}: {output.output}" for output in turn.tool_outputs]
    return "\n".join(part for part in said if part)


def terms_of(text: str) -> list[str]:
    """Return the stems of a text's words, stop words left out, in order."""
    return [term for word in words(text) if word not in STOP_WORDS if (term := term_of(word))]


class Bm25:
    """Okapi BM25 over the texts of one conversation.

    score(d) = Σ_t idf(t) · f(t, d) · (k1 + 1) / (f(t, d) + k1 · (1 - b + b · |d| / mean |d|))
    over the different terms t of the question, with idf(t) = ln(1 + (N - n_t + ½) / (n_t + ½))
    (Robertson and Zaragoza 2009; the 1 + of Lucene keeps it above zero).

    Args:
        count: N, how many texts there are.
        weights: For each term the places of the texts that have it, and what it adds to each.
    """

    def __init__(self, count: int, weights: Mapping[str, Postings]) -> None:
        self._count = count
        self._weights = weights

    @classmethod
    def over(cls, texts: Sequence[str]) -> Bm25:
        """Index texts; a text's place is its own from then on."""
        bags = [Counter(terms_of(text)) for text in texts]
        lengths = np.array([bag.total() for bag in bags], dtype=np.float64)
        damping = BM25_K1 * (1 - BM25_B + BM25_B * lengths / max(float(lengths.mean()), 1.0))
        found: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
        for place, bag in enumerate(bags):
            for term, count in bag.items():
                found[term].append((place, count))
        weights = {term: _weighed(np.array(one), damping) for term, one in found.items()}
        return cls(len(texts), weights)

    def scores(self, question: str) -> Scores:
        """Return a score for each text; 0 where no word is shared."""
        scores = np.zeros(self._count)
        for term in dict.fromkeys(terms_of(question)):
            if term in self._weights:
                places, weights = self._weights[term]
                scores[places] += weights
        return scores


def _weighed(counted: Places, damping: Scores) -> Postings:
    """Return what a term adds to the texts that have it, given their places and its counts."""
    places, counts = counted[:, 0], counted[:, 1].astype(np.float64)
    having = len(places)
    idf = math.log(1 + (len(damping) - having + 0.5) / (having + 0.5))
    return places, idf * counts * (BM25_K1 + 1) / (counts + damping[places])


def ranked(scores: Scores, limit: int, above: float = -np.inf) -> tuple[int, ...]:
    """Return the places of the best scores above a bound, ties in order of place."""
    order = np.argsort(-scores, kind="stable")[:limit]
    return tuple(int(place) for place in order if scores[place] > above)


def fused(legs: Sequence[Sequence[int]], limit: int) -> tuple[int, ...]:
    """Return places by Σ 1 / (60 + rank) over the legs, rank from 1, ties in order of place."""
    scores: defaultdict[int, float] = defaultdict(float)
    for leg in legs:
        for rank, place in enumerate(leg, start=1):
            scores[place] += 1 / (RRF_K + rank)
    return tuple(sorted(scores, key=lambda place: (-scores[place], place))[:limit])


class Baselines:
    """The baselines over one conversation. Made by ``Baselines.over``."""

    def __init__(
        self,
        lexical: Bm25,
        embedder: Embedder | None,
        vectors: npt.NDArray[np.float32] | None,
    ) -> None:
        self._lexical = lexical
        self._embedder = embedder
        self._vectors = vectors

    @classmethod
    async def over(cls, turns: Sequence[TurnLine], embedder: Embedder | None) -> Baselines:
        """Index the turns of a conversation.

        Args:
            turns: In the order in which they were said.
            embedder: For the dense leg; ``None`` leaves BM25 alone.
        """
        texts = [text_of(turn) for turn in turns]
        vectors = None
        if embedder is not None:
            vectors = np.asarray(await embedder.embed(texts), dtype=np.float32)
        return cls(Bm25.over(texts), embedder, vectors)

    async def ask(self, question: str, limit: int) -> dict[Baseline, Ranking]:
        """Return what each baseline finds, the question's embedding counted where it is used."""
        started = time.perf_counter()
        lexical = ranked(self._lexical.scores(question), max(limit, RRF_LEG), above=0.0)
        after_words = time.perf_counter()
        found: dict[Baseline, Ranking] = {
            "bm25": Ranking(lexical[:limit], 1000 * (after_words - started))
        }
        if self._embedder is None or self._vectors is None:
            return found
        # The name of a speaker stays in: that is what everybody's dense search does.
        asked = await self._embedder.embed([question], urgent=True, query=True)
        cosines = dots(self._vectors, np.asarray(asked[0], dtype=np.float32))
        dense = ranked(cosines.astype(np.float64), max(limit, RRF_LEG))
        after_dense = time.perf_counter()
        both = fused((lexical[:RRF_LEG], dense[:RRF_LEG]), limit)
        ended = time.perf_counter()
        found["dense"] = Ranking(dense[:limit], 1000 * (after_dense - after_words))
        found["rrf"] = Ranking(both, 1000 * (ended - started))
        return found
