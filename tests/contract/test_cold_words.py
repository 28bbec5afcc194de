"""The contract of ``LexicalIndex``."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from support.cold_backends import Cold
from support.cold_beliefs import replacing
from support.cold_kinds import one_of_each
from support.cold_samples import (
    HOSTILE_QUERIES,
    LONE_SURROGATE,
    OPERATOR,
    OTHER_AGENT,
    OTHER_GRAPH,
    SCOPE,
    STRANGERS,
    asked,
    belief_by,
    draft,
    fact_by,
    heir_of,
    summary_by,
    turn_by,
)
from support.tier_samples import NOW, TWINS, scope_of

from tiers.errors import UsageError
from tiers.records import Scope, SearchQuery

DAY = timedelta(days=1)


async def _found(cold: Cold, scope: Scope, query: SearchQuery) -> list[str]:
    return [hit.id for hit in await cold.words.search_words(scope, query)]


async def test_nothing_is_an_empty_answer(cold: Cold) -> None:
    """No records, no words, no kinds, no ids."""
    assert await cold.words.search_words(SCOPE, asked()) == ()
    await one_of_each(cold)
    for query in (asked(""), asked("  ?! "), asked("rain"), asked(kinds=())):
        assert await cold.words.search_words(SCOPE, query) == ()
    assert await cold.words.search_words(SCOPE, asked("tyres", kinds=("document",))) == ()
    assert await cold.words.entries(SCOPE, []) == ()
    assert await cold.words.entries(SCOPE, ["unknown"]) == ()


async def test_what_has_no_words_is_found_by_its_symbols(cold: Cold) -> None:
    """Where no word of the question tells; those of ASCII stand between anything."""
    texts = ("\U0001f355\ufe0f!", "->", "\U0001f355 is nice")
    facts = [fact_by(SCOPE, text=text) for text in texts]
    for fact in facts:
        await cold.semantic.put_fact(SCOPE, fact)
    for question in ("\U0001f355", "What about \U0001f355?"):
        assert await _found(cold, SCOPE, asked(question)) == [facts[0].id]
    for question in ("->", "nice \U0001f355"):
        assert facts[0].id not in await _found(cold, SCOPE, asked(question))


@pytest.mark.parametrize(
    ("asked_for", "said"),
    [("father", "Dad"), ("mother's", "Mum"), ("children", "kids"), ("dad", "father")],
)
async def test_parents_and_children_are_found_by_what_else_they_are_called(
    cold: Cold, asked_for: str, said: str
) -> None:
    """Who asks about a father means what was said of a dad; nobody else is found by it."""
    family, other = (
        fact_by(SCOPE, text=f"{said} took me to Lyme Regis."),
        fact_by(SCOPE, text="Uncle Joe took Anna to Rome."),
    )
    for fact in (family, other):
        await cold.semantic.put_fact(SCOPE, fact)

    assert await _found(cold, SCOPE, asked(f"Where was I with my {asked_for}?")) == [family.id]


async def test_every_kind_is_found_at_once(cold: Cold) -> None:
    """What was just written answers, by its kind and with its own facts."""
    records = await one_of_each(cold)
    hits = await cold.words.search_words(SCOPE, asked("a tyre"))
    assert {hit.kind: hit.id for hit in hits} == {
        kind: record.id for kind, record in records.items()
    }
    for hit in hits:
        record = records[hit.kind]
        assert (hit.tier, hit.graph_id, hit.agent_id) == ("cold", "race", "strategist")
        assert (hit.topics, hit.recorded_at) == (("tyres",), record.recorded_at)
        assert hit.score > 0
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


async def test_only_the_asked_kind_answers(cold: Cold) -> None:
    """Each kind alone."""
    records = await one_of_each(cold)
    for kind in ("turn", "summary", "episode", "fact", "rule", "belief"):
        assert await _found(cold, SCOPE, asked("tyres", kinds=(kind,))) == [records[kind].id]


async def test_turn_is_found_by_speaker_input_and_response(cold: Cold) -> None:
    """And shown as it was said, with its ``ref`` and when."""
    turn = turn_by(text="Box?", response="Negative.", speaker="Ada", ref="r", occurred_at=NOW - DAY)
    await cold.turns.append_turn(SCOPE, turn)
    for word in ("ada", "box", "negative"):
        (hit,) = await cold.words.search_words(SCOPE, asked(word))
        assert hit.text == "Ada: Box?\nNegative."
        assert (hit.speaker, hit.ref, hit.occurred_at) == ("Ada", "r", NOW - DAY)
        assert hit.source_ids == (turn.id,)


async def test_hits_name_what_they_rest_on(cold: Cold) -> None:
    """Summary, episode and fact name their sources, a fact its time of validity."""
    records = await one_of_each(cold)
    fact = fact_by(text="tyres wear", source_ids=("t1",), valid_from=NOW, valid_to=NOW + DAY)
    await cold.semantic.put_fact(SCOPE, fact)
    hits = {hit.id: hit for hit in await cold.words.search_words(SCOPE, asked("tyres"))}
    assert hits[records["summary"].id].source_ids == (records["turn"].id,)
    assert hits[records["episode"].id].source_ids == (records["summary"].id,)
    assert hits[fact.id].source_ids == ("t1",)
    assert (hits[fact.id].valid_from, hits[fact.id].valid_to) == (NOW, NOW + DAY)


async def test_rare_words_count_more_and_stop_words_nothing(cold: Cold) -> None:
    """The record with the one telling word comes before those with the common one."""
    for number in range(20):
        await cold.semantic.put_fact(SCOPE, fact_by(text=f"pit box box number {number}"))
    rare, _ = await cold.semantic.put_fact(
        SCOPE, fact_by(text="the undercut works here if the pit wall is quick about it")
    )
    hits = await cold.words.search_words(SCOPE, asked("is the undercut better than the box?"))
    assert hits[0].id == rare.id
    assert len(hits) == 21
    assert await _found(cold, SCOPE, asked("if the it is about here")) == [rare.id]


async def test_other_graphs_do_not_change_the_order(cold: Cold) -> None:
    """Word statistics are the graph's own: four times as many records elsewhere flatten nothing."""
    for number in range(25):
        await cold.semantic.put_fact(SCOPE, fact_by(text=f"box box box stand number {number}"))
    for number in range(25):
        await cold.semantic.put_fact(SCOPE, fact_by(text=f"tyres and fuel and lap {number}"))
    rare, _ = await cold.semantic.put_fact(
        SCOPE, fact_by(text="undercut is a long word for what is an early stop in the pit lane")
    )
    question = asked("undercut box", limit=5)
    before = await cold.words.search_words(SCOPE, question)
    assert before[0].id == rare.id
    elsewhere = [fact_by(OTHER_GRAPH, f"sea and sand {number}") for number in range(200)]
    await cold.archive.import_rows(OTHER_GRAPH.tenant, "facts", elsewhere)
    assert len(await _found(cold, OTHER_GRAPH, asked("sand", limit=200))) == 200
    after = await cold.words.search_words(SCOPE, question)
    assert [hit.id for hit in after] == [hit.id for hit in before]
    assert [hit.score for hit in after] == [hit.score for hit in before]


