"""The ring of an agent's last turns, filled from cold where hot has lost some of them.

After a restart in one process, an import, or while the hot tier was away, the ring lacks turns that
cold has: what reads it finds them there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tiers.ports import HotStore
from tiers.previews import with_previews
from tiers.records import HotState, Scope, Turn

from ..recaller import Degradation

if TYPE_CHECKING:
    from tiers.cold.stores import TurnStore


@dataclass(frozen=True)
class Rings:
    """Reads rings.

    Attributes:
        hot: Keeps them.
        turns: Has every turn.
        capacity: Of a ring, in turns.
    """

    hot: HotStore
    turns: TurnStore
    capacity: int

    async def read(self, scope: Scope, state: Degradation, *, keeps: bool) -> HotState:
        """Return what hot has of an agent, its ring filled; empty while hot is away.

        Args:
            scope: The agent's.
            state: Notes which tiers answered.
            keeps: Whether hot gets what was filled in; who only looks changes nothing.
        """
        held = await state.answer("hot", "hot", self.hot.read(scope), HotState())
        lacks = ring_has_gap(held, self.capacity) or state.news.is_behind(scope)
        if "hot" in state.lost or not lacks:
            return held
        unknown: Sequence[Turn] | None = None
        call = self.turns.recent_turns(scope, self.capacity)
        found = await state.answer("cold", "rebuild", call, unknown)
        if found is None:
            return held
        recent = tuple(map(with_previews, found))
        known = {one.seq for one in held.turns}
        is_whole = len(recent) <= len(known) and (not recent or recent[-1].seq in known)
        if is_whole or keeps:
            state.news.caught_up(scope)
        if is_whole:
            return held
        if keeps:
            restoring = self.hot.restore(scope, recent, self.capacity)
            await state.answer("hot", "rebuild", restoring, None)
            state.ring_filled(scope)
        return held.model_copy(update={"turns": recent})


def ring_has_gap(held: HotState, capacity: int) -> bool:
    """Whether the ring holds fewer turns than cold may have for it: then it was lost in part."""
    seqs = [turn.seq for turn in held.turns]
    if not seqs:
        return True
    return len(seqs) != seqs[-1] - seqs[0] + 1 or (len(seqs) < capacity and seqs[0] > 1)
