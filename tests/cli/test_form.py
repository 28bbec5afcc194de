"""The form of the command line: its answers, word for word, and its help."""

from __future__ import annotations

import subprocess
import sys
from contextlib import chdir
from pathlib import Path

import pytest
from support.cli_doors import served
from support.command import COMMAND
from support.doors import run
from support.processes import kept, succeeded
from support.transcripts import FORM, every_help, helps, played

from ezra.cli.help import listed
from tiers.ids import system_clock

# The form of the command line: its answers, word for word. Its help is below.
#
# A change of a word is meant, or it is none: ``cd tests && python -m support.transcripts
# cli/form/*.txt`` writes down what is said now, and the difference is there to be read.


@pytest.mark.parametrize("name", ["answers", "bridge", "doors"])
def test_commands_answer_as_they_did(name: str, tmp_path: Path) -> None:
    """On standard output, on standard error, and by the exit code: for people and programs."""
    lines = (FORM / f"{name}.txt").read_text().splitlines()
    with chdir(tmp_path):
        assert list(played(iter(lines), tmp_path)) == lines


def test_a_server_answers_in_the_same_words(tmp_path: Path) -> None:
    """What stands in ``doors.txt`` is said by an embedded memory and by a server, word for word."""
    lines = (FORM / "doors.txt").read_text().splitlines()
    with served(tmp_path / "server", clock=system_clock) as url, chdir(tmp_path):
        assert list(played(iter(lines), tmp_path, EZRA_URL=url)) == lines


# Help: every command has examples, takes --json where it answers, and fits a narrow terminal.

SPEAKS_ANOTHER_LANGUAGE = {("mcp", "run")}
"""Its output is a protocol."""
NEEDS_NO_MEMORY = {
    ("audit", "verify"),
    *(("bridge", "hooks", name) for name in ("install", "uninstall", "log")),
}


def test_every_command_explains_itself_in_80_columns() -> None:
    """A sentence, examples that begin with its name, --json, and a help text for every option.

    Word for word as it was written down: what each takes, what it says of itself, its examples.
    """
    told = list(every_help())
    assert list(helps(told)) == (FORM / "help.txt").read_text().splitlines()
    assert [path for path, _, said in told if max(map(len, said.splitlines())) > 80] == []
    for path, command, said in told:
        if hasattr(command, "commands"):
            continue
        assert f"ezra {path[0]}" in said.split(" Examples", 1)[1], path
        options = {name for one in command.params for name in one.opts}
        assert "--json" in options or path in SPEAKS_ANOTHER_LANGUAGE, path
        assert {"--home", "--url"} & options or path in NEEDS_NO_MEMORY, path
        assert [one.name for one in command.params if not one.help] == [], path


def test_the_overview_says_what_exit_codes_mean() -> None:
    """And which variables lead commands to a memory."""
    said = run("--help").out
    for part in ("Exit codes", "130  interrupted", "EZRA_URL", "EZRA_TOKEN_FILE", "EZRA_HOME"):
        assert part in said


def test_examples_are_cut_where_a_shell_takes_a_cut() -> None:
    """A long one goes on after a backslash, never inside quotes."""
    long = "ezra recall imola 'How long do the mediums last in the heat of the day?' --kind turn"
    told = listed(("ezra status", f"{long} --explain"))
    lines = told.splitlines()
    assert lines[:3] == ["", "[bold]Examples[/]", "  ezra status"]
    assert lines[3].endswith(" \\")
    assert max(map(len, lines)) <= 78
    assert " ".join(part.strip(" \\") for part in lines[3:]) == f"{long} --explain"


@pytest.mark.parametrize(
    ("arguments", "unneeded"),
    [
        (["--version"], "ezra.app"),
        (["--version"], "ezra.settings"),
        (["init", "--help"], "ezra.cli.bridge"),
    ],
)
def test_a_command_waits_for_no_other(arguments: list[str], unneeded: str) -> None:
    """What is not called is not loaded: counted in modules, since clocks lie."""
    said = (
        "import sys\nfrom ezra.cli import main\ntry:\n    main()\nexcept SystemExit:\n    pass\n"
        f"print({unneeded!r} in sys.modules, file=sys.stderr)\n"
    )
    done = succeeded(sys.executable, "-c", said, *arguments)
    assert done.stderr.split() == ["False"]


@pytest.mark.parametrize("arguments", [["graph", "--help"], ["token", "revoke", "imola"]])
def test_python_runs_it_by_the_name_of_the_package(arguments: list[str], tmp_path: Path) -> None:
    """As the installed command: the same words, by the same name, and the same exit code."""
    variables = {**kept(), "EZRA_HOME": str(tmp_path / "none"), "COLUMNS": "80"}
    programs = ([COMMAND], [sys.executable, "-m", "ezra"])
    command, module = [
        subprocess.run(
            [*program, *arguments], env=variables, capture_output=True, text=True, check=False
        )
        for program in programs
    ]
    assert (module.returncode, module.stdout, module.stderr) == (
        command.returncode,
        command.stdout,
        command.stderr,
    )
