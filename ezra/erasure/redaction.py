"""Redaction on request: content destroyed in every store; rows, coverage, feed and chain stay.

The cold tier comes first, since everything else is made from it. Then what is quick to answer from:
the rings, which refill from cold, pinned beliefs, and the warm index. Then what was made of the
records and of others as well gets a new text, from the others alone. At last a receipt is signed
that says what was cleaned where. A crash or a tier that is away leaves nothing that repeating the
call does not finish; an erasure finds by words, and what it left open of those that it has
destroyed by the feed (``feed``), whatever its reason.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from tiers.errors import ConfigError, TierError, UsageError
from tiers.history.receipts import ErasureReceipt
from tiers.paging import linked, parts
from tiers.records import Scope, SessionGraph
from tiers.upkeep import Redacted, RewritableFiles

from ..checks import check_text
from ..runtime import Runtime
from .family import all_branches, branches_of, copies_in, heirs_of, orphans_in, resting_on
from .feed import finish, left_open, named_for_redaction
from .subjects import Whose

RECORDS_PER_PAGE = 500
PAGES_MAX = 100_000
BRANCHES_DEEP_MAX = 64

_INHERITED = ("fact", "rule", "episode", "document", "passage")
"""What graphs read of others."""


@dataclass(frozen=True)
class RedactionReport:
    """What a redaction reached.

    Attributes:
        ids: What lost its content, by kind: the asked records, what was made of them, under
            ``agent`` those who lost their role or a prompt, and under
            ``receipt`` the receipts that named them, those of graphs that inherit them included;
            under ``reason`` events of the audit feed whose reason named the subject.
        rewritten: Summaries and episodes that have a new text, made of what is left.
        cleaned: What was cleaned in each store: records and receipts in ``cold``, entries in
            ``warm``, the rings of agents in ``hot``.
        waiting: Stores that are not clean yet, each with the reason and what will clean it.
        branches: The same for each branch of the graph that held copies of the beliefs, and for
            each graph that inherits from it and had something of which a record was the source.
        receipt: What was done, by ids and counts, signed where there is a key.
    """

    ids: dict[str, tuple[str, ...]]
    rewritten: tuple[str, ...]
    cleaned: dict[str, tuple[str, ...]]
    waiting: dict[str, str]
    branches: dict[str, RedactionReport] = field(default_factory=dict)
    receipt: ErasureReceipt | None = None

    @property
    def is_complete(self) -> bool:
        """Whether every store is clean, in the graph and in its branches."""
        return not self.waiting and all(one.is_complete for one in self.branches.values())


async def redact(
    runtime: Runtime, scope: Scope, record_ids: Sequence[str], reason: str
) -> RedactionReport:
    """Destroy the content of records of the scope's graph, and of all that was made of them.

    May be repeated: what is clean stays as it is, what is not is cleaned.

    Raises:
        NotFound: One of the ids is no record of the graph that could be redacted.
        UsageError: The reason is blank, or there are too many ids.
        TierError: The cold tier failed.
    """
    check_text("reason", reason, "a reason that is not blank")
    await runtime.signer.key()  # what cannot be proven is not destroyed
    report = await _redacted(runtime, scope, record_ids, reason, BRANCHES_DEEP_MAX)
    return await _signed(runtime, scope, report, "records", reason)


async def erase(runtime: Runtime, scope: Scope, whose: Whose, reason: str) -> RedactionReport:
    """Redact every record of the scope's graph that is a subject's, a user's or an agent's.

    Raises:
        UsageError: Not exactly one of them is given, something is blank, or the reason names the
            subject.
        TierError: A store failed; repeating the call goes on.
    """
    if whose.agent_id is not None and not whose.agent_id.strip():
        raise UsageError("agent_id", whose.agent_id, "the id of an agent")
    whose.check()
    whose.check_reason(reason)
    return await _to_the_end(runtime, scope, whose, reason)


async def purge(runtime: Runtime, scope: Scope, reason: str) -> RedactionReport:
    """Redact every record of the scope's graph, whoever wrote it, and take its agents' roles away.

    Raises:
        UsageError: The reason is blank.
        TierError: A store failed; repeating the call goes on.
    """
    check_text("reason", reason, "a reason that is not blank")
    # Not agent by agent: a branch holds what others wrote, and retention leaves marks behind.
    return await _to_the_end(runtime, scope, Whose(everything=True), reason)


async def _to_the_end(runtime: Runtime, scope: Scope, whose: Whose, reason: str) -> RedactionReport:
    """Erase what is somebody's, finish what erasures left open, and say that it is done."""
    await runtime.signer.key()  # what cannot be proven is not destroyed
    left = await left_open(runtime, scope)
    whole = await _erased(runtime, scope, whose, reason)
    for former, open_ids in left.items():
        for page in parts(open_ids, RECORDS_PER_PAGE):
            done = await _redacted(runtime, scope, page, former, BRANCHES_DEEP_MAX, whose)
            whole = _together(whole, done)
    branches = await all_branches(runtime, scope.tenant)
    late = await _late_branches(runtime, scope, branches, reason, whose)
    whole = _together(whole, late)
    report = await _signed(runtime, scope, whole, whose.kind, reason)
    if report.ids and report.is_complete:
        for graph_id in (*_all_branches(report), scope.graph_id):
            for one in dict.fromkeys((*left, reason)):
                await finish(runtime, Scope.of_graph(scope.tenant, graph_id), one)
    return report


