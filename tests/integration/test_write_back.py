"""The write-ahead log of SQLite after a redaction: old pages must not be left in it."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest
from support.cold_backends import COLD_BACKENDS, ColdBackend, raw_sqlite
from support.cold_samples import OPERATOR
from support.redactions import (
    BELIEF_SECRETS,
    LATER,
    SECRETS,
    Convictions,
    History,
    believe,
    convictions_of,
    history_of,
    store,
)

from tiers.errors import TierTimeout

SQLITE: ColdBackend = next(one for one in COLD_BACKENDS if one.name == "sqlite")


def _asked(history: History, told: Convictions) -> list[str]:
    records = (history.told[0], history.told[2], history.rule, told.root)
    beliefs = (told.mistaken, told.active, told.old)
    return [one.id for one in (*records, *beliefs)]


def _left_in(folder: Path) -> set[str]:
    """Return the secrets that stand in the bytes of any file, and the name of a log with any."""
    files = {one.name: one.read_bytes() for one in folder.iterdir()}
    said = {
        word
        for word in (*SECRETS, *BELIEF_SECRETS)
        for one in files.values()
        if word.encode() in one
    }
    return said | {name for name, one in files.items() if name.endswith("-wal") and one}


async def test_no_file_has_the_words_while_the_store_is_open(tmp_path: Path) -> None:
    """Of every kind of record, in no page that is free or old, and no index."""
    async with SQLITE.opened(tmp_path) as cold:
        told = await believe(cold, convictions_of())
        history = await store(cold, history_of(), graph=False)
        assert {*SECRETS, *BELIEF_SECRETS} <= _left_in(tmp_path)
        await cold.redactor.redact(OPERATOR, _asked(history, told), "asked to", LATER)
        assert _left_in(tmp_path) == set()


async def test_while_somebody_reads_the_old_state_it_is_said_and_repeating_helps(
    tmp_path: Path,
) -> None:
    """Everything is redacted, but the words can still be read in the log: that is no success."""
    async with SQLITE.opened(tmp_path) as cold:
        told = await believe(cold, convictions_of())
        history = await store(cold, history_of(), graph=False)
        asked = _asked(history, told)
        writer = cold.turns._store._database._writer  # type: ignore[attr-defined]
        writer.execute("PRAGMA busy_timeout = 20")
        with closing(raw_sqlite(tmp_path)) as reader:
            reader.execute("BEGIN")
            reader.execute("SELECT COUNT(*) FROM turns").fetchone()
            with pytest.raises(TierTimeout, match="repeating"):
                await cold.redactor.redact(OPERATOR, asked, "asked to", LATER)
        assert len(await cold.redactor.redacted(OPERATOR, asked)) == len(asked)
        assert _left_in(tmp_path) > {SECRETS[0]}
        await cold.redactor.redact(OPERATOR, asked, "asked to", LATER)
        assert _left_in(tmp_path) == set()
