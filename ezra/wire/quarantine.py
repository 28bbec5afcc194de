"""What the write guard has put aside, as operations."""

from __future__ import annotations

from typing import Any

from pydantic import TypeAdapter

from tiers.quarantine import HELD_PAGE_MAX, Quarantined
from tiers.records import Text

from .operation import Asked, Operation
from .points import Count
from .recalling import GRAPH


class QuarantineAsked(Asked):
    """Which page."""

    after: str = ""
    limit: Count = HELD_PAGE_MAX


class DecisionAsked(Asked):
    """Why a text is released or discarded."""

    reason: Text


LIST = Operation(
    "quarantine.list",
    "GET",
    f"{GRAPH}/quarantine",
    QuarantineAsked,
    TypeAdapter(tuple[Quarantined, ...]),
    "read",
    "The texts that the write guard has put aside and nobody decided about, the oldest first.",
)
RELEASE = Operation(
    "quarantine.release",
    "POST",
    f"{GRAPH}/quarantine/{{text_id}}/release",
    DecisionAsked,
    TypeAdapter(str),
    "operate",
    "Store a text that was put aside; answers the id of what it became.",
    repeats=False,
)
DISCARD = Operation(
    "quarantine.discard",
    "POST",
    f"{GRAPH}/quarantine/{{text_id}}/discard",
    DecisionAsked,
    TypeAdapter(bool),
    "operate",
    "Throw a text away that was put aside; false when it was decided about before.",
    repeats=False,
)

OPERATIONS: tuple[Operation[Any, Any], ...] = (LIST, RELEASE, DISCARD)