async def test_equal_scores_are_ordered_by_id_and_limited(cold: Cold) -> None:
    """The answer is the same every time, and no longer than asked."""
    ids = []
    for topic in range(9):
        fact = fact_by(text="same words", topics=(f"topic {topic}",))
        ids.append((await cold.semantic.put_fact(OPERATOR, fact.model_copy()))[0].id)
    assert await _found(cold, OPERATOR, asked("words")) == sorted(ids)
    assert await _found(cold, OPERATOR, asked("words", limit=4)) == sorted(ids)[:4]


async def test_expired_superseded_and_other_tiers_are_left_out(cold: Cold) -> None:
    """Expiry by ``query.now``; facts by ``query.tier``; what was superseded never."""
    turn, _ = await cold.turns.append_turn(SCOPE, turn_by(text="hello"))
    summary = summary_by(SCOPE, [turn], text="mark", expires_at=NOW + DAY)
    await cold.episodic.put_summary(SCOPE, summary)
    core, _ = await cold.semantic.put_fact(SCOPE, fact_by(text="mark core", tier="core"))
    archival, _ = await cold.semantic.put_fact(SCOPE, fact_by(text="mark archival"))
    await cold.semantic.put_fact(SCOPE, fact_by(text="mark old", superseded_by=archival.id))
    everything = {summary.id, core.id, archival.id}
    assert set(await _found(cold, SCOPE, asked("mark"))) == everything
    assert set(await _found(cold, SCOPE, asked("mark", now=NOW + DAY))) == everything - {summary.id}
    facts = {"kinds": ("fact",)}
    assert await _found(cold, SCOPE, asked("mark", tier="core", **facts)) == [core.id]
    assert await _found(cold, SCOPE, asked("mark", tier="archival", **facts)) == [archival.id]
    await cold.semantic.set_tier(SCOPE, archival, "core", "used", NOW)
    assert await _found(cold, SCOPE, asked("mark", tier="archival", **facts)) == []


