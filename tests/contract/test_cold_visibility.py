"""Who sees what in the cold tier: one table of every method that reads records for an asker."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from datetime import timedelta
from typing import Any, TypeAlias

import pytest
from support.cold_backends import Cold
from support.cold_samples import (
    OPERATOR,
    asked,
    belief_by,
    episode_by,
    fact_by,
    heir_of,
    rule_by,
    summary_by,
    turn_by,
)
from support.tier_samples import NOW, scope_of

from tiers.errors import NotFound
from tiers.records import ALL_TOPICS, Fact, Owned, Record, Rule, Scope

MINUTE = timedelta(minutes=1)
ONE_OF_EACH = frozenset({"turn", "summary", "episode", "core", "archival", "rule", "belief"})

Ids: TypeAlias = list[str]
Seen: TypeAlias = dict[str, set[str]]


async def _hits(found: Awaitable[Iterable[Any]]) -> Ids:
    return [record.id for record in await found]


async def _by_ref(cold: Cold, asker: Scope, ids: Ids) -> Ids:
    known = await cold.turns.known_refs(asker, ids)
    return [turn.id for turn in known.values()]


READS: Mapping[str, tuple[frozenset[str], Callable[[Cold, Scope, Ids], Awaitable[Ids]]]] = {
    "turns": (frozenset({"turn"}), lambda cold, asker, ids: _hits(cold.turns.turns(asker, ids))),
    "known_refs": (frozenset({"turn"}), _by_ref),
    "summaries": (
        frozenset({"summary"}),
        lambda cold, asker, _: _hits(cold.episodic.summaries(asker)),
    ),
    "episodes": (
        frozenset({"episode"}),
        lambda cold, asker, _: _hits(cold.episodic.episodes(asker)),
    ),
    "core": (frozenset({"core"}), lambda cold, asker, _: _hits(cold.semantic.core(asker))),
    "facts": (
        frozenset({"core", "archival"}),
        lambda cold, asker, ids: _hits(cold.semantic.facts(asker, ids)),
    ),
    "recall_archival": (
        frozenset({"archival"}),
        lambda cold, asker, _: _hits(
            cold.semantic.recall_archival(asker, asked("tyres"), limit=100)
        ),
    ),
    "match_rules": (
        frozenset({"rule"}),
        lambda cold, asker, _: _hits(cold.procedural.match_rules(asker, "tyres", 100)),
    ),
    "active": (frozenset({"belief"}), lambda cold, asker, _: _hits(cold.beliefs.active(asker))),
    "search_words": (
        ONE_OF_EACH,
        lambda cold, asker, _: _hits(cold.words.search_words(asker, asked("tyres"))),
    ),
    "entries": (ONE_OF_EACH, lambda cold, asker, ids: _hits(cold.words.entries(asker, ids))),
}
"""Each reading method: the kinds that it shows, and a call that asks it for all there is."""

SOME = ("facts", "search_words")
"""Methods that show most, where the values of a predicate matter and not who carries it."""


async def _one_of_each(cold: Cold, name: str, writer: Scope, **fields: Any) -> dict[str, str]:
    """Store a record of each kind, all about tyres; return their names by id."""
    known = {"topics": (), **fields}
    said = turn_by(writer, "Which tyres?", **known)
    said = said.model_copy(update={"ref": said.id})
    await cold.turns.append_turn(writer, said)
    summary = summary_by(writer, [said], text="They spoke of tyres.", **known)
    await cold.episodic.put_summary(writer, summary)
    episode = episode_by(writer, [summary.id], text="A day of tyres.", **known)
    await cold.episodic.put_episode(writer, episode)
    core = fact_by(writer, "Tyres are black.", tier="core", **known)
    archival = fact_by(writer, "Tyres are round.", **known)
    for fact in (core, archival):
        assert (await cold.semantic.put_fact(writer, fact))[1]
    rule = rule_by(writer, "worn tyres", **known)
    assert (await cold.procedural.put_rule(writer, rule))[1]
    belief = belief_by(writer, "Our tyres will last.", key=None, topic=None, **known)
    await cold.beliefs.commit(writer, belief)
    kinds = {"turn": said, "summary": summary, "episode": episode, "core": core}
    kinds |= {"archival": archival, "rule": rule, "belief": belief}
    return {record.id: f"{name} {kind}" for kind, record in kinds.items()}


async def _seen(
    cold: Cold, asker: Scope, names: Mapping[str, str], methods: Iterable[str] = READS
) -> Seen:
    """Return what methods show the asker, each record once, by name."""
    seen: Seen = {}
    for method in methods:
        found = await READS[method][1](cold, asker, list(names))
        assert len(found) == len(set(found)), method
        seen[method] = {names[one] for one in found}
    return seen


def _all_of(*owners: str, methods: Iterable[str] = READS) -> Seen:
    """Return what methods show somebody who sees everything of these owners."""
    return {
        method: {f"{owner} {kind}" for owner in owners for kind in READS[method][0]}
        for method in methods
    }


async def test_users_see_their_own_and_nobodys(cold: Cold) -> None:
    """Two users' agents state, say and believe the same side by side; the runtime sees it all."""
    names: dict[str, str] = {}
    for user in ("alice", "bob", None):
        writer = scope_of(user_id=user)
        names |= await _one_of_each(cold, user or "nobody", writer)
    for user in ("alice", "bob"):
        assert await _seen(cold, scope_of(user_id=user), names) == _all_of(user, "nobody")
        colleague = scope_of(agent_id="engineer", topics=(), user_id=user)
        assert await _seen(cold, colleague, names) == _all_of(user, "nobody")
    assert await _seen(cold, scope_of(), names) == _all_of("nobody")
    for runtime in (OPERATOR, OPERATOR.for_agent("engineer"), scope_of(every_user=True)):
        assert await _seen(cold, runtime, names) == _all_of("alice", "bob", "nobody")


