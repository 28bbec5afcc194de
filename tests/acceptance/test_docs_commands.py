"""What people type and save from the README and the pages under docs/, run as it is shown."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from mcp import StdioServerParameters
from mcp.client.client import Client
from mcp.client.stdio import stdio_client
from support.mcp_client import told
from support.model_providers import free_port
from support.pages import ROOT, having, page
from support.processes import kept
from support.runtime import running
from support.warm_command import warm_command

from ezra.service.identity import _Claim

SHOWN_PORT = "8765"
TAKEN_FOR_GRANTED = """
set -euo pipefail
trap 'kill $(jobs -p) 2>/dev/null || true; wait' EXIT
first() { python3 -c 'import json, sys; print(json.load(sys.stdin)[0][sys.argv[1]])' "$1"; }
served() { curl -sS --retry 60 --retry-delay 1 --retry-connrefused -o /dev/null $1/health; }
"""
"""What fails ends a page, what a page left running ends with it, and ids can be looked up."""
IDS = {
    "BELIEF": "ezra audit query monaco --json | first id",
    "ROLLBACK": "ezra taint list monaco --json | first id",
    "RECEIPT": "ezra turn show imola strategist 1 --json | grep receipt_id | cut -d'\"' -f4",
    "TOKEN": "ezra token list --json | first id",
}
"""What stands for an id on a page, and where it is looked up."""


@pytest.fixture(autouse=True)
def tiers() -> None:
    """Everything is embedded: a shell here gets nothing of the environment of the tests."""


async def nothing(folder: Path) -> str:
    """A page that begins in an empty folder."""
    del folder
    return ""


async def remembered(folder: Path, graph_id: str) -> str:
    """Make a session with a strategist who has said, learnt and decided something."""
    async with running(folder / "memory", lambda: datetime.now(UTC)) as ezra:
        graph = await ezra.create_session_graph(graph_id)
        agent = await graph.spawn_agent("strategist", topics={"tyres"})
        turn = await agent.turn("How long do the mediums last?")
        await turn.reply("About 18 laps.")
        await agent.remember("Mediums last about 18 laps.", topics={"tyres"})
        await agent.knowledge.add("medium tyre", "lasts", "18 laps")
        await agent.commit("Start on mediums.", topic="tyres")
        await ezra.drain_learning()
    return ""


async def with_imola(folder: Path) -> str:
    """A page about a session that is there, and a set of the page to measure it on."""
    for block in page("recall").blocks("json"):
        (folder / "set.json").write_text(block)
    return await remembered(folder, "imola")


async def with_monza(folder: Path) -> str:
    """A page that goes on where the first one ended."""
    return await remembered(folder, "monza")


async def with_the_demo(folder: Path) -> str:
    """A page that is read in the folder of a clone."""
    (folder / "scripts").symlink_to(ROOT / "scripts")
    return ""


async def with_a_handbook(folder: Path) -> str:
    """A page about files."""
    tyres = folder / "handbook" / "tyres"
    tyres.mkdir(parents=True)
    (tyres / "mediums.md").write_text("# Mediums\n\nThey last about 18 laps.\n")
    (folder / "rules.md").write_text("# Pit lane\n\nThe limit is 80 km/h.\n")
    return ""


async def with_conversations(folder: Path) -> str:
    """A page whose other blocks are the files that it plays."""
    lines, messages = page("conversation-files").blocks("json")
    (talk,) = page("conversation-files").blocks("markdown")
    (folder / "weekend.jsonl").write_text(lines)
    (folder / "messages.json").write_text(messages)
    (folder / "talk.md").write_text(talk)
    return ""


async def with_a_server(folder: Path) -> str:
    """A page that asks a server, and has notes on this machine."""
    notes = folder / "notes"
    notes.mkdir()
    (notes / "tokens.md").write_text("---\ntype: task\nstatus: open\n---\n# Tokens\n")
    return f"""