async def test_user_restricts(cold: Cold) -> None:
    """Records of one user only, and of nobody whom the asker does not see."""
    team = SCOPE.model_copy(update={"user_id": "team"})
    await cold.semantic.put_fact(SCOPE, fact_by(text="tyres"))
    mine, _ = await cold.semantic.put_fact(team, fact_by(team, text="tyres too"))
    for asker in (team, OPERATOR):
        assert await _found(cold, asker, asked("tyres", user_id="team")) == [mine.id]
        assert await _found(cold, asker, asked("tyres", user_id="tea")) == []
    assert await _found(cold, SCOPE, asked("tyres", user_id="team")) == []


async def test_ancestors_are_not_searched(cold: Cold) -> None:
    """Neither with the own graph, nor when they are asked for: the vector index does that."""
    heir = heir_of("race", scope=scope_of(graph_id="imola"), carries=("rule", "episode", "fact"))
    await cold.semantic.put_fact(SCOPE, fact_by(text="tyres", tier="core"))
    own, _ = await cold.semantic.put_fact(heir, fact_by(heir, text="tyres"))
    assert await _found(cold, heir, asked("tyres")) == [own.id]
    assert await _found(cold, heir, asked("tyres", inherited=True)) == []


async def test_nothing_is_found_outside_its_scope(cold: Cold) -> None:
    """Another topic, graph or tenant: no hit, no entry."""
    records = await one_of_each(cold)
    ids = [record.id for record in records.values()]
    for stranger in STRANGERS:
        assert await cold.words.search_words(stranger, asked("tyres")) == ()
        assert await cold.words.entries(stranger, ids) == ()


async def test_private_records_are_their_writers(cold: Cold) -> None:
    """Neither another agent nor the operator finds them; the runtime acting for the agent does."""
    records = await one_of_each(cold, private=True)
    ids = [record.id for record in records.values()]
    for other in (OTHER_AGENT, OPERATOR):
        assert await cold.words.search_words(other, asked("tyres")) == ()
        assert await cold.words.entries(other, ids) == ()
    runtime = OPERATOR.for_agent("strategist")
    assert set(await _found(cold, runtime, asked("tyres"))) == set(ids)
    assert [entry.id for entry in await cold.words.entries(runtime, ids)] == ids


async def test_untopiced_records_are_everybodys_in_the_graph(cold: Cold) -> None:
    """Topics restrict only what has some."""
    fact, _ = await cold.semantic.put_fact(SCOPE, fact_by(text="tyres", topics=()))
    for scope in (scope_of(agent_id="x", topics=()), scope_of(agent_id="x", topics=("weather",))):
        assert await _found(cold, scope, asked("tyres")) == [fact.id]


