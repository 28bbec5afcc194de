"""How help looks: examples to paste, one below the other, and what every command has in common."""

from __future__ import annotations

import re
from collections.abc import Iterable

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

_WORD = re.compile(r"(?:'[^']*'|\S)+")


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
