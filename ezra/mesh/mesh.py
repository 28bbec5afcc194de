"""All sources of a runtime: opened together, found by name, asked one at a time."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import datetime
from pathlib import Path
from typing import TypeAlias

from tiers.concurrency import answered
from tiers.errors import ConfigError, NotFound, TierError, TierRejected, UsageError
from tiers.mesh import MeshResult
from tiers.records import Scope

from .file import TIMEOUT_SECONDS, VARIABLE, sources_of_file
from .matching import Candidate, Choice, Entities, Proposal, Unfit, candidates, chosen
from .questions import MeshAsk
from .rows import cut, plain
from .slots import EntitySlot
from .source import TIER, Access, Connector, Plan, Source, SourceAbout

log = logging.getLogger(__name__)

PYTHON_TEXT_TOKENS = 2_000
"""The most of a context that a source in Python takes, which says itself how much it tells."""

OPENING_MAX = 8
"""So many sources connect at a time."""

OPENING_SECONDS = 20.0
"""Besides its deadline, for a source that is opened by its first question."""

Proposer: TypeAlias = Callable[[SourceAbout, str], Awaitable[Proposal | None]]
"""Asks a language model which question a message asks; ``None`` when there is no model to ask."""


class Mesh:
    """The sources of a runtime.

    Args:
        sources: Those that are declared, by name.
        connectors: Those in Python, by name.
        seconds: The deadline of a source in Python.
    """

    def __init__(
        self,
        sources: Mapping[str, Source],
        connectors: Mapping[str, Connector],
        seconds: float = TIMEOUT_SECONDS,
    ) -> None:
        self._sources = dict(sources)
        self._connectors = dict(connectors)
        self._seconds = seconds

    def __contains__(self, name: str) -> bool:
        return name in self._sources or name in self._connectors

    @property
    def about(self) -> tuple[SourceAbout, ...]:
        """Every source, as people and models are told of it, by name."""
        sources = [one.about for one in self._sources.values()]
        sources += [SourceAbout(name=one, kind="python", questions={}) for one in self._connectors]
        return tuple(sorted(sources, key=lambda one: one.name))

    def access(self, name: str) -> Access:
        """Return who may ask a source; of one that is not there, everybody."""
        source = self._sources.get(name)
        return Access() if source is None else source.access

    def seconds(self, name: str) -> float:
        """Return how long a source may take."""
        source = self._sources.get(name)
        if source is None:
            return self._seconds
        # Entities that are compared, and one that is looked up, come before the question itself.
        return 3 * source.seconds + (0.0 if source.is_open else OPENING_SECONDS)

    def check(self, ask: MeshAsk, now: datetime) -> None:
        """Refuse what can be seen to be wrong before anything is asked.

        Raises:
            NotFound: There is no such source.
            UsageError: A question is named that there is not, or a slot is not acceptable.
        """
        if ask.source in self._connectors:
            if ask.question is not None or ask.as_of is not None:
                raise UsageError("question", ask.question, f"none: {ask.source} takes a message")
            return
        source = self._source(ask.source)
        if ask.question is not None:
            source.planned(ask, now)

    async def plan(
        self, ask: MeshAsk, message: str, now: datetime, propose: Proposer
    ) -> Plan | Unfit:
        """Return what a declared source is asked, or why a message asks it nothing.

        Args:
            ask: What was asked; ``message`` counts where it names no question.
            message: What was said.
            now: When.
            propose: Asks a model, where rules find no question.

        Raises:
            TierError: The source is away, and entities are needed.
            UsageError: A slot is not acceptable.
        """
        source = self._source(ask.source)
        if ask.question is not None:
            return source.planned(ask, now)
        found = candidates(source.questions, message)
        entities = {one.name: await self._entities(source, one) for one in found}
        choice = chosen(source.questions, found, message, entities, now.date())
        if isinstance(choice, Choice):
            slots = {name: _plain(value) for name, value in choice.values.items()}
            known = ask.model_copy(update={"question": choice.name, "slots": slots})
            return source.planned(known, now)
        return await self._proposed(source, ask, message, now, propose) or choice

    async def ask(self, plan: Plan, name: str) -> MeshResult:
        """Ask a declared source.

        Raises:
            TierError: It failed or is late.
            UsageError: An entity is not there.
        """
        return await self._source(name).answer(plan)

    async def call(self, name: str, message: str, scope: Scope) -> MeshResult:
        """Call a source in Python; its text is kept to a line and to a number of tokens.

        Raises:
            TierRejected: What it answers is no ``MeshResult``.
        """
        found = await answered(self._connectors[name], message, scope)
        if not isinstance(found, MeshResult):
            raise TierRejected(TIER, name, f"it answered {type(found).__name__}, no MeshResult")
        text = cut(found.text, PYTHON_TEXT_TOKENS)
        return found if text == found.text else found.model_copy(update={"text": plain(text)})

    def is_python(self, name: str) -> bool:
        """Whether a source is a function, which takes what was said."""
        return name in self._connectors

    def _source(self, name: str) -> Source:
        source = self._sources.get(name)
        if source is None:
            raise NotFound("mesh source", name)
        return source

    async def _entities(self, source: Source, candidate: Candidate) -> Entities:
        slots = source.questions[candidate.name].slots
        return {
            name: await source.entities(slot)
            for name, slot in slots.items()
            if isinstance(slot, EntitySlot)
        }

    async def _proposed(
        self, source: Source, ask: MeshAsk, message: str, now: datetime, propose: Proposer
    ) -> Plan | Unfit | None:
        """Return what a model proposes if it stands up to the same checks; ``None`` without one."""
        proposal = await propose(source.about, message)
        if proposal is None or not proposal.question:
            return None
        try:
            proposed = {"question": proposal.question, "slots": dict(proposal.given)}
            known = ask.model_copy(update=proposed)
            return source.planned(known, now)
        except UsageError as error:
            return Unfit(f"what the model proposed is not acceptable: {error.field}")


@asynccontextmanager
async def opened_mesh(
    path: Path | None,
    given: Mapping[str, Connector | Source],
    seconds: float = TIMEOUT_SECONDS,
    *,
    checks: bool = True,
) -> AsyncIterator[Mesh]:
    """Hold all sources for the length of the block.

    A source that cannot be reached is looked at again when it is asked.

    Args:
        path: A file that declares sources.
        given: Sources in Python, by name: functions, or what ``source_of`` returns.
        seconds: How long an answer may take where a source does not say.
        checks: Whether to open every source now. Without it each is opened by its first question:
            a command that asks none should not wait for all.

    Raises:
        ConfigError: The file or a source is not what it should be, or two have one name.
    """
    declared = {}
    if path is not None:
        declared = await asyncio.to_thread(sources_of_file, path, seconds)
    twice = sorted(set(declared) & set(given))
    if twice:
        raise ConfigError(VARIABLE, f"the source {twice[0]!r} is also given in Python")
    own = {name: one for name, one in given.items() if isinstance(one, Source)}
    functions = {name: one for name, one in given.items() if not isinstance(one, Source)}
    sources = {**declared, **own}
    async with AsyncExitStack() as stack:
        for source in sources.values():
            stack.push_async_callback(source.close)
        if checks:
            await _open(tuple(sources.values()))
        yield Mesh(sources, functions, seconds)


async def _open(sources: Sequence[Source]) -> None:
    """Connect all sources side by side; the first that is not what it should be is said."""
    room = asyncio.Semaphore(OPENING_MAX)

    async def one(source: Source) -> ConfigError | None:
        async with room:
            try:
                await source.open()
            except ConfigError as error:
                return error
            except TierError as error:
                log.warning("mesh source %s is away: %s", source.name, error)
        return None

    for problem in await asyncio.gather(*(one(source) for source in sources)):
        if problem is not None:
            raise problem


def _plain(value: object) -> str | int:
    """Return a value as a caller would give it."""
    return value if isinstance(value, int) else str(value)
