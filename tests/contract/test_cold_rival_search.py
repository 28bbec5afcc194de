"""The contract of ``RivalSearch``: where and by which words rivals of a claim are found."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from support.cold_backends import Cold, ColdBackend
from support.cold_beliefs import replacing
from support.cold_calls import POINT
from support.cold_samples import (
    HOSTILE_NAMES,
    HOSTILE_QUERIES,
    NO_TOPICS,
    OPERATOR,
    OTHER_AGENT,
    OTHER_GRAPH,
    OTHER_TENANT,
    OTHER_TOPIC,
    SCOPE,
    belief_by,
)
from support.tier_samples import HOSTILE_TEXT, NOW

from tiers.errors import UsageError
from tiers.history.claim_words import CLAIM_WORDS_MAX, NEWEST_MAX, claim_words, filed_under
from tiers.records import ALL_TOPICS, Commitment, Scope

ADA = SCOPE.model_copy(update={"user_id": "ada"})
LIMIT = 40


def claim_by(scope: Scope = SCOPE, claim: str = "Start on mediums.", **fields: Any) -> Commitment:
    """Return a claim about tyres without a key."""
    return belief_by(scope, claim, **{"key": None, **fields})


async def _committed(cold: Cold, *beliefs: Commitment) -> None:
    for one in beliefs:
        assert (await cold.beliefs.commit(OPERATOR, one)).is_new


async def _found(cold: Cold, scope: Scope, belief: Commitment, limit: int = LIMIT) -> list[str]:
    return [one.id for one in await cold.rivals.worded_like(scope, belief, limit)]


def _ids(beliefs: Sequence[Commitment]) -> list[str]:
    return [one.id for one in beliefs]


async def test_beliefs_are_filed_apart(cold: Cold) -> None:
    """By topic, user, privacy, and topics without a topic; by nothing else, a key included."""
    places: list[dict[str, Any]] = [
        {},
        {"topic": "strategy"},
        {"scope": ADA},
        {"private": True},
        {"scope": OTHER_AGENT, "private": True},
        {"topic": None},
        {"topic": None, "topics": ("strategy", "tyres")},
        {"topic": None, "topics": (), "scope": ADA},
    ]
    alike = [[claim_by(**place), claim_by(**place, key=("s", "c"))] for place in places]
    for two in alike:
        await _committed(cold, *two)
    other_writer = claim_by(OTHER_AGENT, topics=("strategy", "tyres"), key=("other", "key"))
    await _committed(cold, other_writer)
    assert len({filed_under(two[0]) for two in alike}) == len(places)
    for place, two in zip(places, alike, strict=True):
        asker = place.get("scope", SCOPE)
        expected = _ids(two[::-1]) if place else _ids([other_writer, *two[::-1]])
        for scope in (asker, OPERATOR):
            assert await _found(cold, scope, claim_by(**place)) == expected


async def test_those_that_share_the_most_words_come_first(cold: Cold) -> None:
    """Then the newest; numbers and plurals count, stop words do not, and the limit cuts the end."""
    beliefs = [
        claim_by(claim="Pit on lap 18 for the softs"),
        claim_by(claim="Boxing is what we should do then"),
        claim_by(claim="SOFT!"),
        claim_by(claim="The softs, laps and laps."),
        claim_by(claim="It is on for the 18"),
        claim_by(claim="Lap times on softs"),
    ]
    await _committed(cold, *beliefs)
    asked = claim_by(claim="A soft lap, 18 or so: it should be on for the pit")
    order = [beliefs[place] for place in (0, 5, 3, 4, 2)]
    found = await cold.rivals.worded_like(SCOPE, asked, LIMIT)
    assert list(found) == order
    for limit in (1, 3):
        assert await _found(cold, SCOPE, asked, limit) == _ids(order[:limit])
    for claim in ("Rain is near", "?!", "the of"):
        assert await _found(cold, SCOPE, claim_by(claim=claim)) == []
    for limit in (0, 10_001):
        with pytest.raises(UsageError):
            await cold.rivals.worded_like(SCOPE, asked, limit)


async def test_of_each_word_the_newest_are_looked_at(cold: Cold) -> None:
    """What shares many words is not cut off by newer ones that share fewer; the rest is bounded."""
    forgotten, rare = claim_by(claim="Start now"), claim_by(claim="Start car 44 on mediums")
    common = [claim_by(claim="Start car on mediums") for _ in range(NEWEST_MAX)]
    unseen = [
        claim_by(OTHER_AGENT, claim="Start on 44", topics=("strategy",)) for _ in range(NEWEST_MAX)
    ]
    beliefs = [
        one.model_copy(update={"origin_id": one.id}) for one in (forgotten, rare, *common, *unseen)
    ]
    assert await cold.beliefs.adopt(OPERATOR, POINT, beliefs, NOW)
    asker = SCOPE.model_copy(update={"topics": ("tyres",)})
    asked = claim_by(claim="Start car 44 on the medium.")
    found = await _found(cold, asker, asked, 1_000)
    assert found == _ids([rare, *common[::-1]])
    assert await _found(cold, asker, asked, 2) == found[:2]


async def test_only_active_beliefs_are_found(cold: Cold) -> None:
    """Ended by each way, restored, ended once more; pinned or not."""
    first, second = claim_by(key=("start", "compound")), claim_by(key=("start", "compound"))
    await _committed(cold, first)
    await cold.beliefs.pin(SCOPE, first.id, NOW)
    assert await _found(cold, SCOPE, claim_by()) == [first.id]
    await replacing(cold, SCOPE, second)
    reached = await cold.history.seq_at(OPERATOR)
    assert await _found(cold, SCOPE, claim_by()) == [second.id]
    await cold.beliefs.revert(SCOPE, second.id, "wrong", NOW)
    (found,) = await cold.rivals.worded_like(SCOPE, claim_by(), LIMIT)
    assert (found.id, found.key) == (first.id, first.key)
    await cold.beliefs.rewind(OPERATOR, 0, "all of it", NOW)
    assert await _found(cold, SCOPE, claim_by()) == []
    await cold.beliefs.rewind(OPERATOR, reached, "not all of it", NOW)
    assert await _found(cold, SCOPE, claim_by()) == [second.id]


async def test_a_redacted_claim_leaves_no_word(
    backend: ColdBackend, tmp_path: Path, cold: Cold
) -> None:
    """Neither an active one nor one that has ended; what else has the word keeps it."""
    ended, gone, stays = (claim_by(claim=f"Start on zebra {n}") for n in ("one", "two", "three"))
    await _committed(cold, ended, gone, stays)
    await cold.beliefs.revert(SCOPE, ended.id, "wrong", NOW)
    await cold.redactor.redact(SCOPE, [ended.id, gone.id], "asked to", NOW)
    assert await _found(cold, SCOPE, claim_by(claim="redacted zebra")) == [stays.id]
    listed = backend.rows(tmp_path, "beliefs__words")
    words = [row["value"].partition(" ")[0] for row in listed]  # then who would find it by that
    assert sorted(words) == ["start", "three", "zebra"]


async def test_nobody_finds_what_they_do_not_see(cold: Cold) -> None:
    """Asking with the very belief; by topic, denied topic, user, agent, graph, tenant, lineage."""
    shared, of_ada, own = claim_by(), claim_by(ADA), claim_by(private=True)
    await _committed(cold, shared, of_ada, own)
    deaf = SCOPE.model_copy(update={"topics": (ALL_TOPICS,), "denied": ("tyres",)})
    for scope in (OTHER_TOPIC, NO_TOPICS, OTHER_GRAPH, OTHER_TENANT, deaf):
        for belief in (shared, of_ada, own):
            assert await _found(cold, scope, belief) == []
    assert await _found(cold, SCOPE, of_ada) == []
    assert await _found(cold, OTHER_AGENT, own) == []
    for scope, belief in ((SCOPE, shared), (OTHER_AGENT, shared), (ADA, of_ada), (SCOPE, own)):
        assert await _found(cold, scope, belief) == [belief.id]


async def test_odd_claims_and_places_are_filed_like_any(cold: Cold) -> None:
    """Long ones, syntax of engines, words of several scripts, topics that look like each other."""
    claims = [*HOSTILE_QUERIES[-6:], HOSTILE_TEXT, "ç ü 雨 дождь", "lap " * 2_000, _many_words()]
    beliefs = [claim_by(claim=one) for one in claims]
    beliefs += [claim_by(OTHER_AGENT, topic=one, topics=("tyres",)) for one in HOSTILE_NAMES]
    await _committed(cold, *beliefs)
    for one in beliefs:
        found = await _found(cold, SCOPE, one)
        assert (one.id in found) == bool(claim_words(one.claim))


async def test_an_archive_brings_the_words_with_the_beliefs(
    backend: ColdBackend, tmp_path: Path, cold: Cold
) -> None:
    """Those of active ones only."""
    active, ended = claim_by(), claim_by()
    await _committed(cold, active, ended)
    await cold.beliefs.revert(SCOPE, ended.id, "wrong", NOW)
    async with backend.opened(tmp_path / "copy") as copy:
        for table in ("graphs", "belief_events", "beliefs"):
            rows = await cold.archive.export_rows("acme", table, "", 100)
            await copy.archive.import_rows("acme", table, rows.rows)
        assert await _found(copy, SCOPE, claim_by()) == [active.id]
        await copy.beliefs.revert(SCOPE, active.id, "wrong", NOW)
        assert await _found(copy, SCOPE, claim_by()) == []


def _many_words() -> str:
    """Return a claim of more words than are looked at."""
    claim = " ".join(f"word{number}" for number in range(2 * CLAIM_WORDS_MAX))
    assert len(claim_words(claim)) == CLAIM_WORDS_MAX
    return claim
