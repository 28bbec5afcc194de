"""Attempts on the hot tier: another's ring, pins and mesh result."""

from __future__ import annotations

from typing import Any

from tiers.records import Commitment, MeshResult, Scope, Turn

from .aims import INNER, OUTER, Aim
from .attempts import FORGED, Method, Move, Touch, own
from .cold_reads import asker
from .oracle import Reach
from .worlds import LATER, SHARED_WORDS

CAPACITY = 256
READERS = (*OUTER, *INNER)
WRITERS = (*OUTER, "private")
"""A write by the same agent under another view empties its own cache; that is no attack."""


def _mine(scope: Scope) -> tuple[Touch, ...]:
    return (Touch(scope.tenant, scope.graph_id, agent_id=scope.agent_id or ""),)


def _writer(aim: Aim) -> Scope | None:
    """Return the scope of an agent that the world does not have, so that no cache is emptied."""
    scope = asker(aim)
    planted = {(*corner.house, corner.agent_id) for corner in aim.world.corners}
    if (scope.tenant, scope.graph_id, scope.agent_id) not in planted:
        return scope
    name = f"{scope.agent_id} "[:255] + "\u034f"
    other = scope.model_copy(update={"agent_id": name})
    return None if (other.tenant, other.graph_id, name) in planted else other


def _id(aim: Aim, mark: str) -> str:
    """Return the victim's id, unless a record of the attacker's house has it: then a new one."""
    return mark if aim.world.holds(aim.house, aim.victim.id) else aim.victim.id


def _turn(aim: Aim, scope: Scope, **fields: Any) -> Turn:
    mark = aim.world.new_mark()
    record_id = _id(aim, mark)
    mine = own(aim, "turn", record_id, mark, scope).corner
    known = {"seq": 1, "input": aim.word(mark) + mark, "response": SHARED_WORDS, **fields}
    record = Turn(topics=mine.topics, private=mine.private, **known)
    return record.stamped(scope, record_id, LATER)


def _owners(aim: Aim) -> dict[str, Any]:
    corner = aim.victim.corner
    return aim.random.choice(
        [
            {"tenant": corner.tenant, "graph_id": corner.graph_id, "agent_id": corner.agent_id},
            {"agent_id": corner.agent_id, "private": True},
            {"user_id": corner.user_id, "agent_id": corner.agent_id},
        ]
    )


def read(aim: Aim) -> Move:
    """Read what is kept for an agent."""
    scope = asker(aim)
    return Move(lambda hot: hot.read(scope), scope=scope)


def append(aim: Aim) -> Move | None:
    """Append a turn under the victim's id and number, of an own or a forged owner."""
    scope = _writer(aim)
    if scope is None:
        return None
    turn = _turn(aim, scope)
    is_forged = aim.random.random() < 0.5
    if is_forged:
        turn = turn.model_copy(update=_owners(aim))
    label = FORGED if is_forged else ""
    return Move(lambda hot: hot.append(scope, turn, CAPACITY), _mine(scope), label, scope=scope)


def restore(aim: Aim) -> Move | None:
    """Fill a ring with a turn of the victim's."""
    scope = _writer(aim)
    if scope is None:
        return None
    turns = [_turn(aim, scope, seq=2).model_copy(update=_owners(aim))]
    return Move(lambda hot: hot.restore(scope, turns, CAPACITY), _mine(scope), FORGED, scope=scope)


def pin(aim: Aim) -> Move | None:
    """Pin a belief of another owner."""
    scope = _writer(aim)
    if scope is None:
        return None
    mark = aim.world.new_mark()
    record_id = _id(aim, mark)
    own(aim, "belief", record_id, mark, scope)
    belief = Commitment(claim=f"{mark} {aim.word()}").stamped(scope, record_id, LATER)
    forged = belief.model_copy(update=_owners(aim))
    return Move(lambda hot: hot.pin(scope, forged), _mine(scope), FORGED, scope=scope)


def unpin(aim: Aim) -> Move | None:
    """Unpin a belief by the victim's id."""
    scope = _writer(aim)
    if scope is None:
        return None
    belief_id = aim.word(aim.victim.id)
    return Move(lambda hot: hot.unpin(scope, belief_id), _mine(scope), scope=scope)


def put_mesh(aim: Aim) -> Move | None:
    """Replace a mesh result."""
    scope = _writer(aim)
    if scope is None:
        return None
    mark = aim.world.new_mark()
    own(aim, "mesh", "mesh", mark, scope)
    result = MeshResult(source=aim.name(), text=f"{mark} {aim.word()}", queried_at=LATER)
    return Move(lambda hot: hot.put_mesh(scope, result), _mine(scope), scope=scope)


def clear(aim: Aim) -> Move | None:
    """Forget what is kept for an agent that is easily taken for the victim's."""
    scope = _writer(aim)
    return None if scope is None else Move(lambda hot: hot.clear(scope), _mine(scope), scope=scope)


IN_RINGS = ("turn", "belief", "mesh")

HOT_METHODS = (
    Method("hot.read", Reach.RING, read, IN_RINGS, READERS, weight=6),
    Method("hot.append", Reach.RING, append, IN_RINGS, WRITERS, weight=2),
    Method("hot.restore", Reach.RING, restore, IN_RINGS, WRITERS),
    Method("hot.pin", Reach.RING, pin, IN_RINGS, WRITERS),
    Method("hot.unpin", Reach.RING, unpin, ("belief",), WRITERS),
    Method("hot.put_mesh", Reach.RING, put_mesh, IN_RINGS, WRITERS),
    Method("hot.clear", Reach.RING, clear, IN_RINGS, WRITERS),
)
