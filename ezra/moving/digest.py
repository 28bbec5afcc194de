"""Rows as digests, so that two stores compare without holding either in memory. Pure.

A table's digest is the sum of its rows' SHA-256 modulo 2**256: the order of the rows does not
count, and each row does, however often it is there. It is kept in buckets by the row's name, so
that what differs is looked for in a few rows instead of all of them.

Vectors count by the bits of their 32-bit floats: that is what the engines store, and they leave
vectors of unit length as they are. An engine that normalises again may move the last bits, so
where only vectors differ they are held to be the same up to ``VECTOR_TOLERANCE`` of their length.
"""

from __future__ import annotations

import hashlib
import json
import struct
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from tiers.documents import FormerDocument
from tiers.evidence import ChainedAudit
from tiers.records import (
    BeliefEvent,
    IndexEntry,
    Record,
    SessionGraph,
    SignedHead,
    TrustRow,
)
from tiers.upkeep import FactUse, QueuedWork, RuleOutcome, UsageRow, Watermark, core_of

BUCKETS = 256
VECTOR_TOLERANCE = 1e-6
_MODULUS = 1 << 256

NAMES: Mapping[type[Record], tuple[str, ...]] = {
    FactUse: ("fact_id", "cause"),
    RuleOutcome: ("rule_id", "cause"),
    Watermark: ("agent_id", "name"),
    FormerDocument: ("id", "revision"),
    UsageRow: ("agent_id",),
    BeliefEvent: ("seq",),
    TrustRow: ("agent_id", "topic"),
    SignedHead: ("size", "public_key"),
    ChainedAudit: ("seq",),
    QueuedWork: ("kind", "key"),
}
"""What names a row inside its graph, where that is not its id alone."""


class RowPrint(NamedTuple):
    """A row as far as comparing needs it.

    Attributes:
        name: What it is called inside its tenant and table.
        digest: SHA-256 of its canonical JSON, the vector left out.
        vector: The vector of a warm entry.
    """

    name: str
    digest: bytes
    vector: tuple[float, ...] | None


def prints_of(rows: Sequence[Record]) -> list[RowPrint]:
    """Return the rows as they are compared."""
    return [RowPrint(name_of(row), _digest(row), getattr(row, "vector", None)) for row in rows]


def name_of(row: Record) -> str:
    """Return what a row is called: ids, as a path. No two rows of a table are called the same."""
    row = core_of(row)
    own = NAMES.get(type(row), ("id",))
    fields = own if isinstance(row, SessionGraph) else ("graph_id", *own)
    return "/".join(_step(getattr(row, name)) for name in fields)


def _step(part: str | int | None) -> str:
    """Return an id as one step of a path, whatever it is made of; nothing for none."""
    return "" if part is None else str(part).replace("\\", "\\\\").replace("/", "\\/")


def bucket_of(row: RowPrint) -> int:
    """Return in which of ``BUCKETS`` a row is counted."""
    return zlib.crc32(row.name.encode("utf-8", "surrogatepass")) % BUCKETS


@dataclass
class Tally:
    """Rows by number and digest, in buckets."""

    rows: list[int] = field(default_factory=lambda: [0] * BUCKETS)
    sums: list[int] = field(default_factory=lambda: [0] * BUCKETS)

    def add(self, rows: Sequence[RowPrint]) -> None:
        """Count rows in."""
        for row in rows:
            bucket = bucket_of(row)
            whole = hashlib.sha256(row.digest + _bits(row.vector)).digest()
            self.rows[bucket] += 1
            self.sums[bucket] = (self.sums[bucket] + int.from_bytes(whole, "big")) % _MODULUS

    @property
    def count(self) -> int:
        """How many rows there are."""
        return sum(self.rows)

    @property
    def digest(self) -> str:
        """The digest of all rows, in hex."""
        return f"{sum(self.sums) % _MODULUS:064x}"

    def differing(self, other: Tally) -> list[int]:
        """Return the buckets in which the two differ."""
        mine, theirs = (
            zip(self.rows, self.sums, strict=True),
            zip(other.rows, other.sums, strict=True),
        )
        pairs = enumerate(zip(mine, theirs, strict=True))
        return [bucket for bucket, (one, another) in pairs if one != another]


def same_row(one: RowPrint | None, other: RowPrint | None) -> bool:
    """Whether two rows of one name are the same, vectors up to ``VECTOR_TOLERANCE``."""
    if one is None or other is None or one.digest != other.digest:
        return False
    if one.vector is None or other.vector is None:
        return one.vector is other.vector
    pairs = zip(one.vector, other.vector, strict=False)
    return len(one.vector) == len(other.vector) and all(
        abs(mine - theirs) <= VECTOR_TOLERANCE for mine, theirs in pairs
    )


def _digest(row: Record) -> bytes:
    left_out = {"vector"} if isinstance(row, IndexEntry) else None
    value = row.model_dump(mode="json", exclude=left_out)
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def _bits(vector: tuple[float, ...] | None) -> bytes:
    return b"" if vector is None else struct.pack(f"<{len(vector)}f", *vector)
