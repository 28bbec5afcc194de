"""The commands about session graphs: how they inherit, what they may use, what becomes of them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tiers.errors import UsageError
from tiers.records import Ancestor, Budget, MergeStrategy, Parent, Retention

from ..beliefs.difference import BeliefDiff
from ..checks import checked
from ..erasure.redaction import Whose
from .beliefs import document_of_diff, lines_of_diff
from .doors import AnyEzra, Url, on_graph, opened
from .options import GraphId, Home, Json, in_utc, run
from .plain import plain
from .screen import Screen
from .turns import shortened

if TYPE_CHECKING:
    from ..erasure.holdings import HeldRecord
    from ..handles.graph import Graph


graph_app = typer.Typer(
    help="Session graphs: inheritance, budgets, states, redaction.", no_args_is_help=True
)

STRATEGIES: tuple[MergeStrategy, ...] = ("last_write_wins", "highest_trust", "manual")
"""A resolver of one's own is code: ``custom`` is for programs."""

HELD_SHOWN_MAX = 10_000
"""So many records a rehearsal of an erasure lists."""

ParentId = Annotated[str, typer.Argument(help="The graph inherited from.")]
AsOf = Annotated[
    datetime | None,
    typer.Option(
        "--as-of", help="Read it as it was at this moment (UTC).", show_default="as it is"
    ),
]
Rules = Annotated[bool, typer.Option("--rules/--no-rules", help="Whether rules come through.")]
Episodes = Annotated[
    bool, typer.Option("--episodes/--no-episodes", help="Whether episodes come through.")
]
Tokens = Annotated[
    int | None, typer.Option(help="Estimated tokens of contexts and answers.", min=0)
]
ModelCalls = Annotated[int | None, typer.Option(help="Calls of the language model.", min=0)]
Writes = Annotated[int | None, typer.Option(help="Turns, facts, rules, belief changes.", min=0)]


@graph_app.command(
    "create", epilog="Example: ezra graph create imola --inherits-from monaco --writes 10000"
)
def create(
    graph: GraphId,
    inherits_from: Annotated[
        list[str] | None, typer.Option(help="A graph to inherit from. Repeatable, in order.")
    ] = None,
    rules: Rules = True,
    episodes: Episodes = False,
    merge_strategy: Annotated[
        str | None,
        typer.Option(
            help="last_write_wins, highest_trust, or manual for who has a callback.",
            show_default="last_write_wins",
        ),
    ] = None,
    exist_ok: Annotated[
        bool,
        typer.Option(
            "--exist-ok",
            help="Take a graph of that name that is there, if it has the same parents, and the "
            "same merge strategy if one is given.",
        ),
    ] = False,
    plan: Annotated[
        str | None,
        typer.Option(help="Retention plan.", show_default="EZRA_RETENTION_PLAN"),
    ] = None,
    tokens: Tokens = None,
    model_calls: ModelCalls = None,
    writes: Writes = None,
    home: Home = None,
    url: Url = None,
    json: Json = False,
) -> None:
    """Create a session graph."""
    strategy = next((one for one in STRATEGIES if one == merge_strategy), None)
    if strategy is None and merge_strategy is not None:
        raise UsageError("merge_strategy", merge_strategy, ", ".join(STRATEGIES))

    async def work(ezra: AnyEzra) -> dict[str, Any]:
        made = await ezra.create_session_graph(
            graph,
            merge_strategy=strategy,
            retention=checked(Retention, plan=plan),
            inherits_from=inherits_from or [],
            inherit_rules=rules,
            inherit_episodes=episodes,
            budget=Budget(tokens=tokens, model_calls=model_calls, writes=writes),
            exist_ok=exist_ok,
        )
        return {"graph": made.id, "inherits_from": list(made.inherits_from)}

    line = f"{graph} is there" if exist_ok else f"{graph} created"
    _told(home, url, json, work, line, creates=True)


@graph_app.command("list", epilog="Example: ezra graph list --json")
def list_graphs(home: Home = None, url: Url = None, json: Json = False) -> None:
    """List the session graphs of the tenant, oldest first."""
    screen = Screen()

    async def work() -> None:
        async with opened(home, url) as ezra:
            found = await ezra.session_graphs()
        if json:
            screen.document([graph.model_dump(mode="json") for graph in found])
            return
        for graph in found:
            above = f"  inherits from {', '.join(graph.inherits_from)}" if graph.parents else ""
            screen.line(f"{graph.state:<8}  {graph.id}{above}")

    run(work())


