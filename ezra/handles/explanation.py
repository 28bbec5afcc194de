"""Why a record is where it is: what became of it, told from its row and the audit feed."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial
from typing import cast

from metaagents.learning.rules import LearningPolicy
from tiers.board import Card, CardKind
from tiers.documents import Document, Passage
from tiers.errors import NotFound
from tiers.paging import pages_of
from tiers.records import (
    AuditEvent,
    AuditFilter,
    BeliefQuery,
    Episode,
    Fact,
    HistoricBelief,
    Kind,
    Owned,
    Rule,
    Scope,
    Summary,
    Turn,
)

from ..runtime import Runtime

EVENTS_PER_PAGE = 1_000
EVENTS_MAX = 10_000

Explained = Fact | Rule | Turn | Summary | Episode | Document | Passage | HistoricBelief | Card


@dataclass(frozen=True)
class Story:
    """What became of a record.

    Attributes:
        id: The record.
        kind: What it is.
        graph_id: Where it is.
        text: What it says now.
        lines: How it stands, and what would change that, in words.
        source_ids: The records it rests on.
        events: The audit events about it, oldest first: who, when and why.
    """

    id: str
    kind: Kind | CardKind
    graph_id: str
    text: str
    lines: tuple[str, ...]
    source_ids: tuple[str, ...]
    events: tuple[AuditEvent, ...]


async def explain(runtime: Runtime, record_id: str) -> Story:
    """Return the story of a record of any graph of the tenant.

    Of a fact, playbook, turn, summary, episode, belief, message, task, action, document or passage
    of a document; also of one whose content was redacted or retired.

    Raises:
        NotFound: There is none of this id.
    """
    events = await _events_about(runtime, record_id)
    async for scope in _scopes_to_search(runtime, events):
        record = await _found(runtime, scope, record_id)
        if record is not None:
            lines, sources = await _standing_and_sources(runtime, scope, record)
            kind = record.kind if isinstance(record, Card) else _KINDS[type(record)]
            text = _text_of(record)
            return Story(record_id, kind, record.graph_id, text, lines, sources, events)
    gone = await _gone(runtime, events, record_id)
    if gone is None:
        raise NotFound("record", record_id)
    return gone


async def _gone(runtime: Runtime, events: tuple[AuditEvent, ...], record_id: str) -> Story | None:
    """Return the story of a record that lost its content, and that no look-up has any more.

    Its row stays: who asks what became of it is told when it was emptied, and why. No event names
    what went because it was made of what somebody named.
    """
    for graph_id in await _graphs_to_search(runtime, events):
        scope = Scope.of_graph(runtime.settings.tenant, graph_id)
        for one in await runtime.taint.described(scope, [record_id]):
            kind = cast("Kind", one.kind)  # cards and passages are looked up, emptied or not
            kept = ("rolled back: its content is kept until that is confirmed",)
            sources = tuple(reason.id for reason in one.reasons)
            is_told = any(event.kind in {"redacted", "retired"} for event in events)
            with_others = () if is_told else ("emptied with what it was made of",)
            text, lines = ("", kept) if one.is_kept else (one.text, with_others)
            return Story(record_id, kind, graph_id, text, lines, sources, events)
    return None


async def _events_about(runtime: Runtime, record_id: str) -> tuple[AuditEvent, ...]:
    found: list[AuditEvent] = []
    only = AuditFilter(record_id=record_id)
    read = partial(runtime.log.tenant_audit, runtime.settings.tenant, only=only)
    told = pages_of(read, lambda event: event.position, EVENTS_PER_PAGE)
    async with aclosing(told) as pages:
        async for page in pages:
            found += page
            if len(found) >= EVENTS_MAX:
                break
    return tuple(found)


async def _scopes_to_search(runtime: Runtime, events: Sequence[AuditEvent]) -> AsyncIterator[Scope]:
    """Yield the scopes to look in: of each graph the runtime's own, then each member's.

    The first sees what is shared, the others what is private.
    """
    for graph_id in await _graphs_to_search(runtime, events):
        scope = Scope.of_graph(runtime.settings.tenant, graph_id)
        yield scope
        for member in await runtime.fleet.agents(scope):
            yield scope.for_agent(member.id)


async def _graphs_to_search(runtime: Runtime, events: Sequence[AuditEvent]) -> tuple[str, ...]:
    """Return the graphs of the tenant, those that the audit feed names first."""
    named = [event.graph_id for event in events]
    every = [graph.id for graph in await runtime.graphs.graphs(runtime.settings.tenant)]
    return tuple(dict.fromkeys((*named, *every)))


async def _found(runtime: Runtime, scope: Scope, record_id: str) -> Explained | None:
    async def beliefs(scope: Scope, ids: Sequence[str]) -> tuple[HistoricBelief, ...]:
        return await runtime.history.query(scope, BeliefQuery(ids=tuple(ids), limit=len(ids)))

    looks: tuple[Callable[[Scope, Sequence[str]], Awaitable[Sequence[Explained]]], ...] = (
        runtime.semantic.facts,
        runtime.playbooks.rules,
        runtime.turns.turns,
        runtime.shelf.passages,
        runtime.shelf.documents,
        beliefs,
        runtime.board.cards,
    )
    for look in looks:
        for record in await look(scope, [record_id]):
            if record.graph_id == scope.graph_id:
                return record
    for written in (runtime.episodic.summaries, runtime.episodic.episodes):
        for made in await written(scope):
            if made.id == record_id:
                return made
    return None


async def _standing_and_sources(
    runtime: Runtime, scope: Scope, record: Explained
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return how a record stands, in words, and what it rests on."""
    lines: Sequence[str]
    sources: tuple[str, ...] = ()
    match record:
        case Fact():
            settings = runtime.settings
            policy = LearningPolicy(
                promote_at_uses=settings.promote_at_uses, core_cap=settings.core_cap
            )
            lines = [*fact_lines(record, policy), *await _chain(runtime, scope, record)]
            sources = record.source_ids
        case Rule():
            lines, sources = rule_lines(record), record.source_ids
        case Turn():
            used = f"had the playbooks {', '.join(record.rules)} in its context"
            lines = (used,) if record.rules else ()
        case Document():
            lines = document_lines(record)
        case Passage():
            lines, sources = passage_lines(record), (record.document_id,)
        case HistoricBelief():
            lines, sources = belief_lines(record), record.source_ids
        case Card():
            lines = card_lines(record)
            sources = () if record.reply_to is None else (record.reply_to,)
        case Summary() | Episode():
            sources = record.covers if isinstance(record, Summary) else record.children
            lines = made_lines(record, len(sources))
    return tuple(lines), sources


