"""Session graphs and their members in MongoDB.

A graph's parents are there before it and never change, so neither do its ancestors: they are
worked out once and stored with it, by their distance.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from pymongo import ASCENDING

from ...errors import Conflict, NotFound, TierTimeout, UsageError
from ...moments import microseconds
from ...records import AgentRecord, GraphState, Scope, SessionGraph
from ..ownership import check_agent
from .database import Database, Session
from .documents import Document, document_of, record_of
from .schema import Index, by, validator
from .scope import of_tenant, own
from .translation import DuplicateKey

LINEAGE_MAX = 1_000
"""Ancestors a graph may have."""

ATTEMPTS_MAX = 20

_GRAPH_STATES = [state.value for state in GraphState]
COLLECTIONS: Mapping[str, tuple[Sequence[Index], Mapping[str, Document] | None]] = {
    "graphs": (
        [
            Index((("tenant", ASCENDING), ("id", ASCENDING)), unique=True),
            Index((("tenant", ASCENDING), ("created_at", ASCENDING), ("_id", ASCENDING))),
        ],
        {
            "$jsonSchema": {
                "bsonType": "object",
                "required": ["tenant", "id", "state", "inherits_from", "ancestors"],
                "properties": {
                    "tenant": {"bsonType": "string", "minLength": 1},
                    "id": {"bsonType": "string", "minLength": 1},
                    "state": {"enum": _GRAPH_STATES},
                },
            }
        },
    ),
    "agents": (
        [by("id", unique=True), by("left_at"), by("_id")],
        validator(("id", "topics", "sources", "spawned_at")),
    ),
}


class MongoGraphStore:
    """A ``GraphStore`` in MongoDB."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def create_graph(self, graph: SessionGraph) -> None:
        """Store a new graph. Parents must exist, so a cycle cannot come about.

        Raises:
            Conflict: A graph of this id exists in the tenant.
            NotFound: A parent does not exist in the tenant.
            UsageError: It would have more than ``LINEAGE_MAX`` ancestors.
        """

        async def change(session: Session) -> None:
            graphs = session.collection("graphs")
            wanted = list(dict.fromkeys((graph.id, *graph.inherits_from)))
            found = await graphs.find(
                of_tenant(graph.tenant, id={"$in": wanted}), fields=["id", "ancestors"]
            )
            known = {one["id"]: one["ancestors"] for one in found}
            if graph.id in known:
                raise Conflict("session graph", "a new id", graph.id)
            for parent in graph.inherits_from:
                if parent not in known:
                    raise NotFound("session graph", parent)
            ancestors = ancestors_of([(parent, known[parent]) for parent in graph.inherits_from])
            if sum(map(len, ancestors)) > LINEAGE_MAX:
                accepted = f"{LINEAGE_MAX} ancestors at most"
                raise UsageError("inherits_from", graph.inherits_from, accepted)
            await graphs.insert([document_of(graph, ancestors=ancestors)])

        try:
            await self._database.write("create_graph", change)
        except DuplicateKey as error:
            raise Conflict("session graph", "a new id", graph.id) from error

    async def graph(self, tenant: str, graph_id: str) -> SessionGraph | None:
        """Return a graph, or ``None``."""

        async def question(session: Session) -> SessionGraph | None:
            found = await session.collection("graphs").first(of_tenant(tenant, id=graph_id))
            return None if found is None else record_of(SessionGraph, found)

        return await self._database.read("graph", question)

    async def graphs(self, tenant: str) -> tuple[SessionGraph, ...]:
        """Return all graphs of the tenant, oldest first."""

        async def question(session: Session) -> tuple[SessionGraph, ...]:
            found = await session.collection("graphs").find(
                of_tenant(tenant), sort=[("created_at", 1), ("_id", 1)]
            )
            return tuple(record_of(SessionGraph, document) for document in found)

        return await self._database.read("graphs", question)

    async def set_state(self, scope: Scope, state: GraphState, now: datetime) -> None:
        """Move the scope's graph to ``state``.

        ``closed_at`` is set when the graph stops being active and cleared when it is again.

        Raises:
            NotFound: The graph does not exist.
        """
        mine = of_tenant(scope.tenant, id=scope.graph_id)

        async def change(session: Session) -> None:
            graphs = session.collection("graphs")
            for _ in range(ATTEMPTS_MAX):
                seen = await graphs.first(mine)
                if seen is None:
                    raise NotFound("session graph", scope.graph_id)
                closed_at = None
                if state is not GraphState.ACTIVE:
                    closed_at = seen["closed_at"] or microseconds(now)
                as_seen = mine | {"closed_at": seen["closed_at"]}
                becomes = {"state": state.value, "closed_at": closed_at}
                if await graphs.update(as_seen, {"$set": becomes}):
                    return
            raise TierTimeout("cold", "set_state", "others moved the graph again and again")

        await self._database.write("set_state", change)

    async def lineage(self, tenant: str, graph_id: str) -> tuple[str, ...]:
        """Return all ancestors, nearest first, then in list order, each once."""

        async def question(session: Session) -> tuple[str, ...]:
            found = await session.collection("graphs").find(
                of_tenant(tenant, id=graph_id), limit=1, fields=["ancestors"]
            )
            return tuple(name for one in found for near in one["ancestors"] for name in near)

        return await self._database.read("lineage", question)

    async def spawn(self, agent: AgentRecord) -> bool:
        """Add a member, or re-attach one of the same id; return whether it is new.

        Raises:
            NotFound: The graph does not exist.
        """
        member = {"tenant": agent.tenant, "graph_id": agent.graph_id, "id": agent.id}
        stored = document_of(agent) | {"left_at": None}
        again = {name: stored[name] for name in ("role", "user_id", "topics", "sources", "left_at")}

        async def change(session: Session) -> bool:
            agents = session.collection("agents")
            if await agents.update(member, {"$set": again}):
                return False
            graph = of_tenant(agent.tenant, id=agent.graph_id)
            if not await session.collection("graphs").find(graph, limit=1, fields=["_id"]):
                raise NotFound("session graph", agent.graph_id)
            try:
                await agents.insert([dict(stored)])
            except DuplicateKey:  # somebody spawned it meanwhile, and no member is ever removed
                await agents.update(member, {"$set": again})
                return False
            return True

        return await self._database.write("spawn", change)

    async def leave(self, scope: Scope, now: datetime) -> int:
        """Mark the scope's agent as gone and return how many members remain. Idempotent."""
        agent_id = check_agent(scope)

        async def change(session: Session) -> int:
            # In no transaction: of two that leave at once, neither would see the other gone, and
            # nobody would know that the graph is empty.
            agents = session.collection("agents")
            here = own(scope, left_at=None)
            gone = {"$set": {"left_at": microseconds(now)}}
            await agents.update(here | {"id": agent_id}, gone)
            return await agents.count(here)

        return await self._database.write(
            "leave", change, alone=("leave", scope.tenant, scope.graph_id)
        )

    async def agents(self, scope: Scope) -> tuple[AgentRecord, ...]:
        """Return all members of the scope's graph, those who left included, in order of spawn."""

        async def question(session: Session) -> tuple[AgentRecord, ...]:
            found = await session.collection("agents").find(own(scope), sort=[("_id", 1)])
            return tuple(record_of(AgentRecord, document) for document in found)

        return await self._database.read("agents", question)


def ancestors_of(parents: Sequence[tuple[str, Sequence[Sequence[str]]]]) -> list[list[str]]:
    """Return a graph's ancestors by distance, from its parents and theirs.

    Within a distance they are in the order of a walk in breadth: by the first of the parents
    through which they are that near, then as that parent has them.
    """
    seen_from = [([parent], *above) for parent, above in parents]
    found: dict[str, None] = {}
    by_distance: list[list[str]] = []
    for distance in range(max(map(len, seen_from), default=0)):
        reached = [name for levels in seen_from for name in _level(levels, distance)]
        near = [name for name in dict.fromkeys(reached) if name not in found]
        found |= dict.fromkeys(near)
        if near:
            by_distance.append(near)
    return by_distance


def _level(levels: Sequence[Sequence[str]], distance: int) -> Sequence[str]:
    return levels[distance] if distance < len(levels) else ()
