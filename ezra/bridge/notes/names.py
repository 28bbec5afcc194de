"""How notes, types and shelves are named, and what a name in a link means."""

from __future__ import annotations

import unicodedata
from hashlib import sha256
from pathlib import PurePosixPath

from tiers.errors import UsageError

from ..config import NAME_CHARS_MAX

NOTES = "notes:"
"""Shelves of entities begin with it; the name of the watched folder follows."""
MEMORIES = "memories:"
"""Shelves of an agent's own notes begin with it; the agent's name follows."""
SUFFIXES = (".md", ".markdown")
DIGEST_CHARS = 8
_SLUG_CHARS_MAX = 120


def slug(text: str) -> str:
    """Return text as a part of an id: letters and digits of any script, joined by ``-``.

    Spellings of the same characters become one. What has no letter or digit at all is named by
    the beginning of its digest, so that two such names stay two.
    """
    folded = unicodedata.normalize("NFKC", text).casefold()
    # A mark belongs to the letter before it: without them scripts of India lose their vowels.
    kept = "".join(one if one.isalnum() or unicodedata.category(one)[0] == "M" else "-"
                   for one in folded)  # fmt: skip
    joined = "-".join(part for part in kept.split("-") if part)[:_SLUG_CHARS_MAX].rstrip("-")
    return joined or digest_of(text)[:DIGEST_CHARS]


def digest_of(text: str) -> str:
    """Return the SHA-256 of a text in UTF-8, in hexadecimal."""
    return sha256(text.encode()).hexdigest()


def entity_id(agent: str, kind: str, name: str) -> str:
    """Return ``{agent}-{type}-{slug}``: the same note has the same id, wherever it is indexed."""
    return f"{slug(agent)}-{slug(kind)}-{slug(name)}"


def notes_shelf(root_name: str) -> str:
    """Return the shelf of a watched folder.

    Raises:
        UsageError: The folder's name cannot be a part of a name.
    """
    return _shelf(NOTES, root_name, "a folder")


def memories_shelf(agent: str) -> str:
    """Return the shelf of an agent's own notes: equal names of two agents never meet.

    Raises:
        UsageError: The agent's name is too long.
    """
    return _shelf(MEMORIES, agent, "an agent")


def _shelf(prefix: str, name: str, what: str) -> str:
    most = NAME_CHARS_MAX - len(prefix)
    if not name.strip() or not name.isprintable() or len(name) > most:
        raise UsageError("name", name, f"{what} whose name has 1 to {most} printable characters")
    return prefix + name


def is_note(name: str) -> bool:
    """Return whether a file is Markdown, by its name."""
    return PurePosixPath(name).suffix.casefold() in SUFFIXES


def stem_of(path: str) -> str:
    """Return a note's name: without folders, and without the suffix of Markdown."""
    name = PurePosixPath(path).name
    return name[: -len(PurePosixPath(name).suffix)] if is_note(name) else name


def linked_name(link: str) -> str:
    """Return what a link names: without brackets, shown text, heading and block.

    ``[[Race plan#Tyres|the plan]]`` names ``Race plan``.
    """
    inner = link.strip().removeprefix("!").removeprefix("[[").removesuffix("]]")
    return inner.split("|", 1)[0].split("#", 1)[0].split("^", 1)[0].strip()
