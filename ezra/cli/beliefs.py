"""The commands about beliefs: commit, look, take back, keep first, trust, prove."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any

import typer

from tiers.errors import UsageError
from tiers.records import BeliefEvent, Changed, HistoricBelief, LoggedBelief

from ..beliefs.replayed_turn import ReplayedTurn
from . import audit
from .belief_lines import CLAIMS, BeliefId, claim_of, claim_row, history_of, point_of
from .cleaning import redaction_answer
from .command import Answer, Rows, command, further, group, plain
from .doors import InAgent, InGraph
from .options import Private

beliefs_app = group(
    "Beliefs: what agents committed to, who contradicted it, and what became of it."
)

HEADS_SHOWN = 100

Reason = Annotated[str, typer.Option(help="Why; kept in the log.")]
After = Annotated[int, typer.Option(help="Where the page before ended.", min=0)]
Events = Annotated[int, typer.Option(help="The most events to read.", min=1, max=10_000)]
Size = Annotated[int | None, typer.Option(help="Of the head; the whole log if not given.", min=1)]


@command(beliefs_app)
async def commit(
    at: InAgent,
    claim: str,
    topic: str | None = None,
    key: Annotated[tuple[str, str] | None, typer.Option(metavar="SUBJECT ATTRIBUTE")] = None,
    value: str | None = None,
    source: list[str] | None = None,
    private: Private = False,
    ref: str | None = None,
) -> Answer:
    """Commit to a belief as an agent; what contradicts it is settled by the graph's strategy.

    Says who won where another belief stood against it.

    Args:
        claim: The belief in words.
        topic: One of the agent's topics; all of them if not given.
        key: What it is about.
        value: What the attribute is held to be.
        source: Id of a turn or fact that it rests on. Repeatable.
        ref: Your name for it; under it it is committed once.

    Examples:
        ezra beliefs commit imola strategist 'Start on mediums.' --topic tyres
        ezra beliefs commit imola strategist 'Mediums.' --key start compound --value medium --json
    """
    found = await (await at.member()).commit(
        claim,
        topic=topic,
        key=key,
        value=value,
        sources=tuple(source or ()),
        private=private,
        ref=ref,
    )
    lines = [f"{found.id}  {claim_of(found)}"]
    if isinstance(found, HistoricBelief) and found.status != "active":
        stands = found.superseded_by or "another belief"
        lines.append(f"  {found.status}: {stands} stands instead")
    return Answer(found, lines)


@command(beliefs_app)
async def active(
    at: InGraph,
    agent: str | None = None,
    as_of: Annotated[str | None, typer.Option(show_default="now")] = None,
) -> Answer:
    """Show what is believed, in order of commitment.

    Args:
        agent: As this member sees it; default: the whole graph.
        as_of: At this time or turn.

    Examples:
        ezra beliefs active imola
        ezra beliefs active imola --agent strategist --as-of 15 --json
    """
    point = None if as_of is None else point_of("--as-of", as_of)
    if agent is not None:
        found = await (await at.as_agent(agent)).beliefs(point)
    else:
        history = await history_of(at)
        found = await (history.active() if point is None else history.as_of(point))
    return Answer(found, [Rows(CLAIMS, list(map(claim_row, found)))])


@command(beliefs_app)
async def contradictions(at: InGraph, after: After = 0, limit: Events = 1_000) -> Answer:
    """Show which beliefs were held against each other, who won, and why.

    Examples:
        ezra beliefs contradictions imola
        ezra beliefs contradictions imola --after 1000 --json
    """
    page = await (await history_of(at)).logged(after, limit)
    found = [(one.event, one.said) for one in page if one.event.kind == "contradicted"]
    return Answer(
        [{**plain(event), "decision": decision} for event, decision in found],
        [line for event, decision in found for line in _decision(event, decision)],
        notes=_more(page, limit),
    )


@command(beliefs_app)
async def log(
    at: InGraph,
    after: After = 0,
    limit: Events = 1_000,
    contents: bool = False,
) -> Answer:
    """Show the log, event by event: who changed what when.

    Args:
        contents: With what was said; --json only.

    Examples:
        ezra beliefs log imola
        ezra beliefs log imola --after 500 --json
    """
    page = await (await history_of(at)).logged(after, limit)
    rows = [_event_row(one.event) for one in page]
    return Answer(
        page if contents else [one.event for one in page],
        [Rows(("seq", "recorded", "turn", "kind", "by", "belief"), rows)],
        notes=_more(page, limit),
    )


@command(beliefs_app)
async def replay(at: InGraph, turn: int) -> Answer:
    """Show what a turn said, and what it did to the beliefs.

    Args:
        turn: A turn of the graph, from 1.

    Examples:
        ezra beliefs replay imola 15 --json
    """
    found = await (await history_of(at)).replay(turn)
    return Answer(found, _replayed(turn, found))


@command(beliefs_app)
async def retract(at: InGraph, belief: BeliefId, reason: Reason) -> Answer:
    """Take an active belief back; what it had superseded is active again.

    So a contradiction is settled the other way: retract the one that won.

    Examples:
        ezra beliefs retract imola 01985a4c-… --reason 'it was a test'
    """
    done = await (await history_of(at)).revert(belief, reason=reason)
    return Answer(done, _changed(done))


@command(beliefs_app)
async def rewind(
    at: InGraph,
    reason: Reason,
    turn: Annotated[int | None, typer.Option(min=0)] = None,
    time: str | None = None,
    seq: Annotated[int | None, typer.Option(min=0)] = None,
) -> Answer:
    """Let exactly those beliefs be active again that were at a moment. The log goes on.

    Args:
        turn: A turn of the graph, from 1.
        time: A time (UTC unless it says so).
        seq: An event of the log.

    Examples:
        ezra beliefs rewind imola --turn 15 --reason 'what came after was a test'
        ezra beliefs rewind imola --time 2026-05-14T15:04 --reason mistaken --json
    """
    point = None if time is None else point_of("--time", time)
    history = await history_of(at)
    done = await history.rewind(point, turn=turn, seq=seq, reason=reason)
    return Answer(done, _changed(done))


@command(beliefs_app)
async def redact(at: InGraph, belief: BeliefId, reason: Reason) -> Answer:
    """Destroy a belief's content for good, in every store and every branch. The chain holds.

    Examples:
        ezra beliefs redact imola 01985a4c-… --reason 'GDPR 17'
    """
    done = await (await history_of(at)).redact(belief, reason=reason)
    return redaction_answer(done, f"{belief} redacted")


@command(beliefs_app)
async def pin(at: InGraph, belief: BeliefId, agent: str | None = None) -> Answer:
    """Let an active belief come first in every context of those who see it.

    Args:
        agent: In the contexts of this member only.

    Examples:
        ezra beliefs pin imola 01985a4c-…
        ezra beliefs pin imola 01985a4c-… --agent strategist
    """
    if agent is not None:
        pinned = await (await at.as_agent(agent)).pin(belief)
    else:
        pinned = await (await history_of(at)).pin(belief)
    return Answer(pinned, f"pinned {pinned.id}: {claim_of(pinned)}")


@command(beliefs_app)
async def unpin(at: InGraph, belief: BeliefId) -> Answer:
    """Let a belief no longer come first.

    Examples:
        ezra beliefs unpin imola 01985a4c-…
    """
    unpinned = await (await history_of(at)).unpin(belief)
    return Answer(unpinned, f"unpinned {unpinned.id}: {claim_of(unpinned)}")


# What the auditor's commands say too.
command(
    beliefs_app,
    "history",
    "ezra beliefs history imola --agent strategist --status superseded --json",
)(audit.query)
command(beliefs_app, "as-of", "ezra beliefs as-of imola 2026-05-14T15:04 --json")(audit.as_of)
command(beliefs_app, "diff", "ezra beliefs diff imola 10 15")(audit.diff)
command(beliefs_app, "explain", "ezra beliefs explain imola 01985a4c-… --json")(audit.explain)
command(beliefs_app, "verify", "ezra beliefs verify imola")(audit.check)
command(
    beliefs_app,
    "export-proof",
    "ezra beliefs export-proof imola -o imola.jsonl; ezra audit verify imola.jsonl",
)(audit.export)
command(beliefs_app, "sign", "ezra beliefs sign imola > head.json")(audit.sign)


@command(beliefs_app)
async def trust(
    at: InGraph,
    agent: Annotated[str | None, typer.Argument()] = None,
    topic: str | None = None,
    to: Annotated[float | None, typer.Option("--set")] = None,
    reason: Reason = "",
) -> Answer:
    """Show how far agents are trusted about what, or set it for one.

    Args:
        agent: One agent; all if not given.
        topic: About this topic; about beliefs without a topic if not given.
        to: Set it, 0 to 1; needs --reason.

    Examples:
        ezra beliefs trust imola strategist --topic tyres --set 0.5 --reason 'a guess'
    """
    if agent is not None and to is not None:
        history = await history_of(at)
        was = await history.set_trust(agent, to, topic=topic, reason=reason)
        document = {"agent": agent, "topic": topic, "trust": to, "was": was}
        return Answer(document, f"{agent} about {topic or 'the rest'}: {was:g} to {to:g}")
    if to is not None:
        raise UsageError("--set", to, "the agent with it")
    found = [
        one
        for one in await (await history_of(at)).trusts()
        if agent in (None, one.agent_id) and topic in (None, one.topic)
    ]
    rows = [(one.agent_id, one.topic, f"{one.trust:.2f}") for one in found]
    return Answer(found, [Rows(("agent", "topic", "trust"), rows)])


@command(beliefs_app)
async def heads(
    at: InGraph,
    after: Annotated[int, typer.Option(min=0)] = 0,
    limit: Annotated[int, typer.Option(min=1, max=10_000)] = HEADS_SHOWN,
) -> Answer:
    """List the signed heads of the log; keep one elsewhere as an anchor.

    Args:
        after: Only of more events.
        limit: The most heads.

    Examples:
        ezra beliefs heads imola --json
    """
    found = await (await history_of(at)).heads(after, limit)
    rows = [
        (one.size, f"{one.signed_at:%Y-%m-%d %H:%M:%S}", one.root, one.public_key) for one in found
    ]
    more = further(found, limit, lambda last: f"there may be more: --after {last.size}")
    return Answer(found, [Rows(("events", "signed", "root", "key"), rows), *more])


@command(beliefs_app)
async def prove(
    at: InGraph,
    seq: Annotated[int, typer.Argument(min=1)],
    size: Size = None,
) -> Answer:
    """Prove that an event is in the log, by the hashes that lead to the root of a head.

    Args:
        seq: An event of the log.

    Examples:
        ezra beliefs prove imola 12 --size 40 --json
    """
    found = await (await history_of(at)).prove(seq, size)
    holds = "is the root" if found.holds() else "IS NOT THE ROOT"
    lines = [
        f"event {found.event.seq} {found.event.hash}",
        *(f"  {digest}" for digest in found.proof),
        f"{found.root} {holds} of the first {found.size} events",
    ]
    return Answer({**plain(found), "holds": found.holds()}, lines)


@command(beliefs_app)
async def prove_growth(
    at: InGraph,
    old: Annotated[int, typer.Argument(min=1)],
    size: Size = None,
) -> Answer:
    """Prove that the log of so many events is the beginning of a later one (RFC 9162).

    Args:
        old: How many events there were.

    Examples:
        ezra beliefs prove-growth imola 40 --json
    """
    found = await (await history_of(at)).prove_growth(old, size)
    return Answer({"old_size": old, "size": size, "proof": found}, found)


@command(beliefs_app)
async def origin(at: InGraph) -> Answer:
    """Show where a graph was branched from another. Exit code 1 for one that was not.

    Examples:
        ezra beliefs origin what-if
    """
    found = await (await history_of(at)).origin()
    if found is None:
        return Answer(None, f"{at.graph} is no branch", code=1)
    left = f"{at.graph} left {found.graph_id} at event {found.seq}, turn {found.turn}"
    return Answer(found, left)


def _replayed(turn: int, found: ReplayedTurn) -> Iterator[str]:
    if found.turn is None:
        yield f"turn {turn}: none is stored"
    else:
        yield f"turn {turn}: {found.turn.speaker}: {' '.join(found.turn.input.split())}"
    for event in found.events:
        yield "  ".join(_event_row(event))
    before, after = ({one.id: one for one in them} for them in (found.before, found.after))
    for name, belief in before.items():
        if name not in after:
            yield f"- {claim_of(belief)}"
    for name, belief in after.items():
        if name not in before:
            yield f"+ {claim_of(belief)}"
    yield f"{len(before)} beliefs before, {len(after)} after"


def _changed(done: Changed) -> Iterator[str]:
    for ended in done.ended:
        yield f"- {ended}"
    for restored in done.restored:
        yield f"+ {restored}"
    yield f"{len(done.ended)} ended, {len(done.restored)} active again"


def _decision(event: BeliefEvent, decision: Mapping[str, Any] | None) -> list[str]:
    head = f"#{event.seq}  {event.recorded_at:%Y-%m-%d %H:%M:%S}  {event.belief_id}"
    if not decision:
        return [f"{head}  (its content was destroyed)"]
    winner = f"{decision['winner']} won by {decision['strategy']}, found by {decision['found_by']}"
    reason = f"  {decision['reason']}" if decision["reason"] else ""
    return [f"{head}  against {decision['rival_id']}", f"  {winner}.{reason}"]


def _event_row(event: BeliefEvent) -> tuple[str, ...]:
    return (
        str(event.seq),
        f"{event.recorded_at:%Y-%m-%d %H:%M:%S}",
        str(event.turn),
        event.kind,
        event.agent_id or "ezra",
        event.belief_id or "-",
    )


def _more(page: Sequence[LoggedBelief], limit: int) -> list[str]:
    return [f"there may be more: --after {page[-1].event.seq}"] if len(page) == limit else []
