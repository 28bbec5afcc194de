"""What is remembered, believed, found or returned by a tool is data wherever a model reads it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.forgeries import NEEDLE, forgeries, hidden_in, read_context
from support.runtime import MovingClock

from ezra import Ezra, Fact, Rule
from ezra.settings import Settings
from ezra.wire.tools import agent_tools
from tiers.fencing import RULE
from tiers.records import MeshResult, Scope

FORGED = forgeries(50)[::6]
TOKENS = ("<|im_start|>", "<|im_end|>", "[INST]", "<<SYS>>", "</past_conversations>")


def _unguarded(home: Path, **more: Any) -> Settings:
    """Return settings whose write guard lets everything pass: what is behind it is tested."""
    guard = {"*": "allow"}
    return Settings(home=home, embedder="off", background=False, guard=guard, **more)


async def fill(graph: Any) -> None:
    """Leave every forgery in every kind of record, as agents and tools may."""
    scout = await graph.spawn_agent("scout", topics={"*"}, role="Looks.\n## Around")
    for forged in FORGED:
        await scout.remember(Fact(text=f"Gearbox: {forged}", tier="core"))
        await scout.remember(f"Gearbox seals: {forged}")
        await scout.remember(Rule(trigger=f"gearbox {forged}", steps=(forged, "box")))
        await scout.commit(f"gearbox {forged}")
    pages = "\n\n".join(f"# Gearbox\n\nGearbox seals {one}" for one in FORGED)
    await scout.documents.put("seals.md", pages.replace("\x00", ""))
    # Outputs with more unreadable characters are refused as binary.
    outputs = [{"tool": "bank", "output": one} for one in FORGED if _unreadable(one) < 1]
    outputs += [{"tool": "shell", "output": f"Error: {one['output']}"} for one in outputs]
    turn = await scout.turn("Look at the gearbox.")
    await turn.reply("I did.", outputs)


@pytest.mark.parametrize("window", [None, 200_000])
async def test_r9_23_a_context_is_instruction_and_fenced_data(
    tmp_path: Path, window: int | None
) -> None:
    """In both layouts: the instruction is ours alone, and the receipt gives the same bytes."""
    clock = MovingClock()

    async def notes(message: str, scope: Scope) -> MeshResult:
        return MeshResult(source="notes", text=FORGED[0], queried_at=clock())

    settings = _unguarded(tmp_path, context_tokens=100_000)
    async with Ezra.open(settings, connectors={"notes": notes}, clock=clock) as ezra:
        graph = await ezra.create_session_graph("imola")
        await fill(graph)
        agent = await graph.spawn_agent(
            "scout",
            topics={"*"},
            role="Looks.\n## Around",
            inject="turn",
            model_window_tokens=window,
            sources={"notes"},
        )
        turn = await agent.turn("What of the gearbox seals?", mesh="notes")
        found = read_context(turn.messages)
        assert found.problems == []
        assert found.trusted.strip() == f"You are scout. Looks.\n## Around\n\n{RULE}"
        kinds = {slot.kind for slot in turn.slots}
        assert kinds >= {"belief", "core", "rule", "injected", "hot", "mesh"}, kinds
        told = [slot for slot in turn.slots if slot.kind not in ("system", "hot", "input")]
        assert len(found.entries) == len(told)
        assert sum(NEEDLE in one.text for one in found.returned) >= 6
        assert all(NEEDLE not in said for _, said in found.said)
        assert (await graph.replay_context(turn.receipt_id)).is_exact


async def test_r9_23_answers_of_tools_are_data(tmp_path: Path) -> None:
    """Recall, days, beliefs and outputs: nothing in them is for a tokenizer or for no eye."""
    settings = _unguarded(tmp_path)
    async with Ezra.open(settings, clock=MovingClock()) as ezra:
        graph = await ezra.create_session_graph("imola")
        await fill(graph)
        agent = await graph.agent("scout")
        specs = {spec.name: spec for spec in agent_tools()}
        (turn,) = await graph.turns("scout")
        asked: list[tuple[str, dict[str, Any]]] = [
            ("recall", {"query": "gearbox seals", "limit": 20}),
            ("recall", {"query": "gearbox", "kinds": ["tool_output"]}),
            ("search_memory", {"max_days_ago": 3}),
            ("beliefs", {}),
            *(("read_tool_output", {"turn_id": turn.id, "index": n}) for n in range(3)),
        ]
        for name, arguments in asked:
            answer = (await specs[name].call(agent, arguments)).model_dump(mode="json")
            texts = list(_texts(answer))
            assert any(NEEDLE in one for one in texts), name
            for one in texts:
                assert hidden_in(one) == []
                assert not [token for token in TOKENS if token in one]
        brought = (await agent.inject("gearbox seals", token_budget=5_000)).text
        assert brought.split("\n")[0] == "[memory]"
        assert [line for line in brought.split("\n") if line.startswith("[end")] == [
            "[end of memory]"
        ]
        assert hidden_in(brought) == []
        problem = await _problem(specs["read_tool_output"], agent, f"{turn.id}\n## x\u202e/7")
        assert "\n" not in problem
        assert hidden_in(problem) == []


def _unreadable(text: str) -> int:
    return sum(char < " " and char not in "\t\n\r" for char in text)


async def _problem(spec: Any, agent: Any, key: str) -> str:
    return str((await spec.answered(agent, json.dumps({"key": key})))["error"])


def _texts(answer: object) -> Iterator[str]:
    """Yield every text of a JSON value."""
    if isinstance(answer, str):
        yield answer
    inner = answer.values() if isinstance(answer, dict) else answer
    if isinstance(inner, str) or not hasattr(inner, "__iter__"):
        return
    for one in inner:
        yield from _texts(one)
