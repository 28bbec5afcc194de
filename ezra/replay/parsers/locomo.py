"""LoCoMo conversations (Maharana et al., ACL 2024): the published form and a trimmed one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, time

from .fields import TEXT_ACCEPTED, Fields
from .source import Draft, Parsed, Source
from .times import Spacing, find_moment

_SESSION = re.compile(r"session_([0-9]{1,4})")
_DATE_ACCEPTED = "a date with or without a time, such as 2023-05-08T13:56 or 1:56 pm on 8 May, 2023"
_START = datetime(1970, 1, 1, tzinfo=UTC)


def parse(source: Source, root: object) -> Parsed:
    """Return the drafts of a decoded file, published or trimmed.

    Raises:
        UsageError: It is neither form, or a turn cannot be read.
    """
    if isinstance(root, list):
        samples = [Fields(source, sample, 1) for sample in root]
        return Parsed(tuple(draft for sample in samples for draft in _published(sample)))
    document = Fields(source, root, 1)
    if "conversations" not in document:
        raise document.problem("conversations", "a list of conversations with id and turns")
    trimmed = document.items("conversations")
    return Parsed(tuple(draft for item in trimmed for draft in _trimmed(item)))


def _trimmed(conversation: Fields) -> Iterator[Draft]:
    name, spacing = conversation.name("id"), Spacing(_START)
    if "turns" not in conversation:
        raise conversation.problem("turns", "a list of turns")
    for turn in conversation.items("turns"):
        yield _draft(turn, name, "id", "caption", spacing.next(_date(turn, "date")))


def _published(sample: Fields) -> Iterator[Draft]:
    name, spacing = sample.name("sample_id"), Spacing(_START)
    value = sample.get("conversation")
    conversation = sample.nested("conversation", value)
    sessions = sorted(
        (int(found[1]), key)
        for key in (value if isinstance(value, dict) else ())
        if (found := _SESSION.fullmatch(key))
    )
    if not sessions:
        raise conversation.problem("session_1", "a list of turns in session_1, session_2, …")
    for _, key in sessions:
        date = _date(conversation, f"{key}_date_time")
        for turn in conversation.items(key):
            yield _draft(turn, name, "dia_id", "blip_caption", spacing.next(date))


def _draft(turn: Fields, conversation: str, id_name: str, caption_name: str, at: datetime) -> Draft:
    text = (turn.optional_text("text") or "").strip()
    caption = turn.optional_text(caption_name)
    if caption:
        text = f"{text} [shares image: {caption}]".lstrip()
    if not text:
        raise turn.problem("text", TEXT_ACCEPTED)
    return Draft(
        line=turn.line,
        conversation=conversation,
        id=turn.name(id_name),
        speaker=turn.name("speaker"),
        at=at,
        content={"text": text},
    )


def _date(fields: Fields, name: str) -> datetime:
    value = fields.get(name)
    try:
        found = find_moment(value) if isinstance(value, str) else None
    except ValueError as error:
        raise fields.problem(name, _DATE_ACCEPTED) from error
    if found is None:
        raise fields.problem(name, _DATE_ACCEPTED)
    day, clock = found
    return datetime.combine(day, clock or time(), UTC)
