"""The board of a graph through either door: messages, tasks, actions, and what is refused."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from support.runtime import running
from support.two_doors import House, house_for_a_file

from ezra.moving.carrying import TABLES
from tiers.board import CARDS_MAX, Card
from tiers.errors import BudgetExceeded, Conflict, NotFound, PolicyDenied, UsageError
from tiers.records import Budget

pytestmark = pytest.mark.asyncio(loop_scope="module")

ID = "0198a1b2-0c3d-7e4f-8a5b-6c7d8e9fa0b1"
OTHER_ID = "0198a1b2-0c3d-7e4f-8a5b-6c7d8e9fa0b2"


doors = house_for_a_file()
"""One runtime behind each door for all tests here; each has a graph of its own."""


async def _two(doors: House, **given: Any) -> tuple[Any, Any]:
    """Return two agents of a new graph."""
    one = await doors.agent(**given)
    return one, await doors.agent(one.graph_id, "two", **given)


def _texts(cards: Any) -> list[str]:
    return [card.text for card in getattr(cards, "rows", cards)]


async def test_messages_go_to_agents_or_to_all_and_are_read_once(doors: House) -> None:
    """Newest first, page by page; what one reads stays unread for the other."""
    one, two = await _two(doors)
    three = await doors.agent(one.graph_id, "three")
    for number in range(3):
        sent = await one.board.send(
            "two", f"to two, {number}", priority="high", tags=["a"], machine="m"
        )
        assert (sent.priority, sent.tags, sent.machine) == ("high", ("a",), "m")
    every = await one.board.send("*", "to all", type="news", subject="All of you")
    assert (every.to, every.title, every.type, every.agent_id) == ((), "All of you", "news", "one")
    assert every.thread == every.id
    page = await two.board.inbox(limit=3)
    assert _texts(page) == ["to all", "to two, 2", "to two, 1"]
    rest = await two.board.inbox(limit=3, after=page.cursor)
    assert (_texts(rest), rest.cursor) == (["to two, 0"], None)
    late = await doors.agent(one.graph_id, "late")
    for agent in (three, late):
        assert _texts(await agent.board.inbox()) == ["to all"]
    assert _texts(await one.board.inbox()) == []
    assert _texts(await two.board.inbox(types=["news"])) == ["to all"]
    assert await two.board.unread() == 4
    ids = [card.id for card in page.rows]
    assert await two.board.ack(ids) == tuple(ids)
    assert await two.board.ack([*ids, "unknown"]) == ()
    assert await two.board.ack(rest.rows[0].id) == (rest.rows[0].id,)
    assert await two.board.unread() == 0
    assert _texts(await two.board.inbox(unread=True)) == []
    assert _texts(await three.board.inbox(unread=True)) == ["to all"]


async def test_an_answer_goes_to_the_writer_in_the_same_thread(doors: House) -> None:
    """Also to one's own message, which is to those whom that was for; the thread is in order."""
    one, two = await _two(doors)
    asked = await one.board.send(["two"], "Which tyres?", type="question")
    told = await two.board.reply(asked.id, "Mediums.")
    more = await two.board.reply(told.id, "No: softs.", id=ID)
    assert (told.to, told.reply_to, told.thread) == (("one",), asked.id, asked.id)
    assert (more.to, more.thread, more.id) == (("one",), asked.id, ID)
    joined = await one.board.send("two", "Thanks.", thread=told.thread)
    assert _texts(await two.board.thread(asked.id)) == [
        *("Which tyres?", "Mediums.", "No: softs.", "Thanks.")
    ]
    assert await one.board.thread(asked.id, limit=2) == (more, joined)
    three = await doors.agent(one.graph_id, "three")
    assert await three.board.thread(asked.id) == ()
    with pytest.raises(NotFound):
        await three.board.reply(asked.id, "I see it as well.")


