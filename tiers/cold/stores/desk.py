"""What a turn reads and writes of several stores, each side in one go."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...records import Receipt, Scope, Standing, Turn, WorkDraft
from ...turn_desk import Charge, Opening
from ..ownership import check_limit, check_owned
from ..port import Steps, asked
from .belief_projection import commitment_of
from .beliefs import active_in
from .graphs import standing
from .log import put_receipt
from .over_engine import OverEngine, changing, reading
from .rules import matching, ranked
from .statements import core_of
from .turns import append, check_new
from .usage import charged


class ColdDesk(OverEngine):
    """A ``TurnDesk`` over any engine."""

    @reading
    def opening(
        self, scope: Scope, asker: Callable[[Standing], Scope], text: str, rules: int
    ) -> Steps[Opening | None]:
        """Return what a turn begins with, from one snapshot; ``None``: there is no such graph."""
        check_limit(rules)
        return _opening(scope, asker, text, rules)

    async def keep_receipt(
        self, scope: Scope, receipt: Receipt, work: Sequence[WorkDraft], charge: Charge
    ) -> None:
        """Store what a turn saw with the work that follows, and charge it: all or nothing.

        Raises:
            BudgetExceeded: A count would come to lie above its limit.
            Conflict: Another receipt has this id.
        """
        check_owned(scope, receipt)

        def steps() -> Steps[None]:
            yield from charged(scope, charge)
            yield from put_receipt(scope, receipt, work)

        await self._store.change("keep_receipt", steps)

    @changing
    def keep_turn(
        self, scope: Scope, turn: Turn, work: Sequence[WorkDraft], charge: Charge
    ) -> Steps[tuple[Turn, bool]]:
        """Store a turn as its agent's next with its work, and charge it if it is new.

        Raises:
            BudgetExceeded: A count would come to lie above its limit.
            Conflict: As ``ColdTurns.append_turn``.
        """
        check_new(scope, turn)
        stored, was_new = yield from append(scope, turn, work)
        if was_new:
            yield from charged(scope, charge)
        return stored, was_new


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
