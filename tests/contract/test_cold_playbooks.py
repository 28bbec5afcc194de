"""The contracts of ``ProceduralStore``, ``Playbooks`` and ``Watermarks``."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path

import pytest
from support.cold_backends import Cold, ColdBackend
from support.cold_samples import (
    HOSTILE_NAMES,
    HOSTILE_QUERIES,
    LONE_SURROGATE,
    OPERATOR,
    OTHER_AGENT,
    OTHER_GRAPH,
    OTHER_TENANT,
    SCOPE,
    STRANGERS,
    asked,
    draft,
    graph_of,
    heir_of,
    rule_by,
)
from support.tier_samples import HOSTILE_TEXT, NOW, scope_of

from tiers.errors import Conflict, UsageError
from tiers.learning import OUTCOMES_DENSE
from tiers.records import FORMER_VERSIONS_MAX, FormerSteps, GraphState, Rule, Scope

# The contract of ``ProceduralStore``.

CHILD = heir_of("monaco", "bahrain", scope=scope_of(graph_id="imola", topics=("tyres",)))


async def _triggers(cold: Cold, scope: Scope, text: str, limit: int = 10) -> list[str]:
    return [rule.trigger for rule in await cold.procedural.match_rules(scope, text, limit)]


async def test_nothing_matches_nothing(cold: Cold) -> None:
    """No rules, or no words, give no answer."""
    assert await cold.procedural.match_rules(SCOPE, "tyre change", 4) == ()
    await cold.procedural.put_rule(SCOPE, rule_by())
    for text in ("", "   ", "?!", "rain"):
        assert await cold.procedural.match_rules(SCOPE, text, 4) == ()


async def test_rule_comes_back_as_it_was(cold: Cold) -> None:
    """Every field survives."""
    rule = rule_by(
        trigger=f"tyre {HOSTILE_TEXT}",
        steps=(HOSTILE_TEXT, "second"),
        successes=3,
        failures=1,
        version=2,
        former=(FormerSteps(version=1, steps=(HOSTILE_TEXT,), until=NOW),),
        source_ids=("t1", "t2"),
        private=True,
    )
    assert await cold.procedural.put_rule(SCOPE, rule) == (rule, True)
    assert await cold.procedural.match_rules(SCOPE, "which tyre?", 4) == (rule,)


async def test_same_rule_is_stored_once(cold: Cold, backend: ColdBackend, tmp_path: Path) -> None:
    """Same writer, trigger and steps: the first comes back, and no work is queued."""
    first, _ = await cold.procedural.put_rule(SCOPE, rule_by(), [draft("one")])
    again = await cold.procedural.put_rule(SCOPE, rule_by(successes=9), [draft("two")])
    assert again == (first, False)
    assert len(backend.rows(tmp_path, "rules")) == 1
    assert [row["key"] for row in backend.rows(tmp_path, "work")] == ["one"]


async def test_a_trigger_in_another_case_is_the_same_rule(cold: Cold) -> None:
    """Its words stay as they were typed first, and no rule is refined into another."""
    first, _ = await cold.procedural.put_rule(SCOPE, rule_by(trigger="Tyre change"))
    typed = rule_by(trigger="tyre  CHANGE")
    assert await cold.procedural.put_rule(SCOPE, typed) == (first, False)
    steps = ("Call the pit wall.", "Box.")
    other, was_new = await cold.procedural.put_rule(
        SCOPE, rule_by(trigger="TYRE change", steps=steps)
    )
    assert was_new
    assert not await cold.playbooks.refine(SCOPE, other, first.steps, (), NOW)
    assert (await cold.procedural.put_rule(OTHER_AGENT, rule_by(OTHER_AGENT, trigger="tyre")))[1]


async def test_anything_else_is_another_rule(cold: Cold) -> None:
    """Another trigger, step, writer, topic set or privacy is stored beside it."""
    others: list[tuple[Scope, dict[str, object]]] = [
        (SCOPE, {"trigger": "tyre changes"}),
        (SCOPE, {"steps": ("Call the pit wall.", "Box.")}),
        (SCOPE, {"topics": ()}),
        (SCOPE, {"private": True}),
        (OTHER_AGENT, {}),
    ]
    await cold.procedural.put_rule(SCOPE, rule_by())
    for scope, fields in others:
        assert (await cold.procedural.put_rule(scope, rule_by(scope, **fields)))[1], fields


async def test_id_that_says_something_else_is_a_conflict(cold: Cold) -> None:
    """An id stands for one rule."""
    rule, _ = await cold.procedural.put_rule(SCOPE, rule_by())
    with pytest.raises(Conflict, match="rule"):
        await cold.procedural.put_rule(SCOPE, rule.model_copy(update={"trigger": "else"}))


async def test_archived_graph_takes_no_new_rule(cold: Cold) -> None:
    """What it holds is returned as before; nothing new is written."""
    await cold.graphs.create_graph(graph_of("race"))
    known, _ = await cold.procedural.put_rule(SCOPE, rule_by())
    await cold.graphs.set_state(SCOPE, GraphState.ARCHIVED, NOW)
    assert await cold.procedural.put_rule(SCOPE, rule_by()) == (known, False)
    with pytest.raises(Conflict, match="archived"):
        await cold.procedural.put_rule(SCOPE, rule_by(trigger="tyre wear"))
    assert await cold.procedural.match_rules(SCOPE, "tyre", 4) == (known,)


async def test_racing_writers_of_one_rule_store_one(processes: Cold) -> None:
    """Twenty racing puts agree on one id, and queue its work once."""
    stored = await asyncio.gather(
        *(processes.procedural.put_rule(SCOPE, rule_by(), [draft()]) for _ in range(20))
    )
    assert sum(is_new for _, is_new in stored) == 1
    assert len({rule.id for rule, _ in stored}) == 1
    assert (await processes.queue.waiting())["index"] == 1


async def test_best_match_shares_most_words(cold: Cold) -> None:
    """Most words in common, then the shortest trigger; plurals match, stop words do not."""
    for trigger in ("the weather report", "change tyres quickly in rain", "change", "tyre change"):
        await cold.procedural.put_rule(SCOPE, rule_by(trigger=trigger))
    asked = "When should we change the tyres?"
    best = ["tyre change", "change tyres quickly in rain", "change"]
    assert await _triggers(cold, SCOPE, asked) == best
    assert await _triggers(cold, SCOPE, asked, 1) == best[:1]


async def test_outcomes_move_rules_beyond_a_tie(cold: Cold) -> None:
    """Confirmed before untried before rejected; few outcomes are chance, and words count more."""
    few = OUTCOMES_DENSE - 1
    for trigger, successes, failures in (
        ("tyre change", 0, OUTCOMES_DENSE),
        ("tyre change at Imola", 0, few),
        ("tyre change at Monza after rain", OUTCOMES_DENSE, 1),
        ("wet tyre change", 0, 2 * OUTCOMES_DENSE),
    ):
        rule = rule_by(trigger=trigger, successes=successes, failures=failures)
        await cold.procedural.put_rule(SCOPE, rule)
    best = [
        *("tyre change at Monza after rain", "tyre change at Imola"),
        *("tyre change", "wet tyre change"),
    ]
    assert await _triggers(cold, SCOPE, "tyre change") == best
    found = await _triggers(cold, SCOPE, "wet tyre change")
    assert found == [best[3], *best[:3]]
    proven = rule_by(trigger="tyre change by hand", successes=100)
    await cold.procedural.put_rule(SCOPE, proven)
    found = await _triggers(cold, SCOPE, "wet tyre change")
    assert found[:2] == ["tyre change by hand", "wet tyre change"]
    await cold.procedural.put_rule(SCOPE, rule_by(trigger="wet", successes=30))
    assert (await _triggers(cold, SCOPE, "wet tyre change"))[-1] == "wet"


async def test_rules_are_inherited_nearest_first(cold: Cold) -> None:
    """Equal matches: own graph, then the lineage in order; other graphs never."""
    for graph_id in ("bahrain", "imola", "race", "monaco"):
        writer = scope_of(graph_id=graph_id)
        await cold.procedural.put_rule(writer, rule_by(writer, steps=(graph_id,)))
    found = await cold.procedural.match_rules(CHILD, "tyre change", 10)
    assert [rule.graph_id for rule in found] == ["imola", "monaco", "bahrain"]
    asked = "Is a tyre change due?"
    above = await cold.procedural.match_rules(CHILD, asked, 1, inherited=True)
    assert [rule.graph_id for rule in above] == ["monaco"]
    assert await cold.procedural.match_rules(CHILD, "Which tyre?", 9, inherited=True) == ()


async def test_rules_are_not_seen_outside_their_scope(cold: Cold) -> None:
    """Another topic, graph or tenant matches nothing."""
    await cold.procedural.put_rule(SCOPE, rule_by())
    for stranger in STRANGERS:
        assert await cold.procedural.match_rules(stranger, "tyre change", 4) == ()


async def test_private_rules_are_their_writers(cold: Cold) -> None:
    """Not the operator's, not another agent's, and not a namesake's in a child graph."""
    rule, _ = await cold.procedural.put_rule(SCOPE, rule_by(private=True))
    heir = heir_of("race", scope=scope_of(graph_id="imola"))
    for other in (OTHER_AGENT, OPERATOR, heir):
        assert await cold.procedural.match_rules(other, "tyre change", 4) == ()
    assert await cold.procedural.match_rules(SCOPE, "tyre change", 4) == (rule,)


