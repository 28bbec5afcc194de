"""A history is recorded alike through either door, also in bulk: each turn keeps its place."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from support.runtime import MovingClock, running
from support.service import bearer, inside, serving

from ezra import BudgetExceeded, Ezra, PastTurn, PolicyDenied, UsageError
from ezra.handles.recording import BATCH_TURNS
from ezra.remote.connection import Connection
from ezra.replay.formats import read_script
from ezra.replay.play import Replayer, ReplayReport
from ezra.replay.script import Script
from ezra.service.tokens import TokenFile
from ezra.wire.agents import RECORDED_MAX
from ezra.wire.graphs import AGENT_PATH
from tiers.records import Budget

# A history is recorded alike in process and over HTTP.

PATH = AGENT_PATH.format(graph_id="imola", agent_id="strategist") + "/record"


def history(count: int, **more: Any) -> list[dict[str, Any]]:
    """Return turns that somebody had elsewhere."""
    return [
        {"message": f"Lap {n}?", "response": "Dry.", "ref": f"r{n}", **more} for n in range(count)
    ]


async def test_a_history_is_recorded_in_order_and_once(runtime: Any, behind: Ezra) -> None:
    """More than one request takes; as records and as mappings; the answer says ids and how many."""
    graph = await runtime.create_session_graph("imola")
    agent = await graph.spawn_agent("strategist", topics={"tyres"})
    told = history(2 * BATCH_TURNS + 7)
    first = await agent.record(told[:50])
    assert (len(first.ids), first.new) == (50, 50)
    whole = await agent.record([PastTurn(**one) for one in told])
    assert (len(whole.ids), whole.new) == (len(told), len(told) - 50)
    assert whole.ids[:50] == first.ids
    kept = await graph.turns_by_ref([one["ref"] for one in told])
    assert [kept[one["ref"]].id for one in told] == list(whole.ids)
    assert [kept[one["ref"]].seq for one in told] == list(range(1, len(told) + 1))
    assert (await agent.usage()).writes == len(told)
    assert (await behind.waiting_work())["index"] == len(told)
    found = await agent.recall("Lap 123", limit=1)
    assert found.items[0].id == whole.ids[123]


async def test_what_an_agent_said_unasked_is_told_as_its_own(runtime: Any) -> None:
    """Not as its user's, who is told as the speaker of what was said to it."""
    graph = await runtime.create_session_graph("imola")
    agent = await graph.spawn_agent("strategist", user_id="ada")
    await agent.record([{"response": "Rain is near."}, {"message": "Is rain near?"}])
    found = await agent.recall("rain near", kinds=("turn",))
    assert {(one.speaker, one.text) for one in found.items} == {
        ("strategist", "strategist: Rain is near."),
        ("ada", "ada: Is rain near?"),
    }


async def test_what_is_refused_is_named_by_its_place_in_the_whole(runtime: Any) -> None:
    """Beyond the first request too, and what only the server can tell."""
    graph = await runtime.create_session_graph("imola")
    agent = await graph.spawn_agent("strategist", topics={"tyres"})
    told = history(BATCH_TURNS + 3)
    with pytest.raises(UsageError) as caught:
        await agent.record([*told, {"message": ""}])
    assert caught.value.field == "turns[103].message"
    with pytest.raises(UsageError) as caught:
        await agent.record([*told, {"message": "All?", "topics": ["*"]}])
    assert caught.value.field == "turns[103].topics"
    with pytest.raises(PolicyDenied, match="topic weather"):
        await agent.record([{"message": "Rain?", "topics": ["weather"]}])


async def test_a_budget_says_how_many_were_stored_before(runtime: Any) -> None:
    """The same number through either door."""
    graph = await runtime.create_session_graph("imola", budget=Budget(writes=BATCH_TURNS + 50))
    agent = await graph.spawn_agent("strategist", topics={"tyres"})
    with pytest.raises(BudgetExceeded) as caught:
        await agent.record(history(BATCH_TURNS + 60))
    assert caught.value.stored == (await agent.usage()).writes == BATCH_TURNS
    assert str(caught.value).endswith("; 100 were stored before")


async def test_requests_are_bounded_in_bytes(behind: Ezra) -> None:
    """Long turns go in as many requests as they take; one that is too long alone is refused."""
    graph = await behind.create_session_graph("imola")
    await graph.spawn_agent("strategist", topics={"tyres"})
    async with serving(behind) as url, Ezra.connect(url) as remote:
        agent = await (await remote.session_graph("imola")).agent("strategist")
        long = [{"message": "€" * 150_000, "response": "\\" * 150_000} for _ in range(9)]
        assert (await agent.record(long)).new == 9
        outputs = [{"tool": "log", "output": "€" * 900_000} for _ in range(2)]
        with pytest.raises(UsageError, match="body"):
            await agent.record([{"message": "Hm?", "tool_outputs": outputs}])


