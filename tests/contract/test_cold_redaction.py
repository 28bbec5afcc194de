"""The contract of ``Redactor``."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from support.cold_backends import Cold, ColdBackend
from support.cold_estate import copy, exported
from support.cold_samples import (
    OPERATOR,
    OTHER_GRAPH,
    OTHER_TENANT,
    SCOPE,
    asked,
    belief_by,
    draft,
    episode_by,
    fact_by,
    graph_of,
    rule_by,
    summary_by,
    turn_by,
)
from support.document_reference import document_by, drafts_of
from support.redactions import KEPT, LATER, SECRETS, History, history_of, store, words_in
from support.tier_samples import NOW, scope_of

from tiers.errors import Conflict, NotFound, UsageError
from tiers.owned import REDACTED
from tiers.records import AuditFilter, FormerSteps, Scope, Summary

ONLY = AuditFilter(kinds=("redacted",))


@pytest.fixture
async def history(cold: Cold) -> History:
    """A history that is stored."""
    return await store(cold, history_of())


async def _redact(cold: Cold, history: History, *ids: str) -> dict[str, tuple[str, ...]]:
    reached = await cold.redactor.redact(OPERATOR, ids or [history.told[0].id], "asked to", LATER)
    return reached.ids


async def test_nothing_is_left_of_a_record_and_what_was_made_of_it(
    cold: Cold, backend: ColdBackend, tmp_path: Path, history: History
) -> None:
    """No word of them is in any table, shadow tables included; other records keep all of theirs."""
    # The waiting turn and the rule say secrets of their own, so they are asked for as well.
    asked_for = [history.told[0].id, history.told[2].id, history.rule.id]
    before = words_in(backend.whole(tmp_path), SECRETS)
    assert {word for words in before.values() for word in words} == set(SECRETS)
    reached = await _redact(cold, history, *asked_for)
    expected = history.reached | {"turn": tuple(sorted(asked_for[:2])), "rule": (history.rule.id,)}
    assert reached == expected
    after = backend.whole(tmp_path)
    assert words_in(after, SECRETS) == {}
    assert {word for words in words_in(after, KEPT).values() for word in words} == set(KEPT)


async def test_rows_ids_order_and_coverage_stay(cold: Cold, history: History) -> None:
    """What named the records still finds them, and says that they say nothing."""
    await _redact(cold, history)
    mine = OPERATOR.for_agent("strategist")
    first, other, waiting = await cold.turns.recent_turns(mine, 8)
    assert (first.id, first.seq, first.ref) == (history.told[0].id, 1, history.told[0].ref)
    assert (first.input, first.response, first.redacted_at) == (REDACTED, "", LATER)
    assert first.speaker == ""
    assert [(one.tool, one.output) for one in first.tool_outputs] == [("[redacted]", "")]
    assert (other, waiting) == history.told[1:]
    gone = await cold.redactor.redacted(OPERATOR, [*_ids(history), history.facts[2].id, "x"])
    assert [one.id for one in gone] == _ids(history)
    summary = next(one for one in gone if isinstance(one, Summary))
    assert (summary.covers, summary.text) == (history.summary.covers, REDACTED)
    with pytest.raises(Conflict, match="summary"):
        await cold.episodic.put_summary(SCOPE, summary_by(SCOPE, [first]))
    assert [one.id for one in await cold.turns.waiting_turns(mine, 0, 8)] == [waiting.id]


def _ids(history: History) -> list[str]:
    records = (history.told[0], history.summary, *history.episodes, *history.facts[:2])
    return [one.id for one in records]


async def test_redacted_records_are_found_by_nothing(cold: Cold, history: History) -> None:
    """Neither by their words nor by what they say now; their index entries are to go."""
    await cold.queue.claim(["index"], "me", 100, 60, NOW)
    (item,) = await cold.queue.claim(["index"], "me", 100, 60, NOW + timedelta(hours=1))
    assert await cold.queue.fail(item, f"cannot index {SECRETS[3]}", None)
    await _redact(cold, history)
    mine = OPERATOR.for_agent("strategist")
    for text in (*SECRETS[1:], "redacted"):
        found = await cold.words.search_words(mine, asked(text))
        assert {hit.id for hit in found} <= {history.rule.id}, text
    assert [hit.id for hit in await cold.words.search_words(mine, asked(KEPT[0]))] == [
        history.told[1].id
    ]
    assert await cold.semantic.core(mine) == ()
    assert await cold.words.entries(mine, _ids(history)) == ()
    work = await cold.queue.claim(["index"], "me", 100, 60, LATER)
    assert {one.key for one in work} == set(_ids(history))
    assert {one.problem for one in work} == {None}
    assert all(one.payload == {"id": one.key} for one in work)


async def test_the_feed_tells_it_once(cold: Cold, history: History) -> None:
    """Who, when, why and which ids somebody named; never what they said."""
    agent = scope_of(agent_id="officer")
    await cold.redactor.redact(agent, [history.told[0].id] * 2, "GDPR 17", LATER)
    await _redact(cold, history)
    (event,) = await cold.log.audit(SCOPE, only=ONLY)
    told = (event.agent_id, event.record_ids, event.reason, event.recorded_at)
    assert told == ("officer", (history.told[0].id,), "GDPR 17", LATER)


async def test_repeating_writes_nothing_and_tells_the_same(
    cold: Cold, backend: ColdBackend, tmp_path: Path, history: History
) -> None:
    """What is redacted is passed over, so that a caller who lost the answer can ask again."""
    first = await _redact(cold, history)
    before = backend.whole(tmp_path)
    again = await _redact(cold, history)
    assert again == {kind: ids for kind, ids in first.items() if kind != "receipt"}
    assert backend.whole(tmp_path) == before
    assert await _redact(cold, history, history.summary.id) == {
        kind: ids for kind, ids in again.items() if kind in ("summary", "episode")
    }
    assert backend.whole(tmp_path) == before


async def test_what_cannot_be_redacted_changes_nothing(
    cold: Cold, backend: ColdBackend, tmp_path: Path, history: History
) -> None:
    """An unknown id, another graph's: all or nothing, and the error says which."""
    known = history.told[0].id
    before = backend.whole(tmp_path)
    redact = cold.redactor.redact
    for wrong in ("unknown", known[:-1], known + "0", "%", "", history.receipts[0].id):
        with pytest.raises(NotFound, match="record"):
            await redact(OPERATOR, [known, wrong], "asked to", LATER)
    for stranger in (OTHER_GRAPH, OTHER_TENANT, scope_of(graph_id="unknown")):
        with pytest.raises(NotFound):
            await redact(stranger, [known], "asked to", LATER)
    for reason in ("", " \n"):
        with pytest.raises(UsageError, match="reason"):
            await redact(OPERATOR, [known], reason, LATER)
    with pytest.raises(UsageError, match="1,000"):
        await redact(OPERATOR, [known, *map(str, range(1_000))], "asked to", LATER)
    assert (await redact(OPERATOR, [], "asked to", LATER)).ids == {}
    assert backend.whole(tmp_path) == before


