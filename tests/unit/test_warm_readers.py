"""Names of readers: they mean what a scope's conditions mean, and dense searches go by them."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any

import pytest
from qdrant_edge import SparseVector
from support.tier_samples import (
    DIMENSIONS,
    NOW,
    ancestor,
    entry_of,
    heir_of,
    query_of,
    record_id,
    scope_of,
)

from tiers.records import ALL_TOPICS, Scope, SearchQuery
from tiers.warm import edge_warm_store, filters
from tiers.warm.edge_points import _visible
from tiers.warm.edge_readers import NAMES_MAX, READERS, parted, readable, readers_of
from tiers.warm.filters import AnyOf, Between, Predicate
from tiers.warm.guard import of_search
from tiers.warm.payload import NEVER, payload_of
from tiers.warm.store import Chosen, Leg

SCOPE = scope_of()
TOPICS = ("", "fuel", "tyres")
USERS = (None, "ada", "bo")


def _condition(scope: Scope, query: SearchQuery) -> Predicate:
    reach = filters.reach(scope, query)
    assert reach is not None
    return reach.visible


def _values(payload: dict[str, Any], key: str) -> set[str]:
    found = payload[key]
    return set(found) if isinstance(found, list) else {found}


def _holds(condition: Predicate, payload: dict[str, Any]) -> bool:
    """Whether a payload meets the conditions that match values."""
    matches = [one for one in condition if isinstance(one, AnyOf)]
    return all(_values(payload, one.key) & set(one.values) for one in matches)


def test_a_name_is_shared_where_the_conditions_hold() -> None:
    """Of 4,000 pairs of an entry and a question, by graph, kind, writer, user and topics."""
    random = Random(7)
    met = 0
    for number in range(4_000):
        entry = entry_of(
            scope_of(agent_id=random.choice("ab"), graph_id=random.choice(("race", "race2"))),
            number,
            kind=random.choice(("turn", "fact")),
            private=random.random() < 0.5,
            topics=tuple(random.sample(TOPICS[1:], random.randint(0, 2))),
            user_id=random.choice(USERS),
        )
        topics = random.sample(TOPICS[1:], random.randint(0, 2))
        asker = scope_of(
            agent_id=random.choice("ab"), topics=tuple(topics), user_id=random.choice(USERS)
        )
        kinds = random.choice((("turn",), ("fact",), ("fact", "rule")))
        condition = _condition(asker, query_of(kinds=kinds))
        found = readable(condition)
        assert found is not None
        payload = payload_of(entry)
        shares = bool(set(found.names) & set(readers_of(payload)))
        assert (shares and _holds(found.conditions, payload)) == _holds(condition, payload)
        met += shares
    assert met > 100


def test_what_is_left_open_goes_by_its_conditions() -> None:
    """All topics, all users, or too many names of a lineage."""
    every_topic = _condition(scope_of(topics=(ALL_TOPICS,)), query_of())
    assert readable(every_topic) is None
    every_user = _condition(scope_of(every_user=True, topics=()), query_of())
    assert readable(every_user) is None
    lineage = [ancestor(f"g{number}", "rule") for number in range(NAMES_MAX)]
    inherited = query_of(kinds=("rule",), inherited=True)
    most = readable(_condition(heir_of(*lineage, topics=()), inherited))
    assert most is not None
    assert len(most.names) == NAMES_MAX
    more = heir_of(*lineage, ancestor("more", "rule"), topics=())
    assert readable(_condition(more, inherited)) is None


def test_what_expires_has_no_names_and_is_asked_for_by_itself() -> None:
    """Each entry is in one of the two parts."""
    until = NOW + timedelta(days=1)
    assert readers_of(payload_of(entry_of(SCOPE, 1, expires_at=until))) == []
    earlier, alive = Between("recorded_at", None, 5), Between("expires_at", 3, None)
    assert parted((earlier, alive)) == ((earlier,), (earlier, Between("expires_at", 3, NEVER)))
    assert parted((earlier,)) is None


def test_vectors_go_by_names_and_words_by_conditions() -> None:
    """Those of an agent's own questions, as ``spawn_agent`` makes it."""
    query = query_of("tyres")
    asker = scope_of(topics=())
    reach = filters.reach(asker, query)
    assert reach is not None
    chosen = Chosen("search", of_search(asker, query), reach.visible)
    lasting, limited = _visible(chosen, Leg([1.0], "dense"))
    assert lasting.must is None or lasting.must == []
    assert {one.key for one in lasting.should or []} == {READERS}
    assert len(limited.must or []) == len(reach.visible)
    (words,) = _visible(chosen, Leg(SparseVector([1], [1.0]), "bm25", reach.counted))
    assert not words.should


@pytest.mark.parametrize("limit", [1, 3, 7, 20])
async def test_both_parts_are_ranked_as_one(tmp_path: Path, limit: int) -> None:
    """The best first, whichever expire; one that had expired is not found."""
    asker = scope_of(topics=())
    entries = [
        entry_of(
            asker,
            number,
            vector=(1.0, number / 10, 0.0, 0.0),
            expires_at=NOW + timedelta(days=1 if number % 4 else -1) if number % 3 else None,
        )
        for number in range(20)
    ]
    alive = [one.id for one in entries if one.expires_at is None or one.expires_at > NOW]
    async with edge_warm_store(tmp_path, dimensions=DIMENSIONS) as store:
        await store.upsert(asker, entries)
        hits = await store.search(asker, query_of(mode="dense", limit=limit))
    assert [hit.id for hit in hits] == alive[:limit]
    assert record_id(4) not in alive