@graph_app.command("show", epilog="Example: ezra graph show imola --json")
def show(graph: GraphId, home: Home = None, url: Url = None, json: Json = False) -> None:
    """Show a graph's members, its ancestors with their paths, and what was used of its budget."""
    screen = Screen()

    async def work() -> None:
        async with opened(home, url) as ezra:
            chosen = await ezra.session_graph(graph)
            status, members = await chosen.status(), await chosen.agents()
            used = await chosen.usage_by_agent()
        if json:
            agents = [member.model_dump(mode="json") for member in members]
            screen.document({**asdict(status), "members": agents, "usage_by_agent": used})
            return
        screen.status(graph, status)
        for ancestor in status.lineage:
            screen.line(f"inherits from {_described(ancestor)}")
        for member in members:
            state = "present" if member.left_at is None else f"left {member.left_at:%Y-%m-%d %H:%M}"
            released = " (was silent)" if member.released else ""
            spent = used.get(member.id)
            wrote = f", {spent.writes} writes, {spent.tokens} tokens" if spent else ""
            screen.line(f"{member.id}: {state}{released}{wrote}")

    run(work())


@graph_app.command(
    "inherit", epilog="Example: ezra graph inherit imola monaco --as-of 2026-05-14T15:04:00"
)
def inherit(
    graph: GraphId,
    parent: ParentId,
    as_of: AsOf = None,
    rules: Rules = True,
    episodes: Episodes = False,
    home: Home = None,
    url: Url = None,
    json: Json = False,
) -> None:
    """Let a graph inherit from one more graph, after those it has."""
    link = Parent(id=parent, as_of=in_utc(as_of), rules=rules, episodes=episodes)

    async def work(chosen: Graph) -> dict[str, Any]:
        await chosen.inherit(link)
        return {"graph": graph, "inherits_from": list(chosen.inherits_from)}

    _with(graph, home, url, json, work, f"{graph} inherits from {parent}")


@graph_app.command("revoke", epilog="Example: ezra graph revoke imola monaco")
def revoke(
    graph: GraphId, parent: ParentId, home: Home = None, url: Url = None, json: Json = False
) -> None:
    """Let a graph inherit from a parent no longer. Holds from every agent's next turn on."""

    async def work(chosen: Graph) -> dict[str, Any]:
        return {"graph": graph, "parent": parent, "revoked": await chosen.revoke(parent)}

    _with(graph, home, url, json, work, f"{graph} inherits from {parent} no longer")


@graph_app.command("budget", epilog="Example: ezra graph budget imola --tokens 500000")
def budget(
    graph: GraphId,
    tokens: Tokens = None,
    model_calls: ModelCalls = None,
    writes: Writes = None,
    home: Home = None,
    url: Url = None,
    json: Json = False,
) -> None:
    """Replace a graph's budget; what is not given is unlimited."""
    limits = Budget(tokens=tokens, model_calls=model_calls, writes=writes)

    async def work(chosen: Graph) -> dict[str, Any]:
        await chosen.configure(budget=limits)
        return {"graph": graph, "budget": limits, "used": await chosen.usage()}

    _with(graph, home, url, json, work, f"{graph} may use {_limits(limits)}")


@graph_app.command(
    "retention",
    epilog="Examples: ezra graph retention imola --plan free  ·  "
    "ezra graph retention imola --archive-after-days 7",
)
def retention(
    graph: GraphId,
    plan: Annotated[
        str | None,
        typer.Option(
            help="keep, free, starter, pro, or such as working=48h,daily=30d,weekly=6w.",
            show_default="EZRA_RETENTION_PLAN",
        ),
    ] = None,
    summary_ttl_hours: Annotated[
        float | None, typer.Option(help="Life of a warm summary.", show_default="EZRA_…")
    ] = None,
    archive_after_days: Annotated[
        float | None,
        typer.Option(help="Idle days until it is archived.", show_default="EZRA_…"),
    ] = None,
    beliefs_days: Annotated[
        float | None,
        typer.Option(
            help="Days that a belief's content is kept after it ended.", show_default="for ever"
        ),
    ] = None,
    superseded_facts_days: Annotated[
        float | None,
        typer.Option(help="The same of a fact that gave way.", show_default="EZRA_…"),
    ] = None,
    forgotten_facts_days: Annotated[
        float | None,
        typer.Option(help="The same of a forgotten fact.", show_default="EZRA_…"),
    ] = None,
    home: Home = None,
    url: Url = None,
    json: Json = False,
) -> None:
    """Replace what a graph keeps longer or shorter than the settings say."""
    own = checked(
        Retention,
        plan=plan,
        summary_ttl_hours=summary_ttl_hours,
        archive_after_days=archive_after_days,
        beliefs_days=beliefs_days,
        superseded_facts_days=superseded_facts_days,
        forgotten_facts_days=forgotten_facts_days,
    )

    async def work(chosen: Graph) -> dict[str, Any]:
        await chosen.configure(retention=own)
        return {"graph": graph, "retention": own}

    _with(graph, home, url, json, work, f"{graph}: retention replaced")


