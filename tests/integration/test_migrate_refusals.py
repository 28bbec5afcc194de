"""What a move refuses, before it writes anything: another's target, house or ledger."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from support.houses import DIMENSIONS, MODEL, entries_of, furnish, generation_of, house_at
from support.moves import both, content, everything, moved, silent, write
from support.tier_samples import NOW

from ezra.moving import move, verify
from ezra.moving.ledger import Ledger
from tiers.cold.sqlite import DATABASE_NAME
from tiers.errors import ConfigError, Conflict, NotFound, UsageError


@pytest.mark.parametrize("what", ["cold", "warm"])
async def test_a_target_that_holds_something_else_is_refused(
    source: Path, target: Path, ledger: Path, what: str
) -> None:
    """The error says what is there; neither the target nor a ledger is written."""
    if what == "cold":
        await furnish(target, "acme")
        shutil.rmtree(target / "warm")
    else:
        async with house_at(target) as house:
            async with house.generations.opened(MODEL, DIMENSIONS) as index:
                for scope, entry in entries_of("acme", 9)[:1]:
                    await index.upsert(scope, [entry])
            await house.generations.mark("acme", generation_of(MODEL))
    before = await everything(target, "acme")
    with pytest.raises(Conflict, match="acme") as error:
        await moved(source, target, ledger)
    assert ("graphs" if what == "cold" else f"warm {MODEL}") in str(error.value)
    assert await everything(target, "acme") == before
    assert list(await everything(target)) == (["acme"] if what == "cold" else [])
    assert content(ledger) is None


async def test_only_one_move_goes_into_a_house(source: Path, target: Path, ledger: Path) -> None:
    """The second is refused while the first holds the house, and writes nothing."""
    async with both(source, target) as (one, other):
        lease = await other.leases.acquire("move", "another", 3600, NOW)
        with pytest.raises(Conflict, match="another move"):
            await move(one, other, (), silent, ledger=ledger, clock=lambda: NOW)
        assert await other.cold.tenants() == ()
        assert content(ledger) is None
        await other.leases.release(lease)
        assert (await move(one, other, (), silent, ledger=ledger)).differences == ()


async def test_a_ledger_speaks_of_one_move(
    source: Path, target: Path, ledger: Path, tmp_path: Path
) -> None:
    """One of other ends, one in use, one that cannot be and one that is no ledger are refused."""
    await moved(source, target, ledger, "acme")
    with pytest.raises(ConfigError, match="is of a move from"):
        await moved(source, tmp_path / "elsewhere", ledger)
    async with both(source, target) as (one, other), Ledger(ledger, one.place, other.place):
        with pytest.raises(ConfigError, match="in use by another move"):
            await move(one, other, (), silent, ledger=ledger)
    with pytest.raises(ConfigError, match="cannot use"):
        await moved(source, target, source / DATABASE_NAME / "ledger.json")
    write(ledger, "{}")
    with pytest.raises(ConfigError, match="is not the ledger of a move"):
        await moved(source, target, ledger)


async def test_what_cannot_be_moved_is_refused(source: Path, target: Path, ledger: Path) -> None:
    """An unknown tenant, and a house into itself."""
    with pytest.raises(NotFound, match="nobody"):
        await moved(source, target, ledger, "nobody")
    async with house_at(source) as house:
        for call in (
            move(house, house, (), silent, ledger=ledger),
            verify(house, house, (), silent),
        ):
            with pytest.raises(UsageError):
                await call
    assert content(ledger) is None
