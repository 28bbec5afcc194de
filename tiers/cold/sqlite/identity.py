"""What makes a fact or a rule the same statement as another of its writer, or as much. Pure."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping

from ...learning import fact_key
from ...records import Fact, Rule
from ..edges import edge_keys
from .database import Value

_APART = b"\xff"
"""In no UTF-8 text, so that no statement can pass for another user's, or for a redacted one."""


def identity_of(record: Fact | Rule) -> bytes:
    """Return the digest of what a record says, and for whom.

    What one user's agent states is not what another's does. A redacted record says nothing that
    could be said again: it is like no other, and its digest tells nothing of what it said.
    """
    if record.redacted_at is not None:
        return hashlib.sha256(_APART * 3 + record.id.encode()).digest()
    if isinstance(record, Fact):
        said = record.text
    else:
        said = json.dumps([record.trigger, *record.steps], ensure_ascii=False)
    data = said.encode()
    if record.user_id is not None:
        data = _APART + record.user_id.encode() + _APART + data
    return hashlib.sha256(data).digest()


def fact_digests(fact: Fact) -> Mapping[str, Value]:
    """Return the columns by which a fact is known and found, and which go with what it says."""
    return {"digest": identity_of(fact), "key_digest": key_digest_of(fact), **edge_keys(fact)}


def key_digest_of(fact: Fact) -> bytes | None:
    """Return the digest of a keyed fact's address, by which it is found; else ``None``.

    Each part follows its length, so that no two addresses run together.
    """
    key = fact_key(fact)
    if key is None:
        return None
    digest = hashlib.sha256()
    for part in key:
        data = part.encode()
        digest.update(len(data).to_bytes(8, "big") + data)
    return digest.digest()
