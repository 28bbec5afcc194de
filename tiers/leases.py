"""The ports of what is held for a time: claims of work, and the right to tick.

The rules of ``tiers.ports`` hold.
"""

from __future__ import annotations

from datetime import datetime
from typing import Protocol

from .fields import Moment, Record
from .ports import WorkQueue
from .records import Work


class Lease(Record):
    """The right to do something alone until ``expires_at``. ``token`` rises with each holder."""

    name: str
    owner: str
    token: int
    expires_at: Moment


class RenewableWork(WorkQueue, Protocol):
    """A work queue whose claims can be held on to, and whose attempts are counted as they begin."""

    async def begin(self, work: Work) -> bool:
        """Count an attempt of a claimed item; ``False`` when a later claim holds it.

        Stored before the item is run by itself, so that the attempt counts also when it takes the
        process with it. What was only claimed, or runs in company, is not to blame and not counted.
        """

    async def renew(self, work: Work, lease_seconds: float, now: datetime) -> bool:
        """Let a claim end ``lease_seconds`` from now; ``False`` when a later claim holds it."""


class LeaseStore(Protocol):
    """Named leases: who may tick."""

    async def acquire(
        self, name: str, owner: str, lease_seconds: float, now: datetime
    ) -> Lease | None:
        """Take or prolong a lease; ``None`` while another owner's has not run out.

        ``token`` rises when the owner changes and stays when the same owner prolongs.
        """

    async def release(self, lease: Lease) -> None:
        """Give a lease back; one that has passed to another owner stays with it."""
