"""A session graph in one file: written as it is read out, checked whole, and put in.

JSON lines: the graph, then the rows of each table with causes before effects, then an end that
counts them and has the SHA-256 of every line before it. Whoever has the file has every content.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import stat
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Protocol, runtime_checkable

from tiers.errors import Conflict, NotFound, UsageError, refused
from tiers.fleet import CATALOG
from tiers.paging import linked
from tiers.records import Record, SessionGraph
from tiers.upkeep import Table

from .carried_rows import Misfit, RowsCheck
from .carrying import ROWS_PER_CALL, TABLES, CarriedRows, graph_of, record_of
from .graph_status import GraphStatus

FORMAT = "ezra session graph"
VERSION = 1
LINE_BYTES_MAX = 1 << 28
BYTES_PER_CALL = 1 << 20
"""Rows go over the wire in calls of about so many bytes: what a server reads at once is limited."""

Advance = Callable[[str, int], None]
"""Told a table's name and how many of its rows were read or put in."""


class Exporting(Protocol):
    """What is needed of a graph's or the catalog's handle, here or remote, to read it out."""

    async def status(self) -> GraphStatus:
        """Return what each tier holds."""

    async def export_rows(
        self, table: Table, after: str = "", limit: int = ROWS_PER_CALL
    ) -> CarriedRows:
        """Return rows, page by page."""


class _Numbered(Protocol):
    async def seq_at(self) -> int:
        """Return the last event of the belief log."""


@runtime_checkable
class _Believing(Protocol):
    """What a graph's handle has, and the catalog's has not: nobody believes anything there."""

    @property
    def beliefs(self) -> _Numbered:
        """The history of its beliefs."""


class Importing(Protocol):
    """What is needed of a runtime's handle, in process or remote, to put a graph in."""

    async def session_graph(self, session_graph_id: str) -> object:
        """Return the handle of a graph."""

    async def import_rows(
        self, session_graph_id: str, table: Table, rows: Sequence[Mapping[str, Any]]
    ) -> int:
        """Put rows in."""

    async def unfinished_import(self, session_graph_id: str) -> Mapping[Table, int]:
        """Return how many rows of each table were put in so far."""


@dataclass(frozen=True)
class Carried:
    """What a file holds.

    Attributes:
        graph: The graph.
        rows: How many rows each table has.
        sha256: Of every line before the last.
    """

    graph: SessionGraph
    rows: dict[str, int] = field(default_factory=dict)
    sha256: str = ""

    @property
    def total(self) -> int:
        """How many rows there are in all."""
        return sum(self.rows.values())


async def lines_of(graph: Exporting, advance: Advance | None = None) -> AsyncIterator[bytes]:
    """Yield the lines of a graph's file, each with its end.

    Raises:
        Conflict: Somebody wrote into the graph meanwhile; what was yielded is no whole file.
    """
    digest = hashlib.sha256()
    counts = _no_rows()
    before = await _state(graph)
    (record,) = [row async for row in _rows(graph, "graphs", None, counts)]
    head = {"format": FORMAT, "version": VERSION, "graph": record}
    line = _line(head)
    digest.update(line)
    yield line
    for table in TABLES[:-1]:
        async for row in _rows(graph, table, advance, counts):
            line = _line({"table": table, "row": row})
            digest.update(line)
            yield line
    if await _state(graph) != before:
        expected = "nobody who writes into it while it is exported"
        raise Conflict(
            f"session graph {record['id']!r}", expected, "new records; close it, or repeat"
        )
    yield _line({"rows": counts, "sha256": digest.hexdigest()})


def checked_file(path: Path) -> Carried:
    """Return what a file holds, after looking at every line of it. For a thread: it reads files.

    Raises:
        UsageError: It cannot be read, is cut off or was changed, its rows do not fit to each other,
            or its belief log does not verify: the line is named.
    """
    with _opened(path) as file:
        return _Check(path).result(file)


