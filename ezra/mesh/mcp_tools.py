"""The tools of an MCP server as a source, over stdio or streamable HTTP.

Only declared tools are called, with declared arguments whose slots were read, after the tool's own
schema has been looked at. The server can ask nothing back: sampling, roots and elicitation are not
offered. What it sends is bounded, and a connection that was silent for a whole question is ended.
"""

from __future__ import annotations

import asyncio
import json
import logging
import operator
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Any

from tiers.errors import (
    ConfigError,
    EzraError,
    TierRejected,
    TierTimeout,
    TierUnavailable,
    UsageError,
)
from tiers.extras import needs
from tiers.mesh import FieldType
from tiers.provider_clients import make_http_client
from tiers.providers import CallLimits

from .program import Program
from .rows import Found, depth_of
from .source import DEPTH_MAX, TIER, Plan, Source, check_depth, found_in, sent_as_of
from .specs import McpQuestion, McpSpec

if TYPE_CHECKING:
    from mcp.client.client import Client

log = logging.getLogger(__name__)

OPENING_SECONDS = 20.0
"""For a program to start and say what it can do."""

AGAIN_SECONDS = 30.0
"""Not sooner than that, one that was silent at its opening is waited for again."""

ANSWER_BYTES_MIN = 1024 * 1024
BYTES_PER_CHARACTER = 6
"""Of text in JSON, where every character may be an escape."""

TOOLS_MAX = 1_000
PAGES_MAX = 20

_KINDS: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
    "null": (type(None),),
}


