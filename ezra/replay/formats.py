"""The conversation files that can be replayed, how they are read, and topics where none are named.

Six formats become one ``Script``. Everything is read and checked before anything is played, so a
mistake in the last line leaves nothing half ingested. Each mistake is a ``UsageError`` whose field
is ``FILE:LINE: FIELD``, with lines counted from 1; in a JSON document the line is the one where
the refused element begins.

The format is found out by extension, then content; ``format=`` overrides it. ``.md`` and
``.markdown`` are Markdown. ``.json``, ``.jsonl``, ``.ndjson``, and files of other extensions that
begin like JSON, are decoded, and their first object decides: ``role`` or ``messages`` makes it
``openai``, ``conversations`` or ``sample_id`` ``locomo``, ``memory`` or ``results`` ``mem0``,
``mapping`` ``chatgpt``, anything else ``jsonl``. All other files are Markdown.

jsonl
    One JSON object a line; blank lines are skipped, comments are refused. A ``.json`` file may hold
    the same objects as a list. Fields that are not named here are refused. ``null`` is as good as
    absent. Every object has::

        speaker        who says it
        at             when: ISO 8601; without an offset it is UTC
        type           "turn" (the default), "fact", "rule" or "belief"
        id             optional; unique in its conversation; a string or a whole number
        conversation   optional; the file's name without extension
        agent          optional; which agent owns the line, exactly as given; the speaker
        topics         optional list; not for a belief; [] means deliberately none

    and, by type::

        turn     text; optional response, tool_outputs: [{"tool", "output"}]
        fact     text, or subject, predicate and object, or all four; optional
                 tier ("archival" or "core"), confidence (0 to 1), valid_from, valid_to
        rule     trigger, steps: [text, ...]
        belief   claim; optional topic, key: [subject, attribute], value

    Example::

        {"speaker": "strategist", "text": "Softs last 24 laps.", "at": "2026-05-15T14:30:00Z"}
        {"type": "fact", "speaker": "strategist", "text": "Softs last 24 laps.",
         "tier": "core", "topics": ["tyres"], "at": "2026-05-15T14:31:00Z"}    (on one line)

openai
    A list of ``{"role", "content", ...}`` messages, a thread ``{"messages": [...]}``, a list of
    threads, or JSON lines of messages or of threads. A user's message and the assistant's messages
    that follow are one turn, text and response; a tool's messages are tool outputs of that turn,
    named after the call they answer. An assistant that speaks unasked, or another assistant than
    the one that answered, makes a turn of its own. The agent is the assistant's ``name``, or
    ``assistant``; the speaker is the user's, or ``user``. ``system`` and ``developer`` messages,
    and turns without a word, are not played but counted in ``skipped``. Text parts of ``content``
    are joined by line breaks. Another part, such as an image, leaves ``[image_url left out]`` in
    its place: one picture does not make a thread unreadable, and nothing vanishes unseen.
    ``created_at``, ``timestamp`` or ``created`` state the time, in ISO 8601 or Unix seconds.
    A thread's ``id`` names the conversation; several threads without are ``<stem>-1``,
    ``<stem>-2`` and so on. Other keys are left unread.

markdown
    Messages begin with ``**Name:** text``, ``**Name**: text``, ``**Name** (15:04): text``,
    ``**Name (15:04):** text``, ``Name: text`` or ``- Name: text``; the brackets may hold a date
    too. A plain name has at most three words, and counts only in a file without bold names. Lines
    that follow belong to the message, blank lines, lists, quotes and fenced code included; inside
    a fence nothing begins a message. Headings of level one and two end a message and, when they
    contain a date (``## 2026-05-14 15:04``, ``## Thursday, 14 May 2026``, ``## 8 May, 2023 at 1:56
    pm``), set the time of what follows; deeper headings are part of the message. A time more than
    twelve hours before the last one belongs to the next day. A line of dashes ends a message.
    What stands before the first message is a preface and not played. Nor is a later part that
    nobody says, behind a heading or a line of dashes; it is counted in ``skipped``. Front matter
    between ``---`` lines at the top may give ``conversation``, ``date`` and ``topics`` (separated
    by commas).

locomo
    ``{"conversations": [{"id", "turns": [{"id", "date", "speaker", "text", "caption"?}]}]}``, or
    the published list of samples with ``sample_id`` and ``conversation``: ``session_N``,
    ``session_N_date_time``. A caption is appended as ``[shares image: caption]``. Other keys,
    questions included, are left unread.

mem0
    A list of ``{"id", "memory", "user_id", "created_at", ...}``, or ``{"results": [...]}``. Each is
    a fact that ``user_id`` remembers (or ``agent_id``, ``run_id``, else ``user``), valid from when
    it was made; ``categories`` are its topics. Other keys are left unread.

chatgpt
    The ``conversations.json`` of an export of ChatGPT. Of each conversation the branch that was
    shown last is read as ``openai``; messages without a word are counted in ``skipped``.

For all formats:

* A line with an id has the reference ``<conversation>:<id>``, such as ``conv-26:D1:3``. Without
  one it is ``<conversation>:<ordinal>:<digest>``: its place among the lines of its conversation,
  from 1, and eight hexadecimal digits of the SHA-256 of what is said. It does not depend on time,
  so that reading a file again gives the same references. An id used twice is refused.
* The agent that owns a line is its speaker; in a file of several conversations,
  ``<conversation>/<speaker>``. One conversation lies in one file.
* In all formats but jsonl, where every line states its time, a message without a time is one
  second after the message before it; the first at ``start``. Messages that share one stated time,
  such as a session's, follow each other by one second, so that sorting by time keeps their order.
* Files are UTF-8, with or without a byte order mark, with any line breaks, and of at most
  200,000,000 bytes; files of lines have at most 1,000,000, and so has a script. A text has at most
  200,000 characters. JSON is strict: no repeated keys, no NaN or infinity, no NUL, no half
  surrogate pairs, at most 16 levels below a line or element.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Literal, TypeAlias, get_args

from tiers.errors import UsageError, check_within
from tiers.lexical import STOP_WORDS, stem, words
from tiers.records import TOPICS_MAX

from .assemble import assemble
from .parsers import chatgpt, jsonl, locomo, markdown, mem0, openai
from .parsers.fields import TOPICS_ACCEPTED, checked_topics
from .parsers.json_text import decode, looks_like_json
from .parsers.source import Parsed, Source, read_source
from .parsers.times import MOMENT_ACCEPTED, utc
from .script import BeliefLine, Conversation, Line, Script, TurnLine

__all__ = ["FORMATS", "Format", "derive_topics", "read_script"]

Format: TypeAlias = Literal["jsonl", "openai", "markdown", "locomo", "mem0", "chatgpt"]
FORMATS: tuple[Format, ...] = get_args(Format)

_MARKDOWN_SUFFIXES = {".md", ".markdown"}
_JSON_SUFFIXES = {".json", ".jsonl", ".ndjson"}


_KNOWN_BY: dict[Format, frozenset[str]] = {
    "openai": frozenset({"messages", "role"}),
    "locomo": frozenset({"conversations", "sample_id"}),
    "mem0": frozenset({"memory", "results"}),
    "chatgpt": frozenset({"mapping"}),
}
"""Keys of which a file's first object has one, by the foreign format that they tell of."""


