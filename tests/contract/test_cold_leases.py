"""The contract of ``LeaseStore``."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest
from support.cold_backends import Cold
from support.cold_samples import HOSTILE_NAMES, LONE_SURROGATE
from support.tier_samples import NOW

from tiers.cold.stores import Lease
from tiers.errors import UsageError

SECOND = timedelta(seconds=1)


async def _take(cold: Cold, owner: str, seconds: float = 0, name: str = "tick") -> Lease | None:
    return await cold.leases.acquire(name, owner, 10, NOW + seconds * SECOND)


async def test_first_comer_gets_the_lease(cold: Cold) -> None:
    """With its name, owner, end and the first token."""
    expected = Lease(name="tick", owner="a", token=1, expires_at=NOW + 10 * SECOND)
    assert await _take(cold, "a") == expected


async def test_other_owner_waits_until_it_runs_out(cold: Cold) -> None:
    """By the clock argument, to the microsecond; the token rises with the owner."""
    await _take(cold, "a")
    assert await _take(cold, "b", 9.999999) is None
    taken = await _take(cold, "b", 10)
    assert taken is not None
    assert (taken.owner, taken.token) == ("b", 2)
    assert await _take(cold, "a", 10) is None


async def test_owner_prolongs_under_the_same_token(cold: Cold) -> None:
    """Before and after it has run out, as long as nobody else took it."""
    for seconds in (0, 5, 100):
        lease = await _take(cold, "a", seconds)
        assert lease is not None
        assert (lease.token, lease.expires_at) == (1, NOW + (seconds + 10) * SECOND)
    assert await _take(cold, "b", 109) is None


async def test_released_lease_is_free_at_once(cold: Cold) -> None:
    """The next holder, even the same, has a higher token."""
    first = await _take(cold, "a")
    assert first is not None
    await cold.leases.release(first)
    second = await _take(cold, "b")
    assert second is not None
    await cold.leases.release(second)
    third = await _take(cold, "b")
    assert third is not None
    assert [first.token, second.token, third.token] == [1, 2, 3]


async def test_release_of_a_lost_lease_changes_nothing(cold: Cold) -> None:
    """A lease that has passed on stays with its new owner, and releasing twice is harmless."""
    old = await _take(cold, "a")
    new = await _take(cold, "b", 10)
    assert old is not None
    assert new is not None
    await cold.leases.release(old)
    await cold.leases.release(old)
    assert await _take(cold, "a", 11) is None
    await cold.leases.release(Lease(name="unknown", owner="a", token=1, expires_at=NOW))


async def test_one_of_racing_owners_wins(processes: Cold) -> None:
    """Fifty racing owners: one lease, forty-nine refusals."""
    answers = await asyncio.gather(*(_take(processes, f"owner {n}") for n in range(50)))
    assert sum(answer is not None for answer in answers) == 1


async def test_names_are_just_names(cold: Cold) -> None:
    """Leases of different names do not meet, whatever the names hold."""
    for name in HOSTILE_NAMES:
        assert await _take(cold, name, name=name) is not None
        assert await _take(cold, "b", name=name) is None
        assert await _take(cold, "b", name=f"{name}x") is not None
        assert await _take(cold, "b", name=name[:-1] or "?") is not None


@pytest.mark.parametrize(
    ("owner", "seconds"), [("", 10.0), ("a", 0.0), ("a", -1.0), ("a", float("nan"))]
)
async def test_bad_arguments_are_refused(cold: Cold, owner: str, seconds: float) -> None:
    """A lease has an owner and a length, and the name stays free."""
    with pytest.raises(UsageError):
        await cold.leases.acquire("tick", owner, seconds, NOW)
    with pytest.raises(UsageError):
        await cold.leases.acquire(LONE_SURROGATE, "a", 10, NOW)
    assert await _take(cold, "b") is not None
