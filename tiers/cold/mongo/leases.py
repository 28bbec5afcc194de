"""Named leases in MongoDB: one document per name, changed only while it is as it was seen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from pymongo import ASCENDING

from ...errors import TierTimeout
from ...moments import microseconds
from ...records import Lease
from ..ownership import check_lease
from .database import Database, Session
from .documents import Document, document_of, record_of
from .schema import Index
from .translation import DuplicateKey

ATTEMPTS_MAX = 20

# A document is never removed, so that the token of a name never starts again.
COLLECTIONS: Mapping[str, tuple[Sequence[Index], Mapping[str, Document] | None]] = {
    "leases": ([Index((("name", ASCENDING),), unique=True)], None),
}


class MongoLeaseStore:
    """A ``LeaseStore`` in MongoDB."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def acquire(
        self, name: str, owner: str, lease_seconds: float, now: datetime
    ) -> Lease | None:
        """Take or prolong a lease; ``None`` while another owner's has not run out.

        ``token`` rises when the owner changes, or takes it again after giving it back, and stays
        when the same owner prolongs.

        Raises:
            TierTimeout: Others changed it again and again.
        """
        check_lease(owner, lease_seconds)
        until = now + timedelta(seconds=lease_seconds)

        async def change(session: Session) -> Lease | None:
            leases = session.collection("leases")
            for _ in range(ATTEMPTS_MAX):
                seen = await leases.first({"name": name})
                if seen is None:
                    lease = Lease(name=name, owner=owner, token=1, expires_at=until)
                    try:
                        await leases.insert([document_of(lease)])
                    except DuplicateKey:
                        continue
                    return lease
                if seen["owner"] not in {None, owner} and seen["expires_at"] > microseconds(now):
                    return None
                taken = {
                    "owner": owner,
                    "token": seen["token"] + (seen["owner"] != owner),
                    "expires_at": microseconds(until),
                }
                as_seen = {key: seen[key] for key in ("name", *taken)}
                if await leases.update(as_seen, {"$set": taken}):
                    return record_of(Lease, seen | taken)
            raise TierTimeout("cold", "acquire", "others changed the lease again and again")

        return await self._database.write("acquire", change, alone=("lease", name))

    async def release(self, lease: Lease) -> None:
        """Give a lease back; one that has passed to another owner stays with it."""
        mine = {"name": lease.name, "owner": lease.owner, "token": lease.token}

        async def change(session: Session) -> None:
            await session.collection("leases").update(mine, {"$set": {"owner": None}})

        await self._database.write("release", change)
