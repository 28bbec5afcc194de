"""Receipts that wait for the reply to their context, a second at most.

A context's receipt is seldom read before the reply to it, and then by somebody of this process. So
it is stored with the reply, in one transaction, or with all others that wait when its second is
over. A store whose answers depend on receipts is made over ``Settled``, which stores them first.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import NamedTuple, Self, TypeVar

from ...errors import TierError
from ...records import Receipt, Scope, WorkDraft
from ...turn_desk import Charge
from ..port import RecordStore, Steps
from .log import put_receipt
from .usage import charged

T = TypeVar("T")

HELD_SECONDS = 1.0
"""The longest that a receipt waits: what a killed process may lose of contexts without a reply."""
HELD_MAX = 1_000
"""So many wait at most; who brings one more waits until they are stored."""

log = logging.getLogger(__name__)


class Held(NamedTuple):
    """A receipt, the work that follows from it, and what its context cost: no budget limits it."""

    scope: Scope
    receipt: Receipt
    work: Sequence[WorkDraft]
    charge: Charge


class HeldReceipts:
    """What waits to be stored. Open for the length of an ``async with`` block.

    Args:
        store: The engine.
    """

    def __init__(self, store: RecordStore) -> None:
        self._store = store
        self._held: dict[str, Held] = {}
        self._one_at_a_time = asyncio.Lock()
        self._timer: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        if self._timer is not None:
            self._timer.cancel()
            with suppress(asyncio.CancelledError):
                await self._timer
        with _told():
            await self.settle()

    async def hold(self, held: Held) -> None:
        """Let a receipt wait.

        Raises:
            TierError: Too many wait, and they cannot be stored.
        """
        if len(self._held) >= HELD_MAX:
            await self.settle()
        self._held[held.receipt.id] = held
        if self._timer is None or self._timer.done():
            self._timer = asyncio.create_task(self._settle_in_time(), name="ezra-receipts")

    @contextmanager
    def along(self, scope: Scope, receipt_id: str | None) -> Iterator[Held | None]:
        """Hand out a receipt of the scope's that the block stores; if it fails, that waits on.

        It may be stored twice then, by the block too: ``put_receipt`` knows it again.
        """
        held = None if receipt_id is None else self._held.get(receipt_id)
        if held is None or held.scope.for_graph() != scope.for_graph():
            yield None
            return
        yield held
        self._held.pop(held.receipt.id, None)

    async def settle(self) -> None:
        """Store every receipt that waits, in one transaction. When this returns they are there.

        Raises:
            TierError: The engine failed; they wait on.
        """
        if not self._held:
            return
        async with self._one_at_a_time:
            waiting = tuple(self._held.values())
            if waiting:
                await self._store.change("keep_receipts", lambda: _all_kept(waiting))
            for held in waiting:
                self._held.pop(held.receipt.id, None)

    async def _settle_in_time(self) -> None:
        while self._held:
            await asyncio.sleep(HELD_SECONDS)
            with _told():
                await self.settle()


class Settled:
    """An engine for stores whose answers depend on receipts: those that wait are stored first.

    Args:
        store: The engine.
        held: What waits.
    """

    def __init__(self, store: RecordStore, held: HeldReceipts) -> None:
        self._store = store
        self._held = held

    async def read(self, operation: str, steps: Callable[[], Steps[T]]) -> T:
        """Answer questions as the engine does."""
        await self._held.settle()
        return await self._store.read(operation, steps)

    async def change(
        self, operation: str, steps: Callable[[], Steps[T]], *, is_brief: bool = True
    ) -> T:
        """Carry out a transaction as the engine does."""
        await self._held.settle()
        return await self._store.change(operation, steps, is_brief=is_brief)

    async def scrub(self) -> None:
        """Leave nothing of what was replaced or deleted."""
        await self._store.scrub()


def kept(held: Held) -> Steps[bool]:
    """Store a receipt with its work and charge it, inside a transaction; ``False``: it was there.

    Raises:
        Conflict: Another receipt has this id.
    """
    is_new = yield from put_receipt(held.scope, held.receipt, held.work)
    if is_new:
        yield from charged(held.scope, held.charge)
    return is_new


def _all_kept(waiting: Sequence[Held]) -> Steps[None]:
    for held in waiting:
        yield from kept(held)


@contextmanager
def _told() -> Iterator[None]:
    """Tell the log of a failure of the engine: what waits is stored by the next attempt."""
    try:
        yield
    except TierError as error:
        log.warning("receipts wait on, and are lost with this process: %s", error)
