"""Commits with their rivals found and settled, over the real store of beliefs."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from support.cold_backends import Cold
from support.cold_samples import IDS, OPERATOR, OTHER_AGENT, SCOPE
from support.tier_samples import NOW, scope_of

from ezra.contradiction import Contradiction, Handlers, Judgement, RivalFinder, Settled, Settler
from ezra.contradiction.detector import ATTEMPTS_MAX
from ezra.contradiction.finding import JUDGED_MAX
from tiers.cold.sqlite import sqlite_cold_store
from tiers.errors import BudgetExceeded, Conflict, TierUnavailable
from tiers.ports import Vector
from tiers.records import BeliefQuery, Commitment, Committed, Hit, Scope, SearchQuery, Settlement

MEDIUMS, HARDS = "Start on mediums.", "Start on hards."


class Warm:
    """The one method of a ``WarmStore`` that is asked; finds nothing, or fails, or is late."""

    def __init__(self) -> None:
        self.asked: list[tuple[Scope, SearchQuery]] = []
        self.error: TierUnavailable | None = None
        self.hangs = False

    async def search(self, scope: Scope, query: SearchQuery) -> tuple[Hit, ...]:
        """Return nothing."""
        self.asked.append((scope, query))
        if self.hangs:
            await asyncio.sleep(60)
        if self.error is not None:
            raise self.error
        return ()


class Angles:
    """An ``Embedder`` of two dimensions: texts lie at the angles that are given, else at 0."""

    model_id = "angles"
    dimensions = 2

    def __init__(self, cosines: dict[str, float]) -> None:
        self.cosines = cosines

    async def embed(
        self, texts: Sequence[str], *, urgent: bool = False, query: bool = False
    ) -> tuple[Vector, ...]:
        """Return unit vectors whose first number is the cosine to a text at 0."""
        assert urgent
        assert not query
        found = [self.cosines.get(text, 1.0) for text in texts]
        return tuple((one, math.sqrt(1 - one * one)) for one in found)


class Scripted:
    """A judge that calls what it is told a contradiction, and remembers what it was asked."""

    name = "nli"

    def __init__(
        self, *opposed: str, error: Exception | None = None, metered: bool = False
    ) -> None:
        self.opposed = opposed
        self.error = error
        self.uses_model = metered
        self.asked: list[tuple[str, tuple[str, ...]]] = []

    async def judge(self, claim: str, rivals: Sequence[str]) -> tuple[Judgement, ...]:
        """Return what the script says."""
        self.asked.append((claim, tuple(rivals)))
        if self.error is not None:
            raise self.error
        return tuple(Judgement(one in self.opposed, 0.9, "scripted") for one in rivals)


class House:
    """A settler over a real store, and what surrounds it."""

    def __init__(self, cold: Cold) -> None:
        self.cold = cold
        self.warm = Warm()
        self.handlers = Handlers(timeout_seconds=5)

    def settler(self, **given: Any) -> Settler:
        """Return a settler; without an embedder if none is given."""
        parts = {"rivals": self.cold.rivals, "beliefs": self.cold.beliefs, **given}
        beliefs, embedder = parts.pop("beliefs"), parts.pop("embedder", None)
        history, rivals = self.cold.history, parts.pop("rivals")
        finder = RivalFinder(history, rivals, self.warm, embedder, **parts)
        return Settler(beliefs, history, self.handlers, finder)

    async def commit(
        self, belief: Commitment, strategy: Any = "last_write_wins", **given: Any
    ) -> Settled:
        """Commit in the scope of the belief's agent."""
        scope = SCOPE if belief.agent_id == SCOPE.agent_id else OTHER_AGENT
        scope = scope.model_copy(update={"user_id": belief.user_id})
        return await self.settler(**given).commit(scope, belief, strategy)

    async def active(self) -> list[str]:
        """Return the active claims of the graph, private ones included."""
        query = BeliefQuery(statuses=("active",))
        return [one.claim for one in await self.cold.history.query(OPERATOR, query)]


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    """An empty house."""
    async with sqlite_cold_store(tmp_path) as cold:
        yield House(cold)


