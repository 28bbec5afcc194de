"""The contract of ``WarmStore``, on every engine and on the reference."""

from __future__ import annotations

import asyncio
import math
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from support.tier_samples import (
    HOSTILE_TEXT,
    NOW,
    TWIN_SCOPES,
    entry_of,
    query_of,
    record_id,
    scope_of,
)
from support.warm_backends import WARM_BACKENDS, WarmBackend

from tiers.errors import TierUnavailable, UsageError
from tiers.ports import WarmStore
from tiers.records import Hit, Scope, SearchQuery

SCOPE = scope_of()
MICROSECOND = timedelta(microseconds=1)


# One loop for the file: opening an index costs 0.1 s, emptying one nothing.
pytestmark = pytest.mark.asyncio(loop_scope="module")


async def _found(store: WarmStore, scope: Scope, query: SearchQuery | None = None) -> list[int]:
    """Return the numbers of the entries found, in order of number."""
    hits = await store.search(scope, query or query_of())
    return sorted(int(hit.id.replace("-", ""), 16) for hit in hits)


async def test_empty_store_finds_and_counts_nothing(store: WarmStore) -> None:
    """Searching, deleting, sweeping and flushing what never was is not an error."""
    await store.delete(SCOPE, [record_id(1), "no uuid", "", "\ud800"])
    await store.delete(SCOPE, [])
    await store.flush()
    assert len(await store.delete_expired(SCOPE, NOW)) == 0
    assert await store.count(SCOPE) == 0
    assert await store.search(SCOPE, query_of("anything")) == ()


async def test_empty_batch_is_a_no_op(store: WarmStore) -> None:
    """Writing nothing writes nothing."""
    await store.upsert(SCOPE, [])
    assert await store.count(SCOPE) == 0


async def test_hit_carries_what_was_written(store: WarmStore) -> None:
    """Every field of an answer comes from the entry, exact to the microsecond."""
    moment = datetime(2026, 2, 3, 4, 5, 6, 789_123, tzinfo=UTC)
    entry = entry_of(
        SCOPE,
        1,
        "Mediums last eighteen laps.",
        kind="fact",
        tier="archival",
        speaker="engineer",
        ref="radio-7",
        topics=("tyres", "strategy"),
        source_ids=("s1", "s2"),
        occurred_at=moment,
        recorded_at=moment + MICROSECOND,
        user_id="team",
    )
    await store.upsert(SCOPE, [entry])
    asker = scope_of(user_id="team")
    (hit,) = await store.search(asker, query_of("mediums", kinds=("fact",)))
    assert hit == Hit(
        id=entry.id,
        kind="fact",
        text=entry.text,
        score=hit.score,
        tier="warm",
        source_ids=("s1", "s2"),
        graph_id="race",
        agent_id="strategist",
        speaker="engineer",
        ref="radio-7",
        topics=("strategy", "tyres"),
        occurred_at=moment,
        recorded_at=moment + MICROSECOND,
        user_id="team",
        fact_tier="archival",
        cosine=hit.cosine,
    )
    assert hit.score > 0


async def test_hits_found_by_meaning_say_how_close_they_are(store: WarmStore) -> None:
    """In both modes; what only words find does not, and no answer's JSON has it."""
    near, far = (0.6, 0.8, 0.0, 0.0), None
    entries = [entry_of(SCOPE, n, "box now", vector=one) for n, one in enumerate((near, far), 1)]
    await store.upsert(SCOPE, entries)
    for mode, expected in (("hybrid", [0.6, None]), ("dense", [0.6]), ("words", [None, None])):
        found = await store.search(SCOPE, query_of("box now", mode=mode))
        by_id = {hit.id: hit.cosine for hit in found}
        told = [by_id[one.id] for one in entries if one.id in by_id]
        assert [one if one is None else pytest.approx(one) for one in expected] == told
        assert all("cosine" not in hit.model_dump_json() for hit in found)


async def test_hits_found_by_words_alone_say_how_close_they_are(store: WarmStore) -> None:
    """So that nobody embeds them again: their own vectors are compared."""
    near = [entry_of(SCOPE, n, "rain", vector=(0.0, 0.6, 0.8, 0.0)) for n in range(100, 220)]
    far = entry_of(SCOPE, 1, "box now", vector=(0.6, 0.8, 0.0, 0.0))
    await store.upsert(SCOPE, [*near, far])
    query = query_of("box now", vector=(0.0, 0.6, 0.8, 0.0), limit=5)
    found = {hit.id: hit.cosine for hit in await store.search(SCOPE, query)}
    assert found.pop(far.id) == pytest.approx(0.48, abs=1e-4)
    assert [*found.values()] == pytest.approx([1.0] * 4)


