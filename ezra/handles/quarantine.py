"""What the write guard has put aside, for a person to look at: release it, or discard it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from tiers.cold.stores.facts import TakenPlace
from tiers.errors import Conflict, NotFound
from tiers.learning import is_live
from tiers.quarantine import HELD_PAGE_MAX, Held, Quarantined
from tiers.records import Commitment, Fact, Record, Rule, Scope, Standing

from ..beliefs.commit import believe
from ..checks import called, check_text
from ..documents import Documents
from ..documents.draft import Draft
from ..operations import PageOf100, Reason, operation
from ..rights.access import Access
from ..rights.policy import scope_of
from ..runtime import Runtime
from .remembering import place_of, place_to_correct, refine, replace_former, store

_MODELS: Mapping[Held, type[Record]] = MappingProxyType(
    {"fact": Fact, "rule": Rule, "belief": Commitment, "document": Draft}
)


class QuarantineReview:
    """The texts that a session graph has put aside, whoever wrote them, as its operator sees them.

    They are in no recall, no context and no summary, and nothing is learnt from them.
    """

    def __init__(self, runtime: Runtime, scope: Scope) -> None:
        self._runtime = runtime
        self._scope = scope

    @operation("GET")
    async def list(
        self, *, after: str = "", limit: PageOf100 = HELD_PAGE_MAX
    ) -> tuple[Quarantined, ...]:
        """Return the texts that wait for a decision, the oldest first.

        Args:
            after: Behind the text of this id: the last of the page before.
            limit: How many, 1 to 100.

        Raises:
            UsageError: ``limit`` is out of range.
        """
        waiting = self._runtime.quarantine.in_quarantine
        with called(behind="after"):
            return await waiting(self._scope, behind=after, limit=limit)

    @operation("POST", "/{text_id}/release", changes=True, repeats=False)
    async def release(self, text_id: str, *, reason: Reason) -> str:
        """Store a text after all, as its writer meant it; return the id of what it became.

        What it was to take the place of gives way to it, where that still stands. The same text of
        the same writer passes the guard from then on. A call that was cut off may be repeated.

        Args:
            text_id: A text that waits.
            reason: Why; kept in the audit feed.

        Raises:
            NotFound: There is none of that id, or the playbook whose steps it has is gone.
            Conflict: It was decided about before, or the graph is archived.
            UsageError: The reason is blank.
        """
        waiting = await self._waiting(text_id, reason)
        released_id = await self._stored(waiting)
        await self._runtime.quarantine.decide(
            self._scope, text_id, "released", reason, self._runtime.clock(), released_id=released_id
        )
        self._runtime.wake_learning()
        return released_id

    @operation("POST", "/{text_id}/discard", changes=True, repeats=False)
    async def discard(self, text_id: str, *, reason: Reason) -> bool:
        """Throw a text away: its content is destroyed, what was found in it stays on record.

        ``False`` when it was decided about before.

        Args:
            text_id: A text that waits.
            reason: Why; kept in the audit feed.

        Raises:
            NotFound: There is none of that id.
            UsageError: The reason is blank.
        """
        now = self._runtime.clock()
        return await self._runtime.quarantine.decide(self._scope, text_id, "discarded", reason, now)

    async def _waiting(self, text_id: str, reason: str) -> Quarantined:
        check_text("reason", reason, "why; it is kept in the audit feed")
        found = await self._runtime.quarantine.quarantined(self._scope, [text_id])
        if not found:
            raise NotFound("quarantined text", text_id)
        if found[0].state != "held" or found[0].redacted_at is not None:
            state = found[0].state if found[0].state != "held" else "redacted"
            raise Conflict("quarantined text", "one that waits for a decision", state)
        return found[0]

    async def _stored(self, held: Quarantined) -> str:
        """Store what was put aside in the scope of its writer, past the guard."""
        record = _MODELS[held.held].model_validate(held.payload["record"])
        scope, standing = await self._of_writer(held)
        if isinstance(record, Draft):
            access = _ReleaseAccess(scope, standing, held.topics)
            revised = await Documents(self._runtime, access.access, is_released=True).store(
                record,
                machine=str(held.payload["machine"]),
                private=held.private,
                even_if_redacted=bool(held.payload["even_if_redacted"]),
            )
            return revised.document.id
        if isinstance(record, Commitment):
            return (await believe(self._runtime, scope, standing, record)).id
        if not isinstance(record, Fact | Rule):  # pragma: no cover - the table has no other
            raise TypeError(held.held)
        refined = held.payload.get("refines")
        if isinstance(record, Rule) and refined is not None:
            arguments = (self._runtime, scope, record, refined, held.topics, held.source)
            return (await refine(*arguments, is_released=True))[0]
        named = held.payload.get("record_id")
        stored_id, was_new = await store(
            self._runtime,
            scope,
            record,
            held.topics,
            private=held.private,
            record_id=None if named is None else str(named),
            source=held.source,
            is_released=True,
            taken=await self._place(held, scope),
            restates=bool(held.payload.get("replaces")),
        )
        if held.payload.get("replaces"):
            await replace_former(self._runtime, scope, stored_id, was_new=was_new)
        return stored_id

    async def _place(self, held: Quarantined, scope: Scope) -> TakenPlace | None:
        """Return the place that its writer meant a fact to take, if what has it stands."""
        runtime, meant = self._runtime, held.payload
        former = str(meant.get("supersedes") or meant.get("corrects") or "")
        found = await runtime.semantic.facts(scope, [former]) if former else ()
        if not any(map(is_live, found)):
            return None
        if meant.get("supersedes"):
            return place_of(former, scope)
        return await place_to_correct(runtime, self._scope, former, str(meant["why"]))

    async def _of_writer(self, held: Quarantined) -> tuple[Scope, Standing]:
        """Return the scope of who wrote a text as it stands, for the user whose it was."""
        graph = self._runtime.membership.of_graph
        if not held.agent_id:  # an operator's, about somebody where it corrects what is theirs
            scope = self._scope.model_copy(update={"user_id": held.user_id})
            return scope, await graph(self._scope)
        standing = await graph(self._scope.for_agent(held.agent_id))
        if standing.agent is None:
            raise NotFound("agent", held.agent_id)
        scope = scope_of(standing.agent, standing.lineage)
        return scope.model_copy(update={"user_id": held.user_id}), standing


class _ReleaseAccess:
    """Writes in the scope of who wrote a text, with its topics."""

    def __init__(self, scope: Scope, standing: Standing, topics: tuple[str, ...]) -> None:
        self._scope = scope
        self._standing = standing
        self._topics = topics

    @property
    def access(self) -> Access:
        return Access(self._reading, self._writing, self._standing_now)

    async def _reading(self) -> Scope:
        return self._scope

    async def _writing(self, _: Sequence[str] | None, __: str) -> tuple[Scope, tuple[str, ...]]:
        return self._scope, self._topics

    def _standing_now(self) -> Standing:
        return self._standing


class QuarantineOfGraph:
    """The part of a graph's handle that has its quarantine."""

    _runtime: Runtime
    _scope: Scope

    @property
    def quarantine(self) -> QuarantineReview:
        """What the write guard has put aside: to look at, release or discard."""
        return QuarantineReview(self._runtime, self._scope)
