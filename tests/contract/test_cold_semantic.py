"""The contract of ``SemanticStore``."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from support.cold_backends import Cold, ColdBackend
from support.cold_samples import (
    HOSTILE_QUERIES,
    LONE_SURROGATE,
    OPERATOR,
    OTHER_AGENT,
    OTHER_GRAPH,
    SCOPE,
    STRANGERS,
    asked,
    draft,
    fact_by,
    graph_of,
    heir_of,
    rule_by,
)
from support.tier_samples import DIMENSIONS, HOSTILE_TEXT, NOW, entry_of, scope_of
from support.warm_reference import ReferenceWarmStore

from tiers.cold.stores import facts
from tiers.cold.stores.facts import TakenPlace
from tiers.errors import Conflict, NotFound, TierUnavailable, UsageError
from tiers.records import Fact, GraphState, Scope, SearchQuery, Span, WorkDraft

CHILD = heir_of("monaco", "bahrain", scope=scope_of(graph_id="imola", topics=("tyres",)))
MONACO = scope_of(graph_id="monaco", topics=("tyres",))
BAHRAIN = scope_of(graph_id="bahrain", topics=("tyres",))


async def _known(cold: Cold, scope: Scope, *facts: Fact) -> tuple[Fact, ...]:
    return tuple([(await cold.semantic.put_fact(scope, fact))[0] for fact in facts])


def _query(text: str = "medium tyres", **fields: object) -> SearchQuery:
    return asked(text, kinds=("fact",), **fields)


async def test_nothing_is_an_empty_answer(cold: Cold) -> None:
    """Unknown ids and empty batches give nothing and write nothing."""
    assert await cold.semantic.core(SCOPE) == ()
    assert await cold.semantic.facts(SCOPE, []) == ()
    assert await cold.semantic.facts(SCOPE, ["unknown"]) == ()
    assert await cold.semantic.add_uses({SCOPE: {"cause": []}}, NOW) == {SCOPE: ()}
    assert await cold.semantic.add_uses({SCOPE: {"cause": ["unknown"]}}, NOW) == {SCOPE: ()}
    assert await cold.semantic.recall_archival(SCOPE, _query()) == ()


async def test_fact_comes_back_as_it_was(cold: Cold) -> None:
    """Every field survives."""
    fact = fact_by(
        text=HOSTILE_TEXT,
        subject="mediums",
        predicate="last",
        object="18 laps",
        tier="core",
        fact_type="constraint",
        confidence=0.7,
        valid_from=NOW - timedelta(days=9),
        valid_to=NOW + timedelta(microseconds=1),
        source_ids=("t1", "t2"),
        uses=3,
        earned_from=2,
        last_used_at=NOW,
        judged_at=NOW + timedelta(hours=1),
        private=True,
    )
    stored = fact.model_copy(update={"core_spans": (Span(since=NOW),)})
    assert await cold.semantic.put_fact(SCOPE, fact) == (stored, True)
    assert await cold.semantic.facts(SCOPE, [fact.id]) == (stored,)
    assert await cold.semantic.core(SCOPE) == (stored,)


async def test_store_keeps_the_core_spans_itself(cold: Cold) -> None:
    """What a writer claims of a fact's past is not believed."""
    claimed = (Span(since=NOW - timedelta(days=9)),)
    core, archival = await _known(
        cold,
        SCOPE,
        fact_by(text="one", tier="core", core_spans=claimed),
        fact_by(text="two", core_spans=claimed),
    )
    found = await cold.semantic.facts(SCOPE, [core.id, archival.id])
    assert [fact.core_spans for fact in found] == [(Span(since=NOW),), ()]


async def test_same_statement_is_stored_once(
    cold: Cold, backend: ColdBackend, tmp_path: Path
) -> None:
    """Same writer, text, topics and privacy: the first comes back, no second row, no work."""
    first, _ = await cold.semantic.put_fact(SCOPE, fact_by(), [draft("one")])
    again, is_new = await cold.semantic.put_fact(SCOPE, fact_by(confidence=0.2), [draft("two")])
    assert (again, is_new) == (first, False)
    both = fact_by(topics=("strategy", "tyres"))
    assert (await cold.semantic.put_fact(SCOPE, both))[1]
    turned = fact_by().model_copy(update={"topics": ("tyres", "strategy")})
    assert (await cold.semantic.put_fact(SCOPE, turned)) == (both, False)
    assert len(backend.rows(tmp_path, "facts")) == 2
    assert [row["key"] for row in backend.rows(tmp_path, "work")] == ["one"]