unset EZRA_HOME
export EZRA_BRIDGE_WATCH_DIRS={notes} EZRA_BRIDGE_MEMORY_PATH={notes}
ezra serve --home memory &
served http://127.0.0.1:{SHOWN_PORT}
"""


PAGES: dict[str, tuple[Callable[[Path], Awaitable[str]], tuple[str, ...]]] = {
    "start": (nothing, ("Mediums last about 18 laps.", "Start on mediums.")),
    "sessions": (nothing, ("inherits from monaco", "revoked")),
    "recall": (with_imola, ("Mediums last about 18 laps.", "medium tyre → lasts", "exact")),
    "learning": (with_imola, ("every turn is accounted for", "0 items are queued again")),
    "documents": (with_a_handbook, ("handbook/tyres/mediums.md", "They last about 18 laps.")),
    "beliefs": (with_the_demo, ("soft", "superseded", "intact")),
    "network": (with_monza, ('"status":"ok"', "Start on mediums.", "auditor")),
    "coding-agents": (with_a_server, ("Tokens live for 15 minutes.",)),
    "operations": (with_monza, ("monza",)),
    "conversation-files": (with_conversations, ("24 laps",)),
}
"""What a page takes for granted, and some of what its commands print."""


PROGRAMS = {
    "README": ["'role': 'system'", "Mediums last about 18 laps."],
    "start": ["monaco front wing is at 28.5 degrees", "At 28.5 degrees. ('dense',)"],
}
"""Pages that show one whole program, and what it prints."""


@pytest.mark.parametrize("name", PROGRAMS)
def test_r9_34_a_first_program_runs_twice_and_remembers(tmp_path: Path, name: str) -> None:
    """Copied from the page, run in an empty folder and again, without a model."""
    (program,) = page(name).blocks("python")
    (tmp_path / "first.py").write_text(program)
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-W", "error", "first.py"],
            cwd=tmp_path,
            env={**kept(), "EZRA_EMBEDDER": "off"},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        for said in PROGRAMS[name]:
            assert said in done.stdout


@pytest.mark.parametrize("name", PAGES)
async def test_the_commands_of_a_page_are_as_shown(tmp_path: Path, name: str) -> None:
    """All its blocks, one after the other, in one shell and one folder; nothing fails."""
    before, printed = PAGES[name]
    begun = await before(tmp_path)
    said = shell(begun + "".join(page(name).blocks("bash")), tmp_path)
    for one in printed:
        assert one in said, said


def test_no_page_shows_a_shell_that_nothing_runs() -> None:
    """A new page with commands needs a line above."""
    assert having("bash") == {*PAGES}


async def test_the_configuration_for_mcp_works_as_it_is(tmp_path: Path) -> None:
    """What a client would paste starts a server that knows what was remembered."""
    await with_monza(tmp_path)
    (command,) = [one for one in page("network").codes if one.startswith("ezra mcp config")]
    pasted = json.loads(shell(command, tmp_path))
    (entry,) = pasted["mcpServers"].values()
    server = StdioServerParameters(
        command=entry["command"], args=entry["args"], env=environment(tmp_path)
    )
    async with Client(stdio_client(server)) as client:
        found = await told(client, "recall", query="medium tyre life")
    assert "Mediums last about 18 laps." in json.dumps(found)


def test_the_claim_of_a_provider_s_token_is_accepted() -> None:
    """As the page about tokens shows it."""
    (block,) = page("network").blocks("json")
    said = _Claim.model_validate(json.loads(block)["ezra"])
    assert (said.role, said.graph_id, said.topics) == ("agent", "monza", ("tyres",))


def environment(folder: Path) -> dict[str, str]:
    """Return what a shell has in which somebody tries a page: an empty folder, no model."""
    return {
        **kept(),
        "PATH": f"{warm_command().parent}:{Path(sys.executable).parent}:{os.environ['PATH']}",
        "HOME": str(folder),
        "EZRA_HOME": str(folder / "memory"),
        "EZRA_EMBEDDER": "off",
    }


def shell(script: str, folder: Path) -> str:
    """Run commands until something fails; return what they printed."""
    port = str(free_port())
    script = script.replace(SHOWN_PORT, port)
    for placeholder, command in IDS.items():
        script = re.sub(rf"\b{placeholder}\b", f'"$({command})"', script)
    done = subprocess.run(
        ["bash", "-c", TAKEN_FOR_GRANTED + script],
        cwd=folder,
        env={**environment(folder), "EZRA_SERVE_PORT": port},
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
