"""``recall(as_of=now)`` is recall: the same ids in the same order, whatever has happened before.

Histories are random and seeded; everything that can be recalled is in them, and everything by which
it ends. They run with all tiers embedded, and on servers in the slow run only: both sides of the
comparison read the same stores, whose contracts ask every engine for the past and for the present.
"""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from support.many_turns import ids_of, say
from support.runtime import MovingClock, running
from support.servers import SERVERS_SLOWLY

from ezra import Agent, Ezra, Graph, Rule
from ezra.checks import checked
from tiers.fleet import Parent
from tiers.learning import is_live

WHO = ("The ferry", "The boat to the island", "The night train", "Our bus", "The captain")
DOES = ("leaves at", "arrives at", "is late until", "was booked for", "calls home at")
WHEN = ("nine", "ten", "noon", "dusk on Friday", "dawn in May", "half past three")
QUESTIONS = (
    "When does the ferry leave?",
    "At what time does the ship depart for the island?",
    "captain",
    "What did I say about the train in May?",
    "Which bus?",
    "Who phones his family?",
)
MODES = ("hybrid", "hybrid", "semantic", "keyword")


@dataclass
class History:
    """A memory to which anything may happen."""

    ezra: Ezra
    clock: MovingClock
    graph: Graph
    agents: tuple[Agent, ...]
    chance: random.Random
    facts: list[str] = field(default_factory=list)
    beliefs: list[str] = field(default_factory=list)

    def sentence(self) -> str:
        """Return one of some hundred statements."""
        return " ".join(self.chance.choice(part) for part in (WHO, DOES, WHEN)) + "."

    async def goes_on(self) -> None:
        """Let something happen, some time later."""
        self.clock.move(minutes=self.chance.randint(1, 900))
        await self.chance.choice(self._happenings())()

    def _happenings(self) -> list[Callable[[], Awaitable[None]]]:
        return [
            *(self._says, self._says, self._remembers, self._remembers, self._commits),
            *(self._commits_a_key, self._supersedes, self._forgets, self._reverts),
            *(self._puts, self._is_indexed, self._is_kept, self._tells_everybody),
        ]

    @property
    def _agent(self) -> Agent:
        return self.chance.choice(self.agents)

    async def _says(self) -> None:
        outputs = [{"tool": "timetable", "output": self.sentence()}]
        await say(
            self._agent, self.sentence(), self.sentence(), outputs[: self.chance.randint(0, 1)]
        )

    async def _remembers(self) -> None:
        if self.chance.random() < 0.2:
            rule = checked(Rule, trigger=self.sentence(), steps=(self.sentence(),))
            await self._agent.remember(rule)
            return
        shared = self.chance.random() < 0.5
        self.facts.append(await self._agent.remember(self.sentence(), shared=shared))

    async def _supersedes(self) -> None:
        agent = self._agent
        seen = [one for one in await agent.facts(self.facts) if is_live(one)]
        if seen:
            old = self.chance.choice(seen).id
            new = await agent.remember(self.sentence() + " Sure.", supersedes=old)
            self.facts.append(new)

    async def _forgets(self) -> None:
        agent = self._agent
        seen = [one.id for one in await agent.facts(self.facts)]
        if seen:  # a twin may have gone with another
            await agent.forget(self.chance.choice(seen), reason="asked to")

    async def _commits(self) -> None:
        self.beliefs.append((await self._agent.commit(self.sentence())).id)

    async def _commits_a_key(self) -> None:
        key = ("trip", self.chance.choice(("by", "at")))
        said = self.sentence()
        belief = await self._agent.commit(said, topic="t", key=key, value=said)
        self.beliefs.append(belief.id)

    async def _reverts(self) -> None:
        active = [one.id for one in await self.graph.beliefs.active()]
        if active:
            await self.graph.beliefs.revert(self.chance.choice(active), reason="wrong")

    async def _puts(self) -> None:
        said = f"# Times\n\n{self.sentence()}\n\n## More\n\n{self.sentence()}\n"
        name = f"page-{self.chance.randint(1, 3)}.md"
        agent = self._agent  # a document belongs to whose agent made it
        await agent.documents.put(name, said, shelf=agent.id)

    async def _tells_everybody(self) -> None:
        await (await self.ezra.catalog()).remember(self.sentence())

    async def _is_indexed(self) -> None:
        await self.ezra.drain_learning()

    async def _is_kept(self) -> None:
        await self.ezra.run_lifecycle_tick(self.graph.id)


async def _begun(ezra: Ezra, clock: MovingClock, chance: random.Random) -> History:
    parent = await ezra.create_session_graph("p")
    author = await parent.spawn_agent("w", topics={"t"})
    for number in range(3):
        text = f"{WHO[number]} is run by the harbour."
        await author.remember(text)
    link = Parent(id="p", episodes=True)
    graph = await ezra.create_session_graph("g", inherits_from=[link])
    agents = (
        await graph.spawn_agent("a", topics={"t"}, user_id="ada"),
        await graph.spawn_agent("b", topics={"t"}, user_id="bob"),
    )
    return History(ezra, clock, graph, agents, chance)


@pytest.mark.parametrize("tiers", SERVERS_SLOWLY, indirect=True)
@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2))]
)
async def test_r9_08_recall_as_of_now_is_recall(tmp_path: Path, tiers: str, seed: int) -> None:
    """After each of some dozens of random events, for questions of every kind, by whoever asks."""
    del tiers
    clock, chance = MovingClock(), random.Random(seed)
    settings = {"embedder": "required", "ring_capacity": 3, "turns_per_summary": 2}
    async with running(tmp_path, clock, step_timeout_seconds=30, **settings) as ezra:
        history = await _begun(ezra, clock, chance)
        for event in range(36):
            await history.goes_on()
            if event % 3:
                continue
            for reader in (*history.agents, history.graph):
                asked = {"mode": chance.choice(MODES), "limit": chance.choice((5, 40))}
                question = chance.choice(QUESTIONS)
                now = await reader.recall(question, explain=True, **asked)
                then = await reader.recall(question, explain=True, as_of=clock(), **asked)
                assert ids_of(then.items) == ids_of(now.items), (event, question, asked)
                assert [one.folded for one in then.items] == [one.folded for one in now.items]


async def test_r9_08_a_belief_found_by_meaning_is_found_at_its_moments(
    tmp_path: Path, tiers: str
) -> None:
    """Without a word of the question: from when it was committed until it was reverted."""
    del tiers
    clock = MovingClock()
    async with running(tmp_path, clock, embedder="required") as ezra:
        graph = await ezra.create_session_graph("g")
        agent = await graph.spawn_agent("a", topics={"t"})
        before = clock()
        belief = await agent.commit("The ferry leaves at nine.")
        await ezra.drain_learning()
        clock.move(days=1)
        active = clock()
        clock.move(days=1)
        question = "When does the boat depart?"
        for moment, ids in ((before, []), (active, [belief.id]), (clock(), [belief.id])):
            found = await agent.recall(question, as_of=moment)
            assert ids_of(found.items) == ids
        await graph.beliefs.revert(belief.id, reason="wrong")
        for moment, ids in ((before, []), (active, [belief.id]), (clock(), [])):
            found = await agent.recall(question, as_of=moment)
            assert ids_of(found.items) == ids
