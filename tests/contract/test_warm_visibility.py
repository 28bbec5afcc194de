"""What of a warm store a question shows, inside the engine: what it leaves out, and who asks."""

from __future__ import annotations

from datetime import timedelta
from random import Random
from typing import Any

import pytest
from support.tier_samples import NOW, ancestor, entry_of, heir_of, query_of, record_id, scope_of

from tiers.errors import UsageError
from tiers.ports import WarmStore
from tiers.records import ALL_TOPICS, Ancestor, Kind, Scope, SearchMode, SearchQuery
from tiers.warm.ranking import TIES_MAX

# What a question of a warm store leaves out, inside the engine: legs, times, grains, writers.

SCOPE = scope_of()
MICROSECOND = timedelta(microseconds=1)
HOUR = timedelta(hours=1)

# One loop for the file: opening an index costs 0.1 s, emptying one nothing.
pytestmark = pytest.mark.asyncio(loop_scope="module")


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
        SCOPE, [entry_of(SCOPE, 1, "undercut", vector=None), entry_of(SCOPE, 2, "overcut")]
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


# What of a warm store an asker may see: users, denied topics, and what ancestors let through.

PARENT = scope_of(graph_id="parent")

RULES: tuple[Kind, ...] = ("rule",)
EVERY_KIND: tuple[Kind, ...] = ("rule", "fact", "episode", "summary", "turn")


# One loop for the file: opening an index costs 0.1 s, emptying one nothing.


async def _shown(store: WarmStore, scope: Scope, **fields: Any) -> list[int]:
    """Return what is found by direction, by words and by both, which must be the same."""
    answers = [
        await _found(store, query_of(text, vector=vector, **fields), scope)
        for text, vector in (
            ("", (1.0, 0.0, 0.0, 0.0)),
            ("entry", None),
            ("entry", (1.0, 0.0, 0.0, 0.0)),
        )
    ]
    assert answers[0] == answers[1] == answers[2]
    return answers[0]


async def _inherited(store: WarmStore, scope: Scope, *kinds: Kind, **fields: Any) -> list[int]:
    return await _shown(store, scope, kinds=kinds, inherited=True, **fields)


async def test_records_of_a_user_are_seen_by_who_works_for_them(store: WarmStore) -> None:
    """Nobody's by everybody, a user's by their agents and the runtime; names are not prefixes."""
    users = [None, "ada", "ad", "ada "]
    entries = [entry_of(SCOPE, n).model_copy(update={"user_id": u}) for n, u in enumerate(users)]
    await store.upsert(SCOPE, [*entries, entry_of(SCOPE, 4, user_id="ada", private=True)])
    assert await _shown(store, scope_of()) == [0]
    assert await _shown(store, scope_of(user_id="ada")) == [0, 1, 4]
    assert await _shown(store, scope_of(user_id="ad")) == [0, 2]
    assert await _shown(store, scope_of(user_id="ada", agent_id="engineer")) == [0, 1]
    assert await _shown(store, scope_of(user_id="*")) == [0]
    assert await _shown(store, SCOPE.for_graph()) == [0, 1, 2, 3]
    assert await store.count(scope_of(user_id="ben")) == 5


async def test_a_denied_topic_hides_whatever_else_is_held(
    store: WarmStore, subtests: pytest.Subtests
) -> None:
    """One denied topic is enough, also for who holds all of them."""
    cases: tuple[tuple[tuple[str, ...], tuple[str, ...], list[int]], ...] = (
        ((ALL_TOPICS,), ("fuel",), [0, 1]),
        ((ALL_TOPICS,), ("fuel", "tyres"), [0]),
        ((ALL_TOPICS,), ("tyre", "*x"), [0, 1, 2, 3]),
        (("tyres",), ("fuel",), [0, 1]),
        (("tyres",), ("tyres",), [0]),
        ((), ("fuel",), [0]),
        ((ALL_TOPICS,), (ALL_TOPICS,), [0]),
        (("tyres",), (ALL_TOPICS,), [0]),
    )
    held: list[tuple[str, ...]] = [(), ("tyres",), ("fuel",), ("fuel", "tyres")]
    for owner in (SCOPE, PARENT):
        own = [entry_of(owner, n, topics=t, kind="rule") for n, t in enumerate(held)]
        await store.upsert(owner, own)
    for topics, denied, expected in cases:
        asking: dict[str, Any] = {"topics": topics, "denied": denied}
        heir = heir_of(ancestor("parent", "rule"), **asking)
        with subtests.test(**asking):
            assert await _shown(store, scope_of(**asking), kinds=RULES) == expected
            assert await _inherited(store, heir, "rule") == expected


