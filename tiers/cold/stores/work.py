"""Durable work: one item per kind and key of a graph, waiting, claimed or parked."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from pydantic import Field, JsonValue

from ...drafts import index_work
from ...errors import UsageError
from ...fields import Moment, Record
from ...moments import microseconds
from ...records import Owned, Scope, Work, WorkDraft, WorkKind
from ..conditions import Condition, Is, Present
from ..ownership import WORK_KINDS, check_lease, check_limit
from ..port import Collection, Find, Index, Replace, Steps, counts, delete, every, one, write
from .questions import among, by_then, own
from .rows import joined_id, made, over
from .store_base import OverEngine, changing

PROBLEM_CHARS_MAX = 2_000


class Item(Record):
    """An item as it is kept.

    Attributes:
        made: Tells it from a later one of its kind and key; sorts in the order of queueing.
        due_at: When it may next be claimed; of a claimed one, when its lease ends.
        again_at: When it was asked for once more while it was claimed.
    """

    tenant: str
    graph_id: str
    agent_id: str | None = None
    kind: WorkKind
    key: str
    payload: dict[str, JsonValue] = Field(default_factory=dict)
    queued_at: Moment
    made: str = ""
    due_at: Moment
    again_at: Moment | None = None
    attempts: int = 0
    token: int = 0
    lease_owner: str | None = None
    parked: bool = False
    problem: str | None = None

    @property
    def id(self) -> str:
        """Its kind and key, unique in its graph."""
        return f"{self.kind}/{self.key}"

    @property
    def claim(self) -> str | None:
        """As what it is completed; ``None`` where it is not claimed, or is to run once more."""
        if self.lease_owner is None or self.again_at is not None:
            return None
        return _claim(self.made, self.token)


def _claim(made: str, token: int) -> str:
    return f"{made} {token}"


_OF_WORK = tuple(name for name in Work.model_fields if name in Item.model_fields)

Change = Callable[[Item], dict[str, object] | None]
"""Returns what changes of a claimed item; ``None``: it goes."""

WORK: Collection[Item] = Collection(
    "work",
    Item,
    fields={
        "kind": lambda item: item.kind,
        "parked": lambda item: int(item.parked),
        "made": lambda item: item.made,
        "due_at": lambda item: microseconds(item.due_at),
        "lease_owner": lambda item: item.lease_owner,
        "claim": lambda item: item.claim,
    },
    indexes={
        "kind": Index(("kind", "made"), where=(Is("parked", 0),), of="store"),
        "parked": Index(("made",), where=(Is("parked", 1),), of="store"),
        # With what items are counted by: few are not done yet, but each is written, and deleted.
        "queued": Index(("made", "graph_id", "id", "kind", "parked"), of="tenant"),
    },
)


class WorkQueue(OverEngine):
    """Durable work for the meta-agents: at least once, claimed by lease with a fencing token.

    The queue serves the runtime, not an agent: claims span graphs, and each item carries its
    scope. A runtime passes its ``tenant``; without one, every tenant's items are meant.
    """

    async def enqueue(self, scope: Scope, work: Sequence[WorkDraft], now: datetime) -> int:
        """Queue items and return how many are new.

        An item of the same kind and key that waits is not doubled but becomes due at once; one
        that is claimed runs once more after it is completed; one that is parked is tried anew.
        The latest payload counts.
        """
        if not work:
            return 0
        return await self._store.change("enqueue", lambda: queue_work(scope, work, now))

    @changing
    def claim(
        self,
        kinds: Sequence[WorkKind],
        owner: str,
        limit: int,
        lease_seconds: float,
        now: datetime,
        *,
        tenant: str | None = None,
        scope: Scope | None = None,
    ) -> Steps[tuple[Work, ...]]:
        """Claim due items, oldest first: never claimed, or with a lease that has run out.

        Items that wait for a retry or are parked are not due. ``tenant`` restricts to one tenant,
        ``scope`` to one graph. A claim is no attempt; an item whose lease had run out is marked
        ``was_lost``.
        """
        check_limit(limit)
        check_lease(owner, lease_seconds)
        unknown = [kind for kind in kinds if kind not in WORK_KINDS]
        if unknown:
            raise UsageError("kinds", unknown, ", ".join(WORK_KINDS))
        until = now + timedelta(seconds=lease_seconds)
        is_due = by_then("due_at", now)
        finds = (
            _find("kind", tenant, scope, Is("kind", kind), *is_due, limit=limit)
            for kind in dict.fromkeys(kinds)
        )
        due = sorted((yield from every(*finds)), key=lambda item: item.made)
        claimed = [_claimed(item, owner, until) for item in due[:limit]]
        yield from _replace(*claimed)
        return tuple(
            _work(item, was_lost=before.lease_owner is not None)
            for item, before in zip(claimed, due, strict=False)
        )

    async def begin(self, work: Work) -> bool:
        """Count an attempt of a claimed item; ``False`` when a later claim holds it.

        Stored before the item is run by itself, so that the attempt counts also when it takes the
        process with it. What was only claimed, or runs in company, is not to blame and not counted.
        """
        return await self._change("begin", work, lambda item: {"attempts": item.attempts + 1})

    async def renew(self, work: Work, lease_seconds: float, now: datetime) -> bool:
        """Let a claim end ``lease_seconds`` from now; ``False`` when a later claim holds it."""
        until = now + timedelta(seconds=lease_seconds)
        return await self._change("renew", work, lambda _: {"due_at": until})

    @changing
    def complete(self, work: Work) -> Steps[bool]:
        """Remove a claimed item, or free it to run again; ``False`` when a later claim holds it."""
        name = _name_of_claimed(work)
        scope = Scope.of_graph(work.tenant, work.graph_id)
        claim = Is("claim", _claim(name.made, work.token))
        if (yield from delete(among(WORK, scope, [name.item_id], claim))):
            return True
        (is_held,) = yield from _changed([work], _completed)
        return is_held

    async def complete_all(self, works: Sequence[Work]) -> tuple[Work, ...]:
        """Complete items in one transaction; return those that a later claim holds.

        They belong to one graph of one tenant.
        """
        held = await self._all_held("complete_all", works, _completed)
        return tuple(work for work, is_held in zip(works, held, strict=True) if not is_held)

    async def fail(self, work: Work, problem: str, retry_at: datetime | None) -> bool:
        """Give a claimed item back until ``retry_at``, or park it (``None``) for people to see.

        ``False`` when a later claim holds it.
        """
        failure = {"problem": problem[:PROBLEM_CHARS_MAX]}
        if retry_at is None:
            return await self._change("fail", work, lambda item: _parked(item) | failure)
        return await self._change("fail", work, lambda item: _given_back(item, retry_at) | failure)

    async def defer(self, work: Work, until: datetime) -> bool:
        """Give a claimed item back until a time, with the attempts of ``work``, as it was claimed.

        ``False`` when a later claim holds it.
        """
        tried = {"attempts": work.attempts}
        return await self._change("defer", work, lambda item: _given_back(item, until) | tried)

    async def waiting(
        self, scope: Scope | None = None, *, tenant: str | None = None
    ) -> dict[str, int]:
        """Return how many items wait per kind, and under ``parked`` how many are parked.

        Claimed items wait too, until they are completed. Every kind is named, with 0 if need be.
        """
        return await self._store.read("waiting", lambda: count_work(scope, tenant=tenant))

    async def waiting_since(self, kind: WorkKind, *, tenant: str) -> datetime | None:
        """Return when the oldest item of a kind that is not parked was queued, if there is one."""
        find = _find("kind", tenant, None, Is("kind", kind), limit=1)
        found = await self._store.read("waiting since", lambda: one(find))
        return None if found is None else found.queued_at

    async def parked(self, limit: int = 100, *, tenant: str | None = None) -> tuple[Work, ...]:
        """Return parked items with their problem, oldest first."""
        check_limit(limit)
        find = _find("parked", tenant, None, limit=limit)
        return tuple(map(_work, await self._all("parked", find)))

    @changing
    def rerun(self, work_ids: Sequence[str], *, tenant: str | None = None) -> Steps[int]:
        """Put parked items back into the queue with no attempts; return how many."""
        names = [name for name in map(_named, dict.fromkeys(work_ids)) if name is not None]
        done = 0
        for name in names:
            if tenant not in {None, name.tenant}:
                continue
            scope = Scope.of_graph(name.tenant, name.graph_id)
            item = yield from one(among(WORK, scope, [name.item_id]))
            if item is not None and item.parked and item.made == name.made:
                again = {"parked": False, "attempts": 0, "due_at": item.queued_at}
                yield from _replace(item.model_copy(update=again))
                done += 1
        return done

    async def _change(self, operation: str, work: Work, change: Change) -> bool:
        """Change a claimed item; ``False`` when a later claim holds it."""
        (is_held,) = await self._all_held(operation, [work], change)
        return is_held

    async def _all_held(
        self, operation: str, works: Sequence[Work], change: Change
    ) -> tuple[bool, ...]:
        """Change claimed items of one graph; ``False`` for what a later claim holds."""
        if not works:
            return ()
        return await self._store.change(operation, lambda: _changed(works, change))


def _changed(works: Sequence[Work], change: Change) -> Steps[tuple[bool, ...]]:
    """Change claimed items of one graph; ``False`` for what a later claim holds."""
    names = [_name_of_claimed(work) for work in works]
    scope = Scope.of_graph(works[0].tenant, works[0].graph_id)
    found = yield from every(among(WORK, scope, [name.item_id for name in names]))
    items = {
        (item.id, item.made, item.token): item for item in found if item.lease_owner is not None
    }
    theirs = [
        items.get((name.item_id, name.made, work.token))
        for name, work in zip(names, works, strict=True)
    ]
    changes = [(item, change(item)) for item in theirs if item is not None]
    done = [item.id for item, changed in changes if changed is None]
    if done:
        yield from delete(among(WORK, scope, done))
    kept_on = (item.model_copy(update=fields) for item, fields in changes if fields is not None)
    yield from _replace(*kept_on)
    return tuple(item is not None for item in theirs)


def queue_work(scope: Scope, work: Sequence[WorkDraft], now: datetime) -> Steps[int]:
    """Queue items inside a transaction; return how many are new."""
    if not work:
        return 0
    new = {"tenant": scope.tenant, "graph_id": scope.graph_id, "queued_at": now, "due_at": now}
    items = [made(Item, draft, **new) for draft in work]
    found = yield from every(among(WORK, scope, [item.id for item in items]))
    before = {item.id: item for item in found}
    queued: dict[str, Item] = {}
    for item in items:
        known = queued.get(item.id) or before.get(item.id)
        queued[item.id] = item if known is None else _asked_again(known, item, now)
    # A batch of turns asks for the same again and again: it is written once, and new ones together.
    ordered = sorted(queued.items(), key=lambda one: one[0] in before)
    yield from write(*(over(before.get(name), WORK, scope, item) for name, item in ordered))
    return len(queued) - len(before)


def queue_indexing(scope: Scope, records: Iterable[Owned], now: datetime) -> Steps[int]:
    """Queue the work by which the warm index learns what became of records."""
    return queue_work(scope, [index_work(one.id, one.agent_id) for one in records], now)


def forget_problems(scope: Scope, keys: Sequence[str]) -> Steps[None]:
    """Forget what went wrong with the work of records, which may quote them."""
    names = (f"{kind}/{key}" for kind in WORK_KINDS for key in keys)
    found = yield from every(own(WORK, scope, names))
    failed = [item for item in found if item.problem is not None]
    yield from _replace(*(item.model_copy(update={"problem": None}) for item in failed))


def free_claims() -> Steps[None]:
    """Let everything that is claimed be claimed anew; by the owner a claim knows what was lost."""
    find = _find("kind", None, None, Present("lease_owner"))
    claimed = yield from every(find._replace(order=()))  # of every kind, in no order
    yield from _replace(*(item.model_copy(update={"due_at": item.queued_at}) for item in claimed))


def to_be_indexed(scope: Scope, limit: int) -> Find[Item]:
    """Ask for what of a graph waits to be put into the index, whether it runs or is parked."""
    return _find("queued", None, scope, Is("kind", "index"), limit=limit)


def count_work(scope: Scope | None, *, tenant: str | None = None) -> Steps[dict[str, int]]:
    """Return how many items are not done, per kind and under ``parked``."""
    found = yield from counts(_find("queued", tenant, scope), "kind", "parked")
    total = dict.fromkeys((*WORK_KINDS, "parked"), 0)
    for (kind, parked), number in found.items():
        total["parked" if parked else str(kind)] += number
    return total


def _find(
    by: str, tenant: str | None, scope: Scope | None, *where: Condition, limit: int = 100_000
) -> Find[Item]:
    """Return a question to a graph, a tenant or the installation."""
    order = ("made",) if by in {"kind", "parked"} else ()
    if scope is not None:
        return Find(WORK, scope, by, where, order, limit, reach="own")
    whole = Scope.of_graph(tenant or "ezra", "ezra")
    return Find(WORK, whole, by, where, order, limit, reach="tenant" if tenant else "store")


def _replace(*items: Item) -> Steps[None]:
    return write(
        *(Replace(WORK, Scope.of_graph(item.tenant, item.graph_id), item) for item in items)
    )


def _asked_again(known: Item, item: Item, now: datetime) -> Item:
    """Claimed: once more when done. Parked: a new cause is a new chance. Else: due at once."""
    changed: dict[str, object] = {"agent_id": item.agent_id, "payload": item.payload}
    if known.lease_owner is not None:
        changed |= {"again_at": now}
    elif known.parked:
        changed |= {"due_at": now, "attempts": 0, "parked": False}
    else:
        changed |= {"due_at": min(known.due_at, now)}
    return known.model_copy(update=changed)


def _claimed(item: Item, owner: str, until: datetime) -> Item:
    held = {"lease_owner": owner, "due_at": until, "token": item.token + 1}
    return item.model_copy(update=held)


def _completed(item: Item) -> dict[str, object] | None:
    """Return what becomes of an item that is done; ``None``: it goes."""
    if item.again_at is None:
        return None
    again = {"lease_owner": None, "due_at": item.again_at, "again_at": None}
    return again | {"attempts": 0, "problem": None}


def _given_back(item: Item, until: datetime) -> dict[str, object]:
    due_at = until if item.again_at is None else min(until, item.again_at)
    return {"lease_owner": None, "due_at": due_at, "again_at": None}


def _parked(item: Item) -> dict[str, object]:
    """Asked for again while it ran: the new cause gets its own attempts before it parks."""
    if item.again_at is None:
        return {"lease_owner": None, "parked": True}
    return {"lease_owner": None, "due_at": item.again_at, "again_at": None, "attempts": 0}


def _name_of_claimed(work: Work) -> _Name:
    name = _named(work.id)
    if name is None:
        raise UsageError("work.id", work.id, "an item that was claimed here")
    return name


class _Name(NamedTuple):
    tenant: str
    graph_id: str
    item_id: str
    made: str


def _named(work_id: str) -> _Name | None:
    """Return what an id names, or ``None`` if it is none."""
    try:
        parts = json.loads(work_id)
    except ValueError:
        return None
    is_name = isinstance(parts, list) and len(parts) == len(_Name._fields)
    return _Name(*map(str, parts)) if is_name else None


def _work(item: Item, *, was_lost: bool = False) -> Work:
    fields = {name: item.__dict__[name] for name in _OF_WORK}
    fields["payload"] = {**item.payload}
    fields["id"] = joined_id(item.tenant, item.graph_id, item.id, item.made)
    return Work.known({**fields, "was_lost": was_lost})