async def test_match_is_not_starved_by_what_the_asker_may_not_see(cold: Cold) -> None:
    """A hundred equal rules of another topic leave room for the visible one."""
    equal = [rule_by(steps=(f"{number}",), topics=("strategy",)) for number in range(100)]
    await cold.archive.import_rows(SCOPE.tenant, "rules", equal)
    assert len(await cold.procedural.match_rules(SCOPE, "tyre change", 100)) == 100
    visible, _ = await cold.procedural.put_rule(SCOPE, rule_by())
    asker = scope_of(agent_id="engineer", topics=("tyres",))
    assert await cold.procedural.match_rules(asker, "tyre change", 1) == (visible,)


async def test_hostile_texts_are_just_words(cold: Cold) -> None:
    """Whatever the text holds, only its words count."""
    rule, _ = await cold.procedural.put_rule(SCOPE, rule_by(trigger="tyre change"))
    await cold.procedural.put_rule(OTHER_GRAPH, rule_by(OTHER_GRAPH))
    for text in HOSTILE_QUERIES:
        found = await cold.procedural.match_rules(SCOPE, text, 4)
        assert found == ((rule,) if "tyres" in text else ()), text


async def test_records_of_somebody_else_and_broken_text_are_refused(cold: Cold) -> None:
    """Nothing is written."""
    with pytest.raises(UsageError, match="owner"):
        await cold.procedural.put_rule(SCOPE, rule_by(OTHER_GRAPH))
    broken = rule_by().model_copy(update={"steps": (LONE_SURROGATE,)})
    with pytest.raises(UsageError, match="surrogates"):
        await cold.procedural.put_rule(SCOPE, broken)
    assert (await cold.words.census(OPERATOR))["rules"] == 0


