"""Small promises of the bridge and of platforms' tools, by what people and models call."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from support.cli_doors import Said, command
from support.runtime import MovingClock, running

from ezra import NotFound, UsageError
from ezra.bridge.notes.handoff import document_of, length_of, readable, with_synthesis
from ezra.bridge.notes.questions import handoff
from ezra.bridge.notes.rules import rules_of
from ezra.wire.tools import agent_tools


@pytest.fixture
def bridge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return what runs a command of the bridge as an agent of one machine."""
    monkeypatch.setenv("EZRA_BRIDGE_STATE", str(tmp_path / "state"))
    monkeypatch.setenv("EZRA_BRIDGE_MACHINE", "laptop")
    monkeypatch.setenv("EZRA_BRIDGE_AGENT", "builder")
    monkeypatch.setenv("EZRA_EMBEDDER", "off")

    def run(*arguments: object) -> Said:
        return command("bridge", *arguments, "--home", tmp_path / "home")

    return run


async def answer(agent: Any, tool: str, **arguments: Any) -> Any:
    """Return what a tool answers a model."""
    (spec,) = (spec for spec in agent_tools() if spec.name == tool)
    return await spec.call(agent, json.dumps(arguments))


def test_r9_31_status_shows_the_machine_and_the_task_at_hand(bridge: Any) -> None:
    """For people and programs, also when there is no task."""
    none = bridge("status", "--json").document
    assert (none["machine"], none["current_task"]) == ("laptop", None)
    task = bridge("task", "start", "Write the docs").out.strip()
    found = bridge("status", "--json").document["current_task"]
    assert found == {"id": task, "title": "Write the docs", "status": "created"}
    lines = [" ".join(line.split()) for line in bridge("status").out.splitlines()]
    assert "machine laptop" in lines
    assert f"task {task} created Write the docs" in lines
    bridge("task", "done", "--outcome", "written")
    assert bridge("status", "--json").document["current_task"] is None


def test_r9_31_a_handoff_tells_titles_of_tasks_and_decisions(bridge: Any) -> None:
    """Of each action the task it was done for and what was decided, and decisions by themselves."""
    bridge("task", "start", "Choose a cache")
    bridge("task", "done", "--outcome", "We take the small one.")
    bridge("remember", "decision", "Tokens live for an hour.", "--title", "Token life")
    text = bridge("graph", "gen-handoff", "--format", "markdown").out
    ended = next(line for line in text.splitlines() if "We take the small one." in line)
    assert "Choose a cache" in ended
    assert "## Decisions" in text
    (decision,) = bridge("graph", "gen-handoff").document["decisions"]
    assert (decision["title"], decision["text"]) == ("Token life", "Tokens live for an hour.")
    assert (decision["by"], "Token life: Tokens live for an hour." in text) == ("builder", True)


async def test_r9_31_a_handoff_keeps_its_size_in_every_form(tmp_path: Path) -> None:
    """As JSON is printed and as Markdown, with a synthesis too; what is missing is counted."""
    clock = MovingClock()
    async with running(tmp_path, clock) as ezra:
        agent = await (await ezra.create_session_graph("g")).spawn_agent("a", topics={"*"})
        for number in range(40):
            task = await agent.board.start_task(f"Task {number} 雨", text="x" * 300)
            await agent.board.finish_task(task.id, f"Decided {number}. " + "y" * 300)
            clock.move(minutes=1)
        rules = rules_of("", "")
        for chars in (1_000, 2_000, 5_000, 24_000):
            found = await handoff(
                agent, agent.documents, agent.board, rules, clock() + timedelta(0), chars=chars
            )
            assert len(json.dumps(document_of(found), ensure_ascii=False, indent=2)) <= chars
            assert len(readable(found)) <= chars
            assert length_of(with_synthesis(found, "word " * 2_000, chars)) <= chars
            assert sum(found.left_out.values()) + len(found.actions) >= 40


async def test_r9_31_forgetting_what_is_not_there_is_an_error(tmp_path: Path, bridge: Any) -> None:
    """By handle, tool and command; a fact that was forgotten before stays a quiet no."""
    async with running(tmp_path / "other") as ezra:
        graph = await ezra.create_session_graph("g")
        agent = await graph.spawn_agent("a", topics={"*"})
        theirs = await (await graph.spawn_agent("b", topics={"*"})).remember("Mine.", private=True)
        fact = await agent.remember("Rain at two.")
        for unknown in ("01985a4c-0000-7000-8000-000000000000", "nothing", theirs):
            with pytest.raises(NotFound, match="fact"):
                await agent.forget(unknown, reason="wrong")
            with pytest.raises(NotFound):
                await answer(agent, "forget", fact_id=unknown, reason="wrong")
        assert await agent.forget(fact, reason="wrong") is True
        assert await agent.forget(fact, reason="wrong") is False


