"""The contract of ``BeliefStore``: settling rivals, taking back, trusting, branching."""

from __future__ import annotations

import asyncio
import json
from datetime import timedelta
from typing import Any

import pytest
from support.belief_replay import replayed
from support.cold_backends import Cold
from support.cold_samples import (
    HOSTILE_NAMES,
    OPERATOR,
    OTHER_AGENT,
    OTHER_GRAPH,
    OTHER_TENANT,
    SCOPE,
    STRANGERS,
    belief_by,
    graph_of,
)
from support.tier_samples import NOW, scope_of

from tiers.beliefs import BranchPoint, Changed, Commitment, Committed, Settlement, TrustRow
from tiers.errors import Conflict, NotFound, UsageError
from tiers.records import GraphState, Scope

POINT = BranchPoint(graph_id="origin", seq=9, last_hash="a" * 64, root="b" * 64, turn=4)


def _settle(rival: Commitment | str, winner: str = "new", **how: Any) -> Settlement:
    known = {"strategy": "last_write_wins", "reason": "said later", **how}
    return Settlement(
        rival_id=rival if isinstance(rival, str) else rival.id, winner=winner, **known
    )


async def _commit(cold: Cold, belief: Commitment, *settled: Settlement) -> Committed:
    scope = SCOPE.for_graph()
    answer = await cold.beliefs.commit(scope, belief, settled)
    assert answer.is_new, answer
    return answer


async def _log(cold: Any) -> list[tuple[str, str]]:
    """Return what the log of ``SCOPE``'s graph tells, proved whole and projected rightly."""
    await replayed(cold.history, OPERATOR)
    return [(one.kind, one.belief_id) for one in await cold.history.events(OPERATOR)]


async def _said(cold: Any, kind: str) -> list[dict[str, Any]]:
    """Return the contents of events of a kind."""
    logged = await cold.history.logged(OPERATOR)
    return [json.loads(one.content) for one in logged if one.event.kind == kind]


async def test_a_rival_that_nobody_settled_is_told_and_nothing_is_written(cold: Cold) -> None:
    """The answer names it with the trust in its agent, and the same call settled succeeds."""
    old = belief_by(OTHER_AGENT)
    await cold.beliefs.commit(OTHER_AGENT, old)
    await cold.beliefs.set_trust(OPERATOR, "engineer", "tyres", 0.5, "was wrong", NOW)
    before = await _log(cold)
    new = belief_by(claim="Start on hards.")
    answer = await cold.beliefs.commit(SCOPE, new)
    assert not answer.is_new
    assert not answer.is_stale
    assert [(one.belief, one.trust) for one in answer.unsettled] == [(old, 0.5)]
    assert await _log(cold) == before
    assert await cold.beliefs.active(SCOPE) == (old,)
    answer = await cold.beliefs.commit(SCOPE, new, [_settle(old)])
    assert (answer.is_new, answer.active, answer.unsettled) == (True, True, ())
    assert answer.superseded == (old,)
    assert answer.belief == new


async def test_the_new_belief_takes_the_place_of_a_settled_rival(cold: Cold) -> None:
    """Three events; what was pinned is returned as pinned; the settlement is in the log."""
    old, new = belief_by(), belief_by(OTHER_AGENT, claim="Start on hards.")
    await _commit(cold, old)
    pinned = await cold.beliefs.pin(SCOPE, old.id, NOW)
    settlement = _settle(old, similarity=0.25, found_by="key", trust_old=0.75)
    answer = await cold.beliefs.commit(OTHER_AGENT, new, [settlement])
    assert answer.superseded == (pinned,)
    assert await cold.beliefs.active(SCOPE) == (new,)
    assert await _log(cold) == [
        ("committed", old.id),
        ("pinned", old.id),
        ("committed", new.id),
        ("contradicted", new.id),
        ("superseded", old.id),
    ]
    (said,) = await _said(cold, "contradicted")
    assert Settlement.model_validate(said) == settlement
    assert [one.agent_id for one in (await cold.history.events(OPERATOR))[2:]] == ["engineer"] * 3


