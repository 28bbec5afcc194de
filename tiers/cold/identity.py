"""What makes a fact or a rule the same statement as another, or as much, as digests. Pure.

Digests go when a record is redacted or retired: they would tell what it said to who guesses it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence

from ..knowledge import statement_of
from ..learning import fact_key
from ..records import Fact, Rule
from .ownership import private_to

_HEX_CHARS = 32
"""128 bits: two statements of an installation never meet by chance."""


def said_by(record: Fact | Rule) -> str | None:
    """Return the digest of what a record says, and for which user; ``None`` without content.

    What is said for one user is not what is said for another.
    """
    if record.redacted_at is not None:
        return None
    said = [statement_of(record)] if isinstance(record, Fact) else [record.trigger, *record.steps]
    return _digest(record.user_id, said)


def identity_of(record: Fact | Rule) -> str | None:
    """Return the digest of what makes a record the same as another of its writer."""
    return digests_of(record)[0]


def digests_of(record: Fact | Rule) -> tuple[str | None, str | None]:
    """Return the digests of what makes a record the same as another, and of what it says."""
    said = said_by(record)
    if said is None:
        return None, None
    return _digest(said, [record.agent_id, *sorted(record.topics)], private_to(record)), said


def address_of(fact: Fact) -> str | None:
    """Return the digest of a keyed fact's address, by which it is found; else ``None``."""
    key = None if fact.redacted_at is not None else fact_key(fact)
    return None if key is None else _digest(*key)


def _digest(*parts: str | Sequence[str] | None) -> str:
    """Return the digest of parts that never run together; half a character is as good as any."""
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:_HEX_CHARS]
