"""What words cost on MongoDB: which records are looked at for a question, and by how many commands.

What is found is the contract's to judge.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
from support.atlas import opened
from support.cold_mongo import prepared_database
from support.cold_samples import OTHER_GRAPH, SCOPE, asked, fact_by, turn_by
from support.held import held
from support.mongo_server import MongoServer, running_mongo

server = held(running_mongo, "module")
"""A server, shared by the module."""


@pytest.fixture
async def cold(server: MongoServer) -> AsyncIterator[Any]:
    """An empty cold tier."""
    server.reset()
    async with opened(server, prepared_database(on=server)) as stores:
        yield stores


async def test_a_search_is_as_many_commands_however_many_words_it_has(
    server: MongoServer, cold: Any
) -> None:
    """All counts are one of them."""
    await cold.turns.append_turn(SCOPE, turn_by(text="tyres"))
    await cold.semantic.put_fact(SCOPE, fact_by(text="tyres"))
    counts = []
    for text in ("tyres", "tyres " + " ".join(f"word{number}" for number in range(60))):
        server.clear_commands()
        found = await cold.words.search_words(SCOPE, asked(text, kinds=("turn", "fact")))
        assert len(found) == 2
        counts.append(len(server.commands))
    assert counts[0] == counts[1] <= 7


async def test_another_graph_changes_no_score(cold: Any) -> None:
    """Neither by how many records it has nor by how long they are: not by anything at all."""
    for number in range(9):
        await cold.semantic.put_fact(SCOPE, fact_by(text=f"tyres {number} " + "lap " * number))
    before = await cold.words.search_words(SCOPE, asked("tyres lap"))
    for number in range(9):
        long = fact_by(OTHER_GRAPH, f"tyres {number} " + "sand " * 99)
        await cold.semantic.put_fact(OTHER_GRAPH, long)
    assert await cold.words.search_words(SCOPE, asked("tyres lap")) == before
