"""``ezra mcp``: an agent's memory for clients of the Model Context Protocol.

Standard input ends when the command is stopped, or when nobody reads what it answers, not only when
whoever writes closes it.
"""

from __future__ import annotations

import asyncio
import os
import select
import shutil
import socket
import sysconfig
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import urlencode

import typer

from tiers.errors import UsageError
from tiers.extras import needs
from tiers.records import ALL_TOPICS, Turn

from ..checks import checked
from ..handles.lookup import graph_or_new
from ..settings import Settings
from .command import Answer, Note, Part, command, group
from .doors import Url, refuse_nothing, server_of
from .doors import token as token_of_environment
from .help import listed
from .options import Home, Json, one_of, settings_at, stopped_by_signals
from .screen import NOBODY_READS, drop_output

if TYPE_CHECKING:
    from ..service.caller import Caller


ENDPOINT = "/mcp"
VARIABLE = "EZRA_TOKEN"
PLACEHOLDER = "PASTE-THE-TOKEN-HERE"
_INPUT = "ezra-token"

mcp_app = group("Memory for clients of the Model Context Protocol (MCP).")

Topics = Annotated[
    list[str] | None,
    typer.Option("--topic", help="A topic that a new agent holds; all if not given. Repeatable."),
]
User = Annotated[str | None, typer.Option("--user", help="The person for whom the agent works.")]
Create = Annotated[bool, typer.Option("--create", help="Create the graph when it is not there.")]


@mcp_app.command(
    "run",
    epilog=listed(
        (
            "ezra mcp run --graph imola --agent strategist --topic tyres",
            "EZRA_TOKEN=… ezra mcp run --graph imola --agent strategist --url http://127.0.0.1:8700",
        )
    ),
)
def run_stdio(
    graph: Annotated[str, typer.Option(help="The session graph.")],
    agent: Annotated[str, typer.Option(help="The agent whose memory it is.")],
    topic: Topics = None,
    user: User = None,
    create: Create = False,
    url: Url = None,
    token: Annotated[
        str | None,
        typer.Option(help="For a server; safer in the variable.", show_default=VARIABLE),
    ] = None,
    home: Home = None,
) -> None:
    """Speak MCP over standard input and output, for one agent, until the client closes them.

    The agent is spawned at its first use. One process owns a folder of embedded data at a time:
    for several clients run 'ezra serve' and give its --url.
    """
    # Half a second of imports that no other command should pay.
    from ..service.caller import Caller

    topics = checked(Turn, topics=topic or (ALL_TOPICS,)).topics
    # Whoever may change the folder may do everything. A server knows what its token may do, and
    # refuses the rest.
    caller = Caller("stdio", "operator", graph, agent, user, topics)
    address = server_of(home, url)
    with _ending_without_readers():
        if address is None:
            asyncio.run(_embedded(settings_at(home), caller, create=create))
        else:
            asyncio.run(_bridged(address, token or token_of_environment(), caller, create=create))


async def _embedded(settings: Settings, caller: Caller, *, create: bool) -> None:
    from ..app import Ezra
    from ..service.handle_pool import HandlePool
    from ..telemetry.lag import what_stays_left_out

    with needs("serve", "ezra mcp run"):
        from ..service.mcp import mcp_server

    stopped = stopped_by_signals()
    if not create:
        await refuse_nothing(settings)
    async with Ezra.open(settings) as ezra:
        graph_id = caller.graph_id or ""
        await (graph_or_new(ezra, graph_id) if create else ezra.session_graph(graph_id))
        server = mcp_server(HandlePool(ezra, time.monotonic), caller)
        with what_stays_left_out():
            await until_stopped(server.run_stdio_async, stopped)


async def _bridged(url: str, token: str | None, caller: Caller, *, create: bool) -> None:
    from ..remote.connection import Connection

    with needs("serve", "ezra mcp run"):
        from ..service.mcp_bridge import mcp_bridge

    if create:
        raise UsageError("--create", url, "an embedded memory; ezra graph create asks a server")
    stopped = stopped_by_signals()
    async with Connection(url, token) as connection:
        server = mcp_bridge(connection, caller, time.monotonic)
        await until_stopped(server.run_stdio_async, stopped)


