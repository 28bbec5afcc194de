"""The two doors to a memory: the embedded store of this machine, or a server that runs one."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Self, TypeAlias

import typer

from tiers.errors import ConfigError, EzraError, NotFound, TierError, UsageError

from ..settings import Settings
from .options import AgentId, GraphId, Home, Json, settings_at
from .screen import Screen

if TYPE_CHECKING:
    from ..app import Ezra
    from ..handles.agent import Agent
    from ..handles.graph import Graph
    from ..remote.ezra import RemoteEzra

AnyEzra: TypeAlias = "Ezra | RemoteEzra"

URL_VARIABLE = "EZRA_URL"
TOKEN_VARIABLE = "EZRA_TOKEN"  # noqa: S105 - the name of a variable
TOKEN_FILE_VARIABLE = "EZRA_TOKEN_FILE"  # noqa: S105 - the name of a variable
TOKEN_FILE_BYTES_MAX = 65_536
INDEXING_SECONDS = 10.0
"""So long a command goes on for what it wrote, and for what others left behind."""
SERVER_SECONDS = 1.0
"""Who presses a key to complete a word waits no longer for a server."""
COMPLETED_MAX = 100

Url = Annotated[
    str | None,
    typer.Option(
        "--url",
        metavar="URL",
        help="A running server instead of the embedded store.",
        show_default=URL_VARIABLE,
    ),
]
NoUrl = Annotated[
    str | None, typer.Option("--url", hidden=True, help="Refused: it is about this machine.")
]
"""For a command that looks at this machine only, and says so."""


@dataclass
class Memory:
    """The memory that a command is about, opened when it is first asked for.

    What a command has to refuse it refuses before: nothing is opened for it.
    """

    home: Home = None
    url: Url = None
    json: Json = False

    async def __aenter__(self) -> Self:
        """Begin; what is opened meanwhile is closed at the end."""
        self._stack = AsyncExitStack()
        self._ezra: AnyEzra | None = None
        self._graph_id: str | None = None
        return self

    async def __aexit__(self, *failed: Any) -> None:  # noqa: ANN401, PYI036 - the exception in three parts
        """Close what was opened; what was written is indexed before."""
        if isinstance(failed[1], NotFound) and not hasattr(failed[1], "__notes__"):
            failed[1].beside(await self._names(failed[1].kind))
        await self._stack.__aexit__(*failed)

    async def _names(self, kind: str) -> list[str]:
        """Return the names of a kind that there are, as far as whoever asks may list them."""
        with suppress(EzraError):
            if self._ezra is not None and kind == "session graph":
                return [one.id for one in await self._ezra.session_graphs()]
            if self._graph_id is not None and kind == "agent":
                return [one.id for one in await (await self.session_graph(self._graph_id)).agents()]
        return []

    async def open(self, *, background: bool = False, creates: bool = False) -> AnyEzra:
        """Return it open, as ``opened`` opens it; how is for whoever asks first."""
        if self._ezra is None:
            at = opened(self.home, self.url, background=background, creates=creates)
            self._ezra = await self._stack.enter_async_context(at)
        return self._ezra

    async def session_graph(self, graph_id: str) -> Graph:
        """Return the handle of a session graph.

        Raises:
            NotFound: There is no such graph.
        """
        self._graph_id = graph_id
        return await (await self.open()).session_graph(graph_id)

    async def session_agent(self, graph_id: str, agent_id: str) -> Agent:
        """Return the handle of a member.

        Raises:
            NotFound: The graph does not exist, or never had such a member.
            UsageError: The member has left.
        """
        self._graph_id = graph_id
        return await member_of(await self.open(), graph_id, agent_id)


@dataclass(kw_only=True)
class InGraph(Memory):
    """A session graph of it, which is the first argument."""

    graph: GraphId

    async def held(self) -> Graph:
        """Return the handle of the graph.

        Raises:
            NotFound: There is no such graph.
        """
        return await self.session_graph(self.graph)

    async def as_agent(self, agent_id: str) -> Agent:
        """Return the handle of a member, as ``session_agent``."""
        return await self.session_agent(self.graph, agent_id)


@dataclass(kw_only=True)
class InAgent(InGraph):
    """A member of a graph, which is the second."""

    agent: AgentId

    async def member(self) -> Agent:
        """Return the handle of the member, as ``session_agent``."""
        return await self.as_agent(self.agent)

    async def spawned(self, **given: Any) -> Agent:  # noqa: ANN401 - as the method
        """Spawn the agent as ``Graph.spawn_agent`` does, and return its handle.

        Raises:
            NotFound: The graph does not exist.
            PolicyDenied: The token is not that agent's, or allows less.
        """
        from ..app import Ezra

        ezra = await self.open()
        if isinstance(ezra, Ezra):
            return await (await ezra.session_graph(self.graph)).spawn_agent(self.agent, **given)
        return await ezra.spawn_agent(self.graph, self.agent, **given)


class _Here:
    """For a command that is about this machine, whatever memory is asked elsewhere."""

    url: NoUrl

    async def __aenter__(self) -> Self:
        """Begin; there is nothing to open."""
        return self

    async def __aexit__(self, *failed: object) -> None:
        """End."""

    def only(self, command: str, *, tell: bool = True) -> None:
        """Make sure that nobody takes what the command says for a server's: ``only_here``."""
        only_here(command, self.url, tell=tell)


