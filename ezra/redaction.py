"""Redaction on request: content destroyed in every store; rows, coverage and the feed stay.

The cold tier comes first, since everything else is made from it. Then what is quick to answer from:
the rings, which refill from cold, and the warm index. At last what was made of the records and of
others as well gets a new text, from the others alone. A crash or a tier that is away leaves
nothing that repeating the call does not finish.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from metaagents.lifecycle.agent import REDACTED_MEANWHILE
from tiers.errors import ConfigError, TierError
from tiers.records import AuditFilter, Scope
from tiers.upkeep import Redacted

from .parts import Parts

EVENTS_PER_PAGE = 1_000
RECORDS_PER_PAGE = 500


@dataclass(frozen=True)
class RedactionReport:
    """What a redaction reached.

    Attributes:
        ids: What lost its content, by kind: the asked records, what was made of them, and under
            ``receipt`` the receipts that named them.
        rewritten: Summaries and episodes that have a new text, made of what is left.
        cleaned: What was cleaned in each store: records and receipts in ``cold``, entries in
            ``warm``, the rings of agents in ``hot``.
        waiting: Stores that are not clean yet, each with the reason and what will clean it.
    """

    ids: dict[str, tuple[str, ...]]
    rewritten: tuple[str, ...]
    cleaned: dict[str, tuple[str, ...]]
    waiting: dict[str, str]


async def redact(
    parts: Parts, scope: Scope, record_ids: Sequence[str], reason: str
) -> RedactionReport:
    """Destroy the content of records of the scope's graph, and of all that was made of them.

    May be repeated: what is clean stays as it is, what is not is cleaned.

    Raises:
        NotFound: One of the ids is no record of the graph that could be redacted.
        UsageError: The reason is blank, there are too many ids, or one is a belief's.
        TierError: The cold tier failed. On one without transactions, repeating the call finishes
            what was begun.
    """
    reached = await parts.redactor.redact(scope, record_ids, reason, parts.clock())
    return await _Cleaning(parts, scope, reached).carried_out()


class _Cleaning:
    """What follows when the cold tier has destroyed its content."""

    def __init__(self, parts: Parts, scope: Scope, reached: Redacted) -> None:
        self._parts = parts
        self._redactor = parts.redactor
        self._scope = scope
        self._reached = reached
        self._cleaned: dict[str, tuple[str, ...]] = {}
        self._waiting: dict[str, str] = {}

    async def carried_out(self) -> RedactionReport:
        """Clean the other stores, write anew what can be, and say how far that came."""
        receipts = self._reached.ids.get("receipt", ())
        self._cleaned["cold"] = (*self._reached.all_ids, *receipts)
        await self._clear_rings()
        await self._clear_index()
        rewritten = await self._rewrite()
        # A turn that was under way may have put back meanwhile what it had read before.
        await self._clear_rings()
        self._parts.wake_learning()
        return RedactionReport(self._reached.ids, rewritten, self._cleaned, self._waiting)

    async def _clear_rings(self) -> None:
        """Clear the rings of those who said one of the turns."""
        self._waiting.pop("hot", None)
        cleared: list[str] = []
        try:
            for agent_id in await self._speakers():
                await self._parts.hot.clear(self._scope.for_graph().for_agent(agent_id))
                cleared.append(agent_id)
        except TierError as error:
            self._waiting["hot"] = (
                f"{error}; repeating the call clears the rings; else later turns push the turns "
                "out of them, or they expire"
            )
        self._cleaned["hot"] = tuple(cleared)

    async def _clear_index(self) -> None:
        ids = self._reached.all_ids
        self._cleaned["warm"] = ()
        try:
            await self._parts.warm.delete(self._scope, ids)
        except (TierError, ConfigError) as error:
            self._waiting["warm"] = f"{error}; the queued index work removes the entries"
        else:
            self._cleaned["warm"] = ids

    async def _rewrite(self) -> tuple[str, ...]:
        try:
            leave = await self._asked_for()
            return await self._parts.lifecycle.rewrite(
                self._scope, self._reached, self._redactor, leave=leave
            )
        except (TierError, ConfigError) as error:
            self._waiting["cold"] = (
                f"{error}; nothing is left of the content, and repeating the call gives summaries "
                "and episodes a new text"
            )
            return ()

    async def _speakers(self) -> Iterable[str]:
        """Return the agents whose turns lost their content, whoever may see the turns."""
        turn_ids = self._reached.ids.get("turn", ())
        speakers: dict[str, None] = {}
        for start in range(0, len(turn_ids), RECORDS_PER_PAGE):
            page = turn_ids[start : start + RECORDS_PER_PAGE]
            for turn in await self._redactor.redacted(self._scope, page):
                speakers.setdefault(turn.agent_id)
        return speakers

    async def _asked_for(self) -> frozenset[str]:
        """Return the records that somebody ever named to be redacted: they get no new text.

        A summary that is redacted for what it says would say it again.
        """
        asked: set[str] = set()
        only, after = AuditFilter(kinds=("redacted",)), 0
        while True:
            events = await self._parts.log.audit(self._scope, after, EVENTS_PER_PAGE, only)
            for event in events:
                if event.reason != REDACTED_MEANWHILE:
                    asked.update(event.record_ids)
            if len(events) < EVENTS_PER_PAGE:
                return frozenset(asked)
            after = events[-1].seq