@pytest.mark.parametrize(
    ("user", "others"),
    [
        ("alice", ("Alice", "ALICE", "alic", "alicea", "\u0430lice", "al_ce", "%", "*", "''")),
        ("é", ("e\u0301", "e", "É")),
        ("*", ("alice", "%")),
        ("$ne", ('{"$ne": ""}', ":asking_user")),
    ],
)
async def test_users_that_look_alike_are_others(
    cold: Cold, user: str, others: tuple[str, ...]
) -> None:
    """Case, prefixes, patterns, other scripts, and other ways to write the same letter."""
    owner = scope_of(user_id=user)
    names = await _one_of_each(cold, "own", owner)
    for other in others:
        assert await _seen(cold, scope_of(user_id=other), names, SOME) == _all_of(methods=SOME)
    assert await _seen(cold, owner, names) == _all_of("own")


async def test_topics_must_meet_and_a_denied_one_wins(cold: Cold) -> None:
    """Untopiced records are everybody's; what is denied stays unseen, for who holds all too."""
    names: dict[str, str] = {}
    for topics in ((), ("tyres",), ("strategy", "tyres"), ("weather",), ("é",)):
        name = "+".join(topics) or "plain"
        names |= await _one_of_each(cold, name, scope_of(), topics=topics)
    every = ("plain", "tyres", "strategy+tyres", "weather", "é")
    rows: list[tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...], Iterable[str]]] = [
        (("tyres",), (), ("plain", "tyres", "strategy+tyres"), READS),
        ((ALL_TOPICS,), ("strategy",), ("plain", "tyres", "weather", "é"), READS),
        (("strategy", "tyres"), ("strategy",), ("plain", "tyres"), READS),
        ((ALL_TOPICS,), (ALL_TOPICS,), ("plain",), READS),
        ((), (), ("plain",), SOME),
        (("STRATEGY",), (), ("plain", "strategy+tyres"), SOME),
        (("E\u0301",), (), ("plain", "é"), SOME),
        (("e", "tyre", "tyress", "t\u0443res", "tyr%", "tyr_s", "plain"), (), ("plain",), SOME),
        ((ALL_TOPICS,), (), every, SOME),
        ((ALL_TOPICS,), ("tyres", "weather"), ("plain", "é"), SOME),
        ((ALL_TOPICS,), ("t\u0443res", "tyre", "e"), every, SOME),
        (("tyres",), (ALL_TOPICS,), ("plain",), SOME),
        (("strategy", "tyres"), ("Tyres",), ("plain",), SOME),
        (("tyres",), ("strategy",), ("plain", "tyres"), SOME),
    ]
    for held, denied, expected, methods in rows:
        asker = scope_of(agent_id="engineer", topics=held, denied=denied)
        seen = await _seen(cold, asker, names, methods)
        assert seen == _all_of(*expected, methods=methods), (held, denied)


