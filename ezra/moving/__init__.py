"""Moving house: everything a memory holds, from one mode to another, and the proof that it did."""

from .house import House
from .mover import move, verify
from .report import Difference, MovedPart, MoveReport, Step, TenantMoved

__all__ = [
    "Difference",
    "House",
    "MoveReport",
    "MovedPart",
    "Step",
    "TenantMoved",
    "move",
    "verify",
]