async def test_anything_else_is_another_fact(cold: Cold) -> None:
    """Another text, writer, graph, topic set or privacy is stored beside it."""
    others: list[tuple[Scope, dict[str, object]]] = [
        (SCOPE, {"text": "Mediums last 18 laps"}),
        (SCOPE, {"topics": ("strategy", "tyres")}),
        (SCOPE, {"topics": ()}),
        (SCOPE, {"private": True}),
        (OTHER_AGENT, {}),
        (OTHER_GRAPH, {}),
    ]
    await cold.semantic.put_fact(SCOPE, fact_by())
    for scope, fields in others:
        assert (await cold.semantic.put_fact(scope, fact_by(scope, **fields)))[1], fields


async def test_id_that_says_something_else_is_a_conflict(cold: Cold) -> None:
    """An id stands for one statement."""
    fact, _ = await cold.semantic.put_fact(SCOPE, fact_by())
    with pytest.raises(Conflict, match="fact"):
        await cold.semantic.put_fact(SCOPE, fact.model_copy(update={"text": "else"}))


async def test_racing_writers_of_one_statement_store_one(processes: Cold) -> None:
    """Twenty racing puts agree on one id, and queue its work once."""
    stored = await asyncio.gather(
        *(processes.semantic.put_fact(SCOPE, fact_by(), [draft()]) for _ in range(20))
    )
    assert sum(is_new for _, is_new in stored) == 1
    assert len({fact.id for fact, _ in stored}) == 1
    assert (await processes.queue.waiting())["index"] == 1


async def test_facts_are_returned_in_the_order_asked(cold: Cold) -> None:
    """Unknown ids are left out, a repeated one comes once."""
    one, two = await _known(cold, SCOPE, fact_by(text="one"), fact_by(text="two"))
    ids = [two.id, "unknown", one.id, two.id]
    assert await cold.semantic.facts(SCOPE, ids) == (two, one)


async def test_core_is_own_then_lineage_then_oldest_first(cold: Cold) -> None:
    """Order is that of the graphs, and of time within one; archival facts are not in it."""
    core = {"tier": "core"}
    late, early, _ = await _known(
        cold,
        CHILD,
        fact_by(CHILD, "late", minute=9, **core),
        fact_by(CHILD, "early", minute=1, **core),
        fact_by(CHILD, "archival"),
    )
    (second,) = await _known(cold, BAHRAIN, fact_by(BAHRAIN, "b", **core))
    (first,) = await _known(cold, MONACO, fact_by(MONACO, "m", minute=99, **core))
    await _known(cold, OTHER_GRAPH, fact_by(OTHER_GRAPH, "stranger", **core))
    assert await cold.semantic.core(CHILD) == (early, late, first, second)


async def test_lineage_shows_core_facts_only(cold: Cold) -> None:
    """An ancestor's archival fact is not the child's, neither by id nor by use."""
    archival, core = await _known(
        cold, MONACO, fact_by(MONACO, "archival"), fact_by(MONACO, "core", tier="core")
    )
    ids = [archival.id, core.id]
    assert await cold.semantic.facts(CHILD, ids) == (core,)
    used = await cold.semantic.add_uses({CHILD: {"cause": ids}}, NOW)
    assert [(fact.id, fact.uses) for fact in used[CHILD]] == [(core.id, 1)]


async def test_what_may_end_an_inherited_fact_is_read_with_what_defines_it(cold: Cold) -> None:
    """By a word of it, beside one by which something is over; also of ancestors that carry facts.

    Not what has ended itself, is core and so read anyway, or stands in the graph that is asked of.
    """
    heir = heir_of("monaco", "bahrain", scope=CHILD, carries=("fact",))
    told = {"subject": "mediums", "predicate": "last"}
    (far,) = await _known(cold, BAHRAIN, fact_by(BAHRAIN, tier="core", **told))
    own = [
        fact_by(CHILD, "Mediums never last."),
        fact_by(CHILD, "The pit radio is not on."),
        fact_by(CHILD, "Mediums are yellow."),
        fact_by(CHILD, "Mediums are not for us any more.", minute=1),
        fact_by(CHILD, "No mediums are left.", tier="core"),
        fact_by(CHILD, "Set on 20.", object="20", **told),
    ]
    never, *_, over, _, defined = await _known(cold, CHILD, *own)
    assert await cold.semantic.supersede(CHILD, over.id, never.id, NOW)
    (between,) = await _known(cold, MONACO, fact_by(MONACO, "Mediums were dropped."))
    assert {one.id for one in await cold.semantic.nearer(heir, [far])} == {
        *(defined.id, never.id, between.id)
    }
    assert {one.id for one in await cold.semantic.nearer(CHILD, [far])} == {defined.id, never.id}
    assert await cold.semantic.nearer(heir, [never]) == ()
    then = NOW + timedelta(seconds=1)
    once = await cold.semantic.nearer(CHILD, [far], then)
    assert {one.text for one in once} >= {"Mediums never last.", "No mediums are left."}


