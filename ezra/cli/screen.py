"""What people see: progress, tables and answers on a terminal, plain lines in a pipe."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

from pydantic import BaseModel
from rich.console import Console, ConsoleOptions, RenderableType
from rich.live import Live
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.segment import Segment
from rich.table import Table

from tiers.documents import Citation
from tiers.errors import EzraError
from tiers.fencing import on_one_line

from .tables import plain_table, table_of, toned

if TYPE_CHECKING:
    from ..moving.graph_status import GraphStatus
    from ..recaller import Reason
    from ..replay.play import Answer, ReplayReport, Source

SOURCE_TEXT_CHARS = 160
PROMOTED_TEXT_CHARS = 80
PLAIN_PROGRESS_STEPS = 10
Advance: TypeAlias = Callable[..., None]
"""Counts steps: one, or as many as it is called with."""

NOBODY_READS = 141
"""The exit code when the reader of a pipe has gone, as shells give it for a signal SIGPIPE."""


def open_what_is_closed() -> None:
    """Put something in the place of the standard streams that whoever started this has closed.

    Else a file of the memory could get the number of one, and be written into. Output that is
    closed is a pipe that nobody reads.
    """
    if sys.stdin is None:
        sys.stdin = os.fdopen(_moved(os.open(os.devnull, os.O_RDONLY), 0), "r", encoding="utf-8")
    if sys.stdout is None:
        reading, writing = os.pipe()
        number = _moved(writing, 1)
        if reading != number:
            os.close(reading)
        sys.stdout = os.fdopen(number, "w", encoding="utf-8")
    if sys.stderr is None:
        sys.stderr = os.fdopen(_moved(os.open(os.devnull, os.O_WRONLY), 2), "w", encoding="utf-8")


def _moved(number: int, to: int) -> int:
    """Give what is open another number, and return that."""
    if number != to:
        os.dup2(number, to)
        os.close(number)
    return to


def drop_output() -> None:
    """Send the rest of standard output nowhere: where it should go, nothing more can be written."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


def _stop_writing() -> NoReturn:
    """End the command quietly: who reads has seen enough. What is open is closed on the way."""
    drop_output()
    raise SystemExit(NOBODY_READS)


_COMMANDS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
"""What a terminal obeys: by it a memory could clear a screen, or write into a clipboard."""

_LEFT_IN_JSON = re.compile(r"[\x7f-\x9f]")
"""Those of them that JSON does not escape by itself."""


class _Plain(Console):
    """Prints texts of others as texts: of what a terminal obeys it prints its own styles alone."""

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """Return what is printed, without what a text would have a terminal do."""
        for one in super().render(renderable, options):
            is_text = one.control is None
            yield one._replace(text=_COMMANDS.sub("", one.text)) if is_text else one


class _Console(_Plain):
    def on_broken_pipe(self) -> None:
        """Stop, and say nothing."""
        _stop_writing()