def claim_by(scope: Scope = SCOPE, claim: str = MEDIUMS, **fields: Any) -> Commitment:
    """Return a claim about tyres that is not committed yet, without a key."""
    known = {"topic": "tyres", "topics": ("tyres",), **fields}
    return Commitment(claim=claim, **known).stamped(scope, IDS.new(), NOW)


def keyed_by(scope: Scope = SCOPE, claim: str = MEDIUMS, **fields: Any) -> Commitment:
    """Return a claim with a key."""
    return claim_by(scope, claim, **{"key": ("start", "compound"), **fields})


async def test_a_claim_supersedes_what_it_contradicts_and_nothing_else(house: House) -> None:
    """Found by its words, decided by rules; both sides and the decision are in the log."""
    kept = [
        claim_by(claim="Mediums last 18 laps."),
        claim_by(claim=MEDIUMS, topic="strategy", topics=("strategy",)),
        claim_by(claim=MEDIUMS, topic=None, topics=("tyres",)),
        claim_by(claim=MEDIUMS, private=True),
        claim_by(scope_of(user_id="ann", topics=("tyres",)), claim=MEDIUMS),
        claim_by(OTHER_AGENT, claim="Start on softs if it rains."),
    ]
    old = claim_by(OTHER_AGENT, claim=MEDIUMS)
    for one in (*kept, old):
        await house.commit(one)
    new = claim_by(claim=HARDS)
    done = await house.commit(new)
    assert done.committed.is_new
    assert [one.id for one in done.committed.superseded] == [old.id]
    assert house.warm.asked == [], "without an embedder it would search by words once more"
    ((found, settlement),) = done.contradictions
    assert (found.claim.id, found.rival.id, found.found_by) == (new.id, old.id, "rules")
    assert (settlement.winner, settlement.agree) == ("new", False)
    assert sorted(await house.active()) == sorted([*(one.claim for one in kept), HARDS])
    logged = await house.cold.history.logged(OPERATOR)
    told = [json.loads(one.content or "") for one in logged if one.event.kind == "contradicted"]
    assert [one["rival_id"] for one in told] == [old.id]
    assert "hard and medium" in told[0]["reason"]
    again = await house.commit(claim_by(claim=MEDIUMS), embedder=Angles({}))
    assert [one.id for one in again.committed.superseded] == [new.id]
    ((scope, query),) = house.warm.asked
    assert (scope.topics, scope.lineage, query.kinds) == (("tyres",), (), ("belief",))
    assert (query.vector, query.model_id) == ((1.0, 0.0), "angles")


async def test_the_same_claim_once_more_takes_the_place_of_the_former(house: House) -> None:
    """It is no contradiction: nobody is asked, and two agents that agree are trusted more."""
    asked: list[Contradiction] = []

    async def callback(found: Contradiction) -> str:
        asked.append(found)
        return "old"

    house.handlers.callback = callback
    await house.cold.beliefs.set_trust(OPERATOR, "engineer", "tyres", 0.5, "new here", NOW)
    await house.commit(claim_by(OTHER_AGENT), "manual")
    done = await house.commit(claim_by(claim="Start on the mediums!"), "manual")
    assert (done.contradictions, asked) == ((), [])
    assert await house.active() == ["Start on the mediums!"]
    trusts = {row.agent_id: row.trust for row in await house.cold.history.trusts(OPERATOR)}
    assert trusts == {"engineer": 0.6}


async def test_a_claim_that_repeats_a_keyed_belief_leaves_it_its_key(house: House) -> None:
    """What contradicts it supersedes it all the same."""
    keyed = keyed_by(claim=MEDIUMS, value="medium")
    await house.commit(keyed)
    await house.commit(claim_by(claim="start on mediums"))
    assert await house.active() == [MEDIUMS, "start on mediums"]
    done = await house.commit(claim_by(claim=HARDS))
    assert {found.rival.key for found, _ in done.contradictions} == {None, ("start", "compound")}
    assert await house.active() == [HARDS]


