"""What the lifecycle agent decides."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.records import START, summary, turn

from metaagents.lifecycle.rules import (
    LifecyclePolicy,
    beliefs_kept_since,
    due_again,
    group_by_day,
    group_turns,
    is_past_retention,
    ready_groups,
    shared_topics,
)
from tiers.records import HistoricBelief, Retention

POLICY = LifecyclePolicy(turns_per_summary=3)


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


def test_a_summary_has_the_topics_that_all_its_turns_have() -> None:
    """Who holds one of them may see every part."""
    turns = [
        turn(1, topics=("fuel", "tyres", "wing")),
        turn(2, topics=("tyres", "wing")),
        turn(3, topics=("tyres",)),
    ]
    (group,) = group_turns(turns, POLICY)
    assert shared_topics(group) == ("tyres",)
    chain = [turn(1, topics=("a", "b")), turn(2, topics=("b", "c")), turn(3, topics=("a", "c"))]
    assert [[one.seq for one in group] for group in group_turns(chain, POLICY)] == [[1, 2], [3]]


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
    """For any turns and any reader; and every turn is in exactly one group."""
    turns = [
        turn(seq, topics=topics, private=private, occurred_at=START + timedelta(minutes=minutes))
        for seq, (topics, private, minutes) in enumerate(drawn, start=1)
    ]
    groups = group_turns(turns, POLICY)
    assert sorted(one.seq for group in groups for one in group) == [one.seq for one in turns]
    for group in groups:
        topics = set(shared_topics(group))
        assert len({one.private for one in group}) == 1
        for reader in map(set, ("", "a", "b", "ab", "c", "abc")):
            if not topics or topics & reader:
                assert all(not one.topics or set(one.topics) & reader for one in group)


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


def test_summaries_are_gathered_by_writer_audience_and_day() -> None:
    """An episode tells one agent's day to one audience."""
    summaries = [
        summary(1),
        summary(2),
        summary(24),
        summary(3, agent_id="driver"),
        summary(4, topics=("fuel",)),
    ]
    days = group_by_day(summaries)
    assert [[one.id for one in members] for _, members in days] == [
        ["summary-1", "summary-2"],
        ["summary-24"],
        ["summary-3"],
        ["summary-4"],
    ]
    assert [day.isoformat() for day, _ in days][:2] == ["2026-05-14", "2026-05-15"]


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
