"""The way to MCP over HTTP, for those too who have not installed what speaks it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Any, Protocol

from starlette.types import Receive, Scope, Send

from tiers.errors import ConfigError
from tiers.extras import needs

from .handle_pool import HandlePool

MCP_PATH = "/mcp"


class Door(Protocol):
    """An ASGI app, open while ``running``."""

    def running(self) -> AbstractAsyncContextManager[None]:
        """Answer requests for the length of the block; once."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""


def mcp_door(pool: HandlePool) -> Door:
    """Return what answers MCP over HTTP, or says with each answer what has to be installed."""
    try:
        with needs("serve", MCP_PATH):
            from .mcp import McpDoor  # noqa: PLC0415 - it may be missing
    except ConfigError as error:
        return _Missing(error)
    return McpDoor(pool, hosts=())  # the gate looks at hosts already


@dataclass(frozen=True)
class ToolAbout:
    """A tool as a model is told of it.

    Attributes:
        name: Its name.
        words: What it does.
        takes: The JSON schema of its arguments.
        answers: That of its answer, if it says.
        effect: ``reads``, or what it changes.
    """

    name: str
    words: str
    takes: Mapping[str, Any]
    answers: Mapping[str, Any] | None
    effect: str


def listed_tools(pool: HandlePool) -> tuple[str, list[ToolAbout]]:
    """Return the instructions that a session begins with, and every tool. It takes a while.

    Raises:
        ConfigError: What speaks MCP is not installed.
    """
    with needs("serve", MCP_PATH):
        from .mcp import listed_tools  # noqa: PLC0415 - it may be missing
        from .mcp_resources import INSTRUCTIONS  # noqa: PLC0415 - likewise

    return INSTRUCTIONS, [
        ToolAbout(
            tool.name,
            tool.description or "",
            tool.parameters,
            tool.output_schema,
            "reads" if tool.annotations and tool.annotations.read_only_hint else "changes memory",
        )
        for tool in listed_tools(pool)
    ]


class _Missing:
    """Answers each request with what is missing here."""

    def __init__(self, problem: ConfigError) -> None:
        self._problem = problem

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        yield

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        del scope, receive, send
        raise ConfigError(self._problem.key, self._problem.reason)
