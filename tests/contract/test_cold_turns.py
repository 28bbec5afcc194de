"""The contract of ``TurnStore``."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path
from random import Random

import pytest
from support.cold_backends import Cold, ColdBackend
from support.cold_samples import (
    HOSTILE_NAMES,
    LONE_SURROGATE,
    OPERATOR,
    OTHER_AGENT,
    OTHER_GRAPH,
    SCOPE,
    STRANGERS,
    draft,
    summary_by,
    turn_by,
    turns_said,
)
from support.tier_samples import HOSTILE_TEXT, NOW, TWINS, scope_of

from tiers.errors import Conflict, UsageError
from tiers.records import Scope, Tail, ToolOutput


async def test_nothing_is_an_empty_answer(cold: Cold) -> None:
    """Unknown agents, ids and refs, and empty batches, give nothing."""
    assert await cold.turns.recent_turns(SCOPE, 8) == ()
    assert await cold.turns.turns(SCOPE, []) == ()
    assert await cold.turns.turns(SCOPE, ["unknown"]) == ()
    assert await cold.turns.known_refs(SCOPE, []) == {}
    assert await cold.turns.known_refs(SCOPE, ["unknown"]) == {}
    assert await cold.turns.waiting_turns(SCOPE, 0, 10) == ()


async def test_turn_comes_back_as_it_was_stored(cold: Cold) -> None:
    """Every field survives, tool outputs and hostile text included."""
    turn = turn_by(
        text=HOSTILE_TEXT,
        response=HOSTILE_TEXT,
        tool_outputs=(ToolOutput(tool="telemetry", output=HOSTILE_TEXT),),
        speaker="driver",
        tokens=42,
        ref="r1",
        private=True,
        topics=("strategy", "tyres"),
        tail=Tail(epoch=3, is_short=True, since=7, used_tokens=900, window_tokens=1_000),
        occurred_at=NOW - timedelta(days=400, microseconds=1),
    )
    stored, is_new = await cold.turns.append_turn(SCOPE, turn)
    assert is_new
    assert stored == turn.model_copy(update={"seq": 1})
    assert await cold.turns.recent_turns(SCOPE, 8) == (stored,)
    assert await cold.turns.turns(SCOPE, [turn.id]) == (stored,)


async def test_seq_counts_per_agent_without_gaps_under_a_race(processes: Cold) -> None:
    """Fifty racing appends of one agent, and others beside it, get 1 to 50 each once."""
    racing = [processes.turns.append_turn(SCOPE, turn_by(text=f"mine {n}")) for n in range(50)]
    others = [
        processes.turns.append_turn(OTHER_AGENT, turn_by(OTHER_AGENT, f"{n}")) for n in range(20)
    ]
    stored = await asyncio.gather(*racing, *others)
    seqs = [turn.seq for turn, _ in stored]
    assert sorted(seqs[:50]) == list(range(1, 51))
    assert sorted(seqs[50:]) == list(range(1, 21))
    recent = await processes.turns.recent_turns(SCOPE, 100)
    assert [turn.seq for turn in recent] == list(range(1, 51))


async def test_recent_turns_are_the_last_of_that_agent_oldest_first(cold: Cold) -> None:
    """The limit keeps the newest."""
    turns = await turns_said(cold, 12)
    await turns_said(cold, 3, OTHER_AGENT)
    assert await cold.turns.recent_turns(SCOPE, 8) == tuple(turns[4:])


async def test_turns_are_returned_in_the_order_asked(cold: Cold) -> None:
    """Unknown ids are left out, a repeated one comes once."""
    one, two, three = await turns_said(cold, 3)
    asked = [three.id, "unknown", one.id, three.id, two.id]
    assert await cold.turns.turns(SCOPE, asked) == (three, one, two)


async def test_repeated_ref_changes_nothing(
    cold: Cold, backend: ColdBackend, tmp_path: Path
) -> None:
    """The stored turn comes back, no second turn and no second work item exists."""
    first, _ = await cold.turns.append_turn(SCOPE, turn_by(ref="r"), [draft("one")])
    again, is_new = await cold.turns.append_turn(SCOPE, turn_by(ref="r"), [draft("two")])
    assert (again, is_new) == (first, False)
    assert len(backend.rows(tmp_path, "turns")) == 1
    assert [row["key"] for row in backend.rows(tmp_path, "work")] == ["one"]


async def test_repeated_id_changes_nothing(cold: Cold) -> None:
    """A write whose outcome was unknown may be repeated without a ``ref`` too."""
    turn = turn_by()
    first, _ = await cold.turns.append_turn(SCOPE, turn)
    assert await cold.turns.append_turn(SCOPE, turn) == (first, False)
    with pytest.raises(Conflict):
        await cold.turns.append_turn(SCOPE, turn.model_copy(update={"input": "else"}))


async def test_ref_with_other_content_is_a_conflict(cold: Cold, subtests: pytest.Subtests) -> None:
    """Another input, response or agent under a known ``ref`` is refused and writes nothing."""
    await cold.turns.append_turn(SCOPE, turn_by(ref="r"))
    cases = {
        "input": turn_by(text="something else", ref="r"),
        "response": turn_by(response="something else", ref="r"),
        "agent": turn_by(OTHER_AGENT, ref="r"),
    }
    for case, turn in cases.items():
        scope = OTHER_AGENT if case == "agent" else SCOPE
        with subtests.test(case):
            with pytest.raises(Conflict, match="turn r"):
                await cold.turns.append_turn(scope, turn, [draft()])
            assert not any((await cold.queue.waiting()).values())


async def test_ref_is_unique_in_its_graph_only(cold: Cold) -> None:
    """The same ``ref`` in another graph is another turn."""
    await cold.turns.append_turn(SCOPE, turn_by(ref="r"))
    _, is_new = await cold.turns.append_turn(OTHER_GRAPH, turn_by(OTHER_GRAPH, "else", ref="r"))
    assert is_new


async def test_racing_repeats_of_one_ref_store_one_turn(processes: Cold) -> None:
    """Twenty racing writers of the same turn agree on one."""
    stored = await asyncio.gather(
        *(processes.turns.append_turn(SCOPE, turn_by(ref="r")) for _ in range(20))
    )
    assert sum(is_new for _, is_new in stored) == 1
    assert len({turn.id for turn, _ in stored}) == 1


async def test_known_refs_names_those_that_exist(cold: Cold) -> None:
    """Asked for many, it returns the known ones."""
    stored, _ = await cold.turns.append_turn(SCOPE, turn_by(ref="known"))
    assert await cold.turns.known_refs(SCOPE, ["unknown", "known"]) == {"known": stored}
    assert await cold.turns.known_refs(OTHER_GRAPH, ["known"]) == {}


async def test_turn_and_its_work_are_one_write(
    cold: Cold, backend: ColdBackend, tmp_path: Path
) -> None:
    """Work that cannot be stored takes the turn with it."""
    with pytest.raises(UsageError):
        await cold.turns.append_turn(SCOPE, turn_by(), [draft("fine"), draft(LONE_SURROGATE)])
    assert backend.rows(tmp_path, "turns") == []
    assert backend.rows(tmp_path, "work") == []
    await cold.turns.append_turn(SCOPE, turn_by(), [draft("a"), draft("b", "compress", x=1)])
    queued = [(row["kind"], row["key"]) for row in backend.rows(tmp_path, "work")]
    assert queued == [("index", "a"), ("compress", "b")]


async def test_raw_engine_holds_what_was_written(
    cold: Cold, backend: ColdBackend, tmp_path: Path
) -> None:
    """Owner, text and seq are there under their own names, for whoever looks without ezra."""
    await cold.turns.append_turn(SCOPE, turn_by(text="Bonjour é 🏎️", ref="r"))
    (row,) = backend.rows(tmp_path, "turns")
    shown = ("tenant", "graph_id", "agent_id", "seq", "ref", "input", "response")
    assert tuple(row[name] for name in shown) == (
        *("acme", "race", "strategist", 1, "r"),
        *("Bonjour é 🏎️", "About 18 laps."),
    )


async def test_turns_are_not_seen_outside_their_scope(cold: Cold) -> None:
    """Another topic, graph or tenant gets nothing by id or ref."""
    stored, _ = await cold.turns.append_turn(SCOPE, turn_by(ref="r"))
    for stranger in STRANGERS:
        assert await cold.turns.turns(stranger, [stored.id]) == ()
        assert await cold.turns.known_refs(stranger, ["r"]) == {}


async def test_untopiced_turns_are_seen_and_private_ones_only_by_their_writer(cold: Cold) -> None:
    """Topics restrict only records that have some; privacy restricts even who sees everything."""
    open_turn, _ = await cold.turns.append_turn(SCOPE, turn_by(topics=()))
    secret, _ = await cold.turns.append_turn(SCOPE, turn_by(topics=(), private=True))
    ids = [open_turn.id, secret.id]
    for stranger in (scope_of(agent_id="engineer", topics=()), OPERATOR):
        assert await cold.turns.turns(stranger, ids) == (open_turn,)
    assert await cold.turns.turns(SCOPE, ids) == (open_turn, secret)


async def test_names_that_look_alike_are_different(cold: Cold) -> None:
    """Prefixes, separators and case do not mix agents up: each counts from 1."""
    for names in TWINS:
        scope = scope_of(*names)
        stored, _ = await cold.turns.append_turn(scope, turn_by(scope))
        assert stored.seq == 1
        assert await cold.turns.recent_turns(scope, 8) == (stored,)


async def test_hostile_names_are_just_names(cold: Cold) -> None:
    """SQL and odd characters in every name a turn has are stored and found."""
    for name in HOSTILE_NAMES:
        scope = scope_of(name, name, name, topics=(name[:200],))
        turn = turn_by(scope, ref=name, speaker=name, topics=(name[:200],))
        stored, _ = await cold.turns.append_turn(scope, turn)
        assert await cold.turns.known_refs(scope, [name]) == {name: stored}
        assert await cold.turns.recent_turns(scope, 1) == (stored,)


async def test_very_long_texts_are_kept_whole(cold: Cold) -> None:
    """The longest texts a record may have, without a space, and with nothing but spaces."""
    for text in ("x" * 200_000, "lap " * 50_000, " " * 200_000):
        turn = turn_by(text=text, response=text)
        stored, _ = await cold.turns.append_turn(SCOPE, turn)
        assert (await cold.turns.turns(SCOPE, [stored.id]))[0].response == text


async def test_text_without_a_utf8_form_is_the_callers_mistake(
    cold: Cold, subtests: pytest.Subtests
) -> None:
    """A lone surrogate is refused, nothing is written, and the seq is not used up."""
    for field in ("input", "response", "speaker"):
        turn = turn_by().model_copy(update={field: LONE_SURROGATE})
        with subtests.test(field), pytest.raises(UsageError, match="surrogates"):
            await cold.turns.append_turn(SCOPE, turn)
    stored, _ = await cold.turns.append_turn(SCOPE, turn_by())
    assert stored.seq == 1


async def test_lone_surrogate_in_a_question_is_the_callers_mistake(cold: Cold) -> None:
    """Ids and refs that cannot be stored cannot be asked for either."""
    for question in (cold.turns.turns, cold.turns.known_refs):
        with pytest.raises(UsageError, match="surrogates"):
            await question(SCOPE, [LONE_SURROGATE])


async def test_turn_of_somebody_else_is_refused(cold: Cold, subtests: pytest.Subtests) -> None:
    """A record that is not the scope's own, or cannot be stored, is the caller's mistake."""
    cases = {
        "graph": turn_by(OTHER_GRAPH),
        "tenant": turn_by().model_copy(update={"tenant": "acm"}),
        "id": turn_by().model_copy(update={"id": ""}),
        "private without writer": turn_by(private=True).model_copy(update={"agent_id": ""}),
        "number": turn_by(tokens=2**63),
    }
    for case, turn in cases.items():
        with subtests.test(case):
            with pytest.raises(UsageError):
                await cold.turns.append_turn(SCOPE, turn)
            assert (await cold.words.census(OPERATOR))["turns"] == 0


async def test_waiting_turns_are_old_and_uncovered(cold: Cold) -> None:
    """The last ``keep_last`` are left alone, covered ones are gone, the limit keeps the oldest."""
    turns = await turns_said(cold, 12)
    await turns_said(cold, 12, OTHER_AGENT)
    assert await cold.turns.waiting_turns(SCOPE, 8, 100) == tuple(turns[:4])
    assert await cold.turns.waiting_turns(SCOPE, 0, 5) == tuple(turns[:5])
    assert await cold.turns.waiting_turns(SCOPE, 12, 100) == ()
    await cold.episodic.put_summary(SCOPE, summary_by(SCOPE, [turns[0], turns[2]]))
    assert await cold.turns.waiting_turns(SCOPE, 8, 100) == (turns[1], turns[3])


async def test_waiting_turns_of_a_day_are_those_that_occurred_before_its_end(cold: Cold) -> None:
    """Whenever they were recorded, and the limit counts them alone."""
    days = (3, 0, 5, 1)
    turns = [
        (await cold.turns.append_turn(SCOPE, turn_by(occurred_at=NOW + timedelta(days=day))))[0]
        for day in days
    ]
    for before, expected in ((3, [turns[1], turns[3]]), (4, [turns[0], turns[1], turns[3]])):
        until = NOW + timedelta(days=before)
        found = await cold.turns.waiting_turns(SCOPE, 0, 9, before=until)
        assert found == tuple(expected)
        first = await cold.turns.waiting_turns(SCOPE, 0, 1, before=until)
        assert first == found[:1]
    assert await cold.turns.waiting_turns(SCOPE, 2, 9, before=NOW + timedelta(days=2)) == (
        turns[1],
    )


async def test_reading_on_gets_past_what_is_gone(cold: Cold) -> None:
    """Turns behind a ``seq`` in order, redacted and retired ones among them, of that agent only."""
    turns = await turns_said(cold, 5)
    await turns_said(cold, 3, OTHER_AGENT)
    await cold.redactor.redact(OPERATOR, [turns[1].id], "asked to", NOW)
    await cold.grains.retire(OPERATOR, [turns[2].id], "old", NOW)
    found = await cold.turns.turns_after(SCOPE, 1, 9)
    assert [one.id for one in found] == [one.id for one in turns[1:]]
    assert [one.redacted_at is None for one in found] == [False, False, True, True]
    assert [one.retired_at is None for one in found] == [True, False, True, True]
    assert await cold.turns.turns_after(SCOPE, 1, 2) == found[:2]
    assert await cold.turns.turns_after(SCOPE, 5, 9) == ()
    for stranger in (OTHER_GRAPH, scope_of(tenant="acm"), scope_of(topics=())):
        assert await cold.turns.turns_after(stranger, 0, 9) == ()


@pytest.mark.parametrize("scope", [scope_of(agent_id=None)])
async def test_questions_about_an_agent_need_one(cold: Cold, scope: Scope) -> None:
    """The runtime's scope of a whole graph has no ring and no tail."""
    with pytest.raises(UsageError, match="agent"):
        await cold.turns.recent_turns(scope, 8)
    with pytest.raises(UsageError, match="agent"):
        await cold.turns.waiting_turns(scope, 8, 8)
    with pytest.raises(UsageError, match="agent"):
        await cold.turns.turns_after(scope, 0, 8)


