"""What destroys content, as transactions: a redaction, retention, the blanking of receipts.

A redaction reaches all that was made of the records, and lets the belief log tell of it: an event
for each belief, its contents destroyed. Retention touches nothing that was made of the records: it
is what stays of them. A blank receipt says what a turn or a recall saw, without a word of it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import TypeAlias

from ...documents import Document
from ...history.differences import left_digest
from ...history.plan import SPEAKING_KINDS, redact_plan
from ...records import Episode, Receipt, Scope, WorkDraft
from ...upkeep import ERASED, Redacted, Retiring
from .. import redaction
from ..conditions import Among, Holds, Is, Within
from ..port import Find, R, RecordStore, Steps, delete, every, one
from .belief_log import CONTENTS, Content, mentioned_in
from .belief_projection import BELIEFS, append, commitment_of
from .documents import silence_formers
from .episodes import KeptEpisode, KeptSummary, put_summary
from .log import RECEIPTS, append_event
from .questions import own, whole
from .redactable_records import KEPT_IN, drop, leave_no_trace, made_of, own_of, traces
from .rows import amend, replace
from .turns import KeptTurn
from .words import file_again
from .work import queue_work

_WRITTEN: tuple[redaction.RecordKind, ...] = ("summary", "episode")
_NEXT_MOMENT = timedelta(microseconds=1)


@dataclass(frozen=True)
class Redaction:
    """One redaction.

    Attributes:
        scope: Whose graph.
        asked: The records that it begins with.
        is_found: Whether these were found by whose they are, instead of being named by somebody.
        reason: Why.
        now: When.
        looked_for: The records whose receipts were looked for.
        receipts: Those receipts.
    """

    scope: Scope
    asked: Sequence[str]
    is_found: bool
    reason: str
    now: datetime
    looked_for: Collection[str]
    receipts: Sequence[str]

    def carry_out(self) -> Steps[Redacted]:
        """Do all of it and return what has no content any more.

        Raises:
            NotFound: One of the asked is no record of the graph.
            Grown: More has to go than was looked for.
        """
        found = yield from survey(self.scope, self.asked)
        fresh = [trace for trace in found.fresh.found if not trace.is_redacted]
        if not {trace.id for trace in fresh} <= set(self.looked_for):
            raise redaction.Grown
        yield from self._forget_mentions(found.fresh.found)
        if not fresh and not self.receipts:
            return found.reached()
        if fresh:
            yield from self._destroy(fresh)
            yield from self._mark_again(found.fresh.found)
        yield from blank(self.scope, self.receipts)
        yield from append_event(self.scope, redaction.AUDIT_KIND, self.asked, self.reason, self.now)
        if self.is_found:
            yield from append_event(self.scope, ERASED, self.asked, self.reason, self.now)
        return found.reached(self.receipts)

    def _forget_mentions(self, traces: Iterable[redaction.Trace]) -> Steps[None]:
        """Take the marks from what retention has emptied: what was made of it says nothing now."""
        retired = (trace for trace in traces if trace.is_retired)
        for kind, page in _pages(retired, redaction.MARKED_KINDS):
            found = yield from every(own_of(self.scope, kind, page))
            marked = (one for one in found if one.mentions)
            yield from amend(KEPT_IN[kind], self.scope, marked, mentions="")

    def _destroy(self, fresh: Sequence[redaction.Trace]) -> Steps[None]:
        beliefs = [trace.id for trace in fresh if trace.kind == "belief"]
        yield from silence(self.scope, beliefs, self.reason, self.now)
        for kind, page in _pages(fresh, KEPT_IN):
            found = yield from every(own_of(self.scope, kind, page))
            emptied = [redaction.redacted_form(one, self.now) for one in found]
            yield from replace(KEPT_IN[kind], self.scope, *emptied)
            yield from leave_no_trace(self.scope, emptied, self.now)
            yield from drop(self.scope, page)
            for record in emptied:
                yield from self._follow(record)

    def _follow(self, record: redaction.Redactable) -> Steps[None]:
        """Let a turn that waits for a summary have one, and silence what a document was."""
        if isinstance(record, KeptTurn) and 0 not in record.covered_by:
            yield from put_summary(self.scope, redaction.stand_in(record, self.now))
        elif isinstance(record, Document):
            yield from silence_formers(self.scope, record)

    def _mark_again(self, traces: Iterable[redaction.Trace]) -> Steps[None]:
        """Move the moment at which records lost their content: who rewrites them comes too late."""
        for kind, page in _pages((trace for trace in traces if trace.was_asked_away), _WRITTEN):
            found = yield from every(own_of(self.scope, kind, page))
            later = (max(one.redacted_at + _NEXT_MOMENT, self.now) for one in found)
            moved = zip(found, later, strict=True)
            yield from replace(
                KEPT_IN[kind],
                self.scope,
                *(one.model_copy(update={"redacted_at": at}) for one, at in moved),
            )


def survey(scope: Scope, ids: Sequence[str]) -> Steps[redaction.Survey]:
    """Find out what is to be redacted.

    Raises:
        NotFound: One of the ids is no record of the graph.
        UsageError: Too much would be reached.
    """
    known = redaction.known_of(
        ids, (yield from traces({kind: own_of(scope, kind, ids) for kind in KEPT_IN}))
    )
    turns: list[KeptTurn] = yield from every(own_of(scope, "turn", ids))
    stand_ins = [redaction.stand_in_id(turn) for turn in turns]
    lost = [trace for trace in known if trace.was_asked_away]
    # From what retention has emptied as well: what was made of it may still tell it.
    fresh = redaction.Reach((trace for trace in known if not trace.was_asked_away), stand_ins)
    before = redaction.Reach(lost, stand_ins, only_redacted=True)
    while page := before.page():
        made = yield from made_of(scope, page)
        before.add(made)
        fresh.add(filter(redaction.names_what_is_lost, made))
    while page := fresh.page():
        fresh.add((yield from made_of(scope, page)))
    return redaction.Survey(fresh, before)


def rewrite(scope: Scope, record: redaction.Written, work: Sequence[WorkDraft]) -> Steps[bool]:
    """Give a redacted record its new text; ``False`` when it is not as it was read."""
    kind: redaction.RecordKind = "episode" if isinstance(record, Episode) else "summary"
    known: KeptSummary | KeptEpisode | None = yield from one(own_of(scope, kind, (record.id,)))
    if record.redacted_at is None or known is None or known.redacted_at != record.redacted_at:
        return False
    if redaction.is_retired(known):
        return False
    names = ("text", "made_by", "lost", "answers", *(("tokens",) if kind == "summary" else ()))
    content = {name: getattr(record, name) for name in names}
    after = known.model_copy(update={**content, "redacted_at": None})
    yield from replace(KEPT_IN[kind], scope, after)
    yield from file_again(scope, after)
    yield from queue_work(scope, work, record.redacted_at)
    return True


def _pages(
    traces: Iterable[redaction.Trace], kinds: Iterable[redaction.RecordKind]
) -> Iterator[tuple[redaction.RecordKind, Sequence[str]]]:
    """Yield the ids of records of some kinds, kind by kind, cut into pages."""
    found = list(traces)
    for kind in kinds:
        for page in redaction.pages(trace.id for trace in found if trace.kind == kind):
            yield kind, page


def silence(scope: Scope, belief_ids: Sequence[str], reason: str, now: datetime) -> Steps[None]:
    """Let the log tell that beliefs lost their content, and destroy what it says of them.

    Inside a transaction. Their rows are over then, but not blank.
    """
    ids = tuple(dict.fromkeys(belief_ids))
    if not ids:
        return
    rivals = Holds("names", ids), Is("kind", "contradicted")
    against = Find(CONTENTS, scope, "names", rivals)
    speaking = Among("belief_id", ids), Among("kind", tuple(sorted(SPEAKING_KINDS)))
    about = Find(CONTENTS, scope, "belief", speaking)
    beliefs = yield from every(own(BELIEFS, scope, ids))
    left = {
        one.id: left_digest(redaction.redacted_form(commitment_of(one), now)) for one in beliefs
    }
    rival_in = _rival_in((yield from every(against)), ids)
    events = [
        event
        for one in ids
        for event in redact_plan(one, reason, left.get(one), rival_in.get(one, ()))
    ]
    yield from append(scope, events, now)
    yield from delete(about, against)


def _rival_in(contents: Sequence[Content], ids: Sequence[str]) -> Mapping[str, Sequence[str]]:
    """Return the events in which each belief is the rival of another."""
    found: dict[str, list[str]] = {belief_id: [] for belief_id in ids}
    for content in contents:
        for belief_id in mentioned_in(content):
            if belief_id in found:
                found[belief_id].append(content.event_id)
    return found


def retire(
    scope: Scope, ids: Sequence[str], reason: str, now: datetime, work: Sequence[WorkDraft]
) -> Steps[tuple[str, ...]]:
    """Take the content from those of some records that have it; return which, in the order asked.

    With one audit event, and the work by which each leaves the warm index; if there is none,
    nothing is written.
    """
    emptied: list[redaction.Retainable] = []
    for collection in map(KEPT_IN.__getitem__, redaction.RETIRED_KINDS):
        found: list[redaction.Retainable] = yield from every(own(collection, scope, ids))
        after = [redaction.retired_form(one, now) for one in found if one.redacted_at is None]
        yield from replace(collection, scope, *after)
        emptied += after
    gone = {one.id for one in emptied}
    retired = tuple(one for one in ids if one in gone)
    if retired:
        yield from leave_no_trace(scope, emptied, now)
        yield from drop(scope, retired)
        yield from queue_work(scope, work, now)
        yield from append_event(scope, redaction.RETIRED_AUDIT_KIND, retired, reason, now)
    return retired


Test: TypeAlias = Callable[[Receipt], bool]


async def looked_through(
    store: RecordStore,
    operation: str,
    find: Find[R],
    is_wanted: Callable[[R], bool],
    after: tuple[str, ...] = (),
) -> list[R]:
    """Return what a question finds behind a place in its order, and passes a test; by pages."""
    found: list[R] = []
    behind = find.behind(after) if after else find
    while True:
        page = await store.read(operation, partial(every, behind))
        # Many records take longer to look through than the event loop may be held up.
        found += await asyncio.to_thread(lambda some: list(filter(is_wanted, some)), page)
        if len(page) < find.limit:
            return found
        behind = find.behind(find.place(page[-1]))


async def receipts_that(
    store: RecordStore,
    operation: str,
    scope: Scope,
    is_wanted: Test,
    between: tuple[str, str] = ("", ""),
) -> tuple[str, ...]:
    """Return the receipts of the scope's graph that pass a test.

    All of them, or those whose ids lie between two; an empty one is no end.
    """
    after, until = between
    before = (Within("id", until=until),) if until else ()
    find = whole(RECEIPTS, scope, "id", *before, order=("id",), limit=redaction.RECEIPTS_PER_PAGE)
    found = await looked_through(store, operation, find, is_wanted, (after,) if after else ())
    return tuple(one.id for one in found)


def blank(scope: Scope, ids: Sequence[str], retiring: Retiring | None = None) -> Steps[None]:
    """Blank receipts of the scope's graph, by their ids, inside a transaction.

    With ``retiring`` the audit feed names them.
    """
    for page in redaction.pages(ids):
        receipts = yield from every(own(RECEIPTS, scope, page))
        yield from replace(RECEIPTS, scope, *map(redaction.blanked, receipts))
    if retiring is not None:
        yield from append_event(scope, redaction.RETIRED_AUDIT_KIND, ids, *retiring)


def naming(ids: Iterable[str]) -> Test:
    """Return the test whether a receipt that is not blank names one of some records."""
    names = frozenset(ids)

    def is_naming(receipt: Receipt) -> bool:
        said = redaction.said_in(receipt.body, names=True)
        return not names.isdisjoint(said) and receipt != redaction.blanked(receipt)

    return is_naming
