"""What the warm engine stores, and in which order candidates stand."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta, timezone
from itertools import pairwise, permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.tier_samples import TWIN_SCOPES, entry_of, record_id, scope_of

from tiers.errors import CorruptRecord, TierRejected, UsageError
from tiers.warm.edge_folder import EngineCall
from tiers.warm.edge_store import QUIET_SECONDS, UNFLUSHED_MAX, flush_due
from tiers.warm.payload import (
    NEVER,
    check_vector,
    expiry,
    hit_of,
    microseconds,
    payload_of,
    point_id,
)
from tiers.warm.ranking import Candidates, best, goes_on, rounded, through_ties

# What the warm engine stores: sentinels, times, ids, and payloads that cannot be read back.

SCOPE = scope_of()
MOMENTS = st.datetimes(timezones=st.just(UTC))


@given(MOMENTS)
def test_times_are_exact(moment: datetime) -> None:
    """Microseconds since 1970 lose nothing, before 1970 included."""
    assert datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=microseconds(moment)) == moment


@given(MOMENTS)
def test_expiry_is_exact_as_a_double_and_below_never(moment: datetime) -> None:
    """The engine compares doubles: every expiry must be one, and earlier than never."""
    stored = expiry(moment)
    assert int(float(stored)) == stored
    assert -NEVER <= stored < NEVER == expiry(None)
    if moment.year < 2255 and moment.year > 1684:
        assert stored == microseconds(moment)


def test_time_zones_do_not_matter() -> None:
    """The same moment is the same number."""
    moment = datetime(2026, 3, 1, 12, tzinfo=UTC)
    assert microseconds(moment) == microseconds(moment.astimezone(timezone(timedelta(hours=5))))


def test_ids_of_the_engine_differ_by_scope() -> None:
    """The same record id never names one point in two graphs or tenants."""
    owners = {tuple(names[:2]) for pair in TWIN_SCOPES for names in pair}
    ids = {point_id(scope_of(*owner), record_id(1)) for owner in owners}
    assert len(ids) == len(owners)
    assert point_id(SCOPE, record_id(1)) != point_id(SCOPE, record_id(2))


def test_sentinels_stand_for_what_is_missing() -> None:
    """No topic, shared, no tier and no expiry are values that the engine can match."""
    payload = payload_of(entry_of(SCOPE, 1))
    assert payload["topics"] == [""]
    assert payload["private_to"] == ""
    assert payload["tier"] == ""
    assert payload["expires_at"] == NEVER
    assert payload_of(entry_of(SCOPE, 1, private=True))["private_to"] == "strategist"


@pytest.mark.parametrize(
    "damage",
    [
        {"id": None},
        {"kind": "poem"},
        {"text": 7},
        {"topics": None},
        {"source_ids": 5},
        {"recorded_at": None},
        {"recorded_at": "yesterday"},
        {"occurred_at": 10**30},
        {"graph": "somebody else's"},
    ],
    ids=str,
)
def test_unreadable_payload_is_corrupt(damage: dict[str, Any]) -> None:
    """A payload that ``payload_of`` cannot have made is reported, with its cause."""
    payload = payload_of(entry_of(SCOPE, 1))
    assert hit_of(payload, 1.0, SCOPE).id == record_id(1)
    with pytest.raises(CorruptRecord) as caught:
        hit_of({**payload, **damage}, 1.0, SCOPE)
    assert caught.value.__cause__ is not None
    for key in damage:
        missing = {name: value for name, value in payload.items() if name != key}
        with pytest.raises(CorruptRecord):
            hit_of(missing, 1.0, SCOPE)


@pytest.mark.parametrize(
    "vector",
    [(1.0,), (1.0, 2.0, 3.0), (math.nan, 1.0), (math.inf, -math.inf), (1e39, 0.0)],
    ids=str,
)
def test_unusable_vectors_are_refused(vector: tuple[float, ...]) -> None:
    """Another length, or numbers that a 32-bit float cannot hold."""
    with pytest.raises(UsageError, match="vector"):
        check_vector(vector, 2)


def test_usable_vectors_pass() -> None:
    """Absent, zero, and of any finite length."""
    for vector in (None, (0.0, 0.0), (1.0, 0.0), (3.0, 4.0)):
        check_vector(vector, 2)


def test_flush_waits_for_quiet_but_not_for_ever() -> None:
    """Nothing to flush, somebody busy, quiet, and too much to wait any longer."""
    assert not flush_due(0, 3600.0)
    assert not flush_due(UNFLUSHED_MAX - 1, 0.0)
    assert flush_due(1, QUIET_SECONDS)
    assert flush_due(UNFLUSHED_MAX, 0.0)
    waits = [flush_due(1, seconds) for seconds in (0.0, QUIET_SECONDS / 2, QUIET_SECONDS)]
    assert all(earlier <= later for earlier, later in pairwise(waits))


def test_only_what_the_engine_raises_is_translated() -> None:
    """The engine's bare Exception and its panic, and none of our own mistakes."""
    panic = type("PanicException", (BaseException,), {"__module__": "pyo3_runtime"})
    for raised in (Exception("disk full"), panic("index out of bounds")):
        with pytest.raises(TierRejected, match="upsert") as caught, EngineCall("upsert"):
            raise raised
        assert caught.value.__cause__ is raised
    for ours in (KeyError("x"), TypeError("x"), UsageError("a", 1, "b"), KeyboardInterrupt()):
        with pytest.raises(type(ours)), EngineCall("upsert"):
            raise ours


