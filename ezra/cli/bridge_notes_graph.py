"""``ezra bridge graph``: questions about Markdown notes and what is between them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, cast

import typer

from tiers.errors import UsageError

from ..bridge.client import Bridge
from ..bridge.notes.blockers import STALE_DAYS, BlockersReport, check_blockers
from ..bridge.notes.configured import indexer_of
from ..bridge.notes.difference import Changed, SemanticDiff, moment_of
from ..bridge.notes.handoff import CHARS_MAX, HOURS, Handoff, document_of, readable
from ..bridge.notes.health import GraphHealth
from ..bridge.notes.indexing import NoteIndexer, Reconciled
from ..bridge.notes.indexing import reconcile as reconciled
from ..bridge.notes.questions import difference, handoff
from ..bridge.notes.questions import health as health_now
from ..bridge.notes.reading import graph_of, searched
from ..bridge.notes.related import RelatedReport
from ..bridge.notes.related import related as related_to
from ..bridge.notes.search import DAYS, Found
from ..bridge.notes.search import search as found_by
from ..recall.request import ModeName
from .bridge_door import Home, Json, Url, ask, configured
from .plain import plain
from .screen import Screen

graph_app = typer.Typer(
    help="The graph of Markdown notes: search, relations, blockers, changes, handoff.",
    no_args_is_help=True,
)

FORMATS = ("json", "markdown")


def _indexer(home: Home, url: Url) -> NoteIndexer:
    return indexer_of(configured(home, url), Path.cwd())


def _now() -> datetime:
    return datetime.now(UTC)


@graph_app.command(
    "search",
    epilog="Examples: ezra bridge graph search 'login tokens'  ·  "
    "ezra bridge graph search tokens --types task,decision --all-time --json",
)
def search(
    query: Annotated[str, typer.Argument(help="What the notes are about.")],
    types: Annotated[str, typer.Option(metavar="A,B", help="Only entities of these types.")] = "",
    days: Annotated[int, typer.Option(help="Only notes that changed within so many days.")] = DAYS,
    all_time: Annotated[bool, typer.Option("--all-time", help="However old they are.")] = False,
    limit: Annotated[int, typer.Option(help="How many, 1 to 100.")] = 10,
    mode: Annotated[str, typer.Option(help="hybrid, keyword or semantic.")] = "hybrid",
    home: Home = None,
    url: Url = None,
    json: Json = False,
) -> None:
    """Find notes by title and text, best first: entities, and those of sync-memories.

    Exit code 1 when there are none.
    """
    screen = Screen()
    indexer = _indexer(home, url)

    async def work(bridge: Bridge) -> tuple[Found, ...]:
        agent = bridge.agent()
        return await found_by(
            agent,
            agent.documents,
            await searched(agent.documents, indexer.rules),
            query,
            _now(),
            types=[one for one in types.split(",") if one.strip()],
            days=None if all_time else days,
            limit=limit,
            mode=cast("ModeName", mode),
        )

    found = ask(home, url, work, names=True)
    if json:
        screen.document(plain(found))
    else:
        screen.table(
            ("score", "id", "status", "title"),
            [(f"{one.score:.4f}", one.id, one.status, one.title) for one in found],
        )
    if not found:
        raise typer.Exit(1)


@graph_app.command(
    "related",
    epilog="Examples: ezra bridge graph related scout-task-login  ·  "
    "ezra bridge graph related login --depth 3 --rel-type blocked_by --json",
)
def related(
    name: Annotated[str, typer.Argument(help="An id, path, slug or title.")],
    depth: Annotated[int, typer.Option(help="How many steps, 1 to 10.")] = 1,
    rel_type: Annotated[
        list[str] | None, typer.Option(help="Only by this relation. Repeatable.")
    ] = None,
    limit: Annotated[int, typer.Option(help="How many, 1 to 1,000.")] = 20,
    home: Home = None,
    url: Url = None,
    json: Json = False,
) -> None:
    """Show what an entity names and is named by, nearest first, with a way there."""
    screen = Screen()
    indexer = _indexer(home, url)

    async def work(bridge: Bridge) -> RelatedReport:
        graph = await graph_of(bridge.agent().documents, indexer.rules)
        return related_to(graph, name, depth=depth, relations=rel_type or (), limit=limit)

    report = ask(home, url, work, names=True)
    if json:
        screen.document(plain(report))
        return
    screen.line(report.id)
    for one in report.found:
        way = " ".join(
            f"-{step.relation}-> {step.to}"
            if step.direction == "forward"
            else f"<-{step.relation}- {step.to}"
            for step in one.path
        )
        state = (f"  ({one.status})" if one.status else "") if one.is_indexed else "  (not indexed)"
        screen.line(f"  {one.distance}  {way}{state}")
    if report.left_out:
        screen.note(f"and {report.left_out} more; --limit shows them")


@graph_app.command(
    "check-blockers",
    epilog="Examples: ezra bridge graph check-blockers  ·  "
    "ezra bridge graph check-blockers --stale-days 7 --json",
)
def blockers(
    stale_days: Annotated[
        int, typer.Option(help="From so many days without a change it is stale.")
    ] = STALE_DAYS,
    home: Home = None,
    url: Url = None,
    json: Json = False,
) -> None:
    """Show what waits, for what, for how long, and what waits in a circle."""
    screen = Screen()
    indexer = _indexer(home, url)

    async def work(bridge: Bridge) -> BlockersReport:
        graph = await graph_of(bridge.agent().documents, indexer.rules)
        return check_blockers(graph, _now(), stale_days=stale_days)

    report = ask(home, url, work, names=True)
    if json:
        screen.document(plain(report))
        return
    for one in report.blocked:
        marks = [name for name, is_so in (("stale", one.is_stale), ("released", one.is_released))
                 if is_so]  # fmt: skip
        told = f"  [{', '.join(marks)}]" if marks else ""
        screen.line(f"{one.days:>4} days  {one.id}  {one.status or 'no status'}{told}")
        for by in one.blockers:
            state = by.status or "no status" if by.is_indexed else "not indexed"
            screen.line(f"           waits for {by.id}  ({state})")
    for cycle in report.cycles:
        screen.line(f"in a circle: {', '.join(cycle)}")
    screen.note(f"{len(report.blocked)} wait, {report.stale} of them stale")


@graph_app.command(
    "semantic-diff",
    epilog="Examples: ezra bridge graph semantic-diff 2026-05-01 2026-05-15  ·  "
    "ezra bridge graph semantic-diff 2026-05-14T09:00 2026-05-14T17:00 --json",
)
def semantic_diff(
    begin: Annotated[str, typer.Argument(metavar="FROM", help="A date or time; UTC.")],
    end: Annotated[str, typer.Argument(metavar="TO", help="The same; a date counts as a whole.")],
    home: Home = None,
    url: Url = None,
    json: Json = False,
) -> None:
    """Show what was created, completed, blocked, unblocked, removed or changed in between."""
    screen = Screen()
    indexer = _indexer(home, url)
    since, until = moment_of("FROM", begin, is_end=False), moment_of("TO", end, is_end=True)

    async def work(bridge: Bridge) -> SemanticDiff:
        documents = bridge.agent().documents
        return await difference(documents, indexer.rules, since, until, _now())

    found = ask(home, url, work, names=True)
    if json:
        screen.document(plain(found))
        return
    screen.line(f"{found.since:%Y-%m-%d %H:%M} to {found.until:%Y-%m-%d %H:%M} UTC")
    for kind, count in found.breakdown.items():
        screen.line(f"  {kind}: {count.before} to {count.after}, {count.completed} completed")
    for one in fields(found):
        rows = getattr(found, one.name)
        if isinstance(rows, tuple) and rows:
            screen.line(one.name.replace("_", " "))
            for row in rows:
                screen.line(_changed(row))


def _changed(one: Changed) -> str:
    was = f"  {one.before or '-'} > {one.after or '-'}" if one.before != one.after else ""
    return f"  {one.id}  {one.title}{was}"


@graph_app.command(
    "gen-handoff",
    epilog="Examples: ezra bridge graph gen-handoff --hours 24  ·  "
    "ezra bridge graph gen-handoff --format markdown --synthesize",
)
def gen_handoff(
    hours: Annotated[float, typer.Option(help="How far back things are new.")] = HOURS,
    synthesize: Annotated[
        bool, typer.Option("--synthesize", help="With an account by the memory's model.")
    ] = False,
    shape: Annotated[str, typer.Option("--format", help="json or markdown.")] = "json",
    max_chars: Annotated[
        int, typer.Option(help="How long it may be, as it is printed.")
    ] = CHARS_MAX,
    home: Home = None,
    url: Url = None,
    json: Json = False,
) -> None:
    """Print what the next session should know: changes, actions, tasks, blockers, messages."""
    if shape not in FORMATS:
        raise UsageError("--format", shape, ", ".join(FORMATS))
    screen = Screen()
    indexer = _indexer(home, url)

    async def work(bridge: Bridge) -> Handoff:
        agent = bridge.agent()
        return await handoff(
            agent,
            agent.documents,
            agent.board,
            indexer.rules,
            _now(),
            hours=hours,
            chars=max_chars,
            synthesize=synthesize,
        )

    found = ask(home, url, work, names=True)
    if json or shape == "json":
        screen.document(document_of(found))
    else:
        screen.line(readable(found).rstrip())
    if found.problem:
        screen.note(found.problem)


@graph_app.command(
    "reconcile",
    epilog="Examples: ezra bridge graph reconcile  ·  ezra bridge graph reconcile --force --json",
)
def reconcile(
    force: Annotated[
        bool, typer.Option("--force", help="Also where that is more than half of a folder's.")
    ] = False,
    all_machines: Annotated[
        bool, typer.Option("--all-machines", help="Also what another machine indexed last.")
    ] = False,
    home: Home = None,
    url: Url = None,
    json: Json = False,
) -> None:
    """Remove entities whose file is gone, and the edges to them. Exit code 1 when refused."""
    screen = Screen()
    indexer = _indexer(home, url)

    async def work(bridge: Bridge) -> Reconciled:
        documents = bridge.agent().documents
        return await reconciled(documents, indexer, force=force, all_machines=all_machines)

    report = ask(home, url, work, names=True)
    if json:
        screen.document(plain(report))
    else:
        _show_reconciled(screen, report)
    if report.is_refused:
        raise typer.Exit(1)


def _show_reconciled(screen: Screen, report: Reconciled) -> None:
    done = "would go" if report.is_refused else "removed"
    for path in report.gone:
        screen.line(f"{done}  {path}")
    for edge in report.pruned:
        screen.line(f"{done}  {edge.source} -{edge.relation}-> {edge.target}")
    for path in report.elsewhere:
        screen.note(f"kept: {path}, which another machine indexed; --all-machines removes it")
    screen.note(f"{report.checked} looked at, {len(report.gone)} {done}")
    if report.is_refused:
        screen.note("refused: that is more than half; --force removes them")


@graph_app.command("health", epilog="Example: ezra bridge graph health --json")
def health(home: Home = None, url: Url = None, json: Json = False) -> None:
    """Show counts, what was written in 24 hours, what is wrong with notes, and unread alerts."""
    screen = Screen()
    indexer = _indexer(home, url)
    tag = configured(home, url).alert_tag

    async def work(bridge: Bridge) -> GraphHealth:
        agent = bridge.agent()
        return await health_now(agent.documents, agent.board, indexer.rules, _now(), tag)

    found = ask(home, url, work, names=True)
    if json:
        screen.document(plain(found))
        return
    screen.line(f"entities   {found.entities}  ({_counts(found.types)})")
    screen.line(f"status     {_counts(found.statuses)}")
    screen.line(f"edges      {found.edges}, {found.dangling} to what is not indexed")
    screen.line(f"snapshots  {found.snapshots} in 24 hours")
    screen.line(f"alerts     {len(found.alerts)} unread")
    for alert in found.alerts:
        screen.line(f"  {alert.id}  {alert.by}: {alert.title}")
    for name, kept, hidden in found.collisions:
        screen.note(f"{name}: {kept} and {hidden} claim one id; the first has it")
    for one in found.notices:
        screen.note(f"{one.path}:{one.line}: {one.problem}; expected: {one.expected}")


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {name or 'without'}" for name, count in counts.items()) or "none"
