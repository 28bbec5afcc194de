"""Receipts rebuild what turns and recalls were given, whatever has become of the memory since."""

from __future__ import annotations

import sqlite3
from collections import Counter
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.receipt_life import Life, living
from support.runtime import MovingClock, running

from ezra import Agent, Ezra, Fact, Graph, NotFound, Retention, Rule
from ezra.checks import checked
from ezra.receipts.rebuilding import ReplayedContext, rebuild
from ezra.rights.policy import scope_of
from tiers.records import Scope

SHOWN = {"system", "belief", "core", "rule", "archival", "warm", "hot", "mesh", "input"}


async def lived(life: Life, turns: int) -> None:
    """Live, let everything change, and hold every receipt against what was told."""
    await life.live(turns)
    await life.upheaval()
    shown: Counter[str] = Counter()
    inherited: Counter[str] = Counter()
    for receipt_id in life.told:
        again = await life.graph.replay_context(receipt_id)
        shown.update(slot.kind for slot in again.slots)
        inherited.update(slot.kind for slot in again.slots if slot.inherited_from)
    differing = await life.differing()
    assert not differing, [(one.reason, one.missing) for one in differing.values()]
    assert len(life.told) == turns
    assert set(shown) == SHOWN, "a kind of slot was never shown: nothing is proved of it"
    assert set(inherited) == {"core", "rule", "archival", "warm"}


async def test_a_life_of_thirty_turns_is_rebuilt_byte_for_byte(tmp_path: Path) -> None:
    """After supersessions, moves between tiers, refinements, passes and another role."""
    async with living(tmp_path, seed=11) as life:
        await lived(life, 30)


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("seed", [1, 2])
async def test_a_life_of_two_hundred_turns_is_rebuilt_byte_for_byte(
    seed: int, tmp_path: Path
) -> None:
    """The same at the length that the row names."""
    async with living(tmp_path, seed) as life:
        await lived(life, 200)


async def begun(ezra: Ezra, **agent: Any) -> tuple[Graph, Agent]:
    """Return a graph with an agent of all that it is given."""
    graph = await ezra.create_session_graph("imola")
    return graph, await graph.spawn_agent("strategist", **{"topics": {"tyres", "food"}, **agent})


async def say(agent: Agent, text: str, response: str = "Noted.") -> tuple[str, str]:
    """Take a turn and return its receipt and its id."""
    turn = await agent.turn(text)
    written = await turn.reply(response)
    assert turn.receipt_id is not None
    return turn.receipt_id, written.turn.id


async def test_names_of_who_spoke_are_rebuilt_as_they_were_shown(tmp_path: Path) -> None:
    """A context in which one person spoke, and a later one of the same turn with names."""
    async with running(tmp_path) as ezra:
        graph, agent = await begun(ezra)
        told: dict[str, list[dict[str, str]]] = {}
        for who in ("Walter", "Walter", "Noor", "Walter"):
            turn = await agent.turn(f"I am {who}: box?", speaker=who)
            await turn.reply("Noted.")
            assert turn.receipt_id is not None
            told[turn.receipt_id] = turn.messages
        assert [sum("Walter: I am" in str(one) for one in said) for said in told.values()] == [
            0, 0, 2, 3,
        ]  # fmt: skip
        for receipt_id, messages in told.items():
            again = await graph.replay_context(receipt_id)
            assert (again.is_exact, again.messages) == (True, messages)
        last = await agent.turn("Who asked?", speaker="Noor")
        assert last.receipt_id is not None
        again = await graph.replay_context(last.receipt_id, today=True)
        assert again.today is not None
        assert again.today.is_same