def _all_branches(report: RedactionReport) -> set[str]:
    """Return every graph besides its own that a report tells of."""
    return set(report.branches).union(*map(_all_branches, report.branches.values()))


async def _erased(runtime: Runtime, scope: Scope, whose: Whose, reason: str) -> RedactionReport:
    whole = RedactionReport({}, (), {}, {})
    shared_by = whose.served_by(await runtime.fleet.agents(scope.for_graph()))
    await runtime.redactor.begin_erasure(
        scope, runtime.ids.new(), **whose._asdict(), shared_by=shared_by
    )
    whole = _together(whole, await _roles(runtime, scope, whose, reason))
    holding = partial(
        runtime.redactor.holding,
        scope,
        **whose._asdict(),
        shared_by=shared_by,
        limit=RECORDS_PER_PAGE,
    )
    async for page in linked(lambda cursor: holding(cursor=cursor), PAGES_MAX):
        ids = list(dict.fromkeys(row.id for row in page.rows))
        if ids:
            # Before: a repeated erasure no longer finds what it has redacted.
            heirs = await _heirs_blanked(runtime, scope, ids, reason)
            whole = _together(whole, heirs)
            done = await _redacted(runtime, scope, ids, reason, BRANCHES_DEEP_MAX, whose)
            whole = _together(whole, done)
    return _together(whole, await _last_traces(runtime, scope, whose, reason))


async def _roles(runtime: Runtime, scope: Scope, whose: Whose, reason: str) -> RedactionReport:
    """Take away what agents are told of the subject: contexts say it, and writers are told it."""
    if whose.subject is None and not whose.everything:
        return RedactionReport({}, (), {}, {})
    erased = await runtime.redactor.erase_roles(scope, whose.subject, reason, runtime.clock())
    return RedactionReport({"agent": erased} if erased else {}, (), {"cold": erased}, {})


