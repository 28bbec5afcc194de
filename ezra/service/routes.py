"""Routes made of operations: caller checked, what is asked parsed, the handler's answer sent."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Annotated, Any, TypeAlias

from fastapi import APIRouter, Body, Depends, Path, Query, Request, Response

from ..wire import Nothing, Operation
from ..wire.operation import A, R
from .caller import Caller
from .handle_pool import HandlePool
from .taking import Taking

Handler: TypeAlias = Callable[..., Awaitable[R]]
"""Does what an operation says, called with what it takes."""

_Pair: TypeAlias = tuple[Operation[Any, Any], Taking]


class Handlers:
    """Who does which operation; each exactly once."""

    def __init__(self) -> None:
        self._by_name: dict[str, _Pair] = {}

    def does(self, operation: Operation[A, R]) -> Callable[[Handler[R]], Handler[R]]:
        """Register the decorated function for an operation; it is given what it takes."""

        def register(handler: Handler[R]) -> Handler[R]:
            if operation.name in self._by_name:
                message = f"{operation.name} is done twice"
                raise ValueError(message)
            taking = Taking(handler, operation.names, operation.asks)
            self._by_name[operation.name] = (operation, taking)
            return handler

        return register

    def __contains__(self, name: object) -> bool:
        """Whether somebody does the operation of a name."""
        return name in self._by_name

    def __iter__(self) -> Iterator[_Pair]:
        return iter(self._by_name.values())


handlers = Handlers()
"""Filled by the modules of this package that each do some of the operations."""


def router_of(
    handlers: Handlers, pool: Callable[..., Any], caller: Callable[..., Any]
) -> APIRouter:
    """Return a router with a route for each operation.

    Args:
        handlers: Who does what.
        pool: Dependency that gives the pool.
        caller: Dependency that gives the caller.
    """
    router = APIRouter()
    # A word of an address comes before a name in its place: ``count`` is no document's id.
    for operation, handler in sorted(handlers, key=lambda one: one[0].path.replace("{", "~")):
        router.add_api_route(
            operation.path,
            _endpoint(operation, handler, pool, caller),
            methods=[operation.verb],
            operation_id=operation.name,
            summary=operation.summary,
            tags=[operation.name.partition(".")[0]],
            response_model=None,
            response_description=operation.summary,
        )
    return router


def declare(
    endpoint: Callable[..., Any],
    parameters: Mapping[str, Any],
    defaults: Mapping[str, Any] = MappingProxyType({}),
) -> None:
    """Give a function the parameters that FastAPI goes by: types and dependencies by keyword."""
    endpoint.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [
            inspect.Parameter(
                name,
                inspect.Parameter.KEYWORD_ONLY,
                annotation=annotation,
                default=defaults.get(name, inspect.Parameter.empty),
            )
            for name, annotation in parameters.items()
        ]
    )


def _endpoint(
    operation: Operation[A, R],
    handler: Taking,
    pool: Callable[..., Any],
    caller: Callable[..., Any],
) -> Callable[..., Awaitable[Response]]:
    async def endpoint(**given: Any) -> Response:  # noqa: ANN401 - FastAPI goes by the signature
        names = {name: given[name] for name in operation.names}
        who: Caller = given["caller_"]
        if given["asked_"].writes:
            who.check("act", operation.name, names.get("graph_id"), who.agent_id)
        answer = await handler(given["pool_"], who, names, given["asked_"])
        return Response(operation.answers.dump_json(answer), media_type="application/json")

    async def allowed(request: Request, who: Caller) -> Caller:
        # Before anything that was sent is looked at: who may not ask is not told what is wrong.
        names = request.path_params
        who.check(operation.needs, operation.name, names.get("graph_id"), names.get("agent_id"))
        return who

    declare(allowed, {"request": Request, "who": Annotated[Caller, Depends(caller)]})
    where = Body() if operation.has_body else Query()
    # Where nothing is asked, no body need be sent.
    declare(
        endpoint,
        {
            **dict.fromkeys(operation.names, Annotated[str, Path()]),
            "asked_": Annotated[operation.asks, where],
            "pool_": Annotated[HandlePool, Depends(pool)],
            "caller_": Annotated[Caller, Depends(allowed)],
        },
        {"asked_": Nothing()} if operation.asks is Nothing else {},
    )
    endpoint.__name__ = operation.name.replace(".", "_")
    return endpoint
