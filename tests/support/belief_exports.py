"""Exports of belief logs for tests of what proves them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

from tiers.beliefs import BeliefEvent, LoggedBelief, SignedHead
from tiers.history.chain import canonical, event_hash, stored_digest
from tiers.history.export import (
    ExportSeal,
    ExportWriter,
    entry_line,
    head_line,
    rotation_line,
    seal_line,
    sealed_bytes,
)
from tiers.history.heads import signed_head
from tiers.history.rotation import Rotation, handed_over
from tiers.history.signing import SigningKey
from tiers.history.verification import Verification

from .memory_log import MemoryLog, long_log

FIRST_KEY = SigningKey.from_text("01" * 32)
SECOND_KEY = SigningKey.from_text("02" * 32)
FOREIGN_KEY = SigningKey.from_text("66" * 32)


@dataclass(frozen=True)
class Sample:
    """An export and what it was made of.

    Attributes:
        lines: Each without its newline.
        heads: In the file, by size; the last one is of all events.
    """

    log: MemoryLog
    lines: tuple[bytes, ...]
    heads: tuple[SignedHead, ...]
    rotations: tuple[Rotation, ...]

    @property
    def entries(self) -> list[LoggedBelief]:
        """The events with their contents."""
        return self.log.entries

    @property
    def data(self) -> bytes:
        """The file."""
        return joined(self.lines)


def heads_of(
    events: Sequence[BeliefEvent], sizes: Sequence[int], key_of: Callable[[int], SigningKey]
) -> tuple[SignedHead, ...]:
    """Return the signed heads of a log at some sizes, each made from the one before."""
    heads: list[SignedHead] = []
    for size in sizes:
        before = heads[-1] if heads else None
        since = events[before.size if before else 0 : size]
        heads.append(signed_head(before, since, key_of(size), since[-1].recorded_at))
    return tuple(heads)


def write(
    path: Path,
    log: MemoryLog,
    heads: Sequence[SignedHead] = (),
    rotations: Sequence[Rotation] = (),
    key: SigningKey | None = None,
) -> ExportSeal:
    """Write an export in pages."""
    with ExportWriter(path, log.scope.tenant, log.scope.graph_id, log.now, key) as writer:
        for start in range(0, len(log.entries), 25):
            writer.add_entries(log.entries[start : start + 25])
        writer.add_heads(heads)
        return writer.finish(rotations)


def sample_in(folder: Path, graph_id: str = "race") -> Sample:
    """Return an export of some 60 events with five heads, of which two keys have signed some."""
    log = long_log(18, graph_id)
    count = len(log.entries)
    sizes = [count // 6, count // 3, count // 2, count - 5, count]
    heads = heads_of(log.events, sizes, lambda size: FIRST_KEY if size < sizes[2] else SECOND_KEY)
    rotations = (handed_over(FIRST_KEY, SECOND_KEY, heads[1].signed_at + timedelta(seconds=1)),)
    path = folder / f"{graph_id}.jsonl"
    write(path, log, heads, rotations, SECOND_KEY)
    return Sample(log, tuple(path.read_bytes()[:-1].split(b"\n")), heads, rotations)


def joined(lines: Sequence[bytes]) -> bytes:
    """Return lines as a file."""
    return b"".join(line + b"\n" for line in lines)


def resealed(lines: Sequence[bytes], key: SigningKey | None = None) -> list[bytes]:
    """Return lines with a seal that is right for them, signed by nobody or by a key."""
    seals = [line for line in lines if line.startswith(b'{"seal"')]
    body = [line for line in lines if line not in seals]
    values = [json.loads(line) for line in body]
    entries = [one for one in values if "event" in one]
    seal = ExportSeal(
        events=len(entries),
        redacted=sum(one["content"] is None for one in entries),
        heads=sum("head" in one for one in values),
        rotations=sum("rotation" in one for one in values),
        last_hash=entries[-1]["event"]["hash"] if entries else "0" * 64,
        header=hashlib.sha256(body[0]).hexdigest(),
        sha256=hashlib.sha256(joined(body)).hexdigest(),
        public_key="" if key is None else key.public_hex,
    )
    if key is not None:
        seal = seal.model_copy(update={"signature": key.sign(sealed_bytes(seal))})
    return [*body, seal_line(seal)]


def rechained(entries: Sequence[LoggedBelief], start: int) -> list[LoggedBelief]:
    """Return entries of which those from an index on have digests, places and hashes made anew."""
    made = list(entries[:start])
    for entry in entries[start:]:
        before = made[-1].event if made else None
        changes: dict[str, Any] = {
            "seq": len(made) + 1,
            "previous_hash": before.hash if before else "0" * 64,
        }
        if entry.salt is not None and entry.content is not None:
            salt, content = bytes.fromhex(entry.salt), entry.content.encode()
            changes["content_digest"] = stored_digest(salt, content)
        event = entry.event.model_copy(update=changes)
        event = event.model_copy(update={"hash": event_hash(event)})
        made.append(entry.model_copy(update={"event": event}))
    return made


def claiming(entry: LoggedBelief, claim: str) -> LoggedBelief:
    """Return an entry that says something else; its digest is still that of what it said."""
    said = {**(entry.said or {}), "claim": claim}
    return entry.model_copy(update={"content": canonical(said).decode()})


def file_of(
    sample: Sample,
    entries: Sequence[LoggedBelief],
    heads: Sequence[SignedHead] | None = None,
    rotations: Sequence[Rotation] | None = None,
    key: SigningKey | None = None,
) -> bytes:
    """Return an export of other events that is right in itself."""
    lines = [
        sample.lines[0],
        *(entry_line(one) for one in entries),
        *(head_line(one) for one in (sample.heads if heads is None else heads)),
        *(rotation_line(one) for one in (sample.rotations if rotations is None else rotations)),
    ]
    return joined(resealed(lines, key))


def told(found: Verification) -> list[str]:
    """Return the problems of an export as people read them."""
    return [str(one) for one in found.problems]
