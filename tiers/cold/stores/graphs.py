"""Session graphs, the links between them, and their members."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime

from ...errors import Conflict, NotFound
from ...fields import AuditKind
from ...fleet import CATALOG, AgentRecord, Ancestor, Budget, GraphState, Parent, Retention
from ...records import Departure, Record, Scope, SessionGraph, Standing
from ...upkeep import ERASED
from ..conditions import Absent, Among
from ..lineage import ANCESTORS_MAX, check_acyclic, check_parents, lineage_of
from ..ownership import check_agent, check_limit, check_tenant
from ..port import Collection, Find, Index, Steps, count, every, one, write
from .known_graphs import GRAPHS, OLDEST_FIRST, KeptGraph
from .log import append_event
from .questions import among, by_then
from .rows import all_bare, amend, bare, kept, made, moments, over, put, replace
from .store_base import OverEngine, changing


class KeptAgent(AgentRecord):
    """A member as it is kept.

    Attributes:
        made: Sorts in the order of the first spawn, which a move keeps.
    """

    made: str = ""


AGENTS: Collection[KeptAgent] = Collection(
    "agents",
    KeptAgent,
    fields={
        "made": lambda agent: agent.made,
        **moments("seen_at", "left_at"),
    },
    indexes={
        "present": Index(("id",), where=(Absent("left_at"),)),
        "spawned": Index(("made",)),
        "made": Index(("made", "graph_id", "id"), of="tenant"),
        "silent": Index(("seen_at", "made"), where=(Absent("left_at"),), of="tenant"),
    },
)


class Links(Record):
    """How many links were made between the graphs of a tenant."""

    tenant: str
    made: int


LINKS: Collection[Links] = Collection("links", Links, extent="tenant", key=lambda _: "links")


class GraphStore(OverEngine):
    """Session graphs and how they inherit from each other.

    A graph never inherits from itself, near or far, and never from more than 1,000 others.
    """

    @changing
    def create_graph(self, graph: SessionGraph) -> Steps[None]:
        """Store a new graph, with its links to parents.

        Raises:
            Conflict: A graph of this id exists in the tenant.
            NotFound: A parent does not exist in the tenant.
            UsageError: A parent is named twice, is the graph itself or the catalog, or there would
                be more than ``ANCESTORS_MAX`` ancestors.
        """
        check_parents(graph.id, graph.parents)
        scope = Scope.of_graph(graph.tenant, graph.id)
        names = graph.inherits_from
        known = yield from _by_name(graph.tenant, (graph.id, *names))
        if graph.id in known:
            raise Conflict("session graph", "a new id", graph.id)
        _check_known(names, known)
        if names:
            links = yield from _links_above(graph.tenant, known.values())
            check_acyclic(graph.id, names[0], {**links, graph.id: graph.parents})
        yield from put(GRAPHS, scope, made(KeptGraph, graph))

    async def graph(self, tenant: str, graph_id: str) -> SessionGraph | None:
        """Return a graph, or ``None``."""
        found = await self._store.read("graph", lambda: one(_named(tenant, (graph_id,))))
        return None if found is None else bare(SessionGraph, found)

    async def graphs(self, tenant: str) -> tuple[SessionGraph, ...]:
        """Return all graphs of the tenant, oldest first, its catalog included."""
        whole = Scope.of_graph(tenant, CATALOG)
        find = Find(GRAPHS, whole, by="oldest", order=OLDEST_FIRST)
        return all_bare(SessionGraph, await self._all("graphs", find))

    async def graph_names(self, tenant: str, limit: int) -> tuple[str, ...]:
        """Return the names of the oldest graphs of the tenant, at most ``limit``."""
        check_limit(limit)
        whole = Scope.of_graph(tenant, CATALOG)
        find = Find(GRAPHS, whole, by="oldest", order=OLDEST_FIRST, limit=limit)
        return tuple(one.id for one in await self._all("graph_names", find) if one.id != CATALOG)

    async def standing(self, scope: Scope) -> Standing | None:
        """Return the scope's graph, agent and ancestors as they are now; ``None``: no such graph.

        ``tiers.cold.lineage`` says which ancestors there are and how each is read. The whole is
        answered by a number of queries that does not grow with the number of ancestors.
        """
        return await self._store.read("standing", lambda: standing(scope))

    async def lineage_at(self, scope: Scope, moment: datetime) -> tuple[Ancestor, ...]:
        """Return the ancestors of the scope's graph as they were inherited at a moment.

        A link that was made later is not there, and each ancestor is read as of the moment at the
        latest.
        """
        found = await self._store.read("lineage_at", lambda: standing(scope, moment))
        return () if found is None else found.lineage

    @changing
    def set_state(
        self,
        scope: Scope,
        state: GraphState,
        now: datetime,
        only_from: Sequence[GraphState] | None = None,
        event: AuditKind | None = None,
    ) -> Steps[bool]:
        """Move the scope's graph to ``state``; ``closed_at`` is set on closing, cleared on opening.

        Compare-and-set on ``only_from``: ``False``, writing nothing, when the graph is in none of
        these states. Moving to the state it is in changes nothing. With ``event``, the audit feed
        has an event of this kind, written in the same step where the engine has transactions.

        Raises:
            NotFound: The graph does not exist.
        """
        graph = yield from _existing(scope)
        if only_from is not None and graph.state not in only_from:
            return False
        if graph.state != state:
            opened = state == GraphState.ACTIVE
            closed_at = None if opened else graph.closed_at or now
            yield from amend(GRAPHS, scope, [graph], state=state, closed_at=closed_at)
            if event is not None:
                yield from append_event(scope, event, (), "", now)
        return True

    @changing
    def link(self, scope: Scope, parent: Parent) -> Steps[None]:
        """Let the scope's graph inherit from one more graph, after those it has.

        Raises:
            NotFound: The graph or the parent does not exist.
            Conflict: The link exists, or the graph is archived.
            UsageError: It would close a cycle or make more than 1,000 ancestors for any graph
                (checked for the scope's own graph), or the parent is the catalog.
        """
        check_parents(scope.graph_id, (parent,))
        known = yield from _by_name(scope.tenant, (scope.graph_id, parent.id))
        _check_known((scope.graph_id, parent.id), known)
        graph = known[scope.graph_id]
        yield from check_writable(scope)
        if parent.id in graph.inherits_from:
            raise Conflict(f"link of session graph {scope.graph_id!r}", "a new parent", parent.id)
        links = yield from _links_above(scope.tenant, known.values())
        check_acyclic(scope.graph_id, parent.id, links)
        yield from amend(GRAPHS, scope, [graph], parents=(*graph.parents, parent))
        yield from _count_link(scope)

    @changing
    def unlink(self, scope: Scope, parent_id: str) -> Steps[bool]:
        """Revoke a link; ``False`` when there is none. Holds from the next ``standing`` on."""
        graph = yield from found_graph(scope)
        if graph is None or parent_id not in graph.inherits_from:
            return False
        left = tuple(parent for parent in graph.parents if parent.id != parent_id)
        yield from amend(GRAPHS, scope, [graph], parents=left)
        return True

    @changing
    def configure(
        self, scope: Scope, *, budget: Budget | None = None, retention: Retention | None = None
    ) -> Steps[SessionGraph]:
        """Replace what is given and return the graph as it now is.

        Raises:
            NotFound: The graph does not exist.
        """
        given = {"budget": budget, "retention": retention}
        changed = {name: value for name, value in given.items() if value is not None}
        graph = (yield from _existing(scope)).model_copy(update=changed)
        yield from replace(GRAPHS, scope, graph)
        return bare(SessionGraph, graph)


class FleetStore(OverEngine):
    """The members of session graphs: who came, who is there, who fell silent.

    Each member is a row of its own, so that any number may come and go at once.
    """

    @changing
    def spawn(self, agent: AgentRecord) -> Steps[bool]:
        """Add a member, or re-attach one of the same id; a spawn is a sign of life.

        Returns ``True`` when it is new. A re-attach takes over role, user, topics, sources, what
        is denied and the budget, and clears ``left_at`` and ``released``; the first spawn's time
        stays, and so does whom it ``served``. ``seen_at`` is ``agent.seen_at`` or, if that is
        earlier, ``agent.spawned_at``.

        Raises:
            NotFound: The graph does not exist.
            Conflict: The graph is archived.
        """
        scope = Scope.of_graph(agent.tenant, agent.graph_id)
        seen_at = max(agent.seen_at, agent.spawned_at)
        present = agent.model_copy(update={"seen_at": seen_at, "left_at": None, "released": False})
        yield from _existing(scope)
        yield from check_writable(scope)
        known = yield from one(among(AGENTS, scope, [agent.id]))
        if known is None:
            yield from put(AGENTS, scope, made(KeptAgent, present))
            return True
        first = {"spawned_at": known.spawned_at, "made": known.made}
        yield from replace(AGENTS, scope, kept(KeptAgent, present.succeeding(known), **first))
        return False

    @changing
    def leave(
        self,
        scope: Scope,
        now: datetime,
        *,
        silent_since: datetime | None = None,
        reason: str | None = None,
    ) -> Steps[Departure]:
        """Mark the scope's agent as gone and return what came of it. Idempotent.

        One that had been released leaves by it, and is ``released`` no more.

        With ``silent_since`` the agent is released instead: only if its last sign of life is at or
        before that moment, and it is marked ``released``. With ``reason``, the audit feed has an
        event ``left`` or ``released``, written in the same step where the engine can.
        """
        agent_id = check_agent(scope)
        agent = yield from one(among(AGENTS, scope, [agent_id]))
        left = agent is not None and _leaves(agent, silent_since)
        if agent is not None and left:
            is_released = silent_since is not None
            yield from amend(AGENTS, scope, [agent], left_at=now, released=is_released)
            if reason is not None:
                kind: AuditKind = "left" if silent_since is None else "released"
                yield from append_event(scope, kind, (), reason, now)
        remaining = yield from count(Find(AGENTS, scope, by="present"))
        return Departure(left=left, remaining=remaining)

    async def agents(self, scope: Scope) -> tuple[AgentRecord, ...]:
        """Return all members of the scope's graph, those who left included, in order of spawn."""
        find = Find(AGENTS, scope, by="spawned", order=("made",))
        return all_bare(AgentRecord, await self._all("agents", find))

    async def agent_names(self, scope: Scope, limit: int) -> tuple[str, ...]:
        """Return the names of the first members of the scope's graph, at most ``limit``."""
        check_limit(limit)
        find = Find(AGENTS, scope, by="spawned", order=("made",), limit=limit)
        return tuple(one.id for one in await self._all("agent_names", find))

    @changing
    def beat(self, scope: Scope, agent_ids: Sequence[str], now: datetime) -> Steps[tuple[str, ...]]:
        """Note a sign of life of members and return those of them that are present, sorted.

        ``seen_at`` never goes back. Those who left or were released stay as they are.
        """
        where = (Among("id", tuple(dict.fromkeys(agent_ids))),)
        present = yield from every(Find(AGENTS, scope, by="present", where=where))
        later = (one for one in present if one.seen_at < now)
        yield from amend(AGENTS, scope, later, seen_at=now)
        return tuple(sorted(agent.id for agent in present))

    async def silent(
        self, tenant: str, silent_since: datetime, limit: int
    ) -> tuple[AgentRecord, ...]:
        """Return present members of any graph whose last sign of life is at or before a moment.

        The longest silent first, at most ``limit``.
        """
        check_tenant(tenant)
        check_limit(limit)
        whole, silent = Scope.of_graph(tenant, CATALOG), by_then("seen_at", silent_since)
        find = Find(AGENTS, whole, "silent", silent, ("seen_at", "made"), limit, reach="tenant")
        return all_bare(AgentRecord, await self._all("silent", find))


def silence_roles(
    scope: Scope, is_named_in: Callable[[str], bool], reason: str, now: datetime
) -> Steps[tuple[str, ...]]:
    """Take roles and prompts that a test picks from members, inside a transaction; return whose."""
    silent: list[KeptAgent] = []
    for agent in (yield from every(Find(AGENTS, scope, by="spawned", order=("made",)))):
        role = "" if is_named_in(agent.role) else agent.role
        prompts = {grain: text for grain, text in agent.prompts.items() if not is_named_in(text)}
        if (role, prompts) != (agent.role, agent.prompts):
            silent.append(agent.model_copy(update={"role": role, "prompts": prompts}))
    ids = tuple(agent.id for agent in silent)
    if ids:
        yield from replace(AGENTS, scope, *silent)
        yield from append_event(scope, ERASED, ids, reason, now)
    return ids


def found_graph(scope: Scope) -> Steps[KeptGraph | None]:
    """Return the scope's graph, inside a transaction; ``None``: it is not known."""
    return one(_named(scope.tenant, (scope.graph_id,)))


def check_writable(scope: Scope) -> Steps[KeptGraph | None]:
    """Refuse to write what agents write into an archived graph, inside a transaction.

    A graph that is not known is not archived. Returns the graph.

    Raises:
        Conflict: It is archived.
    """
    graph = yield from found_graph(scope)
    if graph is not None and graph.state == GraphState.ARCHIVED:
        raise Conflict(f"session graph {scope.graph_id!r}", "active or closed", "archived")
    return graph


def standing(scope: Scope, as_of: datetime | None = None) -> Steps[Standing | None]:
    """Return how a scope stands, inside a transaction; its ancestors as of a moment if given."""
    there = _named(scope.tenant, (scope.graph_id, CATALOG))
    graphs, agents = yield there, among(AGENTS, scope, [scope.agent_id or ""])
    found = {graph.id: graph for graph in graphs}
    if scope.graph_id not in found:
        return None
    links = yield from _links_above(scope.tenant, (found[scope.graph_id],))
    return Standing(
        graph=bare(SessionGraph, found[scope.graph_id]),
        agent=bare(AgentRecord, agents[0]) if agents else None,
        lineage=lineage_of(scope.graph_id, links, has_catalog=CATALOG in found, as_of=as_of),
    )


def _count_link(scope: Scope) -> Steps[None]:
    """Let no two links of a tenant be made from one moment: together they could close a cycle.

    Each looks only at graphs that the other does not write.
    """
    known = yield from one(Find(LINKS, scope))
    made = 1 if known is None else known.made + 1
    yield from write(over(known, LINKS, scope, Links(tenant=scope.tenant, made=made)))


def _links_above(tenant: str, graphs: Iterable[SessionGraph]) -> Steps[dict[str, Sequence[Parent]]]:
    """Return the links of graphs and of every graph above them, one question for each step up."""
    links: dict[str, Sequence[Parent]] = {}
    found: Sequence[SessionGraph] = tuple(graphs)
    # The limit ends what the stores never let come about: one more than allowed is enough to know.
    while found and len(links) <= ANCESTORS_MAX:
        links |= {graph.id: graph.parents for graph in found}
        above = {parent.id for graph in found for parent in graph.parents} - links.keys()
        found = yield from every(_named(tenant, sorted(above)))
    return links


def _existing(scope: Scope) -> Steps[KeptGraph]:
    graph = yield from found_graph(scope)
    if graph is None:
        raise NotFound("session graph", scope.graph_id)
    return graph


def _by_name(tenant: str, names: Sequence[str]) -> Steps[dict[str, KeptGraph]]:
    found = yield from every(_named(tenant, names))
    return {graph.id: graph for graph in found}


def _named(tenant: str, names: Sequence[str]) -> Find[KeptGraph]:
    return among(GRAPHS, Scope.of_graph(tenant, CATALOG), names)


def _check_known(names: Iterable[str], known: Mapping[str, SessionGraph]) -> None:
    for name in names:
        if name not in known:
            raise NotFound("session graph", name)


def _leaves(agent: AgentRecord, silent_since: datetime | None) -> bool:
    """Whether an agent is present, or silent for so long; one let go may still leave itself."""
    if silent_since is None:
        return agent.left_at is None or agent.released
    return agent.left_at is None and agent.seen_at <= silent_since
