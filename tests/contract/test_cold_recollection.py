"""The contract of ``Recollection``: conversations around hits, word counts, and what has ended."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import combinations
from typing import Any

import pytest
from support.cold_backends import Cold
from support.cold_beliefs import replacing
from support.cold_samples import (
    LONE_SURROGATE,
    OPERATOR,
    OTHER_AGENT,
    OTHER_GRAPH,
    SCOPE,
    STRANGERS,
    asked,
    belief_by,
    fact_by,
    rule_by,
    summary_by,
    turn_by,
)
from support.tier_samples import NOW, scope_of

from tiers.errors import UsageError
from tiers.recollection import Said, WordStatistics
from tiers.records import Fact, Scope, SearchQuery, ToolOutput, Turn

MINUTE = timedelta(minutes=1)
HOUR = timedelta(hours=1)


async def _told(cold: Cold, *texts: str, scope: Scope = SCOPE, **fields: object) -> list[Turn]:
    """Store turns, a minute between each and the next."""
    turns = []
    for number, text in enumerate(texts):
        turn = turn_by(scope, text, response="", **fields)
        at = turn.model_copy(update={"recorded_at": NOW + number * MINUTE})
        turns.append((await cold.turns.append_turn(scope, at))[0])
    return turns


def _texts(stretches: Sequence[Sequence[Said]]) -> list[str]:
    """Return the first word that was said in each turn, those of a stretch together."""
    return ["".join(said.text.partition(": ")[2][:1] for said in one) for one in stretches]


async def _around(
    cold: Cold,
    turns: Sequence[Turn],
    before: int = 1,
    after: int = 1,
    *,
    scope: Scope = SCOPE,
    as_of: datetime | None = None,
) -> list[str]:
    ids = [turn.id for turn in turns]
    return _texts(await cold.recollection.sight_around(scope, ids, before, after, (), as_of=as_of))


async def test_around_nothing_is_nothing(cold: Cold) -> None:
    """No ids, unknown ids, records that are no turns."""
    await _told(cold, "a")
    fact, _ = await cold.semantic.put_fact(SCOPE, fact_by())
    for ids in ([], ["unknown"], [fact.id]):
        assert await cold.recollection.sight_around(SCOPE, ids, 2, 2, ()) == ()


async def test_a_turn_is_shown_with_those_before_and_behind_it(cold: Cold) -> None:
    """As many as asked for each way, or as many as there are; the same id twice is one."""
    turns = await _told(cold, *"abcdefg")
    for before, after, expected in (
        (0, 0, "d"),
        (2, 1, "bcde"),
        (16, 16, "abcdefg"),
        (0, 2, "def"),
    ):
        assert await _around(cold, [turns[3], turns[3]], before, after) == [expected]
    assert await _around(cold, [turns[0]], 3, 1) == ["ab"]
    assert await _around(cold, [turns[6]], 1, 3) == ["fg"]


async def test_stretches_that_touch_or_overlap_are_one(cold: Cold) -> None:
    """Whatever the order of the ids; where a turn lies between two stretches, they are two."""
    turns = await _told(cold, *"abcdefghij")
    assert await _around(cold, [turns[6], turns[2]]) == ["bcd", "fgh"]
    assert await _around(cold, [turns[5], turns[2]]) == ["bcdefg"]
    assert await _around(cold, [turns[2], turns[4]]) == ["bcdef"]
    assert await _around(cold, [turns[8], turns[0], turns[1]], 0, 0) == ["ab", "i"]
    assert await _around(cold, [turns[0], turns[4], turns[9]], 3, 0) == ["abcde", "ghij"]
    assert await _around(cold, [turns[0], turns[4], turns[9]], 2, 0) == ["a", "cde", "hij"]


async def test_the_order_is_that_of_recording_whatever_the_agent(cold: Cold) -> None:
    """Not of when it was said; of the same moment, of arrival."""
    for number in range(6):
        scope = SCOPE if number % 2 else OTHER_AGENT
        said = NOW - number * HOUR
        turn = turn_by(scope, "abcdef"[number], response="", occurred_at=said)
        await cold.turns.append_turn(scope, turn)
    (middle,) = await cold.turns.turns_from(OPERATOR, 3, 1)
    (stretch,) = await cold.recollection.sight_around(SCOPE, [middle.id], 2, 2, ())
    assert _texts([stretch]) == ["abcde"]
    assert [said.agent_id for said in stretch] == ["engineer", "strategist"] * 2 + ["engineer"]


async def test_what_was_said_is_told_as_a_hit_shows_it(cold: Cold) -> None:
    """The text of the searchable form, who spoke, whose it is, and both moments."""
    turn = turn_by(
        SCOPE.model_copy(update={"user_id": "team"}),
        "Box?",
        response="Negative.",
        speaker="Ada",
        tool_outputs=(ToolOutput(tool="telemetry", output="x" * 9_000),),
        occurred_at=NOW - HOUR,
    )
    await cold.turns.append_turn(OPERATOR, turn)
    await cold.turns.append_turn(SCOPE, turn_by(text="Hm.", response=""))
    ((said, after),) = await cold.recollection.sight_around(OPERATOR, [turn.id], 0, 1, ())
    (hit,) = await cold.words.search_words(OPERATOR, asked("negative"))
    assert said.text == hit.text
    assert said.text.startswith("Ada: Box?\nNegative.\ntelemetry: xxx")
    assert said._replace(text="") == Said(
        turn.id, "strategist", "team", "Ada", "", NOW - HOUR, turn.recorded_at
    )
    assert (after.speaker, after.user_id, after.text) == ("strategist", None, "strategist: Hm.")


async def test_turns_that_are_not_to_be_seen_are_as_if_they_were_not_there(cold: Cold) -> None:
    """Private to another, of another user or topic, redacted: those around them are neighbours."""
    hidden = OPERATOR.for_agent("engineer")
    told = []
    for number, text in enumerate("abcdefgh"):
        fields: dict[str, Any] = {"private": True} if number == 3 else {}
        fields |= {"topics": ("weather",)} if number == 4 else {}
        writer = OTHER_AGENT.model_copy(update={"user_id": "ann" if number == 5 else None})
        turn = turn_by(writer, text, response="", **fields)
        told.append((await cold.turns.append_turn(hidden, turn))[0])
    await cold.redactor.redact(OPERATOR, [told[2].id], "asked", NOW)
    assert await _around(cold, [told[1]], 1, 1) == ["abg"]
    assert await _around(cold, [told[1], told[6]], 0, 0) == ["bg"]
    for number in (2, 3, 4, 5):
        assert await _around(cold, [told[number]], 2, 2) == []
    assert await _around(cold, [told[1]], 0, 2, scope=OPERATOR) == ["bef"]


async def test_nothing_is_around_for_strangers(cold: Cold) -> None:
    """Another topic, graph or tenant."""
    (turn,) = await _told(cold, "a")
    for stranger in STRANGERS:
        assert await cold.recollection.sight_around(stranger, [turn.id], 2, 2, ()) == ()


async def test_around_a_moment_of_the_past_nothing_came_later(cold: Cold) -> None:
    """Turns recorded after ``as_of`` are neither found nor neighbours; at that moment they are."""
    turns = await _told(cold, *"abcdef")
    assert await _around(cold, turns[2:3], 1, 9, as_of=NOW + 3 * MINUTE) == ["bcd"]
    assert await _around(cold, turns[4:5], 1, 9, as_of=NOW + 3 * MINUTE) == []


async def test_what_is_asked_around_is_bounded(cold: Cold) -> None:
    """200 different ids, 16 turns each way; ids that have no UTF-8 form are a mistake."""
    assert (
        await cold.recollection.sight_around(SCOPE, [str(n) for n in range(200)] * 2, 16, 16, ())
        == ()
    )
    for ids, before, after in (
        ([str(n) for n in range(201)], 1, 1),
        (["a"], 17, 1),
        (["a"], 1, 17),
        (["a"], -1, 1),
        ([LONE_SURROGATE], 1, 1),
    ):
        with pytest.raises(UsageError):
            await cold.recollection.sight_around(SCOPE, ids, before, after, ())


async def test_speakers_are_told_by_name(cold: Cold) -> None:
    """Each once, the agent's id where nobody is named; of every agent and topic, of this graph."""
    assert await cold.recollection.speakers(SCOPE, 9) == ()
    for speaker in ("Zoe", "", "Ada", "Zoe", "éva"):
        await _told(cold, "a", speaker=speaker)
    await _told(cold, "a", scope=OTHER_AGENT, speaker="Bob", private=True)
    await _told(cold, "a", scope=OTHER_GRAPH, speaker="Eve")
    (gone,) = await _told(cold, "a", speaker="Mallory")
    await cold.redactor.redact(OPERATOR, [gone.id], "asked", NOW)
    expected = ("Ada", "Bob", "Zoe", "strategist", "éva")
    assert await cold.recollection.speakers(SCOPE, 9) == expected
    assert await cold.recollection.speakers(SCOPE, 2) == expected[:2]
    with pytest.raises(UsageError):
        await cold.recollection.speakers(SCOPE, 0)


