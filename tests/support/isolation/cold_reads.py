"""Attempts on the cold tier that read: by the victim's ids, words, vectors and cursors."""

from __future__ import annotations

from datetime import timedelta
from operator import attrgetter
from typing import Any, get_args

from tiers.records import AuditFilter, Scope, SearchQuery
from tiers.turn_io import Opening
from tiers.upkeep import Table

from ..records import every_row
from .aims import INNER, OUTER, Aim
from .attempts import Method, Move, asking, of_graph, one_of, victims_id
from .oracle import Reach
from .worlds import LATER, SEARCHABLE

FACTS = ("core", "archival")
_LIMIT = 500
_FUTURE = LATER + timedelta(days=400)
_RECORDED, _SEQ, _GRAIN = map(
    attrgetter, ("victim.recorded_at", "victim.record.seq", "victim.record.grain")
)


def _only(aim: Aim) -> AuditFilter:
    return AuditFilter(graph_id=aim.victim.corner.graph_id)


def asker(aim: Aim) -> Scope:
    """Return the attacker's scope, of some agent."""
    if aim.scope.agent_id is not None:
        return aim.scope
    return aim.scope.model_copy(update={"agent_id": "nobody"})


def known_refs(aim: Aim) -> Move:
    """Ask for turns by the victim's own names for them."""
    refs = [aim.word(aim.victim.record.ref), aim.victim.record.ref, aim.word("chat:0:0")]
    return Move(lambda cold: cold.turns.known_refs(aim.scope, refs))


def nearer(aim: Aim) -> Move:
    """Ask for what defines nearer what the victim defines, as if an ancestor had it in core."""
    far = aim.victim.record.model_copy(update={"graph_id": "an ancestor"})
    return Move(lambda cold: cold.semantic.nearer(aim.scope, [far]))


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


def live(aim: Aim) -> Move:
    """Ask whether the victim stands."""
    query, keys = aim.query(), [(aim.victim.kind, aim.victim.id)]
    return Move(lambda cold: cold.words.live(aim.scope, query, keys))


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


def waiting(aim: Aim) -> Move:
    """Count the work that waits."""
    tenant = aim.random.choice([None, aim.scope.tenant])
    return Move(lambda cold: cold.queue.waiting(aim.scope, tenant=tenant))


def waiting_since(aim: Aim) -> Move:
    """Ask how long the oldest item of the tenant waits."""
    return Move(lambda cold: cold.queue.waiting_since("index", tenant=aim.scope.tenant))


def parked(aim: Aim) -> Move:
    """Ask for the tenant's parked work."""
    return Move(lambda cold: cold.queue.parked(1000, tenant=aim.scope.tenant))


def searchable_after(aim: Aim) -> Move:
    """Walk the tenant's records."""
    tenant = aim.scope.tenant
    return Move(
        lambda cold: every_row(lambda at: cold.upkeep.searchable_after(tenant, at, 300, LATER))
    )


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


_OF_TENANT = ("tenant", "lookalike")

_V, _F, _G, _T = Reach.VISIBLE, Reach.FAMILY, Reach.GRAPH, Reach.TENANT
_ALL = (*OUTER, *INNER)

