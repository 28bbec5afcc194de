"""What the embedded engines tell of turns that the asker knows: the same answers, only shorter."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from datetime import timedelta
from pathlib import Path
from random import Random

import pytest
import pytest_asyncio
from support.cold_samples import (
    OPERATOR,
    OTHER_AGENT,
    OTHER_GRAPH,
    SCOPE,
    STRANGERS,
    asked,
    fact_by,
    turn_by,
)
from support.tier_samples import NOW, TWIN_SCOPES, entry_of, query_of, scope_of

from tiers.cold.sqlite import ColdStores, sqlite_cold_store
from tiers.errors import UsageError
from tiers.known_records import Everything, Known, Seen, Sighted, SightsMeaning
from tiers.records import Hit, Scope, ToolOutput
from tiers.warm.edge_store import EdgeWarmStore, edge_warm_store

MINUTE = timedelta(minutes=1)
WORDS = "mediums last laps box gearbox undercut rain soft hard stint".split()
SCOPES = (SCOPE, OTHER_AGENT, OPERATOR, OTHER_GRAPH, *STRANGERS)


def _sights(hits: Sequence[Hit], seen: Sequence[Seen], known: Known) -> bool:
    """Whether what was seen is what was found, what is known by its id alone.

    Word search tells all but turns whatever is known.
    """
    assert [one.id for one in seen] == [hit.id for hit in hits]
    for hit, one in zip(hits, seen, strict=True):
        if hit.id in known and (hit.tier == "warm" or hit.kind == "turn"):
            assert hit.tier != "hot"
            # An index tells a point once before it knows which record it is.
            known_as = Sighted(hit.id, hit.score, hit.tier, hit.words_only, hit.cosine)
            assert one == known_as or (hit.tier == "warm" and one == hit)
        else:
            assert one == hit
    return any(isinstance(one, Sighted) for one in seen)


def _sentence(random: Random) -> str:
    return " ".join(random.choices(WORDS, k=random.randint(2, 9)))


@pytest_asyncio.fixture
async def warm(tmp_path: Path) -> AsyncIterator[EdgeWarmStore]:
    """An empty index."""
    async with edge_warm_store(tmp_path, dimensions=4, overfetch=20) as store:
        assert isinstance(store, SightsMeaning)
        yield store


@pytest_asyncio.fixture
async def cold(tmp_path: Path) -> AsyncIterator[ColdStores]:
    """An empty cold tier."""
    async with sqlite_cold_store(tmp_path) as store:
        yield store


@pytest.mark.parametrize("seed", range(3))
async def test_the_index_sights_what_it_finds(warm: EdgeWarmStore, seed: int) -> None:
    """Whoever asks whatever and knows whichever turns, again and again: order and scores too."""
    random, written = Random(seed), dict[str, Scope]()
    for number in range(120):
        scope = random.choice(SCOPES)
        vector = tuple(round(random.uniform(-1, 1), 1) or 0.1 for _ in range(4))
        entry = entry_of(
            scope,
            number,
            _sentence(random),
            vector=vector,
            kind=random.choice(["turn", "turn", "fact"]),
            also=("tool_output",) if random.random() < 0.2 else (),
            private=scope.agent_id is not None and random.random() < 0.3,
            topics=random.choice([(), ("tyres",)]),
            user_id=random.choice([None, "ada"]),
        )
        await warm.upsert(scope, [entry])
        written[entry.id] = scope
    sighted = 0
    for _ in range(120):
        scope = random.choice(SCOPES)
        query = query_of(
            _sentence(random),
            kinds=random.choice([("turn",), ("turn", "fact"), ("tool_output",), ()]),
            mode=random.choice(["dense", "dense", "words", "hybrid"]),
            vector=random.choice([(1.0, 0.2, 0.0, 0.0), (0.3, 0.3, -0.9, 0.1)]),
            limit=random.choice([3, 20, 200]),
            inherited=random.random() < 0.1,
        )
        known: Known = random.choice([Everything(), random.sample(sorted(written), 60)])
        hits = await warm.search(scope, query)
        sighted += _sights(hits, await warm.sight(scope, query, known), known)
    assert sighted > 20


@pytest.mark.parametrize(("mine", "theirs"), TWIN_SCOPES)
async def test_nobody_sights_what_is_not_theirs(
    warm: EdgeWarmStore, mine: tuple[str, str, str], theirs: tuple[str, str, str]
) -> None:
    """Not even under ids that both have, having been told of the other's a moment before."""
    own, other = scope_of(*mine), scope_of(*theirs)
    await warm.upsert(other, [entry_of(other, number, private=True) for number in (1, 2)])
    await warm.sight(other, query_of(mode="dense"), Everything())
    assert len(await warm.sight(other, query_of(mode="dense"), Everything())) == 2
    assert await warm.sight(own, query_of(mode="dense"), Everything()) == ()
    await warm.upsert(own, [entry_of(own, 1 if mine[:2] != theirs[:2] else 3)])
    for known in ((), Everything()):
        (one,) = await warm.sight(own, query_of(mode="dense"), known)
        assert one.id != entry_of(own, 2).id