@dataclass
class Machine(_Here):
    """This machine."""

    url: NoUrl = None
    json: Json = False


@dataclass
class Folder(_Here):
    """A folder of data on this machine."""

    home: Home = None
    url: NoUrl = None
    json: Json = False


async def member_of(ezra: AnyEzra, graph: str, agent: str) -> Agent:
    """Return the handle of a member.

    Whoever has a token as one agent may not look at its graph, and need not.

    Raises:
        NotFound: The graph does not exist, or never had such a member.
        UsageError: The member has left.
    """
    from ..app import Ezra

    if isinstance(ezra, Ezra):
        return await (await ezra.session_graph(graph)).agent(agent)
    return await ezra.agent(graph, agent)


@asynccontextmanager
async def opened(
    home: Path | None, url: str | None, *, background: bool = False, creates: bool = False
) -> AsyncIterator[AnyEzra]:
    """Open the memory that a command is about.

    What the command writes into an embedded one is indexed before it ends.

    Args:
        home: As ``--home`` gave it.
        url: As ``--url`` gave it.
        background: Whether an embedded store runs its meta-agents meanwhile; a server has its own.
        creates: Whether the command makes a memory where there is none. One that reads must not: a
            folder whose name was mistyped would answer that nothing is known.

    Raises:
        UsageError: Both are given.
        ConfigError: The address or the token cannot be one, the store cannot be opened, or there
            is none.
    """
    from ..app import Ezra

    address = server_of(home, url)
    if address is None:
        settings = settings_at(home, background=background)
        if not creates:
            await refuse_nothing(settings)
        async with Ezra.open(settings) as embedded:
            yield embedded
            await index_what_was_written(embedded)
    else:
        async with Ezra.connect(address, token()) as remote:
            yield remote


async def refuse_nothing(settings: Settings) -> None:
    """Make sure that there is a memory to open.

    Raises:
        ConfigError: The folder holds none.
    """
    from ..assembly.engines import has_memory

    if not await has_memory(settings):
        folder = settings.home.expanduser().absolute()
        raise ConfigError("EZRA_HOME", f"there is no memory in {folder}; 'ezra init' makes one")


def server_of(home: Path | None, url: str | None) -> str | None:
    """Return the server's address, or ``None`` for the embedded store.

    ``EZRA_URL`` counts where neither option is given.

    Raises:
        UsageError: Both are given.
    """
    check_one_place(home, url)
    if url is not None or home is not None:
        return url
    return os.environ.get(URL_VARIABLE, "").strip() or None


def check_one_place(home: Path | None, url: str | None) -> None:
    """Refuse two memories for one command.

    Raises:
        UsageError: Both are given.
    """
    if home is not None and url is not None:
        raise UsageError("--home", str(home), "--home or --url: the data are here or on a server")


