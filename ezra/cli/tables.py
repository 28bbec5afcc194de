"""Rows under headings, as wide as the terminal is: a table, or rows that flow where it is not."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.cells import cell_len
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

GAP = 2
INDENT = 4
TEXT_COLUMNS_MIN = 24
"""The last column may be broken into lines as long as so much of it stays beside the others."""

_HEADING = "bold cyan"
_TONES = {
    "active": "green",
    "present": "green",
    "ok": "green",
    "core": "green",
    "degraded": "yellow",
    "closed": "yellow",
    "superseded": "yellow",
    "expired": "yellow",
    "archived": "dim",
    "redacted": "dim",
    "failing": "bold red",
    "unavailable": "bold red",
    "reverted": "red",
    "revoked": "red",
}
"""Of cells that say how something is."""


def table_of(
    headings: Sequence[str], rows: Sequence[Sequence[str]], columns: int
) -> RenderableType:
    """Return rows for a terminal that is so many columns wide.

    Where they do not fit beside each other, not even with the last one broken into lines, the
    cells of a row flow on, indented, and nothing is cut off: an id can always be copied.
    """
    wide = [_widest(heading, (row[n] for row in rows)) for n, heading in enumerate(headings)]
    fixed = sum(wide[:-1]) + GAP * (len(wide) - 1)
    if fixed + min(wide[-1], TEXT_COLUMNS_MIN) > columns:
        return Group(_flowing(headings, columns, _HEADING), *(_row(row, columns) for row in rows))
    table = plain_table()
    for number, heading in enumerate(headings):
        is_last = number == len(headings) - 1
        is_count = bool(rows) and all(_is_count(row[number]) for row in rows)
        table.add_column(
            heading,
            justify="right" if is_count else "left",
            no_wrap=not is_last,
            overflow="fold",
        )
    for row in rows:
        table.add_row(*(Text(cell, _TONES.get(cell, "")) for cell in row))
    return table


def plain_table() -> Table:
    """Return a table without lines, which leaves the columns to what it shows."""
    return Table(box=None, header_style=_HEADING, padding=(0, GAP, 0, 0), pad_edge=False)


def toned(state: str) -> Text:
    """Return how something is, in the colour of that."""
    return Text(state, _TONES.get(state, ""))


def _row(cells: Sequence[str], columns: int) -> RenderableType:
    return _flowing(cells, columns, "")


def _flowing(cells: Sequence[str], columns: int, style: str) -> RenderableType:
    """Return the cells of a row one after the other, on as many lines as they need."""
    lines = [Text(overflow="fold")]
    for number, cell in enumerate(cells):
        line = lines[-1]
        place = columns if len(lines) == 1 else columns - INDENT
        if line and line.cell_len + GAP + cell_len(cell) > place:
            line = Text(overflow="fold")
            lines.append(line)
        elif line and cell:
            line.append(" " * GAP)
        line.append(cell, style or _TONES.get(cell, "bold" if number == 0 else ""))
    return Group(lines[0], *(Padding(line, (0, 0, 0, INDENT)) for line in lines[1:]))


def _widest(heading: str, cells: Iterable[str]) -> int:
    return max(cell_len(heading), *(cell_len(cell) for cell in cells), 0)


def _is_count(cell: str) -> bool:
    return cell.replace(".", "", 1).replace(",", "").removeprefix("-").isdigit()
