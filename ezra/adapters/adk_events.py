"""How the events of an ADK session become what is remembered as turns. Pure.

A user's message and all that follows up to an agent's final response are one turn, named by the id
of its last event. Events are never changed and only follow, so that a session that has grown is cut
at the same places, and what is remembered of it already is told by those names.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256

from tiers.errors import UsageError
from tiers.extras import needs
from tiers.fields import NAME_CHARS_MAX, TEXT_CHARS_MAX
from tiers.records import ToolOutput

from ..wire.tools import agent_tools
from .keeping import encodable

with needs("adk", "ezra.adapters.adk"):
    from google.adk.events.event import Event
    from google.adk.tools.load_memory_tool import load_memory_tool
    from google.genai.types import Content, FunctionResponse

USER = "user"
"""The author of what a user said; every other is the name of an agent."""

_DIGEST = "sha256:"
_LOADING = load_memory_tool.name


@dataclass(frozen=True)
class Said:
    """What becomes one turn.

    Attributes:
        event_id: Names it: the last event of which it is made.
        author: Who spoke first: ``user``, or the name of an agent.
        text: What the user said; empty where an agent spoke unasked.
        response: What was answered or said unasked, if anything.
        outputs: What tools returned on the way.
        at: When it was said.
    """

    event_id: str
    author: str
    text: str
    response: str
    outputs: tuple[ToolOutput, ...]
    at: datetime


@dataclass(frozen=True)
class _Exchange:
    """A message and what followed it, or what was said without one."""

    events: tuple[Event, ...]
    is_over: bool

    @property
    def asked(self) -> Event | None:
        return self.events[0] if _is_question(self.events[0]) else None

    @property
    def followed(self) -> tuple[Event, ...]:
        return self.events if self.asked is None else self.events[1:]


def said_in(events: Iterable[Event], is_known: Callable[[str], bool]) -> list[Said]:
    """Return what is to be remembered of a session, in order.

    Args:
        events: Of the session, or the latest of them, in order.
        is_known: Whether a turn of that name is remembered already.
    """
    found = (_exchanged(exchange, is_known) for exchange in _exchanges(events))
    return [one for one in found if one is not None]


def words_of(content: Content | None) -> str:
    """Return what a content says in words, cut where it is longer than a record may be.

    Half of a character, such as of an emoji that a model's stream cut in two, is a question mark: a
    session whose events no store can keep would never be remembered.
    """
    parts = (content.parts if content else None) or ()
    said = "\n".join(part.text for part in parts if part.text and not part.thought)
    return encodable(said.strip()[:TEXT_CHARS_MAX])


def name_of(given: str) -> str:
    """Return a name of ADK's as one that ezra takes; no two become the same.

    What cannot be a name as it is becomes its digest.
    """
    is_name = 0 < len(given) <= NAME_CHARS_MAX and given.isprintable() and given == given.strip()
    if is_name and not given.startswith(_DIGEST):
        return given
    return _DIGEST + sha256(given.encode(errors="surrogatepass")).hexdigest()


def ref_of(user_id: str, session_id: str, event_id: str) -> str:
    """Return the name of a turn, unique in its graph whatever sessions are called."""
    return name_of(f"adk:{json.dumps([user_id, session_id, event_id])}")


def _exchanges(events: Iterable[Event]) -> Iterable[_Exchange]:
    """Cut a session after each final response, and before each message."""
    under_way: list[Event] = []
    for event in events:
        if event.partial or not event.content or not event.content.parts:
            continue
        if _is_question(event) and under_way:
            yield _Exchange(tuple(under_way), is_over=True)
            under_way = []
        under_way.append(event)
        if _is_answer(event):
            yield _Exchange(tuple(under_way), is_over=True)
            under_way = []
    if under_way:
        yield _Exchange(tuple(under_way), is_over=False)


def _exchanged(exchange: _Exchange, is_known: Callable[[str], bool]) -> Said | None:
    asked, followed = exchange.asked, exchange.followed
    is_asked = asked is not None and not is_known(asked.id)
    if not exchange.is_over:
        # More will follow under another name: of what is under way only the message is certain.
        return _turn(asked, asked.id, ()) if asked is not None and is_asked else None
    last = exchange.events[-1]
    if is_known(last.id):
        return None
    if asked is not None and is_asked:
        return _turn(asked, last.id, followed)
    # What was asked is remembered by itself: whoever answered speaks.
    return _spoken(last, followed)


def _turn(asked: Event, event_id: str, followed: Sequence[Event]) -> Said:
    return Said(
        event_id=event_id,
        author=asked.author,
        text=words_of(asked.content),
        response=_together(followed),
        outputs=_outputs(followed),
        at=_moment(asked),
    )


def _spoken(last: Event, followed: Sequence[Event]) -> Said | None:
    # An agent's own words, or a tool's: they answer, and never pass for the user's.
    outputs, words = _outputs(followed), _together(followed)
    if not (words or outputs):
        return None
    return Said(last.id, last.author, "", words, outputs, _moment(last))


def _together(events: Sequence[Event]) -> str:
    return "\n".join(filter(None, (words_of(one.content) for one in events)))[:TEXT_CHARS_MAX]


def _outputs(events: Sequence[Event]) -> tuple[ToolOutput, ...]:
    """Return what tools returned, whole: what is longer than an output may be is several.

    What memory itself returned is left out: it would be found here when it is forgotten there.
    """
    found: list[ToolOutput] = []
    for event in events:
        for returned in event.get_function_responses():
            if _is_own(returned):
                continue
            said = json.dumps(returned.response or {}, ensure_ascii=False, default=str)
            whole = encodable(said)
            found += (
                ToolOutput(
                    tool=name_of(returned.name or "tool"), output=whole[at:][:TEXT_CHARS_MAX]
                )
                for at in range(0, len(whole), TEXT_CHARS_MAX)
            )
    return tuple(found)


def _is_own(returned: FunctionResponse) -> bool:
    """Whether memory returned this, by a tool of an ``EzraToolset`` or by ADK's own."""
    name, said = returned.name or "", returned.response or {}
    return name == _LOADING or any(
        f"_{name}".endswith(f"_{tool.name}") and tool.has_answered(said) for tool in agent_tools()
    )


def _is_question(event: Event) -> bool:
    return event.author == USER and bool(words_of(event.content))


def _is_answer(event: Event) -> bool:
    if event.author == USER or not event.is_final_response():
        return False
    return bool(words_of(event.content) or event.get_function_responses())


def _moment(event: Event) -> datetime:
    try:
        return datetime.fromtimestamp(event.timestamp, UTC)
    except (ValueError, OverflowError, OSError) as error:
        accepted = "seconds since 1970, up to the year 9999"
        raise UsageError("timestamp", event.timestamp, accepted) from error
