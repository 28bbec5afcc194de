"""Random steps on each engine and on the reference, restarts included."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import Coroutine
from contextlib import AsyncExitStack
from datetime import timedelta
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    precondition,
    rule,
    run_state_machine_as_test,
)
from support.tier_samples import DIMENSIONS, NOW, ancestor, entry_of, query_of, record_id, scope_of
from support.warm_backends import WARM_BACKENDS, WarmBackend
from support.warm_reference import ReferenceWarmStore

from tiers.ports import WarmStore
from tiers.records import Ancestor, FactTier, Grain, Hit, IndexEntry, Kind, Scope, SearchQuery

T = TypeVar("T")

ENGINES = [backend for backend in WARM_BACKENDS if backend.name != "reference"]

WORDS = ["undercut", "overcut", "rain", "pace"]
KINDS: tuple[Kind, ...] = ("turn", "fact", "episode")
ASKED: tuple[Kind, ...] = (*KINDS, "tool_output")
GRAINS: tuple[Grain, ...] = ("daily", "weekly")
OWNERS = [("a", "g"), ("a", "g/x"), ("a", "gg"), ("ab", "g")]
DIRECTION = (1.0, 0.0, 0.0, 0.0)


def _mostly(common: Any, rare: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Return what most askers and entries have: with every condition at random nobody sees any."""
    return st.one_of(st.just(common), st.just(common), st.just(common), rare)


def _scope_of(
    owner: tuple[str, str], agent_id: str, topics: list[str], lineage: list[Ancestor], **more: Any
) -> Scope:
    far = [one for one in lineage if one.graph_id != owner[1]]
    return scope_of(*owner, agent_id, topics, lineage=far, **more)


def _entry_of(
    owner: tuple[str, str], agent_id: str, number: int, tier: FactTier, **fields: Any
) -> IndexEntry:
    of_kind: dict[Kind, dict[str, Any]] = {
        "fact": {"tier": tier},
        "turn": {"also": ("tool_output",) if number % 2 else ()},
        "episode": {"grain": GRAINS[number % 2]},
    }
    return entry_of(scope_of(*owner, agent_id), number, **of_kind[fields["kind"]], **fields)


TOPICS = st.lists(st.sampled_from(["tyres", "fuel"]), max_size=2)
MOMENTS = st.integers(-2, 2).map(lambda minutes: NOW + timedelta(minutes=minutes))
OWNER = st.sampled_from(OWNERS)
NUMBERS = st.integers(0, 9)
USERS = _mostly(None, st.sampled_from(["u", "uu"]))

ANCESTORS = st.builds(
    lambda graph_id, carries, as_of: ancestor(graph_id, *carries, as_of=as_of),
    st.sampled_from(["g", "g/x", "gg"]),
    _mostly(KINDS, st.sampled_from([(), ("turn",), ("fact", "tool_output")])),
    st.one_of(st.none(), MOMENTS),
)
SCOPES = st.builds(
    _scope_of,
    OWNER,
    st.sampled_from([None, "x", "y"]),
    _mostly(["*"], TOPICS),
    st.lists(ANCESTORS, min_size=1, max_size=3, unique_by=lambda one: one.graph_id),
    user_id=USERS,
    every_user=st.booleans(),
    denied=_mostly([], TOPICS),
)
ENTRIES = st.builds(
    _entry_of,
    OWNER,
    st.sampled_from(["x", "y"]),
    NUMBERS,
    text=st.lists(st.sampled_from(WORDS), max_size=3).map(" ".join),
    vector=_mostly(DIRECTION, st.sampled_from([None, (0.0, 1.0, 0.0, 0.0)])),
    kind=st.sampled_from(KINDS),
    tier=st.sampled_from(["core", "archival"]),
    topics=_mostly([], TOPICS),
    private=st.sampled_from([False, False, True]),
    user_id=USERS,
    recorded_at=MOMENTS,
    occurred_at=st.one_of(st.none(), MOMENTS),
    expires_at=_mostly(None, MOMENTS),
)
QUERIES = st.builds(
    query_of,
    st.sampled_from(["", *WORDS, "rain pace"]),
    vector=_mostly(DIRECTION, st.none()),
    kinds=_mostly(ASKED, st.sampled_from([(), ("turn",), ("fact", "episode"), ("tool_output",)])),
    tier=_mostly(None, st.just("core")),
    user_id=_mostly(None, st.just("u")),
    mode=st.sampled_from(["hybrid", "hybrid", "dense", "words"]),
    as_of=_mostly(None, MOMENTS),
    since=_mostly(None, MOMENTS),
    until=_mostly(None, MOMENTS),
    grains=_mostly((), st.sampled_from([("daily",), GRAINS])),
    topics=_mostly((), TOPICS),
    writer_id=_mostly(None, st.just("x")),
    ids=_mostly((), st.just(tuple(record_id(n) for n in range(4)))),
    now=MOMENTS,
)


