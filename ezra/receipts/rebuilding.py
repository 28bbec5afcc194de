"""Contexts of the past: a receipt's records are read again, and laid out as they were.

A receipt is for people who audit. The runtime's scope of a whole graph rebuilds what any of its
agents was given: its private records, and what it inherited, read where that came from. An agent's
scope rebuilds that agent's own receipts only, from what it may see today; the rest is missing.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Literal

from metaagents.lifecycle.material import without
from tiers.documents import Passage
from tiers.errors import NotFound
from tiers.forms import dated, entry_of, shown_output
from tiers.paging import parts
from tiers.previews import shown_outputs, shown_text
from tiers.records import (
    BeliefQuery,
    Fact,
    Hit,
    Kind,
    Owned,
    Receipt,
    Rule,
    Scope,
    Standing,
    Turn,
)

from ..recall.injection import bringing
from ..recall.request import request_again
from ..recall.search import recollect
from ..rights.policy import scope_of
from ..runtime import Runtime
from ..turn.assemble import MESH_SOURCE, injected_text, messages_of, source_of
from ..turn.receipts import KeptContext, KeptSlot, Seal, Unreadable, kept_of, recalled_slot
from ..turn.routing import Request
from ..turn.slots import Slot, hot_slots, input_slot
from .comparing import ContextDiff, Today, compare, destroyed

IDS_PER_PAGE = 500

BLANKED = (
    "the receipt was blanked, because something that it names was redacted, or was kept no longer"
    " than retention allows"
)
GONE = "its content was destroyed by retention, or it is not there"
HIDDEN = "not there, or the agent may not see it any more"
REWRITTEN = "it says something else now: it was written anew after a redaction"


@dataclass(frozen=True)
class Missing:
    """A slot that cannot be rebuilt, and why."""

    slot: KeptSlot
    why: str


@dataclass(frozen=True)
class ReplayedContext:
    """What a turn or a recall was given, rebuilt from its receipt.

    Attributes:
        receipt_id: The receipt.
        kind: ``turn`` or ``recall``.
        graph_id: Whose graph.
        agent_id: Who was given it; empty where an operator asked.
        turn_id: The turn that it was for.
        query: What was said or asked; empty when a redaction has taken it.
        at: When that was said or asked.
        messages: What the model read; none for a recall.
        slots: What was given, in order, without what is missing; for a recall its answers.
        is_exact: Every byte is as it was: the hash over all of it fits.
        missing: What cannot be rebuilt, each with the reason.
        reason: Why nothing can be, or why the hash does not fit; ``None`` when it does.
        dropped: What did not fit the budget then.
        folded: What other slots told already.
        body: What else the receipt keeps: models, budget, what was weighed and left out.
        today: How the same question would be answered now; ``None`` unless asked for.
    """

    receipt_id: str
    kind: Literal["turn", "recall"]
    graph_id: str
    agent_id: str
    turn_id: str | None
    query: str
    at: datetime
    messages: list[dict[str, str]] = field(default_factory=list)
    slots: tuple[Slot, ...] = ()
    is_exact: bool = False
    missing: tuple[Missing, ...] = ()
    reason: str | None = None
    dropped: tuple[KeptSlot, ...] = ()
    folded: tuple[KeptSlot, ...] = ()
    body: dict[str, Any] = field(default_factory=dict)
    today: ContextDiff | None = None


async def rebuild(
    runtime: Runtime, scope: Scope, receipt: Receipt, *, today: bool = False
) -> ReplayedContext:
    """Return what a receipt tells of, as it was; with ``today``, how it differs from now.

    Nothing is written, charged or counted.

    Args:
        runtime: The runtime.
        scope: Of the receipt's whole graph, or of the agent that was given it.
        receipt: The receipt.
        today: Also make the context of the same input, or ask the same question, as of now.

    Raises:
        NotFound: The receipt is of another graph or, for an agent's scope, another agent's.
    """
    _check_theirs(scope, receipt)
    kept = kept_of(receipt)
    if isinstance(kept, Unreadable):
        return replace(_empty(receipt), reason=kept.reason)
    if kept.is_blank:
        missing = tuple(Missing(slot, BLANKED) for slot in kept.slots)
        return replace(_empty(receipt, kept), missing=missing, reason=BLANKED)
    found = await _Shelves(runtime, scope, receipt).read(kept)
    rebuilt = _laid_out(receipt, kept, found)
    if not today:
        return rebuilt
    whys = {one.slot.key: one.why for one in rebuilt.missing}
    now = await _today(runtime, receipt, kept)
    diff = compare(kept.slots, now, Seal(kept.seal.salt), found.records, whys)
    return replace(rebuilt, today=diff)


def _check_theirs(scope: Scope, receipt: Receipt) -> None:
    """Refuse a receipt that is none of the asker's, as if there were none."""
    is_there = (scope.tenant, scope.graph_id) == (receipt.tenant, receipt.graph_id)
    if not is_there or (not _is_runtime(scope) and scope.agent_id != receipt.agent_id):
        raise NotFound("receipt", receipt.id)


