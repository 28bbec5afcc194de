"""Attempts on the cold tier that read: by the victim's ids, words, vectors and cursors."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, get_args

from tiers.records import AuditFilter, Scope, SearchQuery
from tiers.turn_desk import Opening
from tiers.upkeep import Table

from .aims import INNER, OUTER, Aim
from .attempts import Method, Move
from .oracle import Reach
from .worlds import LATER, SEARCHABLE

FACTS = ("core", "archival")
_LIMIT = 500
_FUTURE = LATER + timedelta(days=400)


def asker(aim: Aim) -> Scope:
    """Return the attacker's scope, of some agent."""
    if aim.scope.agent_id is not None:
        return aim.scope
    return aim.scope.model_copy(update={"agent_id": "nobody"})


def recent_turns(aim: Aim) -> Move:
    """Ask for the last turns of the scope's agent."""
    scope = asker(aim)
    return Move(lambda cold: cold.turns.recent_turns(scope, _LIMIT), scope=scope)


def turns(aim: Aim) -> Move:
    """Ask for turns by the victim's ids."""
    ids = aim.ids()
    return Move(lambda cold: cold.turns.turns(aim.scope, ids))


def known_refs(aim: Aim) -> Move:
    """Ask for turns by the victim's own names for them."""
    refs = [aim.word(aim.victim.record.ref), aim.victim.record.ref, aim.word("chat:0:0")]
    return Move(lambda cold: cold.turns.known_refs(aim.scope, refs))


def waiting_turns(aim: Aim) -> Move:
    """Ask for turns that no summary covers."""
    scope, before = asker(aim), aim.random.choice([None, _FUTURE])
    return Move(lambda cold: cold.turns.waiting_turns(scope, 0, _LIMIT, before=before), scope=scope)


def turns_after(aim: Aim) -> Move:
    """Read on from the victim's turn, or from before all of them."""
    scope, seq = asker(aim), aim.random.choice([0, 0, aim.victim.record.seq, 10**6])
    return Move(lambda cold: cold.turns.turns_after(scope, seq, _LIMIT), scope=scope)


def turns_from(aim: Aim) -> Move:
    """Ask for the turns of a whole graph by their number."""
    scope, number = Scope.of_graph(*aim.house), aim.random.choice([1, 3, 10**6])
    return Move(lambda cold: cold.turns.turns_from(scope, number, _LIMIT), scope=scope)


def turns_from_as_agent(aim: Aim) -> Move:
    """Ask for them as an agent, which must not see what others keep to themselves."""
    scope = asker(aim)
    return Move(lambda cold: cold.turns.turns_from(scope, 1, _LIMIT), scope=scope)


def count_turns(aim: Aim) -> Move:
    """Count them; the number is compared with the raw engine elsewhere."""
    scope, until = Scope.of_graph(*aim.house), aim.random.choice([None, aim.victim.recorded_at])
    return Move(lambda cold: cold.turns.count_turns(scope, until), scope=scope)


def summaries(aim: Aim) -> Move:
    """Ask for all summaries."""
    return Move(lambda cold: cold.episodic.summaries(aim.scope))


def due_summaries(aim: Aim) -> Move:
    """Ask for what expires."""
    return Move(lambda cold: cold.episodic.due_summaries(aim.scope, _FUTURE, _LIMIT))


def episodes(aim: Aim) -> Move:
    """Ask for all episodes."""
    since = aim.random.choice([None, aim.victim.recorded_at])
    grain = aim.random.choice([None, aim.victim.record.grain, "yearly"])
    return Move(lambda cold: cold.episodic.episodes(aim.scope, since, None, grain))


def written(aim: Aim) -> Move:
    """Ask for summaries and episodes by the victim's ids."""
    ids = aim.ids()
    return Move(lambda cold: cold.episodic.written(aim.scope, ids))


def core(aim: Aim) -> Move:
    """Ask for the core facts of the graph and its ancestors."""
    return Move(lambda cold: cold.semantic.core(aim.scope))


def nearer(aim: Aim) -> Move:
    """Ask for what defines nearer what the victim defines, as if an ancestor had it in core."""
    far = aim.victim.record.model_copy(update={"graph_id": "an ancestor"})
    return Move(lambda cold: cold.semantic.nearer(aim.scope, [far]))


