"""Commits that wait for one graph in MongoDB: they share a step, and each is its own change."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from support.belief_replay import replayed
from support.cold_samples import LONE_SURROGATE, OTHER_AGENT, SCOPE, belief_by
from support.mongo_deployments import Deployment, deployed

from tiers.cold.mongo import belief_log
from tiers.errors import Conflict, TierUnavailable, UsageError
from tiers.records import Commitment, Scope, Settlement

GRAPH = Scope.of_graph(SCOPE.tenant, SCOPE.graph_id)
TOGETHER = 32
COMMANDS_MAX = 3 * 16
"""Of three steps: the first commit has nobody to take along."""


@pytest.fixture(scope="module", params=["standalone", "replica_set"])
def deployment(request: pytest.FixtureRequest) -> Iterator[Deployment]:
    """A server of each kind."""
    with deployed(request.param) as found:
        yield found


def _over(rival: Commitment, winner: Any = "new") -> list[Settlement]:
    return [Settlement(rival_id=rival.id, winner=winner, strategy="last_write_wins", decided=True)]


async def test_commits_that_wait_together_share_their_commands(deployment: Deployment) -> None:
    """Thirty-two at once cost as many commands as two or three, and are as many changes."""
    name = deployment.server.fresh_database()
    async with deployment.opened(name) as cold:
        beliefs = [belief_by(claim=f"{number}", key=None) for number in range(TOGETHER)]
        deployment.server.clear_commands()
        answers = await asyncio.gather(*(cold.beliefs.commit(SCOPE, one) for one in beliefs))
        sent = [one for one in deployment.server.commands if one["name"] != "ping"]
        assert len(sent) <= COMMANDS_MAX
        assert all(answer.is_new and answer.active for answer in answers)
        await replayed(cold.history, GRAPH)
        assert {one.id for one in await cold.beliefs.active(SCOPE)} == {one.id for one in beliefs}
    log = list(deployment.server.client[name]["belief_log"].find({}))
    assert [len(change["events"]) for change in log] == [1] * TOGETHER


async def test_each_is_decided_from_what_the_one_before_has_left(deployment: Deployment) -> None:
    """Of one key, of one id, over a rival that is just gone, and with the trust that has moved."""
    async with deployment.opened(deployment.server.fresh_database()) as cold:
        rival = belief_by(claim="rival")
        await cold.beliefs.commit(SCOPE, rival)
        first, late = belief_by(OTHER_AGENT, claim="first"), belief_by(claim="late")
        other = belief_by(claim="other", key=("pit", "lap"))
        again = belief_by(OTHER_AGENT, claim="again", key=("pit", "lap"))
        answers = await asyncio.gather(
            cold.beliefs.commit(SCOPE, belief_by(claim="begins", key=None)),
            cold.beliefs.commit(OTHER_AGENT, first, _over(rival)),
            cold.beliefs.commit(OTHER_AGENT, first, _over(rival)),
            cold.beliefs.commit(SCOPE, late, _over(rival)),
            cold.beliefs.commit(SCOPE, other),
            cold.beliefs.commit(OTHER_AGENT, again),
        )
        _, won, same, stale, own, unsettled = answers
        assert won.is_new
        assert [one.id for one in won.superseded] == [rival.id]
        assert (same.is_new, same.active, stale.is_stale) == (False, True, True)
        assert own.belief.trust == 0.8, "its agent was held to be wrong by the first"
        assert [one.belief for one in unsettled.unsettled] == [own.belief]
        await replayed(cold.history, GRAPH)


async def test_what_is_refused_is_refused_alone(deployment: Deployment) -> None:
    """Whether it cannot be decided, or cannot even be asked about: the others are kept."""
    async with deployment.opened(deployment.server.fresh_database()) as cold:
        rival = belief_by(claim="rival")
        await cold.beliefs.commit(SCOPE, rival)
        both, broken = belief_by(claim="both"), belief_by(claim="broken")
        unsaid = belief_by(key=None).model_copy(update={"claim": LONE_SURROGATE})
        strange = rival.model_copy(update={"id": LONE_SURROGATE})
        good = [belief_by(claim=f"{number}", key=None) for number in range(6)]
        answers = await asyncio.gather(
            *(cold.beliefs.commit(SCOPE, one) for one in good[:3]),
            cold.beliefs.commit(SCOPE, both, _over(rival, "both")),
            cold.beliefs.commit(SCOPE, unsaid),
            cold.beliefs.commit(SCOPE, broken, _over(strange)),
            *(cold.beliefs.commit(SCOPE, one) for one in good[3:]),
            return_exceptions=True,
        )
        assert [type(one) for one in answers[3:6]] == [Conflict, UsageError, UsageError]
        assert all(one.is_new for one in (*answers[:3], *answers[6:]))
        fold = await replayed(cold.history, GRAPH)
        assert set(fold.beliefs) == {rival.id, *(one.id for one in good)}


async def test_others_go_on_by_themselves_when_a_step_fails(deployment: Deployment) -> None:
    """Only the one whose step it was is told; nobody is lost, nobody is doubled.

    With transactions nobody is told: that one is tried again.
    """
    async with deployment.opened(deployment.server.fresh_database()) as cold:
        beliefs = [belief_by(claim=f"{number}", key=None) for number in range(5)]
        deployment.server.fail_next("insert", code=91, collection="belief_log", error_labels=())
        answers = await asyncio.gather(
            *(cold.beliefs.commit(SCOPE, one) for one in beliefs), return_exceptions=True
        )
        failed = [one for one in answers if isinstance(one, BaseException)]
        told = [TierUnavailable] if deployment.server.knobs.mode == "standalone" else []
        assert [type(one) for one in failed] == told
        kept = [one for one in answers if not isinstance(one, BaseException)]
        assert [one.is_new for one in kept] == [True] * (len(beliefs) - len(told))
        await asyncio.gather(*(cold.beliefs.commit(SCOPE, one) for one in beliefs))
        fold = await replayed(cold.history, GRAPH)
        assert set(fold.beliefs) == {one.id for one in beliefs}


async def test_a_place_that_is_taken_parts_those_in_time_from_those_too_late(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Without transactions: what came before is kept with its answer, what follows decided anew."""
    with deployed("standalone") as deployment:
        name = deployment.server.fresh_database()
        async with deployment.opened(name) as cold:
            rival = belief_by(claim="rival")
            await cold.beliefs.commit(SCOPE, rival)
            with deployment.server.tampering() as client:
                taken = client[name]["belief_log"].find_one({}) or {}
                other = {"events": [{"id": "x", "hash": "x"}], "commits": ["x"]}
                place = {"_id": "taken", "first_seq": 5, "last_seq": -5}
                client[name]["belief_log"].insert_one(taken | other | place)
            forget = belief_log._forget

            async def freed(*args: Any) -> None:
                with deployment.server.tampering() as client:
                    client[name]["belief_log"].delete_one({"_id": "taken"})
                await forget(*args)

            monkeypatch.setattr(belief_log, "_forget", freed)
            new, late = belief_by(claim="new"), belief_by(claim="late")
            begins, won, free, stale = await asyncio.gather(
                cold.beliefs.commit(SCOPE, belief_by(claim="begins", key=None)),
                cold.beliefs.commit(SCOPE, new, _over(rival)),
                cold.beliefs.commit(SCOPE, belief_by(claim="free", key=None)),
                cold.beliefs.commit(SCOPE, late, _over(rival)),
            )
            assert begins.is_new
            assert free.is_new
            assert [one.id for one in won.superseded] == [rival.id]
            assert stale.is_stale
            await replayed(cold.history, GRAPH)
        contents = list(deployment.server.client[name]["belief_contents"].find({}))
        assert len(contents) == 6
