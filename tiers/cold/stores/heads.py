"""Signed heads of belief logs. A head that is kept is never changed."""

from __future__ import annotations

from ...errors import UsageError
from ...evidence import EvidenceMarks
from ...history.heads import follows
from ...moments import microseconds
from ...records import Scope, SignedHead
from ..conditions import Within
from ..ownership import check_limit
from ..port import Collection, Find, Index, Steps, one
from .log import raise_marks
from .over_engine import OverEngine, changing
from .questions import among
from .rows import put

_ORDER = ("size", "signed_at", "public_key")


HEADS: Collection[SignedHead] = Collection(
    "belief_heads",
    SignedHead,
    fields={
        "size": lambda head: head.size,
        "signed_at": lambda head: microseconds(head.signed_at),
        "public_key": lambda head: head.public_key,
    },
    indexes={"size": Index(_ORDER)},
    key=lambda head: f"{head.size} {head.public_key}",
)


class HeadStore(OverEngine):
    """Signed heads of belief logs."""

    @changing
    def put_head(self, scope: Scope, head: SignedHead) -> Steps[bool]:
        """Keep a head; ``False`` when there is one of its size and key already.

        So it is when the last one is not the one that it follows.

        Raises:
            UsageError: It is of another tenant or graph.
        """
        owner = (head.tenant, head.graph_id)
        if owner != (scope.tenant, scope.graph_id):
            raise UsageError("head", owner, f"a head of {scope.tenant!r}, {scope.graph_id!r}")
        known, last = yield (
            among(HEADS, scope, [HEADS.key(head)]),
            _last(scope),
        )
        if known or not follows(head, last[0] if last else None):
            return False
        yield from insert_head(scope, head)
        return True

    async def heads(
        self, scope: Scope, after: int = 0, limit: int = 1000
    ) -> tuple[SignedHead, ...]:
        """Return the heads of more than ``after`` events, by size, then by time of signing."""
        check_limit(limit)
        where = (Within("size", since=after + 1),)
        find = Find(HEADS, scope, by="size", where=where, order=_ORDER, limit=limit)
        return await self._all("heads", find)

    async def last_head(self, scope: Scope) -> SignedHead | None:
        """Return the head of the most events, of these the one signed last."""
        return await self._store.read("last_head", lambda: one(_last(scope)))


def insert_head(scope: Scope, head: SignedHead) -> Steps[None]:
    """Store a head as it is, and how far the heads have come."""
    yield from put(HEADS, scope, head)
    yield from raise_marks(scope, EvidenceMarks(heads=head.number))


def _last(scope: Scope) -> Find[SignedHead]:
    order = tuple(f"-{name}" for name in _ORDER)
    return Find(HEADS, scope, by="size", order=order, limit=1)