async def test_words_are_counted_by_their_stems_in_the_own_graph(cold: Cold) -> None:
    """Of the asked kinds, whoever may see the records; stop words are not counted."""
    empty = await cold.recollection.word_statistics(SCOPE, "the tyres", ("turn",))
    assert empty == WordStatistics(0, {"tyres": 0})
    await _told(cold, "tyres tyres", "the tyre is worn", "Lap?")
    await cold.semantic.put_fact(SCOPE, fact_by(text="tyres", private=True))
    await cold.procedural.put_rule(SCOPE, rule_by(trigger="tyre"))
    await _told(cold, "tyres", scope=OTHER_GRAPH)
    question = "which tyre was worn on lap 18, TYRES?"
    for asker in (SCOPE, scope_of(agent_id="x", topics=())):
        turns = await cold.recollection.word_statistics(asker, question, ("turn",))
        assert turns.records == 3
        assert turns.having == {"tyre": 2, "worn": 1, "lap": 1, "18": 0, "tyres": 2}
    kinds = ("turn", "fact", "rule", "document")
    assert await cold.recollection.word_statistics(SCOPE, "tyres", kinds) == (5, {"tyres": 4})
    assert await cold.recollection.word_statistics(SCOPE, "tyres", ()) == (0, {"tyres": 0})
    assert (await cold.recollection.word_statistics(SCOPE, "?!", kinds)).having == {}


