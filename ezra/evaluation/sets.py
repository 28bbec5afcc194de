"""Sets to evaluate on: conversations, questions about them, and the turns that answer each.

A set lies in one file, in one of three forms. Turns are read by the parsers of ``ezra.replay`` and
obey its rules. Each mistake is a ``UsageError`` whose field is ``FILE:LINE: FIELD``.

One JSON document::

    {"categories": {"1": "multi-hop", "5": "adversarial"},              optional names of numbers
     "conversations": [
       {"id": "trip",
        "turns": [{"id": "t1",
                   "date": "2026-05-14T10:00",                          or "at": an ISO 8601 moment
                   "speaker": "Ada",
                   "text": "We land on Friday.",
                   "caption": "a boarding pass",                        optional: an image shown
                   "response": "Noted.",                                optional: the agent's reply
                   "tool_outputs": [{"tool": "…", "output": "…"}]}],    optional
        "qa": [{"question": "When do we land?",
                "evidence": ["t1"],                                     ids of turns above
                "category": 1,                                          optional: number or name
                "id": "q1",                                             optional
                "asked_at": "2026-06-01",                               optional
                "kinds": ["turn", "fact"]}]}]}                          optional: recall's kinds

    Other keys are left unread. ``asked_at`` is what the clock shows when the question is asked,
    which is after the last turn in any case, and a minute after it if not given. ``kinds`` are
    asked for in place of those of the run.

JSON lines
    The lines of ``ezra replay``'s jsonl (turns, facts, rules, beliefs), and among them questions:
    ``{"type": "question", "question", "evidence", "conversation"?, "category"?, "id"?,
    "asked_at"?, "kinds"?, "answer"?}``. Evidence names the ids of turn lines. Other fields are
    refused.

LoCoMo as it was published
    The list of samples with ``sample_id``, ``conversation`` and ``qa``. Its evidence is written in
    several ways (``D8:6; D9:17``, ``D30:05``): what can be read is, and ids that name no turn are
    counted in ``dropped``. Its categories have the names of the paper.

Questions without evidence cannot be scored and are left out. So are those of excluded categories;
unless it is said otherwise the category named ``adversarial``, whose questions have no answer.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import get_args

from tiers.errors import UsageError
from tiers.records import Kind, Moment, Name, Record, Text

from ..replay.assemble import assemble
from ..replay.parsers import jsonl, locomo
from ..replay.parsers.fields import NAME_ACCEPTED, Fields, checked_name
from ..replay.parsers.json_text import JsonObject, decode
from ..replay.parsers.source import Draft, Parsed, Source, read_source
from ..replay.script import Conversation, TurnLine

EXCLUDED = ("adversarial",)
"""Names of the categories that are left out unless it is said otherwise."""

UNCATEGORISED = "uncategorised"
EVIDENCE_MAX = 1_000
"""Turns that one question may name."""

_PUBLISHED_CATEGORIES = {
    "1": "multi-hop",
    "2": "temporal",
    "3": "open-domain",
    "4": "single-hop",
    "5": "adversarial",
}
_PUBLISHED_ID = re.compile(r"D:?([0-9]{1,6}):([0-9]{1,6})")
_KINDS: tuple[Kind, ...] = get_args(Kind)
_QUESTION = "type conversation id question evidence category asked_at kinds answer".split()
_EVIDENCE_ACCEPTED = f"a list of at most {EVIDENCE_MAX} ids of turns"


class Question(Record):
    """A question and what answers it.

    Attributes:
        id: Unique in its conversation; ``q`` and its place there if the file names none.
        text: What is asked.
        evidence: The refs of the turns that answer it, each once; not empty.
        category: Its name, or its number where that has no name.
        asked_at: What the clock shows when it is asked; ``None``: a minute after the end.
        kinds: What recall is asked for; ``None``: what the run says.
    """

    id: Name
    text: Text
    evidence: tuple[str, ...]
    category: str = UNCATEGORISED
    asked_at: Moment | None = None
    kinds: tuple[Kind, ...] | None = None


class Interview(Record):
    """A conversation, and the questions that are asked about it."""

    conversation: Conversation
    questions: tuple[Question, ...]

    @property
    def id(self) -> str:
        """The conversation's id."""
        return self.conversation.id

    @property
    def turns(self) -> tuple[TurnLine, ...]:
        """What can be evidence, in the order in which it was said."""
        return tuple(line for line in self.conversation.lines if isinstance(line, TurnLine))

    @property
    def ends_at(self) -> datetime:
        """The latest moment at which anything was said."""
        return max(line.at for line in self.conversation.lines)


class EvaluationSet(Record):
    """What a file holds.

    Attributes:
        name: The file as it was given.
        interviews: In the order of the file, those without a question to ask included.
        excluded: Questions left out for their category, by category.
        without_evidence: Questions left out because they name no turn.
        dropped: Evidence ids of a published file that name no turn.
    """

    name: str
    interviews: tuple[Interview, ...]
    excluded: dict[str, int]
    without_evidence: int = 0
    dropped: int = 0


