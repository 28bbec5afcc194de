"""What every store of the cold tier is: one that asks an engine."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeAlias, TypeVar

from ..port import Find, R, RecordStore, Steps, T, every

S = TypeVar("S", bound="OverEngine")
P = ParamSpec("P")
_Steps: TypeAlias = Callable[Concatenate[S, P], Steps[T]]
_Method: TypeAlias = Callable[Concatenate[S, P], Coroutine[Any, Any, T]]


class OverEngine:
    """A store over any engine.

    Args:
        store: The engine.
    """

    def __init__(self, store: RecordStore) -> None:
        self._store = store

    async def _all(self, operation: str, *found: Find[R]) -> tuple[R, ...]:
        """Return what all questions find, in their order, from one snapshot."""
        return tuple(await self._store.read(operation, lambda: every(*found)))


def reading(steps: _Steps[S, P, T]) -> _Method[S, P, T]:
    """Make a method of the transaction that answers it, which writes nothing.

    The operation is called as the method is.
    """

    @wraps(steps)
    async def method(self: S, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self._store.read(steps.__name__, lambda: steps(self, *args, **kwargs))

    return method


def changing(steps: _Steps[S, P, T]) -> _Method[S, P, T]:
    """Make a method of a transaction that is brief."""
    return _changing(steps, is_brief=True)


def changing_long(steps: _Steps[S, P, T]) -> _Method[S, P, T]:
    """Make a method of a transaction that may take its time."""
    return _changing(steps, is_brief=False)


def _changing(steps: _Steps[S, P, T], *, is_brief: bool) -> _Method[S, P, T]:
    @wraps(steps)
    async def method(self: S, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self._store.change(
            steps.__name__, lambda: steps(self, *args, **kwargs), is_brief=is_brief
        )

    return method
