"""How a process that serves keeps its garbage collections short."""

from __future__ import annotations

import gc

import pytest

from ezra.service import lag
from ezra.service.lag import what_stays_left_out


def test_what_stays_is_looked_through_once() -> None:
    """What came through a collection is left out of the next; behind the block nothing is."""
    before = len(gc.callbacks)
    with what_stays_left_out():
        first = gc.get_freeze_count()
        assert first > 0
        assert len(gc.get_objects()) < first
        held = [[number] for number in range(5_000)]
        assert gc.is_tracked(held[0])
        gc.collect()
        assert not {id(each) for each in held} & {id(each) for each in gc.get_objects()}
    assert gc.get_freeze_count() == 0
    assert len(gc.callbacks) == before


def test_now_and_then_everything_is_looked_through(monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise a circle that was left out while it lived would stay for ever."""
    monkeypatch.setattr(lag, "LOOKED_THROUGH_ONCE_IN", 4)
    with what_stays_left_out():
        gc.collect()
        assert gc.get_freeze_count() > 0
        gc.collect()
        gc.collect()
        assert gc.get_freeze_count() == 0
        gc.collect()
        assert gc.get_freeze_count() > 0
