"""Stories in which a record is poisoned, and what must be found and taken back in each.

What is expected is found by another way than the product's: every row of every graph is read out,
and whatever names a tainted row is tainted, again and again until nothing is added.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias

from tiers.paging import linked
from tiers.records import Fact
from tiers.upkeep import Table

from ...app import Ezra
from ...handles.graph import Graph

POISON = "The hard tyre explodes after three laps."
ASKED = "when does the hard tyre explode?"
PAGE = 1_000

Key: TypeAlias = tuple[str, str]
"""The graph and the id of a record."""

Rows: TypeAlias = Mapping[Table, Mapping[Key, dict[str, Any]]]
"""Rows by table and key."""

_SAID: tuple[Table, ...] = (
    *("turns", "summaries", "episodes", "facts", "rules", "beliefs"),
    *("documents", "passages", "cards"),
)
"""The tables whose rows can be tainted."""

_KEPT: tuple[Table, ...] = (*_SAID, "document_revisions", "receipts", "rule_outcomes", "watermarks")
"""The tables of which a roll-back may change tainted rows alone."""


@dataclass(frozen=True)
class Scene:
    """Where a story is played.

    Attributes:
        ezra: A runtime without background work.
        pass_time: Moves its clock forward.
        name: Of the story; its graphs are called after it.
    """

    ezra: Ezra
    pass_time: Callable[[timedelta], None]
    name: str

    async def graph(self, suffix: str = "", *parents: Graph) -> Graph:
        """Make a graph of the story."""
        return await self.ezra.create_session_graph(
            f"{self.name}{suffix}", inherits_from=[one.id for one in parents]
        )


class Story(NamedTuple):
    """A poisoned record, and the graphs that may know of it.

    Attributes:
        graph: Whose record it is.
        record_id: The record.
        others: The graphs beside its own.
        kinds: Tables in which something must come of it: a story in which nothing does shows
            nothing.
    """

    graph: Graph
    record_id: str
    others: tuple[Graph, ...] = ()
    kinds: frozenset[Table] = frozenset()

    @property
    def graphs(self) -> tuple[Graph, ...]:
        """All its graphs."""
        return (self.graph, *self.others)


Play: TypeAlias = Callable[[Scene], Awaitable[Story]]


class Expected(NamedTuple):
    """What a full scan finds: rows that name a tainted one, and what came of contexts with one."""

    derived: frozenset[Key]
    exposed: frozenset[Key]


async def direct(scene: Scene) -> Story:
    """A fact is remembered and shown to somebody."""
    graph = await scene.graph()
    writer, reader = await graph.spawn_agent("writer"), await graph.spawn_agent("reader")
    await writer.remember("Mediums last about 18 laps.")
    poison = await writer.remember(POISON)
    await _asks(reader)
    return Story(graph, poison)


async def summarised(scene: Scene) -> Story:
    """A turn is summarised, with others, and told in days, weeks and months."""
    graph = await scene.graph()
    agent = await graph.spawn_agent("writer")
    for text in ("Box in lap 12.", POISON, "The front left is worn."):
        turn = await agent.turn(text)
        await turn.reply("Noted.")
    ids = {one.input: one.id for one in await graph.turns("writer")}
    scene.pass_time(timedelta(days=70))
    await scene.ezra.run_lifecycle_tick(graph.id)
    return Story(graph, ids[POISON], kinds=frozenset({"summaries", "episodes"}))


async def believed(scene: Scene) -> Story:
    """Another agent believes something for it, which takes the place of a true belief."""
    graph = await scene.graph()
    writer, other = await graph.spawn_agent("writer"), await graph.spawn_agent("other")
    key = ("start", "compound")
    await other.commit("Start on hards.", key=key, value="hard")
    poison = await writer.remember(POISON)
    turn = await other.turn(ASKED)
    await other.commit("Start on mediums.", key=key, value="medium", sources=[poison])
    await other.commit("Lap three is dangerous.")
    await turn.reply("After three laps.")
    return Story(graph, poison, kinds=frozenset({"beliefs"}))


async def inherited(scene: Scene) -> Story:
    """A child and a grandchild read it, and learn and believe something for it."""
    parent = await scene.graph()
    child = await scene.graph("-child", parent)
    grandchild = await scene.graph("-grandchild", child)
    poison = await (await parent.spawn_agent("writer")).remember(Fact(text=POISON, tier="core"))
    learner = await child.spawn_agent("learner")
    learnt = await learner.remember(
        Fact(text="Hards are for three laps.", tier="core", source_ids=(poison,))
    )
    await _asks(learner)
    believer = await grandchild.spawn_agent("believer")
    await believer.commit("Never use hards.", sources=[learnt])
    await _asks(believer)
    return Story(parent, poison, (child, grandchild), frozenset({"facts", "beliefs"}))


async def ingested(scene: Scene) -> Story:
    """A document has it in one of its passages, which a fact rests on."""
    graph = await scene.graph()
    agent = await graph.spawn_agent("writer")
    documents = agent.documents
    clean = "# Engine\n\nThe engine runs at 105 degrees.\n"
    await documents.put("engine.md", clean)
    poisoned = f"# Tyres\n\n{POISON}\n\n# Rims\n\nRims are 18 inch.\n"
    stored = await documents.put("tyres.md", poisoned)
    rows = await _rows(graph, "passages")
    passage = next(row["id"] for row in rows if "explodes" in row["text"])
    await agent.remember(Fact(text="Hards are short-lived.", source_ids=(passage,)))
    await _asks(agent)
    return Story(graph, stored.document.id, kinds=frozenset({"passages", "facts"}))


async def learnt(scene: Scene) -> Story:
    """What a turn states is learnt from it."""
    graph = await scene.graph()
    agent = await graph.spawn_agent("writer", user_id="anna")
    turn = await agent.turn("I am allergic to peanuts.", speaker="Anna")
    await turn.reply("I will remember that.")
    await scene.ezra.drain_learning()
    turn_id = (await graph.turns("writer"))[0].id
    return Story(graph, turn_id, kinds=frozenset({"facts"}))


async def diamond(scene: Scene) -> Story:
    """Two facts rest on it, and a belief on both."""
    graph = await scene.graph()
    agent = await graph.spawn_agent("writer")
    poison = await agent.remember(POISON)
    texts = ("Hards are unsafe.", "Stints are three laps.")
    facts = [await agent.remember(Fact(text=one, source_ids=(poison,))) for one in texts]
    await agent.commit("Avoid hards.", sources=facts)
    return Story(graph, poison, kinds=frozenset({"facts", "beliefs"}))


async def circular(scene: Scene) -> Story:
    """A belief rests on a fact, a fact on the belief, and both on each other by a turn."""
    graph = await scene.graph()
    agent = await graph.spawn_agent("writer")
    poison = await agent.remember(POISON)
    turn = await agent.turn(ASKED)
    belief = await agent.commit("Hards explode.", sources=[poison, turn.id])
    await agent.remember(Fact(text="Hards explode early.", source_ids=(belief.id, turn.id)))
    await turn.reply("After three laps.")
    return Story(graph, poison, kinds=frozenset({"facts", "beliefs"}))


async def branched(scene: Scene) -> Story:
    """A branch begins with the belief, and another belief rests on its copy."""
    graph = await scene.graph()
    agent = await graph.spawn_agent("writer")
    belief = await agent.commit(POISON)
    branch = await graph.branch(turn=0, session_graph_id=f"{graph.id}-branch")
    (copy,) = await branch.beliefs.active()
    other = await branch.spawn_agent("other")
    await other.commit("Never use hards.", sources=[copy.id])
    return Story(graph, belief.id, (branch,), frozenset({"beliefs"}))


STORIES: Mapping[str, Play] = MappingProxyType(
    {
        "direct": direct,
        "summarised": summarised,
        "believed": believed,
        "inherited": inherited,
        "ingested": ingested,
        "learnt": learnt,
        "diamond": diamond,
        "circular": circular,
        "branched": branched,
    }
)


async def rows_of(story: Story) -> Rows:
    """Return every row of the graphs of a story that a roll-back may or may not change."""
    found: dict[Table, dict[Key, dict[str, Any]]] = {}
    for table in _KEPT:
        rows = [row for graph in story.graphs for row in await _rows(graph, table)]
        found[table] = {_key(table, row): _as_compared(table, row) for row in rows}
    return found


def expected(story: Story, rows: Rows) -> Expected:
    """Return what came of the record, by looking at every row again and again."""
    records = {key: row for table in _SAID for key, row in rows[table].items()}
    root = (story.graph.id, story.record_id)
    derived = _closure({root}, records, shown={})
    receipts = {key: _showed(row) for key, row in rows["receipts"].items()}
    exposed = _closure(set(derived), records, receipts)
    return Expected(frozenset(derived), frozenset(exposed - derived))


def changed(
    before: Rows,
    after: Rows,
) -> set[Key]:
    """Return the rows that differ, are gone, or are new."""
    return {
        key
        for table in _KEPT
        for key in before[table].keys() | after[table].keys()
        if before[table].get(key) != after[table].get(key)
    }


def _closure(
    found: set[Key],
    records: Mapping[Key, dict[str, Any]],
    shown: Mapping[Key, tuple[set[str], str]],
) -> set[Key]:
    found = set(found)
    turns = {row_id: (graph_id, row_id) for graph_id, row_id in records}
    spoken: set[str] = set()  # turns that were opened with a tainted context, stored or not
    while True:
        ids = {record_id for _, record_id in found} | spoken
        new = {key for key, row in records.items() if ids & _names(row)}
        for key, (showed, turn_id) in shown.items():
            if ids & showed:
                new.add(key)
                spoken |= {turn_id} - {""}
                new |= {turns[turn_id]} if turn_id in turns else set()
        if new <= found and spoken <= ids:
            return found
        found |= new


def _names(row: Mapping[str, Any]) -> set[str]:
    """Return the records that a row names as what it was made of."""
    listed = (row.get(name) or () for name in ("covers", "children", "source_ids"))
    single = (row.get(name) for name in ("turn_id", "document_id", "origin_id"))
    return {one for some in listed for one in some} | {one for one in single if one}


def _showed(row: Mapping[str, Any]) -> tuple[set[str], str]:
    body = row["body"]
    ids = {slot["source_ids"][0] for slot in body.get("slots", ()) if slot.get("source_ids")}
    return ids, body.get("turn_id", "") if row["kind"] == "turn" else ""


async def _asks(agent: Any) -> None:  # noqa: ANN401 - an agent
    turn = await agent.turn(ASKED)
    await turn.reply("After three laps.")


async def _rows(graph: Graph, table: Table) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    async for page in linked(lambda cursor: graph.export_rows(table, cursor, PAGE)):
        rows += page.rows
    return [row["belief"] for row in rows] if table == "beliefs" else rows


def _key(table: Table, row: Mapping[str, Any]) -> Key:
    if table in {"rule_outcomes", "watermarks", "document_revisions"}:
        names: Iterable[str] = ("rule_id", "cause", "agent_id", "name", "id", "revision")
        return row["graph_id"], f"{table} {[row.get(name) for name in names]}"
    return row["graph_id"], row["id"]


def _as_compared(table: Table, row: dict[str, Any]) -> dict[str, Any]:
    """Return a row without the numbers of events: an append-only log gets new ones."""
    return {name: one for name, one in row.items() if table != "beliefs" or name != "ended_seq"}
