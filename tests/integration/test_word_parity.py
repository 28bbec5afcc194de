"""SQLite and MongoDB find the same records for the same words, in the same order."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import timedelta
from random import Random
from typing import Any

import pytest
import pytest_asyncio
from support.cold_backends import COLD_BACKENDS
from support.cold_samples import asked, belief_by, episode_by, fact_by, rule_by, summary_by, turn_by
from support.tier_samples import NOW, scope_of

from tiers.records import Hit, Scope, SearchQuery

pytestmark = pytest.mark.asyncio(loop_scope="module")

SEED = 20260311
SQLITE = next(backend for backend in COLD_BACKENDS if backend.name == "sqlite")
OTHERS = [backend for backend in COLD_BACKENDS if backend.name == "mongo"]

WORDS = (
    "tyre tyres medium mediums hard soft lap laps pit stop stopped stopping box wall undercut rain "
    "raining dry wet wing wings gearbox fuel brake brakes braking engine engines temperature "
    "pressure window strategy strategic race racing start restart safety car cars radio driver "
    "driver's drivers degrade degraded degradation quickly quick 18 2026 use used using one ice "
    "possibly possible topology the a of is über été Шины 轮胎 タイヤ don't"
).split()
QUESTIONS = 50
RELATIVE = 1e-9
"""Scores nearer than this are equal: the engines add up in another order."""


@dataclass(frozen=True)
class Engines:
    """Two cold tiers that hold the same."""

    sqlite: Any
    other: Any


@pytest_asyncio.fixture(
    scope="module", loop_scope="module", params=OTHERS, ids=lambda backend: backend.name
)
async def engines(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Engines]:
    """Both filled with the same two hundred records of every kind, in three graphs."""
    folder = tmp_path_factory.mktemp("words")
    async with AsyncExitStack() as stack:
        found = [
            await stack.enter_async_context(backend.opened(folder / backend.name))
            for backend in (SQLITE, request.param)
        ]
        random = Random(SEED)
        for number in range(220):
            await _store(found, random, number)
        yield Engines(*found)


def _text(random: Random, most: int = 30) -> str:
    """Return words of which some are frequent and most are rare."""
    count = random.randint(1, most)
    drawn = [WORDS[min(int(random.expovariate(0.06)), len(WORDS) - 1)] for _ in range(count)]
    return " ".join(drawn)


def _scope(random: Random) -> Scope:
    graph = random.choice(["race", "race", "race", "race/2", "imola"])
    topics = ("strategy", "tyres", "weather")
    made = scope_of(graph_id=graph, agent_id=random.choice(["strategist", "engineer"]))
    return made.model_copy(update={"topics": topics, "user_id": random.choice([None, "team"])})


async def _store(engines: Sequence[Any], random: Random, number: int) -> None:
    """Store one record in all engines: of any kind, any topics, some private, some expired."""
    scope = _scope(random)
    fields: dict[str, Any] = {
        "topics": random.choice([(), ("tyres",), ("strategy", "tyres"), ("weather",)]),
        "private": random.random() < 0.1,
    }
    stores = [_store_turns, _store_episode, _store_fact, _store_fact, _store_rule, _store_belief]
    await random.choice(stores)(engines, random, scope, fields | {"number": number})


async def _store_turns(
    engines: Sequence[Any], random: Random, scope: Scope, fields: dict[str, Any]
) -> None:
    del fields["number"]
    turn = turn_by(scope, _text(random), response=_text(random), **fields)
    expires_at = NOW + timedelta(days=random.choice([-1, 1]))
    summary = summary_by(scope, [turn], text=_text(random), expires_at=expires_at, **fields)
    for cold in engines:
        await cold.turns.append_turn(scope, turn)
        await cold.episodic.put_summary(scope, summary)


async def _store_episode(
    engines: Sequence[Any], random: Random, scope: Scope, fields: dict[str, Any]
) -> None:
    children = [f"child {fields.pop('number')}"]
    episode = episode_by(scope, children, text=_text(random, 60), **fields)
    for cold in engines:
        await cold.episodic.put_episode(scope, episode)


async def _store_fact(
    engines: Sequence[Any], random: Random, scope: Scope, fields: dict[str, Any]
) -> None:
    del fields["number"]
    more = {"tier": random.choice(["archival", "archival", "core"])}
    more |= {"superseded_by": "newer"} if random.random() < 0.1 else {}
    fact = fact_by(scope, _text(random), **fields, **more)
    for cold in engines:
        await cold.semantic.put_fact(scope, fact)


async def _store_rule(
    engines: Sequence[Any], random: Random, scope: Scope, fields: dict[str, Any]
) -> None:
    del fields["number"]
    rule = rule_by(scope, _text(random, 6), steps=(_text(random),), **fields)
    for cold in engines:
        await cold.procedural.put_rule(scope, rule)


async def _store_belief(
    engines: Sequence[Any], random: Random, scope: Scope, fields: dict[str, Any]
) -> None:
    del fields["number"]
    key = random.choice([None, ("start", "compound"), ("pit", "lap")])
    belief = belief_by(scope, _text(random), key=key, **fields)
    for cold in engines:
        await cold.beliefs.commit(scope, belief)


def _questions() -> list[tuple[Scope, SearchQuery]]:
    """Return questions of different length, to different kinds, by different askers."""
    random = Random(SEED + 1)
    made = []
    for _ in range(QUESTIONS):
        kinds = random.choice(
            [
                ("turn", "summary", "episode", "fact", "rule", "belief"),
                ("turn", "summary", "fact", "belief"),
                ("fact",),
                ("belief", "rule"),
            ]
        )
        query = asked(
            _text(random, 8),
            kinds=kinds,
            limit=random.choice([5, 20, 200]),
            tier=random.choice([None, None, "archival"]),
            user_id=random.choice([None, None, "team"]),
        )
        asker = scope_of(
            graph_id=random.choice(["race", "race", "race/2"]),
            agent_id=random.choice(["strategist", "engineer", None]),
            topics=random.choice([("*",), ("tyres",), ("strategy", "weather"), ()]),
            denied=random.choice([(), (), ("weather",)]),
            user_id=random.choice([None, "team"]),
            every_user=random.random() < 0.3,
        )
        made.append((asker, query))
    return made


def _in_order(hits: Sequence[Hit]) -> list[tuple[float, list[str]]]:
    """Return ids in order, those with equal scores together."""
    groups: list[tuple[float, list[str]]] = []
    for hit in hits:
        if groups and hit.score == pytest.approx(groups[-1][0], rel=RELATIVE):
            groups[-1][1].append(hit.id)
        else:
            groups.append((hit.score, [hit.id]))
    return [(score, sorted(ids)) for score, ids in groups]


async def test_the_same_records_in_the_same_order_with_the_same_scores(engines: Engines) -> None:
    """Fifty questions: ids in order, equal scores by id, and the scores themselves."""
    answered = 0
    for asker, query in _questions():
        mine = await engines.sqlite.words.search_words(asker, query)
        theirs = await engines.other.words.search_words(asker, query)
        shown = f"{query.text!r} to {query.kinds}"
        if len(mine) < query.limit:  # a tie at the cut may be cut anywhere
            assert [hit.id for hit in theirs] == [hit.id for hit in mine] or (
                _in_order(theirs) == [(pytest.approx(s), ids) for s, ids in _in_order(mine)]
            ), shown
        scores = [hit.score for hit in mine]
        assert [hit.score for hit in theirs] == pytest.approx(scores, rel=RELATIVE), shown
        answered += bool(mine)
    assert answered > QUESTIONS * 0.8, "questions that find nothing prove nothing"


@pytest.mark.parametrize("every", [4, pytest.param(1, marks=pytest.mark.slow)])
async def test_archival_recall_agrees_too(engines: Engines, every: int) -> None:
    """Without an index both recall by these words alone, which the test above asks about."""
    for asker, query in _questions()[::every]:
        mine = await engines.sqlite.semantic.recall_archival(asker, query, limit=10)
        theirs = await engines.other.semantic.recall_archival(asker, query, limit=10)
        assert [hit.id for hit in theirs] == [hit.id for hit in mine]
