"""The board of a graph: messages, tasks, actions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from ...board import AGENTS_MAX, CARDS_MAX, COUNTS_MAX, Card, CardCount, CardQuery
from ...errors import Conflict, UsageError, check_at_most
from ...moments import microseconds
from ...recollection import Place
from ...records import Scope
from ...turn_io import FREE, Charge
from ..conditions import Absent, Among, Beyond, Condition, Either, Holds, Is, Lacks, Other, Present
from ..ownership import check_limit, check_owned, check_placed, in_order
from ..port import Collection, Find, Index, Lookup, Steps, counts, every, one
from .graphs import check_writable
from .log import append_event
from .questions import equal, numbers, own, window
from .rows import moments, plain, put, replace
from .store_base import OverEngine, changing
from .usage import charged

FOR_ALL = ""
"""The recipient of a message for everybody; no agent is called that."""

_CHANGED = ("changed_at", "id")
_LATEST_FIRST = ("-changed_at", "-id")


def _recipients(card: Card) -> tuple[str, ...]:
    if card.kind != "message":
        return ()
    return card.to or (FOR_ALL,)


CARDS: Collection[Card] = Collection(
    "cards",
    Card,
    fields={
        **plain("agent_id", "kind", "type", "status"),
        "state": lambda card: card.status or card.type,
        "thread": lambda card: card.thread,
        "for_all": lambda card: int(_recipients(card) == (FOR_ALL,)),
        "day": lambda card: f"{card.recorded_at:%Y-%m-%d}",
        **moments("recorded_at", "changed_at", "redacted_at"),
    },
    indexes={
        "latest": Index(("kind", *_CHANGED), where=(Absent("redacted_at"),)),
        "recorded": Index(("recorded_at",), where=(Absent("redacted_at"),)),
        "thread": Index(("thread",), where=(Is("kind", "action"), Present("thread"))),
    },
    lists={
        "recipients": Lookup(_recipients, order=_CHANGED),
        "readers": Lookup(lambda card: card.read_by),
        "tags": Lookup(lambda card: card.tags),
    },
)


class Board(OverEngine):
    """Cards of session graphs.

    Visible as every record is (topics, user, privacy), and of messages those only that are for the
    scope's agent, for all, or written by it; the runtime itself, a scope without an agent, sees
    all. The engine's query carries all of this. Redacted cards are in ``cards`` and nowhere else.

    Every change leaves an event in the audit feed of the graph (``posted``, ``changed``, ``read``)
    with the ids of the cards and their kind or state, in the same transaction.
    """

    @changing
    def post(
        self, scope: Scope, card: Card, log: Card | None = None, charge: Charge = FREE
    ) -> Steps[tuple[Card, bool]]:
        """Store a card and return it, and whether it is new; a new one is charged.

        One of its id that the same agent wrote is returned as it stands, and nothing is written:
        posting again, under an id that the caller chose, is harmless. ``log`` is a second card, an
        action, that is stored in the same step.

        Raises:
            BudgetExceeded: It is new, and a count would come to lie above its limit.
            Conflict: The id is another agent's card, a card of another kind, or one that says
                something else, or the graph is archived.
        """
        check_owned(scope, card)
        if log is not None:
            check_log(scope, log)
        known = yield from _posted_before(scope, card)
        if known is not None:
            return known, False
        yield from check_writable(scope)
        yield from charged(scope, charge)
        yield from put(CARDS, scope, card)
        ids = [card.id]
        if log is not None:
            yield from _post(scope, log)
            ids.append(log.id)
        yield from append_event(scope, "posted", ids, card.kind, card.recorded_at)
        return card, True

    @changing
    def change(self, scope: Scope, card: Card, log: Card, charge: Charge = FREE) -> Steps[bool]:
        """Replace a visible task, which is charged; ``card.version`` is one more than the stored's.

        ``False``, writing nothing, when it is not: somebody else was faster, or there is none.
        Writer, kind, owner, ``to``, ``recorded_at`` and ``read_by`` stay as they are. ``log``, an
        action that says what was done, is stored in the same step.

        Raises:
            BudgetExceeded: A count would come to lie above its limit.
            Conflict: The id of ``log`` is taken, or the graph is archived.
            UsageError: It is not a task.
        """
        check_change(scope, card, log)
        where = (Is("id", card.id), Is("kind", "task"), Absent("redacted_at"))
        yield from check_writable(scope)
        known = yield from one(_visible(scope, *where))
        if known is None or known.version != card.version - 1:
            return False
        yield from charged(scope, charge)
        yield from replace(CARDS, scope, known.model_copy(update=changed_columns(card)))
        yield from _post(scope, log)
        reason = f"task {card.status}"
        yield from append_event(scope, "changed", [card.id, log.id], reason, card.changed_at)
        return True

    @changing
    def mark_read(
        self,
        scope: Scope,
        ids: Sequence[str],
        reader: str,
        now: datetime,
        charge: Charge = FREE,
    ) -> Steps[tuple[str, ...]]:
        """Note that an agent has read messages; return the ids of those it had not read before.

        If there are any, that is charged.

        Only messages that an inbox of it has, at most ``CARDS_MAX``.
        ``changed_at`` and ``version`` stay.

        Raises:
            BudgetExceeded: A count would come to lie above its limit.
            Conflict: The graph is archived, and there would be something to write.
            UsageError: There are too many, or the scope is another agent's.
        """
        check_reader(scope, ids, reader)
        where = (Among("id", tuple(ids)), Is("kind", "message"), Absent("redacted_at"))
        named = (Holds("recipients", (reader,)),)
        is_for_reader = Either((named, (Is("for_all", 1), Other("agent_id", reader))))
        unread = Lacks("readers", (reader,))
        found = yield from every(_visible(scope, *where, is_for_reader, unread))
        if found:
            yield from check_writable(scope)
            yield from charged(scope, charge)
            read = (
                card.model_copy(update={"read_by": tuple(sorted({*card.read_by, reader}))})
                for card in found
            )
            yield from replace(CARDS, scope, *read)
        read_ids = in_order({card.id: card.id for card in found}, ids)
        if read_ids:
            yield from append_event(scope, "read", read_ids, "message", now)
        return read_ids

    async def cards(self, scope: Scope, ids: Sequence[str]) -> tuple[Card, ...]:
        """Return the visible cards among ``ids``, redacted ones too, in the order asked."""
        found = await self._all("cards", _visible(scope, Among("id", tuple(ids))))
        return in_order({card.id: card for card in found}, ids)

    async def latest(
        self, scope: Scope, query: CardQuery, *, behind: Place | None = None, limit: int = 100
    ) -> tuple[Card, ...]:
        """Return visible cards, the latest change first, ties by id downwards; behind a place.

        An inbox is what is for its agent and what is for all, each read in the order of its list.
        """
        check_limit(limit, CARDS_MAX)
        where = _conditions(query, behind)
        if query.inbox_of is None:
            asked = [_visible(scope, *where, by="latest")]
        else:
            asked = [
                _visible(scope, *where, *_inbox(query.inbox_of, whose), by="recipients")
                for whose in (query.inbox_of, FOR_ALL)
            ]
        finds = [find._replace(order=_LATEST_FIRST, limit=limit) for find in asked]
        found = await self._all("latest cards", *finds)
        latest = sorted(found, key=lambda card: (card.changed_at, card.id), reverse=True)
        return tuple(latest[:limit])

    async def counts(self, scope: Scope, since: datetime, until: datetime) -> tuple[CardCount, ...]:
        """Return how many visible cards were recorded in ``[since, until)``, in order of day.

        Raises:
            UsageError: That would be more than ``COUNTS_MAX`` rows.
        """
        find = _visible(scope, *window("recorded_at", since, until), by="recorded")
        of = ("day", "kind", "state", "agent_id")
        found = await self._store.read("card counts", lambda: counts(find, *of))
        if len(found) > COUNTS_MAX:
            raise UsageError("since", since, f"a window of at most {COUNTS_MAX:,} counts")
        return tuple(CardCount._make((*key, number)) for key, number in sorted(found.items()))

    async def unread(self, scope: Scope, agent_ids: Sequence[str]) -> Mapping[str, int]:
        """Return how many visible messages each of the agents has not read yet.

        Raises:
            UsageError: They are more than ``AGENTS_MAX``.
        """
        check_at_most("agent_ids", len(agent_ids), AGENTS_MAX)
        readers = tuple(dict.fromkeys(agent_ids))
        finds = [
            _visible(scope, *_inbox(one, one, FOR_ALL), Lacks("readers", (one,)), by="recipients")
            for one in readers
        ]
        found = await self._store.read("unread", lambda: numbers(*finds))
        return dict(zip(readers, found, strict=True))


def _visible(scope: Scope, *where: Condition, by: str = "id") -> Find[Card]:
    """Ask for cards that the scope sees: of messages those for it, for all, and its own.

    The runtime itself, a scope without an agent, sees all.
    """
    if scope.agent_id is None:
        return Find(CARDS, scope, by, where)
    mine = Either(
        (
            (Among("kind", ("task", "action")),),
            (Is("for_all", 1),),
            (Is("agent_id", scope.agent_id),),
            (Holds("recipients", (scope.agent_id,)),),
        )
    )
    return Find(CARDS, scope, by, (*where, mine))


def _inbox(reader: str, *whose: str) -> tuple[Condition, ...]:
    """Return that messages are for some recipients, and not what a reader wrote to all."""
    not_its_own = Either(((Is("for_all", 0),), (Other("agent_id", reader),)))
    return (Holds("recipients", whose), not_its_own, Absent("redacted_at"))


def _conditions(query: CardQuery, behind: Place | None) -> tuple[Condition, ...]:
    """Return what a question asks for besides what may be seen."""
    where: list[Condition] = [
        *equal(kind=query.kind, agent_id=query.agent_id, thread=query.thread),
        *window("changed_at", query.since, query.until),
    ]
    if behind is not None:
        where.append(Beyond(_LATEST_FIRST, (microseconds(behind.at), behind.id)))
    for name, values in (("type", query.types), ("status", query.statuses)):
        if values:
            where.append(Among(name, values))
    if query.unread_by is not None:
        where.append(Lacks("readers", (query.unread_by,)))
    if query.tag is not None:
        where.append(Holds("tags", (query.tag,)))
    return tuple(where)


def _posted_before(scope: Scope, card: Card) -> Steps[Card | None]:
    """Return the card that was posted under the id by the same agent before, if any.

    Raises:
        Conflict: The id is another's, or a card's of another kind, or of other words.
    """
    known = yield from one(_visible(scope, Is("id", card.id)))
    if known is not None and (known.agent_id, known.kind) == (card.agent_id, card.kind):
        if not _says_the_same(known, card):
            raise Conflict(f"card {card.id}", "the words it was posted with", "other words")
        return known
    if known is not None or (yield from _is_taken(scope, card.id)):
        # Not what it says: the asker may not be allowed to see it.
        raise Conflict("card", "an id of its own", card.id)
    return None


def _says_the_same(known: Card, card: Card) -> bool:
    """Whether a card may be what was posted: of one that changed, nobody knows what it said."""
    if known.version > 1 or known.redacted_at is not None:
        return True
    return all(
        set(was) == set(now) if name in _IN_ANY_ORDER else was == now
        for name in _WORDS
        for was, now in [(getattr(known, name), getattr(card, name))]
    )


def _post(scope: Scope, log: Card) -> Steps[None]:
    if (yield from _is_taken(scope, log.id)):
        raise Conflict("card", "an id of its own", log.id)
    yield from put(CARDS, scope, log)


def _is_taken(scope: Scope, card_id: str) -> Steps[bool]:
    return (yield from one(own(CARDS, scope, [card_id]))) is not None


_IN_ANY_ORDER = ("to", "tags")
_WORDS = (*_IN_ANY_ORDER, "type", "thread", "priority", "title", "text", "details")

_CHANGING = (
    *("type", "thread", "reply_to", "status", "priority", "title", "text", "tags", "details"),
    *("machine", "version", "changed_at"),
)


def changed_columns(task: Card) -> dict[str, object]:
    """Return what a change of a task may change, by field; the rest stays as it was posted."""
    return {name: getattr(task, name) for name in _CHANGING}


def check_log(scope: Scope, log: Card) -> None:
    """Refuse what is to be stored beside a card, and is no action of the scope's own.

    Raises:
        UsageError: It is none.
    """
    check_owned(scope, log)
    if log.kind != "action":
        raise UsageError("log.kind", log.kind, "action")


def check_change(scope: Scope, task: Card, log: Card) -> None:
    """Refuse a change that no board can make, before it is looked whether this one can.

    Raises:
        UsageError: It is no task of the scope's graph, of no later version than the first, or the
            action beside it is none.
    """
    check_placed(scope, task)
    check_log(scope, log)
    if task.kind != "task" or task.status is None:
        raise UsageError("card", task.kind, "a task with a status; only tasks change")
    if task.version < 2:  # noqa: PLR2004 - 1 is what a task is posted with
        raise UsageError("version", task.version, "2 or above")


def check_reader(scope: Scope, ids: Sequence[str], reader: str) -> None:
    """Refuse to mark too much, or for another agent than the scope's.

    Raises:
        UsageError: It is one of these.
    """
    check_at_most("ids", len(ids), CARDS_MAX)
    if not reader or (scope.agent_id is not None and reader != scope.agent_id):
        raise UsageError("reader", reader, f"the scope's agent, {scope.agent_id!r}")