# The contracts of ``Playbooks`` and ``Watermarks``.

LATER = NOW + timedelta(hours=1)


async def _events(cold: Cold) -> list[tuple[str, tuple[str, ...]]]:
    return [(event.kind, event.record_ids) for event in await cold.log.audit(OPERATOR)]


async def _rule(cold: Cold, rule: Rule | None = None) -> Rule:
    stored, _ = await cold.procedural.put_rule(SCOPE, rule or rule_by())
    return stored


async def test_rules_are_read_by_whom_they_are_shown_to(cold: Cold) -> None:
    """In the order asked, unknown ones left out; private and other topics' ones for their own."""
    one, two = await _rule(cold), await _rule(cold, rule_by(trigger="else", private=True))
    ids = [two.id, "unknown", one.id, two.id]
    assert await cold.playbooks.rules(SCOPE, ids) == (two, one)
    assert await cold.playbooks.rules(OTHER_AGENT, ids) == (one,)
    heir = heir_of("race", scope=scope_of(graph_id="imola"), carries=("rule",))
    for scope in (*STRANGERS, heir):
        assert await cold.playbooks.rules(scope, ids) == ()
        outcome = cold.playbooks.record_outcome(scope, one.id, "theft", NOW, is_success=True)
        assert await outcome is None
        assert not await cold.playbooks.refine(scope, one, ["Theirs."], [], NOW)
    assert await cold.playbooks.rules(SCOPE, ids) == (two, one)
    assert await _events(cold) == []