async def test_others_are_not_touched(cold: Cold, backend: ColdBackend, tmp_path: Path) -> None:
    """The same ids in another graph and another tenant stay byte for byte what they were."""
    history = await store(cold, history_of())
    for owner in (OTHER_GRAPH, OTHER_TENANT):
        await store(cold, _owned_by(history, owner))
    before = await exported(cold.archive, OTHER_TENANT.tenant)
    raw = _rows_of(backend, tmp_path, (OTHER_GRAPH, OTHER_TENANT))
    await _redact(cold, history)
    assert _rows_of(backend, tmp_path, (OTHER_GRAPH, OTHER_TENANT)) == raw
    assert await exported(cold.archive, OTHER_TENANT.tenant) == before
    for owner in (OTHER_GRAPH, OTHER_TENANT):
        found = await cold.words.search_words(owner, asked(SECRETS[7]))
        assert [hit.id for hit in found] == [history.facts[1].id]


def _owned_by(history: History, scope: Scope) -> History:
    owner = {"tenant": scope.tenant, "graph_id": scope.graph_id}

    def moved(records: Sequence[Any]) -> tuple[Any, ...]:
        return tuple(one.model_copy(update=owner) for one in records)

    return replace(
        history,
        scope=scope,
        told=moved(history.told),
        summary=moved((history.summary,))[0],
        episodes=moved(history.episodes),
        facts=moved(history.facts),
        rule=moved((history.rule,))[0],
        receipts=moved(history.receipts),
    )


def _rows_of(backend: ColdBackend, folder: Path, owners: tuple[Scope, ...]) -> list[str]:
    """Return all rows that say that they belong to one of the owners."""
    places = [(owner.tenant, owner.graph_id) for owner in owners]
    tables = ("turns", "summaries", "episodes", "facts", "rules", "receipts", "audit", "work")
    return [
        repr(row)
        for table in (*tables, "word_totals")
        for row in backend.rows(folder, table)
        if (row["tenant"], row["graph_id"]) in places
    ]


