"""What the warm engine stores beside the vectors, and how it becomes a ``Hit`` again.

A search engine cannot match "absent" as fast as a value, so what a record lacks is stored as a
sentinel that nothing else can be: no topic is ``""``, no agent or user is called ``""``, and no
expiry is ``NEVER``. Times are integer microseconds since 1970, exact in an engine that compares
doubles as long as they stay below ``NEVER``, which is the year 2255.
"""

from __future__ import annotations

import json
import math
import uuid
from collections.abc import Mapping
from datetime import datetime
from functools import lru_cache
from typing import Any

from ..errors import CorruptRecord, UsageError
from ..ids import derived_id
from ..moments import microseconds, moment
from ..owned import check_owner
from ..records import UNRECORDED, Ancestor, FactTier, Grain, Hit, IndexEntry, Scope

ARCHIVAL: FactTier = "archival"
NO_TIER = ""
NO_TOPIC = ""
NO_USER = ""
SHARED = ""
NO_GRAIN = ""
NO_GRAPH = ""
"""Of points that are no entries but say how far an index has come; no scope can name it."""

NEVER = 2**53

OWNERS_REMEMBERED = 2_000
"""Names of owners: those of a graph come with each of its questions and entries."""

AS_IT_IS = ("id", "tenant", "agent_id", "text", "speaker", "ref")
"""Keys under which lies what an entry says."""

NAMED_BY = ("id", "source_ids")
"""Keys that say which entry it is and what it was made of, and nothing of what it says."""

DENSE = "dense"
LEXICAL = "bm25"
FORMAT = 2
"""Of a collection; raised when stored payloads or vectors change their meaning."""

KEYWORD_KEYS = (
    *("owner", "tenant", "graph", "kind", "topics", "private_to", "tier", "user_id", "agent_id"),
)
INTEGER_KEYS = ("expires_at", "recorded_at", "occurred_at")
"""Keys that predicates use, and therefore those the engine indexes.

No other key is indexed: each index is about ten more files to write out at every flush. Without
one a condition reads the payload of every entry that it is asked of: in a graph of 100,000 a
search took 230 ms instead of 20. A server may even be set to refuse. For the same reason the
grain of an episode is found under ``kind``, see ``label_of``.
"""

_NORM_MAX = 3e38  # beyond it a 32-bit float overflows to infinity


def expiry(when: datetime | None) -> int:
    """Return an expiry, or the moment to compare one with, inside what compares exactly."""
    if when is None:
        return NEVER
    return max(-NEVER, min(microseconds(when), NEVER - 1))


def point_id(scope: Scope, record_id: str) -> str:
    """Return the engine's id for a record of the scope's tenant and graph.

    Made of all three names, so that writing a record can never replace one of another tenant
    or graph, not even when the ids are equal.
    """
    return derived_id(UNRECORDED, scope.tenant, scope.graph_id, record_id)


@lru_cache(maxsize=OWNERS_REMEMBERED)
def owner_of(tenant: str, graph_id: str, *label: str) -> str:
    """Return the name under which a graph's entries are found, all of them or those of one kind.

    One name instead of two or three conditions: each is asked of every entry of the graph, and they
    took most of a search's time. Written as JSON, so that no two owners have one name.
    """
    return json.dumps([tenant, graph_id, *label])


def label_of(grain: Grain) -> str:
    """Return what an episode of this grain has among its kinds; no kind is called that."""
    return f"episode/{grain}"


def kinds_stored(payload: Mapping[str, Any]) -> list[str]:
    """Return what is stored under ``kind``, as what an entry is found; its own kind comes first."""
    stored = payload["kind"]
    return list(stored) if isinstance(stored, list) else [stored]


def payload_of(entry: IndexEntry) -> dict[str, Any]:
    """Return what is stored for an entry beside its vectors."""
    occurred_at = None if entry.occurred_at is None else microseconds(entry.occurred_at)
    kind = _kinds(entry)
    place = (entry.tenant, entry.graph_id)
    labels = [kind] if isinstance(kind, str) else kind
    return {
        **{name: getattr(entry, name) for name in AS_IT_IS},
        "owner": [owner_of(*place), *(owner_of(*place, label) for label in labels)],
        "graph": entry.graph_id,
        "kind": kind,
        "topics": list(entry.topics) or [NO_TOPIC],
        "private_to": entry.agent_id if entry.private else SHARED,
        "tier": entry.tier or NO_TIER,
        "grain": entry.grain or NO_GRAIN,
        "expires_at": expiry(entry.expires_at),
        "user_id": entry.user_id or NO_USER,
        "source_ids": list(entry.source_ids),
        "occurred_at": occurred_at,
        "recorded_at": microseconds(entry.recorded_at),
    }


