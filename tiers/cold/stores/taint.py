"""What rests on what, and roll-backs: each of them one transaction over all its graphs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, get_args

from ...board import TASK_LOGS, Card
from ...documents import Document, Passage
from ...errors import Conflict, NotFound, check_at_most
from ...fields import AuditKind
from ...owned import Owned
from ...records import Commitment, Episode, Fact, Record, Rule, Scope, Summary, Turn
from ...taint import Reason, Resting, RollBack, RolledBack, TaintedKind
from ..conditions import Among, Is
from ..ownership import check_whole_graph
from ..port import Find, Steps, delete, every, one, write
from ..redaction import (
    PAGE_IDS,
    RecordKind,
    Redactable,
    Trace,
    checked_request,
    is_retired,
    pages,
    texts_of,
)
from .belief_log import EVENTS
from .belief_past import rolled_back_among
from .belief_projection import BELIEFS
from .log import append_event
from .passages import PASSAGES
from .questions import own, whole
from .redactable_records import (
    KEPT_IN,
    ROLL_BACKS,
    as_it_was,
    found_by,
    kept_by,
    kept_of,
    made_of,
    own_of,
)
from .roll_back_steps import Part, restore, set_aside
from .rows import over, replace
from .shared_roll_backs import destroy_with
from .store_base import OverEngine, changing_long, reading

NAMED_MAX = 500
"""So many records an audit event names at most; the roll-back names all of them."""

ROLL_BACKS_MAX = 1_000

SHOWN_CHARS = 120
"""So much of its text a record is shown by."""

_TAINTED_KINDS = tuple(kind for kind in KEPT_IN if kind in get_args(TaintedKind))
"""What waits in quarantine is none: nothing rests on what was never let in."""

ROLLED_BACK: AuditKind = "rolled back"
UNDONE: AuditKind = "roll-back undone"
CONFIRMED: AuditKind = "roll-back confirmed"


_OF_RESTING = tuple(name for name in Resting.model_fields if name in Owned.model_fields)


def resting_of(kind: TaintedKind, record: Redactable, more: tuple[Reason, ...] = ()) -> Resting:
    """Return a record as a trace sees it.

    Args:
        kind: Of the record.
        record: The record.
        more: Reasons that it does not name itself.
    """
    owned: dict[str, Any] = {name: getattr(record, name) for name in _OF_RESTING}
    return Resting(
        **owned,
        kind=kind,
        text=shown_text(record),
        reasons=(*_reasons(record), *more),
        is_gone=record.redacted_at is not None,
        is_over=getattr(record, "status", "active") in {"reverted", "redacted"},
        is_retired=is_retired(record),
    )


def shown_text(record: Redactable) -> str:
    """Return how what a record says begins, on one line."""
    text = next(filter(None, map(str.strip, _shown(record))), "")
    return " ".join(text.split())[:SHOWN_CHARS]


def _shown(record: Redactable) -> tuple[str, ...]:
    if isinstance(record, Turn):
        return (record.input, record.response)  # not who spoke
    if isinstance(record, Document):
        return (record.title, record.name)
    return tuple(texts_of(record))


def _reasons(record: Record) -> tuple[Reason, ...]:
    named: list[tuple[str, str]] = []
    if isinstance(record, Summary):
        named += [(one, "summary of") for one in record.covers]
    elif isinstance(record, Episode):
        named += [(one, "tells of") for one in record.children]
    elif isinstance(record, Fact | Rule | Commitment):
        named += [(one, "rests on") for one in record.source_ids]
    if isinstance(record, Commitment) and record.turn_id is not None:
        named.append((record.turn_id, "committed during"))
    if isinstance(record, Passage):
        named.append((record.document_id, "part of"))
    if isinstance(record, Card) and record.thread and record.type in TASK_LOGS.values():
        named.append((record.thread, "tells of"))
    return tuple(Reason(id=one, how=how) for one, how in named)


class _OnlyTried(Exception):
    """What a roll-back would come to."""

    def __init__(self, done: RollBack) -> None:
        super().__init__(done.id)
        self.done = done


class TaintStore(OverEngine):
    """What rests on what, and roll-backs. Scopes are those of whole graphs."""

    @reading
    def described(self, scope: Scope, ids: Sequence[str]) -> Steps[tuple[Resting, ...]]:
        """Return the records of the scope's graph among some ids, in no order."""
        check_whole_graph(scope)
        check_at_most("ids", len(ids), PAGE_IDS)
        found = yield from found_by(_named(scope, dict.fromkeys(_TAINTED_KINDS, ids)))
        return tuple((yield from _with_kept(scope, _resting(found))))

    @reading
    def resting_on(self, scope: Scope, ids: Sequence[str]) -> Steps[tuple[Resting, ...]]:
        """Return the records of the scope's graph that rest on some of whichever graph.

        At first hand: summaries, episodes, facts, rules, beliefs, documents, passages and cards
        that name one of them, as ``Redactor.redact`` reaches them, and beliefs that were committed
        in one of the turns.

        Raises:
            UsageError: There are more than ``PAGE_IDS`` ids.
        """
        check_whole_graph(scope)
        check_at_most("ids", len(ids), PAGE_IDS)
        traces: list[Trace] = yield from made_of(scope, ids)
        by_kind: dict[RecordKind, list[str]] = {}
        for trace in traces:
            by_kind.setdefault(trace.kind, []).append(trace.id)
        during = whole(EVENTS, scope, "turn_id", Among("turn_id", tuple(ids)))
        events = [one for one in (yield from every(during)) if one.kind == "committed"]
        committed: dict[str, tuple[Reason, ...]] = {
            one.belief_id: (Reason(id=one.turn_id, how="committed during"),) for one in events
        }
        by_kind["belief"] = list(dict.fromkeys((*by_kind.get("belief", ()), *committed)))
        holds: dict[str, tuple[Reason, ...]] = {}
        if "document" in by_kind:
            for passage in (yield from every(own(PASSAGES, scope, ids))):
                reason = Reason(id=passage.id, how="holds")
                holds[passage.document_id] = (*holds.get(passage.document_id, ()), reason)
        found = yield from found_by(_named(scope, by_kind))
        return tuple((yield from _with_kept(scope, _resting(found, committed | holds))))

    async def set_aside(
        self,
        roll_back: RollBack,
        now: datetime,
        *,
        dry_run: bool = False,
    ) -> RollBack | None:
        """Carry out a roll-back, or what was added to an open one, in one transaction.

        Records lose their content as by a redaction, which is kept apart; beliefs are reverted, and
        what they or facts had taken the place of stands again, which the answer names. One audit
        event ``rolled back`` in each graph. ``None``, writing nothing, while another roll-back of
        the same record is open.

        Args:
            roll_back: With what is to be changed.
            now: When.
            dry_run: Only return what it would come to; nothing is written.

        Raises:
            Conflict: It is open no longer.
            UsageError: The reason is blank.
        """
        checked_request((roll_back.record_id,), roll_back.reason)

        def steps() -> Steps[RollBack | None]:
            known = yield from one(own(ROLL_BACKS, _scope(roll_back), [roll_back.id]))
            if known is not None and known.state != "open":
                raise Conflict(f"roll-back {roll_back.id}", "an open one", known.state)
            if (yield from _is_another_open(roll_back)):
                return None
            done = yield from self._carried_out(roll_back, known, now)
            if dry_run:
                raise _OnlyTried(done)
            yield from write(over(known, ROLL_BACKS, _scope(roll_back), done))
            return done

        try:
            return await self._store.change("set_aside", steps, is_brief=False)
        except _OnlyTried as tried:
            return tried.done

    @changing_long
    def undo(self, scope: Scope, roll_back_id: str, reason: str, now: datetime) -> Steps[RollBack]:
        """Bring everything back as it was, in one transaction; an undone one stays as it is.

        Raises:
            NotFound: The scope's graph has no such roll-back.
            Conflict: It was confirmed.
            UsageError: The reason is blank.
        """
        known = yield from _open(scope, roll_back_id, reason, "undone")
        if known.state == "undone":
            return known
        kept: list[str] = []
        for graph_id in known.graph_ids:
            there = Scope.of_graph(scope.tenant, graph_id)
            kept += yield from _destroyed_since(known, there)
            kept += yield from restore(Part(there, known, now))
            yield from _tell(known, there, UNDONE, reason, now)
        ended = {"state": "undone", "ended_at": now, "kept": tuple(dict.fromkeys(kept))}
        after = known.model_copy(update=ended)
        yield from replace(ROLL_BACKS, scope, after)
        return after

    async def confirm(
        self, scope: Scope, roll_back_id: str, reason: str, now: datetime
    ) -> RollBack:
        """Destroy what an open roll-back keeps; a confirmed one stays as it is.

        Raises:
            NotFound: The scope's graph has no such roll-back.
            Conflict: It was undone.
            UsageError: The reason is blank.
        """

        def steps() -> Steps[RollBack]:
            known = yield from _open(scope, roll_back_id, reason, "confirmed")
            if known.state == "confirmed":
                return known
            for graph_id in known.graph_ids:
                there = Scope.of_graph(scope.tenant, graph_id)
                yield from destroy_with(there, (yield from every(kept_by(there, known.id))), now)
                yield from delete(kept_by(there, known.id))
                yield from _tell(known, there, CONFIRMED, reason, now)
            after = known.model_copy(update={"state": "confirmed", "ended_at": now})
            yield from replace(ROLL_BACKS, scope, after)
            return after

        done = await self._store.change("confirm", steps, is_brief=False)
        await self._store.scrub()
        return done

    @reading
    def roll_backs(self, scope: Scope) -> Steps[tuple[RollBack, ...]]:
        """Return the latest 1,000 roll-backs of records of the scope's graph, the last first."""
        check_whole_graph(scope)
        find = Find(ROLL_BACKS, scope, order=("-id",), limit=ROLL_BACKS_MAX, reach="own")
        return tuple((yield from every(find)))

    def _carried_out(
        self, roll_back: RollBack, known: RollBack | None, now: datetime
    ) -> Steps[RollBack]:
        back: list[RolledBack] = []
        for graph_id in roll_back.graph_ids:
            there = Scope.of_graph(roll_back.tenant, graph_id)
            items = [one for one in roll_back.items if one.graph_id == graph_id]
            if items:
                back += yield from set_aside(Part(there, roll_back, now), items)
            if items or known is None:
                whole = roll_back.model_copy(update={"items": tuple(items)})
                yield from _tell(whole, there, ROLLED_BACK, roll_back.reason, now)
        changed = {one.named: one for one in (*roll_back.items, *back)}
        before = [one for one in (known.items if known else ()) if one.named not in changed]
        return roll_back.model_copy(update={"items": (*before, *changed.values())})


