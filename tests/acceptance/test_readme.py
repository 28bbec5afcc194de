"""What the README shows works as it is shown."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest
from support.runtime import MovingClock, running
from support.service import serving

import ezra
from ezra.service.tokens import TokenFile

README = Path(__file__).parents[2] / "README.md"


def programs() -> list[str]:
    """Return the Python of the page, block by block."""
    return re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)


def test_r9_34_the_first_program_runs_twice_and_remembers(tmp_path: Path) -> None:
    """Copied from the page, run in an empty folder and again, without a model."""
    (tmp_path / "first.py").write_text(programs()[0])
    environment = {"PATH": os.environ["PATH"], "EZRA_EMBEDDER": "off"}
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-W", "error", "first.py"],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert "monaco front wing is at 28.5 degrees" in done.stdout
        assert "At 28.5 degrees. ('dense',)" in done.stdout


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


async def test_the_calls_of_session_graphs_are_as_shown(tmp_path: Path) -> None:
    """The block about graphs, run with what it takes for granted: a runtime, a graph, a moment."""
    names: dict[str, Any] = {name: getattr(ezra, name) for name in ezra.__all__}
    (block,) = [one for one in programs() if "imola.revoke" in one]
    body = textwrap.indent(block, "    ")
    exec(f"async def shown(ezra, friday):\n{body}", names)  # noqa: S102 - our own page
    clock = MovingClock()
    async with running(tmp_path, clock) as runtime:
        await runtime.create_session_graph("bahrain")
        await names["shown"](runtime, clock())
        assert (await runtime.session_graph("imola")).inherits_from == ("bahrain",)
        kinds = {event.kind for event in await runtime.audit()}
        assert {"revoked", "redacted"} <= kinds


async def test_the_calls_over_the_network_are_as_shown(tmp_path: Path) -> None:
    """The block about a server, run against one, with a token that counts."""
    (block,) = [one for one in programs() if "Ezra.connect" in one]
    tokens = TokenFile(tmp_path / "tokens.json")
    _, secret = tokens.create("reader of the page", "operator", expires_at=None)
    async with running(tmp_path / "home") as runtime, serving(runtime, tokens=tokens) as url:
        asked = block.replace("http://127.0.0.1:8765", url).replace("ezra_…", secret)
        body = textwrap.indent(asked, "    ")
        names: dict[str, Any] = {"Ezra": ezra.Ezra}
        exec(f"async def shown():\n{body}\n    return hits", names)  # noqa: S102 - our own page
        hits = await names["shown"]()
    assert [hit.text for hit in hits.items] == ["Mediums last about 18 laps."]


async def test_the_calls_of_recall_are_as_shown(tmp_path: Path) -> None:
    """The block about recall, run with a graph, an agent of a user, a turn and a moment."""
    names: dict[str, Any] = {name: getattr(ezra, name) for name in ezra.__all__}
    (block,) = [one for one in programs() if "agent.search_memory" in one]
    body = textwrap.indent(block, "    ")
    exec(f"async def shown(graph, agent, turn, friday):\n{body}    return found", names)  # noqa: S102
    clock = MovingClock()
    async with running(tmp_path, clock) as runtime:
        graph = await runtime.create_session_graph("imola")
        agent = await graph.spawn_agent("strategist", topics={"tyres"}, user_id="kim")
        turn = await agent.turn("How is the tyre life?")
        await turn.reply("The mediums last 18 laps.")
        await agent.knowledge.add("medium tyre", "lasts", "18 laps")
        found = await names["shown"](graph, agent, turn, clock())
        assert found.receipt_id is not None


def test_every_setting_is_in_the_table() -> None:
    """The table names settings that exist, with their defaults."""
    rows = re.findall(r"^\| `(\w+)` \| (\S+) \|", README.read_text(), re.MULTILINE)
    fields = ezra.Settings.model_fields
    assert rows
    for name, default in rows:
        assert name in fields
        if default.isdecimal():
            assert fields[name].default == float(default)