def facts(aim: Aim) -> Move:
    """Ask for facts by the victim's ids."""
    ids = aim.ids()
    return Move(lambda cold: cold.semantic.facts(aim.scope, ids))


def line(aim: Aim) -> Move:
    """Ask for what had the place of one of the victim's facts."""
    fact_id = aim.victim.record.id
    return Move(lambda cold: cold.semantic.line(aim.scope, fact_id))


def recall_archival(aim: Aim) -> Move:
    """Recall for the victim's user and topics, which narrow and never widen."""
    corner = aim.victim.corner
    user = aim.random.choice([None, corner.user_id])
    topics = aim.random.choice([None, corner.topics, ("*",), ()])
    query = aim.query(kinds=("fact",), user_id=aim.random.choice([None, user]))
    return Move(
        lambda cold: cold.semantic.recall_archival(
            aim.scope, query, user_id=user, scope_topics=topics, limit=200
        )
    )


def opening(aim: Aim) -> Move:
    """Ask for what a turn begins with, with the victim's trigger as the message.

    How the agent of that id stands is no secret of its user's: ``standing`` tells it as well.
    """
    scope, text = aim.scope, aim.text()

    async def call(cold: Any) -> object:
        return _apart_from_standing(await cold.desk.opening(scope, lambda _: scope, text, 100))

    return Move(call)


def _apart_from_standing(found: Any) -> object:
    """Return what an opening shows besides; an engine that is careless answers with several."""
    if isinstance(found, Opening):
        return found[1:]
    return tuple(map(_apart_from_standing, found or ()))


def match_rules(aim: Aim) -> Move:
    """Ask for the rules of the victim's trigger."""
    text = aim.text()
    return Move(lambda cold: cold.procedural.match_rules(aim.scope, text, 100))


def _narrowed(aim: Aim, **fields: Any) -> SearchQuery:
    """Return a question for the victim's words that names its owner, perhaps in the past."""
    corner = aim.victim.corner
    return aim.query(
        user_id=aim.random.choice([None, corner.user_id]),
        writer_id=aim.random.choice([None, None, corner.agent_id]),
        topics=aim.random.choice([(), (), corner.topics]),
        **fields,
    )


def search_words(aim: Aim) -> Move:
    """Search for the victim's exact words, as of now or of when it was written."""
    query = _narrowed(aim, as_of=aim.random.choice([None, None, LATER, aim.victim.recorded_at]))
    return Move(lambda cold: cold.words.search_words(aim.scope, query))


def speakers(aim: Aim) -> Move:
    """Ask who speaks in the own graph."""
    return Move(lambda cold: cold.recollection.speakers(aim.scope, _LIMIT))


def word_statistics(aim: Aim) -> Move:
    """Count words; the numbers are compared with a store of the graph alone elsewhere."""
    kinds = aim.random.choice([("turn",), ("turn", "fact", "belief")])
    return Move(lambda cold: cold.recollection.word_statistics(aim.scope, "zebra 18", kinds))


def uses_by(aim: Aim) -> Move:
    """Ask how often the victim was used."""
    ids = [aim.word(aim.victim.id)]
    return Move(lambda cold: cold.recollection.uses_by(aim.scope, ids, LATER))


def ended_since(aim: Aim) -> Move:
    """Ask what has ended since the victim was written."""
    query = _narrowed(aim, as_of=aim.victim.recorded_at)
    return Move(lambda cold: cold.recollection.ended(aim.scope, query))


def former(aim: Aim) -> Move:
    """Ask which facts have given way, by the victim's words and by time."""
    query = _narrowed(aim, as_of=aim.random.choice([None, None, LATER, aim.victim.recorded_at]))
    return Move(lambda cold: cold.recollection.former(aim.scope, query, latest=_LIMIT))


def latest(aim: Aim) -> Move:
    """Ask for everything there is, by time, or for what the victim is about."""
    corner, random = aim.victim.corner, aim.random
    query = aim.query(
        user_id=random.choice([None, corner.user_id]),
        topics=random.choice([(), corner.topics]),
        writer_id=random.choice([None, None, corner.agent_id]),
        as_of=random.choice([None, LATER]),
        until=random.choice([None, _FUTURE]),
    )
    return Move(lambda cold: cold.timeline.latest(aim.scope, query))


