"""The offline verifier: what an export, or a log as it is read from a store, is worth.

It needs no store, no settings and no network, and tells where something is wrong as closely as
can be known.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from ..beliefs import LoggedBelief, SignedHead
from ..errors import UsageError
from ..evidence import ChainedAudit, EvidenceMarks
from .audit_chain import AuditCheck
from .checking import LogCheck, roots_at
from .export import ExportHeader, ExportLine, ExportSeal, read_export, sealed_bytes
from .findings import Problem, Problems, Verification
from .fold import Fold
from .head_check import HeadCheck
from .rotation import Rotation
from .signing import is_public_key, verify
from .trusted_keys import Trust

__all__ = ["LogVerifier", "Problem", "Verification", "verify_export"]

_FIRST_EVENT_LINE = 2
_UNKNOWN = ("", "")
_ORDER = (ExportHeader, LoggedBelief, SignedHead, ChainedAudit, Rotation, ExportSeal)
_PLURALS = ("header", "events", "heads", "audit events", "rotations", "seal")


class LogVerifier:
    """Verifies one log that is fed to it, events first and in order.

    Args:
        tenant: Whose log it is to be.
        graph_id: Of which graph.
        public_key: A key that is known to be right, in hexadecimal digits.
        anchor: A head that was kept elsewhere.
        rotations: Of keys, in order, where they are known from the beginning.
        former_keys: Of the homes that the log was in before; they count beside ``public_key``.
        keeps_contents: Whether the fold is to have what beliefs say.

    Raises:
        UsageError: ``public_key``, or a former one, is no key.
    """

    def __init__(
        self,
        tenant: str,
        graph_id: str,
        *,
        public_key: str | None = None,
        anchor: SignedHead | None = None,
        rotations: Iterable[Rotation] = (),
        former_keys: Sequence[str] = (),
        keeps_contents: bool = True,
    ) -> None:
        for key in (public_key, *former_keys):
            _check_key(key)
        self._problems = Problems()
        self._log = LogCheck(tenant, graph_id, self._problems, keeps_contents=keeps_contents)
        self._public_key = public_key
        self._former_keys = former_keys
        self._anchor = anchor
        self._rotations = [(0, one) for one in rotations]
        self._heads: list[tuple[int, SignedHead]] = []
        self._audit = AuditCheck((tenant, graph_id), self._problems)
        self._marks = EvidenceMarks()
        self._is_marked = False
        self._lost = False

    @property
    def fold(self) -> Fold:
        """What the log comes to; of all of it only when ``is_whole``."""
        return self._log.fold

    @property
    def is_whole(self) -> bool:
        """Whether every event so far was as it was made."""
        return self._log.is_whole

    def add_entries(self, entries: Iterable[LoggedBelief], line: int = 0) -> None:
        """Take in the next events, which stand in a line of a file if they do."""
        for entry in entries:
            self._log.add(entry, line)

    def add_heads(self, heads: Iterable[SignedHead], line: int = 0) -> None:
        """Take in the next signed heads, by size."""
        self._heads += [(line, head) for head in heads]

    def add_audit(self, events: Iterable[ChainedAudit], line: int = 0) -> None:
        """Take in the next events of the audit feed."""
        for event in events:
            self._audit.add(event, line)

    def add_marks(self, marks: EvidenceMarks) -> None:
        """Take in how far everything had come, before it was read."""
        self._marks, self._is_marked = marks, True

    def add_problem(self, what: str) -> None:
        """Take in what somebody else has found."""
        self._problems.add(what)

    def result(self) -> Verification:
        """Return what it all came to. Nothing can be added any more."""
        return self._concluded(0, None)

    def _concluded(self, first_line: int, seal: _Sealed | None) -> Verification:
        self._log.conclude()
        self._audit.conclude()
        trust = Trust(
            self._public_key,
            self._rotations,
            self._problems,
            former_keys=self._former_keys,
            is_complete=not self._lost,
        )
        heads = HeadCheck(self._log, trust, self._problems)
        heads.check(self._heads)
        heads.check_audit(self._heads, self._audit)
        self._check_marks(heads)
        if self._anchor is not None:
            heads.check_anchor(self._anchor, first_line)
        is_sealed = seal is not None and seal.check(self._log, trust, self._problems)
        log = self._log
        signed_size = log.events if is_sealed else heads.signed_size
        is_ok = self._problems.count == 0
        tenant, graph_id = log.owner
        return Verification(
            ok=is_ok,
            problems=self._problems.in_order(),
            problem_count=self._problems.count,
            tenant=tenant,
            graph_id=graph_id,
            events=log.events,
            redacted=len(log.redacted),
            destroyed=log.destroyed,
            heads=len(self._heads),
            audit=self._audit.events,
            root=roots_at(log.leaves, {log.size})[log.size] if log.is_whole else "",
            last_hash=log.last_hash,
            key_ids=tuple(trust.key_ids),
            signed=is_sealed or heads.signed_size > 0,
            signed_size=signed_size,
            anchored_size=heads.anchored_size,
            trust=_trust_in_words(
                trust, log.events, signed_size, heads.anchored_size, is_sealed=is_sealed, ok=is_ok
            ),
        )

    def _check_marks(self, heads: HeadCheck) -> None:
        """Tell what was there once and is not any more."""
        marks = self._marks
        if marks.events > self._log.events:
            what = f"the log had {marks.events} events once: the last ones are missing"
            self._problems.add(what, seq=self._log.events + 1)
        if self._is_marked and not marks.audit and self._audit.events > 1:
            self._problems.add("how far the audit feed had come is not noted any more")
        self._audit.check_reached(marks.audit, "", "the feed was seen with a size")
        heads.check_reached(self._heads, marks.heads)


class _ExportVerifier(LogVerifier):
    """Verifies the lines of an export. Whose log it is, its first line says."""

    def __init__(
        self, public_key: str | None, anchor: SignedHead | None, former_keys: Sequence[str]
    ) -> None:
        super().__init__(
            *_UNKNOWN,
            public_key=public_key,
            anchor=anchor,
            former_keys=former_keys,
            keeps_contents=False,
        )
        self._header: ExportLine | None = None
        self._seal: _Sealed | None = None
        self._section = 0
        self._last_line = 0
        self._unreadable = ""

    def add_line(self, line: ExportLine) -> None:
        """Take in the next line."""
        self._last_line = line.number
        if self._seal is not None:
            self._problems.add("it follows the seal, which is the last line", line=line.number)
            return
        item = line.item
        if item is None:
            self._problems.add(f"the line {line.problem}", line=line.number)
            self._lost = True
            if self._section <= _ORDER.index(LoggedBelief) and line.number > 1:
                self._log.lose()
            return
        self._check_order(line)
        if isinstance(item, ExportSeal):
            counts = {
                "heads": len(self._heads),
                "audit": self._audit.events,
                "rotations": len(self._rotations),
            }
            self._seal = _Sealed(line, item, self._header, counts)
        else:
            self._take(line, item)

    def _take(
        self,
        line: ExportLine,
        item: ExportHeader | LoggedBelief | SignedHead | ChainedAudit | Rotation,
    ) -> None:
        """Take in what a line says, unless it is the seal."""
        if isinstance(item, ExportHeader):
            self._begin(line, item)
        elif isinstance(item, LoggedBelief):
            if self._log.owner == _UNKNOWN:  # the header is missing, which was told
                self._log.owner = (item.event.tenant, item.event.graph_id)
            self._log.add(item, line.number)
        elif isinstance(item, SignedHead):
            self._heads.append((line.number, item))
        elif isinstance(item, ChainedAudit):
            self._audit.owner = self._log.owner
            self._audit.add(item, line.number)
        else:
            self._rotations.append((line.number, item))

    def result(self) -> Verification:
        """Return what the file came to."""
        if self._unreadable:
            self._problems.add(f"the file cannot be read to its end: {self._unreadable}")
        elif self._seal is None:
            what = "the file ends here without a seal: what followed is missing"
            self._problems.add(what, line=self._last_line)
        return self._concluded(_FIRST_EVENT_LINE, self._seal)

    def break_off(self, reason: str) -> None:
        """Take in that there is more which cannot be read, or nothing at all."""
        self._unreadable = reason

    def _begin(self, line: ExportLine, header: ExportHeader) -> None:
        if line.number == 1:
            self._header = line
            self._log.owner = (header.tenant, header.graph_id)

    def _check_order(self, line: ExportLine) -> None:
        section = _ORDER.index(type(line.item))
        if line.number == 1 and section != 0:
            self._problems.add("the file does not begin with a header", line=1)
        if line.number > 1 and section == 0:
            self._problems.add("a header is the first line, and only that", line=line.number)
        elif section < self._section:
            what = f"{_PLURALS[section]} come before {_PLURALS[self._section]}"
            self._problems.add(what, line=line.number)
        self._section = max(section, self._section)


class _Sealed(NamedTuple):
    """The seal of an export, and what it is held against."""

    line: ExportLine
    seal: ExportSeal
    header: ExportLine | None
    counts: dict[str, int]

    def check(self, log: LogCheck, trust: Trust, problems: Problems) -> bool:
        """Tell what is wrong with it; return whether a trusted key has signed it as it is."""
        seal, line = self.seal, self.line
        counts = {"events": log.events, "redacted": log.destroyed, **self.counts}
        counted = {**seal.model_dump(include=set(counts)), "audit": seal.audit or 0}
        for name in (name for name in counts if counts[name] != counted[name]):
            what = f"the seal counts {counted[name]} {name}, and there are {counts[name]}"
            problems.add(what, line=line.number)
        if seal.last_hash != log.last_hash:
            problems.add("the seal has another last_hash than the last event", line=line.number)
        is_same = seal.sha256 == line.before
        if not is_same:
            problems.add("what is before the seal is not what was sealed", line=line.number)
        if self.header is not None and seal.header != self.header.sha256:
            what = "the header is not the one that was sealed"
            problems.add(what, line=line.number if is_same else self.header.number)
        return self._is_signed(trust, problems) and is_same

    def _is_signed(self, trust: Trust, problems: Problems) -> bool:
        seal, number = self.seal, self.line.number
        if not seal.public_key and not seal.signature:
            if trust.is_given:
                what = "the seal is not signed: whoever had the file could have written it anew"
                problems.add(what, line=number)
            return False
        if not verify(seal.public_key, seal.signature, sealed_bytes(seal)):
            problems.add("the seal is not signed by the key that it names", line=number)
            return False
        trust.note(seal.public_key)
        header = self.header.item if self.header else None
        if not isinstance(header, ExportHeader):
            return False
        refusal = trust.refusal(seal.public_key, header.exported_at, is_seal=True)
        if refusal is not None:
            problems.add(f"the seal is not to be trusted: {refusal}", line=number)
        return trust.counts(seal.public_key, header.exported_at)


def verify_export(
    path: Path,
    *,
    public_key: str | None = None,
    anchor: SignedHead | None = None,
    former_keys: Sequence[str] = (),
) -> Verification:
    """Verify an export.

    Whatever is in the file, what comes back is a verification. One that is signed by nobody is
    accepted as long as nobody has to be trusted.

    Args:
        path: The file.
        public_key: A key that is known to be right, in hexadecimal digits: the seal, and every
            head, must be signed by it or by a key that it has handed over to.
        anchor: A signed head of the log that was kept elsewhere: the file must be of the same
            first events.
        former_keys: Of the homes that the log was in before; they count beside ``public_key``.

    Raises:
        UsageError: ``public_key``, or a former one, is no key.
    """
    verifier = _ExportVerifier(public_key, anchor, former_keys)
    try:
        for line in read_export(path):
            verifier.add_line(line)
    except UsageError as error:
        verifier.break_off(str(error))
    return verifier.result()


def _check_key(public_key: str | None) -> None:
    if public_key is not None and not is_public_key(public_key):
        raise UsageError("public_key", public_key, "64 lower-case hexadecimal digits")


def _trust_in_words(
    trust: Trust, events: int, signed: int, anchored: int, *, is_sealed: bool, ok: bool
) -> str:
    """Say what a result rests on."""
    keys = ", ".join(trust.key_ids)
    if not trust.is_given:
        by = f"signed by key {keys}, which anybody may have made" if keys else "signed by nobody"
        said = f"no public key was given: consistent in itself, {by}"
    elif is_sealed:
        said = f"the whole file is signed by a trusted key (keys seen: {keys})"
    elif signed:
        rest = f", the last {events - signed} rest on the chain alone" if signed < events else ""
        said = f"the first {signed} of {events} events are signed by a trusted key{rest}"
    else:
        said = "nothing in it is signed by a trusted key"
    if anchored:
        said = f"{said}; the first {anchored} of {events} events are those of the anchor"
    return said if ok else f"not to be relied on before the problems are explained; {said}"