async def test_private_records_are_their_writers_for_their_user(cold: Cold) -> None:
    """Not another agent's, the runtime's, or a namesake's elsewhere, nor for another user."""
    writer = scope_of(user_id="alice")
    names = await _one_of_each(cold, "own", writer, private=True)
    assert await _seen(cold, writer, names) == _all_of("own")
    assert await _seen(cold, OPERATOR.for_agent("strategist"), names) == _all_of("own")
    for other in (
        scope_of(agent_id="engineer", user_id="alice"),
        scope_of(agent_id=None, user_id="alice"),
        scope_of(user_id="bob"),
        scope_of(),
        scope_of(user_id="alice", graph_id="rac"),
        heir_of("race", scope=scope_of(graph_id="imola", user_id="alice"), carries=("fact",)),
        scope_of(user_id="alice", tenant="acm"),
        OPERATOR,
    ):
        assert await _seen(cold, other, names) == _all_of()


async def test_what_is_not_seen_cannot_be_changed(cold: Cold) -> None:
    """Another user, or one to whom the topic is denied, counts, moves, replaces, pins nothing."""
    owner = scope_of(user_id="alice")
    fact, _ = await cold.semantic.put_fact(owner, fact_by(owner))
    plain, _ = await cold.semantic.put_fact(scope_of(), fact_by(text="else", topics=()))
    belief = belief_by(owner)
    await cold.beliefs.commit(owner, belief)
    for stranger in (scope_of(user_id="bob"), owner.model_copy(update={"denied": ("tyres",)})):
        assert await cold.semantic.add_uses({stranger: {"cause": [fact.id]}}, NOW) == {stranger: ()}
        assert not await cold.semantic.set_tier(stranger, fact, "core", "theft", NOW)
        for old, new in ((fact.id, plain.id), (plain.id, fact.id)):
            with pytest.raises(NotFound):
                await cold.semantic.supersede(stranger, old, new, NOW)
        with pytest.raises(NotFound):
            await cold.beliefs.pin(stranger, belief.id, NOW)
    assert await cold.semantic.facts(owner, [fact.id, plain.id]) == (fact, plain)
    assert await cold.beliefs.active(owner) == (belief,)
    assert await cold.log.audit(OPERATOR) == ()


async def test_each_ancestor_shows_what_it_carries(cold: Cold) -> None:
    """Core facts always, rules and archival facts when carried; of the rest, only the own."""
    child = scope_of(graph_id="imola", user_id="alice")
    above = scope_of(graph_id="monaco", agent_id="engineer")
    names = await _one_of_each(cold, "own", child)
    names |= await _one_of_each(cold, "above", above)
    names |= await _one_of_each(cold, "stranger", scope_of(graph_id="monac"))
    for carries in ((), ("rule",), ("fact",), ("episode", "rule", "fact", "belief", "document")):
        expected = _all_of("own")
        expected["core"] |= {"above core"}
        expected["facts"] |= {"above core"} | ({"above archival"} & _named("fact", carries))
        expected["match_rules"] |= {"above rule"} & _named("rule", carries)
        heir = heir_of("monaco", scope=child, carries=carries)
        assert await _seen(cold, heir, names) == expected, carries
    assert await _seen(cold, above, names) == _all_of("above")


def _named(kind: str, carries: tuple[str, ...]) -> set[str]:
    return {"above archival", "above rule"} if kind in carries else set()


async def test_users_topics_and_privacy_hold_for_ancestors_too(cold: Cold) -> None:
    """An heir sees there what it would see there as a member, private records aside."""
    above = scope_of(graph_id="monaco")
    names: dict[str, str] = {}
    for name, user, fields in (
        ("plain", None, {}),
        ("alice", "alice", {"topics": ("tyres",)}),
        ("bob", "bob", {"topics": ("tyres",)}),
        ("secret", None, {"topics": ("secret", "tyres")}),
        ("weather", None, {"topics": ("weather",)}),
        ("private", "alice", {"private": True}),
    ):
        writer = above.model_copy(update={"user_id": user})
        names |= await _one_of_each(cold, name, writer, **fields)
    child = scope_of(
        graph_id="imola", user_id="alice", topics=("tyres", "secret"), denied=("secret",)
    )
    seen = await _seen(cold, heir_of("monaco", scope=child, carries=("rule", "fact")), names)
    assert seen.pop("core") == {"plain core", "alice core"}
    assert seen.pop("facts") == {
        f"{name} {kind}" for name in ("plain", "alice") for kind in ("core", "archival")
    }
    assert seen.pop("match_rules") == {"plain rule", "alice rule"}
    assert not any(seen.values())


