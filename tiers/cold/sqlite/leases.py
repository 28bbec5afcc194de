"""Named leases in SQLite."""

from __future__ import annotations

from datetime import datetime, timedelta

from ...moments import microseconds
from ...records import Lease
from ..ownership import check_lease
from .database import Database, Query, Session
from .rows import record_of

# A row is never removed, so that the token of a name never starts again.
_ACQUIRE = (
    "INSERT INTO leases (name, owner, token, expires_at) VALUES (:name, :owner, 1, :until)"
    " ON CONFLICT (name) DO UPDATE SET"
    " token = token + (owner IS NOT excluded.owner),"
    " owner = excluded.owner, expires_at = excluded.expires_at"
    " WHERE owner IS excluded.owner OR owner IS NULL OR expires_at <= :now RETURNING *"
)
_RELEASE = "UPDATE leases SET owner = NULL WHERE name = :name AND owner = :owner AND token = :token"


class SqliteLeaseStore:
    """A ``LeaseStore`` in SQLite."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def acquire(
        self, name: str, owner: str, lease_seconds: float, now: datetime
    ) -> Lease | None:
        """Take or prolong a lease; ``None`` while another owner's has not run out.

        ``token`` rises when the owner changes, or takes it again after giving it back, and stays
        when the same owner prolongs.
        """
        check_lease(owner, lease_seconds)
        until = now + timedelta(seconds=lease_seconds)
        query = Query(
            _ACQUIRE,
            {
                "name": name,
                "owner": owner,
                "until": microseconds(until),
                "now": microseconds(now),
            },
        )

        def transaction(session: Session) -> Lease | None:
            rows = session.all(query)
            return record_of(Lease, rows[0]) if rows else None

        return await self._database.write("acquire", transaction)

    async def release(self, lease: Lease) -> None:
        """Give a lease back; one that has passed to another owner stays with it."""
        query = Query(_RELEASE, {"name": lease.name, "owner": lease.owner, "token": lease.token})
        await self._database.write("release", lambda session: session.run(query))
