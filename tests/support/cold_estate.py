"""A cold tier with something of everything in it, read out whole, and asked through every port."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from tiers.board import CardKind, CardQuery
from tiers.cold.stores import ColdArchive
from tiers.documents import PassageDraft, document_id
from tiers.fleet import CATALOG, Served
from tiers.grains import MADE_OF
from tiers.learning import Verdict
from tiers.plans import ANY_GRAIN
from tiers.records import (
    ALL_TOPICS,
    AgentRecord,
    BeliefQuery,
    Budget,
    Fact,
    GraphState,
    Hit,
    Parent,
    Record,
    Retention,
    Scope,
    Settlement,
    Turn,
    Usage,
    Work,
)
from tiers.upkeep import ARCHIVE_ROWS, Table

from .board_reference import card_by
from .cold_beliefs import replacing
from .cold_samples import (
    HOSTILE_NAMES,
    asked,
    belief_by,
    draft,
    episode_by,
    fact_by,
    graph_of,
    head_by,
    held_by,
    receipt_by,
    rule_by,
    summary_by,
    turn_by,
)
from .document_reference import document_by, drafts_of
from .records import every_row, pages
from .tier_samples import HOSTILE_TEXT, NOW, scope_of

TENANTS = ("acm", "acme", "acme/'; --")
"""Sorted; one is the beginning of another."""

WHOLE_ORDER: frozenset[Table] = frozenset(
    {
        "graphs",
        "agents",
        "turns",
        "summaries",
        "episodes",
        "facts",
        "rules",
        "beliefs",
        "work",
        "cards",
        "quarantined",
        "documents",
        "document_revisions",
        "passages",
    }
)
"""Tables whose order of storing counts. Events are in order per graph."""

KEYED: frozenset[Table] = frozenset(
    {"usage", "fact_uses", "rule_outcomes", "watermarks", "trust", "heads", "receipts"}
)
"""Tables without an order of storing."""

CARD_KINDS: tuple[CardKind, ...] = ("message", "task", "action")
QUESTIONS = ("medium tyres", "lap", "what was said about the gearbox?", HOSTILE_TEXT, "pit wall")
RICH_GRAPHS = ("race", "child")
LATER = NOW + timedelta(days=2)


async def fill(cold: Any, tenant: str, *, hostile: bool = True) -> None:
    """Store what an agent's life leaves behind, through the ports alone.

    Args:
        cold: Where.
        tenant: Whose.
        hostile: Whether there are graphs, agents and records with hostile names as well.
    """
    await _graphs(cold, tenant)
    own = scope_of(tenant, "race", "strategist", ("strategy", "tyres"))
    child = await _as_it_stands(cold, scope_of(tenant, "child", "engineer"))
    turns = [await _turn(cold, own, number) for number in range(12)]
    for number in range(4):
        await _turn(cold, child, number)
    await _history(cold, own, turns)
    await _facts(cold, own, child)
    await _rules(cold, own, child)
    await _beliefs(cold, own, child)
    await _usage(cold, own, child)
    await _cards(cold, own, child)
    await _quarantined(cold, own, child)
    await _documents(cold, own, child)
    await _log(cold, own, child)
    await _work(cold, own)
    for name in HOSTILE_NAMES if hostile else ():
        await _hostile(cold, tenant, name)
    await cold.graphs.set_state(child, GraphState.ARCHIVED, NOW)


async def _graphs(cold: Any, tenant: str) -> None:
    race2 = Parent(id="race/2", rules=False, episodes=True, linked_at=NOW)
    race = Parent(id="race", as_of=NOW + timedelta(hours=1), linked_at=NOW)
    for minute, (name, parents) in enumerate(
        [
            *(("race", ()), ("race/2", ("race",)), ("child", ()), ("closed", ()), ("gone", ())),
            (CATALOG, ()),
        ]
    ):
        graph = graph_of(name, *parents, tenant=tenant, minute=minute % 2)
        if name == "child":
            graph = graph.model_copy(update={"parents": (race2, race)})
        await cold.graphs.create_graph(graph)
    own, closed = scope_of(tenant, "race"), scope_of(tenant, "closed")
    # The parent is younger than the child, and the link in the first place is gone again.
    for parent in ("gone", "closed"):
        await cold.graphs.link(own, Parent(id=parent, episodes=True, linked_at=NOW))
    await cold.graphs.unlink(own, "gone")
    await cold.graphs.configure(
        own, budget=Budget(tokens=10**12, writes=0), retention=Retention(summary_ttl_hours=0.1)
    )
    members = [("race", "strategist"), ("race", "engineer"), ("child", "engineer")]
    for minute, (graph_id, agent_id) in enumerate(members, -len(members)):
        await cold.fleet.spawn(_member(scope_of(tenant, graph_id, agent_id), minute))
    await cold.fleet.beat(own, ["strategist"], NOW + timedelta(minutes=2))
    gone = scope_of(tenant, "race", "engineer")
    await cold.fleet.leave(gone, NOW + timedelta(hours=1), silent_since=NOW)
    await cold.graphs.set_state(closed, GraphState.CLOSED, NOW)


async def _as_it_stands(cold: Any, scope: Scope) -> Scope:
    standing = await cold.graphs.standing(scope)
    return scope.model_copy(update={"lineage": standing.lineage})


def _member(scope: Scope, minute: int = 0) -> AgentRecord:
    return AgentRecord(
        tenant=scope.tenant,
        graph_id=scope.graph_id,
        id=scope.agent_id or "",
        role=HOSTILE_TEXT,
        user_id="team",
        serves_since=NOW,
        served=(Served(user_id="ada", until=NOW),),
        topics=("strategy", "tyres"),
        denied_topics=("money",),
        denied_sources=("mail",),
        budget=Budget(model_calls=3),
        prompts={"working": HOSTILE_TEXT, "yearly": "Be brief."},
        spawned_at=NOW + timedelta(minutes=minute),
    )


async def _turn(cold: Any, scope: Scope, number: int) -> Turn:
    fields: dict[str, Any] = {
        "ref": f"chat:{number}" if number % 3 else None,
        "private": number % 4 == 1,
        "tokens": number,
        "tool_outputs": [{"tool": "telemetry", "output": HOSTILE_TEXT}] if number == 2 else [],
        "occurred_at": NOW - timedelta(days=number, microseconds=number),
        "topics": ((), ("tyres",), ("strategy", "tyres"))[number % 3],
        "rules": ("rule 1", "rule 2") if number == 4 else (),
    }
    asker = _of_user(scope, "team") if number % 2 else scope
    turn = turn_by(asker, f"Lap {number}: how long do medium tyres last?", **fields)
    work = [draft(turn.id), draft("strategist", kind="compress")]
    stored, _ = await cold.turns.append_turn(asker, turn, work)
    return stored


def _of_user(scope: Scope, user_id: str) -> Scope:
    return scope.model_copy(update={"user_id": user_id})


async def _history(cold: Any, scope: Scope, turns: Sequence[Turn]) -> None:
    summaries = [
        summary_by(scope, turns[:3], topics=("tyres",)),
        summary_by(scope, turns[3:6], private=True, expires_at=NOW + timedelta(hours=1)),
        summary_by(scope, turns[6:7], expires_at=None, topics=(), made_by="model-1", lost=2),
    ]
    for summary in summaries:
        await cold.episodic.put_summary(scope, summary, [draft(summary.id)])
    await cold.episodic.put_summary(scope, summary_by(scope, turns[:6], level=1))
    day = episode_by(scope, [summaries[0].id], period="2026-03-01")
    rest = {"text": HOSTILE_TEXT, "made_by": "model-1", "lost": 1}
    week = episode_by(scope, [day.id], grain="weekly", period="2026-W09", **rest)
    for episode in (day, week, episode_by(scope, [day.id], grain="monthly")):
        await cold.episodic.put_episode(scope, episode)
    await cold.grains.retire(scope.for_graph(), [turns[0].id, day.id], "old", NOW)


async def _facts(cold: Any, scope: Scope, child: Scope) -> None:
    async def put(one: Scope, text: str = "", **fields: Any) -> Fact:
        stored, _ = await cold.semantic.put_fact(one, fact_by(one, text, **fields))
        return stored

    # Superseded, and then said again: two rows of the same content, one of them current.
    await put(scope, "The gearbox has done 900 km.", superseded_by="x", topics=())
    core = await put(scope, "The gearbox has done 900 km.", tier="core", topics=())
    later = await put(scope, "Medium tyres last 18 laps.", tier="core", minute=5)
    await put(scope, "Medium tyres last 20 laps.", tier="core", minute=5, confidence=0.25)
    secret = await put(scope, "Only I know about the medium tyres.", private=True)
    triple = {"subject": "car", "predicate": "has", "object": "a gearbox"}
    period = {"valid_from": NOW, "valid_to": NOW + timedelta(days=1), "source_ids": (core.id,)}
    for asker in (scope, _of_user(scope, "team")):
        await put(asker, **triple, **period)
    await put(child, HOSTILE_TEXT)
    catalog = scope_of(scope.tenant, CATALOG)
    for tier in ("core", "archival"):
        await put(catalog, f"The medium tyres of the catalog are {tier}.", tier=tier, topics=())
    old = await put(scope, "Medium tyres last 2 laps.", tier="core", minute=1)
    new = await put(scope, "Medium tyres last 12 laps.", minute=2)
    await cold.semantic.supersede(scope, old.id, new.id, NOW + timedelta(minutes=3))
    await _reviewed(cold, scope, [await put(scope, f"Judged {n}.", **triple) for n in range(4)])
    await cold.semantic.add_uses({scope: {"turn 1": [core.id, secret.id]}}, NOW)
    await cold.semantic.add_uses({child: {"turn 2": [core.id]}}, NOW + timedelta(microseconds=1))
    await cold.semantic.set_tier(scope, later, "archival", "over the cap", NOW)


async def _reviewed(cold: Any, scope: Scope, facts: Sequence[Fact]) -> None:
    """Leave facts that were judged, denied, forgotten, and emptied by retention."""
    runtime = scope.for_graph()
    denied, stands, forgotten, gone = (fact.id for fact in facts)
    verdict = Verdict(fact_id=denied, by=stands, how="denial", valid_to=NOW)
    assert await cold.review.settle(runtime, stands, [verdict], NOW)
    for one in (forgotten, gone):
        assert await cold.review.forget(scope, one, "asked to", NOW)
    await cold.grains.retire(runtime, [gone], "old", NOW)


async def _rules(cold: Any, scope: Scope, child: Scope) -> None:
    for one, trigger in [(scope, "tyre change"), (scope, "a change of tyres"), (child, "tyres")]:
        rule = rule_by(one, trigger, successes=2, source_ids=("x",))
        await cold.procedural.put_rule(one, rule)
        for cause, is_success in (("turn 1", True), ("turn 2", False)):
            await cold.playbooks.record_outcome(one, rule.id, cause, NOW, is_success=is_success)
        await cold.watermarks.advance(one, f"extract {trigger}", 3, NOW)
    for version in range(1, 3):
        (known,) = await cold.playbooks.rules(child, [rule.id])
        steps = (HOSTILE_TEXT, f"Step {version}.")
        assert await cold.playbooks.refine(child, known, steps, (f"t {version}",), NOW)
    await cold.procedural.put_rule(scope, rule_by(scope, "tyre change", private=True))


async def _beliefs(cold: Any, scope: Scope, child: Scope) -> None:
    first = belief_by(scope, "Start on mediums.", value="medium", trust=0.5)
    await cold.beliefs.commit(scope, first)
    second = belief_by(scope, "Start on softs.", value="soft", source_ids=("a", "b"))
    await replacing(cold, scope, second)
    await cold.beliefs.rewind(scope.for_graph(), 1, "back", NOW)
    doubted = belief_by(child, "Start on hards.", turn_id="later", receipt_id="seen")
    await cold.beliefs.commit(child, doubted)
    better = belief_by(child.for_agent("strategist"), "Do not start on hards.", value="none")
    settled = Settlement(
        rival_id=doubted.id, winner="new", strategy="manual", decided=True, reason=HOSTILE_TEXT
    )
    await cold.beliefs.commit(child.for_graph(), better, [settled])
    await cold.beliefs.revert(child.for_graph(), better.id, "they were right", NOW)
    await cold.beliefs.commit(scope, belief_by(scope, "Hidden.", private=True))
    open_end = belief_by(scope, "Medium tyres matter.", key=None, topic=None, topics=())
    await cold.beliefs.commit(scope, open_end)
    await cold.beliefs.pin(scope, open_end.id, NOW + timedelta(minutes=1))
    await replacing(cold, child, belief_by(child, HOSTILE_TEXT))
    await cold.beliefs.set_trust(scope.for_graph(), "engineer", None, 0.3, HOSTILE_TEXT, NOW)
    for one, key in ((scope, 1), (scope, 2), (child, 1)):
        at = NOW + timedelta(microseconds=key)
        await cold.heads.put_head(one.for_graph(), head_by(one, 2, f"{key}{key}", at))


async def _usage(cold: Any, scope: Scope, child: Scope) -> None:
    for one in (scope, child, child.for_graph()):
        await cold.usage.charge(one, Usage(tokens=7, model_calls=1, writes=2), Budget(), Budget())
    await cold.usage.refund(child, Usage(writes=1))


async def _cards(cold: Any, scope: Scope, child: Scope) -> None:
    """Leave messages that were read, tasks that changed, and what was done."""
    whole = {"text": HOSTILE_TEXT, "tags": ("a", "é"), "details": {"$a.b": [1, {"ä": None}]}}
    told = card_by(scope, to=("engineer", "strategist"), topics=("tyres",), machine="m", **whole)
    for one in (told, card_by(scope, user_id="team"), card_by(child, 1, reply_to=told.id)):
        asker = scope_of(one.tenant, one.graph_id, one.agent_id, every_user=True)
        await cold.board.post(asker, one)
    for reader in ("strategist", "engineer"):
        await cold.board.mark_read(scope.for_graph(), [told.id], reader, NOW)
    task = card_by(scope, kind="task", status="created", priority="urgent", private=True)
    await cold.board.post(scope, task, card_by(scope, kind="action", type="task_created"))
    later = {"version": 2, "status": "in_progress", "changed_at": NOW + timedelta(minutes=3)}
    log = card_by(scope, 3, kind="action", thread=task.id, type="task_in_progress")
    assert await cold.board.change(scope, task.model_copy(update=later), log)
    gone = card_by(child, text="Gone.")
    await cold.board.post(child, gone)
    await cold.redactor.redact(child.for_graph(), [gone.id], "asked to", NOW)


async def _quarantined(cold: Any, scope: Scope, child: Scope) -> None:
    """Leave texts that wait, that were released, discarded and redacted."""
    texts = [held_by(scope, text=f"{HOSTILE_TEXT} {number}"[:200]) for number in range(3)]
    for text in (*texts, held_by(child, private=True, user_id="team")):
        asker = scope_of(text.tenant, text.graph_id, text.agent_id, every_user=True)
        await cold.quarantine.hold(asker, text)
    operator = scope.for_graph()
    done = await cold.quarantine.decide(
        operator, texts[0].id, "released", "a quotation", LATER, released_id="fact"
    )
    assert done
    assert await cold.quarantine.decide(operator, texts[1].id, "discarded", "an attack", LATER)
    gone = held_by(child)
    await cold.quarantine.hold(child, gone)
    await cold.redactor.redact(child.for_graph(), [gone.id], "asked to", NOW)


async def _documents(cold: Any, scope: Scope, child: Scope) -> None:
    """Leave documents as they stand and as they were: revised, private, removed, redacted."""
    odd = {"title": HOSTILE_TEXT, "properties": {"$a.b": [1.5, {"ä": None}]}, "text": HOSTILE_TEXT}
    for number, drafts in enumerate(
        (drafts_of("medium tyres", "lap", "lap"), drafts_of("lap", "pit wall"), drafts_of("x"))
    ):
        document = document_by(
            scope, "lap.md", f"{number}", number + 1, number, topics=("tyres",), **odd
        )
        await cold.shelf.revise(scope, document, drafts)
    mine = document_by(scope, "mine", private=True, user_id=None)
    await cold.shelf.revise(scope, mine, drafts_of("medium tyres are mine", under=("A", "B")))
    gone = [document_by(child, name) for name in ("removed", "redacted", "back")]
    for document in gone:
        await cold.shelf.revise(child, document, drafts_of(f"the pit wall of {document.name}"))
    ids = [gone[0].id, gone[2].id]
    await cold.shelf.remove(child, ids, HOSTILE_TEXT, NOW + timedelta(minutes=1))
    await cold.redactor.redact(child.for_graph(), [gone[1].id], "asked to", NOW)
    back = document_by(child, "back", revision=2, minute=2)
    await cold.shelf.revise(child, back, drafts_of("the pit wall is back"))
    catalog = Scope.of_graph(scope.tenant, CATALOG)
    policy = document_by(catalog, "policy.pdf", media_type="application/pdf", machine="m")
    await cold.shelf.revise(catalog, policy, [PassageDraft("medium tyres", ("Rules",), 7)])


async def _shelved(cold: Any, scope: Scope) -> dict[str, Any]:
    """Return what the shelf says, now and a moment before."""
    then = NOW + timedelta(minutes=1)
    there = await cold.shelf.on_shelf(scope, None, removed=True)
    ids = [one.id for one in there]
    ids.append(document_id(scope.tenant, CATALOG, "files", "policy.pdf"))
    return {
        "there": there,
        "then": await cold.shelf.on_shelf(scope, None, as_of=then),
        "documents": await cold.shelf.documents(scope, ids),
        "revisions": [await cold.shelf.revisions(scope, one) for one in ids],
        "passages": [await cold.shelf.passages_of(scope, one) for one in ids],
        "count": await cold.shelf.count(scope),
    }


async def _log(cold: Any, scope: Scope, child: Scope) -> None:
    for one in (scope, child):
        receipt = receipt_by(one, body={"score": 0.1, "deep": [{"ä": None}, 1, True], "text": "🏎️"})
        await cold.log.put_receipt(one, receipt, [draft(f"uses/{receipt.id}", kind="learn")])
        for kind in ("spawned", "left"):
            await cold.log.append_audit(one, kind, ("a", "b"), HOSTILE_TEXT, NOW)


async def _work(cold: Any, scope: Scope) -> None:
    """Leave items claimed, asked for again, waiting for a retry, deferred and parked."""
    drafts = [draft(f"item {number}", kind="learn", number=number) for number in range(6)]
    await cold.queue.enqueue(scope, drafts, NOW)
    claimed = await cold.queue.claim(("learn",), "somebody", 200, 60, NOW, scope=scope)
    mine = {work.key: work for work in claimed}
    await cold.queue.fail(mine["item 0"], "it broke", None)
    await cold.queue.fail(mine["item 1"], "it broke", NOW + timedelta(hours=1))
    await cold.queue.defer(mine["item 2"], NOW + timedelta(hours=2))
    await cold.queue.complete(mine["item 3"])
    await cold.queue.enqueue(scope, drafts[4:5], NOW + timedelta(minutes=1))


async def _hostile(cold: Any, tenant: str, name: str) -> None:
    scope = scope_of(tenant, name, name)
    await cold.graphs.create_graph(graph_of(name, "race", tenant=tenant))
    await cold.fleet.spawn(_member(scope))
    await cold.usage.charge(scope, Usage(tokens=1), Budget(), Budget())
    turn, _ = await cold.turns.append_turn(scope, turn_by(scope, name, ref=name))
    await cold.episodic.put_summary(scope, summary_by(scope, [turn], text=name))
    stored, _ = await cold.semantic.put_fact(scope, fact_by(scope, name, topics=(name,)))
    await cold.semantic.add_uses({scope: {name: [stored.id]}}, NOW)
    await cold.beliefs.commit(scope, belief_by(scope, name, key=(name, name), topic=name))
    await cold.beliefs.set_trust(scope.for_graph(), name, name, 0.5, name, NOW)
    await cold.log.append_audit(scope, name, (name,), name, NOW)
    await cold.queue.enqueue(scope, [draft(name)], NOW)


async def read_out(
    archive: ColdArchive, tenant: str, table: Table, limit: int = 1_000
) -> list[Record]:
    """Return a table's rows, page by page."""
    return await every_row(lambda at: archive.export_rows(tenant, table, at, limit), limit)


