"""The runtime on a server, as ``ezra.Ezra`` is in process."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from metaagents.reindex.rules import Reembedding
from tiers.errors import UsageError

from ..contradiction import Callback, Resolver
from ..handles.catalog import Catalog
from ..handles.tenant import Tenant
from ..operations import Named, checked_arguments, checks_arguments
from ..wire import Nothing, graphs, handles
from ..wire.graphs import GraphAnswer
from .agent import RemoteAgent
from .connection import Connection
from .graph import RemoteGraph
from .handle import RemoteDocuments, RemoteHandle

_IN_PROCESS = "none: a function does not go over the wire; open the runtime in process"


class RemoteEzra(RemoteHandle, Tenant, of=Tenant):
    """A memory runtime on a server. Made by ``Ezra.connect``.

    Each method is one call of the server and does what the method of the same name does of
    ``Ezra``. What needs a function of the caller is refused.
    """

    def __init__(self, connection: Connection) -> None:
        super().__init__(connection, handles.TENANT, {})

    async def close(self) -> None:
        """End what was opened, as the end of an ``async with`` block does. May be repeated."""
        await self._connection.lifetime.close()

    async def _ask(self, name: str, given: dict[str, Any]) -> Any:  # noqa: ANN401 - as the method
        _check_resolver(given.pop("resolver", None))
        if given.get("merge_strategy") == "custom":
            accepted = "last_write_wins, highest_trust or manual; a resolver lives in process only"
            raise UsageError("merge_strategy", "custom", accepted)
        answer = await super()._ask(name, given)
        is_graph = isinstance(answer, GraphAnswer)
        return RemoteGraph(self._connection, answer) if is_graph else answer

    @checks_arguments("session_graph_id")
    async def session_graph(
        self, session_graph_id: Named, *, resolver: Resolver | None = None
    ) -> RemoteGraph:
        """Return the handle of an existing graph.

        Raises:
            NotFound: It does not exist.
            UsageError: There is a resolver.
        """
        _check_resolver(resolver)
        shown = await self.ask(graphs.GET, Nothing(), graph_id=session_graph_id)
        return RemoteGraph(self._connection, shown)

    @checks_arguments("session_graph_id", "agent_id")
    async def agent(self, session_graph_id: Named, agent_id: Named) -> RemoteAgent:
        """Return the handle of a member of a graph, for whoever has a token as that agent only.

        Raises:
            NotFound: The graph does not exist, or never had such a member.
            UsageError: The member has left.
        """
        member = handles.GRAPH.offered["agent"].operation
        names = {"graph_id": session_graph_id, "agent_id": agent_id}
        shown = await self.ask(member, Nothing(), **names)
        return RemoteAgent(self._connection, session_graph_id, shown)

    @checks_arguments("session_graph_id", "agent_id")
    async def spawn_agent(
        self,
        session_graph_id: Named,
        agent_id: Named,
        **given: Any,  # noqa: ANN401 - as the method
    ) -> RemoteAgent:
        """Spawn an agent as ``Graph.spawn_agent`` does, for whoever has a token as it only.

        A member comes back as it was where nothing else is given.

        Raises:
            NotFound: The graph does not exist.
            PolicyDenied: The token is not that agent's, or the agent is more than it allows.
            UsageError: An argument is not acceptable.
        """
        spawning = handles.GRAPH.offered["spawn_agent"]
        taken = checked_arguments(spawning.method, given)
        names = {"graph_id": session_graph_id, "agent_id": agent_id}
        shown = await self.ask(spawning.operation, graphs.SpawnAsked.of(**taken), **names)
        return RemoteAgent(self._connection, session_graph_id, shown)

    async def catalog(self) -> RemoteCatalog:
        """Return the tenant's catalog, which every agent of every graph reads; made when new."""
        return RemoteCatalog(self._connection)

    def on_contradiction(self, callback: Callback) -> Callback:
        """Refuse: the server cannot call a function of its caller.

        Raises:
            UsageError: Always.
        """
        raise UsageError("callback", _name_of(callback), _IN_PROCESS)

    async def reembedding(self) -> Reembedding | None:
        """Return how far re-embedding has come; ``None`` when there is nothing to do.

        To be awaited, unlike the property of ``Ezra``: the server has to be asked.
        """
        return await self.ask(graphs.REEMBEDDING, Nothing())

    async def ensure_archival_index(
        self, progress: Callable[[str, str], None] | None = None
    ) -> str:
        """Make or check the vector index of a cold tier that searches facts by meaning itself.

        Raises:
            UsageError: There is a ``progress``.
            ConfigError: There is no embedding model, or an index is there that does not fit.
            TierRejected: The cold tier has no search of its own; the warm tier goes on answering.
            TierTimeout: It is still being built; asking again is harmless.
        """
        if progress is not None:
            raise UsageError("progress", _name_of(progress), _IN_PROCESS)
        done: str = await self._ask("ensure_archival_index", {})
        return done


def _check_resolver(resolver: Resolver | None) -> None:
    if resolver is not None:
        raise UsageError("resolver", _name_of(resolver), _IN_PROCESS)


def _name_of(function: Callable[..., object]) -> str:
    return getattr(function, "__qualname__", type(function).__name__)


class RemoteCatalog(RemoteHandle, Catalog, of=Catalog):
    """What is true for a whole tenant, on a server. Made by ``ezra.catalog()``."""

    def __init__(self, connection: Connection) -> None:
        super().__init__(connection, handles.CATALOG, {})

    @property
    def documents(self) -> RemoteDocuments:
        """The documents that every graph of the tenant reads, to read and to change."""
        return RemoteDocuments(self._connection, handles.CATALOG_DOCUMENTS, {})