def _is_runtime(scope: Scope) -> bool:
    return scope.agent_id is None and scope.every_user


def _empty(receipt: Receipt, kept: KeptContext | None = None) -> ReplayedContext:
    """Return what a receipt says without any of its records."""
    said_at = None if kept is None else kept.input_at
    turn_id = receipt.body.get("turn_id")
    return ReplayedContext(
        receipt_id=receipt.id,
        kind=receipt.kind,
        graph_id=receipt.graph_id,
        agent_id=receipt.agent_id,
        turn_id=turn_id if isinstance(turn_id, str) else None,
        query=receipt.query,
        at=said_at or receipt.recorded_at,
        dropped=() if kept is None else kept.dropped,
        folded=() if kept is None else kept.folded,
        body={name: value for name, value in receipt.body.items() if name not in _TOLD_APART},
    )


_TOLD_APART = frozenset({"turn_id", "input_at", "slots", "dropped", "folded", "seal"})


@dataclass(frozen=True)
class _Found:
    """What could be read again, by ``KeptSlot.key``.

    Attributes:
        records: As they are stored now.
        missing: Why others could not be read.
        names: What the documents of passages are called, by the passages' ids.
    """

    records: dict[tuple[str, str], Owned] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    missing: dict[tuple[str, str], str] = field(default_factory=dict)


class _Shelves:
    """Reads the records that a receipt names, in batches by graph and kind."""

    def __init__(self, runtime: Runtime, scope: Scope, receipt: Receipt) -> None:
        self._runtime = runtime
        self._scope = scope
        self._receipt = receipt

    async def read(self, kept: KeptContext) -> _Found:
        """Return what is there of the records of the slots."""
        found = _Found()
        wanted: dict[tuple[str, Kind], dict[str, None]] = {}
        for slot in kept.slots:
            if slot.record is not None:
                graph_id = slot.inherited_from or self._receipt.graph_id
                wanted.setdefault((graph_id, slot.record), {}).setdefault(slot.id)
        for (graph_id, kind), ids in wanted.items():
            for some in parts(list(ids), IDS_PER_PAGE):
                await self._read_page(found, graph_id, kind, some)
        return found

    async def _read_page(
        self, found: _Found, graph_id: str, kind: Kind, ids: Sequence[str]
    ) -> None:
        records = {one.id: one for one in await self._records(graph_id, kind, ids)}
        found.records.update({(kind, one): record for one, record in records.items()})
        if kind == "document":
            found.names.update(await self._names(graph_id, records.values()))
        absent = [one for one in ids if one not in records]
        if not absent:
            return
        if not _is_runtime(self._scope):
            found.missing.update({(kind, one): HIDDEN for one in absent})
            return
        there = Scope.of_graph(self._receipt.tenant, graph_id)
        redacted = {one.id: one for one in await self._runtime.redactor.redacted(there, absent)}
        for one in absent:
            why = destroyed(redacted[one]) if one in redacted else None
            found.missing[kind, one] = why or GONE

    async def _records(self, graph_id: str, kind: Kind, ids: Sequence[str]) -> Sequence[Owned]:
        scope = self._scope_at(graph_id, kind)
        if scope is None:
            return ()
        runtime = self._runtime
        if kind == "belief":
            asked = BeliefQuery(ids=tuple(ids), limit=IDS_PER_PAGE)
            return await runtime.history.query(scope, asked)
        readers: dict[Kind, Callable[[Scope, Sequence[str]], Awaitable[Sequence[Owned]]]] = {
            "turn": runtime.turns.turns,
            "tool_output": runtime.turns.turns,
            "summary": runtime.episodic.written,
            "episode": runtime.episodic.written,
            "fact": runtime.semantic.facts,
            "rule": runtime.playbooks.rules,
            "document": runtime.shelf.passages,
        }
        if kind not in readers:
            return ()
        read = await readers[kind](scope, ids)
        return [one for one in read if one.graph_id == graph_id and self._may_see(one)]

    async def _names(self, graph_id: str, passages: Iterable[Owned]) -> Mapping[str, str]:
        """Return what the documents of passages are called, which never changes."""
        scope = self._scope_at(graph_id, "document")
        of = {one.id: one.document_id for one in passages if isinstance(one, Passage)}
        if scope is None or not of:
            return {}
        found = await self._runtime.shelf.documents(scope, list(dict.fromkeys(of.values())))
        named = {one.id: one.name for one in found}
        return {one: named[document] for one, document in of.items() if document in named}

    def _scope_at(self, graph_id: str, kind: Kind) -> Scope | None:
        """Return the scope with which to read records of a graph; ``None``: not to be read."""
        receipt, scope = self._receipt, self._scope
        at_home = graph_id == receipt.graph_id
        if _is_runtime(scope):
            there = Scope.of_graph(receipt.tenant, graph_id)
            return there.for_agent(receipt.agent_id) if at_home and receipt.agent_id else there
        if at_home or kind == "fact":
            return scope  # the engine reads inherited facts by the lineage itself
        if graph_id not in {one.graph_id for one in scope.carrying(kind)}:
            return None
        # An agent of the same id in another graph is another one.
        return scope.model_copy(update={"graph_id": graph_id, "agent_id": None, "lineage": ()})

    def _may_see(self, record: Owned) -> bool:
        """Whether a record of an ancestor had been recorded when an agent may read it as of."""
        pinned = {one.graph_id: one.as_of for one in self._scope.lineage}.get(record.graph_id)
        return pinned is None or record.recorded_at <= pinned


