"""The contract of ``LexicalIndex``: its scores, and what is asked of records besides words."""

from __future__ import annotations

import math
from datetime import timedelta
from pathlib import Path
from random import Random

import pytest
from support.cold_backends import Cold, ColdBackend
from support.cold_kinds import one_of_each
from support.cold_samples import (
    OPERATOR,
    OTHER_AGENT,
    OTHER_GRAPH,
    SCOPE,
    STRANGERS,
    asked,
    belief_by,
    episode_by,
    fact_by,
    rule_by,
    summary_by,
    turn_by,
)
from support.tier_samples import NOW, scope_of

from tiers.records import Scope, SearchQuery, ToolOutput

DAY, HOUR, SECOND = timedelta(days=1), timedelta(hours=1), timedelta(seconds=1)
HOW_PEOPLE_TALK = (
    "melanie painted a lake at sunrise when she was away with her kids and i did not paint at all "
    "the kids and the lake and the sunrise"
).split()


async def _found(cold: Cold, scope: Scope, query: SearchQuery) -> list[str]:
    return [hit.id for hit in await cold.words.search_words(scope, query)]


@pytest.mark.parametrize("graph", ["alone", "beside others"])
async def test_scores_are_bm25_over_the_graph(cold: Cold, graph: str) -> None:
    """With ``k1 = 1.2`` and ``b = 0.75``; N and how many have a word, over the asked kinds.

    The average length is that of all records of the graph, in words as ``tiers.lexical.words`` cuts
    them; a term that is asked for twice counts twice.
    """
    if graph != "alone":
        for number in range(9):
            await cold.semantic.put_fact(OTHER_GRAPH, fact_by(OTHER_GRAPH, f"tyres {number} " * 9))
    texts = ("box", "box box the tyres", "tyres and laps " * 5, "laps")
    ids = [(await cold.semantic.put_fact(SCOPE, fact_by(text=text)))[0].id for text in texts]
    await cold.procedural.put_rule(SCOPE, rule_by(trigger="tyre", steps=("Box box box now.",)))
    average = (1 + 4 + 15 + 1 + 6) / 5

    def weighed(having: int, times: int, length: int) -> float:
        rarity = math.log(1 + (4 - having + 0.5) / (having + 0.5))
        return rarity * 2.2 * times / (times + 1.2 * (0.25 + 0.75 * length / average))

    expected = {
        ids[0]: weighed(2, 1, 1),
        ids[1]: weighed(2, 2, 4) + 2 * weighed(2, 1, 4),
        ids[2]: 2 * weighed(2, 5, 15),
    }
    hits = await cold.words.search_words(SCOPE, asked("tyre box TYRES", kinds=("fact",)))
    assert {hit.id: hit.score for hit in hits} == pytest.approx(expected, rel=1e-9)


async def test_five_graphs_in_one_store_rank_as_in_stores_of_their_own(
    backend: ColdBackend, tmp_path: Path
) -> None:
    """Each scope finds the same records in the same order with the same scores."""
    scopes = [scope_of(graph_id=f"talk {number}") for number in range(5)]
    random = Random(7)
    said = {
        scope.graph_id: [
            turn_by(scope, " ".join(random.choices(HOW_PEOPLE_TALK, k=random.randint(2, 20))))
            for _ in range(12)
        ]
        for scope in scopes
    }
    question = asked("when did melanie paint her sunrise", kinds=("turn",))
    alone = []
    for number, scope in enumerate(scopes):
        async with backend.opened(tmp_path / str(number)) as cold:
            for turn in said[scope.graph_id]:
                await cold.turns.append_turn(scope, turn)
            alone.append(await cold.words.search_words(scope, question))
    async with backend.opened(tmp_path / "together") as cold:
        for turns in zip(*said.values(), strict=True):
            for scope, turn in zip(scopes, turns, strict=True):
                await cold.turns.append_turn(scope, turn)
        assert [await cold.words.search_words(scope, question) for scope in scopes] == alone
    assert all(len(hits) > 2 for hits in alone)


async def test_a_question_in_meaning_alone_has_no_words(cold: Cold) -> None:
    """``mode`` says which legs answer; the words' own does for ``words`` and ``hybrid``."""
    await one_of_each(cold)
    assert await _found(cold, SCOPE, asked("tyres", mode="dense")) == []
    assert len(await _found(cold, SCOPE, asked("tyres", mode="words"))) == 6
    assert len(await _found(cold, SCOPE, asked("tyres", mode="hybrid"))) == 6


