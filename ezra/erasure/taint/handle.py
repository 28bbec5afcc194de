"""The handle for those who find and remove what came of a poisoned record: ``graph.taint``."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, TypeAlias

from pydantic import Field

from tiers.errors import PolicyDenied
from tiers.records import Scope
from tiers.taint import RollBack

from ...operations import Reason, operation
from ...runtime import Runtime
from .rolling_back import RollBackReport, confirm, roll_back, undo
from .tracing import PAGE_MAX, Trace, trace

_Page: TypeAlias = Annotated[int, Field(ge=1, le=PAGE_MAX)]
_Place: TypeAlias = Annotated[int, Field(ge=0)]


class Taint:
    """What came of records of one graph, and roll-backs. Made by ``graph.taint``.

    It sees every agent's and every user's records: it is for those who run a fleet.

    Args:
        runtime: Of the runtime.
        scope: Of the whole graph.
        reads_others: Whether it follows records into other graphs.
    """

    def __init__(self, runtime: Runtime, scope: Scope, *, reads_others: bool = True) -> None:
        self._runtime = runtime
        self._scope = scope
        self._reads_others = reads_others

    @operation("GET", "/records/{record_id}")
    async def trace(self, record_id: str, *, limit: _Page = 200, after: _Place = 0) -> Trace:
        """Return what came of a record: the tree, page by page, and who wrote what it rests on.

        Each record of the tree is *derived* (it names a tainted record as its source, or was
        believed in a tainted turn) or *exposed* (it came of a context that showed one). Graphs
        that inherit, and branches, are looked through too, but for a token that is bound to this
        graph. Changes nothing.

        Args:
            record_id: A turn, summary, episode, fact, rule, belief, document, passage or card of
                this graph.
            limit: 1 to 1,000 records of the tree.
            after: The ``cursor`` of the page before; 0 begins.

        Raises:
            NotFound: It is no such record of this graph.
            UsageError: A number is out of range.
        """
        return await trace(
            self._runtime,
            self._scope,
            record_id,
            limit=limit,
            after=after,
            reads_others=self._reads_others,
        )

    @operation("POST", "/roll-backs", changes=True)
    async def roll_back(
        self, record_id: str, *, reason: Reason, dry_run: bool = False, exposed: bool = False
    ) -> RollBackReport:
        """Take back everything that is derived from a record, itself included.

        Turns, facts, rules, documents, passages and cards are set aside: no recall and no context
        has them, and their content is kept until somebody confirms. Beliefs are reverted, with
        their events. Summaries and episodes get a new text, made of what is left of their sources,
        or are set aside. What beliefs and facts had taken the place of stands again. Receipts stay.

        All of it is one step of the cold tier, done or not done. Repeated while the roll-back is
        open, it takes in what has come of the record since.

        Args:
            record_id: As of ``trace``.
            reason: Why; must not be blank.
            dry_run: Only say what would be done.
            exposed: Roll back what was only exposed as well.

        Raises:
            NotFound: It is no such record of this graph.
            UsageError: The reason is blank, or more than 5,000 records came of it.
            Conflict: Neither it nor anything that came of it has its content.
        """
        report = await roll_back(
            self._runtime,
            self._scope,
            record_id,
            reason,
            dry_run=dry_run,
            exposed=exposed,
            reads_others=self._reads_others,
        )
        return replace(report, roll_back=self._within_sight(report.roll_back))

    @operation("POST", "/roll-backs/{roll_back_id}/undo", changes=True)
    async def undo(self, roll_back_id: str, *, reason: Reason) -> RollBackReport:
        """Bring back what an open roll-back took: everything is as it was before.

        What cannot come back is named in ``roll_back.kept``: it was erased since, or the same was
        said anew, or another belief has its key. Repeating changes nothing.

        Raises:
            NotFound: This graph has no such roll-back.
            Conflict: It was confirmed.
            UsageError: The reason is blank.
            PolicyDenied: It changed other graphs too, and the token is bound to this one.
        """
        await self._check_reach(roll_back_id, "undo")
        return await undo(self._runtime, self._scope, roll_back_id, reason)

    @operation("POST", "/roll-backs/{roll_back_id}/confirm", changes=True)
    async def confirm(self, roll_back_id: str, *, reason: Reason) -> RollBackReport:
        """Make a roll-back final: the content that it keeps is destroyed. Repeating is harmless.

        Receipts stay, and so do the belief log and the rows that others name.

        Raises:
            NotFound: This graph has no such roll-back.
            Conflict: It was undone.
            UsageError: The reason is blank.
            PolicyDenied: It changes other graphs too, and the token is bound to this one.
        """
        await self._check_reach(roll_back_id, "confirm")
        return await confirm(self._runtime, self._scope, roll_back_id, reason)

    @operation("GET", "/roll-backs")
    async def roll_backs(self) -> tuple[RollBack, ...]:
        """Return the roll-backs of this graph's records, the latest first, at most 1,000.

        A token that is bound to this graph is told what they changed here.
        """
        return tuple(map(self._within_sight, await self._runtime.taint.roll_backs(self._scope)))

    def _within_sight(self, one: RollBack) -> RollBack:
        """Return a roll-back with what it changed where whoever asks may look."""
        if self._reads_others:
            return one
        items = tuple(item for item in one.items if item.graph_id == self._scope.graph_id)
        return one.model_copy(update={"items": items})

    async def _check_reach(self, roll_back_id: str, action: str) -> None:
        """Refuse a roll-back of other graphs' records to who may not look into them."""
        if self._reads_others:
            return
        for one in await self._runtime.taint.roll_backs(self._scope):
            if one.id == roll_back_id and {*one.graph_ids} - {self._scope.graph_id}:
                held = f"the graph {self._scope.graph_id}"
                who = "a token for one graph"
                raise PolicyDenied(who, f"{action} {roll_back_id}", ("every graph",), held)
