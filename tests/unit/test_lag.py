"""How a process that serves keeps its garbage collections short."""

from __future__ import annotations

import gc

from ezra.service.lag import LOOKED_THROUGH_ONCE_IN, what_stays_left_out


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


def test_now_and_then_everything_is_looked_through() -> None:
    """Otherwise a circle that was left out while it lived would stay for ever."""
    with what_stays_left_out():
        for _ in range(LOOKED_THROUGH_ONCE_IN - 1):
            gc.collect()
        assert gc.get_freeze_count() == 0
        gc.collect()
        assert gc.get_freeze_count() > 0