async def test_search_is_not_starved_by_what_the_asker_may_not_see(cold: Cold) -> None:
    """Hundreds of better matches out of sight leave room for the one that is not."""
    ways: tuple[dict[str, Any], ...] = ({"private": True}, {"topics": ("strategy",)})
    hidden = [fact_by(text=f"tyres tyres {number}", **ways[number % 2]) for number in range(300)]
    await cold.archive.import_rows(SCOPE.tenant, "facts", hidden)
    assert len(await _found(cold, SCOPE, asked("tyres", limit=200))) == 200
    fact, _ = await cold.semantic.put_fact(SCOPE, fact_by(text="one long note on worn tyres"))
    asker = scope_of(agent_id="engineer", topics=("tyres",))
    assert await _found(cold, asker, asked("tyres", limit=1)) == [fact.id]


async def test_search_is_not_starved_by_what_was_superseded(cold: Cold) -> None:
    """Fifty superseded beliefs and facts that match better leave room for the current ones."""
    for number in range(50):
        await replacing(cold, SCOPE, belief_by(claim=f"tyres tyres {number}"))
    gone = [fact_by(text=f"tyres tyres {number}", superseded_by="else") for number in range(50)]
    await cold.archive.import_rows(SCOPE.tenant, "facts", gone)
    belief, fact = belief_by(claim="one long claim on tyres"), fact_by(text="a long note on tyres")
    await replacing(cold, SCOPE, belief)
    await cold.semantic.put_fact(SCOPE, fact)
    for record, kind in ((belief, "belief"), (fact, "fact")):
        assert await _found(cold, SCOPE, asked("tyres", kinds=(kind,), limit=1)) == [record.id]


async def test_names_that_look_alike_are_searched_apart(cold: Cold) -> None:
    """Prefixes, separators and case do not mix agents' private records up."""
    found = {}
    for names in TWINS:
        scope = scope_of(*names)
        fact = fact_by(scope, "secret tyres", private=True)
        found[names] = (await cold.semantic.put_fact(scope, fact))[0].id
    for names, fact_id in found.items():
        assert await _found(cold, scope_of(*names), asked("tyres")) == [fact_id]


async def test_hostile_questions_are_just_words(cold: Cold) -> None:
    """FTS5 syntax, SQL and long questions: only the words in them count."""
    fact, _ = await cold.semantic.put_fact(SCOPE, fact_by(text="Tyres last many laps."))
    await cold.semantic.put_fact(OTHER_GRAPH, fact_by(OTHER_GRAPH, "Tyres last many laps."))
    for text in HOSTILE_QUERIES:
        found = await _found(cold, SCOPE, asked(text))
        assert found == ([fact.id] if "tyres" in text else []), text


SCRIPTS = (
    ("Der Reifendruck fällt.", "fällt der REIFENDRUCK?"),
    ("Température du bitume", "TEMPERATURE"),
    ("タイヤ交換は必要です", "タイヤ"),
    ("更换轮胎", "轮胎"),
    ("Шины изношены", "шины"),
    ("driver's gloves", "driver"),
    ("don't stop", "dont"),
    ("snake_case_name", "case"),
    ("x" * 500, "x" * 500),
    ("a\x00b", "b"),
)


async def test_words_of_any_script_are_found(cold: Cold) -> None:
    """Case, accents, apostrophes, underscores and scripts without spaces."""
    facts = [await cold.semantic.put_fact(SCOPE, fact_by(text=text)) for text, _ in SCRIPTS]
    for (fact, _), (_, question) in zip(facts, SCRIPTS, strict=True):
        assert await _found(cold, SCOPE, asked(question)) == [fact.id], question


