"""The log of a graph's beliefs as documents, and bringing its projection up to date. No decisions.

One document of ``belief_log`` holds the events of one change, and its insertion is the change:
there is nothing before it and nothing can take it back. What the log comes to is in
``belief_projection``, which follows it; ``belief_heads`` says how far it has come. Whoever finds it
behind, because a process died in between, brings it up to date before going on.

What an event says lies in ``belief_contents``, written before the event; without one it means
nothing. What all events of a change have in common stands once in its document, and so does which
beliefs its events are about or name.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from bson import Binary
from pydantic import JsonValue

from ...errors import Conflict, TierTimeout
from ...history.chain import SALT_BYTES, canonical, next_event, stored_digest
from ...history.plan import SPEAKING_KINDS, Told
from ...records import BeliefEvent, LoggedBelief, Scope
from .belief_projection import Unfolding, project, standing
from .belief_trust import Trusted
from .belief_turns import turn_under_way
from .database import Session
from .documents import Document, document_of, record_of
from .pacing import side_by_side, worked_out
from .schema import Specification, by, validator
from .scope import of_tenant, own
from .translation import DuplicateKey

_FROM_1 = {"bsonType": ["int", "long"], "minimum": 1}
_FROM_0 = {"bsonType": ["int", "long"], "minimum": 0}

COLLECTIONS: Mapping[str, Specification] = {
    "belief_log": (
        [
            by("first_seq", unique=True),
            by("last_seq", unique=True),
            by("events.id", unique=True),
            by("commits", unique=True, only_with=("commits",)),
            # A moment of the past is one look into an index: neither ever falls in a log.
            by("recorded_at", "last_seq"),
            by("turn", "last_seq"),
            by("mentions.belief_id", "last_seq"),
        ],
        validator(
            ("first_seq", "last_seq", "turn", "recorded_at", "events", "mentions"),
            first_seq=_FROM_1,
            last_seq=_FROM_1,
            turn=_FROM_0,
            recorded_at={"bsonType": ["int", "long"]},
            events={"bsonType": "array"},
            mentions={"bsonType": "array"},
        ),
    ),
    "belief_contents": (
        [
            by("event_id", "content_digest", unique=True),
            by("belief_id", "kind"),
            by("names", "kind", only_with=("names",)),
        ],
        validator(("event_id", "content_digest", "salt", "content", "kind", "belief_id")),
    ),
    "belief_heads": ([by(unique=True)], None),
}

EVENTS_PER_PAGE = 2_000
ATTEMPTS_MAX = 100
"""How often a change is decided anew because others were first."""

PAGES_MAX = 100_000

Salts = Callable[[], bytes]
"""Makes the salt of each event's content; must be unpredictable outside tests."""

_SHARED = ("tenant", "graph_id", "agent_id", "turn", "recorded_at", "version")
"""What the events of one change have in common."""

_NAMING = ("superseded_by", "rival_id", "because", "cause")
"""Where a content names a belief that its event is not about."""

_NEEDED = frozenset(("adopted", "committed", "superseded", "trusted"))
"""Events whose content the projection is made of."""


class Draft(NamedTuple):
    """A change that is not written yet: what is told, and the events that tell it."""

    told: Sequence[Told]
    entries: Sequence[LoggedBelief]

    def trusts(self) -> dict[Trusted, float]:
        """Return whom it trusts otherwise from then on."""
        said = [one.content for one in self.told if one.kind == "trusted"]
        return {(one["agent_id"], one["topic"]): one["after"] for one in said}  # type: ignore[misc]


def fresh_salt() -> bytes:
    """Return a salt that nobody can guess."""
    return secrets.token_bytes(SALT_BYTES)


async def append(
    session: Session,
    scope: Scope,
    last: BeliefEvent | None,
    told: Sequence[Told],
    now: datetime,
    salts: Salts = fresh_salt,
) -> tuple[BeliefEvent, ...]:
    """Append a change to a log, let the projection follow, and return the events.

    Inside a step, on a projection that is up to date (``caught_up``). Contents are written first,
    then one document with all events, whose insertion is the change, then what follows from it.
    Of a ``redacted`` event it follows that its belief is over and out of every answer; destroying
    what it said is the caller's part.

    Args:
        session: The step.
        scope: Whose log; its agent is who makes it happen.
        last: The last event of the log, as ``caught_up`` returned it.
        told: What happens, in order; none is no error.
        now: When.
        salts: Where salts come from.

    Raises:
        DuplicateKey: Somebody else was first: ``last`` is not the last event any more.
        Conflict: An event is impossible as things stand.
    """
    if not told:
        return ()
    rows, turn = await side_by_side(
        session,
        lambda: standing(session, scope, {one.belief_id for one in told}),
        lambda: turn_under_way(session, scope, told),
    )
    draft = await worked_out(len(told), lambda: drafted(last, scope, told, turn, now, salts))
    await write(session, scope, rows, [draft])
    return tuple(entry.event for entry in draft.entries)