async def test_turns_are_found_by_what_tools_returned(cold: Cold) -> None:
    """As turns, among ``turn`` as under ``tool_output``, which adds nothing where both are asked.

    Only the beginning of a long output is searchable.
    """
    output = ToolOutput(tool="telemetry", output="graining " + "x " * 2_500 + "blistered")
    with_tool, _ = await cold.turns.append_turn(SCOPE, turn_by(tool_outputs=(output,)))
    plain, _ = await cold.turns.append_turn(SCOPE, turn_by(text="graining of mediums"))
    question = "graining telemetry mediums"
    (hit,) = await cold.words.search_words(SCOPE, asked(question, kinds=("tool_output",)))
    assert (hit.id, hit.kind) == (with_tool.id, "turn")
    assert "telemetry: graining" in hit.text
    turns = await cold.words.search_words(SCOPE, asked(question, kinds=("turn",)))
    assert {one.id for one in turns} == {with_tool.id, plain.id}
    both = await cold.words.search_words(SCOPE, asked(question, kinds=("tool_output", "turn")))
    assert both == turns
    assert await _found(cold, SCOPE, asked("blistered")) == []
    await cold.grains.retire(OPERATOR, [with_tool.id], "too old", NOW)
    assert await _found(cold, SCOPE, asked("retired graining", kinds=("tool_output",))) == []


async def test_questions_are_kept_to_when_it_happened(cold: Cold) -> None:
    """``since`` is in, ``until`` is out; what has no moment of its own happened when recorded."""
    at = {"occurred_at": NOW - DAY, "starts_at": NOW - DAY, "valid_from": NOW - DAY}
    turn, _ = await cold.turns.append_turn(SCOPE, turn_by(text="tyres", occurred_at=NOW - DAY))
    summary = summary_by(SCOPE, [turn], text="tyres", starts_at=at["starts_at"])
    await cold.episodic.put_summary(SCOPE, summary)
    episode = episode_by(SCOPE, [summary.id], text="tyres", starts_at=at["starts_at"])
    await cold.episodic.put_episode(SCOPE, episode)
    fact, _ = await cold.semantic.put_fact(SCOPE, fact_by(text="tyres", valid_from=NOW - DAY))
    earlier = {turn.id, summary.id, episode.id, fact.id}
    timeless, _ = await cold.semantic.put_fact(SCOPE, fact_by(text="tyres always"))
    rule, _ = await cold.procedural.put_rule(SCOPE, rule_by(trigger="tyres"))
    belief = belief_by(claim="tyres")
    await cold.beliefs.commit(SCOPE, belief)
    recorded = {timeless.id, rule.id, belief.id}
    for since, until, expected in (
        (NOW - DAY, NOW, earlier),
        (NOW - DAY + SECOND, None, recorded),
        (NOW, NOW + SECOND, recorded),
        (None, NOW - DAY, set()),
        (None, NOW, earlier),
    ):
        query = asked("tyres", since=since, until=until)
        assert set(await _found(cold, SCOPE, query)) == expected


