"""Which turn of a graph is under way: what belief events say of when they happened."""

from __future__ import annotations

from collections.abc import Sequence

from ...history.plan import Told
from ...records import Scope
from .database import Session
from .documents import Document
from .pacing import side_by_side
from .scope import own


async def turn_under_way(session: Session, scope: Scope, told: Sequence[Told]) -> int:
    """Return the turn of the graph that is under way, or the last."""
    commits = (one.belief for one in told if one.kind == "committed")
    turn_id = next((belief.turn_id for belief in commits if belief is not None), None)
    return (await turns_under_way(session, scope, [turn_id]))[turn_id]


async def turns_under_way(
    session: Session, scope: Scope, turn_ids: Sequence[str | None]
) -> dict[str | None, int]:
    """Return the number of turns of the graph, and one more for each id that is not stored yet.

    The number is the sum over its agents of their last ``seq``. The server goes from one agent to
    the next in the index of turns: a group of which only the first is asked for, in the order of
    the index.
    """
    turns = session.collection("turns")
    named = [one for one in turn_ids if one is not None]
    last_of_each: list[Document] = [
        {"$match": own(scope)},
        {"$sort": {"agent_id": -1, "seq": -1}},
        {"$group": {"_id": "$agent_id", "seq": {"$first": "$seq"}}},
    ]

    async def stored() -> list[Document]:
        return await turns.find(own(scope, id={"$in": named}), fields=["id"]) if named else []

    last, there = await side_by_side(session, lambda: turns.aggregate(last_of_each), stored)
    count, known = sum(int(one["seq"]) for one in last), {one["id"] for one in there}
    return {one: count + int(one is not None and one not in known) for one in turn_ids}