async def test_beliefs_are_seen_as_other_records_are(store: WarmStore) -> None:
    """By user, topic, privacy and graph; and no ancestor of a session graph carries them."""
    hidden: list[dict[str, Any]] = [
        {"user_id": "ben"},
        {"topics": ("fuel",)},
        {"topics": ("tyres", "money")},
        {"agent_id": "engineer", "private": True},
    ]
    shown: list[dict[str, Any]] = [{"topics": ("tyres",), "user_id": "ada"}, {"private": True}]
    entries = [entry_of(SCOPE, n, **{"kind": "belief", **f}) for n, f in enumerate(shown + hidden)]
    await store.upsert(SCOPE, [*entries, entry_of(SCOPE, 9)])
    await store.upsert(PARENT, [entry_of(PARENT, 10, kind="belief")])
    own = ancestor("parent", "rule", "episode")
    asking = scope_of(user_id="ada", topics=("tyres",), denied=("money",), lineage=(own,))
    beliefs: tuple[Kind, ...] = ("belief",)
    assert await _shown(store, asking, kinds=beliefs) == [0, 1]
    assert await _inherited(store, asking, "belief") == []
    assert await store.count(SCOPE, "belief") == len(entries)


async def test_own_and_inherited_are_two_questions(store: WarmStore) -> None:
    """Without ``inherited`` ancestors are not searched, with it the own graph is not."""
    heir = heir_of(ancestor("parent", "rule"), ancestor("far", "rule"))
    for number, graph_id in enumerate(["heir", "parent", "far"]):
        owner = scope_of(graph_id=graph_id)
        await store.upsert(owner, [entry_of(owner, number, kind="rule")])
    assert await _shown(store, heir, kinds=RULES) == [0]
    assert await _inherited(store, heir, "rule") == [1, 2]
    hits = await store.search(heir, query_of("entry", kinds=RULES, inherited=True))
    named = {hit.graph_id: (hit.inherited_from, hit.path) for hit in hits}
    assert named == {
        "parent": ("parent", ("parent of", "parent")),
        "far": ("far", ("parent of", "far")),
    }
    (own,) = await store.search(heir, query_of("entry", kinds=RULES))
    assert (own.graph_id, own.inherited_from, own.path) == ("heir", None, ())


async def test_nothing_carried_is_nothing_found(
    store: WarmStore, subtests: pytest.Subtests
) -> None:
    """Whatever is in the parent, in the own graph, or in the tenant."""
    cases: dict[str, tuple[tuple[Ancestor, ...], tuple[Kind, ...]]] = {
        "no ancestor": ((), EVERY_KIND),
        "carries nothing": ((ancestor("parent"),), EVERY_KIND),
        "carries other": ((ancestor("parent", "rule"),), ("turn", "fact")),
        "no kind": ((ancestor("parent", "rule"),), ()),
        "prefix": ((ancestor("paren", "rule"), ancestor("parent2", "rule")), RULES),
        "names": ((ancestor("race", "rule"), ancestor("*", "rule")), RULES),
    }
    for owner in (PARENT, scope_of(graph_id="heir"), scope_of("acm", "race")):
        await store.upsert(owner, [entry_of(owner, n, kind=k) for n, k in enumerate(EVERY_KIND)])
    for case, (lineage, kinds) in cases.items():
        with subtests.test(case):
            assert await _inherited(store, heir_of(*lineage), *kinds) == []


async def _with_estate(store: WarmStore) -> None:
    """Fill a parent with one rule that comes through, 1, and everything that may not."""
    hidden: list[dict[str, Any]] = [
        {"private": True},
        {"expires_at": NOW},
        {"user_id": "ben"},
        {"topics": ("fuel",)},
        {"topics": ("tyres", "denied")},
        {"recorded_at": NOW + MICROSECOND},
        {"kind": "episode"},
        {"kind": "fact", "tier": "archival"},
        {"kind": "fact", "tier": "core"},
        {"kind": "turn"},
    ]
    wanted = entry_of(PARENT, 1, kind="rule", topics=("tyres",), user_id="ada")
    rules = [entry_of(PARENT, 2 + n, **{"kind": "rule", **f}) for n, f in enumerate(hidden)]
    await store.upsert(PARENT, [wanted, *rules])
    for number, names in enumerate(
        [("acm", "parent"), ("acme2", "parent"), ("acme", "parent2"), ("acme", "paren")]
    ):
        owner = scope_of(*names)
        await store.upsert(owner, [entry_of(owner, 100 + number, kind=k) for k in EVERY_KIND])


