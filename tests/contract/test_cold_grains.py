"""The contract of ``GrainStore``, and what retention means to the stores beside it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any

import pytest
from support.cold_backends import Cold, ColdBackend
from support.cold_samples import (
    LONE_SURROGATE,
    OPERATOR,
    OTHER_GRAPH,
    OTHER_TENANT,
    SCOPE,
    asked,
    draft,
    episode_by,
    fact_by,
    graph_of,
    receipt_by,
    rule_by,
    summary_by,
    turn_by,
)
from support.grain_worlds import DAYS, GRAINS, World, is_full, is_retired, world_of
from support.records import every_row
from support.redactions import words_in
from support.tier_samples import NOW, scope_of

from tiers.cold.sqlite import DATABASE_NAME
from tiers.errors import EzraError, UsageError
from tiers.grains import RETIRED, RETIRED_PER_CALL_MAX, Made, TurnMark
from tiers.plans import ANY_GRAIN
from tiers.records import (
    AgentRecord,
    AuditFilter,
    Episode,
    Fact,
    Grain,
    Scope,
    Summary,
    ToolOutput,
    Turn,
)

LATER = NOW + timedelta(days=400)
WORLDS = 24
USER = "fjordic"
SAID = (
    *("xylograph", "zymotic", "quokka", "jacquard", "vuvuzela", "wyvern", "kumquat", "zugzwang"),
    USER,
)
"""Words that nothing else says, each of its own stem; a user is called by the last."""


async def _worlds(cold: Cold, count: int = WORLDS) -> list[World]:
    """Store random histories, each in a graph of its own, whose names begin alike."""
    random = Random(5)
    scopes = [Scope.of_graph("acme", "g" * (number + 1)) for number in range(count)]
    scopes += [Scope.of_graph("acm", "g"), Scope.of_graph("acme/", "gg")]
    worlds = [world_of(scope, random) for scope in scopes]
    for world in worlds:
        tenant, graph_id = world.scope.tenant, world.scope.graph_id
        put = cold.archive.import_rows
        await put(tenant, "graphs", [graph_of(graph_id, tenant=tenant)])
        await put(tenant, "turns", world.turns)
        await put(tenant, "summaries", world.summaries)
        await put(tenant, "episodes", world.episodes)
    return worlds


async def test_random_histories_have_exactly_what_they_should(cold: Cold) -> None:
    """What is loose, retirable and counted is what plain code reads from the same rows.

    In the same order, and with a limit the first of it.
    """
    seen: dict[str, int] = {"loose": 0, "retirable": 0, "replaced": 0}
    random = Random(6)
    for world in await _worlds(cold):
        for grain in GRAINS:
            before = NOW + timedelta(days=random.randrange(1, DAYS + 2))
            expected = world.loose(grain, before)
            assert [*await cold.grains.loose(world.scope, grain, before, 99)] == expected
            seen["loose"] += len(expected)
        for any_grain in ANY_GRAIN:
            before = NOW + timedelta(days=random.randrange(1, DAYS + 2))
            due = world.retirable(any_grain, before)
            assert [*await cold.grains.retirable(world.scope, any_grain, before, 99)] == due
            if len(due) > 1:
                first = await cold.grains.retirable(world.scope, any_grain, before, 1)
                assert [*first] == due[:1]
            seen["retirable"] += len(due)
            seen["replaced"] += sum(len(one.replaced_by) > 1 for one in due)
            count = await cold.grains.count_grain(world.scope, any_grain)
            assert (count.total, count.live) == world.counts(any_grain)
    assert min(seen.values()) > 5, "the histories must have something to find"


async def test_pages_have_everything_once(cold: Cold) -> None:
    """Whatever their size, in the same order; what is gone is there, and says how it went."""
    for world in await _worlds(cold, 2):
        scope = world.scope
        marks = await every_row(lambda at, s=scope: cold.grains.turn_marks(s, at, 2), 2)
        assert marks == await every_row(lambda at, s=scope: cold.grains.turn_marks(s, at, 1_000))
        covered = {one for made in world.summaries if not made.level for one in made.covers}
        assert sorted(marks, key=lambda one: one.id) == [
            _mark(one).model_copy(update={"covered": one.id in covered}) for one in world.turns
        ]
        made = await every_row(lambda at, s=scope: cold.grains.made(s, at, 2), 2)
        assert made == await every_row(lambda at, s=scope: cold.grains.made(s, at, 1_000))
        rows = [*(one for one in world.summaries if not one.level), *world.episodes]
        assert {one.id: one for one in made} == {
            one.id: _made(one).model_copy(update={"told_in": _told_in(one, world.episodes)})
            for one in rows
        }
        assert len(made) == len(rows)


def _how(record: Turn | Summary | Episode) -> dict[str, bool]:
    return {
        "redacted": not is_full(record) and not is_retired(record),
        "retired": is_retired(record),
    }


def _mark(turn: Turn) -> TurnMark:
    fields = turn.model_dump(include={"id", "agent_id", "seq", "occurred_at"})
    return TurnMark(**fields, **_how(turn))


def _told_in(one: Summary | Episode, episodes: Sequence[Episode]) -> tuple[Grain, ...]:
    return tuple(sorted({upper.grain for upper in episodes if one.id in upper.children}))


def _made(one: Summary | Episode) -> Made:
    names = {"id", "agent_id", "starts_at", "ends_at", "made_by", "lost"}
    kept = one.model_dump(include=names) | _how(one)
    if isinstance(one, Summary):
        return Made(grain="working", sources=one.covers, **kept)
    return Made(grain=one.grain, period=one.period, sources=one.children, **kept)


async def test_every_method_asks_for_the_whole_graph(cold: Cold) -> None:
    """An agent's scope, odd limits and cursors of nothing are refused."""
    grains = cold.grains
    for scope in (SCOPE, scope_of(agent_id=None, topics=("tyres",), every_user=True)):
        refused = [
            grains.loose(scope, "daily", NOW, 1),
            grains.turn_marks(scope, "", 1),
            grains.made(scope, "", 1),
            grains.retirable(scope, "working", NOW, 1),
            grains.count_grain(scope, "working"),
            grains.retire(scope, ["x"], "past its retention", NOW),
        ]
        for call in refused:
            with pytest.raises(UsageError, match="scope"):
                await call
    wrong = [
        grains.loose(OPERATOR, "daily", NOW, 0),
        grains.turn_marks(OPERATOR, "what?", 1),
        grains.made(OPERATOR, "what?", 1),
        grains.made(OPERATOR, "", 100_000),
        grains.retire(OPERATOR, ["x"], " \n", NOW),
        grains.retire(OPERATOR, [*map(str, range(RETIRED_PER_CALL_MAX + 1))], "old", NOW),
    ]
    for call in wrong:
        with pytest.raises(UsageError):
            await call


