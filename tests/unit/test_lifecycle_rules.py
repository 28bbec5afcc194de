"""What the lifecycle agent decides."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import product
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.records import START, summary, turn
from support.tier_samples import scope_of

from metaagents.lifecycle.building import summary_of
from metaagents.lifecycle.rules import (
    LifecyclePolicy,
    beliefs_kept_since,
    days_over_until,
    due_again,
    finished_groups,
    group_by_period,
    group_turns,
    is_leaving_early,
    is_past_retention,
    ready_groups,
    unsettled_days,
    whole_periods,
)
from metaagents.lifecycle.writing import Wording
from tiers.records import HistoricBelief, Retention

POLICY = LifecyclePolicy(turns_per_summary=3)
BERLIN = ZoneInfo("Europe/Berlin")
AT_HOME = LifecyclePolicy(zone=BERLIN)


def test_a_full_group_ends() -> None:
    """No group is larger than the policy allows, and every turn is in exactly one."""
    turns = [turn(seq) for seq in range(1, 8)]
    groups = group_turns(turns, POLICY)
    assert [len(group) for group in groups] == [3, 3, 1]
    assert [one for group in groups for one in group] == turns


def test_a_pause_ends_a_group() -> None:
    """Turns on both sides of a long pause are not one summary."""
    later = turn(2, occurred_at=START + POLICY.gap + timedelta(minutes=2))
    assert [len(group) for group in group_turns([turn(1), later], POLICY)] == [1, 1]


def test_a_step_back_in_time_ends_a_group() -> None:
    """Periods of summaries run forward."""
    earlier = turn(2, occurred_at=START - timedelta(days=1))
    assert [len(group) for group in group_turns([turn(1), earlier], POLICY)] == [1, 1]


def test_turns_without_a_common_topic_are_never_compressed_together() -> None:
    """A reader of one topic must not read another's words in a summary, nor a private turn."""
    turns = [
        turn(1, topics=("tyres",)),
        turn(2, topics=("fuel",)),
        turn(3, topics=("tyres",), private=True),
        turn(4, topics=("tyres",)),
        turn(5),
        turn(6, topics=("tyres",), user_id="ada"),
        turn(7),
    ]
    groups = group_turns(turns, POLICY)
    assert [[one.seq for one in group] for group in groups] == [[1, 4], [2], [3], [5, 7], [6]]


def test_turns_of_other_topics_are_compressed_apart() -> None:
    """Who is denied one topic of a turn must not read its words in what shares another."""
    chain = [turn(1, topics=("a", "b")), turn(2, topics=("b",)), turn(3, topics=("a", "b"))]
    assert [[one.seq for one in group] for group in group_turns(chain, POLICY)] == [[1, 3], [2]]


@given(
    drawn=st.lists(
        st.tuples(
            st.frozensets(st.sampled_from("abc"), max_size=3),
            st.booleans(),
            st.integers(min_value=0, max_value=500),
        ),
        max_size=24,
    )
)
def test_whoever_may_read_a_summary_may_read_every_turn_it_covers(
    drawn: list[tuple[frozenset[str], bool, int]],
) -> None:
    """For any turns and any reader, whatever is denied; every turn is in exactly one group."""
    turns = [
        turn(seq, topics=topics, private=private, occurred_at=START + timedelta(minutes=minutes))
        for seq, (topics, private, minutes) in enumerate(drawn, start=1)
    ]
    groups = group_turns(turns, POLICY)
    assert sorted(one.seq for group in groups for one in group) == [one.seq for one in turns]
    for group in groups:
        topics = set(summary_of(scope_of(), group, Wording("", "words", 0), START, START).topics)
        assert len({one.private for one in group}) == 1
        for held, denied in product(map(set, ("", "a", "b", "ab", "c", "abc")), map(set, "abc")):
            if (not topics or topics & held) and not topics & denied:
                read = [set(one.topics) for one in group]
                assert all(not one or (one & held and not one & denied) for one in read)


def test_only_groups_that_can_still_grow_wait() -> None:
    """A group waits until it is full, old, or its topic has paused while others went on."""
    turns = [turn(seq) for seq in range(1, 6)]
    groups = group_turns(turns, POLICY)
    just_now = turns[-1].recorded_at + timedelta(seconds=1)
    assert ready_groups(groups, POLICY, just_now) == groups[:1]
    assert due_again(groups[1:], POLICY) == turns[-1].recorded_at + POLICY.patience
    old = turns[-1].recorded_at + POLICY.patience
    assert ready_groups(groups, POLICY, old) == groups
    assert due_again([], POLICY) is None
    later = turn(6, topics=("fuel",), occurred_at=START + POLICY.gap + timedelta(minutes=6))
    paused = group_turns([*turns, later], POLICY)
    assert ready_groups(paused, POLICY, just_now) == paused[:2]


def test_nothing_waits_when_there_is_nothing() -> None:
    """No turns, no groups, no return."""
    assert ready_groups([], POLICY, START) == []
    assert group_turns([], POLICY) == []


