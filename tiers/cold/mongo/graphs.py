"""Session graphs in MongoDB: one document each, with its links to parents in it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from pymongo import ASCENDING

from ...errors import Conflict, NotFound, TierTimeout
from ...moments import microseconds
from ...records import (
    AgentRecord,
    Budget,
    GraphState,
    Parent,
    Retention,
    Scope,
    SessionGraph,
    Standing,
)
from ...registry import CATALOG
from ..lineage import check_acyclic, check_parents, lineage_of
from . import links
from .database import Database, Session
from .documents import Document, document_of, record_of
from .links import graphs_above
from .log import append_event, audit_key
from .schema import Index
from .scope import of_tenant, own
from .together import together
from .translation import DuplicateKey

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
                "required": ["tenant", "id", "state", "parents", "last_link"],
                "properties": {
                    "tenant": {"bsonType": "string", "minLength": 1},
                    "id": {"bsonType": "string", "minLength": 1},
                    "state": {"enum": _GRAPH_STATES},
                    "parents": {
                        "bsonType": "array",
                        "items": {"bsonType": "object", "required": ["id", "as_of", "linked_at"]},
                    },
                    "last_link": {"bsonType": ["int", "long"], "minimum": 0},
                },
            }
        },
    ),
    **links.COLLECTIONS,
}


class MongoGraphStore:
    """A ``GraphStore`` in MongoDB."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def create_graph(self, graph: SessionGraph) -> None:
        """Store a new graph, with its links to parents. These are there, so none closes a cycle.

        Raises:
            Conflict: A graph of this id exists in the tenant.
            NotFound: A parent does not exist in the tenant.
            UsageError: A parent is named twice, is the graph itself or the catalog, or there would
                be more than ``ANCESTORS_MAX`` ancestors.
        """
        check_parents(graph.id, graph.parents)
        names = graph.inherits_from

        async def change(session: Session) -> None:
            above = await graphs_above(session, graph.tenant, (graph.id, *names))
            if graph.id in above:
                raise Conflict("session graph", "a new id", graph.id)
            _check_known(names, above)
            if names:
                check_acyclic(graph.id, names[0], {**_links_of(above), graph.id: graph.parents})
            await session.collection("graphs").insert([graph_document(graph)])

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
        """Return all graphs of the tenant, oldest first, its catalog included."""

        async def question(session: Session) -> tuple[SessionGraph, ...]:
            found = await session.collection("graphs").find(
                of_tenant(tenant), sort=[("created_at", 1), ("_id", 1)]
            )
            return tuple(record_of(SessionGraph, document) for document in found)

        return await self._database.read("graphs", question)

    async def standing(self, scope: Scope) -> Standing | None:
        """Return the scope's graph, agent and ancestors as they are now; ``None``: no such graph.

        Two commands at the same time, however many ancestors there are.
        """

        async def question(session: Session) -> Standing | None:
            asked = (scope.graph_id, CATALOG)
            above, member = await together(
                [graphs_above(session, scope.tenant, asked), _member(session, scope)]
            )
            graph = above.get(scope.graph_id)
            if graph is None:
                return None
            return Standing(
                graph=record_of(SessionGraph, graph),
                agent=next((record_of(AgentRecord, one) for one in member.values()), None),
                lineage=lineage_of(scope.graph_id, _links_of(above), has_catalog=CATALOG in above),
            )

        return await self._database.read("standing", question)

    async def set_state(
        self,
        scope: Scope,
        state: GraphState,
        now: datetime,
        only_from: Sequence[GraphState] | None = None,
        event: str | None = None,
    ) -> bool:
        """Move the scope's graph to ``state``; ``closed_at`` is set on closing, cleared on opening.

        ``False``, writing nothing, when the graph is in none of the states of ``only_from``. A
        move is told in the audit feed as ``event``: in the same transaction where there are any.

        Raises:
            NotFound: The graph does not exist.
            TierTimeout: Others moved it again and again.
        """
        mine = of_tenant(scope.tenant, id=scope.graph_id)

        async def change(session: Session) -> bool:
            graphs = session.collection("graphs")
            for _ in range(ATTEMPTS_MAX):
                seen = await graphs.first(mine)
                if seen is None:
                    raise NotFound("session graph", scope.graph_id)
                allowed = only_from is None or seen["state"] in only_from
                if not allowed or seen["state"] == state:
                    return allowed
                closed_at = None
                if state is not GraphState.ACTIVE:
                    closed_at = seen["closed_at"] or microseconds(now)
                as_seen = mine | {name: seen[name] for name in ("state", "closed_at")}
                becomes = {"state": state.value, "closed_at": closed_at}
                if await graphs.update(as_seen, {"$set": becomes}):
                    if event is not None:
                        await append_event(session, scope, event, (), "", now)
                    return True
            raise TierTimeout("cold", "set_state", "others moved the graph again and again")

        if event is None:
            return await self._database.write("set_state", change)
        return await self._database.write("set_state", change, alone=audit_key(scope.tenant))

    async def link(self, scope: Scope, parent: Parent) -> None:
        """Let the scope's graph inherit from one more graph, after those it has.

        Raises:
            NotFound: The graph or the parent does not exist.
            Conflict: The link exists, or the graph is archived.
            UsageError: It would close a cycle or make more than ``ANCESTORS_MAX`` ancestors, or
                the parent is the catalog.
            TierTimeout: Others linked graphs of the tenant again and again.
        """
        check_parents(scope.graph_id, (parent,))

        async def change(session: Session) -> None:
            for _ in range(links.ATTEMPTS_MAX):
                last = await links.last_number(session, scope.tenant)
                wanted = (scope.graph_id, parent.id)
                _check_link(scope, parent, await graphs_above(session, scope.tenant, wanted))
                announced = await links.announce(
                    session, scope.tenant, last, scope.graph_id, parent
                )
                if announced is not None:
                    if not await links.carry_out(session, scope.tenant, last + 1, announced):
                        await _check_carried(session, scope, parent)
                    return
            raise TierTimeout("cold", "link", "others linked graphs again and again")

        await self._database.write("link", change, alone=("links", scope.tenant))

    async def unlink(self, scope: Scope, parent_id: str) -> bool:
        """Revoke a link; ``False`` when there is none. Holds from the next ``standing`` on."""
        linked = of_tenant(scope.tenant, id=scope.graph_id, **{"parents.id": parent_id})

        async def change(session: Session) -> bool:
            # What a crash has left announced comes first: it must not come after it was revoked.
            await links.last_number(session, scope.tenant)
            revoked = {"$pull": {"parents": {"id": parent_id}}}
            return await session.collection("graphs").update(linked, revoked) > 0

        return await self._database.write("unlink", change, alone=("links", scope.tenant))

    async def configure(
        self, scope: Scope, *, budget: Budget | None = None, retention: Retention | None = None
    ) -> SessionGraph:
        """Replace what is given and return the graph as it now is.

        Raises:
            NotFound: The graph does not exist.
        """
        mine = of_tenant(scope.tenant, id=scope.graph_id)
        given = {"budget": budget, "retention": retention}
        change = {name: document_of(one) for name, one in given.items() if one is not None}

        async def configured(session: Session) -> SessionGraph:
            graphs = session.collection("graphs")
            if change:
                found = await graphs.find_and_update(mine, {"$set": change})
            else:
                found = await graphs.first(mine)
            if found is None:
                raise NotFound("session graph", scope.graph_id)
            return record_of(SessionGraph, found)

        return await self._database.write("configure", configured)


