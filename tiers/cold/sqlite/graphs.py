"""Session graphs and the links between them in SQLite."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from ...errors import Conflict, NotFound
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
from ..lineage import ANCESTORS_MAX, check_acyclic, check_parents, lineage_of
from .database import Database, Query, Session, Value
from .log import append_event
from .rows import fields_of, record_again, record_of, stored
from .scope import as_json, scoped

GRAPHS = (
    "SELECT t.*, (SELECT json_group_array(json_array("
    "p.place, p.id, p.as_of, p.rules, p.episodes, p.linked_at))"
    " FROM parents p WHERE p.tenant = t.tenant AND p.graph_id = t.id) AS parents FROM graphs t"
)
"""Up to its condition; a row has the links of its graph in it, which ``record_of`` understands."""

_BY_ID = GRAPHS + " WHERE t.tenant = :tenant AND t.id = :id"
_OLDEST_FIRST = GRAPHS + " WHERE t.tenant = :tenant ORDER BY t.created_at, t.row"
_KNOWN = (
    "SELECT t.id, t.state FROM graphs t"
    " WHERE t.tenant = :tenant AND t.id IN (SELECT value FROM json_each(:ids))"
)
# The limit ends what the stores never let come about: one more than allowed is enough to know.
_LINKS_ABOVE = (
    "WITH RECURSIVE above (id) AS ("
    "SELECT value FROM json_each(:ids)"
    " UNION SELECT p.id FROM above a CROSS JOIN parents p"
    " ON p.tenant = :tenant AND p.graph_id = a.id LIMIT :most)"
    " SELECT p.* FROM above a CROSS JOIN parents p"
    " ON p.tenant = :tenant AND p.graph_id = a.id ORDER BY p.graph_id, p.place"
)
_AGENT = "SELECT a.* FROM agents a WHERE $own(a) AND a.id = :agent_id"
_MOVE = (
    "UPDATE graphs SET state = :state, closed_at = CASE"
    " WHEN :state = 'active' THEN NULL ELSE COALESCE(closed_at, :now) END"
    " WHERE tenant = :tenant AND id = :graph_id"
)
_CONFIGURE = (
    "UPDATE graphs SET budget = COALESCE(:budget, budget),"
    " retention = COALESCE(:retention, retention) WHERE tenant = :tenant AND id = :graph_id"
)
_LAST_PLACE = "SELECT COALESCE(MAX(p.place), -1) AS place FROM parents p WHERE $own(p)"
_UNLINK = "DELETE FROM parents WHERE tenant = :tenant AND graph_id = :graph_id AND id = :parent_id"


class SqliteGraphStore:
    """A ``GraphStore`` in SQLite."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def create_graph(self, graph: SessionGraph) -> None:
        """Store a new graph, with its links to parents.

        Raises:
            Conflict: A graph of this id exists in the tenant.
            NotFound: A parent does not exist in the tenant.
            UsageError: A parent is named twice, is the graph itself or the catalog, or there would
                be more than ``ANCESTORS_MAX`` ancestors.
        """
        check_parents(graph.id, graph.parents)
        await self._database.write("create_graph", lambda session: _create(session, graph))

    async def graph(self, tenant: str, graph_id: str) -> SessionGraph | None:
        """Return a graph, or ``None``."""
        return await self._database.read("graph", lambda session: _graph(session, tenant, graph_id))

    async def graphs(self, tenant: str) -> tuple[SessionGraph, ...]:
        """Return all graphs of the tenant, oldest first, its catalog included."""
        query = Query(_OLDEST_FIRST, {"tenant": tenant}, reach="tenant")
        return await self._database.read(
            "graphs",
            lambda session: tuple(record_of(SessionGraph, row) for row in session.all(query)),
        )

    async def standing(self, scope: Scope) -> Standing | None:
        """Return the scope's graph, agent and ancestors as they are now; ``None``: no such graph.

        All of one moment, in at most four statements, however many ancestors there are.
        """
        return await self._database.read("standing", lambda session: _standing(session, scope))

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
        move is told in the audit feed as ``event``, in the same transaction.

        Raises:
            NotFound: The graph does not exist.
        """
        move = scoped(_MOVE, scope, state=state.value, now=microseconds(now))

        def transaction(session: Session) -> bool:
            found = _state(session, scope)
            if found is None:
                raise NotFound("session graph", scope.graph_id)
            allowed = only_from is None or found in only_from
            if allowed and found != state:
                session.run(move)
                if event is not None:
                    append_event(session, scope, event, (), "", now)
            return allowed

        return await self._database.write("set_state", transaction)

    async def link(self, scope: Scope, parent: Parent) -> None:
        """Let the scope's graph inherit from one more graph, after those it has.

        Raises:
            NotFound: The graph or the parent does not exist.
            Conflict: The link exists, or the graph is archived.
            UsageError: It would close a cycle or make more than ``ANCESTORS_MAX`` ancestors, or
                the parent is the catalog.
        """
        check_parents(scope.graph_id, (parent,))
        await self._database.write("link", lambda session: _link(session, scope, parent))

    async def unlink(self, scope: Scope, parent_id: str) -> bool:
        """Revoke a link; ``False`` when there is none. Holds from the next ``standing`` on."""
        query = scoped(_UNLINK, scope, parent_id=parent_id)
        return await self._database.write("unlink", lambda session: session.run(query) > 0)

    async def configure(
        self, scope: Scope, *, budget: Budget | None = None, retention: Retention | None = None
    ) -> SessionGraph:
        """Replace what is given and return the graph as it now is.

        Raises:
            NotFound: The graph does not exist.
        """
        query = scoped(
            _CONFIGURE,
            scope,
            budget=None if budget is None else stored(budget.model_dump()),
            retention=None if retention is None else stored(retention.model_dump()),
        )

        def transaction(session: Session) -> SessionGraph:
            session.run(query)
            graph = _graph(session, scope.tenant, scope.graph_id)
            if graph is None:
                raise NotFound("session graph", scope.graph_id)
            return graph

        return await self._database.write("configure", transaction)


def is_known(session: Session, scope: Scope) -> bool:
    """Whether the scope's graph exists, in the caller's transaction."""
    return _state(session, scope) is not None


def check_writable(session: Session, scope: Scope) -> None:
    """Refuse to write what agents write into an archived graph, in the caller's transaction.

    A graph that is not known is not archived.

    Raises:
        Conflict: It is archived.
    """
    if _state(session, scope) == GraphState.ARCHIVED:
        raise Conflict(f"session graph {scope.graph_id!r}", "active or closed", "archived")


def insert_graph(session: Session, graph: SessionGraph) -> None:
    """Store a graph with its links as they are, in the caller's transaction."""
    session.insert("graphs", fields_of(graph, "parents"))
    for place, parent in enumerate(graph.parents):
        _insert_link(session, graph.tenant, graph.id, parent, place)