async def exported(archive: ColdArchive, tenant: str, limit: int = 1_000) -> dict[str, Any]:
    """Return everything of a tenant in a form in which two archives compare."""
    found: dict[str, Any] = {}
    for table in ARCHIVE_ROWS:
        rows = await read_out(archive, tenant, table, limit)
        assert len(rows) == await archive.count_rows(tenant, table)
        found[table] = comparable(table, rows)
    return found


def comparable(table: Table, rows: Sequence[Record]) -> Any:
    """Return rows with as much of their order as the port promises."""
    if table in WHOLE_ORDER:
        return list(rows)
    if table in KEYED:
        return sorted(row.model_dump_json() for row in rows)
    by_graph = defaultdict(list)
    for row in rows:
        by_graph[getattr(row, "event", row).graph_id].append(row)
    return dict(by_graph)


def unordered(found: Mapping[str, Any]) -> dict[str, Any]:
    """Return what was exported without the order of tables in which ids or moments give it."""
    return {
        table: sorted(rows, key=str) if isinstance(rows, list) else rows
        for table, rows in found.items()
    }


async def copy(source: ColdArchive, target: ColdArchive, tenant: str, limit: int = 100) -> int:
    """Move a tenant as the mover does, and return how many rows were new."""
    new = 0
    for table in ARCHIVE_ROWS:
        whole = pages(lambda at, of=table: source.export_rows(tenant, of, at, limit), limit)
        async for page in whole:
            new += await target.import_rows(tenant, table, page.rows)
    return new