async def put_in(
    target: Importing, path: Path, carried: Carried, advance: Advance | None = None
) -> int:
    """Put a file's graph in, and return how many rows were new. The file must have been checked.

    One that was cut off is finished by repeating it; until then the graph is not there.

    Raises:
        Conflict: The graph is there, or other rows are, or somebody has discarded rows meanwhile.
        NotFound: It inherits from a graph that is not there: that one comes first.
        UsageError: The file is not any more what was checked; the graph is not there.
    """
    await _check_place(target, carried.graph)
    new = 0
    with await asyncio.to_thread(_opened, path) as file:
        batches = _batches(file, path, carried.sha256)
        while (batch := await asyncio.to_thread(next, batches, None)) is not None:
            table, rows = batch
            new += await target.import_rows(carried.graph.id, table, rows)
            if advance is not None:
                advance(table, len(rows))
    await _check_kept(target, carried)
    record = carried.graph.model_dump(mode="json")
    new += await target.import_rows(carried.graph.id, "graphs", [record])
    if advance is not None:
        advance("graphs", 1)
    return new


class _Check:
    """Looks at the lines of a file, one after the other."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._counts = _no_rows()
        self._digest = hashlib.sha256()
        self._number = 0
        self._table = TABLES[0]
        self._graph: SessionGraph | None = None
        self._rows: RowsCheck | None = None
        self._end: Carried | None = None

    def result(self, file: BinaryIO) -> Carried:
        for line in _lines(file, self._path):
            self._number += 1
            self._take(line)
            self._digest.update(line)
        if self._end is None:
            raise self._wrong("it is cut off: its end is missing")
        return self._end

    def _take(self, line: bytes) -> None:
        document = self._document(line)
        if self._end is not None:
            raise self._wrong("it goes on behind its end")
        if self._graph is None:
            self._graph = self._begun(document)
            self._rows = RowsCheck(self._graph)
        elif "sha256" in document:
            self._end = self._ended(self._graph, document)
        else:
            self._row(self._graph, document)

    def _document(self, line: bytes) -> dict[str, Any]:
        try:
            document = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise self._wrong("it is no JSON") from error
        if not isinstance(document, dict):
            raise self._wrong("it is no object")
        return document

    def _begun(self, document: dict[str, Any]) -> SessionGraph:
        if document.get("format") != FORMAT or document.get("version") != VERSION:
            raise self._wrong(f"the beginning of a file of {FORMAT}, version {VERSION}, is missing")
        record = self._record("graphs", document.get("graph"))
        if not isinstance(record, SessionGraph):
            raise self._wrong("it names no graph")
        return record

    def _row(self, graph: SessionGraph, document: dict[str, Any]) -> None:
        table = document.get("table")
        if table not in TABLES[:-1] or TABLES.index(table) < TABLES.index(self._table):
            raise self._wrong("its table is unknown, or comes too late")
        self._table = table
        record = self._record(table, document.get("row"))
        tenant = getattr(record, "tenant", graph.tenant)
        if graph_of(record) != graph.id or tenant != graph.tenant:
            raise self._wrong("it is of another graph")
        self._counts[table] += 1
        self._fits(lambda rows: rows.add(table, record, self._number))

    def _record(self, table: Table, row: object) -> Record:
        if not isinstance(row, dict):
            raise self._wrong("it has no row")
        try:
            return record_of(table, row, 0)
        except UsageError as error:
            raise self._wrong(f"{error.value} does not fit: {error.accepted}") from error

    def _ended(self, graph: SessionGraph, document: dict[str, Any]) -> Carried:
        counted = document.get("rows")
        is_counted = isinstance(counted, dict) and _no_rows() | counted == self._counts
        if document.get("sha256") != self._digest.hexdigest() or not is_counted:
            raise self._wrong("the lines before are not those that were written")
        self._fits(RowsCheck.conclude)
        return Carried(graph, dict(self._counts), self._digest.hexdigest())

    def _fits(self, step: Callable[[RowsCheck], None]) -> None:
        """Let the rows be compared with each other."""
        if self._rows is None:
            return
        try:
            step(self._rows)
        except Misfit as misfit:
            raise self._wrong(misfit.why, misfit.line) from misfit

    def _wrong(self, why: str, line: int = 0) -> UsageError:
        return _not_whole(self._path, line or self._number, why)


def _no_rows() -> dict[str, int]:
    """Return a count of each table; a file from before there was a table does not count it."""
    return dict.fromkeys(TABLES, 0)


async def _rows(
    graph: Exporting, table: Table, advance: Advance | None, counts: dict[str, int]
) -> AsyncIterator[dict[str, Any]]:
    async for page in linked(lambda after: graph.export_rows(table, after)):
        for row in page.rows:
            yield dict(row)
        if table != "graphs":
            counts[table] += len(page.rows)
    if advance is not None:
        advance(table, counts[table])


async def _state(graph: Exporting) -> tuple[object, ...]:
    """Return what changes when somebody writes into a graph."""
    status = await graph.status()
    seq = await graph.beliefs.seq_at() if isinstance(graph, _Believing) else 0
    return status.state, status.agents, status.cold, status.usage, seq


async def _check_place(target: Importing, graph: SessionGraph) -> None:
    if graph.id == CATALOG:
        return  # to ask for its handle makes one; that it is there, its first rows are told
    for parent in graph.inherits_from:
        await target.session_graph(parent)
    try:
        await target.session_graph(graph.id)
    except NotFound:
        return
    raise Conflict(f"session graph {graph.id!r}", "no graph of that id", "one that exists")


async def _check_kept(target: Importing, carried: Carried) -> None:
    """Refuse to let a graph be of which somebody has discarded a part meanwhile.

    Work that was put in may be done by now.
    """
    there = await target.unfinished_import(carried.graph.id)
    missing = [
        table
        for table in TABLES
        if table not in ("work", "graphs") and there.get(table, 0) < carried.rows.get(table, 0)
    ]
    if missing:
        what, found = f"import of session graph {carried.graph.id!r}", "fewer " + ", ".join(missing)
        raise Conflict(what, "every row that was put in", f"{found}; repeat it")


def _batches(
    file: BinaryIO, path: Path, sha256: str
) -> Iterator[tuple[Table, list[dict[str, Any]]]]:
    """Return the rows of a checked file, so many at a time as go into one call.

    Raises:
        UsageError: It is not any more the file that was checked.
    """
    table, rows, size = TABLES[0], list[dict[str, Any]](), 0
    digest, is_same = hashlib.sha256(), False
    for line in _lines(file, path):
        document = json.loads(line)
        is_same = digest.hexdigest() == sha256
        digest.update(line)
        if "row" not in document:
            continue
        is_full = len(rows) == ROWS_PER_CALL or size + len(line) > BYTES_PER_CALL
        if rows and (is_full or document["table"] != table):
            yield table, rows
            rows, size = [], 0
        table = document["table"]
        rows.append(document["row"])
        size += len(line)
    if not is_same:
        raise UsageError("file", str(path), "the file that was checked; it was changed meanwhile")
    if rows:
        yield table, rows


def _lines(file: BinaryIO, path: Path) -> Iterator[bytes]:
    while line := file.readline(LINE_BYTES_MAX + 1):
        if len(line) > LINE_BYTES_MAX:
            raise UsageError("file", str(path), f"lines of at most {LINE_BYTES_MAX} bytes")
        yield line


def _line(value: Mapping[str, Any]) -> bytes:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    return text.encode() + b"\n"


def _not_whole(path: Path, line: int, why: str) -> UsageError:
    return UsageError("file", str(path), f"a whole file of one graph; line {line}: {why}")


def _opened(path: Path) -> BinaryIO:
    """Open a file that can be read twice: a pipe can not, and whoever opens one waits."""

    def unreadable(why: str) -> UsageError:
        return UsageError("file", str(path), f"a file that can be read ({why})")

    with refused(unreadable, ValueError):
        kind = path.stat().st_mode
        if stat.S_ISREG(kind):
            return path.open("rb")
    found = "a directory" if stat.S_ISDIR(kind) else "no file: it can be read only once"
    accepted = f"a file that can be read twice, first to check it; this is {found}"
    raise UsageError("file", str(path), accepted)
