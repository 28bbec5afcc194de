"""The contract of ``FactReview``, and what forgetting means to every other store."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path

import pytest
from support.cold_backends import Cold, ColdBackend
from support.cold_samples import (
    HOSTILE_NAMES,
    OPERATOR,
    OTHER_AGENT,
    OTHER_GRAPH,
    SCOPE,
    STRANGERS,
    asked,
    draft,
    fact_by,
    heir_of,
)
from support.records import every_row
from support.tier_samples import HOSTILE_TEXT, NOW, scope_of

from tiers.errors import NotFound, UsageError
from tiers.learning import Verdict
from tiers.records import Fact, Scope, Span, Superseded

LATER = NOW + timedelta(hours=1)
ALICE, BOB = (scope_of(user_id=name) for name in ("alice", "bob"))
KEY = {"subject": "medium tyres", "predicate": "last"}


async def _put(cold: Cold, *facts: Fact) -> tuple[Fact, ...]:
    """Store facts, each for its own writer."""
    return tuple([(await cold.semantic.put_fact(_writer(fact), fact))[0] for fact in facts])


def _writer(fact: Fact) -> Scope:
    return scope_of(fact.tenant, fact.graph_id, fact.agent_id, user_id=fact.user_id)


def _way(old: Fact, new: Fact, how: Superseded = "natural", **more: object) -> Verdict:
    return Verdict(fact_id=old.id, by=new.id, how=how, **more)


async def _live(cold: Cold, scope: Scope = OPERATOR) -> list[str]:
    return [fact.id for fact in (await cold.review.live_facts(scope, "", 100)).rows]


async def _events(cold: Cold) -> list[tuple[str, tuple[str, ...]]]:
    return [(event.kind, event.record_ids) for event in await cold.log.audit(OPERATOR)]


async def _stored(cold: Cold, *facts: Fact) -> tuple[Fact, ...]:
    return await cold.semantic.facts(SCOPE, [fact.id for fact in facts])


async def test_forgotten_fact_is_nowhere_but_under_its_id(
    cold: Cold, backend: ColdBackend, tmp_path: Path
) -> None:
    """No search, context, count or page has it, from no graph below and at no moment.

    By its id it is there for an audit in its own graph, redaction aside.
    """
    core, archival, kept = await _put(
        cold,
        fact_by(tier="core", **KEY),
        fact_by(text="Medium tyres are yellow."),
        fact_by(text="Medium tyres cost nothing."),
    )
    for fact in (core, archival):
        assert await cold.review.forget(SCOPE, fact.id, "asked to", LATER, [draft(fact.id)])
        assert not await cold.review.forget(SCOPE, fact.id, "again", LATER, [draft("again")])
    gone = core.model_copy(
        update={"forgotten_at": LATER, "core_spans": (Span(since=NOW, until=LATER),)}
    )
    assert await _stored(cold, core, kept) == (gone, kept)
    for heir in (
        heir_of("race", scope=scope_of(graph_id="imola"), carries=("fact",)),
        heir_of("race", scope=scope_of(graph_id="imola"), carries=("fact",), as_of=NOW),
    ):
        found = await cold.semantic.facts(heir, [core.id, archival.id, kept.id])
        assert (await cold.semantic.core(heir), found) == ((), (kept,))
    assert await cold.semantic.core(SCOPE) == ()
    for hits in (
        await cold.semantic.recall_archival(SCOPE, asked(kinds=("fact",))),
        await cold.words.search_words(SCOPE, asked()),
    ):
        assert [hit.id for hit in hits] == [kept.id]
    ids = [core.id, archival.id, kept.id]
    assert [entry.id for entry in await cold.words.entries(SCOPE, ids)] == [kept.id]
    page = await cold.upkeep.searchable_after("acme", "", 10, NOW)
    assert [row.id for row in page.rows] == [kept.id]
    assert await cold.upkeep.count_searchable("acme", NOW) == 1
    census = await cold.words.census(OPERATOR)
    assert (census["facts_core"], census["facts_archival"]) == (0, 1)
    assert await _live(cold) == [kept.id]
    assert await cold.review.keyed(OPERATOR, core, 9) == ()
    assert not await cold.semantic.set_tier(SCOPE, gone, "archival", "late", LATER)
    assert not await cold.semantic.supersede(SCOPE, core.id, kept.id, LATER)
    assert await _events(cold) == [("forgotten", (core.id,)), ("forgotten", (archival.id,))]
    keys = [row["key"] for row in backend.rows(tmp_path, "work")]
    assert keys == [core.id, archival.id]
    await cold.redactor.redact(OPERATOR, [core.id], "asked to", LATER)
    assert await _stored(cold, core) == ()


async def test_what_was_forgotten_may_be_said_again(cold: Cold) -> None:
    """Under another id; repeating what stored it first brings nothing back."""
    (first,) = await _put(cold, fact_by())
    await cold.review.forget(SCOPE, first.id, "asked to", LATER)
    (gone,) = await _stored(cold, first)
    assert await cold.semantic.put_fact(SCOPE, first) == (gone, False)
    assert await _live(cold) == []
    again, is_new = await cold.semantic.put_fact(SCOPE, fact_by())
    assert (is_new, await _live(cold)) == (True, [again.id])
    assert (await cold.semantic.put_fact(SCOPE, fact_by())) == (again, False)


async def test_what_was_said_before_it_was_forgotten_is_not_stored_afterwards(cold: Cold) -> None:
    """By nobody, under no topics; what was said later is, and what others or other words say."""
    text = "Ann\u00e9 is allergic to nuts."
    (first,) = await _put(cold, fact_by(ALICE, text=text))
    await cold.review.forget(ALICE, first.id, "asked to", LATER)
    (gone,) = await cold.semantic.facts(ALICE, [first.id])
    colleague = OTHER_AGENT.model_copy(update={"user_id": "alice"})
    for scope, said in ((ALICE, text), (colleague, "Anne\u0301 is allergic to nuts.")):
        for heard_at in (NOW, LATER):
            late = fact_by(scope, text=said, topics=("kitchen",))
            kept = await cold.semantic.put_fact(scope, late, [draft(late.id)], heard_at=heard_at)
            assert kept == (gone, False)
    assert await _live(cold) == []
    others: tuple[tuple[Scope, dict[str, object]], ...] = (
        (BOB, {"text": text}),
        (ALICE, {"text": text, "private": True}),
        (ALICE, {"text": "Anne is allergic to nuts."}),
    )
    for scope, fields in others:
        fact = fact_by(scope, **fields)
        assert await cold.semantic.put_fact(scope, fact, heard_at=NOW) == (fact, True)
    again = fact_by(ALICE, text=text)
    after = LATER + timedelta(microseconds=1)
    assert await cold.semantic.put_fact(ALICE, again, heard_at=after) == (again, True)
    assert await cold.semantic.put_fact(ALICE, fact_by(ALICE, text=text), heard_at=NOW) == (
        again,
        False,
    )


async def test_only_who_sees_a_fact_may_have_it_forgotten(cold: Cold) -> None:
    """A stranger, another agent of a private one and an heir change nothing."""
    shared, private = await _put(
        cold, fact_by(tier="core"), fact_by(text="Mine.", tier="core", private=True)
    )
    heir = heir_of("race", scope=scope_of(graph_id="imola"), carries=("fact",))
    for scope in (*STRANGERS, heir):
        assert not await cold.review.forget(scope, shared.id, "theft", LATER)
    assert not await cold.review.forget(OTHER_AGENT, private.id, "theft", LATER)
    assert not await cold.review.forget(SCOPE, "unknown", "asked to", LATER)
    assert await cold.semantic.core(SCOPE) == (shared, private)
    assert await _events(cold) == []


async def test_live_facts_are_everybodys_in_pages(cold: Cold) -> None:
    """Of any agent, user, topic and privacy of the graph, in the order of ids; nobody else's."""
    facts = await _put(
        cold,
        fact_by(private=True),
        fact_by(OTHER_AGENT, topics=()),
        fact_by(ALICE, topics=("weather",)),
    )
    old, new = await _put(cold, fact_by(text="old"), fact_by(text="new", tier="core"))
    await _put(cold, fact_by(OTHER_GRAPH), fact_by(scope_of(tenant="acm")))
    await cold.semantic.supersede(SCOPE, old.id, new.id, LATER)
    wanted = sorted(fact.id for fact in (*facts, new))
    found = await every_row(lambda cursor: cold.review.live_facts(OPERATOR, cursor, 2), 2)
    assert [fact.id for fact in found] == wanted
    for limit in (0, 1_001):
        with pytest.raises(UsageError, match="limit"):
            await cold.review.live_facts(OPERATOR, "", limit)