@pytest.mark.parametrize("year", [1, 1600, 1969, 2254, 9999])
async def test_times_of_any_year_come_back(store: WarmStore, year: int) -> None:
    """Times far from now are stored exactly, also before 1970."""
    moment = datetime(year, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC)
    await store.upsert(SCOPE, [entry_of(SCOPE, 1, occurred_at=moment, recorded_at=moment)])
    (hit,) = await store.search(SCOPE, query_of())
    assert (hit.occurred_at, hit.recorded_at) == (moment, moment)


BAD_FIELDS: tuple[dict[str, Any], ...] = (
    {"tenant": "acm"},
    {"tenant": ""},
    {"graph_id": "rac"},
    {"id": "not-a-uuid"},
    {"id": ""},
    {"id": record_id(255).upper()},
    {"id": "{" + record_id(1) + "}"},
    {"vector": (1.0, 0.0)},
    {"vector": ()},
    {"vector": (math.nan, 0.0, 0.0, 0.0)},
    {"vector": (math.inf, 0.0, 0.0, 0.0)},
    {"private": True, "agent_id": ""},
    {"speaker": "\ud800"},
)


async def test_bad_entry_refuses_the_whole_batch(
    store: WarmStore, subtests: pytest.Subtests
) -> None:
    """A batch is all or nothing, wherever the bad entry stands in it."""
    good = [entry_of(SCOPE, number) for number in range(300)]
    for fields in BAD_FIELDS:
        bad = entry_of(SCOPE, 1000, **fields)
        for where, batch in {"first": [bad, *good], "last": [*good, bad]}.items():
            with subtests.test(where, **fields):
                with pytest.raises(UsageError):
                    await store.upsert(SCOPE, batch)
                assert await store.count(SCOPE) == 0


async def test_writing_again_replaces_everything(store: WarmStore) -> None:
    """The new words, topics and vector replace the old ones, none of which are found again."""
    await store.upsert(SCOPE, [entry_of(SCOPE, 1, "hard compound", topics=("tyres",))])
    await store.upsert(SCOPE, [entry_of(SCOPE, 1, "soft compound", vector=None)])
    assert await store.count(SCOPE) == 1
    assert await _found(store, SCOPE, query_of("hard", vector=None)) == []
    assert await _found(store, SCOPE, query_of("soft", vector=None)) == [1]
    assert await _found(store, SCOPE, query_of()) == []
    assert await _found(store, scope_of(topics=()), query_of("soft")) == [1]


async def test_later_of_two_with_one_id_wins(store: WarmStore) -> None:
    """Inside one batch too, near and far apart."""
    for distance in (1, 400):
        filler = [entry_of(SCOPE, 10 + number) for number in range(distance)]
        batch = [entry_of(SCOPE, 1, "first"), *filler, entry_of(SCOPE, 1, "second")]
        await store.upsert(SCOPE, batch)
        assert await _found(store, SCOPE, query_of("first", vector=None)) == []
        assert await _found(store, SCOPE, query_of("second", vector=None)) == [1]


@pytest.mark.parametrize("pair", TWIN_SCOPES, ids=range(len(TWIN_SCOPES)))
async def test_scopes_do_not_leak(store: WarmStore, pair: tuple[Any, Any]) -> None:
    """The same record id in scopes with confusable names is two records in two worlds."""
    left, right = (scope_of(*names) for names in pair)
    secret = entry_of(left, 1, "left secret", private=True)
    await store.upsert(left, [secret])
    assert await store.search(right, query_of("secret")) == ()
    if (left.tenant, left.graph_id) == (right.tenant, right.graph_id):
        return
    assert await store.count(right) == 0
    await store.upsert(right, [entry_of(right, 1, "right secret", expires_at=NOW)])
    assert len(await store.delete_expired(right, NOW)) == 1
    await store.upsert(right, [entry_of(right, 1, "right secret")])
    (hit,) = await store.search(left, query_of("secret"))
    assert (hit.text, hit.graph_id) == ("left secret", left.graph_id)
    await store.delete(right, [record_id(1)])
    assert (await store.count(left), await store.count(right)) == (1, 0)


