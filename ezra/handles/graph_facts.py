"""The part of a graph's handle that changes single facts for a person who looks at them.

For those who run a graph: shared facts of every agent, user and topic, each change with its reason.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from metaagents.learning.moves import move
from metaagents.learning.rules import may_be_core
from tiers.errors import Conflict, UsageError
from tiers.learning import is_live
from tiers.records import Fact, FactTier, Scope, Text

from ..checks import check_text, checked
from ..operations import Reason, operation
from ..rights.metering import charge_of_write
from ..runtime import Runtime
from .remembering import forget, missing, place_to_correct, store

_REASON = "why; it is kept in the audit feed"


class FactsOfGraph:
    """Forgetting, correcting, promoting and demoting facts as the graph's operator."""

    _runtime: Runtime
    _scope: Scope

    @operation("POST", "/facts/{fact_id}/forget", changes=True, repeats=False)
    async def forget(self, fact_id: str, *, reason: Reason) -> bool:
        """Forget a shared fact; ``False`` when nothing finds it any more.

        As ``agent.forget`` does, with all shared facts that say the same for the same user, or said
        so once: in no search and no context from now on. ``redact`` destroys the content at once.

        Args:
            fact_id: A fact of this graph that is not private.
            reason: Why; kept in the audit feed.

        Raises:
            NotFound: The graph has no such fact, or it is private.
            UsageError: The reason is blank.
            BudgetExceeded: The graph has no write left.
        """
        standing = await self._runtime.membership.of_graph(self._scope)
        async with self._runtime.meter.write(self._scope, standing) as charge:
            done = await forget(self._runtime, self._scope, fact_id, reason)
            charge.is_void = not done
        return done

    @operation("POST", "/facts/{fact_id}/correct", changes=True, repeats=False)
    async def correct(
        self,
        fact_id: str,
        *,
        reason: Reason,
        text: Text | None = None,
        subject: Text | None = None,
        predicate: Text | None = None,
        object: Text | None = None,  # noqa: A002 - the third of a triple is called that
    ) -> str:
        """Put a statement in the place of a shared fact; return the id of the fact that says it.

        It has the user, topics, tier and type of the former one, and is of the same time: what is
        put right of the past is no news. The former one gives way to it, as do all shared facts
        that say the same for the same user; they stay in history. The words count as a user's.

        Args:
            fact_id: A live fact of this graph that is not private.
            reason: Why; kept in the audit feed.
            text: What is right; made of the three below if not given.
            subject: Of the right statement, where it is one in three parts.
            predicate: Of it.
            object: Of it.

        Raises:
            NotFound: The graph has no such fact, or it is private.
            Conflict: It has ended, or the graph is archived.
            UsageError: The reason is blank, or it says what the fact says already.
            BudgetExceeded: The graph has no write left.
            WriteRefused: The write guard keeps the words out of memory.
        """
        words = {"text": text, "subject": subject, "predicate": predicate, "object": object}
        return await self._corrected(await self._live(fact_id, reason), reason, words)

    @operation("POST", "/facts/{fact_id}/promote", changes=True, repeats=False)
    async def promote(self, fact_id: str, *, reason: Reason) -> bool:
        """Make a shared archival fact core: it is in every context, and inherited.

        It may leave core again when there are more core facts than ``core_cap``. ``False`` when it
        is core already.

        Args:
            fact_id: A live fact of this graph that is not private.
            reason: Why; kept in the audit feed.

        Raises:
            NotFound: The graph has no such fact, or it is private.
            Conflict: It has ended, or the graph is archived.
            UsageError: The reason is blank, an agent alone says it (``correct`` makes it a user's
                words), or it is read by its address alone.
        """
        return await self._move(fact_id, "core", reason)

    @operation("POST", "/facts/{fact_id}/demote", changes=True, repeats=False)
    async def demote(self, fact_id: str, *, reason: Reason) -> bool:
        """Make a shared core fact archival: only recall finds it; ``False`` when it is already.

        It becomes core again when enough further turns have used it.

        Args:
            fact_id: A live fact of this graph that is not private.
            reason: Why; kept in the audit feed.

        Raises:
            NotFound: The graph has no such fact, or it is private.
            Conflict: It has ended, or the graph is archived.
            UsageError: The reason is blank.
        """
        return await self._move(fact_id, "archival", reason)

    async def _corrected(self, former: Fact, reason: str, words: Mapping[str, str | None]) -> str:
        said: dict[str, Any] = {name: one for name, one in words.items() if one is not None}
        stays = ("tier", "fact_type", "valid_from", "valid_to")
        right = checked(Fact, **said, **{name: getattr(former, name) for name in stays})
        if all(getattr(right, name) == getattr(former, name) for name in words):
            raise UsageError("text", right.text, "other words than the fact has")
        scope = self._scope.model_copy(update={"user_id": former.user_id})
        standing = await self._runtime.membership.of_graph(self._scope)
        new_id, _ = await store(
            self._runtime,
            scope,
            right,
            former.topics,
            private=False,
            place={"corrects": former.id, "why": reason},
            taken=await place_to_correct(self._runtime, self._scope, former.id, reason),
            charge=charge_of_write(standing),
        )
        return new_id

    async def _move(self, fact_id: str, tier: FactTier, reason: str) -> bool:
        fact = await self._live(fact_id, reason)
        standing = await self._runtime.membership.of_graph(self._scope)
        self._runtime.membership.check_open(standing)
        if fact.tier == tier:
            return False
        if tier == "core" and not may_be_core(fact):
            accepted = "a fact that a user or a tool has said, and that recall finds"
            raise UsageError("fact_id", fact_id, accepted)
        done = await move(
            self._runtime.semantic, self._scope, fact, tier, reason, self._runtime.clock()
        )
        self._runtime.wake_learning()
        return done

    async def _live(self, fact_id: str, reason: str) -> Fact:
        """Return a shared fact of the own graph that has not ended.

        Raises:
            NotFound: There is none of that id.
            Conflict: It has ended.
            UsageError: The reason is blank.
        """
        check_text("reason", reason, _REASON)
        found = await self._runtime.semantic.facts(self._scope, [fact_id])
        if not found:
            raise await missing(self._runtime, self._scope, "fact", fact_id)
        if not is_live(found[0]):
            raise Conflict(f"fact {fact_id}", "one that has not ended", "one that has")
        return found[0]