@dataclass(frozen=True)
class Life:
    """A turn and what was made of it up to a yearly episode, a turn that waits, and a fact."""

    turn: Turn
    waiting: Turn
    summary: Summary
    episodes: tuple[Episode, ...]
    fact: Fact

    @property
    def all_ids(self) -> list[str]:
        """Everything that retention can empty."""
        made = [self.summary.id, *(one.id for one in self.episodes)]
        return [self.turn.id, self.waiting.id, *made, self.fact.id]


async def _lived(cold: Cold, scope: Scope = SCOPE) -> Life:
    """Store a life through the ports; every record says a word of its own."""
    await cold.graphs.create_graph(graph_of(scope.graph_id, tenant=scope.tenant))
    told = turn_by(
        scope, f"It is {SAID[0]}.", response=SAID[1], speaker=SAID[2], ref="first", rules=("r",),
        tool_outputs=(ToolOutput(tool="search", output=SAID[3]),), private=True,
    )  # fmt: skip
    user = scope.model_copy(update={"user_id": USER})
    turn, _ = await cold.turns.append_turn(user, told.model_copy(update={"user_id": USER}))
    waiting, _ = await cold.turns.append_turn(scope, turn_by(scope, "It waits."))
    summary = summary_by(scope, [turn], text=f"Of {SAID[4]}.", made_by="model-1", lost=2)
    assert await cold.episodic.put_summary(scope, summary, [draft(summary.id)])
    child, days = summary.id, ""
    episodes = []
    for grain in GRAINS:
        child = days if grain == "monthly" else child
        fields = {"period": f"the {grain}", "made_by": "model-2", "lost": 1}
        episode = episode_by(scope, [child], grain=grain, text=f"{grain} {SAID[5]}", **fields)
        assert await cold.episodic.put_episode(scope, episode)
        child, days = episode.id, episode.id if grain == "daily" else days
        episodes.append(episode)
    triple = {"subject": SAID[6], "predicate": "has", "object": SAID[7]}
    fact, _ = await cold.semantic.put_fact(user, fact_by(user, "", source_ids=("x",), **triple))
    return Life(turn, waiting, summary, tuple(episodes), fact)


