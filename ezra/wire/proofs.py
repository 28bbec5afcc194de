"""What proves the history of a graph's beliefs: heads, proofs, verification and exports."""

from __future__ import annotations

from typing import Any

from pydantic import TypeAdapter

from tiers.fields import Record, Text
from tiers.records import BranchPoint, SignedHead

from ..proving import Inclusion, Verification
from .history import BELIEFS, PageAsked
from .operation import Asked, Nothing, Operation
from .points import Count


class ProveAsked(Asked):
    """An event, and the size of the tree in which it is."""

    seq: Count
    size: Count | None = None


class ProveGrowthAsked(Asked):
    """How many events there were, and how many there are in the later tree."""

    old_size: Count
    size: Count | None = None


class VerifyAsked(Asked):
    """Against what to check the log."""

    public_key: Text | None = None
    anchor: SignedHead | None = None


class ExportedAnswer(Record):
    """What a streamed export holds: ``Exported`` without the path, which is the caller's."""

    events: int
    redacted: int
    heads: int
    last_hash: str
    key_id: str | None


SIGN = Operation(
    "beliefs.sign",
    "POST",
    f"{BELIEFS}/heads",
    Nothing,
    TypeAdapter(SignedHead),
    "operate",
    "Sign the log as it is now; the last head when nothing is new.",
)
HEADS = Operation(
    "beliefs.heads",
    "GET",
    f"{BELIEFS}/heads",
    PageAsked,
    TypeAdapter(tuple[SignedHead, ...]),
    "read",
    "Signed heads of the log.",
)
PROVE = Operation(
    "beliefs.prove",
    "GET",
    f"{BELIEFS}/inclusion-proof",
    ProveAsked,
    TypeAdapter(Inclusion),
    "read",
    "The proof that an event is in the log.",
)
PROVE_GROWTH = Operation(
    "beliefs.prove_growth",
    "GET",
    f"{BELIEFS}/consistency-proof",
    ProveGrowthAsked,
    TypeAdapter(tuple[str, ...]),
    "read",
    "The proof that the log as it was is the beginning of a later one.",
)
VERIFY = Operation(
    "beliefs.verify",
    "POST",
    f"{BELIEFS}/verify",
    VerifyAsked,
    TypeAdapter(Verification),
    "read",
    "Check the whole log, and the stored beliefs against it.",
)
ORIGIN: Operation[Nothing, BranchPoint | None] = Operation(
    "beliefs.origin",
    "GET",
    f"{BELIEFS}/origin",
    Nothing,
    TypeAdapter(BranchPoint | None),
    "read",
    "Where the graph was branched from another.",
)
EXPORT = Operation(
    "beliefs.export",
    "GET",
    f"{BELIEFS}/export",
    Nothing,
    TypeAdapter(ExportedAnswer),
    "read",
    "The whole log as a file that anybody can verify; what it holds is told by a header.",
)
"""Not one of ``OPERATIONS``: its answer is a file, and ``ANSWER_HEADER`` has what it says."""

OPERATIONS: tuple[Operation[Any, Any], ...] = (
    SIGN,
    HEADS,
    PROVE,
    PROVE_GROWTH,
    VERIFY,
    ORIGIN,
)
