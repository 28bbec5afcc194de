"""What every store of the cold tier is: one that asks an engine."""

from __future__ import annotations

from typing import TypeVar

from ...records import Record
from ..port import Find, RecordStore, every

R = TypeVar("R", bound=Record)


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
