"""Signed heads of belief logs in MongoDB. A head that is kept is never changed."""

from __future__ import annotations

from collections.abc import Mapping

from ...errors import UsageError
from ...records import Scope, SignedHead
from ..ownership import check_limit
from .database import Database, Session
from .documents import document_of, record_of
from .schema import Specification, by, validator
from .scope import own
from .translation import DuplicateKey

COLLECTIONS: Mapping[str, Specification] = {
    "signed_heads": (
        [by("size", "public_key", unique=True), by("size", "signed_at", "public_key")],
        validator(
            ("size", "last_hash", "root", "signed_at", "public_key", "signature"),
            size={"bsonType": ["int", "long"], "minimum": 1},
        ),
    ),
}

_IN_ORDER = (("size", 1), ("signed_at", 1), ("public_key", 1))
_NEWEST = tuple((name, -direction) for name, direction in _IN_ORDER)


class MongoHeadStore:
    """A ``HeadStore`` in MongoDB."""

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

        async def change(session: Session) -> bool:
            heads = session.collection("signed_heads")
            if await heads.count(own(scope, size=head.size, public_key=head.public_key)):
                return False
            await heads.insert([document_of(head)])
            return True

        try:
            return await self._database.write("put_head", change)
        except DuplicateKey:
            return False  # somebody else has kept one at this moment

    async def heads(
        self, scope: Scope, after: int = 0, limit: int = 1000
    ) -> tuple[SignedHead, ...]:
        """Return the heads of more than ``after`` events, by size, then by time of signing."""
        check_limit(limit)

        async def question(session: Session) -> tuple[SignedHead, ...]:
            found = await session.collection("signed_heads").find(
                own(scope, size={"$gt": after}), sort=_IN_ORDER, limit=limit
            )
            return tuple(record_of(SignedHead, one) for one in found)

        return await self._database.read("heads", question)

    async def last_head(self, scope: Scope) -> SignedHead | None:
        """Return the head of the most events, of these the one signed last."""

        async def question(session: Session) -> SignedHead | None:
            found = await session.collection("signed_heads").first(own(scope), sort=_NEWEST)
            return None if found is None else record_of(SignedHead, found)

        return await self._database.read("last_head", question)
