"""A session graph as rows that can be carried: read out table by table, and put in elsewhere.

Ids, moments, hashes and everything private stay as they are, so that a graph that was put in is the
one that was read out: its belief log verifies, its contexts replay. What follows from the rows
(coverage, word index, vectors) is brought about again where they arrive.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from pydantic import Field, JsonValue, ValidationError

from tiers.drafts import index_work
from tiers.errors import Conflict, NotFound, UsageError, check_within
from tiers.fields import AuditKind, Misfit
from tiers.fleet import CATALOG
from tiers.forms import is_searchable
from tiers.records import Record, Scope, SessionGraph
from tiers.upkeep import ARCHIVE_ROWS, PAGE_ROWS_MAX, QueuedWork, Table, core_of

from ..beliefs.proofs import Witness
from ..checks import called, checked
from ..operations import operation
from ..runtime import Runtime

TABLES: tuple[Table, ...] = (*(one for one in ARCHIVE_ROWS if one != "graphs"), "graphs")
"""In the order in which they are put in: a graph is there when all that it holds is."""

ROWS_PER_CALL = 500

_IMPORTED_AUDIT: AuditKind = "imported"


class CarriedRows(Record):
    """Some rows of a table of one graph, and where to go on; ``cursor`` is ``None`` at the end.

    There may be none on a page that is not the last: the rows of other graphs lie between.
    """

    rows: tuple[dict[str, JsonValue], ...]
    cursor: str | None = None


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

        Each page looks at so many rows of the tenant. Waiting work of the warm index is left out:
        it is queued again where the rows arrive.

        Args:
            table: One of ``TABLES``.
            after: The ``cursor`` of the page before; empty begins.
            limit: 1 to 1,000.

        Raises:
            UsageError: An argument is not acceptable.
        """
        check_within("limit", limit, 1, PAGE_ROWS_MAX)
        graph = self._scope.graph_id
        with called(cursor="after"):
            page = await self._runtime.archive.export_rows(self._scope.tenant, table, after, limit)
        own = (one for one in page.rows if graph_of(one) == graph and not _is_indexing(one))
        rows = tuple(one.model_dump(mode="json") for one in own)
        return CarriedRows(rows=rows, cursor=page.cursor)


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
    if await runtime.graphs.graph(tenant, graph_id) is not None:
        raise Conflict(f"session graph {graph_id!r}", "no graph of that id", "one that exists")
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
    new = await runtime.archive.import_rows(tenant, table, records)
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
    if await runtime.graphs.graph(record.tenant, record.id) is not None:
        return  # whoever makes graphs says so
    scope = Scope.of_graph(record.tenant, record.id)
    if await runtime.fleet.agents(scope) or any((await runtime.words.census(scope)).values()):
        found = "an import that was cut off; repeat it"
        raise Conflict(f"session graph {record.id!r}", "nothing of that id", found)


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


def _is_indexing(record: Record) -> bool:
    return isinstance(record, QueuedWork) and record.kind == "index"


async def _check_parents(runtime: Runtime, record: SessionGraph) -> None:
    for parent in record.inherits_from:
        if await runtime.graphs.graph(record.tenant, parent) is None:
            raise NotFound("session graph", parent)
