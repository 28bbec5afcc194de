"""What a memory lives in, as far as it can be moved."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tiers.upkeep import WarmGenerations

if TYPE_CHECKING:
    from tiers.cold.stores import ColdArchive, LeaseStore


@dataclass(frozen=True)
class House:
    """The tiers of one end of a move. The hot tier is a cache, rebuilt from cold: it stays behind.

    Attributes:
        cold: Everything that is true.
        generations: The warm indexes, whose vectors move as they are.
        leases: Keep two moves from going into the same house at once.
        cold_at: Where the cold tier is. Shown and written down, so without any secret; two houses
            that say the same share the tier, which then stays where it is.
        warm_at: Where the warm tier is, likewise.
    """

    cold: ColdArchive
    generations: WarmGenerations
    leases: LeaseStore
    cold_at: str
    warm_at: str

    @property
    def place(self) -> str:
        """Where the whole house is, for people and for the ledger."""
        if self.cold_at == self.warm_at:
            return self.cold_at
        return f"cold {self.cold_at}, warm {self.warm_at}"
