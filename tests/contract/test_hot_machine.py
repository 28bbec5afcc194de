"""Random steps on a hot store on Redis and on the embedded one, which must answer alike."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from contextlib import AsyncExitStack, nullcontext
from typing import Any, TypeVar

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test
from support.held import held
from support.hot_backends import REDIS_BACKENDS, HotBackend
from support.redis_server import RedisServer, running_redis
from support.tier_samples import belief_of, mesh_of, scope_of, turn_of

from tiers.errors import UsageError
from tiers.hot import EmbeddedHotStore
from tiers.ports import HotStore
from tiers.records import Scope

T = TypeVar("T")

ALL_SCOPES = [
    scope_of("a", "g", "x"),
    scope_of("a", "g", "x", user_id="ada"),
    scope_of("a", "g", "x", topics=("tyres",)),
    scope_of("a", "g", "x", every_user=True),
    scope_of("a", "g", "x/y"),
    scope_of("a", "g/x", "y"),
    scope_of("ab", "g", "x"),
]
SCOPES = st.sampled_from(ALL_SCOPES)
SEQS = st.integers(1, 12)
CAPACITIES = st.integers(1, 5)
BELIEF_IDS = st.sampled_from(["b1", "turn:1", "mesh", ""]).map(lambda name: f"id-{name}")
TEXTS = st.text(max_size=5)


class HotMachine(RuleBasedStateMachine):
    """Drives a store on Redis and the embedded one through the same steps."""

    def __init__(self, backend: HotBackend, server: RedisServer | None) -> None:
        super().__init__()
        self._runner = asyncio.Runner()
        self._stack = AsyncExitStack()
        self._embedded = EmbeddedHotStore()
        self._store: HotStore = self._run(self._stack.enter_async_context(backend.opened(server)))

    def _run(self, call: Coroutine[Any, Any, T]) -> T:
        return self._runner.run(call)

    def _compare(self, scope: Scope) -> None:
        assert self._run(self._store.read(scope)) == self._run(self._embedded.read(scope))

    @rule(scope=SCOPES, seq=SEQS, text=TEXTS, capacity=CAPACITIES)
    def append(self, scope: Scope, seq: int, text: str, capacity: int) -> None:
        """Both evict the same turns."""
        turn = turn_of(scope, seq, text)
        evicted = self._run(self._store.append(scope, turn, capacity))
        assert evicted == self._run(self._embedded.append(scope, turn, capacity))
        self._compare(scope)

    @rule(scope=SCOPES, seqs=st.lists(SEQS, max_size=8), text=TEXTS, capacity=CAPACITIES)
    def restore(self, scope: Scope, seqs: list[int], text: str, capacity: int) -> None:
        """Both keep the same turns, whichever copy came first."""
        turns = [turn_of(scope, seq, f"{text}{place}") for place, seq in enumerate(seqs)]
        self._run(self._store.restore(scope, turns, capacity))
        self._run(self._embedded.restore(scope, turns, capacity))
        self._compare(scope)

    @rule(scope=SCOPES, belief_id=BELIEF_IDS, claim=TEXTS)
    def pin(self, scope: Scope, belief_id: str, claim: str) -> None:
        """Both hold the same beliefs."""
        belief = belief_of(scope, belief_id, claim)
        self._run(self._store.pin(scope, belief))
        self._run(self._embedded.pin(scope, belief))
        self._compare(scope)

    @rule(scope=SCOPES, belief_id=BELIEF_IDS)
    def unpin(self, scope: Scope, belief_id: str) -> None:
        """Both forget the same belief."""
        self._run(self._store.unpin(scope, belief_id))
        self._run(self._embedded.unpin(scope, belief_id))
        self._compare(scope)

    @rule(scope=SCOPES, text=TEXTS)
    def put_mesh(self, scope: Scope, text: str) -> None:
        """Both keep the latest result, and both refuse it from the runtime."""
        for store in (self._store, self._embedded):
            with pytest.raises(UsageError) if scope.every_user else nullcontext():
                self._run(store.put_mesh(scope, mesh_of(text)))
        self._compare(scope)

    @rule(scope=SCOPES)
    def clear(self, scope: Scope) -> None:
        """Both forget one agent and no other; every agent is compared."""
        self._run(self._store.clear(scope))
        self._run(self._embedded.clear(scope))
        for known in ALL_SCOPES:
            self._compare(known)

    def teardown(self) -> None:
        """Close the store and the loop."""
        self._run(self._stack.aclose())
        self._runner.close()


server = held(running_redis, "module")
"""One real Redis for this file."""


def _explore(backend: HotBackend, request: pytest.FixtureRequest, limits: settings) -> None:
    server = request.getfixturevalue("server") if backend.needs_server else None

    class BoundMachine(HotMachine):
        def __init__(self) -> None:
            super().__init__(backend, server)

    run_state_machine_as_test(BoundMachine, settings=limits)


def _limits(examples: int, steps: int, *, repeatable: bool) -> settings:
    return settings(
        max_examples=examples,
        stateful_step_count=steps,
        derandomize=repeatable,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )


@pytest.mark.parametrize("backend", REDIS_BACKENDS, ids=lambda backend: backend.name)
def test_redis_and_the_embedded_store_behave_alike(
    backend: HotBackend, request: pytest.FixtureRequest
) -> None:
    """A short, repeatable walk."""
    _explore(backend, request, _limits(25, 30, repeatable=True))


@pytest.mark.slow
@pytest.mark.parametrize("backend", REDIS_BACKENDS, ids=lambda backend: backend.name)
def test_redis_and_the_embedded_store_behave_alike_for_long(
    backend: HotBackend, request: pytest.FixtureRequest
) -> None:
    """A long walk, different each time; Hypothesis prints how to repeat a failure."""
    _explore(backend, request, _limits(400, 60, repeatable=False))
