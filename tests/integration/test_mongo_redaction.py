"""Redaction in MongoDB, cut off at every command."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pymongo import MongoClient
from support.belief_replay import replayed
from support.cold_samples import belief_by
from support.mongo_cuts import cut_at
from support.mongo_deployments import REFUSED, Deployment, deployed
from support.redactions import LATER, SECRETS, History, history_of, store
from support.tier_samples import scope_of

from tiers.cold.stores import ColdStores
from tiers.errors import TierError
from tiers.owned import REDACTED
from tiers.records import AuditFilter, Commitment, Scope
from tiers.upkeep import Redacted

EVERY = range(1, 250)
SOME = range(8, 250, 37)
"""Numbers of commands; a redaction sends fewer."""


@pytest.fixture(scope="module")
def deployment() -> Iterator[Deployment]:
    """A server for all tests of this file."""
    with deployed() as found:
        yield found


async def _carried_on(deployment: Deployment, name: str, number: int, *, after: bool) -> bool:
    """Redact, cut off at a command, then again; ``False`` when there was no such command.

    By another process the second time: what the first had open is over.
    """
    owner = scope_of(graph_id=f"graph {number} {after}")
    runtime = owner.for_graph()
    async with deployment.opened(name) as cold:
        history, beliefs = await _told(cold, owner)
        asked = [history.told[0].id, history.told[2].id, history.rule.id, beliefs[1].id]
        with cut_at(deployment.server, number, code=REFUSED, after=after) as cut:
            try:
                await cold.redactor.redact(runtime, asked, "asked to", LATER)
            except TierError:
                assert cut.happened
    async with deployment.opened(name) as cold:
        await _check_all_or_nothing(cold, runtime, history, beliefs[0].id)
        reached = await cold.redactor.redact(runtime, asked[::-1], "asked again", LATER)
        assert len(reached.all_ids) == 10
        await _check_done(cold, runtime, history, reached, asked)
        told = [one for one in await cold.history.events(runtime) if one.kind == "redacted"]
        assert sorted(one.belief_id for one in told) == sorted(one.id for one in beliefs)
    return cut.happened


async def _told(cold: ColdStores, owner: Scope) -> tuple[History, list[Commitment]]:
    """Store a history, a belief that rests on its first turn, and one that rests on nothing."""
    history = await store(cold, history_of(owner))
    beliefs = [
        belief_by(owner, SECRETS[2], key=(SECRETS[0], "x"), source_ids=(history.told[0].id,)),
        belief_by(owner, f"The {SECRETS[1]}.", key=(SECRETS[3], SECRETS[4]), value=SECRETS[5]),
    ]
    for belief in beliefs:
        await cold.beliefs.commit(owner, belief)
    return history, beliefs


async def _check_done(
    cold: ColdStores, runtime: Scope, history: History, reached: Redacted, asked: list[str]
) -> None:
    assert len(await cold.redactor.redacted(runtime, reached.all_ids)) == len(reached.all_ids)
    for receipt in history.receipts[:2]:
        blank = await cold.log.receipt(runtime, receipt.id)
        assert blank is not None
        assert blank.query == ""
    events = await cold.log.audit(runtime, only=AuditFilter(kinds=("redacted",)))
    assert [
        (set(event.record_ids), event.reason in ("asked to", "asked again")) for event in events
    ] == [(set(asked), True)]
    work = await cold.queue.claim(["index"], "me", 100, 60, LATER, scope=runtime)
    assert {one.key for one in work} >= set(reached.all_ids)
    assert await cold.turns.waiting_turns(runtime.for_agent("strategist"), 0, 9) == ()
    await replayed(cold.history, runtime)


async def _check_all_or_nothing(
    cold: ColdStores, runtime: Scope, history: History, belief_id: str
) -> None:
    first = (await cold.turns.recent_turns(runtime.for_agent("strategist"), 9))[0]
    receipt = await cold.log.receipt(runtime, history.receipts[0].id)
    assert receipt is not None
    said = {first.input == REDACTED, receipt.query == ""}
    said.add(bool(await cold.redactor.redacted(runtime, [history.facts[1].id, history.rule.id])))
    said.add(bool(await cold.redactor.redacted(runtime, [belief_id])))
    said.add("redacted" in {one.kind for one in await cold.history.events(runtime)})
    assert len(said) == 1


async def _cut_everywhere(deployment: Deployment, numbers: range) -> int:
    name = deployment.fresh_database()
    cuts = 0
    for number in numbers:
        happened = [
            await _carried_on(deployment, name, number, after=after) for after in (False, True)
        ]
        cuts += sum(happened)
        if not any(happened):
            break
    else:
        pytest.fail("there were more commands")
    client: MongoClient[dict[str, object]]
    with MongoClient(deployment.server.uri) as client:
        for collection in client[name].list_collection_names():
            text = "\n".join(map(repr, client[name][collection].find()))
            assert [word for word in SECRETS if word in text] == []
    return cuts


async def test_a_redaction_that_was_cut_off_is_carried_on(deployment: Deployment) -> None:
    """Whatever the command: repeating it leaves no word, one event, and all that follows."""
    assert await _cut_everywhere(deployment, SOME) >= 3


@pytest.mark.slow
@pytest.mark.timeout(600)
async def test_a_redaction_is_carried_on_from_every_command(deployment: Deployment) -> None:
    """The same for each command there is."""
    assert await _cut_everywhere(deployment, EVERY) >= 30