class WarmMachine(RuleBasedStateMachine):
    """Drives an index and the reference through the same steps."""

    backend: ClassVar[WarmBackend]

    def __init__(self) -> None:
        super().__init__()
        self._runner = asyncio.Runner()
        self._stack = AsyncExitStack()
        self._folder = Path(tempfile.mkdtemp(prefix="ezra-warm-"))
        self._reference = ReferenceWarmStore(DIMENSIONS)
        self._store = self._opened()

    def _run(self, call: Coroutine[Any, Any, T]) -> T:
        return self._runner.run(call)

    def _opened(self) -> WarmStore:
        return self._run(self._stack.enter_async_context(self.backend.opened(self._folder)))

    @initialize(entries=st.lists(ENTRIES, min_size=8, max_size=16))
    def begin(self, entries: list[IndexEntry]) -> None:
        """There is something to be found."""
        self.upsert(entries)

    @rule(entries=st.lists(ENTRIES, max_size=6))
    def upsert(self, entries: list[IndexEntry]) -> None:
        """Both hold the same entries, written owner by owner."""
        for owner in OWNERS:
            scope = scope_of(*owner)
            own = [entry for entry in entries if (entry.tenant, entry.graph_id) == owner]
            self._run(self._store.upsert(scope, own))
            self._run(self._reference.upsert(scope, own))
            self._compare_counts(scope)

    @rule(scope=SCOPES, queries=st.lists(QUERIES, min_size=1, max_size=3))
    def search(self, scope: Scope, queries: list[SearchQuery]) -> None:
        """Both find the same entries with the same content, in the own graph and in ancestors."""
        for query in queries:
            for inherited in (False, True):
                self._ask(scope, query.model_copy(update={"inherited": inherited}))

    def _ask(self, scope: Scope, query: SearchQuery) -> None:
        found = self._run(self._store.search(scope, query))
        expected = self._run(self._reference.search(scope, query))
        unscored = [hit.model_copy(update={"score": 0.0}) for hit in found]
        assert sorted(unscored, key=_place) == sorted(
            (hit.model_copy(update={"score": 0.0}) for hit in expected), key=_place
        )
        scores = [hit.score for hit in found]
        assert scores == sorted(scores, reverse=True)

    @rule(scope=SCOPES, numbers=st.lists(NUMBERS, max_size=4))
    def delete(self, scope: Scope, numbers: list[int]) -> None:
        """Both lose the same entries."""
        ids = [record_id(number) for number in numbers]
        self._run(self._store.delete(scope, ids))
        self._run(self._reference.delete(scope, ids))
        self._compare_counts(scope)

    @rule(scope=SCOPES, now=MOMENTS)
    def delete_expired(self, scope: Scope, now: Any) -> None:
        """Both sweep equally many."""
        removed = self._run(self._store.delete_expired(scope, now))
        assert removed == self._run(self._reference.delete_expired(scope, now))
        self._compare_counts(scope)

    @precondition(lambda self: self.backend.is_durable)
    @rule()
    def restart(self) -> None:
        """Closing and opening changes nothing."""
        self._run(self._stack.aclose())
        self._stack = AsyncExitStack()
        self._store = self._opened()
        for owner in OWNERS:
            self._compare_counts(scope_of(*owner))

    @rule()
    def flush(self) -> None:
        """Flushing changes nothing that can be seen."""
        self._run(self._store.flush())

    def _compare_counts(self, scope: Scope) -> None:
        kinds: tuple[Kind | None, ...] = (None, *ASKED)
        for kind in kinds:
            counted = self._run(self._store.count(scope, kind))
            assert counted == self._run(self._reference.count(scope, kind))

    def teardown(self) -> None:
        """Close the index and the loop and remove the folder."""
        self._run(self._stack.aclose())
        self._runner.close()
        shutil.rmtree(self._folder)


def _place(hit: Hit) -> tuple[str, str]:
    return hit.id, hit.graph_id


def _limits(examples: int, steps: int, *, repeatable: bool) -> settings:
    return settings(
        max_examples=examples,
        stateful_step_count=steps,
        derandomize=repeatable,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )


def _machine(backend: WarmBackend) -> type[WarmMachine]:
    return type("WarmMachine", (WarmMachine,), {"backend": backend})


@pytest.mark.parametrize("backend", ENGINES, ids=lambda backend: backend.name)
def test_index_behaves_like_the_reference(backend: WarmBackend) -> None:
    """A short, repeatable walk on each engine; behind a network it is shorter."""
    examples = 8 if backend.name == "edge" else 4
    run_state_machine_as_test(_machine(backend), settings=_limits(examples, 40, repeatable=True))


@pytest.mark.slow
@pytest.mark.parametrize("backend", ENGINES, ids=lambda backend: backend.name)
def test_index_behaves_like_the_reference_for_long(backend: WarmBackend) -> None:
    """A long walk, different each time; Hypothesis prints how to repeat a failure."""
    run_state_machine_as_test(_machine(backend), settings=_limits(80, 60, repeatable=False))
