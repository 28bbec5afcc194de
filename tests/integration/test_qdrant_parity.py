"""The embedded engine and a Qdrant client answer alike, id by id, over 1,500 points."""

from __future__ import annotations

import math
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from random import Random

import pytest
from support.qdrant_shim import shared_shim
from support.tier_samples import NOW, ancestor, entry_of, query_of, scope_of
from support.warm_backends import local_client, prefix_of

from tiers.ports import WarmStore
from tiers.records import Hit, IndexEntry, Scope, SearchQuery
from tiers.warm import edge_warm_store
from tiers.warm.qdrant_store import qdrant_warm_store
from tiers.warm.ranking import SCORE_DIGITS

DIMENSIONS = 32
OWNERS = [(tenant, f"g{number}") for tenant in ("a", "ab", "b") for number in range(4)]
LATER = NOW.replace(year=2028)

LAST_DIGIT = 10.0 ** (1 - SCORE_DIGITS)
"""Engines add 32-bit floats in different orders, so two sums may be rounded apart by one digit."""

Question = tuple[Scope, SearchQuery]


def _vector(random: Random) -> tuple[float, ...]:
    numbers = [random.gauss(0, 1) for _ in range(DIMENSIONS)]
    length = math.hypot(*numbers)
    return tuple(number / length for number in numbers)


def _vocabulary(random: Random) -> list[str]:
    syllables = [f"{a}{b}" for a in "bcdfgklmnprtv" for b in "aeiou"]
    return ["".join(random.choices(syllables, k=3)) for _ in range(400)]


def _entries(
    random: Random, owner: tuple[str, str], vocabulary: list[str], count: int
) -> list[IndexEntry]:
    """Return a graph's entries, each of another length.

    How an engine ranks what scores equal inside one leg is its own affair, so no two texts of a
    graph weigh a word alike; what ties after the fusion is left, and goes by id.
    """
    rarity = [1 / (rank + 1) for rank in range(len(vocabulary))]
    return [
        entry_of(
            scope_of(*owner, agent_id=random.choice("xy")),
            number * len(OWNERS) + OWNERS.index(owner),
            " ".join(random.choices(vocabulary, rarity, k=5 + number)),
            vector=_vector(random) if random.random() < 0.95 else None,
            kind=random.choice(["turn", "fact", "rule"]),
            tier=random.choice([None, "core", "archival"]),
            topics=random.sample(["t1", "t2", "t3"], random.choice([0, 0, 1, 2])),
            private=random.random() < 0.2,
            expires_at=random.choice([None, None, NOW, NOW.replace(year=2027)]),
            user_id=random.choice([None, "u", "v"]),
            recorded_at=random.choice([NOW, LATER]),
        )
        for number in random.sample(range(count), count)
    ]


def _question(random: Random, number: int, vocabulary: list[str]) -> Question:
    shape = ("dense", "lexical", "hybrid", "hybrid")[number % 4]
    topics = random.choice([("*",), ("*",), (), ("t1",), ("t2", "t3")])
    kinds = random.choice([("turn",), ("turn", "fact"), ("turn", "fact", "rule")])
    tenant, own = random.choice(OWNERS)
    scope = scope_of(
        tenant,
        own,
        random.choice(["x", "y", None]),
        topics,
        user_id=random.choice([None, "u"]),
        every_user=random.random() < 0.5,
        denied=random.choice([(), (), ("t3",)]),
        lineage=[
            ancestor(f"g{n}", *kinds[: random.randint(0, 3)], as_of=random.choice([None, NOW]))
            for n in random.sample(range(4), 3)
            if f"g{n}" != own
        ],
    )
    query = query_of(
        "" if shape == "dense" else " ".join(random.choices(vocabulary, k=random.randint(1, 5))),
        vector=None if shape == "lexical" else _vector(random),
        kinds=kinds,
        tier=random.choice([None, None, "core"]),
        user_id=random.choice([None, None, "u"]),
        limit=random.choice([5, 10, 30]),
        now=random.choice([NOW, LATER]),
        inherited=random.random() < 0.4,
    )
    return scope, query


@asynccontextmanager
async def _memory(_folder: Path) -> AsyncIterator[WarmStore]:
    async with (
        local_client(location=":memory:") as client,
        qdrant_warm_store(client, dimensions=DIMENSIONS) as store,
    ):
        yield store


def _http(folder: Path) -> AbstractAsyncContextManager[WarmStore]:
    prefix = prefix_of(folder)
    return qdrant_warm_store(shared_shim().url, prefix=prefix, dimensions=DIMENSIONS)


def _settled(hits: tuple[Hit, ...]) -> tuple[Hit, ...]:
    """Return hits in an order that the last digits of a score do not decide.

    Local mode adds reciprocal ranks as doubles where the engine and the server have floats, so
    what ties by the formula (1/15 and 1/20 + 1/60) may tie in one of them only.
    """
    return tuple(sorted(hits, key=lambda hit: (-float(f"{hit.score:.5g}"), hit.id)))


@pytest.mark.parametrize(
    ("opened", "points", "questions"),
    [
        pytest.param(_http, 125, 40, id="http"),
        pytest.param(_http, 250, 100, id="http, all", marks=pytest.mark.slow),
        pytest.param(_memory, 250, 100, id="memory, all", marks=pytest.mark.slow),
    ],
)
async def test_same_questions_same_answers(
    tmp_path: Path, opened: object, points: int, questions: int
) -> None:
    """Dense, lexical and hybrid, under every condition, in twelve graphs of three tenants.

    Two in five questions are asked of the ancestors.
    """
    assert callable(opened)
    random = Random(20260301)
    vocabulary = _vocabulary(random)
    async with (
        edge_warm_store(tmp_path / "edge", dimensions=DIMENSIONS) as edge,
        opened(tmp_path) as qdrant,
    ):
        for owner in OWNERS:
            entries = _entries(random, owner, vocabulary, points)
            for store in (edge, qdrant):
                await store.upsert(scope_of(*owner), entries)
        found = 0
        for number in range(questions):
            scope, query = _question(random, number, vocabulary)
            expected = await edge.search(scope, query)
            answered = await qdrant.search(scope, query)
            if opened is _memory:
                answered, expected = _settled(answered), _settled(expected)
            assert [hit.id for hit in answered] == [hit.id for hit in expected], query
            for hit, twin in zip(answered, expected, strict=True):
                assert hit.score == pytest.approx(twin.score, rel=LAST_DIGIT)
                if twin.cosine is not None:
                    assert hit.cosine == pytest.approx(twin.cosine, rel=LAST_DIGIT)
                told = {"score": hit.score, "cosine": twin.cosine and hit.cosine}
                assert hit == twin.model_copy(update=told)
            found += len(expected)
    assert found > 4 * questions, "the questions were too narrow to prove anything"
