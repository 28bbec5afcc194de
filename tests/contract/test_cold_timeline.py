"""The contract of ``Timeline``: the latest of what may be seen, under every condition."""

from __future__ import annotations

from datetime import timedelta
from random import Random

import pytest
from support.cold_backends import Cold
from support.cold_beliefs import replacing
from support.cold_samples import OPERATOR, SCOPE, STRANGERS, asked, belief_by, fact_by, turn_by
from support.tier_samples import NOW, scope_of
from support.timeline_reference import ASKERS, latest, place_of, question, world_of

from tiers.recollection import Place
from tiers.records import Hit, SearchQuery

HOUR = timedelta(hours=1)


async def _ids(cold: Cold, query: SearchQuery) -> list[str]:
    return [hit.id for hit in await cold.timeline.latest(SCOPE, query)]


@pytest.mark.parametrize("seed", [1, 2])
async def test_engines_answer_what_a_plain_list_answers(cold: Cold, seed: int) -> None:
    """Random worlds of topics, users, privacy and ends; hits are what a search would show."""
    random = Random(seed)
    world = world_of(random)
    for table, rows in world.items():
        await cold.archive.import_rows("acme", table, rows)
    records = [one for rows in world.values() for one in rows]
    found = 0
    for scope in ASKERS * 8:
        query = question(random)
        wanted = latest(records, scope, query)
        assert await cold.timeline.latest(scope, query) == tuple(wanted)
        found += len(wanted)
    assert found > 40, "the questions find something"


@pytest.mark.parametrize("seed", [3, 4])
async def test_pages_follow_each_other_without_gap_or_overlap(cold: Cold, seed: int) -> None:
    """From the place of its last record each page goes on, also where many happened at once."""
    random = Random(seed)
    world = world_of(random)
    for table, rows in world.items():
        await cold.archive.import_rows("acme", table, rows)
    records = {one.id: one for rows in world.values() for one in rows}
    pages = 0
    for scope in ASKERS * 4:
        query = question(random)
        whole = latest(list(records.values()), scope, query.model_copy(update={"limit": 200}))
        read: list[Hit] = []
        behind: Place | None = None
        while page := await cold.timeline.latest(
            scope, query.model_copy(update={"limit": 3}), behind=behind
        ):
            read += page
            behind = place_of(records[page[-1].id])
            pages += 1
        assert read == whole
    assert pages > 12, "the questions find more than a page"


async def test_nothing_is_an_empty_answer(cold: Cold) -> None:
    """No records, no kinds, kinds that nothing is stored as, ancestors, strangers."""
    assert await cold.timeline.latest(SCOPE, asked()) == ()
    turn, _ = await cold.turns.append_turn(SCOPE, turn_by())
    for query in (asked(kinds=()), asked(kinds=("document",)), asked(inherited=True)):
        assert await cold.timeline.latest(SCOPE, query) == ()
    for stranger in STRANGERS:
        assert await cold.timeline.latest(stranger, asked()) == ()
    assert await _ids(cold, asked("")) == [turn.id]


async def test_the_bounds_are_kept_to_the_microsecond(cold: Cold) -> None:
    """``since`` belongs to the window and ``until`` does not; equal moments come by their ids."""
    tick = timedelta(microseconds=1)
    moments = (NOW - tick, NOW, NOW, NOW + tick)
    turns = [turn_by(text=str(number), occurred_at=at) for number, at in enumerate(moments)]
    for turn in turns:
        await cold.turns.append_turn(SCOPE, turn)
    before, first, second, behind = (turn.id for turn in turns)
    same = sorted([first, second])
    assert await _ids(cold, asked()) == [behind, *same, before]
    assert await _ids(cold, asked(since=NOW, until=NOW + tick)) == same
    assert await _ids(cold, asked(since=NOW, limit=2)) == [behind, same[0]]


async def test_only_what_has_its_content_and_stands_is_there(cold: Cold) -> None:
    """Redacted turns, forgotten facts and beliefs that gave way are gone at once."""
    turn, _ = await cold.turns.append_turn(SCOPE, turn_by())
    fact, _ = await cold.semantic.put_fact(SCOPE, fact_by())
    await cold.beliefs.commit(SCOPE, belief_by())
    await cold.redactor.redact(OPERATOR, [turn.id], "asked to", NOW)
    await cold.review.forget(SCOPE, fact.id, "asked to", NOW)
    newer = belief_by(claim="Start on softs.")
    await replacing(cold, SCOPE, newer)
    assert await _ids(cold, asked()) == [newer.id]


async def test_a_question_to_the_past_leaves_out_beliefs_of_later(cold: Cold) -> None:
    """What was committed behind the moment is not there; what was active all along is."""
    held = belief_by(key=("stops", "number"))
    late = belief_by(key=("start", "compound")).model_copy(update={"recorded_at": NOW + 2 * HOUR})
    await cold.beliefs.commit(SCOPE, held)
    await cold.beliefs.commit(SCOPE, late)
    query = asked(kinds=("belief",), now=NOW + 3 * HOUR)
    assert await _ids(cold, query) == [late.id, held.id]
    assert await _ids(cold, query.model_copy(update={"as_of": NOW + HOUR})) == [held.id]
    other = scope_of(agent_id="engineer", topics=("weather",))
    assert await cold.timeline.latest(other, query) == ()