async def test_a_redacted_turn_is_not_rebuilt_and_says_so(tmp_path: Path) -> None:
    """Neither its own context nor those it stood in; the others are rebuilt as before."""
    async with running(tmp_path) as ezra:
        graph, agent = await begun(ezra, role="Plans stints.")
        first, _ = await say(agent, "The pit lane is closed.")
        own, secret = await say(agent, "The code is xylograph.")
        after, _ = await say(agent, "What is the code?")
        await graph.redact([secret], reason="asked to")
        assert (await graph.replay_context(first)).is_exact
        for receipt_id in (own, after):
            again = await graph.replay_context(receipt_id, today=True)
            assert not again.is_exact
            assert (again.messages, again.slots, again.query, again.today) == ([], (), "", None)
            assert again.missing
            assert all("redacted" in one.why for one in again.missing)
            assert "xylograph" not in repr(again)
            assert "Plans stints" not in repr(again)


async def test_what_retention_destroyed_is_missing_and_says_so(tmp_path: Path) -> None:
    """A receipt as old as the turns that are gone keeps no question, and so no context."""
    clock = MovingClock()
    async with running(tmp_path, clock) as ezra:
        keep = checked(Retention, plan="free")
        graph = await ezra.create_session_graph("imola", retention=keep)
        agent = await graph.spawn_agent("strategist", topics={"tyres"})
        await agent.remember(Fact(text="Boxes open on lap 12.", tier="core"))
        await say(agent, "The zebra arrived at noon.")
        receipt_id, _ = await say(agent, "When?")
        clock.move(hours=26)
        await ezra.run_lifecycle_tick("imola")
        clock.move(hours=50)
        await graph.retain()
        again = await graph.replay_context(receipt_id)
        assert [one.slot.kind for one in again.missing] == ["system", "core", "hot", "input"]
        assert all("retention" in one.why for one in again.missing)
        assert (again.messages, again.slots, again.query, again.is_exact) == ([], (), "", False)
        assert "zebra" not in repr(again)
        assert "zebra" not in repr(again)


async def test_what_is_not_as_it_was_is_not_called_exact(tmp_path: Path) -> None:
    """A question, a role or an order that was tampered with does not fit the hashes."""
    async with running(tmp_path) as ezra:
        graph, agent = await begun(ezra)
        await say(agent, "Box?")
        receipt_id, _ = await say(agent, "Stay out?")
        scope = Scope.of_graph("default", "imola")
        receipt = await graph.receipt(receipt_id)
        slots = receipt.body["slots"]
        role = [{**slots[0], "text": "You are somebody else."}, *slots[1:]]
        for changed in (
            {"query": "Stay in?"},
            {"body": {**receipt.body, "slots": role}},
            {"body": {**receipt.body, "slots": [*slots[:1], *slots[:0:-1]]}},
            {"body": {**receipt.body, "slots": slots[:-1]}},
        ):
            again = await rebuild(ezra._runtime, scope, receipt.model_copy(update=changed))
            assert not again.is_exact
            assert again.reason
        assert (await rebuild(ezra._runtime, scope, receipt)).is_exact


async def test_an_old_receipt_has_a_clear_answer(tmp_path: Path) -> None:
    """A body of a former version says that nothing can be rebuilt, and what it still says."""
    async with running(tmp_path) as ezra:
        graph, agent = await begun(ezra)
        receipt_id, turn_id = await say(agent, "Box?")
        receipt = await graph.receipt(receipt_id)
        slots = [{"kind": "hot", "source_ids": ["x"], "score": None, "tokens": 3}]
        old = {"turn_id": turn_id, "slots": slots, "dropped": [], "tokens": 3, "degraded": []}
        former = receipt.model_copy(update={"id": "former", "body": old})
        await ezra._runtime.log.put_receipt(Scope.of_graph("default", "imola"), former)
        again = await graph.replay_context("former", today=True)
        assert (again.is_exact, again.messages, again.query) == (False, [], "Box?")
        assert again.turn_id == turn_id
        assert "before receipts named" in str(again.reason)


def rows_of(home: Path) -> dict[str, Any]:
    """Return how many rows each table has, and what was charged."""
    with closing(sqlite3.connect(next(home.rglob("ezra.db")))) as database:
        listed = database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        names = [name for (name,) in listed]
        counts = {name: database.execute(f"SELECT COUNT(*) FROM {name}") for name in names}  # noqa: S608
        found = {name: counted.fetchone()[0] for name, counted in counts.items()}
        used = database.execute("SELECT id, body FROM usage ORDER BY graph_id, id").fetchall()
    return found | {"charged": used}