async def test_what_is_stored_comes_back_whole(cold: Cold) -> None:
    """Who made a text, what it lost and its period, the turn's rules, and a member's prompts."""
    life = await _lived(cold)
    mine = OPERATOR.for_agent("strategist")
    assert (await cold.turns.turns(mine, [life.turn.id])) == (life.turn,)
    assert life.turn.rules == ("r",)
    assert await cold.episodic.summaries(mine) == (life.summary,)
    assert {*await cold.episodic.episodes(mine)} == {*life.episodes}
    for grain, episode in zip(GRAINS, life.episodes, strict=True):
        assert await cold.episodic.episodes(mine, grain=grain) == (episode,)
        assert await cold.episodic.episodes(mine, until=NOW, grain=grain) == ()
    agent = AgentRecord(tenant="acme", graph_id="race", id="pit", spawned_at=NOW)
    for prompts in ({}, {"working": "Be brief.", "weekly": "In verse: “ä”."}, {"daily": "x"}):
        await cold.fleet.spawn(agent.model_copy(update={"prompts": prompts}))
        (member,) = await cold.fleet.agents(SCOPE)
        assert member.prompts == prompts


async def test_an_episode_makes_its_children_loose_no_more(cold: Cold) -> None:
    """And is itself loose for what is made of its grain; months are not made of weeks."""
    life = await _lived(cold)
    before = NOW + timedelta(seconds=1)
    assert [await cold.grains.loose(OPERATOR, grain, before, 9) for grain in GRAINS] == [()] * 5
    late = summary_by(SCOPE, [life.waiting])
    await cold.episodic.put_summary(SCOPE, late)
    assert await cold.grains.loose(OPERATOR, "daily", before, 9) == (late,)
    assert await cold.grains.loose(OPERATOR, "daily", NOW, 9) == ()
    day = episode_by(SCOPE, [late.id])
    await cold.episodic.put_episode(SCOPE, day)
    loose = {grain: await cold.grains.loose(OPERATOR, grain, before, 9) for grain in GRAINS}
    assert loose == dict.fromkeys(GRAINS, ()) | {"weekly": (day,), "monthly": (day,)}
    await cold.episodic.put_episode(SCOPE, episode_by(SCOPE, [day.id], grain="weekly"))
    assert await cold.grains.loose(OPERATOR, "weekly", before, 9) == ()
    assert await cold.grains.loose(OPERATOR, "monthly", before, 9) == (day,)
    await cold.redactor.redact(OPERATOR, [day.id], "asked to", NOW)
    assert await cold.grains.loose(OPERATOR, "monthly", before, 9) == ()


async def test_retiring_takes_every_word_and_leaves_every_link(
    cold: Cold, backend: ColdBackend, tmp_path: Path
) -> None:
    """Rows, ids, coverage and children stay; no table, index, page or log has a word of it."""
    life = await _lived(cold)
    assert set(SAID) == {word for words in _words(backend, tmp_path).values() for word in words}
    await cold.grains.retire(OPERATOR, [one.id for one in life.episodes], "old", LATER)
    rest = [life.fact.id, life.summary.id, life.turn.id]
    assert await cold.grains.retire(OPERATOR, rest, "old", LATER, [draft("more")]) == tuple(rest)
    assert _words(backend, tmp_path) == {}
    (row,) = backend.rows(tmp_path, "facts")
    assert {row[name] for name in ("identity", "said", "address")} == {None}
    if backend.name == "sqlite":
        assert _words_of_files(tmp_path) == []
    rows = {table: await _rows(cold, table) for table in ("turns", "summaries", "episodes")}
    gone = {"user_id": None, "redacted_at": LATER, "retired_at": LATER}
    silent = {"input": RETIRED, "response": "", "speaker": "", "tool_outputs": ()}
    left, waiting = rows["turns"]
    assert left.mentions, "by which an erasure finds what was made of it"
    assert left.model_copy(update={"mentions": ""}) == life.turn.model_copy(update=silent | gone)
    assert waiting == life.waiting
    (summary,) = rows["summaries"]
    assert summary.model_copy(update={"tokens": life.summary.tokens}) == life.summary.model_copy(
        update={"text": RETIRED} | gone
    )
    assert rows["episodes"] == [
        one.model_copy(update={"text": RETIRED} | gone) for one in life.episodes
    ]
    nothing = {"text": RETIRED, "subject": None, "predicate": None, "object": None}
    (fact,) = await _rows(cold, "facts")
    assert fact.mentions
    assert fact.model_copy(update={"mentions": ""}) == life.fact.model_copy(update=nothing | gone)
    made = await every_row(lambda at: cold.grains.made(OPERATOR, at, 9), 9)
    assert {one.id: one.sources for one in made} == {
        life.summary.id: life.summary.covers,
        **{one.id: one.children for one in life.episodes},
    }