def entries(aim: Aim) -> Move:
    """Ask for searchable forms by the victim's ids."""
    ids = aim.ids()
    return Move(lambda cold: cold.words.entries(aim.scope, ids))


def live(aim: Aim) -> Move:
    """Ask whether the victim stands."""
    query, keys = aim.query(), [(aim.victim.kind, aim.victim.id)]
    return Move(lambda cold: cold.words.live(aim.scope, query, keys))


def census(aim: Aim) -> Move:
    """Count; the numbers themselves are compared with the raw engine elsewhere."""
    return Move(lambda cold: cold.words.census(aim.scope))


def receipt(aim: Aim) -> Move:
    """Ask for the victim's receipt."""
    receipt_id = aim.word(aim.victim.id)
    return Move(lambda cold: cold.log.receipt(aim.scope, receipt_id))


def find_receipt(aim: Aim) -> Move:
    """Ask the own tenant for the victim's receipt."""
    receipt_id = aim.word(aim.victim.id)
    return Move(lambda cold: cold.log.find_receipt(aim.scope.tenant, receipt_id))


def receipts(aim: Aim) -> Move:
    """Ask for every receipt of the own graph, from the victim's on."""
    scope, after = Scope.of_graph(*aim.house), aim.random.choice(["", aim.victim.id])
    return Move(lambda cold: cold.log.receipts(scope, after, _LIMIT), scope=scope)


def receipts_as_agent(aim: Aim) -> Move:
    """Ask for them as an agent, which must not see what others were given."""
    scope = asker(aim)
    return Move(lambda cold: cold.log.receipts(scope, "", _LIMIT), scope=scope)


def audit(aim: Aim) -> Move:
    """Read the audit feed with a filter that names the victim's graph."""
    corner = aim.victim.corner
    only = aim.random.choice(
        [
            None,
            AuditFilter(graph_id=corner.graph_id),
            AuditFilter(agent_id=corner.agent_id),
            AuditFilter(record_id=aim.word(aim.victim.id)),
            AuditFilter.known({"kinds": (aim.word("said"),)}),
            AuditFilter(before=10**6),
        ]
    )
    return Move(lambda cold: cold.log.audit(aim.scope, 0, 1000, only))


def tenant_audit(aim: Aim) -> Move:
    """Read the tenant's audit feed with a filter that names the victim's graph."""
    only = aim.random.choice([None, AuditFilter(graph_id=aim.victim.corner.graph_id)])
    return Move(lambda cold: cold.log.tenant_audit(aim.scope.tenant, 0, 1000, only))


def graph(aim: Aim) -> Move:
    """Ask for the victim's graph by its id."""
    graph_id = aim.name(aim.victim.corner.graph_id)
    return Move(lambda cold: cold.graphs.graph(aim.scope.tenant, graph_id))


def graphs(aim: Aim) -> Move:
    """Ask for every graph of the tenant."""
    return Move(lambda cold: cold.graphs.graphs(aim.scope.tenant))


def graph_names(aim: Aim) -> Move:
    """Ask for the names of the tenant's graphs."""
    return Move(lambda cold: cold.graphs.graph_names(aim.scope.tenant, _LIMIT))


def lineage_at(aim: Aim) -> Move:
    """Ask what a graph inherited at a moment."""
    moment = aim.random.choice([aim.victim.recorded_at, _FUTURE])
    return Move(lambda cold: cold.graphs.lineage_at(aim.scope, moment))


def standing(aim: Aim) -> Move:
    """Ask how the scope stands, as the victim's agent."""
    return Move(lambda cold: cold.graphs.standing(aim.scope))


def agents(aim: Aim) -> Move:
    """Ask for the members."""
    return Move(lambda cold: cold.fleet.agents(aim.scope))


def agent_names(aim: Aim) -> Move:
    """Ask for the names of the members."""
    return Move(lambda cold: cold.fleet.agent_names(aim.scope, _LIMIT))


