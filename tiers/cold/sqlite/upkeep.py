"""What the only owner of a database may do on opening it."""

from __future__ import annotations

from datetime import datetime

from ...moments import microseconds
from .database import Database, Query, Session

_FREE_CLAIMS = (
    "UPDATE work SET lease_owner = NULL, due_at = queued_at WHERE lease_owner IS NOT NULL"
)
_FREE_LEASES = "UPDATE leases SET owner = NULL WHERE owner IS NOT NULL"
_QUEUE_INDEXING = (
    "INSERT INTO work (tenant, graph_id, agent_id, kind, key, payload, queued_at, due_at)"
    " SELECT r.tenant, r.graph_id, NULLIF(r.private_to, ''), 'index', r.id,"
    " json_object('id', r.id), :now, :now FROM searchable r"
    " WHERE r.tenant = :tenant AND r.live = 1 AND (r.expires_at IS NULL OR r.expires_at > :now)"
    " ON CONFLICT (tenant, graph_id, kind, key) DO NOTHING"
)


class SqliteUpkeep:
    """Steps that are safe only while nobody else has the database open: see ``own_folder``."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def take_over(self) -> None:
        """Free what an owner that died had claimed, so that it need not wait for its leases.

        Tokens stay, so that nothing the dead owner held could ever be completed.
        """

        def transaction(session: Session) -> None:
            session.run(Query(_FREE_CLAIMS, {}))
            session.run(Query(_FREE_LEASES, {}))

        await self._database.write("take over", transaction)

    async def queue_indexing(self, tenant: str, now: datetime) -> int:
        """Queue the indexing of every record of the tenant; return how many items are new.

        For a warm index that is new, or was made by another embedding model.
        """
        query = Query(_QUEUE_INDEXING, {"tenant": tenant, "now": microseconds(now)})
        return await self._database.write("queue indexing", lambda session: session.run(query))
