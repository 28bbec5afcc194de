"""Finding the spans that hold at one event: nothing missed, nothing found that does not hold."""

from __future__ import annotations

from random import Random

import pytest

from tiers.history.spans import Stations, node_of, stations

Span = tuple[int, int]


def _found(span: Span, at: Stations) -> bool:
    """Whether an engine that looks a closed span up as the stations say finds it.

    An engine sees a node and one end only: where the span begins, or where it ends.
    """
    (since, until), node = span, node_of(*span)
    seq = max(at.before, default=0)
    by_beginning = node in at.after and since <= seq
    by_ending = node in at.before and until > seq
    assert not (by_beginning and by_ending), "it would be found twice"
    return by_beginning or by_ending


def test_every_span_of_a_short_log_is_found_where_it_holds_and_nowhere_else() -> None:
    """All spans of logs up to 33 events, at every event: beyond powers of two, and on them."""
    for last_seq in range(1, 34):
        at = {seq: stations(seq, last_seq) for seq in range(1, last_seq + 1)}
        for until in range(2, last_seq + 1):
            for since in range(1, until):
                for seq, places in at.items():
                    holds = since <= seq < until
                    assert _found((since, until), places) == holds, (since, until, seq, last_seq)


@pytest.mark.parametrize("last_seq", [1_000, 2**20, 2**20 + 1, 10**9, 2**62])
def test_spans_of_a_long_log_are_found_where_they_hold(last_seq: int) -> None:
    """Random spans of every length, asked for at and beside their ends and in between."""
    draw = Random(last_seq)
    for _ in range(1_000):
        since = draw.randint(1, last_seq - 1)
        length = draw.randint(1, 2 ** draw.randint(0, last_seq.bit_length()))
        until = min(last_seq, since + length)
        inside, anywhere = draw.randint(since, until - 1), draw.randint(1, last_seq)
        for seq in {since - 1, since, inside, until - 1, until, anywhere, last_seq} - {0}:
            holds = since <= seq < until
            assert _found((since, until), stations(seq, last_seq)) == holds, (since, until, seq)


def test_a_look_back_costs_a_station_for_each_doubling_of_the_log() -> None:
    """So many look-ups and no more, each node once, whatever is asked for."""
    for last_seq, most in ((0, 1), (1, 1), (100, 7), (100_000, 17), (10**9, 30)):
        for seq in {0, 1, last_seq // 3, last_seq}:
            after, before = stations(seq, last_seq)
            nodes = (*after, *before)
            assert len(nodes) == len(set(nodes)) == most
            assert all(node > seq for node in after)
            assert all(0 < node <= seq for node in before)


def test_before_the_first_event_and_after_the_last_nothing_that_has_ended_holds() -> None:
    """Nothing was believed at 0; of a log's end only what has not ended is believed."""
    spans = [(since, until) for until in range(2, 17) for since in range(1, until)]
    assert not any(node_of(*span) in stations(0, 16).before for span in spans)
    assert all(since > 0 for since, _ in spans), "none begins at or before 0"
    for seq in (16, 17, 1_000):
        assert not any(_found(span, stations(seq, 16)) for span in spans)


def test_a_span_is_filed_within_itself() -> None:
    """Under the event of it that is divisible by the highest power of two."""
    for since in range(1, 70):
        for until in range(since + 1, 71):
            inside = range(since, until)
            best = max(inside, key=lambda one: one & -one)
            assert node_of(since, until) == best