async def _last_traces(
    runtime: Runtime, scope: Scope, whose: Whose, reason: str
) -> RedactionReport:
    """Clean what no record holds: questions that found nothing, reasons, hot memory."""
    agents = await runtime.fleet.agents(scope.for_graph())
    subject, shared_by = whose.subject, whose.served_by(agents)
    theirs = [whose.agent_id] if whose.agent_id else []
    blank: tuple[str, ...] = ()
    if subject is not None or theirs or shared_by or whose.everything:
        blank = await runtime.redactor.blank_receipts(
            scope,
            subject=subject,
            agent_ids=theirs,
            shared_by=shared_by,
            everything=whose.everything,
        )
    if blank:
        now = runtime.clock()
        await runtime.log.append_audit(scope, "redacted", blank[:RECORDS_PER_PAGE], reason, now)
    silent: tuple[str, ...] = ()
    if subject is not None:
        silent = await runtime.redactor.erase_reasons(scope, subject, runtime.clock())
    waiting: dict[str, str] = {}
    try:
        for agent in agents:
            await runtime.hot.clear(scope.for_graph().for_agent(agent.id))
    except TierError as error:
        waiting["hot"] = f"{error}; repeating the call clears the rings; else they expire"
    ids = {kind: some for kind, some in {"receipt": blank, "reason": silent}.items() if some}
    return RedactionReport(ids, (), {"cold": (*blank, *silent)}, waiting)


async def overtake(runtime: Runtime, scope: Scope, branch: Scope) -> RedactionReport:
    """Redact in a new branch what was redacted in the graph that it left, while it was made."""
    copies = await orphans_in(runtime, scope, branch)
    report = RedactionReport({}, (), {}, {})
    for page in parts(copies, RECORDS_PER_PAGE):
        reason = f"redacted in {scope.graph_id} while it was branched"
        done = await _redacted(runtime, branch, page, reason, BRANCHES_DEEP_MAX)
        report = _together(report, done)
    return await _without_traces(runtime, report)


async def retire(runtime: Runtime, graph: SessionGraph) -> int:
    """Redact beliefs that ended longer ago than the graph keeps their content; return how many.

    Not in its branches: each keeps to a retention of its own.
    """

    async def erased(scope: Scope, ids: Sequence[str], reason: str) -> None:
        await runtime.signer.key()
        report = await _redacted(runtime, scope, ids, reason, 0)
        await _signed(runtime, scope, report, "retention", reason)

    return await runtime.retention.retire(graph, runtime.clock(), erased)


async def _redacted(
    runtime: Runtime,
    scope: Scope,
    record_ids: Sequence[str],
    reason: str,
    depth: int,
    whose: Whose | None = None,
) -> RedactionReport:
    """Redact records of one graph, then what rests on them elsewhere.

    With ``whose`` they were found as that one's; without, somebody named them.

    That is copies of beliefs in its branches, and what names one of the records as its source in
    graphs that inherit from it: it may repeat its words, as what was made of it here may.
    """
    reached = await runtime.redactor.redact(
        runtime.under_way.during(scope),
        record_ids,
        reason,
        runtime.clock(),
        found=whose is not None,
    )
    runtime.reader.forget(scope.tenant, scope.graph_id)
    carried = [one for kind in _INHERITED for one in reached.ids.get(kind, ())]
    heirs = await _heirs_blanked(runtime, scope, carried, reason)
    report = _together(await _Cleaning(runtime, scope, reached, whose).carried_out(), heirs)
    if depth == 0:
        return report
    beliefs = reached.ids.get("belief", ())
    for branch in await branches_of(runtime, scope) if beliefs else ():
        copies = await copies_in(runtime, branch, beliefs)
        report = await _with_others(runtime, report, branch, copies, reason, depth, whose)
    for heir in await heirs_of(runtime, scope) if carried else ():
        resting = await resting_on(runtime, heir, carried)
        report = await _with_others(runtime, report, heir, resting, reason, depth, whose)
    return report


