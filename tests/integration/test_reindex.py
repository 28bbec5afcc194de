"""The warm index is built anew from cold, and a long queue is indexed in batches."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from support.model import installed_model
from support.runtime import MovingClock, running

from ezra import Ezra
from metaagents.reindex import index
from metaagents.reindex.rules import Reembedding
from metaagents.reindex.vectors import vectors_of
from metaagents.work import BATCH_LIMIT
from tiers.cold.sqlite import writing
from tiers.embedding.installed import MANIFEST_FILE, MODEL_NAME, InstalledModel
from tiers.ports import Embedder, Vector
from tiers.warm.edge_layout import slug_of

# The warm index is built anew from cold: when it is new, and for another model.

INT8, FP32 = f"{MODEL_NAME}/int8", f"{MODEL_NAME}/fp32"
MEANT = {"The physician examined the driver.", "The doctor is a friend."}


async def remembered(ezra: Ezra) -> None:
    """Remember something, shared and private, and index it."""
    graph = await ezra.create_session_graph("imola")
    agent = await graph.spawn_agent("a", topics={"t"})
    await agent.remember("The physician examined the driver.")
    await agent.remember("The doctor is a friend.", private=True)
    await ezra.drain_learning()


async def recalled(
    ezra: Ezra, question: str = "hospital visit"
) -> tuple[set[str], tuple[str, ...]]:
    """Return the texts that are recalled by the agent, and what the answer lacks."""
    agent = await (await ezra.session_graph("imola")).spawn_agent("a", topics={"t"})
    found = await agent.recall(question)
    return {hit.text for hit in found.items}, found.degraded


@pytest.fixture(name="real")
def _real() -> InstalledModel:
    """The real model; installed before a loop runs."""
    return installed_model("int8")


def relabelled(real: InstalledModel, models: Path, precision: str) -> None:
    """Install the real int8 model below ``models`` under the id of a precision."""
    folder = models / f"{MODEL_NAME}-{precision}"
    shutil.copytree(real.folder, folder)
    manifest = json.loads((folder / MANIFEST_FILE).read_text())
    manifest |= {"precision": precision, "model_id": f"{MODEL_NAME}/{precision}"}
    (folder / MANIFEST_FILE).write_text(json.dumps(manifest))


async def test_memories_from_before_the_model_are_found_by_meaning(tmp_path: Path) -> None:
    """Installing the model later embeds what was remembered without it; words answer meanwhile."""
    async with running(tmp_path) as ezra:
        await remembered(ezra)
        assert await recalled(ezra) == (set(), ("dense",))
    async with running(tmp_path, embedder="required") as ezra:
        assert ezra._runtime.reembedder.progress == Reembedding(None, INT8, 0, 2)
        assert await recalled(ezra) == (set(), ("dense",))
        assert (await recalled(ezra, "doctor"))[0] == {"The doctor is a friend."}
        assert (await ezra._runtime.reembedder.run_to_end()).completed
        assert await recalled(ezra) == (MEANT, ())
    async with running(tmp_path, embedder="required") as ezra:
        assert ezra._runtime.reembedder.progress is None
        assert await recalled(ezra) == (MEANT, ())


async def test_beliefs_are_found_by_meaning_while_they_are_active(tmp_path: Path) -> None:
    """By a question that shares no word with them; what took a belief's place is not about it."""
    async with running(tmp_path, embedder="required") as ezra:
        graph = await ezra.create_session_graph("imola")
        agent = await graph.spawn_agent("a", topics={"t"})
        for place in ("harbour", "airport"):
            await agent.commit(f"The {place} is closed.", topic="t", key=(place, "state"))
        key = ("driver", "state")
        held = await agent.commit("The physician examined the driver.", topic="t", key=key)
        await ezra.drain_learning()
        found = await agent.recall("hospital visit", kinds=["belief"], limit=1)
        assert [(hit.id, hit.tier, hit.words_only) for hit in found.items] == [
            (held.id, "warm", False)
        ]
        assert found.degraded == ()
        await agent.commit("Breakfast was late.", topic="t", key=key)
        await ezra.drain_learning()
        found = await agent.recall("hospital visit physician", kinds=["belief"])
        assert held.id not in {hit.id for hit in found.items}
        assert len(found.items) == 3
        assert (await graph.status()).warm == 3


