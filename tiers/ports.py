"""The ports that have several engines behind them. The docstrings are the specification.

What serves a whole index instead of one agent is in ``tiers.upkeep``. The cold tier's port is
narrower, ``tiers.cold.port``, and its stores, in ``tiers.cold.stores``, are written once over it.

Rules for all ports, and for those stores:

* ``scope`` comes first; the engine's own query carries it. Filtering after a top-k search is a bug.
* A method that stores is all or nothing. An empty batch is a no-op.
* ``work`` is queued in the same atomic write as the record that causes it.
* What agents write (turns, facts, rules, beliefs) is refused with ``Conflict`` in a graph that is
  archived; the state is looked at in the same atomic write.
* What is not there is ``None`` or an empty tuple. Errors are those of ``tiers.errors``.
* Time comes in as an argument (``now``); engine-side expiry is only a broom.
* Stores are async context managers; after exit every method raises ``TierUnavailable``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Protocol, TypeAlias, TypeVar, runtime_checkable

from pydantic import BaseModel

from .records import (
    Commitment,
    Hit,
    HotState,
    IndexEntry,
    Kind,
    MeshResult,
    Scope,
    SearchQuery,
    Turn,
)

Vector = tuple[float, ...]
Expired: TypeAlias = Mapping[str, tuple[str, ...]]
"""Entries that are gone, by id, each with what it was made of: a summary with its turns."""

M = TypeVar("M", bound=BaseModel)
"""What a language model is asked to answer with."""


class Embedder(Protocol):
    """Turns text into unit-length vectors without blocking the event loop."""

    @property
    def model_id(self) -> str:
        """Name and precision of the model; vectors of different models are never compared."""

    @property
    def dimensions(self) -> int:
        """Length of every vector."""

    async def embed(
        self, texts: Sequence[str], *, urgent: bool = False, query: bool = False
    ) -> tuple[Vector, ...]:
        """Return one vector per text, in order.

        Args:
            texts: Any number of texts; an empty one gets the vector of the empty string.
            urgent: Somebody waits for the answer: it goes before background batches.
            query: The texts are questions, to be compared with texts embedded without it. A
                symmetric model makes no difference; any other makes vectors that are of no use
                for comparing questions with each other.
        """


class HotStore(Protocol):
    """Per agent: a ring of the last turns, the pinned beliefs, and the latest mesh result.

    A cache: losing it loses nothing. It holds one view (user, topics, denied) of the agent: who
    writes under another empties it, who reads under another finds nothing; the runtime sees any
    view. What the scope may not see is a ``UsageError``. ``scope.agent_id`` names the ring and must
    be set (``UsageError`` otherwise). A ring takes stored turns (``seq`` from 1) of its own agent,
    and pins of its own graph; others are a ``UsageError``. Each method is one atomic round trip.
    """

    async def append(self, scope: Scope, turn: Turn, capacity: int) -> tuple[Turn, ...]:
        """Put ``turn`` into the ring and return what no longer fits, oldest first.

        The ring keeps the ``capacity`` highest ``seq``; a late turn below them is returned at
        once. Appending the same ``seq`` again replaces it and evicts nothing.
        """

    async def read(self, scope: Scope) -> HotState:
        """Return everything held for the agent; an unknown agent has an empty state."""

    async def restore(self, scope: Scope, turns: Sequence[Turn], capacity: int) -> None:
        """Fill the ring from cold, never replacing a turn that is already there."""

    async def pin(self, scope: Scope, belief: Commitment) -> None:
        """Keep ``belief`` at hand for the agent; pinning again replaces it."""

    async def unpin(self, scope: Scope, belief_id: str) -> None:
        """Stop keeping a belief; an unknown one is no error."""

    async def put_mesh(self, scope: Scope, result: MeshResult) -> None:
        """Keep the latest mesh result, replacing the one before."""

    async def clear(self, scope: Scope) -> None:
        """Forget everything held for the agent."""


class WarmStore(Protocol):
    """A hybrid (dense and BM25) index over turns, summaries, facts, rules, beliefs and episodes.

    Rebuildable from cold. Every search and every delete carries tenant, graph, topics, privacy,
    kind and expiry inside the engine.
    """

    async def upsert(self, scope: Scope, entries: Sequence[IndexEntry]) -> None:
        """Write entries under their ids; the owner fields are taken from each entry.

        An entry whose tenant or graph is not the scope's is refused (``UsageError``) and nothing
        is written.
        """

    async def search(self, scope: Scope, query: SearchQuery) -> tuple[Hit, ...]:
        """Return the best visible entries, fused in the engine, best first, ties by id.

        The scope's own graph is searched, or with ``query.inherited`` its ancestors instead: of
        each the shared, visible entries of the kinds that it carries, recorded by the moment as
        of which it is read, of facts the archival ones. Without ``query.vector`` the lexical leg
        answers alone. Blank text and no vector give nothing.
        """

    async def delete(self, scope: Scope, ids: Sequence[str]) -> None:
        """Remove entries of the scope's tenant and graph by id; unknown ids are no error."""

    async def delete_expired(self, scope: Scope, now: datetime) -> Expired:
        """Remove entries of the scope's graph with ``expires_at <= now``; return which."""

    async def count(self, scope: Scope, kind: Kind | None = None) -> int:
        """Return how many entries the scope's graph holds, expired ones included."""

    async def flush(self) -> None:
        """Bound what must be replayed after a crash. Durability does not depend on it."""


@runtime_checkable
class LanguageModel(Protocol):
    """A chat model."""

    @property
    def name(self) -> str:
        """Shown with every answer, so that a scripted or echo model is never mistaken for one."""

    async def complete(self, messages: Sequence[dict[str, str]]) -> str:
        """Return the model's answer to ``[{role, content}, …]``."""

    async def generate(self, messages: Sequence[dict[str, str]], schema: type[M]) -> M:
        """Return an answer that fits ``schema``, whole and checked, never a part of one.

        Raises:
            TierRejected: There is none after a bounded number of attempts.
            UsageError: No language model is configured.
        """


@runtime_checkable
class CountingModel(Protocol):
    """A chat model that says what an answer has used."""

    async def complete_counted(self, messages: Sequence[dict[str, str]]) -> tuple[str, int]:
        """Return the answer, as ``complete`` does, and the tokens read and written for it."""
