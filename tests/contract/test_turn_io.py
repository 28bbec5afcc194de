"""The contract of ``TurnDesk``: it answers and writes what the stores apart would."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from support.cold_backends import Cold, ColdBackend
from support.cold_samples import (
    OPERATOR,
    OTHER_AGENT,
    OTHER_TOPIC,
    SCOPE,
    asked,
    belief_by,
    draft,
    fact_by,
    graph_of,
    heir_of,
    receipt_by,
    rule_by,
    turn_by,
)
from support.processes import PATIENCE_SECONDS
from support.tier_samples import NOW

from tiers.cold.stores import erasures, turn_io
from tiers.errors import BudgetExceeded, Conflict, ErasedMeanwhile, PolicyDenied, UsageError
from tiers.fleet import Served
from tiers.records import Budget, GraphState, Scope, Standing, Usage
from tiers.turn_io import Charge, TurnWrite

ASKED = "When is a tyre change due?"
ONE = Charge(Usage(tokens=3, writes=1))
NOTHING_LEFT = Charge(Usage(writes=1), of_graph=Budget(writes=0))


async def _filled(cold: Cold) -> None:
    for scope in (SCOPE, heir_of("child").model_copy(update={"graph_id": "monza"})):
        await cold.graphs.create_graph(graph_of(scope.graph_id))
        await cold.beliefs.commit(scope, belief_by(scope))
        await cold.beliefs.commit(scope, belief_by(scope, "It may rain.", private=True, key=None))
        await cold.semantic.put_fact(scope, fact_by(scope, tier="core"))
        await cold.semantic.put_fact(scope, fact_by(scope, "Softs last 11 laps."))
        await cold.procedural.put_rule(scope, rule_by(scope))
        await cold.procedural.put_rule(scope, rule_by(scope, "rain"))


async def test_an_opening_is_what_the_stores_say(cold: Cold) -> None:
    """To whoever asks, and no more than it may see."""
    await _filled(cold)
    for scope in (SCOPE, OTHER_TOPIC, OPERATOR, heir_of("monza")):
        found = await cold.desk.opening(scope, lambda _, one=scope: one, ASKED, 4)
        assert found is not None
        assert found.standing == await cold.graphs.standing(scope)
        assert found.beliefs == await cold.beliefs.active(scope)
        assert found.core == await cold.semantic.core(scope)
        assert found.rules == await cold.procedural.match_rules(scope, ASKED, 4)
        assert found.beliefs or scope == OTHER_TOPIC


async def test_who_asks_is_decided_by_how_it_stands(cold: Cold) -> None:
    """The rest is read for whom the decision names; a denial ends the reading."""
    await _filled(cold)
    stood: list[Standing] = []

    def asker(standing: Standing) -> Scope:
        stood.append(standing)
        return OTHER_TOPIC

    found = await cold.desk.opening(SCOPE, asker, ASKED, 4)
    assert found is not None
    assert found.beliefs == found.core == found.rules == ()
    assert [one.graph.id for one in stood] == [SCOPE.graph_id]

    def denies(_: Standing) -> Scope:
        raise PolicyDenied("strategist", "speak", ("weather",), "tyres")

    with pytest.raises(PolicyDenied):
        await cold.desk.opening(SCOPE, denies, ASKED, 4)
    elsewhere = SCOPE.model_copy(update={"graph_id": "nowhere"})
    assert await cold.desk.opening(elsewhere, lambda _: elsewhere, ASKED, 4) is None


async def test_an_opening_names_the_stored_turn_that_is_said_again(cold: Cold) -> None:
    """By its ``ref``, agent, user and message; what was redacted since is not said again."""
    await cold.graphs.create_graph(graph_of(SCOPE.graph_id))
    turn = turn_by(SCOPE, ref="r1")
    await cold.desk.keep_turn(SCOPE, turn, [], ONE)

    async def repeated(scope: Scope, text: str, ref: str | None) -> str | None:
        found = await cold.desk.opening(scope, lambda _: scope, text, 4, ref)
        assert found is not None
        return found.repeats

    assert await repeated(SCOPE, turn.input, "r1") == turn.id
    assert await repeated(SCOPE, turn.input, "r2") is None
    assert await repeated(SCOPE, turn.input, None) is None
    assert await repeated(SCOPE, "Other.", "r1") is None
    assert await repeated(OTHER_AGENT, turn.input, "r1") is None
    bob = SCOPE.model_copy(update={"user_id": "bob"})
    assert await repeated(bob, turn.input, "r1") is None
    await cold.redactor.redact(OPERATOR, [turn.id], "asked to", NOW)
    assert await repeated(SCOPE, turn.input, "r1") is None


async def test_a_turn_and_its_charge_are_one_write(cold: Cold) -> None:
    """What is refused leaves neither; what is there already is not charged again."""
    await cold.graphs.create_graph(graph_of(SCOPE.graph_id))
    turn = turn_by(SCOPE, ref="r1")
    with pytest.raises(BudgetExceeded):
        await cold.desk.keep_turn(SCOPE, turn, [draft("a")], NOTHING_LEFT)
    assert await _traces(cold) == (0, 0, Usage())

    stored, was_new = await cold.desk.keep_turn(SCOPE, turn, [draft("a")], ONE)
    assert (stored.seq, was_new) == (1, True)
    again = await cold.desk.keep_turn(SCOPE, turn_by(SCOPE, ref="r1"), [draft("b")], ONE)
    assert again == (stored, False)
    assert await _traces(cold) == (1, 1, ONE.amount)
    with pytest.raises(Conflict):
        await cold.desk.keep_turn(SCOPE, turn_by(SCOPE, "Other.", ref="r1"), [], ONE)
    assert await _traces(cold) == (1, 1, ONE.amount)


async def test_a_receipt_and_its_charge_are_one_write(cold: Cold) -> None:
    """As a turn is."""
    await cold.graphs.create_graph(graph_of(SCOPE.graph_id))
    receipt = receipt_by(SCOPE)
    with pytest.raises(BudgetExceeded):
        await cold.desk.keep_receipt(SCOPE, receipt, [draft("a")], NOTHING_LEFT)
    assert await cold.log.receipt(SCOPE, receipt.id) is None
    await cold.desk.keep_receipt(SCOPE, receipt, [draft("a")], ONE)
    assert await cold.log.receipt(SCOPE, receipt.id) == receipt
    other = receipt_by(SCOPE, id=receipt.id, query="Something else?")
    with pytest.raises(Conflict):
        await cold.desk.keep_receipt(SCOPE, other, [draft("b")], ONE)
    assert await _traces(cold) == (0, 1, ONE.amount)


async def test_a_receipt_that_may_wait_is_stored_with_its_turn(cold: Cold) -> None:
    """Who asks before that finds it as well, and then the turn does not store it again."""
    await cold.graphs.create_graph(graph_of(SCOPE.graph_id))
    first, second = receipt_by(SCOPE), receipt_by(SCOPE)
    for receipt, work in ((first, draft("a")), (second, draft("b"))):
        await cold.desk.keep_receipt(SCOPE, receipt, [work], ONE, may_wait=True)
        if receipt is first:
            assert await cold.log.receipt(SCOPE, receipt.id) == receipt
            assert await _traces(cold) == (0, 1, ONE.amount)
        await cold.desk.keep_turn(SCOPE, turn_by(SCOPE), [], ONE, receipt.id)
    assert await cold.log.receipts(OPERATOR) == (first, second)
    assert await _traces(cold) == (2, 2, Usage(tokens=12, writes=4))


async def test_a_receipt_whose_turn_is_refused_waits_on(cold: Cold) -> None:
    """It says what was shown, whatever became of the answer."""
    await cold.graphs.create_graph(graph_of(SCOPE.graph_id))
    receipt = receipt_by(SCOPE)
    await cold.desk.keep_receipt(SCOPE, receipt, [draft("a")], ONE, may_wait=True)
    with pytest.raises(BudgetExceeded):
        await cold.desk.keep_turn(SCOPE, turn_by(SCOPE), [], NOTHING_LEFT, receipt.id)
    assert await cold.log.receipt(SCOPE, receipt.id) == receipt
    assert await _traces(cold) == (0, 1, ONE.amount)


async def test_receipts_without_a_reply_are_stored_within_a_second(
    cold: Cold, backend: ColdBackend, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody asks for them, and nobody replies."""
    monkeypatch.setattr(turn_io, "HELD_SECONDS", 0.05)
    await cold.graphs.create_graph(graph_of(SCOPE.graph_id))
    for _ in range(3):
        await cold.desk.keep_receipt(SCOPE, receipt_by(SCOPE), [], ONE, may_wait=True)
    assert backend.rows(tmp_path, "receipts") == []
    async with asyncio.timeout(PATIENCE_SECONDS):
        while len(backend.rows(tmp_path, "receipts")) < 3:  # noqa: ASYNC110
            await asyncio.sleep(0.01)  # an engine tells nobody that it was written to


