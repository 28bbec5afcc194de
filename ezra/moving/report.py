"""What a move says about itself, while it runs and at its end. Names and numbers, never content."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

KEYS_STAY = (
    "signing keys: not moved; where the target has another one, belief logs verify as signed by a "
    "key of another home until EZRA_FORMER_KEYS there names the source's 'ezra audit key'"
)
"""What whoever moves a signed log has to know."""


TOKENS_STAY = (
    "tokens: not moved; without any, a server at the new home lets in whoever is on its machine: "
    "copy tokens.json, or make new ones with 'ezra token create'"
)
"""What whoever serves a memory from another folder has to know."""


def set_aside_stays(count: int) -> str:
    """Return what whoever carries records has to know of so many open roll-backs."""
    what, which = ("roll-back", "it") if count == 1 else ("roll-backs", "them")
    return f"{count} open {what}: what is set aside is not carried; confirm or undo {which} first"


@dataclass(frozen=True)
class Step:
    """A page that has been moved or compared.

    Attributes:
        tenant: Whose.
        part: A table, or a warm index.
        rows: How many rows it was.
        total: How many rows there are to move and to compare, over all steps.
    """

    tenant: str
    part: str
    rows: int
    total: int


Progress = Callable[[Step], None]

Vectors = Literal["bit for bit", "within 1e-6"]
TenantState = Literal["moved", "moved before", "equal", "differs"]


@dataclass(frozen=True)
class MovedPart:
    """One table or warm index of a tenant.

    Attributes:
        name: Which.
        rows: How many the source has.
        found: How many the target has.
        new: How many this run wrote.
        digest: Of all rows of the source, whatever their order: the sum of their SHA-256.
        vectors: How the vectors compare; ``None`` where there are none.
    """

    name: str
    rows: int
    found: int
    new: int
    digest: str
    vectors: Vectors | None = None


@dataclass(frozen=True)
class Difference:
    """What of a table or warm index is not the same on both sides.

    Attributes:
        tenant: Whose.
        part: Which.
        problem: In words.
        first: Names the first row of which it is true; empty where it is true of no single row.
    """

    tenant: str
    part: str
    problem: str
    first: str = ""


@dataclass(frozen=True)
class TenantMoved:
    """What became of one tenant, and how its sides compare at the end."""

    tenant: str
    state: TenantState
    parts: tuple[MovedPart, ...] = ()
    differences: tuple[Difference, ...] = ()


@dataclass(frozen=True)
class MoveReport:
    """What a move did.

    Attributes:
        source: Where from.
        target: Where to.
        tenants: In order.
        notes: What is worth knowing besides.
        seconds: How long it took.
    """

    source: str
    target: str
    tenants: tuple[TenantMoved, ...]
    notes: tuple[str, ...]
    seconds: float

    @property
    def differences(self) -> tuple[Difference, ...]:
        """Everything that is not the same on both sides."""
        return tuple(one for tenant in self.tenants for one in tenant.differences)