async def test_limits_are_limited(cold: Cold, subtests: pytest.Subtests) -> None:
    """No answer is without bound."""
    for limit in (0, -1, 10_001):
        with subtests.test(limit=limit):
            with pytest.raises(UsageError, match="limit"):
                await cold.turns.recent_turns(SCOPE, limit)
            with pytest.raises(UsageError, match="limit"):
                await cold.turns.turns_after(SCOPE, 0, limit)


async def test_cancelled_appends_are_whole_or_absent(
    cold: Cold, backend: ColdBackend, tmp_path: Path
) -> None:
    """Whenever a writer is cancelled, its turn is there with seq, words and work, or not at all."""
    random = Random(11)
    for number in range(120):
        text = f"turn {number}"
        writer = asyncio.create_task(
            cold.turns.append_turn(SCOPE, turn_by(text=text), [draft(text)])
        )
        for _ in range(random.randrange(4)):
            await asyncio.sleep(random.choice([0, 0, 0.0002]))
        writer.cancel()
        await asyncio.gather(writer, return_exceptions=True)
    # A write after them all: what was still under way has been decided before it.
    await cold.turns.append_turn(SCOPE, turn_by(text="last"), [draft("last")])
    rows = backend.rows(tmp_path, "turns")
    assert [row["seq"] for row in rows] == list(range(1, len(rows) + 1))
    assert {row["input"] for row in rows} == {row["key"] for row in backend.rows(tmp_path, "work")}
    assert {row["id"] for row in rows} == {
        one["id"] for one in backend.rows(tmp_path, "searchable")
    }
    found = await cold.turns.recent_turns(SCOPE, 1_000)
    assert len(found) == len(rows)
    assert 1 < len(rows) < 121, "some must have been cut off, and some must have got through"
