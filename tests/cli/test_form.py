"""The form of the command line: its answers, word for word. Its help is in ``test_help``.

A change of a word is meant, or it is none: ``cd tests && python -m support.transcripts
cli/form/*.txt`` writes down what is said now, and the difference is there to be read.
"""

from __future__ import annotations

from contextlib import chdir
from pathlib import Path

import pytest
from support.cli_doors import served
from support.transcripts import FORM, played

from tiers.ids import system_clock


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
