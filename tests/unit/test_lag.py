"""How a process that serves keeps its garbage collections short.

Each is a process of its own: this one holds a million objects that no test is to look through.
"""

from __future__ import annotations

import gc
import subprocess
import sys

import pytest

from ezra.telemetry import lag
from ezra.telemetry.lag import what_stays_left_out


def once() -> None:
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


def now_and_then() -> None:
    """Otherwise a circle that was left out while it lived would stay for ever."""
    lag.LOOKED_THROUGH_ONCE_IN = 4
    with what_stays_left_out():
        gc.collect()
        assert gc.get_freeze_count() > 0
        gc.collect()
        gc.collect()
        assert gc.get_freeze_count() == 0
        gc.collect()
        assert gc.get_freeze_count() > 0


@pytest.mark.parametrize("what", [once, now_and_then], ids=lambda what: what.__name__)
def test_what_stays_is_looked_through_once_and_now_and_then_again(what: object) -> None:
    """In a process that begins."""
    subprocess.run([sys.executable, __file__, getattr(what, "__name__", "")], check=True)


if __name__ == "__main__":
    globals()[sys.argv[1]]()
