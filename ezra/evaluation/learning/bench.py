"""Where sections measure: embedded memories without a language model, and a clock that they set."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import TypeVar

from tiers.errors import NotFound
from tiers.records import Fact, Source

from ...app import Ezra
from ...handles.agent import Agent
from ...settings import Settings
from .. import Progress, quietly
from ..run import StandingClock
from .labels import Pair, SaidTurn

AGENT = "assistant"
"""Who hears the turns of a set."""
GREETING = "Hello."
"""What is said before an agent's question, where a set's turn answers one."""
ANSWER = "Noted."
BETWEEN = timedelta(days=1)
"""From an earlier statement to a later one."""

T = TypeVar("T")


@dataclass
class Memory:
    """One embedded memory; every case has a session graph of its own, and sees no other."""

    ezra: Ezra
    clock: StandingClock
    problems: list[str] = field(default_factory=list)

    async def learnt(self, turn: SaidTurn, at: datetime) -> tuple[Fact, ...]:
        """Say a turn, let it be learnt, and return the facts that stand."""
        graph = await self.ezra.create_session_graph(turn.id)
        agent = await graph.spawn_agent(AGENT)
        if turn.asked:
            greeted = await agent.turn(GREETING, speaker=turn.speaker, at=at)
            await greeted.reply(turn.asked)
        opened = await agent.turn(turn.text, speaker=turn.speaker, at=at)
        await opened.reply(ANSWER)
        await self._learn()
        return (await agent.latest_facts()).rows

    async def heard(self, name: str, speaker: str, text: str, at: datetime) -> tuple[Fact, ...]:
        """Say a message in a conversation, let it be learnt, and return the facts that stand."""
        graph = await self.ezra.create_session_graph(name, exist_ok=True)
        agent = await graph.spawn_agent(speaker, topics={"*"})
        opened = await agent.turn(text, at=at)
        await opened.reply(ANSWER)
        await self._learn()
        return (await graph.latest_facts()).rows

    async def remembered(self, pair: Pair, at: datetime) -> tuple[Fact, Fact]:
        """Remember two statements a day apart, and return both as they stand then."""
        graph = await self.ezra.create_session_graph(pair.id)
        self.clock.show(at)
        speaker = await graph.spawn_agent(pair.speaker, topics={"*"})
        old = await speaker.remember(pair.old, topics=pair.old_topics)
        await self._learn()
        self.clock.show(at + BETWEEN)
        later = pair.new_speaker or pair.speaker
        if later != pair.speaker:
            speaker = await graph.spawn_agent(later, topics={"*"})
        new = await speaker.remember(pair.new, topics=pair.new_topics)
        await self._learn()
        return await _fact(speaker, old), await _fact(speaker, new)

    async def _learn(self) -> None:
        self.problems += (await self.ezra.drain_learning()).problems


@dataclass(frozen=True)
class Bench:
    """What a section is given.

    Attributes:
        settings: Of its memories; their home is a temporary folder, nothing runs in the
            background, and no language model is asked.
        progress: Shows how far a section is.
        every: Only every n-th case is measured.
        talk: Texts of conversations of one's own in which nobody attacks anything, each with whose
            words it is.
    """

    settings: Settings
    progress: Progress = quietly
    every: int = 1
    talk: tuple[tuple[Source, str], ...] = ()

    def chosen(self, cases: Sequence[T]) -> Sequence[T]:
        """Return the cases that are measured."""
        return cases[:: self.every]

    @asynccontextmanager
    async def memory(self, at: datetime) -> AsyncIterator[Memory]:
        """Hold a new memory, whose clock shows ``at``, for the length of the block."""
        with tempfile.TemporaryDirectory(prefix="ezra-eval-") as home:
            settings = by_rules(self.settings).model_copy(update={"home": Path(home)})
            clock = StandingClock(at)
            async with Ezra.open(settings, clock=clock) as ezra:
                yield Memory(ezra, clock)


def by_rules(settings: Settings) -> Settings:
    """Return the settings of a memory that is embedded, whatever servers the environment names.

    Nobody answers or judges but rules.
    """
    servers = dict.fromkeys(("redis_url", "qdrant_url", "mongodb_uri", "nli_url", "rerank_url"))
    return settings.model_copy(
        update={**servers, "llm": "none", "judge": "rules", "background": False}
    )


async def _fact(agent: Agent, fact_id: str) -> Fact:
    found = await agent.facts([fact_id])
    if not found:
        raise NotFound("fact", fact_id)
    return found[0]
