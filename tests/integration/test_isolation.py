"""Nobody sees or changes what is another's, however the question is put. Row NE-05."""

from __future__ import annotations

import inspect
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.cold_backends import COLD_BACKENDS
from support.cold_samples import belief_by, graph_of
from support.isolation.careless import auditing, careless, settling
from support.isolation.engines import COLD_METHODS, Bench
from support.isolation.hot_moves import HOT_METHODS
from support.isolation.report import Report
from support.isolation.runtime import EVERY_BENCH
from support.isolation.trial import Plan, tried
from support.isolation.warm_moves import WARM_METHODS
from support.runtime import running
from support.tier_samples import scope_of

from tiers.cold import stores
from tiers.cold.stores import ColdStores
from tiers.errors import Conflict
from tiers.ports import HotStore, WarmStore
from tiers.records import Settlement

SHORT = Plan(attempts=200, houses=6, corners=4)
OVER_A_NETWORK = replace(SHORT, attempts=100)
LONG = Plan(attempts=10_000, seed=4, houses=14, corners=9, batch=150)
NETWORKED = {"redis", "qdrant http", "mongo"}
BY_NAME = {bench.name: bench for bench in EVERY_BENCH}
NOT_ATTACKED = {
    "warm.flush": "names nobody",
    "held.hold": "is what the desk does, under the scope that it has checked",
    "held.settle": "names nobody",
    **dict.fromkeys(
        ("held.read", "held.change", "held.scrub"), "is the engine, for stores that are attacked"
    ),
    "upkeep.take_over": "is the only owner's, of the whole store",
    "redactor.rewrite_files": "writes whole files anew, and takes no scope",
    "archive.tenants": "names tenants for the mover, and takes no scope",
    "leases.acquire": "names jobs of the runtime, not records",
    "leases.release": "names jobs of the runtime, not records",
}
REFUSED = {
    "agent.pin",
    "beliefs.revert",
    "episodic.put_summary",
    "graph.redact",
    "quarantine.decide",
    "redactor.redact",
    "semantic.supersede",
    "taint.confirm",
    "taint.undo",
}
"""What is never answered, because the attempts on it can only be refused."""

EMPTY = {"evidence.misfiled", "recollection.uses_by"}
"""What tells nothing here: nothing is filed wrongly, and only strangers' facts are asked about."""


def _backend(found: Any) -> str:
    return found.name


def _held(bench: Bench, report: Report, plan: Plan) -> None:
    assert report.is_clean, report.told()
    if plan.attempts >= LONG.attempts:
        unanswered = {method.name for method in bench.methods} - set(report.answered)
        assert unanswered <= REFUSED | EMPTY, "whatever refuses everything gives nothing away"
    assert report.attempts >= plan.attempts
    assert report.shown > plan.attempts / 10, "hardly anything was shown: nothing is proved"


@pytest.mark.parametrize("bench", EVERY_BENCH, ids=_backend)
async def test_no_attempt_crosses_a_scope(bench: Bench, tmp_path: Path) -> None:
    """Two hundred attempts on each backend, half of them over a network: no leak and no change."""
    plan = OVER_A_NETWORK if bench.name in NETWORKED else SHORT
    _held(bench, await tried(bench, plan, tmp_path), plan)


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("bench", EVERY_BENCH, ids=_backend)
async def test_no_attempt_of_many_crosses_a_scope(bench: Bench, tmp_path: Path) -> None:
    """Ten thousand attempts in a larger world."""
    _held(bench, await tried(bench, LONG, tmp_path), LONG)


@pytest.mark.parametrize(
    ("name", "forgotten"),
    [
        *(("sqlite", what) for what in ("tenant", "graph", "agent", "user", "topics", "denied")),
        ("sqlite", "as_of"),
        *(("edge", what) for what in ("tenant", "denied")),
        *(("in process", what) for what in ("tenant", "graph", "agent", "view")),
    ],
)
async def test_an_engine_that_forgets_is_found_out(
    name: str, forgotten: str, tmp_path: Path
) -> None:
    """The suite can fail: a store that forgets one part of the scope leaks within a few tries."""
    plan = Plan(attempts=90, houses=4, narrowed=0)
    report = await tried(careless(BY_NAME[name], forgotten), plan, tmp_path)
    assert report.leaks
    if (name, forgotten) in {("sqlite", "tenant"), ("sqlite", "user"), ("edge", "tenant")}:
        assert report.mutations


