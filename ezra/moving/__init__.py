"""Moving house: everything a memory holds, from one mode to another, and the proof that it did.

* Moving reads each table in the order in which it was stored, writes it idempotently, keeps its
  place in a ledger after every page, and compares counts and digests of both sides at the end.
  Belief events move with their hashes and salts, vectors bit by bit.

A graph is carried (``ezra export``, ``carrying``) as the rows of the cold archive. Its own row
goes in last, so that a half import is not there; coverage and word index follow from the rows,
vectors are queued again. ``carried_file`` checks shape, owner, order, counts, SHA-256 and the
belief chain before the first row is put in.
"""

from .mover import move, verify
from .report import Difference, MovedPart, MoveReport, Step, TenantMoved
from .side import House

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