def test_r9_31_the_bridge_refuses_to_forget_what_is_not_there(bridge: Any) -> None:
    """With an exit code and a line; nothing waits for ever in the outbox."""
    known = bridge("remember", "note", "Rain at two.").out.strip()
    refused = bridge("forget", "01985a4c-0000-7000-8000-000000000000")
    assert refused.code not in (0, 4)
    assert len(refused.err.splitlines()) == 1
    assert bridge("forget", known).code == 0
    assert bridge("forget", known).code == 0
    assert bridge("status", "--json").document["queued"] == 0


async def test_r9_31_was_new_is_true_or_false(tmp_path: Path) -> None:
    """For text, for a triple, for content and for a rule, said once and twice."""
    async with running(tmp_path) as ezra:
        graph = await ezra.create_session_graph("g")
        agent = await graph.spawn_agent("a", topics={"*"}, user_id="jane")
        told: list[tuple[str, dict[str, Any]]] = [
            ("remember_fact", {"text": "Rain at two."}),
            ("remember_fact", {"subject": "rain", "predicate": "at", "object": "three"}),
            ("remember_fact", {"content": "Rain at four."}),
            ("remember_rule", {"trigger": "rain", "steps": ["box"]}),
        ]
        for tool, arguments in told:
            first = await answer(agent, tool, **arguments)
            again = await answer(agent, tool, **arguments)
            assert (first.was_new, again.was_new, again.id) == (True, False, first.id), arguments


async def test_r9_31_more_than_twenty_are_refused(tmp_path: Path) -> None:
    """By both names of the argument, and the schema says so."""
    (spec,) = (spec for spec in agent_tools() if spec.name == "recall")
    async with running(tmp_path) as ezra:
        agent = await (await ezra.create_session_graph("g")).spawn_agent("a", topics={"*"})
        for name in ("top_k", "limit"):
            for wrong in (21, 50, 0, -1):
                with pytest.raises(UsageError, match="equal to"):
                    await answer(agent, "recall", query="rain", **{name: wrong})
            assert (await answer(agent, "recall", query="rain", **{name: 20})).total == 0
            assert '"maximum": 20' in json.dumps(spec.parameters["properties"][name])


async def test_r9_31_a_scope_asked_for_by_name_is_searched_whatever_it_weighs(
    tmp_path: Path,
) -> None:
    """Weight 0 keeps a class out of everything else, and does not make what is asked for empty."""
    zero = {f"recall_weight_{name}": 0 for name in ("session", "user", "agent", "tenant")}
    async with running(tmp_path, **zero) as ezra:
        graph = await ezra.create_session_graph("g")
        agent = await graph.spawn_agent("a", topics={"*"}, user_id="jane")
        said = (await (await agent.turn("Graining at turn one.")).reply("Noted.")).turn.id
        fact = (await agent.remember_fact("Graining begins at turn four.")).id
        document = await agent.documents.put("notes.md", "Graining is when tyres shed rubber.")
        passages = {one.id for one in await agent.documents.passages(document.document.id)}
        expected = {"session": {said}, "user": {fact}, "agent": {fact}, "tenant": passages}
        for scope, ids in expected.items():
            found = await agent.recall("graining", scope=scope)
            assert {one.id for one in found.items} == ids, scope
            assert all(one.score > 0 for one in found.items)
        assert (await agent.recall("graining")).items == ()


async def test_r9_31_each_of_twelve_alike_notes_is_found(tmp_path: Path) -> None:
    """Who asks for documents is told of each; in an answer of all kinds one stands for all."""
    async with running(tmp_path) as ezra:
        agent = await (await ezra.create_session_graph("g")).spawn_agent("a", topics={"*"})
        for number in range(12):
            await agent.documents.put(f"note-{number}.md", "Gearbox seals last nine races.")
        found = await agent.recall("gearbox seals", kinds=("document",), limit=20)
        names = {one.citation.name for one in found.items if one.citation}
        assert names == {f"note-{number}.md" for number in range(12)}
        asked = await answer(agent, "recall", query="gearbox seals", kinds=["document_chunk"])
        assert len(asked.items) == 10
        assert len((await agent.recall("gearbox seals", limit=20)).items) == 1
