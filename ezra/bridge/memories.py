"""Memories of coding agents as facts of a session graph, and back. Pure.

A fact's text is a memory's content, under its title and an empty line where it has one. Type,
category, tags and who may see it are topics: ``type:decision``, ``category:auth``, ``tag:api``,
``scope:private``. ``valid_from`` is when it was written, which is before it was recorded where it
waited in an outbox.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any

from tiers.documents import Document
from tiers.errors import UsageError, check_at_most
from tiers.forms import dated_text
from tiers.records import ALL_TOPICS_MAX, NAME_CHARS_MAX, TEXT_CHARS_MAX, Fact, Hit

from ..checks import checked

TITLE_CHARS_MAX = 200
TAGS_MAX = 32
TYPE, CATEGORY, TAG, SCOPE = "type:", "category:", "tag:", "scope:"
UNTYPED = "observation"
"""What a fact without a type counts as: it was remembered by other means than the bridge."""

_BREAK = "\n\n"


@dataclass(frozen=True)
class Memory:
    """What a coding agent remembers.

    Attributes:
        id: Of the fact.
        type: ``decision``, ``preference``, … in the words of its writer.
        title: Its first line, where an empty line follows that.
        content: The rest; all of it without a title.
        category: Of the writer's own.
        tags: Of the writer's own, in order of the alphabet.
        agent: Who wrote it.
        created_at: When.
        private: Whether only its writer sees it.
        superseded_by: What took its place.
        forgotten_at: When it was forgotten.
        score: Of a recall; comparable inside one answer.
        note: Of what ``sync-memories`` brought, the name of the file; its id is the document's.
    """

    id: str
    type: str
    title: str
    content: str
    category: str | None
    tags: tuple[str, ...]
    agent: str
    created_at: datetime
    private: bool = False
    superseded_by: str | None = None
    forgotten_at: datetime | None = None
    score: float | None = None
    note: str | None = None

    @property
    def text(self) -> str:
        """The fact's text."""
        return text_of(self.content, self.title)

    @property
    def document(self) -> dict[str, Any]:
        """As JSON values, without what says nothing."""
        kept = {name: one for name, one in asdict(self).items() if one not in (None, (), "")}
        for name, one in kept.items():
            if isinstance(one, datetime):
                kept[name] = one.isoformat()
        return kept | {"tags": list(self.tags), "title": self.title}


def labels(
    type: str | None = None,  # noqa: A002 - what people call it
    category: str | None = None,
    tags: Iterable[str] = (),
    *,
    private: bool | None = None,
) -> tuple[str, ...]:
    """Return the topics that a memory of such a type, category and tags carries.

    Raises:
        UsageError: One of them is blank or too long, or there are more than 32 tags.
    """
    found = [] if type is None else [_label("type", TYPE, type)]
    if category is not None:
        found.append(_label("category", CATEGORY, category))
    given = tuple(tags)
    check_at_most("tags", len(given), TAGS_MAX)
    if private is not None:
        found.append(f"{SCOPE}{'private' if private else 'shared'}")
    return tuple(dict.fromkeys([*found, *(_label("tags", TAG, one) for one in given)]))


def asked_labels(
    type: str | None,  # noqa: A002 - what people call it
    category: str | None,
    tags: Iterable[str],
    *,
    private: bool | None = None,
) -> tuple[str, ...]:
    """Return the topics that a recall is kept to: a memory must carry every one.

    Raises:
        UsageError: As ``labels``, and when there are more than 16.
    """
    found = labels(type, category, tags, private=private)
    if len(found) > ALL_TOPICS_MAX:
        raise UsageError("tag", len(found), f"at most {ALL_TOPICS_MAX} filters in all")
    return found


