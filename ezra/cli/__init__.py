"""The command line. It parses, calls the public API, and prints; it holds no logic.

Exit codes: 0 done, 1 an ezra error, 2 wrong usage or malformed input, 3 configuration,
4 nothing can be read because the memory is away (``ezra bridge``), 130 interrupted.

A command is a function that asks a handle and returns an ``Answer`` (``cli/command.py``); its
options follow from its signature and docstring. What it asks is behind one of two doors
(``cli/doors.py``), ``Ezra.open`` or ``Ezra.connect``, and it does not know which. ``cli/app.py``
names all commands.
"""

from __future__ import annotations

import errno
import sys
from typing import NoReturn

from tiers.errors import ConfigError, EzraError, UsageError

from .app import app_of
from .screen import Screen, drop_output, open_what_is_closed

NAME = "ezra"
"""What is typed, and what help calls it, however it was started."""

INTERRUPTED = 130
"""The exit code of who was ended by Ctrl-C."""


def main() -> None:
    """Run the command line; an ezra error is one line on standard error, never a traceback."""
    open_what_is_closed()
    try:
        app_of(sys.argv[1:])(prog_name=NAME)
    except EzraError as error:
        Screen().error(error)
        sys.exit(exit_code(error))
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        drop_output()
        Screen().note(f"the output cannot be written: {error.strerror}")
        sys.exit(1)
    except KeyboardInterrupt:
        _interrupted()
    except SystemExit as ended:
        if ended.code == INTERRUPTED:  # so typer ends where Ctrl-C was pressed, and says nothing
            _interrupted()
        raise


def _interrupted() -> NoReturn:
    Screen().note("interrupted; what was acknowledged is kept")
    sys.exit(INTERRUPTED)


def exit_code(error: EzraError) -> int:
    """Return the exit code for an error."""
    if isinstance(error, UsageError):
        return 2
    return 3 if isinstance(error, ConfigError) else 1
