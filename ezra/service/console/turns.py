"""An agent's turns, and what each was given: slot by slot, what was cut, and how it is today."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tiers.errors import NotFound
from tiers.records import Receipt, Turn

from ...handles.graph import Graph
from ...handles.lookup import known_member
from ...receipts.rebuilding import ReplayedContext
from ...turn.receipts import KeptSlot
from ...turn.slots import Slot
from .pages import Number, Query, View, href, paged, pages

TURNS_PER_PAGE = 25
SHOWN_MAX = 200
"""So many entries of what a receipt names besides its slots are shown at most."""


class TurnsQuery(Query):
    """Which page of turns."""

    before: Number | None = None


class ContextQuery(Query):
    """Whether the context of today is compared with."""

    today: bool = False


@dataclass(frozen=True)
class TurnRow:
    """A turn and, where its receipt is found, what its context cost and lost.

    Attributes:
        turn: The turn.
        receipt_id: The receipt; ``None`` where there is none.
        tokens: Of its context.
        slots: How many went in.
        dropped: How many did not fit.
        degraded: What did not take part.
    """

    turn: Turn
    receipt_id: str | None = None
    tokens: int | None = None
    slots: int | None = None
    dropped: int | None = None
    degraded: tuple[str, ...] = ()


@dataclass(frozen=True)
class Share:
    """What the slots of one kind take of the budget: a part of a bar of width 100."""

    kind: str
    slots: int
    tokens: int
    at: float
    width: float


@dataclass(frozen=True)
class ShownContext:
    """A rebuilt context as the page shows it.

    Attributes:
        replayed: What the handle answered.
        tokens: The sum over the slots.
        budget: What they had to fit in; ``None`` for a recall.
        shares: What each kind took, in the order of the context.
        free: Tokens of the budget that were left.
        over: Found, and not thought to be about the question: ids with scores.
        core_out: Core facts that found no place in the core block: ids with reasons.
        shadowed: Inherited core facts behind a nearer definition.
        models: Which model each part used.
        notes: What was left out on the way, and why.
    """

    replayed: ReplayedContext
    tokens: int
    budget: int | None
    shares: tuple[Share, ...]
    free: int | None
    over: tuple[tuple[str, float | None], ...]
    core_out: tuple[tuple[str, str], ...]
    shadowed: tuple[str, ...]
    models: Mapping[str, str]
    notes: tuple[str, ...]


@pages.rows("/graphs/{graph_id}/agents/{agent_id}/turns/rows", "turns_rows.html")
@pages.page(
    "/graphs/{graph_id}/agents/{agent_id}/turns",
    needs="read",
    label="Turns",
    key="t",
)
async def agent_turns(graph: Graph, agent_id: str, query: TurnsQuery) -> View:
    """Show an agent's turns, the last first."""
    return View("turns.html", await _rows(graph, agent_id, query), f"Turns of {agent_id}")


@pages.page("/graphs/{graph_id}/agents/{agent_id}/turns/{seq}", needs="read")
async def one_turn(graph: Graph, agent_id: str, seq: str, query: ContextQuery) -> View:
    """Show a turn, and the context that it was answered with."""
    turn = await turn_of(graph, agent_id, seq)
    (last,) = await graph.turns(agent_id, limit=1)
    receipt = (await graph.receipts_of([turn.id])).get(turn.id)
    context = None if receipt is None else await _context(graph, receipt.id, query)
    here = href("graphs", graph.id, "agents", agent_id, "turns", seq)
    is_last = turn.seq >= last.seq
    values = {"turn": turn, "is_last": is_last, "context": context, "asked": query, "here": here}
    return View("turns_one.html", values, f"Turn {turn.seq} of {turn.agent_id}")


@pages.page("/graphs/{graph_id}/receipts/{receipt_id}", needs="read")
async def one_receipt(graph: Graph, receipt_id: str, query: ContextQuery) -> View:
    """Show what a turn or a recall was given, by its receipt."""
    context = await _context(graph, receipt_id, query)
    here = href("graphs", graph.id, "receipts", receipt_id)
    values = {"context": context, "asked": query, "here": here}
    return View("turns_receipt.html", values, f"What a {context.replayed.kind} was given")