async def test_all_statistics_are_those_of_the_same_records_stored_anew(
    cold: Cold, backend: ColdBackend, tmp_path: Path, history: History
) -> None:
    """Ranks and scores after a redaction are those of a store that only ever held the rest."""
    texts = ("The pit wall called.", "The wall is green.", "A narwhal called the pit wall twice.")
    for text in texts:
        await cold.semantic.put_fact(SCOPE, fact_by(text=text))
    await _redact(cold, history)
    (anew,) = await cold.redactor.redacted(OPERATOR, [history.summary.id])
    written = anew.model_copy(update={"text": "The wall and a narwhal.", "tokens": 6})
    assert await cold.redactor.rewrite(OPERATOR, written)
    mine = OPERATOR.for_agent("strategist")
    async with backend.opened(tmp_path / "anew") as other:
        await copy(cold.archive, other.archive, "acme")
        for text in ("pit wall", "narwhal", "green", "called twice"):
            found = await cold.words.search_words(mine, asked(text))
            expected = await other.words.search_words(mine, asked(text))
            assert [(hit.id, hit.score) for hit in found] == [
                (hit.id, pytest.approx(hit.score)) for hit in expected
            ]
            assert found


async def test_a_statement_can_be_made_again(cold: Cold, history: History) -> None:
    """A redacted fact or rule is the same as nothing, and its id stays its own."""
    await _redact(cold, history, history.facts[1].id, history.rule.id)
    fact, is_new = await cold.semantic.put_fact(SCOPE, fact_by(text=history.facts[1].text))
    assert (is_new, fact.id == history.facts[1].id) == (True, False)
    rule, is_new_rule = await cold.procedural.put_rule(
        SCOPE, rule_by(trigger=history.rule.trigger, steps=history.rule.steps)
    )
    assert is_new_rule
    assert [one.id for one in await cold.procedural.match_rules(SCOPE, SECRETS[0], 9)] == [rule.id]


async def test_a_turn_that_waits_for_a_summary_waits_no_more(cold: Cold, history: History) -> None:
    """A summary that was made of it meanwhile comes too late; other turns go on waiting."""
    waiting = history.told[2]
    also, _ = await cold.turns.append_turn(SCOPE, turn_by(text="It waits as well."))
    late = summary_by(SCOPE, [waiting, also], text=waiting.input)
    for _ in range(2):
        assert await _redact(cold, history, waiting.id) == {"turn": (waiting.id,)}
    with pytest.raises(Conflict, match="summary"):
        await cold.episodic.put_summary(SCOPE, late)
    mine = OPERATOR.for_agent("strategist")
    assert [one.id for one in await cold.turns.waiting_turns(mine, 0, 8)] == [also.id]
    assert await cold.episodic.put_summary(SCOPE, summary_by(SCOPE, [also]))
    assert await cold.turns.waiting_turns(mine, 0, 8) == ()
    census = await cold.words.census(SCOPE)
    assert census["turns"] == census["covered_turns"] == 4
    assert await cold.episodic.due_summaries(OPERATOR, NOW, 9) == ()


async def test_what_lost_its_text_can_be_given_another(cold: Cold, history: History) -> None:
    """Made of what is left, and found by it; ids and coverage stay."""
    await _redact(cold, history)
    (gone,) = await cold.redactor.redacted(OPERATOR, [history.summary.id])
    assert await cold.redactor.left_of(OPERATOR, gone) == (history.told[1],)
    new = gone.model_copy(update={"text": "A pelican.", "tokens": 3, "topics": ("else",)})
    assert await cold.redactor.rewrite(OPERATOR, new, [draft("again")])
    assert not await cold.redactor.rewrite(OPERATOR, new, [draft("twice")])
    assert await cold.redactor.redacted(OPERATOR, [history.summary.id]) == ()
    told = {"text": "A pelican.", "tokens": 3}
    (summary,) = await cold.episodic.summaries(OPERATOR.for_agent("strategist"))
    assert summary == history.summary.model_copy(update=told)
    found = await cold.words.search_words(OPERATOR.for_agent("strategist"), asked("pelicans"))
    assert [hit.id for hit in found] == [history.summary.id]
    (daily, _) = await cold.redactor.redacted(OPERATOR, [one.id for one in history.episodes])
    assert await cold.redactor.left_of(OPERATOR, daily) == (summary,)
    keys = {work.key for work in await cold.queue.claim(["index"], "me", 100, 60, LATER)}
    assert ("again" in keys, "twice" in keys) == (True, False)
    # What was redacted before knows of a later redaction of what is left.
    assert await _redact(cold, history, history.told[1].id) == {
        "turn": (history.told[1].id,),
        "summary": (history.summary.id,),
        "episode": tuple(sorted(one.id for one in history.episodes)),
    }
    assert await cold.redactor.left_of(OPERATOR, summary) == ()


