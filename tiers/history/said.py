"""What the contents of events may say, by kind. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ..beliefs import BeliefEvent, BeliefKind, BranchPoint, Commitment, LoggedBelief, Settlement
from ..errors import UsageError
from .chain import canonical, stored_digest
from .reading import parsed

_HEX_DIGITS = frozenset("0123456789abcdef")


class _Said(BaseModel):
    """What is needed of a content; what else it says is not asked."""

    model_config = ConfigDict(extra="allow", strict=True)


class _Superseded(_Said):
    superseded_by: str


class _Rewound(_Said):
    to_seq: int = Field(ge=0)


class _Trusted(_Said):
    agent_id: str
    topic: str | None
    before: float = Field(ge=0.0, le=1.0)
    after: float = Field(ge=0.0, le=1.0)


_SHAPES: Mapping[BeliefKind, type[BaseModel]] = {
    "branched": BranchPoint,
    "adopted": Commitment,
    "committed": Commitment,
    "contradicted": Settlement,
    "superseded": _Superseded,
    "rewound": _Rewound,
    "trusted": _Trusted,
}


def said_by(entry: LoggedBelief) -> dict[str, Any] | str:
    """Return what an event says, or why that is not what it was made with.

    The content is there. What is returned has the shape that the kind of event asks for.
    """
    event, content, salt = entry.event, entry.content, entry.salt
    if content is None or salt is None or not _is_hex(salt):
        return "its content and its salt are not both there"
    try:
        written = content.encode()
    except UnicodeEncodeError:
        return "its content is no text"
    if stored_digest(bytes.fromhex(salt), written) != event.content_digest:
        return "its content is not what its digest was made of"
    said = _object(content)
    if said is None:
        return "its content is no canonical JSON object"
    return _shape_problem(event, said) or said


def _object(content: str) -> dict[str, Any] | None:
    """Return the JSON object of a canonical text; ``None`` for whatever else it is."""
    try:
        said = parsed(content)
        if isinstance(said, dict) and canonical(said) == content.encode():
            return said
    except (ValueError, RecursionError, UsageError):
        pass
    return None


def _shape_problem(event: BeliefEvent, said: dict[str, Any]) -> str | None:
    shape = _SHAPES.get(event.kind)
    try:
        if shape is not None:
            shape.model_validate(said)
    except (ValidationError, OverflowError):
        return f"its content is not what an event that {event.kind} something says"
    if event.kind not in {"adopted", "committed"}:
        return None
    owner = (said.get("id"), said.get("tenant"), said.get("graph_id"))
    is_own = owner == (event.belief_id, event.tenant, event.graph_id)
    return None if is_own else "its content is that of another belief"


def _is_hex(text: str) -> bool:
    return len(text) % 2 == 0 and _HEX_DIGITS.issuperset(text)
