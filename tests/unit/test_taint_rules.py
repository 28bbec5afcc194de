"""What came of a record, and what a roll-back does with it: the pure part."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from ezra.erasure.taint.rolling_back import planned, rebuilt_by
from ezra.erasure.taint.walk import Shown, Walk, counted
from tiers.history.rolling_back import comes_back
from tiers.taint import Reason, Resting, TaintedKind

NOW = datetime(2026, 5, 14, tzinfo=UTC)


def resting(kind: TaintedKind, name: str, *sources: str, **fields: object) -> Resting:
    """Return a record that names others."""
    reasons = tuple(Reason(id=one, how="rests on") for one in sources)
    return Resting(graph_id="g", kind=kind, id=name, recorded_at=NOW, reasons=reasons).model_copy(
        update=fields
    )


def walked(
    root: Resting, *others: Resting, receipts: tuple[Shown, ...] = (), most: int = 99
) -> Walk:
    """Walk through records that are all at hand."""
    walk = Walk(root, most)
    said = {one.id: one for one in others}

    def rest(ids: set[str]) -> None:
        walk.add(one for one in others if ids & {reason.id for reason in one.reasons})

    while page := walk.page():
        rest({node.id for node in page})
    walk.expose()
    while page := walk.page():
        turn_ids = walk.show(receipts, page)
        walk.answered(said[one] for one in turn_ids if one in said)
        rest({node.id for node in page if node.exposure == "exposed"} | set(turn_ids))
    return walk


def told(walk: Walk) -> dict[str, tuple[str, str]]:
    """Return the exposure and the parent of each record that was found."""
    return {node.id: (node.exposure, node.parent_id) for node in walk.nodes}


def test_a_diamond_and_a_circle_are_walked_once() -> None:
    """Each record is in the tree once, behind the nearest that it comes of."""
    left, right = resting("fact", "l", "root", "below"), resting("fact", "r", "root")
    below = resting("belief", "below", "l", "r")
    found = told(walked(resting("turn", "root"), left, right, below))
    assert found == {
        "root": ("root", ""),
        "l": ("derived", "root"),
        "below": ("derived", "l"),
        "r": ("derived", "root"),
    }


def test_what_is_both_is_derived() -> None:
    """A fact of a turn that was shown the poison, which names the poison too, is certain."""
    shown = Shown(resting("receipt", "seen"), "answer", frozenset({"root"}))
    answer, fact = resting("turn", "answer"), resting("fact", "f", "root", "answer")
    later = resting("belief", "b", "answer")
    found = told(walked(resting("fact", "root"), answer, fact, later, receipts=(shown,)))
    assert found == {
        "root": ("root", ""),
        "f": ("derived", "root"),
        "seen": ("exposed", "root"),
        "answer": ("exposed", "seen"),
        "b": ("exposed", "answer"),
    }


def test_what_was_believed_in_a_turn_without_a_reply_is_found() -> None:
    """The turn is stored nowhere; its receipt stands for it."""
    shown = Shown(resting("receipt", "seen"), "open", frozenset({"root"}))
    found = told(walked(resting("fact", "root"), resting("belief", "b", "open"), receipts=(shown,)))
    assert found["b"] == ("exposed", "seen")


def test_a_summary_that_was_made_anew_does_not_come_of_what_is_gone() -> None:
    """A fact that names it does: nobody has made that anew."""
    root = resting("turn", "root", is_gone=True)
    found = told(walked(root, resting("summary", "s", "root"), resting("fact", "f", "root")))
    assert set(found) == {"root", "f"}
    retired = root.model_copy(update={"is_retired": True})
    found = told(walked(retired, resting("summary", "s", "root"), resting("episode", "e", "s")))
    assert set(found) == {"root", "s", "e"}, "retention leaves what was made of it as it is"
    gone = resting("summary", "s", "root", is_gone=True)
    assert set(told(walked(root, gone))) == {"root", "s"}


def test_a_walk_is_bounded_and_says_so() -> None:
    """Thousands are found up to the limit; the rest is not looked at."""
    facts = [resting("fact", f"f{number}", "root") for number in range(3_000)]
    whole = walked(resting("turn", "root"), *facts, most=10_000)
    assert (len(whole.nodes), whole.is_whole) == (3_001, True)
    assert counted(whole.nodes) == {"root": {"turn": 1}, "derived": {"fact": 3_000}}
    cut = walked(resting("turn", "root"), *facts, most=1_000)
    assert (len(cut.nodes), cut.is_whole) == (1_000, False)


def test_a_plan_leaves_receipts_and_what_is_over() -> None:
    """What has no content has nothing to take; exposed records are asked for."""
    shown = Shown(resting("receipt", "seen"), "answer", frozenset({"root"}))
    others = (
        resting("belief", "b", "root"),
        resting("belief", "over", "root", is_over=True),
        resting("fact", "gone", "root", is_gone=True),
        resting("turn", "answer"),
    )
    walk = walked(resting("fact", "root"), *others, receipts=(shown,))
    done = {one.id: one.done for one in planned(walk.nodes, exposed=False)}
    assert done == {"root": "set aside", "b": "reverted"}
    done = {one.id: one.done for one in planned(walk.nodes, exposed=True)}
    assert done == {"root": "set aside", "b": "reverted", "answer": "set aside"}


def test_what_has_other_sources_is_rebuilt_from_the_bottom_up() -> None:
    """A day that has a summary left, a week that has such a day; not the poisoned one."""
    others = (
        resting("summary", "both", "root", "clean"),
        resting("summary", "alone", "root"),
        resting("episode", "day", "both"),
        resting("episode", "lost", "alone"),
        resting("episode", "week", "day", "lost"),
    )
    walk = walked(resting("turn", "root"), *others)
    items = planned(walk.nodes, exposed=False)
    assert set(rebuilt_by(walk, items, "root")) == {"both", "day", "week"}
    walk = walked(resting("summary", "root", "clean"))
    assert rebuilt_by(walk, planned(walk.nodes, exposed=False), "root") == []


@pytest.mark.parametrize(
    ("tainted", "stands"),
    [
        ({"p": (True, None)}, True),
        ({"p": (False, "q"), "q": (True, None)}, True),
        ({"p": (False, "clean")}, False),
        ({"p": (False, None)}, False),
        ({"p": (False, "q"), "q": (False, "p")}, False),
        ({}, False),
    ],
)
def test_what_gave_way_stands_again_if_only_poison_is_in_its_way(
    tainted: dict[str, tuple[bool, str | None]], *, stands: bool
) -> None:
    """Where something clean took the place of the poison since, that stands."""
    assert comes_back("p", tainted) is stands
