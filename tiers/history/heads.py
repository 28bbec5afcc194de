"""Signed heads: a key's word on the first events of a log. Pure.

A head is made from the head before it and the events since, whatever the length of the log.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import datetime, timedelta

from pydantic import JsonValue

from ..beliefs import BeliefEvent, SignedHead
from ..errors import IntegrityError, UsageError
from ..fields import in_utc
from .chain import (
    FIRST_PREVIOUS_HASH,
    canonical,
    event_hash,
    fields_since,
    uncovered,
    written,
)
from .merkle import Frontier, is_hash
from .signing import SigningKey, is_public_key, key_id, verify

HEAD_VERSION = 2
"""Of the form that is signed."""

HEAD_FIELDS_SINCE = dict.fromkeys(("number", "previous", "audit_size", "audit_hash"), 2)
"""Fields that the first version did not have."""


def head_fields(head: SignedHead, *left_out: str) -> dict[str, JsonValue]:
    """Return a head as it is written, in the form of its version."""
    newer = fields_since(head.version, HEAD_FIELDS_SINCE)
    return written(head, "signed_at", *newer, *left_out)


def signed_bytes(head: SignedHead) -> bytes:
    """Return what is signed: the canonical form of every field but two.

    These are ``signature`` and ``frontier``, which is known to be right when it gives ``root``.
    """
    return canonical(head_fields(head, "signature", "frontier"))


def head_digest(head: SignedHead) -> str:
    """Return the hex SHA-256 of a head: what is signed, and the signature."""
    return hashlib.sha256(signed_bytes(head) + head.signature.encode()).hexdigest()


def signed_head(
    previous: SignedHead | None,
    events_since: Sequence[BeliefEvent],
    key: SigningKey,
    now: datetime,
    *,
    kept: SignedHead | None = None,
    audit: tuple[int, str] = (0, ""),
    is_kept: bool = False,
) -> SignedHead:
    """Return the signed head of a log that goes on from a head.

    Without events since, it says the same of the same events anew.

    Args:
        previous: A head of the log, with its frontier; ``None`` begins with its first event.
        events_since: Every event after it that the head is to cover, in order.
        key: Signs it.
        now: When.
        kept: The head that was kept last.
        audit: How many events the audit feed has, and the hash of the last.
        is_kept: Whether it is the next one to be kept.

    Raises:
        UsageError: There is nothing to sign: no head and no event.
        IntegrityError: ``previous`` is not right, or the events do not continue it.
    """
    if previous is not None:
        problem = check_head(previous) or (None if previous.frontier else "it has no frontier")
        if problem is not None:
            raise IntegrityError(f"head of {previous.graph_id}", previous.size, problem)
    elif not events_since:
        raise UsageError("events_since", (), "at least one event, or a head before")
    frontier = Frontier.of(previous.size, previous.frontier) if previous else Frontier()
    owner = _owner(previous, events_since)
    turn = previous.turn if previous else 0
    last_hash = previous.last_hash if previous else FIRST_PREVIOUS_HASH
    for event in events_since:
        problem = _next_problem(event, owner, frontier.size + 1, last_hash)
        if problem is not None:
            raise IntegrityError(f"log of {owner[1]}", frontier.size + 1, problem)
        frontier.append(bytes.fromhex(event.hash))
        turn, last_hash = event.turn, event.hash
    unsigned = SignedHead(
        version=HEAD_VERSION,
        tenant=owner[0],
        graph_id=owner[1],
        size=frontier.size,
        last_hash=last_hash,
        root=frontier.root().hex(),
        turn=turn,
        signed_at=_after(kept, in_utc(now), frontier.size),
        public_key=key.public_hex,
        frontier=frontier.roots,
        number=(kept.number if kept else 0) + 1 if is_kept else 0,
        previous=head_digest(kept) if kept and is_kept else "",
        audit_size=audit[0],
        audit_hash=audit[1],
    )
    return unsigned.model_copy(update={"signature": key.sign(signed_bytes(unsigned))})


def check_head(head: SignedHead) -> str | None:
    """Return what is wrong with a head by itself, or ``None``.

    Whether its key may be trusted, and whether it is of a given log, is not asked.
    """
    problem = _form_problem(head)
    if problem is not None:
        return problem
    if not (is_hash(head.root) and is_hash(head.last_hash) and is_public_key(head.public_key)):
        return "its hashes and its key are not 64 lower-case hexadecimal digits each"
    if not verify(head.public_key, head.signature, signed_bytes(head)):
        return f"it is not signed by its key {key_id(head.public_key)}"
    if not head.frontier:
        return None
    try:
        frontier = Frontier.of(head.size, head.frontier)
    except UsageError:
        return f"its frontier is not one of {head.size} events"
    return None if frontier.root().hex() == head.root else "its frontier does not give its root"


def _form_problem(head: SignedHead) -> str | None:
    if not 1 <= head.version <= HEAD_VERSION:
        return f"its version {head.version} is not known here"
    return uncovered(head, HEAD_FIELDS_SINCE)


def follows(head: SignedHead, last: SignedHead | None) -> bool:
    """Whether a head may be kept behind the last one; one that is not counted always may."""
    if not head.number:
        return True
    if last is None:
        return head.number == 1
    return head.number == last.number + 1 and head.size >= last.size


def _after(kept: SignedHead | None, now: datetime, size: int) -> datetime:
    """Return a time of signing by which a head comes behind the one that was kept before."""
    if kept is None:
        return now
    return max(now, kept.signed_at + timedelta(microseconds=kept.size == size))


def _owner(previous: SignedHead | None, events: Sequence[BeliefEvent]) -> tuple[str, str]:
    first = events[0] if previous is None else previous
    return first.tenant, first.graph_id


def _next_problem(
    event: BeliefEvent, owner: tuple[str, str], seq: int, previous_hash: str
) -> str | None:
    """Return why an event is not the next one of a log, or ``None``."""
    if (event.tenant, event.graph_id) != owner:
        return f"the event is of graph {event.graph_id} of {event.tenant}"
    if event.seq != seq:
        return f"event {event.seq} is there instead"
    if event.previous_hash != previous_hash:
        return "its previous_hash is not the hash of the event before"
    return None if event_hash(event) == event.hash else "its hash is not that of its fields"