async def _rows(graph: Graph, agent_id: str, query: TurnsQuery) -> dict[str, object]:
    found = await graph.turns(agent_id, before=query.before, limit=TURNS_PER_PAGE + 1)
    if not found:
        await known_member(graph, agent_id)
    receipts = await graph.receipts_of([turn.id for turn in found[:TURNS_PER_PAGE]])
    rows = [_row(turn, receipts.get(turn.id)) for turn in found]
    here = ("graphs", graph.id, "agents", agent_id, "turns")
    listed = paged(
        rows, TURNS_PER_PAGE, here, (*here, "rows"), lambda row: {"before": row.turn.seq}
    )
    return {**listed, "here": href(*here), "is_first": query.before is None}


def _row(turn: Turn, receipt: Receipt | None) -> TurnRow:
    if receipt is None:
        return TurnRow(turn)
    body = receipt.body
    return TurnRow(
        turn,
        receipt.id,
        _count(body.get("tokens")),
        _size(body, "slots"),
        _size(body, "dropped"),
        tuple(map(str, _listed(body, "degraded"))),
    )


async def turn_of(graph: Graph, agent_id: str, seq: str) -> Turn:
    """Return a turn of an agent by its number.

    Raises:
        NotFound: There is none.
    """
    is_number = seq.isascii() and seq.isdigit() and len(seq) < len(str(2**53))
    if is_number and int(seq) > 0:
        for turn in await graph.turns(agent_id, before=int(seq) + 1, limit=1):
            if turn.seq == int(seq):
                return turn
    raise NotFound("turn", f"{seq} of {agent_id}")


async def _context(graph: Graph, receipt_id: str, query: ContextQuery) -> ShownContext:
    return shown_context(await graph.replay_context(receipt_id, today=query.today))


def shown_context(replayed: ReplayedContext) -> ShownContext:
    """Return a rebuilt context with its sums. Pure."""
    body = replayed.body
    given: list[Slot | KeptSlot] = [*replayed.slots, *(one.slot for one in replayed.missing)]
    tokens = sum(slot.tokens for slot in given)
    budget = _count(body.get("budget"))
    models = body.get("models")
    return ShownContext(
        replayed=replayed,
        tokens=tokens,
        budget=budget,
        shares=shares_of(given, max(budget or 0, tokens)),
        free=None if budget is None else max(0, budget - tokens),
        over=tuple(
            (str(one.get("id")), one.get("score"))
            for one in (*_dicts(body, "passed_over"), *_dicts(body, "considered"))
        ),
        core_out=tuple(
            (str(one.get("id")), str(one.get("reason"))) for one in _dicts(body, "core_left_out")
        ),
        shadowed=tuple(map(str, _listed(body, "shadowed"))),
        models={name: str(one) for name, one in models.items() if one} if models else {},
        notes=tuple(map(str, _listed(body, "skipped") or _listed(body, "degraded"))),
    )


def shares_of(given: Iterable[Slot | KeptSlot], whole: int) -> tuple[Share, ...]:
    """Return what each kind of slot takes of the whole, side by side."""
    sums: dict[str, list[int]] = {}
    for slot in given:
        sums.setdefault(slot.kind, []).append(slot.tokens)
    shares: list[Share] = []
    at = 0.0
    for kind, tokens in sums.items():
        width = 100 * sum(tokens) / whole if whole else 0.0
        shares.append(Share(kind, len(tokens), sum(tokens), round(at, 2), round(width, 2)))
        at += width
    return tuple(shares)


def _count(value: object) -> int | None:
    return value if isinstance(value, int) else None


def _size(body: Mapping[str, Any], name: str) -> int | None:
    value = body.get(name)
    return len(value) if isinstance(value, list) else None


def _listed(body: Mapping[str, Any], name: str) -> Sequence[Any]:
    value = body.get(name)
    return value[:SHOWN_MAX] if isinstance(value, list) else ()


def _dicts(body: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    return [one for one in _listed(body, name) if isinstance(one, dict)]
