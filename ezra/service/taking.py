"""What a function behind a route or a page takes: its parameters say it by their types.

It is given the ``HandlePool``, the ``Caller``, all ``Names`` of the path, the handle of the
``Graph`` or the ``Agent`` that the path names, and what was asked, by its own type or as ``Any``; a
text is the name in the path that is called like the parameter. What it does not name is not looked
up for it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping
from typing import Any, TypeAlias, get_type_hints

from ..handles.agent import Agent
from ..handles.graph import Graph
from .caller import Caller
from .handle_pool import HandlePool, acting

Names: TypeAlias = Mapping[str, str]
"""The names in a path, each by what it is called there."""

_NAMED_BY: Mapping[Any, str] = {Graph: "graph_id", Agent: "agent_id"}


def types_of(function: Callable[..., Any]) -> dict[str, Any]:
    """Return the types of the parameters of a function, by their names."""
    found = get_type_hints(function)
    found.pop("return", None)
    return found


class Taking:
    """A function that is called with what it takes.

    Args:
        function: Which.
        names: In the path behind which it is.
        asks: The type of what is asked of it.

    Raises:
        TypeError: It takes what that path does not give.
    """

    def __init__(
        self,
        function: Callable[..., Awaitable[Any]],
        names: Collection[str],
        asks: Any,  # noqa: ANN401 - a type
    ) -> None:
        self._function = function
        self._asks = asks
        self._takes = types_of(function)
        for name, kind in self._takes.items():
            needed = name if kind is str else _NAMED_BY.get(kind)
            if needed not in names and kind not in (HandlePool, Caller, Names, asks, Any):
                raise TypeError(f"{function.__qualname__} is given no {name}")

    async def __call__(self, pool: HandlePool, caller: Caller, names: Names, asked: object) -> Any:  # noqa: ANN401 - as the function
        """Call the function.

        Raises:
            EzraError: A graph or an agent that it takes is not there, or the caller may not act as
                that agent; and what the function raises.
        """
        given: dict[Any, object] = {HandlePool: pool, Caller: caller, Names: names}
        given |= {self._asks: asked, Any: asked}
        kinds = self._takes.values()
        if Graph in kinds:
            given[Graph] = await pool.graph(names["graph_id"], caller)
        if Agent in kinds:
            given[Agent] = await acting(pool, caller, names)
        taken = {
            name: names[name] if kind is str else given[kind] for name, kind in self._takes.items()
        }
        return await self._function(**taken)
