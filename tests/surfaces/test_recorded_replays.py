"""A script is recorded in bulk through either door; what is between its turns keeps its place."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from ezra import Ezra
from ezra.replay.formats import read_script
from ezra.replay.play import Replayer, ReplayReport
from ezra.replay.script import Script

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
