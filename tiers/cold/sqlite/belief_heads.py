"""Signed heads of belief logs in SQLite. A head that is kept is never changed."""

from __future__ import annotations

import sqlite3

from pydantic import ValidationError

from ...errors import CorruptRecord, UsageError
from ...records import Scope, SignedHead
from ..ownership import check_limit
from .database import Database, Session, Value
from .rows import stored
from .scope import scoped

_KNOWN = "SELECT 1 FROM belief_heads h WHERE $own(h) AND h.size = :size AND h.public_key = :key"
_SELECT = "SELECT h.head FROM belief_heads h WHERE $own(h)"
_HEADS = _SELECT + " AND h.size > :after ORDER BY h.size, h.signed_at, h.public_key LIMIT :limit"
_LAST = _SELECT + " ORDER BY h.size DESC, h.signed_at DESC, h.public_key DESC LIMIT 1"


class SqliteHeadStore:
    """A ``HeadStore`` in SQLite."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def put_head(self, scope: Scope, head: SignedHead) -> bool:
        """Keep a head; ``False`` when there is one of its size and key already.

        Raises:
            UsageError: It is of another tenant or graph.
        """
        owner = (head.tenant, head.graph_id)
        if owner != (scope.tenant, scope.graph_id):
            raise UsageError("head", owner, f"a head of {scope.tenant!r}, {scope.graph_id!r}")
        known = scoped(_KNOWN, scope, size=head.size, key=head.public_key)

        def transaction(session: Session) -> bool:
            if session.one(known) is not None:
                return False
            insert_head(session, head)
            return True

        return await self._database.write("put_head", transaction)

    async def heads(
        self, scope: Scope, after: int = 0, limit: int = 1000
    ) -> tuple[SignedHead, ...]:
        """Return the heads of more than ``after`` events, by size, then by time of signing."""
        check_limit(limit)
        query = scoped(_HEADS, scope, after=after, limit=limit)
        return await self._database.read(
            "heads", lambda session: tuple(head_of(row) for row in session.all(query))
        )

    async def last_head(self, scope: Scope) -> SignedHead | None:
        """Return the head of the most events, of these the one signed last."""
        query = scoped(_LAST, scope)

        def question(session: Session) -> SignedHead | None:
            row = session.one(query)
            return None if row is None else head_of(row)

        return await self._database.read("last_head", question)


def insert_head(session: Session, head: SignedHead) -> None:
    """Store a head as it is, in the caller's transaction."""
    row: dict[str, Value] = {
        "tenant": head.tenant,
        "graph_id": head.graph_id,
        "size": head.size,
        "public_key": head.public_key,
        "signed_at": stored(head.signed_at),
        "head": head.model_dump_json(),
    }
    session.insert("belief_heads", row)


def head_of(row: sqlite3.Row) -> SignedHead:
    """Return the head that a row holds.

    Raises:
        CorruptRecord: The row does not make a valid head.
    """
    try:
        return SignedHead.model_validate_json(row["head"])
    except ValidationError as error:
        raise CorruptRecord("cold", "read", "a stored head cannot be read back") from error