async def test_reviewing_is_the_runtimes_own(cold: Cold) -> None:
    """An agent's scope is refused by all that looks at a whole graph."""
    (fact,) = await _put(cold, fact_by(**KEY))
    review = cold.review
    for scope in (SCOPE, SCOPE.model_copy(update={"agent_id": None})):
        for call in (
            review.live_facts(scope, "", 8),
            review.keyed(scope, fact, 8),
            review.unjudged(scope, 8),
            review.settle(scope, fact.id, [], NOW),
            review.ended(scope, LATER, LATER, 8),
        ):
            with pytest.raises(UsageError, match="scope"):
                await call
    assert await _stored(cold, fact) == (fact,)


async def test_keyed_facts_are_found_in_any_spelling(cold: Cold) -> None:
    """Oldest first, at most the limit; never another user's, another's secret, or what is over."""
    late, early, over, lost = await _put(
        cold,
        fact_by(text="late", subject=" Medium  TYRES", predicate="last", minute=9),
        fact_by(OTHER_AGENT, "early", subject="medium_tyres", predicate="Last", topics=()),
        fact_by(text="over", **KEY),
        fact_by(text="lost", **KEY),
    )
    await cold.semantic.supersede(SCOPE, over.id, late.id, LATER)
    await cold.review.forget(SCOPE, lost.id, "asked to", LATER)
    mine, hers, his = await _put(
        cold,
        fact_by(text="private", private=True, **KEY),
        fact_by(ALICE, "hers", **KEY),
        fact_by(BOB, "his", **KEY),
    )
    await _put(
        cold,
        fact_by(text="no key"),
        fact_by(text="half a key", subject="medium tyres"),
        fact_by(text="run together", subject="medium", predicate="tyres last"),
        fact_by(OTHER_AGENT, "another's secret", private=True, **KEY),
        fact_by(OTHER_GRAPH, "elsewhere", **KEY),
    )
    asking = fact_by(text="asking", **KEY)
    assert await cold.review.keyed(OPERATOR, asking, 9) == (early, late)
    assert await cold.review.keyed(OPERATOR, early, 9) == (late,), "it is not its own rival"
    assert await cold.review.keyed(OPERATOR, asking, 1) == (early,)
    for scope, found in ((ALICE, hers), (BOB, his)):
        assert await cold.review.keyed(OPERATOR, fact_by(scope, "?", **KEY), 9) == (found,)
    assert await cold.review.keyed(OPERATOR, fact_by(private=True, **KEY), 9) == (mine,)
    assert await cold.review.keyed(OPERATOR, fact_by(), 9) == ()


