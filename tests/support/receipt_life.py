"""A life at random whose every context is kept aside, to be compared with what receipts rebuild."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random
from typing import Any

from ezra import Agent, Ezra, Fact, Graph, MeshResult, Rule, Settings
from ezra.receipts.rebuilding import ReplayedContext
from tiers.learning import is_live
from tiers.records import Scope

from .runtime import MovingClock

CAR = ("mediums", "hards", "softs", "brakes", "engine", "gearbox")
STATES = ("last 18 laps", "graining", "too hot", "fine", "worn out", "in the garage")
ROLES = ("Plans stints.", "Watches the tyres.", "Calls the stops.\nBriefly.", "")
SMALL = {"ring_capacity": 4, "turns_per_summary": 2, "promote_at_uses": 2, "core_cap": 6}


class Life:
    """One agent's life in a graph that inherits, with everything a context is made of.

    Attributes:
        told: Each receipt with the messages that its turn gave, as JSON.
    """

    def __init__(self, ezra: Ezra, clock: MovingClock, seed: int) -> None:
        self.ezra = ezra
        self.told: dict[str, str] = {}
        self._clock = clock
        self._random = Random(seed)
        self._facts: list[str] = []
        self._rules: list[str] = []
        self._number = 0
        self.graph: Graph
        self.agent: Agent
        self.elder: Agent

    async def begin(self) -> None:
        """Make the graphs, their first members, and something to be told."""
        before = await self.ezra.create_session_graph("monaco")
        self.elder = await before.spawn_agent("veteran", topics={"tyres"})
        await self.elder.remember(self._fact(tier="core"))
        await self.elder.remember(Rule(trigger="engine too hot", steps=("Lift.", "Coast.")))
        for about in CAR:
            turn = await self.elder.turn(f"Are the {about} graining?")
            await turn.reply(f"The {about} are graining.")
        self._clock.move(hours=60)
        await self.ezra.run_lifecycle_tick("monaco")
        catalog = await self.ezra.catalog()
        for about in CAR:
            await catalog.remember(f"The {about} are fine.")
        self.graph = await self.ezra.create_session_graph(
            "imola", inherits_from=["monaco"], inherit_episodes=True
        )
        await self._attach()
        for act in (self._learn, self._core, self._rule, self._believe, self._pin):
            await act()

    async def live(self, turns: int) -> None:
        """Take turns; between them something of the memory changes."""
        acts: tuple[Callable[[], Awaitable[None]], ...] = (
            *(self._learn, self._core, self._rule, self._believe, self._pin),
            *(self._supersede, self._refine, self._promote, self._elder_changes, self._attach),
            *(self._forget, self._wait),
        )
        for _ in range(turns):
            await self.say()
            for act in self._random.sample(acts, 2):
                await act()

    async def say(self) -> str:
        """Take one turn, keep its messages aside, and return its receipt."""
        said = f"Are the {self._word()} {self._state()}, call {self._next()}?"
        mesh = "timing" if self._random.random() < 0.3 else None
        private = self._random.random() < 0.2
        turn = await self.agent.turn(said, mesh=mesh, private=private)
        assert turn.receipt_id is not None
        self.told[turn.receipt_id] = json.dumps(turn.messages)
        answer = "" if self._random.random() < 0.2 else f"The {self._word()} are {self._state()}."
        await turn.reply(answer)
        return turn.receipt_id

    async def upheaval(self) -> None:
        """Change what can be changed: facts, tiers, beliefs, steps, roles, summaries, rings."""
        for act in (self._supersede, self._refine, self._believe, self._elder_changes):
            for _ in range(3):
                await act()
        for fact in await self.graph.facts(self._facts):
            scope = Scope.of_graph(fact.tenant, fact.graph_id).for_agent(fact.agent_id)
            other = "archival" if fact.tier == "core" else "core"
            now = self._clock()
            await self.ezra._runtime.semantic.set_tier(scope, fact, other, "upheaval", now)
        for _ in range(3):
            await self._wait()
        self.agent = await self.graph.spawn_agent("strategist", topics={"tyres"}, role="Retired.")
        await self.agent.turn("And now?", mesh="timing")

    async def differing(self) -> dict[str, ReplayedContext]:
        """Return what the receipts rebuild that is not what was told, byte for byte."""
        found = {}
        for receipt_id, messages in self.told.items():
            again = await self.graph.replay_context(receipt_id)
            if not again.is_exact or json.dumps(again.messages) != messages:
                found[receipt_id] = again
        return found

    async def _attach(self) -> None:
        role = self._random.choice(ROLES)
        self.agent = await self.graph.spawn_agent("strategist", topics={"tyres"}, role=role)

    async def _learn(self) -> None:
        since = self._clock() if self._random.random() < 0.5 else None
        self._facts.append(await self.agent.remember(self._fact(valid_from=since)))

    async def _core(self) -> None:
        self._facts.append(await self.agent.remember(self._fact(tier="core")))

    async def _rule(self) -> None:
        rule = Rule(trigger=f"{self._word()} {self._state()}", steps=(f"Box {self._next()}.",))
        self._rules.append(await self.agent.remember(rule))

    async def _believe(self) -> None:
        about, value = self._word(), f"{self._state()} {self._next()}"
        claim = f"The {about} are {value}."
        await self.agent.commit(claim, topic="tyres", key=(about, "state"), value=value)

    async def _pin(self) -> None:
        active = await self.agent.beliefs()
        await self.agent.pin(self._random.choice(active).id)

    async def _supersede(self) -> None:
        live = [one for one in await self.graph.facts(self._facts) if is_live(one)]
        if live:
            old = self._random.choice(live)
            self._facts.append(await self.agent.remember(self._fact(), supersedes=old.id))

    async def _refine(self) -> None:
        playbooks = self.ezra._runtime.playbooks
        scope = Scope.of_graph("default", "imola").for_agent("strategist")
        (rule,) = await playbooks.rules(scope, [self._random.choice(self._rules)])
        steps = [f"Call {self._next()}.", "Box."]
        assert await playbooks.refine(scope, rule, steps, [], self._clock())

    async def _promote(self) -> None:
        await self.ezra.drain_learning()

    async def _elder_changes(self) -> None:
        await self.elder.remember(self._fact(tier="core"))

    async def _forget(self) -> None:
        if len(self._facts) > 4:
            await self.agent.forget(self._random.choice(self._facts), reason="not needed")

    async def _wait(self) -> None:
        self._clock.move(hours=self._random.choice((1, 7, 30)))
        await self.ezra.run_lifecycle_tick("imola")

    def _fact(self, **more: Any) -> Fact:
        return Fact(text=f"The {self._word()} are {self._state()} at {self._next()}.", **more)

    def _word(self) -> str:
        return self._random.choice(CAR)

    def _state(self) -> str:
        return self._random.choice(STATES)

    def _next(self) -> int:
        self._number += 1
        return self._number


@asynccontextmanager
async def living(home: Path, seed: int, **settings: Any) -> AsyncIterator[Life]:
    """Open a runtime in which a life has begun."""
    clock = MovingClock()

    async def timing(question: str, _: Scope) -> MeshResult:
        return MeshResult(source="timing", text=f"P3 ({len(question)})", queried_at=clock())

    values = {"embedder": "off", "background": False, **SMALL, **settings}
    chosen = Settings(home=home, **values)
    async with Ezra.open(chosen, clock=clock, connectors={"timing": timing}) as ezra:
        life = Life(ezra, clock, seed)
        await life.begin()
        yield life