def foreign_format(path: Path) -> Format | None:
    """Return which foreign format a file seems to have, if any; reads the whole of it."""
    try:
        found = _json_format(decode(read_source(path)))
    except UsageError:
        return None
    return found if found in _KNOWN_BY else None


def read_script(
    paths: Sequence[Path],
    *,
    format: str | None = None,  # noqa: A002 - the command line's --format
    now: datetime,
    start: datetime | None = None,
    topics: Sequence[str] | None = None,
) -> Script:
    """Read conversation files as one script; nothing is returned unless all of it is in order.

    Reads whole files and blocks meanwhile: call it in a thread.

    Args:
        paths: The files, in the order to play them.
        format: One of ``FORMATS`` for all files; ``None`` finds out for each.
        now: The present, which is ``start`` when that is not given.
        start: When conversations begin that do not say so themselves. References never depend on
            it.
        topics: Given to every line that names none, beliefs excepted; ``None`` or an empty list
            leaves them unnamed.

    Raises:
        UsageError: An argument or a file is not acceptable. For a file the error's field is
            ``FILE:LINE: FIELD``, or ``paths`` when it cannot be read at all.
    """
    if not paths:
        raise UsageError("paths", paths, "a list of at least one file")
    chosen = _chosen_format(format)
    begin = _moment("now", now) if start is None else _moment("start", start)
    sources = (read_source(Path(path)) for path in paths)
    return assemble(
        ((source, _parse(source, chosen, begin)) for source in sources), _chosen_topics(topics)
    )


def _chosen_format(name: str | None) -> Format | None:
    if name is None:
        return None
    for known in FORMATS:
        if name == known:
            return known
    raise UsageError("format", name, ", ".join(FORMATS))


def _chosen_topics(topics: Sequence[str] | None) -> tuple[str, ...] | None:
    if not topics:
        return None
    chosen = None if isinstance(topics, str) else checked_topics(list(topics))
    if chosen is None:
        raise UsageError("topics", topics, TOPICS_ACCEPTED)
    return chosen


def _moment(name: str, value: datetime) -> datetime:
    try:
        return utc(value)
    except ValueError as error:
        raise UsageError(name, value, MOMENT_ACCEPTED) from error