def graph_document(graph: SessionGraph) -> Document:
    """Return a graph in stored form; ``last_link`` is the number of the last link it took."""
    return document_of(graph, last_link=0)


async def check_writable(session: Session, scope: Scope) -> None:
    """Refuse to write into the scope's graph when it is archived; one that is unknown is not.

    Inside the caller's step, so that a transaction sees the state as of its own beginning.

    Raises:
        Conflict: The graph is archived.
    """
    if await state_of(session, scope) == GraphState.ARCHIVED:
        raise archived(scope.graph_id)


async def state_of(session: Session, scope: Scope) -> GraphState | None:
    """Return the state of the scope's graph, inside the caller's step; ``None``: no such graph."""
    found = await session.collection("graphs").find(
        of_tenant(scope.tenant, id=scope.graph_id), limit=1, fields=["state"]
    )
    return GraphState(found[0]["state"]) if found else None


def archived(graph_id: str) -> Conflict:
    """Return the error for writing into a graph that is archived."""
    return Conflict(f"session graph {graph_id!r}", "active or closed", "archived")


async def _member(session: Session, scope: Scope) -> dict[str, Document]:
    """Return the scope's agent by its id, if it names one that is or was a member."""
    if scope.agent_id is None:
        return {}
    found = await session.collection("agents").find(own(scope, id=scope.agent_id), limit=1)
    return {one["id"]: one for one in found}


def _links_of(graphs: Mapping[str, Document]) -> dict[str, list[Parent]]:
    return {
        name: [record_of(Parent, parent) for parent in graph["parents"]]
        for name, graph in graphs.items()
    }


def _check_known(names: Iterable[str], known: Mapping[str, Any]) -> None:
    for name in names:
        if name not in known:
            raise NotFound("session graph", name)


def _check_link(scope: Scope, parent: Parent, above: Mapping[str, Document]) -> None:
    """Refuse a link that cannot be, by what is linked already."""
    _check_known((scope.graph_id, parent.id), above)
    if above[scope.graph_id]["state"] == GraphState.ARCHIVED:
        raise archived(scope.graph_id)
    linked = _links_of(above)
    if any(link.id == parent.id for link in linked[scope.graph_id]):
        raise Conflict(f"link of session graph {scope.graph_id!r}", "a new parent", parent.id)
    check_acyclic(scope.graph_id, parent.id, linked)


async def _check_carried(session: Session, scope: Scope, parent: Parent) -> None:
    """Refuse after all, when the graph was archived before the link that was announced was in it.

    Otherwise somebody else has carried it out.
    """
    graph = await session.collection("graphs").first(of_tenant(scope.tenant, id=scope.graph_id))
    if graph is None or graph["state"] != GraphState.ARCHIVED:
        return
    if all(one["id"] != parent.id for one in graph["parents"]):
        raise archived(scope.graph_id)
