"""The commands of an auditor: the feed, what was believed when, why, and proof of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from tiers.history.signing import public_key_of
from tiers.history.verification import Verification, verify_export
from tiers.records import HistoricBelief

from ..beliefs.commit import Point
from ..beliefs.proofs import anchor_of
from .beliefs import claim_of, document_of, document_of_diff, lines_of, lines_of_diff, row_of
from .default_command import by_default
from .doors import Url, on_graph, opened
from .feed import EXAMPLES as FEED_EXAMPLES
from .feed import feed
from .moments import point_of
from .options import GraphId, Home, Json, run
from .plain import plain
from .proofs import on_history
from .screen import Screen

if TYPE_CHECKING:
    from ..beliefs.history import History


T = TypeVar("T")


audit_app = typer.Typer(
    cls=by_default("feed", when_alone=True),
    help="The audit feed, what was believed when and why, and proof that nothing was touched.",
)
audit_app.command("feed", epilog=FEED_EXAMPLES)(feed)

BeliefId = Annotated[str, typer.Argument(help="The belief's id, as query prints it.")]
Moment = Annotated[str, typer.Argument(help="A time (UTC unless it says otherwise) or a turn.")]


@audit_app.command(
    "readings",
    epilog="Examples: ezra audit readings imola 01985a4c-…  ·  ezra audit readings imola "
    "01985a4c-… --limit 20 --json",
)
def readings(
    graph: GraphId,
    record: Annotated[str, typer.Argument(help="Id of a fact, belief, turn or other record.")],
    limit: Annotated[int, typer.Option(help="The most to print.", min=1, max=1000)] = 100,
    home: Home = None,
    url: Url = None,
    json: Json = False,
) -> None:
    """Tell who was shown a record, when, and in which turn or recall; the last first."""
    screen = Screen()
    found = on_graph(home, url, graph, lambda chosen: chosen.readings(record, limit=limit))
    if json:
        screen.document({"graph": graph, "record": record, **plain(found)})
        return
    for one in found.readings:
        who = one.agent_id or "operator"
        place = "" if one.graph_id == graph else f" of {one.graph_id}"
        what = f"turn {one.turn_id}" if one.turn_id else "recall"
        screen.line(f"{one.shown_at:%Y-%m-%d %H:%M:%S}  {who}{place}  {what}  {one.receipt_id}")
    for note in found.notes:
        screen.note(note)
    screen.note(f"shown {found.total:,} time{'' if found.total == 1 else 's'}")


@audit_app.command(
    "query",
    epilog="Examples: ezra audit query imola --topic tyres  ·  ezra audit query imola --agent "
    "strategist --status superseded --json  ·  ezra audit query imola --key start compound",
)
def query(
    graph: GraphId,
    topic: Annotated[str | None, typer.Option(help="Filed under this topic.")] = None,
    agent: Annotated[str | None, typer.Option(help="Committed by this agent.")] = None,
    user: Annotated[str | None, typer.Option(help="Of this person.")] = None,
    subject: Annotated[str | None, typer.Option(help="About this subject.")] = None,
    key: Annotated[
        tuple[str, str] | None, typer.Option(help="About this subject and attribute.")
    ] = None,
    status: Annotated[
        list[str] | None,
        typer.Option(help="active, superseded, reverted or redacted. Repeatable."),
    ] = None,
    since: Annotated[str | None, typer.Option(help="Committed from this time or turn on.")] = None,
    until: Annotated[str | None, typer.Option(help="Committed before this time or turn.")] = None,
    as_of: Annotated[
        str | None, typer.Option("--as-of", help="Active at this time or turn.")
    ] = None,
    after: Annotated[int, typer.Option(help="Where the page before ended.", min=0)] = 0,
    limit: Annotated[int, typer.Option(help="The most beliefs to print.", min=1, max=1000)] = 100,
    home: Home = None,
    url: Url = None,
    json: Json = False,
) -> None:
    """List beliefs in the order in which they were committed, active or not."""
    screen = Screen()
    asked: dict[str, Any] = {
        "status": status,
        "since": _point("since", since),
        "until": _point("until", until),
        "as_of": _point("as_of", as_of),
    }

    async def work(history: History) -> tuple[HistoricBelief, ...]:
        return await history.query(
            topic=topic,
            agent_id=agent,
            user_id=user,
            subject=subject,
            key=key,
            after=after,
            limit=limit,
            **asked,
        )

    found = on_history(home, url, graph, work)
    if json:
        screen.document([one.model_dump(mode="json") for one in found])
        return
    screen.table(
        ("seq", "belief", "recorded", "agent", "topic", "status", "claim"),
        [(str(one.committed_seq), *row_of(one), one.status, claim_of(one)) for one in found],
    )
    if len(found) == limit:
        screen.note(f"there may be more: --after {found[-1].committed_seq}")


@audit_app.command(
    "as-of",
    epilog="Examples: ezra audit as-of imola 2026-05-14T15:04  ·  ezra audit as-of imola 15 --json",
)
def as_of(
    graph: GraphId, moment: Moment, home: Home = None, url: Url = None, json: Json = False
) -> None:
    """Show what was believed at a time, or at the end of a turn."""
    screen = Screen()
    point = point_of("moment", moment)
    found = on_history(home, url, graph, lambda history: history.as_of(point))
    if json:
        screen.document([one.model_dump(mode="json") for one in found])
        return
    screen.table(
        ("belief", "recorded", "agent", "topic", "trust", "claim"),
        [(*row_of(one), f"{one.trust:.2f}", claim_of(one)) for one in found],
    )


@audit_app.command(
    "diff", epilog="Examples: ezra audit diff imola 10 15  ·  ezra audit diff imola 2026-05-14 15"
)
def diff(
    graph: GraphId,
    earlier: Moment,
    later: Moment,
    home: Home = None,
    url: Url = None,
    json: Json = False,
) -> None:
    """Show how what was believed changed between two moments."""
    screen = Screen()
    a, b = point_of("earlier", earlier), point_of("later", later)
    found = on_history(home, url, graph, lambda history: history.diff(a, b))
    if json:
        screen.document(document_of_diff(found))
        return
    for line in lines_of_diff(found):
        screen.line(line)


@audit_app.command("explain", epilog="Example: ezra audit explain imola BELIEF --json")
def explain(
    graph: GraphId, belief: BeliefId, home: Home = None, url: Url = None, json: Json = False
) -> None:
    """Show who said it, on what evidence, who disagreed, how that was settled, what came of it."""
    screen = Screen()
    found = on_history(home, url, graph, lambda history: history.explain(belief))
    if json:
        screen.document(document_of(found))
        return
    for line in lines_of(found):
        screen.line(line)


@audit_app.command(
    "export",
    epilog="Example: ezra audit export imola -o imola.jsonl; ezra audit verify imola.jsonl",
)
def export(
    graph: GraphId,
    output: Annotated[Path, typer.Option("--output", "-o", help="The file to write.")],
    home: Home = None,
    url: Url = None,
    json: Json = False,
) -> None:
    """Write a graph's whole belief log into one file that anybody can verify."""
    screen = Screen()
    done = on_history(home, url, graph, lambda history: history.export(output))
    if json:
        screen.document({**done.as_json(), "file": str(output)})
        return
    signed = f"signed by key {done.key_id}" if done.key_id else "not signed: there is no key"
    screen.line(f"{output}: {done.events} events, {done.redacted} contents destroyed; {signed}")