def _create(session: Session, graph: SessionGraph) -> None:
    names = graph.inherits_from
    known = _states(session, graph.tenant, (graph.id, *names))
    if graph.id in known:
        raise Conflict("session graph", "a new id", graph.id)
    _check_known(names, known)
    if names:
        links = _links_above(session, graph.tenant, names)
        check_acyclic(graph.id, names[0], {**links, graph.id: graph.parents})
    insert_graph(session, graph)


def _link(session: Session, scope: Scope, parent: Parent) -> None:
    _check_known(
        (scope.graph_id, parent.id), _states(session, scope.tenant, (scope.graph_id, parent.id))
    )
    check_writable(session, scope)
    links = _links_above(session, scope.tenant, (scope.graph_id, parent.id))
    if any(link.id == parent.id for link in links.get(scope.graph_id, ())):
        raise Conflict(f"link of session graph {scope.graph_id!r}", "a new parent", parent.id)
    check_acyclic(scope.graph_id, parent.id, links)
    (last,) = session.all(scoped(_LAST_PLACE, scope))
    _insert_link(session, scope.tenant, scope.graph_id, parent, last["place"] + 1)


def _insert_link(session: Session, tenant: str, graph_id: str, parent: Parent, place: int) -> None:
    owner: dict[str, Value] = {"tenant": tenant, "graph_id": graph_id, "place": place}
    session.insert("parents", fields_of(parent) | owner)


def _standing(session: Session, scope: Scope) -> Standing | None:
    graph = _graph(session, scope.tenant, scope.graph_id)
    if graph is None:
        return None
    row = None if scope.agent_id is None else session.one(scoped(_AGENT, scope))
    return Standing(
        graph=graph,
        agent=None if row is None else record_again(AgentRecord, row),
        lineage=lineage_of(
            scope.graph_id,
            _links_above(session, scope.tenant, (scope.graph_id,)),
            has_catalog=bool(_states(session, scope.tenant, (CATALOG,))),
        ),
    )


def _graph(session: Session, tenant: str, graph_id: str) -> SessionGraph | None:
    row = session.one(Query(_BY_ID, {"tenant": tenant, "id": graph_id}))
    return None if row is None else record_again(SessionGraph, row)


def _state(session: Session, scope: Scope) -> GraphState | None:
    return _states(session, scope.tenant, (scope.graph_id,)).get(scope.graph_id)


def _states(session: Session, tenant: str, graph_ids: Sequence[str]) -> dict[str, GraphState]:
    """Return the states of those graphs that exist, by id."""
    query = Query(_KNOWN, {"tenant": tenant, "ids": as_json(graph_ids)})
    return {row["id"]: GraphState(row["state"]) for row in session.all(query)}


def _check_known(names: Iterable[str], known: Mapping[str, GraphState]) -> None:
    for name in names:
        if name not in known:
            raise NotFound("session graph", name)


def _links_above(
    session: Session, tenant: str, graph_ids: Sequence[str]
) -> dict[str, list[Parent]]:
    """Return the links of graphs and of every graph above them, in order, in one query."""
    most = ANCESTORS_MAX + 1 + len(graph_ids)
    query = Query(_LINKS_ABOVE, {"tenant": tenant, "ids": as_json(graph_ids), "most": most})
    links: dict[str, list[Parent]] = {}
    for row in session.all(query):
        links.setdefault(row["graph_id"], []).append(record_again(Parent, row))
    return links
