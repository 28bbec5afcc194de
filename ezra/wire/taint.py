"""What came of a poisoned record, and roll-backs: the methods of ``graph.taint`` as operations."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, TypeAdapter

from tiers.records import Text
from tiers.taint import RollBack

from ..taint.rolling_back import RollBackReport
from ..taint.tracing import PAGE_MAX, Trace
from .operation import Asked, Nothing, Operation
from .points import Count

TAINT = "/v1/graphs/{graph_id}/taint"


class TraceAsked(Asked):
    """Which page of the tree: see ``Taint.trace``."""

    limit: Annotated[int, Field(ge=1, le=PAGE_MAX)] = 200
    after: Count = 0


class RollBackAsked(Asked):
    """As ``Taint.roll_back``."""

    record_id: Text
    reason: Text
    dry_run: bool = False
    exposed: bool = False


class EndAsked(Asked):
    """Why a roll-back is undone or confirmed; must not be blank."""

    reason: Text


_REPORT = TypeAdapter(RollBackReport)

TRACE = Operation(
    "taint.trace",
    "GET",
    f"{TAINT}/records/{{record_id}}",
    TraceAsked,
    TypeAdapter(Trace),
    "read",
    "What came of a record, what was exposed to it, and what it came of.",
)
LIST = Operation(
    "taint.list",
    "GET",
    f"{TAINT}/roll-backs",
    Nothing,
    TypeAdapter(tuple[RollBack, ...]),
    "read",
    "The roll-backs of a graph's records, the latest first.",
)
ROLL_BACK = Operation(
    "taint.roll_back",
    "POST",
    f"{TAINT}/roll-backs",
    RollBackAsked,
    _REPORT,
    "operate",
    "Set aside or revert everything that came of a record, until that is confirmed or undone.",
)
UNDO = Operation(
    "taint.undo",
    "POST",
    f"{TAINT}/roll-backs/{{roll_back_id}}/undo",
    EndAsked,
    _REPORT,
    "operate",
    "Bring back what an open roll-back took.",
)
CONFIRM = Operation(
    "taint.confirm",
    "POST",
    f"{TAINT}/roll-backs/{{roll_back_id}}/confirm",
    EndAsked,
    _REPORT,
    "operate",
    "Destroy what an open roll-back keeps: it can be undone no longer.",
)
OPERATIONS: tuple[Operation[Any, Any], ...] = (TRACE, LIST, ROLL_BACK, UNDO, CONFIRM)