async def _ended(cold: Cold, scope: Scope, query: SearchQuery) -> list[str]:
    return [hit.id for hit in await cold.recollection.ended(scope, query)]


async def _past(cold: Cold, scope: Scope = SCOPE, **fields: object) -> list[str]:
    """Let a fact be superseded after an hour, one forgotten after two, and a belief after three.

    And a summary expire after four. Return their ids, those that ended last first.
    """
    old, gone, new = (fact_by(scope, f"{text} tyres", **fields) for text in ("old", "bad", "new"))
    for fact in (old, gone, new):
        await cold.semantic.put_fact(scope, fact)
    await cold.semantic.supersede(scope, old.id, new.id, NOW + HOUR)
    await cold.review.forget(scope, gone.id, "wrong", NOW + 2 * HOUR)
    belief = belief_by(scope, "Mediums.", **fields)
    await cold.beliefs.commit(scope, belief)
    await cold.beliefs.revert(scope, belief.id, "wrong", NOW + 3 * HOUR)
    (turn,) = await _told(cold, "a", scope=scope, **fields)
    summary = summary_by(scope, [turn], expires_at=NOW + 4 * HOUR, **fields)
    await cold.episodic.put_summary(scope, summary)
    return [summary.id, belief.id, gone.id, old.id]


async def test_what_has_ended_since_is_told_the_last_first(cold: Cold) -> None:
    """Of the asked kinds, at most as many as asked for; nothing without a moment."""
    past = await _past(cold)
    now = NOW + 9 * HOUR
    then = asked("of no matter", as_of=NOW, now=now)
    assert await _ended(cold, SCOPE, then) == past
    for hours, expected in ((1, past[:3]), (2, past[:2]), (3, past[:1]), (4, []), (-1, [])):
        later = then.model_copy(update={"as_of": NOW + hours * HOUR})
        assert await _ended(cold, SCOPE, later) == expected, hours
    assert await _ended(cold, SCOPE, asked(as_of=NOW, now=NOW + 3 * HOUR)) == past[1:]
    assert await _ended(cold, SCOPE, then.model_copy(update={"limit": 2})) == past[:2]
    for number, kind in enumerate(("summary", "belief", "fact")):
        of_kind = then.model_copy(update={"kinds": (kind,)})
        assert await _ended(cold, SCOPE, of_kind) == past[number : number + 1 + 2 * (number == 2)]
    assert await _ended(cold, SCOPE, asked(now=now)) == []
    assert await _ended(cold, SCOPE, then.model_copy(update={"inherited": True})) == []


NARROWING = {
    "user_id": "ann",
    "writer_id": SCOPE.agent_id,
    "topics": ("pit",),
    "all_topics": ("pit", "wall"),
    "since": NOW - HOUR,
    "tier": "archival",
}