async def test_family_has_what_was_core_at_a_moment(cold: Cold) -> None:
    """Each time that it was, and not in between; by its id, in its context and as an edge."""
    told = {"subject": "mediums", "predicate": "last", "object": "18 laps"}
    (fact,) = await _known(cold, MONACO, fact_by(MONACO, tier="core", **told))
    hours = [NOW + timedelta(hours=n) for n in range(6)]
    for hour, tier in ((1, "archival"), (2, "core"), (4, "archival")):
        (fact,) = await cold.semantic.facts(MONACO, [fact.id])
        assert await cold.semantic.set_tier(MONACO, fact, tier, "test", hours[hour])
    (fact,) = await cold.semantic.facts(MONACO, [fact.id])
    for hour, is_core in enumerate((True, False, True, True, False, False)):
        heir = heir_of("monaco", scope=CHILD, as_of=hours[hour])
        found = (fact,) if is_core else ()
        assert await cold.semantic.core(heir) == found
        assert await cold.semantic.facts(heir, [fact.id]) == found
        near = await cold.knowledge.neighbours(heir, ["18 LAPS"], 1, 1)
        assert tuple(one.fact for one in near) == found
        assert len(await cold.knowledge.entities(heir, ["mediums"], 9)) == len(found)
        assert await cold.knowledge.statements(heir, "mediums") == found


async def test_private_fact_of_a_namesake_in_an_ancestor_is_not_inherited(cold: Cold) -> None:
    """An agent of the same id in another graph is another writer."""
    (fact,) = await _known(cold, MONACO, fact_by(MONACO, tier="core", private=True))
    assert await cold.semantic.core(CHILD) == ()
    assert await cold.semantic.facts(CHILD, [fact.id]) == ()
    assert await cold.semantic.core(MONACO) == (fact,)


async def test_facts_are_not_seen_outside_their_scope(cold: Cold) -> None:
    """Another topic, graph or tenant reads, recalls, counts and moves nothing."""
    (archival, core) = await _known(
        cold, SCOPE, fact_by(), fact_by(text="Medium tyres are yellow.", tier="core")
    )
    ids = [archival.id, core.id]
    for stranger in STRANGERS:
        assert await cold.semantic.core(stranger) == ()
        assert await cold.semantic.facts(stranger, ids) == ()
        assert await cold.semantic.recall_archival(stranger, _query()) == ()
        assert await cold.semantic.add_uses({stranger: {"cause": ids}}, NOW) == {stranger: ()}
        assert not await cold.semantic.set_tier(stranger, archival, "core", "theft", NOW)
        assert await cold.semantic.facts(SCOPE, ids) == (archival, core)
        assert await cold.log.audit(stranger) == ()


async def test_private_facts_are_their_writers(cold: Cold) -> None:
    """Neither another agent nor the operator finds them."""
    (fact,) = await _known(cold, SCOPE, fact_by(private=True))
    for other in (OTHER_AGENT, OPERATOR):
        assert await cold.semantic.recall_archival(other, _query()) == ()
        assert await cold.semantic.facts(other, [fact.id]) == ()
    assert [hit.id for hit in await cold.semantic.recall_archival(SCOPE, _query())] == [fact.id]


@pytest.mark.parametrize("how", ["retired", "redacted"])
async def test_an_id_stays_with_what_lost_its_words(cold: Cold, how: str) -> None:
    """Nobody can tell whether it is repeated: its writer is told so, and what to do; others not."""
    await cold.graphs.create_graph(graph_of(SCOPE.graph_id))
    (fact,) = await _known(cold, SCOPE, fact_by())
    rule = rule_by(SCOPE)
    await cold.procedural.put_rule(SCOPE, rule)
    if how == "retired":
        await cold.grains.retire(OPERATOR, [fact.id], "old", NOW)
    await cold.redactor.redact(OPERATOR, [fact.id, rule.id][how == "retired" :], "asked to", NOW)
    accepted = "expected 'a new id, or none: .*', found '.*, whose words were destroyed'"
    with pytest.raises(Conflict, match=f"fact: {accepted}"):
        await cold.semantic.put_fact(SCOPE, fact)
    with pytest.raises(Conflict, match=f"rule: {accepted}"):
        await cold.procedural.put_rule(SCOPE, rule)
    other = fact.model_copy(update={"agent_id": OTHER_AGENT.agent_id})
    with pytest.raises(Conflict, match="an id of its own"):
        await cold.semantic.put_fact(OTHER_AGENT, other)