async def test_a_text_that_was_made_before_another_redaction_comes_too_late(
    cold: Cold, history: History
) -> None:
    """It may say what has gone since. Nor can what was not redacted be rewritten."""
    with pytest.raises(UsageError, match="text"):
        await cold.redactor.rewrite(OPERATOR, history.summary.model_copy(update={"text": " "}))
    assert not await cold.redactor.rewrite(OPERATOR, history.summary)
    await _redact(cold, history)
    (gone,) = await cold.redactor.redacted(OPERATOR, [history.summary.id])
    await _redact(cold, history, history.told[1].id)
    late = gone.model_copy(update={"text": f"A {KEPT[0]}."})
    assert not await cold.redactor.rewrite(OPERATOR, late, [draft("late")])
    for stranger in (OTHER_GRAPH, OTHER_TENANT):
        with pytest.raises(UsageError, match="owner"):
            await cold.redactor.rewrite(stranger, late)
        twin = late.model_copy(update={"tenant": stranger.tenant, "graph_id": stranger.graph_id})
        assert not await cold.redactor.rewrite(stranger, twin)
    unknown = episode_by(OPERATOR, []).model_copy(update={"redacted_at": LATER})
    assert not await cold.redactor.rewrite(OPERATOR, unknown)
    assert await cold.episodic.summaries(OPERATOR.for_agent("strategist")) == ()


async def test_a_playbook_goes_with_the_turn_it_was_learnt_from(
    cold: Cold, backend: ColdBackend, tmp_path: Path
) -> None:
    """Its trigger, its steps and those it had before; one of another turn stays."""
    history = await store(cold, history_of())
    former = FormerSteps(version=1, steps=(f"Ask {SECRETS[1]}.",), until=NOW)
    learnt = rule_by(
        trigger=f"on {SECRETS[3]}", steps=(SECRETS[4],), version=2, former=(former,),
        source_ids=(history.told[0].id,),
    )  # fmt: skip
    other = rule_by(trigger=f"on {KEPT[0]}", source_ids=(history.told[1].id,))
    for rule in (learnt, other):
        assert (await cold.procedural.put_rule(SCOPE, rule))[0] == rule
    reached = await _redact(cold, history, history.told[0].id, history.told[2].id, history.rule.id)
    assert reached["rule"] == tuple(sorted((learnt.id, history.rule.id)))
    assert words_in(backend.whole(tmp_path), SECRETS) == {}
    (gone,) = await cold.redactor.redacted(OPERATOR, [learnt.id])
    nothing = {"trigger": REDACTED, "steps": (REDACTED,), "redacted_at": LATER}
    emptied = (former.model_copy(update={"steps": ()}),)
    assert gone == learnt.model_copy(update=nothing | {"former": emptied})
    assert await cold.procedural.match_rules(SCOPE, f"on {KEPT[0]} {SECRETS[3]}", 9) == (other,)


