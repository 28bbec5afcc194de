"""Routes made of operations: caller checked, what is asked parsed, the handler's answer sent."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping
from types import MappingProxyType
from typing import Annotated, Any, TypeAlias, TypeVar

from fastapi import APIRouter, Body, Depends, Path, Query, Request, Response
from fastapi.responses import JSONResponse

from tiers.errors import UsageError

from ..wire import Nothing, Operation
from ..wire.operation import A, R
from .caller import Caller
from .given_names import OperationRoute, check_given_once
from .handle_pool import HandlePool
from .problem_answers import NotJson
from .taking import Taking

Handler: TypeAlias = Callable[..., Awaitable[R]]
"""Does what an operation says, called with what it takes."""

_F = TypeVar("_F", bound=Callable[..., Any])
_Pair: TypeAlias = tuple[Operation[Any, Any], Taking]


class Handlers:
    """Who does which operation; each exactly once."""

    def __init__(self) -> None:
        self._by_name: dict[str, _Pair] = {}

    def does(self, operation: Operation[A, R]) -> Callable[[Handler[R]], Handler[R]]:
        """Register the decorated function for an operation; it is given what it takes."""

        def register(handler: Handler[R]) -> Handler[R]:
            if operation.name in self._by_name:
                raise ValueError(f"{operation.name} is done twice")
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


async def pool_of(request: Request) -> HandlePool:
    """Return the pool of the service that is asked."""
    pool: HandlePool = request.app.state.pool
    return pool


async def _speaks_json(request: Request) -> None:
    """Refuse a body that does not say that it is JSON; taken for bytes it would fit nothing."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json" and await request.body():
        raise NotJson(kind)


async def caller_of(request: Request, _: Annotated[None, Depends(_speaks_json)]) -> Caller:
    """Return who asks, as the gate has found it."""
    caller: Caller = request.state.caller
    return caller


Pool: TypeAlias = Annotated[HandlePool, Depends(pool_of)]
Asking: TypeAlias = Annotated[Caller, Depends(caller_of)]
"""What a route is given: the type of a parameter says it."""

apart = APIRouter(route_class=OperationRoute)
"""Routes of what is no operation of a handle, filled by the modules that answer them."""


def answers_apart(
    path: str,
    name: str,
    summary: str,
    content: dict[str, Any],
    *,
    tag: str,
    codes: Collection[int] = (200,),
    kind: type[Response] = JSONResponse,
) -> Callable[[_F], _F]:
    """Make the decorated function answer what is no operation of a handle.

    Args:
        path: Where it is asked.
        name: Of the operation, in the document and in logs.
        summary: What is answered, in the document.
        content: The same by its media type.
        tag: The part of the document.
        codes: The statuses of such an answer.
        kind: The class of the answer.
    """
    return apart.api_route(
        path,
        methods=["GET"],
        operation_id=name,
        summary=summary,
        tags=[tag],
        response_class=kind,
        response_model=None,
        responses={code: {"description": summary, "content": content} for code in codes},
    )


def router_of(handlers: Handlers) -> APIRouter:
    """Return a router with a route for each operation.

    Args:
        handlers: Who does what.
    """
    router = APIRouter(route_class=OperationRoute)
    # A word of an address comes before a name in its place: ``count`` is no document's id.
    for operation, handler in sorted(handlers, key=lambda one: one[0].path.replace("{", "~")):
        router.add_api_route(
            operation.path,
            _endpoint(operation, handler),
            methods=[operation.verb],
            operation_id=operation.name,
            summary=operation.summary,
            tags=[operation.name.partition(".")[0]],
            response_model=None,
            response_description=operation.summary,
        )
    return router


def _declare(
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


def _check_address_asks_nothing(request: Request) -> None:
    """Refuse fields in the address where the body is what is asked: nobody would look at them."""
    for name, value in request.query_params.items():
        raise UsageError(name, value, "no such field in the address: what is asked is the body")


async def no_other_fields(request: Request) -> None:
    """Refuse what a route apart does not ask in its address: it would narrow nothing.

    Raises:
        UsageError: There is such a field.
    """
    known = [one.alias for one in request.scope["route"].dependant.query_params]
    for name, value in request.query_params.items():
        if name not in known:
            there = f"one of {', '.join(known)}" if known else "no such field"
            raise UsageError(name, value, there)


def _endpoint(operation: Operation[A, R], handler: Taking) -> Callable[..., Awaitable[Response]]:
    async def endpoint(**given: Any) -> Response:  # noqa: ANN401 - FastAPI goes by the signature
        names = {name: given[name] for name in operation.names}
        who: Caller = given["caller_"]
        check_given_once(given["request_"], given["asked_"])
        if given["asked_"].writes:
            who.check("act", operation.name, names.get("graph_id"), who.agent_id)
        answer = await handler(given["pool_"], who, names, given["asked_"])
        return Response(operation.answers.dump_json(answer), media_type="application/json")

    async def allowed(request: Request, who: Asking) -> Caller:
        # Before anything that was sent is looked at: who may not ask is not told what is wrong.
        names = request.path_params
        who.check(operation.needs, operation.name, names.get("graph_id"), names.get("agent_id"))
        if operation.has_body:
            _check_address_asks_nothing(request)
        return who

    where = Body() if operation.has_body else Query()
    # Where nothing is asked, no body need be sent.
    _declare(
        endpoint,
        {
            **dict.fromkeys(operation.names, Annotated[str, Path()]),
            "asked_": Annotated[operation.asks, where],
            "pool_": Pool,
            "request_": Request,
            "caller_": Annotated[Caller, Depends(allowed)],
        },
        {"asked_": Nothing()} if operation.asks is Nothing else {},
    )
    endpoint.__name__ = operation.name.replace(".", "_")
    return endpoint