async def test_what_an_ancestor_lets_through(store: WarmStore, subtests: pytest.Subtests) -> None:
    """Shared, living, of the user and the topics, in time, of carried kinds; never a core fact."""
    cases: tuple[tuple[Any, Any, Any, list[int]], ...] = (
        (("rule",), NOW, EVERY_KIND, [1]),
        (("rule",), None, EVERY_KIND, [1, 7]),
        (("rule",), NOW - MICROSECOND, EVERY_KIND, []),
        (("rule", "episode"), NOW, EVERY_KIND, [1, 8]),
        (("rule", "episode"), NOW, ("episode",), [8]),
        (("rule", "fact"), NOW, EVERY_KIND, [1, 9]),
        (("fact",), NOW, ("fact", "turn"), [9]),
        (EVERY_KIND, NOW, EVERY_KIND, [1, 8, 9, 11]),
        (EVERY_KIND, None, EVERY_KIND, [1, 7, 8, 9, 11]),
    )
    await _with_estate(store)
    asking: dict[str, Any] = {"user_id": "ada", "topics": ("tyres",), "denied": ("denied",)}
    for carries, as_of, kinds, expected in cases:
        heir = heir_of(ancestor("parent", *carries, as_of=as_of), **asking)
        with subtests.test(carries=carries, as_of=as_of, kinds=kinds):
            assert await _inherited(store, heir, *kinds) == expected
            if "rule" in kinds and 1 in expected:
                # What may not be seen takes no place in a short answer either.
                assert await _inherited(store, heir, "rule", limit=1, user_id="ada") == [1]


async def test_each_ancestor_is_read_in_its_own_way(store: WarmStore) -> None:
    """Pins and carried kinds of one do not loosen those of another, in one answer."""
    later = NOW + timedelta(hours=1)
    names = ["pinned", "open", "late", "rules", "untold"]
    for number, graph_id in enumerate(names):
        owner = scope_of(graph_id=graph_id)
        kinds: tuple[Kind, ...] = ("rule", "episode")
        for place, (kind, at) in enumerate((k, at) for k in kinds for at in (NOW, later)):
            entry = entry_of(owner, 10 * number + place, kind=kind, recorded_at=at)
            await store.upsert(owner, [entry])
    heir = heir_of(
        ancestor("pinned", "rule", "episode", as_of=NOW),
        ancestor("open", "rule", "episode"),
        ancestor("late", "rule", as_of=later - MICROSECOND),
        ancestor("rules", "rule"),
        ancestor("none"),
    )
    expected = [0, 2, 10, 11, 12, 13, 20, 30, 31]
    assert await _inherited(store, heir, "rule", "episode") == expected
    assert await _inherited(store, heir, "episode") == [2, 12, 13]


async def test_only_the_searched_ancestors_move_scores(store: WarmStore) -> None:
    """Word statistics come from them alone, and of a pinned one from what it held then."""
    heir = heir_of(ancestor("parent", "rule", as_of=NOW), ancestor("far", "rule"))
    for owner in (PARENT, scope_of(graph_id="far")):
        texts = [f"stint {n} rain" if n % 3 else f"rare {n}" for n in range(12)]
        own = [entry_of(owner, n, text, kind="rule") for n, text in enumerate(texts)]
        await store.upsert(owner, own)
    query = query_of("rare rain", vector=None, kinds=RULES, inherited=True)
    before = await store.search(heir, query)
    assert len(before) == 24
    later = NOW + timedelta(hours=1)
    for owner in (scope_of(graph_id="heir"), scope_of(graph_id="race"), scope_of("acm", "far")):
        await store.upsert(owner, [entry_of(owner, n, "rare rare rain") for n in range(60)])
    noise = [entry_of(PARENT, 100 + n, "rare rain", recorded_at=later) for n in range(60)]
    await store.upsert(PARENT, noise)
    assert await store.search(heir, query) == before