async def test_a_document_goes_with_all_that_it_ever_said(
    cold: Cold, backend: ColdBackend, tmp_path: Path
) -> None:
    """By any of its passages, those that are over too: revisions, passages, and facts of them."""
    await cold.graphs.create_graph(graph_of("race"))
    texts = [(SECRETS[0], SECRETS[1]), (SECRETS[1], SECRETS[2])]
    passages: set[str] = set()
    for revision, said in enumerate(texts, start=1):
        titled = document_by(OPERATOR, "a.md", said[0], revision, revision, title=said[0])
        await cold.shelf.revise(OPERATOR, titled, drafts_of(*said))
        passages |= {one.id for one in await cold.shelf.passages_of(OPERATOR, titled.id)}
    other = document_by(OPERATOR, "b.md", KEPT[0])
    await cold.shelf.revise(OPERATOR, other, drafts_of(KEPT[0]))
    over = (passages - {one.id for one in await cold.shelf.passages_of(OPERATOR, titled.id)}).pop()
    fact = fact_by(text=f"So {SECRETS[7]}.", source_ids=(over,))
    await cold.semantic.put_fact(SCOPE, fact)
    former = await cold.redactor.holding(OPERATOR, subject=SECRETS[0])
    assert {one.id for one in former.rows} == {titled.id, over}
    reached = (await cold.redactor.redact(OPERATOR, [over], "asked to", LATER)).ids
    assert reached == {
        "fact": (fact.id,), "document": (titled.id,), "passage": tuple(sorted(passages)),
    }  # fmt: skip
    left = backend.whole(tmp_path)
    assert words_in(left, (*SECRETS, "a.md")) == {}
    assert {word for words in words_in(left, KEPT).values() for word in words} == {KEPT[0]}
    then = await cold.shelf.revisions(OPERATOR, titled.id)
    assert [(one.revision, one.title, one.redacted_at) for one in then] == [
        (2, REDACTED, LATER), (1, REDACTED, LATER),
    ]  # fmt: skip
    gone = await cold.redactor.redacted(OPERATOR, [titled.id, other.id, over])
    assert [one.id for one in gone] == [titled.id, over]


async def test_racing_redactions_leave_nothing(
    cold: Cold, backend: ColdBackend, tmp_path: Path
) -> None:
    """Of the same and of overlapping records, while a summary of them is being stored."""
    await cold.graphs.create_graph(graph_of("race"))
    turns = [
        (await cold.turns.append_turn(SCOPE, turn_by(text=f"{SECRETS[0]} {number}")))[0]
        for number in range(6)
    ]
    ids = [turn.id for turn in turns]

    async def sum_up(number: int) -> None:
        covered = turns[number : number + 2]
        try:
            await cold.episodic.put_summary(SCOPE, summary_by(SCOPE, covered, text=SECRETS[3]))
        except Conflict:
            return

    async def redact(chosen: list[str]) -> None:
        await cold.redactor.redact(OPERATOR, chosen, "asked to", LATER)

    groups = [ids[:4], ids[2:], ids[:4], [ids[0]], ids]
    await asyncio.gather(*map(redact, groups[:2]), *map(sum_up, (0, 2, 4)), *map(redact, groups))
    assert words_in(backend.whole(tmp_path), SECRETS) == {}
    mine = OPERATOR.for_agent("strategist")
    assert await cold.turns.waiting_turns(mine, 0, 9) == ()
    made = await cold.grains.made(OPERATOR, "", 100)
    assert sorted(turn_id for one in made.rows for turn_id in one.sources) == sorted(ids)
    events = await cold.log.audit(SCOPE, only=ONLY)
    named = [set(event.record_ids) for event in events]
    assert set().union(*named) == set(ids)
    assert [event.seq for event in await cold.log.audit(SCOPE)] == [
        number for number, _ in enumerate(events, start=1)
    ]


async def test_what_was_made_of_it_meanwhile_comes_too_late(
    cold: Cold, backend: ColdBackend, tmp_path: Path, history: History
) -> None:
    """Who learns from a turn or a fact has read it before; what retention took is no such loss."""
    known, _ = await cold.procedural.put_rule(SCOPE, rule_by(trigger=f"on {KEPT[0]}"))
    await _redact(cold, history)
    before = backend.whole(tmp_path)
    for lost in (history.told[0].id, history.facts[0].id):
        made_of = (history.told[1].id, lost)
        fact, rule = fact_by(text=SECRETS[5]), rule_by(trigger=f"on {SECRETS[0]}")
        work = [draft(fact.id)]
        put = await cold.semantic.put_fact(SCOPE, fact, work, made_of=made_of)
        assert put == (fact, False)
        assert await cold.procedural.put_rule(SCOPE, rule, work, made_of=made_of) == (rule, False)
        steps = [SECRETS[4]]
        done = await cold.playbooks.refine(SCOPE, known, steps, [lost], LATER, made_of=made_of)
        assert not done
    assert backend.whole(tmp_path) == before
    await cold.grains.retire(OPERATOR, [history.told[2].id], "kept for 1 day", LATER)
    here = (history.told[1].id, history.told[2].id, "of another graph")
    assert (await cold.semantic.put_fact(SCOPE, fact_by(text=KEPT[0]), made_of=here))[1]
    assert await cold.playbooks.refine(SCOPE, known, [KEPT[1]], [], LATER, made_of=here)


