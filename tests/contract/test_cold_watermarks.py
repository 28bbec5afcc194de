"""The contract of ``Watermarks``."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest
from support.cold_backends import Cold
from support.cold_samples import (
    HOSTILE_NAMES,
    OPERATOR,
    OTHER_AGENT,
    OTHER_GRAPH,
    OTHER_TENANT,
    SCOPE,
)
from support.tier_samples import NOW, scope_of

from tiers.errors import UsageError

LATER = NOW + timedelta(hours=1)


async def test_it_moves_forwards_only(cold: Cold) -> None:
    """From nothing, and to what is further; nobody reads back."""
    assert await cold.watermarks.watermark(SCOPE, "extract") == 0
    assert not await cold.watermarks.advance(SCOPE, "extract", 0, NOW)
    for seq, moved, stands in ((3, True, 3), (3, False, 3), (2, False, 3), (7, True, 7)):
        assert await cold.watermarks.advance(SCOPE, "extract", seq, LATER) == moved
        assert await cold.watermarks.watermark(SCOPE, "extract") == stands


async def test_each_reader_of_each_agent_has_its_own(cold: Cold) -> None:
    """Another name, agent, graph or tenant stands where it stood, however alike they are called."""
    await cold.watermarks.advance(SCOPE, "extract", 5, NOW)
    for scope in (OTHER_AGENT, OTHER_GRAPH, OTHER_TENANT):
        assert await cold.watermarks.watermark(scope, "extract") == 0
    assert await cold.watermarks.watermark(SCOPE, "extract ") == 0
    pairs = [("a", "b/c"), ("a/b", "c"), ("a", 'b", "c'), ('a", "b', "c")]
    pairs += [(name, name) for name in HOSTILE_NAMES]
    for seq, (agent, name) in enumerate(pairs, 1):
        assert await cold.watermarks.advance(scope_of(agent_id=agent), name, seq, NOW)
    for seq, (agent, name) in enumerate(pairs, 1):
        assert await cold.watermarks.watermark(scope_of(agent_id=agent), name) == seq


async def test_racing_readers_end_at_the_furthest(processes: Cold) -> None:
    """Whoever comes late with less changes nothing."""
    moves = (processes.watermarks.advance(SCOPE, "extract", seq, NOW) for seq in range(1, 21))
    assert any(await asyncio.gather(*moves))
    assert await processes.watermarks.watermark(SCOPE, "extract") == 20


async def test_what_is_no_place_is_refused(cold: Cold) -> None:
    """No agent, no name, a name that is too long, and numbers that no turn has."""
    for scope, name in ((OPERATOR, "extract"), (SCOPE, ""), (SCOPE, "x" * 257)):
        with pytest.raises(UsageError):
            await cold.watermarks.watermark(scope, name)
        with pytest.raises(UsageError):
            await cold.watermarks.advance(scope, name, 1, NOW)
    for seq in (-1, 2**63):
        with pytest.raises(UsageError):
            await cold.watermarks.advance(SCOPE, "extract", seq, NOW)
    assert await cold.watermarks.watermark(SCOPE, "extract") == 0
