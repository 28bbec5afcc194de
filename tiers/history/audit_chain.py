"""How the events of an audit feed are chained, and whether they still are. Pure.

One chain per graph, as for belief events: an event's ``hash`` covers that of the event before. The
reason, the only text, is only there as a salted digest, so that an erasure can destroy it while the
chain still verifies; a later event then says of which events it did. The place in the tenant's feed
is bound to the event beside the chain: a feed that moves house may find its place taken.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Mapping
from typing import Any

from pydantic import JsonValue

from ..evidence import ChainedAudit
from ..fields import AuditKind
from ..owned import REDACTED
from ..records import AuditEvent
from .chain import FIRST_PREVIOUS_HASH, SALT_BYTES, canonical, iso, stored_digest
from .findings import Problems
from .merkle import HASH_BYTES, is_hash

AUDIT_VERSION = 1
REASONS_ERASED: AuditKind = "reasons erased"
"""The kind of event that names events whose reason was destroyed, as ``name_of`` does."""

NO_SALT = "0" * (2 * SALT_BYTES)
"""Of a reason that was destroyed: without its salt nobody can try what it may have been."""

_APART = {"reason", "salt", "position", "placed", "hash", "recorded_at"}
_COVERED = tuple(name for name in ChainedAudit.model_fields if name not in _APART)


def chained(previous_hash: str, event: AuditEvent) -> ChainedAudit:
    """Return an event as the next one after a hash.

    Args:
        previous_hash: Of the event before; empty for the first of its graph.
        event: With its numbers.
    """
    salt = secrets.token_bytes(SALT_BYTES)
    fields: dict[str, Any] = {**event.__dict__, "salt": salt.hex()}
    fields["reason_digest"] = reason_digest(salt, event.reason)
    fields["previous_hash"] = previous_hash or FIRST_PREVIOUS_HASH
    fields["hash"] = _hash_of(fields)
    fields["placed"] = place_digest(fields["hash"], event.position)
    return ChainedAudit.known(fields)


def placed(event: ChainedAudit, position: int) -> ChainedAudit:
    """Return a chained event at a position of its tenant's feed."""
    bound = place_digest(event.hash, position)
    return event.model_copy(update={"position": position, "placed": bound})


def audit_hash(event: ChainedAudit) -> str:
    """Return the hex SHA-256 over the canonical form of what is chained."""
    return _hash_of(event.__dict__)


def _hash_of(fields: Mapping[str, Any]) -> str:
    covered: dict[str, JsonValue] = {name: fields[name] for name in _COVERED}
    covered |= {"recorded_at": iso(fields["recorded_at"]), "v": AUDIT_VERSION}
    return hashlib.sha256(canonical(covered)).hexdigest()


def without_reason(event: ChainedAudit) -> ChainedAudit:
    """Return an event whose reason was destroyed; its hash stays what it was."""
    return event.model_copy(update={"reason": REDACTED, "salt": NO_SALT})


def is_without_reason(event: ChainedAudit) -> bool:
    """Whether an event says that its reason was destroyed."""
    return (event.reason, event.salt) == (REDACTED, NO_SALT)


def name_of(event: ChainedAudit) -> str:
    """Return by what the event that tells of a destroyed reason names the one that had it."""
    return f"audit:{event.seq}"


def reason_digest(salt: bytes, reason: str) -> str:
    """Return the salted digest of a reason; lone surrogates count as they are."""
    return stored_digest(salt, reason.encode(errors="surrogatepass"))


def place_digest(event_hash: str, position: int) -> str:
    """Return what binds an event to its place in the tenant's feed."""
    return hashlib.sha256(f"{event_hash}:{position}".encode()).hexdigest()


class AuditCheck:
    """The events of one feed, in order, and what is wrong with them.

    Args:
        owner: Tenant and graph.
        problems: Where to tell.

    Attributes:
        events: How many there were.
    """

    def __init__(self, owner: tuple[str, str], problems: Problems) -> None:
        self.owner = owner
        self.events = 0
        self.is_whole = True
        self._problems = problems
        self._hashes = bytearray()
        self._last_hash = FIRST_PREVIOUS_HASH
        self._silent: dict[str, int] = {}
        self._named: set[str] = set()

    def add(self, event: ChainedAudit, line: int = 0) -> None:
        """Take in the next event."""
        self.events += 1
        problem = self._problem(event)
        if problem is not None:
            self.is_whole = False
            self._problems.add(f"audit event {event.seq}: {problem}", line=line)
        if is_without_reason(event):
            self._silent[name_of(event)] = line
        if event.kind == REASONS_ERASED:
            self._named.update(event.record_ids)
        known = event.hash if is_hash(event.hash) else FIRST_PREVIOUS_HASH
        self._hashes += bytes.fromhex(known)
        self._last_hash = event.hash

    def conclude(self) -> None:
        """Tell of reasons that are gone without an event that says so."""
        for name, line in self._silent.items():
            if name not in self._named:
                what = f"{name}: its reason is gone, and no event says that it was erased"
                self._problems.add(what, line=line)

    def check_reached(self, size: int, last_hash: str, who: str, line: int = 0) -> None:
        """Tell when the feed is not the one that somebody has seen with ``size`` events."""
        if size > self.events:
            what = f"{who} of {size} audit events, and there are {self.events}: the last are gone"
            self._problems.add(what, line=line)
        elif size and last_hash and self.is_whole:
            found = self._hashes[HASH_BYTES * (size - 1) : HASH_BYTES * size].hex()
            if found != last_hash:
                self._problems.add(f"{who} of other audit events", line=line)

    def _problem(self, event: ChainedAudit) -> str | None:
        if (event.tenant, event.graph_id) != self.owner:
            return "it is of another feed"
        if event.seq != self.events:
            return f"event {self.events} should be here"
        if event.previous_hash != self._last_hash:
            return "its previous_hash is not the hash of the event before"
        return _own_problem(event)


def _own_problem(event: ChainedAudit) -> str | None:
    """Return what is wrong with an event by itself, or ``None``."""
    if not _is_salted(event):
        return "its reason is not what its digest was made of"
    if audit_hash(event) != event.hash:
        return "its hash is not that of its fields"
    if place_digest(event.hash, event.position) != event.placed:
        return "its position in the feed of the tenant is not its own"
    return None


def _is_salted(event: ChainedAudit) -> bool:
    if is_without_reason(event):
        return True  # whether that was told is known at the end of the feed
    try:
        salt = bytes.fromhex(event.salt)
    except ValueError:
        return False
    is_digest = reason_digest(salt, event.reason) == event.reason_digest
    return is_digest and salt.hex() == event.salt
