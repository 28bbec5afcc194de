"""What is held, was said and was shown, page by page and tier by tier, through either door."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from support.records import every_row, pages
from support.runtime import MovingClock, running
from support.service import serving

from ezra import Ezra, Fact, NotFound, Rule, UsageError
from ezra.receipts import lookup
from tiers.recollection import Place
from tiers.records import AuditFilter, Scope

# What was said, what was shown and when beliefs held, page by page, through either door.

KEY = ("start", "compound")


async def weekend(runtime: Any, clock: MovingClock, *, turns: int = 7) -> Any:
    """Let two agents take turns, one of them committing twice; return the graph."""
    graph = await runtime.create_session_graph("imola")
    agent = await graph.spawn_agent("strategist", topics={"tyres"})
    other = await graph.spawn_agent("engineer", topics={"tyres"})
    for number in range(turns):
        turn = await agent.turn(f"question {number}")
        await (await other.turn(f"aside {number}")).reply("so be it")
        if number in (2, 5):
            await agent.commit(f"claim {number}", topic="tyres", key=KEY, value=str(number))
        await turn.reply(f"answer {number}")
        clock.move(minutes=1)
    return graph


async def test_turns_of_a_member_are_paged_from_the_end(runtime: Any, clock: MovingClock) -> None:
    """The last first, every turn once, of this member alone; a redacted one keeps its place."""
    graph = await weekend(runtime, clock)
    pages = [await graph.turns("strategist", before=one, limit=3) for one in (None, 5, 2)]
    assert [[turn.seq for turn in page] for page in pages] == [[7, 6, 5], [4, 3, 2], [1]]
    assert pages[2][0].input == "question 0"
    assert await graph.turns("strategist", before=1) == await graph.turns("nobody") == ()
    await graph.redact([pages[0][1].id], reason="asked for")
    shown = await graph.turns("strategist", limit=2)
    assert [(turn.seq, turn.input) for turn in shown] == [(7, "question 6"), (6, "[redacted]")]
    for wrong in ({"limit": 0}, {"limit": 1001}, {"before": 0}):
        with pytest.raises(UsageError):
            await graph.turns("strategist", **wrong)


async def test_receipts_are_found_by_their_turns(runtime: Any, clock: MovingClock) -> None:
    """Each turn's own, whoever spoke in between; a turn that has none is left out."""
    graph = await weekend(runtime, clock)
    turns = await graph.turns("strategist")
    found = await graph.receipts_of([*(turn.id for turn in turns), "unknown"])
    assert list(found) == [turn.id for turn in turns]
    for turn in turns:
        receipt = found[turn.id]
        assert (receipt.agent_id, receipt.query) == ("strategist", turn.input)
        assert receipt == await graph.receipt(receipt.id)
    assert await graph.receipts_of([]) == {}
    with pytest.raises(UsageError):
        await graph.receipts_of(["x"] * 101)