async def test_uses_count_once_per_cause(cold: Cold) -> None:
    """Repeats and duplicates of one cause count once; last use only moves forward."""
    one, two = await _known(cold, SCOPE, fact_by(text="one"), fact_by(text="two"))
    later = NOW + timedelta(hours=1)
    used = await cold.semantic.add_uses({SCOPE: {"a": [two.id, one.id, two.id]}}, later)
    assert [(fact.id, fact.uses) for fact in used[SCOPE]] == [(two.id, 1), (one.id, 1)]
    again = await cold.semantic.add_uses({SCOPE: {"a": [two.id]}}, later)
    assert again[SCOPE][0].uses == 1
    earlier = await cold.semantic.add_uses({SCOPE: {"b": [two.id, "unknown"]}}, NOW)
    assert [(fact.uses, fact.last_used_at) for fact in earlier[SCOPE]] == [(2, later)]
    both = {"b": [one.id, two.id], "c": [two.id], "d": [two.id]}
    together = (await cold.semantic.add_uses({SCOPE: both}, NOW))[SCOPE]
    assert [(fact.id, fact.uses) for fact in together] == [(one.id, 2), (two.id, 4)]
    assert await cold.semantic.facts(SCOPE, [one.id, two.id]) == together
    with pytest.raises(UsageError, match="cause"):
        await cold.semantic.add_uses({SCOPE: {"e": [one.id], "": [two.id]}}, NOW)
    assert await cold.semantic.facts(SCOPE, [one.id, two.id]) == together


async def test_uses_of_several_agents_count_in_one_transaction(cold: Cold) -> None:
    """What two were shown counts for both; what one of them does not see, for the other alone."""
    shared, private = await _known(cold, SCOPE, fact_by(text="ours"), fact_by(private=True))
    ids = [private.id, shared.id]
    used = await cold.semantic.add_uses({SCOPE: {"a": ids}, OTHER_AGENT: {"b": ids}}, NOW)
    assert [(fact.id, fact.uses) for fact in used[SCOPE]] == [(private.id, 1), (shared.id, 2)]
    assert [(fact.id, fact.uses) for fact in used[OTHER_AGENT]] == [(shared.id, 2)]
    assert await cold.semantic.facts(SCOPE, ids) == used[SCOPE]


async def test_racing_uses_are_exact(processes: Cold) -> None:
    """Fifty racing calls for ten causes, of two facts, by their graph and by an heir: ten each."""
    made = [fact_by(text=text, tier="core") for text in ("one", "two")]
    ids = [fact.id for fact in await _known(processes, SCOPE, *made)]
    scopes = (SCOPE, heir_of("race", scope=scope_of(graph_id="imola", topics=("tyres",))))
    await asyncio.gather(
        *(
            processes.semantic.add_uses({scopes[n % 3 % 2]: {f"cause {n % 10}": ids}}, NOW)
            for n in range(50)
        )
    )
    assert [fact.uses for fact in await processes.semantic.facts(SCOPE, ids)] == [10, 10]


async def test_tier_moves_with_its_reason_and_work(
    cold: Cold, backend: ColdBackend, tmp_path: Path
) -> None:
    """Promotion and demotion leave an audit event each, and queue what follows.

    A demoted fact has to earn its place anew.
    """
    (fact,) = await _known(cold, SCOPE, fact_by())
    assert await cold.semantic.set_tier(SCOPE, fact, "core", "3 uses", NOW, [draft("up")])
    (core,) = await cold.semantic.core(SCOPE)
    assert core == fact.model_copy(update={"tier": "core", "core_spans": (Span(since=NOW),)})
    for cause in ("a", "b"):
        await cold.semantic.add_uses({SCOPE: {cause: [fact.id]}}, NOW)
    assert await cold.semantic.recall_archival(SCOPE, _query()) == ()
    later = NOW + timedelta(hours=1)
    assert await cold.semantic.set_tier(SCOPE, core, "archival", "cap", later, [draft("down")])
    (archival,) = await cold.semantic.facts(SCOPE, [fact.id])
    assert (archival.core_spans, archival.earned_from) == ((Span(since=NOW, until=later),), 2)
    assert await cold.semantic.set_tier(SCOPE, archival, "core", "again", later)
    (core,) = await cold.semantic.core(SCOPE)
    assert core.core_spans == (Span(since=NOW, until=later), Span(since=later))
    events = await cold.log.audit(SCOPE)
    assert [(event.kind, event.reason) for event in events] == [
        ("promoted", "3 uses"),
        ("demoted", "cap"),
        ("promoted", "again"),
    ]
    assert {event.record_ids for event in events} == {(fact.id,)}
    assert [row["key"] for row in backend.rows(tmp_path, "work")] == ["up", "down"]


