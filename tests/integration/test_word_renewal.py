"""The word index of SQLite outlives any number of redactions."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.cold_samples import SCOPE, asked, fact_by, turn_by
from support.tier_samples import NOW

from tiers.cold.sqlite import sqlite_cold_store
from tiers.cold.sqlite.redaction import SqliteRedactor
from tiers.cold.sqlite.word_renewal import renew_words_if_worn


async def test_a_worn_word_index_is_made_anew(tmp_path: Path) -> None:
    """Words are found as before when the index was filled again, and the redacted ones are not."""
    async with sqlite_cold_store(tmp_path) as cold:
        kept = fact_by(text="Mediums last 18 laps.")
        gone = fact_by(text="The PIN is xyzzy7.")
        for fact in (kept, gone):
            await cold.semantic.put_fact(SCOPE, fact)
        await cold.turns.append_turn(SCOPE, turn_by(text="How long do mediums last?"))
        await cold.redactor.redact(SCOPE, [gone.id], "asked", NOW)
        before = await cold.words.search_words(SCOPE, asked("mediums xyzzy7"))
        assert isinstance(cold.redactor, SqliteRedactor)
        assert await cold.redactor._database.write(
            "renew", lambda session: renew_words_if_worn(session, worn_bytes=0)
        )
        assert await cold.words.search_words(SCOPE, asked("mediums xyzzy7")) == before
        assert {hit.kind for hit in before} == {"fact", "turn"}


@pytest.mark.slow
async def test_thousands_of_redactions_leave_a_sound_index(tmp_path: Path) -> None:
    """Each makes the index's list of levels longer; it is made anew before that breaks it."""
    async with sqlite_cold_store(tmp_path) as cold:
        for number in range(1_500):
            fact = fact_by(text=f"Statement {number} about laps.")
            await cold.semantic.put_fact(SCOPE, fact)
            await cold.redactor.redact(SCOPE, [fact.id], "asked", NOW)
        await cold.semantic.put_fact(SCOPE, fact_by(text="Laps are counted."))
        assert len(await cold.words.search_words(SCOPE, asked("laps"))) == 1