COLD_READS = (
    asking("turns.recent_turns", _V, ("turn",), _ALL, _LIMIT, by=asker, weight=2),
    asking("turns.turns", _V, ("turn",), _ALL, Aim.ids, weight=3),
    Method("turns.known_refs", _V, known_refs, ("turn",), _ALL, weight=2),
    asking(
        "turns.waiting_turns",
        _V,
        ("turn",),
        _ALL,
        0,
        _LIMIT,
        by=asker,
        before=one_of(None, _FUTURE),
        weight=2,
    ),
    asking(
        "turns.turns_after",
        _V,
        ("turn",),
        _ALL,
        one_of(0, 0, _SEQ, 10**6),
        _LIMIT,
        by=asker,
        weight=2,
    ),
    of_graph("turns.turns_from", _G, ("turn",), OUTER, one_of(1, 3, 10**6), _LIMIT),
    asking("turns.turns_from", _V, ("turn",), INNER, 1, _LIMIT, by=asker),
    of_graph("turns.count_turns", _G, ("turn",), OUTER, one_of(None, _RECORDED)),
    asking("episodic.summaries", _V, ("summary",), _ALL, weight=2),
    asking("episodic.due_summaries", _G, ("summary",), OUTER, _FUTURE, _LIMIT),
    asking(
        "episodic.episodes",
        _V,
        ("episode",),
        _ALL,
        one_of(None, _RECORDED),
        None,
        one_of(None, _GRAIN, "yearly"),
        weight=2,
    ),
    asking("episodic.written", _V, ("summary", "episode"), _ALL, Aim.ids, weight=2),
    Method("desk.opening", _F, opening, ("core", "rule", "belief"), _ALL, weight=2),
    asking("semantic.core", _F, ("core",), _ALL, weight=3),
    Method("semantic.nearer", _F, nearer, ("archival",), _ALL),
    asking("semantic.facts", _F, FACTS, _ALL, Aim.ids, weight=3),
    asking("semantic.line", _F, FACTS, _ALL, lambda aim: aim.victim.record.id),
    Method("semantic.recall_archival", _V, recall_archival, ("archival",), _ALL, weight=4),
    asking("procedural.match_rules", _F, ("rule",), _ALL, Aim.text, 100, weight=3),
    Method("words.search_words", _V, search_words, SEARCHABLE, _ALL, weight=6),
    Method("timeline.latest", _V, latest, SEARCHABLE, _ALL, weight=4),
    Method("words.live", _V, live, SEARCHABLE, _ALL, weight=4),
    asking("words.entries", _V, SEARCHABLE, _ALL, Aim.ids, weight=4),
    asking("words.census", _G, SEARCHABLE, OUTER),
    asking("recollection.uses_by", _V, ("fact",), _ALL, lambda aim: [victims_id(aim)], LATER),
    asking("recollection.speakers", _G, ("turn",), OUTER, _LIMIT),
    asking(
        "recollection.word_statistics",
        _G,
        SEARCHABLE,
        OUTER,
        "zebra 18",
        one_of(("turn",), ("turn", "fact", "belief")),
    ),
    Method("recollection.ended", _V, ended_since, SEARCHABLE, _ALL, weight=3),
    Method("recollection.former", _V, former, FACTS, _ALL),
    asking("recollection.outdated", _V, ("turn",), _ALL, Aim.ids),
    asking("log.receipt", _G, ("receipt",), OUTER, victims_id),
    asking("log.find_receipt", _T, ("receipt",), _OF_TENANT, victims_id),
    of_graph("log.receipts", _G, ("receipt",), OUTER, one_of("", attrgetter("victim.id")), _LIMIT),
    asking("log.receipts", _V, ("receipt",), INNER, "", _LIMIT, by=asker),
    Method("log.audit", _G, audit, ("audit",), OUTER),
    of_graph("evidence.audited", _G, ("audit",), OUTER, 0, 1000),
    asking("evidence.last_audited", _G, ("audit",), OUTER),
    asking("evidence.marks", _G, ("audit",), OUTER),
    of_graph("evidence.misfiled", _G, ("audit",), OUTER),
    asking("log.tenant_audit", _T, ("audit",), _OF_TENANT, 0, 1000, one_of(None, _only)),
    asking(
        "graphs.graph", _T, ("agent",), _OF_TENANT, lambda aim: aim.name(aim.victim.corner.graph_id)
    ),
    asking("graphs.graphs", _T, ("agent",), _OF_TENANT),
    asking("graphs.graph_names", _T, ("agent",), _OF_TENANT, _LIMIT),
    asking("graphs.standing", _G, ("agent",), OUTER),
    asking("graphs.lineage_at", _G, ("agent",), OUTER, one_of(_RECORDED, _FUTURE)),
    asking("fleet.agents", _G, ("agent",), OUTER),
    asking("fleet.agent_names", _G, ("agent",), OUTER, _LIMIT),
    asking("fleet.silent", _T, ("agent",), _OF_TENANT, _FUTURE, 1000),
    asking("usage.usage", _G, ("agent",), OUTER),
    asking("usage.usage_by_agent", _G, ("agent",), OUTER),
    Method("queue.waiting", _G, waiting, ("work",), OUTER),
    Method("queue.waiting_since", _G, waiting_since, ("work",), OUTER),
    Method("queue.parked", _T, parked, ("work",), _OF_TENANT),
    Method("upkeep.searchable_after", _T, searchable_after, SEARCHABLE, _OF_TENANT),
    asking("upkeep.count_searchable", _T, SEARCHABLE, _OF_TENANT, LATER),
    Method("archive.export_rows", _T, export_rows, SEARCHABLE, _OF_TENANT),
    asking("archive.count_rows", _T, SEARCHABLE, _OF_TENANT, one_of(*get_args(Table))),
)
