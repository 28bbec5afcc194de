"""Names in a request: each is given once, for nobody knows which of two values was meant."""

from __future__ import annotations

import json
from collections.abc import Callable, Coroutine, Mapping
from typing import Any

from fastapi import Request, Response
from fastapi.routing import APIRoute

from tiers.errors import UsageError

from ..arguments import as_kept
from ..wire.operation import Asked

_ONCE = "one value; its name was given twice"


class GivenTwice(json.JSONDecodeError):
    """A body that gives two values under one name.

    Attributes:
        refusal: Names it, and the second value.
    """

    def __init__(self, name: str, value: object) -> None:
        super().__init__("a name was given twice", "", 0)
        self.refusal = UsageError(name, value, _ONCE)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) == len(pairs):
        return found
    names = set()
    for name, value in pairs:
        if name in names:
            raise GivenTwice(name, value if isinstance(value, str | int | float) else "another")
        names.add(name)
    return found


class _Request(Request):
    """A request whose body says each name once."""

    async def json(self) -> Any:  # noqa: ANN401 - what JSON may be
        """Return what the body says.

        Raises:
            GivenTwice: A name has two values.
        """
        return json.loads(await self.body(), object_pairs_hook=_object)


class OperationRoute(APIRoute):
    """A route that reads bodies so."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return what answers a request."""
        handle = super().get_route_handler()

        async def handled(request: Request) -> Response:
            # Who may ask is told by what is asked for: names are as they are kept before that.
            request.scope["path_params"] = names_in(request.path_params)
            return await handle(_Request(request.scope, request.receive))

        return handled


def names_in(path: Mapping[str, str]) -> dict[str, str]:
    """Return the names in an address, each spelled as it is kept."""
    return as_kept(path, path)


def check_given_once(request: Request, asked: Asked) -> None:
    """Refuse a field that an address gives twice, unless it holds several values.

    Args:
        request: Whose address it is.
        asked: What was read from it.

    Raises:
        UsageError: There is such a field.
    """
    names = set()
    for name, value in request.query_params.multi_items():
        if name in names and not isinstance(getattr(asked, name, None), tuple | list | frozenset):
            raise UsageError(name, value, _ONCE)
        names.add(name)
