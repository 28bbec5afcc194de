"""ARCHITECTURE.md shows how an engine is added: what it shows is run here."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from support.cold_samples import (
    OTHER_TENANT,
    OTHER_TOPIC,
    SCOPE,
    asked,
    belief_by,
    draft,
    fact_by,
    graph_of,
    turn_by,
)
from support.tier_samples import NOW

from tiers.cold.stores import stores_over
from tiers.errors import BudgetExceeded
from tiers.records import Budget, Usage
from tiers.turn_io import Charge

_DOCUMENT = Path(__file__).parents[2] / "ARCHITECTURE.md"


def _example() -> Any:
    text = _DOCUMENT.read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(.*?class SmallestRecordStore.*?)```", text, re.DOTALL)
    namespace: dict[str, Any] = {}
    exec(compile(code, str(_DOCUMENT), "exec"), namespace)  # noqa: S102 - our own document
    return namespace["SmallestRecordStore"]()


async def test_the_stores_work_over_the_example() -> None:
    """A turn, a fact, a belief and their words, seen by whom they are for."""
    cold = stores_over(_example())
    await cold.graphs.create_graph(graph_of("race"))
    stored, _ = await cold.turns.append_turn(SCOPE, turn_by(), [draft("a")])
    fact, _ = await cold.semantic.put_fact(SCOPE, fact_by(tier="core"))
    belief = (await cold.beliefs.commit(SCOPE, belief_by())).belief
    assert await cold.turns.recent_turns(SCOPE, 8) == (stored,)
    assert await cold.semantic.core(SCOPE) == (fact,)
    assert [one.id for one in await cold.beliefs.active(SCOPE)] == [belief.id]
    hits = await cold.words.search_words(SCOPE, asked("mediums"))
    assert {hit.id for hit in hits} == {stored.id, fact.id, belief.id}
    claimed = await cold.queue.claim(("index",), "me", 10, 60, NOW)
    assert {stored.id, "a"} & {work.key for work in claimed}
    assert all([await cold.queue.complete(work) for work in claimed])
    for stranger in (OTHER_TOPIC, OTHER_TENANT):
        assert await cold.semantic.core(stranger) == ()
        assert await cold.words.search_words(stranger, asked("mediums")) == ()


async def test_what_fails_in_it_leaves_nothing() -> None:
    """A charge that is refused takes the turn with it."""
    cold = stores_over(_example())
    await cold.graphs.create_graph(graph_of("race"))
    nothing_left = Charge(Usage(writes=1), of_graph=Budget(writes=0))
    with pytest.raises(BudgetExceeded):
        await cold.desk.keep_turn(SCOPE, turn_by(), [draft("a")], nothing_left)
    assert await cold.turns.recent_turns(SCOPE, 8) == ()
    assert await cold.queue.claim(("index",), "me", 10, 60, NOW) == ()
