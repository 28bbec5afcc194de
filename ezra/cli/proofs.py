"""What ``ezra beliefs`` says of trust and proof: who is trusted how far, signed heads, origins."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from tiers.errors import UsageError

from .doors import Url, on_graph
from .options import GraphId, Home, Json
from .plain import plain
from .screen import Screen

if TYPE_CHECKING:
    from ..beliefs.history import History


T = TypeVar("T")

HEADS_SHOWN = 100

Size = Annotated[int | None, typer.Option(help="Of the head; the whole log if not given.", min=1)]


def on_history(
    home: Path | None, url: str | None, graph: str, work: Callable[[History], Awaitable[T]]
) -> T:
    """Ask the history of a graph's beliefs."""
    return on_graph(home, url, graph, lambda chosen: work(chosen.beliefs))


def trust(
    graph: GraphId,
    agent: Annotated[str | None, typer.Argument(help="One agent; all if not given.")] = None,
    topic: Annotated[str | None, typer.Option(help="About this topic.")] = None,
    to: Annotated[
        float | None, typer.Option("--set", help="Set it, 0 to 1; needs --reason.")
    ] = None,
    reason: Annotated[str, typer.Option(help="Why; kept in the log.")] = "",
    home: Home = None,
    url: Url = None,
    json: Json = False,
) -> None:
    """Show how far agents are trusted about what, or set it for one."""
    screen = Screen()
    if agent is not None and to is not None:
        was = on_history(
            home,
            url,
            graph,
            lambda history: history.set_trust(agent, to, topic=topic, reason=reason),
        )
        if json:
            screen.document({"agent": agent, "topic": topic, "trust": to, "was": was})
        else:
            screen.line(f"{agent} about {topic or 'the rest'}: {was:g} to {to:g}")
        return
    if to is not None:
        raise UsageError("--set", to, "the agent with it")
    found = on_history(home, url, graph, lambda history: history.trusts())
    rows = [one for one in found if agent in (None, one.agent_id) and topic in (None, one.topic)]
    if json:
        screen.document([plain(one) for one in rows])
        return
    screen.table(
        ("agent", "topic", "trust"),
        [(one.agent_id, one.topic or "-", f"{one.trust:.2f}") for one in rows],
    )


def heads(
    graph: GraphId,
    after: Annotated[int, typer.Option(help="Only of more events.", min=0)] = 0,
    limit: Annotated[int, typer.Option(help="The most heads.", min=1, max=10_000)] = HEADS_SHOWN,
    home: Home = None,
    url: Url = None,
    json: Json = False,
) -> None:
    """List the signed heads of the log; keep one elsewhere as an anchor."""
    screen = Screen()
    found = on_history(home, url, graph, lambda history: history.heads(after, limit))
    if json:
        screen.document([plain(one) for one in found])
        return
    screen.table(
        ("events", "signed", "root", "key"),
        [
            (str(one.size), f"{one.signed_at:%Y-%m-%d %H:%M:%S}", one.root, one.public_key)
            for one in found
        ],
    )
    if len(found) == limit:
        screen.note(f"there may be more: --after {found[-1].size}")


def prove(
    graph: GraphId,
    seq: Annotated[int, typer.Argument(help="An event of the log.", min=1)],
    size: Size = None,
    home: Home = None,
    url: Url = None,
    json: Json = False,
) -> None:
    """Prove that an event is in the log, by the hashes that lead to the root of a head."""
    screen = Screen()
    found = on_history(home, url, graph, lambda history: history.prove(seq, size))
    if json:
        screen.document({**plain(found), "holds": found.holds()})
        return
    screen.line(f"event {found.event.seq} {found.event.hash}")
    for digest in found.proof:
        screen.line(f"  {digest}")
    holds = "is the root" if found.holds() else "IS NOT THE ROOT"
    screen.line(f"{found.root} {holds} of the first {found.size} events")


def prove_growth(
    graph: GraphId,
    old: Annotated[int, typer.Argument(help="How many events there were.", min=1)],
    size: Size = None,
    home: Home = None,
    url: Url = None,
    json: Json = False,
) -> None:
    """Prove that the log of so many events is the beginning of a later one (RFC 9162)."""
    screen = Screen()
    found = on_history(home, url, graph, lambda history: history.prove_growth(old, size))
    if json:
        screen.document({"old_size": old, "size": size, "proof": list(found)})
        return
    for digest in found:
        screen.line(digest)


def origin(graph: GraphId, home: Home = None, url: Url = None, json: Json = False) -> None:
    """Show where a graph was branched from another. Exit code 1 for one that was not."""
    screen = Screen()
    found = on_history(home, url, graph, lambda history: history.origin())
    if json:
        screen.document(plain(found))
    elif found is None:
        screen.line(f"{graph} is no branch")
    else:
        screen.line(f"{graph} left {found.graph_id} at event {found.seq}, turn {found.turn}")
    if found is None:
        raise typer.Exit(1)
