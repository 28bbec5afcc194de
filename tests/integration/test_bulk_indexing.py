"""A long queue is indexed in batches: one call to the embedder, and one write, for 64 records."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from support.runtime import running

from metaagents.reindex import index
from metaagents.reindex.vectors import vectors_of
from metaagents.work import BATCH_LIMIT
from tiers.cold.sqlite import writing
from tiers.ports import Embedder, Vector


async def test_a_recorded_history_is_embedded_in_full_batches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever recorded them; only the last is smaller. What it came to is written together."""
    batches: list[int] = []
    commits = 0

    async def counting(texts: Iterable[str], embedder: Embedder | None) -> dict[str, Vector | None]:
        wanted = list(texts)
        batches.append(len(wanted))
        return await vectors_of(wanted, embedder)

    commit = writing._commit

    def committed(*args: Any) -> None:
        nonlocal commits
        commits += 1
        commit(*args)

    async with running(tmp_path) as ezra:
        graph = await ezra.create_session_graph("imola")
        for name in ("a", "b"):
            agent = await graph.spawn_agent(name, topics={"tyres"})
            await agent.record({"message": f"{name} saw lap {lap}."} for lap in range(150))
        monkeypatch.setattr(index, "vectors_of", counting)
        monkeypatch.setattr(writing, "_commit", committed)
        await ezra._runtime.index_worker.drain()
        assert batches == [BATCH_LIMIT] * 4 + [300 - 4 * BATCH_LIMIT]
        assert (await ezra.waiting_work())["index"] == 0
        assert await ezra._runtime.warm.count(await agent._scope()) == 300
    # One to claim each batch, and few for what becomes of it: not one for each record.
    assert commits < 40