def drafted(
    last: BeliefEvent | None,
    scope: Scope,
    told: Sequence[Told],
    turn: int,
    now: datetime,
    salts: Salts,
) -> Draft:
    """Return the events of a change that follows ``last``, which nobody has written yet.

    Raises:
        UsageError: A text has no form in UTF-8.
    """
    entries: list[LoggedBelief] = []
    for one in told:
        salt, content = salts(), canonical(one.content)
        digest = stored_digest(salt, content)
        last = next_event(last, scope, one.kind, one.belief_id, turn=turn, now=now, digest=digest)
        entries.append(LoggedBelief(event=last, salt=salt.hex(), content=content.decode()))
    return Draft(told, entries)


async def write(
    session: Session, scope: Scope, rows: Mapping[str, Document], drafts: Sequence[Draft]
) -> int:
    """Write changes that follow each other, and what they come to; return how many were in time.

    On a server without transactions those that somebody else was faster than are left out.

    Args:
        session: The step.
        scope: Whose log; who made a change happen is in its events.
        rows: How the beliefs that they touch stand, as ``standing`` has them.
        drafts: At least one.

    Raises:
        DuplicateKey: Somebody else was faster than the first; nothing was written.
        Conflict: An event is impossible as things stand.
    """
    size = sum(len(draft.entries) for draft in drafts)
    try:
        events = await worked_out(size, lambda: _unfolded(rows, drafts))
    except Conflict:
        await _check_not_overtaken(session, scope, drafts[0].entries[0].event.seq)
        raise
    written = drafts[: await _insert(session, scope, drafts)]
    if len(written) < len(drafts):
        events = _unfolded(rows, written)
    event = written[-1].entries[-1].event
    await project(session, scope, events, event.recorded_at)
    await move_head(session, scope, event.seq)
    return len(written)


async def _check_not_overtaken(session: Session, scope: Scope, first_seq: int) -> None:
    """Tell what is impossible from what was decided while somebody else changed the projection.

    Raises:
        DuplicateKey: The log has an event in the place of the first one.
    """
    newer = own(scope, last_seq={"$gte": first_seq})
    if await session.collection("belief_log").first(newer) is not None:
        raise DuplicateKey("append to the belief log", ("first_seq",))


def _unfolded(rows: Mapping[str, Document], drafts: Sequence[Draft]) -> Unfolding:
    events = Unfolding(rows, is_certain=True)
    for draft in drafts:
        for one, entry in zip(draft.told, draft.entries, strict=True):
            problem = events.take(entry, one.belief)
            if problem is not None:
                raise Conflict(f"belief {one.belief_id}", "a change that is possible", problem)
    return events


async def last_change(session: Session, scope: Scope) -> tuple[BeliefEvent | None, int]:
    """Return the last event of the graph's log, and up to which ``seq`` the projection is."""
    log, heads = session.collection("belief_log"), session.collection("belief_heads")
    newest: list[Document] = [
        {"$match": own(scope)},
        {"$sort": {"last_seq": -1}},
        {"$limit": 1},
        {"$project": dict.fromkeys(_SHARED, 1) | {"events": {"$slice": ["$events", -1]}}},
    ]
    changes, head = await side_by_side(
        session, lambda: log.aggregate(newest), lambda: heads.first(own(scope))
    )
    events = events_of(changes)
    return events[-1] if events else None, 0 if head is None else int(head.get("projected_seq", 0))


async def caught_up(session: Session, scope: Scope) -> BeliefEvent | None:
    """Bring the projection up to the last event of the log, and return that event.

    Raises:
        TierTimeout: The log is longer than ``PAGES_MAX`` pages.
    """
    last, applied = await last_change(session, scope)
    for _ in range(PAGES_MAX):
        if last is None or applied >= last.seq:
            return last
        applied = await apply_page(session, scope, applied)
    raise TierTimeout("cold", "beliefs", f"more than {PAGES_MAX} pages of events to apply")


