"""The commands about session graphs: how they inherit, what they may use, what becomes of them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tiers.errors import UsageError
from tiers.records import AgentRecord, Ancestor, Budget, MergeStrategy, Parent, Retention, Usage

from ..checks import checked
from ..erasure.subjects import Whose
from .belief_lines import document_of_diff, lines_of_diff
from .cleaning import redaction_answer
from .command import Answer, Note, Part, command, group, plain
from .doors import InGraph, Memory
from .options import ModelCalls, Reason, Tokens, Writes, one_of
from .turns import shortened

if TYPE_CHECKING:
    from ..erasure.holdings import HeldRecord
    from ..handles.graph import Graph
    from ..moving.graph_status import GraphStatus

graph_app = group("Session graphs: inheritance, budgets, states, redaction.")

STRATEGIES: tuple[MergeStrategy, ...] = ("last_write_wins", "highest_trust", "manual")
"""A resolver of one's own is code: ``custom`` is for programs."""

HELD_SHOWN_MAX = 10_000
"""So many records a rehearsal of an erasure lists."""

ParentId = Annotated[str, typer.Argument(help="The graph inherited from.")]
Rules = Annotated[bool, typer.Option("--rules/--no-rules", help="Whether rules come through.")]
Episodes = Annotated[
    bool, typer.Option("--episodes/--no-episodes", help="Whether episodes come through.")
]


@command(graph_app)
async def create(
    at: InGraph,
    inherits_from: list[str] | None = None,
    rules: Rules = True,
    episodes: Episodes = False,
    merge_strategy: Annotated[str | None, typer.Option(show_default="last_write_wins")] = None,
    exist_ok: bool = False,
    plan: Annotated[str | None, typer.Option(show_default="EZRA_RETENTION_PLAN")] = None,
    tokens: Tokens = None,
    model_calls: ModelCalls = None,
    writes: Writes = None,
) -> Answer:
    """Create a session graph.

    Args:
        inherits_from: A graph to inherit from. Repeatable, in order.
        merge_strategy: last_write_wins, highest_trust, or manual for who has a callback.
        exist_ok: Take a graph of that name that is there, if it has the same parents, and the
            same merge strategy if one is given.
        plan: Retention plan.

    Examples:
        ezra graph create imola --inherits-from monaco --writes 10000
    """
    asked = merge_strategy
    strategy = None if asked is None else one_of("merge_strategy", asked, STRATEGIES)
    made = await (await at.open(creates=True)).create_session_graph(
        at.graph,
        merge_strategy=strategy,
        retention=checked(Retention, plan=plan),
        inherits_from=inherits_from or [],
        inherit_rules=rules,
        inherit_episodes=episodes,
        budget=Budget(tokens=tokens, model_calls=model_calls, writes=writes),
        exist_ok=exist_ok,
    )
    document = {"graph": made.id, "inherits_from": made.inherits_from}
    return Answer(document, f"{at.graph} is there" if exist_ok else f"{at.graph} created")


@command(graph_app, "list")
async def list_graphs(memory: Memory) -> Answer:
    """List the session graphs of the tenant, oldest first.

    Examples:
        ezra graph list --json
    """
    found = await (await memory.open()).session_graphs()
    above = {
        one.id: f"  inherits from {', '.join(one.inherits_from)}" for one in found if one.parents
    }
    return Answer(found, [f"{one.state:<8}  {one.id}{above.get(one.id, '')}" for one in found])


@command(graph_app)
async def show(at: InGraph) -> Answer:
    """Show a graph's members, its ancestors with their paths, and what was used of its budget.

    Examples:
        ezra graph show imola --json
    """
    chosen = await at.held()
    status, members = await chosen.status(), await chosen.agents()
    used = await chosen.usage_by_agent()
    document = {**plain(status), "members": members, "usage_by_agent": used}
    return Answer(document, _shown(at.graph, status, members, used))


@command(graph_app)
async def inherit(
    at: InGraph,
    parent: ParentId,
    as_of: Annotated[datetime | None, typer.Option(show_default="as it is")] = None,
    rules: Rules = True,
    episodes: Episodes = False,
) -> Answer:
    """Let a graph inherit from one more graph, after those it has.

    Args:
        as_of: Read it as it was at this moment (UTC).

    Examples:
        ezra graph inherit imola monaco --as-of 2026-05-14T15:04:00
    """
    link = checked(Parent, id=parent, as_of=as_of, rules=rules, episodes=episodes)
    chosen = await at.held()
    await chosen.inherit(link)
    document = {"graph": at.graph, "inherits_from": chosen.inherits_from}
    return Answer(document, f"{at.graph} inherits from {parent}")