async def test_a_history_that_forgets_is_found_out(tmp_path: Path) -> None:
    """One that tells every agent what only an auditor may know, and one that ends any rival."""
    plan = Plan(attempts=40, houses=4, narrowed=0)
    report = await tried(auditing(BY_NAME["sqlite"]), plan, tmp_path / "auditing")
    assert {one.method for one in report.leaks} >= {"history.as_of", "history.query"}
    report = await tried(settling(BY_NAME["sqlite"]), plan, tmp_path / "settling")
    assert report.mutations


async def test_a_change_is_traced_to_the_attempt(tmp_path: Path) -> None:
    """A mutation is reported with the one attempt that makes it, by doing it again."""
    plan = Plan(attempts=40, houses=3, batch=40)
    report = await tried(careless(BY_NAME["sqlite"], "tenant"), plan, tmp_path)
    assert report.mutations
    assert all(finding.by.startswith("#") for finding in report.mutations)


async def test_a_belief_gives_way_only_to_who_sees_it(tmp_path: Path) -> None:
    """Who names no topic for a key takes nobody's place whose topics it does not hold."""
    async with running(tmp_path) as ezra:
        graph = await ezra.create_session_graph("race")
        mechanic = await graph.spawn_agent("mechanic", topics={"tyres"})
        banker = await graph.spawn_agent("banker", topics={"money"})
        first = await mechanic.commit("Start on mediums.", key=("start", "compound"), value="m")
        await banker.commit("Start on softs.", key=("start", "compound"), value="s")
        assert [belief.id for belief in await mechanic.beliefs()] == [first.id]


@pytest.mark.parametrize("name", ["sqlite", "mongo"])
async def test_only_who_sees_a_belief_can_settle_it(name: str, tmp_path: Path) -> None:
    """Neither naming it as a rival nor knowing its id shows it or takes its place."""
    (backend,) = [one for one in COLD_BACKENDS if one.name == name]
    theirs = scope_of(agent_id="theirs", user_id="ada", topics=("tyres",))
    hidden = [
        belief_by(theirs, "Ada pays.", key=None),
        belief_by(
            theirs.model_copy(update={"user_id": None}), "I doubt it.", key=None, private=True
        ),
    ]
    mine = scope_of(agent_id="mine", user_id="bob", topics=("tyres",))
    async with backend.opened(tmp_path) as cold:
        await cold.graphs.create_graph(graph_of("race"))
        for belief in hidden:
            owner = theirs.model_copy(update={"user_id": belief.user_id})
            assert (await cold.beliefs.commit(owner, belief)).is_new
        for belief in hidden:
            named = Settlement(rival_id=belief.id, winner="new", strategy="last_write_wins")
            met = await cold.beliefs.commit(mine, belief_by(mine, "Bob pays.", key=None), [named])
            assert (met.is_stale, met.is_new, met.superseded) == (True, False, ())
            taken = belief_by(mine, "Bob says.", key=None).model_copy(update={"id": belief.id})
            with pytest.raises(Conflict) as refused:
                await cold.beliefs.commit(mine, taken)
            assert belief.claim not in f"{refused.value} {vars(refused.value)}"
        active = await cold.history.as_of(mine.for_graph(), 2)
        assert [one.claim for one in active] == [one.claim for one in hidden]
        assert await cold.history.seq_at(mine.for_graph()) == 2


def test_every_method_that_takes_a_scope_is_attacked() -> None:
    """A new method of a port needs attempts of its own, or a reason why not."""
    attacked = {one.name for one in (*HOT_METHODS, *WARM_METHODS, *COLD_METHODS)}
    ports: dict[str, type] = {"hot": HotStore, "warm": WarmStore}
    ports |= inspect.get_annotations(ColdStores, locals={"stores": stores}, eval_str=True)
    methods = {
        f"{port}.{name}"
        for port, protocol in ports.items()
        for name, _ in inspect.getmembers(protocol, inspect.iscoroutinefunction)
        if not name.startswith("_")
    }
    assert methods - attacked == set(NOT_ATTACKED)
