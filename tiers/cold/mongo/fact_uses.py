"""Counting what facts were used for: every cause once, however often it is told.

A use is a document of its own, numbered per fact: the unique cause keeps it from counting twice,
the unique number keeps two from being counted as one. The fact then takes over the highest
number. When a crash comes in between, the next use of the fact makes up for it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from ...moments import microseconds
from .database import Session
from .documents import Document
from .schema import Index, by, validator

COLLECTIONS: Mapping[str, tuple[Sequence[Index], Mapping[str, Document] | None]] = {
    "fact_uses": (
        [by("fact_id", "cause", unique=True), by("fact_id", "n", unique=True)],
        validator(("fact_id", "cause", "used_at", "n")),
    ),
}


class _Counted(NamedTuple):
    """What the uses of one fact come to, and whether the cause is among them."""

    highest: int
    last: int
    has_cause: bool


async def count_uses(
    session: Session, facts: Sequence[Document], cause: str, now: datetime
) -> None:
    """Count one use of each fact for ``cause``, unless it is counted, and update the facts.

    Raises:
        DuplicateKey: Somebody else counted at the same moment. Doing it again is harmless.
    """
    by_graph: dict[str, list[Document]] = {}
    for fact in facts:
        by_graph.setdefault(fact["graph_id"], []).append(fact)
    for of_graph in by_graph.values():
        await _count(session, of_graph, cause, microseconds(now))


async def _count(session: Session, facts: Sequence[Document], cause: str, now: int) -> None:
    """Count in one graph.

    A fact may have uses that are not told one by one, so its own number counts as well.
    """
    uses = session.collection("fact_uses")
    counted = await _counted(session, facts, cause)
    new: list[Document] = []
    totals: dict[str, Document] = {}
    for fact in facts:
        known = counted.get(fact["id"], _Counted(0, now, has_cause=False))
        number = max(known.highest, fact["uses"])
        last = known.last
        if not known.has_cause:
            number, last = number + 1, max(now, last)
            place = {"tenant": fact["tenant"], "graph_id": fact["graph_id"]}
            told = {"fact_id": fact["id"], "cause": cause, "used_at": now, "n": number}
            new.append(place | told)
        if number > fact["uses"] or last > (fact["last_used_at"] or last - 1):
            totals[fact["id"]] = {"uses": number, "last_used_at": last}
    await uses.insert(new)
    for fact in facts:
        if fact["id"] in totals:
            where = {name: fact[name] for name in ("tenant", "graph_id", "id")}
            await session.collection("facts").update(where, {"$max": totals[fact["id"]]})


async def _counted(session: Session, facts: Sequence[Document], cause: str) -> dict[str, _Counted]:
    where = {
        "tenant": facts[0]["tenant"],
        "graph_id": facts[0]["graph_id"],
        "fact_id": {"$in": [fact["id"] for fact in facts]},
    }
    is_cause = {"$cond": [{"$eq": ["$cause", {"$literal": cause}]}, 1, 0]}
    found = await session.collection("fact_uses").aggregate(
        [
            {"$match": where},
            {
                "$group": {
                    "_id": "$fact_id",
                    "highest": {"$max": "$n"},
                    "last": {"$max": "$used_at"},
                    "of_cause": {"$sum": is_cause},
                }
            },
        ]
    )
    return {one["_id"]: _Counted(one["highest"], one["last"], one["of_cause"] > 0) for one in found}
