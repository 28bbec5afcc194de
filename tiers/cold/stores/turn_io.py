"""What a turn reads and writes of several stores, each side in one go.

A context's receipt is seldom read before the reply to it, and then by somebody of this process. So
it waits for that, a second at most, and is stored with the reply, in one transaction, or with all
others that wait when its second is over. A store whose answers depend on receipts is made over
``HeldReceipts`` instead of the engine itself: there they are stored first.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import NamedTuple, Self

from ...errors import TierError
from ...records import Receipt, Scope, Standing, Turn, WorkDraft
from ...turn_io import Charge, Opening, TurnWrite
from ..ownership import check_limit, check_owned
from ..port import RecordStore, Steps, T, asked
from ..redaction import blanked
from .belief_projection import commitment_of
from .beliefs import active_in
from .erasures import Erasures
from .graphs import standing
from .log import put_receipt
from .rules import matching, ranked
from .statements import core_of, nearer_than
from .store_base import OverEngine, changing_long, reading
from .turns import append, append_all, check_new, check_one_graph, of_refs
from .usage import charged, charged_together
from .work import queue_work

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
    """An engine that stores what waits before it is asked. Open for one ``async with`` block.

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
        with _failures_logged():
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
            with _failures_logged():
                await self.settle()

    async def read(self, operation: str, steps: Callable[[], Steps[T]]) -> T:
        """Answer questions as the engine does."""
        await self.settle()
        return await self._store.read(operation, steps)

    async def change(
        self, operation: str, steps: Callable[[], Steps[T]], *, is_brief: bool = True
    ) -> T:
        """Carry out a transaction as the engine does."""
        await self.settle()
        return await self._store.change(operation, steps, is_brief=is_brief)

    async def scrub(self, *, files: bool = False) -> None:
        """Leave nothing of what was replaced or deleted."""
        await self._store.scrub(files=files)


def kept(held: Held) -> Steps[bool]:
    """Store a receipt with its work and charge it, inside a transaction; ``False``: it was there.

    Raises:
        Conflict: Another receipt has this id.
    """
    is_new = yield from put_receipt(held.scope, held.receipt, held.work)
    if is_new:
        yield from charged(held.scope, held.charge)
    return is_new


def _is_again(scope: Scope, text: str, turn: Turn) -> bool:
    """Whether a turn under the ``ref`` of a new one is the same agent's of the same message.

    What was said to somebody else, or was redacted since, is not: the reply will be refused.
    """
    asks = (scope.agent_id, scope.user_id, text)
    return asks == (turn.agent_id, turn.user_id, turn.input) and turn.redacted_at is None


def _all_kept(waiting: Sequence[Held]) -> Steps[None]:
    for held in waiting:
        yield from kept(held)


@contextmanager
def _failures_logged() -> Iterator[None]:
    """Tell the log of a failure of the engine: what waits is stored by the next attempt."""
    try:
        yield
    except TierError as error:
        log.warning("receipts wait on, and are lost with this process: %s", error)