def _with_kept(scope: Scope, found: Sequence[Resting]) -> Steps[list[Resting]]:
    """Return records with what open roll-backs keep of them: texts, or that they were believed.

    A belief that was reverted otherwise is not over for them: an earlier state would bring it back.
    """
    gone = [one.id for one in found if one.is_gone or one.is_over]
    over = [one.id for one in found if one.is_over and not one.is_gone]
    taken: set[str] = set()
    for page in pages(over):
        taken |= yield from rolled_back_among(scope, (yield from every(own(BELIEFS, scope, page))))
    believed: set[str] = set()
    kept: dict[tuple[str, str], str] = {}
    for page in pages(gone):
        for row in (yield from every(kept_of(scope, page))):
            if row.kind == "believed":
                believed.add(row.record_id)
            record = None if row.kind == "former" else as_it_was(row)
            if record is not None:
                kept[row.kind, row.record_id] = shown_text(record)
    return [
        one.model_copy(update={"text": kept[one.kind, one.id], "is_kept": True})
        if one.is_gone and (one.kind, one.id) in kept
        else one.model_copy(
            update={
                "is_over": one.is_over and (one.is_gone or one.id in taken),
                "is_kept": one.is_over and one.id in believed,
            }
        )
        for one in found
    ]


def _named(scope: Scope, by_kind: dict[RecordKind, Any]) -> dict[RecordKind, Find[Any]]:
    return {kind: own_of(scope, kind, ids) for kind, ids in by_kind.items()}


