"""A session graph as rows that can be carried: read out table by table, and put in elsewhere.

Ids, moments, hashes and everything private stay as they are, so that a graph that was put in is the
one that was read out: its belief log verifies, its contexts replay. What follows from the rows
(coverage, word index, vectors) is brought about again where they arrive.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from pydantic import Field, JsonValue, ValidationError

from tiers.drafts import index_work
from tiers.errors import ConfigError, Conflict, NotFound, TierError, UsageError, check_within
from tiers.fields import AuditKind, Misfit
from tiers.fleet import CATALOG
from tiers.forms import is_searchable
from tiers.records import Record, Scope, SessionGraph
from tiers.upkeep import (
    ARCHIVE_ROWS,
    PAGE_ROWS_MAX,
    DiscardedRows,
    QueuedWork,
    Table,
    core_of,
)

from ..beliefs.proofs import Witness
from ..checks import called, checked
from ..erasure.redaction import files_rewritten
from ..operations import operation
from ..runtime import Runtime

TABLES: tuple[Table, ...] = (*(one for one in ARCHIVE_ROWS if one != "graphs"), "graphs")
"""In the order in which they are put in: a graph is there when all that it holds is."""

ROWS_PER_CALL = 500
BYTES_PER_PAGE = 16 * 2**20
"""Of the rows of a page, unless one alone is larger: a turn may have two million characters, and
whoever asks over the wire takes no answer of any size."""
ROWS_AT_FIRST = 16
"""From so many rows a page learns how large they are."""

_IMPORTED_AUDIT: AuditKind = "imported"


class CarriedRows(Record):
    """Some rows of a table of one graph, and where to go on; ``cursor`` is ``None`` at the end.

    There may be none on a page that is not the last: the rows of other graphs lie between.
    """

    rows: tuple[dict[str, JsonValue], ...]
    cursor: str | None = None


class DiscardedImport(Record):
    """What was taken away of an import that was cut off.

    Attributes:
        session_graph_id: Of the graph that never came to be.
        rows: How many rows of each table.
        waiting: Stores that are not clean yet, each with the reason and what will clean it.
    """

    session_graph_id: str
    rows: dict[Table, int]
    waiting: dict[str, str] = Field(default_factory=dict)


class GraphRows:
    """The part of a graph's handle that reads out everything it holds."""

    _runtime: Runtime
    _scope: Scope

    @operation("GET", "/rows", changes=True)
    async def export_rows(
        self,
        table: Table,
        after: str = "",
        limit: Annotated[int, Field(ge=1, le=PAGE_ROWS_MAX)] = ROWS_PER_CALL,
    ) -> CarriedRows:
        """Return everything that a table holds of the graph, private rows included, page by page.

        Each page looks at so many rows of the tenant, or at fewer where these are large. Waiting
        work of the warm index is left out: it is queued again where the rows arrive.

        Args:
            table: One of ``TABLES``.
            after: The ``cursor`` of the page before; empty begins.
            limit: 1 to 1,000.

        Raises:
            UsageError: An argument is not acceptable.
        """
        check_within("limit", limit, 1, PAGE_ROWS_MAX)
        read, tenant = self._runtime.archive.export_rows, self._scope.tenant
        rows, size, looked_at, step = list[dict[str, JsonValue]](), 0, 0, min(limit, ROWS_AT_FIRST)
        while True:
            with called(cursor="after"):
                page = await read(tenant, table, after, step)
            more, added = await asyncio.to_thread(_shown, self._scope.graph_id, page.rows)
            if size + added > BYTES_PER_PAGE and step > 1:
                step = max(1, step // 4)  # how large rows are is found out by reading them
                continue
            if size + added > BYTES_PER_PAGE and rows:
                return CarriedRows(rows=tuple(rows), cursor=after)
            rows, size, looked_at = [*rows, *more], size + added, looked_at + step
            left = (BYTES_PER_PAGE - size) * looked_at // max(size, 1)
            step = min(limit - looked_at, left)
            if page.cursor is None or step <= 0:
                return CarriedRows(rows=tuple(rows), cursor=page.cursor)
            after = page.cursor


async def import_rows(
    runtime: Runtime, graph_id: str, table: Table, rows: Sequence[Mapping[str, Any]]
) -> int:
    """Put rows of a graph in that is not there, and return how many are new.

    Rows of ``graphs`` come last, and make it be there. Until then nobody sees the others, and
    putting them in again is harmless.

    Raises:
        Conflict: The graph is there, or a row of the same identity is and differs, or the beliefs
            that were put in do not follow from their log: the graph does not come to be.
        NotFound: The graph inherits from one that is not there.
        UsageError: A row is none of the table, of another graph or of another tenant, there are
            too many, or no graph can have the id.
    """
    if len(rows) > PAGE_ROWS_MAX:
        raise UsageError("rows", len(rows), f"at most {PAGE_ROWS_MAX:,} rows")
    tenant, now = runtime.settings.tenant, runtime.clock()
    checked(Scope, tenant=tenant, graph_id=graph_id)
    await _check_absent(runtime, Scope.of_graph(tenant, graph_id))
    records = [record_of(table, row, place) for place, row in enumerate(rows)]
    for record in records:
        if graph_of(record) != graph_id:
            raise UsageError("rows", graph_of(record), f"rows of graph {graph_id!r}")
        if isinstance(record, SessionGraph):
            if record.id == CATALOG and record.parents:
                raise UsageError("parents", record.inherits_from, "none: every graph reads it")
            await _check_parents(runtime, record)
            await Witness(runtime, Scope.of_graph(tenant, graph_id)).check_arrived()
    await runtime.make_room()
    try:
        new = await runtime.archive.import_rows(tenant, table, records)
    except Conflict as error:
        found = f"{error.found}; what another import has left can be discarded"
        raise Conflict(error.what, error.expected, f"{found}: ezra import --discard") from error
    scope = Scope.of_graph(tenant, graph_id)
    owned = [core_of(one) for one in records]
    work = [index_work(one.id, one.agent_id) for one in owned if is_searchable(one)]
    if work:
        await runtime.queue.enqueue(scope, work, now)
    if table == "graphs" and new:
        await runtime.log.append_audit(scope, _IMPORTED_AUDIT, (), "", now)
        runtime.wake_learning()
    return new


async def check_nothing_left(runtime: Runtime, record: SessionGraph) -> None:
    """Refuse to make a graph of what an import has put in that was cut off.

    Raises:
        Conflict: There is such an import; repeating it makes the graph.
    """
    if await runtime.archive.rows_left(Scope.of_graph(record.tenant, record.id)):
        found = "an import that was cut off; repeat it, or discard it: ezra import --discard"
        raise Conflict(f"session graph {record.id!r}", "nothing of that id", found)


async def unfinished_import(runtime: Runtime, graph_id: str) -> dict[Table, int]:
    """Return how many rows of each table an import has put in of a graph that is not there."""
    scope = checked(Scope, tenant=runtime.settings.tenant, graph_id=graph_id)
    return await runtime.archive.rows_left(scope)


async def discard_import(runtime: Runtime, graph_id: str) -> DiscardedImport:
    """Take away what an import that was cut off has put in, from every store.

    May be repeated: one that was cut off goes on, and nothing left is none to discard.

    Raises:
        Conflict: The graph is there.
        NotFound: No import has put anything in.
        UsageError: No graph can have the id.
        TierError: The cold tier failed; repeating goes on.
    """
    scope = checked(Scope, tenant=runtime.settings.tenant, graph_id=graph_id)
    await _check_absent(runtime, scope)
    if not await runtime.archive.rows_left(scope):
        raise NotFound("unfinished import of session graph", graph_id)
    done, waiting = DiscardedRows(), dict[str, str]()
    while not done.is_all:
        done = await runtime.archive.discard(scope, runtime.clock(), done)
        try:
            await runtime.warm.delete(scope, done.ids)
        except (TierError, ConfigError) as error:
            waiting["warm"] = f"{error}; the queued index work removes the entries"
    runtime.wake_learning()
    return DiscardedImport(
        session_graph_id=graph_id, rows=done.rows, waiting=await files_rewritten(runtime, waiting)
    )


def record_of(table: Table, row: Mapping[str, Any], place: int) -> Record:
    """Return a row as the record that it is.

    Raises:
        UsageError: It is none of the table; what it holds is not told.
    """
    if table not in ARCHIVE_ROWS:
        raise UsageError("table", table, ", ".join(TABLES))
    try:
        return ARCHIVE_ROWS[table].model_validate(row)
    except ValidationError as error:
        first = Misfit.first_of(error)
        accepted = f"a row of {table}: {first.accepted}"
        raise UsageError(f"rows[{place}]", first.field("row"), accepted) from error


def graph_of(record: Record) -> str:
    """Return the graph that a row is of."""
    content = core_of(record)
    if isinstance(content, SessionGraph):
        return content.id
    graph_id: str = vars(content)["graph_id"]  # every row but a graph has one
    return graph_id


def _shown(graph_id: str, rows: Sequence[Record]) -> tuple[list[dict[str, JsonValue]], int]:
    """Return what a page shows of some rows, and of how many bytes that is."""
    own = [one for one in rows if graph_of(one) == graph_id and not _is_indexing(one)]
    size = sum(len(one.model_dump_json().encode()) for one in own)
    return [one.model_dump(mode="json") for one in own], size


def _is_indexing(record: Record) -> bool:
    return isinstance(record, QueuedWork) and record.kind == "index"


async def _check_absent(runtime: Runtime, scope: Scope) -> None:
    if await runtime.graphs.graph(scope.tenant, scope.graph_id) is not None:
        name = f"session graph {scope.graph_id!r}"
        raise Conflict(name, "no graph of that id", "one that exists")


async def _check_parents(runtime: Runtime, record: SessionGraph) -> None:
    for parent in record.inherits_from:
        if await runtime.graphs.graph(record.tenant, parent) is None:
            raise NotFound("session graph", parent)
