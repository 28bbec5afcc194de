"""The command line as people have it: a real terminal, 80 columns wide, and pipes that close."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pexpect
import pyte
import pytest
import typer
from support.command import COMMAND, started
from support.doors import Door
from support.processes import kept
from support.warm_command import warm_command

from ezra.cli import main
from ezra.cli.screen import NOBODY_READS

ROWS, COLUMNS = 24, 80
SECONDS = 60
"""Until something must have appeared; a machine that runs other tests too may be slow."""


class Terminal:
    """A process on a pseudo-terminal, and what a person would see there."""

    def __init__(self, process: pexpect.spawn[bytes]) -> None:
        self.process = process
        self.raw = b""
        self._screen = pyte.Screen(COLUMNS, ROWS)
        self._stream = pyte.ByteStream(self._screen)

    @property
    def text(self) -> str:
        """All rows as they stand."""
        return "\n".join(self._screen.display)

    @property
    def is_cursor_shown(self) -> bool:
        """Whether the terminal shows where people type."""
        return not self._screen.cursor.hidden

    def wait_for(self, is_there: Callable[[str], bool]) -> str:
        """Read until the rows are as they should be, and return them."""
        ends = time.monotonic() + SECONDS
        while not is_there(self.text):
            assert time.monotonic() < ends, self.text
            self._read(0.1)
        return self.text

    def end(self) -> int:
        """Read to the end and return the exit code."""
        while self._read(SECONDS):
            pass
        self.process.close()
        code: int = self.process.exitstatus
        return code

    def _read(self, seconds: float) -> bool:
        try:
            came = self.process.read_nonblocking(65_536, seconds)
        except pexpect.TIMEOUT:
            return True
        except pexpect.EOF:
            return False
        self.raw += came
        self._stream.feed(came)
        return True


@contextmanager
def on_terminal(door: Door, *arguments: str, program: Path = COMMAND) -> Iterator[Terminal]:
    """Run a command on a terminal for the length of the block."""
    known = {**kept(), "TERM": "xterm-256color", "EZRA_EMBEDDER": "off"}
    process = pexpect.spawn(
        str(program),
        list(arguments),
        env={**known, **door.variables},
        dimensions=(ROWS, COLUMNS),
        timeout=SECONDS,
    )
    try:
        yield Terminal(process)
    finally:
        process.close(force=True)


def test_top_shows_a_server_live_and_gives_the_terminal_back(server: Door) -> None:
    """Tiers, graphs, work and events; what happens appears; Ctrl-C leaves no trace of it."""
    with on_terminal(server, "top", "--interval", "0.2") as terminal:
        parts = ("when", "hot", "warm", "cold", "ok", "imola", "waiting work:", "created", " ms")
        terminal.wait_for(lambda text: all(part in text for part in parts))
        assert not terminal.is_cursor_shown
        assert server.ezra("graph", "create", "during").code == 0
        terminal.wait_for(lambda text: text.count("during") == 2)
        terminal.process.sendintr()
        assert terminal.end() == 0
    assert b"\x1b[?1049h" in terminal.raw  # the other screen, which people leave by the next
    assert terminal.raw.rindex(b"\x1b[?1049l") > terminal.raw.rindex(b"\x1b[?1049h")
    assert terminal.is_cursor_shown
    assert b"Traceback" not in terminal.raw


def test_top_shows_the_members_of_a_graph_and_ends_on_sigterm(embedded: Door) -> None:
    """The same on the embedded store, which is closed properly: the next command opens it."""
    with on_terminal(
        embedded, "top", "imola", "--interval", "0.2", program=warm_command()
    ) as terminal:
        parts = ("when", "agent", "Ada", "Ben", "present", "writes", "imola")
        terminal.wait_for(lambda text: all(part in text for part in parts))
        terminal.process.kill(signal.SIGTERM)
        assert terminal.end() == 0
    assert terminal.is_cursor_shown
    assert embedded.ezra("status").code == 0


def test_tables_have_colours_on_a_terminal_and_fit_it(server: Door) -> None:
    """States are coloured, no row is cut, and no line is wider than the terminal."""
    with on_terminal(server, "status", program=warm_command()) as terminal:
        assert terminal.end() == 0
    assert b"\x1b[" in terminal.raw
    head, *rows = [line.rstrip() for line in terminal.text.splitlines() if line.strip()]
    assert head.split()[:3] == ["graph", "state", "members"]
    assert any(row.split()[:3] == ["imola", "active", "2"] for row in rows)
    piped = server.ezra("status").out.splitlines()
    assert any(line.split("  ")[:3] == ["imola", "active", "2"] for line in piped)


def test_no_text_has_the_terminal_do_anything(embedded: Door, tmp_path: Path) -> None:
    """A memory, or the name of a file, is printed; what a terminal would obey in it is left out."""
    orders = ("\x1b[2J", "\x1b]52;c;cm0=\x07", "\x9b31m", "\x90", "\x7f", "\r", "\b")
    said = f"Rain {''.join(orders)} [bold]now[/] \N{WOMAN}\u200d\N{PERSONAL COMPUTER}"
    chat = tmp_path / "radio.jsonl"
    chat.write_text(json.dumps({"speaker": "Ada", "text": said, "at": "2026-05-14T10:00:00Z"}))
    assert embedded.ezra("replay", chat, "--graph", "radio").code == 0
    asked = ("recall", "radio", "rain")
    with on_terminal(embedded, *asked, program=warm_command()) as terminal:
        assert terminal.end() == 0
    piped = embedded.ezra(*asked).out
    assert "[bold]now[/]" in terminal.text
    assert "[bold]now[/] \N{WOMAN}\u200d\N{PERSONAL COMPUTER}" in piped
    raw = terminal.raw.decode().replace("\r\n", "\n")
    assert [one for one in orders if one in raw or one in piped] == []
    programs = embedded.ezra(*asked, "--json")
    assert said in programs.document["text"]
    assert [one for one in orders if one in programs.out] == []
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / f"a{orders[0]}.md").write_text("Rain.")
    refused = embedded.ezra("ingest", notes, "--graph", "radio")
    assert refused.code == 1
    assert "\x1b" not in refused.out + refused.err


def test_a_full_disk_is_said_in_a_line(server: Door) -> None:
    """Where the output is to go nothing can be written: no traceback."""
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [str(COMMAND), "audit"],
            env={**kept(), **server.variables},
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=SECONDS,
            check=False,
        )
    said = "the output cannot be written: No space left on device\n"
    assert (done.returncode, done.stderr) == (1, said)


def test_a_pipe_that_nobody_reads_is_left_quietly(server: Door) -> None:
    """As with ``| head -1``: no traceback, nothing on standard error, and the code of a pipe."""
    with started("audit", program=COMMAND, **server.variables) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        said = process.stderr.read()
        assert (process.wait(timeout=SECONDS), said) == (NOBODY_READS, "")


@pytest.mark.parametrize("asked", [("audit", "--json"), ("status",), ("export", "radio", "-")])
def test_output_that_is_closed_is_read_by_nobody(embedded: Door, asked: tuple[str, ...]) -> None:
    """As with ``>&-``: the code of a pipe, no traceback, and no file in the place of the output."""
    embedded.ezra("graph", "create", "radio")
    done = subprocess.run(
        ["sh", "-c", 'exec "$0" "$@" <&- >&-', sys.executable, "-m", "ezra", *asked],
        env={**kept(), **embedded.variables},
        stderr=subprocess.PIPE,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == NOBODY_READS
    assert "Traceback" not in done.stderr


def test_who_presses_ctrl_c_is_told_what_is_kept(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Within a command too, where typer would end without a word."""
    waiting = typer.Typer()

    @waiting.command()
    def wait() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(sys, "argv", ["ezra"])
    monkeypatch.setattr("ezra.cli.app_of", lambda _: waiting)
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 130
    assert capsys.readouterr().err == "interrupted; what was acknowledged is kept\n"