async def test_the_old_belief_may_win(cold: Cold) -> None:
    """The new one is in the log with what it lost to, and was active for no time."""
    old, new = belief_by(), belief_by(claim="Start on hards.")
    await _commit(cold, old)
    answer = await _commit(cold, new, _settle(old, "old"))
    assert (answer.active, answer.superseded) == (False, ())
    assert await cold.beliefs.active(SCOPE) == (old,)
    assert (await _log(cold))[1:] == [
        ("committed", new.id),
        ("contradicted", new.id),
        ("superseded", new.id),
    ]
    assert await _said(cold, "superseded") == [{"superseded_by": old.id}]
    again = await cold.beliefs.commit(SCOPE, new)
    assert (again.is_new, again.active) == (False, False)


async def test_beliefs_without_a_key_are_settled_when_named(cold: Cold) -> None:
    """One goes, one stays beside the new belief, one that nobody named is left alone."""
    goes, stays, unnamed = (belief_by(key=None, claim=name) for name in ("a", "b", "c"))
    for one in (goes, stays, unnamed):
        await _commit(cold, one)
    new = belief_by(key=None, claim="d")
    answer = await _commit(
        cold, new, _settle(goes, found_by="judge"), _settle(stays, "both", found_by="judge")
    )
    assert answer.superseded == (goes,)
    assert await cold.beliefs.active(SCOPE) == (stays, unnamed, new)
    assert [kind for kind, _ in (await _log(cold))[3:]] == [
        *["committed", "contradicted", "contradicted", "superseded"]
    ]


async def test_agreement_is_no_contradiction(cold: Cold) -> None:
    """The later telling takes the place, and both agents are trusted more."""
    await cold.beliefs.set_trust(OPERATOR, "engineer", "tyres", 0.5, "", NOW)
    old, new = belief_by(OTHER_AGENT), belief_by()
    await _commit(cold, old)
    await _commit(cold, new, _settle(old, agree=True))
    assert [kind for kind, _ in await _log(cold)] == [
        *["trusted", "committed", "committed", "superseded", "trusted"]
    ]
    assert await cold.history.trusts(OPERATOR) == (
        TrustRow(graph_id="race", agent_id="engineer", topic="tyres", trust=0.6),
    )


async def test_a_settlement_with_what_is_active_no_longer_writes_nothing(cold: Cold) -> None:
    """Superseded, reverted, unknown, or of another graph: decide again."""
    superseded, reverted, winner = belief_by(), belief_by(key=None), belief_by(claim="now")
    elsewhere = belief_by(OTHER_GRAPH)
    await _commit(cold, superseded)
    await _commit(cold, reverted)
    await _commit(cold, winner, _settle(superseded))
    await cold.beliefs.revert(SCOPE, reverted.id, "no", NOW)
    await cold.beliefs.commit(OTHER_GRAPH, elsewhere)
    before = await _log(cold)
    new = belief_by(key=None, claim="new")
    for gone in (superseded, reverted, elsewhere, "unknown"):
        for winner_named in ("new", "old", "both"):
            answer = await cold.beliefs.commit(SCOPE, new, [_settle(gone, winner_named)])
            assert (answer.is_new, answer.is_stale) == (False, True)
    keyed = await cold.beliefs.commit(SCOPE, belief_by(), [_settle(superseded), _settle(winner)])
    assert keyed.is_stale, "one that is settled rightly does not make up for it"
    keyed = await cold.beliefs.commit(SCOPE, belief_by(), [_settle(superseded)])
    assert keyed.is_stale
    assert [one.belief.id for one in keyed.unsettled] == [winner.id], "who is there now is told"
    assert await _log(cold) == before
    assert await cold.beliefs.active(OTHER_GRAPH) == (elsewhere,)


async def test_two_beliefs_of_one_key_are_not_let_stay(cold: Cold) -> None:
    """A settlement that wants it is refused, and nothing is written."""
    old = belief_by()
    await _commit(cold, old)
    with pytest.raises(Conflict, match="key"):
        await cold.beliefs.commit(SCOPE, belief_by(), [_settle(old, "both")])
    other_key = belief_by(key=("start", "fuel"))
    await _commit(cold, other_key, _settle(old, "both"))
    assert await cold.beliefs.active(SCOPE) == (old, other_key)
    assert len(await _log(cold)) == 3


async def test_a_known_id_changes_nothing_whatever_became_of_it(cold: Cold) -> None:
    """Retries come late: after it was superseded, reverted, restored; settled as ever."""
    old, new = belief_by(), belief_by(claim="new")
    await _commit(cold, old)
    await _commit(cold, new, _settle(old))
    before = await _log(cold)
    for belief, active in ((old, False), (new, True)):
        for settled in ([], [_settle(old)], [_settle("unknown")]):
            answer = await cold.beliefs.commit(SCOPE, belief, settled)
            assert (answer.is_new, answer.active) == (False, active)
            assert (answer.is_stale, answer.unsettled) == (False, ())
            assert answer.belief.id == belief.id
    assert await _log(cold) == before


