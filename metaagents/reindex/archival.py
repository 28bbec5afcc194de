"""Vectors for a cold tier that searches facts by meaning itself."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tiers.errors import EzraError
from tiers.ports import Embedder
from tiers.records import Scope
from tiers.upkeep import ArchivalVectors, RecordRef

from .index import SwitchingIndex
from .rules import by_owner
from .vectors import vectors_of, with_vectors

if TYPE_CHECKING:
    from tiers.cold.stores import LexicalIndex

log = logging.getLogger(__name__)

FACTS_PER_BATCH = 64
BATCHES_PER_PASS = 16
BATCHES_MAX = 100_000


@dataclass(eq=False)
class ArchivalKeeper:
    """Gives every fact the vector of the model that serves, wherever the fact came from.

    New facts, facts that moved in from elsewhere, facts whose text has another model's vector:
    all are found the same way, as facts without a vector of the serving model. Until its turn
    comes, a fact is recalled by its words.

    Attributes:
        vectors: The cold tier's facts.
        records: Where the searchable form of a fact comes from.
        index: Knows which model serves.
        tenant: Whose facts.
    """

    vectors: ArchivalVectors
    records: LexicalIndex
    index: SwitchingIndex
    tenant: str

    async def run_pass(self) -> int:
        """Embed a bounded number of facts and return how many; for the clock.

        Never raises for what fails: the facts stay without a vector and are found again.
        """
        try:
            return await self._run(BATCHES_PER_PASS)
        except EzraError as error:
            log.warning("facts wait for their vectors: %s", error)
            return 0

    async def run_to_end(self) -> int:
        """Embed all facts that have no vector yet and return how many.

        Raises:
            EzraError: The embedder or the cold tier failed; what was stored stays.
        """
        return await self._run(BATCHES_MAX)

    async def ensure(
        self, dimensions: int, progress: Callable[[str, str], None] | None = None
    ) -> str:
        """Make or check the cold tier's index, fill it, and return how facts are now recalled.

        Raises:
            EzraError: As ``ArchivalVectors.ensure_vector_index`` does, and as ``run_to_end``.
        """
        await self.vectors.ensure_vector_index(dimensions, update=True, progress=progress)
        await self.run_to_end()
        return self.vectors.archival

    async def _run(self, batches: int) -> int:
        done = 0
        before: tuple[RecordRef, ...] = ()
        for _ in range(batches):
            embedder = self.index.serving.embedder
            if embedder is None or embedder.dimensions != self.vectors.vector_length:
                break
            refs = await self.vectors.facts_without_vectors(
                self.tenant, embedder.model_id, FACTS_PER_BATCH
            )
            if refs == before:
                break  # nobody can read them, so they stay without a vector
            before = refs
            for scope, ids in by_owner(self.tenant, refs).items():
                await self._embed(scope, ids, embedder)
            done += len(refs)
            if len(refs) < FACTS_PER_BATCH:
                break
        return done

    async def _embed(self, scope: Scope, ids: list[str], embedder: Embedder) -> None:
        entries = await self.records.entries(scope, ids)
        vectors = await vectors_of((entry.text for entry in entries), embedder)
        await self.vectors.store_vectors(scope, with_vectors(entries, vectors), embedder.model_id)
