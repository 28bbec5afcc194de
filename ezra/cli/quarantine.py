"""The commands about what the write guard has put aside."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated

import typer

from tiers.quarantine import HELD_PAGE_MAX, Quarantined

from .command import Answer, Note, Part, command, group
from .doors import InGraph
from .options import Reason

quarantine_app = group(
    "Texts that the write guard has put aside: look at them, release or discard them."
)

TextId = Annotated[str, typer.Argument(help="Id of the text.")]
SHOWN_CHARS = 300


@command(quarantine_app, "list")
async def list_waiting(
    at: InGraph,
    after: str = "",
    limit: Annotated[int, typer.Option(min=1, max=HELD_PAGE_MAX)] = 20,
) -> Answer:
    """List the texts that wait for a decision, the oldest first, with what was found in them.

    Args:
        after: Id of the last text of the page before.
        limit: The most on a page.

    Examples:
        ezra quarantine list imola
        ezra quarantine list imola --json
    """
    found = await (await at.held()).quarantine.list(after=after, limit=limit)
    return Answer({"graph": at.graph, "texts": found}, _listed(found))


@command(quarantine_app)
async def release(at: InGraph, text: TextId, reason: Reason) -> Answer:
    """Store a text after all, as its writer meant it, and say the id of what it became.

    Examples:
        ezra quarantine release imola 01985a4c-… --reason 'A quotation, no order.'
    """
    stored = await (await at.held()).quarantine.release(text, reason=reason)
    return Answer({"graph": at.graph, "text": text, "id": stored}, stored)


@command(quarantine_app)
async def discard(at: InGraph, text: TextId, reason: Reason) -> Answer:
    """Throw a text away: its content is destroyed, what was found in it stays on record.

    Examples:
        ezra quarantine discard imola 01985a4c-… --reason 'An attack.' --json
    """
    done = await (await at.held()).quarantine.discard(text, reason=reason)
    told = "discarded" if done else "it was decided about before"
    return Answer({"graph": at.graph, "text": text, "discarded": done}, told)


def _listed(found: Sequence[Quarantined]) -> Iterator[Part]:
    for one in found:
        names = ", ".join(dict.fromkeys(finding.detector for finding in one.findings))
        yield f"{one.id}  {one.held} of {one.agent_id or 'ezra'} ({one.source}): {names}"
        text = " ".join(one.text.split())
        yield f"  {text if len(text) <= SHOWN_CHARS else text[:SHOWN_CHARS] + '…'}"
    if not found:
        yield Note("nothing is in quarantine")
