"""What notes mean: which folders are which types, which fields are relations, which states end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from tiers.errors import ConfigError

from ..config import RELATIONS_VARIABLE, TYPES_VARIABLE
from .names import slug

ENTRIES_MAX = 100

RELATIONS = ("initiative", "blocked_by", "depends_on")
"""Fields whose values name other notes; more by configuration."""
LINKS = "links_to"
"""The relation of wiki links in a note's text."""

COMPLETED = frozenset(
    {"done", "completed", "complete", "closed", "resolved", "shipped", "finished"}
)
"""States of what was brought to its end."""
ENDED = COMPLETED | {
    "cancelled", "canceled", "dropped", "abandoned", "rejected", "superseded", "wontfix",
    "archived",
}  # fmt: skip
"""States after which nothing is waited for."""
BLOCKED = frozenset({"blocked", "waiting", "on-hold"})

ARCHIVES = frozenset({"archive", "archives", "archived", "_archive"})
"""Folders of what is over: their notes are no entities."""
INDEXES = frozenset({"index", "_index", "readme", "memory"})
"""Notes that list other notes: they are no entities."""


@dataclass(frozen=True)
class NoteRules:
    """How notes are read.

    Attributes:
        types: What the notes of a folder are, by the folder's name as ``slug`` gives it; where
            it says nothing, the folder's own name is their type.
        relations: Fields of front matter that name other notes.
    """

    types: Mapping[str, str] = field(default_factory=dict)
    relations: tuple[str, ...] = RELATIONS

    def type_of(self, path: str, said: str | None) -> str:
        """Return the type of a note: what it says, else its folder's by the map, else the folder.

        Of nested folders the nearest that the map knows counts. A note outside of any folder is a
        ``note``.
        """
        if said:
            return slug(said)
        folders = PurePosixPath(path).parts[:-1]
        for folder in reversed(folders):
            mapped = self.types.get(slug(folder))
            if mapped is not None:
                return mapped
        return slug(folders[-1]) if folders else "note"


def is_entity_file(path: str) -> bool:
    """Return whether a Markdown file is an entity: none in an archive, and no list of others."""
    parts = PurePosixPath(path).parts
    if any(part.casefold() in ARCHIVES for part in parts[:-1]):
        return False
    return PurePosixPath(parts[-1]).stem.casefold() not in INDEXES


def rules_of(types: str = "", relations: str = "") -> NoteRules:
    """Return the rules that are configured.

    Args:
        types: What the notes of a folder are: ``folder=type,…``, each folder by its name alone.
        relations: Fields that name other notes, beside those that are always read: ``field,…``.

    Raises:
        ConfigError: One of them is malformed, or has more than 100 entries.
    """
    known: dict[str, str] = {}
    for entry in _entries(types, TYPES_VARIABLE):
        folder, is_pair, kind = entry.partition("=")
        if not is_pair or not folder.strip() or not kind.strip():
            reason = f"{entry!r} is none of its pairs; write folder=type,folder=type"
            raise ConfigError(TYPES_VARIABLE, reason)
        if "/" in folder.strip().rstrip("/"):
            reason = f"{folder.strip()!r} is a path; write the name of its last folder"
            raise ConfigError(TYPES_VARIABLE, reason)
        known[slug(folder)] = slug(kind)
    more = _entries(relations, RELATIONS_VARIABLE)
    for name in more:
        if name == LINKS or not name.isprintable() or "=" in name:
            reason = f"{name!r} cannot be a relation; write names of fields: owner,reviewed_by"
            raise ConfigError(RELATIONS_VARIABLE, reason)
    return NoteRules(known, tuple(dict.fromkeys((*RELATIONS, *more))))


def _entries(said: str, name: str) -> list[str]:
    entries = [part.strip() for part in said.split(",") if part.strip()]
    if len(entries) > ENTRIES_MAX:
        raise ConfigError(name, f"it has {len(entries)} entries; {ENTRIES_MAX} at most")
    return entries
