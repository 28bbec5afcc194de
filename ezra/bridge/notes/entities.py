"""What a Markdown note says of itself: type, title, state, and which other notes it names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime

from pydantic import JsonValue

from tiers.documents import Document
from tiers.fencing import on_one_line

from ...documents.front_matter import FrontMatter, said_of, split_front_matter
from ...documents.parsed import cleaned
from .names import entity_id, linked_name, slug, stem_of
from .rules import BLOCKED, COMPLETED, ENDED, LINKS, NoteRules

SUMMARY_CHARS = 400
TARGETS_MAX = 1_000
"""So many notes may be named by one field."""
NESTING_MAX = 8
SHARED = "shared"
"""Whose entities are that no agent has written."""

_HEADING = re.compile(r"^ {0,3}#{1,6}[ \t]+(.+?)[ \t#]*$", re.MULTILINE)
_LINE = re.compile(r", line (\d+)$")
_WIKI = re.compile(r"\[\[([^\[\]\n]+)\]\]")
_EXPECTED_FRONT = "--- on the first line, then lines such as 'type: task', then --- again"
_EXPECTED_NAMES = "an id, a path or a [[name]], or a list of them"
_TARGET_KEYS = ("id", "target", "to", "name")


@dataclass(frozen=True, slots=True)
class Notice:
    """Something about a note that people should look at.

    Attributes:
        path: Of the note on its shelf.
        line: Where it is, from 1.
        problem: What is wrong.
        expected: What would be right.
    """

    path: str
    line: int
    problem: str
    expected: str


@dataclass(frozen=True, slots=True)
class Reference:
    """That a note names another one, in the words it uses.

    Attributes:
        relation: ``initiative``, ``blocked_by``, ``depends_on``, ``links_to``, or an own field.
        target: What it names: an id, a slug, a path, a title.
    """

    relation: str
    target: str


@dataclass(frozen=True, slots=True)
class Entity:
    """A note as a node of the graph.

    Attributes:
        id: ``{agent}-{type}-{slug}``.
        agent: Who indexed it.
        type: What it is: ``task``, ``person``, …
        slug: Its name as a part of ids.
        title: What people call it.
        status: As ``slug`` writes it; empty when it says none.
        priority: As it says.
        tags: As it says.
        summary: What it says it is about, else the beginning of its text.
        references: The notes it names.
        notices: What is wrong with it.
        shelf: Where it stands.
        path: Its name on the shelf.
        machine: Where it was indexed last.
        document_id: Of the document that it is.
        revision: Of that document.
        created_at: When its first revision was recorded.
        changed_at: When this one was.
    """

    id: str
    agent: str
    type: str
    slug: str
    title: str
    status: str
    priority: str
    tags: tuple[str, ...]
    summary: str
    references: tuple[Reference, ...]
    notices: tuple[Notice, ...]
    shelf: str
    path: str
    machine: str
    document_id: str
    revision: int
    created_at: datetime
    changed_at: datetime

    @property
    def has_ended(self) -> bool:
        """Whether nothing is waited for any more."""
        return self.status in ENDED

    @property
    def is_completed(self) -> bool:
        """Whether it was brought to its end."""
        return self.status in COMPLETED

    @property
    def says_blocked(self) -> bool:
        """Whether its status says that it waits."""
        return self.status in BLOCKED


@dataclass(frozen=True, slots=True)
class Said:
    """What a note says, whoever indexed it; what ``Entity`` has of the same names."""

    type: str
    title: str
    status: str
    priority: str
    tags: tuple[str, ...]
    summary: str
    references: tuple[Reference, ...]
    notices: tuple[Notice, ...]


def entity_of(document: Document, rules: NoteRules) -> Entity:
    """Return the node that a document is: always the same for the same document."""
    agent = document.agent_id or SHARED
    said = said_by(document.name, document.text, rules)
    name = stem_of(document.name)
    return Entity(
        id=entity_id(agent, said.type, name),
        agent=agent,
        slug=slug(name),
        shelf=document.shelf,
        path=document.name,
        machine=document.machine,
        document_id=document.id,
        revision=document.revision,
        created_at=document.recorded_at,
        changed_at=document.changed_at,
        **{one.name: getattr(said, one.name) for one in fields(said)},
    )


def said_by(path: str, text: str, rules: NoteRules) -> Said:
    """Return what a note says.

    Args:
        path: Its name on the shelf.
        text: Its whole text.
        rules: How notes are read.
    """
    plain = cleaned(text)
    front = split_front_matter(plain)
    reader = _Reader(path, plain, front)
    kind = reader.word("type")
    title = reader.word("title") or reader.word("name") or _heading(front.body) or stem_of(path)
    references = [
        Reference(relation, target)
        for relation in rules.relations
        for target in reader.targets(relation)
    ]
    references += [Reference(LINKS, name) for name in wiki_links(front.body)]
    status = reader.word("status")
    return Said(
        type=rules.type_of(path, kind),
        title=title,
        status=slug(status) if status else "",
        priority=reader.word("priority"),
        tags=tuple(tag.lstrip("#") for tag in reader.listed("tags") if tag.lstrip("#")),
        summary=reader.word("summary") or reader.word("description") or _beginning(front.body),
        references=tuple(dict.fromkeys(references)),
        notices=tuple(reader.notices),
    )


class _Reader:
    """Reads fields of front matter, and notes what is wrong with them."""

    def __init__(self, path: str, text: str, front: FrontMatter) -> None:
        self._path, self._text = path, text
        self._properties: Mapping[str, JsonValue] = front.properties or {}
        self.notices: list[Notice] = []
        if front.problem:
            where = _LINE.search(front.problem)
            self._note(int(where[1]) if where else 1, front.problem, _EXPECTED_FRONT)
        elif not front.properties:
            self._note(1, "there is no front matter", _EXPECTED_FRONT)

    def word(self, name: str) -> str:
        """Return a field that is one word or line; empty when there is none."""
        value = said_of(self._properties, name)
        if value is None:
            return ""
        if isinstance(value, dict | list):
            self._note(self._line(name), f"{name} is no word", f"{name}: one word or line")
            return ""
        return " ".join(_shown(value).split())

    def listed(self, name: str) -> tuple[str, ...]:
        """Return a field that is a list, or words with commas between them."""
        value = said_of(self._properties, name)
        if value is None:
            return ()
        if isinstance(value, str):
            return tuple(part.strip() for part in value.split(",") if part.strip())
        if isinstance(value, list) and not any(isinstance(one, dict | list) for one in value):
            return tuple(_shown(one).strip() for one in value if one is not None)
        self._note(self._line(name), f"{name} is no list of words", f"{name}: [one, other]")
        return ()

    def targets(self, name: str) -> tuple[str, ...]:
        """Return the notes that a field names, each once, in order."""
        value = said_of(self._properties, name)
        if value is None:
            return ()
        found: dict[str, None] = {}
        for target in _targets(value, 0):
            if target is None:
                problem = f"{name} has a value that names no note"
                self._note(self._line(name), problem, f"{name}: {_EXPECTED_NAMES}")
            elif len(found) < TARGETS_MAX:
                found.setdefault(target)
        return tuple(found)

    def _line(self, name: str) -> int:
        """Return the line of a field; the first where it cannot be told."""
        field = re.compile(rf"^['\"]?{re.escape(name)}['\"]?[ \t]*:", re.IGNORECASE)
        for number, line in enumerate(self._text.splitlines(), 1):
            if field.match(line):
                return number
        return 1

    def _note(self, line: int, problem: str, expected: str) -> None:
        self.notices.append(Notice(self._path, line, problem, expected))


def _targets(value: JsonValue, depth: int) -> Iterator[str | None]:
    """Yield the names in a value; ``None`` for what is none.

    YAML reads an unquoted ``[[name]]`` as a list in a list: that is followed.
    """
    if value is None:
        return
    if isinstance(value, str):
        yield from _names_in(value)
    elif isinstance(value, bool) or depth >= NESTING_MAX:
        yield None
    elif isinstance(value, int | float):
        yield _shown(value)
    elif isinstance(value, list):
        for one in value:
            yield from _targets(one, depth + 1)
    else:
        named = next((value[key] for key in _TARGET_KEYS if value.get(key)), None)
        if isinstance(named, str):
            yield from _names_in(named)
        else:
            yield None


def _names_in(text: str) -> Iterator[str | None]:
    """Yield the names in one string: wiki links, and what stands between commas."""
    for link in _WIKI.findall(text):
        yield linked_name(link) or None
    for part in _WIKI.sub(",", text).split(","):
        # Inside of a list in a list the brackets are gone already; what stood in them is not.
        name = linked_name(part)
        if name:
            yield name


def _shown(value: JsonValue) -> str:
    return ("true" if value else "false") if isinstance(value, bool) else str(value)


def _heading(body: str) -> str:
    found = _HEADING.search(body)
    return " ".join(found[1].split()) if found else ""


def _beginning(body: str) -> str:
    """Return the beginning of a text on one line, without its first heading."""
    return on_one_line(_HEADING.sub("", body, count=1), SUMMARY_CHARS)


def by_place(entities: Sequence[Entity]) -> list[Entity]:
    """Return entities in the order of shelf and path, which no run changes."""
    return sorted(entities, key=lambda one: (one.shelf, one.path, one.document_id))


LINKS_MAX = 1_000
"""So many links of one note are followed."""

_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})")
_CODE = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)")
_LINK = re.compile(r"!?\[\[([^\[\]\n]{1,1024})\]\]")


def wiki_links(body: str) -> tuple[str, ...]:
    """Return what the wiki links of a text name, each once, in order.

    ``[[name]]``, ``[[name|shown]]``, ``[[name#heading]]`` and ``![[name]]``. What stands in code is
    no link; a link to a heading of the note itself is none either.
    """
    found: dict[str, None] = {}
    fence = ""
    for line in body.splitlines():
        mark = _FENCE.match(line)
        if fence:
            if mark and mark[1].startswith(fence) and not line.strip().strip(fence[0]):
                fence = ""
            continue
        if mark:
            fence = mark[1]
            continue
        for link in _LINK.finditer(_CODE.sub(" ", line)):
            name = linked_name(link[1])
            if name:
                found.setdefault(name)
            if len(found) >= LINKS_MAX:
                return tuple(found)
    return tuple(found)