async def test_tier_is_compared_before_it_is_set(processes: Cold) -> None:
    """One of twenty racing promotions happens; the others write no event and no work."""
    (fact,) = await _known(processes, SCOPE, fact_by())
    moved = await asyncio.gather(
        *(
            processes.semantic.set_tier(SCOPE, fact, "core", "racing", NOW, [draft(f"w{n}")])
            for n in range(20)
        )
    )
    assert sum(moved) == 1
    assert len(await processes.log.audit(SCOPE)) == 1
    assert (await processes.queue.waiting())["index"] == 1
    with pytest.raises(UsageError, match="tier"):
        await processes.semantic.set_tier(SCOPE, fact, "archival", "same", NOW)
    assert not await processes.semantic.set_tier(SCOPE, fact_by(text="unknown"), "core", "?", NOW)


async def test_superseded_fact_stays_but_answers_nothing(
    cold: Cold, backend: ColdBackend, tmp_path: Path
) -> None:
    """By its id it is there and names its successor; recall, core and words have the other."""
    old, new = await _known(
        cold, SCOPE, fact_by(tier="core"), fact_by(text="Medium tyres last 20 laps.")
    )
    later = NOW + timedelta(hours=1)
    assert await cold.semantic.supersede(SCOPE, old.id, new.id, later, [draft("gone")])
    gone = old.model_copy(
        update={
            "superseded_by": new.id,
            "superseded_at": later,
            "superseded_as": "natural",
            "core_spans": (Span(since=NOW, until=later),),
        }
    )
    assert await cold.semantic.facts(SCOPE, [old.id]) == (gone,)
    assert await cold.semantic.core(SCOPE) == ()
    for question in (_query(), _query(old.text, limit=1)):
        assert [hit.id for hit in await cold.words.search_words(SCOPE, question)] == [new.id]
    assert await cold.words.entries(SCOPE, [old.id]) == ()
    (event,) = await cold.log.audit(SCOPE)
    assert (event.kind, event.record_ids) == ("superseded", (old.id, new.id))
    assert not await cold.semantic.supersede(SCOPE, old.id, new.id, later, [draft("again")])
    assert not await cold.semantic.set_tier(SCOPE, gone, "archival", "late", later)
    assert [row["key"] for row in backend.rows(tmp_path, "work")] == ["gone"]
    assert len(await cold.log.audit(SCOPE)) == 1
    assert (await cold.semantic.put_fact(SCOPE, fact_by()))[1], "it may be stated anew"


