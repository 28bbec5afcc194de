"""One repeatable random walk over every hot operation, on a store and on the embedded one."""

from __future__ import annotations

import random
from contextlib import nullcontext
from typing import Any

import pytest

from tiers.errors import UsageError
from tiers.hot import EmbeddedHotStore
from tiers.ports import HotStore

from .tier_samples import belief_of, mesh_of, scope_of, turn_of

VIEWS: list[dict[str, Any]] = [
    *[{}] * 6,
    {"topics": ("tyres",)},
    {"user_id": "ada"},
    {"every_user": True},
]
"""For whom an agent asks: most often the same, now and then somebody else or the runtime."""


async def walk(store: HotStore, steps: int, seed: int = 7) -> None:
    """Take the same steps on both and compare every answer; the store must be empty."""
    draw = random.Random(seed)
    # Many agents: in a cluster they lie on all nodes.
    agents = [f"agent {number}" for number in range(12)]
    reference = EmbeddedHotStore()
    for step in range(steps):
        scope = scope_of(agent_id=draw.choice(agents), **draw.choice(VIEWS))
        seq, capacity, belief_id = draw.randint(1, 12), draw.randint(1, 6), f"b{draw.randint(1, 3)}"
        operation = draw.choice(["append"] * 4 + ["restore", "pin", "unpin", "put_mesh", "clear"])
        answers = []
        for each in (store, reference):
            if operation == "append":
                turn = turn_of(scope, seq, f"step {step}")
                answers.append(await each.append(scope, turn, capacity))
            elif operation == "restore":
                turns = [turn_of(scope, n, f"step {step}") for n in range(seq, seq + 4)]
                await each.restore(scope, turns, capacity)
            elif operation == "pin":
                await each.pin(scope, belief_of(scope, belief_id, f"step {step}"))
            elif operation == "unpin":
                await each.unpin(scope, belief_id)
            elif operation == "put_mesh":
                with pytest.raises(UsageError) if scope.every_user else nullcontext():
                    await each.put_mesh(scope, mesh_of(f"step {step}"))
            else:
                await each.clear(scope)
            answers.append(await each.read(scope))
        half = len(answers) // 2
        assert answers[:half] == answers[half:], f"step {step}: {operation}"