async def _late_branches(
    runtime: Runtime,
    scope: Scope,
    branches: Mapping[str, Sequence[Scope]],
    reason: str,
    whose: Whose,
) -> RedactionReport:
    """Redact what branches hold of beliefs that are redacted in the graphs that they left.

    A branch that was being made when these were redacted has copies that nobody has seen.
    """
    report = RedactionReport({}, (), {}, {})
    for branch in branches.get(scope.graph_id, ()):
        copies = await orphans_in(runtime, scope, branch)
        report = await _with_others(
            runtime, report, branch, copies, reason, BRANCHES_DEEP_MAX, whose
        )
        below = await _late_branches(runtime, branch, branches, reason, whose)
        if below.branches:
            other = RedactionReport({}, (), {}, {}, branches={branch.graph_id: below})
            report = _together(report, other)
    return report


async def _with_others(
    runtime: Runtime,
    report: RedactionReport,
    there: Scope,
    record_ids: Sequence[str],
    reason: str,
    depth: int,
    whose: Whose | None,
) -> RedactionReport:
    """Redact records of another graph, and return the report with what that reached."""
    for page in parts(record_ids, RECORDS_PER_PAGE):
        done = await _redacted(runtime, there, page, reason, depth - 1, whose)
        other = RedactionReport({}, (), {}, {}, branches={there.graph_id: done})
        report = _together(report, other)
    return report


async def _heirs_blanked(
    runtime: Runtime, scope: Scope, record_ids: Collection[str], reason: str
) -> RedactionReport:
    """Blank receipts that name records of the scope's graph in graphs that read, or once read, it.

    They hold no word of a record, but salted hashes, with which short texts could be tried.
    """
    blank: list[str] = []
    for heir in await heirs_of(runtime, scope) if record_ids else ():
        done = await runtime.redactor.blank_receipts(heir, record_ids=list(record_ids))
        if done:
            blank += done
            named = done[:RECORDS_PER_PAGE]
            await runtime.log.append_audit(heir, "redacted", named, reason, runtime.clock())
    ids = tuple(blank)
    return RedactionReport({"receipt": ids} if ids else {}, (), {"cold": ids} if ids else {}, {})


async def _signed(
    runtime: Runtime, scope: Scope, report: RedactionReport, asked: str, reason: str
) -> RedactionReport:
    """Return the report with its receipt: ids and counts, never content."""
    report = await _without_traces(runtime, report)
    receipt = ErasureReceipt(
        tenant=scope.tenant,
        graph_id=scope.graph_id,
        asked_by=asked,
        reason=reason,
        erased_at=runtime.clock(),
        ids=report.ids,
        cleaned={store: len(ids) for store, ids in report.cleaned.items()},
        waiting=tuple(sorted(report.waiting)),
        branches=tuple(sorted(report.branches)),
        log=await _head_of(runtime, scope),
    )
    return replace(report, receipt=await runtime.signer.receipt(receipt))


async def _without_traces(runtime: Runtime, report: RedactionReport) -> RedactionReport:
    """Return a report that says where files could not be written anew."""
    if not report.ids:
        return report
    return replace(report, waiting=await files_rewritten(runtime, report.waiting))


async def files_rewritten(runtime: Runtime, before: Mapping[str, str]) -> dict[str, str]:
    """Have files written anew where deleting leaves bytes behind; return what is waiting then.

    Args:
        runtime: Whose stores.
        before: Stores that are not clean yet, each with the reason.
    """
    files: dict[str, RewritableFiles] = {"cold": runtime.redactor}
    if isinstance(runtime.warm, RewritableFiles):
        files["warm"] = runtime.warm
    waiting = dict(before)
    for tier, its in files.items():
        try:
            await its.rewrite_files()
        except TierError as error:
            why = f"{error}; what was deleted is left in its files: repeat the call"
            waiting[tier] = f"{waiting[tier]}; {why}" if tier in waiting else why
    return waiting


async def _head_of(runtime: Runtime, scope: Scope) -> dict[str, str | int]:
    """Return which event the belief log ends with, so that the receipt has its place in it."""
    seq = await runtime.history.seq_at(scope)
    last = await runtime.history.events(scope, seq - 1, 1) if seq else ()
    return {"size": seq, "last_hash": last[0].hash if last else ""}


