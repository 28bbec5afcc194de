"""What was kept is found by its meaning in the next breath, while the background indexes it."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.runtime import running

KEPT = (
    ("The kitten is called Minka.", "What is the name of my pet?"),
    ("Rent is paid by standing order.", "How do I pay for my flat?"),
    ("Uncle Theo repairs clocks.", "Who fixes watches?"),
)


@pytest.mark.parametrize(("kept", "asked"), KEPT)
async def test_what_was_kept_is_found_by_what_it_means(
    tmp_path: Path, kept: str, asked: str
) -> None:
    """By the first recall after it: no word is the same."""
    async with running(tmp_path, background=True, embedder="required") as ezra:
        graph = await ezra.create_session_graph("home")
        agent = await graph.spawn_agent("scout", topics={"*"})
        await agent.remember(kept)
        found = await agent.recall(asked, mode="semantic")
        assert kept in [hit.text for hit in found.items]
        assert found.degraded == ()


async def test_what_was_said_is_found_by_what_it_means(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the first recall after the reply, which waits for what is being indexed."""
    monkeypatch.setattr("ezra.recall.candidates.AWAITED_SECONDS", 30)  # of a busy machine
    async with running(tmp_path, background=True, embedder="required") as ezra:
        graph = await ezra.create_session_graph("home")
        agent = await graph.spawn_agent("scout", topics={"*"})
        turn = await agent.turn("Uncle Theo repairs clocks.")
        await turn.reply("That is a rare craft.")
        found = await agent.recall("Who fixes watches?", mode="semantic")
        assert any("Uncle Theo repairs clocks." in hit.text for hit in found.items)
        assert found.degraded == ()


async def test_the_ring_is_compared_by_meaning_before_it_is_indexed(tmp_path: Path) -> None:
    """Among what was said in the last turns, that which answers is first: no word is the same."""
    said = [kept for kept, _ in KEPT]
    async with running(tmp_path, embedder="required") as ezra:
        graph = await ezra.create_session_graph("home")
        agent = await graph.spawn_agent("scout", topics={"*"})
        for text in said:
            await (await agent.turn(text)).reply("I see.")
        for kept, asked in KEPT:
            found = await agent.recall(asked, kinds=["turn"])
            assert kept in found.items[0].text


async def test_what_nobody_indexes_is_waited_for_a_moment_only(tmp_path: Path) -> None:
    """Then it is named that meaning did not take part in full."""
    async with running(tmp_path, embedder="required") as ezra:
        graph = await ezra.create_session_graph("home")
        agent = await graph.spawn_agent("scout", topics={"*"})
        turn = await agent.turn("Uncle Theo repairs clocks.")
        await turn.reply("That is a rare craft.")
        found = await agent.recall("Who fixes watches?", mode="semantic")
        assert found.degraded == ("dense",)


async def test_what_was_kept_is_in_the_next_context(tmp_path: Path) -> None:
    """As far as it is about what is asked."""
    async with running(tmp_path, background=True, embedder="required") as ezra:
        graph = await ezra.create_session_graph("home")
        agent = await graph.spawn_agent("scout", topics={"*"})
        await agent.remember("Uncle Theo repairs clocks.")
        turn = await agent.turn("Who fixes watches?")
        assert any("Theo" in message["content"] for message in turn.messages)
