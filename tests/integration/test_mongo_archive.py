"""Importing into MongoDB: cut off anywhere, and repeated."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from support.cold_estate import exported, fill, read_out
from support.mongo_cuts import cut_at
from support.mongo_deployments import REFUSED, Deployment

from tiers.cold.sqlite import sqlite_cold_store
from tiers.errors import Conflict, TierError
from tiers.records import Scope
from tiers.upkeep import ARCHIVE_ROWS

SOME = (1, 2, 4, 8, *range(16, 400, 40))
MANY = (*range(1, 12), *range(13, 400, 9))
"""Numbers of commands, the last of them more than an import of a table sends."""


@pytest.fixture
async def source(tmp_path: Path) -> AsyncIterator[Any]:
    """A SQLite tier with something of everything."""
    async with sqlite_cold_store(tmp_path) as cold:
        await fill(cold, "acme")
        yield cold


@pytest.mark.parametrize(
    "numbers", [SOME, pytest.param(MANY, marks=pytest.mark.slow)], ids=["some", "many"]
)
@pytest.mark.parametrize("after", [False, True], ids=["undone", "unanswered"])
async def test_an_import_that_is_cut_off_is_completed_by_repeating(
    deployment: Deployment, source: Any, numbers: tuple[int, ...], *, after: bool
) -> None:
    """At commands of every table; in the end everything is there once, with what follows."""
    async with deployment.opened(deployment.fresh_database()) as target:
        felt = 0
        for table in ARCHIVE_ROWS:
            rows = await read_out(source.archive, "acme", table)
            for number in numbers:
                with cut_at(deployment.server, number, code=REFUSED, after=after) as cut:
                    try:
                        await target.archive.import_rows("acme", table, rows)
                    except TierError:
                        felt += 1
                if not cut.happened:
                    break
        assert felt > len(ARCHIVE_ROWS)
        assert await exported(target.archive, "acme") == await exported(source.archive, "acme")
        for graph in await source.graphs.graphs("acme"):
            scope = Scope.of_graph("acme", graph.id)
            assert await target.graphs.standing(scope) == await source.graphs.standing(scope)


async def test_an_import_that_an_index_refuses_is_taken_back(
    deployment: Deployment, source: Any
) -> None:
    """Nothing stays of the rows before the one that contradicts."""
    async with deployment.opened(deployment.fresh_database()) as target:
        rows = await read_out(source.archive, "acme", "turns")
        twin = rows[-1].model_copy(update={"id": "another of the same number"})
        with pytest.raises(Conflict) as refused:
            await target.archive.import_rows("acme", "turns", [*rows, twin])
        assert "another of the same number" in str(refused.value)
        assert await target.archive.count_rows("acme", "turns") == 0
        assert await target.archive.import_rows("acme", "turns", rows) == len(rows)