async def test_topics_decide_what_is_seen(store: WarmStore, subtests: pytest.Subtests) -> None:
    """A record is seen when its topics meet the agent's, or when it has none."""
    cases: dict[tuple[str, ...], list[int]] = {
        ("*",): [0, 1, 2, 3],
        ("*", "tyres"): [0, 1, 2, 3],
        (): [0],
        ("tyres",): [0, 1, 3],
        ("fuel",): [0, 2, 3],
        ("tyre",): [0],
        ("tyres", "fuel"): [0, 1, 2, 3],
        ("TYRES ",): [0, 1, 3],
    }
    held: list[tuple[str, ...]] = [(), ("tyres",), ("fuel",), ("fuel", "tyres")]
    entries = [entry_of(SCOPE, n, "same words", topics=own) for n, own in enumerate(held)]
    await store.upsert(SCOPE, entries)
    for topics, expected in cases.items():
        for query in (query_of(), query_of("words"), query_of("words", vector=None)):
            with subtests.test(topics=topics, query=query):
                assert await _found(store, scope_of(topics=topics), query) == expected


async def test_private_entries_are_seen_by_their_writer_only(
    store: WarmStore, subtests: pytest.Subtests
) -> None:
    """Nobody else sees them, the runtime's own scope included."""
    engineer = scope_of(agent_id="engineer")
    entries = [
        entry_of(SCOPE, 1),
        entry_of(SCOPE, 2, private=True),
        entry_of(engineer, 3, private=True),
    ]
    await store.upsert(SCOPE, entries)
    cases = {"strategist": [1, 2], "engineer": [1, 3], "strat": [1], None: [1]}
    for agent_id, expected in cases.items():
        with subtests.test(agent_id=agent_id):
            assert await _found(store, scope_of(agent_id=agent_id)) == expected
            assert await store.count(scope_of(agent_id=agent_id)) == 3


async def test_maintenance_covers_the_whole_graph(store: WarmStore) -> None:
    """Counting and removing by the runtime reach private entries and every topic."""
    engineer = scope_of(agent_id="engineer")
    private: dict[str, Any] = {"private": True, "topics": ("secret",)}
    await store.upsert(
        SCOPE, [entry_of(engineer, 1, **private), entry_of(engineer, 2, expires_at=NOW, **private)]
    )
    runtime = SCOPE.for_graph()
    assert await store.count(runtime) == 2
    assert len(await store.delete_expired(runtime, NOW)) == 1
    await store.delete(runtime, [record_id(1)])
    assert await store.count(runtime) == 0


async def test_kinds_and_tier_narrow_the_search(store: WarmStore) -> None:
    """Only the asked kinds are found, none when none is asked; the tier narrows facts only."""
    await store.upsert(
        SCOPE,
        [
            entry_of(SCOPE, 1, kind="turn"),
            entry_of(SCOPE, 2, kind="fact", tier="core"),
            entry_of(SCOPE, 3, kind="fact", tier="archival"),
            entry_of(SCOPE, 4, kind="episode"),
        ],
    )
    assert await _found(store, SCOPE, query_of(kinds=())) == []
    assert await _found(store, SCOPE, query_of(kinds=("fact",))) == [2, 3]
    assert await _found(store, SCOPE, query_of(kinds=("turn", "episode"))) == [1, 4]
    assert await _found(store, SCOPE, query_of(kinds=("fact", "turn"), tier="core")) == [1, 2]
    assert await store.count(SCOPE, "fact") == 2
    assert await store.count(SCOPE, "rule") == 0


async def test_a_user_narrows_the_search_inside_the_engine(store: WarmStore) -> None:
    """Records of one user are found even when those of others would fill the answer first.

    It narrows what is seen, and lets nobody see more.
    """
    runtime = scope_of(every_user=True)
    others = [entry_of(SCOPE, number, user_id="ben") for number in range(1, 6)]
    await store.upsert(SCOPE, [*others, entry_of(SCOPE, 6, user_id="ada"), entry_of(SCOPE, 7)])
    assert await _found(store, runtime, query_of(user_id="ada", limit=1)) == [6]
    assert await _found(store, runtime, query_of(user_id="a")) == []
    assert len(await _found(store, runtime, query_of())) == 7
    assert await _found(store, scope_of(user_id="ada"), query_of(user_id="ben")) == []
    assert await _found(store, SCOPE, query_of(user_id="ada")) == []