async def _moved(cold: Cold, scope: Scope, fact: Fact, *moves: int) -> Fact:
    """Move a fact to the other tier at each of these minutes, and return it as it then is."""
    await cold.semantic.put_fact(scope, fact)
    for minute in moves:
        (fact,) = await cold.semantic.facts(scope, [fact.id])
        tier = "archival" if fact.tier == "core" else "core"
        now = NOW + minute * MINUTE
        assert await cold.semantic.set_tier(scope, fact, tier, "test", now)
    return fact


async def _facts_of_every_past(cold: Cold, scope: Scope) -> tuple[dict[str, str], set[str]]:
    """Store facts with each history around minute 10; return their names, and which were core."""
    past = [
        ("from the start", {"tier": "core"}, (), True),
        ("recorded at the moment", {"tier": "core", "minute": 10}, (), True),
        ("recorded later", {"tier": "core", "minute": 11}, (), False),
        ("promoted before", {}, (5,), True),
        ("promoted at the moment", {}, (10,), True),
        ("promoted later", {}, (11,), False),
        ("demoted before", {"tier": "core"}, (5,), False),
        ("demoted at the moment", {"tier": "core"}, (10,), False),
        ("demoted later", {"tier": "core"}, (11,), True),
        ("promoted again before", {"tier": "core"}, (5, 6), True),
        ("promoted again later", {"tier": "core"}, (5, 11), False),
        ("never core", {}, (), False),
    ]
    names, core = {}, set()
    for text, fields, moves, was_core in past:
        fact = await _moved(cold, scope, fact_by(scope, text, topics=(), **fields), *moves)
        names[fact.id] = text
        core |= {text} if was_core else set()
    (heir, *_) = names
    for text, minute in (
        ("superseded before", 5),
        ("superseded at the moment", 10),
        ("superseded later", 11),
    ):
        fact = await _moved(cold, scope, fact_by(scope, text, topics=(), tier="core"))
        assert await cold.semantic.supersede(scope, fact.id, heir, NOW + minute * MINUTE)
        names[fact.id] = text
    unknown = fact_by(
        scope, "superseded, nobody knows when", topics=(), tier="core", superseded_by=heir
    )
    await cold.semantic.put_fact(scope, unknown)
    return names | {unknown.id: unknown.text}, core | {"superseded later"}


async def test_pinned_ancestor_is_read_as_it_was(cold: Cold) -> None:
    """Recorded, core and not superseded at the moment, whatever came later; itself as it is."""
    above = scope_of(graph_id="monaco")
    names, then = await _facts_of_every_past(cold, above)
    child = scope_of(graph_id="imola")
    pinned = heir_of("monaco", scope=child, as_of=NOW + 10 * MINUTE)
    seen = [fact.id for fact in await cold.semantic.core(pinned)]
    assert {names[one] for one in seen} == then
    assert len(seen) == len(then)
    assert {names[one] for one in await _hits(cold.semantic.facts(pinned, list(names)))} == then
    used = await cold.semantic.add_uses({pinned: {"cause": list(names)}}, NOW)
    assert {names[fact.id] for fact in used[pinned]} == then
    now = {names[one] for one in await _hits(cold.semantic.core(above))}
    as_it_is = heir_of("monaco", scope=child)
    assert {names[one] for one in await _hits(cold.semantic.core(as_it_is))} == now
    facts = await _hits(cold.semantic.facts(as_it_is, list(names)))
    assert {names[one] for one in facts} == now, "of the lineage as core has them"
    assert now != then
    before = heir_of("monaco", scope=child, as_of=NOW - MINUTE, carries=("fact", "rule"))
    assert await cold.semantic.core(before) == ()
    assert await cold.semantic.facts(before, list(names)) == ()


async def test_each_ancestor_has_a_moment_of_its_own(cold: Cold) -> None:
    """One pinned, one not, in the order of the lineage; the own graph is never pinned."""
    stored = []
    for graph_id, minute in (("imola", 50), ("monaco", 1), ("monaco", 50), ("bahrain", 50)):
        writer = scope_of(graph_id=graph_id)
        fact = fact_by(writer, f"{graph_id} {minute}", topics=(), tier="core", minute=minute)
        stored.append((await cold.semantic.put_fact(writer, fact))[0])
    pinned = heir_of("monaco", scope=scope_of(graph_id="imola"), as_of=NOW + 10 * MINUTE)
    both = pinned.lineage + heir_of("bahrain").lineage
    heir = pinned.model_copy(update={"lineage": both})
    texts = [fact.text for fact in await cold.semantic.core(heir)]
    assert texts == ["imola 50", "monaco 1", "bahrain 50"]
    turned = heir.model_copy(update={"lineage": both[::-1]})
    texts = [fact.text for fact in await cold.semantic.core(turned)]
    assert texts == ["imola 50", "bahrain 50", "monaco 1"]