async def test_only_an_event_pins(cold: Cold) -> None:
    """A belief that claims to be pinned, or trusted, is committed as the log has it."""
    await cold.beliefs.set_trust(OPERATOR, "strategist", "tyres", 0.5, "", NOW)
    answer = await _commit(cold, belief_by(pinned=True, trust=0.9))
    assert (answer.belief.pinned, answer.belief.trust) == (False, 0.5)
    assert await cold.beliefs.active(SCOPE) == (answer.belief,)
    await _log(cold)


async def test_racing_commits_of_one_key_leave_one_and_tell_the_others(processes: Cold) -> None:
    """Ten at once: one is written, nine are told of it; one chain, whoever asks."""
    beliefs = [belief_by(claim=f"{number}") for number in range(10)]
    answers = await asyncio.gather(*(processes.beliefs.commit(SCOPE, one) for one in beliefs))
    (winner,) = [one.belief for one in answers if one.is_new]
    for answer in answers:
        if not answer.is_new:
            assert [one.belief for one in answer.unsettled] == [winner]
    assert await _log(processes) == [("committed", winner.id)]
    settled = await asyncio.gather(
        *(
            processes.beliefs.commit(SCOPE, one, [_settle(winner)])
            for one in beliefs
            if one != winner
        )
    )
    assert sum(one.is_new for one in settled) == 1
    assert sum(one.is_stale or bool(one.unsettled) for one in settled) == 8
    assert len(await _log(processes)) == 4


async def test_reverting_restores_what_was_replaced(cold: Cold) -> None:
    """Pinned as it was. What replaced it loses its agent some trust; once more finds nothing."""
    old, new = belief_by(OTHER_AGENT), belief_by(claim="new")
    await _commit(cold, old)
    await cold.beliefs.pin(SCOPE, old.id, NOW)
    await _commit(cold, new, _settle(old))
    assert await cold.beliefs.revert(OTHER_AGENT, new.id, "mistaken", NOW) == Changed(
        ended=(new.id,), restored=(old.id,)
    )
    pinned = old.model_copy(update={"pinned": True})
    assert await cold.beliefs.active(SCOPE) == (pinned,)
    assert (await _log(cold))[-4:] == [
        ("reverted", new.id),
        ("restored", old.id),
        ("pinned", old.id),
        ("trusted", ""),
    ]
    assert await _said(cold, "reverted") == [{"reason": "mistaken"}]
    with pytest.raises(NotFound):
        await cold.beliefs.revert(SCOPE, new.id, "mistaken", NOW)
    replacing = belief_by(claim="newer")
    assert (await _commit(cold, replacing, _settle(old))).superseded == (pinned,)
    await cold.beliefs.revert(OTHER_AGENT, replacing.id, "mistaken", NOW)
    await cold.beliefs.unpin(SCOPE, old.id, NOW)
    again = belief_by(claim="newest")
    await _commit(cold, again, _settle(old))
    await cold.beliefs.revert(OTHER_AGENT, again.id, "mistaken", NOW)
    assert await cold.beliefs.active(SCOPE) == (old,), "nor is it pinned where it was not"


async def test_reverting_leaves_out_what_another_has_replaced(cold: Cold) -> None:
    """Its key is taken by now: two beliefs of one key are never active."""
    keyed, judged, taking = belief_by(), belief_by(key=None), belief_by(claim="taking")
    unkeyed = belief_by(key=None, claim="unkeyed")
    await _commit(cold, keyed)
    await _commit(cold, unkeyed)
    await _commit(cold, judged, _settle(keyed, found_by="judge"), _settle(unkeyed))
    await _commit(cold, taking)
    changed = await cold.beliefs.revert(SCOPE, judged.id, "mistaken", NOW)
    assert changed == Changed(ended=(judged.id,), restored=(unkeyed.id,))
    assert await cold.beliefs.active(SCOPE) == (unkeyed, taking)
    await _log(cold)


