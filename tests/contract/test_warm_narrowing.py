"""What a question of a warm store leaves out, inside the engine: legs, times, grains, writers."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from datetime import timedelta
from random import Random
from typing import Any

import pytest
import pytest_asyncio
from support.tier_samples import NOW, entry_of, query_of, record_id, scope_of
from support.warm_backends import WARM_BACKENDS, WarmBackend
from support.warm_lineage import ancestor, heir_of

from tiers.errors import UsageError
from tiers.ports import WarmStore
from tiers.records import Kind, Scope, SearchMode, SearchQuery
from tiers.warm.ranking import TIES_MAX

SCOPE = scope_of()
MICROSECOND = timedelta(microseconds=1)
HOUR = timedelta(hours=1)

# One loop for the file: opening an index costs 0.1 s, emptying one nothing.
pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(
    scope="module", loop_scope="module", params=WARM_BACKENDS, ids=lambda backend: backend.name
)
async def shared(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[tuple[WarmBackend, WarmStore]]:
    """One store of each backend."""
    async with request.param.opened(tmp_path_factory.mktemp("warm")) as opened:
        yield request.param, opened


@pytest.fixture
def store(shared: tuple[WarmBackend, WarmStore]) -> Iterator[WarmStore]:
    """An empty store of each backend."""
    backend, opened = shared
    yield opened
    backend.emptied(opened)


async def _found(store: WarmStore, query: SearchQuery, scope: Scope = SCOPE) -> list[int]:
    """Return the numbers of the entries found, in order of number."""
    hits = await store.search(scope, query)
    return sorted(int(hit.id.replace("-", ""), 16) for hit in hits)


async def _seen(store: WarmStore, scope: Scope = SCOPE, **fields: Any) -> list[int]:
    """Return what each mode finds of entries that answer both legs, which must be the same."""
    answers = [
        await _found(store, query_of("entry", mode=mode, **fields), scope)
        for mode in ("hybrid", "dense", "words")
    ]
    assert answers[0] == answers[1] == answers[2]
    return answers[0]


async def test_each_mode_asks_its_own_leg(store: WarmStore) -> None:
    """Meaning alone needs a vector on both sides; words alone look at none."""
    await store.upsert(
        SCOPE,
        [entry_of(SCOPE, 1, "undercut", vector=None), entry_of(SCOPE, 2, "overcut")],
    )
    assert await _found(store, query_of("undercut")) == [1, 2]
    assert await _found(store, query_of("undercut", mode="dense")) == [2]
    assert await _found(store, query_of("undercut", mode="words")) == [1]
    assert await _found(store, query_of("undercut", mode="dense", vector=None)) == []
    with pytest.raises(UsageError):
        await store.search(SCOPE, query_of("undercut", mode="words", vector=(1.0,)))


async def test_meaning_alone_scores_by_the_cosine(store: WarmStore) -> None:
    """Best first, ties by id, and the score is the cosine itself."""
    directions = [(1.0, 0.0, 0.0, 0.0), (0.6, 0.8, 0.0, 0.0), (0.0, 1.0, 0.0, 0.0)]
    numbered = [(3, directions[2]), (2, directions[0]), (1, directions[0]), (4, directions[1])]
    await store.upsert(SCOPE, [entry_of(SCOPE, n, vector=vector) for n, vector in numbered])
    hits = await store.search(SCOPE, query_of("entry", mode="dense"))
    assert [int(hit.id[-2:]) for hit in hits] == [1, 2, 4, 3]
    assert [hit.score for hit in hits] == pytest.approx([1, 1, 0.6, 0], abs=1e-4)


async def test_as_of_leaves_out_what_was_recorded_later(store: WarmStore) -> None:
    """Of the own graph; of an ancestor as well, whichever of the two moments comes first."""
    parent = scope_of(graph_id="parent")
    for owner in (SCOPE, parent):
        at = [NOW, NOW + MICROSECOND, NOW + HOUR]
        entries = [entry_of(owner, n, kind="rule", recorded_at=one) for n, one in enumerate(at)]
        await store.upsert(owner, entries)
    rules: dict[str, Any] = {"kinds": ("rule",)}
    assert await _seen(store, as_of=NOW, **rules) == [0]
    assert await _seen(store, as_of=NOW + MICROSECOND, **rules) == [0, 1]
    for pinned, asked in ((NOW, NOW + HOUR), (NOW + HOUR, NOW), (None, NOW)):
        heir = heir_of(ancestor("parent", "rule", as_of=pinned))
        assert await _seen(store, heir, inherited=True, as_of=asked, **rules) == [0]


async def test_statistics_of_words_are_those_of_the_moment(store: WarmStore) -> None:
    """What was recorded since does not move the scores of what was found then."""
    texts = [f"stint {n} rain" if n % 3 else f"rare {n}" for n in range(12)]
    await store.upsert(SCOPE, [entry_of(SCOPE, n, text) for n, text in enumerate(texts)])
    query = query_of("rare rain", mode="words", as_of=NOW)
    before = await store.search(SCOPE, query)
    later = [entry_of(SCOPE, 100 + n, "rare rare", recorded_at=NOW + HOUR) for n in range(40)]
    await store.upsert(SCOPE, later)
    assert await store.search(SCOPE, query) == before


async def test_a_window_is_about_when_it_happened(store: WarmStore) -> None:
    """From ``since`` until before ``until``; what has no such moment happened when recorded."""
    await store.upsert(
        SCOPE,
        [
            entry_of(SCOPE, 1, occurred_at=NOW, recorded_at=NOW + HOUR),
            entry_of(SCOPE, 2, occurred_at=NOW - HOUR, recorded_at=NOW),
            entry_of(SCOPE, 3, recorded_at=NOW),
            entry_of(SCOPE, 4, recorded_at=NOW + HOUR),
        ],
    )
    assert await _seen(store, since=NOW) == [1, 3, 4]
    assert await _seen(store, until=NOW) == [2]
    assert await _seen(store, since=NOW, until=NOW + MICROSECOND) == [1, 3]
    assert await _seen(store, since=NOW + MICROSECOND) == [4]
    assert await _seen(store, since=NOW, until=NOW) == []


async def test_grains_concern_episodes_only(store: WarmStore) -> None:
    """Episodes of the asked grains, everything of the other kinds; a hit says its grain."""
    grains = ("daily", "weekly", "monthly")
    episodes = [entry_of(SCOPE, n, kind="episode", grain=grain) for n, grain in enumerate(grains)]
    await store.upsert(SCOPE, [*episodes, entry_of(SCOPE, 9)])
    both: dict[str, Any] = {"kinds": ("turn", "episode")}
    assert await _seen(store, **both) == [0, 1, 2, 9]
    assert await _seen(store, grains=("weekly", "daily"), **both) == [0, 1, 9]
    assert await _seen(store, grains=("yearly",), **both) == [9]
    assert await _seen(store, grains=("weekly",), kinds=("episode",)) == [1]
    assert await store.count(SCOPE, "episode") == 3
    (hit,) = await store.search(SCOPE, query_of("entry", kinds=("episode",), grains=("monthly",)))
    assert (hit.kind, hit.grain) == ("episode", "monthly")


async def test_turns_with_tool_outputs_are_found_as_such(store: WarmStore) -> None:
    """As turns, once, and counted once; other turns are not found that way."""
    await store.upsert(SCOPE, [entry_of(SCOPE, 1), entry_of(SCOPE, 2, also=("tool_output",))])
    outputs: tuple[Kind, ...] = ("tool_output",)
    assert await _seen(store, kinds=outputs) == [2]
    assert await _seen(store, kinds=("turn", *outputs)) == [1, 2]
    (hit,) = await store.search(SCOPE, query_of("entry", kinds=outputs))
    assert hit.kind == "turn"
    counts = [await store.count(SCOPE, kind) for kind in (None, "turn", "tool_output", "fact")]
    assert counts == [2, 2, 1, 0]


async def test_topics_and_writers_narrow_what_is_seen(store: WarmStore) -> None:
    """Neither shows what the asker may not see."""
    engineer = scope_of(agent_id="engineer")
    await store.upsert(
        SCOPE,
        [
            entry_of(SCOPE, 1, topics=("tyres",)),
            entry_of(SCOPE, 2, topics=("fuel", "tyres")),
            entry_of(SCOPE, 3),
            entry_of(engineer, 4, topics=("fuel",)),
            entry_of(engineer, 5, topics=("fuel",), private=True),
        ],
    )
    assert await _seen(store, topics=("tyres",)) == [1, 2]
    assert await _seen(store, topics=("tyres", "fuel")) == [1, 2, 4]
    assert await _seen(store, all_topics=("tyres", "fuel")) == [2]
    assert await _seen(store, all_topics=("fuel",), topics=("tyres",)) == [2]
    assert await _seen(store, all_topics=("fuel", "rain")) == []
    assert await _seen(store, scope_of(denied=("fuel",)), all_topics=("tyres",)) == [1]
    assert await _seen(store, scope_of(topics=("tyres",)), topics=("fuel",)) == [2]
    assert await _seen(store, scope_of(denied=("fuel",)), topics=("tyres",)) == [1]
    assert await _seen(store, writer_id="engineer") == [4]
    assert await _seen(store, writer_id="engin") == []
    with pytest.raises(UsageError):
        await store.search(SCOPE, query_of(writer_id="\ud800"))


async def test_a_question_may_be_kept_to_records(store: WarmStore) -> None:
    """To some of the own graph, whatever else fits better; an ancestor's are none of them."""
    parent = scope_of(graph_id="parent")
    await store.upsert(SCOPE, [entry_of(SCOPE, n, "entry " * n) for n in range(1, 60)])
    await store.upsert(parent, [entry_of(parent, 1)])
    ids = tuple(record_id(n) for n in (1, 2, 99))
    assert await _seen(store, ids=ids, limit=2) == [1, 2]
    assert await _seen(store, ids=(record_id(99),)) == []
    heir = heir_of(ancestor("parent", "turn"))
    assert await _seen(store, heir, inherited=True) == [1]
    assert await _seen(store, heir, inherited=True, ids=ids) == []
    with pytest.raises(UsageError):
        await store.search(SCOPE, query_of(ids=("\ud800",)))