async def answers(cold: Any, tenant: str, *, same_engine: bool) -> dict[str, Any]:
    """Return what every port says about every graph, to every kind of asker.

    Args:
        cold: Whom to ask.
        tenant: Whose.
        same_engine: Whether scores and their order are to be compared too: engines rank alike by
            agreement, not to the last digit.
    """
    found: dict[str, Any] = {"graphs": await cold.graphs.graphs(tenant)}
    for graph in found["graphs"]:
        is_rich = graph.id in RICH_GRAPHS
        questions = QUESTIONS if is_rich else (graph.id,)
        for asker in _askers(tenant, graph.id)[0 if is_rich else -1 :]:
            standing = await cold.graphs.standing(asker)
            found[f"standing {graph.id} {asker.agent_id}"] = standing
            asker = asker.model_copy(update={"lineage": standing.lineage})  # noqa: PLW2901
            key = f"{graph.id} {asker.agent_id} {asker.topics}"
            found[f"records {key}"] = await _records(cold, asker)
            searches = await _searches(cold, asker, questions, same_engine=same_engine)
            found[f"searches {key}"] = searches
        if is_rich:
            found[f"grains {graph.id}"] = await _grains(cold, Scope.of_graph(tenant, graph.id))
    found["audit"] = await cold.log.tenant_audit(tenant)
    found["silent"] = await cold.fleet.silent(tenant, LATER, 100)
    found["parked"] = [_item(work) for work in await cold.queue.parked(tenant=tenant)]
    found["waiting"] = await cold.queue.waiting(tenant=tenant)
    found["searchable"] = await cold.upkeep.count_searchable(tenant, NOW)
    return found


