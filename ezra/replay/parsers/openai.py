"""Chat messages as the OpenAI API takes them: one thread, a list of threads, or lines of either.

The format is foreign: keys that are not used here are left unread.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime

from .fields import Fields
from .source import Draft, Parsed, Source
from .times import MOMENT_ACCEPTED, Spacing, parse_moment, parse_unix

DEFAULT_AGENT = "assistant"
DEFAULT_SPEAKER = "user"
_TIME_FIELDS = ("created_at", "timestamp", "created")
_TEXT_PARTS = {"text": "text", "input_text": "text", "output_text": "text", "refusal": "refusal"}
_CONTENT_ACCEPTED = "a string, or a list of parts that have a type"


def parse(source: Source, root: object, start: datetime) -> Parsed:
    """Return the drafts of the threads in a decoded file.

    Args:
        source: The file.
        root: What was decoded.
        start: When a thread begins whose messages state no time.

    Raises:
        UsageError: It holds no messages, or one that cannot be read.
    """
    drafts: list[Draft] = []
    skipped: Counter[str | None] = Counter()
    for conversation, messages in _threads(source, root):
        thread = Thread(conversation, Spacing(start))
        for message in messages:
            thread.add(message)
        drafts.extend(thread.drafts())
        skipped[conversation] += thread.skipped
    return Parsed(tuple(drafts), skipped)


def _threads(source: Source, root: object) -> Iterator[tuple[str | None, Iterator[Fields]]]:
    """Yield each thread's conversation (``None``: the file's own) and messages."""
    rows = root if isinstance(root, list) else [root]
    first = Fields(source, rows[0], 1) if rows else None
    if first is None or "messages" not in first:
        yield None, (Fields(source, row, 1) for row in rows)
        return
    for number, row in enumerate(rows, start=1):
        thread = Fields(source, row, 1)
        if "messages" not in thread:
            raise thread.problem("messages", "a list of messages, as in the first thread")
        numbered = None if len(rows) == 1 else f"{source.stem}-{number}"
        yield thread.optional_id() or numbered, thread.items("messages")


@dataclass(slots=True)
class _Open:
    """A turn that may still get replies and tool outputs."""

    line: int
    id: str | None
    at: datetime
    speaker: str | None = None
    text: str = ""
    agent: str | None = None
    replies: list[str] = field(default_factory=list)
    tool_outputs: list[dict[str, str]] = field(default_factory=list)

    @property
    def is_own(self) -> bool:
        """Whether the agent said it unasked."""
        return self.speaker is None

    def takes(self, agent: str | None, text: str) -> bool:
        """Whether a message belongs here: one agent answers, another speaks anew."""
        if self.is_own and self.text and text:
            return False
        return self.agent == agent or not (self.is_own or self.replies)


class Thread:
    """A conversation that grows message by message, and the turns that it makes."""

    def __init__(self, conversation: str | None, spacing: Spacing) -> None:
        self._conversation = conversation
        self._spacing = spacing
        self._turns: list[_Open] = []
        self._calls: dict[str, str] = {}
        self.skipped = 0

    def add(self, message: Fields) -> None:
        """Take in the next message."""
        role = message.get("role")
        if role in ("system", "developer"):
            self.skipped += 1
        elif role == "user":
            self._user(message)
        elif role == "assistant":
            self._assistant(message)
        elif role in ("tool", "function"):
            self._tool(message)
        else:
            raise message.problem("role", "system, developer, user, assistant, tool or function")

    def drafts(self) -> Iterator[Draft]:
        """Yield the turns. One that nobody answered belongs to the thread's first named agent."""
        usual = next((turn.agent for turn in self._turns if turn.agent), DEFAULT_AGENT)
        for turn in self._turns:
            if not turn.text:  # tools called unasked, and nothing said about it
                self.skipped += 1
                continue
            agent = turn.agent or usual
            yield Draft(
                line=turn.line,
                conversation=self._conversation,
                id=turn.id,
                speaker=turn.speaker or agent,
                agent=agent,
                at=turn.at,
                content={
                    "text": turn.text,
                    "response": "\n\n".join(turn.replies),
                    "tool_outputs": tuple(turn.tool_outputs),
                },
            )

    def _user(self, message: Fields) -> None:
        text = _content(message)
        if not text.strip():
            raise message.problem("content", f"{_CONTENT_ACCEPTED}; a user's is not blank")
        turn = self._opened(message)
        turn.speaker = message.optional_name("name") or DEFAULT_SPEAKER
        turn.text = text

    def _assistant(self, message: Fields) -> None:
        self._note_calls(message)
        name, text = message.optional_name("name"), _content(message)
        text = text if text.strip() else ""
        turn = self._turns[-1] if self._turns else None
        if turn is None or not turn.takes(name, text):
            turn = self._opened(message)
        turn.agent = name or turn.agent
        if turn.is_own:
            turn.text = turn.text or text
        elif text:
            turn.replies.append(text)

    def _tool(self, message: Fields) -> None:
        if not self._turns:
            raise message.problem("role", "a user's or assistant's message before a tool's")
        called = self._calls.get(str(message.get("tool_call_id")), "tool")
        tool = message.optional_name("name") or called
        self._turns[-1].tool_outputs.append({"tool": tool, "output": _content(message)})

    def _opened(self, message: Fields) -> _Open:
        turn = _Open(message.line, message.optional_id(), self._spacing.next(_stated(message)))
        self._turns.append(turn)
        return turn

    def _note_calls(self, message: Fields) -> None:
        calls = message.get("tool_calls")
        for call in calls if isinstance(calls, list) else ():
            function = call.get("function") if isinstance(call, dict) else None
            if isinstance(function, dict) and isinstance(function.get("name"), str):
                self._calls[str(call.get("id"))] = function["name"]


def _stated(message: Fields) -> datetime | None:
    for name in _TIME_FIELDS:
        value = message.get(name)
        if value is None:
            continue
        try:
            if isinstance(value, int | float) and not isinstance(value, bool):
                return parse_unix(value)
            return parse_moment(value)
        except ValueError as error:
            raise message.problem(name, f"{MOMENT_ACCEPTED}; or Unix seconds") from error
    return None


def _content(message: Fields) -> str:
    content = message.get("content")
    if not isinstance(content, list):
        if content is not None and not isinstance(content, str):
            raise message.problem("content", _CONTENT_ACCEPTED)
        return message.optional_text("content") or ""
    return "\n".join(
        part if isinstance(part, str) else _part(message.nested(f"content[{number}]", part))
        for number, part in enumerate(content)
    )


def _part(part: Fields) -> str:
    """Return a part's text, or a visible note in the place of what is no text."""
    kind = part.name("type")
    if kind not in _TEXT_PARTS:
        return f"[{kind} left out]"
    text = part.optional_text(_TEXT_PARTS[kind])
    if text is None:
        raise part.problem(_TEXT_PARTS[kind], "a string")
    return text
