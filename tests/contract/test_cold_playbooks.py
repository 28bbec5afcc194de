"""The contracts of ``Playbooks`` and ``Watermarks``."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path

import pytest
from support.cold_backends import Cold, ColdBackend
from support.cold_samples import (
    HOSTILE_NAMES,
    LONE_SURROGATE,
    OPERATOR,
    OTHER_AGENT,
    OTHER_GRAPH,
    SCOPE,
    STRANGERS,
    asked,
    draft,
    heir_of,
    rule_by,
)
from support.tier_samples import HOSTILE_TEXT, NOW, scope_of

from tiers.errors import UsageError
from tiers.records import FORMER_VERSIONS_MAX, FormerSteps, Rule

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