def _together(one: RedactionReport, other: RedactionReport) -> RedactionReport:
    """Return two reports about one graph as one."""
    return RedactionReport(
        ids=_joined(one.ids, other.ids),
        rewritten=tuple(dict.fromkeys((*one.rewritten, *other.rewritten))),
        cleaned=_joined(one.cleaned, other.cleaned),
        waiting=one.waiting | other.waiting,
        branches={
            name: _together(one.branches[name], done) if name in one.branches else done
            for name, done in (one.branches | other.branches).items()
        },
    )


def _joined(
    one: dict[str, tuple[str, ...]], other: dict[str, tuple[str, ...]]
) -> dict[str, tuple[str, ...]]:
    return {
        name: tuple(dict.fromkeys((*one.get(name, ()), *other.get(name, ()))))
        for name in dict.fromkeys((*one, *other))
    }


class _Cleaning:
    """What follows when the cold tier has destroyed its content."""

    def __init__(
        self, runtime: Runtime, scope: Scope, reached: Redacted, whose: Whose | None
    ) -> None:
        self._runtime = runtime
        self._redactor = runtime.redactor
        self._scope = scope
        self._reached = reached
        self._whose = whose or Whose()
        self._cleaned: dict[str, tuple[str, ...]] = {}
        self._waiting: dict[str, str] = {}

    async def carried_out(self) -> RedactionReport:
        """Clean the other stores, write anew what can be, and say how far that came."""
        receipts = self._reached.ids.get("receipt", ())
        self._cleaned["cold"] = (*self._reached.all_ids, *receipts)
        await self._clear_rings()
        await self._clear_index()
        rewritten = await self._rewrite()
        # A turn that was under way may have put back meanwhile what it had read before.
        await self._clear_rings()
        self._runtime.wake_learning()
        return RedactionReport(self._reached.ids, rewritten, self._cleaned, self._waiting)

    async def _clear_rings(self) -> None:
        """Clear the rings of those who said one of the turns, and pins of the beliefs."""
        self._waiting.pop("hot", None)
        cleared: list[str] = []
        try:
            await self._runtime.drop_pins(self._scope, self._reached.ids.get("belief", ()))
            for agent_id in await self._speakers():
                await self._runtime.hot.clear(self._scope.for_graph().for_agent(agent_id))
                cleared.append(agent_id)
        except TierError as error:
            self._waiting["hot"] = (
                f"{error}; repeating the call clears the rings; else later turns push the turns "
                "out of them, or they expire"
            )
        self._cleaned["hot"] = tuple(cleared)

    async def _clear_index(self) -> None:
        ids = self._reached.all_ids
        self._cleaned["warm"] = ()
        try:
            await self._runtime.warm.delete(self._scope, ids)
        except (TierError, ConfigError) as error:
            self._waiting["warm"] = f"{error}; the queued index work removes the entries"
        else:
            self._cleaned["warm"] = ids

    async def _rewrite(self) -> tuple[str, ...]:
        try:
            leave = await named_for_redaction(self._runtime, self._scope)
            return await self._runtime.lifecycle.rewrite(
                self._scope,
                self._reached,
                self._redactor,
                leave=leave,
                is_barred=self._whose.is_named_by,
            )
        except (TierError, ConfigError) as error:
            self._waiting["cold"] = (
                f"{error}; nothing is left of the content, and repeating the call gives summaries "
                "and episodes a new text"
            )
            return ()

    async def _speakers(self) -> Iterable[str]:
        """Return the agents whose turns lost their content, whoever may see the turns."""
        turn_ids = self._reached.ids.get("turn", ())
        speakers: dict[str, None] = {}
        for page in parts(turn_ids, RECORDS_PER_PAGE):
            for turn in await self._redactor.redacted(self._scope, page):
                speakers.setdefault(turn.agent_id)
        return speakers
