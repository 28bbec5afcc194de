"""What redaction decides: what it reaches, what it leaves, and which receipts are concerned."""

from __future__ import annotations

import json
from datetime import timedelta
from itertools import permutations
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.cold_samples import episode_by, fact_by, receipt_by, rule_by, summary_by, turn_by
from support.tier_samples import HOSTILE_TEXT, NOW, scope_of

from metaagents.lifecycle.rules import GRAINS, bottom_up
from tiers.cold.redaction import (
    FEW_IDS,
    IDS_MAX,
    MODELS,
    PAGE_IDS,
    REACHED_MAX,
    REDACTED,
    Names,
    Reach,
    Survey,
    Trace,
    blanked,
    check_known,
    checked_request,
    pages,
    redacted_form,
    stand_in,
    stand_in_id,
)
from tiers.errors import NotFound, UsageError
from tiers.records import ToolOutput

LATER = NOW + timedelta(hours=1)
SCOPE = scope_of()


def _fact(number: int, *, is_redacted: bool = False) -> Trace:
    return Trace("fact", f"fact {number}", is_redacted)


def _walk(reach: Reach, made_of: dict[str, list[Trace]]) -> list[str]:
    while page := reach.page():
        assert len(page) <= PAGE_IDS
        reach.add(trace for one in page for trace in made_of.get(one, ()))
    return [trace.id for trace in reach.found]