async def test_only_what_is_active_and_seen_is_pinned_or_reverted(cold: Cold) -> None:
    """Unknown, ended, out of sight: not found, and no event."""
    old, new = belief_by(), belief_by(claim="new")
    private = belief_by(private=True, key=None)
    ada = SCOPE.model_copy(update={"user_id": "ada"})
    adas = belief_by(ada, key=None)
    for one in (old, private, adas):
        await _commit(cold, one)
    await _commit(cold, new, _settle(old))
    before = await _log(cold)
    targets: list[tuple[Scope, str]] = [
        (SCOPE, "unknown"),
        (SCOPE, old.id),
        (OTHER_AGENT, private.id),
        (SCOPE, adas.id),
        *((stranger, new.id) for stranger in STRANGERS),
    ]
    for scope, belief_id in targets:
        for act in (cold.beliefs.pin, cold.beliefs.unpin):
            with pytest.raises(NotFound):
                await act(scope, belief_id, NOW)
        with pytest.raises(NotFound):
            await cold.beliefs.revert(scope, belief_id, "no", NOW)
    assert await _log(cold) == before
    for stranger in (OTHER_GRAPH, OTHER_TENANT):
        assert await cold.history.events(stranger.for_graph()) == ()
    # Who audits the graph reaches what agents keep to themselves.
    assert (await cold.beliefs.pin(OPERATOR, private.id, NOW)).pinned
    assert not (await cold.beliefs.unpin(OPERATOR, private.id, NOW)).pinned
    assert (await cold.beliefs.revert(OPERATOR, private.id, "no", NOW)).ended == (private.id,)


async def test_unpinning_takes_the_mark_away(cold: Cold) -> None:
    """With its event, once."""
    belief = belief_by()
    await _commit(cold, belief)
    assert await cold.beliefs.unpin(SCOPE, belief.id, NOW) == belief
    await cold.beliefs.pin(SCOPE, belief.id, NOW)
    for _ in range(2):
        assert await cold.beliefs.unpin(OTHER_AGENT, belief.id, NOW) == belief
    assert [kind for kind, _ in await _log(cold)] == ["committed", "pinned", "unpinned"]


async def test_rewinding_makes_then_now_for_everybody(cold: Cold) -> None:
    """Private beliefs, other users' and pins included; there and back again."""
    ada = SCOPE.model_copy(update={"user_id": "ada"})
    stays, secret = belief_by(key=None), belief_by(OTHER_AGENT, key=None, private=True)
    old, adas = belief_by(), belief_by(ada, key=None)
    for one in (stays, secret, old, adas):
        await _commit(cold, one)
    await cold.beliefs.pin(SCOPE, old.id, NOW)
    then, seq = await cold.history.as_of(OPERATOR, 5), 5
    new = belief_by(claim="new")
    await _commit(cold, new, _settle(old))
    await cold.beliefs.pin(SCOPE, stays.id, NOW)
    for scope, one in ((OTHER_AGENT, secret), (ada, adas)):
        await cold.beliefs.revert(scope, one.id, "no", NOW)
    later = await cold.history.as_of(OPERATOR, await cold.history.seq_at(OPERATOR))
    changed = await cold.beliefs.rewind(OPERATOR, seq, "a mistake", NOW)
    assert set(changed.ended) == {new.id}
    assert set(changed.restored) == {old.id, secret.id, adas.id}
    last = await cold.history.seq_at(OPERATOR)
    assert await cold.history.as_of(OPERATOR, last) == then
    assert [one.id for one in await cold.beliefs.active(ada)] == [stays.id, old.id, adas.id]
    await cold.beliefs.rewind(OPERATOR, last - len(then), "within", NOW)
    await cold.beliefs.rewind(OPERATOR, seq + 7, "and back", NOW)
    now = await cold.history.seq_at(OPERATOR)
    assert [one.pinned for one in await cold.history.as_of(OPERATOR, now)] == [True, False]
    assert {one.id for one in later} == {stays.id, new.id}
    await _log(cold)


async def test_rewinding_to_what_is_writes_nothing(cold: Cold) -> None:
    """To the last event, or to any since which nothing changed; and nowhere else."""
    belief = belief_by()
    assert await cold.beliefs.rewind(OPERATOR, 0, "nothing", NOW) == Changed()
    await _commit(cold, belief)
    await cold.beliefs.set_trust(OPERATOR, "strategist", None, 0.5, "", NOW)
    for seq in (1, 2):
        assert await cold.beliefs.rewind(OPERATOR, seq, "nothing", NOW) == Changed()
    for seq in (-1, 3, 10**9):
        with pytest.raises(UsageError, match="to_seq"):
            await cold.beliefs.rewind(OPERATOR, seq, "nowhere", NOW)
    assert len(await _log(cold)) == 2
    assert await cold.beliefs.rewind(OPERATOR, 0, "all", NOW) == Changed(ended=(belief.id,))
    assert await cold.beliefs.active(SCOPE) == ()