async def test_a_fact_takes_a_place_in_the_step_that_stores_it(
    cold: Cold, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of what is named, or of what has its place by now; in core as well. Both, or nothing."""
    first, second = await _known(
        cold, SCOPE, fact_by(text="Softs last 9 laps."), fact_by(text="Softs last 8.", tier="core")
    )
    assert await cold.semantic.supersede(SCOPE, first.id, second.id, NOW)
    new, place = fact_by(text="Softs last 7 laps."), TakenPlace(first.id, SCOPE, lambda *_: "why")
    with monkeypatch.context() as patch:
        patch.setattr(facts, "given_way", Mock(side_effect=TimeoutError))
        with pytest.raises(TimeoutError):
            await cold.semantic.put_fact(SCOPE, new, place=place)
    assert await cold.semantic.facts(SCOPE, [new.id]) == ()
    assert [one.id for one in await cold.semantic.core(SCOPE)] == [second.id]
    assert await cold.semantic.put_fact(SCOPE, new, place=place) == (new, True)
    assert [one.id for one in await cold.semantic.core(SCOPE)] == [new.id]
    line = await cold.semantic.line(SCOPE, first.id)
    assert [one.id for one in line] == [first.id, second.id, new.id]
    events = [(one.kind, one.record_ids) for one in await cold.log.audit(SCOPE)][1:]
    assert events == [("promoted", (new.id,)), ("superseded", (second.id, new.id))]
    # Itself takes no place, nor does what has ended, nor is anything taken that is not seen.
    for name, sight in ((new.id, SCOPE), (first.id, SCOPE), (new.id, OTHER_GRAPH)):
        again = TakenPlace(name, sight)
        kept = (await cold.semantic.facts(SCOPE, [new.id]))[0]
        assert await cold.semantic.put_fact(SCOPE, new, place=again) == (kept, False)
    private = fact_by(text="Softs last 6 laps.", private=True)
    with pytest.raises(UsageError, match="no private fact"):
        await cold.semantic.put_fact(SCOPE, private, place=place)
    assert await cold.semantic.facts(SCOPE, [private.id]) == ()


async def test_a_correction_is_stored_in_the_step_in_which_what_was_wrong_ends(
    cold: Cold, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With all that said so; nothing of what has ended is corrected, and nothing is stored then."""
    wrong, twin = await _known(
        cold, SCOPE, fact_by(text="Softs last 9 laps."), fact_by(text="softs last 9 laps")
    )
    right = fact_by(text="Softs last 7 laps.")
    place = TakenPlace(wrong.id, SCOPE, twins=(twin.id,), corrects="misread")
    with monkeypatch.context() as patch:
        patch.setattr(facts, "append_event", Mock(side_effect=TimeoutError))
        with pytest.raises(TimeoutError):
            await cold.semantic.put_fact(SCOPE, right, place=place)
    known = await cold.semantic.facts(SCOPE, [wrong.id, twin.id, right.id])
    assert [(one.id, one.superseded_by) for one in known] == [(wrong.id, None), (twin.id, None)]
    assert await cold.semantic.put_fact(SCOPE, right, place=place) == (right, True)
    ended = await cold.semantic.facts(SCOPE, [wrong.id, twin.id])
    assert {(one.superseded_by, one.superseded_as) for one in ended} == {(right.id, "denial")}
    told = [(one.kind, one.record_ids, one.reason) for one in await cold.log.audit(SCOPE)]
    assert told[-1] == ("corrected", (wrong.id, right.id), "misread")
    late = fact_by(text="Softs last 6 laps.")
    with pytest.raises(Conflict, match="one that has not ended"):
        await cold.semantic.put_fact(SCOPE, late, place=place)
    assert await cold.semantic.facts(SCOPE, [late.id]) == ()


async def test_what_had_a_place_is_read_at_once(
    cold: Cold, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In one reading however many there were, as far as the scope sees; page by page beyond."""
    told = await _known(cold, SCOPE, *(fact_by(text=f"Softs last {one} laps.") for one in range(5)))
    for old, new in pairwise(told):
        assert await cold.semantic.supersede(SCOPE, old.id, new.id, NOW)
    ids, asked_for, read = [one.id for one in told], list[str](), cold.semantic._store.read

    async def counted(operation: str, steps: Any) -> Any:
        asked_for.append(operation)
        return await read(operation, steps)

    monkeypatch.setattr(cold.semantic._store, "read", counted)
    assert [one.id for one in await cold.semantic.line(SCOPE, ids[1])] == ids[1:]
    assert asked_for == ["line"]
    assert await cold.semantic.line(SCOPE, "unknown") == ()
    assert await cold.semantic.line(OTHER_GRAPH, ids[0]) == ()
    monkeypatch.setattr(facts, "LINE_MAX", 2)
    assert [one.id for one in await cold.semantic.line(SCOPE, ids[0])] == ids[:2]


async def test_nothing_private_takes_the_place_of_what_others_see(cold: Cold) -> None:
    """Whatever was looked at before; a shared fact takes that of a private one."""
    shared, own, hidden = await _known(
        cold,
        SCOPE,
        fact_by(text="The code is 7."),
        fact_by(text="The code is 8.", private=True),
        fact_by(text="The code is 9.", private=True),
    )
    with pytest.raises(UsageError, match="no private fact"):
        await cold.semantic.supersede(SCOPE, shared.id, own.id, NOW)
    assert await cold.semantic.supersede(SCOPE, hidden.id, own.id, NOW)
    assert await cold.semantic.supersede(SCOPE, own.id, shared.id, NOW)


async def test_no_fact_gives_way_to_what_does_not_stand(cold: Cold) -> None:
    """Neither to what gave way to itself, near or far, nor to what ended by being forgotten."""
    texts = ("Softs are quick.", "Softs are slow.", "Softs are gone.", "Softs are back.")
    first, second, third, fourth = await _known(cold, SCOPE, *(fact_by(text=one) for one in texts))
    assert await cold.semantic.supersede(SCOPE, first.id, second.id, NOW)
    for by in (first, second):
        with pytest.raises(UsageError, match="by"):
            await cold.semantic.supersede(SCOPE, second.id, by.id, NOW)
    assert await cold.semantic.supersede(SCOPE, second.id, third.id, NOW)
    with pytest.raises(UsageError, match="has not given way"):
        await cold.semantic.supersede(SCOPE, third.id, first.id, NOW)
    assert await cold.semantic.supersede(SCOPE, fourth.id, first.id, NOW), "the third stands for it"
    (fifth,) = await _known(cold, SCOPE, fact_by(text="Softs are red."))
    assert await cold.review.forget(SCOPE, third.id, "wrong", NOW)
    assert not await cold.semantic.supersede(SCOPE, fifth.id, first.id, NOW)
    (kept,) = await cold.semantic.facts(SCOPE, [fifth.id])
    assert kept == fifth


async def test_superseding_needs_two_visible_facts_of_the_graph(cold: Cold) -> None:
    """Unknown, out of sight or an ancestor's: not found, and nothing has changed."""
    one, two = await _known(cold, SCOPE, fact_by(), fact_by(text="else"))
    (above,) = await _known(cold, MONACO, fact_by(MONACO, tier="core"))
    heir = heir_of("monaco", carries=("fact",))
    for scope, old, new in (
        (SCOPE, "unknown", two.id),
        (SCOPE, one.id, "unknown"),
        (heir, above.id, two.id),
        (heir, one.id, above.id),
        *((stranger, one.id, two.id) for stranger in STRANGERS),
    ):
        with pytest.raises(NotFound):
            await cold.semantic.supersede(scope, old, new, NOW)
    assert await cold.semantic.facts(SCOPE, [one.id, two.id]) == (one, two)
    assert await cold.log.audit(SCOPE) == ()


async def test_archived_graph_takes_no_new_fact(cold: Cold) -> None:
    """What it holds is returned as before; nothing new is written."""
    await cold.graphs.create_graph(graph_of("race"))
    (known,) = await _known(cold, SCOPE, fact_by())
    await cold.graphs.set_state(SCOPE, GraphState.ARCHIVED, NOW)
    assert await cold.semantic.put_fact(SCOPE, fact_by()) == (known, False)
    with pytest.raises(Conflict, match="archived"):
        await cold.semantic.put_fact(SCOPE, fact_by(text="else"))
    assert (await cold.words.census(OPERATOR))["facts_archival"] == 1


async def test_archival_recall_by_words_ranks_and_limits(cold: Cold) -> None:
    """More of the question's words first; core facts are left out; stems match."""
    best, good, _, _ = await _known(
        cold,
        SCOPE,
        fact_by(text="Medium tyres last eighteen laps."),
        fact_by(text="The tyre is round, black and made of rubber."),
        fact_by(text="Rain is expected at noon."),
        fact_by(text="Medium tyre core fact", tier="core"),
    )
    hits = await cold.semantic.recall_archival(SCOPE, _query("How long does a medium tyre last?"))
    assert [hit.id for hit in hits] == [best.id, good.id]
    assert {hit.tier for hit in hits} == {"cold"}
    assert hits[0].score > hits[1].score
    limited = await cold.semantic.recall_archival(SCOPE, _query(), limit=1)
    assert [hit.id for hit in limited] == [best.id]


async def test_recall_is_not_starved_by_what_the_asker_may_not_see(cold: Cold) -> None:
    """A hundred better matches under another topic do not push the one visible fact out."""
    better = [
        fact_by(text=f"medium tyres medium tyres {number}", topics=("strategy",))
        for number in range(100)
    ]
    await cold.archive.import_rows(SCOPE.tenant, "facts", better)
    assert len(await cold.semantic.recall_archival(SCOPE, _query(), limit=100)) == 100
    (fact,) = await _known(cold, SCOPE, fact_by(text="a long note that mentions a tyre once"))
    asker = scope_of(agent_id="engineer", topics=("tyres",))
    hits = await cold.semantic.recall_archival(asker, _query(), limit=1)
    assert [hit.id for hit in hits] == [fact.id]


async def test_user_and_topics_narrow_and_never_widen(cold: Cold) -> None:
    """The answer is what both the scope and the arguments allow; untopiced facts stay."""
    team = SCOPE.model_copy(update={"user_id": "team"})
    tyres, strategy, plain, users = await _known(
        cold,
        team,
        fact_by(text="medium tyres one"),
        fact_by(text="medium tyres two", topics=("strategy",)),
        fact_by(text="medium tyres three", topics=()),
        fact_by(team, text="medium tyres four"),
    )
    weather = scope_of(agent_id="engineer", topics=("weather",), user_id="team")

    async def found(scope: Scope, **narrow: object) -> set[str]:
        hits = await cold.semantic.recall_archival(scope, _query(), **narrow)
        return {hit.id for hit in hits}

    assert await found(team) == {tyres.id, strategy.id, plain.id, users.id}
    assert await found(team, scope_topics=["tyres"]) == {tyres.id, plain.id, users.id}
    assert await found(team, scope_topics=[" TYRES "]) == {tyres.id, plain.id, users.id}
    assert await found(OPERATOR, scope_topics=["strategy"]) == {strategy.id, plain.id}
    assert await found(team, scope_topics=["weather"]) == {plain.id}
    assert await found(team, scope_topics=[]) == {plain.id}
    assert await found(weather, scope_topics=["tyres", "*"]) == {plain.id}
    assert await found(team, user_id="team") == {users.id}
    assert await found(team, user_id="nobody") == set()
    assert await found(weather, user_id="team") == set()
    assert await found(SCOPE, user_id="team") == set()
    with pytest.raises(UsageError, match="scope_topics"):
        await found(team, scope_topics=["\x00"])


async def test_hostile_questions_are_just_words(cold: Cold) -> None:
    """Whatever the question holds, only its words count, and only visible facts answer."""
    (fact,) = await _known(cold, SCOPE, fact_by(text="Tyres last many laps."))
    await _known(cold, OTHER_GRAPH, fact_by(OTHER_GRAPH, text="Tyres last many laps."))
    for text in HOSTILE_QUERIES:
        hits = await cold.semantic.recall_archival(SCOPE, _query(text))
        assert {hit.id for hit in hits} <= {fact.id}, text
        assert bool(hits) == ("tyres" in text), text


async def test_recall_limits_are_limited(cold: Cold, subtests: pytest.Subtests) -> None:
    """1 to 200."""
    for limit in (0, -1, 201):
        with subtests.test(limit=limit), pytest.raises(UsageError, match="limit"):
            await cold.semantic.recall_archival(SCOPE, _query(), limit=limit)


@pytest.mark.parametrize("others", [0, 3, 50])
async def test_words_bring_in_what_the_index_lacks(
    backend: ColdBackend, tmp_path: Path, others: int
) -> None:
    """A fact that waits to be indexed comes in by its words, however much waits before it.

    What moved is left out.
    """
    async with (
        ReferenceWarmStore(DIMENSIONS) as warm,
        backend.opened(tmp_path, archival_index=warm) as cold,
    ):
        indexed, other, moved = await _known(
            cold,
            SCOPE,
            fact_by(text="medium tyres endure eighteen rounds of the circuit"),
            fact_by(text="Yellow rubber endures."),
            fact_by(text="Became core since.", tier="core"),
        )
        before = [WorkDraft(kind="index", key=f"turn {one}") for one in range(others)]
        await cold.queue.enqueue(SCOPE, before, NOW)
        waiting = fact_by(text="medium tyres")
        work = WorkDraft(kind="index", key=waiting.id, payload={"id": waiting.id})
        await cold.semantic.put_fact(SCOPE, waiting, [work])
        for fact in (indexed, other, moved):
            entry = entry_of(
                SCOPE, 1, fact.text, id=fact.id, kind="fact", tier="archival", topics=("tyres",)
            )
            await warm.upsert(SCOPE, [entry])
        query = _query(vector=(1.0, 0.0, 0.0, 0.0))
        hits = await cold.semantic.recall_archival(SCOPE, query, limit=3)
        assert {hit.id for hit in hits} == {indexed.id, other.id, waiting.id}
        by_words = await cold.words.search_words(SCOPE, _query())
        flags = {hit.id: hit.words_only for hit in by_words}
        assert flags[waiting.id] is True
        assert flags[indexed.id] is False


async def test_a_limit_is_reached_past_facts_that_have_moved(
    backend: ColdBackend, tmp_path: Path
) -> None:
    """An index that still holds many facts which are core by now does not shorten the answer."""
    async with (
        ReferenceWarmStore(DIMENSIONS) as warm,
        backend.opened(tmp_path, archival_index=warm) as cold,
    ):
        drafts = [
            fact_by(text=f"medium {n}", tier="core" if n < 12 else "archival") for n in range(15)
        ]
        facts = await _known(cold, SCOPE, *drafts)
        for number, fact in enumerate(facts):
            text = "medium tyres" if number < 12 else "medium"
            entry = entry_of(SCOPE, 1, text, id=fact.id, kind="fact", tier="archival")
            await warm.upsert(SCOPE, [entry.model_copy(update={"topics": ()})])
        hits = await cold.semantic.recall_archival(SCOPE, _query("medium tyres"), limit=2)
        assert len(hits) == 2
        assert {hit.id for hit in hits} <= {fact.id for fact in facts[12:]}


async def test_index_that_fails_is_not_hidden(backend: ColdBackend, tmp_path: Path) -> None:
    """Half an answer never passes for a whole one: the index's error goes through."""
    warm = ReferenceWarmStore(DIMENSIONS)
    async with warm:
        pass
    async with backend.opened(tmp_path, archival_index=warm) as cold:
        with pytest.raises(TierUnavailable):
            await cold.semantic.recall_archival(SCOPE, _query())


async def test_records_of_somebody_else_and_broken_text_are_refused(cold: Cold) -> None:
    """Nothing is written."""
    with pytest.raises(UsageError, match="owner"):
        await cold.semantic.put_fact(SCOPE, fact_by(OTHER_GRAPH))
    with pytest.raises(UsageError, match="surrogates"):
        await cold.semantic.put_fact(SCOPE, fact_by().model_copy(update={"text": LONE_SURROGATE}))
    census = await cold.words.census(OPERATOR)
    assert census["facts_archival"] == 0