def fact_lines(fact: Fact, policy: LearningPolicy) -> list[str]:
    """Return how a fact stands, and what would move it. Pure."""
    earned = fact.uses - fact.earned_from
    used = f"used by {fact.uses} turns"
    if fact.tier == "core":
        since = [f" since {span.since:%Y-%m-%d %H:%M}" for span in fact.core_spans[-1:]]
        lines = [f"core{''.join(since)}, {used}"]
    else:
        wanted = max(0, policy.promote_at_uses - earned)
        since_demoted = f", {earned} of them since it was demoted" if fact.earned_from else ""
        lines = [f"archival, {used}{since_demoted}; becomes core after {wanted} more"]
    if fact.fact_type != "world":
        lines.append(f"a {fact.fact_type}: among the first of the core block")
    if fact.superseded_by is not None:
        how = {"denial": "it was never true", "duplicate": "it says the same"}
        why = how.get(fact.superseded_as or "", "it says what holds now")
        lines.append(f"gave way to {fact.superseded_by}: {why}")
    if fact.forgotten_at is not None:
        lines.append(f"forgotten on request at {fact.forgotten_at:%Y-%m-%d %H:%M}")
    if fact.judged_at is not None:
        lines.append(f"compared with its neighbours at {fact.judged_at:%Y-%m-%d %H:%M}")
    return lines


def rule_lines(rule: Rule) -> tuple[str, ...]:
    """Return how a playbook stands. Pure."""
    outcomes = f"confirmed {rule.successes} times, rejected {rule.failures} times"
    former = [
        f"version {one.version} until {one.until:%Y-%m-%d %H:%M}: {'; '.join(one.steps)}"
        for one in rule.former
    ]
    return (f"version {rule.version}, {outcomes}", *former)