def test_a_walk_reaches_everything_once_and_ends() -> None:
    """Over circles, over several ways to the same record, and over more than a page."""
    many = PAGE_IDS * 2 + 1
    made_of = {
        "root": [_fact(number) for number in range(many)],
        **{f"fact {number}": [_fact(number // 2), _fact(many + 1)] for number in range(many)},
        f"fact {many + 1}": [Trace("fact", "root", is_redacted=False)],
    }
    found = _walk(Reach([Trace("fact", "root", is_redacted=False)]), made_of)
    assert found == ["root", *(f"fact {number}" for number in range(many)), f"fact {many + 1}"]


def test_a_walk_from_what_was_redacted_before_stops_where_a_new_text_is() -> None:
    """What was written anew since knows nothing of it."""
    made_of = {
        "root": [_fact(1, is_redacted=True), _fact(2)],
        "fact 1": [_fact(3, is_redacted=True)],
        "fact 2": [_fact(4, is_redacted=True)],
    }
    root = Trace("turn", "root", is_redacted=True)
    assert _walk(Reach([root], only_redacted=True), made_of) == ["root", "fact 1", "fact 3"]
    assert _walk(Reach([root], ["fact 1"]), made_of) == ["root", "fact 2", "fact 4"]


def test_a_walk_that_reaches_too_much_is_refused() -> None:
    """Rather than taken to an end that nobody has time for."""
    reach = Reach([_fact(0)])
    with pytest.raises(UsageError, match="100,000"):
        reach.add(_fact(number) for number in range(REACHED_MAX + 1))


def test_what_was_reached_is_told_by_kind() -> None:
    """Each id once, sorted; receipts beside the records."""
    fresh = Reach([Trace("turn", "b", is_redacted=False), Trace("fact", "f", is_redacted=True)])
    before = Reach([Trace("turn", "a", is_redacted=True), Trace("fact", "f", is_redacted=True)])
    reached = Survey(fresh, before).reached(["r2", "r1"])
    assert reached.ids == {"turn": ("a", "b"), "fact": ("f",), "receipt": ("r1", "r2")}
    assert reached.all_ids == ("a", "b", "f")


def test_what_may_be_asked() -> None:
    """A reason, so many ids at most, all of them records, none of them beliefs."""
    assert checked_request(["b", "a", "b"], "why") == ("b", "a")
    assert len(checked_request([str(number) for number in range(IDS_MAX)], "why")) == IDS_MAX
    known = [Trace("turn", "a", is_redacted=False)]
    check_known(["a"], known, [])
    with pytest.raises(NotFound, match="'b'"):
        check_known(["a", "b"], known, [])
    with pytest.raises(UsageError, match="history"):
        check_known(["a", "b"], known, ["b"])


def test_what_is_left_names_but_says_nothing() -> None:
    """Ids, owners, order, periods and coverage stay; redacting again changes nothing more."""
    tool = ToolOutput(tool="search", output="secret")
    turn = turn_by(SCOPE, "secret", response="secret", tool_outputs=(tool,), ref="r", seq=3)
    fact = fact_by(SCOPE, "secret", subject="secret", predicate="secret", object="secret")
    records = (
        turn,
        summary_by(SCOPE, [turn], text="secret"),
        episode_by(SCOPE, [turn.id], text="secret"),
        fact,
        rule_by(SCOPE, "secret", steps=("secret", "secret")),
    )
    assert {type(record) for record in records} == set(MODELS.values())
    for record in records:
        left = redacted_form(record, LATER)
        assert "secret" not in left.model_dump_json()
        assert REDACTED in left.model_dump_json()
        assert type(record).model_validate(left.model_dump()) == left
        changed = {
            name
            for name in type(record).model_fields
            if getattr(record, name) != getattr(left, name)
        }
        assert changed <= {
            *("redacted_at", "input", "response", "tool_outputs", "text", "tokens"),
            *("subject", "predicate", "object", "trigger", "steps"),
        }
        assert redacted_form(left, LATER) == left


def test_a_stand_in_is_seen_by_those_who_saw_the_turn() -> None:
    """And always has the same id, so that it is there once."""
    turn = turn_by(scope_of(user_id="ada"), private=True, topics=("tyres",))
    summary = stand_in(turn, LATER)
    assert summary.id == stand_in_id(turn) == stand_in(turn, NOW).id
    assert (summary.covers, summary.redacted_at, summary.text) == ((turn.id,), LATER, REDACTED)
    for name in ("tenant", "graph_id", "agent_id", "user_id", "topics", "private"):
        assert getattr(summary, name) == getattr(turn, name)
    assert stand_in_id(turn.model_copy(update={"graph_id": "race/2"})) != summary.id


def test_a_blank_receipt_has_no_text() -> None:
    """Whatever slot it was in, however deep; ids, scores, costs and legs stay."""
    slot = {"text": "secret", "source_ids": ["text"], "score": 0.5, "deep": [{"text": "secret"}]}
    body = {"slots": [slot], "skipped": ["warm: cannot find 'secret'"], "text": {"a": 1}}
    blank = blanked(receipt_by(query="secret", body=body))
    assert "secret" not in blank.model_dump_json()
    assert blank.body == {
        "slots": [{"text": "", "source_ids": ["text"], "score": 0.5, "deep": [{"text": ""}]}],
        "skipped": ["warm"],
        "text": {"a": 1},
    }
    assert blanked(blank) == blank


_TEXTS = st.text(max_size=12) | st.sampled_from(["a", 'a"', "a\\", '\\"a', "é", HOSTILE_TEXT, ""])


@given(ids=st.sets(_TEXTS, min_size=1, max_size=4), said=st.lists(_TEXTS, max_size=6))
def test_receipts_are_found_by_whole_strings(ids: set[str], said: list[str]) -> None:
    """The same for few ids and for many, and whatever stands in them."""
    body = json.dumps({"slots": [{"source_ids": said, "score": 1}]}, ensure_ascii=False)
    others = {f"another {number}" for number in range(FEW_IDS)}
    names = not {"slots", "source_ids", "score", *said}.isdisjoint(ids)
    assert Names(ids).is_in(body) == names
    assert Names(ids | others).is_in(body) == names


def test_pages_hold_everything_in_order() -> None:
    """None is left out, and no page is empty."""
    ids = [str(number) for number in range(PAGE_IDS * 2 + 1)]
    cut = list(pages(ids))
    assert [len(page) for page in cut] == [PAGE_IDS, PAGE_IDS, 1]
    assert [one for page in cut for one in page] == ids
    assert list(pages([])) == []


def test_finer_records_are_written_before_coarser_ones() -> None:
    """Summaries, then episodes by grain, then by time, whatever the order they come in."""
    turn = turn_by(SCOPE)
    summary = summary_by(SCOPE, [turn])
    late = summary_by(SCOPE, [turn], starts_at=LATER, ends_at=LATER)
    episodes = [episode_by(SCOPE, [], grain=grain) for grain in GRAINS]
    expected = [summary, late, *episodes]
    shuffled = list(expected)
    for seed in range(5):
        Random(seed).shuffle(shuffled)
        assert bottom_up(shuffled) == expected
    assert all(bottom_up(pair) == expected[:2] for pair in permutations(expected[:2]))
