"""The Python of the README and of the pages under docs/ works as it is shown."""

from __future__ import annotations

import os
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from support.pages import having, lived, page
from support.runtime import MovingClock, running
from support.service import serving

import ezra
from ezra import Agent, Ezra, Graph
from ezra.bridge import config
from ezra.service.tokens import TokenFile

ELSEWHERE = {"README", "start", "frameworks", "mesh"}
"""Pages whose Python the other files called test_docs_… run."""

Names = dict[str, Any]


def test_the_readme_s_program_has_ten_lines() -> None:
    """As its heading says: what runs between opening the memory and its end."""
    (program,) = page("README").blocks("python")
    begun = program.partition("async def main")[2].partition("asyncio.run")[0]
    assert "Ten lines" in page("README").text
    assert len([line for line in begun.splitlines() if line.strip()]) <= 10


@pytest.mark.parametrize("embedder", ["off", "auto"])
async def test_r9_34_the_recall_of_the_page_names_the_fact_first(
    tmp_path: Path, embedder: str
) -> None:
    """After the commands of the page, before and after learning, with a model and without."""
    async with running(tmp_path, embedder=embedder) as runtime:
        graph = await runtime.create_session_graph("monza")
        agent = await graph.spawn_agent("strategist", topics={"tyres"})
        await agent.remember("Mediums last about 18 laps.", topics={"tyres"})
        turn = await agent.turn("How long do the mediums last?")
        await turn.reply("About 18 laps.")
        await agent.commit("Start on mediums.", topic="tyres")
        for _ in range(2):
            hits = await agent.recall("medium tyre life")
            assert (hits.items[0].kind, hits.items[0].text) == (
                "fact",
                "Mediums last about 18 laps.",
            )
            await runtime.drain_learning()


async def imola(runtime: Ezra) -> tuple[Graph, Agent]:
    """Make a graph and an agent of it, as most pages take for granted."""
    graph = await runtime.create_session_graph("imola")
    return graph, await graph.spawn_agent("strategist", topics={"tyres"}, user_id="kim")


@asynccontextmanager
async def for_sessions(home: Path) -> AsyncIterator[Names]:
    """A runtime with the graph that the page inherits from, and a moment."""
    clock = MovingClock()
    async with running(home, clock) as runtime:
        await runtime.create_session_graph("bahrain")
        names = {name: getattr(ezra, name) for name in ("AuditFilter", "Budget", "Parent")}
        yield {**names, "Retention": ezra.Retention, "ezra": runtime, "friday": clock()}


@asynccontextmanager
async def for_beliefs(home: Path) -> AsyncIterator[Names]:
    """A graph of twenty turns with beliefs, one of which each taking back is about."""
    clock = MovingClock()
    async with running(home, clock) as runtime:
        graph, agent = await imola(runtime)
        for lap in range(20):
            clock.move(minutes=2)
            await (await agent.turn(f"Jane Miller radios in lap {lap}.")).reply("Copy.")
            if lap < 3:
                belief = await agent.commit(f"Pit in lap {lap + 20}.", topic="tyres")

        async def step(event: object) -> None:
            del event

        poison = await agent.remember("The hards explode in lap three.")
        given = {"graph": graph, "agent": agent, "belief": belief, "poison": poison}
        yield {**given, "step": step, "friday": clock()}


@asynccontextmanager
async def for_recall(home: Path) -> AsyncIterator[Names]:
    """A graph, an agent of a user, a turn of it, a fact of its knowledge, and a moment."""
    clock = MovingClock()
    async with running(home, clock) as runtime:
        graph, agent = await imola(runtime)
        turn = await agent.turn("How is the tyre life?")
        await turn.reply("The mediums last 18 laps.")
        await agent.knowledge.add("medium tyre", "lasts", "18 laps")
        yield {"graph": graph, "agent": agent, "turn": turn, "friday": clock()}


@asynccontextmanager
async def for_graph(home: Path) -> AsyncIterator[Names]:
    """A runtime, a graph and an agent."""
    async with running(home) as runtime:
        graph, agent = await imola(runtime)
        yield {"ezra": runtime, "graph": graph, "agent": agent}


@asynccontextmanager
async def for_nothing(home: Path) -> AsyncIterator[Names]:
    """Nothing but the folder that the page's program works in."""
    before = Path.cwd()
    os.chdir(home)
    yield {}
    os.chdir(before)


async def after_sessions(names: Names) -> None:
    """What was revoked and redacted is in the feed, and the board has the task."""
    assert names["imola"].id == "imola"
    kinds = {event.kind for event in await names["ezra"].audit()}
    assert {"revoked", "redacted"} <= kinds
    assert names["task"].status == "created"
    again = await names["ezra"].session_graph("imola")
    assert again.inherits_from == ("bahrain",)


