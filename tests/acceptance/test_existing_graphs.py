"""A graph that is there already is taken where that is what was asked for."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from support.runtime import running
from support.service import DOORS, serving

from ezra import Ezra
from tiers.errors import Conflict, UsageError


async def test_r9_34_many_at_once_get_the_one_graph(tmp_path: Path) -> None:
    """Whoever was not first gets the graph of who was."""
    async with running(tmp_path) as ezra:
        made = (ezra.create_session_graph("imola", exist_ok=True) for _ in range(50))
        assert {graph.id for graph in await asyncio.gather(*made)} == {"imola"}


@pytest.mark.parametrize("door", DOORS)
async def test_r9_34_a_graph_that_is_there_is_returned(tmp_path: Path, door: str) -> None:
    """Where its parents and a given merge strategy agree; else a conflict names both."""
    async with running(tmp_path) as runtime, serving(runtime) as url, Ezra.connect(url) as remote:
        ezra = runtime if door == "in process" else remote
        await ezra.create_session_graph("monaco", exist_ok=True)
        imola = await ezra.create_session_graph(
            "imola", inherits_from=["monaco"], merge_strategy="highest_trust"
        )
        agent = await imola.spawn_agent("engineer")
        await agent.remember("The front wing is at 28.5 degrees.")
        again = await ezra.create_session_graph("imola", inherits_from=["monaco"], exist_ok=True)
        assert again.inherits_from == ("monaco",)
        engineer = await again.agent("engineer")
        assert len((await engineer.recall("front wing")).items) == 1
        await ezra.create_session_graph(
            "imola", inherits_from=["monaco"], merge_strategy="highest_trust", exist_ok=True
        )
        with pytest.raises(Conflict, match="expected 'none', found 'monaco'"):
            await ezra.create_session_graph("imola", exist_ok=True)
        with pytest.raises(Conflict, match="expected 'monaco with episodes', found 'monaco'"):
            await ezra.create_session_graph(
                "imola", inherits_from=["monaco"], inherit_episodes=True, exist_ok=True
            )
        with pytest.raises(Conflict, match="expected 'manual', found 'highest_trust'"):
            await ezra.create_session_graph(
                "imola", inherits_from=["monaco"], merge_strategy="manual", exist_ok=True
            )
        with pytest.raises(Conflict):
            await ezra.create_session_graph("imola", inherits_from=["monaco"])
        with pytest.raises(UsageError, match="merge_strategy"):
            await ezra.create_session_graph("imola", merge_strategy="luck", exist_ok=True)