NARROWED = [
    names for count in range(len(NARROWING) + 1) for names in combinations(NARROWING, count)
]


async def test_narrowing_goes_with_any_other(cold: Cold) -> None:
    """Asked of each question that looks at what words, moments and endings order by."""
    past = await _past(cold, scope_of(user_id="ann"), topics=("pit", "wall"))
    whole = asked("tyres", as_of=NOW, now=NOW + 9 * HOUR)
    asker = scope_of(topics=("pit", "wall"), denied=("box",), user_id="ann")
    for names in NARROWED:
        query = whole.model_copy(update={name: NARROWING[name] for name in names})
        assert await _ended(cold, asker, query) == past
        told = await cold.timeline.latest(asker, query)
        assert past[-1] in {hit.id for hit in told}
        assert past[-1] in {hit.id for hit in await cold.words.search_words(asker, query)}
        other = query.model_copy(update={"writer_id": "another"})
        assert await _ended(cold, asker, other) == []


async def test_what_has_ended_is_shown_as_any_hit(cold: Cold) -> None:
    """With its text, times and sources; scores say nothing."""
    past = await _past(cold)
    hits = await cold.recollection.ended(SCOPE, asked(as_of=NOW, now=NOW + 9 * HOUR))
    assert [(hit.kind, hit.tier, hit.score) for hit in hits] == [
        (kind, "cold", 0.0) for kind in ("summary", "belief", "fact", "fact")
    ]
    assert [hit.text for hit in hits][1:] == ["Mediums.", "bad tyres", "old tyres"]
    assert [hit.fact_tier for hit in hits] == [None, None, "archival", "archival"]
    assert hits[0].source_ids
    assert [hit.id for hit in hits] == past


async def test_all_conditions_hold_of_what_has_ended(cold: Cold) -> None:
    """User, writer, topics, tier of facts, and when it happened; what came later was not there."""
    team = SCOPE.model_copy(update={"user_id": "team"})
    past = await _past(cold, team, user_id="team")
    base = asked(as_of=NOW, now=NOW + 9 * HOUR)
    for fields, is_found in (
        ({"user_id": "team"}, True),
        ({"user_id": "tea"}, False),
        ({"writer_id": "strategist"}, True),
        ({"writer_id": "engineer"}, False),
        ({"topics": ("rain", "tyres")}, True),
        ({"topics": ("rain",)}, False),
        ({"all_topics": ("tyres",)}, True),
        ({"all_topics": ("rain", "tyres")}, False),
        ({"since": NOW, "until": NOW + MINUTE}, True),
        ({"since": NOW + MINUTE}, False),
        ({"until": NOW}, False),
        ({"grains": ("weekly",)}, True),
        ({"as_of": NOW - MINUTE}, False),
    ):
        query = base.model_copy(update=fields)
        assert await _ended(cold, team, query) == (past if is_found else []), fields
    for ids in (past[:1], ["x"]):
        query = base.model_copy(update={"ids": tuple(ids)})
        assert await _ended(cold, team, query) == [one for one in past if one in ids]
    cores = base.model_copy(update={"tier": "core"})
    assert await _ended(cold, team, cores) == past[:2]


async def test_strangers_are_not_told_what_has_ended(cold: Cold) -> None:
    """Nor are others what was private, or another user's."""
    await _past(cold)
    query = asked(as_of=NOW, now=NOW + 9 * HOUR)
    for stranger in STRANGERS:
        assert await _ended(cold, stranger, query) == []


async def test_others_are_not_told_what_was_private_or_another_users(cold: Cold) -> None:
    """Whoever wrote it is."""
    past = await _past(cold, private=True)
    query = asked(as_of=NOW, now=NOW + 9 * HOUR)
    assert await _ended(cold, SCOPE, query) == past
    assert await _ended(cold, OTHER_AGENT, query) == await _ended(cold, OPERATOR, query) == []
    team = SCOPE.model_copy(update={"user_id": "team"})
    await _past(cold, team, user_id="team")
    assert await _ended(cold, SCOPE, query) == past


async def test_destroyed_content_is_gone_from_every_moment(cold: Cold) -> None:
    """Neither ended nor found in the past: redaction and retention reach back."""
    past = await _past(cold)
    query = asked("tyres mediums redacted", as_of=NOW, now=NOW + 9 * HOUR)
    await cold.redactor.redact(OPERATOR, [past[1], past[2]], "asked", NOW + 5 * HOUR)
    await cold.grains.retire(OPERATOR, [past[0], past[3]], "too old", NOW + 5 * HOUR)
    assert await _ended(cold, SCOPE, query) == []
    assert not set(past) & {hit.id for hit in await cold.words.search_words(SCOPE, query)}