async def apply_page(session: Session, scope: Scope, after: int) -> int:
    """Bring the projection by a page of events further; return the event it has come to.

    What has been applied already stays as it is.
    """
    changes = await changes_within(session, scope, after, EVENTS_PER_PAGE)
    events = [one for one in events_of(changes) if one.seq > after]
    entries = await logged(session, scope, events, only=_NEEDED)
    rows = await standing(session, scope, (one.belief_id for one in events))
    unfolding = await worked_out(len(entries), lambda: _unfolded_again(rows, entries))
    await project(session, scope, unfolding, events[-1].recorded_at)
    await move_head(session, scope, events[-1].seq)
    return events[-1].seq


async def changes_within(
    session: Session, scope: Scope, after: int, limit: int, fields: Sequence[str] = ()
) -> list[Document]:
    """Return the changes to which the next ``limit`` events after a ``seq`` belong."""
    return await session.collection("belief_log").find(
        own(scope, last_seq={"$gt": after}, first_seq={"$lte": after + limit}),
        sort=[("last_seq", 1)],
        limit=limit,
        fields=fields,
    )


async def logged(
    session: Session,
    scope: Scope,
    events: Sequence[BeliefEvent],
    *,
    only: frozenset[str] | None = None,
) -> list[LoggedBelief]:
    """Return events with their contents; what was destroyed is ``None``.

    ``only`` names the kinds whose contents are wanted.
    """
    wanted = [one.id for one in events if only is None or one.kind in only]
    found: list[Document] = []
    if wanted:
        found = await session.collection("belief_contents").find(
            own(scope, event_id={"$in": wanted})
        )
    said = {(one["event_id"], one["content_digest"]): one for one in found}
    return [_with_content(one, said.get((one.id, one.content_digest))) for one in events]


async def destroy_contents(session: Session, scope: Scope, belief_ids: Sequence[str]) -> int:
    """Destroy, with its salt, every content that may quote one of these beliefs.

    Of ``SPEAKING_KINDS`` about them, and of ``contradicted`` events in which they are the rival;
    also where it was written for an event that never came to be. Return how many contents are gone.
    """
    contents, among = session.collection("belief_contents"), {"$in": list(belief_ids)}
    gone = await contents.delete(own(scope, belief_id=among, kind={"$in": sorted(SPEAKING_KINDS)}))
    return gone + await contents.delete(own(scope, names=among, kind="contradicted"))


async def move_head(session: Session, scope: Scope, reached: int) -> None:
    """Note that the projection has come as far as ``reached``, if not farther already."""
    heads = session.collection("belief_heads")
    change = {"$max": {"projected_seq": reached}}
    try:
        await heads.update(own(scope), change, upsert=True)
    except DuplicateKey:
        if session.is_atomic:  # it ended the transaction
            raise
        await heads.update(own(scope), change)


def events_of(changes: Sequence[Mapping[str, Any]]) -> list[BeliefEvent]:
    """Return the events of changes, in order."""
    return [record_of(BeliefEvent, event) for change in changes for event in whole_events(change)]


def whole_events(change: Mapping[str, Any]) -> list[Document]:
    """Return the events of a change as documents of their own."""
    shared = {name: change[name] for name in _SHARED if name in change}
    return [shared | event for event in change["events"]]


def change_document(
    scope: Scope, events: Sequence[BeliefEvent], named: Sequence[Sequence[str]]
) -> Document:
    """Return the document of one change.

    Args:
        scope: Whose log.
        events: They follow each other, and one agent made them happen.
        named: For each event the beliefs that its content names besides the one it is about.
    """
    last = document_of(events[-1])
    shared = {name: last[name] for name in _SHARED}
    commits = [event.belief_id for event in events if event.kind in {"committed", "adopted"}]
    return own(
        scope,
        first_seq=events[0].seq,
        last_seq=events[-1].seq,
        events=[document_of(event, *_SHARED) for event in events],
        mentions=mentions_of([(e.seq, e.belief_id) for e in events], named),
        **{name: value for name, value in shared.items() if name not in {"tenant", "graph_id"}},
    ) | ({"commits": commits} if commits else {})


