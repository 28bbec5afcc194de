"""The commands about what the write guard has put aside."""

from __future__ import annotations

from typing import Annotated

import typer

from tiers.quarantine import HELD_PAGE_MAX

from .doors import Url, on_graph
from .options import GraphId, Home, Json
from .plain import plain
from .screen import Screen

quarantine_app = typer.Typer(
    help="Texts that the write guard has put aside: look at them, release or discard them.",
    no_args_is_help=True,
)

TextId = Annotated[str, typer.Argument(help="Id of the text.")]
Reason = Annotated[str, typer.Option(help="Why; kept in the audit feed.")]
SHOWN_CHARS = 300


@quarantine_app.command(
    "list", epilog="Examples: ezra quarantine list imola  ·  ezra quarantine list imola --json"
)
def list_waiting(
    graph: GraphId,
    after: Annotated[str, typer.Option(help="Id of the last text of the page before.")] = "",
    limit: Annotated[int, typer.Option(help="The most on a page.", min=1, max=HELD_PAGE_MAX)] = 20,
    home: Home = None,
    url: Url = None,
    json: Json = False,
) -> None:
    """List the texts that wait for a decision, the oldest first, with what was found in them."""
    screen = Screen()
    found = on_graph(
        *(home, url, graph), lambda chosen: chosen.quarantine.list(after=after, limit=limit)
    )
    if json:
        screen.document({"graph": graph, "texts": [plain(one) for one in found]})
        return
    for one in found:
        names = ", ".join(dict.fromkeys(finding.detector for finding in one.findings))
        screen.line(f"{one.id}  {one.held} of {one.agent_id or 'ezra'} ({one.source}): {names}")
        text = " ".join(one.text.split())
        screen.line(f"  {text if len(text) <= SHOWN_CHARS else text[:SHOWN_CHARS] + '…'}")
    if not found:
        screen.note("nothing is in quarantine")


@quarantine_app.command(
    "release",
    epilog="Example: ezra quarantine release imola 01985a4c-… --reason 'A quotation, no order.'",
)
def release(
    graph: GraphId,
    text: TextId,
    reason: Reason,
    home: Home = None,
    url: Url = None,
    json: Json = False,
) -> None:
    """Store a text after all, as its writer meant it, and say the id of what it became."""
    screen = Screen()
    stored = on_graph(
        *(home, url, graph), lambda chosen: chosen.quarantine.release(text, reason=reason)
    )
    if json:
        screen.document({"graph": graph, "text": text, "id": stored})
    else:
        screen.line(stored)


@quarantine_app.command(
    "discard",
    epilog="Example: ezra quarantine discard imola 01985a4c-… --reason 'An attack.' --json",
)
def discard(
    graph: GraphId,
    text: TextId,
    reason: Reason,
    home: Home = None,
    url: Url = None,
    json: Json = False,
) -> None:
    """Throw a text away: its content is destroyed, what was found in it stays on record."""
    screen = Screen()
    done = on_graph(
        *(home, url, graph), lambda chosen: chosen.quarantine.discard(text, reason=reason)
    )
    if json:
        screen.document({"graph": graph, "text": text, "discarded": done})
    else:
        screen.line("discarded" if done else "it was decided about before")
