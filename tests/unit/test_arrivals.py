"""Waiting for what was kept just now to be in the index."""

from __future__ import annotations

import asyncio

import pytest

from metaagents.reindex.arrivals import RECORDS_MAX, Arrivals
from tiers.records import Scope

HERE, ELSEWHERE = (Scope(tenant="acme", graph_id=name) for name in ("here", "elsewhere"))


def _kept(arrivals: Arrivals, scope: Scope, *ids: str) -> None:
    for one in ids:
        with arrivals.coming(scope, one):
            pass


async def _has_to_wait(arrivals: Arrivals, scope: Scope) -> bool:
    asked = asyncio.create_task(arrivals.wait(scope))
    await asyncio.sleep(0)
    has_to_wait = not asked.done()
    asked.cancel()
    await asyncio.wait([asked])
    return has_to_wait


async def test_who_asks_waits_until_all_is_there() -> None:
    """Of its own graph; several may wait at the same time."""
    arrivals = Arrivals()
    _kept(arrivals, HERE, "a", "b")
    waiting = [asyncio.create_task(arrivals.wait(HERE)) for _ in range(2)]
    await arrivals.wait(ELSEWHERE)
    arrivals.arrived(HERE, ["a", "of nobody"])
    await asyncio.sleep(0)
    assert not any(one.done() for one in waiting)
    arrivals.arrived(HERE, ["b"])
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert all(one.done() for one in waiting)


async def test_nobody_waits_for_long_nor_twice() -> None:
    """An index that is away holds up what was asked once."""
    arrivals = Arrivals()
    _kept(arrivals, HERE, "a")
    assert await _has_to_wait(arrivals, HERE)
    await arrivals.wait(HERE)
    assert not await _has_to_wait(arrivals, HERE)


async def test_what_was_not_stored_is_not_awaited() -> None:
    """Nor what was refused."""
    arrivals = Arrivals()
    with pytest.raises(KeyError), arrivals.coming(HERE, "a"):
        raise KeyError
    assert not await _has_to_wait(arrivals, HERE)


async def test_a_host_of_records_is_not_awaited() -> None:
    """Those that are too many are found by their words at first, in whichever graph they are."""
    arrivals = Arrivals()
    _kept(arrivals, HERE, *(f"r{number}" for number in range(RECORDS_MAX)))
    _kept(arrivals, ELSEWHERE, "a")
    assert not await _has_to_wait(arrivals, ELSEWHERE)
    arrivals.arrived(HERE, ["r0"])
    _kept(arrivals, ELSEWHERE, "b")
    assert await _has_to_wait(arrivals, ELSEWHERE)


async def test_what_never_came_makes_room(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where nobody asks."""
    monkeypatch.setattr("metaagents.reindex.arrivals.WAIT_SECONDS_MAX", 0.0)
    arrivals = Arrivals()
    _kept(arrivals, HERE, *(f"r{number}" for number in range(RECORDS_MAX)))
    await asyncio.sleep(0.001)
    monkeypatch.undo()
    _kept(arrivals, ELSEWHERE, "a")
    assert await _has_to_wait(arrivals, ELSEWHERE)
    assert not await _has_to_wait(arrivals, HERE)
