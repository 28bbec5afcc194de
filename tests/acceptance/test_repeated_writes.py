"""A write that is repeated costs nothing, also where no write is left: the answer was lost."""

from __future__ import annotations

import unicodedata
import uuid
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from support.runtime import running

from ezra import Agent, Budget, BudgetExceeded, Fact, Rule, Usage
from ezra.app import Ezra

RULE = Rule(trigger="safety car deployed", steps=("Check the pit entry.", "Box."))


async def _agent(ezra: Ezra, of_graph: Budget, of_agent: Budget | None = None) -> Agent:
    graph = await ezra.create_session_graph("imola", budget=of_graph)
    return await graph.spawn_agent("strategist", topics={"tyres"}, budget=of_agent)


@pytest.mark.parametrize("of_agent", [None, Budget(writes=1)], ids=["graph", "agent"])
@pytest.mark.parametrize("what", ["The wing is at 28.", RULE], ids=["fact", "rule"])
@pytest.mark.parametrize("is_named", [True, False], ids=["id", "words"])
async def test_what_is_remembered_again_is_free(
    tmp_path: Path, what: str | Rule, of_agent: Budget | None, *, is_named: bool
) -> None:
    """Under its id or by its words; what is new is refused, and nothing of it is stored."""
    named = str(uuid.uuid4()) if is_named else None
    async with running(tmp_path) as ezra:
        of_graph = Budget() if of_agent else Budget(writes=1)
        agent = await _agent(ezra, of_graph, of_agent)
        first = await agent.remember(what, id=named)
        assert await agent.remember(what, id=named) == first
        with pytest.raises(BudgetExceeded):
            await agent.remember("The fuel is at 96.")
        with pytest.raises(BudgetExceeded):
            await agent.remember(Rule(trigger="rain", steps=("Box.",)))
        assert await agent.remember(what, id=named) == first
        assert await agent.usage() == Usage(writes=1)
        assert (await agent.recall("fuel rain")).items == ()


async def test_a_statement_of_a_platform_and_a_value_are_free_again(tmp_path: Path) -> None:
    """As what ``remember`` stores."""
    async with running(tmp_path) as ezra:
        agent = await _agent(ezra, Budget(writes=1))
        done = await agent.remember_fact("The wing is at 28.", scope="agent")
        again = await agent.remember_fact("The wing is at 28.", scope="agent")
        assert (again.id, again.was_new) == (done.id, False)
        with pytest.raises(BudgetExceeded):
            await agent.remember_fact("The fuel is at 96.", scope="agent")
        assert await agent.usage() == Usage(writes=1)


class _Killed(BaseException):
    """Stands for the death of the process."""


async def test_a_kill_leaves_one_of_two_of_which_one_takes_the_others_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before any of the steps that ``remember`` makes; the former one until the last, and one."""
    async with running(tmp_path) as ezra:
        agent = await _agent(ezra, Budget())
        cold, stood = ezra._runtime.semantic._store, list[int]()
        change = type(cold).change
        for steps in range(10):
            old = await agent.remember(Fact(text=f"Bay {steps} is for Ada.", tier="core"))
            left = steps

            async def counted(*args: Any, **more: Any) -> Any:
                nonlocal left
                left -= 1
                if left < 0:
                    raise _Killed
                return await change(*args, **more)

            with monkeypatch.context() as patch, suppress(_Killed):
                patch.setattr(type(cold), "change", counted)
                await agent.remember(f"Bay {steps} is for Bea.", supersedes=old)
            names = [one.text for one in (await agent.core()).facts if f"Bay {steps}" in one.text]
            stood.append(len(names))
            if left > 0:
                break
        assert set(stood) == {1}
        assert names == [f"Bay {steps} is for Bea."]


async def test_one_statement_however_its_accents_were_typed(tmp_path: Path) -> None:
    """As one letter or behind it; who forgets it forgets both."""
    typed = [unicodedata.normalize(form, "Café José is closed.") for form in ("NFC", "NFD")]
    async with running(tmp_path) as ezra:
        agent = await _agent(ezra, Budget())
        first, again = [await agent.remember(one) for one in typed]
        assert first == again
        await agent.remember(typed[1], topics=())
        await agent.forget(first, reason="wrong")
        assert (await agent.recall("Is the café closed?")).items == ()
        known = [(await agent.remember_fact(one, scope="agent")).was_new for one in typed]
        assert known == [True, False]


async def test_a_belief_that_is_committed_again_is_free(tmp_path: Path) -> None:
    """Under its ``ref``; the audit feed has the refusals of what is new, and no other."""
    async with running(tmp_path) as ezra:
        agent = await _agent(ezra, Budget(writes=1))
        made = await agent.commit("Start on softs.", topic="tyres", ref="c1")
        assert (await agent.commit("Start on softs.", topic="tyres", ref="c1")).id == made.id
        with pytest.raises(BudgetExceeded):
            await agent.commit("Start on hards.", topic="tyres", ref="c2")
        assert (await agent.commit("Start on softs.", topic="tyres", ref="c1")).id == made.id
        assert await agent.usage() == Usage(writes=1)
        assert [one.id for one in await agent.beliefs()] == [made.id]
        feed = await ezra.audit()
        assert [one.kind for one in feed].count("denied") == 1


async def test_a_fact_that_was_forgotten_does_not_come_back_for_nothing(tmp_path: Path) -> None:
    """Its words are new again, and are charged."""
    async with running(tmp_path) as ezra:
        agent = await _agent(ezra, Budget(writes=2))
        fact = Fact(text="The wing is at 28.")
        await agent.forget(await agent.remember(fact), reason="wrong")
        with pytest.raises(BudgetExceeded):
            await agent.remember(fact)


async def test_cards_documents_and_refined_rules_are_free_again(tmp_path: Path) -> None:
    """Each is returned as it is stored where no write is left; what is new is refused."""
    ids = [str(uuid.uuid4()) for _ in range(3)]
    async with running(tmp_path) as ezra:
        agent = await _agent(ezra, Budget(writes=7))
        other = await (await ezra.session_graph("imola")).spawn_agent("engineer", topics={"tyres"})
        message = await other.board.send("strategist", "Rain.", id=ids[0])
        task = await agent.board.start_task("Look at the tyres.", id=ids[1])
        rule = await agent.remember(RULE)
        better = RULE.model_copy(update={"steps": ("Box.",)})

        async def again() -> None:
            sent = await other.board.send("strategist", "Rain.", id=ids[0])
            assert sent.id == message.id
            assert (await agent.board.start_task("Look at the tyres.", id=ids[1])).id == task.id
            await agent.board.finish_task(task.id, "Worn.", id=ids[2])
            await agent.board.ack(message.id)
            await agent.documents.put("tyres.md", "# Tyres")
            assert await agent.remember(better, supersedes=rule) == rule

        for _ in range(3):
            await again()
            assert await agent.usage() == Usage(writes=6)
            assert await other.usage() == Usage(writes=1)
        for write in (
            agent.board.start_task("Look at the wing."),
            agent.board.update_task(task.id, note="Still worn."),
            agent.documents.put("tyres.md", "# Hards"),
            agent.remember(RULE, supersedes=rule),
        ):
            with pytest.raises(BudgetExceeded):
                await write
        await again()
        feed = await ezra.audit()
        assert [one.kind for one in feed].count("denied") == 4