async def test_expiry_follows_the_clock_argument(store: WarmStore) -> None:
    """An entry is found until the microsecond before it expires, and swept from then on."""
    expires = datetime(2026, 3, 2, 0, 0, 0, 500_001, tzinfo=UTC)
    await store.upsert(
        SCOPE,
        [
            entry_of(SCOPE, 1, "brief", expires_at=expires, source_ids=("turn-1", "turn-2")),
            entry_of(SCOPE, 2, "lasting"),
        ],
    )
    before, after = query_of(now=expires - MICROSECOND), query_of(now=expires)
    assert await _found(store, SCOPE, before) == [1, 2]
    assert await _found(store, SCOPE, after) == [2]
    assert await _found(store, SCOPE, query_of("brief", vector=None, now=expires)) == []
    assert await store.count(SCOPE) == 2
    assert len(await store.delete_expired(SCOPE, expires - MICROSECOND)) == 0
    gone = await store.delete_expired(SCOPE, expires)
    assert gone == {record_id(1): ("turn-1", "turn-2")}
    assert await store.count(SCOPE) == 1


async def test_what_never_expires_outlives_every_clock(store: WarmStore) -> None:
    """No expiry is later than any moment, also where doubles get coarse."""
    latest = datetime(9999, 12, 31, tzinfo=UTC)
    await store.upsert(SCOPE, [entry_of(SCOPE, 1)])
    assert len(await store.delete_expired(SCOPE, latest)) == 0
    assert await _found(store, SCOPE, query_of(now=latest)) == [1]
    await store.upsert(SCOPE, [entry_of(SCOPE, 2, expires_at=datetime(1, 1, 1, tzinfo=UTC))])
    assert len(await store.delete_expired(SCOPE, datetime(1, 1, 1, tzinfo=UTC))) == 1


async def test_sweeping_takes_many_and_only_the_own(store: WarmStore) -> None:
    """More entries than one step removes, and nothing of the neighbouring graph."""
    other = scope_of(graph_id="race2")
    for scope in (SCOPE, other):
        batch = [entry_of(scope, n, expires_at=NOW if n % 3 else None) for n in range(600)]
        await store.upsert(scope, batch)
    assert len(await store.delete_expired(SCOPE, NOW)) == 400
    assert await store.count(SCOPE) == 200
    assert await store.count(other) == 600


async def test_deleting_many_removes_exactly_these(store: WarmStore) -> None:
    """Ids beyond one step, repeated and unknown ones included."""
    await store.upsert(SCOPE, [entry_of(SCOPE, number) for number in range(400)])
    ids = [record_id(number) for number in range(100, 10_000)]
    await store.delete(SCOPE, [*ids, *ids[:10]])
    assert await _found(store, SCOPE) == list(range(100))


async def test_words_alone_find_what_holds_them(store: WarmStore) -> None:
    """Without a vector the lexical leg answers alone, entries without a vector included."""
    await store.upsert(
        SCOPE,
        [
            entry_of(SCOPE, 1, "the undercut worked"),
            entry_of(SCOPE, 2, "the overcut failed", vector=None),
        ],
    )
    assert await _found(store, SCOPE, query_of("undercut", vector=None)) == [1]
    assert await _found(store, SCOPE, query_of("overcut", vector=None)) == [2]
    assert await _found(store, SCOPE, query_of("overcut")) == [1, 2]
    assert await _found(store, SCOPE, query_of("rain", vector=None)) == []


@pytest.mark.parametrize("text", ["", "  \t\n ", "the of and", "!?"])
async def test_text_without_words(store: WarmStore, text: str) -> None:
    """Blank or empty of meaning: nothing without a vector, and the vector's answer with one."""
    await store.upsert(SCOPE, [entry_of(SCOPE, 1, "the undercut and the overcut")])
    assert await store.search(SCOPE, query_of(text, vector=None)) == ()
    assert await _found(store, SCOPE, query_of(text)) == [1]


async def test_entry_without_words_or_vector_is_only_counted(store: WarmStore) -> None:
    """Nothing can find it, and it can be removed."""
    await store.upsert(SCOPE, [entry_of(SCOPE, 1, "...", vector=None)])
    assert await _found(store, SCOPE, query_of("...")) == []
    assert await store.count(SCOPE) == 1
    await store.delete(SCOPE, [record_id(1)])
    assert await store.count(SCOPE) == 0


async def test_better_matches_come_first(store: WarmStore) -> None:
    """Both legs count: alike in words and direction beats alike in one of them."""
    await store.upsert(
        SCOPE,
        [
            entry_of(SCOPE, 1, "fuel load", vector=(0.0, 1.0, 0.0, 0.0)),
            entry_of(SCOPE, 2, "undercut window", vector=(1.0, 0.0, 0.0, 0.0)),
            entry_of(SCOPE, 3, "brake balance", vector=(0.8, 0.6, 0.0, 0.0)),
        ],
    )
    hits = await store.search(SCOPE, query_of("undercut"))
    assert [hit.text for hit in hits] == ["undercut window", "brake balance", "fuel load"]
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert len(await store.search(SCOPE, query_of("undercut", limit=1))) == 1