def silent(aim: Aim) -> Move:
    """Ask who fell silent in the tenant."""
    return Move(lambda cold: cold.fleet.silent(aim.scope.tenant, _FUTURE, 1000))


def usage(aim: Aim) -> Move:
    """Ask what was used."""
    return Move(lambda cold: cold.usage.usage(aim.scope))


def usage_by_agent(aim: Aim) -> Move:
    """Ask what each agent has used."""
    return Move(lambda cold: cold.usage.usage_by_agent(aim.scope))


def waiting(aim: Aim) -> Move:
    """Count the work that waits."""
    tenant = aim.random.choice([None, aim.scope.tenant])
    return Move(lambda cold: cold.queue.waiting(aim.scope, tenant=tenant))


def waiting_since(aim: Aim) -> Move:
    """Ask how long the oldest item of the tenant waits."""
    return Move(lambda cold: cold.queue.waiting_since("index", tenant=aim.scope.tenant))


def audited(aim: Aim) -> Move:
    """Read the audit feed as it is chained."""
    scope = Scope.of_graph(*aim.house)
    return Move(lambda cold: cold.evidence.audited(scope, 0, 1000), scope=scope)


def last_audited(aim: Aim) -> Move:
    """Ask for the last event of the audit feed."""
    return Move(lambda cold: cold.evidence.last_audited(aim.scope))


def evidence_marks(aim: Aim) -> Move:
    """Ask how far log, feed and heads have come."""
    return Move(lambda cold: cold.evidence.marks(aim.scope))


def misfiled(aim: Aim) -> Move:
    """Ask which rows of look-ups are not as they were written: none, whoever asks."""
    scope = Scope.of_graph(*aim.house)
    return Move(lambda cold: cold.evidence.misfiled(scope), scope=scope)


def parked(aim: Aim) -> Move:
    """Ask for the tenant's parked work."""
    return Move(lambda cold: cold.queue.parked(1000, tenant=aim.scope.tenant))


def searchable_after(aim: Aim) -> Move:
    """Walk the tenant's records."""

    async def call(cold: Any) -> list[object]:
        found: list[object] = []
        cursor: str | None = ""
        while cursor is not None:
            page = await cold.upkeep.searchable_after(aim.scope.tenant, cursor, 300, LATER)
            found += page.rows
            cursor = page.cursor
        return found

    return Move(call)


def count_searchable(aim: Aim) -> Move:
    """Count the tenant's records."""
    return Move(lambda cold: cold.upkeep.count_searchable(aim.scope.tenant, LATER))


def export_rows(aim: Aim) -> Move:
    """Read a table out from the cursor of another tenant's page."""
    table = aim.random.choice(get_args(Table))
    is_forged = aim.random.random() < 0.5

    async def call(cold: Any) -> object:
        cursor = ""
        if is_forged:
            theirs = await cold.archive.export_rows(aim.victim.corner.tenant, table, "", 1)
            cursor = theirs.cursor or ""
        return await cold.archive.export_rows(aim.scope.tenant, table, cursor, 300)

    return Move(call)


def count_rows(aim: Aim) -> Move:
    """Count a table's rows of the tenant."""
    table = aim.random.choice(get_args(Table))
    return Move(lambda cold: cold.archive.count_rows(aim.scope.tenant, table))


_OF_TENANT = ("tenant", "lookalike")

_V, _F, _G, _T = Reach.VISIBLE, Reach.FAMILY, Reach.GRAPH, Reach.TENANT
_ALL = (*OUTER, *INNER)

