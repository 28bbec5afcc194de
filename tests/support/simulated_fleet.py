"""A fleet that lives for months on a fake clock: bursts and quiet weeks, late news, an outage.

The plan of the whole life is drawn beforehand from a seed; living it takes no sleep and no random
number more. Time never steps back, as it does not for a real fleet.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from random import Random

from ezra import Ezra, Fact, Retention
from ezra.handles.agent import Agent
from ezra.handles.graph import Graph
from tiers.beliefs import BeliefEvent

from .runtime import MovingClock

GRAPH = "fleet"
TICK_HOUR = 3
"""When the meta-agents have their pass, in UTC; nobody speaks then."""

PEOPLE = ("mara", "nils")
TOPICS: dict[str, tuple[str, ...]] = {
    "ada": ("engine", "fuel"),
    "ben": ("tyres", "weather"),
    "cleo": ("strategy", "tyres"),
    "dora": ("pit",),
    "emil": ("engine", "weather"),
    "finn": ("fuel", "strategy"),
}
"""Six agents; every second one works for the first person, the others for the second."""

WANDERER = "finn"
"""Leaves after a third of the time and returns after two thirds."""

QUIET_WEEKS = 0.15
LATE_SHARE = 0.01
PRIVATE_SHARE = 0.04
FACT_SHARE = 0.03
COMMIT_SHARE = 0.03
MISSED_SHARE = 0.08

_SAID = (
    "The {topic} reading on stint {number} was {value}.",
    "Stint {number}: {topic} held for {value} laps. Keep it so.",
    "Box {number} reports {topic} at {value} percent, as planned.",
    "What does {topic} say about stint {number}?",
    "I live in {place}. The {topic} is at {value}.",
)
_PLACES = ("Imola", "Monza", "Spa", "Suzuka", "Austin", "Baku")


@dataclass(frozen=True)
class Spoken:
    """One turn of the plan.

    Attributes:
        at: When it is recorded.
        occurred_at: When it was said; earlier for news that come late.
    """

    at: datetime
    occurred_at: datetime
    agent: str
    topics: tuple[str, ...]
    text: str
    private: bool
    remembers: bool
    commits: bool


@dataclass(frozen=True)
class Day:
    """One day of the plan: the pass before it, if there is one, and its turns in order."""

    ticks_at: datetime | None
    turns: tuple[Spoken, ...]


def plan_of_life(
    *, seed: int, start: datetime, days: int, turns: int, outage: range = range(0)
) -> list[Day]:
    """Draw a life of so many days with exactly so many turns.

    Args:
        seed: Repeats it.
        start: Midnight of the first day, in UTC.
        days: How many.
        turns: In all.
        outage: Days on which no pass is made.
    """
    random = Random(seed)
    weights = _weights(random, days)
    counts = [0] * days
    for day in random.choices(range(days), weights, k=turns):
        counts[day] += 1
    life = []
    for number, count in enumerate(counts):
        midnight = start + timedelta(days=number)
        missed = number in outage or random.random() < MISSED_SHARE
        ticks_at = None if missed or not number else midnight + timedelta(hours=TICK_HOUR)
        present = [name for name in TOPICS if name != WANDERER or not _is_away(number, days)]
        said = [_spoken(random, midnight, present, number) for _ in range(count)]
        life.append(Day(ticks_at, tuple(sorted(said, key=lambda one: one.at))))
    return life


def _is_away(day: int, days: int) -> bool:
    return days // 3 <= day < 2 * days // 3


def _weights(random: Random, days: int) -> list[float]:
    """Return how much is said on each day: bursts, weekends, and whole weeks of silence."""
    quiet = {week for week in range(days // 7 + 1) if random.random() < QUIET_WEEKS}
    return [
        0.0 if day // 7 in quiet else random.lognormvariate(0, 0.9) * (0.2 if day % 7 > 4 else 1)
        for day in range(days)
    ]


def _spoken(random: Random, midnight: datetime, present: Sequence[str], day: int) -> Spoken:
    agent = random.choice(present)
    # Bursts: most is said around a few hours, some around the clock.
    hour = random.choice((9, 9, 10, 14, 14, 22, 23)) if random.random() < 0.9 else 4
    minutes = random.triangular(0, 59.9, 20) if hour > 4 else random.uniform(0, 60 * 19)
    at = midnight + timedelta(hours=hour, minutes=minutes)
    late = random.random() < LATE_SHARE
    said_at = at - timedelta(hours=random.uniform(1, 24 * min(day, 40))) if late and day else at
    held = TOPICS[agent]
    topics = held if random.random() < 0.2 else (random.choice(held),)
    text = random.choice(_SAID).format(
        topic=random.choice(topics),
        number=random.randrange(1, 400),
        value=round(random.uniform(1, 99), 1),
        place=random.choice(_PLACES),
    )
    return Spoken(
        at=at,
        occurred_at=said_at,
        agent=agent,
        topics=topics,
        text=text,
        private=random.random() < PRIVATE_SHARE,
        remembers=random.random() < FACT_SHARE,
        commits=random.random() < COMMIT_SHARE,
    )


@dataclass
class SimulatedFleet:
    """Lives a plan in a graph of its own.

    Attributes:
        told: How many turns were acknowledged.
        logged: Each belief event as it was when it was new.
        forgotten: Facts that somebody asked to forget, and when.
    """

    ezra: Ezra
    clock: MovingClock
    days: Sequence[Day]
    graph: Graph
    start: datetime
    agents: dict[str, Agent] = field(default_factory=dict)
    told: int = 0
    logged: list[BeliefEvent] = field(default_factory=list)
    forgotten: dict[str, datetime] = field(default_factory=dict)
    _remembered: list[tuple[str, str]] = field(default_factory=list)

    @classmethod
    async def begun(
        cls, ezra: Ezra, clock: MovingClock, days: Sequence[Day], start: datetime, plan: str
    ) -> SimulatedFleet:
        """Create the graph with its retention plan, and its agents, at midnight."""
        graph = await ezra.create_session_graph(GRAPH, retention=Retention(plan=plan))
        fleet = cls(ezra, clock, days, graph, start)
        for name in TOPICS:
            await fleet._spawn(name)
        return fleet

    async def begin(self, number: int, *, must_pass: bool = False) -> object | None:
        """Begin a day with its pass and return the report; ``None`` if there is none.

        The day after the last one has nothing but a pass.
        """
        is_over = number == len(self.days)
        ticks_at = None if is_over else self.days[number].ticks_at
        if ticks_at is None and not must_pass and not is_over:
            return None
        self._move_to(self.start + timedelta(days=number, hours=TICK_HOUR))
        return await self.pass_now()

    async def spend(self, number: int) -> None:
        """Live a day after its pass."""
        await self._come_and_go(number)
        for spoken in self.days[number].turns:
            self._move_to(spoken.at)
            await self._say(spoken)

    async def pass_now(self) -> object:
        """Let the meta-agents have their pass."""
        await self.ezra.drain_learning()
        return await self.ezra.run_lifecycle_tick(GRAPH)

    def _move_to(self, moment: datetime) -> None:
        ahead = (moment - self.clock()).total_seconds()
        if ahead > 0:
            self.clock.move(seconds=ahead)

    async def _spawn(self, name: str) -> None:
        person = PEOPLE[list(TOPICS).index(name) % len(PEOPLE)]
        self.agents[name] = await self.graph.spawn_agent(
            name, topics=TOPICS[name], user_id=person, role=f"{name} looks after {TOPICS[name][0]}"
        )

    async def _come_and_go(self, number: int) -> None:
        if number == len(self.days) // 3:
            await self.agents[WANDERER].leave()
        if number == 2 * len(self.days) // 3:
            await self._spawn(WANDERER)

    async def _say(self, spoken: Spoken) -> None:
        agent = self.agents[spoken.agent]
        turn = await agent.turn(
            spoken.text, at=spoken.occurred_at, topics=spoken.topics, private=spoken.private
        )
        await turn.reply("Noted.")
        self.told += 1
        if spoken.remembers:
            await self._remember(agent, spoken)
        if spoken.commits:
            await self._commit(agent, spoken)

    async def _remember(self, agent: Agent, spoken: Spoken) -> None:
        """Remember a keyed fact, which takes the place of the one before, and forget some."""
        topic = spoken.topics[0]
        fact = Fact(
            subject=f"{agent.id} {topic}", predicate="reading", object=spoken.text, topics={topic}
        )
        fact_id = await agent.remember(fact)
        if len(self._remembered) % 9 == 0:
            await agent.remember(f"{spoken.text} {topic} {self.told}", topics={topic})
        if len(self._remembered) % 11 == 0 and await agent.forget(fact_id, reason="no longer"):
            self.forgotten[fact_id] = self.clock()
        self._remembered.append((agent.id, fact_id))

    async def _commit(self, agent: Agent, spoken: Spoken) -> None:
        topic = spoken.topics[0]
        await agent.commit(spoken.text, topic=topic, key=(topic, "reading"), value=spoken.text)
        seen = self.logged[-1].seq if self.logged else 0
        self.logged += await self.events(seen)

    async def events(self, after: int = 0) -> list[BeliefEvent]:
        """Return the graph's belief events after a ``seq``."""
        runtime = self.ezra._runtime
        found: list[BeliefEvent] = []
        while page := await runtime.history.events(self.graph._scope, after):
            found += page
            after = page[-1].seq
        return found


def midnight(year: int, month: int, day: int) -> datetime:
    """Return when a day begins, in UTC."""
    return datetime(year, month, day, tzinfo=UTC)