def document_lines(document: Document) -> tuple[str, ...]:
    """Return how a document stands. Pure."""
    stands = f"{document.name} on the shelf {document.shelf}, revision {document.revision}"
    changed = f"of {document.changed_at:%Y-%m-%d %H:%M}, {document.passages} passages"
    lines = [f"{stands} {changed}"]
    if document.removed_at is not None:
        lines.append(f"removed at {document.removed_at:%Y-%m-%d %H:%M}")
    return tuple(lines)


def passage_lines(passage: Passage) -> tuple[str, ...]:
    """Return how a passage of a document stands. Pure."""
    where = " > ".join(passage.headings)
    page = "" if passage.page is None else f", page {passage.page}"
    lines = [f"passage {passage.number} of its document since revision {passage.since}{page}"]
    if where:
        lines.append(f"under {where}")
    if passage.until is not None:
        lines.append(f"not part of it any more since revision {passage.until}")
    return tuple(lines)


def belief_lines(belief: HistoricBelief) -> tuple[str, ...]:
    """Return how a belief stands. Pure."""
    about = f" about {' '.join(belief.key)}" if belief.key else ""
    pinned = ", pinned" if belief.pinned else ""
    ended = "" if belief.ended_seq is None else f" until event {belief.ended_seq}"
    lines = [f"{belief.status}{pinned}, since event {belief.committed_seq} of its log{ended}"]
    lines.append(f"held by {belief.agent_id}{about}, with trust {belief.trust:.2f}")
    if belief.superseded_by is not None:
        lines.append(f"gave way to {belief.superseded_by}")
    if belief.turn_id is not None:
        lines.append(f"committed in the turn {belief.turn_id}")
    if belief.origin_id is not None:
        lines.append(f"is {belief.origin_id} of the graph that was branched")
    return tuple(lines)


def card_lines(card: Card) -> tuple[str, ...]:
    """Return how a message, a task or an action of the board stands. Pure."""
    sort = f" ({card.type})" if card.type else ""
    if card.kind == "message":
        read = f"read by {', '.join(card.read_by)}" if card.read_by else "read by nobody yet"
        lines = [f"from {card.agent_id} to {', '.join(card.to) or 'everybody'}{sort}, {read}"]
    elif card.kind == "task":
        lines = [f"{card.status}, version {card.version}, put up by {card.agent_id}"]
        lines += [f"{name}: {said}" for name, said in sorted(card.details.items())]
    else:
        lines = [f"done by {card.agent_id}{sort}"]
    part_of = {"message": "in the thread", "task": "a part of", "action": "for the task"}
    if card.thread not in ("", card.id):
        lines.append(f"{part_of[card.kind]} {card.thread}")
    return tuple(lines)


def made_lines(record: Summary | Episode, sources: int) -> list[str]:
    """Return how a summary or an episode stands that is made of so many records. Pure."""
    made_of = "turns" if isinstance(record, Summary) else "summaries or episodes"
    lines = [f"made of {sources} {made_of} by {record.made_by}"]
    if isinstance(record, Episode):
        lines.append(f"{record.grain}, {record.period}")
    if record.lost:
        lines.append(f"leaves out {record.lost} statements of what it stands for")
    return lines


async def _chain(runtime: Runtime, scope: Scope, fact: Fact) -> list[str]:
    """Return what stands at the end of a chain of facts that gave way, if it is not the next."""
    _, *since = await runtime.semantic.line(scope, fact.id) or (fact,)
    return [f"what stands now is {since[-1].id}"] if len(since) > 1 else []


def _text_of(record: Explained) -> str:
    if isinstance(record, Turn):
        return "\n".join(part for part in (record.input, record.response) if part)
    if isinstance(record, Document):
        return record.text or record.title or record.name
    if isinstance(record, HistoricBelief):
        return record.claim
    if isinstance(record, Card):
        return "\n".join(part for part in (record.title, record.text) if part)
    return record.text


_KINDS: dict[type[Owned], Kind] = {
    Fact: "fact",
    Rule: "rule",
    Turn: "turn",
    Summary: "summary",
    Episode: "episode",
    Document: "document",
    Passage: "document",
    HistoricBelief: "belief",
}
