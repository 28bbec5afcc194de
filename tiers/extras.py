"""What is installed only where somebody asks for it, and the error that says how to.

The core of ezra needs no server, no provider, no model and no framework. What needs more stands in
an extra of the distribution (``pyproject.toml``), and its imports stand in a block of ``needs``.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from .errors import ConfigError

_OWN = frozenset({"ezra", "metaagents", "tiers"})


@contextmanager
def needs(extra: str, key: str) -> Iterator[None]:
    """Name the extra that brings a package which an import in this block does not find.

    Args:
        extra: Its name, as in ``pip install 'ezra[embed]'``.
        key: What was asked for: the setting, the command or the thing that has it.

    Raises:
        ConfigError: A package of others is not installed. A missing module of ours is a defect of
            ours, and stays what it is.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        package = error.name or str(error)
        if package.partition(".")[0] in _OWN:
            raise
        reason = f"needs {package}, which is not installed: {remedy(extra)}"
        raise ConfigError(key, reason) from error


def remedy(extra: str) -> str:
    """Return the command that installs an extra."""
    return f"pip install 'ezra[{extra}]'"
