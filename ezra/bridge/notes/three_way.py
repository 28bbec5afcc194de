"""What becomes of a note that two sides have changed since they last agreed. Pure."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Literal, NamedTuple, TypeAlias

from .names import DIGEST_CHARS, slug

Step: TypeAlias = Literal[
    "unchanged", "push", "remove", "pull", "delete", "conflict", "set_aside", "restore"
]

CONFLICT = ".conflict-"
_STEM_BYTES = 120
_MACHINE_BYTES = 50


class Sides(NamedTuple):
    """A note on both sides and when they last agreed: digests, ``None`` where it is not.

    Attributes:
        base: What both had at the last sync of this machine.
        local: What the folder has.
        server: What the server has.
    """

    base: str | None
    local: str | None
    server: str | None


def step_of(sides: Sides) -> Step:
    """Return what brings both sides together without losing what either says.

    ``unchanged``: both say the same. One side alone has changed since: ``push`` or ``remove`` what
    the folder did, ``pull`` or ``delete`` what the server did. Both have: ``conflict`` where both
    have a version; ``set_aside`` the folder's where the server has removed the note; ``restore``
    the server's where the folder has removed it.
    """
    base, local, server = sides
    if local == server:
        return "unchanged"
    if server == base:
        return "remove" if local is None else "push"
    if local == base:
        return "delete" if server is None else "pull"
    if local is None:
        return "restore"
    return "set_aside" if server is None else "conflict"


CONFLICTS: frozenset[Step] = frozenset({"conflict", "set_aside", "restore"})
"""Steps that people have to look at."""
FROM_SERVER: frozenset[Step] = frozenset({"pull", "delete", "restore", "conflict", "set_aside"})
"""Steps that change the folder."""
REMOVALS: frozenset[Step] = frozenset({"remove", "delete"})


def conflict_name(name: str, machine: str, digest: str, digits: int = DIGEST_CHARS) -> str:
    """Return the name beside a note for this machine's version of it.

    The same version always has the same name, so that repeating what was cut off adds nothing.

    Args:
        name: Of the note.
        machine: Where the version was written.
        digest: Of the version, in hexadecimal.
        digits: How much of the digest is in the name.
    """
    path = PurePosixPath(name)
    stem = path.name[: -len(path.suffix)] if path.suffix else path.name
    # A copy of a copy would grow without end.
    stem = _cut(stem.split(CONFLICT, 1)[0], _STEM_BYTES) or "note"
    place = _cut(slug(machine), _MACHINE_BYTES)
    return str(path.with_name(f"{stem}{CONFLICT}{place}-{digest[:digits]}{path.suffix}"))


def _cut(text: str, size: int) -> str:
    """Return the beginning of a text that has so many bytes: file systems count those."""
    return text.encode()[:size].decode(errors="ignore")
