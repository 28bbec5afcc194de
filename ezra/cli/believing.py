"""The commands about beliefs: commit, look, take back, keep first, trust, prove."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any

import typer

from tiers.records import BeliefEvent, Changed, Commitment, HistoricBelief, LoggedBelief

from . import audit, proofs
from .agents import AgentId, member_of
from .beliefs import claim_of, row_of
from .doors import Url, opened
from .moments import point_of
from .options import GraphId, Home, Json, run
from .plain import plain
from .proofs import on_history
from .screen import Screen

beliefs_app = typer.Typer(
    help="Beliefs: what agents committed to, who contradicted it, and what became of it.",
    no_args_is_help=True,
)

BeliefId = Annotated[str, typer.Argument(help="The belief's id.")]
Reason = Annotated[str, typer.Option(help="Why; kept in the log.")]
After = Annotated[int, typer.Option(help="Where the page before ended.", min=0)]
Events = Annotated[int, typer.Option(help="The most events to read.", min=1, max=10_000)]
Turn = Annotated[int | None, typer.Option(help="A turn of the graph, from 1.", min=0)]
Seq = Annotated[int | None, typer.Option(help="An event of the log.", min=0)]

_HEADINGS = ("belief", "recorded", "agent", "topic", "trust", "claim")


@beliefs_app.command(
    "commit",
    epilog="Examples: ezra beliefs commit imola strategist 'Start on mediums.' --topic tyres  ·  "
    "ezra beliefs commit imola strategist 'Mediums.' --key start compound --value medium --json",
)
def commit(
    graph: GraphId,
    agent: AgentId,
    claim: Annotated[str, typer.Argument(help="The belief in words.")],
    topic: Annotated[
        str | None, typer.Option(help="One of the agent's topics; all of them if not given.")
    ] = None,
    key: Annotated[
        tuple[str, str] | None,
        typer.Option(metavar="SUBJECT ATTRIBUTE", help="What it is about."),
    ] = None,
    value: Annotated[str | None, typer.Option(help="What the attribute is held to be.")] = None,
    source: Annotated[
        list[str] | None, typer.Option(help="Id of a turn or fact that it rests on. Repeatable.")
    ] = None,
    private: Annotated[bool, typer.Option("--private", help="Only this agent may see it.")] = False,
    ref: Annotated[
        str | None, typer.Option(help="Your name for it; under it it is committed once.")
    ] = None,
    home: Home = None,
    url: Url = None,
    json: Json = False,
) -> None:
    """Commit to a belief as an agent; what contradicts it is settled by the graph's strategy.

    Says who won where another belief stood against it.
    """
    screen = Screen()

    async def work() -> Commitment:
        async with opened(home, url) as ezra:
            member = await member_of(ezra, graph, agent)
            return await member.commit(
                claim,
                topic=topic,
                key=key,
                value=value,
                sources=tuple(source or ()),
                private=private,
                ref=ref,
            )

    found = run(work())
    if json:
        screen.document(plain(found))
        return
    screen.line(f"{found.id}  {claim_of(found)}")
    if isinstance(found, HistoricBelief) and found.status != "active":
        screen.line(f"  {found.status}: {found.superseded_by or 'another belief'} stands instead")


@beliefs_app.command(
    "active",
    epilog="Examples: ezra beliefs active imola  ·  "
    "ezra beliefs active imola --agent strategist --as-of 15 --json",
)
def active(
    graph: GraphId,
    agent: Annotated[
        str | None, typer.Option(help="As this member sees it; default: the whole graph.")
    ] = None,
    as_of: Annotated[
        str | None,
        typer.Option("--as-of", help="At this time or turn.", show_default="now"),
    ] = None,
    home: Home = None,
    url: Url = None,
    json: Json = False,
) -> None:
    """Show what is believed, in order of commitment."""
    screen = Screen()
    point = None if as_of is None else point_of("--as-of", as_of)

    async def work() -> tuple[Commitment, ...]:
        async with opened(home, url) as ezra:
            if agent is not None:
                return await (await member_of(ezra, graph, agent)).beliefs(point)
            history = (await ezra.session_graph(graph)).beliefs
            return await (history.active() if point is None else history.as_of(point))

    found = run(work())
    if json:
        screen.document([plain(one) for one in found])
        return
    screen.table(_HEADINGS, [(*row_of(one), f"{one.trust:.2f}", claim_of(one)) for one in found])


@beliefs_app.command(
    "contradictions",
    epilog="Examples: ezra beliefs contradictions imola  ·  "
    "ezra beliefs contradictions imola --after 1000 --json",
)
def contradictions(
    graph: GraphId,
    after: After = 0,
    limit: Events = 1_000,
    home: Home = None,
    url: Url = None,
    json: Json = False,
) -> None:
    """Show which beliefs were held against each other, who won, and why."""
    screen = Screen()
    page = on_history(home, url, graph, lambda history: history.logged(after, limit))
    found = [(one.event, one.said) for one in page if one.event.kind == "contradicted"]
    if json:
        screen.document([{**plain(event), "decision": said} for event, said in found])
    else:
        for event, said in found:
            for line in _decision(event, said):
                screen.line(line)
    _tell_more(screen, page, limit)


@beliefs_app.command(
    "log", epilog="Examples: ezra beliefs log imola  ·  ezra beliefs log imola --after 500 --json"
)
def log(
    graph: GraphId,
    after: After = 0,
    limit: Events = 1_000,
    contents: Annotated[
        bool, typer.Option("--contents", help="With what was said; --json only.")
    ] = False,
    home: Home = None,
    url: Url = None,
    json: Json = False,
) -> None:
    """Show the log, event by event: who changed what when."""
    screen = Screen()
    page = on_history(home, url, graph, lambda history: history.logged(after, limit))
    if json:
        screen.document([plain(one) if contents else plain(one.event) for one in page])
    else:
        screen.table(
            ("seq", "recorded", "turn", "kind", "by", "belief"),
            [_event_row(one.event) for one in page],
        )
    _tell_more(screen, page, limit)


@beliefs_app.command("replay", epilog="Example: ezra beliefs replay imola 15 --json")
def replay(
    graph: GraphId,
    turn: Annotated[int, typer.Argument(help="A turn of the graph, from 1.")],
    home: Home = None,
    url: Url = None,
    json: Json = False,
) -> None:
    """Show what a turn said, and what it did to the beliefs."""
    screen = Screen()
    found = on_history(home, url, graph, lambda history: history.replay(turn))
    if json:
        screen.document(plain(found))
        return
    if found.turn is None:
        screen.line(f"turn {turn}: none is stored")
    else:
        screen.line(f"turn {turn}: {found.turn.speaker}: {' '.join(found.turn.input.split())}")
    for event in found.events:
        screen.line("  ".join(_event_row(event)))
    before, after = ({one.id: one for one in them} for them in (found.before, found.after))
    for name, belief in before.items():
        if name not in after:
            screen.line(f"- {claim_of(belief)}")
    for name, belief in after.items():
        if name not in before:
            screen.line(f"+ {claim_of(belief)}")
    screen.line(f"{len(before)} beliefs before, {len(after)} after")


@beliefs_app.command(
    "retract", epilog="Example: ezra beliefs retract imola 01985a4c-… --reason 'it was a test'"
)
def retract(
    graph: GraphId,
    belief: BeliefId,
    reason: Reason,
    home: Home = None,
    url: Url = None,
    json: Json = False,
) -> None:
    """Take an active belief back; what it had superseded is active again.

    So a contradiction is settled the other way: retract the one that won.
    """
    done = on_history(home, url, graph, lambda history: history.revert(belief, reason=reason))
    _changed(done, json=json)


@beliefs_app.command(
    "rewind",
    epilog="Examples: ezra beliefs rewind imola --turn 15 --reason 'what came after was a test'  ·"
    "  ezra beliefs rewind imola --time 2026-05-14T15:04 --reason mistaken --json",
)
def rewind(
    graph: GraphId,
    reason: Reason,
    turn: Turn = None,
    time: Annotated[str | None, typer.Option(help="A time (UTC unless it says so).")] = None,
    seq: Seq = None,
    home: Home = None,
    url: Url = None,
    json: Json = False,
) -> None:
    """Let exactly those beliefs be active again that were at a moment. The log goes on."""
    at = None if time is None else point_of("--time", time)
    done = on_history(
        home,
        url,
        graph,
        lambda history: history.rewind(at, turn=turn, seq=seq, reason=reason),
    )
    _changed(done, json=json)


@beliefs_app.command(
    "redact", epilog="Example: ezra beliefs redact imola 01985a4c-… --reason 'GDPR 17'"
)
def redact(
    graph: GraphId,
    belief: BeliefId,
    reason: Reason,
    home: Home = None,
    url: Url = None,
    json: Json = False,
) -> None:
    """Destroy a belief's content for good, in every store and every branch. The chain holds."""
    screen = Screen()
    done = on_history(home, url, graph, lambda history: history.redact(belief, reason=reason))
    if json:
        screen.document(plain(done))
    else:
        count = sum(len(ids) for ids in done.ids.values())
        screen.line(f"{belief} redacted, {count} records and receipts in all")
        for store, why in done.waiting.items():
            screen.line(f"not clean yet: {store}: {why}")


