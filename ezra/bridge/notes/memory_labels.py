"""What a note of an agent's own memory is found by: its title, and the topics of a memory. Pure."""

from __future__ import annotations

from tiers.errors import UsageError

from ..memories import TAGS_MAX, labels
from .entities import Said, said_by
from .rules import NoteRules

MEMORIES_TOPIC = "memories"
"""Every such note has it, and the name of its shelf, which says whose it is."""

_TITLE_CHARS = 512
_RULES = NoteRules()


def shown_title(name: str, text: str) -> str:
    """Return what people call a note: by its front matter, its first heading, else its name."""
    return said_by(name, text, _RULES).title[:_TITLE_CHARS]


def labels_of(shelf: str, name: str, text: str) -> tuple[str, ...]:
    """Return the topics of a note: what a memory of its type and tags has, and whose it is.

    What it says of itself and no topic can be is left out: the note itself is kept as it is.
    """
    said = said_by(name, text, _RULES)
    return tuple(sorted({MEMORIES_TOPIC, shelf.casefold(), *_said_labels(said)}))


def _said_labels(said: Said) -> set[str]:
    found = set(labels(private=False))
    for one in ({"type": said.type}, *({"tags": [tag]} for tag in said.tags[:TAGS_MAX])):
        try:
            found |= set(labels(**one))  # type: ignore[arg-type]
        except UsageError:
            continue
    return found