@graph_app.command("close", epilog="Example: ezra graph close imola")
def close(graph: GraphId, home: Home = None, url: Url = None, json: Json = False) -> None:
    """Let every agent leave, clear hot memory and keep everything else."""

    async def work(chosen: Graph) -> dict[str, Any]:
        await chosen.close()
        return {"graph": graph, "state": "closed"}

    _with(graph, home, url, json, work, f"{graph} is closed")


@graph_app.command("reopen", epilog="Example: ezra graph reopen imola")
def reopen(graph: GraphId, home: Home = None, url: Url = None, json: Json = False) -> None:
    """Open a closed graph again. Spawning an agent does it too."""

    async def work(chosen: Graph) -> dict[str, Any]:
        return {"graph": graph, "state": "active", "reopened": await chosen.reopen()}

    _with(graph, home, url, json, work, f"{graph} is open")


@graph_app.command("archive", epilog="Example: ezra graph archive imola")
def archive(graph: GraphId, home: Home = None, url: Url = None, json: Json = False) -> None:
    """Close a graph and make it read-only: it can be recalled and inherited from."""

    async def work(chosen: Graph) -> dict[str, Any]:
        return {"graph": graph, "state": "archived", "archived": await chosen.archive()}

    _with(graph, home, url, json, work, f"{graph} is archived")


@graph_app.command("redact", epilog="Example: ezra graph redact imola ID ID --reason 'GDPR 17'")
def redact(
    graph: GraphId,
    records: Annotated[list[str], typer.Argument(help="Ids of turns, facts, rules, summaries.")],
    reason: Annotated[str, typer.Option(help="Why; kept in the audit feed.")],
    home: Home = None,
    url: Url = None,
    json: Json = False,
) -> None:
    """Destroy the content of records, and of all that was made of them, in every store."""

    async def work(chosen: Graph) -> dict[str, Any]:
        return asdict(await chosen.redact(records, reason=reason))

    _with(graph, home, url, json, work, f"{len(records)} records of {graph} redacted")


@graph_app.command(
    "erase",
    epilog="Examples: ezra graph erase imola --subject 'Jane Miller' --reason 'GDPR 17' --dry-run"
    "  ·  ezra graph erase imola --user jane --reason 'GDPR 17' --json",
)
def erase(
    graph: GraphId,
    reason: Annotated[str, typer.Option(help="Why; kept in the audit feed.")],
    subject: Annotated[
        str | None, typer.Option(help="A name: what speaks of it, as whole words.")
    ] = None,
    user: Annotated[str | None, typer.Option(help="A person: what belongs to them.")] = None,
    agent: Annotated[str | None, typer.Option(help="An agent: what it wrote.")] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only list the records that would go.")
    ] = False,
    home: Home = None,
    url: Url = None,
    json: Json = False,
) -> None:
    """Destroy all that is of a subject, a user or an agent, in every store, with a receipt."""
    if dry_run:
        _list_holding(home, url, graph, json, Whose(subject, user, agent))
        return

    async def work(chosen: Graph) -> dict[str, Any]:
        erased = chosen.erase(subject=subject, user_id=user, agent_id=agent, reason=reason)
        return asdict(await erased)

    _with(graph, home, url, json, work, f"{subject or user or agent} erased from {graph}")


@graph_app.command(
    "purge", epilog="Example: ezra graph purge imola --reason 'contract ended' --yes"
)
def purge(
    graph: GraphId,
    reason: Annotated[str, typer.Option(help="Why; kept in the audit feed.")],
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    home: Home = None,
    url: Url = None,
    json: Json = False,
) -> None:
    """Destroy everything that a graph holds, in every store, with a receipt. Its rows stay."""
    if not yes and not typer.confirm(f"Destroy all of {graph}?", default=False, err=True):
        raise typer.Exit(1)

    async def work(chosen: Graph) -> dict[str, Any]:
        return asdict(await chosen.purge(reason=reason))

    _with(graph, home, url, json, work, f"everything in {graph} destroyed")