async def test_whatever_is_written_twice_under_an_id_is_stored_once(doors: House) -> None:
    """Messages, answers, actions, tasks and their changes: who heard no answer may repeat."""
    one, two = await _two(doors)
    board, ids = one.board, iter(f"0198a1b2-0c3d-7e4f-8a5b-{n:012x}" for n in range(100))
    sent_id, replied, logged, task_id, change, end = (next(ids) for _ in range(6))
    for _ in range(2):
        sent = await board.send("two", "Box.", id=sent_id)
        await two.board.reply(sent_id, "Copy.", id=replied)
        await board.log("commit", "abc", files=["a.py"], id=logged)
        await board.start_task("Fit the wing", id=task_id)
        await board.update_task(task_id, status="in_progress", note="now", id=change)
        ended = await board.finish_task(task_id, "fitted", id=end)
    assert UUID(sent.id) == UUID(sent_id)
    assert (ended.status, ended.version, ended.details) == ("completed", 3, {"outcome": "fitted"})
    graph = await doors.runtime.session_graph(one.graph_id)
    assert len((await graph.board.latest("message")).rows) == 2
    assert [card.id for card in (await board.history()).rows] == [
        end,
        change,
        *_created((await board.history()).rows),
        logged,
    ]
    for taken in (sent_id, task_id):
        with pytest.raises(Conflict):
            await two.board.send("one", "Mine.", id=taken)
    with pytest.raises(Conflict):
        await board.log("commit", id=task_id)
    with pytest.raises(Conflict):
        await board.update_task(task_id, note="again", id=sent_id)


async def test_an_id_that_was_used_for_other_words_is_refused(doors: House) -> None:
    """Of a message, an answer, an action, a task and its changes: nothing is taken silently."""
    one, two = await _two(doors)
    board, ids = one.board, [f"0198a1b2-0c3d-7e4f-8a5b-{n:012x}" for n in range(6)]
    sent_id, replied, logged, task_id, change, end = ids
    await board.send("two", "Box.", tags={"a", "b", "c"}, id=sent_id)
    await two.board.reply(sent_id, "Copy.", id=replied)
    await board.log("commit", "abc", id=logged)
    await board.start_task("Fit the wing", id=task_id)
    before = await board.task(task_id)
    refused = (
        lambda: board.send("two", "Stay out.", tags={"a", "b", "c"}, id=sent_id),
        lambda: board.send("three", "Box.", tags={"a", "b", "c"}, id=sent_id),
        lambda: two.board.reply(sent_id, "What?", id=replied),
        lambda: board.log("commit", "def", id=logged),
        lambda: board.log("test", "abc", id=logged),
        lambda: board.start_task("Fit the floor", id=task_id),
    )
    for call in refused:
        with pytest.raises(Conflict, match="other words"):
            await call()
    assert await board.task(task_id) == before
    await board.update_task(task_id, status="in_progress", note="now", id=change)
    await board.finish_task(task_id, "fitted", id=end)
    for call in (
        lambda: board.update_task(task_id, status="suspended", note="now", id=change),
        lambda: board.update_task(task_id, status="in_progress", note="later", id=change),
        lambda: board.finish_task(task_id, "not fitted", id=end),
        lambda: board.fail_task(task_id, "fitted", id=end),
    ):
        with pytest.raises(Conflict, match="another change"):
            await call()
    assert (await board.task(task_id)).details == {"outcome": "fitted"}
    # What it was started with is not known any more: it changed.
    assert (await board.start_task("Fit the wing", id=task_id)).status == "completed"


def _created(actions: tuple[Card, ...]) -> list[str]:
    return [one.id for one in actions if one.type == "task_created"]