def read_set(path: Path, *, exclude: Sequence[str] | None = None) -> EvaluationSet:
    """Read a whole set; it blocks meanwhile: call it in a thread where a loop runs.

    Args:
        path: The file.
        exclude: Categories to leave out, by name or number; ``None`` is ``EXCLUDED``.

    Raises:
        UsageError: The file is not in order, holds no question that can be scored, or has no
            category of a name in ``exclude``.
    """
    source = read_source(path)
    root = decode(source)
    drafts = _drafts(source, root)
    conversations = assemble([(source, drafts.parsed)], None).conversations
    reading = _Reading(drafts, _turn_refs(conversations))
    asked = reading.questions()
    every = [question for questions in asked.values() for question in questions]
    categories = Counter(question.category for question in every)
    left_out = _left_out(exclude, categories, drafts.categories)
    kept = {
        name: tuple(one for one in questions if one.evidence and one.category not in left_out)
        for name, questions in asked.items()
    }
    if not any(kept.values()):
        accepted = "at least one question with evidence, in a category that is not excluded"
        raise source.problem(1, "file", f"{len(every)} questions", accepted)
    return EvaluationSet(
        name=source.name,
        interviews=tuple(
            Interview(conversation=one, questions=kept[one.id]) for one in conversations
        ),
        excluded={category: categories[category] for category in sorted(left_out)},
        without_evidence=sum(not one.evidence and one.category not in left_out for one in every),
        dropped=reading.dropped,
    )


@dataclass(frozen=True, slots=True)
class _Drafts:
    """A file's turns as its parser left them, and its questions as they stand there.

    Attributes:
        parsed: What becomes the conversations.
        asked: For each question its conversation, what stands before its fields in errors, and
            the fields.
        categories: Names of numbers.
        published: Whether evidence is written as the published LoCoMo writes it.
    """

    parsed: Parsed
    asked: tuple[tuple[str, str, Fields], ...]
    categories: dict[str, str]
    published: bool = False


def _drafts(source: Source, root: object) -> _Drafts:
    first = root[0] if isinstance(root, list) and root else root
    if isinstance(first, dict) and "conversations" in first and not isinstance(root, list):
        return _document(source, root)
    if isinstance(first, dict) and "sample_id" in first:
        samples = root if isinstance(root, list) else [root]
        return _published(source, samples)
    return _lines(source, root if isinstance(root, list) else [root])


def _document(source: Source, root: object) -> _Drafts:
    document = Fields(source, root, 1)
    turns = _with_replies(source, root)
    asked = [
        (conversation.name("id"), f"conversations[{place}].qa[{number}].", question)
        for place, conversation in enumerate(document.items("conversations"))
        for number, question in enumerate(conversation.items("qa"))
    ]
    categories = {}
    if "categories" in document:
        value = document.get("categories")
        named = document.nested("categories", value)
        for number in value if isinstance(value, dict) else ():
            categories[str(number)] = named.name(str(number))
    return _Drafts(turns, tuple(asked), categories)


def _published(source: Source, samples: Sequence[object]) -> _Drafts:
    parsed = locomo.parse(source, list(samples))
    asked = [
        (sample.name("sample_id"), f"qa[{number}].", question)
        for sample in (Fields(source, value, 1) for value in samples)
        for number, question in enumerate(sample.items("qa"))
    ]
    return _Drafts(parsed, tuple(asked), _PUBLISHED_CATEGORIES, published=True)


def _lines(source: Source, rows: Sequence[object]) -> _Drafts:
    turns: list[object] = []
    asked = []
    for row in rows:
        if not isinstance(row, dict) or row.get("type") != "question":
            turns.append(row)
            continue
        question = Fields(source, row, 1)
        question.only(*_QUESTION)
        name = question.optional_name("conversation") or source.stem.strip()
        asked.append((name, "", question))
    return _Drafts(jsonl.parse(source, turns), tuple(asked), {})


def _with_replies(source: Source, root: object) -> Parsed:
    """Return the turns of a document.

    The parser of LoCoMo's trimmed form reads what LoCoMo has; the rest is read as in a line.
    """
    turns = list(_turns(root))
    for turn in turns:
        if turn.get("at") is not None and turn.get("date") is None:
            turn["date"] = Fields(source, turn, 1).moment("at").isoformat()
    parsed = locomo.parse(source, root)
    drafts = zip(parsed.drafts, turns, strict=True)
    return Parsed(tuple(_with_reply(source, draft, turn) for draft, turn in drafts))


