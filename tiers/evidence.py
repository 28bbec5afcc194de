"""What proves that a history is as it was."""

from __future__ import annotations

from pydantic import Field

from .fields import Record
from .records import AuditEvent


class ChainedAudit(AuditEvent):
    """An audit event as it is kept: with what proves that it, and all before it, are as they were.

    Attributes:
        salt: In hexadecimal digits; what ``reason_digest`` cannot be tried out without.
        reason_digest: The salted SHA-256 of the reason.
        previous_hash: The hash of the event before it in its graph; 64 zeros for the first.
        hash: Over every other field but ``reason``, ``salt``, ``position`` and ``placed``.
        placed: The digest of ``hash`` and ``position``, which another store may assign anew.
    """

    salt: str = ""
    reason_digest: str = ""
    previous_hash: str = ""
    hash: str = ""
    placed: str = ""


class EvidenceMarks(Record):
    """How far a graph's log, feed and heads have come: what was there once cannot just be gone.

    Each is raised in the step that adds to what it counts, or right after it; so it may be lower
    than what is there, and is never higher.

    Attributes:
        events: Of the belief log.
        audit: Of the audit feed.
        heads: The ``number`` of the last signed head.
    """

    events: int = Field(default=0, ge=0)
    audit: int = Field(default=0, ge=0)
    heads: int = Field(default=0, ge=0)
