"""Text that comes by standard input, where an argument is ``-``."""

from __future__ import annotations

import typer

from tiers.errors import UsageError
from tiers.fields import TEXT_CHARS_MAX

FROM_INPUT = "-"
_BYTES_PER_CHARACTER = 4


def said(name: str, text: str) -> str:
    """Return what an argument says: itself, or for ``-`` all of standard input.

    One line end at the end of the input is not part of it.

    Raises:
        UsageError: The input is too long, or no UTF-8.
    """
    if text != FROM_INPUT:
        return text
    most = TEXT_CHARS_MAX * _BYTES_PER_CHARACTER
    found = typer.get_binary_stream("stdin").read(most + 1)
    try:
        read = found.decode("utf-8")
    except UnicodeDecodeError as error:
        # What was read up to the limit may end inside a character, and is too long anyway.
        accepted = "text in UTF-8" if len(found) <= most else f"{TEXT_CHARS_MAX} characters at most"
        raise UsageError(name, FROM_INPUT, accepted) from error
    if len(read) > TEXT_CHARS_MAX:
        raise UsageError(name, FROM_INPUT, f"{TEXT_CHARS_MAX} characters at most")
    return read.removesuffix("\n").removesuffix("\r")