async def test_no_more_receipts_wait_than_there_is_room_for(
    cold: Cold, backend: ColdBackend, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who brings one more waits until those before it are stored."""
    monkeypatch.setattr(turn_io, "HELD_MAX", 2)
    await cold.graphs.create_graph(graph_of(SCOPE.graph_id))
    for number in range(5):
        await cold.desk.keep_receipt(SCOPE, receipt_by(SCOPE), [], ONE, may_wait=True)
        assert len(backend.rows(tmp_path, "receipts")) == number - number % 2


ZEBRA = {"subject": "zebra"}


@pytest.mark.parametrize(
    ("who", "said"),
    [
        (ZEBRA, {"text": "A zebra."}),
        (ZEBRA, {"response": "It is a Zebra."}),
        ({"agent_id": SCOPE.agent_id}, {}),
        ({"user_id": "ada"}, {}),
        ({"user_id": "bob", "shared_by": {SCOPE.agent_id: (Served(user_id="bob"),)}}, {}),
    ],
)
async def test_what_an_erasure_reaches_that_ran_meanwhile_is_not_stored(
    cold: Cold, who: dict[str, Any], said: dict[str, str]
) -> None:
    """By the erasure's own test; what it does not reach, or was opened after it, is stored."""
    await cold.graphs.create_graph(graph_of(SCOPE.graph_id))
    scope = SCOPE.model_copy(update={"user_id": "ada" if who.get("user_id") == "ada" else None})
    turn = turn_by(scope, **{"ref": "r1", "text": "Turn.", **said})
    await cold.redactor.begin_erasure(OPERATOR, "e1", **who)
    await cold.redactor.begin_erasure(OPERATOR, "e2", subject="gnu")
    with pytest.raises(ErasedMeanwhile, match="open the turn anew") as refused:
        await cold.desk.keep_turn(scope, turn, [draft("a")], ONE, since="")
    assert refused.value.whose == f"its {next(iter(who)).removesuffix('_id')}"
    assert await _traces(cold) == (0, 0, Usage())
    await cold.desk.keep_turn(OTHER_AGENT, turn_by(OTHER_AGENT, "A bird."), [], ONE, since="")
    stored, was_new = await cold.desk.keep_turn(scope, turn, [draft("a")], ONE, since="e1")
    assert was_new
    # What was stored before an erasure is found by it, and repeating the reply is harmless.
    assert await cold.desk.keep_turn(scope, turn, [], ONE, since="") == (stored, False)


async def test_an_erasure_of_another_process_may_reach_any_turn(
    cold: Cold, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is known of it but that there was one; so is it with those of long ago."""
    monkeypatch.setattr(erasures, "KNOWN_MAX", 1)
    await cold.graphs.create_graph(graph_of(SCOPE.graph_id))
    for name in ("e1", "e2"):
        await cold.redactor.begin_erasure(OPERATOR, name, **ZEBRA)
    with pytest.raises(ErasedMeanwhile, match="another process"):
        await cold.desk.keep_turn(SCOPE, turn_by(), [], ONE, since="")
    await cold.desk.keep_turn(SCOPE, turn_by(), [], ONE, since="e1")
    elsewhere = Scope.of_graph(SCOPE.tenant, "nowhere")
    await cold.redactor.begin_erasure(elsewhere, "e3", **ZEBRA)
    assert await _turns(cold) == 1


async def test_a_receipt_of_before_an_erasure_is_stored_blank_after_it(cold: Cold) -> None:
    """The erasure may have looked through receipts when a context is ready that it is about."""
    await cold.graphs.create_graph(graph_of(SCOPE.graph_id))
    await cold.redactor.begin_erasure(OPERATOR, "e1", **ZEBRA)
    for since, query in (("", ""), ("e1", "What is a zebra?")):
        for may_wait in (True, False):
            receipt = receipt_by(SCOPE, query="What is a zebra?")
            await cold.desk.keep_receipt(SCOPE, receipt, [], ONE, may_wait=may_wait, since=since)
            stored = await cold.log.receipt(SCOPE, receipt.id)
            assert stored is not None
            assert stored.query == query


def _write(scope: Scope = SCOPE, text: str = "Turn.", key: str = "a", **fields: Any) -> TurnWrite:
    return TurnWrite(scope, turn_by(scope, text, **fields), [draft(key)], ONE)


async def test_many_turns_are_stored_as_each_alone_would_be(cold: Cold) -> None:
    """Of several agents in their order: numbers, words, work and counts are those of one by one."""
    await cold.graphs.create_graph(graph_of(SCOPE.graph_id))
    await cold.desk.keep_turn(SCOPE, turn_by(text="Before."), [], ONE)
    who = (SCOPE, OTHER_AGENT, SCOPE, OTHER_AGENT, OTHER_AGENT)
    writes = [_write(scope, f"pitwall {n}", f"k{n % 2}") for n, scope in enumerate(who)]
    kept = await cold.desk.keep_turns(writes)
    assert [(turn.seq, was_new) for turn, was_new in kept] == [
        (2, True), (1, True), (3, True), (2, True), (3, True),
    ]  # fmt: skip
    for write, (turn, _) in zip(writes, kept, strict=True):
        assert turn == write.turn.model_copy(update={"seq": turn.seq})
    graph = await cold.turns.turns_from(OPERATOR, 2, 10)
    assert graph == tuple(turn for turn, _ in kept)
    found = await cold.words.search_words(SCOPE, asked("pitwall", kinds=("turn",)))
    assert {hit.id for hit in found} == {turn.id for turn, _ in kept}
    assert (await cold.queue.waiting(OPERATOR))["index"] == 2
    assert await cold.usage.usage(SCOPE) == Usage(tokens=9, writes=3)
    assert await cold.usage.usage(OTHER_AGENT) == Usage(tokens=9, writes=3)
    assert await cold.usage.usage(OPERATOR) == Usage(tokens=18, writes=6)


async def test_what_is_known_or_comes_twice_is_stored_and_charged_once(cold: Cold) -> None:
    """By ``ref`` and by id, before the batch and within it; each place says what is stored."""
    await cold.graphs.create_graph(graph_of(SCOPE.graph_id))
    first, _ = await cold.desk.keep_turn(SCOPE, turn_by(ref="r1"), [], ONE)
    new = _write(text="New.", ref="r2")
    writes = [_write(text=first.input, ref="r1"), new, _write(text="New.", ref="r2"), new]
    kept = await cold.desk.keep_turns(writes)
    second = kept[1][0]
    assert kept == ((first, False), (second, True), (second, False), (second, False))
    assert second.seq == 2
    assert await _traces(cold) == (2, 1, Usage(tokens=6, writes=2))
    again = await cold.desk.keep_turns(writes)
    assert again == ((first, False), (second, False), (second, False), (second, False))
    assert await cold.desk.keep_turns([]) == ()
    assert await _traces(cold) == (2, 1, Usage(tokens=6, writes=2))


@pytest.mark.parametrize("refused", ["known", "twice", "budget", "archived", "owner", "graphs"])
async def test_of_many_turns_all_are_stored_or_none(cold: Cold, refused: str) -> None:
    """Whatever is refused of one of them, and wherever it stands."""
    await cold.graphs.create_graph(graph_of(SCOPE.graph_id))
    stranger = SCOPE.model_copy(update={"graph_id": "elsewhere"})
    most = Charge(Usage(tokens=3, writes=1), of_graph=Budget(writes=2))
    kind, last = {
        "known": (Conflict, _write(text="Other.", ref="r1")),
        "twice": (Conflict, _write(text="Other.", ref="r2")),
        "budget": (BudgetExceeded, _write()._replace(charge=most)),
        "archived": (Conflict, _write()),
        "owner": (UsageError, _write()._replace(scope=OTHER_AGENT)),
        "graphs": (UsageError, _write(stranger)),
    }[refused]
    await cold.desk.keep_turn(SCOPE, turn_by(ref="r1"), [], ONE)
    if refused == "archived":
        await cold.graphs.set_state(OPERATOR, GraphState.ARCHIVED, NOW)
    with pytest.raises(kind):
        await cold.desk.keep_turns([_write(text="New.", ref="r2"), _write(), last])
    assert await _traces(cold) == (1, 0, ONE.amount)
    if refused == "archived":
        await cold.graphs.set_state(OPERATOR, GraphState.ACTIVE, NOW)
    kept = await cold.desk.keep_turns([_write(text="New.", ref="r2")])
    assert [turn.seq for turn, _ in kept] == [2]


async def test_racing_batches_number_without_gaps(cold: Cold) -> None:
    """Batches and single turns of one agent at the same time."""
    await cold.graphs.create_graph(graph_of(SCOPE.graph_id))
    batches = (
        cold.desk.keep_turns([_write(text=f"{batch}/{n}") for n in range(7)]) for batch in range(6)
    )
    alone = (cold.desk.keep_turn(SCOPE, turn_by(text=f"alone {n}"), [], ONE) for n in range(6))
    await asyncio.gather(*batches, *alone)
    stored = await cold.turns.recent_turns(SCOPE, 100)
    assert [turn.seq for turn in stored] == list(range(1, 49))
    assert (await cold.usage.usage(SCOPE)).writes == 48
    of_a_batch = [turn.seq for turn in stored if turn.input.startswith("3/")]
    assert of_a_batch == list(range(of_a_batch[0], of_a_batch[0] + 7))


async def _turns(cold: Any) -> int:
    return int(await cold.turns.count_turns(OPERATOR))


async def _traces(cold: Any) -> tuple[int, int, Usage]:
    """Return how many turns and waiting items there are, and what the agent has used."""
    waiting = await cold.queue.waiting(OPERATOR)
    turns = await cold.turns.count_turns(OPERATOR)
    return turns, sum(waiting.values()), await cold.usage.usage(SCOPE)