async def test_trust_decides_where_the_graph_says_so(house: House) -> None:
    """The less trusted claim is superseded at once; the trust that was used is in the log."""
    await house.cold.beliefs.set_trust(OPERATOR, "strategist", "tyres", 0.3, "often wrong", NOW)
    old, new = claim_by(OTHER_AGENT, claim=MEDIUMS), claim_by(claim=HARDS)
    await house.commit(old, "highest_trust")
    done = await house.commit(new, "highest_trust")
    ((found, settlement),) = done.contradictions
    assert (found.trust_claim, found.trust_rival) == (0.3, 1.0)
    assert (settlement.winner, settlement.trust_new, settlement.trust_old) == ("old", 0.3, 1.0)
    assert not done.committed.active
    assert await house.active() == [MEDIUMS]
    key_done = [
        await house.commit(one, "highest_trust")
        for one in (keyed_by(OTHER_AGENT, "Soft.", value="soft"), keyed_by(claim="H", value="hard"))
    ]
    assert key_done[1].contradictions[0][1].trust_new == 0.3
    assert not key_done[1].committed.active


async def test_beliefs_of_one_key_are_settled_without_a_search(house: House) -> None:
    """By value where both have one: the same in another unit is no contradiction."""
    first = keyed_by(claim="A stint is 90 minutes.", value="90 minutes")
    await house.commit(first)
    same = await house.commit(keyed_by(claim="We stay out for long.", value="1.5 hours"))
    assert same.contradictions == ()
    assert [one.id for one in same.committed.superseded] == [first.id]
    other = await house.commit(keyed_by(claim="Not so long.", value="60 minutes"))
    assert [found.found_by for found, _ in other.contradictions] == ["key"]
    unsaid = await house.commit(keyed_by(claim="Not so long."))
    assert [found.found_by for found, _ in unsaid.contradictions] == ["key"]
    assert await house.active() == ["Not so long."]
    assert house.warm.asked == []


async def test_somebody_who_is_asked_can_let_both_stay(house: House) -> None:
    """Of two claims without a key; who was right is trusted more once one is chosen."""
    answers = ["both", "old"]

    async def callback(_: Contradiction) -> str:
        return answers.pop(0)

    house.handlers.callback = callback
    old = claim_by(OTHER_AGENT, claim=MEDIUMS)
    await house.commit(old, "manual")
    both = await house.commit(claim_by(claim=HARDS), "manual")
    assert both.committed.active
    await house.cold.beliefs.revert(OPERATOR, both.committed.belief.id, "again", NOW)
    done = await house.commit(claim_by(claim="Start on softs."), "manual")
    assert not done.committed.active
    assert done.contradictions[0][1].decided
    assert await house.active() == [MEDIUMS]


async def test_a_commit_that_is_repeated_asks_nobody(house: House) -> None:
    """Its belief is in the log, superseded or not: nothing is settled, written or told."""
    asked: list[Contradiction] = []

    async def callback(found: Contradiction) -> None:
        asked.append(found)

    house.handlers.callback = callback
    first = claim_by(claim=MEDIUMS)
    await house.commit(first)
    await house.commit(claim_by(claim=HARDS))
    assert len(asked) == 1
    for strategy in ("last_write_wins", "manual"):
        again = await house.commit(first, strategy)
        assert (again.committed.is_new, again.contradictions) == (False, ())
    assert len(asked) == 1
    assert await house.active() == [HARDS]


async def test_who_is_told_cannot_undo_a_commit(house: House) -> None:
    """It is told after the commit, and its failure comes back beside the answer."""
    told: list[str] = []

    async def callback(found: Contradiction) -> str:
        told.append((await house.active())[0])
        raise ValueError(found.claim.claim)

    house.handlers.callback = callback
    await house.commit(claim_by(claim=MEDIUMS))
    done = await house.commit(claim_by(claim=HARDS))
    assert told == [HARDS]
    assert done.degraded == ("callback",)
    assert done.skipped == (f"on_contradiction: ValueError: {HARDS}",)
    assert done.contradictions[0][1].winner == "new"


