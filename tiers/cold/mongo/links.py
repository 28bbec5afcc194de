"""The links between graphs: who is above whom, and how two that link at once do not make a cycle.

The links of a graph lie in its own document, in order, so that one is made or revoked by one
update of one document. Whether a new one would close a cycle depends on the links of others,
though, and two that are made at once could close one together. So a link is announced first: in
the one document that ``links`` has for each tenant, which only changes while it is as it was seen.
Who decided by links that are not all any more comes too late, and looks again.

What is announced is then carried into its graph under its number, which rises with each link of
the tenant: carried late, twice, or after it was revoked, it changes nothing. Whoever finds an
announcement that a crash has left behind carries it out before anything else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pymongo import ASCENDING

from ...errors import TierTimeout
from ...records import GraphState, Parent
from ..lineage import ANCESTORS_MAX
from .database import Session
from .documents import Document, document_of
from .schema import Index
from .scope import of_tenant
from .translation import DuplicateKey

ATTEMPTS_MAX = 100

_NUMBER = {"bsonType": ["int", "long"], "minimum": 0}

COLLECTIONS: Mapping[str, tuple[Sequence[Index], Mapping[str, Document] | None]] = {
    "links": (
        [Index((("tenant", ASCENDING),), unique=True)],
        {
            "$jsonSchema": {
                "bsonType": "object",
                "required": ["tenant", "number", "announced"],
                "properties": {
                    "tenant": {"bsonType": "string", "minLength": 1},
                    "number": _NUMBER,
                    "announced": {"bsonType": ["null", "object"]},
                },
            }
        },
    ),
}


async def graphs_above(
    session: Session, tenant: str, graph_ids: Sequence[str]
) -> dict[str, Document]:
    """Return those of some graphs that exist, and all graphs above them, by id.

    One command, whatever their number. The walk itself is restricted to the tenant, and ends at
    the depth that no chain of ancestors can have.
    """
    names = list(graph_ids)
    walk = {
        "from": "graphs",
        "startWith": {"$literal": names},
        "connectFromField": "parents.id",
        "connectToField": "id",
        "as": "graph",
        "maxDepth": ANCESTORS_MAX,
        "restrictSearchWithMatch": of_tenant(tenant),
    }
    # The walk begins at all of the graphs; of the documents that are matched it needs any one.
    found = await session.collection("graphs").aggregate(
        [
            {"$match": of_tenant(tenant, id={"$in": names})},
            {"$limit": 1},
            {"$graphLookup": walk},
            {"$unwind": "$graph"},
            {"$project": {"_id": 0, "graph": 1}},
        ]
    )
    return {one["graph"]["id"]: one["graph"] for one in found}


async def last_number(session: Session, tenant: str) -> int:
    """Return the number of the tenant's last link, once nothing announced is left to be done.

    Raises:
        TierTimeout: Others announced links again and again.
    """
    heads = session.collection("links")
    for _ in range(ATTEMPTS_MAX):
        head = await heads.first(of_tenant(tenant))
        if head is None:
            try:
                await heads.insert([of_tenant(tenant, number=0, announced=None)])
            except DuplicateKey:
                continue
            return 0
        if head["announced"] is None:
            return int(head["number"])
        await carry_out(session, tenant, int(head["number"]), head["announced"])
    raise TierTimeout("cold", "link", "others linked graphs again and again")


async def announce(
    session: Session, tenant: str, after: int, graph_id: str, parent: Parent
) -> Document | None:
    """Announce a link as the one after number ``after``; ``None`` when another one is that."""
    announced: Document = {"graph_id": graph_id, "parent": document_of(parent)}
    changed = await session.collection("links").update(
        of_tenant(tenant, number=after, announced=None),
        {"$set": {"announced": announced}, "$inc": {"number": 1}},
    )
    return announced if changed else None


async def carry_out(
    session: Session, tenant: str, number: int, announced: Mapping[str, Any]
) -> bool:
    """Put an announced link into its graph; ``False`` when it was there already, or may not be.

    An archived graph takes no link, but the number as well: so nobody who comes later, when it is
    open again, puts it there after all.
    """
    graphs = session.collection("graphs")
    waiting = of_tenant(tenant, id=announced["graph_id"], last_link={"$lt": number})
    writable = {"state": {"$ne": GraphState.ARCHIVED.value}}
    taken: Document = {"$set": {"last_link": number}}
    is_mine = await graphs.update(
        waiting | writable, taken | {"$push": {"parents": announced["parent"]}}
    )
    if not is_mine:
        await graphs.update(waiting, taken)
    done = of_tenant(tenant, number=number)
    await session.collection("links").update(done, {"$set": {"announced": None}})
    return is_mine > 0
