"""The facts of a graph, one fact's story, what became of facts, and playbooks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from tiers.errors import NotFound
from tiers.learning import is_live
from tiers.records import AuditEvent, AuditFilter, Fact, FactTier, Rule
from tiers.upkeep import Page

from ...handles.graph import Graph
from ..handle_pool import HandlePool
from .charts import Segment, spans
from .pages import LATEST, Number, Query, View, further, paged, pages

ROWS = 50
"""So many rows come at once."""

MOVES = tuple(
    "promoted demoted superseded corrected deduplicated forgotten retired redacted".split()
)
"""What the audit feed says becomes of facts."""

OTHERS_SHOWN = 20


class ShelfAsked(Query):
    """Which facts: of a tier, of a topic, and from where on."""

    tier: FactTier | None = None
    topic: str | None = None
    after: str = ""


class MovesAsked(Query):
    """What became of facts before an event, the last first."""

    before: Number = LATEST


@dataclass(frozen=True)
class Move:
    """One thing that became of facts.

    Attributes:
        event: As the audit feed has it.
        facts: Those that it names, as they are now; what the reader may not see is left out.
    """

    event: AuditEvent
    facts: tuple[Fact, ...]


@dataclass(frozen=True)
class Life:
    """One fact, and what became of it.

    Attributes:
        fact: As it is now.
        lines: How it stands, and what would change that, in words.
        events: What the audit feed of its graph says about it, oldest first.
        others: The other facts that these events or the fact name, by id.
        core: When it was core, of the time since it was recorded.
    """

    fact: Fact
    lines: tuple[str, ...]
    events: tuple[AuditEvent, ...]
    others: dict[str, Fact]
    core: tuple[Segment, ...]

    @property
    def is_live(self) -> bool:
        """Whether it has not ended."""
        return is_live(self.fact)


@pages.page("/graphs/{graph_id}/facts", needs="read", label="Facts", key="f")
async def shelf(graph: Graph, asked: ShelfAsked) -> View:
    """Show the live facts of a graph, the latest first."""
    status = await graph.status()
    held = {topic for member in await graph.agents() for topic in member.topics} - {"*"}
    values = await _rows(graph, asked)
    counts = {tier: status.cold.get(f"facts_{tier}", 0) for tier in ("core", "archival")}
    more = {"counts": counts, "held_topics": sorted(held)}
    return View("facts.html", values | more, "Facts")


@pages.page("/graphs/{graph_id}/fact-rows", needs="read")
async def shelf_rows(graph: Graph, asked: ShelfAsked) -> View:
    """Show the next rows of them."""
    return View("facts_rows.html", await _rows(graph, asked))


@pages.page("/graphs/{graph_id}/facts/{fact_id}", needs="read")
async def life(pool: HandlePool, graph: Graph, fact_id: str) -> View:
    """Show one fact and what became of it."""
    found = await life_of(pool, graph, fact_id)
    return View("facts_one.html", {"life": found}, "One fact")


@pages.rows("/graphs/{graph_id}/fact-move-rows", "facts_move_rows.html")
@pages.page("/graphs/{graph_id}/fact-moves", needs="read")
async def moves(graph: Graph, asked: MovesAsked) -> View:
    """Show what became of facts: promoted, demoted, superseded, forgotten, retired."""
    values = await _moves(graph, asked)
    return View("facts_moves.html", values, "What became of facts")


@pages.rows("/graphs/{graph_id}/rule-rows", "facts_rule_rows.html")
@pages.page("/graphs/{graph_id}/rules", needs="read", label="Playbooks", key="p")
async def playbooks(graph: Graph, asked: ShelfAsked) -> View:
    """Show the playbooks of a graph, the latest first."""
    values = await _rules(graph, asked)
    return View("facts_rules.html", values, "Playbooks")


async def life_of(pool: HandlePool, graph: Graph, fact_id: str) -> Life:
    """Return a shared fact of a graph with its story.

    Raises:
        NotFound: The graph has none of that id; of private ones nothing is told.
    """
    found = await graph.facts([fact_id])
    if not found:
        raise NotFound("fact", fact_id)
    fact = found[0]
    story = await pool.ezra.explain(fact_id)
    is_of_it = story.graph_id == graph.id  # an id may be there in another graph too
    events = tuple(one for one in story.events if one.graph_id == graph.id)
    named = [one for event in events for one in event.record_ids]
    ids = dict.fromkeys([*([fact.superseded_by] if fact.superseded_by else []), *named])
    others = await graph.facts([one for one in ids if one != fact_id][:OTHERS_SHOWN])
    return Life(
        fact,
        story.lines if is_of_it else (),
        events,
        {one.id: one for one in others},
        spans(
            fact.recorded_at, _end_of(fact, events), [(s.since, s.until) for s in fact.core_spans]
        ),
    )


def _end_of(fact: Fact, events: Sequence[AuditEvent]) -> datetime:
    """Return the last moment that is known of a fact, to which its bar of time reaches."""
    known = [fact.superseded_at, fact.forgotten_at, fact.last_used_at, fact.judged_at]
    known += [one.recorded_at for one in events]
    known += [end for span in fact.core_spans for end in (span.since, span.until)]
    return max((one for one in known if one is not None), default=fact.recorded_at)


async def _rows(graph: Graph, asked: ShelfAsked) -> dict[str, object]:
    page = await graph.latest_facts(
        tier=asked.tier, topics=_topics(asked), after=asked.after, limit=ROWS
    )
    said = {"tier": asked.tier, "topic": asked.topic}
    return _listed(graph, "facts", "fact-rows", page, asked, said)


async def _rules(graph: Graph, asked: ShelfAsked) -> dict[str, object]:
    page = await graph.latest_rules(topics=_topics(asked), after=asked.after, limit=ROWS)
    return _listed(graph, "rules", "rule-rows", page, asked, {"topic": asked.topic})


async def _moves(graph: Graph, asked: MovesAsked) -> dict[str, object]:
    only = AuditFilter(kinds=MOVES, before=asked.before)
    events = await graph.audit(limit=ROWS + 1, only=only)
    ids = list(dict.fromkeys(one for event in events[:ROWS] for one in event.record_ids))
    facts = {fact.id: fact for fact in await graph.facts(ids)}
    moved = [
        Move(event, tuple(facts[one] for one in event.record_ids if one in facts))
        for event in events
    ]
    page, rows = ("graphs", graph.id, "fact-moves"), ("graphs", graph.id, "fact-move-rows")
    return paged(moved, ROWS, page, rows, lambda one: {"before": one.event.seq})


def _listed(
    graph: Graph,
    name: str,
    rows: str,
    found: Page[Fact] | Page[Rule],
    asked: ShelfAsked,
    said: dict[str, str | None],
) -> dict[str, object]:
    on = None if found.cursor is None else {**said, "after": found.cursor}
    more = further(("graphs", graph.id, name), ("graphs", graph.id, rows), on)
    return {"rows": found.rows, "asked": asked, "more": more}


def _topics(asked: ShelfAsked) -> tuple[str, ...] | None:
    return None if asked.topic is None else (asked.topic,)