@dataclass(frozen=True)
class _Program:
    """What a client starts, and the variables that it gets."""

    command: str
    args: tuple[str, ...]
    env: Mapping[str, str]

    def document(self) -> dict[str, Any]:
        found: dict[str, Any] = {"command": self.command, "args": list(self.args)}
        return found | ({"env": dict(self.env)} if self.env else {})


@dataclass(frozen=True)
class _Client:
    """How a client is told of a server.

    Attributes:
        file: Where its configuration is.
        key: Under which the servers are.
        address: How it names a server's address; ``None`` for one that only starts programs.
        token: What it puts the token in the place of.
        kind: Whether an entry says ``stdio`` or ``http`` itself.
        more: What else belongs into the file when a token is asked for.
    """

    file: str
    key: str = "mcpServers"
    address: str | None = "url"
    token: str = PLACEHOLDER
    kind: bool = False
    more: Mapping[str, Any] | None = None

    def stdio(self, program: _Program) -> dict[str, Any]:
        entry = ({"type": "stdio"} if self.kind else {}) | program.document()
        return {self.key: {"ezra": entry}}

    def http(self, url: str) -> dict[str, Any]:
        headers = {"Authorization": f"Bearer {self.token}"}
        entry = ({"type": "http"} if self.kind else {}) | {self.address: url, "headers": headers}
        return {**(self.more or {}), self.key: {"ezra": entry}}


_ASKED_FOR = {
    "inputs": [
        {"type": "promptString", "id": _INPUT, "description": "Token for ezra", "password": True}
    ]
}
CLIENTS: Mapping[str, _Client] = {
    "claude": _Client("claude_desktop_config.json", address=None),
    "claude-code": _Client(".mcp.json", token=f"${{{VARIABLE}}}", kind=True),
    "cursor": _Client("~/.cursor/mcp.json", token=f"${{env:{VARIABLE}}}"),
    "vscode": _Client(
        ".vscode/mcp.json", "servers", token=f"${{input:{_INPUT}}}", kind=True, more=_ASKED_FOR
    ),
    "windsurf": _Client(
        "~/.codeium/windsurf/mcp_config.json", address="serverUrl", token=f"${{env:{VARIABLE}}}"
    ),
    "gemini": _Client("~/.gemini/settings.json", address="httpUrl"),
}
"""By name. Where a client can take the token from elsewhere, no file holds it."""


@dataclass
class Asked:
    """What the entry leads to, and how it is told."""

    url: Url = None
    home: Home = None
    json: Json = False


@command(mcp_app)
def config(
    asked: Asked,
    client: Annotated[str, typer.Option(help=f"{', '.join(CLIENTS)}.")] = "claude",
    graph: str | None = None,
    agent: str | None = None,
    topic: Topics = None,
    user: User = None,
    create: Create = False,
) -> Answer:
    """Print what to paste into a client's configuration, ready but for the token.

    Without --url the client starts 'ezra mcp run'. With it the client asks the server, whose token
    says which agent it is; --graph and --agent name one where it does not.

    Args:
        graph: The session graph.
        agent: The agent whose memory it is.

    Examples:
        ezra mcp config --graph imola --agent strategist
        ezra mcp config --client vscode --url https://memory.example.com
    """
    chosen = CLIENTS[one_of("--client", client, tuple(CLIENTS))]
    url = server_of(asked.home, asked.url)
    names = {"--graph": graph, "--agent": agent}
    if url is None:
        more = _options({"--topic": topic, "--user": user, "--home": _home(asked.home)})
        program = _program(names, (*more, *(["--create"] if create else [])), {})
        document = chosen.stdio(program)
    elif chosen.address is None:
        program = _program(names, ("--url", url), {VARIABLE: PLACEHOLDER})
        document = chosen.stdio(program)
    else:
        document = chosen.http(_endpoint(url, graph, agent))
    variables = () if url else _variables()
    return Answer(
        {"file": chosen.file, "configuration": document, "variables": variables},
        _registration_lines(chosen, document, variables),
    )


