"""Redaction in MongoDB, cut off at every command, on both kinds of server."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pymongo import MongoClient
from support.cold_samples import scope_of
from support.mongo_cuts import cut_at
from support.mongo_deployments import REFUSED, Deployment, deployed
from support.redactions import LATER, SECRETS, History, history_of, store

from tiers.cold.redaction import REDACTED
from tiers.cold.stores import ColdStores
from tiers.errors import TierError
from tiers.records import AuditFilter, Scope

EVERY = range(1, 120)
SOME = range(8, 120, 23)
"""Numbers of commands; a redaction sends fewer."""


@pytest.fixture(scope="module", params=["standalone", "replica_set"])
def deployment(request: pytest.FixtureRequest) -> Iterator[Deployment]:
    """A server of each kind, for all tests of this file."""
    with deployed(request.param) as found:
        yield found


async def _carried_on(
    deployment: Deployment, cold: ColdStores, number: int, *, after: bool
) -> bool:
    """Redact, cut off at a command, then again; ``False`` when there was no such command."""
    owner = scope_of(graph_id=f"graph {number} {after}")
    history = await store(cold, history_of(owner))
    asked = [history.told[0].id, history.told[2].id, history.rule.id]
    runtime = owner.for_graph()
    with cut_at(deployment.server, number, code=REFUSED, after=after) as cut:
        try:
            await cold.redactor.redact(runtime, asked, "asked to", LATER)
        except TierError:
            assert cut.happened
    if deployment.server.knobs.mode == "replica_set":
        await _check_all_or_nothing(cold, runtime, history)
    reached = await cold.redactor.redact(runtime, asked[::-1], "asked again", LATER)
    gone = await cold.redactor.redacted(runtime, reached.all_ids)
    assert len(gone) == len(reached.all_ids) == 8
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
    assert await cold.turns.waiting_turns(owner, 0, 9) == ()
    return cut.happened


async def _check_all_or_nothing(cold: ColdStores, runtime: Scope, history: History) -> None:
    first = (await cold.turns.recent_turns(runtime.for_agent("strategist"), 9))[0]
    receipt = await cold.log.receipt(runtime, history.receipts[0].id)
    assert receipt is not None
    said = {first.input == REDACTED, receipt.query == ""}
    said.add(bool(await cold.redactor.redacted(runtime, [history.facts[1].id, history.rule.id])))
    assert len(said) == 1


async def _cut_everywhere(deployment: Deployment, numbers: range) -> int:
    name = deployment.server.fresh_database()
    cuts = 0
    async with deployment.opened(name) as cold:
        for number in numbers:
            happened = [
                await _carried_on(deployment, cold, number, after=after) for after in (False, True)
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
        assert client[name]["redactions"].count_documents({}) == 0
    return cuts


async def test_a_redaction_that_was_cut_off_is_carried_on(deployment: Deployment) -> None:
    """Whatever the command: repeating it leaves no word, one event, and all that follows."""
    assert await _cut_everywhere(deployment, SOME) >= 3


@pytest.mark.slow
async def test_a_redaction_is_carried_on_from_every_command(deployment: Deployment) -> None:
    """The same for each command there is."""
    assert await _cut_everywhere(deployment, EVERY) >= 30