def text_of(content: str, title: str = "") -> str:
    """Return the text of a memory.

    Raises:
        UsageError: The content is blank, the title has several lines, or there is too much.
    """
    if not content.strip():
        raise UsageError("content", content, "text that is not blank")
    named = title.strip()
    if len(named) > TITLE_CHARS_MAX or len(named.splitlines()) > 1:
        raise UsageError("title", title, f"one line of at most {TITLE_CHARS_MAX} characters")
    # The first line may be indented: it may be code.
    body = content.strip("\r\n").rstrip()
    # Without a title a break comes first where the first paragraph would be read as one.
    text = f"{named}{_BREAK}{body}" if named or _parted(body)[0] else body
    if len(text) > TEXT_CHARS_MAX:
        raise UsageError("content", len(content), f"at most {TEXT_CHARS_MAX:,} characters")
    return text


def fact_of(arguments: Mapping[str, Any], at: datetime) -> Fact:
    """Return the fact that a memory's words make.

    Args:
        arguments: ``type``, ``content``; ``title``, ``category``, ``tags``, ``private`` if known.
        at: When it was written.

    Raises:
        UsageError: One of them is not acceptable.
    """
    private = bool(arguments.get("private"))
    tags = arguments.get("tags") or ()
    return checked(
        Fact,
        text=text_of(str(arguments["content"]), str(arguments.get("title") or "")),
        topics=labels(arguments["type"], arguments.get("category"), tags, private=private),
        private=private,
        valid_from=at,
    )


def memory_of(fact: Fact) -> Memory:
    """Return the memory that a fact is."""
    found = _memory(fact.id, fact.text, fact.topics, fact.agent_id, fact.valid_from, fact)
    return replace(
        found,
        private=fact.private,
        superseded_by=fact.superseded_by,
        forgotten_at=fact.forgotten_at,
    )


def memory_of_hit(hit: Hit) -> Memory:
    """Return the memory that recall found, with its score; of a note the passage that was found."""
    found = _memory(hit.id, dated_text(hit), hit.topics, hit.agent_id, hit.valid_from, hit)
    if hit.citation is None:
        return replace(found, score=hit.score)
    where = hit.citation
    return replace(
        found,
        id=where.document_id,
        title=where.title,
        content=hit.text.removeprefix(f"{where.title}\n"),
        note=where.name,
        score=hit.score,
    )


def memory_of_note(note: Document) -> Memory:
    """Return the memory that a note is, whole."""
    found = _memory(note.id, note.text, note.topics, note.agent_id, note.changed_at, note)
    return replace(found, title=note.title, content=note.text, note=note.name)


def _memory(
    memory_id: str,
    text: str,
    topics: Sequence[str],
    agent: str,
    written: datetime | None,
    recorded: Fact | Hit | Document,
) -> Memory:
    title, content = _parted(text)
    types, categories = _of(topics, TYPE), _of(topics, CATEGORY)
    return Memory(
        id=memory_id,
        type=types[0] if types else UNTYPED,
        title=title,
        content=content,
        category=categories[0] if categories else None,
        tags=_of(topics, TAG),
        agent=agent,
        private=f"{SCOPE}private" in topics,
        created_at=written or recorded.recorded_at,
    )


def _parted(text: str) -> tuple[str, str]:
    head, _, rest = text.partition(_BREAK)
    is_title = bool(rest.strip()) and "\n" not in head and len(head) <= TITLE_CHARS_MAX
    return (head, rest) if is_title else ("", text)


def _of(topics: Sequence[str], prefix: str) -> tuple[str, ...]:
    return tuple(one.removeprefix(prefix) for one in topics if one.startswith(prefix))


def _label(field: str, prefix: str, value: object) -> str:
    """Return a topic, as the stores write it: trimmed and in small letters."""
    text = value.strip() if isinstance(value, str) else ""
    if not text or not text.isprintable() or len(prefix) + len(text) > NAME_CHARS_MAX:
        most = NAME_CHARS_MAX - len(prefix)
        raise UsageError(field, value, f"1 to {most} printable characters")
    return f"{prefix}{text.casefold()}"
