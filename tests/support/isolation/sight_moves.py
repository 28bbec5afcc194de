"""Attempts by claiming to know every record there is: what is sighted is what would be told.

Of a record that is sighted only the id comes back, by which no world tells whose it is. So each of
these asks both ways: what is told is judged as ever, and what is sighted must be the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tiers.known_records import Everything, SightsMeaning

from .aims import INNER, OUTER, Aim
from .attempts import Method, Move
from .oracle import Reach
from .worlds import LATER, SEARCHABLE


def sight(aim: Aim) -> Move:
    """Search the own graph with the victim's exact text and vector."""
    query = aim.query(mode=aim.random.choice(["dense", "words", "hybrid"]))

    async def call(warm: Any) -> object:
        told = await warm.search(aim.scope, query)
        if isinstance(warm, SightsMeaning):
            _same(told, await warm.sight(aim.scope, query, Everything()))
        return told

    return Move(call)


def sight_words(aim: Aim) -> Move:
    """Search for the victim's exact words, as of now or of when it was written."""
    query = aim.query(as_of=aim.random.choice([None, LATER, aim.victim.recorded_at]))

    async def call(cold: Any) -> object:
        told = await cold.words.search_words(aim.scope, query)
        ((seen, _),) = await cold.words.sight_words(aim.scope, [query], Everything())
        _same(told, seen)
        return told

    return Move(call)


def sight_around(aim: Aim) -> Move:
    """Ask what was said around the victim's turns."""
    ids, each_way = aim.ids(), aim.random.choice([0, 3, 16])

    async def call(cold: Any) -> object:
        asked = cold.recollection
        told = await asked.sight_around(aim.scope, ids, each_way, each_way, ())
        seen = await asked.sight_around(aim.scope, ids, each_way, each_way, Everything())
        for stretch, sighted in zip(told, seen, strict=True):
            _same(stretch, sighted)
        return told

    return Move(call)


def _same(told: Sequence[Any], seen: Sequence[Any]) -> None:
    assert [one.id for one in seen] == [one.id for one in told]


_ALL = (*OUTER, *INNER)

WARM_SIGHTS = (Method("warm.sight", Reach.VISIBLE, sight, SEARCHABLE, _ALL, weight=4),)
COLD_SIGHTS = (
    Method("words.sight_words", Reach.VISIBLE, sight_words, SEARCHABLE, _ALL, weight=3),
    Method("recollection.sight_around", Reach.VISIBLE, sight_around, ("turn",), _ALL, weight=2),
)