async def test_questions_are_kept_to_topics_writers_and_grains(cold: Cold) -> None:
    """Topics narrow what the scope lets see, and never widen it; grains concern episodes alone."""
    records = await one_of_each(cold)
    mine = {record.id for record in records.values()}
    theirs, _ = await cold.semantic.put_fact(
        OTHER_AGENT, fact_by(OTHER_AGENT, "more tyres", topics=("strategy",))
    )
    weekly = episode_by(SCOPE, ["x"], text="a week of tyres", grain="weekly")
    await cold.episodic.put_episode(SCOPE, weekly)
    found = {
        frozenset(fields.items()): set(await _found(cold, SCOPE, asked("tyres", **fields)))
        for fields in (
            {"topics": ("strategy", "rain")},
            {"topics": ("rain",)},
            {"writer_id": "strategist"},
            {"writer_id": "engineer"},
            {"grains": ("weekly", "monthly")},
            {"grains": ("daily",), "writer_id": "strategist"},
            {"all_topics": ("strategy", "rain")},
            {"all_topics": ("strategy",)},
        )
    }
    assert list(found.values()) == [
        {theirs.id},
        set(),
        mine | {weekly.id},
        {theirs.id},
        mine - {records["episode"].id} | {weekly.id, theirs.id},
        mine,
        set(),
        {theirs.id},
    ]
    both, _ = await cold.semantic.put_fact(SCOPE, fact_by(text="tyres", topics=("a", "b", "tyres")))
    for all_of in (("a", "b"), ("a",), ("a", "b", "tyres")):
        found_both = await _found(cold, SCOPE, asked("tyres", all_topics=all_of))
        assert set(found_both) == {both.id}, all_of
    assert await _found(cold, SCOPE, asked("tyres", all_topics=("a", "strategy"))) == []
    narrow = scope_of(agent_id="x", topics=("tyres",))
    assert await _found(cold, narrow, asked("tyres", topics=("strategy",))) == []
    two = {theirs.id, weekly.id}
    assert set(await _found(cold, SCOPE, asked("tyres", ids=(*two, "x"), limit=2))) == two
    assert await _found(cold, SCOPE, asked("tyres", ids=("x",))) == []
    assert await _found(cold, narrow, asked("tyres", ids=(theirs.id,))) == []


async def test_the_past_is_what_had_been_recorded_and_was_not_over(cold: Cold) -> None:
    """A fact that gave way since is found, one that had by then is not; so are summaries.

    Of beliefs those that are active now and were then: ``Recollection.ended`` has the others.
    """
    old, gone, new, late = (
        fact_by(text=f"tyres {text}", minute=60 * hours)
        for text, hours in (("old", 0), ("bad", 0), ("new", 1), ("late", 5))
    )
    for fact in (old, gone, new, late):
        await cold.semantic.put_fact(SCOPE, fact)
    await cold.semantic.supersede(SCOPE, old.id, new.id, NOW + HOUR)
    await cold.review.forget(SCOPE, gone.id, "wrong", NOW + 2 * HOUR)
    turn, _ = await cold.turns.append_turn(SCOPE, turn_by(text="hello"))
    summary = summary_by(SCOPE, [turn], text="tyres", expires_at=NOW + 3 * HOUR)
    await cold.episodic.put_summary(SCOPE, summary)
    kept, over = belief_by(claim="tyres"), belief_by(claim="tyres", key=("end", "compound"))
    for belief in (kept, over):
        await cold.beliefs.commit(SCOPE, belief)
    await cold.beliefs.revert(SCOPE, over.id, "wrong", NOW + 4 * HOUR)
    for hours, expected in (
        (-1, ()),
        (0, (old, gone, summary, kept)),
        (1, (gone, new, summary, kept)),
        (2, (new, summary, kept)),
        (3, (new, kept)),
        (5, (new, late, kept)),
    ):
        then = asked("tyres", as_of=NOW + hours * HOUR, now=NOW + 9 * HOUR)
        found = set(await _found(cold, SCOPE, then))
        assert found == {record.id for record in expected}, hours
    then = asked("tyres", as_of=NOW, now=NOW + 9 * HOUR, limit=1)
    assert len(await _found(cold, SCOPE, then)) == 1
    for stranger in STRANGERS:
        assert await _found(cold, stranger, then) == []


async def test_hits_say_what_recall_weighs_them_by(cold: Cold) -> None:
    """Whose they are; of a fact its tier and uses, of an episode its grain."""
    team = SCOPE.model_copy(update={"user_id": "team"})
    fact, _ = await cold.semantic.put_fact(team, fact_by(team, "tyres", tier="core"))
    await cold.semantic.add_uses({team: {"cause": [fact.id]}}, NOW + DAY)
    await cold.episodic.put_episode(SCOPE, episode_by(SCOPE, ["x"], text="tyres", grain="weekly"))
    hits = {hit.kind: hit for hit in await cold.words.search_words(team, asked("tyres"))}
    told = hits["fact"]
    assert (told.user_id, told.fact_tier, told.grain) == ("team", "core", None)
    assert (told.uses, told.last_used_at) == (1, NOW + DAY)
    told = hits["episode"]
    assert (told.user_id, told.fact_tier, told.grain) == (None, None, "weekly")
    assert (told.uses, told.last_used_at) == (0, None)