def name_of(home: Path | None, url: str | None) -> str:
    """Return what people call the memory that ``opened`` opens: the address, or the folder."""
    address = server_of(home, url)
    if address is not None:
        return address
    settings = settings_at(home)
    return str(settings.home) if settings.needs_home else "the servers of the settings"


def token() -> str | None:
    """Return who asks a server: from the environment, since others on a machine see arguments.

    Raises:
        ConfigError: There are two, or the file with it cannot be read.
    """
    said = os.environ.get(TOKEN_VARIABLE, "").strip()
    path = os.environ.get(TOKEN_FILE_VARIABLE, "").strip()
    if said and path:
        raise ConfigError(TOKEN_VARIABLE, f"{TOKEN_FILE_VARIABLE} is set too; only one may be")
    return token_in(Path(path)) if path else said or None


def token_in(path: Path) -> str:
    """Return the token that a file holds.

    Raises:
        ConfigError: It cannot be read, or is empty.
    """
    try:
        with path.expanduser().open(encoding="utf-8") as file:
            found = file.read(TOKEN_FILE_BYTES_MAX).strip()
    except (OSError, ValueError, RuntimeError) as error:
        reason = getattr(error, "strerror", None) or "it is not text"
        raise ConfigError(TOKEN_FILE_VARIABLE, f"{str(path)!r} cannot be read: {reason}") from error
    if not found:
        raise ConfigError(TOKEN_FILE_VARIABLE, f"{str(path)!r} is empty")
    return found


def only_here(command: str, url: str | None, *, tell: bool = True) -> None:
    """Make sure that nobody takes what a command says of this machine for a server's.

    Args:
        command: Its name, as people type it.
        url: As ``--url`` gave it.
        tell: Whether to say that the environment's server is not asked.

    Raises:
        UsageError: A server is named on the command line.
    """
    why = f"ezra {command} is about this machine; run it where the server runs"
    if url is not None:
        raise UsageError("--url", url, f"none: {why}")
    if tell and os.environ.get(URL_VARIABLE, "").strip():
        Screen().note(f"{URL_VARIABLE} is not asked: {why}")


async def index_what_was_written(ezra: Ezra) -> None:
    """Put into the vector index what waits for it; say so where some of it still waits then.

    Behind an embedded memory nobody works once the command is over, so it indexes before it ends:
    what it wrote is found by meaning when it returns.
    """
    runtime = ezra._runtime  # noqa: SLF001 - a runtime indexes by itself; a command cannot wait for it
    until = time.monotonic() + INDEXING_SECONDS
    try:
        while (await runtime.index_worker.run_once()).claimed and time.monotonic() < until:
            pass
        waiting = await runtime.queue.waiting(tenant=runtime.settings.tenant)
    except TierError as error:
        # What was written is written: the command has done what it was asked for.
        Screen().note(f"degraded: found by words, and not yet by meaning: {error}")
        return
    if waiting["index"]:
        Screen().note(
            f"degraded: {waiting['index']:,} records are found by words, and not yet by meaning;"
            " any later command, 'ezra lifecycle run' or a running server goes on with them"
        )


def graph_ids(context: typer.Context, incomplete: str) -> list[str]:
    """Return the ids of graphs that begin so, in alphabetical order.

    None where the store cannot be read at once: nobody wants an error, or to wait, for a key that
    was pressed, and a folder of data is never made by it.
    """
    home, url = context.params.get("home"), context.params.get("url")
    try:
        found = asyncio.run(_known_graphs(None if home is None else Path(home), url))
    except (EzraError, TimeoutError):
        return []
    return sorted(name for name in found if name.startswith(incomplete))[:COMPLETED_MAX]


async def _known_graphs(home: Path | None, url: str | None) -> list[str]:
    from ..app import Ezra
    from ..assembly.engines import has_memory

    address = server_of(home, url)
    if address is not None:
        async with (
            asyncio.timeout(SERVER_SECONDS),
            Ezra.connect(address, token(), timeout_seconds=SERVER_SECONDS) as remote,
        ):
            return [one.id for one in await remote.session_graphs()]
    settings = settings_at(home, background=False)
    if not await has_memory(settings):
        return []
    async with Ezra.open(settings) as embedded:
        return [one.id for one in await embedded.session_graphs()]
