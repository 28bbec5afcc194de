"""What a turn leaves in the tiers: with step 6 its receipt, with step 8 itself; what both cost."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from tiers.fleet import NOTHING
from tiers.ids import Clock, IdFactory
from tiers.lexical import estimate_tokens
from tiers.ports import HotStore
from tiers.previews import with_previews
from tiers.records import ToolOutput, Turn, Usage

from ..rights.metering import ANSWER, Meter, charge_of, charge_of_write, is_limited
from ..telemetry import Telemetry
from .assemble import Context
from .follow_up import follow_up, uses_work
from .routing import (
    Admission,
    Prepared,
    RouterLimits,
    TurnState,
    Written,
    facts_used,
    receipt_of,
    record_of,
)

if TYPE_CHECKING:
    from tiers.cold.stores import TurnDesk

T = TypeVar("T")


@dataclass(eq=False)
class TurnLedger:
    """Keeps receipts and turns, and charges them.

    Attributes:
        desk: Where a turn and its receipt become durable.
        hot: The ring that a turn is shown in next.
        meter: What the turn costs, under the budgets.
        limits: Sizes.
        ids: Names receipts.
        clock: Where the time comes from.
        telemetry: Told of each turn.
    """

    desk: TurnDesk
    hot: HotStore
    meter: Meter
    limits: RouterLimits
    ids: IdFactory
    clock: Clock
    telemetry: Telemetry

    async def keep_receipt(self, prepared: Prepared, context: Context, answers: str) -> str | None:
        """Charge a context and keep its receipt, whose id is returned; ``None`` if cold is away.

        Args:
            prepared: What the context was made of.
            context: What the model is told.
            answers: The configured language model.

        Raises:
            BudgetExceeded: The agent or the graph has no tokens left for it; or no call of the
                model, where it is for that alone.
        """
        admission = prepared.admission
        receipt = receipt_of(
            prepared,
            context,
            self.ids.new(),
            budget=self.limits.context_tokens,
            answers=answers,
            now=self.clock(),
        )
        used = facts_used(context.slots, prepared.found.meant.personal)
        ref = admission.request.ref
        work = [uses_work(receipt.id, ref, admission.agent.id, used)] if used else []
        needed = ANSWER if admission.request.is_completed else NOTHING
        charge = charge_of(admission.standing, Usage(tokens=context.tokens), needed)

        async def keep() -> str:
            async with self.meter.refusals(admission.scope):
                may_wait = admission.opening is not None
                await self.desk.keep_receipt(
                    admission.scope, receipt, work, charge, may_wait=may_wait, since=admission.since
                )
            return receipt.id

        return await _charged(admission, "receipt", keep())

    async def charge_answer(self, admission: Admission) -> None:
        """Charge a model's call before it is made.

        Raises:
            BudgetExceeded: No model call is left, or no write to keep the answer by.
        """
        call = self.meter.charge_answer(admission.scope, admission.standing)
        await _charged(admission, "usage", call)

    async def write(
        self, turn: TurnState, response: str, tool_outputs: Sequence[ToolOutput]
    ) -> Written:
        """Keep a turn in the cold tier, with what follows from it, then in the ring.

        Raises:
            BudgetExceeded: The agent or the graph has no write left.
            ErasedMeanwhile: An erasure that ran while it was open reaches it.
        """
        admission = turn.admission
        record = record_of(turn, response, tool_outputs, self.clock())
        answered = [response, *(output.output for output in tool_outputs)]
        tokens = sum(estimate_tokens(text) for text in answered if text)
        async with self.meter.refusals(admission.scope):
            stored, was_new = await self.desk.keep_turn(
                admission.scope,
                record,
                follow_up(record, admission.agent.id),
                charge_of_write(admission.standing, tokens),
                turn.receipt_id,
                since=admission.since,
            )
        overflow: tuple[Turn, ...] = ()
        if was_new:
            ring = self.limits.ring_capacity
            append = self.hot.append(admission.scope, with_previews(stored), ring)
            overflow = await admission.degradation.answer(
                "hot", "append to the ring", append, overflow
            )
            admission.degradation.ring_filled(admission.scope)
            self.telemetry.numbers.tokens("reply", tokens)
        return Written(stored, was_new, overflow)


async def _charged(admission: Admission, what: str, call: Awaitable[T]) -> T | None:
    """Await what charges. Where no budget applies, a lost count stops nothing."""
    if is_limited(admission.standing):
        return await call
    return await admission.degradation.answer("cold", what, call, None)
