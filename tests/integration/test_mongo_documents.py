"""Revisions and removals of documents in MongoDB, cut off at every command."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from support.cold_mongo import prepared_database
from support.cold_samples import asked
from support.document_reference import OPERATOR, document_by, drafts_of
from support.mongo_cuts import cut_at
from support.mongo_server import MongoServer, running_mongo
from support.tier_samples import NOW

from tiers.cold.mongo import mongo_cold_store
from tiers.cold.stores import ColdStores
from tiers.errors import TierError

UNKNOWN = 8
"""An error that nobody tries again."""

COMMANDS = range(1, 60)
"""More than any of them sends."""

LATER = NOW + timedelta(hours=1)
FIRST = document_by(said="1", title="One", text="All of one.")
SECOND = document_by(said="2", revision=2, minute=1, title="Two", text="All of two.")
BEFORE = drafts_of("rain", "tyres", "laps")
AFTER = drafts_of("wind", "laps", "rain")


@pytest.fixture(scope="module")
def server() -> Iterator[MongoServer]:
    """A server for all tests of this file."""
    with running_mongo() as found:
        yield found


def _opened(server: MongoServer, name: str) -> Any:
    return mongo_cold_store(server.uri, database=name, timeout_seconds=30.0)


async def _revise(cold: ColdStores) -> object:
    return await cold.shelf.revise(OPERATOR, SECOND, AFTER)


async def _remove(cold: ColdStores) -> object:
    return await cold.shelf.remove(OPERATOR, [FIRST.id], "gone", LATER)


async def _seen(cold: ColdStores) -> dict[str, Any]:
    """Return what they change, as the ports show it."""
    query = asked("rain tyres laps wind", kinds=("document",), now=LATER)
    found = await cold.words.search_words(OPERATOR, query)
    passages = await cold.shelf.passages_of(OPERATOR, FIRST.id)
    return {
        "documents": await cold.shelf.on_shelf(OPERATOR, None, removed=True),
        "former": await cold.shelf.revisions(OPERATOR, FIRST.id),
        "passages": [(one.number, one.text, one.since) for one in passages],
        "found": sorted(hit.text for hit in found),
        "count": await cold.shelf.count(OPERATOR),
        "events": [(one.kind, one.record_ids) for one in await cold.log.audit(OPERATOR)],
        "rows": await cold.archive.count_rows("acme", "passages"),
    }


async def _settled(cold: ColdStores) -> int:
    """Let the runtime come by, as it does for work, and return how many items it is given."""
    now = LATER + timedelta(minutes=1)
    return len(await cold.queue.claim(("index",), "me", 100, 10, now, tenant="acme"))


async def _prepared(server: MongoServer, name: str) -> None:
    async with _opened(server, name) as cold:
        await cold.shelf.revise(OPERATOR, FIRST, BEFORE)
        for work in await cold.queue.claim(("index",), "me", 100, 10, NOW):
            await cold.queue.complete(work)


@pytest.mark.parametrize("act", [_revise, _remove])
@pytest.mark.parametrize(
    ("after", "one_in"),
    [
        pytest.param(False, 5, id="some"),
        pytest.param(False, 1, id="undone", marks=pytest.mark.slow),
        pytest.param(True, 1, id="unanswered", marks=pytest.mark.slow),
    ],
)
async def test_a_change_that_is_cut_off_is_there_whole_or_not(
    server: MongoServer, act: Any, *, after: bool, one_in: int
) -> None:
    """And repeated it is there once: nothing half, nothing doubled, no work lost."""
    whole = prepared_database(on=server)
    await _prepared(server, whole)
    async with _opened(server, whole) as cold:
        before = await _seen(cold)
        await act(cold)
        done, work = await _seen(cold), await _settled(cold)
    assert before != done
    failed = 0
    for number in COMMANDS[one_in - 1 :: one_in]:
        name = prepared_database(on=server)
        await _prepared(server, name)
        async with _opened(server, name) as cold:
            with cut_at(server, number, code=UNKNOWN, after=after) as cut:
                try:
                    await act(cold)
                except TierError:
                    failed += 1
        if not cut.happened:
            break
        async with _opened(server, name) as cold:
            given = await _settled(cold)
            seen = await _seen(cold)
            assert seen in (before, done), f"half of it after command {number}"
            assert given == (work if seen == done else 0)
            await act(cold)
            assert await _seen(cold) == done, f"repeated after command {number}"
    assert failed >= 4 // one_in + 1, "most cuts must have been felt"
