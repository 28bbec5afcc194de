"""What a word search looks at, where words are too common to look at all who have them.

What is found where there is room for everything is the contract's to judge.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from support.cold_backends import Cold
from support.cold_samples import OPERATOR, OTHER_GRAPH, SCOPE, asked, fact_by
from support.tier_samples import scope_of

from tiers.cold.sqlite import sqlite_cold_store

NARROW = scope_of(agent_id="engineer", topics=("weather",))


@pytest.fixture
async def cold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Cold]:
    """A store in which there is room for ten records, and five of the newest."""
    monkeypatch.setattr("tiers.cold.stores.word_search.POSTINGS_MAX", 10)
    monkeypatch.setattr("tiers.cold.stores.word_search.NEWEST_MAX", 5)
    async with sqlite_cold_store(tmp_path) as opened:
        yield opened


async def _facts(cold: Cold, *texts: str, **fields: object) -> list[str]:
    made = [fact_by(text=text, **fields) for text in texts]
    return [(await cold.semantic.put_fact(SCOPE, fact))[0].id for fact in made]


async def test_common_words_are_left_out_where_rare_ones_answer(cold: Cold) -> None:
    """The rarest are looked up while there is room; what they found is the whole answer."""
    await _facts(cold, *(f"tyres {number}" for number in range(20)))
    rare = await _facts(cold, "undercut tyres", "undercut")
    hits = await cold.words.search_words(SCOPE, asked("undercut tyres", limit=2))
    assert {hit.id for hit in hits} == set(rare)


async def test_a_common_word_answers_with_the_newest_where_there_is_room(cold: Cold) -> None:
    """Behind what rare words found; with nothing else, they are all there is. Shorter ones first.

    Each record is there once.
    """
    common = await _facts(cold, *(f"tyres {'x ' * number}" for number in range(20, 0, -1)))
    (rare,) = await _facts(cold, "undercut of tyres")
    hits = await cold.words.search_words(SCOPE, asked("undercut tyres"))
    assert [hit.id for hit in hits] == [rare, *reversed(common[-4:])]
    hits = await cold.words.search_words(SCOPE, asked("tyres", limit=3))
    assert {hit.id for hit in hits} == {rare, *common[-2:]}


async def test_the_newest_are_those_that_the_asker_may_see(cold: Cold) -> None:
    """Hundreds of newer records out of sight leave room for the one that is not."""
    (mine,) = await _facts(cold, "tyres in the rain", topics=("weather",))
    await _facts(cold, *(f"tyres {number}" for number in range(40)))
    hits = await cold.words.search_words(NARROW, asked("tyres"))
    assert [hit.id for hit in hits] == [mine]


async def test_very_common_words_are_estimated(cold: Cold, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the first that have them, and how many records there were by then; of the own graph."""
    monkeypatch.setattr("tiers.cold.stores.word_search.COUNTED_MAX", 8)
    for number in range(30):
        await _facts(cold, f"tyres {number}" if number % 3 == 0 else f"laps {number}")
        await cold.semantic.put_fact(OTHER_GRAPH, fact_by(OTHER_GRAPH, f"tyres {number}"))
    told = await cold.recollection.word_statistics(OPERATOR, "tyres laps 7", ("fact", "turn"))
    # The 8th of ten that have the first is the 22nd of 30; of 20 that have the second the 12th.
    assert told == (30, {"tyres": 8 * 30 // 22, "laps": 8 * 30 // 12, "7": 1})