def _laid_out(receipt: Receipt, kept: KeptContext, found: _Found) -> ReplayedContext:
    """Return the context or the answer that the slots make."""
    seal = Seal(kept.seal.salt)
    slots: list[Slot] = []
    missing: list[Missing] = []
    for one in kept.slots:
        again = _slot_again(one, receipt, kept.layout, found, seal)
        if isinstance(again, Slot):
            slots.append(again)
        else:
            missing.append(Missing(one, again))
    is_turn = receipt.kind == "turn"
    messages = messages_of(slots, kept.layout) if is_turn else []
    digest = seal.of_messages(messages) if is_turn else seal.of_slots(slots)
    is_exact = digest == kept.seal.digest and not missing
    reason = None if is_exact or missing else "the hash of the whole does not fit"
    if missing:
        reason = f"{len(missing)} of {len(kept.slots)} slots are missing"
    return replace(
        _empty(receipt, kept),
        messages=messages,
        slots=tuple(slots),
        is_exact=is_exact,
        missing=tuple(missing),
        reason=reason,
    )


def _slot_again(
    kept: KeptSlot, receipt: Receipt, layout: int, found: _Found, seal: Seal
) -> Slot | str:
    """Return a slot as it was, or why it cannot be."""
    slot = Slot(
        kept.kind,
        "",
        kept.source_ids,
        kept.score,
        kept.tokens,
        kept.inherited_from,
        kept.path,
        record=kept.record,
        version=kept.version,
        since=kept.since,
        until=kept.until,
        is_cited=kept.is_cited,
        left_out=kept.left_out,
        said_on=kept.said_on,
    )
    if kept.record is not None:
        slot = replace(slot, source=_source_again(kept, receipt, found))
        return _of_record(kept, slot, layout, found, seal)
    if kept.kind == "input":
        said = input_slot(receipt.query, layout, said_by=_said_by(kept, receipt))
        slot = replace(slot, text=said.text, messages=said.messages, source=said.source)
    else:
        source = MESH_SOURCE if kept.kind == "mesh" else ""
        slot = replace(slot, text=kept.text or "", source=source)
    return slot if seal.of_text(slot.text) == kept.digest else REWRITTEN


def _said_by(asked: KeptSlot, receipt: Receipt) -> str:
    """Return the name that an input was shown with; empty where it had none."""
    return (asked.text or "").removesuffix(receipt.query).removesuffix(": ")


