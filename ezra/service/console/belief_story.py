"""One belief's whole story, and what proves that the log is as it was written."""

from __future__ import annotations

from tiers.records import SignedHead

from ...beliefs.history import History
from ...beliefs.proofs import Verification
from ...beliefs.spans import SPANS_MAX
from ...handles.graph import Graph
from .beliefs import decisions_of
from .fields import Count
from .pages import Query, View, href, paged, pages

EVENTS_SHOWN = 200
HEADS_PER_PAGE = 25


class HeadsQuery(Query):
    """Which page of signed heads."""

    after: Count = 0


@pages.page("/graphs/{graph_id}/beliefs/{belief_id}", needs="read")
async def one_belief(graph: Graph, belief_id: str) -> View:
    """Show where a belief came from, what became of it, and which head vouches for it."""
    history = graph.beliefs
    told = await history.explain(belief_id)
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
async def proof(graph: Graph, query: HeadsQuery) -> View:
    """Show the signed heads of the log, and the button that verifies it."""
    return await _proof(graph, query, None)


@pages.question("/graphs/{graph_id}/proof", needs="read")
async def verify(graph: Graph) -> View:
    """Check the whole log, and the stored beliefs against it; show what came of it."""
    return await _proof(graph, HeadsQuery(), await graph.beliefs.verify())


async def _first_head(history: History, seq: int) -> SignedHead | None:
    """Return the first signed head whose tree has an event."""
    found = await history.heads(seq - 1, 1)
    return found[0] if found else None


async def _proof(graph: Graph, query: HeadsQuery, verdict: Verification | None) -> View:
    found = await graph.beliefs.heads(query.after, HEADS_PER_PAGE + 1)
    here = ("graphs", graph.id, "proof")
    values = {
        **paged(found, HEADS_PER_PAGE, here, (*here, "rows"), lambda one: {"after": one.size}),
        "here": href(*here),
        "size": await graph.beliefs.seq_at(),
        "is_first": query.after == 0,
        "verdict": verdict,
    }
    return View("beliefs_proof.html", values, f"Proof of what {graph.id} believed")
