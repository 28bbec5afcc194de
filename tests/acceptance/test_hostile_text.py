"""Odd and hostile text is stored and found as it is, or refused by name; it never breaks a turn."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.runtime import running

from ezra import Fact, Rule, UsageError

ODD = {
    "quotes": "He said \"box\" and 'box'; DROP TABLE turns; --",
    "operators": '"rain" OR * NEAR(rain, 5) AND NOT ^rain: -rain (rain',
    "braces": "{tenant} ${graph} }{ {{rain}} %s %d \\x00 \\",
    "emoji": "rain 🌧️🏎️ now",
    "scripts": "дождь 雨が降る مطر rain",
    "controls": "rain\x00\x01\x1b[31m\u202ered",
    "blank lines": "rain\n\n\r\n\t rain",
    "long word": "rain" + "x" * 50_000,
    "many words": "rain " * 20_000,
    "one letter": "a",
    "marks only": "?!… --- ***",
}


@pytest.mark.parametrize("name", ODD)
async def test_odd_text_goes_through_every_tier_unchanged(tmp_path: Path, name: str) -> None:
    """Spoken, remembered, believed, asked: the text comes back byte for byte."""
    text = ODD[name]
    async with running(tmp_path, embedder="required", ring_capacity=1) as ezra:
        graph = (
            await ezra.create_session_graph(text[:200].replace("\n", " ").strip() or "g")
            if (text[:200].isprintable())
            else await ezra.create_session_graph("g")
        )
        agent = await graph.spawn_agent("a", topics={"t"})
        output = text.replace("\x00", "")  # of tools refused as binary
        written = await (await agent.turn(text)).reply(text, [{"tool": "x", "output": output}])
        assert (written.turn.input, written.turn.response) == (text, text)
        fact = await agent.remember(Fact(text=text, tier="core"))
        await agent.remember(Rule(trigger=text, steps=(text,)))
        await agent.commit(text)
        turn = await agent.turn(text)
        assert [slot.text for slot in turn.slots if slot.kind == "core"][:1] in ([text], [])
        await turn.reply(text)
        await ezra.drain_learning()
        await ezra.run_lifecycle_tick(graph.id)
        assert await ezra.parked_work() == ()
        found = await agent.recall(text, limit=100)
        assert found.degraded == ()
        (stored,) = await graph.facts([fact])
        assert stored.text == text


@pytest.mark.parametrize("bad", ["\ud800", "x" * 200_001])
async def test_what_cannot_be_stored_is_refused_by_name(tmp_path: Path, bad: str) -> None:
    """A lone surrogate and a text over the limit: nothing is written."""
    async with running(tmp_path) as ezra:
        graph = await ezra.create_session_graph("g")
        agent = await graph.spawn_agent("a", topics={"t"})
        for call in (
            agent.turn(bad),
            agent.remember(bad),
            agent.recall(bad),
            agent.commit(bad),
            graph.recall(bad),
            agent.recall_archival(bad),
        ):
            with pytest.raises(UsageError):
                await call
        turn = await agent.turn("fine")
        with pytest.raises(UsageError, match="response"):
            await turn.reply(bad)
        await turn.reply("fine")
        assert (await graph.status()).cold["turns"] == 1


@pytest.mark.parametrize("name", ["", "   ", "a\nb", "\x00", "x" * 257, "\ud800"])
async def test_names_that_cannot_be_are_refused(tmp_path: Path, name: str) -> None:
    """Graphs, agents, topics and refs are named by 1 to 256 printable characters."""
    async with running(tmp_path) as ezra:
        with pytest.raises(UsageError):
            await ezra.create_session_graph(name)
        graph = await ezra.create_session_graph("g")
        with pytest.raises(UsageError):
            await graph.spawn_agent(name)
        with pytest.raises(UsageError, match="topics"):
            await graph.spawn_agent("a", topics={name})
        assert await graph.agents() == ()
        agent = await graph.spawn_agent("a")
        with pytest.raises(UsageError, match="ref"):
            await agent.commit("It rains.", ref=name)


@pytest.mark.parametrize("given", [None, 5, b"rain", ["rain"], {}, "", " \n"])
async def test_what_is_no_text_is_refused_by_name(tmp_path: Path, given: Any) -> None:
    """As a message, a claim, a letter or a reason: told like any other wrong argument."""
    async with running(tmp_path) as ezra:
        graph = await ezra.create_session_graph("g")
        agent = await graph.spawn_agent("a", topics={"t"})
        fact = await agent.remember("It rains.")
        belief = await agent.commit("It rains.", topic="t")
        said = {
            "message": agent.turn(given),
            "claim": agent.commit(given),
            "text": agent.board.send("a", given),
            "query": agent.recall(given),
            "what": agent.remember(given),
        }
        reasons = [
            agent.forget(fact, reason=given),
            graph.forget(fact, reason=given),
            graph.beliefs.revert(belief.id, reason=given),
            graph.redact([fact], reason=given),
            graph.erase(subject="rain", reason=given),
            graph.taint.roll_back(fact, reason=given),
        ]
        for name, call in (*said.items(), *(("reason", one) for one in reasons)):
            with pytest.raises(UsageError, match=f"^({name}|Fact)"):
                await call
        with pytest.raises(UsageError, match=r"^since"):
            await graph.beliefs.query(since="yesterday")  # type: ignore[arg-type]
        assert [one.text for one in (await agent.recall("rains", kinds=["fact"])).items] == [
            "It rains."
        ]