async def test_trust_is_what_the_log_says(cold: Cold) -> None:
    """By agent and topic; beliefs without a topic have one of their own; the same tells nothing."""
    set_trust = cold.beliefs.set_trust
    assert await set_trust(OPERATOR, "engineer", "tyres", 0.5, "was wrong", NOW) == 1.0
    assert await set_trust(OPERATOR, "engineer", "tyres", 0.5, "again", NOW) == 0.5
    assert await set_trust(OPERATOR, "engineer", None, 0.25, "", NOW) == 1.0
    assert await set_trust(OPERATOR, "strategist", "tyres", 1.0, "as ever", NOW) == 1.0
    assert await set_trust(SCOPE, "engineer", "tyres", 1.0, "better", NOW) == 0.5
    rows = sorted(await cold.history.trusts(OPERATOR), key=lambda row: row.topic or "")
    assert [(row.agent_id, row.topic, row.trust) for row in rows] == [
        ("engineer", None, 0.25),
        ("engineer", "tyres", 1.0),
    ]
    assert await cold.history.trusts(OTHER_GRAPH.for_graph()) == ()
    assert [one["reason"] for one in await _said(cold, "trusted")] == ["was wrong", "", "better"]
    assert len(await _log(cold)) == 3
    for wrong in (-0.1, 1.5, float("nan")):
        with pytest.raises(UsageError, match="trust"):
            await set_trust(OPERATOR, "engineer", "tyres", wrong, "", NOW)
    assert len(await _log(cold)) == 3


async def test_a_decision_moves_trust_and_later_beliefs_carry_it(cold: Cold) -> None:
    """The winner's agent is at most trusted, the loser's less, and reverting costs the winner."""
    old, new = belief_by(OTHER_AGENT), belief_by(claim="new")
    await _commit(cold, old)
    await _commit(cold, new, _settle(old, decided=True, strategy="manual"))
    later = belief_by(OTHER_AGENT, key=None)
    assert (await _commit(cold, later)).belief.trust == 0.8
    assert (await _commit(cold, belief_by(OTHER_AGENT, key=None, topic=None))).belief.trust == 1.0
    await cold.beliefs.revert(SCOPE, new.id, "wrong", NOW)
    trust = {row.agent_id: row.trust for row in await cold.history.trusts(OPERATOR)}
    assert trust == {"engineer": 0.8, "strategist": 0.8}
    assert [one["cause"] for one in await _said(cold, "trusted")] == [new.id, new.id]
    await _log(cold)


async def test_a_branch_begins_with_what_was_believed(cold: Cold) -> None:
    """Of any agent and user, pinned where it was; the same again changes nothing."""
    ada = OTHER_AGENT.model_copy(update={"user_id": "ada"})
    beliefs = [
        belief_by(origin_id="o1", trust=0.5),
        belief_by(ada, key=None, origin_id="o2", private=True, pinned=True),
    ]
    assert await cold.beliefs.adopt(OPERATOR, POINT, beliefs, NOW)
    assert not await cold.beliefs.adopt(OPERATOR, POINT, beliefs, NOW + timedelta(days=1))
    assert await cold.history.as_of(OPERATOR, 4) == tuple(beliefs)
    assert await _log(cold) == [
        ("branched", ""),
        ("adopted", beliefs[0].id),
        ("adopted", beliefs[1].id),
        ("pinned", beliefs[1].id),
    ]
    (said,) = await _said(cold, "branched")
    assert BranchPoint.model_validate(said) == POINT
    assert (await cold.beliefs.commit(SCOPE, belief_by())).unsettled[0].belief == beliefs[0]
    with pytest.raises(Conflict):
        await cold.beliefs.adopt(OPERATOR, POINT.model_copy(update={"turn": 5}), beliefs, NOW)


