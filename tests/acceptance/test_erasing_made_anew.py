"""Erasing somebody costs nobody else's words: summaries and episodes are made anew of the rest."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from support.raw_stores import files_with, places_with
from support.runtime import MovingClock, running

from ezra import Ezra, Retention

SAID = (
    "Fireworks seen from the roof with Paula.",
    "The cat Minka had five kittens.",
    "Rent of 980 euros was paid.",
)
OF_SUBJECT = ("minka", "kittens")
GRAINS = ("weekly", "monthly", "quarterly", "yearly")


async def _told(ezra: Ezra, clock: MovingClock) -> Any:
    """Say one thing on each of three days, let the year pass, and return the graph."""
    graph = await ezra.create_session_graph("imola")
    agent = await graph.spawn_agent("engineer", topics={"*"}, user_id="ada")
    for day, text in enumerate(SAID, start=1):
        await agent.record([{"message": text, "at": datetime(2026, 1, day, 12, tzinfo=UTC)}])
    clock.move(days=800)
    await ezra.drain_learning()
    for _ in range(2):
        await ezra.run_lifecycle_tick("imola")
    return graph


async def _texts(graph: Any, grain: str) -> str:
    return " ".join([one.text for one in await graph.episodes(grain=grain)])


@pytest.mark.parametrize("again", ["once", "twice"])
async def test_what_an_erasure_by_subject_empties_is_made_anew(tmp_path: Path, again: str) -> None:
    """At every grain, of the turns that are left; nothing of the name comes back."""
    clock = MovingClock(datetime(2025, 12, 30, 9, tzinfo=UTC))
    async with running(tmp_path, clock) as ezra:
        graph = await _told(ezra, clock)
        assert all(["Minka" in await _texts(graph, grain) for grain in GRAINS])
        report = await graph.erase(subject="Minka", reason="case 1")
        if again == "twice":
            assert not (await graph.erase(subject="Minka", reason="case 1")).ids
        assert report.is_complete
        assert len(report.rewritten) == len(GRAINS)
        for grain in GRAINS:
            text = await _texts(graph, grain)
            assert "Fireworks" in text
            assert "980 euros" in text
        await ezra.drain_learning()
        assert await places_with(ezra, tmp_path, OF_SUBJECT) == set()
        counted = await graph.conservation()
        assert counted.ok
        assert [(one.covered, one.emptied) for one in counted.grains] == [(3, 0)] * 6
        await graph.configure(retention=Retention(plan="working=48h,daily=30d"))
        await graph.retain()
        assert not await graph.episodes(grain="daily"), "what is coarser stands for it"
    assert not files_with(tmp_path, OF_SUBJECT)


async def test_an_emptied_record_covers_nothing_and_stays_empty_if_it_was_named(
    tmp_path: Path,
) -> None:
    """Of an episode that somebody named nothing is made, whatever is erased later."""
    clock = MovingClock(datetime(2025, 12, 30, 9, tzinfo=UTC))
    async with running(tmp_path, clock) as ezra:
        graph = await _told(ezra, clock)
        (week,) = await graph.episodes(grain="weekly")
        await graph.redact([week.id], reason="badly put")
        report = await graph.erase(subject="Minka", reason="case 1")
        assert len(report.rewritten) == len(GRAINS) - 1
        assert not await graph.episodes(grain="weekly")
        counted = {
            one.grain: (one.covered, one.emptied) for one in (await graph.conservation()).grains
        }
        # The turn that is gone has nothing left that could be told.
        assert counted == dict.fromkeys(counted, (3, 0)) | {"weekly": (1, 2)}


async def test_a_summary_keeps_its_other_turns_and_the_feed_tells_the_case(tmp_path: Path) -> None:
    """Its id and what it covers stay, too; the feed says that a search found it."""
    clock = MovingClock()
    async with running(tmp_path, clock, ring_capacity=2, turns_per_summary=4) as ezra:
        graph = await ezra.create_session_graph("imola")
        agent = await graph.spawn_agent("engineer", topics={"*"})
        for number in range(6):
            text = "Minka sleeps." if number == 1 else f"Crate {100 + number} went to Oslo."
            await (await agent.turn(text)).reply("Noted.")
        await ezra.drain_learning()
        await ezra.run_lifecycle_tick("imola")
        (before,) = [one for one in await graph.summaries() if "Minka" in one.text]
        report = await graph.erase(subject="Minka", reason="case 1")
        assert before.id in report.ids["summary"]
        assert report.rewritten == (before.id,)
        (after,) = [one for one in await graph.summaries() if one.id == before.id]
        assert after.covers == before.covers
        assert "Crate 100" in after.text
        assert "Minka" not in after.text
        kinds = [one.kind for one in await graph.audit() if one.reason == "case 1"]
        assert kinds == ["redacted", "erased"]


NAMED = "Wilhelmina Quackenbush"
OF_NAMED = ("wilhelmina", "quackenbush")


async def test_a_name_that_a_tool_is_called_by_is_found_and_goes(tmp_path: Path) -> None:
    """Nothing else of the turn names the person: it is held, and erased in every store."""
    clock = MovingClock()
    async with running(tmp_path, clock, recall_receipts=True) as ezra:
        graph = await ezra.create_session_graph("imola")
        agent = await graph.spawn_agent("engineer", topics={"*"})
        tools = [{"tool": f"glucose of {NAMED}", "output": "5.4"}]
        said = (await (await agent.turn("Hello.")).reply("Hello.", tool_outputs=tools)).turn
        held = await graph.holding(subject=NAMED)
        assert said.id in {one.id for one in held.records}
        assert await places_with(ezra, tmp_path, OF_NAMED), "otherwise this proves nothing"
        report = await graph.erase(subject=NAMED, reason="case 1")
        assert report.is_complete
        assert report.ids["turn"] == (said.id,)
        (turn,) = await graph.turns("engineer")
        assert [(one.tool, one.output) for one in turn.tool_outputs] == [("[redacted]", "")]
        assert not (await agent.recall("glucose")).items
        await ezra.drain_learning()
        assert await places_with(ezra, tmp_path, OF_NAMED) == set()
    assert not files_with(tmp_path, OF_NAMED)


async def test_what_an_agent_is_told_of_a_person_is_shown_and_taken_away(tmp_path: Path) -> None:
    """The whole role and the whole prompt; other prompts, and other agents, keep theirs."""
    clock = MovingClock()
    async with running(tmp_path, clock) as ezra:
        graph = await ezra.create_session_graph("imola")
        prompts = {"daily": f"Note what {NAMED} ate.", "weekly": "Be brief."}
        nurse = await graph.spawn_agent("nurse", role=f"You care for {NAMED}.", prompts=prompts)
        await graph.spawn_agent("cook", prompts={"daily": f"Note what {NAMED} ate."})
        await graph.spawn_agent("clerk", role="You file.")
        await (await nurse.turn("Hello.")).reply("Hello.")

        held, cursor = [], ""
        for _ in range(20):
            page = await graph.holding(subject=NAMED, limit=1, cursor=cursor)
            held += [(one.kind, one.id, one.text) for one in page.records]
            if page.cursor is None:
                break
            cursor = page.cursor
        assert held == [
            ("agent", "nurse", f"You care for {NAMED}."),
            ("agent", "cook", f"Note what {NAMED} ate."),
        ]

        report = await graph.erase(subject=NAMED, reason="case 1")
        assert report.is_complete
        assert report.ids["agent"] == ("nurse", "cook")
        assert report.receipt is not None
        assert report.receipt.ids["agent"] == ("nurse", "cook")
        told = {one.id: (one.role, one.prompts) for one in await graph.agents()}
        assert told == {
            "nurse": ("", {"weekly": "Be brief."}),
            "cook": ("", {}),
            "clerk": ("You file.", {}),
        }
        context = (await nurse.turn("Hello again.")).messages[0]["content"]
        assert "Quackenbush" not in context
        assert not (await graph.holding(subject=NAMED)).records
        assert await places_with(ezra, tmp_path, OF_NAMED) == set()
    assert not files_with(tmp_path, OF_NAMED)