def test_a_group_ends_with_its_day_where_people_live() -> None:
    """Half past eleven and half past midnight in Berlin are half past nine and ten in UTC."""
    evening = datetime(2026, 5, 14, 21, 30, tzinfo=UTC)
    turns = [turn(n, occurred_at=evening + timedelta(minutes=20 * n)) for n in range(4)]
    assert [len(group) for group in group_turns(turns, LifecyclePolicy())] == [4]
    groups = group_turns(turns, AT_HOME)
    assert [[one.seq for one in group] for group in groups] == [[0, 1], [2, 3]]
    assert finished_groups(groups, AT_HOME) == groups[:1]


def test_a_day_is_over_when_it_has_ended_and_nothing_of_it_came_a_moment_ago() -> None:
    """A quarter of an hour after midnight; the day that is then looked at is the one before."""
    midnight = datetime(2026, 5, 14, 22, 0, tzinfo=UTC)
    quarter = timedelta(minutes=15)
    assert days_over_until(midnight + quarter, AT_HOME) == midnight
    just_before = midnight + quarter - timedelta(microseconds=1)
    assert days_over_until(just_before, AT_HOME) == midnight - timedelta(days=1)
    late = turn(1, occurred_at=midnight - timedelta(days=3), recorded_at=midnight)
    assert unsettled_days([late, turn(2)], AT_HOME, midnight + quarter) == set()
    assert unsettled_days([late, turn(2)], AT_HOME, midnight + quarter / 2) == {
        datetime(2026, 5, 12, tzinfo=UTC).date()
    }


def test_a_summary_leaves_early_only_if_its_day_lasts_longer() -> None:
    """One that outlives its day waits for the whole of it."""
    told_at = datetime(2026, 5, 14, 22, 15, tzinfo=UTC)
    lasting = summary(1, expires_at=told_at)
    assert not is_leaving_early(lasting, AT_HOME)
    short = summary(1, expires_at=told_at - timedelta(seconds=1))
    assert is_leaving_early(short, AT_HOME)
    assert not is_leaving_early(summary(1), AT_HOME)


def test_summaries_are_gathered_by_writer_audience_and_period() -> None:
    """An episode tells one agent's period to one audience; nothing is in two of them."""
    summaries = [
        summary(24),
        summary(1),
        summary(2),
        summary(3, agent_id="driver"),
        summary(4, topics=("fuel",)),
        summary(5, private=True),
        summary(6, user_id="ada"),
    ]
    days = group_by_period(summaries, "daily", BERLIN)
    assert [(day, [one.id for one in members]) for day, members in days] == [
        ("2026-05-14", ["summary-1", "summary-2"]),
        ("2026-05-14", ["summary-3"]),
        ("2026-05-14", ["summary-4"]),
        ("2026-05-14", ["summary-5"]),
        ("2026-05-14", ["summary-6"]),
        ("2026-05-15", ["summary-24"]),
    ]
    weeks = group_by_period(summaries, "weekly", BERLIN)
    assert [len(members) for _, members in weeks] == [3, 1, 1, 1, 1]


def test_of_a_page_only_whole_periods_are_told() -> None:
    """The last period of it may go on behind it."""
    page = [summary(1), summary(2), summary(24), summary(25)]
    whole = whole_periods(page, "daily", BERLIN)
    assert [one.id for one in whole] == ["summary-1", "summary-2"]
    assert whole_periods(page[:2], "daily", BERLIN) == ()
    assert whole_periods([], "daily", BERLIN) == ()


def test_beliefs_are_kept_for_ever_unless_the_graph_says_otherwise() -> None:
    """The longest time that can be asked for is still a date."""
    assert beliefs_kept_since(Retention(), START) is None
    assert beliefs_kept_since(Retention(beliefs_days=0.5), START) == START - timedelta(hours=12)
    assert beliefs_kept_since(Retention(beliefs_days=365_000), START).year == 1027
    for days in (0, -1, 365_001):
        with pytest.raises(ValueError, match="beliefs_days"):
            Retention(beliefs_days=days)


@pytest.mark.parametrize(
    ("changes", "is_past"),
    [
        ({}, True),
        ({"status": "reverted"}, True),
        ({"ended_seq": 6}, False),
        ({"status": "active", "ended_seq": None}, False),
        ({"status": "redacted", "redacted_at": START}, False),
        ({"redacted_at": START}, False),
        ({"pinned": True}, False),
    ],
    ids=str,
)
def test_only_what_ended_by_then_is_past_its_retention(
    changes: dict[str, object], *, is_past: bool
) -> None:
    """Superseded or reverted by that event; active, pinned and redacted beliefs are left alone."""
    ended = HistoricBelief(claim="So.", committed_seq=3, status="superseded", ended_seq=5)
    assert is_past_retention(ended.model_copy(update=changes), 5) is is_past