def _parse(source: Source, chosen: Format | None, start: datetime) -> Parsed:
    if chosen == "markdown" or (chosen is None and _is_markdown(source)):
        return markdown.parse(source, start)
    root = decode(source)
    parsers: dict[Format, Callable[[], Parsed]] = {
        "jsonl": lambda: jsonl.parse(source, root),
        "openai": lambda: openai.parse(source, root, start),
        "locomo": lambda: locomo.parse(source, root),
        "mem0": lambda: mem0.parse(source, root, start),
        "chatgpt": lambda: chatgpt.parse(source, root, start),
    }
    return parsers[chosen or _json_format(root)]()


def _is_markdown(source: Source) -> bool:
    suffix = source.path.suffix.lower()
    if suffix in _MARKDOWN_SUFFIXES:
        return True
    return suffix not in _JSON_SUFFIXES and not looks_like_json(source.text)


def _json_format(root: object) -> Format:
    first = root[0] if isinstance(root, list) and root else root
    if not isinstance(first, dict):
        return "jsonl"
    return next((known for known, names in _KNOWN_BY.items() if names & first.keys()), "jsonl")


TOPICS_DEFAULT = 12
_TURNS_MIN = 3
_TURNS_MIN_SHARE = 0.01
_TURNS_MAX_SHARE = 0.2
_CHARS_MIN = 4


def derive_topics(script: Script, limit: int = TOPICS_DEFAULT) -> Script:
    """Return the script with topics for every line that names none, beliefs excepted.

    A conversation's topics are the words that it uses in clumps. Its N turns are cut into
    B = max(2, round(√N)) stretches of equal length. A word that n turns contain would, scattered
    by chance, stand in B·(1 - (1 - 1/B)^n) of them; what it stands in fewer is its score. This is
    the idea of residual IDF (Church and Gale, 1995): words about something cluster, words about
    anything spread evenly however frequent they are.

    Considered are words of letters only, at least four, that are no stop words and no part of a
    speaker's name, in at least max(3, N/100) turns and in less than a fifth of them. Singular and
    plural are one word (``tiers.lexical.stem``). The ``limit`` best with a score above zero are
    the topics, ties broken by more turns, then by the alphabet, each written as it occurs most. A
    line gets those that it contains, and ``()`` if it contains none. The same script always gives
    the same topics.

    A belief keeps what it has: its one topic decides what it supersedes, and a topic guessed from
    the wording would part two claims about the same thing.

    Raises:
        UsageError: ``limit`` is not between 1 and 64.
    """
    check_within("limit", limit, 1, TOPICS_MAX)
    return Script(conversations=tuple(_with_topics(one, limit) for one in script.conversations))


def _with_topics(conversation: Conversation, limit: int) -> Conversation:
    if all(line.topics is not None or _is_belief(line) for line in conversation.lines):
        return conversation
    topics = conversation_topics(conversation, limit)
    lines = tuple(
        line
        if line.topics is not None or _is_belief(line)
        else line.model_copy(update={"topics": _contained(line, topics)})
        for line in conversation.lines
    )
    return conversation.model_copy(update={"lines": lines})


def conversation_topics(conversation: Conversation, limit: int) -> dict[str, str]:
    """Return the conversation's topics, best first: how each is written, by its stem."""
    turns = [line for line in conversation.lines if isinstance(line, TurnLine)]
    names = {stem(word) for line in conversation.lines for word in words(line.speaker)}
    stretches = max(2, round(math.sqrt(len(turns))))
    turn_count: Counter[str] = Counter()
    seen_in: defaultdict[str, set[int]] = defaultdict(set)
    forms: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for index, turn in enumerate(turns):
        written = [word for word in words(turn.content) if _is_candidate(word)]
        for word in written:
            forms[stem(word)][word] += 1
        for stemmed in {stem(word) for word in written} - names:
            turn_count[stemmed] += 1
            seen_in[stemmed].add(index * stretches // len(turns))
    enough = max(_TURNS_MIN, len(turns) * _TURNS_MIN_SHARE)
    score = {
        word: stretches * (1 - (1 - 1 / stretches) ** count) - len(seen_in[word])
        for word, count in turn_count.items()
        if enough <= count < len(turns) * _TURNS_MAX_SHARE
    }
    ranked = sorted(
        (word for word in score if score[word] > 0),
        key=lambda word: (-score[word], -turn_count[word], word),
    )
    return {word: _commonest(forms[word]) for word in ranked[:limit]}


def _contained(line: Line, topics: dict[str, str]) -> tuple[str, ...]:
    contained = {stem(word) for word in words(line.content)}
    return tuple(sorted(topics[word] for word in contained & topics.keys()))


def _is_belief(line: Line) -> bool:
    return isinstance(line, BeliefLine)


def _is_candidate(word: str) -> bool:
    return len(word) >= _CHARS_MIN and word.isalpha() and not {word, stem(word)} & STOP_WORDS


def _commonest(forms: Counter[str]) -> str:
    return min(forms, key=lambda form: (-forms[form], len(form), form))
