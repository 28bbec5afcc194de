"""Reading everything out of a graph, and putting it in elsewhere, as operations."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, JsonValue, TypeAdapter

from tiers.upkeep import PAGE_ROWS_MAX, Table

from ..carrying import ROWS_PER_CALL, CarriedRows
from .operation import Asked, Operation

_ROWS = "/v1/graphs/{graph_id}/rows"


class ExportRowsAsked(Asked):
    """As ``Graph.export_rows``."""

    table: Table
    after: str = ""
    limit: Annotated[int, Field(ge=1, le=PAGE_ROWS_MAX)] = ROWS_PER_CALL


class ImportRowsAsked(Asked):
    """As ``Ezra.import_rows``."""

    table: Table
    rows: Annotated[tuple[dict[str, JsonValue], ...], Field(max_length=PAGE_ROWS_MAX)]


EXPORT_ROWS = Operation(
    "graph.export_rows",
    "GET",
    _ROWS,
    ExportRowsAsked,
    TypeAdapter(CarriedRows),
    "operate",
    "Everything that a table holds of a graph, private rows included, page by page.",
)
IMPORT_ROWS = Operation(
    "graph.import_rows",
    "POST",
    _ROWS,
    ImportRowsAsked,
    TypeAdapter(int),
    "operate",
    "Put rows of a graph in that is not there; answers how many are new.",
)
OPERATIONS: tuple[Operation[Any, Any], ...] = (EXPORT_ROWS, IMPORT_ROWS)
