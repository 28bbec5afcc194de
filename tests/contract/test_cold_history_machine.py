"""Random lives of a graph's beliefs: every moment reads as it was when it was the present."""

from __future__ import annotations

from pathlib import Path
from random import SystemRandom

import pytest
from support.belief_walk import Walk
from support.cold_backends import COLD_BACKENDS, Cold, ColdBackend

SHORT = [backend for backend in COLD_BACKENDS if backend.name != "motor"]
"""A second driver of the same engine is walked with at length only."""


async def _walk(cold: Cold, seed: int, steps: int, *, within: bool) -> None:
    walk = Walk(seed, cold)
    if seed % 2:
        await walk.begin_as_branch()
    await walk.take(steps)
    await walk.check_past(within=within)


@pytest.mark.parametrize("backend", SHORT, ids=lambda backend: backend.name)
async def test_the_past_is_what_the_present_was(backend: ColdBackend, tmp_path: Path) -> None:
    """A short, repeatable life of a branch: commits, rivals, pins, rewinds, trust, redactions."""
    async with backend.opened(tmp_path) as cold:
        await _walk(cold, 5, 40, within=False)


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("backend", COLD_BACKENDS, ids=lambda backend: backend.name)
async def test_the_past_is_what_the_present_was_in_long_lives(
    backend: ColdBackend, tmp_path: Path
) -> None:
    """Several lives, different each time, seen at every event; a failure says which seed it was."""
    for steps in (40, 80, 160):
        seed = SystemRandom().randrange(2**32)
        try:
            async with backend.opened(tmp_path / f"{steps}") as cold:
                await _walk(cold, seed, steps, within=True)
        except AssertionError as error:
            error.add_note(f"seed {seed}, {steps} steps")
            raise


@pytest.mark.slow
async def test_the_past_is_what_the_present_was_in_a_very_long_life(tmp_path: Path) -> None:
    """A thousand steps, where a step is cheap."""
    async with COLD_BACKENDS[0].opened(tmp_path) as cold:
        await _walk(cold, SystemRandom().randrange(2**32), 1_000, within=True)