class Screen:
    """Standard output for results, standard error for progress and errors."""

    def __init__(self) -> None:
        self._out = _Console(highlight=False)
        self._err = _Plain(stderr=True, highlight=False)

    def error(self, error: EzraError) -> None:
        """Print an error as one line, with what was noted on the way."""
        said = "; ".join((str(error), *getattr(error, "__notes__", ())))
        self._err.print(f"[bold red]{type(error).__name__}[/]: {escape(said)}", soft_wrap=True)

    def note(self, text: str) -> None:
        """Print a line for people, beside the results."""
        self._err.print(escape(text), soft_wrap=True)

    def line(self, text: str) -> None:
        """Print a result line."""
        self._out.print(escape(text), soft_wrap=True)

    def table(self, headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """Print rows under headings; plain lines, two spaces between columns, in a pipe."""
        if not self._out.is_terminal:
            for row in rows:
                self.line("  ".join(row))
            return
        self._out.print(table_of(headings, rows, self._out.width))

    def show(self, what: RenderableType) -> None:
        """Print what knows itself how it looks."""
        self._out.print(what)

    @property
    def is_terminal(self) -> bool:
        """Whether people read the results as they come."""
        return self._out.is_terminal

    @property
    def columns(self) -> int:
        """How wide the terminal is."""
        return self._out.width

    @property
    def rows(self) -> int:
        """How many lines the terminal has."""
        return self._out.height

    def live(self) -> Live:
        """Return a view that takes the whole terminal, and gives it back as it was."""
        return Live(console=self._out, screen=True, auto_refresh=False)

    def document(self, value: Any) -> None:  # noqa: ANN401 - anything json can print
        """Print a result for programs: one JSON document."""
        self._print(json.dumps(value, ensure_ascii=False, indent=2, default=_plain))

    def json_line(self, value: Any) -> None:  # noqa: ANN401 - anything json can print
        """Print one of many results for programs, on a line of its own."""
        self._print(json.dumps(value, ensure_ascii=False, default=_plain))

    @staticmethod
    def _print(text: str) -> None:
        try:
            print(_LEFT_IN_JSON.sub(_escaped, text), flush=True)  # noqa: T201
        except BrokenPipeError:
            _stop_writing()

    @contextmanager
    def progress(self, what: str, total: int) -> Iterator[Advance]:
        """Show progress on standard error while the block runs; call what it yields with steps."""
        if not self._err.is_terminal:
            yield self._plain_progress(what, total)
            return
        columns = (
            TextColumn(what),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
        )
        with Progress(*columns, console=self._err) as progress:
            task = progress.add_task(what, total=total)
            yield lambda steps=1: progress.advance(task, steps)

    def _plain_progress(self, what: str, total: int) -> Advance:
        done = 0
        step = max(1, total // PLAIN_PROGRESS_STEPS)

        def advance(steps: int = 1) -> None:
            nonlocal done
            for done in range(done + 1, done + steps + 1):  # noqa: B020 - it goes on from there
                if done % step == 0 or done == total:
                    self.note(f"{what} {done}/{total} [{'#' * (10 * done // total):<10}]")

        return advance

    def status(self, name: str, status: GraphStatus) -> None:
        """Print what the tiers hold for a graph."""
        members = "1 agent" if status.agents == 1 else f"{status.agents} agents"
        self._out.print(
            f"[bold]{escape(name)}[/] (", toned(status.state), f", {members} present)", sep=""
        )
        table = plain_table()
        table.add_column("tier", no_wrap=True)
        table.add_column("holds", overflow="fold")
        table.add_row("hot", _count(status.hot, "turns"))
        table.add_row("warm", _count(status.warm, "entries"))
        cold = ", ".join(f"{key.replace('_', ' ')} {count}" for key, count in status.cold.items())
        table.add_row("cold", cold)
        used = ", ".join(_spent(name, count, status) for name, count in status.usage)
        table.add_row("used", used)
        self._out.print(table)

    def answer(self, answer: Answer) -> None:
        """Print a question, its answer and the sources with dates and scores."""
        self._out.print(f"\n[bold]Q[/] {escape(answer.question)}")
        self._out.print(f"[bold green]A[/] {escape(on_one_line(answer.text, 400))}", soft_wrap=True)
        for source in answer.sources:
            when = f"{source.at:%Y-%m-%d %H:%M}" if source.at else "undated"
            origin = f" (from {source.inherited_from})" if source.inherited_from else ""
            self._out.print(
                f"   {source.score:.4f}  {when}  {source.kind:<6} {escape(source.ref)}"
                f"{escape(origin)}  {escape(on_one_line(source.text, SOURCE_TEXT_CHARS))}",
                soft_wrap=True,
            )
            if source.citation is not None:
                self.line(f"           {cited(source.citation)}")
            if source.reason is not None:
                self._reason(source, source.reason)
        if answer.degraded:
            self._out.print(f"   degraded: {', '.join(answer.degraded)}")
        for why in answer.skipped:
            self._out.print(f"   {escape(why)}", soft_wrap=True)
        if answer.receipt_id is not None:
            self._out.print(f"   receipt {answer.receipt_id}")

    def _reason(self, source: Source, reason: Reason) -> None:
        """Print why an answer is where it is."""
        ranks = ", ".join(f"{leg} {rank}" for leg, rank in reason.ranks.items()) or "beside a hit"
        close = "" if reason.cosine is None else f"; cosine {reason.cosine:.3f}"
        self.line(f"           found by: {ranks}{close}; tier {source.tier}")
        parts = " ".join(f"{name} {part:+.3f}" for name, part in reason.parts.items())
        factors = "".join(f" x {name} {factor:.3f}" for name, factor in reason.factors.items())
        self.line(f"           score: ({parts or '0'}){factors}")
        if reason.path:
            self.line(f"           inherited by: {' > '.join(reason.path)}")
        if source.folded:
            self.line(f"           stands for: {', '.join(source.folded)}")

    def replay(self, report: ReplayReport) -> None:
        """Print what a replay did."""
        how = "recorded" if report.recorded else "played"
        played = f"{report.played} turns {how}, {report.known} known before"
        added = ", ".join(f"{count} {name}" for name, count in report.added.items())
        self.line(f"{report.graph_id}: {played}; new: {added}; {report.seconds:.1f} s")
        if report.left_out:
            why = "instructions to a model, messages without a word, or what nobody says"
            self.line(f"left out: {report.left_out} ({why})")
        if report.status is not None:
            self.status(report.graph_id, report.status)
        self.line(
            f"{report.summaries} summaries cover {report.covered} turns; "
            f"{report.waiting} overflowed turns wait for company"
        )
        for text, reason in report.promotions:
            self.line(f"promoted to core: {on_one_line(text, PROMOTED_TEXT_CHARS)} ({reason})")
        self._steps(report)
        for name, count in report.degraded.items():
            self.line(f"degraded: {count} turns without {name}")
        for problem in report.problems:
            self.line(f"problem: {problem}")
        for answer in report.answers:
            self.answer(answer)

    def _steps(self, report: ReplayReport) -> None:
        if not report.steps:
            return
        table = Table(title="time per step, milliseconds")
        for heading in ("step", "p50", "p95", "total"):
            table.add_column(heading, justify="left" if heading == "step" else "right")
        for step, times in report.steps.items():
            table.add_row(step, f"{times.p50:.2f}", f"{times.p95:.2f}", f"{times.total:.0f}")
        self._out.print(table)


class Steps(ExitStack):
    """Progress that is shown for the length of a block, once it is known how much there is.

    Args:
        what: What is done.
        quiet: Whether nothing is shown.
    """

    def __init__(self, what: str, *, quiet: bool = False) -> None:
        super().__init__()
        self._what, self._quiet = what, quiet
        self._advance: Advance | None = None

    def begin(self, total: int) -> None:
        """Begin, with so many steps; what is told later changes nothing."""
        if self._advance is None and total and not self._quiet:
            self._advance = self.enter_context(Screen().progress(self._what, total))

    def step(self, _: object = None, *, count: int = 1) -> None:
        """Count steps."""
        if self._advance is not None:
            self._advance(count)


def cited(citation: Citation) -> str:
    """Return where a passage stands: document, headings, page."""
    page = "" if citation.page is None else f", page {citation.page}"
    return " > ".join((citation.name, *citation.headings)) + page


def _escaped(found: re.Match[str]) -> str:
    return f"\\u{ord(found[0]):04x}"


def _plain(value: object) -> object:
    """Return what JSON does not know in a form that it does."""
    if isinstance(value, datetime):
        return value.isoformat()
    return value.model_dump(mode="json") if isinstance(value, BaseModel) else str(value)


def _count(count: int | None, what: str) -> str:
    return f"does not answer; its {what} are not counted" if count is None else f"{count} {what}"


def _spent(name: str, count: int, status: GraphStatus) -> str:
    limit = getattr(status.budget, name)
    return f"{count} {name.replace('_', ' ')}" + ("" if limit is None else f" of {limit}")