async def test_outcomes_count_once_per_cause(processes: Cold) -> None:
    """Racing or repeated, and whatever the same cause says the second time."""
    rule = await _rule(processes)
    causes = ("turn-1", "turn-10", HOSTILE_NAMES[0])
    await asyncio.gather(
        *(
            processes.playbooks.record_outcome(SCOPE, rule.id, cause, NOW, is_success=True)
            for cause in causes
            for _ in range(4)
        )
    )
    again = await processes.playbooks.record_outcome(
        SCOPE, rule.id, "turn-1", LATER, is_success=False
    )
    assert again == rule.model_copy(update={"successes": 3})
    failed = await processes.playbooks.record_outcome(
        OPERATOR, rule.id, "x", LATER, is_success=False
    )
    assert failed == rule.model_copy(update={"successes": 3, "failures": 1})
    assert await processes.playbooks.rules(SCOPE, [rule.id]) == (failed,)
    events = await _events(processes)
    assert sorted(events[:3]) == sorted(("playbook confirmed", (rule.id, one)) for one in causes)
    assert events[3:] == [("playbook rejected", (rule.id, "x"))]
    missing = processes.playbooks.record_outcome(SCOPE, "unknown", "x", NOW, is_success=True)
    assert await missing is None
    with pytest.raises(UsageError, match="cause"):
        await processes.playbooks.record_outcome(SCOPE, rule.id, "", NOW, is_success=True)


async def test_refined_rule_keeps_its_former_steps(
    cold: Cold, backend: ColdBackend, tmp_path: Path
) -> None:
    """New steps and the next version; counts stay, the trigger matches, the words are the new."""
    rule = await _rule(cold, rule_by(steps=("Call the garage.",), source_ids=("t1",), failures=2))
    steps = (HOSTILE_TEXT, "Box for hards.")
    assert await cold.playbooks.refine(SCOPE, rule, steps, ["t2", "t1"], LATER, [draft("on")])
    better = rule.model_copy(
        update={
            "steps": steps,
            "version": 2,
            "former": (FormerSteps(version=1, steps=rule.steps, until=LATER),),
            "source_ids": ("t1", "t2"),
        }
    )
    assert await cold.playbooks.rules(SCOPE, [rule.id]) == (better,)
    assert await cold.procedural.match_rules(SCOPE, "tyre change", 4) == (better,)
    for word, ids in (("garage", []), ("hards", [rule.id])):
        hits = await cold.words.search_words(SCOPE, asked(word))
        assert [hit.id for hit in hits] == ids
    ((kind, named),) = await _events(cold)
    assert (kind, named[0]) == ("playbook refined", rule.id)
    assert await cold.procedural.put_rule(SCOPE, rule) == (better, False), "it was only late"
    assert await cold.procedural.put_rule(SCOPE, rule_by(steps=steps)) == (better, False)
    assert [row["key"] for row in backend.rows(tmp_path, "work")] == ["on"]


async def test_refining_compares_before_it_sets(
    processes: Cold, backend: ColdBackend, tmp_path: Path
) -> None:
    """One of ten racing refinements happens; what changes nothing or cannot be writes nothing."""
    rule = await _rule(processes)
    twin = await _rule(processes, rule_by(steps=("Ask the pit wall.",)))
    done = await asyncio.gather(
        *(
            processes.playbooks.refine(SCOPE, rule, [f"step {n}"], [], LATER, [draft(f"{n}")])
            for n in range(10)
        )
    )
    assert sum(done) == 1
    (now,) = await processes.playbooks.rules(SCOPE, [rule.id])
    assert (now.version, now.steps) == (2, (f"step {done.index(True)}",))
    assert not await processes.playbooks.refine(SCOPE, now, now.steps, ["t"], LATER)
    assert not await processes.playbooks.refine(SCOPE, now, twin.steps, ["t"], LATER), (
        "twin has them"
    )
    assert not await processes.playbooks.refine(SCOPE, rule_by(trigger="unknown"), ["x"], [], LATER)
    for broken in ([], [""], [LONE_SURROGATE]):
        with pytest.raises(UsageError):
            await processes.playbooks.refine(SCOPE, now, broken, [], LATER)
    assert await processes.playbooks.rules(SCOPE, [rule.id, twin.id]) == (now, twin)
    assert len(await _events(processes)) == len(backend.rows(tmp_path, "work")) == 1


async def test_former_steps_have_a_limit(cold: Cold) -> None:
    """The oldest version goes when there are too many."""
    former = [
        FormerSteps(version=n, steps=(f"{n}",), until=NOW)
        for n in range(1, FORMER_VERSIONS_MAX + 1)
    ]
    rule = await _rule(cold, rule_by(former=tuple(former), version=FORMER_VERSIONS_MAX + 1))
    assert await cold.playbooks.refine(SCOPE, rule, ["else"], [], LATER)
    (now,) = await cold.playbooks.rules(SCOPE, [rule.id])
    last = FormerSteps(version=rule.version, steps=rule.steps, until=LATER)
    assert now.former == (*former[1:], last)


