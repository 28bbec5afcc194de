"""The contract of ``ProceduralStore``."""

from __future__ import annotations

import asyncio
from pathlib import Path

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
    draft,
    graph_of,
    heir_of,
    rule_by,
)
from support.tier_samples import HOSTILE_TEXT, NOW, scope_of

from tiers.errors import Conflict, UsageError
from tiers.learning import OUTCOMES_DENSE
from tiers.records import FormerSteps, GraphState, Scope

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