class Away:
    """A ``RivalSearch`` that cannot be reached."""

    async def worded_like(
        self, scope: Scope, belief: Commitment, limit: int
    ) -> tuple[Commitment, ...]:
        """Fail."""
        del scope, belief, limit
        raise TierUnavailable("cold", "worded_like", "gone")


async def test_a_tier_that_is_away_stops_no_claim_and_says_so(house: House) -> None:
    """Rivals may stay unseen; those of one key never do."""
    await house.commit(claim_by(claim=MEDIUMS))
    await house.commit(keyed_by(claim="K.", value="medium"))
    house.warm.error = TierUnavailable("warm", "search", "gone")
    by_words = await house.commit(claim_by(claim=HARDS), embedder=Angles({}))
    assert by_words.degraded == ("warm",)
    assert by_words.contradictions
    blind = await house.commit(claim_by(claim=MEDIUMS), rivals=Away(), embedder=Angles({}))
    assert blind.committed.active
    assert (blind.contradictions, blind.degraded) == ((), ("cold", "warm"))
    assert all("gone" in why for why in blind.skipped)
    keyed = await house.commit(keyed_by(claim="L.", value="hard"), rivals=Away())
    assert [found.found_by for found, _ in keyed.contradictions] == ["key"]
    house.warm.error, house.warm.hangs = None, True
    late = await house.commit(claim_by(claim="Box now."), embedder=Angles({}), timeout_seconds=0.05)
    assert late.degraded == ("warm",)
    assert "no answer within 0.05 s" in late.skipped[0]


async def test_the_judge_is_asked_about_claims_that_are_alike(house: House) -> None:
    """And has the last word on these; the rules decide on the rest, and what says the same."""
    alike, unlike, same = "Our first tyre is hard.", HARDS, "start on mediums"
    opposed_by_rules = "Start on softs."
    cosines = {alike: 0.9, unlike: 0.6, same: 0.95, opposed_by_rules: 0.85}
    for one in (alike, unlike, same, opposed_by_rules):
        await house.cold.beliefs.commit(SCOPE, claim_by(claim=one))
    judge = Scripted(alike)
    await house.cold.beliefs.commit(SCOPE, claim_by(claim="Start, whatever the tyre is."))
    embedder = Angles({**cosines, "Start, whatever the tyre is.": 0.84})
    done = await house.commit(
        claim_by(claim="Start on the mediums; our tyre is medium."), judge=judge, embedder=embedder
    )
    assert [set(rivals) for _, rivals in judge.asked] == [{alike, opposed_by_rules, same}]
    found = {one.rival.claim: one for one, _ in done.contradictions}
    assert {claim: one.found_by for claim, one in found.items()} == {alike: "nli"}
    assert found[alike].similarity == pytest.approx(0.9)
    judge = Scripted()
    done = await house.commit(claim_by(claim=MEDIUMS), judge=judge, embedder=embedder)
    ((_, asked),) = judge.asked
    assert same not in asked
    assert {one.rival.claim: one.found_by for one, _ in done.contradictions} == {unlike: "rules"}


async def test_a_judge_is_asked_about_a_bounded_number(house: House) -> None:
    """The most alike; and about none when the budget has no call left, or it cannot be reached."""
    for number in range(12):
        text = f"The medium tyre of set {chr(97 + number)} is good."
        await house.cold.beliefs.commit(SCOPE, claim_by(claim=text))
    judge = Scripted(metered=True)
    charged: list[None] = []

    async def charge() -> None:
        if charged:
            raise BudgetExceeded("agent", "model_calls", 1, 1, 1)
        charged.append(None)

    settler = house.settler(judge=judge, embedder=Angles({}))
    new = claim_by(claim="The medium tyre is good.")
    await settler.commit(SCOPE, new, "last_write_wins", charge=charge)
    assert [len(rivals) for _, rivals in judge.asked] == [JUDGED_MAX]
    refused = await settler.commit(
        SCOPE, claim_by(claim="The medium tyre is not good."), "last_write_wins", charge=charge
    )
    assert len(judge.asked) == 1
    assert refused.degraded == ("judge",)
    assert [found.rival.id for found, _ in refused.contradictions] == [new.id]
    judge.error = TierUnavailable("judge", "judge", "gone")
    failed = await house.commit(
        claim_by(claim="The medium tyre is good."), judge=judge, embedder=Angles({})
    )
    assert failed.degraded == ("judge",)
    assert [found.found_by for found, _ in failed.contradictions] == ["rules"]
    assert "degraded: judge nli left out" in failed.contradictions[0][0].reason