async def test_hostile_keys_are_told_apart(cold: Cold) -> None:
    """Each finds its own fact alone, whatever its parts hold."""
    names = [*HOSTILE_NAMES, HOSTILE_TEXT, "a|b", "a\x00b", "a\x1fb"]
    pairs = [(name, "is") for name in names if name != "e\u0301"]  # the same as the one before it
    pairs += [("is", name) for name in ("a|b", "b")] + [("ab", "c"), ("a", "bc"), ("is|a", "b")]
    facts = await _put(
        cold, *(fact_by(text=f"{n}", subject=s, predicate=p) for n, (s, p) in enumerate(pairs))
    )
    for fact in facts:
        asking = fact_by(text="?", subject=fact.subject, predicate=fact.predicate)
        assert await cold.review.keyed(OPERATOR, asking, 9) == (fact,)


async def test_facts_are_judged_once_oldest_first(cold: Cold) -> None:
    """A stamp takes a fact from what waits, and a second one is refused."""
    late, early = await _put(cold, fact_by(text="late", minute=9), fact_by(text="early"))
    assert await cold.review.unjudged(OPERATOR, 9) == (early, late)
    assert await cold.review.unjudged(OPERATOR, 1) == (early,)
    assert await cold.review.settle(OPERATOR, early.id, [], LATER)
    assert not await cold.review.settle(OPERATOR, early.id, [], LATER)
    assert await cold.review.unjudged(OPERATOR, 9) == (late,)
    assert await _stored(cold, early) == (early.model_copy(update={"judged_at": LATER}),)
    assert await _events(cold) == [], "nothing has changed"