def _turns(root: object) -> Iterator[JsonObject]:
    """Yield the turns of what may be a document; what is none is left to the parser to refuse."""
    conversations = root.get("conversations") if isinstance(root, dict) else None
    for conversation in conversations if isinstance(conversations, list) else ():
        turns = conversation.get("turns") if isinstance(conversation, dict) else None
        for turn in turns if isinstance(turns, list) else ():
            if isinstance(turn, JsonObject):
                yield turn


def _with_reply(source: Source, draft: Draft, turn: JsonObject) -> Draft:
    more = {name: turn[name] for name in ("response", "tool_outputs") if name in turn}
    if not more:
        return draft
    line = {"speaker": draft.speaker, "at": draft.at.isoformat(), **draft.content, **more}
    (read,) = jsonl.parse(source, JsonObject(line, turn.line)).drafts
    return replace(draft, content=read.content)


def _turn_refs(conversations: Sequence[Conversation]) -> dict[str, frozenset[str]]:
    """Return what can be evidence, by conversation."""
    return {
        one.id: frozenset(line.ref for line in one.lines if isinstance(line, TurnLine))
        for one in conversations
    }


class _Reading:
    """Makes questions of fields, and counts evidence that names nothing.

    Args:
        drafts: Of the file.
        refs: Of its turns, by conversation.
    """

    def __init__(self, drafts: _Drafts, refs: Mapping[str, Collection[str]]) -> None:
        self._drafts = drafts
        self._refs = refs
        self.dropped = 0

    def questions(self) -> dict[str, tuple[Question, ...]]:
        """Return every question by conversation, those without evidence included."""
        found: defaultdict[str, dict[str, Question]] = defaultdict(dict)
        for name, where, fields in self._drafts.asked:
            if name not in self._refs:
                raise fields.problem("conversation", f"one with turns: {', '.join(self._refs)}")
            question = self._question(name, where, fields, len(found[name]) + 1)
            if question.id in found[name]:
                raise fields.problem("id", "an id used once in its conversation")
            found[name][question.id] = question
        return {name: tuple(found[name].values()) for name in self._refs}

    def _question(self, name: str, where: str, fields: Fields, place: int) -> Question:
        return Question(
            id=fields.optional_id() or f"q{place}",
            text=fields.text("question"),
            evidence=self._evidence(name, where, fields),
            category=self._category(fields),
            asked_at=fields.optional_moment("asked_at"),
            kinds=_kinds(fields),
        )

    def _category(self, fields: Fields) -> str:
        value = fields.get("category")
        if value is None:
            return UNCATEGORISED
        number = value if isinstance(value, int) and not isinstance(value, bool) else None
        label = checked_name(str(number) if number is not None else value)
        if label is None:
            raise fields.problem("category", f"a whole number, or {NAME_ACCEPTED}")
        return self._drafts.categories.get(label, label)

    def _evidence(self, name: str, where: str, fields: Fields) -> tuple[str, ...]:
        values = fields.get("evidence")
        if values is None:
            return ()
        if not isinstance(values, list) or len(values) > EVIDENCE_MAX:
            raise fields.problem("evidence", _EVIDENCE_ACCEPTED)
        if self._drafts.published:
            return self._published_evidence(name, values)
        refs = []
        for number, value in enumerate(values):
            ref = f"{name}:{value}"
            is_id = isinstance(value, str | int) and not isinstance(value, bool)
            if not is_id or ref not in self._refs[name]:
                accepted = f"the id of a turn of conversation {name!r}"
                field = f"{where}evidence[{number}]"
                raise fields.source.problem(fields.line, field, value, accepted)
            refs.append(ref)
        return tuple(dict.fromkeys(refs))

    def _published_evidence(self, name: str, values: Sequence[object]) -> tuple[str, ...]:
        written = _PUBLISHED_ID.findall(" ".join(str(value) for value in values))
        refs = dict.fromkeys(f"{name}:D{int(session)}:{int(turn)}" for session, turn in written)
        kept = tuple(ref for ref in refs if ref in self._refs[name])
        self.dropped += len(refs) - len(kept)
        return kept


def _kinds(fields: Fields) -> tuple[Kind, ...] | None:
    values = fields.get("kinds")
    if values is None:
        return None
    asked = values if isinstance(values, list) else [values]
    kinds = tuple(kind for kind in _KINDS if kind in asked)
    if not kinds or len(kinds) != len(asked):
        raise fields.problem("kinds", f"a list of different kinds out of {', '.join(_KINDS)}")
    return kinds


def _left_out(
    exclude: Sequence[str] | None, categories: Collection[str], names: Mapping[str, str]
) -> frozenset[str]:
    """Return which of a set's categories are meant by ``exclude``."""
    left_out = set()
    for wanted in EXCLUDED if exclude is None else exclude:
        known = names.get(wanted, wanted).casefold()
        meant = {category for category in categories if category.casefold() == known}
        if not meant and exclude is not None:
            raise UsageError("exclude", wanted, ", ".join(sorted(categories)))
        left_out |= meant
    return frozenset(left_out)