async def claimed(cold: Any) -> list[Any]:
    """Return all work in the order in which it is claimed, once every lease and pause is over."""
    items = await cold.queue.claim(("index", "compress", "learn"), "me", 10_000, 60, LATER)
    return [_item(work) for work in items]


def _item(work: Work) -> dict[str, Any]:
    # That a claim of the source was lost says nothing of the target.
    return work.model_dump(exclude={"id", "token", "was_lost"})


def _askers(tenant: str, graph_id: str) -> list[Scope]:
    return [
        scope_of(tenant, graph_id, "strategist", ("tyres",), user_id="team"),
        scope_of(tenant, graph_id, "engineer", ()),
        scope_of(tenant, graph_id, graph_id, (ALL_TOPICS,), every_user=True),
    ]


async def _records(cold: Any, scope: Scope) -> dict[str, Any]:
    operator = scope.for_graph()
    events = await cold.history.events(scope)
    turns = await cold.turns.recent_turns(scope, 100)
    everything = {
        "agents": await cold.fleet.agents(scope),
        "usage": await cold.usage.usage(scope),
        "used": await cold.usage.usage_by_agent(scope),
        "recent": turns,
        "turns": await cold.turns.turns(scope, [turn.id for turn in turns]),
        "refs": await cold.turns.known_refs(scope, [f"chat:{number}" for number in range(12)]),
        "waiting": await cold.turns.waiting_turns(scope, 2, 100),
        "summaries": await cold.episodic.summaries(scope),
        "due": await cold.episodic.due_summaries(operator, LATER, 100),
        "episodes": await cold.episodic.episodes(scope),
        "core": await cold.semantic.core(scope),
        "rules": await cold.procedural.match_rules(scope, "change the tyres now", 100),
        "active": await cold.beliefs.active(scope),
        "events": events,
        "history": await _past(cold, scope),
        "audit": await cold.log.audit(scope),
        "census": await cold.words.census(scope),
        "queued": await cold.queue.waiting(scope),
        "shelved": await _shelved(cold, scope),
        "cards": [await cold.board.latest(scope, CardQuery(kind=one)) for one in CARD_KINDS],
        "aside": await cold.quarantine.in_quarantine(operator),
        "counted": await cold.board.counts(scope, NOW, LATER),
        "unread": await cold.board.unread(scope, ["strategist", "engineer"]),
    }
    ids = [event.belief_id for event in events] + [turn.id for turn in turns]
    return everything | {"entries": await cold.words.entries(scope, ids)}