async def test_settling_lets_facts_give_way(
    cold: Cold, backend: ColdBackend, tmp_path: Path
) -> None:
    """How, when, and until when it was true; a denied one is trusted less; each has its event."""
    new, moved, denied, same, dated = await _put(
        cold,
        fact_by(text="Mediums last 20 laps."),
        fact_by(text="Mediums last 18 laps.", tier="core", valid_from=NOW),
        fact_by(text="Mediums last 99 laps.", confidence=0.7),
        fact_by(text="Mediums do 20 laps.", confidence=0.05, valid_from=LATER),
        fact_by(text="Mediums lasted once.", valid_to=NOW),
    )
    verdicts = [
        _way(moved, new, valid_to=LATER),
        _way(denied, new, "denial"),
        _way(same, new, "duplicate", valid_to=NOW),
        _way(dated, new, valid_to=LATER),
    ]
    assert await cold.review.settle(OPERATOR, new.id, verdicts, LATER, [draft("gone")])
    old = await _stored(cold, moved, denied, same, dated)
    assert {(fact.superseded_by, fact.superseded_at) for fact in old} == {(new.id, LATER)}
    assert [fact.superseded_as for fact in old] == [one.how for one in verdicts]
    assert [fact.confidence for fact in old] == pytest.approx([1.0, 0.6, 0.05, 1.0])
    assert [fact.valid_to for fact in old] == [LATER, None, None, NOW]
    assert [fact.core_spans for fact in old] == [(Span(since=NOW, until=LATER),), (), (), ()]
    assert await cold.semantic.core(SCOPE) == ()
    hits = await cold.words.search_words(SCOPE, asked("mediums last laps"))
    assert [hit.id for hit in hits] == await _live(cold) == [new.id]
    assert await _events(cold) == [
        ("superseded", (moved.id, new.id)),
        ("superseded", (denied.id, new.id)),
        ("deduplicated", (same.id, new.id)),
        ("superseded", (dated.id, new.id)),
    ]
    assert [row["key"] for row in backend.rows(tmp_path, "work")] == ["gone"]
    (spent,) = await _put(cold, fact_by(text="Never so.", confidence=0.05))
    assert await cold.review.settle(OPERATOR, spent.id, [_way(spent, new, "denial")], LATER)
    assert [fact.confidence for fact in await _stored(cold, spent)] == [0.0]


async def test_chain_of_facts_stays_readable(cold: Cold) -> None:
    """Each names what took its place, in one step or in two; only the last is live."""
    a, b, c, d = await _put(cold, *(fact_by(text=name) for name in "abcd"))
    assert await cold.review.settle(OPERATOR, b.id, [_way(a, b), _way(b, c)], LATER)
    assert await cold.review.settle(OPERATOR, d.id, [_way(c, d, "denial")], LATER)
    chain = await _stored(cold, a, b, c, d)
    assert [fact.superseded_by for fact in chain] == [b.id, c.id, d.id, None]
    assert [fact.text for fact in chain] == ["a", "b", "c", "d"]
    assert await _live(cold) == [d.id]