async def test_six_graphs_in_one_index_rank_as_six_indexes(store: WarmStore) -> None:
    """Ids, scores and order of every mode, whatever else is stored beside a graph.

    That is also a graph of the same name, of another tenant.
    """
    random = Random(4)
    words = ["rain", "pace", "stint", "box", "fuel", "lap"]

    def entries(scope: Scope) -> list[Any]:
        return [
            entry_of(
                scope,
                n,
                " ".join(random.choices(words, k=5)),
                vector=tuple(random.choice([-1.0, 0.5, 1.0]) for _ in range(4)),
            )
            for n in range(40)
        ]

    scopes = [scope_of(graph_id=f"g{n}") for n in range(5)]
    scopes.append(scope_of(tenant="acm", graph_id="g0"))
    held = [entries(scope) for scope in scopes]
    queries = [
        query_of("rain fuel", vector=(0.5, -0.5, 0.5, 0.5), mode=mode, limit=15)
        for mode in ("dense", "words", "hybrid")
    ]
    alone = []
    for scope, own in zip(scopes, held, strict=True):
        await store.upsert(scope, own)
        alone.append([await store.search(scope, query) for query in queries])
        await store.delete(scope, [entry.id for entry in own])
    for scope, own in reversed([*zip(scopes, held, strict=True)]):
        await store.upsert(scope, own[::-1])
    for scope, before in zip(scopes, alone, strict=True):
        assert [await store.search(scope, query) for query in queries] == before


@pytest.mark.parametrize("mode", ["dense", "words"])
async def test_a_tie_at_the_end_is_cut_by_id(store: WarmStore, mode: SearchMode) -> None:
    """Not by where an engine happens to hold what ties, which is the order of writing."""
    numbers = list(range(3 + TIES_MAX))  # of more an engine may leave out whichever it likes
    Random(7).shuffle(numbers)
    await store.upsert(SCOPE, [entry_of(SCOPE, number, "same words") for number in numbers])
    for limit in (200, 3):
        query = query_of("words", mode=mode, limit=limit)
        assert await _found(store, query) == list(range(limit))