async def test_what_an_agent_says_of_itself_contradicts_no_other(house: House) -> None:
    """Unless it is the same agent."""
    await house.commit(claim_by(OTHER_AGENT, claim="I start on mediums."))
    await house.commit(claim_by(claim="I start on hards."))
    assert await house.active() == ["I start on mediums.", "I start on hards."]
    await house.commit(claim_by(claim="I start on softs."))
    assert await house.active() == ["I start on mediums.", "I start on softs."]


class Meddling:
    """A ``BeliefStore`` in which others act between a decision and its commit."""

    def __init__(self, house: House, *moves: Any) -> None:
        self.house = house
        self.moves = list(moves)
        self.tried: list[tuple[str, ...]] = []

    async def commit(
        self, scope: Scope, belief: Commitment, settled: Sequence[Settlement] = ()
    ) -> Committed:
        """Let somebody act, then commit."""
        self.tried.append(tuple(one.rival_id for one in settled))
        if self.moves:
            await self.moves.pop(0)()
        return await self.house.cold.beliefs.commit(scope, belief, settled)


async def test_a_world_that_changes_is_looked_at_again(house: House) -> None:
    """A rival that is gone is forgotten, its successor found, and nobody is asked twice."""
    asked: list[str] = []

    async def callback(found: Contradiction) -> str:
        asked.append(found.rival.claim)
        return "new"

    house.handlers.callback = callback
    stays, goes = claim_by(claim="Start on wets."), claim_by(claim=HARDS)
    comes = claim_by(OTHER_AGENT, claim="Start on mediums!")
    for one in (stays, goes):
        await house.cold.beliefs.commit(SCOPE, one)

    async def replaced() -> None:
        settled = Settlement(rival_id=goes.id, winner="new", strategy="last_write_wins")
        await house.cold.beliefs.commit(OTHER_AGENT, comes, (settled,))

    meddling = Meddling(house, replaced)
    done = await house.commit(claim_by(claim="Start on softs."), "manual", beliefs=meddling)
    assert sorted(asked) == sorted([stays.claim, goes.claim, comes.claim])
    assert {found.rival.id for found, _ in done.contradictions} == {stays.id, comes.id}
    assert await house.active() == ["Start on softs."]


async def test_a_rival_by_key_that_turns_up_is_settled(house: House) -> None:
    """Two that commit to one key at the same time end as one chain."""

    async def other() -> None:
        await house.commit(keyed_by(OTHER_AGENT, claim="Hard.", value="hard"))

    meddling = Meddling(house, other)
    done = await house.commit(keyed_by(claim="Soft.", value="soft"), beliefs=meddling)
    assert [found.rival.claim for found, _ in done.contradictions] == ["Hard."]
    assert await house.active() == ["Soft."]
    assert [len(one) for one in meddling.tried] == [0, 1]


async def test_a_world_that_never_rests_is_a_conflict(house: House) -> None:
    """After a bounded number of attempts, with nothing written by this one."""

    async def other() -> None:
        number = len(await house.cold.history.events(OPERATOR))
        await house.commit(keyed_by(OTHER_AGENT, claim=f"Set {number}.", value=str(number)))

    meddling = Meddling(house, *[other] * (ATTEMPTS_MAX + 1))
    with pytest.raises(Conflict, match="20 attempts"):
        await house.commit(keyed_by(claim="Soft.", value="soft"), beliefs=meddling)
    assert len(meddling.tried) == ATTEMPTS_MAX
    assert "Soft." not in await house.active()
