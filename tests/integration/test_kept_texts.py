"""What is stored as it is said, reasons and the texts of a board, is stored without its secrets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.runtime import running

from ezra import Ezra, UsageError, WriteRefused

TOKEN = "ghp_" + "a1B2c3D4e5" * 3 + "F6g7H8"
SAID = f"They found {TOKEN} in the log."
LABEL = "They found [removed: "


async def _agent(ezra: Ezra) -> tuple[Any, Any]:
    graph = await ezra.create_session_graph("imola")
    return graph, await graph.spawn_agent("strategist", topics={"tyres"}, user_id="team")


async def test_the_board_keeps_no_secret(tmp_path: Path) -> None:
    """Messages, tasks and what is logged: a label stands for the token, as in what is learnt."""
    async with running(tmp_path) as ezra:
        graph, agent = await _agent(ezra)
        board = agent.board
        sent = await board.send("other", SAID, subject=SAID)
        answered = await board.reply(sent.id, SAID)
        logged = await board.log("audit", SAID)
        task = await board.start_task(SAID, text=SAID)
        changed = await board.update_task(task.id, note=SAID, title=SAID, text=SAID)
        done = await board.finish_task(task.id, SAID)
        cards = [sent, answered, logged, task, changed, done]
        for kind in ("message", "task", "action"):
            cards += (await graph.board.latest(kind)).rows
        for card in cards:
            assert TOKEN not in card.model_dump_json()
        assert sent.text.startswith(LABEL)
        assert done.details["outcome"].startswith(LABEL)


async def test_reasons_keep_no_secret(tmp_path: Path) -> None:
    """Those of the audit feed, of the belief log and of an erasure."""
    async with running(tmp_path) as ezra:
        graph, agent = await _agent(ezra)
        fact_id = await agent.remember("Mediums last 18 laps.")
        other_id = await agent.remember("Softs last 9 laps.")
        beliefs = [await agent.commit(f"Stop on lap {lap}.", topic="tyres") for lap in (18, 30)]
        await agent.forget(fact_id, reason=SAID)
        await agent.forget_facts([other_id], reason=SAID)
        await agent.knowledge.add("Ada", "likes", "tea")
        deletion = {"op": "DELETE", "subject": "Ada", "predicate": "likes", "reason": SAID}
        await agent.knowledge.apply([deletion])
        await graph.beliefs.set_trust("strategist", 0.5, reason=SAID)
        await graph.beliefs.revert(beliefs[0].id, reason=SAID)
        await graph.beliefs.redact(beliefs[1].id, reason=SAID)
        await graph.erase(subject="Ada", reason=SAID)
        await graph.purge(reason=SAID)
        told = [event.model_dump_json() for event in await graph.audit()]
        told += [one.model_dump_json() for one in await graph.beliefs.logged()]
        assert not [one for one in told if TOKEN in one]
        assert [one for one in told if LABEL in one]


async def test_where_secrets_are_refused_so_are_these(tmp_path: Path) -> None:
    """The table of the settings counts: blocked is blocked, allowed is stored."""
    async with running(tmp_path / "one", guard={"*.secret": "block"}) as ezra:
        graph, agent = await _agent(ezra)
        with pytest.raises(WriteRefused, match="text is blocked: secret; accepted: text without"):
            await agent.board.send("other", SAID)
        with pytest.raises(WriteRefused, match="reason is blocked: secret"):
            await graph.purge(reason=SAID)
    async with running(tmp_path / "two", guard={"*.secret": "allow"}) as ezra:
        _, agent = await _agent(ezra)
        assert (await agent.board.send("other", SAID)).text == SAID


async def test_what_is_too_long_is_refused_before_it_is_looked_through(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Looking for secrets in megabytes takes seconds, in which nobody else is served."""
    async with running(tmp_path) as ezra:
        _, agent = await _agent(ezra)
        task = await agent.board.start_task("Prepare the start")
        monkeypatch.setattr(type(ezra.settings.guard_policy), "judge_secrets", _must_not_look)
        long = "a" * 200_001
        for asked in (
            agent.board.send("other", long),
            agent.board.log("audit", long),
            agent.board.update_task(task.id, note=long),
            agent.board.finish_task(task.id, long),
            agent.forget(task.id, reason=long),
        ):
            with pytest.raises(UsageError, match="accepted: text of at most 200000 characters"):
                await asked


def _must_not_look(*looked_at: object) -> None:
    raise AssertionError(str(looked_at)[:100])