async def test_a_lost_index_is_rebuilt(tmp_path: Path) -> None:
    """Removing the warm folder loses nothing, and words find everything at once."""
    async with running(tmp_path) as ezra:
        await remembered(ezra)
    shutil.rmtree(tmp_path / "warm")
    async with running(tmp_path) as ezra:
        graph = await ezra.session_graph("imola")
        assert (await graph.status()).warm == 0
        assert (await recalled(ezra, "doctor"))[0] == {"The doctor is a friend."}
        agent = await graph.spawn_agent("a", topics={"t"})
        found = await agent.recall_archival("physician")
        assert [hit.text for hit in found] == ["The physician examined the driver."]
        assert (await ezra._runtime.reembedder.run_to_end()).records == 2
        assert (await graph.status()).warm == 2
        assert (await recalled(ezra, "doctor"))[0] == {"The doctor is a friend."}


async def test_a_lost_index_of_a_model_says_that_it_is_not_whole(tmp_path: Path) -> None:
    """An answer by an index that is still built is degraded by ``dense``."""
    async with running(tmp_path, embedder="required") as ezra:
        await remembered(ezra)
        assert await recalled(ezra) == (MEANT, ())
    shutil.rmtree(tmp_path / "warm")
    async with running(tmp_path, embedder="required") as ezra:
        agent = await (await ezra.session_graph("imola")).spawn_agent("a", topics={"t"})
        found = await agent.recall("the doctor")
        assert found.degraded == ("warm", "dense")
        assert f"dense: still embedding with {INT8}" in found.skipped
        assert {hit.text for hit in found.items} == {"The doctor is a friend."}
        await ezra._runtime.reembedder.run_to_end()
        assert await recalled(ezra) == (MEANT, ())


async def test_another_model_is_changed_to_while_the_old_one_answers(
    real: InstalledModel, tmp_path: Path
) -> None:
    """End to end with installed models: by meaning before, while, and after."""
    home, models = tmp_path / "home", tmp_path / "models"
    relabelled(real, models, "fp32")
    settings = {"embedder": "required", "models": models}
    async with running(home, **settings) as ezra:
        await remembered(ezra)
        assert ezra.embedder == FP32
    relabelled(real, models, "int8")
    async with running(home, **settings) as ezra:
        assert ezra.embedder == INT8
        assert ezra._runtime.reembedder.progress == Reembedding(FP32, INT8, 0, 2)
        assert ezra._runtime.warm.serving.model_id == FP32
        assert await recalled(ezra) == (MEANT, ())
        turn = await (await (await ezra.session_graph("imola")).spawn_agent("b")).turn("a visit")
        assert turn.degraded == ()
        await ezra._runtime.reembedder.run_to_end()
        assert ezra._runtime.warm.serving.model_id == INT8
        assert await recalled(ezra) == (MEANT, ())
    assert (home / "warm" / slug_of(FP32)).exists()
    shutil.rmtree(models / f"{MODEL_NAME}-fp32")
    async with running(home, **settings) as ezra:
        assert await recalled(ezra) == (MEANT, ())
        assert not (home / "warm" / slug_of(FP32)).exists()


async def test_the_clock_embeds_without_being_asked(tmp_path: Path) -> None:
    """In the background, as everything else."""
    async with running(tmp_path) as ezra:
        await remembered(ezra)
    ticking = {"background": True, "learning_seconds": 0.02, "embedder": "required"}
    async with running(tmp_path, **ticking) as ezra, asyncio.timeout(60):
        while ezra._runtime.reembedder.progress is not None:  # noqa: ASYNC110 - done by the clock
            await asyncio.sleep(0.01)
        assert await recalled(ezra) == (MEANT, ())


async def test_work_claimed_by_a_killed_owner_is_free_at_once(tmp_path: Path) -> None:
    """The next owner is alone, so it need not wait for the leases of the last."""
    moving = MovingClock()
    async with running(tmp_path, moving) as ezra:
        graph = await ezra.create_session_graph("imola")
        agent = await graph.spawn_agent("a", topics={"t"})
        await agent.remember("Mediums last 18 laps.")
        queue, clock = ezra._runtime.queue, ezra._runtime.clock
        assert len(await queue.claim(["index", "judge"], "killed", 10, 3600, clock())) == 2
        assert (await ezra.drain_learning()).claimed == 0
    async with running(tmp_path, moving) as ezra:
        assert (await ezra.drain_learning()).completed == {"index": 1, "judge": 1}


# A long queue is indexed in batches: one call to the embedder, and one write, for 64 records.


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