class McpSource(Source):
    """An MCP server; see ``Source``.

    The connection lives in a task of its own, which ``close`` ends: the library's scopes must be
    left where they were entered. When it is lost, the next question connects anew.
    """

    kind = "mcp"
    _declared: McpSpec

    def __init__(self, name: str, spec: McpSpec, seconds: float) -> None:
        super().__init__(name, spec, seconds)
        self._client: Client | None = None
        self._program: Program | None = None
        self._answers = 0
        self._silent_at: float | None = None
        self._schemas: Mapping[str, Mapping[str, Any]] = {}
        self._task: asyncio.Task[None] | None = None
        self._stop = asyncio.Event()

    @property
    def _bytes_max(self) -> int:
        """What is read of one answer."""
        return max(ANSWER_BYTES_MIN, BYTES_PER_CHARACTER * self._declared.answer_chars_max)

    @property
    def is_open(self) -> bool:
        """Whether there is a connection."""
        return self._client is not None

    async def open(self) -> None:
        """Connect, and compare what is declared with what the tools take."""
        async with self._opening:
            if self._client is not None:
                return
            self._check_not_silent()
            with needs("mesh", f"mesh source {self.name}"):
                import mcp.client.client  # noqa: F401, PLC0415 - loaded with the first such source
            await self._end()
            self._stop = asyncio.Event()
            ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._task = asyncio.create_task(
                self._live(ready, self._stop), name=f"mesh {self.name}"
            )
            try:
                async with asyncio.timeout(OPENING_SECONDS):
                    await asyncio.shield(ready)
            except TimeoutError as late:
                ready.cancel()
                self._silent_at = time.monotonic()
                self._drop("it did not answer when it was opened")
                await self._end()
                reason = f"did not answer within {OPENING_SECONDS:g} s"
                raise TierTimeout(TIER, self.name, reason) from late
            except BaseException:
                ready.cancel()  # whoever waited has gone, or has heard it
                await self._end()
                raise

    async def close(self) -> None:
        """End the connection, and the program if one was started."""
        async with self._opening:
            await self._end()

    async def find(self, plan: Plan) -> Found:
        """Call one tool."""
        await self.open()
        client = self.there(self._client)
        question: McpQuestion = plan.question
        arguments = sent_as_of(question.arguments, plan)
        problem = unfit(self._schemas[question.tool], arguments)
        if problem is not None:
            raise UsageError("slots", sorted(plan.values), f"what the tool takes: {problem}")
        result = await self._called(client, question.tool, arguments)
        return await asyncio.to_thread(self._found, question, result)

    async def _called(self, client: Client, tool: str, arguments: dict[str, Any]) -> Any:  # noqa: ANN401
        from mcp.shared.exceptions import MCPError  # noqa: PLC0415 - loaded with the client
        from mcp_types import CONNECTION_CLOSED  # noqa: PLC0415 - likewise

        program, before = self._program, self._answers
        if program is not None:
            program.expect()
        try:
            async with asyncio.timeout(self.seconds):
                result = await client.call_tool(tool, arguments)
        except TimeoutError as late:
            if self._answers == before:
                # It said nothing to anybody meanwhile: what it was asked would pile up in there.
                self._drop("it did not answer", client)
            raise self.late() from late
        except MCPError as error:
            fault = None if program is None else program.fault
            if error.error.code == CONNECTION_CLOSED:
                self._drop("the connection ended", client)
            if fault is not None:
                raise TierRejected(TIER, self.name, fault) from error
            raise TierUnavailable(TIER, self.name, f"{tool}: {type(error).__name__}") from error
        except _connection_errors() as error:
            self._drop("the connection broke", client)
            reason = f"{tool}: the connection broke: {type(error).__name__}"
            raise TierUnavailable(TIER, self.name, reason) from error
        self._answers += 1
        return result

    def _drop(self, why: str, client: Client | None = None) -> None:
        """Let go of a connection; the next question makes a new one. A program is ended at once.

        Args:
            why: For whoever still waits for an answer of it.
            client: The connection, which may have been replaced since; any, if not given.
        """
        if client is not None and client is not self._client:
            return
        self._client = None
        if self._program is not None:
            self._program.end(why)
        self._stop.set()

    def _check_not_silent(self) -> None:
        """Refuse to wait once more for one that was silent a moment ago."""
        since = self._silent_at
        if since is not None and time.monotonic() - since < AGAIN_SECONDS:
            reason = f"did not answer when it was opened less than {AGAIN_SECONDS:g} s ago"
            raise TierUnavailable(TIER, self.name, reason)

    def _found(self, question: McpQuestion, result: Any) -> Found:  # noqa: ANN401 - the library's
        """Return what a tool answered: declared fields of its document, or its text."""
        if result.is_error:
            raise TierRejected(TIER, self.name, f"{question.tool}: the tool says that it failed")
        text = "\n".join(
            str(block.text) for block in result.content if getattr(block, "type", "") == "text"
        )
        most = self._declared.answer_chars_max
        if len(text) > most:
            raise TierRejected(TIER, self.name, f"its answer has more than {most} characters")
        if not question.fields:
            lines = [line for line in text.splitlines() if line.strip()]
            types: dict[str, FieldType] = {"text": "text"}
            shown = [{"text": line} for line in lines[: question.limit]]
            return Found(shown, types, total=len(lines), more=len(lines) > question.limit)
        return found_in(self._document(result.structured_content, text), question, self.name)

    def _document(self, structured: object, text: str) -> object:
        document = structured
        if document is None:
            try:
                document = json.loads(text)
            except (ValueError, RecursionError) as error:
                raise TierRejected(TIER, self.name, "its answer is no JSON") from error
        elif depth_of(document, DEPTH_MAX) < DEPTH_MAX:
            most = self._declared.answer_chars_max
            if len(json.dumps(document, default=str)) > most:
                raise TierRejected(TIER, self.name, f"its answer has more than {most} characters")
        check_depth(document, self.name)
        return document

    async def _live(self, ready: asyncio.Future[None], stop: asyncio.Event) -> None:
        """Hold the connection until it is to end; says by ``ready`` how opening went."""
        problem = TierUnavailable(TIER, self.name, "it is closed")
        try:
            async with self._connected() as client:
                try:
                    self._schemas = await self._checked(client)
                except EzraError as error:
                    if not ready.done():
                        ready.set_exception(error)
                    return
                if not ready.done():
                    self._client = client
                    ready.set_result(None)
                    await stop.wait()
        except _connection_errors() as error:
            log.info("mesh source %s: the connection ended: %s", self.name, type(error).__name__)
            fault = None if self._program is None else self._program.fault
            reason = fault or f"cannot be reached: {_kind(error)}"
            problem = TierUnavailable(TIER, self.name, reason)
        finally:
            self._client = None
            if not ready.done():
                ready.set_exception(problem)

    @asynccontextmanager
    async def _connected(self) -> AsyncIterator[Client]:
        """Connect by what is declared: a program, or an address."""
        from mcp.client.client import Client  # noqa: PLC0415 - 0.5 s, paid by those who use it
        from mcp.client.streamable_http import streamable_http_client  # noqa: PLC0415 - likewise

        spec = self._declared
        async with AsyncExitStack() as stack:
            if spec.url is None:
                env = {name: one.get_secret_value() for name, one in spec.env.items()}
                self._program = Program(spec.command, env, self._bytes_max)
                transport: Any = self._program.streams()
            else:
                limits = CallLimits(self.seconds, 1, 8, None, 0.1)
                most = self._bytes_max
                http = await asyncio.to_thread(make_http_client, limits, answer_bytes_max=most)
                http.event_hooks["request"].append(_asks)
                await stack.enter_async_context(http)
                http.headers.update({k: v.get_secret_value() for k, v in spec.headers.items()})
                transport = streamable_http_client(spec.url.get_secret_value(), http_client=http)
            yield await stack.enter_async_context(Client(transport, cache=None))

    async def _checked(self, client: Client) -> dict[str, Mapping[str, Any]]:
        """Return the schemas of the declared tools.

        Raises:
            ConfigError: A tool is not there, or does not take the declared arguments.
        """
        there: dict[str, Mapping[str, Any]] = {}
        cursor: str | None = None
        for _ in range(PAGES_MAX):
            if self._program is not None:
                self._program.expect()
            page = await client.list_tools(cursor=cursor)
            there |= {tool.name: dict(tool.input_schema) for tool in page.tools}
            cursor = page.next_cursor
            if cursor is None or len(there) > TOOLS_MAX:
                break
        key = f"mesh source {self.name}"
        for tool in self._declared.tools:
            if tool not in there:
                raise ConfigError(key, f"tools: the server has no {tool!r}")
        for name, question in self._declared.questions.items():
            given = set(question.arguments) | ({question.as_of} if question.as_of else set())
            known = there[question.tool].get("properties", {})
            beyond = sorted(given - set(known)) if isinstance(known, dict) else sorted(given)
            if beyond:
                reason = f"questions.{name}: {question.tool} takes no argument {beyond[0]!r}"
                raise ConfigError(key, reason)
        return {tool: there[tool] for tool in self._declared.tools}

    async def _end(self) -> None:
        task, self._task = self._task, None
        self._stop.set()
        if task is not None:
            await asyncio.wait({task}, timeout=OPENING_SECONDS)
            if not task.done():
                task.cancel()
                await asyncio.wait({task}, timeout=OPENING_SECONDS)
            if task.done() and not task.cancelled() and task.exception() is not None:
                log.warning("mesh source %s: %s", self.name, type(task.exception()).__name__)
        self._client = None