async def test_what_was_deleted_is_not_sighted(warm: EdgeWarmStore) -> None:
    """Though both sides remember it."""
    await warm.upsert(SCOPE, [entry_of(SCOPE, 1), entry_of(SCOPE, 2)])
    for _ in range(2):
        assert len(await warm.sight(SCOPE, query_of(mode="dense"), Everything())) == 2
    await warm.delete(SCOPE, [entry_of(SCOPE, 1).id])
    (left,) = await warm.sight(SCOPE, query_of(mode="dense"), Everything())
    assert left == Sighted(entry_of(SCOPE, 2).id, left.score, "warm", cosine=left.score)


async def _filled(cold: ColdStores, random: Random) -> list[str]:
    """Store turns and facts of several agents and graphs; return the ids of the turns."""
    ids = []
    for number in range(90):
        scope = random.choice([one for one in SCOPES if one.agent_id is not None])
        if number % 5 == 0:
            await cold.semantic.put_fact(scope, fact_by(scope, _sentence(random)))
        outputs = (ToolOutput(tool="pit", output=_sentence(random)),) if number % 7 == 0 else ()
        turn = turn_by(
            scope,
            _sentence(random),
            response=random.choice(["", _sentence(random)]),
            tool_outputs=outputs,
            private=random.random() < 0.3,
        )
        at = {"recorded_at": NOW + random.randrange(60) * MINUTE}
        stored, _ = await cold.turns.append_turn(scope, turn.model_copy(update=at))
        ids.append(stored.id)
    return ids


@pytest.mark.parametrize("seed", range(3))
async def test_word_search_sights_what_it_finds(cold: ColdStores, seed: int) -> None:
    """And counts the words as they are counted alone."""
    random, words = Random(seed), cold.words
    ids, sighted = await _filled(cold, random), 0
    for _ in range(80):
        scope = random.choice(SCOPES)
        query = asked(
            _sentence(random),
            kinds=random.choice([("turn",), ("turn", "fact"), ("tool_output",)]),
            limit=random.choice([3, 200]),
            as_of=random.choice([None, None, NOW + 30 * MINUTE]),
        )
        known: Known = random.choice([Everything(), random.sample(ids, 40)])
        hits = await words.search_words(scope, query)
        narrow = query.model_copy(update={"since": NOW, "limit": 5})
        (seen, statistics), (few, same) = await words.sight_words(scope, [query, narrow], known)
        sighted += _sights(hits, seen, known)
        _sights(await words.search_words(scope, narrow), few, known)
        counted = await cold.recollection.word_statistics(scope, query.text, query.kinds)
        assert statistics == same == counted
    assert sighted > 20
    assert await words.sight_words(SCOPE, [asked("")], Everything()) == (((), None),)
    assert await words.sight_words(SCOPE, [], Everything()) == ()


@pytest.mark.parametrize("seed", range(3))
async def test_conversations_are_sighted_as_they_are(cold: ColdStores, seed: int) -> None:
    """Each turn in its place, cut where they are cut."""
    random, recollection = Random(seed), cold.recollection
    ids = await _filled(cold, random)
    for _ in range(60):
        scope, of = random.choice(SCOPES), random.sample(ids, random.randint(0, 8))
        reach = random.choice([(0, 0), (4, 2), (1, 16)])
        known: Known = random.choice([Everything(), random.sample(ids, 40)])
        as_of = random.choice([None, NOW + 30 * MINUTE])
        told = await recollection.sight_around(scope, of, *reach, (), as_of=as_of)
        seen = await recollection.sight_around(scope, of, *reach, known, as_of=as_of)
        assert [[one.id for one in stretch] for stretch in seen] == [
            [one.id for one in stretch] for stretch in told
        ]
        for said, one in zip(sum(told, ()), sum(seen, ()), strict=True):
            assert one == (Sighted(said.id, 0.0, "cold") if said.id in known else said)
    with pytest.raises(UsageError, match="after"):
        await recollection.sight_around(SCOPE, ids, 1, 17, Everything())