async def test_today_is_told_and_leaves_no_trace(tmp_path: Path) -> None:
    """What was superseded, refined, promoted and said since is told; nothing is written for it."""
    async with running(tmp_path, ring_capacity=1) as ezra:
        graph, agent = await begun(ezra, role="Plans stints.")
        mediums = await agent.remember("Mediums last 18 laps.")
        spare = await agent.remember("Mediums are in the garage for 18 laps.")
        rule_id = await agent.remember(Rule(trigger="mediums laps", steps=("Box.",)))
        receipt_id, turn_id = await say(agent, "How many laps do mediums last?")
        await say(agent, "Thank you.")
        (rule,) = await ezra._runtime.playbooks.rules(Scope.of_graph("default", "imola"), [rule_id])
        scope = scope_of((await graph.agents())[0])
        now = ezra._runtime.clock()
        await ezra._runtime.playbooks.refine(scope, rule, ["Stay out."], [], now)
        newer = await agent.remember("Mediums last 22 laps.", supersedes=mediums)
        (fact,) = await graph.facts([spare])
        await ezra._runtime.semantic.set_tier(scope, fact, "core", "said often", now)
        agent = await graph.spawn_agent("strategist", topics={"tyres"}, role="Retired.")
        before, ring = rows_of(tmp_path), await ezra._runtime.hot.read(scope)
        again = await graph.replay_context(receipt_id, today=True)
        assert again.is_exact
        diff = again.today
        assert diff is not None
        assert {(one.was.kind, one.why) for one in diff.changed} == {
            ("system", "the agent or its role is another"),
            ("rule", "refined: version 1 is now version 2"),
            ("archival", "promoted to core"),
        }
        assert [(one.was.id, one.why) for one in diff.gone] == [(mediums, f"superseded by {newer}")]
        assert [slot.kind for slot in diff.kept] == ["input"]
        assert {slot.kind for slot in diff.new} == {"archival", "hot"}
        assert turn_id not in {one.was.id for one in diff.gone}
        assert rows_of(tmp_path) == before
        assert await ezra._runtime.hot.read(scope) == ring
        assert (await graph.replay_context(receipt_id)).today is None


async def test_an_agent_rebuilds_its_own_receipts_from_what_it_may_see(tmp_path: Path) -> None:
    """Another's receipt is not found; what its topics no longer cover is missing."""
    async with running(tmp_path) as ezra:
        graph, agent = await begun(ezra)
        other = await graph.spawn_agent("chef", topics={"food"})
        await agent.remember(Fact(text="Soup at noon.", tier="core"), topics={"food"})
        await agent.remember(Fact(text="Boxes on lap 12.", tier="core"), topics={"tyres"})
        mine, _ = await say(agent, "What is up?")
        theirs, _ = await say(other, "Is it soup?")
        await graph.spawn_agent("strategist", topics={"tyres"})
        record = next(one for one in await graph.agents() if one.id == "strategist")
        scope = scope_of(record)
        again = await rebuild(ezra._runtime, scope, await graph.receipt(mine))
        assert [slot.text for slot in again.slots if slot.kind == "core"] == ["Boxes on lap 12."]
        assert ["may not see" in one.why for one in again.missing] == [True]
        assert "Soup" not in repr(again)
        with pytest.raises(NotFound, match="receipt"):
            await rebuild(ezra._runtime, scope, await graph.receipt(theirs))
        assert (await graph.replay_context(mine)).is_exact, "the graph's handle sees it all"
        assert (await ezra.replay_context(theirs)).is_exact
        with pytest.raises(NotFound, match="receipt"):
            await ezra.replay_context("nobody")
        elsewhere = await ezra.create_session_graph("monza")
        with pytest.raises(NotFound, match="receipt"):
            await elsewhere.replay_context(mine)