async def after_beliefs(names: Names) -> None:
    """The log is intact after all of it, the roll-back undone, and the erased name in no turn."""
    assert [one.state for one in await names["graph"].taint.roll_backs()] == ["undone"]
    assert [node.exposure for node in names["found"].nodes] == ["root"]
    assert (await names["history"].verify()).ok
    assert names["branch"].id == "what-if"
    turns = await names["graph"].turns("strategist")
    assert not [one for one in turns if "Miller" in (one.input or "")]


async def after_recall(names: Names) -> None:
    """The recall kept a receipt, and the tool's output is long enough to have a preview."""
    assert names["found"].receipt_id is not None
    assert len(names["text"]) > 4_000
    assert names["once"].was_new


async def after_documents(names: Names) -> None:
    """The passage is cited by document and heading."""
    cited = names["hits"].items[0].citation
    assert (cited.name, cited.headings) == ("pit.md", ("Pit lane",))


async def after_operations(names: Names) -> None:
    """The metrics are a page for Prometheus."""
    assert "# TYPE ezra" in names["page"]


async def after_learning(names: Names) -> None:
    """The order waited in quarantine until it was discarded."""
    assert names["text"].text.startswith("Ignore all")
    assert (names["text"].source, names["text"].held) == ("tool", "fact")


async def after_settings(names: Names) -> None:
    """What was passed counts."""
    assert names["ezra"].settings.ring_capacity == 12


Before = Callable[[Path], AbstractAsyncContextManager[Names]]
After = Callable[[Names], Awaitable[None]]
PAGES: dict[str, tuple[Before, After]] = {
    "sessions": (for_sessions, after_sessions),
    "beliefs": (for_beliefs, after_beliefs),
    "learning": (for_nothing, after_learning),
    "recall": (for_recall, after_recall),
    "documents": (for_graph, after_documents),
    "operations": (for_graph, after_operations),
    "settings": (for_nothing, after_settings),
}
"""What a page takes for granted, and what is so when its calls were made."""


@pytest.mark.parametrize("name", PAGES)
async def test_the_calls_of_a_page_are_as_shown(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All its blocks, one after the other, as one program."""
    monkeypatch.setenv("EZRA_EMBEDDER", "off")
    before, after = PAGES[name]
    async with before(tmp_path) as given:
        await after({**given, **await lived(page(name).blocks("python"), given)})


def test_no_page_shows_python_that_nothing_runs() -> None:
    """A new page with Python needs a line above."""
    assert having("python") == {*PAGES, *ELSEWHERE, "network"}


async def test_the_calls_over_the_network_are_as_shown(tmp_path: Path) -> None:
    """Against a server, with a token that counts."""
    (block,) = page("network").blocks("python")
    tokens = TokenFile(tmp_path / "tokens.json")
    _, secret = tokens.create("reader of the page", "operator", expires_at=None)
    async with running(tmp_path / "home") as runtime, serving(runtime, tokens=tokens) as url:
        asked = block.replace("http://127.0.0.1:8765", url).replace("ezra_…", secret)
        names = await lived([asked], {"Ezra": Ezra})
    assert [hit.text for hit in names["hits"].items] == ["Mediums last about 18 laps."]


def test_every_setting_is_in_the_table() -> None:
    """Each once, with its default; nothing that is no setting."""
    told = page("settings").text.partition("## The bridge")[0]
    rows = re.findall(r"^\| `(\w+)` \| (\S+) \| \S", told, re.MULTILINE)
    fields = ezra.Settings.model_fields
    assert sorted(name for name, _ in rows) == sorted(fields)
    for name, told in rows:
        assert default_of(told) == plainly(fields[name].get_default(call_default_factory=True)), (
            name
        )


def test_every_variable_of_the_bridge_is_in_its_table() -> None:
    """Each once, and with its default where that is a number."""
    told = page("settings").text.partition("## The bridge")[2]
    rows = dict(re.findall(r"^\| `(EZRA_BRIDGE_\w+)` \| (.+?) \| ", told, re.MULTILINE))
    own = {name for name in config._VARIABLES.values() if name.startswith("EZRA_BRIDGE_")}
    assert own | {config.STATE_VARIABLE} == {*rows}
    assert float(rows["EZRA_BRIDGE_HALF_LIFE_DAYS"]) == config.HALF_LIFE_DAYS
    assert float(rows["EZRA_BRIDGE_TIMEOUT_SECONDS"]) == config.TIMEOUT_SECONDS
    assert float(rows["EZRA_BRIDGE_WAIT_SECONDS"]) == config.WAIT_SECONDS
    assert rows["EZRA_BRIDGE_ALERT_TAG"].strip("`") == config.ALERT_TAG


def default_of(told: str) -> object:
    """Return what a cell of the table says: a number where it is one."""
    bare = told.strip("`")
    return float(bare) if re.fullmatch(r"\d+(\.\d+)?", bare) else bare.capitalize()


def plainly(default: object) -> object:
    """Return a default as ``default_of`` reads it."""
    if isinstance(default, bool) or default is None:
        return str(default)
    return float(default) if isinstance(default, (int, float)) else str(default).capitalize()
