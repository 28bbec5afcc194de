"""What was erased does not come back with the reply to a turn that was open meanwhile."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.erasure_story import say
from support.raw_stores import places_with
from support.runtime import MovingClock
from support.service import DOORS
from support.two_doors import house

from ezra import ErasedMeanwhile, Ezra, Settings
from tiers.records import MeshResult

NAME = "Quillon Varnhagen"
WORDS = ("varnhagen", "7719023441")
WHOM = ("subject", "user_id", "agent_id", "graph")


async def _erased(graph: Any, whom: str) -> None:
    if whom == "graph":
        await graph.purge(reason="asked to")
        return
    name = {"subject": NAME, "user_id": "ada", "agent_id": "one"}[whom]
    await graph.erase(**{whom: name}, reason="asked to")


@pytest.mark.parametrize("door", DOORS)
async def test_a_reply_to_an_open_turn_brings_nothing_back(tmp_path: Path, door: str) -> None:
    """It is refused with a word that says why; everybody else's is stored."""
    async with house(tmp_path / "home", door) as opened:
        for whom in WHOM:
            one = await opened.agent(user_id="ada")
            graph = await opened.runtime.session_graph(one.graph_id)
            other = await opened.agent(one.graph_id, "other", user_id="bob")
            await (await one.turn(f"{NAME} has badge 7719023441.")).reply("Noted.")
            open_turn, others = await one.turn("Which badge?"), await other.turn("Is it dry?")
            await _erased(graph, whom)
            for _ in range(2):
                with pytest.raises(ErasedMeanwhile, match="open the turn anew"):
                    await open_turn.reply(f"{NAME} has 7719023441.")
            if whom == "graph":
                with pytest.raises(ErasedMeanwhile):
                    await others.reply("It is.")
            else:
                assert (await others.reply("It is.")).was_new, whom
            assert (await (await one.turn("Is it dry?")).reply("It is.")).was_new
            assert await places_with(opened.behind, tmp_path / "home", WORDS) == set(), whom


async def test_a_context_that_is_made_meanwhile_leaves_a_blank_receipt(tmp_path: Path) -> None:
    """A connector takes its time, and what it says is erased before it has said it."""

    async def crm(question: str, scope: Any) -> MeshResult:
        del question, scope
        await graph.erase(subject=NAME, reason="asked to")
        return MeshResult(source="crm", text=f"{NAME}: 7719023441", queried_at=clock())

    clock = MovingClock()
    settings = Settings(home=tmp_path, embedder="off", background=False)
    async with Ezra.open(settings, clock=clock, connectors={"crm": crm}) as ezra:
        graph = await ezra.create_session_graph("imola")
        agent = await graph.spawn_agent("one")
        turn = await agent.turn(f"Who is {NAME}?", mesh="crm")
        assert turn.receipt_id is not None
        assert (await graph.receipt(turn.receipt_id)).query == "", "and whoever asks has it stored"
        assert await _places_with(ezra, tmp_path) == set()
        with pytest.raises(ErasedMeanwhile):
            await turn.reply("Somebody.")
        assert await _places_with(ezra, tmp_path) == set()
        await say(agent, "Is it dry?", "It is.")


async def _places_with(ezra: Ezra, home: Path) -> set[str]:
    """Return where words of the subject are, besides what the hot tier has from the connector."""
    found = await places_with(ezra, home, WORDS)
    return {name for store, name, _ in found if store != "redis"}
