"""What it costs to know a graph's ancestors, in SQLite."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.cold_samples import graph_of
from support.tier_samples import scope_of

from tiers.cold.sqlite import sqlite_cold_store
from tiers.cold.sqlite.database import Query, Session


async def test_ancestors_are_read_in_as_many_statements_however_many_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One for all links, whether there is one ancestor or there are two hundred."""
    asked: list[str] = []
    execute = Session._execute

    def counted(session: Session, query: Query) -> object:
        asked.append(query.sql)
        return execute(session, query)

    async with sqlite_cold_store(tmp_path) as cold:
        chain = [graph_of("g0"), *(graph_of(f"g{n}", f"g{n - 1}") for n in range(1, 201))]
        await cold.archive.import_rows("acme", "graphs", chain)
        monkeypatch.setattr(Session, "_execute", counted)
        for depth in (0, 1, 200):
            asked.clear()
            standing = await cold.graphs.standing(scope_of(graph_id=f"g{depth}"))
            assert standing is not None
            assert len(standing.lineage) == depth
            assert len(asked) == 4
