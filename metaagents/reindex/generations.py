"""The open generations of a tenant: one serves, one may be built, some are left behind.

Where there is no room on the disk to open one, something stands in for it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import dataclass, field, replace
from datetime import datetime
from types import TracebackType
from typing import NoReturn, Self, TypeAlias

from tiers.errors import ConfigError, CorruptRecord, DiskFull, TierError
from tiers.ports import Embedder, Expired, WarmStore
from tiers.records import Hit, IndexEntry, Kind, Scope, SearchQuery
from tiers.upkeep import Generation, WarmGenerations

from .rules import Plan, Reembedding, from_the_start, plan, progress, started


class AwayIndex:
    """A ``WarmStore`` that answers every call with why there is none.

    Args:
        reason: What opening it was refused with.
    """

    def __init__(self, reason: str) -> None:
        self._reason = reason

    async def upsert(self, scope: Scope, entries: Sequence[IndexEntry]) -> None:
        """Refuse."""
        self._refuse("upsert", scope, entries)

    async def search(self, scope: Scope, query: SearchQuery) -> tuple[Hit, ...]:
        """Refuse."""
        self._refuse("search", scope, query)

    async def delete(self, scope: Scope, ids: Sequence[str]) -> None:
        """Refuse."""
        self._refuse("delete", scope, ids)

    async def delete_expired(self, scope: Scope, now: datetime) -> Expired:
        """Refuse."""
        self._refuse("delete expired", scope, now)

    async def count(self, scope: Scope, kind: Kind | None = None) -> int:
        """Refuse."""
        self._refuse("count", scope, kind)

    async def flush(self) -> None:
        """Do nothing: nothing was written."""

    def _refuse(self, operation: str, *_: object) -> NoReturn:
        raise DiskFull("warm", operation, self._reason)


log = logging.getLogger(__name__)

WORDS_DIMENSIONS = 384
"""Of an index that holds no vector, for an engine that wants a length all the same."""

OPENINGS_MAX = 4
"""A damaged index is set aside at each; more than three are never opened at once."""

EmbedderSource: TypeAlias = Callable[[str], AbstractAsyncContextManager[Embedder] | None]
"""Gives a model's embedder, to be entered; ``None`` when it cannot be had."""


@dataclass(frozen=True)
class OpenGeneration:
    """One generation, open.

    Attributes:
        model_id: Whose vectors it holds.
        store: The index.
        embedder: Makes its vectors; ``None`` when it is searched and written by words only.
        partial: Whether it lacks records that it should hold.
    """

    model_id: str | None
    store: WarmStore
    embedder: Embedder | None
    partial: bool = False


@dataclass(frozen=True)
class Building:
    """A generation that is being built, and how far it has come."""

    opened: OpenGeneration
    mark: Generation


