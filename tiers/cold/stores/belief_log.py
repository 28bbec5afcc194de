"""The belief log of a graph: events that only ever grow, and what they say, which can go."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from pydantic import JsonValue

from ...beliefs import BeliefKind
from ...evidence import EvidenceMarks
from ...history.chain import SALT_BYTES, canonical, next_event, stored_digest
from ...history.plan import PlannedEvent
from ...moments import microseconds
from ...records import BeliefEvent, LoggedBelief, Scope
from ..conditions import Among, Condition, Is, Present, Within
from ..port import Collection, Find, Index, Lookup, Put, Steps, every, one, write
from .log import raise_marks
from .questions import by_then
from .rows import OfGraph, plain

_NAMES = ("superseded_by", "rival_id", "because", "cause")
"""Where a content names a belief that its event is not about."""

EVENTS: Collection[BeliefEvent] = Collection(
    "belief_events",
    BeliefEvent,
    fields={
        **plain("seq", "kind", "belief_id", "turn"),
        "turn_id": lambda event: event.turn_id or None,
        "recorded_at": lambda event: microseconds(event.recorded_at),
    },
    indexes={
        "seq": Index(("seq",), unique=True),
        "belief": Index(("belief_id", "seq")),
        "time": Index(("recorded_at", "seq")),
        "turn": Index(("turn", "seq")),
        "turn_id": Index(("turn_id", "seq"), where=(Present("turn_id"),)),
    },
    append_only=True,
)


class Content(OfGraph):
    """What an event says, and what its digest was salted with; both go together.

    Attributes:
        seq: Of the event, as are ``kind`` and ``belief_id``.
        salt: In hexadecimal digits.
        content: Canonical JSON.
    """

    event_id: str
    seq: int
    kind: BeliefKind
    belief_id: str
    salt: str
    content: str


def mentioned_in(content: Content) -> list[str]:
    """Return the beliefs that a content names besides the one that its event is about."""
    said: Mapping[str, JsonValue] = json.loads(content.content)
    named = (said.get(name) for name in _NAMES)
    others = (one for one in named if isinstance(one, str) and one not in ("", content.belief_id))
    return list(dict.fromkeys(others))


CONTENTS: Collection[Content] = Collection(
    "belief_contents",
    Content,
    fields=plain("seq", "kind", "belief_id"),
    indexes={
        "seq": Index(("seq",), unique=True),
        "belief": Index(("belief_id", "seq")),
    },
    lists={"names": Lookup(mentioned_in, order=("seq",), told_whole=True)},
    write_once=True,
    key=lambda content: content.event_id,
)


def why_taken_back(scope: Scope, belief_ids: Iterable[str]) -> Steps[list[tuple[str, str]]]:
    """Return the reasons for which beliefs were reverted, each with its belief."""
    where = (Among("belief_id", tuple(belief_ids)), Is("kind", "reverted"))
    found = yield from every(Find(CONTENTS, scope, "belief", where))
    return [(one.belief_id, str(json.loads(one.content).get("reason", ""))) for one in found]


def next_entries(
    last: BeliefEvent | None,
    scope: Scope,
    events: Sequence[PlannedEvent],
    turn: int,
    turn_id: str | None,
    now: datetime,
) -> list[LoggedBelief]:
    """Return the events that follow the last one of a log, with their contents.

    Args:
        last: The last event.
        scope: Whose log; its agent is who makes it happen.
        events: What happens.
        turn: The turn of the graph that is under way, or the last.
        turn_id: The turn that it is made in, if one is known.
        now: When.
    """
    entries = []
    for each in events:
        # Unpredictable: nobody can try out what a content may have been once both are destroyed.
        salt, content = secrets.token_bytes(SALT_BYTES), canonical(each.content)
        last = next_event(
            last,
            scope,
            each.kind,
            each.belief_id,
            turn=turn,
            now=now,
            digest=stored_digest(salt, content),
            turn_id=turn_id,
        )
        entries.append(LoggedBelief(event=last, salt=salt.hex(), content=content.decode()))
    return entries


def put_entries(scope: Scope, entries: Sequence[LoggedBelief]) -> Steps[None]:
    """Store events as they are, with the contents that they have, and how far the log has come."""
    if not entries:
        return
    contents = [content for entry in entries if (content := _content_of(entry)) is not None]
    yield from write(
        *(Put(EVENTS, scope, entry.event) for entry in entries),
        *(Put(CONTENTS, scope, content) for content in contents),
    )
    reached = max(entry.event.seq for entry in entries)
    yield from raise_marks(scope, EvidenceMarks(events=reached))


def last_event(scope: Scope) -> Steps[BeliefEvent | None]:
    """Return the last event of the scope's graph."""
    return one(last_of(scope))


def last_of(scope: Scope) -> Find[BeliefEvent]:
    """Ask for the last event of the scope's graph."""
    return Find(EVENTS, scope, "seq", (Within("seq", since=1),), ("-seq",), 1)


def last_by(scope: Scope, then: datetime) -> Find[BeliefEvent]:
    """Ask for the last event of the graph's log that was recorded at or before a moment."""
    order = ("-recorded_at", "-seq")
    return Find(EVENTS, scope, "time", by_then("recorded_at", then), order, limit=1)


def seq_by(scope: Scope, then: datetime) -> Steps[int]:
    """Return the last event recorded at or before a moment; 0 when there is none."""
    found = yield from one(last_by(scope, then))
    return 0 if found is None else found.seq


def last_seq(scope: Scope) -> Steps[int]:
    """Return the number of the last event; 0 when there is none."""
    last = yield from last_event(scope)
    return 0 if last is None else last.seq


def entries_after(scope: Scope, after: int, limit: int) -> Steps[list[LoggedBelief]]:
    """Return a page of the log with contents.

    The contents of that many events are among as many contents.
    """
    events, contents = yield _both(scope, Within("seq", since=after + 1), limit)
    return _joined(events, contents)


def entries_at(scope: Scope, seqs: Sequence[int]) -> Steps[list[LoggedBelief]]:
    """Return the events of these numbers with their contents, in order."""
    events, contents = yield _both(scope, Among("seq", tuple(seqs)), len(seqs))
    return _joined(events, contents)


def _both(scope: Scope, where: Condition, limit: int) -> tuple[Find[BeliefEvent], Find[Content]]:
    return (
        Find(EVENTS, scope, by="seq", where=(where,), order=("seq",), limit=limit),
        Find(CONTENTS, scope, by="seq", where=(where,), order=("seq",), limit=limit),
    )


def _joined(events: Sequence[BeliefEvent], contents: Sequence[Content]) -> list[LoggedBelief]:
    said = {content.event_id: content for content in contents}
    found = []
    for event in events:
        content = said.get(event.id)
        salt, text = (None, None) if content is None else (content.salt, content.content)
        found.append(LoggedBelief(event=event, salt=salt, content=text))
    return found


def _content_of(entry: LoggedBelief) -> Content | None:
    if entry.salt is None or entry.content is None:
        return None
    event = entry.event
    names = ("tenant", "graph_id", "seq", "kind", "belief_id")
    of_it = {name: getattr(event, name) for name in names}
    return Content(**of_it, event_id=event.id, salt=entry.salt, content=entry.content)