@command(graph_app)
async def revoke(at: InGraph, parent: ParentId) -> Answer:
    """Let a graph inherit from a parent no longer. Holds from every agent's next turn on.

    Examples:
        ezra graph revoke imola monaco
    """
    revoked = await (await at.held()).revoke(parent)
    document = {"graph": at.graph, "parent": parent, "revoked": revoked}
    told = f"{at.graph} inherits from {parent} no longer"
    return Answer(document, told if revoked else f"{at.graph} does not inherit from {parent}")


@command(graph_app)
async def budget(
    at: InGraph,
    tokens: Tokens = None,
    model_calls: ModelCalls = None,
    writes: Writes = None,
) -> Answer:
    """Replace a graph's budget; what is not given is unlimited.

    Examples:
        ezra graph budget imola --tokens 500000
    """
    limits = Budget(tokens=tokens, model_calls=model_calls, writes=writes)
    chosen = await at.held()
    await chosen.configure(budget=limits)
    document = {"graph": at.graph, "budget": limits, "used": await chosen.usage()}
    return Answer(document, f"{at.graph} may use {_limits(limits)}")


@command(graph_app)
async def retention(
    at: InGraph,
    plan: Annotated[str | None, typer.Option(show_default="EZRA_RETENTION_PLAN")] = None,
    summary_ttl_hours: Annotated[float | None, typer.Option(show_default="EZRA_…")] = None,
    archive_after_days: Annotated[float | None, typer.Option(show_default="EZRA_…")] = None,
    beliefs_days: Annotated[float | None, typer.Option(show_default="for ever")] = None,
    superseded_facts_days: Annotated[float | None, typer.Option(show_default="EZRA_…")] = None,
    forgotten_facts_days: Annotated[float | None, typer.Option(show_default="EZRA_…")] = None,
) -> Answer:
    """Replace what a graph keeps longer or shorter than the settings say.

    Args:
        plan: keep, free, starter, pro, or such as working=48h,daily=30d,weekly=6w.
        summary_ttl_hours: Life of a warm summary.
        archive_after_days: Idle days until it is archived.
        beliefs_days: Days that a belief's content is kept after it ended.
        superseded_facts_days: The same of a fact that gave way.
        forgotten_facts_days: The same of a forgotten fact.

    Examples:
        ezra graph retention imola --plan free
        ezra graph retention imola --archive-after-days 7
    """
    own = checked(
        Retention,
        plan=plan,
        summary_ttl_hours=summary_ttl_hours,
        archive_after_days=archive_after_days,
        beliefs_days=beliefs_days,
        superseded_facts_days=superseded_facts_days,
        forgotten_facts_days=forgotten_facts_days,
    )
    await (await at.held()).configure(retention=own)
    return Answer({"graph": at.graph, "retention": own}, f"{at.graph}: retention replaced")


@command(graph_app)
async def close(at: InGraph) -> Answer:
    """Let every agent leave, clear hot memory and keep everything else.

    Examples:
        ezra graph close imola
    """
    await (await at.held()).close()
    return Answer({"graph": at.graph, "state": "closed"}, f"{at.graph} is closed")


@command(graph_app)
async def reopen(at: InGraph) -> Answer:
    """Open a closed graph again. Spawning an agent does it too.

    Examples:
        ezra graph reopen imola
    """
    reopened = await (await at.held()).reopen()
    document = {"graph": at.graph, "state": "active", "reopened": reopened}
    return Answer(document, f"{at.graph} is open")


@command(graph_app)
async def archive(at: InGraph) -> Answer:
    """Close a graph and make it read-only: it can be recalled and inherited from.

    Examples:
        ezra graph archive imola
    """
    archived = await (await at.held()).archive()
    document = {"graph": at.graph, "state": "archived", "archived": archived}
    return Answer(document, f"{at.graph} is archived")


@command(graph_app)
async def redact(at: InGraph, records: list[str], reason: Reason) -> Answer:
    """Destroy the content of records, and of all that was made of them, in every store.

    Args:
        records: Ids of turns, facts, rules, summaries.

    Examples:
        ezra graph redact imola ID ID --reason 'GDPR 17'
    """
    done = await (await at.held()).redact(records, reason=reason)
    return redaction_answer(done, f"{len(records)} records of {at.graph} redacted")