def _words(backend: ColdBackend, folder: Path) -> dict[str, list[str]]:
    return words_in(backend.whole(folder), SAID)


def _words_of_files(folder: Path) -> list[str]:
    """Return the words that stand in any byte of the database, its log included."""
    files = [one.read_bytes().lower() for one in folder.glob(f"{DATABASE_NAME}*")]
    assert len(files) > 1
    return [word for word in SAID for data in files if word.encode() in data]


async def _rows(cold: Cold, table: Any) -> list[Any]:
    return [*(await cold.archive.export_rows("acme", table, "", 100)).rows]


async def test_what_is_retired_is_found_by_nothing(cold: Cold) -> None:
    """No search, list or context has it, its entries leave the index, and the feed says it once."""
    life = await _lived(cold)
    asked_for = [life.turn.id, life.summary.id, life.fact.id, life.episodes[0].id]
    await cold.queue.claim(("index",), "me", 100, 60, NOW)
    await cold.grains.retire(OPERATOR, asked_for, "past its retention", LATER)
    for scope in (OPERATOR.for_agent("strategist"), SCOPE, SCOPE.for_agent("other")):
        for text in (*SAID[:5], *SAID[6:], "retired"):
            assert await cold.words.search_words(scope, asked(text)) == ()
        assert await cold.words.entries(scope, asked_for) == ()
        assert await cold.episodic.summaries(scope) == ()
        assert life.episodes[0].id not in {one.id for one in await cold.episodic.episodes(scope)}
    assert await cold.redactor.redacted(OPERATOR, asked_for) == ()
    page = await cold.redactor.holding(OPERATOR, user_id=USER)
    assert page.rows == ()
    due = await cold.queue.claim(("index",), "me", 100, 60, LATER)
    assert {one.key for one in due} >= set(asked_for)
    (event,) = await cold.log.audit(SCOPE, only=AuditFilter(kinds=("retired",)))
    assert (event.record_ids, event.reason) == (tuple(asked_for), "past its retention")
    again, is_new = await cold.semantic.put_fact(
        SCOPE, fact_by(SCOPE, life.fact.text, topics=life.fact.topics)
    )
    assert (is_new, again.id == life.fact.id) == (True, False)


async def test_retiring_again_changes_nothing(
    cold: Cold, backend: ColdBackend, tmp_path: Path
) -> None:
    """Nor does what is no such record, what is redacted, or somebody else's of the same id."""
    life = await _lived(cold)
    rule, _ = await cold.procedural.put_rule(SCOPE, rule_by(SCOPE))
    await cold.redactor.redact(OPERATOR, [life.waiting.id], "asked to", NOW)
    before = backend.whole(tmp_path)
    for stranger in (OTHER_GRAPH.for_graph(), OTHER_TENANT.for_graph()):
        assert await cold.grains.retire(stranger, life.all_ids, "old", LATER) == ()
    passed_over = [rule.id, life.waiting.id, "unknown", life.turn.id[:-1], "%", ""]
    assert await cold.grains.retire(OPERATOR, passed_over, "old", LATER, [draft("x")]) == ()
    assert await cold.grains.retire(OPERATOR, [], "old", LATER) == ()
    assert backend.whole(tmp_path) == before
    one, rest = life.turn.id, [life.summary.id, life.fact.id]
    assert await cold.grains.retire(OPERATOR, [one, "unknown", one], "old", LATER) == (one,)
    assert await cold.grains.retire(OPERATOR, [one, *rest], "old", LATER) == tuple(rest)
    after = backend.whole(tmp_path)
    assert await cold.grains.retire(OPERATOR, [*rest, one], "old", LATER, [draft("x")]) == ()
    assert backend.whole(tmp_path) == after