async def _grains(cold: Any, scope: Scope) -> dict[str, Any]:
    """Return what is to be rolled up, what may go, and what the learning agent has to compare."""
    before = LATER + timedelta(days=400)
    found = {
        f"loose {grain}": await cold.grains.loose(scope, grain, before, 100) for grain in MADE_OF
    }
    for grain in ANY_GRAIN:
        found[f"retirable {grain}"] = await cold.grains.retirable(scope, grain, before, 100)
        found[f"counted {grain}"] = await cold.grains.count_grain(scope, grain)
    keyed = fact_by(scope, "", subject="CAR", predicate="has", object="?")
    return found | {
        "marks": (await cold.grains.turn_marks(scope, "", 100)).rows,
        "made": {one.id: one for one in (await cold.grains.made(scope, "", 100)).rows},
        "read": [
            await cold.watermarks.watermark(scope.for_agent(agent_id), f"extract {trigger}")
            for agent_id in ("strategist", "engineer")
            for trigger in ("tyres", "tyre change")
        ],
        "keyed": await cold.review.keyed(scope, keyed, 100),
        "live": {one.id: one for one in (await cold.review.live_facts(scope, "", 100)).rows},
        "unjudged": await cold.review.unjudged(scope, 100),
        "ended": await cold.review.ended(scope, before, before, 100),
    }