async def test_an_episode_of_what_has_another_text_by_now_comes_too_late(
    cold: Cold, backend: ColdBackend, tmp_path: Path
) -> None:
    """Redacted since it was read, or written anew since; what retention took is no such loss."""
    history = await store(cold, history_of())
    summary, (daily, _) = history.summary, history.episodes
    members = (summary, daily)
    late = episode_by(SCOPE, [one.id for one in members], text=SECRETS[0], grain="monthly")
    before = backend.whole(tmp_path)
    changed = summary.model_copy(update={"text": KEPT[0]})
    with pytest.raises(Conflict):
        await cold.episodic.put_episode(SCOPE, late, [draft(late.id)], made_of=(changed, daily))
    assert backend.whole(tmp_path) == before
    await _redact(cold, history)
    before = backend.whole(tmp_path)
    with pytest.raises(Conflict):
        await cold.episodic.put_episode(SCOPE, late, [draft(late.id)], made_of=members)
    assert backend.whole(tmp_path) == before
    (gone,) = await cold.redactor.redacted(OPERATOR, [summary.id])
    assert isinstance(gone, Summary)
    anew = gone.model_copy(update={"text": KEPT[1]})
    assert await cold.redactor.rewrite(OPERATOR, anew)
    await cold.grains.retire(OPERATOR, [summary.id], "kept for 1 day", LATER)
    of_it = episode_by(SCOPE, [summary.id], text=KEPT[1], grain="yearly")
    assert await cold.episodic.put_episode(SCOPE, of_it, made_of=(anew,))


async def test_repeating_takes_what_came_to_name_it_since(
    cold: Cold, backend: ColdBackend, tmp_path: Path, history: History
) -> None:
    """Facts, rules and beliefs behind it, and what was made of them; not texts that are new."""
    await _redact(cold, history)
    (summary,) = await cold.redactor.redacted(OPERATOR, [history.summary.id])
    assert isinstance(summary, Summary)
    assert await cold.redactor.rewrite(OPERATOR, summary.model_copy(update={"text": KEPT[0]}))
    late = fact_by(text=SECRETS[5], source_ids=(history.told[0].id,))
    later = fact_by(text=SECRETS[6], source_ids=(late.id,))
    other = fact_by(text=KEPT[1], source_ids=(summary.id,))
    rule = rule_by(trigger=f"on {SECRETS[4]}", source_ids=(history.facts[0].id,))
    belief = belief_by(claim=SECRETS[7], source_ids=(history.told[0].id,))
    for fact in (late, later, other):
        assert (await cold.semantic.put_fact(SCOPE, fact))[1]
    await cold.procedural.put_rule(SCOPE, rule)
    await cold.beliefs.commit(SCOPE, belief)
    reached = await _redact(cold, history)
    assert set(reached["fact"]) == {one.id for one in (*history.facts[:2], late, later)}
    assert (reached["rule"], reached["belief"]) == ((rule.id,), (belief.id,))
    assert words_in(backend.whole(tmp_path), SECRETS[3:8]) == {}
    assert [one.text for one in await cold.episodic.summaries(SCOPE)] == [KEPT[0]]
    before = backend.whole(tmp_path)
    assert await _redact(cold, history) == reached
    assert backend.whole(tmp_path) == before


async def test_ids_are_matched_as_they_are(cold: Cold, history: History) -> None:
    """Receipts, sources and children are named by whole ids, whatever stands in them."""
    odd = 'é"\\%_$[*]'
    turn = turn_by(text="odd").model_copy(update={"id": odd})
    await cold.turns.append_turn(SCOPE, turn)
    near = fact_by(text="near", source_ids=(odd + "0", "é"))
    made = fact_by(text="made", source_ids=(odd,))
    for fact in (near, made):
        await cold.semantic.put_fact(SCOPE, fact)
    receipts = [
        history.receipts[0].model_copy(update={"id": name, "query": name, "body": body})
        for name, body in (
            ("named", {"slots": [{"source_ids": [odd]}]}),
            ("near", {"slots": [{"source_ids": [odd + "0", f'"{odd}"', odd[1:]]}]}),
        )
    ]
    for receipt in receipts:
        await cold.log.put_receipt(SCOPE, receipt)
    reached = await _redact(cold, history, odd)
    assert reached == {"turn": (odd,), "fact": (made.id,), "receipt": ("named",)}
    assert await cold.log.receipt(SCOPE, "near") == receipts[1]
