"""Tables of the command line, as wide as the terminal is."""

from __future__ import annotations

import io

from rich.console import Console

from ezra.cli.tables import table_of

HEADINGS = ("seq", "belief", "recorded", "agent", "status", "claim")
BELIEF = "01985a4c-0000-7000-8000-000000000000"
CLAIM = "The mediums last about eighteen laps when it is as hot as it was on Friday."
ROW = ("1", BELIEF, "2026-05-14 09:00:00", "strategist", "active", CLAIM)


def printed(columns: int, *rows: tuple[str, ...]) -> list[str]:
    """Return a table as a terminal of so many columns shows it."""
    console = Console(file=io.StringIO(), width=columns, force_terminal=True, no_color=True)
    console.print(table_of(HEADINGS, rows, columns))
    assert isinstance(console.file, io.StringIO)
    plain = console.file.getvalue().replace("\x1b[1m", "").replace("\x1b[0m", "")
    return [line.rstrip() for line in plain.splitlines()]


def test_a_wide_terminal_shows_rows_beside_their_headings() -> None:
    """Only the last column is broken into lines."""
    head, first, *more = printed(120, ROW)
    assert head.split() == list(HEADINGS)
    assert first.startswith(f"  1  {BELIEF}  2026-05-14 09:00:00  strategist  active  The mediums")
    assert more
    assert all(line.startswith(" " * head.index("claim")) for line in more)


def test_a_narrow_terminal_shows_everything_too() -> None:
    """Cells flow on, indented; ids stay whole, no line is too long and nothing is cut off."""
    lines = printed(80, ROW, ROW)
    assert max(map(len, lines)) <= 80
    assert lines[0].split() == list(HEADINGS)
    assert lines[1] == f"1  {BELIEF}  2026-05-14 09:00:00  strategist  active"
    assert lines[2] == f"    {CLAIM}"
    words = " ".join(" ".join(lines[1:]).split())
    assert words.count(CLAIM) == 2
    narrow = printed(40, ROW)
    assert f"1  {BELIEF}" in narrow
    assert all(line.startswith("    ") for line in narrow[3:])


def test_numbers_stand_right_and_no_rows_are_only_headings() -> None:
    """A column of counts is read from the right; an empty answer is not an error."""
    few = ("7", "b", "now", "a", "ok", "x")
    many = ("1,200", "b", "now", "a", "ok", "y")
    _, first, second = printed(120, few, many)
    assert first.index("7") == second.index("200") + 2
    assert printed(120) == [" ".join(f"{one} " for one in HEADINGS).rstrip()]