async def test_a_receipt_is_found_behind_many_others(
    runtime: Any, behind: Ezra, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Others may ask much between the opening of a turn and the next; looking has an end."""
    monkeypatch.setattr(lookup, "RECEIPTS_PER_PAGE", 4)
    graph = await runtime.create_session_graph("imola")
    agent = await (await behind.session_graph("imola")).spawn_agent("strategist")
    first = await (await agent.turn("first")).reply("yes")
    for number in range(10):
        await agent.turn(f"unanswered {number}")
    last = await (await agent.turn("last")).reply("yes")
    found = await graph.receipts_of([last.turn.id, first.turn.id])
    assert [one.query for one in found.values()] == ["last", "first"]
    assert await graph.receipts_of([last.turn.id, "0"]) == {last.turn.id: found[last.turn.id]}
    monkeypatch.setattr(lookup, "RECEIPT_PAGES_MAX", 2)
    assert list(await graph.receipts_of([first.turn.id, last.turn.id])) == [first.turn.id]


async def test_beliefs_tell_when_they_held(runtime: Any, clock: MovingClock) -> None:
    """One span each, a second where one was restored; the times are those of the events."""
    history = (await weekend(runtime, clock)).beliefs
    old, new = await history.query()
    lives = await history.lives([new.id, "unknown", old.id])
    assert [life.belief for life in lives] == [new, old]
    times = {event.seq: event.recorded_at for event in await history.events()}
    (span,) = lives[1].held
    assert (span.since_seq, span.until_seq) == (old.committed_seq, old.ended_seq)
    assert (span.since, span.until) == (times[old.committed_seq], times[old.ended_seq])
    assert [(one.until_seq, one.until) for one in lives[0].held] == [(None, None)]
    clock.move(hours=1)
    await history.revert(new.id, reason="typing error")
    (life,) = await history.lives([old.id])
    assert [one.until_seq is None for one in life.held] == [False, True]
    assert life.held[1].since == (await history.events())[life.held[1].since_seq - 1].recorded_at
    assert await history.lives([]) == ()
    with pytest.raises(UsageError):
        await history.lives(["x"] * 101)


async def test_what_was_active_after_an_event_is_paged(runtime: Any, clock: MovingClock) -> None:
    """The same beliefs as ``as_of``, with what became of them since."""
    history = (await weekend(runtime, clock)).beliefs
    for seq in range(await history.seq_at() + 1):
        then = await history.query(as_of_seq=seq)
        assert [one.id for one in then] == [one.id for one in await history.as_of(seq=seq)]
    with pytest.raises(UsageError, match="seq"):
        await history.query(as_of_seq=10**6)


async def test_the_audit_feed_is_read_backwards(runtime: Any, clock: MovingClock) -> None:
    """The last events first, of a graph and of the tenant, and filtered as forwards."""
    graph = await weekend(runtime, clock)
    forwards = await graph.audit()
    backwards = await graph.audit(limit=2, only=AuditFilter(before=2**53 - 1))
    assert backwards == forwards[-1:-3:-1]
    rest = await graph.audit(only=AuditFilter(before=backwards[-1].seq))
    assert (*backwards, *rest) == forwards[::-1]
    committed = AuditFilter(kinds=("committed",), before=10**6)
    assert [one.kind for one in await runtime.audit(0, 1, only=committed)] == ["committed"]


# What a graph holds, the latest first, page by page, through either door.


async def _told(runtime: Any) -> list[str]:
    """Remember facts of both tiers, some private, forgotten or of another graph; live ids."""
    graph = await runtime.create_session_graph("imola")
    agent = await graph.spawn_agent("strategist", topics={"tyres", "weather"})
    kept = []
    for number in range(7):
        tier = "core" if number % 3 == 0 else "archival"
        topic = "tyres" if number % 2 else "weather"
        what = Fact(text=f"fact {number}", tier=tier, topics=(topic,))
        kept.append(await agent.remember(what))
    await agent.remember("only mine", private=True)
    await agent.forget(kept.pop(2), reason="asked to")
    other = await runtime.create_session_graph("monza")
    await (await other.spawn_agent("strategist")).remember("of another graph")
    return kept


async def test_facts_come_in_pages_the_latest_first(runtime: Any) -> None:
    """Live shared facts of the graph alone, each once; a tier and a topic narrow every page."""
    kept = await _told(runtime)
    graph = await runtime.session_graph("imola")
    whole = await graph.latest_facts()
    assert ([one.id for one in whole.rows], whole.cursor) == (kept[::-1], None)
    assert {one.text for one in whole.rows} == {f"fact {number}" for number in (0, 1, 3, 4, 5, 6)}
    read = [one async for one in pages(lambda at: graph.latest_facts(after=at, limit=2), 2)]
    assert ([row.id for one in read for row in one.rows], len(read)) == (kept[::-1], 3)
    core = await graph.latest_facts(tier="core", limit=2)
    assert [one.text for one in core.rows] == ["fact 6", "fact 3"]
    rest = await graph.latest_facts(tier="core", limit=2, after=core.cursor)
    assert ([one.text for one in rest.rows], rest.cursor) == (["fact 0"], None)
    about = await graph.latest_facts(topics=["tyres"])
    assert [one.text for one in about.rows] == ["fact 5", "fact 3", "fact 1"]


async def test_facts_true_from_one_day_are_told_apart(runtime: Any, clock: MovingClock) -> None:
    """Many may begin at one moment: their ids order them, and no page loses one."""
    graph = await runtime.create_session_graph("imola")
    agent = await graph.spawn_agent("strategist")
    day = clock() - timedelta(days=9)
    ids = {await agent.remember(Fact(text=f"fact {n}", valid_from=day)) for n in range(5)}
    read = await every_row(lambda at: graph.latest_facts(after=at, limit=2), 2)
    assert [one.id for one in read] == sorted(ids)


async def test_rules_come_in_pages_with_their_outcomes(runtime: Any, behind: Ezra) -> None:
    """Rules as they are now, versions and counts included."""
    graph = await runtime.create_session_graph("imola")
    assert (await graph.latest_rules()).rows == ()
    agent = await graph.spawn_agent("strategist", topics={"tyres"})
    for number in range(3):
        rule = Rule(trigger=f"it rains {number}", steps=("box",), topics=("tyres",))
        rule_id = await agent.remember(rule)
    runtime = behind._runtime
    scope = Scope.of_graph(runtime.settings.tenant, "imola")
    await runtime.playbooks.record_outcome(
        scope, rule_id, "a turn", runtime.clock(), is_success=True
    )
    page = await graph.latest_rules(limit=2)
    assert [(one.trigger, one.successes) for one in page.rows] == [
        ("it rains 2", 1),
        ("it rains 1", 0),
    ]
    rest = await graph.latest_rules(limit=2, after=page.cursor)
    assert ([one.trigger for one in rest.rows], rest.cursor) == (["it rains 0"], None)
    assert (await graph.latest_rules(topics=["weather"])).rows == ()


async def test_what_is_no_page_is_refused_alike(runtime: Any) -> None:
    """Numbers out of range, cursors that never were, tiers there are none of: by name."""
    graph = await runtime.create_session_graph("imola")
    mistakes: tuple[dict[str, Any], ...] = (
        {"limit": 0},
        {"limit": 101},
        {"after": "x"},
        {"after": "1:"},
        {"after": "²:x"},
        {"after": f"{9**40}:x"},
        {"after": "-62135596800000001:x"},
        {"tier": "silver"},
        {"topics": [""]},
    )
    for asked in mistakes:
        with pytest.raises(UsageError) as refused:
            await graph.latest_facts(**asked)
        assert refused.value.field.split(".")[0] in asked


# Who was shown a record, and when, through each door.

SAID = "The hard tyre lasts thirty laps."
ASKED = "How long does the hard tyre last?"


async def test_each_showing_is_told_and_nothing_else(
    runtime: Any, behind: Ezra, clock: MovingClock
) -> None:
    """By agent, in turns and recalls; who may not see the record was never shown it."""
    graph = await runtime.create_session_graph("imola")
    writer = await graph.spawn_agent("writer", topics={"tyres"})
    reader = await graph.spawn_agent("reader", topics={"tyres"})
    blind = await graph.spawn_agent("blind", topics={"fuel"})
    fact = await writer.remember(SAID, topics={"tyres"})
    assert (await graph.readings(fact)).readings == ()
    turns = []
    for agent in (reader, blind, reader):
        clock.move(minutes=1)
        turn = await agent.turn(ASKED)
        turns.append(turn.id)
        await turn.reply("Thirty laps.")
    found = await graph.readings(fact)
    shown = [(one.agent_id, one.kind, one.turn_id) for one in found.readings]
    assert shown == [("reader", "turn", turns[2]), ("reader", "turn", turns[0])]
    assert (found.total, found.is_whole) == (2, True)
    assert found.readings[0].shown_at > found.readings[1].shown_at
    for one in found.readings:
        told = await graph.receipt(one.receipt_id)
        assert (told.agent_id, told.kind) == (one.agent_id, one.kind)
    assert found == await (await behind.session_graph("imola")).readings(fact)
    last = await graph.readings(fact, limit=1)
    assert (last.readings, last.total) == (found.readings[:1], 2)


async def test_an_heir_that_read_it_is_told(runtime: Any) -> None:
    """A core fact that a child reads by reference was shown there."""
    parent = await runtime.create_session_graph("monaco")
    writer = await parent.spawn_agent("writer")
    fact = await writer.remember(Fact(text=SAID, tier="core"))
    child = await runtime.create_session_graph("imola", inherits_from=["monaco"])
    heir = await child.spawn_agent("heir")
    turn = await heir.turn(ASKED)
    await turn.reply("Thirty laps.")
    found = await parent.readings(fact)
    assert [(one.graph_id, one.agent_id, one.turn_id) for one in found.readings] == [
        ("imola", "heir", turn.id)
    ]


async def test_wrong_questions_are_named(runtime: Any) -> None:
    """An unknown record, another graph's, and a limit out of range."""
    graph = await runtime.create_session_graph("imola")
    other = await runtime.create_session_graph("monaco")
    agent = await other.spawn_agent("one")
    theirs = await agent.remember(SAID)
    for unknown in ("nothing", theirs):
        with pytest.raises(NotFound):
            await graph.readings(unknown)
    for limit in (0, 1_001):
        with pytest.raises(UsageError):
            await other.readings(theirs, limit=limit)


# What each tier holds for one agent, in process and over HTTP.


@pytest.mark.parametrize("tier", ["core", "archival"])
@pytest.mark.parametrize("since", ["given way", "forgotten", "moved", "not yet said"])
async def test_a_nearer_definition_hides_what_it_hid_then(
    runtime: Any, clock: MovingClock, tier: str, since: str
) -> None:
    """Whatever became of it: a moment has the definition that it had, and no ancestor's beside."""
    monaco = await runtime.create_session_graph("monaco")
    wing = {"subject": "front wing", "predicate": "is at"}
    far = Fact(**wing, object="28 degrees", tier="core")
    await (await monaco.spawn_agent("engineer", topics={"*"})).remember(far)
    imola = await runtime.create_session_graph("imola", inherits_from=["monaco"])
    agent = await imola.spawn_agent("engineer", topics={"*"})
    clock.move(minutes=1)
    near = Fact(**wing, object="30 degrees", tier=tier)
    fact = None if since == "not yet said" else await agent.remember(near)

    async def known(as_of: Any = None) -> tuple[set[str], set[str]]:
        hits = await agent.recall("front wing degrees", kinds=("fact",), as_of=as_of)
        edges = await agent.knowledge.neighbours("front wing", as_of=as_of)
        return {one.text for one in hits.items}, {one.fact.text for one in edges}

    clock.move(minutes=1)
    then, seen = clock(), await known()
    angle = "28" if fact is None else "30"
    assert seen == ({f"front wing is at {angle} degrees"},) * 2
    clock.move(minutes=1)
    if fact is None:
        await agent.remember(near)
    elif since == "given way":
        later = Fact(subject="rear wing", predicate="is at", object="9 degrees")
        await agent.remember(later, supersedes=fact)
    elif since == "forgotten":
        await agent.forget(fact, reason="measured wrongly")
    else:
        move = imola.demote if tier == "core" else imola.promote
        assert await move(fact, reason="asked for")
    clock.move(minutes=1)
    assert await known(then) == seen


async def test_a_turn_moves_from_the_ring_through_waiting_into_a_summary(
    tmp_path: Path, door: str, clock: MovingClock
) -> None:
    """Each turn is in one of the three places, and is named by its place through either door."""
    small = {"ring_capacity": 3, "turns_per_summary": 2}
    async with running(tmp_path / "home", clock, **small) as ezra:
        if door == "in process":
            await _moves(ezra, ezra, clock)
        else:
            async with serving(ezra) as url, Ezra.connect(url) as remote:
                await _moves(remote, ezra, clock)


async def _moves(runtime: Any, behind: Ezra, clock: MovingClock) -> None:
    graph = await runtime.create_session_graph("imola")
    agent = await graph.spawn_agent("strategist", topics={"tyres"}, role="strategist")
    other = await graph.spawn_agent("engineer")
    await (await other.turn("not mine")).reply("no")
    for number in range(6):
        clock.move(minutes=1)
        await (await agent.turn(f"lap {number}", private=number == 0)).reply(f"answer {number}")

    before = await graph.memory_of("strategist")
    assert (before.agent.role, before.capacity, before.turns) == ("strategist", 3, 6)
    assert [turn.input for turn in before.ring] == ["lap 3", "lap 4", "lap 5"]
    assert [turn.input for turn in before.waiting] == ["lap 0", "lap 1", "lap 2"]
    assert before.summaries == ()
    assert before == await (await behind.session_graph("imola")).memory_of("strategist")

    await behind.run_lifecycle_tick("imola")
    after = await graph.memory_of("strategist")
    covered = {turn_id for one in after.summaries for turn_id in one.covers}
    assert covered | {turn.id for turn in after.waiting} == {turn.id for turn in before.waiting}
    assert len(covered) >= 2
    assert after.ring == before.ring

    scope = Scope.of_graph(behind._runtime.settings.tenant, "imola").for_agent("strategist")
    await behind._runtime.hot.clear(scope)
    assert (await graph.memory_of("strategist")).ring == before.ring, "a ring that was lost"

    belief = await agent.commit("Mediums last 18 laps.", topic="tyres")
    await agent.pin(belief.id)
    assert [one.id for one in (await graph.memory_of("strategist")).pinned] == [belief.id]
    await agent.leave()
    gone = await graph.memory_of("strategist")
    assert gone.agent.left_at is not None
    assert gone.ring == ()
    assert gone.turns == 6
    with pytest.raises(NotFound):
        await graph.memory_of("nobody")


# Questions that are kept to some records, and histories read page by page, through both doors.


async def test_recall_is_kept_to_the_records_that_are_named(runtime: Any) -> None:
    """However much fits better beside them; of what one does not see it shows nothing."""
    graph = await runtime.create_session_graph("imola")
    agent = await graph.spawn_agent("one", topics={"tyres"})
    other = await graph.spawn_agent("two", topics={"fuel"})
    ids = [await agent.remember(f"Mediums on lap {n}: mediums, mediums.") for n in range(130)]
    worst = await agent.remember("Whoever asks about mediums gets this one last, one would think.")
    hidden = await other.remember("Mediums cost fuel.")
    found = await agent.recall("mediums", ids=[worst, ids[3], hidden, "nobody"])
    assert {hit.id for hit in found.items} == {worst, ids[3]}
    assert [hit.id for hit in (await agent.recall("mediums", ids=[worst], limit=1)).items] == [
        worst
    ]
    for mode in ("keyword", "hybrid"):
        among = await graph.recall("mediums", ids=[hidden, worst], mode=mode)
        assert {hit.id for hit in among.items} == {hidden, worst}
    assert (await agent.recall("mediums", ids=[worst], kinds=("turn",))).items == ()
    for wrong in ("abc", [""], ["\x00"], [str(n) for n in range(1_001)]):
        with pytest.raises(UsageError, match="ids"):
            await agent.recall("mediums", ids=wrong)


async def test_a_receipt_says_to_which_records_a_question_was_kept(runtime: Any) -> None:
    """And a replay asks the same question again."""
    graph = await runtime.create_session_graph("imola")
    agent = await graph.spawn_agent("one", topics={"tyres"})
    first, second = [await agent.remember(f"Mediums, {n} of two.") for n in ("one", "two")]
    found = await agent.recall("mediums", ids=[second], receipt=True)
    receipt = await graph.receipt(found.receipt_id)
    assert receipt.body["arguments"]["ids"] == [second]
    replayed = await graph.replay_context(found.receipt_id, today=True)
    assert replayed is not None
    assert first not in repr(replayed)


async def test_a_history_is_read_page_by_page(runtime: Any) -> None:
    """After the place at which the page before ended; with what has ended, or without."""
    graph = await runtime.create_session_graph("imola")
    agent = await graph.spawn_agent("one", topics={"tyres"})
    for n in range(5):
        await agent.knowledge.update("mediums", "last at", f"{n} laps")
    whole = await agent.knowledge.history("mediums")
    seen: list[Any] = []
    behind: Place | None = None
    while page := await agent.knowledge.history("mediums", limit=2, behind=behind):
        seen += page
        behind = Place(page[-1].recorded_at, page[-1].id)
    assert seen == list(whole)
    live = await graph.knowledge.history("mediums", "last at", live_only=True)
    assert [one.object for one in live] == ["4 laps"]
    naive = Place(whole[0].recorded_at.replace(tzinfo=None), whole[0].id)
    with pytest.raises(UsageError, match="behind"):
        await agent.knowledge.history("mediums", behind=naive)
