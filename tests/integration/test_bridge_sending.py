"""Writing by way of the outbox: repeats, refusals, failures, and a memory that is away."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from support.bridges import Server, at, machine
from support.runtime import running

from ezra import Ezra
from ezra.bridge.client import Away, Bridge, bridged
from ezra.bridge.config import BridgeConfig
from ezra.bridge.outbox import Kind, outbox_of
from ezra.bridge.reading import current_task, memories, recall, show, status
from ezra.bridge.sending import ATTEMPTS_MAX, deliver, send_all
from tiers.errors import Conflict, FolderInUse, NotFound, TierRejected, UsageError

WRITES: tuple[tuple[Kind, dict[str, Any]], ...] = (
    ("remember", {"type": "decision", "content": "Tokens live for 15 minutes.", "tags": ["a"]}),
    ("send", {"to": ["builder"], "type": "question", "text": "Ready?"}),
    ("log", {"action": "commit", "text": "did it", "files": ["a.py"]}),
    ("task_start", {"title": "Write tests"}),
)


@asynccontextmanager
async def given(ezra: Ezra) -> AsyncIterator[Ezra]:
    """Lend a runtime that stays open."""
    yield ezra


def on(config: BridgeConfig, ezra: Ezra) -> AbstractAsyncContextManager[Bridge]:
    """Open the bridge of a machine to a runtime in this process."""
    return bridged(config, lambda: given(ezra))


async def counted(bridge: Bridge) -> dict[str, int]:
    """Return how much of each kind there is."""
    graph = await bridge.graph()
    found = {"memory": len([one async for one in memories(bridge)])}
    for kind in ("message", "task", "action"):
        found[kind] = len((await graph.board.latest(kind)).rows)
    return found


async def test_what_is_sent_again_after_a_lost_answer_is_there_once(tmp_path: Path) -> None:
    """Every kind of item, delivered twice: the second time changes nothing."""
    config = machine(tmp_path / "laptop", "builder", home=tmp_path / "home")
    box = outbox_of(config)
    async with running(tmp_path / "home") as ezra, on(config, ezra) as bridge:
        agent = bridge.agent()
        made = {kind: box.append(kind, arguments) for kind, arguments in WRITES}
        task, message = made["task_start"].id, made["send"].id
        changes: tuple[tuple[Kind, dict[str, Any]], ...] = (
            ("task_update", {"id": task, "status": "in_progress", "note": "half"}),
            ("task_done", {"id": task, "outcome": "all"}),
            ("reply", {"id": message, "text": "Yes."}),
            ("ack", {"ids": [message]}),
            ("forget", {"id": made["remember"].id}),
        )
        for kind, arguments in changes:
            made[kind] = box.append(kind, arguments)
        before: dict[str, int] = {}
        for item in box.pending():
            await deliver(agent, item)
            before = await counted(bridge)
            again = await deliver(agent, item)
            assert await counted(bridge) == before, item.kind
            assert again.get("id", item.id) in {item.id, task, made["remember"].id}
        assert before == {"memory": 0, "message": 2, "task": 1, "action": 4}
        sent = await send_all(box, agent)  # and all of it once more
        assert [one.state for one in sent.outcomes] == ["done"] * len(made)
        assert await counted(bridge) == before


async def test_what_is_refused_steps_aside_and_the_rest_follows_in_order(tmp_path: Path) -> None:
    """A poison item is listed with the reason; of whoever is there, it is that one's error."""
    config = machine(tmp_path / "laptop", "builder", home=tmp_path / "home")
    box = outbox_of(config)
    box.append("log", {"action": "step", "text": "1"})
    box.append("task_done", {"id": "01985a4c-0000-7000-8000-000000000000"})
    box.append("log", {"action": "step", "text": "2"})
    box.append("log", {"text": "no action at all"})
    box.append("log", {"action": "step", "text": "3"})
    async with running(tmp_path / "home") as ezra, on(config, ezra) as bridge:
        states = [(one.item.kind, one.state) for one in bridge.first_sent.outcomes]
        assert states == [
            ("log", "done"), ("task_done", "refused"), ("log", "done"), ("log", "refused"),
            ("log", "done"),
        ]  # fmt: skip
        page = await bridge.agent().board.history(types=("step",))
        assert [card.text for card in reversed(page.rows)] == ["1", "2", "3"]
        reasons = [one.reason or "" for one in box.refused()]
        assert "does not exist" in reasons[0]
        assert "'action'" in reasons[1]
        with pytest.raises(NotFound):
            await bridge.write("task_done", id="01985a4c-0000-7000-8000-000000000000")
        with pytest.raises(UsageError):
            await bridge.write("log", action=" ", text="x")
        assert box.counts() == (0, 2)
        assert (await bridge.write("log", action="step", text="4")).state == "done"


