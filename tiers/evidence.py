"""The port of what proves that a history is as it was. The rules of ``tiers.ports`` hold."""

from __future__ import annotations

from typing import Protocol

from pydantic import Field

from .fields import Record
from .records import AuditEvent, Scope


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


class Evidence(Protocol):
    """What a verification reads besides the log, its projection and its heads.

    Every method is asked with the scope of a whole graph.
    """

    async def audited(
        self, scope: Scope, after: int = 0, limit: int = 1000
    ) -> tuple[ChainedAudit, ...]:
        """Return the audit feed of the graph after a ``seq``, in order, as it is chained."""

    async def last_audited(self, scope: Scope) -> ChainedAudit | None:
        """Return the last event of the feed."""

    async def marks(self, scope: Scope) -> EvidenceMarks:
        """Return how far everything has come."""

    async def misfiled(self, scope: Scope) -> tuple[str, ...]:
        """Return in words which rows, of those that look-ups go by, are not as they were written.

        They are made of the stored beliefs and of the log, which are verified by themselves:
        rows that are missing, that are too many and that differ are all told.
        """
