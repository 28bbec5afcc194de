"""The account of every turn counts what is there, and trusts nobody."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from support.records import START, scope

from metaagents.lifecycle.conservation import ConservationReport, conserve, report
from tiers.grains import Made, TurnMark
from tiers.plans import AnyGrain
from tiers.records import Record, Scope
from tiers.upkeep import Page


def mark(number: int, **more: object) -> TurnMark:
    """Return a turn of one agent."""
    values: dict[str, object] = {
        "agent_id": "ada",
        "seq": number,
        "occurred_at": START + timedelta(minutes=number),
        **more,
    }
    return TurnMark(id=f"t{number}", **values)


def made(name: str, grain: AnyGrain, *sources: str, **more: object) -> Made:
    """Return a summary or episode."""
    values: dict[str, object] = {
        "agent_id": "ada",
        "starts_at": START,
        "ends_at": START,
        "made_by": "extract",
        **more,
    }
    return Made(id=name, grain=grain, sources=sources, **values)


TURNS = [mark(number) for number in range(1, 6)]
WHOLE = [
    made("s1", "working", "t1", "t2"),
    made("s2", "working", "t3", redacted=True),
    made("s3", "working", "t4", retired=True, lost=3),
    made("d1", "daily", "s1"),
    made("d2", "daily", "s2", "s3", retired=True),
    made("w1", "weekly", "d1", "d2"),
    made("m1", "monthly", "d1"),
    made("q1", "quarterly", "m1"),
    made("y1", "yearly", "q1", lost=1),
]


def counts(found: ConservationReport) -> dict[str, tuple[int, int, int]]:
    """Return records, covered turns and the tail of each grain."""
    return {one.grain: (one.records, one.covered, one.tail) for one in found.grains}


def test_every_turn_is_covered_once_or_in_the_tail() -> None:
    """At every grain; what is retired counts where it is, and what is redacted tells nothing."""
    found = conserve(TURNS, WHOLE)
    assert (found.ok, found.problems, found.turns) == (True, (), 5)
    assert counts(found) == {
        "working": (3, 3, 1),
        "daily": (2, 3, 1),
        "weekly": (1, 3, 1),
        "monthly": (1, 2, 3),
        "quarterly": (1, 2, 3),
        "yearly": (1, 2, 3),
    }
    assert [one.emptied for one in found.grains] == [1, 1, 1, 0, 0, 0]
    redacted = [*TURNS[:2], mark(3, redacted=True), *TURNS[3:]]
    assert [one.covered for one in conserve(redacted, WHOLE).grains[:3]] == [4, 4, 4]
    assert [(one.id, one.grain, one.lost) for one in found.flagged] == [
        ("s3", "working", 3),
        ("y1", "yearly", 1),
    ]
    assert conserve([], []).ok


def test_a_turn_that_is_covered_twice_is_named() -> None:
    """By two summaries, by two episodes of a grain, or by one that names it twice."""
    twice = conserve(TURNS, [*WHOLE, made("s4", "working", "t1", "t5")])
    assert twice.grains[0].twice == ("t1",)
    assert counts(twice)["working"] == (4, 3, 0)
    again = conserve(TURNS, [*WHOLE, made("m2", "monthly", "d1", "d2")])
    assert again.grains[3].twice == ("t1", "t2")
    within = conserve(TURNS, [made("s1", "working", "t1", "t1")])
    assert within.grains[0].twice == ("t1",)
    for found in (twice, again, within):
        assert not found.ok
        assert "covered more than once: t1" in found.problems[0]


def test_a_source_that_does_not_exist_is_named() -> None:
    """Also one of another grain: a week is not made of summaries."""
    found = conserve(TURNS, [*WHOLE, made("s5", "working", "t9"), made("w2", "weekly", "s1")])
    assert {one.grain: one.lost for one in found.grains if one.lost} == {
        "working": ("t9",),
        "weekly": ("s1",),
    }
    assert not found.ok
    assert "1 sources do not exist: t9" in found.problems[0]


def test_a_turn_that_was_lost_leaves_a_gap_in_the_numbers() -> None:
    """Its summary still names it, and its agent's turns do not count through."""
    found = conserve([one for one in TURNS if one.seq != 2], WHOLE)
    assert dict(found.missing) == {"ada": 1}
    assert found.grains[0].lost == ("t2",)
    # Without a summary, the gap alone tells.
    assert not conserve([mark(2)], []).ok
    assert conserve([mark(1), mark(1, agent_id="bob")], []).doubled == ("t1",)


class Pages:
    """Returns rows two at a time, and other rows at each reading."""

    def __init__(self, turns: Sequence[TurnMark], readings: Sequence[Sequence[Made]]) -> None:
        self._turns = turns
        self._readings = list(readings)
        self.read = 0

    async def turn_marks(self, asker: Scope, cursor: str, limit: int) -> Page[TurnMark]:
        """Return two turns."""
        del asker, limit
        return self._page(self._turns, cursor)

    async def made(self, asker: Scope, cursor: str, limit: int) -> Page[Made]:
        """Return two records of this reading."""
        del asker, limit
        self.read += not cursor
        return self._page(self._readings[min(self.read, len(self._readings)) - 1], cursor)

    def _page(self, rows: Sequence[Record], cursor: str) -> Page:
        start = int(cursor or 0)
        more = str(start + 2) if start + 2 < len(rows) else None
        return Page(rows=tuple(rows[start : start + 2]), cursor=more)


async def test_what_looks_torn_is_read_again() -> None:
    """A pass that is at work between two pages is no loss; what stays wrong is told."""
    torn = [one for one in WHOLE if one.id != "d1"]
    calm = Pages(TURNS, [WHOLE])
    assert (await report(calm, scope(None))).ok  # type: ignore[arg-type]
    assert calm.read == 1
    busy = Pages(TURNS, [torn, WHOLE])
    assert (await report(busy, scope(None))).ok  # type: ignore[arg-type]
    assert busy.read == 2
    broken = Pages(TURNS, [torn])
    found = await report(broken, scope(None))  # type: ignore[arg-type]
    assert broken.read == 3
    assert [one.lost for one in found.grains if one.lost] == [("d1",), ("d1",)]
