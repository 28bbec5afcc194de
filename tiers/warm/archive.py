"""A stored point as the entry it was made of, to be written into another index."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import CorruptRecord
from ..moments import moment
from ..records import IndexEntry
from .payload import NEVER, NO_TOPIC, SHARED, kinds_stored, label_of


def entry_of(payload: Mapping[str, Any], vector: tuple[float, ...] | None) -> IndexEntry:
    """Return the entry that ``payload_of`` made this payload of.

    Raises:
        CorruptRecord: The payload is not one that ``payload_of`` makes.
    """
    try:
        kind, *more = kinds_stored(payload)
        grain = payload["grain"] or None
        return IndexEntry(
            id=payload["id"],
            tenant=payload["tenant"],
            graph_id=payload["graph"],
            agent_id=payload["agent_id"],
            user_id=payload["user_id"] or None,
            kind=kind,
            text=payload["text"],
            vector=vector,
            tier=payload["tier"] or None,
            grain=grain,
            also=tuple(one for one in more if not grain or one != label_of(grain)),
            speaker=payload["speaker"],
            ref=payload["ref"],
            topics=tuple(topic for topic in payload["topics"] if topic != NO_TOPIC),
            private=payload["private_to"] != SHARED,
            source_ids=tuple(payload["source_ids"]),
            occurred_at=None if payload["occurred_at"] is None else moment(payload["occurred_at"]),
            expires_at=None if payload["expires_at"] == NEVER else moment(payload["expires_at"]),
            recorded_at=moment(payload["recorded_at"]),
        )
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise CorruptRecord("warm", "export", "a stored point cannot be read back") from error