# The order of candidates: the same whatever order an engine holds them in.


def _leg(*found: tuple[str, float]) -> Candidates:
    return Candidates(
        [rounded(score) for _, score in found], [f"point-{name}" for name, _ in found]
    )


def test_one_leg_keeps_its_own_scores() -> None:
    """No more than the limit, and those that tie with the last of them."""
    found = best([_leg(("c", 0.5), ("a", 0.9), ("b", 0.5), ("d", 0.4))], rrf_k=10, limit=2)
    assert found == {"point-a": 0.9, "point-b": 0.5, "point-c": 0.5}


def test_two_legs_add_up_reciprocal_ranks_from_zero() -> None:
    """1/10 + 1/11 for who is first here and second there."""
    found = best([_leg(("a", 3.0), ("b", 2.0)), _leg(("b", 9.0), ("a", 8.0), ("c", 1.0))], 10, 10)
    assert found["point-a"] == pytest.approx(1 / 10 + 1 / 11)
    assert found["point-a"] == found["point-b"] > found["point-c"]


def test_scores_that_are_alike_share_a_rank_in_every_order() -> None:
    """The last digits of a 32-bit sum decide nothing, and neither does the engine's order."""
    words = [("a", 4.123456), ("b", 4.123457), ("c", 4.1234561), ("d", 1.0)]
    answers = {
        tuple(sorted(best([_leg(*order), _leg(("d", 0.5), ("c", 0.4))], 10, 10).items()))
        for order in permutations(words)
    }
    assert len(answers) == 1
    (answer,) = answers
    assert dict(answer)["point-a"] == dict(answer)["point-b"] == pytest.approx(1 / 10)
    assert dict(answer)["point-d"] == pytest.approx(1 / 13 + 1 / 10)


def test_nothing_found_is_an_empty_answer() -> None:
    """Without legs, or with empty ones."""
    assert best([], 10, 10) == {}
    assert best([_leg(), _leg()], 10, 10) == {}


def test_a_leg_ends_where_a_tie_does() -> None:
    """What ties with the last one wanted belongs to it; an engine may have even more of it."""
    leg = _leg(("a", 0.9), ("b", 0.5), ("c", 0.5), ("d", 0.4))
    three = _leg(("a", 0.9), ("b", 0.5), ("c", 0.5))
    assert through_ties(leg, 2) == three
    assert through_ties(leg, 9) == leg
    assert goes_on(three, most=2, asked=3)
    assert not goes_on(three, most=2, asked=9)
    assert not goes_on(leg, most=2, asked=4)
