"""The warm index as everybody sees it, whichever generations are behind it."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from tiers.errors import TierError, UsageError
from tiers.known_records import Known, Seen, sights_meaning
from tiers.ports import Expired
from tiers.records import Hit, IndexEntry, Kind, Scope, SearchQuery
from tiers.upkeep import RewritableFiles

from .arrivals import Arrivals
from .generations import OpenGeneration, OpenGenerations
from .rules import filled_in
from .vectors import vectors_of, with_vectors

if TYPE_CHECKING:
    from tiers.cold.stores import LexicalIndex

log = logging.getLogger(__name__)


class SwitchingIndex:
    """A ``WarmStore`` over the generation that serves and the one that is built behind it.

    Makes the vectors of entries itself, for each generation by its own model; a vector that an
    entry brings along is not used, since it does not say whose it is. A question goes to the
    generation whose model made its vector, or is asked by its words.

    Args:
        generations: What is open.

    Attributes:
        arrivals: What was kept just now, for who asks next.
    """

    def __init__(self, generations: OpenGenerations) -> None:
        self.arrivals = Arrivals()
        self._generations = generations
        self._words: LexicalIndex | None = None

    @property
    def serving(self) -> OpenGeneration:
        """The generation that answers, and the embedder for its questions."""
        return self._generations.serving

    def fill_in_from(self, words: LexicalIndex) -> None:
        """Let word search answer for what an index that is built in place does not hold yet."""
        self._words = words

    async def upsert(self, scope: Scope, entries: Sequence[IndexEntry]) -> None:
        """Write entries to every generation, the serving one first; may be repeated.

        A text that a model refuses is indexed by its words. Generations that have served get
        nothing new: who still asks them asked before this was written.

        Raises:
            TierError: An embedder or engine failed; what was written before stays.
        """
        if not entries:
            return
        await self._before_write(scope)
        for generation in self._written():
            vectors = await vectors_of((entry.text for entry in entries), generation.embedder)
            async with self._generations.writing:
                await generation.store.upsert(scope, with_vectors(entries, vectors))
        self.arrivals.arrived(scope, [entry.id for entry in entries])

    async def search(self, scope: Scope, query: SearchQuery) -> tuple[Hit, ...]:
        """Return the best visible entries; see ``WarmStore``.

        While the serving index is built in place, what it lacks is found by its words, except of
        ancestors: word search does not reach them, so theirs come with the index. Nothing is
        filled in where meaning alone is asked for, which needs a vector.
        """
        generation, asked = self._route(query)
        found = await generation.store.search(scope, asked)
        if not generation.partial or query.inherited or query.mode == "dense":
            return found
        if self._words is None:
            return found
        try:
            by_words = await self._words.search_words(scope, query)
        except TierError as error:
            log.warning("an unfinished index answers alone: %s", error)
            return found
        return filled_in(found, by_words, query.limit)

    async def sight(self, scope: Scope, query: SearchQuery, known: Known) -> tuple[Seen, ...]:
        """Return what ``search`` does, records of ``known`` by their ids where the engine can."""
        generation, asked = self._route(query)
        if generation.partial or not sights_meaning(generation.store):
            return await self.search(scope, query)
        return await generation.store.sight(scope, asked, known)

    async def delete(self, scope: Scope, ids: Sequence[str]) -> None:
        """Remove entries from every generation, those that have served included."""
        if not ids:
            return
        self.arrivals.arrived(scope, ids)
        await self._before_write(scope)
        async with self._generations.writing:
            for generation in self._written():
                await generation.store.delete(scope, ids)
            for generation in self._generations.left:
                try:
                    await generation.store.delete(scope, ids)
                except TierError as error:
                    # Another runtime may have dropped it; nobody has to wait for what is over.
                    log.warning("left index of %s: %s", generation.model_id, error)

    async def delete_expired(self, scope: Scope, now: datetime) -> Expired:
        """Remove expired entries; return those that the serving generation had."""
        removed = [await one.store.delete_expired(scope, now) for one in self._written()]
        return removed[0]

    async def count(self, scope: Scope, kind: Kind | None = None) -> int:
        """Return how many entries the serving generation holds."""
        return await self.serving.store.count(scope, kind)

    async def flush(self) -> None:
        """Flush every generation."""
        for generation in self._written():
            await generation.store.flush()

    async def rewrite_files(self) -> None:
        """Let no generation's files keep what was deleted; a server's index has none of ours.

        Raises:
            TierError: One of them failed; repeating does all of them again.
        """
        async with self._generations.writing:
            for generation in (*self._written(), *self._generations.left):
                if isinstance(generation.store, RewritableFiles):
                    await generation.store.rewrite_files()

    async def _before_write(self, scope: Scope) -> None:
        tenant = self._generations.tenant
        if scope.tenant != tenant:
            raise UsageError("scope.tenant", scope.tenant, f"{tenant!r}, whose index this is")
        await self._generations.before_write()

    def _written(self) -> list[OpenGeneration]:
        serving, building = self._generations.serving, self._generations.building
        if building is None or building.opened is serving:
            return [serving]
        return [serving, building.opened]

    def _route(self, query: SearchQuery) -> tuple[OpenGeneration, SearchQuery]:
        """Return whom to ask what: the vector's own model, or the serving one without a vector."""
        serving = self._generations.serving
        if query.vector is None or query.model_id in (None, serving.model_id):
            return serving, query
        for generation in self._generations.left:
            if generation.model_id == query.model_id and query.mode != "words":
                return generation, query
        return serving, query.model_copy(update={"vector": None, "model_id": None})
