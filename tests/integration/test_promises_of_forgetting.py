"""Forgotten means gone at once: no answer has a record that the cold tier holds to be over.

The index is written by queued work, which in these tests nobody does, so that it knows of nothing
that ended. Each runs with all tiers embedded, and with all of them on servers.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from support.many_turns import ids_of, say
from support.runtime import MovingClock, running
from support.servers import SERVERS_SLOWLY

from ezra import Agent, Ezra, Graph, NotFound
from ezra.rights.policy import scope_of

QUESTION = "When does the boat to the island depart?"
"""Close in meaning to what is stored, and without a word of it."""
LEAVES = "The ferry leaves at nine."
KINDS = ("fact",)


@pytest.fixture
async def ezra(tiers: str, tmp_path: Path) -> AsyncIterator[Ezra]:
    """A runtime that finds by meaning; nobody works behind its back."""
    del tiers
    async with running(tmp_path, MovingClock(), embedder="required") as opened:
        yield opened


async def _started(ezra: Ezra) -> tuple[Graph, Agent]:
    graph = await ezra.create_session_graph("g")
    return graph, await graph.spawn_agent("a", topics={"t"}, user_id="ada")


async def _answers(agent: Agent, graph: Graph) -> dict[str, set[str]]:
    """Return what each surface that answers questions finds, by ids."""
    found: dict[str, set[str]] = {}
    for mode in ("hybrid", "semantic", "keyword"):
        for reader, name in ((agent, "agent"), (graph, "graph")):
            for text in (QUESTION, "ferry"):
                items = (await reader.recall(text, mode=mode, limit=50)).items
                ids = {one for hit in items for one in (hit.id, *hit.folded)}
                found[f"{name} {mode} {text}"] = ids
    turn = await agent.turn("When does the ferry leave?")
    found["turn"] = {one for slot in turn.slots for one in slot.source_ids}
    found["inject"] = set(ids_of((await agent.inject("When does the ferry leave?")).items))
    return found


async def test_r9_01_what_is_forgotten_or_superseded_is_in_no_answer(ezra: Ezra) -> None:
    """Before any index worker ran, on every surface that answers questions."""
    graph, agent = await _started(ezra)
    gone = await agent.remember(LEAVES)
    old = await agent.remember("The ferry to Elba sails from pier three.")
    await ezra.drain_learning()
    before = await _answers(agent, graph)
    assert gone in before[f"agent semantic {QUESTION}"]
    assert gone in before["turn"]
    assert old in before[f"agent semantic {QUESTION}"]
    await agent.forget(gone, reason="asked to")
    new = await agent.remember("The ferry to Elba sails from pier four.", supersedes=old)
    for surface, ids in (await _answers(agent, graph)).items():
        assert not {gone, old} & ids, surface
    assert new in ids_of((await agent.recall("Elba pier")).items)


@pytest.mark.parametrize("tiers", SERVERS_SLOWLY, indirect=True)
async def test_r9_01_what_is_over_takes_nobodys_place(ezra: Ezra) -> None:
    """However many entries of the index are over, what stands behind them is found by meaning."""
    _, agent = await _started(ezra)
    crowd = [
        await agent.remember(f"Boat number {one} departs to the island.") for one in range(210)
    ]
    stands = await agent.remember("A vessel crosses over each morning.")
    await ezra.drain_learning()
    for first in range(0, len(crowd), 70):
        await agent.forget_facts(crowd[first : first + 70], reason="asked to")
    found = await agent.recall(QUESTION, mode="semantic", limit=5)
    assert ids_of(found.items) == [stands]
    assert "warm" not in found.degraded


@pytest.mark.parametrize("at_once", [False, True])
async def test_a_statement_is_forgotten_with_what_said_so_before(
    ezra: Ezra, *, at_once: bool
) -> None:
    """Said, replaced and said again: questions about the past told the first of them."""
    _, agent = await _started(ezra)
    first = await agent.remember("Jane's card ends in 4242.")
    other = await agent.remember("Jane's card ends in 4243.", supersedes=first)
    last = await agent.remember("Jane's card ends in 4242.", supersedes=other)
    if at_once:
        assert await agent.forget_facts([last], reason="asked to") == (last,)
    else:
        assert await agent.forget(last, reason="asked to")
    found = await agent.recall("What was Jane's card before 2100?", kinds=KINDS)
    assert ids_of(found.items) == [other]
    again = await agent.remember("Jane's card ends in 4242.", supersedes=other)
    assert await agent.forget(other, reason="asked to")
    assert ids_of((await agent.recall("Jane's card", kinds=KINDS)).items) == [again]


@pytest.mark.parametrize("at_once", [False, True])
async def test_what_is_forgotten_while_a_roll_back_is_open_stays_so(
    ezra: Ezra, *, at_once: bool
) -> None:
    """Itself or its twin, whichever is named: undoing the roll-back brings back neither."""
    graph, agent = await _started(ezra)
    colleague = await graph.spawn_agent("b", topics={"t"}, user_id="ada")
    first, twin = await agent.remember(LEAVES), await colleague.remember(LEAVES)
    other = await agent.remember("The ferry to Elba sails from pier three.")
    done = [await graph.taint.roll_back(one, reason="planted") for one in (first, other)]
    with pytest.raises(NotFound, match="a roll-back has set it aside"):
        await graph.correct(first, reason="asked to", text="The ferry leaves at ten.")
    if at_once:
        assert await agent.forget_facts([first, other], reason="asked to") == (first, other)
    else:
        assert await agent.forget(twin, reason="asked to")
        assert await graph.forget(other, reason="asked to")
    assert not any([await agent.forget(one, reason="again") for one in (first, twin, other)])
    for one in done:
        await graph.taint.undo(one.roll_back.id, reason="true after all")
    for _ in range(2):
        for surface, ids in (await _answers(agent, graph)).items():
            assert not {first, twin, other} & ids, surface
        await ezra.drain_learning()
    assert {one.id for one in await agent.facts([first, twin, other]) if one.forgotten_at} == {
        first, twin, other,
    }  # fmt: skip


async def test_r9_01_a_twin_is_forgotten_with_the_first(ezra: Ezra) -> None:
    """The same words under other topics, or of another writer, are the same statement."""
    graph, agent = await _started(ezra)
    colleague = await graph.spawn_agent("b", topics={"t"}, user_id="ada")
    first = await agent.remember(LEAVES, topics=())
    twins = {await agent.remember(LEAVES, topics={"t"}), await colleague.remember(LEAVES)}
    await ezra.drain_learning()
    (hit,) = (await agent.recall("ferry", mode="keyword", kinds=KINDS)).items
    said = {first, *twins} & {hit.id, *hit.folded}
    assert await agent.forget(hit.id, reason="asked to")
    for surface, ids in (await _answers(agent, graph)).items():
        assert not {first, *twins} & ids, surface
    assert not any([await agent.forget(one, reason="again") for one in twins])
    events = [one for one in await graph.audit() if one.kind == "forgotten"]
    assert said <= {one for event in events for one in event.record_ids}
    again = await agent.remember(LEAVES)
    assert not await agent.forget(first, reason="again"), "what was said again since stays"
    assert ids_of((await agent.recall("ferry", kinds=KINDS)).items) == [again]


async def test_r9_01_what_others_say_stays(ezra: Ezra) -> None:
    """What one person forgets is not forgotten for another, nor for everybody, nor in private."""
    graph, agent = await _started(ezra)
    other = await graph.spawn_agent("b", topics={"t"}, user_id="bob")
    mine, theirs = await agent.remember(LEAVES), await other.remember(LEAVES)
    everybodys = await other.remember(LEAVES, shared=True)
    private = await agent.remember(LEAVES, private=True)
    assert len({mine, theirs, everybodys, private}) == 4
    await agent.forget(mine, reason="asked to")
    for reader, ids in ((other, {theirs, everybodys}), (agent, {everybodys, private})):
        facts = await reader.facts([mine, theirs, everybodys, private])
        assert {one.id for one in facts if one.forgotten_at is None} == ids


async def test_what_was_said_before_is_not_learnt_after_it_was_forgotten(ezra: Ezra) -> None:
    """Not from turns that were had, imported or dated ahead before; from what is said since it is.

    The audit feed says that something was not learnt.
    """
    graph = await ezra.create_session_graph("g")
    agent = await graph.spawn_agent("a", topics={"t"}, user_id="Jane")
    colleague = await graph.spawn_agent("b", topics={"u"}, user_id="Jane")
    await say(agent, "I live in Bergen.")
    await say(colleague, "I live in Bergen.", at=datetime(2026, 5, 15, tzinfo=UTC))
    stated = await agent.remember("Jane lives in Bergen")
    assert await agent.forget(stated, reason="asked to")
    await colleague.record([{"message": "I live in Bergen.", "at": "2024-01-01T12:00:00Z"}])
    await ezra.drain_learning()
    asked = "Where does Jane live?"
    for reader in (agent, colleague, graph):
        assert (await reader.recall(asked, kinds=KINDS)).items == ()
        assert (await reader.latest_facts()).rows == ()
    told = [one.reason for one in await graph.audit() if one.kind == "extraction dropped"]
    assert sorted(told) == [
        "1 candidates: 1 forgotten since it was said",
        "2 candidates: 2 forgotten since it was said",
    ]
    await say(agent, "I live in Bergen.")
    await ezra.drain_learning()
    assert [one.text for one in (await agent.recall(asked, kinds=KINDS)).items] == [
        "Jane lives in Bergen"
    ]


async def test_r9_01_beliefs_documents_and_words_that_are_over_are_in_no_answer(ezra: Ezra) -> None:
    """A superseded belief, a reverted one, a former passage, a redacted turn: by meaning, too."""
    graph, agent = await _started(ezra)
    old = await agent.commit("We sail to the island.", key=("trip", "by"), value="ferry")
    back = await agent.commit("The crossing to the island is booked.")
    said = await say(agent, "The boat to the island departs at noon.")
    said_too = await say(agent, "The vessel to the island is called Moby.")
    await agent.documents.put("boats.md", "# Boats\n\nThe ship to the island departs at dawn.\n")
    await ezra.drain_learning()
    former = ids_of((await agent.recall(QUESTION, kinds=("document",), mode="semantic")).items)
    assert former
    over = {old.id, back.id, said.id, *former}
    ring = agent._runtime.hot
    held = await ring.read(scope_of(agent._record))
    await agent.commit("We fly to the island.", key=("trip", "by"), value="plane")
    await graph.beliefs.revert(back.id, reason="wrong")
    await agent.documents.put("boats.md", "# Boats\n\nThe ship to the island departs at dusk.\n")
    await graph.redact([said.id], reason="asked to")
    await ring.restore(scope_of(agent._record), held.turns, 20)  # as a ring that was away has it
    answers = await _answers(agent, graph)
    for surface, ids in answers.items():
        assert not over & ids, surface
    assert said_too.id in answers[f"agent semantic {QUESTION}"]


async def test_r9_01_what_an_ancestor_forgets_is_in_no_answer_below(ezra: Ezra) -> None:
    """The catalog's facts and what the tenant knows, found by the index alone."""
    catalog = await ezra.catalog()
    stands = await catalog.remember("A vessel to the island departs from pier one.")
    old = await catalog.remember("The boat to the island departs from pier two.")
    gone = await catalog.remember("The ship to the island departs from pier three.")
    await ezra.drain_learning()
    graph, agent = await _started(ezra)
    before = (await _answers(agent, graph))[f"agent semantic {QUESTION}"]
    assert {stands, old, gone} <= before
    await catalog.remember("The boat to the island departs from pier four.", supersedes=old)
    await catalog.redact([gone], reason="asked to")
    for surface, ids in (await _answers(agent, graph)).items():
        assert not {old, gone} & ids, surface
    assert stands in (await _answers(agent, graph))[f"agent semantic {QUESTION}"]


class _Forgetting:
    """A reranker during whose answer something is forgotten."""

    name = "forgetting"

    def __init__(self, agent: Agent, fact_id: str) -> None:
        self._agent, self._fact_id = agent, fact_id

    async def rerank(self, query: str, texts: Sequence[str]) -> tuple[float, ...]:
        """Prefer what comes first."""
        del query
        await self._agent.forget(self._fact_id, reason="asked to")
        return tuple(-float(place) for place in range(len(texts)))


async def test_r9_01_what_ends_while_a_reranker_is_asked_is_in_no_answer(ezra: Ezra) -> None:
    """A reranker takes its time: what was forgotten meanwhile takes nobody's place."""
    for ask in ("recall", "inject"):
        graph = await ezra.create_session_graph(ask)
        agent = await graph.spawn_agent("a", topics={"t"})
        gone = await agent.remember("The ferry, the ferry leaves at nine.")
        stands = await agent.remember("The ferry has a bar, and leaves late in the summer months.")
        agent._runtime = replace(agent._runtime, reranker=_Forgetting(agent, gone))
        if ask == "recall":
            items = (await agent.recall("the ferry leaves", limit=1)).items
        else:
            items = (await agent.inject("the ferry leaves")).items
        assert ids_of(items) == [stands], ask