async def test_a_belief_that_came_back_was_not_there_in_between(cold: Cold) -> None:
    """Active, over and active again: nothing tells of it at the moment in between.

    The one that was active then has ended.
    """
    first, second = belief_by(claim="Start on mediums."), belief_by(claim="Start on softs.")
    second = second.model_copy(update={"recorded_at": NOW + HOUR})
    await cold.beliefs.commit(SCOPE, first)
    await replacing(cold, SCOPE, second)
    await cold.beliefs.revert(SCOPE, second.id, "wrong", NOW + 2 * HOUR)
    for minutes, found, ended in (
        (-1, [], []),
        (0, [first.id], []),
        (59, [first.id], []),
        (60, [], [second.id]),
        (119, [], [second.id]),
        (120, [first.id], []),
    ):
        then = asked("start", as_of=NOW + minutes * MINUTE, now=NOW + 3 * HOUR)
        assert [hit.id for hit in await cold.words.search_words(SCOPE, then)] == found, minutes
        assert await _ended(cold, SCOPE, then) == ended, minutes


async def test_a_fact_that_gave_way_at_an_unknown_moment_has_not_ended(cold: Cold) -> None:
    """It counts as superseded at every moment, as it does for ancestors read as of one."""
    fact: Fact = fact_by(text="tyres", superseded_by="x")
    await cold.semantic.put_fact(SCOPE, fact)
    query = asked("tyres", as_of=NOW, now=NOW + HOUR)
    assert await _ended(cold, SCOPE, query) == []
    assert await cold.words.search_words(SCOPE, query) == ()


async def _former(cold: Cold, scope: Scope, query: SearchQuery, latest: int = 0) -> list[str]:
    hits = await cold.recollection.former(scope, query, latest=latest)
    return [hit.id for hit in hits]


async def test_former_facts_are_those_that_were_true(cold: Cold) -> None:
    """Not what stands, was forgotten, denied, gave way as a duplicate, or lost its content."""
    texts = ("old", "denied", "twice", "gone", "emptied", "new")
    facts = {text: fact_by(SCOPE, f"{text} tyres") for text in texts}
    for fact in facts.values():
        await cold.semantic.put_fact(SCOPE, fact)
    new = facts["new"].id
    for text, how in (("old", "natural"), ("emptied", "natural"), ("denied", "denial")):
        await cold.semantic.supersede(SCOPE, facts[text].id, new, NOW + HOUR, how=how)
    await cold.semantic.supersede(SCOPE, facts["twice"].id, new, NOW + HOUR, how="duplicate")
    await cold.review.forget(SCOPE, facts["gone"].id, "wrong", NOW + HOUR)
    await cold.redactor.redact(OPERATOR, [facts["emptied"].id], "asked to", NOW + HOUR)
    query = asked("tyres", now=NOW + 9 * HOUR)
    assert await _former(cold, SCOPE, query) == [facts["old"].id]
    (hit,) = await cold.recollection.former(SCOPE, query)
    assert (hit.kind, hit.tier, hit.text, hit.score) == ("fact", "cold", "old tyres", 0.0)
    assert hit.valid_to == NOW + HOUR
    wordless = query.model_copy(update={"text": "of no matter"})
    assert await _former(cold, SCOPE, wordless) == []
    assert await _former(cold, SCOPE, wordless, latest=8) == [facts["old"].id]
    for fields in ({"kinds": ("turn",)}, {"inherited": True}, {"as_of": NOW + HOUR - MINUTE}):
        assert await _former(cold, SCOPE, query.model_copy(update=fields), latest=8) == []
    then = query.model_copy(update={"as_of": NOW + HOUR})
    assert await _former(cold, SCOPE, then, latest=8) == [facts["old"].id]


async def _learnt(cold: Cold, text: str, *turns: str) -> Fact:
    fact = fact_by(SCOPE, text, source_ids=turns)
    await cold.semantic.put_fact(SCOPE, fact)
    return fact


async def _outdated(cold: Cold, *turns: str, **fields: datetime) -> dict[str, str]:
    found = await cold.recollection.outdated(SCOPE, turns, **fields)
    return {turn_id: fact.text for turn_id, fact in found.items()}


