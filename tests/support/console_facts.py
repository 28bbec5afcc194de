"""What console tests of facts look at: a graph with a story behind each of its facts."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from ezra import Ezra, Fact, Rule
from tiers.cold.stores.upkeep import ColdArchive
from tiers.moments import microseconds
from tiers.records import Scope

from .console import HOSTILE
from .runtime import MovingClock

GRAPH = "sochi"
BEGIN = datetime(2026, 5, 1, tzinfo=UTC)
IMPORTED_AT_ONCE = 1_000


@dataclass(frozen=True)
class Told:
    """Ids of facts, by what became of them."""

    core: str
    gave_way: str
    instead: str
    forgotten: str
    hostile: str
    rule: str


async def told(ezra: Ezra, clock: MovingClock) -> Told:
    """Make the graph ``sochi``: facts of both tiers, some that ended, names, and a playbook."""
    graph = await ezra.create_session_graph(GRAPH)
    analyst = await graph.spawn_agent("analyst", topics={"tyres", "weather"}, user_id="ann")
    await graph.spawn_agent("guest", topics={"weather"})
    core = await analyst.remember(Fact(text="Softs last 12 laps.", topics=("tyres",)))
    known = analyst.knowledge
    gave_way = await known.add("Max", "drives for", "Red Bull")
    before = clock()
    clock.move(hours=1)
    instead = await known.update("Max", "drives for", "Ferrari")
    await known.add("Ferrari", "is based in", "Maranello", topics=["weather"])
    await known.alias("Max", "Mad Max")
    forgotten = await analyst.remember("It never rains.", topics=["weather"])
    await analyst.forget(forgotten, reason="it did")
    await analyst.remember("Only the analyst knows.", private=True)
    hostile = await analyst.remember(
        Fact(subject=HOSTILE, predicate=f"says {HOSTILE}", object="Max", topics=("tyres",))
    )
    rule = await analyst.remember(Rule(trigger=f"rain {HOSTILE}", steps=("box", "fit inters")))
    await _moved(ezra, core, rule)
    assert before < clock()
    return Told(core, gave_way, instead, forgotten, hostile, rule)


async def _moved(ezra: Ezra, core: str, rule: str) -> None:
    """Promote a fact after three uses, refine a playbook, count how it did."""
    runtime = ezra._runtime
    scope = Scope.of_graph(runtime.settings.tenant, GRAPH)
    for cause in ("one", "two", "three"):
        await runtime.semantic.add_uses({scope: {cause: [core]}}, runtime.clock())
    (fact,) = await runtime.semantic.facts(scope, [core])
    await runtime.semantic.set_tier(scope, fact, "core", "3 uses", runtime.clock())
    await runtime.playbooks.record_outcome(scope, rule, "a turn", runtime.clock(), is_success=True)
    (found,) = await runtime.playbooks.rules(scope, [rule])
    await runtime.playbooks.refine(scope, found, ["box", "fit wets"], ["a turn"], runtime.clock())


async def many_facts(ezra: Ezra, graph_id: str, count: int) -> None:
    """Make a graph and put so many facts into its cold store at once."""
    await ezra.create_session_graph(graph_id)
    runtime = ezra._runtime
    scope = Scope.of_graph(runtime.settings.tenant, graph_id).for_agent("importer")
    archive = ColdArchive(runtime.semantic._store)  # type: ignore[attr-defined]
    for start in range(0, count, IMPORTED_AT_ONCE):
        numbers = range(start, min(count, start + IMPORTED_AT_ONCE))
        rows = [
            _numbered(number).stamped(scope, f"{number:07d}", BEGIN + _at(number))
            for number in numbers
        ]
        await archive.import_rows(scope.tenant, "facts", rows)


def cursor_at(number: int) -> str:
    """Return the cursor of a page that ended with the fact of a number."""
    return f"{microseconds(BEGIN + _at(number))}:{number:07d}"


def _at(number: int) -> timedelta:
    return timedelta(seconds=number // 3)  # some at the same moment


def _numbered(number: int) -> Fact:
    return Fact(
        text=f"Fact number {number} of the track log.",
        subject=f"stint {number % 997}",
        predicate="lasted",
        object=f"{number % 40} laps",
        tier="core" if number % 1_000 == 0 else "archival",
        topics=("tyres",) if number % 3 else ("weather",),
    )