def named(point: str, payload: Mapping[str, Any] | None) -> tuple[str, tuple[str, ...]]:
    """Return the id of a stored entry, and of what it was made of; of a damaged one the point's."""
    stored = payload or {}
    entry_id, sources = stored.get("id"), stored.get("source_ids")
    made_of = sources if isinstance(sources, list) else []
    return (
        entry_id if isinstance(entry_id, str) else point,
        tuple(one for one in made_of if isinstance(one, str)),
    )


def hit_of(
    payload: Mapping[str, Any], score: float, scope: Scope, cosine: float | None = None
) -> Hit:
    """Return a stored payload as an answer to the scope: its own, or read from an ancestor.

    Raises:
        CorruptRecord: The payload is not one that ``payload_of`` makes, or of another graph.
    """
    try:
        graph_id, kind, topics = payload["graph"], payload["kind"], payload["topics"]
        ancestor = None if graph_id == scope.graph_id else _ancestor(graph_id, scope)
        recorded_at, occurred_at = payload["recorded_at"], payload["occurred_at"]
        at = _moment(recorded_at)
        # As one dictionary, which takes a fifth less time than by names.
        return Hit.model_validate(
            {
                "id": payload["id"],
                "kind": kind if isinstance(kind, str) else kind[0],
                "text": payload["text"],
                "score": score,
                "tier": "warm",
                "source_ids": tuple(payload["source_ids"]),
                "graph_id": graph_id,
                "agent_id": payload["agent_id"],
                "speaker": payload["speaker"],
                "ref": payload["ref"],
                "topics": () if topics == [NO_TOPIC] else tuple(topics),
                "occurred_at": at if occurred_at == recorded_at else _moment(occurred_at),
                "recorded_at": at,
                "inherited_from": ancestor.graph_id if ancestor else None,
                "path": ancestor.path if ancestor else (),
                "user_id": payload["user_id"] or None,
                "fact_tier": payload["tier"] or None,
                "grain": payload["grain"] or None,
                "cosine": cosine,
            }
        )
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise CorruptRecord("warm", "search", "a stored point cannot be read back") from error


def check_entry(scope: Scope, entry: IndexEntry, dimensions: int) -> None:
    """Refuse what the engine would refuse or, worse, take half of.

    Raises:
        UsageError: Wrong owner, id, privacy, vector or text; names the field.
    """
    check_owner(scope, entry, "an entry")
    if not _is_uuid(entry.id):
        raise UsageError("id", entry.id, "a UUID in its canonical, lower-case form")
    if entry.private and not entry.agent_id:
        # Stored as it is, it would belong to "" and thereby be shared.
        raise UsageError("private", entry.id, "a private entry that names its agent")
    check_vector(entry.vector, dimensions)
    _check_unicode(entry)


def check_vector(vector: tuple[float, ...] | None, dimensions: int) -> None:
    """Refuse a vector of another length, or one the engine would store and never find.

    Raises:
        UsageError: Names both lengths, or the numbers that are not finite.
    """
    if vector is None:
        return
    if len(vector) != dimensions:
        raise UsageError("vector", f"{len(vector)} floats", f"{dimensions} floats")
    if not math.hypot(*vector) < _NORM_MAX:
        raise UsageError("vector", "numbers that are not finite", "finite floats")


def _kinds(entry: IndexEntry) -> str | list[str]:
    more = [*entry.also, *([label_of(entry.grain)] if entry.grain else ())]
    return [entry.kind, *more] if more else entry.kind


def _check_unicode(entry: IndexEntry) -> None:
    names = (entry.agent_id, entry.user_id or "", entry.speaker, entry.ref or "", entry.text)
    try:
        "".join((*names, *entry.topics, *entry.source_ids)).encode()
    except UnicodeEncodeError as error:
        raise UsageError("entry", entry.id, "text without lone surrogates") from error


def _is_uuid(text: str) -> bool:
    try:
        return str(uuid.UUID(text)) == text
    except ValueError:
        return False


def _ancestor(graph_id: str, scope: Scope) -> Ancestor:
    for ancestor in scope.lineage:
        if ancestor.graph_id == graph_id:
            return ancestor
    message = "neither the own graph nor an ancestor"
    raise ValueError(message)


def _moment(stored: int | None) -> datetime | None:
    return None if stored is None else moment(stored)