async def test_a_task_goes_from_state_to_state(doors: House) -> None:
    """Every step there is, by whoever sees it; each is logged with what was said of it."""
    one, two = await _two(doors)
    task = await one.board.start_task("Fit", text="the wing", priority="urgent", tags=["wing"])
    assert (task.status, task.priority, task.title, task.text) == (
        *("created", "urgent", "Fit", "the wing"),
    )
    for status in ("suspended", "in_progress", "suspended", "in_progress", "completed"):
        doors.clock.move(minutes=1)
        task = await two.board.update_task(task.id, status=status, note=f"{status}!")
    assert (task.status, task.agent_id, task.version) == ("completed", "one", 6)
    assert await one.board.task(task.id) == task
    done = (await one.board.history(task_id=task.id)).rows
    assert [card.type.removeprefix("task_") for card in reversed(done)] == [
        *("created", "suspended", "in_progress", "suspended", "in_progress", "completed")
    ]
    assert {card.agent_id for card in done} == {"one", "two"}
    assert done[0].details == {"from": "in_progress", "to": "completed"}
    assert done[0].text == "completed!"
    kept = await one.board.update_task(task.id, status="completed", note="still")
    assert kept.model_copy(update={"version": 6, "changed_at": task.changed_at}) == task
    assert (await one.board.history(types=["task_note"])).rows[0].text == "still"


async def test_what_a_task_cannot_become_is_refused_by_name(doors: House) -> None:
    """The error says which state it is in and what it may become; nothing is written."""
    one, _ = await _two(doors)
    task = await one.board.start_task("Fit")
    with pytest.raises(Conflict) as refused:
        await one.board.update_task(task.id, status="completed")
    for said in (task.id, "created", "in_progress or suspended", "completed"):
        assert said in str(refused.value)
    failed = await one.board.fail_task(task.id, "no wing")
    assert failed.details == {"reason": "no wing"}
    assert await one.board.fail_task(task.id) == failed
    assert await one.board.fail_task(task.id, "no wing") == failed
    for refusal in (
        one.board.fail_task(task.id, "no time"),
        one.board.finish_task(task.id),
        one.board.update_task(task.id, status="in_progress"),
        one.board.update_task(task.id, title="Fit it"),
    ):
        with pytest.raises(Conflict) as refused:
            await refusal
        assert "failed" in str(refused.value)
    assert await one.board.task(task.id) == failed
    with pytest.raises(NotFound):
        await one.board.finish_task(ID)
    with pytest.raises(UsageError):
        await one.board.update_task(task.id)


async def test_open_tasks_are_listed_and_suspended(doors: House) -> None:
    """One's own, those changed last; others' stay as they are."""
    one, two = await _two(doors)
    tasks = []
    for number in range(4):
        doors.clock.move(minutes=1)
        tasks.append(await one.board.start_task(f"{number}", tags=["a"] if number else []))
    await two.board.start_task("another's", parent=tasks[0].id)
    await one.board.update_task(tasks[0].id, status="in_progress")
    await one.board.finish_task(tasks[1].id)
    listed = await one.board.tasks(agent_id="one", limit=2)
    assert [card.title for card in listed.rows] == ["1", "0"]
    rest = await one.board.tasks(agent_id="one", after=listed.cursor)
    assert [card.title for card in rest.rows] == ["3", "2"]
    assert [card.title for card in (await one.board.tasks(tag="a")).rows] == ["1", "3", "2"]
    assert [card.title for card in (await one.board.tasks(parent=tasks[0].id)).rows] == [
        "another's"
    ]
    suspended = await one.board.suspend_tasks(limit=2)
    assert {(card.title, card.status) for card in suspended} == {
        *(("0", "suspended"), ("3", "suspended"))
    }
    assert [card.title for card in await one.board.suspend_tasks()] == ["2"]
    assert await one.board.suspend_tasks() == ()
    left = await one.board.tasks(statuses=["created", "in_progress"])
    assert [card.title for card in left.rows] == ["another's"]


async def test_racing_changes_of_one_task_are_all_kept(doors: House) -> None:
    """Notes of eight writers at once, each logged, each in a version of its own."""
    one, two = await _two(doors)
    task = await one.board.start_task("Fit")
    await asyncio.gather(
        *((one, two)[n % 2].board.update_task(task.id, note=f"{n}") for n in range(8))
    )
    assert (await one.board.task(task.id)).version == 9
    noted = (await one.board.history(types=["task_note"])).rows
    assert {card.text for card in noted} == {str(n) for n in range(8)}


