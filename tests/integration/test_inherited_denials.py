"""What a nearer graph denies, or says is over, is not told of a graph further away.

Wherever it is asked for, in a context, by recall and as core facts; the graph further away keeps
it.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from support.runtime import MovingClock, running

from ezra import Agent, Ezra, SessionGraph


async def _told(
    ezra: Ezra, graph: SessionGraph, *said: str, user: str = "ada"
) -> tuple[Agent, list[str]]:
    """Say something to an agent of a graph; return it with what the graph knows afterwards."""
    agent = await graph.spawn_agent("aide", user_id=user, topics={"*"})
    for text in said:
        turn = await agent.turn(text)
        await turn.reply("Okay.")
        await ezra.drain_learning()
    return agent, [one.text for one in (await graph.latest_facts()).rows]


async def _in_core(graph: SessionGraph) -> None:
    for fact in (await graph.latest_facts()).rows:
        await graph.promote(fact.id, reason="it matters")


async def _known(agent: Agent, question: str) -> tuple[set[str], set[str], set[str], set[str]]:
    """Return what a context tells and hides, what recall finds, and the core facts."""
    turn = await agent.turn(question)
    told = {slot.text for slot in turn.slots if slot.kind in {"core", "archival"}}
    hidden = {fact.text for fact in turn.shadowed}
    found = await agent.recall(question, kinds=("fact",))
    core = {fact.text for fact in (await agent.core()).facts}
    return told, hidden, {hit.text for hit in found.items}, core


@pytest.mark.parametrize(
    ("before", "after", "question"),
    [
        ("I'm allergic to nuts.", "I'm not allergic to nuts after all.", "Am I allergic to nuts?"),
        ("I live in Oslo.", "I don't live in Oslo any more.", "Do I live in Oslo?"),
        ("I have a cat called Minka.", "My cat Minka died.", "What is my cat Minka like?"),
        ("I play the piano.", "I stopped playing the piano.", "Do I play the piano?"),
        ("I own a boat.", "I sold my boat.", "Do I own a boat?"),
    ],
)
async def test_what_a_child_denies_is_hidden_from_it_and_from_its_heirs(
    tmp_path: Path, before: str, after: str, question: str
) -> None:
    """In each way of asking alike; once the denial is core, for the grandchild too."""
    async with running(tmp_path) as ezra:
        parent = await ezra.create_session_graph("parent")
        _, (old,) = await _told(ezra, parent, before)
        await _in_core(parent)
        child = await ezra.create_session_graph("child", inherits_from=["parent"])
        heir = await ezra.create_session_graph("heir", inherits_from=["child"])
        agent, (new,) = await _told(ezra, child, after)
        of_heir, _ = await _told(ezra, heir)
        told, hidden, found, core = await _known(agent, question)
        assert (told, hidden, core) == ({new}, {old}, set())
        assert old not in found
        assert (await _known(of_heir, question))[:2] == ({old}, set())

        await _in_core(child)
        told, hidden, found, core = await _known(of_heir, question)
        assert (told, hidden, core) == ({new}, {old}, {new})
        assert old not in found
        _, kept = await _told(ezra, parent)
        assert kept == [old]


async def test_what_is_denied_is_hidden_whatever_is_said(tmp_path: Path) -> None:
    """The message is about something else, and finds neither."""
    async with running(tmp_path) as ezra:
        parent = await ezra.create_session_graph("parent")
        await _told(ezra, parent, "I live in Oslo.", "I work at Siemens.")
        await _in_core(parent)
        child = await ezra.create_session_graph("child", inherits_from=["parent"])
        many = [f"I have a friend called Bo{number}." for number in range(20)]
        agent, _ = await _told(ezra, child, "I don't live in Oslo any more.", *many)
        turn = await agent.turn("How high is Mount Etna?")
        assert [fact.text for fact in turn.shadowed] == ["ada lives in Oslo"]
        assert [slot.text for slot in turn.slots if slot.kind == "core"] == ["ada works at Siemens"]


@pytest.mark.parametrize(
    "after",
    [
        "I don't live in Bergen any more.",
        "My brother doesn't live in Oslo any more.",
        "I no longer like tea.",
        "I don't like Oslo any more.",
    ],
)
async def test_what_denies_something_else_hides_nothing(tmp_path: Path, after: str) -> None:
    """Another value, somebody else, another attribute; and of a list some still holds."""
    async with running(tmp_path) as ezra:
        parent = await ezra.create_session_graph("parent")
        await _told(ezra, parent, "I live in Oslo.", "I like tea and coffee.")
        await _in_core(parent)
        child = await ezra.create_session_graph("child", inherits_from=["parent"])
        agent, _ = await _told(ezra, child, after)
        assert (await agent.turn("Where is Oslo?")).shadowed == ()


async def test_what_another_user_denies_hides_nothing(tmp_path: Path) -> None:
    """As it would end nothing in the same graph."""
    async with running(tmp_path) as ezra:
        parent = await ezra.create_session_graph("parent")
        agent, _ = await _told(ezra, parent, "The launch is on Friday.")
        await _in_core(parent)
        child = await ezra.create_session_graph("child", inherits_from=["parent"])
        await _told(ezra, child, "The launch is cancelled.", user="bo")
        agent, _ = await _told(ezra, child)
        assert (await agent.turn("When is the launch?")).shadowed == ()


async def test_a_branch_is_not_told_what_it_denies(tmp_path: Path) -> None:
    """Of archival facts too, which a branch reads; asked of the time before, it is told."""
    clock = MovingClock()
    async with running(tmp_path, clock) as ezra:
        graph = await ezra.create_session_graph("graph")
        await _told(ezra, graph, "I live in Oslo.")
        branch = await graph.branch(turn=1, session_graph_id="branch")
        before = clock()
        agent, _ = await _told(ezra, branch, "I don't live in Oslo any more.")
        told, _, found, _ = await _known(agent, "Do I live in Oslo?")
        assert told == {"ada doesn't live in Oslo any more"}
        assert "ada lives in Oslo" not in found
        once = await agent.recall("Do I live in Oslo?", kinds=("fact",), as_of=before)
        assert [hit.text for hit in once.items] == ["ada lives in Oslo"]