async def _asks(request: Any) -> None:  # noqa: ANN401 - of the client's library
    """Refuse a request that listens: what nobody asked for is not read, nor waited for again."""
    import httpx2  # noqa: PLC0415 - loaded with the client

    if request.method == "GET":
        raise httpx2.UnsupportedProtocol("nothing is listened to")


def unfit(schema: Mapping[str, Any], arguments: Mapping[str, Any]) -> str | None:
    """Return why arguments are none of a tool's schema, or ``None``.

    What is looked at: required and additional properties, and of each its type, its values and
    its bounds. Everything else is left to the server, which checks its own.
    """
    properties = schema.get("properties")
    known = properties if isinstance(properties, dict) else {}
    required = schema.get("required")
    for name in required if isinstance(required, list) else []:
        if name not in arguments:
            return f"{name} is needed"
    for name, value in arguments.items():
        declared = known.get(name)
        if not isinstance(declared, dict):
            if schema.get("additionalProperties") is False or known:
                return f"{name} is no argument"
            continue
        problem = _value_unfit(declared, value)
        if problem is not None:
            return f"{name} {problem}"
    return None


def _value_unfit(declared: Mapping[str, Any], value: object) -> str | None:
    kinds = declared.get("type")
    named = [kinds] if isinstance(kinds, str) else kinds if isinstance(kinds, list) else []
    allowed = tuple(one for kind in named for one in _KINDS.get(str(kind), ()))
    is_flag = isinstance(value, bool)
    if allowed and (not isinstance(value, allowed) or (is_flag and bool not in allowed)):
        return f"is no {' or '.join(map(str, named))}"
    if isinstance(declared.get("enum"), list) and value not in declared["enum"]:
        return "is none of its values"
    size = len(value) if isinstance(value, str) else value
    lowest, highest = (
        ("minLength", "maxLength") if isinstance(value, str) else ("minimum", "maximum")
    )
    for key, is_off in ((lowest, operator.lt), (highest, operator.gt)):
        bound = declared.get(key)
        if isinstance(bound, int | float) and isinstance(size, int | float) and is_off(size, bound):
            return f"is beyond its {key}"
    return None


def _connection_errors() -> tuple[type[Exception], ...]:
    """Return what the library raises when the other end is not there, or has gone."""
    import anyio  # noqa: PLC0415 - loaded with the client
    import httpx2  # noqa: PLC0415 - likewise
    from mcp.shared.exceptions import MCPError  # noqa: PLC0415 - likewise

    lost = (anyio.ClosedResourceError, anyio.BrokenResourceError, anyio.EndOfStream)
    return (*lost, MCPError, httpx2.HTTPError, OSError, RuntimeError, ValueError, ExceptionGroup)


def _kind(error: BaseException) -> str:
    """Return what a failure is called, of a group the first one's name."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return type(error).__name__