async def test_a_log_that_has_begun_is_no_branch(cold: Cold) -> None:
    """Nor does one begin with more than may change at once; an empty one may begin so."""
    many = [belief_by(key=None)] * 10_001
    with pytest.raises(UsageError, match=r"10,?000"):
        await cold.beliefs.adopt(OPERATOR, POINT, many, NOW)
    await _commit(cold, belief_by())
    with pytest.raises(Conflict):
        await cold.beliefs.adopt(OPERATOR, POINT, [], NOW)
    assert len(await _log(cold)) == 1
    assert await cold.beliefs.adopt(OTHER_GRAPH.for_graph(), POINT, [], NOW)
    assert not await cold.beliefs.adopt(OTHER_GRAPH.for_graph(), POINT, [], NOW)


async def test_an_archived_graph_takes_no_change(cold: Cold) -> None:
    """Each is refused with the state, and the log has not grown."""
    await cold.graphs.create_graph(graph_of("race"))
    one, pinned = belief_by(), belief_by(key=None)
    for belief in (one, pinned):
        await _commit(cold, belief)
    await cold.beliefs.pin(SCOPE, pinned.id, NOW)
    await cold.graphs.set_state(SCOPE, GraphState.ARCHIVED, NOW)
    assert not (await cold.beliefs.commit(SCOPE, one)).is_new
    changes = [
        lambda: cold.beliefs.commit(SCOPE, belief_by(key=None)),
        lambda: cold.beliefs.commit(SCOPE, belief_by(), [_settle(one)]),
        lambda: cold.beliefs.pin(SCOPE, one.id, NOW),
        lambda: cold.beliefs.unpin(SCOPE, pinned.id, NOW),
        lambda: cold.beliefs.revert(SCOPE, one.id, "no", NOW),
        lambda: cold.beliefs.rewind(OPERATOR, 0, "no", NOW),
        lambda: cold.beliefs.set_trust(OPERATOR, "engineer", None, 0.5, "no", NOW),
    ]
    for change in changes:
        with pytest.raises(Conflict, match="archived"):
            await change()
    assert len(await _log(cold)) == 3
    assert len(await cold.beliefs.active(SCOPE)) == 2


async def test_the_warm_index_hears_of_what_begins_and_what_ends(cold: Cold) -> None:
    """Work for each belief that is active now, is so no longer, or is so again."""

    async def told() -> dict[str, tuple[str | None, dict[str, Any]]]:
        found = await cold.queue.claim(("index",), "me", 100, 10, NOW)
        for work in found:
            assert await cold.queue.complete(work)
        return {work.key: (work.agent_id, work.payload) for work in found}

    old, new = belief_by(), belief_by(OTHER_AGENT, claim="new")
    await _commit(cold, old)
    assert await told() == {old.id: ("strategist", {"id": old.id})}
    await _commit(cold, new, _settle(old))
    assert set(await told()) == {old.id, new.id}
    await cold.beliefs.pin(SCOPE, new.id, NOW)
    assert await told() == {}
    await cold.beliefs.revert(SCOPE, new.id, "no", NOW)
    assert set(await told()) == {old.id, new.id}
    await cold.beliefs.rewind(OPERATOR, 0, "no", NOW)
    assert set(await told()) == {old.id}
    other = OTHER_GRAPH.for_graph()
    await cold.beliefs.adopt(other, POINT, [belief_by(OTHER_GRAPH, origin_id="o")], NOW)
    assert len(await told()) == 1


async def test_hostile_names_are_just_names(cold: Cold) -> None:
    """As graph, agent, user, topic and key they are told apart from nothing but other names."""
    for name in HOSTILE_NAMES:
        scope = scope_of(graph_id=name, agent_id=name, user_id=name)
        fields = {"topic": name, "topics": (name[:200],), "key": (name, name), "value": name}
        old, new = belief_by(scope, **fields), belief_by(scope, **fields)
        await cold.beliefs.commit(scope, old)
        assert [one.belief for one in (await cold.beliefs.commit(scope, new)).unsettled] == [old]
        await cold.beliefs.commit(scope, new, [_settle(old, decided=True, reason=name)])
        await cold.beliefs.set_trust(scope, name, name, 0.5, name, NOW)
        await cold.beliefs.revert(scope, new.id, name, NOW)
        assert await cold.beliefs.active(scope) == (old,)
        (row,) = await cold.history.trusts(scope.for_graph())
        assert (row.agent_id, row.topic, row.trust) == (name, name, 0.4)
        assert (await replayed(cold.history, scope.for_graph())).seq == 8
