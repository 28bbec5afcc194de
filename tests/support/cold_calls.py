"""One call of every method of every store of the cold tier."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from tiers.cold.stores import Lease
from tiers.records import (
    AgentRecord,
    BeliefQuery,
    BranchPoint,
    Budget,
    Commitment,
    GraphState,
    Parent,
    Scope,
    SignedHead,
    Summary,
    Usage,
    Work,
)
from tiers.taint import RollBack
from tiers.turn_io import Charge, TurnWrite

from .board_reference import card_by
from .cold_backends import Cold
from .cold_samples import (
    SCOPE,
    asked,
    belief_by,
    draft,
    episode_by,
    fact_by,
    graph_of,
    held_by,
    receipt_by,
    rule_by,
    summary_by,
    turn_by,
)
from .document_reference import document_by, drafts_of
from .tier_samples import NOW

GRAPH = SCOPE.for_graph()
NOTHING = "0" * 64
POINT = BranchPoint(graph_id="race", seq=0, last_hash=NOTHING, root=NOTHING, turn=0)
HEAD = SignedHead(
    tenant="acme", graph_id="race", size=1, last_hash=NOTHING, root=NOTHING, signed_at=NOW,
    public_key=NOTHING,
)  # fmt: skip
KEYED = fact_by(subject="mediums", predicate="last", object="18 laps")
TASK = card_by(SCOPE, kind="task", status="created", version=2)
ACTION = card_by(SCOPE, kind="action")
ROLL_BACK = RollBack(
    id="r", tenant="acme", graph_id="race", record_id="x", reason="asked to", made_at=NOW
)
AGENT = AgentRecord(tenant="acme", graph_id="race", id="a", spawned_at=NOW, seen_at=NOW)
LEASE = Lease(name="tick", owner="a", token=1, expires_at=NOW)
WORK = Work(
    id='["acme", "race", "index/k", "made"]',
    tenant="acme",
    graph_id="race",
    agent_id=None,
    kind="index",
    key="k",
    payload={},
    attempts=1,
    token=1,
    queued_at=NOW,
)


def _adopted() -> Commitment:
    """Return a belief as a branch adopts it."""
    return belief_by().model_copy(update={"origin_id": "x"})


def _redacted_summary() -> Summary:
    """Return a summary that has lost its text."""
    return summary_by(SCOPE, [turn_by()]).model_copy(update={"redacted_at": NOW})


CALLS: dict[str, Callable[[Cold], Awaitable[object]]] = {
    "create_graph": lambda cold: cold.graphs.create_graph(graph_of("race")),
    "graph": lambda cold: cold.graphs.graph("acme", "race"),
    "graphs": lambda cold: cold.graphs.graphs("acme"),
    "graph_names": lambda cold: cold.graphs.graph_names("acme", 8),
    "set_state": lambda cold: cold.graphs.set_state(SCOPE, GraphState.CLOSED, NOW),
    "standing": lambda cold: cold.graphs.standing(SCOPE),
    "lineage_at": lambda cold: cold.graphs.lineage_at(SCOPE, NOW),
    "link": lambda cold: cold.graphs.link(SCOPE, Parent(id="closed", linked_at=NOW)),
    "unlink": lambda cold: cold.graphs.unlink(SCOPE, "closed"),
    "configure": lambda cold: cold.graphs.configure(SCOPE, budget=Budget(tokens=1)),
    "spawn": lambda cold: cold.fleet.spawn(AGENT),
    "leave": lambda cold: cold.fleet.leave(SCOPE, NOW),
    "agents": lambda cold: cold.fleet.agents(SCOPE),
    "agent_names": lambda cold: cold.fleet.agent_names(SCOPE, 8),
    "beat": lambda cold: cold.fleet.beat(SCOPE, ["a"], NOW),
    "silent": lambda cold: cold.fleet.silent("acme", NOW, 8),
    "charge": lambda cold: cold.usage.charge(SCOPE, Usage(tokens=1), Budget(), Budget()),
    "refund": lambda cold: cold.usage.refund(SCOPE, Usage(tokens=1)),
    "usage": lambda cold: cold.usage.usage(SCOPE),
    "usage_by_agent": lambda cold: cold.usage.usage_by_agent(SCOPE),
    "append_turn": lambda cold: cold.turns.append_turn(SCOPE, turn_by()),
    "opening": lambda cold: cold.desk.opening(SCOPE, lambda _: SCOPE, "", 8),
    "keep_turn": lambda cold: cold.desk.keep_turn(SCOPE, turn_by(), [], Charge(Usage(writes=1))),
    "keep_turns": lambda cold: cold.desk.keep_turns([TurnWrite(SCOPE, turn_by())]),
    "keep_receipt": lambda cold: cold.desk.keep_receipt(SCOPE, receipt_by(), [], Charge(Usage())),
    "recent_turns": lambda cold: cold.turns.recent_turns(SCOPE, 8),
    "turns": lambda cold: cold.turns.turns(SCOPE, []),
    "known_refs": lambda cold: cold.turns.known_refs(SCOPE, []),
    "waiting_turns": lambda cold: cold.turns.waiting_turns(SCOPE, 8, 8),
    "turns_after": lambda cold: cold.turns.turns_after(SCOPE, 0, 8),
    "turns_from": lambda cold: cold.turns.turns_from(GRAPH, 1, 8),
    "count_turns": lambda cold: cold.turns.count_turns(GRAPH),
    "put_summary": lambda cold: cold.episodic.put_summary(SCOPE, summary_by(SCOPE, [turn_by()])),
    "summaries": lambda cold: cold.episodic.summaries(SCOPE),
    "put_episode": lambda cold: cold.episodic.put_episode(SCOPE, episode_by(SCOPE, [])),
    "due_summaries": lambda cold: cold.episodic.due_summaries(SCOPE, NOW, 8),
    "episodes": lambda cold: cold.episodic.episodes(SCOPE),
    "written": lambda cold: cold.episodic.written(SCOPE, ["x"]),
    "put_fact": lambda cold: cold.semantic.put_fact(SCOPE, fact_by()),
    "core": lambda cold: cold.semantic.core(SCOPE),
    "nearer": lambda cold: cold.semantic.nearer(SCOPE, [fact_by()]),
    "facts": lambda cold: cold.semantic.facts(SCOPE, []),
    "line": lambda cold: cold.semantic.line(SCOPE, "x"),
    "recall_archival": lambda cold: cold.semantic.recall_archival(SCOPE, asked()),
    "add_uses": lambda cold: cold.semantic.add_uses({SCOPE: {"cause": ["x"]}}, NOW),
    "set_tier": lambda cold: cold.semantic.set_tier(SCOPE, fact_by(), "core", "r", NOW),
    "supersede": lambda cold: cold.semantic.supersede(SCOPE, "x", "y", NOW),
    "put_rule": lambda cold: cold.procedural.put_rule(SCOPE, rule_by()),
    "match_rules": lambda cold: cold.procedural.match_rules(SCOPE, "tyre", 8),
    "loose": lambda cold: cold.grains.loose(GRAPH, "daily", NOW, 8),
    "turn_marks": lambda cold: cold.grains.turn_marks(GRAPH, "", 8),
    "made": lambda cold: cold.grains.made(GRAPH, "", 8),
    "retirable": lambda cold: cold.grains.retirable(GRAPH, "working", NOW, 8),
    "count_grain": lambda cold: cold.grains.count_grain(GRAPH, "working"),
    "retire": lambda cold: cold.grains.retire(GRAPH, ["x"], "past its retention", NOW),
    "rolled_back": lambda cold: cold.review.rolled_back(GRAPH, ["x"]),
    "live_facts": lambda cold: cold.review.live_facts(GRAPH, "", 8),
    "keyed": lambda cold: cold.review.keyed(GRAPH, KEYED, 8),
    "unjudged": lambda cold: cold.review.unjudged(GRAPH, 8),
    "settle": lambda cold: cold.review.settle(GRAPH, "x", [], NOW),
    "forget": lambda cold: cold.review.forget(SCOPE, "x", "asked to", NOW),
    "forget_all": lambda cold: cold.review.forget_all(SCOPE, ["x"], "asked to", NOW),
    "twins": lambda cold: cold.review.twins(SCOPE, "x"),
    "ended": lambda cold: cold.review.ended(GRAPH, NOW, NOW, 8),
    "entities": lambda cold: cold.knowledge.entities(SCOPE, ["mediums"], 8),
    "neighbours": lambda cold: cold.knowledge.neighbours(SCOPE, ["mediums"], 1, 8),
    "path": lambda cold: cold.knowledge.path(SCOPE, "mediums", "18 laps", 2),
    "statements": lambda cold: cold.knowledge.statements(SCOPE, "mediums", None, 8),
    "rules": lambda cold: cold.playbooks.rules(SCOPE, ["x"]),
    "record_outcome": lambda cold: cold.playbooks.record_outcome(
        SCOPE, "x", "cause", NOW, is_success=True
    ),
    "refine": lambda cold: cold.playbooks.refine(SCOPE, rule_by(), ["Box."], ["t"], NOW),
    "watermark": lambda cold: cold.watermarks.watermark(SCOPE, "extract"),
    "advance": lambda cold: cold.watermarks.advance(SCOPE, "extract", 1, NOW),
    "commit": lambda cold: cold.beliefs.commit(SCOPE, belief_by()),
    "pin": lambda cold: cold.beliefs.pin(SCOPE, "x", NOW),
    "unpin": lambda cold: cold.beliefs.unpin(SCOPE, "x", NOW),
    "revert": lambda cold: cold.beliefs.revert(SCOPE, "x", "was wrong", NOW),
    "rewind": lambda cold: cold.beliefs.rewind(GRAPH, 0, "was all wrong", NOW),
    "set_trust": lambda cold: cold.beliefs.set_trust(GRAPH, "a", "tyres", 0.5, "r", NOW),
    "adopt": lambda cold: cold.beliefs.adopt(GRAPH, POINT, [_adopted()], NOW),
    "active": lambda cold: cold.beliefs.active(SCOPE),
    "events": lambda cold: cold.history.events(GRAPH),
    "logged": lambda cold: cold.history.logged(GRAPH),
    "naming": lambda cold: cold.history.naming(GRAPH, "x"),
    "seq_at": lambda cold: cold.history.seq_at(GRAPH, turn=1),
    "as_of": lambda cold: cold.history.as_of(GRAPH, 1),
    "query": lambda cold: cold.history.query(GRAPH, BeliefQuery(topic="tyres", active_at=1)),
    "projected": lambda cold: cold.history.projected(GRAPH),
    "trusts": lambda cold: cold.history.trusts(GRAPH),
    "worded_like": lambda cold: cold.rivals.worded_like(SCOPE, belief_by(), 8),
    "put_head": lambda cold: cold.heads.put_head(GRAPH, HEAD),
    "heads": lambda cold: cold.heads.heads(GRAPH),
    "last_head": lambda cold: cold.heads.last_head(GRAPH),
    "enqueue": lambda cold: cold.queue.enqueue(SCOPE, [draft()], NOW),
    "claim": lambda cold: cold.queue.claim(["index"], "a", 1, 1, NOW),
    "begin": lambda cold: cold.queue.begin(WORK),
    "renew": lambda cold: cold.queue.renew(WORK, 60, NOW),
    "complete": lambda cold: cold.queue.complete(WORK),
    "complete_all": lambda cold: cold.queue.complete_all([WORK]),
    "fail": lambda cold: cold.queue.fail(WORK, "p", None),
    "defer": lambda cold: cold.queue.defer(WORK, NOW),
    "waiting": lambda cold: cold.queue.waiting(),
    "waiting_since": lambda cold: cold.queue.waiting_since("index", tenant="acme"),
    "audited": lambda cold: cold.evidence.audited(GRAPH),
    "last_audited": lambda cold: cold.evidence.last_audited(GRAPH),
    "marks": lambda cold: cold.evidence.marks(GRAPH),
    "misfiled": lambda cold: cold.evidence.misfiled(GRAPH),
    "live": lambda cold: cold.words.live(SCOPE, asked(), [("race", "x")]),
    "uses_by": lambda cold: cold.recollection.uses_by(SCOPE, ["x"], NOW),
    "parked": lambda cold: cold.queue.parked(),
    "rerun": lambda cold: cold.queue.rerun(["1"]),
    "acquire": lambda cold: cold.leases.acquire("tick", "a", 1, NOW),
    "release": lambda cold: cold.leases.release(LEASE),
    "put_receipt": lambda cold: cold.log.put_receipt(SCOPE, receipt_by()),
    "receipt": lambda cold: cold.log.receipt(SCOPE, "x"),
    "receipts": lambda cold: cold.log.receipts(GRAPH),
    "find_receipt": lambda cold: cold.log.find_receipt("acme", "x"),
    "append_audit": lambda cold: cold.log.append_audit(SCOPE, "k", (), "", NOW),
    "audit": lambda cold: cold.log.audit(SCOPE),
    "tenant_audit": lambda cold: cold.log.tenant_audit("acme"),
    "latest": lambda cold: cold.timeline.latest(SCOPE, asked()),
    "post": lambda cold: cold.board.post(SCOPE, card_by(SCOPE), ACTION),
    "change": lambda cold: cold.board.change(SCOPE, TASK, ACTION),
    "mark_read": lambda cold: cold.board.mark_read(SCOPE, ["x"], "strategist", NOW),
    "cards": lambda cold: cold.board.cards(SCOPE, ["x"]),
    "counts": lambda cold: cold.board.counts(GRAPH, NOW, NOW),
    "unread": lambda cold: cold.board.unread(GRAPH, ["x"]),
    "hold": lambda cold: cold.quarantine.hold(SCOPE, held_by(SCOPE)),
    "quarantined": lambda cold: cold.quarantine.quarantined(GRAPH, ["x"]),
    "in_quarantine": lambda cold: cold.quarantine.in_quarantine(GRAPH),
    "decide": lambda cold: cold.quarantine.decide(GRAPH, "x", "discarded", "why", NOW),
    "revise": lambda cold: cold.shelf.revise(GRAPH, document_by(GRAPH), drafts_of("x")),
    "remove": lambda cold: cold.shelf.remove(GRAPH, ["x"], "gone", NOW),
    "documents": lambda cold: cold.shelf.documents(SCOPE, ["x"]),
    "on_shelf": lambda cold: cold.shelf.on_shelf(SCOPE, None),
    "revisions": lambda cold: cold.shelf.revisions(SCOPE, "x"),
    "passages": lambda cold: cold.shelf.passages(SCOPE, ["x"]),
    "passages_of": lambda cold: cold.shelf.passages_of(SCOPE, "x"),
    "count": lambda cold: cold.shelf.count(SCOPE),
    "search_words": lambda cold: cold.words.search_words(SCOPE, asked()),
    "entries": lambda cold: cold.words.entries(SCOPE, ["x"]),
    "census": lambda cold: cold.words.census(SCOPE),
    "sight_words": lambda cold: cold.words.sight_words(SCOPE, [asked()], ()),
    "sight_around": lambda cold: cold.recollection.sight_around(SCOPE, ["x"], 2, 2, ()),
    "former": lambda cold: cold.recollection.former(SCOPE, asked()),
    "outdated": lambda cold: cold.recollection.outdated(SCOPE, ["x"]),
    "speakers": lambda cold: cold.recollection.speakers(SCOPE, 8),
    "word_statistics": lambda cold: cold.recollection.word_statistics(SCOPE, "tyre", ("turn",)),
    "take_over": lambda cold: cold.upkeep.take_over(),
    "searchable_after": lambda cold: cold.upkeep.searchable_after("acme", "", 1, NOW),
    "count_searchable": lambda cold: cold.upkeep.count_searchable("acme", NOW),
    "redact": lambda cold: cold.redactor.redact(SCOPE, ["x"], "asked to", NOW),
    "begin_erasure": lambda cold: cold.redactor.begin_erasure(GRAPH, "e", subject="tyre"),
    "holding": lambda cold: cold.redactor.holding(GRAPH, subject="tyre"),
    "blank_receipts": lambda cold: cold.redactor.blank_receipts(GRAPH, subject="tyre"),
    "erase_reasons": lambda cold: cold.redactor.erase_reasons(GRAPH, "tyre", NOW),
    "erase_roles": lambda cold: cold.redactor.erase_roles(GRAPH, "tyre", "asked to", NOW),
    "rewrite": lambda cold: cold.redactor.rewrite(SCOPE, _redacted_summary()),
    "redacted": lambda cold: cold.redactor.redacted(SCOPE, ["x"]),
    "left_of": lambda cold: cold.redactor.left_of(SCOPE, _redacted_summary()),
    "described": lambda cold: cold.taint.described(GRAPH, ["x"]),
    "resting_on": lambda cold: cold.taint.resting_on(GRAPH, ["x"]),
    "set_aside": lambda cold: cold.taint.set_aside(ROLL_BACK, NOW),
    "undo": lambda cold: cold.taint.undo(GRAPH, "x", "asked to", NOW),
    "confirm": lambda cold: cold.taint.confirm(GRAPH, "x", "asked to", NOW),
    "roll_backs": lambda cold: cold.taint.roll_backs(GRAPH),
    "tenants": lambda cold: cold.archive.tenants(),
    "export_rows": lambda cold: cold.archive.export_rows("acme", "turns", "", 1),
    "import_rows": lambda cold: cold.archive.import_rows("acme", "turns", [turn_by()]),
    "rows_left": lambda cold: cold.archive.rows_left(GRAPH),
    "discard": lambda cold: cold.archive.discard(Scope.of_graph("acme", "never"), NOW),
    "count_rows": lambda cold: cold.archive.count_rows("acme", "turns"),
}
"""By the method's name; a test holds the list to be whole."""
