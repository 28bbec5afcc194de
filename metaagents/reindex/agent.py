"""The re-embedding agent: brings the generation that is being built up to every record.

It walks over the cold tier in a stable order and saves its place after each batch, so that a
process that dies loses one batch at most. What is stored meanwhile comes through the queue and
``SwitchingIndex`` like every write; the walk need not find it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from tiers.errors import ConfigError, EzraError, TierError, TierUnavailable, UsageError
from tiers.ports import Vector, WarmStore
from tiers.records import IndexEntry, Scope

from ..work import retry_seconds
from .generations import Building, OpenGenerations
from .rules import Reembedding, by_owner, indexable, started
from .vectors import vectors_of, with_vectors

if TYPE_CHECKING:
    from tiers.cold.stores import ColdUpkeep, Lease, LeaseStore, LexicalIndex

log = logging.getLogger(__name__)

BATCH_RECORDS = 64
BATCHES_PER_PASS = 16
BATCHES_MAX = 10_000_000
ROUNDS_MAX = 5
LEASE_NAME = "re-embedding"
LEASE_SECONDS = 120.0


@dataclass
class ReembedReport:
    """What a call to the re-embedding agent did.

    Attributes:
        records: Records walked over.
        words_only: Of these, how many texts the model refuses: they are found by their words.
        refused: Of these, how many records the index refuses: they are found in cold only.
        completed: Whether the generation was finished and now serves.
        dropped: Models whose index was removed because it is no longer needed.
        problems: Why it stopped early; the next call goes on where it stopped.
    """

    records: int = 0
    words_only: int = 0
    refused: int = 0
    completed: bool = False
    dropped: tuple[str | None, ...] = ()
    problems: list[str] = field(default_factory=list)


@dataclass(eq=False)
class Reembedder:
    """Builds a generation, one runtime at a time, and lets it serve when it is complete.

    Attributes:
        generations: What is open.
        upkeep: The walk over all records.
        records: Where the searchable form of a record comes from.
        leases: Who may build.
        owner: Names this runtime, and no other, in the lease.
        clock: Where the time comes from.
        batch_records: Records embedded and written between two saves of the place.
    """

    generations: OpenGenerations
    upkeep: ColdUpkeep
    records: LexicalIndex
    leases: LeaseStore
    owner: str
    clock: Callable[[], datetime]
    batch_records: int = BATCH_RECORDS
    _failures: int = field(default=0, init=False)
    _not_before: datetime | None = field(default=None, init=False)

    @property
    def progress(self) -> Reembedding | None:
        """How far re-embedding has come; ``None`` when there is nothing to do."""
        return self.generations.progress

    async def begin(self) -> None:
        """Do what opening must not leave to a later pass: count, finish if there is nothing.

        Generations that are no longer needed are dropped here; if that fails, later.
        """
        await self.generations.refresh()
        building = self.generations.building
        if building is None:
            try:
                await self.generations.drop_idle()
            except (TierError, ConfigError) as error:
                log.warning("an index that is no longer needed stays for now: %s", error)
            return
        if started(building.mark):
            return
        total = await self.upkeep.count_searchable(self.generations.tenant, self.clock())
        mark = building.mark.model_copy(update={"total": total, "marked_at": self.clock()})
        await self.generations.advance(mark)
        if total == 0:
            await self.generations.complete()

    async def run_pass(self) -> ReembedReport:
        """Build for a bounded number of batches, or notice that another runtime has; for the clock.

        Never raises for what fails: everything is as it was after the last batch, and a later
        pass, not at once when failures repeat, goes on from there.
        """
        waits = self._not_before is not None and self.clock() < self._not_before
        return await self._run(0 if waits else BATCHES_PER_PASS)

    async def run_to_end(self) -> ReembedReport:
        """Build until the generation serves, or until something fails; the report says which."""
        return await self._run(BATCHES_MAX)

    async def _run(self, batches: int) -> ReembedReport:
        report = ReembedReport()
        try:
            await self.generations.reopen()
            await self.generations.refresh()
            if batches and self.generations.building is not None:
                await self._build(batches, report)
            report.dropped = await self.generations.drop_idle()
        except EzraError as error:
            self._failures += 1
            self._not_before = self.clock() + timedelta(seconds=retry_seconds(self._failures))
            report.problems.append(f"{type(error).__name__}: {error}")
            log.warning("re-embedding stopped and goes on later: %s", error)
        else:
            if batches:
                self._failures, self._not_before = 0, None
        return report

    async def _build(self, batches: int, report: ReembedReport) -> None:
        lease = await self._lease()
        try:
            for _ in range(batches):
                if lease is None:
                    report.problems.append("another runtime is re-embedding")
                    return
                if await self._batch(report):
                    return
                lease = await self._lease()
        finally:
            if lease is not None:
                await self.leases.release(lease)

    async def _lease(self) -> Lease | None:
        name = f"{LEASE_NAME}/{self.generations.tenant}"
        return await self.leases.acquire(name, self.owner, LEASE_SECONDS, self.clock())

    async def _batch(self, report: ReembedReport) -> bool:
        """Index the next records and save the place; return whether there are no more."""
        building = self.generations.building
        if building is None:
            return True
        tenant, mark = self.generations.tenant, building.mark
        page = await self.upkeep.searchable_after(
            tenant, mark.cursor, self.batch_records, self.clock()
        )
        await self._fill(building, by_owner(tenant, page.rows), report)
        report.records += len(page.rows)
        come = {
            "cursor": page.cursor or mark.cursor,
            "done": mark.done + len(page.rows),
            "marked_at": self.clock(),
        }
        await self.generations.advance(mark.model_copy(update=come))
        if page.cursor is not None:
            return False
        await self.generations.complete()
        report.completed = True
        return True

    async def _fill(
        self, building: Building, waiting: dict[Scope, list[str]], report: ReembedReport
    ) -> None:
        """Index records as they are, also when they change meanwhile.

        Raises:
            TierUnavailable: Some changed again and again.
        """
        vectors: dict[str, Vector | None] = {}
        for _ in range(ROUNDS_MAX):
            texts = [
                entry.text
                for scope, ids in waiting.items()
                for entry in await self._read(scope, ids)
                if entry.text not in vectors
            ]
            vectors |= await vectors_of(texts, building.opened.embedder)
            put = {
                scope: await self._put(building, scope, ids, vectors, report)
                for scope, ids in waiting.items()
            }
            waiting = {scope: again for scope, again in put.items() if again}
            if not waiting:
                return
        changing = sum(len(ids) for ids in waiting.values())
        raise TierUnavailable("warm", "re-embed", f"{changing} records keep changing")

    async def _put(
        self,
        building: Building,
        scope: Scope,
        ids: Sequence[str],
        vectors: Mapping[str, Vector | None],
        report: ReembedReport,
    ) -> list[str]:
        """Write records as they are now and return the ids of those that have changed since.

        Read again while no other write can come in between: a record that was retired while its
        text was embedded must not come back. Another runtime's write can still come in between,
        so what was written is compared once more.
        """
        store = building.opened.store
        async with self.generations.writing:
            now = [entry for entry in await self._read(scope, ids) if entry.text in vectors]
            written = {entry.id: entry for entry in now}
            await store.delete(scope, [record_id for record_id in ids if record_id not in written])
            refused = await _upserted(store, scope, with_vectors(now, vectors))
        after = {entry.id: entry for entry in await self._read(scope, ids)}
        again = [record_id for record_id in ids if written.get(record_id) != after.get(record_id)]
        report.refused += refused
        if building.opened.embedder is not None:
            done = [entry for entry in now if entry.id not in again]
            report.words_only += sum(vectors[entry.text] is None for entry in done)
        return again

    async def _read(self, scope: Scope, ids: Sequence[str]) -> list[IndexEntry]:
        return indexable(await self.records.entries(scope, ids))


async def _upserted(store: WarmStore, scope: Scope, entries: Sequence[IndexEntry]) -> int:
    """Write entries and return how many the engine refuses; those stop no others."""
    try:
        await store.upsert(scope, entries)
    except UsageError:
        refused = 0
        for entry in entries:
            try:
                await store.upsert(scope, [entry])
            except UsageError as error:
                refused += 1
                log.warning("%s cannot be indexed: %s", entry.id, error)
        return refused
    return 0