async def test_a_number_is_found_with_its_thousands_set_apart_or_not(cold: Cold) -> None:
    """A version stays what it is, and a list of numbers what it lists."""
    texts = ("The hall seats 1,250.", "It seats 1250.", "Python 3.1", "Laps 1,25 and 10,250,3")
    facts = [await cold.semantic.put_fact(SCOPE, fact_by(text=text)) for text in texts]
    seats = {fact.id for fact, _ in facts[:2]}
    assert set(await _found(cold, SCOPE, asked("1250"))) == seats
    assert seats <= set(await _found(cold, SCOPE, asked("1\u202f250")))
    for other in ("125", "31", "310", "10250", "102503"):
        assert not await _found(cold, SCOPE, asked(other)), other


async def test_entries_are_what_an_index_needs_in_the_order_asked(cold: Cold) -> None:
    """Text, owner, tier, sources and times; without vectors, unknown ids left out, each once."""
    records = await one_of_each(cold, user_id="team")
    ids = [records[kind].id for kind in ("belief", "turn", "fact", "rule", "summary", "episode")]
    entries = await cold.words.entries(SCOPE, [ids[0], "unknown", *ids[1:], ids[0]])
    assert [entry.id for entry in entries] == ids
    by_kind = {entry.kind: entry for entry in entries}
    for kind, entry in by_kind.items():
        record = records[kind]
        assert entry.vector is None
        assert (entry.tenant, entry.graph_id, entry.agent_id) == ("acme", "race", "strategist")
        assert (entry.topics, entry.private, entry.recorded_at) == (("tyres",), False, NOW)
        assert entry.user_id == record.user_id
    assert by_kind["turn"].text == "strategist: Which tyres?\nAbout 18 laps."
    assert by_kind["fact"].tier == "archival"
    assert by_kind["rule"].text.startswith("When worn tyres:")
    assert by_kind["belief"].text == "Our tyres will last."
    assert by_kind["summary"].expires_at == NOW + DAY
    assert by_kind["episode"].expires_at is None


async def test_entries_leave_superseded_records_out(cold: Cold) -> None:
    """So that the index forgets them too."""
    old, new = belief_by(claim="old"), belief_by(claim="new")
    await cold.beliefs.commit(SCOPE, old)
    await replacing(cold, SCOPE, new)
    gone = fact_by(text="gone", superseded_by="else")
    await cold.semantic.put_fact(SCOPE, gone)
    entries = await cold.words.entries(SCOPE, [gone.id, old.id, new.id])
    assert [entry.id for entry in entries] == [new.id]


async def test_census_counts_what_the_graph_holds(cold: Cold) -> None:
    """Every agent's and every topic's, private ones too; superseded and parked not."""
    assert set((await cold.words.census(SCOPE)).values()) == {0}
    await one_of_each(cold)
    await one_of_each(cold, OTHER_AGENT, private=True)
    await cold.turns.append_turn(SCOPE, turn_by(), [draft("a"), draft("b", "compress")])
    await cold.semantic.put_fact(SCOPE, fact_by(text="core", tier="core"))
    await cold.semantic.put_fact(SCOPE, fact_by(text="old", superseded_by="x"))
    await cold.beliefs.commit(SCOPE, belief_by())
    (work,) = await cold.queue.claim(("compress",), "me", 1, 10, NOW)
    await cold.queue.fail(work, "broken", None)
    assert await cold.words.census(SCOPE) == {
        "turns": 3,
        "covered_turns": 2,
        "summaries": 2,
        "episodes": 2,
        "facts_core": 1,
        "facts_archival": 2,
        "rules": 2,
        "beliefs": 2,
        "documents": 0,
        "passages": 0,
        "waiting_work": 3,
    }
    assert set((await cold.words.census(OTHER_GRAPH)).values()) == {0}


async def test_text_without_a_utf8_form_is_the_callers_mistake(cold: Cold) -> None:
    """In the question as in ids."""
    query = asked().model_copy(update={"text": LONE_SURROGATE})
    assert await cold.words.search_words(SCOPE, query) == ()
    with pytest.raises(UsageError, match="surrogates"):
        await cold.words.entries(SCOPE, [LONE_SURROGATE])
