"""How belief events are chained. Pure, and the same for every engine.

An event's ``hash`` is the SHA-256 of its canonical JSON without ``hash`` itself and with a format
version; ``previous_hash`` is part of it, so no event can change, go or come in between without
every later hash changing. The content is only there as a salted digest: destroying content and
salt leaves a chain that still verifies and tells nothing.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from datetime import UTC, datetime

from pydantic import JsonValue

from ..beliefs import BeliefEvent, Commitment, SignedHead
from ..errors import UsageError
from ..fields import Record
from ..fleet import Scope
from ..ids import derived_id

FORMAT_VERSION = 3
"""Of the form that is hashed."""

FORMER_VERSION = 2
"""The oldest form that is understood."""

EVENT_FIELDS_SINCE = {"turn_id": 3}
"""Fields that a former version did not have."""

FIRST_PREVIOUS_HASH = "0" * 64
SALT_BYTES = 16


def canonical(value: Mapping[str, JsonValue]) -> bytes:
    """Return JSON with sorted keys, no white space, in UTF-8.

    Raises:
        UsageError: A text holds a lone surrogate, which UTF-8 has no bytes for.
    """
    text = json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise UsageError("text", text, "text without lone surrogates") from error


def stored_digest(salt: bytes, content: bytes) -> str:
    """Return the hex SHA-256 of ``salt`` followed by canonical content."""
    return hashlib.sha256(salt + content).hexdigest()


def event_hash(event: BeliefEvent) -> str:
    """Return the hex SHA-256 over the canonical form of every field except ``hash``.

    ``version`` goes into it as ``v``; what its form did not have yet does not.
    """
    newer = fields_since(event.version, EVENT_FIELDS_SINCE)
    left_out = {"hash", "version", "recorded_at", *newer}
    fields: dict[str, JsonValue] = event.model_dump(exclude=left_out)
    covered = {**fields, "recorded_at": iso(event.recorded_at), "v": event.version}
    return hashlib.sha256(canonical(covered)).hexdigest()


def fields_since(version: int, since: Mapping[str, int]) -> tuple[str, ...]:
    """Return the fields that a version has not: neither a hash nor a signature covers them."""
    return tuple(field for field, first in since.items() if version < first)


def uncovered(record: BeliefEvent | SignedHead, since: Mapping[str, int]) -> str | None:
    """Return what is wrong with a record that has a field which its version has not."""
    for field in fields_since(record.version, since):
        if getattr(record, field):
            return f"its version has no {field}, so nothing vouches for it"
    return None


def next_event(
    previous: BeliefEvent | None,
    scope: Scope,
    kind: str,
    belief_id: str,
    *,
    turn: int,
    now: datetime,
    digest: str,
    turn_id: str | None = None,
) -> BeliefEvent:
    """Return the event that follows ``previous`` in the log of the scope's graph.

    Neither its time nor its turn is before that of ``previous``: a moment of the past is one place
    in the log, whatever the clocks of several processes say.

    Args:
        previous: The last event of the log, ``None`` for the first.
        scope: Whose log; its agent is who made it happen.
        kind: What happened.
        belief_id: To which belief; empty for an event about the whole log.
        turn: The turn of the graph that is under way, or the last.
        now: When it is recorded.
        digest: The salted digest of the event's content.
        turn_id: The turn that it is made in, if one is known.
    """
    seq = 1 if previous is None else previous.seq + 1
    unhashed = BeliefEvent.model_validate(
        {
            "id": derived_id(now, "belief event", scope.tenant, scope.graph_id, str(seq)),
            "tenant": scope.tenant,
            "graph_id": scope.graph_id,
            "seq": seq,
            "kind": kind,
            "belief_id": belief_id,
            "agent_id": scope.agent_id or "",
            "turn": turn if previous is None else max(turn, previous.turn),
            "turn_id": turn_id or "",
            "recorded_at": now if previous is None else max(now, previous.recorded_at),
            "content_digest": digest,
            "previous_hash": FIRST_PREVIOUS_HASH if previous is None else previous.hash,
            "hash": "",
            "version": FORMAT_VERSION,
        }
    )
    return unhashed.model_copy(update={"hash": event_hash(unhashed)})


def committed_content(belief: Commitment) -> dict[str, JsonValue]:
    """Return what a ``committed`` event says: the belief as it was committed."""
    return written(belief, "recorded_at", "redacted_at", "pinned")


def written(record: Record, moment: str, *without: str) -> dict[str, JsonValue]:
    """Return the fields of a record as they are written and signed: its moment as it is hashed."""
    fields: dict[str, JsonValue] = record.model_dump(mode="json", exclude={moment, *without})
    return {**fields, moment: iso(getattr(record, moment))}


def iso(moment: datetime) -> str:
    """Return a moment as it is hashed: ISO 8601 in UTC with microseconds and ``Z``."""
    moment = moment.astimezone(UTC).replace(tzinfo=None)
    return f"{moment.isoformat(timespec='microseconds')}Z"