async def _past(cold: Any, scope: Scope) -> dict[str, Any]:
    """Return what was believed, by every event, and what history says otherwise."""
    operator, last = scope.for_graph(), await cold.history.seq_at(scope)
    beliefs = await cold.history.query(scope, BeliefQuery())
    return {
        "moments": [await cold.history.as_of(scope, seq) for seq in range(last + 1)],
        "beliefs": beliefs,
        "turns": [await cold.history.seq_at(scope, turn=turn) for turn in (0, 4, 20)],
        "naming": [await cold.history.naming(operator, one.id) for one in beliefs],
        "trusts": await cold.history.trusts(operator),
        "heads": await cold.heads.heads(operator),
    }


async def _searches(
    cold: Any, scope: Scope, questions: Sequence[str], *, same_engine: bool
) -> list[Any]:
    found = []
    for question in questions:
        hits = await cold.words.search_words(scope, asked(question))
        archival = await cold.semantic.recall_archival(scope, asked(question), limit=50)
        for answer in (hits, archival):
            shown = [_hit(hit, same_engine=same_engine) for hit in answer]
            found.append(shown if same_engine else sorted(shown, key=lambda hit: str(hit["id"])))
    return found


def _hit(hit: Hit, *, same_engine: bool) -> dict[str, Any]:
    score = round(hit.score, 9) if same_engine else 0.0
    return hit.model_dump() | {"score": score}