async def test_settling_what_has_changed_writes_nothing(
    cold: Cold, backend: ColdBackend, tmp_path: Path
) -> None:
    """Neither stamp nor verdict, event nor work, when one of them is not live any more."""
    new, old, over, lost, gone = await _put(cold, *(fact_by(text=name) for name in "nolgr"))
    await cold.semantic.supersede(SCOPE, over.id, new.id, NOW)
    await cold.review.forget(SCOPE, lost.id, "asked to", NOW)
    await cold.redactor.redact(OPERATOR, [gone.id], "asked to", NOW)
    before = (await _events(cold), len(backend.rows(tmp_path, "work")))
    for fact_id, verdicts in (
        (over.id, []),
        (lost.id, []),
        (gone.id, []),
        (new.id, [_way(old, new), _way(over, new)]),
        (new.id, [_way(old, new), _way(gone, new)]),
        (new.id, [_way(old, lost)]),
    ):
        assert not await cold.review.settle(OPERATOR, fact_id, verdicts, LATER, [draft("late")])
    assert await _stored(cold, new, old) == (new, old)
    assert (await _events(cold), len(backend.rows(tmp_path, "work"))) == before


async def test_verdicts_that_leave_nothing_standing_are_refused(cold: Cold) -> None:
    """A fact that gives way to itself, in a circle, twice, or to what is not in the graph."""
    one, two, three = await _put(cold, *(fact_by(text=name) for name in "123"))
    (other,) = await _put(cold, fact_by(OTHER_GRAPH))
    for verdicts in (
        [_way(one, one)],
        [_way(one, two), _way(one, three)],
        [_way(one, two), _way(two, three), _way(three, one)],
    ):
        with pytest.raises(UsageError, match="verdict"):
            await cold.review.settle(OPERATOR, one.id, verdicts, LATER)
    for fact_id, verdicts in (
        ("unknown", []),
        (other.id, []),
        (one.id, [_way(two, one), _way(other, one)]),
        (one.id, [_way(two, other)]),
    ):
        with pytest.raises(NotFound, match="fact"):
            await cold.review.settle(OPERATOR, fact_id, verdicts, LATER)
    assert await _stored(cold, one, two, three) == (one, two, three)
    assert await _events(cold) == []


async def test_racing_settles_leave_one_fact_standing(processes: Cold) -> None:
    """Two facts that would each let the other give way, five times over: one does, once."""
    one, two = await _put(processes, fact_by(text="one"), fact_by(text="two"))
    settled = await asyncio.gather(
        *(
            processes.review.settle(
                OPERATOR, new.id, [_way(old, new)], LATER, [draft(f"{n}/{new.id}")]
            )
            for n in range(5)
            for new, old in ((one, two), (two, one))
        )
    )
    assert sum(settled) == 1
    (left,) = await _live(processes)
    lost = ({one.id, two.id} - {left}).pop()
    assert await _events(processes) == [("superseded", (lost, left))]
    assert (await processes.queue.waiting())["index"] == 1


async def test_ended_facts_are_told_oldest_first(cold: Cold) -> None:
    """What gave way or was forgotten before the one and the other moment, redacted ones aside."""
    new, *old = await _put(cold, *(fact_by(text=name) for name in "nabcdef"))
    hours = [NOW + timedelta(hours=n) for n in range(7)]
    for number, (fact, hour) in enumerate(zip(old, (3, 1, 2, 4, 0, 0), strict=True)):
        at = hours[hour]
        if number in {1, 2, 5}:
            assert await cold.review.forget(SCOPE, fact.id, "asked to", at)
        else:
            assert await cold.semantic.supersede(SCOPE, fact.id, new.id, at)
    await cold.redactor.redact(OPERATOR, [old[4].id, old[5].id], "asked to", NOW)
    a, b, c, d = (fact.id for fact in old[:4])
    assert await cold.review.ended(OPERATOR, hours[6], hours[6], 9) == (b, c, a, d)
    assert await cold.review.ended(OPERATOR, hours[6], hours[6], 2) == (b, c)
    assert await cold.review.ended(OPERATOR, hours[4], hours[2], 9) == (b, a)
    assert await cold.review.ended(OPERATOR, hours[0], hours[0], 9) == ()
    assert await cold.review.ended(OTHER_GRAPH.for_graph(), hours[6], hours[6], 9) == ()
