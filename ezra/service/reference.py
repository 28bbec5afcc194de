"""The pages that say what may be asked here: ``/docs`` of the REST surface, ``/docs/tools`` of MCP.

Both are made of what the service says of itself (the OpenAPI document, the list of tools) and look
like the console. Nothing on them is of another site: styles and scripts are the console's static
files, and the policy of the pages forbids the rest. Anybody may read them who reaches the server,
like the document; to try something out, a token is put into the page, which keeps it nowhere.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from tiers.errors import ConfigError
from tiers.ids import Clock

from .console.door import SECURITY
from .console.pages import View
from .console.rendering import Drawn
from .handle_pool import HandlePool
from .mcp_door import listed_tools
from .openapi import Document

PATH, TOOLS_PATH = "/docs", "/docs/tools"
_REF = "#/components/schemas/"
_JSON = "application/json"
_CHARS_MAX = 120


@dataclass(frozen=True)
class Field:
    """Something that is given or answered by name.

    Attributes:
        name: Its name.
        kind: What it is, in a few words: ``array of string``.
        about: Further words, and the limits.
        is_required: Whether it has to be there.
        schema: The name of the schema that describes it, if it has one of its own.
        place: Of a parameter: ``path``, ``query`` or ``header``.
    """

    name: str
    kind: str
    about: str
    is_required: bool
    schema: str | None = None
    place: str = ""


@dataclass(frozen=True)
class Asked:
    """One operation as the page shows it.

    Attributes:
        id: Its name: ``agent.recall``.
        verb: ``GET``, ``POST`` and so on.
        path: With names in braces.
        summary: What it does.
        parameters: What the address and the headers hold.
        body: The fields of the body; ``None`` where there is none.
        example: The body to begin with, as JSON.
        answer: What is answered, in a few words, and the name of its schema.
    """

    id: str
    verb: str
    path: str
    summary: str
    parameters: tuple[Field, ...]
    body: tuple[Field, ...] | None
    example: str
    answer: tuple[str, str | None]


class Reference:
    """Serves both pages, each made once.

    Args:
        document: The OpenAPI document.
        pool: Whose tools are told.
        clock: Where the time comes from.
    """

    def __init__(self, document: Document, pool: HandlePool, clock: Clock) -> None:
        self._document = document
        self._pool = pool
        self._clock = clock
        self._drawn = Drawn()
        self._made: dict[str, Response] = {}
        self._making = asyncio.Lock()

    def routes(self) -> tuple[Route, ...]:
        """Return the routes of the pages."""
        return tuple(Route(path, partial(self._answer, path)) for path in (PATH, TOOLS_PATH))

    async def draw(self) -> None:
        """Make both pages, so that nobody who asks for them waits for it."""
        for path in (PATH, TOOLS_PATH):
            await self._page(path)

    async def _answer(self, path: str, _: Request) -> Response:
        return await self._page(path)

    async def _page(self, path: str) -> Response:
        async with self._making:
            if path not in self._made:
                view = await (self._operations() if path == PATH else self._tools())
                content = await self._drawn.page(view, self._frame(path))
                self._made[path] = Response(content, 200, SECURITY, "text/html; charset=utf-8")
        return self._made[path]

    async def _operations(self) -> View:
        document = await self._document.document()
        groups, schemas = await asyncio.to_thread(_read, document)
        return View("reference.html", {"groups": groups, "schemas": schemas}, "REST reference")

    async def _tools(self) -> View:
        try:
            words, tools = await asyncio.to_thread(listed_tools, self._pool)
        except ConfigError as error:
            return View("reference_tools.html", {"missing": error.reason}, "Agents' tools")
        shown = [(tool, fields_of(tool.takes, {})) for tool in tools]
        values = {"missing": None, "words": words, "tools": shown}
        return View("reference_tools.html", values, "Agents' tools")

    def _frame(self, path: str) -> dict[str, object]:
        """Return what the console's frame shows of nobody in particular."""
        nothing = dict.fromkeys(("nav", "graph_tabs", "agent_tabs"), ())
        here = {"here": path, "rest_path": PATH, "tools_path": TOOLS_PATH}
        tenant = self._pool.ezra.settings.tenant
        nobody: dict[str, object] = {"caller": None, "names": {}, "csrf": "", "is_signed_in": False}
        return {**nothing, **here, **nobody, "now": self._clock(), "tenant": tenant}


