"""The part of a graph's handle that tells what was said, what was shown, and what happened.

For those who run and audit: turns and receipts of every agent, private ones included.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, TypeAlias

from pydantic import Field

from tiers.errors import NotFound, UsageError, check_within
from tiers.previews import with_previews
from tiers.records import AuditEvent, AuditFilter, Receipt, Scope, Turn

from ..checks import checked_ids
from ..erasure.taint.handle import Taint
from ..operations import EventsPage, Ids, Named, operation
from ..receipts.lookup import TURN_IDS_MAX, receipts_of
from ..receipts.readings import PAGE_MAX, Readings, readings_of
from ..receipts.rebuilding import ReplayedContext, rebuild
from ..runtime import Runtime

TURNS_MAX = 1_000
_TurnSeq: TypeAlias = Annotated[int, Field(ge=1)]
_Page: TypeAlias = Annotated[int, Field(ge=1, le=TURNS_MAX)]
_ReadingsPage: TypeAlias = Annotated[int, Field(ge=1, le=PAGE_MAX)]


class GraphPast:
    """What was said in a graph, what its agents were shown, and its audit feed."""

    _runtime: Runtime
    _scope: Scope
    _reads_others: bool
    """Whether it follows records into graphs that inherit from this one, or were branched off."""

    @property
    def taint(self) -> Taint:
        """What came of a poisoned record of the graph, and rolling that back."""
        return Taint(self._runtime, self._scope, reads_others=self._reads_others)

    @operation("GET", "/agents/{agent_id}/turns")
    async def turns(
        self, agent_id: Named, *, before: _TurnSeq | None = None, limit: _Page = 50
    ) -> tuple[Turn, ...]:
        """Return turns of a member, the last one first; what was redacted is there without words.

        Long outputs of tools are previews: the agent reads them whole by the key that they name.

        Args:
            agent_id: The member.
            before: The ``seq`` of the last turn of the page before; the end if not given.
            limit: 1 to 1,000.

        Raises:
            UsageError: A number is out of range.
        """
        check_within("limit", limit, 1, TURNS_MAX)
        if before is not None and before < 1:
            raise UsageError("before", before, "the seq of a turn, from 1")
        scope = self._scope.for_agent(agent_id)
        if before is None:
            last = await self._runtime.turns.recent_turns(scope, 1)
            before = last[0].seq + 1 if last else 1
        # A member's turns count without gaps, so that the page is where it must be.
        since = max(0, before - 1 - limit)
        if before - 1 == since:
            return ()
        page = await self._runtime.turns.turns_after(scope, since, before - 1 - since)
        return tuple(with_previews(one) for one in reversed(page) if one.seq < before)

    @operation("POST", "/turns/lookup")
    async def turns_by_ref(self, refs: Ids) -> dict[str, Turn]:
        """Return the stored turns among ``refs``, by ``ref``."""
        return await self._runtime.turns.known_refs(self._scope, checked_ids("refs", refs))

    @operation("GET", "/receipts/{receipt_id}")
    async def receipt(self, receipt_id: str) -> Receipt:
        """Return what a turn saw.

        Raises:
            NotFound: The graph has no such receipt.
        """
        found = await self._runtime.log.receipt(self._scope, receipt_id)
        if found is None:
            raise NotFound("receipt", receipt_id)
        return found

    @operation("POST", "/receipts/lookup")
    async def receipts_of(
        self, turn_ids: Annotated[Sequence[str], Field(max_length=TURN_IDS_MAX)]
    ) -> dict[str, Receipt]:
        """Return what turns saw, by turn; those without a receipt are left out.

        A receipt is looked for among those made soon after its turn was opened: it is not found
        behind 2,000 others.

        Args:
            turn_ids: At most 100; the nearer to each other in time the cheaper.

        Raises:
            UsageError: There are more.
        """
        return await receipts_of(self._runtime, self._scope, turn_ids)

    @operation("GET", "/records/{record_id}/readings")
    async def readings(self, record_id: str, *, limit: _ReadingsPage = 100) -> Readings:
        """Return who was shown a record, when, and in which context or recall; the last first.

        Told by receipts: of this graph, and of those that inherit from it. A turn that was shown
        something that was only made of the record is not among them: ``taint.trace`` has those.

        Args:
            record_id: A turn, summary, episode, fact, rule, belief, document, passage or card.
            limit: 1 to 1,000.

        Raises:
            NotFound: It is no such record of this graph.
            UsageError: The limit is out of range.
        """
        return await readings_of(
            self._runtime, self._scope, record_id, limit=limit, reads_others=self._reads_others
        )

    @operation("GET", "/receipts/{receipt_id}/replay")
    async def replay_context(self, receipt_id: str, *, today: bool = False) -> ReplayedContext:
        """Return what a turn or recall was given, byte for byte, whatever was written since.

        With ``today``, also how the same input would be answered now. Nothing is written.

        Raises:
            NotFound: The graph has no such receipt.
        """
        found = await self.receipt(receipt_id)
        return await rebuild(self._runtime, self._scope, found, today=today)

    @operation("GET", "/audit")
    async def audit(
        self, after: int = 0, limit: EventsPage = 1000, *, only: AuditFilter | None = None
    ) -> tuple[AuditEvent, ...]:
        """Return the graph's audit feed after a ``seq``: ids and reasons, never content.

        Args:
            after: The ``seq`` of the last event of the page before; 0 begins.
            limit: 1 to 10,000.
            only: Which events; all if not given. With ``before`` the last ones come first.
        """
        return await self._runtime.log.audit(self._scope, after, limit, only)
