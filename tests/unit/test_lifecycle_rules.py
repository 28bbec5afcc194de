"""What the lifecycle agent decides: states, retention plans, and which ended beliefs are erased."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import product
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.records import START, summary, turn
from support.tier_samples import scope_of

from metaagents.lifecycle import retention
from metaagents.lifecycle.building import summary_of
from metaagents.lifecycle.retention import BeliefRetention
from metaagents.lifecycle.retirement import RetentionPolicy
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
from tiers.errors import UsageError
from tiers.plans import ANY_GRAIN, PLANS, Kept, checked_plan, plan_of
from tiers.records import BeliefQuery, HistoricBelief, Retention, Scope, SessionGraph

# What the lifecycle agent decides.

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


# Retention plans: the presets, calendar cut-offs, own plans, and the safety floor.


def at(text: str) -> datetime:
    """Return a moment in UTC."""
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("name", "cut_offs"),
    [
        ("free", "2026-08-29 2026-08-01 2026-07-20 2026-02-28 2025-08-31 2024-08-31"),
        ("starter", "2026-08-26 2026-07-02 2026-06-08 2025-08-31 2024-08-31 2022-08-31"),
        ("pro", "2026-08-21 2026-05-03 2026-03-16 2024-08-31 2022-08-31 2018-08-31"),
    ],
)
def test_the_presets_are_those_of_the_table(name: str, cut_offs: str) -> None:
    """Free, Starter and Pro, from the last day of a month that is longer than others."""
    plan, now = PLANS[name], at("2026-08-31T12:30")
    assert tuple(plan) == ANY_GRAIN
    assert [kept.since(now) for kept in plan.values()] == [
        at(f"{day}T12:30") for day in cut_offs.split()
    ]


def test_months_are_calendar_months() -> None:
    """The same day and time, or the month's last day; before the first year there is nothing."""
    assert Kept(1, "mo").since(at("2024-03-31T08:00")) == at("2024-02-29T08:00")
    assert Kept(1, "mo").since(at("2026-03-31T08:00")) == at("2026-02-28T08:00")
    assert Kept(1, "q").since(at("2026-01-31T08:00")) == at("2025-10-31T08:00")
    assert Kept(1, "y").since(at("2024-02-29T08:00")) == at("2023-02-28T08:00")
    assert Kept(14, "mo").since(at("2026-01-15T08:00")) == at("2024-11-15T08:00")
    assert Kept(1_000, "y").since(at("0900-01-01T00:00")).year == 1


def test_a_plan_of_ones_own_is_read() -> None:
    """What a grain does not say, it keeps for ever."""
    assert plan_of(" Working=48h, monthly=6mo ") == {
        "working": Kept(48, "h"),
        "monthly": Kept(6, "mo"),
    }
    assert plan_of("KEEP") == {}
    assert checked_plan(" Daily=30D, weekly=6w") == "daily=30d,weekly=6w"
    assert Retention(plan="Pro").plan == "pro"


@pytest.mark.parametrize(
    "text",
    ["", "gold", "daily", "daily=", "daily=30", "daily=0d", "daily=-1d", "daily=1001d",
     "hourly=1d", "daily=1d,daily=2d", "daily=1d;weekly=1w", "daily=1.5d", "daily=1m"],
)  # fmt: skip
def test_what_is_no_plan_is_refused(text: str) -> None:
    """With what would be one; also as a graph's own."""
    with pytest.raises(ValueError, match=r"^must be keep, free, starter, pro, or parts "):
        plan_of(text)
    with pytest.raises(UsageError, match=r"^plan: '[^']*' is not accepted; accepted: keep"):
        Retention(plan=text)


def test_a_graphs_own_retention_comes_first() -> None:
    """Where it says nothing, the settings hold; the safety floor is theirs alone."""
    policy = RetentionPolicy(plan="pro", superseded_facts_days=7, share_max=0.2, records_min=3)
    assert policy.under(Retention()) == policy
    own = policy.under(Retention(plan="free", forgotten_facts_days=0.5))
    assert own == RetentionPolicy("free", 7, 0.5, 0.2, 3)