@audit_app.command(
    "verify",
    epilog="Examples: ezra audit verify imola.jsonl --public-key ezra.pub  ·  "
    "ezra audit verify imola.jsonl --anchor head.json --json",
)
def verify(
    file: Annotated[Path, typer.Argument(help="What export wrote.")],
    public_key: Annotated[
        str | None,
        typer.Option(help="The key to trust: 64 hexadecimal digits, or a file that holds it."),
    ] = None,
    anchor: Annotated[
        Path | None, typer.Option(help="A signed head (JSON) that was kept elsewhere.")
    ] = None,
    json: Json = False,
) -> None:
    """Check an export: needs no store, no settings and no network. Exit code 1: not intact."""
    screen = Screen()
    key = None if public_key is None else public_key_of(public_key)
    head = None if anchor is None else anchor_of(anchor)
    found = verify_export(file, public_key=key, anchor=head)
    _told(screen, found, json)


@audit_app.command("check", epilog="Example: ezra audit check imola")
def check(graph: GraphId, home: Home = None, url: Url = None, json: Json = False) -> None:
    """Check a graph's stored log, and the stored beliefs against it. Exit code 1: not intact."""
    _told(Screen(), on_history(home, url, graph, lambda history: history.verify()), json)


@audit_app.command("sign", epilog="Example: ezra audit sign imola > head.json")
def sign(graph: GraphId, home: Home = None, url: Url = None, json: Json = False) -> None:
    """Sign a graph's log as it is now; keep the head elsewhere as an anchor. Prints JSON."""
    del json  # a head is for programs: there is no other form of it
    head = on_history(home, url, graph, lambda history: history.sign())
    Screen().document(head.model_dump(mode="json"))


@audit_app.command("key", epilog="Examples: ezra audit key > ezra.pub  ·  ezra audit key --rotate")
def key(
    rotate: Annotated[
        bool, typer.Option("--rotate", help="Make a new key; the old one vouches for it.")
    ] = False,
    home: Home = None,
    url: Url = None,
    json: Json = False,
) -> None:
    """Print the public key that signs this installation's logs; give it to whoever verifies."""
    screen = Screen()

    async def work() -> str:
        async with opened(home, url) as ezra:
            return await (ezra.rotate_key() if rotate else ezra.public_key())

    found = run(work())
    if json:
        screen.document({"public_key": found})
    else:
        screen.line(found)


def _told(screen: Screen, found: Verification, json: bool) -> None:
    if json:
        screen.document(found.as_json())
    else:
        for problem in found.problems:
            screen.line(f"PROBLEM  {problem}")
        for warning in found.warnings:
            screen.line(f"WARNING  {warning}")
        outcome = "intact" if found.ok else "NOT INTACT"
        screen.line(f"{outcome}: {found.events} events, {found.heads} heads. {found.trust}")
    if not found.ok:
        raise typer.Exit(1)


def _point(name: str, text: str | None) -> Point | None:
    return None if text is None else point_of(name, text)
