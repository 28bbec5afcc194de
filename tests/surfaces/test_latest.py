"""What a graph holds, the latest first, page by page, through either door."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from support.runtime import MovingClock

from ezra import Ezra, Fact, Rule, UsageError
from tiers.records import Scope


async def _told(runtime: Any) -> list[str]:
    """Remember facts of both tiers, some private, forgotten or of another graph; live ids."""
    graph = await runtime.create_session_graph("imola")
    agent = await graph.spawn_agent("strategist", topics={"tyres", "weather"})
    kept = []
    for number in range(7):
        tier = "core" if number % 3 == 0 else "archival"
        topic = "tyres" if number % 2 else "weather"
        what = Fact(text=f"fact {number}", tier=tier, topics=(topic,))
        kept.append(await agent.remember(what))
    await agent.remember("only mine", private=True)
    await agent.forget(kept.pop(2), reason="asked to")
    other = await runtime.create_session_graph("monza")
    await (await other.spawn_agent("strategist")).remember("of another graph")
    return kept


async def test_facts_come_in_pages_the_latest_first(runtime: Any) -> None:
    """Live shared facts of the graph alone, each once; a tier and a topic narrow every page."""
    kept = await _told(runtime)
    graph = await runtime.session_graph("imola")
    whole = await graph.latest_facts()
    assert ([one.id for one in whole.rows], whole.cursor) == (kept[::-1], None)
    assert {one.text for one in whole.rows} == {f"fact {number}" for number in (0, 1, 3, 4, 5, 6)}
    read, cursor, pages = [], "", 0
    while cursor is not None:
        page = await graph.latest_facts(after=cursor, limit=2)
        read += [one.id for one in page.rows]
        cursor, pages = page.cursor, pages + 1
    assert (read, pages) == (kept[::-1], 3)
    core = await graph.latest_facts(tier="core", limit=2)
    assert [one.text for one in core.rows] == ["fact 6", "fact 3"]
    rest = await graph.latest_facts(tier="core", limit=2, after=core.cursor)
    assert ([one.text for one in rest.rows], rest.cursor) == (["fact 0"], None)
    about = await graph.latest_facts(topics=["tyres"])
    assert [one.text for one in about.rows] == ["fact 5", "fact 3", "fact 1"]


async def test_facts_true_from_one_day_are_told_apart(runtime: Any, clock: MovingClock) -> None:
    """Many may begin at one moment: their ids order them, and no page loses one."""
    graph = await runtime.create_session_graph("imola")
    agent = await graph.spawn_agent("strategist")
    day = clock() - timedelta(days=9)
    ids = {await agent.remember(Fact(text=f"fact {n}", valid_from=day)) for n in range(5)}
    read, cursor = [], ""
    while cursor is not None:
        page = await graph.latest_facts(after=cursor, limit=2)
        read += [one.id for one in page.rows]
        cursor = page.cursor
    assert read == sorted(ids)


async def test_rules_come_in_pages_with_their_outcomes(runtime: Any, behind: Ezra) -> None:
    """Rules as they are now, versions and counts included."""
    graph = await runtime.create_session_graph("imola")
    assert (await graph.latest_rules()).rows == ()
    agent = await graph.spawn_agent("strategist", topics={"tyres"})
    for number in range(3):
        rule = Rule(trigger=f"it rains {number}", steps=("box",), topics=("tyres",))
        rule_id = await agent.remember(rule)
    runtime = behind._runtime
    scope = Scope.of_graph(runtime.settings.tenant, "imola")
    await runtime.playbooks.record_outcome(
        scope, rule_id, "a turn", runtime.clock(), is_success=True
    )
    page = await graph.latest_rules(limit=2)
    assert [(one.trigger, one.successes) for one in page.rows] == [
        ("it rains 2", 1),
        ("it rains 1", 0),
    ]
    rest = await graph.latest_rules(limit=2, after=page.cursor)
    assert ([one.trigger for one in rest.rows], rest.cursor) == (["it rains 0"], None)
    assert (await graph.latest_rules(topics=["weather"])).rows == ()


async def test_what_is_no_page_is_refused_alike(runtime: Any) -> None:
    """Numbers out of range, cursors that never were, tiers there are none of: by name."""
    graph = await runtime.create_session_graph("imola")
    mistakes: tuple[dict[str, Any], ...] = (
        {"limit": 0},
        {"limit": 101},
        {"after": "x"},
        {"after": "1:"},
        {"after": "²:x"},
        {"after": f"{9**40}:x"},
        {"after": "-62135596800000001:x"},
        {"tier": "silver"},
        {"topics": [""]},
    )
    for asked in mistakes:
        with pytest.raises(UsageError) as refused:
            await graph.latest_facts(**asked)
        assert refused.value.field.split(".")[0] in asked