def mentions_of(
    places: Sequence[tuple[int, str]], named: Sequence[Sequence[str]]
) -> list[Document]:
    """Return which beliefs the events of a change are about or name, each with the event's seq."""
    return [
        {"belief_id": belief_id, "seq": seq}
        for (seq, about), others in zip(places, named, strict=True)
        for belief_id in dict.fromkeys((about, *others))
        if belief_id
    ]


def mentioned(belief_id: str, content: Mapping[str, JsonValue] | None) -> list[str]:
    """Return the beliefs that a content names besides the one that its event is about."""
    found = [] if content is None else [content.get(name) for name in _NAMING]
    others = (one for one in found if isinstance(one, str) and one not in {"", belief_id})
    return list(dict.fromkeys(others))


def content_document(entry: LoggedBelief) -> Document:
    """Return what an event says, with the salt of its digest, and of which beliefs it speaks.

    It may have been written for an event that never came to be, and must go with its belief too.
    """
    event = entry.event
    names = mentioned(event.belief_id, json.loads(entry.content or "{}"))
    return of_tenant(
        event.tenant,
        graph_id=event.graph_id,
        event_id=event.id,
        content_digest=event.content_digest,
        salt=bytes.fromhex(entry.salt or ""),
        content=entry.content,
        kind=event.kind,
        belief_id=event.belief_id,
    ) | ({"names": names} if names else {})


def _with_content(event: BeliefEvent, content: Document | None) -> LoggedBelief:
    if content is None:
        return LoggedBelief(event=event, salt=None, content=None)
    salt = bytes(Binary(content["salt"])).hex()
    return LoggedBelief(event=event, salt=salt, content=content["content"])


def _unfolded_again(rows: Mapping[str, Document], entries: Sequence[LoggedBelief]) -> Unfolding:
    events = Unfolding(rows)
    for entry in entries:
        events.take(entry)  # what is impossible is there all the same: verifying finds it
    return events


async def _insert(session: Session, scope: Scope, drafts: Sequence[Draft]) -> int:
    """Insert the contents, and the changes in order; return how many were in time.

    What was refused leaves nothing behind, on either kind of server.
    """
    contents, log = session.collection("belief_contents"), session.collection("belief_log")
    size = sum(len(draft.entries) for draft in drafts)
    said, changes = await worked_out(size, lambda: _documents(scope, drafts))
    await contents.insert(said)
    try:
        await log.insert(changes)
    except DuplicateKey:
        if session.is_atomic:  # it ended the transaction
            raise
        written = await _written(session, scope, changes)
        late = [entry.event for draft in drafts[written:] for entry in draft.entries]
        await _forget(session, scope, late)
        if not written:
            raise
        return written
    return len(changes)


def _documents(scope: Scope, drafts: Sequence[Draft]) -> tuple[list[Document], list[Document]]:
    """Return the contents of changes, and the changes."""
    said = [content_document(entry) for draft in drafts for entry in draft.entries]
    changes = [
        change_document(
            scope,
            [entry.event for entry in draft.entries],
            [mentioned(one.belief_id, one.content) for one in draft.told],
        )
        for draft in drafts
    ]
    return said, changes


async def _written(session: Session, scope: Scope, changes: Sequence[Document]) -> int:
    """Return how many of some changes, from the first on, are in the log."""
    places = [change["first_seq"] for change in changes]
    found = await session.collection("belief_log").find(
        own(scope, first_seq={"$in": places}), fields=["first_seq", "events.hash"]
    )
    there = {one["first_seq"]: one["events"][0]["hash"] for one in found}
    mine = [there.get(one["first_seq"]) == one["events"][0]["hash"] for one in changes]
    return mine.index(False) if False in mine else len(mine)


async def _forget(session: Session, scope: Scope, events: Sequence[BeliefEvent]) -> None:
    """Remove contents whose events were refused; left behind they would mean nothing.

    The event that was first at a place may have the same id, and has a content of its own under
    its digest.
    """
    ids, digests = [one.id for one in events], [one.content_digest for one in events]
    where = own(scope, event_id={"$in": ids}, content_digest={"$in": digests})
    await session.collection("belief_contents").delete(where)


def first_again(operation: str) -> TierTimeout:
    """Return the error for a change that others came before again and again."""
    return TierTimeout("cold", operation, f"others were first {ATTEMPTS_MAX} times")
