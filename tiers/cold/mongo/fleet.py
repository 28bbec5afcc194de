"""The members of session graphs in MongoDB: a document each, so that any number come and go."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from pymongo import ASCENDING

from ...errors import NotFound
from ...moments import microseconds
from ...records import AgentRecord, Departure, GraphState, Scope
from ..archive_rows import check_tenant
from ..ownership import check_agent, check_limit
from .database import Database, Session
from .documents import Document, document_of, record_of
from .graphs import archived, state_of
from .log import append_event, audit_key
from .schema import Index, by, validator
from .scope import of_tenant, own
from .translation import DuplicateKey

_TIME = {"bsonType": ["int", "long"]}
_SILENT = (("tenant", ASCENDING), ("left_at", ASCENDING), ("seen_at", ASCENDING))

COLLECTIONS: Mapping[str, tuple[Sequence[Index], Mapping[str, Document] | None]] = {
    "agents": (
        [by("id", unique=True), by("left_at"), by("_id"), Index(_SILENT)],
        validator(
            ("id", "topics", "sources", "prompts", "spawned_at", "seen_at", "left_at"),
            seen_at=_TIME,
        ),
    ),
}

_OF_THE_FIRST_SPAWN = frozenset(("tenant", "graph_id", "id", "spawned_at"))
"""Fields that a re-attach leaves as they are."""


class MongoFleetStore:
    """A ``FleetStore`` in MongoDB."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def spawn(self, agent: AgentRecord) -> bool:
        """Add a member, or re-attach one of the same id; return whether it is new.

        A re-attach takes over everything but the time of the first spawn, and clears ``left_at``
        and ``released``.

        Raises:
            NotFound: The graph does not exist.
            Conflict: The graph is archived.
        """
        scope = Scope(tenant=agent.tenant, graph_id=agent.graph_id)
        seen_at = max(agent.seen_at, agent.spawned_at)
        present = agent.model_copy(update={"seen_at": seen_at, "left_at": None, "released": False})
        stored = document_of(present)
        again = {name: stored[name] for name in stored.keys() - _OF_THE_FIRST_SPAWN}

        async def change(session: Session) -> bool:
            state = await state_of(session, scope)
            if state is None:
                raise NotFound("session graph", agent.graph_id)
            if state is GraphState.ARCHIVED:
                raise archived(agent.graph_id)
            agents = session.collection("agents")
            try:
                await agents.insert([dict(stored)])
            except DuplicateKey:  # it is or was here, and no member is ever removed
                await agents.update(own(scope, id=agent.id), {"$set": again})
                return False
            return True

        return await self._database.write("spawn", change)

    async def leave(
        self,
        scope: Scope,
        now: datetime,
        *,
        silent_since: datetime | None = None,
        reason: str | None = None,
    ) -> Departure:
        """Mark the scope's agent as gone and return what came of it. Idempotent.

        With ``silent_since`` the agent is released instead: only if its last sign of life is at or
        before that moment. With ``reason`` the audit feed is told, right after it.
        """
        agent_id = check_agent(scope)
        here = own(scope, left_at=None)
        mine = here | {"id": agent_id}
        if silent_since is not None:
            mine["seen_at"] = {"$lte": microseconds(silent_since)}
        gone = {"left_at": microseconds(now), "released": silent_since is not None}

        async def change(session: Session) -> Departure:
            # In no transaction: of two that leave at once, neither would see the other gone, and
            # nobody would know that the graph is empty.
            agents = session.collection("agents")
            left = await agents.update(mine, {"$set": gone}) > 0
            return Departure(left=left, remaining=await agents.count(here))

        departure = await self._database.write(
            "leave", change, alone=("leave", scope.tenant, scope.graph_id)
        )
        if departure.left and reason is not None:
            kind = "left" if silent_since is None else "released"
            await self._database.write(
                "leave",
                lambda session: append_event(session, scope, kind, (), reason, now),
                alone=audit_key(scope.tenant),
            )
        return departure

    async def agents(self, scope: Scope) -> tuple[AgentRecord, ...]:
        """Return all members of the scope's graph, those who left included, in order of spawn."""

        async def question(session: Session) -> tuple[AgentRecord, ...]:
            found = await session.collection("agents").find(own(scope), sort=[("_id", 1)])
            return tuple(record_of(AgentRecord, document) for document in found)

        return await self._database.read("agents", question)

    async def beat(self, scope: Scope, agent_ids: Sequence[str], now: datetime) -> tuple[str, ...]:
        """Note a sign of life of members and return those of them that are present, sorted."""
        if not agent_ids:
            return ()
        present = own(scope, id={"$in": list(agent_ids)}, left_at=None)

        async def change(session: Session) -> tuple[str, ...]:
            agents = session.collection("agents")
            await agents.update(present, {"$max": {"seen_at": microseconds(now)}}, many=True)
            # Asked after, so that one who was released in between is not taken for present.
            found = await agents.find(present, fields=["id"])
            return tuple(sorted(one["id"] for one in found))

        return await self._database.write("beat", change)

    async def silent(
        self, tenant: str, silent_since: datetime, limit: int
    ) -> tuple[AgentRecord, ...]:
        """Return present members of any graph whose last sign of life is at or before a moment.

        The longest silent first, at most ``limit``.
        """
        check_tenant(tenant)
        check_limit(limit)
        where = of_tenant(tenant, left_at=None, seen_at={"$lte": microseconds(silent_since)})

        async def question(session: Session) -> tuple[AgentRecord, ...]:
            agents = session.collection("agents", whole_tenant=True)
            found = await agents.find(where, sort=[("seen_at", 1), ("_id", 1)], limit=limit)
            return tuple(record_of(AgentRecord, document) for document in found)

        return await self._database.read("silent", question)
