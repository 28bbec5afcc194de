"""What a turn reads and writes of several stores, each side in one go."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...records import Receipt, Scope, Standing, Turn, WorkDraft
from ...turn_desk import Charge, Opening, TurnWrite
from ..ownership import check_limit, check_owned
from ..port import RecordStore, Steps, asked
from .belief_projection import commitment_of
from .beliefs import active_in
from .graphs import standing
from .held_receipts import Held, HeldReceipts, kept
from .log import put_receipt
from .over_engine import OverEngine, changing_long, reading
from .rules import matching, ranked
from .statements import core_of
from .turns import append, append_all, check_new, check_one_graph
from .usage import charged_together


class TurnDesk(OverEngine):
    """Reads and writes of several stores that belong to one turn.

    Args:
        store: The engine.
        held: Where receipts wait.
    """

    def __init__(self, store: RecordStore, held: HeldReceipts) -> None:
        super().__init__(store)
        self._held = held

    @reading
    def opening(
        self, scope: Scope, asker: Callable[[Standing], Scope], text: str, rules: int
    ) -> Steps[Opening | None]:
        """Return what a turn begins with, from one snapshot; ``None``: there is no such graph.

        Args:
            scope: Of the agent as it was last known: graph and agent count.
            asker: Says, by how the agent stands now, who asks for the rest. It does no I/O; what
                it raises ends the reading, with nothing more read.
            text: The message, in whose words rules are sought.
            rules: The most rules.
        """
        check_limit(rules)
        return _opening(scope, asker, text, rules)

    async def keep_receipt(
        self,
        scope: Scope,
        receipt: Receipt,
        work: Sequence[WorkDraft],
        charge: Charge,
        *,
        may_wait: bool = False,
    ) -> None:
        """Store what a turn saw with the work that follows, and charge it: all or nothing.

        One that may wait, and that no budget limits, is stored with its turn or within a second:
        whoever asks this process for it finds it, and what a killed process loses is the receipt
        of a context without a reply.

        Raises:
            BudgetExceeded: A count would come to lie above its limit.
            Conflict: Another receipt has this id.
        """
        check_owned(scope, receipt)
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
    ) -> tuple[Turn, bool]:
        """Store a turn as ``TurnStore.append_turn`` does, and charge it if it is new.

        A receipt of this id that waits is stored with it.

        Args:
            scope: Of the agent.
            turn: The turn.
            work: What follows from it.
            charge: What it costs.
            receipt_id: Of its context: a receipt that waits is stored with it.

        Raises:
            BudgetExceeded: A count would come to lie above its limit.
            Conflict: As ``TurnStore.append_turn``.
        """
        check_new(scope, turn)

        def steps() -> Steps[tuple[Turn, bool]]:
            charges = []
            if held is not None and (yield from put_receipt(scope, held.receipt, held.work)):
                charges.append((scope, held.charge))
            stored, was_new = yield from append(scope, turn, work)
            if was_new:
                charges.append((scope, charge))
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


def _opening(
    scope: Scope, asker: Callable[[Standing], Scope], text: str, limit: int
) -> Steps[Opening | None]:
    stands = yield from standing(scope)
    if stands is None:
        return None
    seen = asker(stands)
    core, rules = core_of(seen), matching(seen, text)
    beliefs, *found = yield from asked(active_in(seen), *core, *rules)
    return Opening(
        stands,
        tuple(map(commitment_of, beliefs)),
        tuple(fact for some in found[: len(core)] for fact in some),
        ranked([rule for some in found[len(core) :] for rule in some], text, limit),
    )