class Broken:
    """A handle whose memory is reached and breaks."""

    @property
    def board(self) -> Broken:
        """Itself."""
        return self

    async def log(self, *_: object, **__: object) -> None:
        """Break."""
        raise TierRejected("cold", "post", "the engine said no")


class CutOff(BaseException):
    """A process that is killed while it delivers."""


class Watching(Broken):
    """A handle at which the process is killed, and that saw what was in the queue then."""

    def __init__(self, queue: Path) -> None:
        self._queue = queue
        self.seen: list[list[str]] = []

    async def log(self, *_: object, **__: object) -> None:
        """Look, and be killed."""
        self.seen.append(await asyncio.to_thread(lambda: sorted(map(str, self._files()))))
        raise CutOff

    def _files(self) -> list[Path]:
        return [one for one in self._queue.rglob("*") if one.is_file() and "queue" in one.parts]


async def test_r9_41_an_item_stays_on_disk_until_it_is_delivered(tmp_path: Path) -> None:
    """Whoever is killed in the middle of delivering it delivers it when it is started again."""
    config = machine(tmp_path / "laptop", "builder", home=tmp_path / "home")
    box = outbox_of(config)
    item = box.append("log", {"action": "step", "text": "1"})
    watching: Any = Watching(tmp_path / "laptop")
    for _ in range(2):
        with pytest.raises(CutOff):
            await send_all(box, watching)
    assert [any(item.id in file for file in files) for files in watching.seen] == [True, True]
    assert [one.id for one in outbox_of(config).pending()] == [item.id]
    async with running(tmp_path / "home") as ezra, on(config, ezra) as bridge:
        assert outbox_of(config).is_empty()  # opening a bridge sends what waits
        assert (await counted(bridge))["action"] == 1


async def test_what_the_memory_breaks_on_is_tried_a_few_times(tmp_path: Path) -> None:
    """Those behind it wait meanwhile, and follow when it counts as refused."""
    box = outbox_of(machine(tmp_path / "laptop", "builder", home=tmp_path / "home"))
    box.append("log", {"action": "step", "text": "1"})
    broken: Any = Broken()
    for attempt in range(1, ATTEMPTS_MAX):
        sent = await send_all(box, broken)
        assert ([one.state for one in sent.outcomes], sent.left) == (["queued"], 1)
        assert box.pending()[0].attempts == attempt
        assert not sent.is_away
    sent = await send_all(box, broken)
    assert ([one.state for one in sent.outcomes], sent.left) == (["refused"], 0)
    assert box.refused()[0].attempts == ATTEMPTS_MAX


async def test_a_folder_that_somebody_else_has_is_away(tmp_path: Path) -> None:
    """Writes wait, reads say so, and all is sent once the folder is free."""
    home = tmp_path / "home"
    config = machine(tmp_path / "laptop", "builder", home=home)

    def own() -> AbstractAsyncContextManager[Bridge]:
        return bridged(config, lambda: running(home))

    async with running(home):
        with pytest.raises(FolderInUse, match="is in use by"):
            await running(home).__aenter__()
        async with own() as bridge:
            outcomes = [await bridge.write(kind, **arguments) for kind, arguments in WRITES]
            assert {one.state for one in outcomes} == {"queued"}
            assert "in use" in str(outcomes[0].reason)
            for read in (recall(bridge, "tokens"), show(bridge, "x"), current_task(bridge)):
                with pytest.raises(Away, match="in use"):
                    await read
            told = await status(bridge)
            assert (told["reachable"], told["queued"]) == (False, 4)
    async with own() as bridge:
        assert bridge.first_sent.count("done") == 4
        found = await recall(bridge, "how long do tokens live", mode="keyword")
        assert [one.id for one in found.memories] == [outcomes[0].id]
        assert await counted(bridge) == {"memory": 1, "message": 1, "task": 1, "action": 2}


async def test_a_server_that_is_not_there_is_away_at_once(tmp_path: Path) -> None:
    """No answer at the address: nothing waits long, and nothing is lost."""
    nobody = Server(tmp_path / "home")  # never started
    config = machine(tmp_path / "laptop", "builder", nobody.url)
    async with asyncio.timeout(20), at(config) as bridge:
        assert (await bridge.write("log", action="a", text="b")).state == "queued"
        with pytest.raises(Away):
            await bridge.sync()
    assert outbox_of(config).counts() == (1, 0)


async def test_two_processes_of_one_agent_keep_its_order(tmp_path: Path) -> None:
    """While one sends, what the other writes waits behind it."""
    config = machine(tmp_path / "laptop", "builder", home=tmp_path / "home")
    home = tmp_path / "home"
    async with running(home) as ezra, on(config, ezra) as one, on(config, ezra) as two:
        for number in range(0, 20, 2):
            await asyncio.gather(
                one.write("log", action="step", text=f"{number:02}"),
                two.write("log", action="step", text=f"{number + 1:02}"),
            )
        rows = (await one.agent().board.history(types=("step",), limit=100)).rows
        assert sorted(card.text for card in rows) == [f"{number:02}" for number in range(20)]
        ids = [card.id for card in reversed(rows)]
        assert ids == sorted(ids)


