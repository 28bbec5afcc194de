"""Which events a change makes. Pure: an engine looks up what a plan needs, and writes what it says.

Each event that alters a belief alters one belief, and its kind and ``belief_id`` alone say how. So
a log whose contents were destroyed still comes to the same active beliefs.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from pydantic import JsonValue

from ..beliefs import BeliefKind, BranchPoint, Changed, Commitment, HistoricBelief, Settlement
from ..errors import Conflict, UsageError
from ..fleet import Scope
from .chain import committed_content
from .fold import ENDING

TRUST_DAMPING = 0.2
"""How far one outcome moves trust towards 0 or 1 (the original's default)."""

TrustOf = Callable[[str, str | None], float]
"""Trust in an agent about a topic, as the projection has it."""


class PlannedEvent(NamedTuple):
    """An event to be, before it has its place in the log.

    Attributes:
        kind: What happens.
        belief_id: To which belief; empty for the whole log.
        content: What is said about it, to be stored apart.
        belief: For ``committed`` and ``adopted``, the belief as it becomes active.
    """

    kind: BeliefKind
    belief_id: str
    content: Mapping[str, JsonValue]
    belief: Commitment | None = None


def made_in(scope: Scope, events: Sequence[PlannedEvent]) -> str | None:
    """Return the turn in which a change is made: that of what is committed, or the scope's."""
    named = (one.belief.turn_id for one in events if one.kind == "committed" and one.belief)
    return next((one for one in named if one is not None), scope.turn_id)


def commit_plan(
    belief: Commitment, settled: Sequence[tuple[Settlement, Commitment]], trust_of: TrustOf
) -> list[PlannedEvent]:
    """Return the events of a commit whose rivals are settled.

    First the belief, then each decision, then who lost, then what it does to trust. When a rival
    won, the new belief was active for no time, and both sides are in the log all the same.

    Args:
        belief: As it is to be stored.
        settled: Each settlement with its rival, which is active.
        trust_of: Trust before the change.

    Raises:
        UsageError: A rival is another user's, or private to somebody else.
    """
    for settlement, rival in settled:
        if _owner_of(rival) != _owner_of(belief):
            accepted = "beliefs of the same user and the same privacy"
            raise UsageError("settled", settlement.rival_id, accepted)
    events = [PlannedEvent("committed", belief.id, committed_content(belief), belief)]
    events += [
        PlannedEvent("contradicted", belief.id, contradicted_content(settlement))
        for settlement, _ in settled
        if not settlement.agree
    ]
    winner = next((one.rival_id for one, _ in settled if one.winner == "old"), None)
    for settlement, rival in settled:
        if settlement.winner == "new" and winner is None:
            events.append(PlannedEvent("superseded", rival.id, {"superseded_by": belief.id}))
    if winner is not None:
        events.append(PlannedEvent("superseded", belief.id, {"superseded_by": winner}))
    return events + _trust_of_settling(belief, settled, trust_of)


def pin_plan(belief: Commitment, *, pinned: bool) -> list[PlannedEvent]:
    """Return the events of pinning or unpinning an active belief; none when it is so already."""
    if belief.pinned == pinned:
        return []
    return [PlannedEvent("pinned" if pinned else "unpinned", belief.id, {"pinned": pinned})]


def revert_plan(
    belief: Commitment,
    replaced: Iterable[HistoricBelief],
    active_keys: Collection[object],
    key_of: Callable[[Commitment], object],
    reason: str,
    trust_of: TrustOf,
) -> list[PlannedEvent]:
    """Return the events of taking an active belief back.

    What it had taken the place of is active again, except where it was redacted or another belief
    of its key is active by now. Its agent is trusted a little less.

    Args:
        belief: The active belief.
        replaced: What it had taken the place of, past all that is gone, the nearest first; each
            pinned as it was then.
        active_keys: Of every active belief that could be in the way, ``belief`` left out.
        key_of: What only one active belief may stand for; ``None`` for one without a key.
        reason: Why.
        trust_of: Trust before the change.
    """
    events = [PlannedEvent("reverted", belief.id, {"reason": reason})]
    taken = set(active_keys)
    for one in replaced:
        key = key_of(one)
        if one.status != "superseded" or one.redacted_at is not None or key in taken:
            continue
        if key is not None:
            taken.add(key)
        events += restored_events(one, {"because": belief.id})
    return events + _trust_events([(belief.agent_id, belief.topic, 0.0, belief.id)], trust_of)


def restored_events(belief: Commitment, because: Mapping[str, JsonValue]) -> list[PlannedEvent]:
    """Return the events by which a belief is active again, as pinned as it is given."""
    events = [PlannedEvent("restored", belief.id, because)]
    if belief.pinned:
        events.append(PlannedEvent("pinned", belief.id, {"pinned": True, **because}))
    return events


def rewind_plan(
    to_seq: int,
    now: Sequence[Commitment],
    then: Sequence[Commitment],
    successors: Mapping[str, str | None],
    reason: str,
) -> list[PlannedEvent]:
    """Return the events of making the beliefs of an earlier event the active ones again.

    Empty when nothing would change. What was redacted since stays away. Trust stays as it is: it
    is about agents, not about beliefs. Which belief had taken the place of which is as it was
    then too, so that taking one back brings back what it would have brought back then. One that
    is not active at either moment is restored for that, and ends at once.

    Args:
        to_seq: That event.
        now: The active beliefs.
        then: Those that were active right after ``to_seq``.
        successors: Which belief had taken the place of each that was not active then; ``None``
            for none. Those are left out for which that has not changed.
        reason: Why.
    """
    active = {one.id: one for one in now}
    wanted = {one.id: one for one in then if one.redacted_at is None}
    because: dict[str, JsonValue] = {"rewound_to": to_seq}

    def ended(belief_id: str) -> PlannedEvent:
        successor = successors.get(belief_id)
        if successor is None:
            return PlannedEvent("reverted", belief_id, because)
        return PlannedEvent("superseded", belief_id, {"superseded_by": successor, **because})

    events = [ended(one) for one in active if one not in wanted]
    for one in wanted.values():
        if one.id not in active:
            events.append(PlannedEvent("restored", one.id, because))
        was_pinned = one.id in active and active[one.id].pinned
        if one.pinned != was_pinned:
            events.append(PlannedEvent("pinned" if one.pinned else "unpinned", one.id, because))
    for belief_id in successors:
        if belief_id not in active and belief_id not in wanted:
            events += [PlannedEvent("restored", belief_id, because), ended(belief_id)]
    if not events:
        return []
    return [PlannedEvent("rewound", "", {"to_seq": to_seq, "reason": reason}), *events]


def changed_by(events: Sequence[PlannedEvent]) -> Changed:
    """Return which beliefs are active no longer after a change, and which are again, in order."""
    was_active: dict[str, bool] = {}
    is_active: dict[str, bool] = {}
    for one in events:
        if one.kind == "restored" or one.kind in ENDING:
            is_back = one.kind == "restored"
            was_active.setdefault(one.belief_id, not is_back)
            is_active[one.belief_id] = is_back
    moved = [one for one in is_active if is_active[one] != was_active[one]]
    return Changed(
        ended=tuple(one for one in moved if not is_active[one]),
        restored=tuple(one for one in moved if is_active[one]),
    )


def trust_plan(
    agent_id: str, topic: str | None, trust: float, reason: str, trust_of: TrustOf
) -> list[PlannedEvent]:
    """Return the event of setting trust by hand; none when it is that already."""
    before = trust_of(agent_id, topic)
    if before == trust:
        return []
    content = trusted_content(agent_id, topic, before, trust, "")
    return [PlannedEvent("trusted", "", content | {"reason": reason})]


def adopt_plan(point: BranchPoint, beliefs: Iterable[Commitment]) -> list[PlannedEvent]:
    """Return the first events of a branch: where it left, and what was believed there.

    One that was pinned there is pinned here.
    """
    events = [PlannedEvent("branched", "", point.model_dump(mode="json"))]
    for belief in beliefs:
        adopted = belief.model_copy(update={"pinned": False})
        events.append(PlannedEvent("adopted", belief.id, committed_content(adopted), adopted))
        events += pin_plan(adopted, pinned=belief.pinned)
    return events


def redact_plan(
    belief_id: str, reason: str, left: str | None = None, rival_in: Iterable[str] = ()
) -> list[PlannedEvent]:
    """Return the event of destroying a belief's content.

    Args:
        belief_id: Which.
        reason: Why.
        left: The digest of what is left of it, by which that can be proved.
        rival_in: The ``contradicted`` events about others whose content goes with it.
    """
    content: dict[str, JsonValue] = {"reason": reason}
    if left is not None:
        content |= {"left": left, "rival_in": [*sorted(rival_in)]}
    return [PlannedEvent("redacted", belief_id, content)]


SPEAKING_KINDS: frozenset[BeliefKind] = frozenset(
    ("adopted", "committed", "contradicted", "reverted")
)
"""Events about a belief whose content may quote it; destroyed together with the belief.

So is the content of ``contradicted`` events in which it is the rival.
"""


def contradicted_content(settlement: Settlement) -> dict[str, JsonValue]:
    """Return what a ``contradicted`` event says: both sides, the decision, and what it used."""
    content: dict[str, JsonValue] = settlement.model_dump(mode="json")
    return content


def trusted_content(
    agent_id: str, topic: str | None, before: float, after: float, cause: str
) -> dict[str, JsonValue]:
    """Return what a ``trusted`` event says: whose trust moved, and by which belief."""
    return {"agent_id": agent_id, "topic": topic, "before": before, "after": after, "cause": cause}


def moved_trust(trust: float, outcome: float) -> float:
    """Return trust after an outcome from 0 (was wrong) to 1 (was right): damped towards it."""
    return round(trust + TRUST_DAMPING * (outcome - trust), 6)


def check_settled(
    belief: Commitment, settled: Sequence[Settlement], has_key_of: Callable[[str], bool]
) -> None:
    """Refuse settlements that cannot be carried out.

    Args:
        belief: The new belief.
        settled: How its rivals are settled.
        has_key_of: Whether an active belief, by its id, has the new one's key.

    Raises:
        Conflict: Two beliefs of one key would stay active.
    """
    for one in settled:
        if one.winner == "both" and belief.key is not None and has_key_of(one.rival_id):
            raise Conflict(f"belief {belief.id}", "one active belief of a key", "both to stay")


def _owner_of(belief: Commitment) -> tuple[str | None, str]:
    """Return whose a belief is: the user's, and the agent's if it is private."""
    return belief.user_id, belief.agent_id if belief.private else ""


def _trust_of_settling(
    belief: Commitment, settled: Sequence[tuple[Settlement, Commitment]], trust_of: TrustOf
) -> list[PlannedEvent]:
    """Return what decisions of somebody who looked, and agreement of two agents, do to trust."""
    outcomes: list[tuple[str, str | None, float, str]] = []
    for settlement, rival in settled:
        new, old = (belief.agent_id, belief.topic), (rival.agent_id, rival.topic)
        if new == old or settlement.winner == "both":
            continue
        if settlement.agree:
            outcomes += [(*new, 1.0, belief.id), (*old, 1.0, belief.id)]
        elif settlement.decided:
            won = settlement.winner == "new"
            outcomes += [(*new, float(won), belief.id), (*old, float(not won), belief.id)]
    return _trust_events(outcomes, trust_of)


def _trust_events(
    outcomes: Iterable[tuple[str, str | None, float, str]], trust_of: TrustOf
) -> list[PlannedEvent]:
    """Return an event per outcome that moves trust; later ones go on from earlier ones."""
    events: list[PlannedEvent] = []
    known: dict[tuple[str, str | None], float] = {}
    for agent_id, topic, outcome, cause in outcomes:
        if not agent_id:
            continue
        before = known.get((agent_id, topic), trust_of(agent_id, topic))
        after = moved_trust(before, outcome)
        if after != before:
            known[agent_id, topic] = after
            content = trusted_content(agent_id, topic, before, after, cause)
            events.append(PlannedEvent("trusted", "", content))
    return events