def _registration_lines(
    client: _Client, document: dict[str, Any], variables: tuple[str, ...]
) -> Iterator[Part]:
    yield Note(f"into {client.file}, beside what is there:")
    yield lambda screen: screen.document(document)
    if variables:
        yield Note(f"set here, and for the client to set too: {', '.join(variables)}")


def _program(
    names: Mapping[str, str | None], more: tuple[str, ...], env: Mapping[str, str]
) -> _Program:
    for option, value in names.items():
        if not value:
            raise UsageError(option, value, "a name: the client starts a program for one agent")
    # A client on a desktop does not know the PATH of a shell; nor may the shell know where this is.
    own = sysconfig.get_path("scripts")
    command = shutil.which("ezra") or shutil.which("ezra", path=own) or "ezra"
    return _Program(command, ("mcp", "run", *_options(names), *more), env)


def _options(values: Mapping[str, str | list[str] | None]) -> tuple[str, ...]:
    found: list[str] = []
    for option, value in values.items():
        for one in [value] if isinstance(value, str) else value or []:
            found += [option, one]
    return tuple(found)


def _home(home: Path | None) -> str:
    """Return the folder of data from anywhere: nobody knows where a client starts programs."""
    return str(settings_at(home).home.expanduser().absolute())


def _variables() -> tuple[str, ...]:
    """Return the names of the settings in this environment, which a client does not inherit."""
    given = {"EZRA_HOME", "EZRA_URL", VARIABLE}
    return tuple(sorted(one for one in os.environ if one.startswith("EZRA_") and one not in given))


def _endpoint(url: str, graph: str | None, agent: str | None) -> str:
    named = {name: one for name, one in (("graph", graph), ("agent", agent)) if one}
    return url.rstrip("/") + ENDPOINT + (f"?{urlencode(named)}" if named else "")


_CHUNK_BYTES = 65_536


def _is_read(output: int, real: int) -> bool:
    """Wait until there is input; whether somebody can still read the output."""
    waiting = select.poll()
    waiting.register(real, select.POLLIN)
    waiting.register(output, 0)  # it is told all the same when nobody can
    return all(file != output for file, _ in waiting.poll())


async def until_stopped(serve: Callable[[], Awaitable[None]], stopped: asyncio.Event) -> None:
    """Serve standard input to its end, which comes at the latest when somebody stops the process.

    A read of standard input cannot be cancelled: who serves it would wait for the next line.
    """
    with _ending_input() as end:
        serving = asyncio.ensure_future(serve())
        stopping = asyncio.ensure_future(stopped.wait())
        try:
            await asyncio.wait({serving, stopping}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            end()
            stopping.cancel()
            await serving


@contextmanager
def _ending_without_readers() -> Iterator[None]:
    """End the command, without a word, where the block was answering somebody who has gone."""
    try:
        yield
    except ExceptionGroup as failed:
        if failed.split(BrokenPipeError)[1] is not None:
            raise
        drop_output()
        raise typer.Exit(NOBODY_READS) from None


@contextmanager
def _ending_input() -> Iterator[Callable[[], None]]:
    """Put an input that can be ended in the place of standard input, for the length of the block.

    It ends by itself when nobody reads standard output any more: whoever goes may leave the input
    open. The thread that fills it is left behind where it waits for the real one.
    """
    former, real, output = os.dup(0), os.dup(0), os.dup(1)
    inner, outer = socket.socketpair()
    os.dup2(inner.fileno(), 0)
    inner.close()

    def end() -> None:
        with suppress(OSError):  # whoever writes may have ended it before
            outer.shutdown(socket.SHUT_WR)

    def fill() -> None:
        with outer, suppress(OSError):
            while _is_read(output, real) and (chunk := os.read(real, _CHUNK_BYTES)):
                outer.sendall(chunk)
        os.close(real)
        os.close(output)

    Thread(target=fill, name="standard input", daemon=True).start()
    try:
        yield end
    finally:
        os.dup2(former, 0)
        os.close(former)