@command(graph_app)
async def erase(
    at: InGraph,
    reason: Reason = "",
    subject: str | None = None,
    user: str | None = None,
    agent: str | None = None,
    dry_run: bool = False,
) -> Answer:
    """Destroy all that is of a subject, a user or an agent, in every store, with a receipt.

    If it was cut off, the same command finishes it.

    Args:
        subject: A name: what speaks of it, as whole words.
        user: A person: what belongs to them.
        agent: An agent: what it wrote.
        dry_run: Only list the records that would go; needs no reason.

    Examples:
        ezra graph erase imola --subject 'Jane Miller' --dry-run
        ezra graph erase imola --user jane --reason 'GDPR 17' --json
    """
    chosen = await at.held()
    if dry_run:
        found = await _holding(chosen, Whose(subject, user, agent))
        return Answer({"graph": at.graph, "records": found}, _holdings(found))
    if not reason:
        raise UsageError("--reason", None, "why; without it only --dry-run")
    erased = await chosen.erase(subject=subject, user_id=user, agent_id=agent, reason=reason)
    return redaction_answer(erased, f"{subject or user or agent} erased from {at.graph}")


@command(graph_app)
async def purge(at: InGraph, reason: Reason, yes: bool = False) -> Answer:
    """Destroy everything that a graph holds, in every store, with a receipt. Its rows stay.

    Args:
        yes: Do not ask.

    Examples:
        ezra graph purge imola --reason 'contract ended' --yes
    """
    if not yes and not typer.confirm(f"Destroy all of {at.graph}?", default=False, err=True):
        raise typer.Exit(1)
    gone = await (await at.held()).purge(reason=reason)
    return redaction_answer(gone, f"everything in {at.graph} destroyed")


@command(graph_app)
async def branch(
    at: InGraph,
    session_graph_id: str,
    turn: Annotated[int | None, typer.Option(min=0)] = None,
    time: datetime | None = None,
) -> Answer:
    """Make a graph that begins with what another believed at a moment, and goes on alone.

    Args:
        session_graph_id: The branch; a new graph.
        turn: Leave after this turn.
        time: Leave at this time (UTC).

    Examples:
        ezra graph branch imola what-if --turn 15
    """
    origin = await at.held()
    made = await origin.branch(session_graph_id=session_graph_id, turn=turn, time=time)
    document = {"graph": made.id, "origin": await made.beliefs.origin()}
    return Answer(document, f"{session_graph_id} branched from {at.graph}")


@command(graph_app)
async def diff(at: InGraph, other: str) -> Answer:
    """Show how what another graph believes differs from what this one does.

    Args:
        other: The graph to compare with.

    Examples:
        ezra graph diff what-if imola
    """
    # Both come through one door, which no type says of two unions.
    chosen: Any = await at.held()
    found = await chosen.diff(await at.session_graph(other))
    return Answer(document_of_diff(found), lines_of_diff(found))


async def _holding(chosen: Graph, whose: Whose) -> list[HeldRecord]:
    """List what an erasure would redact, page by page as it is found."""
    held: list[HeldRecord] = []
    cursor: str | None = ""
    while cursor is not None and len(held) < HELD_SHOWN_MAX:
        page = await chosen.holding(
            subject=whose.subject, user_id=whose.user_id, agent_id=whose.agent_id, cursor=cursor
        )
        held += page.records
        cursor = page.cursor
    return held


def _holdings(found: list[HeldRecord]) -> Iterator[Part]:
    for one in found:
        who = one.agent_id or "nobody"
        yield f"{one.kind}  {one.id}  by {who}, {one.recorded_at:%Y-%m-%d %H:%M}"
        yield f"  {shortened(one.text) or '(emptied by retention)'}"
    more = ", and perhaps more" if len(found) >= HELD_SHOWN_MAX else ""
    yield Note(f"{len(found):,} records{more}; nothing was erased")


def _shown(
    graph: str, status: GraphStatus, members: tuple[AgentRecord, ...], used: dict[str, Usage]
) -> Iterator[Part]:
    yield lambda screen: screen.status(graph, status)
    for ancestor in status.lineage:
        yield f"inherits from {_described(ancestor)}"
    for member in members:
        state = "present" if member.left_at is None else f"left {member.left_at:%Y-%m-%d %H:%M}"
        released = " (was silent)" if member.released else ""
        spent = used.get(member.id)
        wrote = f", {spent.writes} writes, {spent.tokens} tokens" if spent else ""
        yield f"{member.id}: {state}{released}{wrote}"


def _described(ancestor: Ancestor) -> str:
    path = " > ".join(ancestor.path)
    moment = f" as of {ancestor.as_of:%Y-%m-%d %H:%M:%S}" if ancestor.as_of else ""
    return f"{path}{moment}, with {', '.join(('core facts', *ancestor.carries))}"


def _limits(budget: Budget) -> str:
    limits = [f"{limit} {name.replace('_', ' ')}" for name, limit in budget if limit is not None]
    return ", ".join(limits) or "anything"
