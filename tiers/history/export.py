"""The export of a belief log: one file that says everything and that anybody can verify.

JSON Lines in UTF-8, each line canonical (sorted keys, no white space) and ended by a newline:

1. a header: ``{"exported_at", "format", "graph_id", "tenant", "version"}``;
2. every event in order: ``{"content", "event", "salt"}``, where ``content`` is the canonical text
   that was hashed, and ``null`` together with ``salt`` once it was destroyed;
3. the signed heads, by size: ``{"head"}``;
4. the audit feed of the graph, in order: ``{"audit"}``;
5. how signing keys took each other's place, in order: ``{"rotation"}``;
6. ``{"seal"}``: how many of each, and the SHA-256 of all bytes before it, signed where there is a
   key.

It is read line by line, whatever is in the file: nothing of it is taken on trust.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import IO, Any, Final, Literal, NamedTuple, NoReturn, Self, TypeAlias

from pydantic import Field, JsonValue, ValidationError

from ..beliefs import BeliefEvent, LoggedBelief, SignedHead
from ..errors import Conflict, UsageError, refused
from ..evidence import ChainedAudit
from ..fields import Misfit, Moment, Record, in_utc
from ..saved_file import SavedFile
from .chain import EVENT_FIELDS_SINCE, FIRST_PREVIOUS_HASH, canonical, fields_since, written
from .heads import head_fields
from .plan import SPEAKING_KINDS
from .rotation import Rotation
from .signing import SigningKey

FORMAT: Final = "ezra-belief-export"
VERSION: Final = 1
LINE_BYTES_MAX = 1 << 25
"""More than the longest content that a belief can have, and little enough to hold in memory."""


class ExportHeader(Record):
    """The first line: which log the file is of, and when it was written."""

    format: Literal["ezra-belief-export"] = FORMAT
    version: Literal[1] = VERSION
    tenant: str
    graph_id: str
    exported_at: Moment


class ExportSeal(Record):
    """The last line.

    Attributes:
        events: How many there are.
        redacted: Of how many of them the content was destroyed.
        heads: How many signed heads there are.
        audit: How many audit events; ``None`` in a file from before there were any in it.
        rotations: How many.
        last_hash: The hash of the last event; 64 zeros without one.
        header: The SHA-256 of the first line.
        sha256: Of all bytes before this line.
        public_key: 32 bytes in hexadecimal digits; empty where there was no key.
        signature: Over every other field; empty where there was no key.
    """

    events: int = Field(ge=0)
    redacted: int = Field(ge=0)
    heads: int = Field(ge=0)
    audit: int | None = Field(default=None, ge=0)
    rotations: int = Field(ge=0)
    last_hash: str
    header: str
    sha256: str
    public_key: str = ""
    signature: str = ""


def header_line(header: ExportHeader) -> bytes:
    """Return the line of a header, without its newline."""
    return canonical(written(header, "exported_at"))


def entry_line(entry: LoggedBelief) -> bytes:
    """Return the line of an event."""
    fields = {"content": entry.content, "event": event_fields(entry.event), "salt": entry.salt}
    return canonical(fields)


def head_line(head: SignedHead) -> bytes:
    """Return the line of a signed head."""
    return canonical({"head": head_fields(head)})


def audit_line(event: ChainedAudit) -> bytes:
    """Return the line of an audit event."""
    return canonical({"audit": written(event, "recorded_at")})


def rotation_line(rotation: Rotation) -> bytes:
    """Return the line of a rotation."""
    return canonical({"rotation": written(rotation, "rotated_at")})


def seal_line(seal: ExportSeal) -> bytes:
    """Return the line of a seal."""
    return canonical({"seal": seal.model_dump(exclude_none=True)})


def event_fields(event: BeliefEvent) -> dict[str, JsonValue]:
    """Return an event as it is written: times as they are hashed."""
    return written(event, "recorded_at", *fields_since(event.version, EVENT_FIELDS_SINCE))


def sealed_bytes(seal: ExportSeal) -> bytes:
    """Return what the signature of a seal is over."""
    return canonical(seal.model_dump(exclude={"signature"}, exclude_none=True))


class ExportWriter:
    """Writes an export, page by page, into a file that is there when it is whole.

    Not a coroutine anywhere: it is for a thread. Until ``finish`` nothing is at ``path``, or what
    was there before; ``close`` leaves nothing of a file that was not finished. The file is only
    its owner's, since it holds what was said.

    Args:
        path: Where the export is to be.
        tenant: Whose log it is.
        graph_id: Of which graph.
        exported_at: When it was begun.
        key: Signs the seal.
    """

    def __init__(
        self,
        path: Path,
        tenant: str,
        graph_id: str,
        exported_at: datetime,
        key: SigningKey | None = None,
    ) -> None:
        self._saved = SavedFile(path)
        self._header = ExportHeader(
            tenant=tenant, graph_id=graph_id, exported_at=in_utc(exported_at)
        )
        self._key = key
        self._digest = hashlib.sha256()
        self._counts = {"events": 0, "redacted": 0, "heads": 0, "audit": 0, "rotations": 0}
        self._last_hash = FIRST_PREVIOUS_HASH
        self._spoken_of: set[str] = set()

    def __enter__(self) -> Self:
        self.open()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    def open(self) -> None:
        """Begin the file.

        Raises:
            UsageError: It cannot be written there.
        """
        self._saved.open()
        self._write(header_line(self._header))

    def add_entries(self, entries: Iterable[LoggedBelief]) -> None:
        """Write the next events.

        Raises:
            UsageError: They are not the next ones of this log, or the disk is full.
            Conflict: A belief of which content was written already was redacted meanwhile: begin
                again, so that the file does not say what is to be forgotten.
        """
        for entry in entries:
            event = entry.event
            owner = (event.tenant, event.graph_id)
            seq = self._counts["events"] + 1
            if self._counts["heads"] or owner != self._owner or event.seq != seq:
                accepted = f"event {seq} of {self._owner}, before any head"
                raise UsageError("entries", (*owner, event.seq), accepted)
            self._keep_forgotten(entry)
            self._write(entry_line(entry))
            self._counts["events"] = seq
            self._counts["redacted"] += entry.content is None
            self._last_hash = event.hash

    def add_heads(self, heads: Iterable[SignedHead]) -> None:
        """Write the next signed heads; those of more events than were written are left out.

        Raises:
            UsageError: One is of another log, or the disk is full.
        """
        for head in heads:
            owner = (head.tenant, head.graph_id)
            if owner != self._owner:
                raise UsageError("heads", owner, f"heads of {self._owner}")
            if head.size <= self._counts["events"]:
                self._write(head_line(head))
                self._counts["heads"] += 1

    def add_audit(self, events: Iterable[ChainedAudit]) -> None:
        """Write the next events of the audit feed.

        Raises:
            UsageError: They are not the next ones of this graph, or the disk is full.
        """
        for event in events:
            seq = self._counts["audit"] + 1
            if (event.tenant, event.graph_id) != self._owner or event.seq != seq:
                raise UsageError("events", event.seq, f"audit event {seq} of {self._owner}")
            self._write(audit_line(event))
            self._counts["audit"] = seq

    def finish(self, rotations: Iterable[Rotation] = ()) -> ExportSeal:
        """Write what vouches for the keys, seal the file, and put it in its place, durably.

        Raises:
            UsageError: It cannot be written there, or the disk is full.
        """
        for rotation in rotations:
            self._write(rotation_line(rotation))
            self._counts["rotations"] += 1
        seal = ExportSeal(
            **self._counts,
            last_hash=self._last_hash,
            header=hashlib.sha256(header_line(self._header)).hexdigest(),
            sha256=self._digest.hexdigest(),
            public_key="" if self._key is None else self._key.public_hex,
        )
        if self._key is not None:
            seal = seal.model_copy(update={"signature": self._key.sign(sealed_bytes(seal))})
        self._write(seal_line(seal))
        self._saved.finish()
        return seal

    def close(self) -> None:
        """Leave nothing behind that is not finished. May be repeated."""
        self._saved.close()

    @property
    def _owner(self) -> tuple[str, str]:
        return self._header.tenant, self._header.graph_id

    def _keep_forgotten(self, entry: LoggedBelief) -> None:
        """Refuse a redaction of what was written already."""
        event = entry.event
        if event.kind == "redacted" and event.belief_id in self._spoken_of:
            found = f"content of belief {event.belief_id}, redacted by event {event.seq}"
            raise Conflict(f"export of {event.graph_id}", "no content of it", found)
        if entry.content is not None and event.kind in SPEAKING_KINDS:
            self._spoken_of |= spoken_of(event, entry.said or {})

    def _write(self, line: bytes) -> None:
        if len(line) >= LINE_BYTES_MAX:
            raise UsageError("line", f"{len(line)} bytes", f"less than {LINE_BYTES_MAX}")
        line += b"\n"
        self._digest.update(line)
        self._saved.write(line)


def spoken_of(event: BeliefEvent, said: Mapping[str, Any]) -> set[str]:
    """Return the beliefs whose redaction destroys an event's content, which is of a speaking kind.

    These are the belief that it is about and, when two were held against each other, the other.
    """
    rival = said.get("rival_id") if event.kind == "contradicted" else None
    return {event.belief_id, rival} if isinstance(rival, str) else {event.belief_id}


_SHOWN_CHARS = 80
_DEPTH_MAX = 50

ExportItem: TypeAlias = (
    ExportHeader | LoggedBelief | SignedHead | ChainedAudit | Rotation | ExportSeal
)


class ExportLine(NamedTuple):
    """A line of an export.

    Attributes:
        number: From 1.
        item: What it says, in its one canonical form; ``None`` when it says nothing that can be
            known.
        problem: Why it does not.
        sha256: Of the line without its newline, and
        before: of all bytes before it; only for a header and a seal, empty otherwise.
    """

    number: int
    item: ExportItem | None
    problem: str = ""
    sha256: str = ""
    before: str = ""


def read_export(path: Path) -> Iterator[ExportLine]:
    """Yield the lines of a file, whatever they are; one of at most 32 MiB is in memory at a time.

    Raises:
        UsageError: The file cannot be read.
    """
    digest = hashlib.sha256()
    number = 0

    def unreadable(why: str) -> UsageError:
        return UsageError("path", str(path), f"a file that can be read ({why})")

    with refused(unreadable, ValueError), _opened(path) as file:
        while raw := file.readline(LINE_BYTES_MAX + 1):
            number += 1
            if len(raw) > LINE_BYTES_MAX:
                _skip_line(file, raw)
                yield ExportLine(number, None, f"is longer than {LINE_BYTES_MAX} bytes")
                continue
            yield _line(number, raw, digest.copy())
            digest.update(raw)


def parsed(text: str) -> Any:  # noqa: ANN401 - whatever JSON may be
    """Return the value of a JSON text.

    Raises:
        ValueError: It is not JSON, or too deep, or holds a number that is none.
    """
    message = "nested too deeply"
    try:
        value = _DECODER.decode(text)
    except RecursionError as error:
        raise ValueError(message) from error
    if text.count("[") + text.count("{") > _DEPTH_MAX and _is_deep(value):
        raise ValueError(message)
    return value


def shown(text: str) -> str:
    """Return a text of a file as it may be shown on a terminal: short, and nothing unprintable."""
    return repr(text if len(text) <= _SHOWN_CHARS else f"{text[:_SHOWN_CHARS]}...")


def _opened(path: Path) -> IO[bytes]:
    """Return an open file. A pipe would never answer, a device never end."""
    number = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    file = os.fdopen(number, "rb")
    if not stat.S_ISREG(os.fstat(number).st_mode):
        file.close()
        message = "not a regular file"
        raise ValueError(message)
    return file


def _skip_line(file: IO[bytes], raw: bytes) -> None:
    while raw and not raw.endswith(b"\n"):
        raw = file.readline(LINE_BYTES_MAX)


def _line(number: int, raw: bytes, before: Any) -> ExportLine:  # noqa: ANN401 - hashlib's own
    if not raw.endswith(b"\n"):
        return ExportLine(number, None, "is cut short: no newline ends it")
    raw = raw[:-1]
    item = _item(raw)
    if isinstance(item, str):
        return ExportLine(number, None, item)
    if isinstance(item, ExportHeader | ExportSeal):
        own = hashlib.sha256(raw).hexdigest()
        return ExportLine(number, item, sha256=own, before=before.hexdigest())
    return ExportLine(number, item)


def _item(raw: bytes) -> ExportItem | str:
    """Return what a line says, or why it says nothing."""
    try:
        value = _value(raw)
    except ValueError as error:
        return str(error)
    known = _KINDS.get(frozenset(value))
    if known is None:
        return f"is of no known shape: {shown(', '.join(sorted(value)))}"
    name, read, written = known
    try:
        item = read(value)
        is_canonical = written(item) == raw
    except ValidationError as error:
        return f"is no {name}: {_reason(error, value)}"
    except (UsageError, OverflowError, RecursionError):
        return f"is no {name}: it holds a text or a time that cannot be written"
    return item if is_canonical else f"is a {name} that is not written in the canonical form"


def _value(raw: bytes) -> dict[str, Any]:
    """Return the object of a line.

    Raises:
        ValueError: There is none; the message says what a line is then.
    """
    try:
        value = parsed(raw.decode())
    except UnicodeDecodeError as error:
        message = f"is not UTF-8 (byte {error.start + 1})"
        raise ValueError(message) from error
    except ValueError as error:
        message = f"is not JSON ({str(error)[:80]})"
        raise ValueError(message) from error
    if not isinstance(value, dict):
        message = "is not a JSON object"
        raise ValueError(message)
    return value


def _reason(error: ValidationError, value: Mapping[str, Any]) -> str:
    """Return the first thing that is wrong, without what was said."""
    if value.get("format") == FORMAT and value.get("version") != VERSION:
        return f"its version is not {VERSION}"
    first = Misfit.first_of(error)
    return f"{shown(first.field())} {first.problem[:80]}"


def _is_deep(value: Any) -> bool:  # noqa: ANN401 - whatever JSON may be
    """Return whether a value is nested so deeply that others might not be able to read it."""
    layer = [value]
    for _ in range(_DEPTH_MAX):
        layer = [
            inner
            for outer in layer
            if isinstance(outer, dict | list)
            for inner in (outer.values() if isinstance(outer, dict) else outer)
        ]
        if not layer:
            return False
    return True


def _refuse_constant(name: str) -> NoReturn:
    message = f"{name} is no number"
    raise ValueError(message)


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant)

_Read: TypeAlias = Callable[[Mapping[str, Any]], Any]
_Written: TypeAlias = Callable[[Any], bytes]
_KINDS: Mapping[frozenset[str], tuple[str, _Read, _Written]] = {
    frozenset(ExportHeader.model_fields): ("header", ExportHeader.model_validate, header_line),
    frozenset({"content", "event", "salt"}): ("event", LoggedBelief.model_validate, entry_line),
    frozenset({"head"}): ("head", lambda one: SignedHead.model_validate(one["head"]), head_line),
    frozenset({"audit"}): (
        "audit event",
        lambda one: ChainedAudit.model_validate(one["audit"]),
        audit_line,
    ),
    frozenset({"rotation"}): (
        "rotation",
        lambda one: Rotation.model_validate(one["rotation"]),
        rotation_line,
    ),
    frozenset({"seal"}): ("seal", lambda one: ExportSeal.model_validate(one["seal"]), seal_line),
}
