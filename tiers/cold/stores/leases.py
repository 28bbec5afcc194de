"""Named leases: who may do something alone, for a time."""

from __future__ import annotations

from datetime import datetime, timedelta

from ...fields import Moment, Record
from ...records import Scope
from ..ownership import check_lease
from ..port import Collection, Find, Steps, every, one, write
from .questions import among
from .rows import amend, over
from .store_base import OverEngine, changing


class Lease(Record):
    """The right to do something alone until ``expires_at``.

    What was given back is kept, so that its token never starts again.

    Attributes:
        owner: Whose it is; ``None``: it was given back.
        token: Rises with each holder.
    """

    name: str
    owner: str | None = None
    token: int = 0
    expires_at: Moment


LEASES: Collection[Lease] = Collection(
    "leases", Lease, extent="store", key=lambda lease: lease.name
)

_NOBODY = Scope(tenant="ezra", graph_id="ezra")
"""Leases are of the installation; a question names a scope all the same."""


def free_leases() -> Steps[None]:
    """Give every lease back, whoever holds it."""
    found = yield from every(Find(LEASES, _NOBODY, reach="store"))
    held = (one for one in found if one.owner is not None)
    yield from amend(LEASES, _NOBODY, held, owner=None)


class LeaseStore(OverEngine):
    """Named leases: who may tick."""

    @changing
    def acquire(
        self, name: str, owner: str, lease_seconds: float, now: datetime
    ) -> Steps[Lease | None]:
        """Take or prolong a lease; ``None`` while another owner's has not run out.

        ``token`` rises when the owner changes, or takes it again after giving it back, and stays
        when the same owner prolongs.
        """
        check_lease(owner, lease_seconds)
        until = now + timedelta(seconds=lease_seconds)
        known = yield from one(among(LEASES, _NOBODY, [name]))
        token = 0 if known is None else known.token
        if known is None or known.owner != owner:
            if known is not None and known.owner is not None and known.expires_at > now:
                return None
            token += 1
        lease = Lease(name=name, owner=owner, token=token, expires_at=until)
        yield from write(over(known, LEASES, _NOBODY, lease))
        return lease

    @changing
    def release(self, lease: Lease) -> Steps[None]:
        """Give a lease back; one that has passed to another owner stays with it."""
        held = yield from one(among(LEASES, _NOBODY, [lease.name]))
        if held is not None and (held.owner, held.token) == (lease.owner, lease.token):
            yield from amend(LEASES, _NOBODY, [held], owner=None)