def _source_again(kept: KeptSlot, receipt: Receipt, found: _Found) -> str:
    """Return where a slot comes from, as the model was told; empty where that is not shown."""
    record = found.records.get(kept.key)
    if record is None or kept.record is None or kept.kind in ("hot", "recalled"):
        return ""
    name = found.names.get(kept.id, "") if kept.is_cited else ""
    whence, since = kept.inherited_from, kept.since if kept.record == "turn" else None
    day = since or kept.said_on or ""
    return source_of(kept.record, record.agent_id, receipt.agent_id, whence, name, day)


def _of_record(kept: KeptSlot, slot: Slot, layout: int, found: _Found, seal: Seal) -> Slot | str:
    record = found.records.get(kept.key)
    if record is None:
        return found.missing.get(kept.key, GONE)
    taken = destroyed(record)
    if taken is not None:
        return taken
    if isinstance(record, Turn) and kept.kind == "hot":
        forms = (one for one in hot_slots(record, layout) if seal.of_text(one.text) == kept.digest)
        return next(
            (
                replace(slot, text=one.text, messages=one.messages, source=one.source)
                for one in forms
            ),
            REWRITTEN,
        )
    texts = _texts_of(record, kept)
    for text in map(injected_text, texts) if kept.kind == "injected" else texts:
        if seal.of_text(text) == kept.digest:
            return replace(slot, text=text)
    if isinstance(record, Rule) and kept.version is not None and record.version != kept.version:
        return f"version {kept.version} of the playbook is not kept any more"
    return REWRITTEN


def _texts_of(record: Owned, kept: KeptSlot) -> Sequence[str]:
    """Return the texts that a record may have been shown with; that of its version is among them.

    A turn that a search found looks otherwise than one of the ring.
    """
    if isinstance(record, Rule):
        return _versions_of(record, kept.version)
    if isinstance(record, Turn):
        return _texts_of_turn(record, kept)
    text = entry_of(record).text
    if isinstance(record, Fact):
        return [dated(text, kept.since, kept.until)]
    return [without(text, kept.left_out) if kept.left_out else text]


def _texts_of_turn(turn: Turn, kept: KeptSlot) -> Sequence[str]:
    """Return the texts that a search shows a turn with; before, long outputs were cut off."""
    if kept.record == "tool_output":
        return ["\n".join(shown_outputs(turn)), "\n".join(map(shown_output, turn.tool_outputs))]
    return [shown_text(turn), entry_of(turn).text]


def _versions_of(rule: Rule, version: int | None) -> list[str]:
    """Return a playbook as it read in a version; in each that it had, where that is not known."""
    texts = {rule.version: rule.text}
    for former in rule.former:
        texts[former.version] = rule.model_copy(update={"steps": former.steps}).text
    return [text for number, text in texts.items() if version in (None, number)]


async def _today(runtime: Runtime, receipt: Receipt, kept: KeptContext) -> Today:
    """Return what the same agent is given now for the same input or question."""
    whole = Scope.of_graph(receipt.tenant, receipt.graph_id)
    asker = whole.for_agent(receipt.agent_id) if receipt.agent_id else whole
    standing = await runtime.membership.of_graph(asker)
    if receipt.kind == "turn":
        return await _context_today(runtime, receipt, kept, standing)
    scope = whole.model_copy(update={"lineage": standing.lineage})
    if standing.agent is not None:
        scope = scope_of(standing.agent, standing.lineage)
    answer = await recollect(runtime, scope, request_again(receipt.query, kept.arguments))
    items: Sequence[Hit] = answer.items
    return Today(
        slots=[recalled_slot(hit) for hit in items],
        now=runtime.clock(),
        lineage=[one.graph_id for one in standing.lineage],
        degraded=answer.degraded,
        skipped=answer.skipped,
    )


async def _context_today(
    runtime: Runtime, receipt: Receipt, kept: KeptContext, standing: Standing
) -> Today:
    at = kept.input_at or receipt.recorded_at
    names = (_said_by(slot, receipt) for slot in kept.slots if slot.kind == "input")
    request = Request(
        input=receipt.query,
        at=at,
        speaker=next(filter(None, names), receipt.agent_id),
        inject=bringing(runtime, receipt.query),
    )
    today = await runtime.router.rehearse(standing, request)
    context = today.context
    return Today(
        slots=context.slots,
        now=runtime.clock(),
        dropped=context.dropped,
        folded=context.folded,
        left_out={fact.id: why for fact, why in today.core.left_out},
        lineage=[one.graph_id for one in standing.lineage],
        degraded=tuple(today.degradation.lost),
        skipped=tuple(today.degradation.skipped),
    )