class TurnDesk(OverEngine):
    """Reads and writes of several stores that belong to one turn.

    Args:
        store: The engine.
        held: Where receipts wait.
        erasures: Those that have begun.
    """

    def __init__(self, store: RecordStore, held: HeldReceipts, erasures: Erasures) -> None:
        super().__init__(store)
        self._held = held
        self._erasures = erasures

    @reading
    def opening(
        self,
        scope: Scope,
        asker: Callable[[Standing], Scope],
        text: str,
        rules: int,
        ref: str | None = None,
    ) -> Steps[Opening | None]:
        """Return what a turn begins with, from one snapshot; ``None``: there is no such graph.

        Args:
            scope: Of the agent as it was last known: graph and agent count.
            asker: Says, by how the agent stands now, who asks for the rest. It does no I/O; what
                it raises ends the reading, with nothing more read.
            text: The message, in whose words rules are sought.
            rules: The most rules.
            ref: The caller's name for the turn, if it has one.
        """
        check_limit(rules)
        stands = yield from standing(scope)
        if stands is None:
            return None
        seen = asker(stands)
        core, fitting = core_of(seen), matching(seen, text)
        named = () if ref is None else (of_refs(seen, (ref,)),)
        beliefs, *found = yield from asked(active_in(seen), *core, *fitting, *named)
        there = found.pop() if named else ()
        again = next((turn.id for turn in there if _is_again(seen, text, turn)), None)
        facts = tuple(fact for some in found[: len(core)] for fact in some)
        nearer = yield from nearer_than(seen, facts)
        return Opening(
            stands,
            tuple(map(commitment_of, beliefs)),
            facts,
            tuple(nearer),
            ranked(seen, [rule for some in found[len(core) :] for rule in some], text, rules),
            again,
        )

    async def keep_receipt(
        self,
        scope: Scope,
        receipt: Receipt,
        work: Sequence[WorkDraft],
        charge: Charge,
        *,
        may_wait: bool = False,
        since: str | None = None,
    ) -> None:
        """Store what a turn saw with the work that follows, and charge it: all or nothing.

        One that may wait, and that no budget limits, is stored with its turn or within a second:
        whoever asks this process for it finds it, and what a killed process loses is the receipt
        of a context without a reply.

        With ``since``, the last erasure of the graph when the turn was opened, it is stored blank
        where this process began another one: that may have looked through receipts by now.

        Raises:
            BudgetExceeded: A count would come to lie above its limit.
            Conflict: Another receipt has this id.
        """
        check_owned(scope, receipt)
        if since is not None and self._erasures.has_begun(scope, since):
            receipt = blanked(receipt)
        held = Held(scope, receipt, work, charge)
        if may_wait and not charge.is_limited:
            await self._held.hold(held)
        else:
            await self._store.change("keep_receipt", lambda: kept(held))

    async def keep_turn(
        self,
        scope: Scope,
        turn: Turn,
        work: Sequence[WorkDraft],
        charge: Charge,
        receipt_id: str | None = None,
        *,
        since: str | None = None,
    ) -> tuple[Turn, bool]:
        """Store a turn as ``TurnStore.append_turn`` does, and charge it if it is new.

        A receipt of this id that waits is stored with it.

        Args:
            scope: Of the agent.
            turn: The turn.
            work: What follows from it.
            charge: What it costs.
            receipt_id: Of its context: a receipt that waits is stored with it.
            since: The last erasure of the graph when the turn was opened; ``None``: it was not
                opened before it is told.

        Raises:
            BudgetExceeded: A count would come to lie above its limit.
            Conflict: As ``TurnStore.append_turn``.
            ErasedMeanwhile: An erasure that has begun since reaches it.
        """
        check_new(scope, turn)
        admit = None if since is None else partial(self._erasures.check, since)

        def steps() -> Steps[tuple[Turn, bool]]:
            charges = []
            more: Sequence[WorkDraft] = ()
            if held is not None and (yield from put_receipt(scope, held.receipt)):
                charges.append((scope, held.charge))
                more = held.work
            stored, was_new = yield from append(scope, turn, [*more, *work], admit)
            if was_new:
                charges.append((scope, charge))
            else:
                yield from queue_work(scope, more, turn.recorded_at)
            yield from charged_together(charges)
            return stored, was_new

        with self._held.along(scope, receipt_id) as held:
            return await self._store.change("keep_turn", steps)

    @changing_long  # who waits with a single turn must not be held up by a second batch as well
    def keep_turns(self, writes: Sequence[TurnWrite]) -> Steps[tuple[tuple[Turn, bool], ...]]:
        """Store turns of one graph in their order, as ``keep_turn`` does each; all or nothing.

        A turn that is there already, or comes twice, is returned as stored and not charged.

        Raises:
            BudgetExceeded: A count would come to lie above its limit by all of them together.
            Conflict: As ``TurnStore.append_turn``, of any of them.
            UsageError: They belong to several graphs.
        """
        if not writes:
            return ()
        check_one_graph(writes)
        for one in writes:
            check_new(one.scope, one.turn)
        kept = yield from append_all(writes)
        new = (one for one, (_, was_new) in zip(writes, kept, strict=True) if was_new)
        yield from charged_together([(one.scope, one.charge) for one in new])
        return tuple(kept)