async def test_one_that_got_no_answer_is_asked_again_where_every_turn_is_named(
    behind: Ezra, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a ``ref`` nobody knows whether it was stored."""
    graph = await behind.create_session_graph("imola")
    await graph.spawn_agent("strategist", topics={"tyres"})
    asked: list[bool] = []
    call = Connection.call

    async def watched(self: Connection, operation: Any, *args: Any, **names: str) -> Any:
        if operation.name == "agent.record":
            asked.append(operation.repeats)
        return await call(self, operation, *args, **names)

    monkeypatch.setattr(Connection, "call", watched)
    async with serving(behind) as url, Ezra.connect(url) as remote:
        agent = await (await remote.session_graph("imola")).agent("strategist")
        await agent.record([*history(BATCH_TURNS), {"message": "Nameless."}])
    assert asked == [True, False]


async def test_a_request_takes_a_thousand_turns_and_an_idempotency_key(
    tmp_path: Path, clock: MovingClock, tokens: TokenFile
) -> None:
    """None and one more are refused; the same key stores nameless turns once."""
    async with running(tmp_path / "home", clock) as ezra:
        graph = await ezra.create_session_graph("imola")
        await graph.spawn_agent("strategist", topics={"tyres"})
        async with inside(ezra, tokens) as http:
            told = [{"message": f"Lap {n}?"} for n in range(RECORDED_MAX + 1)]
            headers = {**bearer(tokens), "idempotency-key": "one"}
            done = await http.post(PATH, json={"turns": told[:-1]}, headers=headers)
            assert done.status_code == 200, done.text
            assert done.json()["new"] == RECORDED_MAX
            again = await http.post(PATH, json={"turns": told[:-1]}, headers=headers)
            assert again.json() == done.json()
            assert (await graph.usage()).writes == RECORDED_MAX
            del headers["idempotency-key"]
            for wrong in (told, [], [{"message": "Hm?", "at": 5}], [{"text": "Hm?"}], "Hm?"):
                refused = await http.post(PATH, json={"turns": wrong}, headers=headers)
                assert refused.status_code == 422, refused.text
                assert refused.json()["field"].startswith("turns")
            only_looks = bearer(tokens, role="reader")
            refused = await http.post(PATH, json={"turns": told[:1]}, headers=only_looks)
            assert refused.status_code == 403


# A script is recorded in bulk through either door; what is between its turns keeps its place.

BEGAN = datetime(2026, 5, 14, 10, 0, tzinfo=UTC)
TURNS = 230


def script(path: Path) -> Script:
    """Return a talk of two, with a belief and a fact in the middle of it."""
    lines: list[dict[str, Any]] = [
        {"speaker": "AB"[n % 2], "text": f"Lap {n} took {n * 7 % 31} seconds.", "id": f"{n}"}
        for n in range(TURNS)
    ]
    belief = {"type": "belief", "speaker": "A", "claim": "Start on mediums.", "topic": "laps"}
    lines.insert(41, {**belief, "id": "belief"})
    lines.insert(151, {"type": "fact", "speaker": "B", "text": "The pit lane is 400 m long."})
    for n, line in enumerate(lines):
        line["at"] = (BEGAN + timedelta(minutes=n)).isoformat()
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return read_script([path], now=BEGAN)


async def play(runtime: Any, told: Script, lines: list[str] | None = None) -> ReplayReport:
    """Record the script; ``lines`` takes what was told to be durable, in order."""
    noted = [] if lines is None else lines
    topics = {one.id: ("laps",) for one in told.conversations}
    replayer = Replayer(
        runtime, told, topics, lambda line, _new: noted.append(line.ref), records=True
    )
    return await replayer.play("talk", [], [])


async def test_a_script_is_recorded_in_its_order(
    runtime: Any, behind: Ezra, door: str, tmp_path: Path
) -> None:
    """The belief is noted with the turn before it; each line is told of once; nothing is timed."""
    told = script(tmp_path / "talk.jsonl")
    lines: list[str] = []
    report = await play(runtime, told, lines)
    assert (report.recorded, report.played, report.known) == (True, TURNS, 0)
    assert (report.added["beliefs"], report.steps, report.degraded) == (1, {}, {})
    assert lines == [line.ref for line in told.lines()]
    graph = await behind.session_graph("talk")
    refs = [line.ref for line in told.lines() if line.kind == "turn"]
    kept = await graph.turns_by_ref(refs)
    for name in ("A", "B"):
        own = [turn.seq for turn in kept.values() if turn.agent_id == name]
        assert own == list(range(1, TURNS // 2 + 1))
    (belief,) = await (await graph.agent("A")).beliefs()
    assert belief.turn_id == kept[refs[40]].id
    if door == "in process":  # a server is told each agent's turns of a window together
        stored = sorted(kept.values(), key=lambda turn: (turn.recorded_at, turn.id))
        assert [turn.ref for turn in stored] == refs


async def test_a_script_goes_on_after_an_erasure(
    runtime: Any, behind: Ezra, door: str, tmp_path: Path
) -> None:
    """What was erased stays so and is not printed; what was added to the file arrives."""
    path = tmp_path / "talk.jsonl"
    for records in (False, True):
        graph_id = f"talk {records}"
        said = {"speaker": "ann", "at": BEGAN.isoformat()}
        lines = [{**said, "text": "Zelda Quibbleworth likes tea.", "id": "1"}]
        for number in ("2", "3"):
            lines.append({**said, "text": f"The kettle {number} boils.", "id": number})
            path.write_text("".join(json.dumps(line) + "\n" for line in lines))
            told = read_script([path], now=BEGAN)
            report = await Replayer(runtime, told, {}, records=records).play(graph_id, [], [])
            graph = await behind.session_graph(graph_id)
            await graph.erase(subject="Zelda Quibbleworth", reason="GDPR 17")
        assert (report.played, report.known, report.problems) == (1, 2, [])
        kept = await graph.turns_by_ref([line.ref for line in told.lines()])
        assert [turn.input for turn in kept.values()] == [
            "[redacted]",
            "The kettle 2 boils.",
            "The kettle 3 boils.",
        ]


def remembered(path: Path, lines: list[dict[str, Any]]) -> Script:
    """Return a script of what one speaker asks to be remembered."""
    said = {"speaker": "ann", "at": BEGAN.isoformat()}
    path.write_text("".join(json.dumps(said | line) + "\n" for line in lines))
    return read_script([path], now=BEGAN)


@pytest.mark.parametrize("way", ["erase", "redact", "forget", "supersede"])
async def test_facts_and_rules_of_a_script_do_not_come_back(
    runtime: Any, behind: Ezra, tmp_path: Path, way: str
) -> None:
    """Played again after they ended, under the same topics or others, they add nothing."""
    fact = {"type": "fact", "text": "Zelda Quibbleworth lives in Turku.", "tier": "core"}
    rule = {"type": "rule", "trigger": "Quibbleworth calls", "steps": ["Say hi to Zelda."]}
    lines = [{**fact, "id": "1"}, {**fact, "id": "2"}, {**rule, "id": "3"}]
    told = remembered(tmp_path / "talk.jsonl", [*lines, {**fact, "text": "Tea is hot."}])
    first = await Replayer(runtime, told, {"talk": ("a",)}).play("talk", [], [])
    assert (first.added["facts"], first.added["rules"]) == (2, 1)
    graph = await behind.session_graph("talk")
    agent = await graph.agent("ann")
    (ended,) = [one for one in (await graph.latest_facts()).rows if "Zelda" in one.text]
    if way == "erase":
        await graph.erase(subject="Zelda Quibbleworth", reason="case 4")
    elif way == "redact":
        (held,) = (await graph.recall("Quibbleworth calls", kinds=("rule",))).items
        await graph.redact([ended.id, held.id], reason="case 4")
    elif way == "forget":
        await agent.forget(ended.id, reason="case 4")
    else:
        await agent.remember("She moved to Oulu.", supersedes=ended.id)
    for topics in (("a",), ("a", "b")):
        again = await Replayer(runtime, told, {"talk": topics}).play("talk", [], [])
        assert again.problems == []
        assert (again.added["facts"], again.added["rules"]) == (0, 0)
        texts = [one.text for one in (await graph.latest_facts()).rows]
        assert len(texts) == 1 + (way == "supersede")
        assert not any("Zelda" in text for text in texts)
    if way in ("erase", "redact"):
        assert not any("Zelda" in hit.text for hit in (await graph.recall("Zelda")).items)


async def test_a_line_with_other_words_is_remembered_anew(
    runtime: Any, behind: Ezra, tmp_path: Path
) -> None:
    """Under the id that it had: applications change their memories in place."""
    fact = {"type": "fact", "id": "1"}
    for text in ("Ann likes tea.", "Ann likes coffee.", "Ann likes coffee."):
        told = remembered(tmp_path / "talk.jsonl", [{**fact, "text": text}])
        await Replayer(runtime, told, {}).play("talk", [], [])
    graph = await behind.session_graph("talk")
    texts = [one.text for one in (await graph.latest_facts()).rows]
    assert sorted(texts) == ["Ann likes coffee.", "Ann likes tea."]


async def test_a_recorded_script_goes_on_and_is_recorded_once(
    runtime: Any, behind: Ezra, tmp_path: Path
) -> None:
    """A beginning that is there, some of one speaker beyond it, then all of it twice."""
    told = script(tmp_path / "talk.jsonl")
    conversation = told.conversations[0]
    numbered = enumerate(conversation.lines)
    there = [line for n, line in numbered if n < 50 or (n < 100 and line.agent == "A")]
    part = told.model_copy(
        update={"conversations": (conversation.model_copy(update={"lines": tuple(there)}),)}
    )
    first = await play(runtime, part)
    report = await play(runtime, told)
    assert (report.played, report.known) == (TURNS - first.played, first.played)
    again = await play(runtime, told)
    assert (again.played, again.known, again.added["facts"]) == (0, TURNS, 0)
    graph = await behind.session_graph("talk")
    assert (await graph.status()).cold["turns"] == TURNS