async def test_watermarks_only_rise(cold: Cold) -> None:
    """Racing or late, the highest stands; there or beyond is ``False``."""
    marks = cold.watermarks
    assert await marks.watermark(SCOPE, "extract") == 0
    assert not await marks.advance(SCOPE, "extract", 0, NOW)
    moved = await asyncio.gather(
        *(marks.advance(SCOPE, "extract", n % 5 + 1, NOW) for n in range(10))
    )
    assert 1 <= sum(moved) <= 5
    assert await marks.watermark(SCOPE, "extract") == 5
    assert not await marks.advance(SCOPE, "extract", 5, LATER)
    assert not await marks.advance(SCOPE, "extract", 4, LATER)
    assert await marks.advance(SCOPE, "extract", 6, LATER)
    assert await marks.watermark(SCOPE, "extract") == 6


async def test_watermarks_are_kept_apart(cold: Cold) -> None:
    """By tenant, graph, agent and name, where these are prefixes of each other or hostile."""
    places = [
        (SCOPE, "extract"),
        (SCOPE, "extract/2"),
        (OTHER_AGENT, "extract"),
        (OTHER_GRAPH, "extract"),
        (scope_of(tenant="acm"), "extract"),
        *((scope_of(agent_id=name), "extract") for name in HOSTILE_NAMES),
    ]
    for number, (scope, name) in enumerate(places, start=1):
        assert await cold.watermarks.advance(scope, name, number, NOW)
    found = [await cold.watermarks.watermark(scope, name) for scope, name in places]
    assert found == list(range(1, len(places) + 1))
    for call in (
        cold.watermarks.watermark(OPERATOR, "extract"),
        cold.watermarks.advance(OPERATOR, "extract", 1, NOW),
        cold.watermarks.watermark(SCOPE, ""),
        cold.watermarks.advance(SCOPE, "extract", -1, NOW),
    ):
        with pytest.raises(UsageError):
            await call


# The contract of ``Watermarks``.


async def test_it_moves_forwards_only(cold: Cold) -> None:
    """From nothing, and to what is further; nobody reads back."""
    assert await cold.watermarks.watermark(SCOPE, "extract") == 0
    assert not await cold.watermarks.advance(SCOPE, "extract", 0, NOW)
    for seq, moved, stands in ((3, True, 3), (3, False, 3), (2, False, 3), (7, True, 7)):
        assert await cold.watermarks.advance(SCOPE, "extract", seq, LATER) == moved
        assert await cold.watermarks.watermark(SCOPE, "extract") == stands


async def test_each_reader_of_each_agent_has_its_own(cold: Cold) -> None:
    """Another name, agent, graph or tenant stands where it stood, however alike they are called."""
    await cold.watermarks.advance(SCOPE, "extract", 5, NOW)
    for scope in (OTHER_AGENT, OTHER_GRAPH, OTHER_TENANT):
        assert await cold.watermarks.watermark(scope, "extract") == 0
    assert await cold.watermarks.watermark(SCOPE, "extract ") == 0
    pairs = [("a", "b/c"), ("a/b", "c"), ("a", 'b", "c'), ('a", "b', "c")]
    pairs += [(name, name) for name in HOSTILE_NAMES]
    for seq, (agent, name) in enumerate(pairs, 1):
        assert await cold.watermarks.advance(scope_of(agent_id=agent), name, seq, NOW)
    for seq, (agent, name) in enumerate(pairs, 1):
        assert await cold.watermarks.watermark(scope_of(agent_id=agent), name) == seq


async def test_racing_readers_end_at_the_furthest(processes: Cold) -> None:
    """Whoever comes late with less changes nothing."""
    moves = (processes.watermarks.advance(SCOPE, "extract", seq, NOW) for seq in range(1, 21))
    assert any(await asyncio.gather(*moves))
    assert await processes.watermarks.watermark(SCOPE, "extract") == 20


async def test_what_is_no_place_is_refused(cold: Cold) -> None:
    """No agent, no name, a name that is too long, and numbers that no turn has."""
    for scope, name in ((OPERATOR, "extract"), (SCOPE, ""), (SCOPE, "x" * 257)):
        with pytest.raises(UsageError):
            await cold.watermarks.watermark(scope, name)
        with pytest.raises(UsageError):
            await cold.watermarks.advance(scope, name, 1, NOW)
    for seq in (-1, 2**63):
        with pytest.raises(UsageError):
            await cold.watermarks.advance(SCOPE, "extract", seq, NOW)
    assert await cold.watermarks.watermark(SCOPE, "extract") == 0