@dataclass(eq=False)
class OpenGenerations:
    """Opens what a tenant needs of its generations, and switches from one to the next.

    An async context manager; whatever it opens it closes. Every generation it holds is told of
    every write, or it is dropped: none is ever behind without its mark saying so.

    Attributes:
        engine: The warm indexes.
        tenant: Whose.
        wanted: The embedder that is to be used; ``None`` for words only.
        models: Opens the embedder of another model, to serve while the wanted one's is built.
        clock: Where the time comes from.
    """

    engine: WarmGenerations
    tenant: str
    wanted: Embedder | None
    models: EmbedderSource
    clock: Callable[[], datetime]
    writing: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)
    """Held while entries are written, so that nothing older can overtake them."""
    _stack: AsyncExitStack = field(default_factory=AsyncExitStack, init=False)
    _served: Generation | None = field(default=None, init=False)
    _serving: OpenGeneration | None = field(default=None, init=False)
    _building: Building | None = field(default=None, init=False)
    _left: tuple[OpenGeneration, ...] = field(default=(), init=False)
    _idle: tuple[Generation, ...] = field(default=(), init=False)
    _is_away: bool = field(default=False, init=False)
    _marking: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)

    async def __aenter__(self) -> Self:
        try:
            await self._open_or_remake()
        except DiskFull as full:
            log.warning("going on without the warm index: %s", full)
            store = AwayIndex(full.reason.removeprefix(f"{full.PREFIX}: "))
            model_id = None if self.wanted is None else self.wanted.model_id
            self._serving = OpenGeneration(model_id, store, None, partial=True)
            self._is_away = True
        return self

    async def reopen(self) -> None:
        """Open what could not be opened because the disk was full; nothing where all is open.

        Raises:
            DiskFull: It still is.
        """
        async with self._marking:
            if self._is_away:
                await self._open_or_remake()
                self._is_away = False
                log.info("the warm index is open again")

    async def _open_or_remake(self) -> None:
        for left in reversed(range(OPENINGS_MAX)):
            try:
                await self._open_all()
                break
            except CorruptRecord:
                # The engine has set a damaged index aside, mark and all: it is made anew.
                if not left:
                    raise

    async def _open_all(self) -> None:
        async with AsyncExitStack() as stack:
            chosen, embedder = await self._choose(stack)
            self._serving = await self._open(chosen.serve, embedder, stack)
            if chosen.build is chosen.serve:
                self._building = Building(self._serving, chosen.serve)
            elif chosen.build is not None:
                behind = await self._open(chosen.build, self.wanted, stack)
                self._building = Building(behind, chosen.build)
            self._served, self._idle = chosen.serve, chosen.idle
            self._stack = stack.pop_all()

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._stack.aclose()

    @property
    def serving(self) -> OpenGeneration:
        """The generation that answers."""
        if self._serving is None:
            raise RuntimeError("the generations are not open")
        return self._serving

    @property
    def building(self) -> Building | None:
        """The generation that is being built, which may be the one that serves."""
        return self._building

    @property
    def left(self) -> tuple[OpenGeneration, ...]:
        """Generations that have served: they answer questions embedded for them before."""
        return self._left

    @property
    def progress(self) -> Reembedding | None:
        """How far building has come; ``None`` when nothing is built."""
        building = self._building
        if building is None:
            return None
        in_place = building.opened is self._serving
        return progress(None if in_place else self.serving.model_id, building.mark)

    async def before_write(self) -> None:
        """Settle what the next write makes untrue; must come before it.

        Idle generations do not get it and are dropped. One that is written without vectors has
        to be built from the start before its model can answer alone again. One that could not be
        opened is opened now.
        """
        await self.reopen()
        if not self._idle and not self._lacks_vectors():
            return
        async with self._marking:
            await self._drop_idle()
            if self._served is not None and self._lacks_vectors():
                self._served = from_the_start(self._served, self.clock())
                await self.engine.mark(self.tenant, self._served)

    async def advance(self, mark: Generation) -> None:
        """Write down how far building has come."""
        async with self._marking:
            if self._building is not None:
                await self.engine.mark(self.tenant, mark)
                self._building = replace(self._building, mark=mark)

    async def complete(self) -> None:
        """Let the generation that was built serve, from one question to the next.

        The one before is marked first as no longer up to date: a crash in between leaves the new
        one to be finished, and never an old one that seems complete.
        """
        async with self._marking:
            building = self._building
            if building is None:
                return
            if building.opened is not self._serving and self._served is not None:
                left = from_the_start(self._served, self.clock())
                await self.engine.mark(self.tenant, left)
            done = {"state": "complete", "cursor": "", "marked_at": self.clock()}
            mark = building.mark.model_copy(update=done)
            await self.engine.mark(self.tenant, mark)
            self._switch(building.opened, mark)

    async def refresh(self) -> None:
        """Take over what another runtime has marked: its progress, or that it has finished."""
        async with self._marking:
            building = self._building
            if building is None:
                return
            for mark in await self.engine.generations(self.tenant):
                if mark.model_id != building.opened.model_id:
                    continue
                if mark.state == "complete":
                    self._switch(building.opened, mark)
                else:
                    self._building = replace(building, mark=mark)

    async def drop_idle(self) -> tuple[str | None, ...]:
        """Drop the generations that are no longer needed, unless one is still being built.

        Returns:
            Their models.
        """
        async with self._marking:
            return () if self._building is not None else await self._drop_idle()

    def _switch(self, built: OpenGeneration, mark: Generation) -> None:
        before = self.serving
        self._serving = replace(built, partial=False)
        self._served = mark
        self._building = None
        if built is not before:
            self._left = (*self._left, before)
            log.info("recall now uses %s, no longer %s", _named(built), _named(before))

    def _lacks_vectors(self) -> bool:
        """Whether the next write goes without a vector into an index of vectors, unmarked yet."""
        served = self._served
        return (
            served is not None
            and served.model_id is not None
            and self.serving.embedder is None
            and (served.state == "complete" or started(served))
        )

    async def _drop_idle(self) -> tuple[str | None, ...]:
        dropped = []
        while self._idle:
            await self.engine.drop(self.tenant, self._idle[0].model_id)
            dropped.append(self._idle[0].model_id)
            self._idle = self._idle[1:]
        if dropped:
            log.info("dropped the warm index of %s", ", ".join(map(str, dropped)))
        return tuple(dropped)

    async def _choose(self, stack: AsyncExitStack) -> tuple[Plan, Embedder | None]:
        """Return the plan, with the embedder of the generation that serves open.

        A model that cannot be opened after all is planned without.
        """
        known = await self.engine.generations(self.tenant)
        wanted = Generation(
            model_id=self.wanted.model_id if self.wanted else None,
            dimensions=self.wanted.dimensions if self.wanted else WORDS_DIMENSIONS,
            marked_at=self.clock(),
        )
        models = {one.model_id for one in known if one.model_id is not None}
        while True:
            chosen = plan(known, wanted, models)
            serve = chosen.serve.model_id
            if self.wanted is None or serve is None:
                return chosen, None
            if serve == wanted.model_id:
                return chosen, self.wanted
            embedder = await self._embedder(serve, stack)
            if embedder is not None:
                return chosen, embedder
            models.remove(serve)

    async def _embedder(self, model_id: str, stack: AsyncExitStack) -> Embedder | None:
        source = self.models(model_id)
        if source is None:
            return None
        try:
            return await stack.enter_async_context(source)
        except (ConfigError, TierError) as error:
            log.warning("the former model %s cannot be opened: %s", model_id, error)
            return None

    async def _open(
        self, generation: Generation, embedder: Embedder | None, stack: AsyncExitStack
    ) -> OpenGeneration:
        opening = self.engine.opened(generation.model_id, generation.dimensions)
        store = await stack.enter_async_context(opening)
        partial = generation.state == "building"
        return OpenGeneration(generation.model_id, store, embedder, partial)


def _named(generation: OpenGeneration) -> str:
    return generation.model_id or "words alone"
