"""One tenant of a world, on its way down, and the form of a step that takes it there."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime
from random import Random
from typing import Any, TypeAlias

from tiers.records import Scope

from .worlds import LATER, Corner, House, Planted, World


@dataclass
class Ruin:
    """One tenant of a world, on its way down.

    Attributes:
        world: Where it and the others are.
        tenant: Whose records are destroyed.
        random: Chooses what is.
        now: Rises with each step.
        done: How often each step went through, by name.
    """

    world: World
    tenant: str
    random: Random
    now: datetime = LATER
    done: dict[str, int] = field(default_factory=dict)

    @property
    def house(self) -> House:
        """One of the tenant's graphs."""
        return self.random.choice([one for one in self.world.houses if one[0] == self.tenant])

    @property
    def corner(self) -> Corner:
        """One of the tenant's owners."""
        return self.random.choice([one for one in self.world.corners if one.tenant == self.tenant])

    def record(self, *kinds: str) -> Planted:
        """Return one of the tenant's records."""
        found = [one for one in self.world.planted if one.corner.tenant == self.tenant]
        return self.random.choice([one for one in found if one.kind in kinds])

    def scope(self, house: House | None = None) -> Scope:
        """Return the scope of the runtime itself in one of the tenant's graphs."""
        return Scope.of_graph(*(house or self.house))


Step: TypeAlias = Callable[[Any, Ruin], Awaitable[object]]
