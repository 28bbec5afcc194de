"""From drafts to a script: references, agents, and what must hold for all files together."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from pydantic import TypeAdapter, ValidationError

from tiers.fields import Misfit
from tiers.records import NAME_CHARS_MAX

from .parsers import source as limits
from .parsers.fields import NAME_ACCEPTED, checked_name
from .parsers.source import Draft, Parsed, Source
from .script import Conversation, Line, Script

_LINE: TypeAdapter[Line] = TypeAdapter(Line)
_DIGEST_CHARS = 8


def assemble(files: Iterable[tuple[Source, Parsed]], topics: tuple[str, ...] | None) -> Script:
    """Return the script of several files, in their order.

    Args:
        files: What each file holds.
        topics: Given to every line that names none; ``None`` leaves them unnamed.

    Raises:
        UsageError: A reference or a conversation occurs twice, a line makes no record, there is
            nothing to play, or there are too many lines.
    """
    assembly = _Assembly(topics)
    conversations: list[Conversation] = []
    for source, parsed in files:
        conversations.extend(assembly.conversations(source, parsed))
    return Script(conversations=tuple(conversations))


@dataclass(slots=True)
class _Assembly:
    topics: tuple[str, ...] | None
    line_count: int = 0
    files: dict[str, str] = field(default_factory=dict)
    """The file that holds each conversation."""

    def conversations(self, source: Source, parsed: Parsed) -> Iterator[Conversation]:
        """Yield the conversations of one file, in order of first appearance."""
        if not parsed.drafts:
            raise source.problem(1, "file", source.text, "at least one message to play")
        by_conversation: dict[str, list[Draft]] = {}
        for draft in parsed.drafts:
            by_conversation.setdefault(_named(draft.conversation, source), []).append(draft)
        skipped: Counter[str] = Counter()
        for stated, count in parsed.skipped.items():
            skipped[_named(stated, source)] += count
        for name, drafts in by_conversation.items():
            self._claim(source, name, drafts)
            prefix = f"{name}/" if len(by_conversation) > 1 else ""
            lines = tuple(self._lines(source, name, drafts, prefix))
            yield Conversation(id=name, lines=lines, skipped=skipped[name])

    def _claim(self, source: Source, name: str, drafts: list[Draft]) -> None:
        """Refuse a conversation that another file holds: their lines would mix unseen."""
        line = drafts[0].line
        if checked_name(name) is None:
            raise source.problem(line, "conversation", name, NAME_ACCEPTED)
        if name in self.files:
            accepted = f"a conversation that no other file holds; this one is in {self.files[name]}"
            raise source.problem(line, "conversation", name, accepted)
        self.files[name] = source.name
        self.line_count += len(drafts)
        if self.line_count > limits.LINES_MAX:
            accepted = f"at most {limits.LINES_MAX} lines in one script"
            raise source.problem(line, "file", self.line_count, accepted)

    def _lines(
        self, source: Source, conversation: str, drafts: list[Draft], prefix: str
    ) -> Iterator[Line]:
        first_lines: dict[str, int] = {}
        for ordinal, draft in enumerate(drafts, start=1):
            own = draft.id or f"{ordinal}:{_digest(draft)}"
            ref = f"{conversation}:{own}"
            if own in first_lines:
                accepted = f"an id used once; this one is used in line {first_lines[own]} already"
                raise source.problem(draft.line, "id", own, accepted)
            if len(ref) > NAME_CHARS_MAX:
                accepted = f"at most {NAME_CHARS_MAX} characters together with the conversation"
                raise source.problem(draft.line, "id", own, accepted)
            first_lines[own] = draft.line
            fields: dict[str, object] = {
                "conversation": conversation,
                "ref": ref,
                "speaker": draft.speaker,
                "agent": self._agent(source, draft, prefix),
                "at": draft.at,
                "topics": self._topics(draft),
            }
            yield _record(source, draft, fields)

    def _topics(self, draft: Draft) -> tuple[str, ...] | None:
        unnamed = draft.topics is None and draft.kind != "belief"
        return self.topics if unnamed else draft.topics

    def _agent(self, source: Source, draft: Draft, prefix: str) -> str:
        owner = draft.agent or draft.speaker
        agent = f"{prefix}{owner}" if draft.qualified else owner
        if len(agent) > NAME_CHARS_MAX:
            accepted = f"at most {NAME_CHARS_MAX} characters together with the conversation"
            raise source.problem(draft.line, "speaker", owner, accepted)
        return agent


def _named(conversation: str | None, source: Source) -> str:
    return source.stem.strip() if conversation is None else conversation


def _digest(draft: Draft) -> str:
    """Return a short digest of what is said, but not of when: a default time may differ."""
    said = json.dumps([draft.kind, draft.speaker, draft.content], default=str, sort_keys=True)
    return hashlib.sha256(said.encode()).hexdigest()[:_DIGEST_CHARS]


def _record(source: Source, draft: Draft, fields: dict[str, object]) -> Line:
    try:
        return _LINE.validate_python({"kind": draft.kind, **fields, **draft.content})
    except ValidationError as error:
        first = Misfit.first_of(error)
        # The first part names the kind of line, which is no field of the file.
        where = ".".join(map(str, first.place[1:])) or draft.kind
        raise source.problem(draft.line, where, first.value, first.accepted) from error
