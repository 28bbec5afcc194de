"""What stands in for a warm index that cannot be opened for want of disk."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NoReturn

from tiers.errors import DiskFull
from tiers.ports import Expired
from tiers.records import Hit, IndexEntry, Kind, Scope, SearchQuery


class AwayIndex:
    """A ``WarmStore`` that answers every call with why there is none.

    Args:
        reason: What opening it was refused with.
    """

    def __init__(self, reason: str) -> None:
        self._reason = reason

    async def upsert(self, scope: Scope, entries: Sequence[IndexEntry]) -> None:
        """Refuse."""
        self._refuse("upsert", scope, entries)

    async def search(self, scope: Scope, query: SearchQuery) -> tuple[Hit, ...]:
        """Refuse."""
        self._refuse("search", scope, query)

    async def delete(self, scope: Scope, ids: Sequence[str]) -> None:
        """Refuse."""
        self._refuse("delete", scope, ids)

    async def delete_expired(self, scope: Scope, now: datetime) -> Expired:
        """Refuse."""
        self._refuse("delete expired", scope, now)

    async def count(self, scope: Scope, kind: Kind | None = None) -> int:
        """Refuse."""
        self._refuse("count", scope, kind)

    async def flush(self) -> None:
        """Do nothing: nothing was written."""

    def _refuse(self, operation: str, *_: object) -> NoReturn:
        raise DiskFull("warm", operation, self._reason)