async def test_what_a_turn_said_is_outdated_by_what_took_its_place(cold: Cold) -> None:
    """By the last that did; before that moment, by the one before, and by none before the first."""
    first, second, third = [
        await _learnt(cold, f"Ada lives in {town}", turn)
        for town, turn in (("Rome", "t1"), ("Oslo", "t2"), ("Graz", "t3"))
    ]
    await cold.semantic.supersede(SCOPE, first.id, second.id, NOW + HOUR)
    await cold.semantic.supersede(SCOPE, second.id, third.id, NOW + 2 * HOUR)
    assert await _outdated(cold, "t1", "t2", "t3", "t4") == {"t1": third.text, "t2": third.text}
    assert await _outdated(cold, "t1", "t2", as_of=NOW + HOUR) == {"t1": second.text}
    assert await _outdated(cold, "t1", "t2", as_of=NOW + HOUR - MINUTE) == {}
    assert await _outdated(cold) == {}
    with pytest.raises(UsageError, match="turn_ids"):
        await cold.recollection.outdated(SCOPE, ["t"] * 201)


async def test_a_turn_of_which_something_holds_is_not_outdated(cold: Cold) -> None:
    """Nor one that was only said twice, or whose successor is gone or nobody's to see."""
    old, dog = [await _learnt(cold, text, "t1") for text in ("Ada is in Rome", "Ada has a dog")]
    new = await _learnt(cold, "Ada is in Oslo", "t2")
    await cold.semantic.supersede(SCOPE, old.id, new.id, NOW + HOUR)
    assert await _outdated(cold, "t1") == {}
    await cold.review.forget(SCOPE, dog.id, "wrong", NOW + HOUR)
    assert await _outdated(cold, "t1") == {"t1": new.text}
    twice = await _learnt(cold, "Ada is in Oslo now", "t3")
    await cold.semantic.supersede(SCOPE, twice.id, new.id, NOW + HOUR, how="duplicate")
    assert await _outdated(cold, "t3") == {}
    await cold.review.forget(SCOPE, new.id, "wrong", NOW + HOUR)
    assert await _outdated(cold, "t1") == {}


@pytest.mark.parametrize(
    ("old", "new", "until"),
    [
        ({"valid_to": NOW - HOUR}, {"valid_from": NOW - MINUTE}, NOW - HOUR),
        ({"valid_from": NOW - 2 * HOUR}, {"valid_from": NOW - MINUTE}, NOW - MINUTE),
        ({"valid_from": NOW - MINUTE}, {"valid_from": NOW - HOUR}, NOW + HOUR),
        ({}, {"said_at": NOW - MINUTE}, NOW - MINUTE),
        ({"valid_from": NOW + 9 * HOUR}, {}, None),
    ],
)
async def test_a_former_fact_says_until_when_it_held(
    cold: Cold, old: dict[str, datetime], new: dict[str, datetime], until: datetime | None
) -> None:
    """What never began to hold is not among them."""
    facts = fact_by(SCOPE, "old tyres", **old), fact_by(SCOPE, "new tyres", **new)
    for fact in facts:
        await cold.semantic.put_fact(SCOPE, fact)
    await cold.semantic.supersede(SCOPE, facts[0].id, facts[1].id, NOW + HOUR)
    hits = await cold.recollection.former(SCOPE, asked("tyres"))
    assert [hit.valid_to for hit in hits] == ([] if until is None else [until])


async def test_narrowing_holds_of_former_facts(cold: Cold) -> None:
    """One condition with any other, as of what has ended since."""
    old = (await _past(cold, scope_of(user_id="ann"), topics=("pit", "wall")))[-1]
    whole = asked("tyres", now=NOW + 9 * HOUR)
    asker = scope_of(topics=("pit", "wall"), denied=("box",), user_id="ann")
    for names in NARROWED:
        query = whole.model_copy(update={name: NARROWING[name] for name in names})
        assert await _former(cold, asker, query, latest=8) == [old]
        other = query.model_copy(update={"writer_id": "another"})
        assert await _former(cold, asker, other, latest=8) == []


async def test_strangers_are_not_told_former_facts(cold: Cold) -> None:
    """Nor are others what was private, or another user's."""
    await _past(cold)
    query = asked("tyres", now=NOW + 9 * HOUR)
    assert len(await _former(cold, SCOPE, query, 8)) == 1
    for stranger in STRANGERS:
        assert await _former(cold, stranger, query, 8) == []
    await _past(cold, private=True)
    assert len(await _former(cold, SCOPE, query, 8)) == 2
    assert len(await _former(cold, OTHER_AGENT, query, 8)) == 1