async def test_a_recall_is_rebuilt_and_asked_again(tmp_path: Path) -> None:
    """Its answers as they read then, and how the same question is answered now."""
    async with running(tmp_path) as ezra:
        graph, agent = await begun(ezra)
        mediums = await agent.remember("Mediums last 18 laps.")
        rule_id = await agent.remember(Rule(trigger="mediums laps", steps=("Box.",)))
        await agent.commit("Mediums are the tyre for laps.", topic="tyres")
        _, turn_id = await say(agent, "Do mediums last for laps?")
        found = await agent.recall("mediums laps", receipt=True)
        outputs = await _measured(agent)
        scope = scope_of((await graph.agents())[0])
        (rule,) = await ezra._runtime.playbooks.rules(scope, [rule_id])
        now = ezra._runtime.clock()
        await ezra._runtime.playbooks.refine(scope, rule, ["Stay out."], [], now)
        newer = await agent.remember("Mediums last 22 laps.", supersedes=mediums)
        before = rows_of(tmp_path)
        again = await graph.replay_context(str(found.receipt_id), today=True)
        assert rows_of(tmp_path) == before
        assert again.is_exact, again.missing
        assert [slot.text for slot in again.slots] == [hit.text for hit in found.items]
        texts = {slot.source_ids[0]: slot.text for slot in again.slots}
        assert texts.keys() >= {mediums, rule_id, turn_id}
        assert {slot.record for slot in again.slots} == {"fact", "rule", "belief", "turn"}
        assert (again.kind, again.query, again.messages) == ("recall", "mediums laps", [])
        assert again.today is not None
        gone = {one.was.id: one.why for one in again.today.gone}
        assert gone[mediums] == f"superseded by {newer}"
        assert newer in {slot.source_ids[0] for slot in again.today.new}
        assert rule_id in {one.was.id for one in again.today.changed}
        assert (await graph.replay_context(outputs)).is_exact


async def _measured(agent: Agent) -> str:
    """Let a tool answer, recall what it said, and return the receipt."""
    turn = await agent.turn("How long did mediums last?")
    await turn.reply("", tool_outputs=[{"tool": "telemetry", "output": "mediums: 17 laps"}])
    found = await agent.recall("telemetry mediums laps", kinds=("tool_output",), receipt=True)
    assert [hit.kind for hit in found.items] == ["tool_output"]
    return str(found.receipt_id)


async def test_receipts_of_heirs_lose_their_salt_with_what_they_inherited(tmp_path: Path) -> None:
    """A hash of a short text that its own graph redacts cannot be tried anywhere."""
    async with running(tmp_path) as ezra:
        before = await ezra.create_session_graph("monaco")
        elder = await before.spawn_agent("veteran", topics={"tyres"})
        graph = await ezra.create_session_graph("imola", inherits_from=["monaco"])
        agent = await graph.spawn_agent("strategist", topics={"tyres"})
        plain, _ = await say(agent, "Box?")
        pin = await elder.remember(Fact(text="The pin is 1234.", tier="core"))
        shown, _ = await say(agent, "Stay out?")
        assert (await graph.replay_context(shown)).is_exact
        await graph.revoke("monaco")
        assert (await graph.replay_context(shown)).is_exact, "as it was, though revoked"
        report = await before.redact([pin], reason="asked to")
        assert report.ids["receipt"] == (shown,)
        again = await graph.replay_context(shown)
        assert again.slots == ()
        assert not (await graph.receipt(shown)).body["seal"]["salt"]
        assert (await graph.replay_context(plain)).is_exact
        assert (await before.redact([pin], reason="again")).ids == {"fact": (pin,)}


def test_a_replayed_context_of_nothing_is_empty() -> None:
    """Two answers about one receipt are equal, and a changed one is not."""
    at = MovingClock()()
    one = ReplayedContext("r", "turn", "imola", "strategist", None, "", at)
    assert one == replace(one)
    assert one != replace(one, is_exact=True)
