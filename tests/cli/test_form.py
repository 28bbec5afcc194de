"""The form of the command line: its help and its answers, word for word.

A change of a word is meant, or it is none: ``cd tests && python -m support.transcripts
cli/form/*.txt`` writes down what is said now, and the difference is there to be read.
"""

from __future__ import annotations

from contextlib import chdir
from pathlib import Path

import pytest
from support.transcripts import FORM, helps, played


def test_the_help_of_every_command_is_as_it_was_written_down() -> None:
    """Of groups too: what it takes, what it says of itself, its examples."""
    assert list(helps()) == (FORM / "help.txt").read_text().splitlines()


@pytest.mark.parametrize("name", ["answers", "bridge"])
def test_commands_answer_as_they_did(name: str, tmp_path: Path) -> None:
    """On standard output, on standard error, and by the exit code: for people and programs."""
    lines = (FORM / f"{name}.txt").read_text().splitlines()
    with chdir(tmp_path):
        assert list(played(iter(lines), tmp_path)) == lines
