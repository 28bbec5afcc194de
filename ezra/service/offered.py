"""Does what handles offer: finds the handle of a path, and calls the method that was asked for."""

from __future__ import annotations

from functools import reduce
from typing import Any

from ..wire.derivation import Handle, Offered
from ..wire.handles import HANDLES, TENANT
from . import agents, graphs
from .caller import Caller
from .handle_pool import HandlePool, acting
from .routes import Handler, handlers
from .taking import Names


async def found(handle: Handle, pool: HandlePool, caller: Caller, names: Names) -> Any:  # noqa: ANN401
    """Return a handle of the agent, graph, catalog or tenant that a path names.

    Raises:
        NotFound: There is none.
        PolicyDenied: It is more than the caller's token allows.
    """
    first: Any
    match handle.names:
        case () if handle is TENANT:
            first = pool.ezra
        case ():
            first = await pool.catalog(caller)
        case (graph_id,):
            first = await pool.graph(names[graph_id], caller)
        case _:
            first = await acting(pool, caller, names)
    return reduce(getattr, handle.attributes, first)


def _doing(offered: Offered) -> Handler[Any]:
    async def do(pool: HandlePool, caller: Caller, names: Names, asked: Any) -> Any:  # noqa: ANN401
        handle = await found(offered.handle, pool, caller, names)
        given = {name: names[part] for name, part in offered.in_path.items()}
        return await getattr(handle, offered.method_name)(**given, **asked.said)

    return do


_BY_HAND = (agents, graphs)
"""What they do of it is theirs: to close a graph is also to forget its handles here."""

for _handle in HANDLES:
    for _offered in _handle.offered.values():
        if _offered.operation.name not in handlers:
            handlers.does(_offered.operation)(_doing(_offered))