async def test_ties_are_ordered_by_id(store: WarmStore) -> None:
    """Equal scores come in order of id, whatever the order of writing, cut where asked."""
    order = [(number * 37) % 101 for number in range(100)]
    await store.upsert(SCOPE, [entry_of(SCOPE, number, "same words") for number in order])
    for query in (query_of(), query_of("words", vector=None)):
        ids = [hit.id for hit in await store.search(SCOPE, query)]
        assert ids == sorted(ids)
        assert len(ids) == 100
        short = await store.search(SCOPE, query.model_copy(update={"limit": 7}))
        assert [hit.id for hit in short] == ids[:7]


async def test_same_question_same_answer(store: WarmStore) -> None:
    """Asking twice gives equal hits, scores included."""
    await store.upsert(SCOPE, [entry_of(SCOPE, n, f"lap {n % 7} pace") for n in range(150)])
    query = query_of("lap 3 pace", limit=20)
    assert await store.search(SCOPE, query) == await store.search(SCOPE, query)


async def test_wrong_question_vector_is_refused(store: WarmStore) -> None:
    """A vector of another model is a mistake, not an empty answer."""
    for vector in ((1.0,), (math.nan, 0.0, 0.0, 0.0)):
        with pytest.raises(UsageError, match="vector"):
            await store.search(SCOPE, query_of(vector=vector))


@pytest.mark.parametrize(
    "text",
    [HOSTILE_TEXT, "word " * 40_000, "x" * 200_000, "日本語" * 50, "", "{}[]$.*\"'\\"],
    ids=["hostile", "many words", "one word", "cjk", "empty", "syntax"],
)
async def test_any_text_comes_back_as_it_was(store: WarmStore, text: str) -> None:
    """Whatever a record may hold survives, as text, speaker, ref and source."""
    entry = entry_of(SCOPE, 1, speaker=text[:500], source_ids=(text[:500],)).model_copy(
        update={"text": text, "ref": text[:200]}
    )
    await store.upsert(SCOPE, [entry])
    (hit,) = await store.search(SCOPE, query_of(text))
    assert hit.text == text
    assert (hit.speaker, hit.source_ids, hit.ref) == (text[:500], (text[:500],), text[:200])


async def test_hostile_names_are_only_names(store: WarmStore) -> None:
    """Names that look like conditions match themselves and nothing else."""
    names = ["*", '{"any": []}', "a' OR '1'='1", "tenant", "🏎️", "x" * 256]
    for name in names:
        scope = scope_of(name, name, name, topics=(name,))
        await store.upsert(scope, [entry_of(scope, 1, topics=(name,), private=True)])
    for name in names:
        scope = scope_of(name, name, name, topics=(name,))
        (hit,) = await store.search(scope, query_of())
        assert hit.agent_id == name
        assert await store.count(scope) == 1


async def test_racing_writers_lose_nothing(store: WarmStore) -> None:
    """N writers, two graphs and a sweeper at once: every entry is there afterwards."""
    other = scope_of(graph_id="race2")

    async def write(scope: Scope, writer: int) -> None:
        numbers = range(writer * 100, writer * 100 + 100)
        await store.upsert(scope, [entry_of(scope, number) for number in numbers])

    writers = [write(scope, writer) for writer in range(8) for scope in (SCOPE, other)]
    await asyncio.gather(*writers, store.delete_expired(SCOPE, NOW), store.flush())
    assert await store.count(SCOPE) == 800
    assert await store.count(other) == 800


@pytest.mark.parametrize("backend", WARM_BACKENDS, ids=lambda backend: backend.name)
async def test_opened_and_closed_twice(backend: WarmBackend, tmp_path: Path) -> None:
    """A closed store refuses every call; a durable one opened again holds what it held."""
    for opening in range(2):
        async with backend.opened(tmp_path) as opened:
            held = await opened.count(SCOPE)
            assert held == (opening if backend.is_durable else 0)
            await opened.upsert(SCOPE, [entry_of(SCOPE, opening)])
        for call in (
            opened.upsert(SCOPE, []),
            opened.search(SCOPE, query_of("x")),
            opened.search(SCOPE, query_of(kinds=())),
            opened.delete(SCOPE, []),
            opened.delete_expired(SCOPE, NOW),
            opened.count(SCOPE),
            opened.flush(),
        ):
            with pytest.raises(TierUnavailable):
                await call
