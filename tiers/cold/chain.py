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

from ..errors import UsageError
from ..ids import derived_id
from ..records import BeliefEvent, Commitment

FORMAT_VERSION = 1
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


def content_digest(salt: bytes, content: Mapping[str, JsonValue]) -> str:
    """Return the hex SHA-256 of ``salt`` followed by the canonical content."""
    return hashlib.sha256(salt + canonical(content)).hexdigest()


def event_hash(event: Mapping[str, JsonValue]) -> str:
    """Return the hex SHA-256 over every given field except ``hash``, and the format version."""
    covered = {name: value for name, value in event.items() if name != "hash"}
    return hashlib.sha256(canonical({**covered, "v": FORMAT_VERSION})).hexdigest()


def hashed_fields(event: BeliefEvent) -> dict[str, JsonValue]:
    """Return an event's fields in the form that is hashed: times as ISO 8601, microseconds, Z."""
    fields: dict[str, JsonValue] = event.model_dump(exclude={"recorded_at"})
    return {**fields, "recorded_at": _iso(event.recorded_at)}


def next_event(
    previous: BeliefEvent | None,
    belief: Commitment,
    kind: str,
    *,
    agent_id: str,
    now: datetime,
    digest: str,
) -> BeliefEvent:
    """Return the event that follows ``previous`` in the log of the belief's graph.

    Args:
        previous: The last event of the log, ``None`` for the first.
        belief: What the event is about.
        kind: What happened to it.
        agent_id: Who made it happen; empty for the runtime.
        now: When it is recorded.
        digest: The salted digest of the event's content.
    """
    seq = 1 if previous is None else previous.seq + 1
    unhashed = BeliefEvent.model_validate(
        {
            "id": derived_id(now, "belief event", belief.tenant, belief.graph_id, str(seq)),
            "tenant": belief.tenant,
            "graph_id": belief.graph_id,
            "seq": seq,
            "kind": kind,
            "belief_id": belief.id,
            "agent_id": agent_id,
            "recorded_at": now,
            "content_digest": digest,
            "previous_hash": FIRST_PREVIOUS_HASH if previous is None else previous.hash,
            "hash": "",
        }
    )
    return unhashed.model_copy(update={"hash": event_hash(hashed_fields(unhashed))})


def committed_content(belief: Commitment) -> dict[str, JsonValue]:
    """Return what a ``committed`` event says: the belief as it was committed."""
    content: dict[str, JsonValue] = belief.model_dump(mode="json", exclude={"recorded_at"})
    return {**content, "recorded_at": _iso(belief.recorded_at)}


def superseded_content(successor: Commitment) -> dict[str, JsonValue]:
    """Return what a ``superseded`` event says: which belief took the place."""
    return {"superseded_by": successor.id}


def pinned_content() -> dict[str, JsonValue]:
    """Return what a ``pinned`` event says: that the belief is pinned from now on."""
    return {"pinned": True}


def _iso(moment: datetime) -> str:
    moment = moment.astimezone(UTC).replace(tzinfo=None)
    return f"{moment.isoformat(timespec='microseconds')}Z"
