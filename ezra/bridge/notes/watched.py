"""Which folders are watched. A hook asks it at every call: the standard library only."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tiers.errors import ConfigError

from ..config import WATCH_VARIABLE

ROOTS_MAX = 64


@dataclass(frozen=True, slots=True)
class Root:
    """A watched folder.

    Attributes:
        name: What its shelf is called after; the folder's own name unless another is configured.
        path: Where it is, without links on the way.
    """

    name: str
    path: Path


def roots_of(said: str, folder: Path) -> tuple[Root, ...]:
    """Return the watched folders.

    Args:
        said: A list with ``:`` (``;`` on Windows) between, each ``path`` or ``name=path``; empty
            for ``folder`` alone.
        folder: What paths are relative to.

    Raises:
        ConfigError: Two have one name, or one is inside of another.
    """
    entries = [one.strip() for one in said.split(os.pathsep) if one.strip()] or ["."]
    if len(entries) > ROOTS_MAX:
        raise ConfigError(WATCH_VARIABLE, f"it has {len(entries)} folders; {ROOTS_MAX} at most")
    roots: list[Root] = []
    for entry in entries:
        name, is_named, path = entry.partition("=")
        where = folder / Path(path if is_named else entry).expanduser()
        # Links are resolved, so that one folder is the same by whichever way it is named.
        real = Path(os.path.realpath(where))
        root = Root((name.strip() if is_named else real.name) or "root", real)
        _check_apart(root, roots)
        roots.append(root)
    return tuple(roots)


def _check_apart(root: Root, others: Sequence[Root]) -> None:
    for other in others:
        if root.name == other.name:
            reason = f"two folders are called {root.name!r}; name one of them: name=path"
            raise ConfigError(WATCH_VARIABLE, reason)
        if root.path.is_relative_to(other.path) or other.path.is_relative_to(root.path):
            raise ConfigError(WATCH_VARIABLE, f"{root.path} and {other.path}: one is in the other")