async def test_actions_are_listed_by_agent_and_moment(doors: House) -> None:
    """With files, tags and machine; the latest first."""
    one, two = await _two(doors)
    first = await one.board.log("commit", "one", files=["a.py", "b.py"], machine="m", tags=["x"])
    doors.clock.move(hours=1)
    await two.board.log("test", files="c.py", task_id="t")
    assert (first.details, first.machine, first.tags) == ({"files": ["a.py", "b.py"]}, "m", ("x",))
    found = await one.board.history(since=first.recorded_at + timedelta(minutes=1))
    assert [card.details for card in found.rows] == [{"files": ["c.py"]}]
    assert (await two.board.history(agent_id="one")).rows == (first,)
    assert [card.type for card in (await two.board.history()).rows] == ["test", "commit"]
    assert (await two.board.history(until=first.recorded_at)).rows == ()


async def test_topics_and_users_are_kept_apart(doors: House) -> None:
    """Who does not see a card's topic or works for another finds nothing; a message says so."""
    one = await doors.agent(user_id="ann")
    other = await doors.agent(one.graph_id, "two", topics={"weather"}, user_id="ann")
    third = await doors.agent(one.graph_id, "three", user_id="bob")
    for name in ("two", "three"):
        with pytest.raises(UsageError) as refused:
            await one.board.send(name, "Secret.")
        assert refused.value.field == "to"
    with pytest.raises(PolicyDenied):
        await one.board.send("two", "Secret.", topics=["weather"])
    await one.board.send("two", "For you.", topics=[])
    await one.board.send("three", "For you.", shared=True)
    task = await one.board.start_task("Fit")
    await one.board.send("*", "All of ann's.")
    await one.board.send("*", "All.", topics=[], shared=True)
    assert _texts(await other.board.inbox()) == ["All.", "For you."]
    assert _texts(await third.board.inbox()) == ["All.", "For you."]
    for agent in (other, third):
        assert (await agent.board.tasks()).rows == ()
        assert await agent.board.cards([task.id]) == ()
        for refusal in (agent.board.task(task.id), agent.board.update_task(task.id, note="x")):
            with pytest.raises(NotFound):
                await refusal
    later = await one.board.send("later", "You may come with other topics.")
    assert later.to == ("later",)


async def test_the_operator_sees_all_and_counts_it(doors: House) -> None:
    """Every kind, page by page, with what each agent has not read of what it sees."""
    one, two = await _two(doors)
    await one.board.send("two", "1")
    await one.board.send("*", "2", topics=[])
    await two.board.log("commit")
    blind = await doors.agent(one.graph_id, "blind", topics=set())
    board = (await doors.runtime.session_graph(one.graph_id)).board
    page = await board.latest("message", limit=1)
    rest = await board.latest("message", limit=1, after=page.cursor)
    assert (_texts(page), _texts(rest), rest.cursor) == (["2"], ["1"], None)
    assert await board.unread() == {"one": 0, "two": 2, "blind": 1}
    assert await board.unread(["two", "later"]) == {"two": 2, "later": 1}
    assert _texts(await board.inbox("two")) == ["2", "1"]
    assert _texts(await board.inbox("blind", unread=True)) == _texts(await blind.board.inbox())
    assert await board.cards([rest.rows[0].id]) == rest.rows
    assert await board.thread(rest.rows[0].id) == rest.rows
    counted = await board.counts()
    assert [(one.kind, one.state, one.agent_id, one.number) for one in counted] == [
        ("action", "commit", "two", 1),
        ("message", "message", "one", 2),
    ]
    assert counted[0].day == f"{doors.clock():%Y-%m-%d}"
    assert await board.counts(until=doors.clock() - timedelta(days=90)) == ()
    with pytest.raises(UsageError):
        await board.counts(since=doors.clock() + timedelta(days=1))
    with pytest.raises(UsageError):
        await board.counts(since=doors.clock() - timedelta(days=4_000))


async def test_writes_are_counted_and_refused_beyond_the_budget(doors: House) -> None:
    """A repeated write costs nothing."""
    one = await doors.agent(budget=Budget(writes=2))
    for _ in range(3):
        await one.board.log("commit", id=ID)
    task = await one.board.start_task("Fit", id=OTHER_ID)
    assert (await one.usage()).writes == 2
    with pytest.raises(BudgetExceeded):
        await one.board.update_task(task.id, note="now")
    assert (await one.board.task(task.id)).version == 1


