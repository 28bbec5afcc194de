"""The OpenAPI document: FastAPI's, with our answers, problems, tokens and examples written in.

An example is what a request looks like, by the name of its operation.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from importlib.metadata import version
from typing import Any

from fastapi import Request, Response
from fastapi.openapi.utils import get_openapi
from fastapi.responses import JSONResponse
from fastapi.routing import APIRoute
from pydantic import TypeAdapter
from starlette.routing import BaseRoute

from ..wire.problems import CONTENT_TYPE
from .repeats import KEY_CHARS_MAX
from .routes import Handlers

_TURN = {"message": "how long do the medium tyres last?", "speaker": "race engineer"}
_RECALL = {"query": "medium tyre life", "limit": 10, "kinds": ["fact", "rule"]}
_STATEMENT = {"subject": "medium tyre", "predicate": "lasts", "object": "18 laps"}
_REASON = {"reason": "the driver asked for it"}
_DOCUMENT = {"name": "tyres.md", "content": "# Tyres\n\nMediums last about 18 laps.\n"}

EXAMPLES: Mapping[str, Mapping[str, Any]] = {
    "graph.create": {
        "session_graph_id": "race-weekend-imola-2026",
        "inherits_from": ["race-weekend-monaco-2026"],
        "merge_strategy": "highest_trust",
    },
    "graph.configure": {"budget": {"tokens": 2_000_000}},
    "graph.inherit": {"parent": "race-weekend-bahrain-2026"},
    "graph.recall": _RECALL,
    "graph.search_memory": {"text": "tyres", "grain": "daily", "max_days_ago": 30},
    "graph.receipts_of": {"turn_ids": ["01985a4c-0000-7000-8000-000000000000"]},
    "graph.redact": {"record_ids": ["01985a4c-0000-7000-8000-000000000000"], **_REASON},
    "graph.erase": {"user_id": "driver-16", **_REASON},
    "graph.holding": {"subject": "Jane Miller"},
    "graph.purge": {**_REASON},
    "graph.forget": _REASON,
    "graph.correct": {"text": "Mediums last about 20 laps.", **_REASON},
    "graph.promote": _REASON,
    "graph.demote": _REASON,
    "tenant.erase": {"user_id": "driver-16", **_REASON},
    "agent.spawn": {"topics": ["tyres", "strategy"], "role": "race strategist"},
    "agent.turn": _TURN,
    "agent.complete": _TURN,
    "turn.reply": {
        "response": "About 18 laps.",
        "tool_outputs": [{"tool": "telemetry", "output": "stint 1: 17 laps, stint 2: 19 laps"}],
    },
    "agent.record": {"turns": [{**_TURN, "response": "About 18 laps.", "ref": "imola-1"}]},
    "agent.remember": {"what": "Mediums last about 18 laps.", "topics": ["tyres"]},
    "agent.forget": _REASON,
    "agent.forget_facts": {"ids": ["01985a4c-0000-7000-8000-000000000000"], **_REASON},
    "agent.recall": _RECALL,
    "agent.search_memory": {"text": "tyres", "grain": "daily", "max_days_ago": 30},
    "agent.recall_archival": {"query": "medium tyre life", "limit": 5},
    "agent.commit": {
        "claim": "Start on mediums.",
        "topic": "tyres",
        "key": ["start", "compound"],
        "value": "medium",
    },
    "agent.knowledge.add": _STATEMENT,
    "agent.knowledge.update": _STATEMENT,
    "agent.knowledge.entity": {"name": "medium tyre"},
    "agent.knowledge.path": {"start": "medium tyre", "end": "Imola"},
    "graph.knowledge.add": _STATEMENT,
    "graph.knowledge.entity": {"name": "medium tyre"},
    "agent.board.send": {"to": ["race-engineer"], "text": "Box this lap.", "priority": "high"},
    "agent.board.inbox": {"unread": True},
    "agent.board.log": {"action": "stop", "text": "2.3 seconds", "tags": ["pit"]},
    "agent.board.start_task": {"title": "Change the front wing"},
    "agent.documents.put": {**_DOCUMENT, "topics": ["tyres"]},
    "graph.documents.put": _DOCUMENT,
    "graph.documents.named": {"shelf": "files", "name": "tyres.md"},
    "catalog.documents.put": _DOCUMENT,
    "beliefs.revert": _REASON,
    "beliefs.redact": _REASON,
    "graph.taint.roll_back": {"record_id": "01985a4c-0000-7000-8000-000000000000", **_REASON},
    "graph.taint.undo": _REASON,
    "graph.taint.confirm": _REASON,
    "beliefs.rewind": {"turn": 15, "reason": "what came after was a test"},
    "lifecycle.retain": {"dry_run": True},
}


PATH = "/openapi.json"
_ABOUT = (
    "Memory for fleets of AI agents, over HTTP. Times are ISO 8601 with a zone; every error is a "
    "problem document (RFC 9457) whose `type` names it; pages go by `after` and `limit`."
)
_REF = "#/components/schemas/"
_PROBLEM: dict[str, Any] = {
    "type": "object",
    "title": "Problem",
    "description": "RFC 9457; further fields tell what the error is about.",
    "required": ["type", "title", "status", "detail"],
    "properties": {
        "type": {"type": "string", "examples": ["urn:ezra:error:NotFound"]},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
    },
    "additionalProperties": True,
}
_KEY: dict[str, Any] = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "description": "Asked again with it within ten minutes, the same is answered and not redone.",
    "schema": {
        "type": "string",
        "minLength": 1,
        "maxLength": KEY_CHARS_MAX,
        "pattern": "^[!-~]([ -~]*[!-~])?$",
    },
}


class Document:
    """The document of an app, made when it is first asked for.

    Args:
        build: Makes it.
    """

    def __init__(self, build: Callable[[], dict[str, Any]]) -> None:
        self._build = build
        self._said: dict[str, Any] | None = None
        self._made: Response | None = None
        self._making = asyncio.Lock()

    async def answer(self, _: Request) -> Response:
        """Answer with the document."""
        document = await self.document()
        if self._made is None:
            self._made = await asyncio.to_thread(JSONResponse, document)
        return self._made

    async def document(self) -> dict[str, Any]:
        """Return the document, which is not to be changed."""
        async with self._making:
            if self._said is None:
                # A second of models for the processor: other requests go on meanwhile.
                self._said = await asyncio.to_thread(self._build)
        return self._said


def described(routes: Sequence[BaseRoute], handlers: Handlers) -> dict[str, Any]:
    """Return the document of routes, and of the answers of those who do what they ask."""
    told = [_as_documented(one) for one in routes]
    made = get_openapi(title="ezra", version=version("ezra"), description=_ABOUT, routes=told)
    schemas = made.setdefault("components", {}).setdefault("schemas", {})
    for name in ("HTTPValidationError", "ValidationError"):
        schemas.pop(name, None)
    answers = _answers(handlers, schemas)
    schemas["Problem"] = _PROBLEM
    for path in made["paths"].values():
        for verb, one in path.items():
            _complete(one, verb, answers)
    made["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
    return made


def _as_documented(route: BaseRoute) -> BaseRoute:
    """Return a route without HEAD, which says what GET says and would be told twice."""
    if not isinstance(route, APIRoute):
        return route
    told = copy(route)
    told.methods = set(route.methods or ()) - {"HEAD"}
    return told


def _complete(one: dict[str, Any], verb: str, answers: dict[str, Any]) -> None:
    """Write into one operation what FastAPI does not know of it."""
    name = one["operationId"]
    responses = one["responses"]
    responses.pop("422", None)
    one.pop("description", None)  # of the function that answers; the summary says it
    problem = {CONTENT_TYPE: {"schema": {"$ref": f"{_REF}Problem"}}}
    responses["4XX"] = {"description": "It cannot be done as asked.", "content": problem}
    responses["5XX"] = {"description": "A tier or the service failed.", "content": problem}
    if name in answers:
        responses["200"]["content"] = {"application/json": {"schema": answers[name]}}
    if name != "health":
        one["security"] = [{"token": []}]
    if verb == "post":
        one.setdefault("parameters", []).append(_KEY)
    example = EXAMPLES.get(name)
    if example is not None and "requestBody" in one:
        one["requestBody"]["content"]["application/json"]["example"] = example


def _answers(handlers: Handlers, schemas: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of each operation's answer; what they share goes among the schemas."""
    adapters: list[tuple[str, Any, TypeAdapter[Any]]] = [
        (operation.name, "serialization", operation.answers) for operation, _ in handlers
    ]
    found, shared = TypeAdapter.json_schemas(adapters, ref_template=f"{_REF}{{model}}")
    definitions = shared.get("$defs", {})
    renamed = {
        name: f"{name}Answered"
        for name, schema in definitions.items()
        if name in schemas and schemas[name] != schema
    }
    for name, schema in definitions.items():
        schemas[renamed.get(name, name)] = _with_names(schema, renamed)
    return {name: _with_names(schema, renamed) for (name, _), schema in found.items()}


def _with_names(schema: Any, renamed: dict[str, str]) -> Any:  # noqa: ANN401 - JSON
    """Return a schema whose references go to the new names."""
    if isinstance(schema, list):
        return [_with_names(one, renamed) for one in schema]
    if not isinstance(schema, dict):
        return schema
    made = {name: _with_names(one, renamed) for name, one in schema.items()}
    reference = made.get("$ref")
    if isinstance(reference, str):
        name = reference.removeprefix(_REF)
        made["$ref"] = _REF + renamed.get(name, name)
    return made
