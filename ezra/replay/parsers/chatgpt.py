"""Conversations as ChatGPT exports them, in ``conversations.json``.

Each is a tree of messages, of which the branch counts that was shown last: from ``current_node`` up
to the root. Its messages are those of the OpenAI API in other clothes. The format is foreign: keys
that are not used here are left unread.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from .fields import Fields
from .openai import Thread
from .source import Draft, Parsed, Source
from .times import Spacing

_ACCEPTED = "an object of the messages of a conversation, by id"


def parse(source: Source, root: object, start: datetime) -> Parsed:
    """Return the drafts of the conversations in a decoded file; as ``openai.parse``.

    Raises:
        UsageError: It holds no conversations, or a message that cannot be read.
    """
    rows = root if isinstance(root, list) else [root]
    drafts: list[Draft] = []
    skipped: Counter[str | None] = Counter()
    for number, row in enumerate(rows, start=1):
        talk = Fields(source, row, 1)
        name = talk.optional_name("conversation_id") or talk.optional_id()
        name = name or f"{source.stem}-{number}"
        thread = Thread(name, Spacing(start))
        for said in _shown(talk):
            if said["content"]:
                thread.add(Fields(source, said, talk.line))
            else:
                skipped[name] += 1
        drafts.extend(thread.drafts())
        skipped[name] += thread.skipped
    return Parsed(tuple(drafts), skipped)


def _shown(talk: Fields) -> list[dict[str, Any]]:
    """Return the messages of the branch that was shown last, oldest first, as the API has them."""
    nodes = talk.get("mapping")
    if not isinstance(nodes, Mapping):
        raise talk.problem("mapping", _ACCEPTED)
    found: list[dict[str, Any]] = []
    at, seen = talk.get("current_node"), set[str]()
    while isinstance(at, str) and at in nodes and at not in seen:
        seen.add(at)  # a circle ends
        node = talk.nested(f"mapping.{at}", nodes[at])
        if "message" in node:
            found.append(_message(node.nested("message", node.get("message"))))
        at = node.get("parent")
    return found[::-1]


def _message(told: Fields) -> dict[str, Any]:
    author = told.nested("author", told.get("author"))
    content = told.nested("content", told.get("content"))
    parts = content.get("parts")
    said = [
        part if isinstance(part, str) else {"type": part.get("content_type")}
        for part in (parts if isinstance(parts, list) else ())
        if isinstance(part, Mapping) or (isinstance(part, str) and part.strip())
    ]
    more = {"name": author.get("name")} if author.get("role") == "tool" else {}
    return {
        "id": told.get("id"),
        "role": author.get("role"),
        "content": said,
        "created": told.get("create_time"),
        **more,
    }
