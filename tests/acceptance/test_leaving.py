"""What an agent or a graph has goes elsewhere, or for good: HE-08."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from support.runtime import running
from support.service import DOORS
from support.two_doors import house

from ezra import Rule, UsageError
from ezra.moving.carrying import TABLES

KETTLE = "copper kettle"


async def filled(graph: Any) -> dict[str, Any]:
    """Let two agents leave something of every kind; return them by id."""
    agents = {}
    for name in ("one", "two"):
        agent = agents[name] = await graph.spawn_agent(name, topics={"tyres"})
        output = {"tool": "sensor", "output": f"{KETTLE} of {name}"}
        turn = await agent.turn(f"Where is the {KETTLE} of {name}?")
        await turn.reply(f"With {name}.", tool_outputs=[output])
        await agent.remember(f"The {KETTLE} of {name} is warm.")
        await agent.remember(Rule(trigger=f"{KETTLE} {name}", steps=("Cool it.",)))
        await agent.commit(f"The {KETTLE} stays with {name}.", topic="tyres")
        await agent.board.send("*", f"The {KETTLE} of {name} is mine.")
        await agent.documents.put(
            f"{name}.md", f"# Kettles\n\nThe {KETTLE} of {name}.", keep_text=True
        )
    return agents


def holding(folder: Path, words: bytes) -> list[str]:
    """Return the files below a folder in which words stand."""
    return [one.name for one in folder.rglob("*") if one.is_file() and words in one.read_bytes()]


def texts(found: Any) -> str:
    """Return all that a recall says."""
    return "\n".join(hit.text for hit in found.items)


@pytest.mark.parametrize("door", DOORS)
async def test_he_08_what_an_agent_wrote_is_erased_and_others_keep_theirs(
    tmp_path: Path, door: str
) -> None:
    """In every kind of record; the audit feed and the chain of beliefs still stand."""
    async with house(tmp_path, door) as there:
        graph = await there.runtime.create_session_graph("imola")
        agents = await filled(graph)
        await there.runtime.drain_learning()
        report = await graph.erase(agent_id="one", reason="it left")
        assert report.is_complete
        assert {"turn", "fact", "rule", "belief", "card", "passage"} <= report.ids.keys()
        said = texts(await agents["two"].recall(KETTLE, limit=50))
        assert "of two" in said
        assert "one" not in said
        assert [card.text for card in (await graph.board.latest("message")).rows].count("") <= 1
        assert (await graph.beliefs.verify()).ok
        for wrong in ({}, {"agent_id": " "}, {"agent_id": "one", "user_id": "u"}):
            with pytest.raises(UsageError):
                await graph.erase(**wrong, reason="it left")


@pytest.mark.parametrize("door", DOORS)
async def test_he_08_a_graph_is_purged_and_others_stand(tmp_path: Path, door: str) -> None:
    """Nothing that it held is left in a file of the installation; another graph keeps its own."""
    async with house(tmp_path, door) as there:
        graph = await there.runtime.create_session_graph("imola")
        agents = await filled(graph)
        await graph.documents.put("of-nobody.md", f"The {KETTLE} of nobody.")
        other = await there.runtime.create_session_graph("monza")
        neighbour = await other.spawn_agent("three", topics={"tyres"})
        await neighbour.remember("The silver spoon is cold.")
        await there.runtime.drain_learning()
        with pytest.raises(UsageError):
            await graph.purge(reason=" ")
        report = await graph.purge(reason="contract ended")
        assert report.is_complete
        assert report.receipt is not None
        assert not (await agents["two"].recall(KETTLE, limit=50)).items
        assert (await graph.beliefs.verify()).ok
        assert "silver" in texts(await neighbour.recall("silver spoon"))
        again = await graph.purge(reason="contract ended")
        assert not again.ids
    assert not await asyncio.to_thread(holding, tmp_path, b"kettle")


@pytest.mark.parametrize("door", DOORS)
async def test_he_08_what_is_exported_arrives_whole_elsewhere(
    tmp_path: Path, door: str, tiers: str
) -> None:
    """With its documents and its board; purged at home, it is found where it arrived."""
    other = f"to{uuid4().hex[:16]}"
    own = dict.fromkeys(("redis_prefix", "qdrant_prefix", "mongodb_database"), other)
    options = own if tiers == "servers" else {}
    async with (
        house(tmp_path / "from", door) as there,
        running(tmp_path / "to", **options) as elsewhere,
    ):
        graph = await there.runtime.create_session_graph("imola")
        await filled(graph)
        for table in TABLES:
            after: str | None = ""
            while after is not None:
                page = await graph.export_rows(table, after, 50)
                await elsewhere.import_rows("imola", table, page.rows)
                after = page.cursor
        assert (await graph.purge(reason="moved")).is_complete
        arrived = await elsewhere.session_graph("imola")
        assert len((await arrived.board.latest("message")).rows) == 2
        agent = await arrived.spawn_agent("two", topics={"tyres"})
        kinds = {hit.kind for hit in (await agent.recall(KETTLE, limit=50)).items}
        assert {"turn", "fact", "document"} <= kinds