@graph_app.command("branch", epilog="Example: ezra graph branch imola what-if --turn 15")
def branch(
    graph: GraphId,
    session_graph_id: Annotated[str, typer.Argument(help="The branch; a new graph.")],
    turn: Annotated[int | None, typer.Option(help="Leave after this turn.", min=0)] = None,
    time: Annotated[datetime | None, typer.Option(help="Leave at this time (UTC).")] = None,
    home: Home = None,
    url: Url = None,
    json: Json = False,
) -> None:
    """Make a graph that begins with what another believed at a moment, and goes on alone."""

    async def work(chosen: Graph) -> dict[str, Any]:
        made = await chosen.branch(session_graph_id=session_graph_id, turn=turn, time=in_utc(time))
        origin = await made.beliefs.origin()
        return {"graph": made.id, "origin": origin}

    _with(graph, home, url, json, work, f"{session_graph_id} branched from {graph}")


@graph_app.command("diff", epilog="Example: ezra graph diff what-if imola")
def diff(
    graph: GraphId,
    other: Annotated[str, typer.Argument(help="The graph to compare with.")],
    home: Home = None,
    url: Url = None,
    json: Json = False,
) -> None:
    """Show how what another graph believes differs from what this one does."""
    screen = Screen()

    async def found() -> BeliefDiff:
        async with opened(home, url) as ezra:
            # Both come through one door, which no type says of two unions.
            chosen: Any = await ezra.session_graph(graph)
            told: BeliefDiff = await chosen.diff(await ezra.session_graph(other))
            return told

    difference = run(found())
    if json:
        screen.document(document_of_diff(difference))
        return
    for line in lines_of_diff(difference):
        screen.line(line)


def _told(
    home: Path | None,
    url: str | None,
    json: bool,
    work: Callable[[AnyEzra], Awaitable[dict[str, Any]]],
    line: str,
    *,
    creates: bool = False,
) -> None:
    """Run ``work`` on the runtime and print what it returns, or for people one line."""
    screen = Screen()

    async def asked() -> dict[str, Any]:
        async with opened(home, url, creates=creates) as ezra:
            return await work(ezra)

    found = run(asked())
    if json:
        screen.document(found)
    else:
        screen.line(line)


def _with(
    graph: str,
    home: Path | None,
    url: str | None,
    json: bool,
    work: Callable[[Graph], Awaitable[dict[str, Any]]],
    line: str,
) -> None:
    async def on_graph(ezra: AnyEzra) -> dict[str, Any]:
        return await work(await ezra.session_graph(graph))

    _told(home, url, json, on_graph, line)


def _list_holding(home: Path | None, url: str | None, graph: str, json: bool, whose: Whose) -> None:
    """List what an erasure would redact, page by page as it is found."""
    screen = Screen()

    async def pages(chosen: Graph) -> list[HeldRecord]:
        held: list[HeldRecord] = []
        cursor: str | None = ""
        while cursor is not None and len(held) < HELD_SHOWN_MAX:
            page = await chosen.holding(
                subject=whose.subject,
                user_id=whose.user_id,
                agent_id=whose.agent_id,
                cursor=cursor,
            )
            held += page.records
            cursor = page.cursor
        return held

    found = on_graph(home, url, graph, pages)
    if json:
        screen.document({"graph": graph, "records": [plain(one) for one in found]})
        return
    for one in found:
        who = one.agent_id or "nobody"
        screen.line(f"{one.kind}  {one.id}  by {who}, {one.recorded_at:%Y-%m-%d %H:%M}")
        screen.line(f"  {shortened(one.text) or '(emptied by retention)'}")
    more = ", and perhaps more" if len(found) >= HELD_SHOWN_MAX else ""
    screen.note(f"{len(found):,} records{more}; nothing was erased")


def _described(ancestor: Ancestor) -> str:
    path = " > ".join(ancestor.path)
    moment = f" as of {ancestor.as_of:%Y-%m-%d %H:%M:%S}" if ancestor.as_of else ""
    return f"{path}{moment}, with {', '.join(('core facts', *ancestor.carries))}"


def _limits(budget: Budget) -> str:
    limits = [f"{limit} {name.replace('_', ' ')}" for name, limit in budget if limit is not None]
    return ", ".join(limits) or "anything"