COLD_READS = (
    Method("turns.recent_turns", _V, recent_turns, ("turn",), _ALL, weight=2),
    Method("turns.turns", _V, turns, ("turn",), _ALL, weight=3),
    Method("turns.known_refs", _V, known_refs, ("turn",), _ALL, weight=2),
    Method("turns.waiting_turns", _V, waiting_turns, ("turn",), _ALL, weight=2),
    Method("turns.turns_after", _V, turns_after, ("turn",), _ALL, weight=2),
    Method("turns.turns_from", _G, turns_from, ("turn",), OUTER),
    Method("turns.turns_from", _V, turns_from_as_agent, ("turn",), INNER),
    Method("turns.count_turns", _G, count_turns, ("turn",), OUTER),
    Method("episodic.summaries", _V, summaries, ("summary",), _ALL, weight=2),
    Method("episodic.due_summaries", _G, due_summaries, ("summary",), OUTER),
    Method("episodic.episodes", _V, episodes, ("episode",), _ALL, weight=2),
    Method("episodic.written", _V, written, ("summary", "episode"), _ALL, weight=2),
    Method("desk.opening", _F, opening, ("core", "rule", "belief"), _ALL, weight=2),
    Method("semantic.core", _F, core, ("core",), _ALL, weight=3),
    Method("semantic.nearer", _F, nearer, ("archival",), _ALL),
    Method("semantic.facts", _F, facts, FACTS, _ALL, weight=3),
    Method("semantic.line", _F, line, FACTS, _ALL),
    Method("semantic.recall_archival", _V, recall_archival, ("archival",), _ALL, weight=4),
    Method("procedural.match_rules", _F, match_rules, ("rule",), _ALL, weight=3),
    Method("words.search_words", _V, search_words, SEARCHABLE, _ALL, weight=6),
    Method("timeline.latest", _V, latest, SEARCHABLE, _ALL, weight=4),
    Method("words.live", _V, live, SEARCHABLE, _ALL, weight=4),
    Method("words.entries", _V, entries, SEARCHABLE, _ALL, weight=4),
    Method("words.census", _G, census, SEARCHABLE, OUTER),
    Method("recollection.uses_by", _V, uses_by, ("fact",), _ALL),
    Method("recollection.speakers", _G, speakers, ("turn",), OUTER),
    Method("recollection.word_statistics", _G, word_statistics, SEARCHABLE, OUTER),
    Method("recollection.ended", _V, ended_since, SEARCHABLE, _ALL, weight=3),
    Method("recollection.former", _V, former, FACTS, _ALL),
    Method("log.receipt", _G, receipt, ("receipt",), OUTER),
    Method("log.find_receipt", _T, find_receipt, ("receipt",), _OF_TENANT),
    Method("log.receipts", _G, receipts, ("receipt",), OUTER),
    Method("log.receipts", _V, receipts_as_agent, ("receipt",), INNER),
    Method("log.audit", _G, audit, ("audit",), OUTER),
    Method("evidence.audited", _G, audited, ("audit",), OUTER),
    Method("evidence.last_audited", _G, last_audited, ("audit",), OUTER),
    Method("evidence.marks", _G, evidence_marks, ("audit",), OUTER),
    Method("evidence.misfiled", _G, misfiled, ("audit",), OUTER),
    Method("log.tenant_audit", _T, tenant_audit, ("audit",), _OF_TENANT),
    Method("graphs.graph", _T, graph, ("agent",), _OF_TENANT),
    Method("graphs.graphs", _T, graphs, ("agent",), _OF_TENANT),
    Method("graphs.graph_names", _T, graph_names, ("agent",), _OF_TENANT),
    Method("graphs.standing", _G, standing, ("agent",), OUTER),
    Method("graphs.lineage_at", _G, lineage_at, ("agent",), OUTER),
    Method("fleet.agents", _G, agents, ("agent",), OUTER),
    Method("fleet.agent_names", _G, agent_names, ("agent",), OUTER),
    Method("fleet.silent", _T, silent, ("agent",), _OF_TENANT),
    Method("usage.usage", _G, usage, ("agent",), OUTER),
    Method("usage.usage_by_agent", _G, usage_by_agent, ("agent",), OUTER),
    Method("queue.waiting", _G, waiting, ("work",), OUTER),
    Method("queue.waiting_since", _G, waiting_since, ("work",), OUTER),
    Method("queue.parked", _T, parked, ("work",), _OF_TENANT),
    Method("upkeep.searchable_after", _T, searchable_after, SEARCHABLE, _OF_TENANT),
    Method("upkeep.count_searchable", _T, count_searchable, SEARCHABLE, _OF_TENANT),
    Method("archive.export_rows", _T, export_rows, SEARCHABLE, _OF_TENANT),
    Method("archive.count_rows", _T, count_rows, SEARCHABLE, _OF_TENANT),
)