@beliefs_app.command(
    "pin",
    epilog="Examples: ezra beliefs pin imola 01985a4c-…  ·  "
    "ezra beliefs pin imola 01985a4c-… --agent strategist",
)
def pin(
    graph: GraphId,
    belief: BeliefId,
    agent: Annotated[str | None, typer.Option(help="In the contexts of this member only.")] = None,
    home: Home = None,
    url: Url = None,
    json: Json = False,
) -> None:
    """Let an active belief come first in every context of those who see it."""

    async def work() -> Commitment:
        async with opened(home, url) as ezra:
            if agent is not None:
                return await (await member_of(ezra, graph, agent)).pin(belief)
            return await (await ezra.session_graph(graph)).beliefs.pin(belief)

    _one(run(work()), "pinned", json=json)


@beliefs_app.command("unpin", epilog="Example: ezra beliefs unpin imola 01985a4c-…")
def unpin(
    graph: GraphId, belief: BeliefId, home: Home = None, url: Url = None, json: Json = False
) -> None:
    """Let a belief no longer come first."""
    _one(on_history(home, url, graph, lambda history: history.unpin(belief)), "unpinned", json=json)


def _changed(done: Changed, *, json: bool) -> None:
    screen = Screen()
    if json:
        screen.document(plain(done))
        return
    for ended in done.ended:
        screen.line(f"- {ended}")
    for restored in done.restored:
        screen.line(f"+ {restored}")
    screen.line(f"{len(done.ended)} ended, {len(done.restored)} active again")