async def test_forgotten_is_gone_from_recall_and_says_what_took_its_place(tmp_path: Path) -> None:
    """Superseding goes in the right direction, also between memories of two agents."""
    home = tmp_path / "home"
    config = machine(tmp_path / "laptop", "builder", home=home)
    other = machine(tmp_path / "desktop", "reviewer", home=home)
    async with running(home) as ezra, on(config, ezra) as mine, on(other, ezra) as theirs:
        old = await mine.write("remember", type="decision", content="Tokens live an hour.")
        new = await theirs.write("remember", type="decision", content="Tokens live a minute.")
        gone = await mine.write("remember", type="observation", content="Tokens are blue.")
        await mine.write("forget", id=old.id, superseded_by=new.id)
        await mine.write("forget", id=gone.id)
        found = await recall(mine, "tokens", limit=10)
        assert [one.id for one in found.memories] == [new.id]
        assert (await show(mine, old.id)).superseded_by == new.id
        assert (await show(mine, new.id)).superseded_by is None
        assert (await show(mine, gone.id)).forgotten_at is not None
        with pytest.raises(NotFound):
            await mine.write(
                "forget", id=new.id, superseded_by="01985a4c-0000-7000-8000-000000000000"
            )
        own = await mine.write("remember", type="note", content="Ask Ada.", private=True)
        with pytest.raises(UsageError, match="superseded_by"):
            await mine.write("forget", id=new.id, superseded_by=own.id)
        assert [one.id for one in (await recall(theirs, "tokens")).memories] == [new.id]
        # Sending the old item again brings nothing back; saying it anew is a new memory.
        assert await deliver(mine.agent(), gone.item) == {"id": gone.id, "is_new": True}
        assert [one.id for one in (await recall(mine, "blue")).memories] == []
        anew = await mine.write("remember", type="observation", content="Tokens are blue.")
        assert anew.id != gone.id
        assert [one.id for one in (await recall(mine, "blue")).memories] == [anew.id]


async def test_what_names_no_record_is_refused_and_leaves_none(tmp_path: Path) -> None:
    """A message to be read, the parent of a task, and the task that something was done for."""
    nowhere = "01985a4c-0000-7000-8000-000000000000"
    config = machine(tmp_path / "laptop", "builder", home=tmp_path / "home")
    refused: tuple[tuple[Kind, dict[str, Any]], ...] = (
        ("ack", {"ids": [nowhere]}),
        ("task_start", {"title": "Write tests", "parent": nowhere}),
        ("log", {"action": "commit", "text": "did it", "task_id": nowhere}),
    )
    async with running(tmp_path / "home") as ezra, on(config, ezra) as bridge:
        for kind, arguments in refused:
            with pytest.raises(NotFound, match=nowhere):
                await bridge.write(kind, **arguments)
        assert await counted(bridge) == {"memory": 0, "message": 0, "task": 0, "action": 0}
        task = await bridge.write("task_start", title="Write tests")
        await bridge.write("task_start", title="The first one", parent=task.id)
        await bridge.write("log", action="commit", text="did it", task_id=task.id)


async def test_the_same_words_have_one_id_while_the_memory_is_away(tmp_path: Path) -> None:
    """Under which they are found later; what is forgotten in between is said anew."""
    away = Bridge(machine(tmp_path, "builder", home=tmp_path / "home"), None, away="it is away")
    said: dict[str, Any] = {"type": "decision", "content": "Tokens live an hour.", "tags": ["a"]}
    first = await away.write("remember", **said)
    assert (await away.write("remember", **said)).id == first.id
    assert (await away.write("remember", **said | {"tags": ["b"]})).id != first.id
    await away.write("forget", id=first.id)
    assert (await away.write("remember", **said)).id != first.id
    assert away.outbox.counts() == (4, 0)


async def test_another_statements_id_is_refused(tmp_path: Path) -> None:
    """An id that stands for something else makes no second record and changes none."""
    async with running(tmp_path / "home") as ezra:
        graph = await ezra.create_session_graph("bridge")
        agent = await graph.spawn_agent("builder", topics={"*"})
        known = await agent.remember("one", id="01985a4c-0000-7000-8000-000000000000")
        with pytest.raises(Conflict):
            await agent.remember("two", id=known)
        for bad in ("x", "01985A4C-0000-7000-8000-000000000000", ""):
            with pytest.raises(UsageError, match="UUID"):
                await agent.remember("three", id=bad)
        assert [one.text for one in (await agent.latest_facts()).rows] == ["one"]
