"""One redaction, as a transaction: what it reaches, and what it leaves of that."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from ...documents import Document
from ...records import Episode, Scope, WorkDraft
from ...upkeep import Redacted
from ..port import Steps, every, one
from ..redaction import (
    AUDIT_KIND,
    MARKED_KINDS,
    Grown,
    Reach,
    RecordKind,
    Redactable,
    Survey,
    Trace,
    Written,
    is_retired,
    known_of,
    pages,
    redacted_form,
    stand_in,
    stand_in_id,
)
from .asides import drop
from .belief_log import Salts
from .belief_redaction import silence
from .blanking import blank
from .documents import silence_formers
from .episodes import KeptEpisode, KeptSummary, put_summary
from .log import append_event
from .redactables import KEPT_IN, leave_no_trace, made_of, own_of, traces
from .rows import replace
from .turns import KeptTurn
from .words import file_again, set_live
from .work import queue_work

_WRITTEN: tuple[RecordKind, ...] = ("summary", "episode")
_NEXT_MOMENT = timedelta(microseconds=1)


@dataclass(frozen=True)
class Redaction:
    """One redaction.

    Attributes:
        scope: Whose graph.
        asked: The records that somebody named.
        reason: Why.
        now: When.
        looked_for: The records whose receipts were looked for.
        receipts: Those receipts.
        salts: Where the salts of belief events come from.
    """

    scope: Scope
    asked: Sequence[str]
    reason: str
    now: datetime
    looked_for: Collection[str]
    receipts: Sequence[str]
    salts: Salts

    def carry_out(self) -> Steps[Redacted]:
        """Do all of it and return what has no content any more.

        Raises:
            NotFound: One of the asked is no record of the graph.
            Grown: More has to go than was looked for.
        """
        found = yield from survey(self.scope, self.asked)
        fresh = [trace for trace in found.fresh.found if not trace.is_redacted]
        if not {trace.id for trace in fresh} <= set(self.looked_for):
            raise Grown
        yield from self._forget_mentions(found.fresh.found)
        if not fresh and not self.receipts:
            return found.reached()
        if fresh:
            yield from self._destroy(fresh)
            yield from self._mark_again(found.fresh.found)
        yield from blank(self.scope, self.receipts)
        yield from append_event(self.scope, AUDIT_KIND, self.asked, self.reason, self.now)
        return found.reached(self.receipts)

    def _forget_mentions(self, traces: Iterable[Trace]) -> Steps[None]:
        """Take the marks from what retention has emptied: what was made of it says nothing now."""
        ids = _by_kind(trace for trace in traces if trace.is_retired)
        for kind in MARKED_KINDS:
            for page in pages(ids.get(kind, ())):
                found = yield from every(own_of(self.scope, kind, page))
                silent = [one.model_copy(update={"mentions": ""}) for one in found if one.mentions]
                yield from self._replace(kind, silent)

    def _destroy(self, fresh: Iterable[Trace]) -> Steps[None]:
        ids = _by_kind(fresh)
        beliefs = ids.get("belief", ())
        yield from silence(self.scope, beliefs, self.reason, self.now, self.salts)
        for kind, of_kind in ids.items():
            for page in pages(of_kind):
                found = yield from every(own_of(self.scope, kind, page))
                emptied = [redacted_form(one, self.now) for one in found]
                yield from self._replace(kind, emptied)
                yield from leave_no_trace(self.scope, emptied, self.now)
                yield from drop(self.scope, page)
                for record in emptied:
                    yield from self._follow(record)

    def _follow(self, record: Redactable) -> Steps[None]:
        """Let a turn that waits for a summary have one, and silence what a document was."""
        if isinstance(record, KeptTurn) and 0 not in record.covered_by:
            yield from put_summary(self.scope, stand_in(record, self.now))
        elif isinstance(record, Document):
            yield from silence_formers(self.scope, record)

    def _mark_again(self, traces: Iterable[Trace]) -> Steps[None]:
        """Move the moment at which records lost their content: who rewrites them comes too late."""
        ids = _by_kind(trace for trace in traces if trace.was_asked_away)
        for kind in _WRITTEN:
            for page in pages(ids.get(kind, ())):
                found = yield from every(own_of(self.scope, kind, page))
                later = [max(one.redacted_at + _NEXT_MOMENT, self.now) for one in found]
                moved = zip(found, later, strict=True)
                yield from self._replace(
                    kind, [one.model_copy(update={"redacted_at": at}) for one, at in moved]
                )

    def _replace(self, kind: RecordKind, records: Iterable[Redactable]) -> Steps[None]:
        return replace(KEPT_IN[kind], self.scope, *records)


def survey(scope: Scope, ids: Sequence[str]) -> Steps[Survey]:
    """Find out what is to be redacted.

    Raises:
        NotFound: One of the ids is no record of the graph.
        UsageError: Too much would be reached.
    """
    known = known_of(ids, (yield from traces({kind: own_of(scope, kind, ids) for kind in KEPT_IN})))
    turns: list[KeptTurn] = yield from every(own_of(scope, "turn", ids))
    stand_ins = [stand_in_id(turn) for turn in turns]
    lost = [trace for trace in known if trace.was_asked_away]
    # From what retention has emptied as well: what was made of it may still tell it.
    fresh = Reach((trace for trace in known if not trace.was_asked_away), stand_ins)
    before = Reach(lost, stand_ins, only_redacted=True)
    for reach in (fresh, before):
        while page := reach.page():
            reach.add((yield from made_of(scope, page)))
    return Survey(fresh, before)


def rewrite(scope: Scope, record: Written, work: Sequence[WorkDraft]) -> Steps[bool]:
    """Give a redacted record its new text; ``False`` when it is not as it was read."""
    kind: RecordKind = "episode" if isinstance(record, Episode) else "summary"
    known: KeptSummary | KeptEpisode | None = yield from one(own_of(scope, kind, (record.id,)))
    if record.redacted_at is None or known is None or known.redacted_at != record.redacted_at:
        return False
    if is_retired(known):
        return False
    names = ("text", "made_by", "lost", *(("tokens",) if kind == "summary" else ()))
    told = {name: getattr(record, name) for name in names}
    after = known.model_copy(update={**told, "redacted_at": None})
    yield from replace(KEPT_IN[kind], scope, after)
    yield from file_again(scope, after)
    yield from set_live(scope, after.id, live=True)
    yield from queue_work(scope, work, record.redacted_at)
    return True


def _by_kind(traces: Iterable[Trace]) -> Mapping[RecordKind, list[str]]:
    ids: dict[RecordKind, list[str]] = {}
    for trace in traces:
        ids.setdefault(trace.kind, []).append(trace.id)
    return ids
