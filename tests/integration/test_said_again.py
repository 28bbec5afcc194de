"""What is said again and again in the same words is answered once, and crowds out nothing."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

from support.runtime import MovingClock, running

from ezra import Agent, Graph
from ezra.handles.recording import PastTurn

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
ALIKE = "Took all my medicines, felt fine."
CHANGES = {
    3: "Medicines: ramipril was stopped because of the cough.",
    9: "Medicines: candesartan was raised to 16 mg.",
    17: "Medicines: atorvastatin was changed to rosuvastatin.",
    24: "Medicines: metformin was lowered to 500 mg.",
}


@asynccontextmanager
async def _diary(home: Path) -> AsyncIterator[tuple[Graph, Agent]]:
    """Give who asks about fifty days on which the same was said, and four changes."""
    async with running(home, MovingClock(NOW)) as ezra:
        graph = await ezra.create_session_graph("diary")
        writer = await graph.spawn_agent("writer")
        turns = []
        for day in range(50):
            at = NOW - timedelta(days=60 - day)
            turns.append(PastTurn(message=ALIKE, speaker="Walter", at=at))
            if day in CHANGES:
                later = at + timedelta(hours=8)
                turns.append(PastTurn(message=CHANGES[day], speaker="Dr. Laurent", at=later))
        await writer.record(turns)
        await ezra.drain_learning()
        yield graph, await graph.spawn_agent("asker")


async def test_recall_answers_a_repeated_sentence_once(tmp_path: Path) -> None:
    """The best stands and names the others; what else answers has its place."""
    async with _diary(tmp_path) as (_, asker):
        found = await asker.recall("What about Walter's medicines?", kinds=("turn",))
        texts = [hit.text for hit in found.items]
        assert texts.count(f"Walter: {ALIKE}") == 1
        assert {f"Dr. Laurent: {change}" for change in CHANGES.values()} <= set(texts)
        (alike,) = (hit for hit in found.items if hit.speaker == "Walter")
        assert len(set(alike.folded)) == 49
        assert alike.id not in alike.folded


async def test_who_counts_is_answered_each_of_them(tmp_path: Path) -> None:
    """How often something was said, one hit does not tell; and where there is room, all stand."""
    async with _diary(tmp_path) as (_, asker):
        asked = "How often did Walter take all medicines?"
        found = await asker.recall(asked, kinds=("turn",))
        assert [hit.text for hit in found.items] == [f"Walter: {ALIKE}"] * 10
        window = await asker.recall("What about medicines?", kinds=("turn",), max_days_ago=13)
        assert [hit.text for hit in window.items] == [f"Walter: {ALIKE}"] * 3