def _read(
    document: Mapping[str, Any],
) -> tuple[dict[str, list[Asked]], list[tuple[str, str, tuple[Field, ...]]]]:
    """Return operations by group, and schemas with their words and fields, both by name."""
    schemas = document["components"]["schemas"]
    groups: dict[str, list[Asked]] = {}
    for path, verbs in document["paths"].items():
        for verb, one in verbs.items():
            group = one["operationId"].partition(".")[0]
            groups.setdefault(group, []).append(asked_of(verb, path, one, schemas))
    ordered = {name: sorted(groups[name], key=lambda one: one.id) for name in sorted(groups)}
    told = [
        (name, str(schema.get("description", "")), fields_of(schema, schemas))
        for name, schema in sorted(schemas.items())
    ]
    return ordered, told


def asked_of(verb: str, path: str, one: Mapping[str, Any], schemas: Mapping[str, Any]) -> Asked:
    """Return an operation of an OpenAPI document as the page shows it."""
    parameters = tuple(
        Field(
            given["name"],
            kind_of(given["schema"]),
            _about({**given["schema"], "description": given.get("description", "")}),
            given.get("required", False),
            place=given["in"],
        )
        for given in one.get("parameters", ())
    )
    content = one.get("requestBody", {}).get("content", {})
    media = content.get(_JSON)
    body = None if media is None else fields_of(_resolved(media["schema"], schemas), schemas)
    answer = one["responses"]["200"].get("content", {}) if "200" in one["responses"] else {}
    told = answer.get(_JSON, {}).get("schema")
    answered = (
        (kind_of(told), _named(told)) if told is not None else (", ".join(answer) or "-", None)
    )
    summary = one.get("summary") or one["operationId"]
    example = "" if media is None else json.dumps(media.get("example", {}), indent=2)
    return Asked(
        one["operationId"], verb.upper(), path, summary, parameters, body, example, answered
    )


def fields_of(schema: Mapping[str, Any], schemas: Mapping[str, Any]) -> tuple[Field, ...]:
    """Return the fields of an object's schema; those of a choice, one after the other.

    Args:
        schema: What to read.
        schemas: Where its references lead.
    """
    found: dict[str, Field] = {}
    for part in _subschemas(schema, schemas):
        required = part.get("required", ())
        for name, one in part.get("properties", {}).items():
            about = Field(name, kind_of(one), _about(one), name in required, _named(one))
            found.setdefault(name, about)
    return tuple(found.values())


def kind_of(schema: Mapping[str, Any]) -> str:
    """Return in a few words what a value is."""
    if "$ref" in schema:
        return str(schema["$ref"]).removeprefix(_REF).rpartition("/")[2]
    if "const" in schema or "enum" in schema:
        return " or ".join(json.dumps(one) for one in schema.get("enum", [schema.get("const")]))
    if choices := schema.get("anyOf", schema.get("oneOf")):
        return " or ".join(dict.fromkeys(kind_of(one) for one in choices))
    kind = schema.get("type", "anything")
    if kind == "array":
        inner = schema.get("items") or {}
        return f"array of {kind_of(inner)}" if inner else "array"
    more = schema.get("additionalProperties")
    if kind == "object" and isinstance(more, dict) and more:
        return f"object of {kind_of(more)}"
    form = schema.get("format")
    return f"{kind} ({form})" if form else str(kind)


def _about(schema: Mapping[str, Any]) -> str:
    """Return the words and limits of a value."""
    limits = {
        "minimum": "at least", "exclusiveMinimum": "above", "maximum": "at most",
        "minLength": "characters at least", "maxLength": "characters at most",
        "minItems": "entries at least", "maxItems": "entries at most",
    }  # fmt: skip
    parts = [str(schema["description"]).rstrip(".")] if schema.get("description") else []
    parts += [f"{words} {schema[key]:,}" for key, words in limits.items() if key in schema]
    if schema.get("default") is not None:
        shown = json.dumps(schema["default"])
        parts.append(f"{shown[:_CHARS_MAX]} if not given")
    return "; ".join(parts)


def _named(schema: Mapping[str, Any]) -> str | None:
    """Return the first schema of its own that a value refers to."""
    if "$ref" in schema:
        return str(schema["$ref"]).removeprefix(_REF)
    inner = [*schema.get("anyOf", ()), *schema.get("oneOf", ())]
    if items := schema.get("items"):
        inner.append(items)
    return next((name for one in inner if (name := _named(one)) is not None), None)


def _resolved(schema: Mapping[str, Any], schemas: Mapping[str, Any]) -> Mapping[str, Any]:
    name = str(schema.get("$ref", "")).removeprefix(_REF)
    found: Mapping[str, Any] = schemas.get(name, schema)
    return found


def _subschemas(
    schema: Mapping[str, Any], schemas: Mapping[str, Any]
) -> Iterator[Mapping[str, Any]]:
    yield schema
    for choice in ("anyOf", "oneOf", "allOf"):
        for one in schema.get(choice, ()):
            yield _resolved(one, schemas)
