"""The server of the MCP SDK, and what it lacks: that who asks wrongly is told so."""

from __future__ import annotations

import json
from types import TracebackType
from typing import Any, Self

from anyio import EndOfStream
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError
from mcp.shared.message import SessionMessage
from mcp_types import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    PARSE_ERROR,
    ErrorData,
    GetPromptResult,
    InputRequiredResult,
    JSONRPCError,
)
from pydantic import ValidationError

from tiers.errors import UsageError

from ..wire.operation import shown
from ..wire.tools import argument_refusal, error_line

_NO_JSON = "json_invalid"
_ACCEPTED = "accepted: a message of JSON-RPC on a line of its own, in whole characters"


class MemoryServer(MCPServer[Any]):
    """The SDK's server; where that says nothing of what is wrong with a request, this does."""

    async def run_stdio_async(self) -> None:
        """Answer each line of standard input, to its end.

        The SDK drops what it cannot read. That is no rarity: a client that cuts a text within an
        emoji sends half of a surrogate pair, which its own JSON knows, and waits for good.
        """
        async with stdio_server() as (read, write):
            server = self._lowlevel_server
            lines = _Answering(read, write)
            await server.run(lines, write, server.create_initialization_options())

    async def get_prompt(
        self,
        name: str,
        arguments: dict[str, Any] | None = None,
        context: Context[Any, Any] | None = None,
    ) -> GetPromptResult | InputRequiredResult:
        """Return a prompt.

        Raises:
            MCPError: There is none of that name, or it takes something else. The SDK would log
                what was given, and not say what is wrong with it.
        """
        taken = {one.name: one.arguments or [] for one in await self.list_prompts()}
        if name not in taken:
            raise _refused(UsageError("name", name, f"a prompt: {', '.join(taken)}"))
        known = [one.name for one in taken[name]]
        for one in arguments or {}:
            if one not in known:
                there = f"no such argument; there are {', '.join(known) or 'none'}"
                raise _refused(UsageError(one, shown((arguments or {})[one]), there))
        try:
            return await super().get_prompt(name, arguments, context)
        except ValueError as error:
            misfit = error.__cause__ and error.__cause__.__cause__
            if not isinstance(misfit, ValidationError):
                raise
            raise _refused(argument_refusal(misfit)) from None


def _refused(error: UsageError) -> MCPError:
    return MCPError(INVALID_PARAMS, error_line(error))


class _Answering:
    """The messages of a stream; what is none is answered on the way.

    Args:
        read: Of messages, and of what went wrong in place of one.
        write: Where answers go.
    """

    def __init__(self, read: Any, write: Any) -> None:  # noqa: ANN401 - the SDK does not export them
        self._read = read
        self._write = write

    async def receive(self) -> SessionMessage | Exception:
        while isinstance(found := await self._read.receive(), ValidationError):
            refusal = _refusal(found)
            if refusal is not None:
                await self._write.send(SessionMessage(refusal))
        message: SessionMessage | Exception = found
        return message

    async def aclose(self) -> None:
        await self._read.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        try:
            return await self.receive()
        except EndOfStream:
            raise StopAsyncIteration from None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        del kind, error, trace
        await self.aclose()


def _refusal(error: ValidationError) -> JSONRPCError | None:
    """Return what is said of a line, under its id if it has one; nothing of one that is blank."""
    problems = error.errors(include_url=False, include_context=False)
    first, line = problems[0], problems[0]["input"]
    if isinstance(line, str) and not line.strip():
        return None
    if first["type"] == _NO_JSON:
        code, what, message = PARSE_ERROR, first["msg"], _read(line)
    else:
        code, what = INVALID_REQUEST, "this is no message"
        # Each kind of message that it is not names a field, or the whole.
        message = next((one["input"] for one in problems if isinstance(one["input"], dict)), None)
    told = ErrorData(code=code, message=f"{what}; {_ACCEPTED}")
    return JSONRPCError(jsonrpc="2.0", id=_id(message), error=told)


def _read(line: Any) -> Any:  # noqa: ANN401 - whatever JSON says
    """Return what Python reads where the SDK does not: halves of surrogate pairs."""
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def _id(message: Any) -> str | int | None:  # noqa: ANN401 - likewise
    found = message.get("id") if isinstance(message, dict) else None
    if isinstance(found, str) and found.isascii():  # or the answer might be no text either
        return found
    return found if type(found) is int else None