def test_the_safety_floor_is_a_share_of_many() -> None:
    """More than the share, and so many at least."""
    policy = RetentionPolicy(share_max=0.5, records_min=200)
    assert policy.is_too_much(201, 400)
    assert not policy.is_too_much(200, 400)
    assert policy.is_too_much(200, 399)
    assert not policy.is_too_much(199, 199)
    assert not RetentionPolicy(share_max=1).is_too_much(10_000, 10_000)


# Which ended beliefs a pass erases: bounded, in order, and none is forgotten.

GRAPH = SessionGraph(
    tenant="acme", id="imola", created_at=START, retention=Retention(beliefs_days=1)
)


class Ended:
    """As much of a ``BeliefHistory`` as retention asks: beliefs that ended, an event a minute."""

    def __init__(self, *ended_seqs: int) -> None:
        self.beliefs = {
            f"b{number}": HistoricBelief(
                id=f"b{number}",
                claim="So.",
                committed_seq=number,
                status="superseded",
                ended_seq=ended_seq,
            )
            for number, ended_seq in enumerate(ended_seqs, start=1)
        }
        self.queries = 0
        self.erased: list[tuple[Scope, list[str], str]] = []

    async def seq_at(self, scope: Scope, *, time: datetime | None = None) -> int:
        """Return the number of minutes since the start."""
        assert scope == Scope.of_graph("acme", "imola")
        assert time is not None
        return max(0, int((time - START) / timedelta(minutes=1)))

    async def query(self, scope: Scope, query: BeliefQuery) -> tuple[HistoricBelief, ...]:
        """Return beliefs after a place, in order."""
        assert scope == Scope.of_graph("acme", "imola")
        assert query.statuses == ("superseded", "reverted")
        assert query.until_seq is not None
        self.queries += 1
        found = [one for one in self.beliefs.values() if query.after < one.committed_seq]
        return tuple(one for one in found if one.committed_seq < query.until_seq)[: query.limit]

    async def erase(self, scope: Scope, ids: Sequence[str], reason: str) -> None:
        """Forget beliefs."""
        self.erased.append((scope, list(ids), reason))
        for one in ids:
            del self.beliefs[one]


def past(seq: int) -> datetime:
    """Return when what ended by an event is past its retention."""
    return START + timedelta(days=1, minutes=seq)


async def test_what_ended_long_enough_ago_is_erased_once() -> None:
    """With a reason that says why; what ended later has its day."""
    history = Ended(9, 5, 7)
    keeper = BeliefRetention(history)
    assert await keeper.retire(GRAPH, past(0), history.erase) == 0
    assert await keeper.retire(GRAPH, past(4), history.erase) == 0
    assert await keeper.retire(GRAPH, past(7), history.erase) == 2
    assert await keeper.retire(GRAPH, past(8), history.erase) == 0
    assert await keeper.retire(GRAPH, past(9), history.erase) == 1
    reason = "retention: kept for 1 days after its end"
    scope = Scope.of_graph("acme", "imola")
    assert history.erased == [(scope, ["b2", "b3"], reason), (scope, ["b1"], reason)]


async def test_a_graph_without_retention_of_beliefs_is_not_even_asked() -> None:
    """What an ended belief said stays for ever."""
    history = Ended(1, 2)
    graph = GRAPH.model_copy(update={"retention": Retention()})
    assert await BeliefRetention(history).retire(graph, past(9), history.erase) == 0
    assert history.queries == 0


async def test_a_pass_is_bounded_and_the_next_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """In erasures and in what it looks through, however much is not due yet."""
    monkeypatch.setattr(retention, "RETIRED_PER_PASS", 3)
    monkeypatch.setattr(retention, "PAGE_BELIEFS", 4)
    monkeypatch.setattr(retention, "PAGES_PER_PASS", 2)
    history = Ended(*[99] * 10, *[50] * 5, 99, 50)
    keeper = BeliefRetention(history)
    erased = []
    for _ in range(7):
        before = history.queries
        erased.append(await keeper.retire(GRAPH, past(60), history.erase))
        assert history.queries - before <= 2
    assert sum(erased) == 6
    assert max(erased) <= 3
    assert {one.ended_seq for one in history.beliefs.values()} == {99}