def _resting(
    found: Any,  # noqa: ANN401 - records as they are kept, by kind
    more: dict[str, tuple[Reason, ...]] | None = None,
) -> list[Resting]:
    kinds: Iterable[tuple[TaintedKind, Sequence[Redactable]]] = found.items()
    known = more or {}
    return [
        resting_of(kind, record, known.get(record.id, ()))
        for kind, records in kinds
        for record in records
    ]


def _is_another_open(roll_back: RollBack) -> Steps[bool]:
    """Whether somebody else has begun to roll the same record back."""
    found = yield from every(whole(ROLL_BACKS, _scope(roll_back), "state", Is("state", "open")))
    return any(one.record_id == roll_back.record_id and one.id != roll_back.id for one in found)


def _destroyed_since(roll_back: RollBack, scope: Scope) -> Steps[list[str]]:
    """Return the records of a graph whose content was set aside, and is there no more."""
    rows = yield from every(kept_by(scope, roll_back.id))
    there = {row.record_id for row in rows}
    named = (one for ids in roll_back.ids_in(scope.graph_id).values() for one in ids)
    return [one for one in named if one not in there]


def _open(scope: Scope, roll_back_id: str, reason: str, state: str) -> Steps[RollBack]:
    """Return a roll-back that is open, or has the state already."""
    check_whole_graph(scope)
    checked_request((roll_back_id,), reason)
    known = yield from one(own(ROLL_BACKS, scope, [roll_back_id]))
    if known is None:
        raise NotFound("roll-back", roll_back_id)
    if known.state not in {"open", state}:
        raise Conflict(f"roll-back {roll_back_id}", "an open one", f"one that is {known.state}")
    return known


def _tell(
    roll_back: RollBack, scope: Scope, kind: AuditKind, reason: str, now: datetime
) -> Steps[None]:
    """Append to the audit feed of a graph what happened to its records."""
    ids = [one.id for one in roll_back.items if one.graph_id == scope.graph_id]
    named = (roll_back.id, *ids[:NAMED_MAX])
    yield from append_event(scope, kind, named, reason, now)


def _scope(roll_back: RollBack) -> Scope:
    return Scope.of_graph(roll_back.tenant, roll_back.graph_id)