async def test_retiring_is_all_or_nothing(cold: Cold, backend: ColdBackend, tmp_path: Path) -> None:
    """A feed that cannot take the event takes everything back; then it can be done."""
    life = await _lived(cold)
    before = backend.whole(tmp_path)
    with pytest.raises((EzraError, UnicodeError)):
        await cold.grains.retire(OPERATOR, life.all_ids, LONE_SURROGATE, LATER)
    assert backend.whole(tmp_path) == before
    await cold.grains.retire(OPERATOR, life.all_ids, "old", LATER)
    assert all(one.retired_at == LATER for one in await _rows(cold, "turns"))


async def test_redacting_what_is_retired_reaches_what_was_made_of_it(cold: Cold) -> None:
    """Summary, episodes, facts, rules and receipts that tell it go; retired ones stay as they are.

    Nor is a retired one given a new text.
    """
    life = await _lived(cold)
    told = fact_by(SCOPE, "It follows.", source_ids=(life.turn.id,))
    await cold.semantic.put_fact(SCOPE, told)
    rule = rule_by(SCOPE, "asked again", source_ids=(told.id,))
    await cold.procedural.put_rule(SCOPE, rule)
    receipt = receipt_by(SCOPE, query=SAID[0], body={"turn_id": life.turn.id})
    await cold.log.put_receipt(SCOPE, receipt)
    daily = life.episodes[0]
    await cold.grains.retire(OPERATOR, [life.turn.id, daily.id], "old", LATER)
    retired = [(await _rows(cold, "turns"))[0], (await _rows(cold, "episodes"))[0]]
    reached = await cold.redactor.redact(OPERATOR, [life.turn.id], "asked to", LATER)
    assert reached.ids == {
        "turn": (life.turn.id,),
        "summary": (life.summary.id,),
        "episode": tuple(sorted(one.id for one in life.episodes)),
        "fact": (told.id,),
        "rule": (rule.id,),
        "receipt": (receipt.id,),
    }
    retired[0] = retired[0].model_copy(update={"mentions": ""})  # it leads to nothing any more
    assert [(await _rows(cold, "turns"))[0], (await _rows(cold, "episodes"))[0]] == retired
    blank = await cold.log.receipt(SCOPE, receipt.id)
    assert blank is not None
    assert blank.query == ""
    gone = await cold.redactor.redacted(OPERATOR, reached.all_ids)
    emptied = {life.summary.id, *(one.id for one in life.episodes[1:]), told.id, rule.id}
    assert {one.id for one in gone} == emptied
    (summary,) = [one for one in gone if isinstance(one, Summary)]
    assert await cold.redactor.left_of(OPERATOR, summary) == ()
    anew = {"text": "A pelican."}
    assert not await cold.redactor.rewrite(OPERATOR, retired[1].model_copy(update=anew))
    told_anew = anew | {"made_by": "model-9", "lost": 7}
    assert await cold.redactor.rewrite(OPERATOR, summary.model_copy(update=told_anew))
    (found,) = await cold.episodic.summaries(OPERATOR.for_agent("strategist"))
    assert (found.text, found.made_by, found.lost) == ("A pelican.", "model-9", 7)
    again = await cold.redactor.redact(OPERATOR, [life.turn.id], "asked to", LATER)
    assert "receipt" not in again.ids
    assert len(await cold.log.audit(SCOPE, only=AuditFilter(kinds=("redacted",)))) == 2


async def test_life_is_retired_finest_first(cold: Cold) -> None:
    """Each grain is due once what is made of it is there, and a stand-in that went has its own.

    A year on which everything rests goes last; what waits for its day stays.
    """
    life = await _lived(cold)
    kinds: Sequence[Any] = ANY_GRAIN
    for grain in kinds:
        due = await cold.grains.retirable(OPERATOR, grain, LATER, 9)
        mine = {one.id: one for one in life.episodes if one.grain == grain}
        expected = {life.turn.id, life.summary.id} if grain == "working" else set(mine)
        assert {one.id for one in due} == expected, grain
        for one in due:
            standing = await cold.episodic.episodes(OPERATOR.for_agent("strategist"))
            assert {*one.replaced_by} <= {other.id for other in standing}
            assert bool(one.replaced_by) == (grain not in ("weekly", "yearly"))
        await cold.grains.retire(OPERATOR, [one.id for one in due], "old", LATER)
    turns = await _rows(cold, "turns")
    assert [one.retired_at is None for one in turns] == [False, True]
    assert [one.retired_at for one in await _rows(cold, "episodes")] == [LATER] * 5