async def test_what_is_not_acceptable_is_named(doors: House) -> None:
    """Field and value, before anything is written."""
    one, _ = await _two(doors)
    board = one.board
    refusals = {
        "text": board.send("two", " "),
        "id": board.send("two", "x", id="not a uuid"),
        "to": board.send(["two", "*"], "x"),
        "priority": board.send("two", "x", priority="top"),
        "title": board.start_task(""),
        "action": board.log("\t"),
        "status": board.update_task(ID, status="open"),
        "limit": board.inbox(limit=101),
        "after": board.inbox(after="there"),
        "types": board.inbox(types="news"),
        "ids": board.ack(["x"] * (CARDS_MAX + 1)),
        "since": board.history(since=doors.clock().replace(tzinfo=None)),
    }
    for field, refusal in refusals.items():
        with pytest.raises(UsageError) as refused:
            await refusal
        assert field in refused.value.field
    with pytest.raises(UsageError, match=r"to: .* '\*' for everybody"):
        await board.send([], "For those whom nobody found.")
    board_of_graph = (await doors.runtime.session_graph(one.graph_id)).board
    assert await board_of_graph.counts() == ()


async def test_whoever_left_writes_and_reads_nothing(doors: House) -> None:
    """And an archived graph takes nothing more, but is read."""
    one, two = await _two(doors)
    sent = await one.board.send("two", "Bye.")
    await one.leave()
    for refusal in (one.board.send("two", "x"), one.board.inbox(), one.board.ack([])):
        with pytest.raises(UsageError):
            await refusal
    graph = await doors.runtime.session_graph(one.graph_id)
    assert _texts(await two.board.inbox()) == ["Bye."]
    await two.leave()
    await graph.archive()
    assert (await graph.board.latest("message")).rows == (sent,)


async def test_a_board_moves_with_its_graph(doors: House, tmp_path: Path) -> None:
    """Ids, versions and who has read what are the same where it arrives, and writing goes on."""
    one, two = await _two(doors)
    sent = await one.board.send("two", "Box.", tags=["a"])
    await two.board.ack([sent.id])
    task = await one.board.start_task("Fit")
    await two.board.update_task(task.id, status="in_progress", note="now")
    graph = await doors.runtime.session_graph(one.graph_id)
    async with running(tmp_path) as other:
        for table in TABLES:
            page = await graph.export_rows(table, limit=1_000)
            assert page.cursor is None
            await other.import_rows(one.graph_id, table, page.rows)
        arrived = await other.session_graph(one.graph_id)
        for kind in ("message", "task", "action"):
            there = (await arrived.board.latest(kind)).rows
            assert there == (await graph.board.latest(kind)).rows
            assert there
        back = await arrived.spawn_agent("two", topics={"tyres"})
        assert await back.board.unread() == 0
        assert (await back.board.finish_task(task.id)).version == 3


async def test_redacted_cards_say_nothing_more(doors: House) -> None:
    """By id and by subject, through the graph; what is left names who and when."""
    one, two = await _two(doors)
    sent = await one.board.send("two", "Ann Lee called.")
    task = await one.board.start_task("Call Ann Lee back")
    await two.board.finish_task(task.id, "Ann Lee was out")
    graph = await doors.runtime.session_graph(one.graph_id)
    report = await graph.erase(subject="Ann Lee", reason="she asked")
    assert len(report.ids["card"]) == 4
    assert report.is_complete
    shown = await one.board.cards([sent.id, task.id])
    assert "Ann" not in "".join(card.model_dump_json() for card in shown)
    assert all(card.redacted_at is not None for card in shown)
    assert _texts(await two.board.inbox()) == []
    with pytest.raises(NotFound):
        await one.board.task(task.id)
    told = [event for event in await graph.audit() if event.kind in {"posted", "changed"}]
    assert "Ann" not in "".join(event.model_dump_json() for event in told)
