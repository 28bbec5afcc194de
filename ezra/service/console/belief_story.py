"""One belief's whole story, and what proves that the log is as it was written."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from tiers.records import SignedHead

from ...beliefs.history import History
from ...beliefs.proofs import Verification
from ...beliefs.spans import SPANS_MAX
from ..caller import Caller
from ..desk import Desk
from .beliefs import LATEST, decisions_of
from .pages import Names, Query, View, href, pages

EVENTS_SHOWN = 200
HEADS_PER_PAGE = 25


class HeadsQuery(Query):
    """Which page of signed heads."""

    after: Annotated[int, Field(ge=0, le=LATEST)] = 0


@pages.page("/graphs/{graph_id}/beliefs/{belief_id}", needs="read")
async def one_belief(desk: Desk, _: Caller, names: Names, __: Query) -> View:
    """Show where a belief came from, what became of it, and which head vouches for it."""
    history = (await desk.graph(names["graph_id"])).beliefs
    told = await history.explain(names["belief_id"])
    belief = told.belief
    (life,) = await history.lives([belief.id])
    values = {
        "told": told,
        "belief": belief,
        "held": life.held,
        "spans_max": SPANS_MAX,
        "events": told.events[-EVENTS_SHOWN:],
        "left_out": max(0, len(told.events) - EVENTS_SHOWN),
        "decisions": decisions_of(told),
        "head": await _first_head(history, belief.committed_seq),
        "origin": await history.origin() if belief.origin_id else None,
    }
    return View("beliefs_one.html", values, "A belief")


@pages.rows("/graphs/{graph_id}/proof/rows", "beliefs_proof_rows.html")
@pages.page("/graphs/{graph_id}/proof", needs="read")
async def proof(desk: Desk, _: Caller, names: Names, query: HeadsQuery) -> View:
    """Show the signed heads of the log, and the button that verifies it."""
    values = await _heads(desk, names, query)
    return View("beliefs_proof.html", {**values, "verdict": None}, _title(names))


@pages.question("/graphs/{graph_id}/proof", needs="read")
async def verify(desk: Desk, _: Caller, names: Names, __: Query) -> View:
    """Check the whole log, and the stored beliefs against it; show what came of it."""
    history = (await desk.graph(names["graph_id"])).beliefs
    verdict: Verification = await history.verify()
    values = await _heads(desk, names, HeadsQuery())
    return View("beliefs_proof.html", {**values, "verdict": verdict}, _title(names))


async def _first_head(history: History, seq: int) -> SignedHead | None:
    """Return the first signed head whose tree has an event."""
    found = await history.heads(seq - 1, 1)
    return found[0] if found else None


async def _heads(desk: Desk, names: Names, query: HeadsQuery) -> dict[str, object]:
    history = (await desk.graph(names["graph_id"])).beliefs
    found = await history.heads(query.after, HEADS_PER_PAGE + 1)
    shown = found[:HEADS_PER_PAGE]
    return {
        "rows": shown,
        "after": shown[-1].size if len(found) > len(shown) else None,
        "here": href("graphs", names["graph_id"], "proof"),
        "size": await history.seq_at(),
        "is_first": query.after == 0,
    }


def _title(names: Names) -> str:
    return f"Proof of what {names['graph_id']} believed"
