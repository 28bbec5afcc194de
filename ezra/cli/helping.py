"""How help looks: examples to paste, one below the other, and what every command has in common."""

from __future__ import annotations

import re
from collections.abc import Iterable

import typer
from rich.markup import escape

COLUMNS = 76
"""Of an example: a line of help has 80, and its frame takes two on either side."""

ABOUT = (
    "[bold]Exit codes[/]\n"
    "  0    done\n"
    "  1    an error, or the answer is no: not intact, not healthy, nothing there\n"
    "  2    wrong usage, or malformed input; nothing was written\n"
    "  3    configuration: a setting, a file of keys, a folder that is in use\n"
    "  4    nothing can be read: the memory of 'ezra bridge' is away\n"
    "  130  interrupted; what was acknowledged is kept\n"
    "  141  nobody reads the output any more\n"
    "\n"
    "[bold]Environment[/]\n"
    "  EZRA_HOME        the folder of embedded data, as --home\n"
    "  EZRA_URL         a running server, as --url; --home is stronger\n"
    "  EZRA_TOKEN       who asks the server; or EZRA_TOKEN_FILE, a file with it\n"
    "  EZRA_…           every other setting is in docs/settings.md"
)

_SEPARATOR = "  ·  "
_LABEL = re.compile(r"^Examples?: ")
_WORD = re.compile(r"(?:'[^']*'|\S)+")


def with_examples(app: typer.Typer) -> typer.Typer:
    """Lay out the examples of every command of an app and of its groups; returns the app.

    They are written as ``Examples: one  ·  another``, which reads well in code.
    """
    for command in app.registered_commands:
        if command.epilog is not None:
            command.epilog = laid_out(command.epilog)
    for group in app.registered_groups:
        if group.typer_instance is not None:
            with_examples(group.typer_instance)
    return app


def laid_out(examples: str) -> str:
    """Return ``Examples: one  ·  another`` as help prints it; again it changes nothing."""
    said = _LABEL.sub("", examples)
    if said == examples:
        return examples
    return listed(one.strip() for one in said.split(_SEPARATOR))


def listed(examples: Iterable[str]) -> str:
    """Return examples one below the other, as help prints them.

    What does not fit on a line goes on after a backslash, so that it can be pasted as it is.
    """
    # The empty line keeps the indentation: what all lines but the first have in common is cut.
    return "\n".join(("", "[bold]Examples[/]", *(escape(_folded(one)) for one in examples)))


def _folded(example: str) -> str:
    """Return an example in lines of ``COLUMNS``, cut where a shell takes a cut."""
    lines = [" "]
    for word in _WORD.findall(example):
        if len(lines[-1]) + len(word) + 3 > COLUMNS and lines[-1].strip():
            lines[-1] += " \\"
            lines.append("     ")
        lines[-1] += f" {word}"
    return "\n".join(lines)
