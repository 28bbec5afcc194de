"""Retention plans: the presets, calendar cut-offs, own plans, and the safety floor."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from metaagents.lifecycle.retirement import RetentionPolicy
from tiers.errors import UsageError
from tiers.plans import ANY_GRAIN, PLANS, Kept, checked_plan, plan_of
from tiers.records import Retention


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
    with pytest.raises(UsageError, match=r"^plan: '[^']*' is not accepted; accepted: must be keep"):
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
