"""Commits that wait for one graph in MongoDB: each is a change of its own."""

from __future__ import annotations

import asyncio
from typing import Any

from support.belief_replay import replayed
from support.cold_samples import LONE_SURROGATE, OTHER_AGENT, SCOPE, belief_by
from support.mongo_deployments import Deployment

from tiers.errors import Conflict, UsageError
from tiers.records import Commitment, Scope, Settlement

GRAPH = Scope.of_graph(SCOPE.tenant, SCOPE.graph_id)
TOGETHER = 32


def _over(rival: Commitment, winner: Any = "new") -> list[Settlement]:
    return [Settlement(rival_id=rival.id, winner=winner, strategy="last_write_wins", decided=True)]


async def test_commits_that_wait_together_are_as_many_changes(deployment: Deployment) -> None:
    """Thirty-two at once: none is lost, none is doubled, and nothing is tried in vain."""
    name = deployment.fresh_database()
    async with deployment.opened(name) as cold:
        beliefs = [belief_by(claim=f"{number}", key=None) for number in range(TOGETHER)]
        deployment.server.clear_commands()
        answers = await asyncio.gather(*(cold.beliefs.commit(SCOPE, one) for one in beliefs))
        sent = [one for one in deployment.server.commands if one["name"] != "ping"]
        assert sum(one["name"] == "commitTransaction" for one in sent) == TOGETHER
        assert not any(one["name"] == "abortTransaction" for one in sent)
        assert all(answer.is_new and answer.active for answer in answers)
        await replayed(cold.history, GRAPH)
        assert {one.id for one in await cold.beliefs.active(SCOPE)} == {one.id for one in beliefs}
    assert deployment.server.client[name]["belief_events"].count_documents({}) == TOGETHER


async def test_each_is_decided_from_what_the_one_before_has_left(deployment: Deployment) -> None:
    """Of one key, of one id, over a rival that is just gone, and with the trust that has moved."""
    async with deployment.opened(deployment.fresh_database()) as cold:
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
    async with deployment.opened(deployment.fresh_database()) as cold:
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


async def test_a_step_that_fails_in_passing_is_tried_again(deployment: Deployment) -> None:
    """Nobody is told, nobody is lost, nobody is doubled."""
    async with deployment.opened(deployment.fresh_database()) as cold:
        beliefs = [belief_by(claim=f"{number}", key=None) for number in range(5)]
        deployment.server.fail_next("insert", code=91, collection="belief_events", error_labels=())
        answers = await asyncio.gather(*(cold.beliefs.commit(SCOPE, one) for one in beliefs))
        assert all(one.is_new for one in answers)
        await asyncio.gather(*(cold.beliefs.commit(SCOPE, one) for one in beliefs))
        fold = await replayed(cold.history, GRAPH)
        assert set(fold.beliefs) == {one.id for one in beliefs}
