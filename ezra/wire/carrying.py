"""Reading everything out of a graph, and putting it in elsewhere, as operations."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, JsonValue, TypeAdapter

from tiers.upkeep import PAGE_ROWS_MAX, Table

from .operation import Asked, Operation

_ROWS = "/v1/graphs/{graph_id}/rows"


class ImportRowsAsked(Asked):
    """As ``Ezra.import_rows``."""

    table: Table
    rows: Annotated[tuple[dict[str, JsonValue], ...], Field(max_length=PAGE_ROWS_MAX)]


IMPORT_ROWS = Operation(
    "graph.import_rows",
    "POST",
    _ROWS,
    ImportRowsAsked,
    TypeAdapter(int),
    "operate",
    "Put rows of a graph in that is not there; answers how many are new.",
)
