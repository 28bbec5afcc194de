"""Step 2: refuse what an agent may not touch, then see how it stands and what its turn begins with.

The rules themselves are ``ezra/rights/policy.py``.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tiers.errors import NotFound, PolicyDenied
from tiers.ids import Clock
from tiers.records import AgentRecord, Scope, Standing
from tiers.turn_io import Opening

from ..recaller import Degradation
from ..rights.membership import Membership
from ..rights.policy import scope_of, topics_for
from .fetch import Fetcher
from .routing import Admission, NamesOf, Request

if TYPE_CHECKING:
    from tiers.cold.stores import RecordLog, TurnDesk

RULE_LIMIT = 4


@dataclass(eq=False)
class TurnPolicy:
    """Lets turns in.

    Attributes:
        desk: What a turn begins with.
        membership: How the agent stands when the turn begins.
        fetcher: Knows which sources are open to whom.
        log: The audit feed, which has every denial.
        names: Returns the names of a graph's speakers.
        clock: Where the time comes from.
    """

    desk: TurnDesk
    membership: Membership
    fetcher: Fetcher
    log: RecordLog
    names: NamesOf
    clock: Clock

    async def admit(
        self,
        agent: AgentRecord,
        standing: Standing,
        request: Request,
        turn_id: str,
        degradation: Degradation,
    ) -> Admission:
        """Let a turn of an agent in as the agent stands now, which it may not have when it began.

        Raises:
            PolicyDenied: A topic or source is not the agent's; nothing was read.
            NotFound: The graph does not exist.
            Conflict: It is archived: no reply could be stored.
        """
        scope = scope_of(agent)
        topics = await self._decided(agent, scope, request)
        async with self._denials(scope):
            opening = await degradation.answer(
                "cold", "opening", self._opened(agent, scope, request), None
            )
        if opening is not None:
            standing = opening.standing
            if standing.agent is not None and standing.agent != agent:
                agent = standing.agent
                topics = await self._decided(agent, scope, request)
            scope = scope_of(agent, standing.lineage)
        return Admission(
            request,
            turn_id,
            agent,
            scope,
            standing,
            degradation,
            topics,
            opening,
            await self.names(scope),
            None if opening is None else opening.repeats,
        )

    async def rehearse(
        self, standing: Standing, request: Request, degradation: Degradation
    ) -> Admission:
        """Let in what is no turn: nothing is refused and no sign of life is noted.

        Raises:
            NotFound: There is no such agent.
        """
        agent = standing.agent
        if agent is None:
            raise NotFound("agent", request.speaker)
        scope = scope_of(agent, standing.lineage)
        begun = Admission(request, "", agent, scope, standing, degradation, is_rehearsal=True)
        call = self.desk.opening(scope, lambda _: scope, request.input, RULE_LIMIT)
        opening = await degradation.answer("cold", "opening", call, None)
        return replace(begun, opening=opening, names=await self.names(scope))

    async def _decided(self, agent: AgentRecord, scope: Scope, request: Request) -> tuple[str, ...]:
        """Return a turn's topics, by the topics and sources of the agent alone."""
        async with self._denials(scope):
            topics = topics_for(agent, request.topics, "speak")
        if request.mesh is not None:
            await self.fetcher.check(agent, scope, request.mesh)
        return topics

    async def _opened(self, agent: AgentRecord, scope: Scope, request: Request) -> Opening:
        """Read how the agent stands, and as far as it may see, what a turn begins with."""

        def asker(standing: Standing) -> Scope:
            member = standing.agent or agent
            topics_for(member, request.topics, "speak")
            return scope_of(member, standing.lineage)

        found = await self.desk.opening(scope, asker, request.input, RULE_LIMIT, request.ref)
        if found is None:
            raise NotFound("session graph", scope.graph_id)
        self.membership.check_open(found.standing)
        return found._replace(standing=await self.membership.seen(agent, found.standing))

    @asynccontextmanager
    async def _denials(self, scope: Scope) -> AsyncIterator[None]:
        """Tell the audit feed of a denial inside the block, which goes through."""
        try:
            yield
        except PolicyDenied as denial:
            await self.log.append_audit(scope, "denied", (), str(denial), self.clock())
            raise
