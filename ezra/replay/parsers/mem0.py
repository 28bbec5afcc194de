"""Memories as mem0 exports them: a list of them, or an object that has the list in ``results``.

The format is foreign: keys that are not used here are left unread.
"""

from __future__ import annotations

from datetime import datetime

from .fields import Fields, checked_topics
from .source import Draft, Parsed, Source
from .times import Spacing

DEFAULT_SPEAKER = "user"
_OWNERS = ("user_id", "agent_id", "run_id")


def parse(source: Source, root: object, start: datetime) -> Parsed:
    """Return the drafts of the facts in a decoded file.

    Args:
        source: The file.
        root: What was decoded.
        start: When the first memory was made, if it does not say so.

    Raises:
        UsageError: It holds no memories, or one that cannot be read.
    """
    if isinstance(root, list):
        rows = [Fields(source, row, 1) for row in root]
    else:
        rows = list(Fields(source, root, 1).items("results"))
    spacing = Spacing(start)
    return Parsed(tuple(_draft(row, spacing) for row in rows))


def _draft(row: Fields, spacing: Spacing) -> Draft:
    stated = row.optional_moment("created_at")
    named = (row.optional_name(name) for name in _OWNERS)
    return Draft(
        line=row.line,
        kind="fact",
        id=row.optional_id(),
        speaker=next((name for name in named if name), DEFAULT_SPEAKER),
        at=spacing.next(stated),
        topics=checked_topics(row.get("categories")) or None,
        content={"text": row.text("memory"), "valid_from": stated},
    )
