"""The commands of an auditor: the feed, what was believed when, why, and proof of it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from tiers.errors import UsageError
from tiers.history.signing import public_key_of
from tiers.history.verification import Verification, verify_export
from tiers.records import AuditEvent, AuditFilter

from ..beliefs.commit import Point
from ..beliefs.proofs import anchor_of
from ..receipts.readings import Readings
from .belief_lines import (
    CLAIMS,
    claim_of,
    claim_row,
    document_of,
    document_of_diff,
    history_of,
    lines_of,
    lines_of_diff,
    point_of,
    row_of,
)
from .command import Answer, NoMemory, Note, Part, Rows, by_default, command, further, plain
from .doors import InGraph, Memory
from .options import FROM_INPUT, MaybeGraph
from .screen import Screen

audit_app = typer.Typer(
    cls=by_default("feed", when_alone=True),
    help="The audit feed, what was believed when and why, and proof that nothing was touched.",
)

EVENTS = ("no.", "recorded", "graph", "agent", "kind", "records", "reason")

BeliefId = Annotated[str, typer.Argument(help="The belief's id, as query prints it.")]
Moment = Annotated[str, typer.Argument(help="A time (UTC unless it says otherwise) or a turn.")]


@command(audit_app)
async def feed(
    memory: Memory,
    graph: MaybeGraph = None,
    kind: list[str] | None = None,
    agent: str | None = None,
    record: str | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
    after: Annotated[int, typer.Option(min=0)] = 0,
    limit: Annotated[int, typer.Option(min=1, max=10_000)] = 1000,
) -> Answer:
    """Show who came, went, wrote and was refused, in order: ids and reasons, never content.

    Events of a graph are numbered in their graph, those of the tenant over all its graphs.

    Args:
        kind: Only events of this kind. Repeatable.
        agent: Only events by this agent.
        record: Only events about this record.
        since: Recorded at or after this moment (UTC).
        until: Recorded before this moment (UTC).
        after: Where the page before ended: its last number.
        limit: The most events to print.

    Examples:
        ezra audit
        ezra audit imola --kind denied --since 2026-05-14
        ezra audit feed --after 1000 --limit 1000 --json
    """
    only = AuditFilter(
        kinds=tuple(kind or ()), agent_id=agent, record_id=record, since=since, until=until
    )
    asked = await (memory.open() if graph is None else memory.session_graph(graph))
    events = await asked.audit(after, limit, only=only)
    numbers = [one.position if graph is None else one.seq for one in events]
    rows = [_cells(one, number) for one, number in zip(events, numbers, strict=True)]
    parts: list[Part] = [_feed(rows)]
    if len(events) == limit:
        parts.append(Note(f"there may be more: --after {numbers[-1]}"))
    return Answer(events, parts)


def _cells(event: AuditEvent, number: int) -> tuple[str, ...]:
    return (
        f"{number:>6}",
        f"{event.recorded_at:%Y-%m-%d %H:%M:%S}",
        event.graph_id,
        event.agent_id or "-",
        event.kind,
        " ".join(event.record_ids),
        event.reason,
    )


def _feed(rows: list[tuple[str, ...]]) -> Part:
    """Return what prints events: in a pipe nothing stands where a cell is empty."""

    def show(screen: Screen) -> None:
        if screen.is_terminal:
            screen.table(EVENTS, rows)
        else:
            for row in rows:
                screen.line("  ".join(cell for cell in row if cell))

    return show


@command(audit_app)
async def readings(
    at: InGraph,
    record: str,
    limit: Annotated[int, typer.Option(min=1, max=1000)] = 100,
) -> Answer:
    """Tell who was shown a record, when, and in which turn or recall; the last first.

    Args:
        record: Id of a fact, belief, turn or other record.
        limit: The most to print.

    Examples:
        ezra audit readings imola 01985a4c-…
        ezra audit readings imola 01985a4c-… --limit 20 --json
    """
    found = await (await at.held()).readings(record, limit=limit)
    document = {"graph": at.graph, "record": record, **plain(found)}
    return Answer(document, _readings(at.graph, found))


def _readings(graph: str, found: Readings) -> Iterator[Part]:
    for one in found.readings:
        who = one.agent_id or "operator"
        place = "" if one.graph_id == graph else f" of {one.graph_id}"
        what = f"turn {one.turn_id}" if one.turn_id else "recall"
        yield f"{one.shown_at:%Y-%m-%d %H:%M:%S}  {who}{place}  {what}  {one.receipt_id}"
    yield from map(Note, found.notes)
    yield Note(f"shown {found.total:,} time{'' if found.total == 1 else 's'}")


@command(audit_app)
async def query(
    at: InGraph,
    topic: str | None = None,
    agent: str | None = None,
    user: str | None = None,
    subject: str | None = None,
    key: tuple[str, str] | None = None,
    status: list[str] | None = None,
    since: str | None = None,
    until: str | None = None,
    as_of: str | None = None,
    after: Annotated[int, typer.Option(min=0)] = 0,
    limit: Annotated[int, typer.Option(min=1, max=1000)] = 100,
) -> Answer:
    """List beliefs in the order in which they were committed, active or not.

    Args:
        topic: Filed under this topic.
        agent: Committed by this agent.
        user: Of this person.
        subject: About this subject.
        key: About this subject and attribute.
        status: active, superseded, reverted or redacted. Repeatable.
        since: Committed from this time or turn on.
        until: Committed before this time or turn.
        as_of: Active at this time or turn.
        after: Where the page before ended.
        limit: The most beliefs to print.

    Examples:
        ezra audit query imola --topic tyres
        ezra audit query imola --agent strategist --status superseded --json
        ezra audit query imola --key start compound
    """
    asked: dict[str, Any] = {
        "status": status,
        "since": _point("since", since),
        "until": _point("until", until),
        "as_of": _point("as_of", as_of),
    }
    found = await (await history_of(at)).query(
        topic=topic,
        agent_id=agent,
        user_id=user,
        subject=subject,
        key=key,
        after=after,
        limit=limit,
        **asked,
    )
    head = ("seq", "belief", "recorded", "agent", "topic", "status", "claim")
    rows = [(one.committed_seq, *row_of(one), one.status, claim_of(one)) for one in found]
    more = further(found, limit, lambda last: f"there may be more: --after {last.committed_seq}")
    return Answer(found, [Rows(head, rows), *more])


@command(audit_app)
async def as_of(at: InGraph, moment: Moment) -> Answer:
    """Show what was believed at a time, or at the end of a turn.

    A time is when something was recorded: what is played in today was not believed in May.

    Examples:
        ezra audit as-of imola 2026-05-14T15:04
        ezra audit as-of imola 15 --json
    """
    point = point_of("moment", moment)
    history = await history_of(at)
    found = await history.as_of(point)
    rows = Rows(CLAIMS, list(map(claim_row, found)))
    first = [] if found else await history.events(limit=1)
    if first and isinstance(point, datetime) and point < first[0].recorded_at:
        since = f"{first[0].recorded_at:%Y-%m-%dT%H:%M:%SZ}"
        return Answer(found, [rows, Note(f"the belief log of {at.graph} begins later, at {since}")])
    return Answer(found, [rows])


@command(audit_app)
async def diff(at: InGraph, earlier: Moment, later: Moment) -> Answer:
    """Show how what was believed changed between two moments.

    Examples:
        ezra audit diff imola 10 15
        ezra audit diff imola 2026-05-14 15
    """
    a, b = point_of("earlier", earlier), point_of("later", later)
    found = await (await history_of(at)).diff(a, b)
    return Answer(document_of_diff(found), lines_of_diff(found))


@command(audit_app)
async def explain(at: InGraph, belief: BeliefId) -> Answer:
    """Show who said it, on what evidence, who disagreed, how that was settled, what came of it.

    Examples:
        ezra audit explain imola BELIEF --json
    """
    found = await (await history_of(at)).explain(belief)
    return Answer(document_of(found), lines_of(found))


@command(audit_app)
async def export(at: InGraph, output: Annotated[Path, typer.Option("--output", "-o")]) -> Answer:
    """Write a graph's whole belief log into one file that anybody can verify.

    Args:
        output: The file to write.

    Examples:
        ezra audit export imola -o imola.jsonl; ezra audit verify imola.jsonl
    """
    if str(output) == FROM_INPUT:
        accepted = "a file: it is put in its place once it is whole, which output cannot be"
        raise UsageError("--output", FROM_INPUT, accepted)
    done = await (await history_of(at)).export(output)
    signed = f"signed by key {done.key_id}" if done.key_id else "not signed: there is no key"
    told = f"{output}: {done.events} events, {done.redacted} contents destroyed; {signed}"
    return Answer({**done.as_json(), "file": str(output)}, told)


@command(audit_app)
def verify(
    _: NoMemory,
    file: Path,
    public_key: str | None = None,
    anchor: Path | None = None,
    former_key: list[str] | None = None,
) -> Answer:
    """Check an export: needs no store, no settings and no network. Exit code 1: not intact.

    Args:
        file: What export wrote.
        public_key: The key to trust: 64 hexadecimal digits, or a file that holds it.
        anchor: A signed head (JSON) that was kept elsewhere.
        former_key: A key of a home that the log was in before, to trust as well. Repeatable.

    Examples:
        ezra audit verify imola.jsonl --public-key ezra.pub
        ezra audit verify imola.jsonl --anchor head.json --json
    """
    key = None if public_key is None else public_key_of(public_key)
    head = None if anchor is None else anchor_of(anchor)
    former = [public_key_of(one, "former_key") for one in former_key or ()]
    return _verified(verify_export(file, public_key=key, anchor=head, former_keys=former))


@command(audit_app)
async def check(at: InGraph) -> Answer:
    """Check a graph's stored log, and the stored beliefs against it. Exit code 1: not intact.

    What keys of another home have signed counts where EZRA_FORMER_KEYS names them.

    Examples:
        ezra audit check imola
    """
    return _verified(await (await history_of(at)).verify())


@command(audit_app)
async def sign(at: InGraph) -> Answer:
    """Sign a graph's log as it is now; keep the head elsewhere as an anchor. Prints JSON.

    Examples:
        ezra audit sign imola > head.json
    """
    head = await (await history_of(at)).sign()
    # A head is for programs: there is no other form of it.
    return Answer(head, [lambda screen: screen.document(plain(head))])


@command(audit_app)
async def key(memory: Memory, rotate: bool = False) -> Answer:
    """Print the public key that signs this installation's logs; give it to whoever verifies.

    Args:
        rotate: Make a new key; the old one vouches for it.

    Examples:
        ezra audit key > ezra.pub
        ezra audit key --rotate
    """
    ezra = await memory.open()
    found = await (ezra.rotate_key() if rotate else ezra.public_key())
    return Answer({"public_key": found}, found)


def _verified(found: Verification) -> Answer:
    outcome = "intact" if found.ok else "NOT INTACT"
    lines = [
        *(f"PROBLEM  {problem}" for problem in found.problems),
        *(f"WARNING  {warning}" for warning in found.warnings),
        f"{outcome}: {found.events} events, {found.heads} heads. {found.trust}",
    ]
    return Answer(found.as_json(), lines, code=0 if found.ok else 1)


def _point(name: str, text: str | None) -> Point | None:
    return None if text is None else point_of(name, text)
