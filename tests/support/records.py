"""Records for tests: valid, small, and different where a test says so."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from tiers.records import Fact, Hit, Scope, Summary, Turn
from tiers.upkeep import Page

Asked = Callable[[str], Awaitable[Page[Any]]]
"""Asks for the page behind a cursor."""

START = datetime(2026, 5, 14, 15, 4, tzinfo=UTC)


def scope(agent: str | None = "strategist", graph: str = "imola", **more: object) -> Scope:
    """Return a scope of tenant ``acme`` that sees every topic unless told otherwise."""
    values: dict[str, object] = {"topics": ("*",), **more}
    return Scope(tenant="acme", graph_id=graph, agent_id=agent, **values)


def turn(seq: int, text: str = "box this lap", **more: object) -> Turn:
    """Return a stored turn; turns are one minute apart."""
    values: dict[str, object] = {
        "id": f"turn-{seq}",
        "tenant": "acme",
        "graph_id": "imola",
        "agent_id": "strategist",
        "speaker": "strategist",
        "occurred_at": START + timedelta(minutes=seq),
        "recorded_at": START + timedelta(minutes=seq),
        **more,
    }
    return Turn(seq=seq, input=text, **values)


def fact(number: int, text: str = "Mediums last 18 laps.", **more: object) -> Fact:
    """Return a stored fact."""
    values: dict[str, object] = {
        "id": f"fact-{number:03}",
        "tenant": "acme",
        "graph_id": "imola",
        "agent_id": "strategist",
        "recorded_at": START + timedelta(minutes=number),
        **more,
    }
    return Fact(text=text, **values)


def summary(number: int, **more: object) -> Summary:
    """Return a stored summary of one turn."""
    values: dict[str, object] = {
        "id": f"summary-{number}",
        "tenant": "acme",
        "graph_id": "imola",
        "agent_id": "strategist",
        "covers": (f"turn-{number}",),
        "starts_at": START + timedelta(hours=number),
        "ends_at": START + timedelta(hours=number),
        "recorded_at": START,
        **more,
    }
    return Summary(text=f"[{number}] pace held", **values)


def hit(record_id: str, score: float = 1.0, **more: object) -> Hit:
    """Return a hit of the warm tier."""
    values: dict[str, object] = {
        "kind": "turn",
        "tier": "warm",
        "text": record_id,
        "recorded_at": START,
        **more,
    }
    return Hit(id=record_id, score=score, **values)


async def pages(ask: Asked, limit: int = 1_000) -> AsyncIterator[Page[Any]]:
    """Yield one page after the other; none has more rows than the limit."""
    cursor: str | None = ""
    while cursor is not None:
        page = await ask(cursor)
        assert len(page.rows) <= limit
        yield page
        cursor = page.cursor


async def every_row(ask: Asked, limit: int = 1_000) -> list[Any]:
    """Return the rows of all pages."""
    return [row async for page in pages(ask, limit) for row in page.rows]