async def test_rules_of_a_pinned_ancestor_are_those_recorded_by_then(cold: Cold) -> None:
    """At the moment or before it; and of one that carries none, none."""
    above = scope_of(graph_id="monaco")
    for minute in (0, 10, 11):
        rule = rule_by(above, steps=(f"{minute}",), topics=())
        rule = rule.model_copy(update={"recorded_at": NOW + minute * MINUTE})
        await cold.procedural.put_rule(above, rule)

    async def steps(**how: Any) -> list[str]:
        heir = heir_of("monaco", scope=scope_of(graph_id="imola"), **how)
        found = await cold.procedural.match_rules(heir, "tyre change", 9)
        return [rule.steps[0] for rule in found]

    assert await steps() == ["0", "10", "11"]
    assert await steps(as_of=NOW + 10 * MINUTE) == ["0", "10"]
    assert await steps(as_of=NOW + 10 * MINUTE, carries=("episode", "fact")) == []


async def test_two_users_may_state_the_same(cold: Cold) -> None:
    """One agent, one text, three users: three facts and rules, each found again by its own."""
    facts: dict[str | None, Fact] = {}
    rules: dict[str | None, Rule] = {}
    for user in ("alice", "bob", None):
        writer = scope_of(user_id=user)
        facts[user], is_new = await cold.semantic.put_fact(writer, fact_by(writer))
        rules[user], is_new_rule = await cold.procedural.put_rule(writer, rule_by(writer))
        assert (is_new, is_new_rule) == (True, True)
    for user, fact in facts.items():
        writer = scope_of(user_id=user)
        assert await cold.semantic.put_fact(writer, fact_by(writer)) == (fact, False)
        assert await cold.procedural.put_rule(writer, rule_by(writer)) == (rules[user], False)


async def test_redacted_records_are_in_no_answer(cold: Cold) -> None:
    """They have rows, for those that name them; no search, list or context has them."""
    writer = scope_of(user_id="alice")
    said = turn_by(writer, "tyres", topics=(), seq=1)
    summary = _redacted(summary_by(writer, [said], text="tyres", topics=()))
    due = summary_by(writer, [], covers=(said.id,), level=1, text="else", topics=())
    tables: dict[str, list[Record]] = {
        "turns": [_redacted(said)],
        "summaries": [summary, due],
        "episodes": [_redacted(episode_by(writer, [], text="tyres", topics=()))],
        "facts": [
            _redacted(fact_by(writer, "tyres", topics=())),
            _redacted(fact_by(writer, "worn tyres", tier="core", topics=())),
            fact_by(writer, "tyres last", topics=()),
        ],
        "rules": [_redacted(rule_by(writer, "worn tyres", topics=()))],
    }
    for table, rows in tables.items():
        await cold.archive.import_rows("acme", table, rows)
    kept = {due.id, tables["facts"][-1].id}
    ids = [row.id for rows in tables.values() for row in rows]
    for method, (_, read) in READS.items():
        if method not in ("turns", "known_refs"):
            assert set(await read(cold, writer, ids)) <= kept, method
    heir = heir_of("race", scope=scope_of(graph_id="imola", user_id="alice"), carries=("fact",))
    assert {fact.id for fact in await cold.semantic.facts(heir, ids)} == {tables["facts"][-1].id}
    pinned = heir_of("race", scope=scope_of(graph_id="imola", user_id="alice"), as_of=NOW)
    assert await cold.semantic.core(pinned) == ()
    later = NOW + timedelta(days=9)
    assert [one.id for one in await cold.episodic.due_summaries(OPERATOR, later, 9)] == [due.id]
    assert (await cold.semantic.put_fact(writer, fact_by(writer, "tyres", topics=())))[1]
    assert (await cold.procedural.put_rule(writer, rule_by(writer, "worn tyres", topics=())))[1]


def _redacted(record: Owned) -> Owned:
    return record.model_copy(update={"redacted_at": NOW})
