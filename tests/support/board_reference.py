"""A board from the words of its port alone: a list of cards. And cards that tests put on boards."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from random import Random
from typing import Any

from tiers.board import Card, CardCount, CardKind, CardQuery
from tiers.history.visibility import sees
from tiers.ids import IdFactory
from tiers.recollection import Place
from tiers.records import ALL_TOPICS, Scope

from .tier_samples import NOW, scope_of

MINUTE = timedelta(minutes=1)
IDS = IdFactory(lambda: NOW, Random(20261122))
AGENTS = ("ann", "annika", "bob", "bo")
OPERATOR = Scope.of_graph("acme", "race")
ANN = scope_of("acme", "race", "ann", topics=("tyres",), user_id="u")
ANNIKA = scope_of("acme", "race", "annika", topics=(ALL_TOPICS,), denied=("weather",))
BOB = scope_of("acme", "race", "bob", topics=("tyres", "weather"), user_id="u")
BO = scope_of("acme", "race", "bo", topics=(), user_id="v")
ASKERS = (ANN, ANNIKA, BOB, BO)
TOPICS = ((), ("tyres",), ("weather",), ("tyres", "weather"))
STATES = ("created", "in_progress", "suspended", "completed", "failed")


def card_by(scope: Scope = ANN, minute: float = 0, **fields: Any) -> Card:
    """Return a card as its writer hands it over, written ``minute`` minutes after ``NOW``."""
    at = NOW + minute * MINUTE
    known = {"id": IDS.new(), "kind": "message", "text": "Box this lap.", **fields}
    owner = {"tenant": scope.tenant, "graph_id": scope.graph_id, "agent_id": scope.agent_id or ""}
    times = {"recorded_at": at, "changed_at": at, "user_id": scope.user_id}
    return Card(**{**owner, **times, "thread": "", **known})


def random_card(random: Random) -> Card:
    """Return a card of any kind, by and for anybody, in a narrow hour."""
    scope = random.choice(ASKERS)
    kind: CardKind = random.choice(("message", "message", "task", "action"))
    return card_by(
        scope,
        minute=random.randrange(60),
        kind=kind,
        type="" if kind == "task" else random.choice(("note", "question")),
        to=tuple(random.sample(AGENTS, random.randrange(3))) if kind == "message" else (),
        thread=random.choice(("t1", "t2")),
        status=random.choice(STATES) if kind == "task" else None,
        topics=random.choice(TOPICS),
        user_id=random.choice((scope.user_id, None)),
        private=random.random() < 0.1,
        tags=tuple(random.sample(("a", "b", "a b"), random.randrange(3))),
    )


def random_query(random: Random) -> CardQuery:
    """Return a question with any of the conditions there are."""
    kind: CardKind = random.choice(("message", "message", "task", "action"))
    return CardQuery(
        kind=kind,
        inbox_of=random.choice((None, *AGENTS)) if kind == "message" else None,
        unread_by=random.choice((None, None, *AGENTS)),
        agent_id=random.choice((None, None, None, *AGENTS)),
        types=random.choice(((), (), ("note",), ("note", "question"))) if kind != "task" else (),
        statuses=random.choice(((), ("created", "failed"))) if kind == "task" else (),
        thread=random.choice((None, None, "t1", "t")),
        tag=random.choice((None, None, "a", "a b")),
        since=random.choice((None, None, NOW + 20 * MINUTE)),
        until=random.choice((None, None, NOW + 40 * MINUTE)),
    )


@dataclass
class ReferenceBoard:
    """Cards of one graph, by id."""

    by_id: dict[str, Card] = field(default_factory=dict)

    def seen(self, scope: Scope) -> list[Card]:
        """Return the cards that a scope sees."""
        return [one for one in self.by_id.values() if _seen(scope, one)]

    def inbox(self, scope: Scope, reader: str) -> list[Card]:
        """Return the messages in an agent's inbox that a scope sees."""
        return [one for one in self.seen(scope) if is_for(one, reader)]

    def mark_read(self, scope: Scope, ids: Sequence[str], reader: str) -> tuple[str, ...]:
        """Note that an agent has read messages; return which it had not."""
        there = {one.id: one for one in self.inbox(scope, reader) if one.redacted_at is None}
        new = [one for one in dict.fromkeys(ids) if one in there]
        new = [one for one in new if reader not in there[one].read_by]
        for one in new:
            readers = tuple(sorted((*there[one].read_by, reader)))
            self.by_id[one] = there[one].model_copy(update={"read_by": readers})
        return tuple(new)

    def latest(
        self, scope: Scope, query: CardQuery, behind: Place | None = None, limit: int = 100
    ) -> tuple[Card, ...]:
        """Return what ``Board.latest`` is to return."""
        found = [one for one in self.seen(scope) if _is_asked(one, query)]
        found.sort(key=_place, reverse=True)
        if behind is not None:
            found = [one for one in found if _place(one) < tuple(behind)]
        return tuple(found[:limit])

    def counts(self, scope: Scope, since: datetime, until: datetime) -> tuple[CardCount, ...]:
        """Return what ``Board.counts`` is to return."""
        counted = Counter(
            (f"{one.recorded_at:%Y-%m-%d}", one.kind, one.status or one.type, one.agent_id)
            for one in self.seen(scope)
            if one.redacted_at is None and since <= one.recorded_at < until
        )
        return tuple(sorted(CardCount(*what, number) for what, number in counted.items()))

    def unread(self, scope: Scope, agent_id: str) -> int:
        """Return how many messages an agent has not read."""
        inbox = [one for one in self.inbox(scope, agent_id) if one.redacted_at is None]
        return sum(agent_id not in one.read_by for one in inbox)


def is_for(card: Card, agent_id: str) -> bool:
    """Whether a card is in an agent's inbox, if it may see it."""
    if card.kind != "message":
        return False
    return agent_id in card.to if card.to else card.agent_id != agent_id


def _seen(scope: Scope, card: Card) -> bool:
    if card.private and card.agent_id != scope.agent_id:
        return False  # from the runtime itself as well: it is nobody's to list
    if not sees(scope, card):
        return False
    if scope.agent_id is None or card.kind != "message":
        return True
    return not card.to or scope.agent_id in (*card.to, card.agent_id)


def _is_asked(card: Card, query: CardQuery) -> bool:
    return (
        card.kind == query.kind
        and card.redacted_at is None
        and (query.inbox_of is None or is_for(card, query.inbox_of))
        and (query.unread_by is None or query.unread_by not in card.read_by)
        and query.agent_id in {None, card.agent_id}
        and (not query.types or card.type in query.types)
        and (not query.statuses or card.status in query.statuses)
        and query.thread in {None, card.thread}
        and (query.tag is None or query.tag in card.tags)
        and (query.since is None or query.since <= card.changed_at)
        and (query.until is None or card.changed_at < query.until)
    )


def _place(card: Card) -> tuple[datetime, str]:
    return card.changed_at, card.id