def _one(belief: Commitment, what: str, *, json: bool) -> None:
    screen = Screen()
    if json:
        screen.document(plain(belief))
    else:
        screen.line(f"{what} {belief.id}: {claim_of(belief)}")


def _decision(event: BeliefEvent, said: Mapping[str, Any] | None) -> list[str]:
    head = f"#{event.seq}  {event.recorded_at:%Y-%m-%d %H:%M:%S}  {event.belief_id}"
    if not said:
        return [f"{head}  (its content was destroyed)"]
    winner = f"{said['winner']} won by {said['strategy']}, found by {said['found_by']}"
    reason = f"  {said['reason']}" if said["reason"] else ""
    return [f"{head}  against {said['rival_id']}", f"  {winner}.{reason}"]


def _event_row(event: BeliefEvent) -> tuple[str, ...]:
    return (
        str(event.seq),
        f"{event.recorded_at:%Y-%m-%d %H:%M:%S}",
        str(event.turn),
        event.kind,
        event.agent_id or "ezra",
        event.belief_id or "-",
    )


def _tell_more(screen: Screen, page: Sequence[LoggedBelief], limit: int) -> None:
    if len(page) == limit:
        screen.note(f"there may be more: --after {page[-1].event.seq}")


_SHOWN_ELSEWHERE: Sequence[tuple[str, Callable[..., None], str]] = (
    (
        "history",
        audit.query,
        "Example: ezra beliefs history imola --agent strategist --status superseded --json",
    ),
    ("as-of", audit.as_of, "Example: ezra beliefs as-of imola 2026-05-14T15:04 --json"),
    ("diff", audit.diff, "Example: ezra beliefs diff imola 10 15"),
    ("explain", audit.explain, "Example: ezra beliefs explain imola 01985a4c-… --json"),
    ("verify", audit.check, "Example: ezra beliefs verify imola"),
    (
        "export-proof",
        audit.export,
        "Example: ezra beliefs export-proof imola -o imola.jsonl; ezra audit verify imola.jsonl",
    ),
    ("sign", audit.sign, "Example: ezra beliefs sign imola > head.json"),
    (
        "trust",
        proofs.trust,
        "Example: ezra beliefs trust imola strategist --topic tyres --set 0.5 --reason 'a guess'",
    ),
    ("heads", proofs.heads, "Example: ezra beliefs heads imola --json"),
    ("prove", proofs.prove, "Example: ezra beliefs prove imola 12 --size 40 --json"),
    ("prove-growth", proofs.prove_growth, "Example: ezra beliefs prove-growth imola 40 --json"),
    ("origin", proofs.origin, "Example: ezra beliefs origin what-if"),
)
"""What the auditor's commands say too, and what has a file of its own."""

for _name, _command, _epilog in _SHOWN_ELSEWHERE:
    beliefs_app.command(_name, epilog=_epilog)(_command)
