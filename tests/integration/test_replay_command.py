"""``ezra replay-context`` on the demo's data, as a person or a program uses it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.runtime import MovingClock, running
from typer.testing import CliRunner, Result

from ezra import NotFound
from ezra.cli.app import app_of

app = app_of()

Command = Callable[..., Result]


@pytest.fixture
def command(tmp_path: Path) -> Command:
    """Run a command on a folder of the test's own."""
    environment = {
        "EZRA_HOME": str(tmp_path), "EZRA_EMBEDDER": "off", "EZRA_BACKGROUND": "false",
    }  # fmt: skip
    runner = CliRunner(env=environment)
    return lambda *arguments: runner.invoke(app, [*map(str, arguments)])


async def told(home: Path) -> tuple[list[str], list[Any]]:
    """Take two turns, redact the second; return the receipts, and the messages of the first."""
    async with running(home, MovingClock()) as ezra:
        graph = await ezra.create_session_graph("imola")
        agent = await graph.spawn_agent("strategist", topics={"tyres"}, role="Plans [bold]stints.")
        old = await agent.remember("Mediums last 18 laps.")
        first = await agent.turn("How long do mediums last?")
        await agent.remember("Mediums last 21 laps.", supersedes=old)
        second = await agent.turn("The code is xylograph.")
        written = await second.reply("Noted.")
        await graph.redact([written.turn.id], reason="asked to")
        return [str(first.receipt_id), str(second.receipt_id)], first.messages


def document(result: Result, code: int) -> Any:
    """Return what a command printed with ``--json``."""
    assert result.exit_code == code, result.output
    return json.loads(result.stdout)


def test_a_context_is_rebuilt_by_its_receipt_alone(command: Command, tmp_path: Path) -> None:
    """Exact is exit code 0, else 1; messages, slots and what differs today are shown."""
    (exact, redacted), messages = asyncio.run(told(tmp_path))
    found = document(command("replay-context", exact, "--json"), 0)
    assert found["messages"] == messages
    assert (found["graph_id"], found["is_exact"], found["missing"]) == ("imola", True, [])
    assert found["today"]["is_same"] is False
    assert document(command("replay-context", exact, "--no-diff", "--json"), 0)["today"] is None
    shown = command("replay-context", exact, "--graph", "imola").stdout
    assert "turn of imola/strategist" in shown
    assert "Mediums last 18 laps." in shown
    assert "superseded by" in shown
    assert shown.rstrip().endswith("exact")
    whole = command("replay-context", exact, "--no-diff", "--messages").stdout
    assert messages[0]["content"] in whole
    assert "today" not in whole
    gone = document(command("replay-context", redacted, "--json"), 1)
    assert (gone["messages"], gone["slots"], gone["query"]) == ([], [], "")
    told_why = command("replay-context", redacted)
    assert told_why.exit_code == 1
    assert "not exact" in told_why.stdout
    assert "redacted" in told_why.stdout
    assert isinstance(command("replay-context", "nobody").exception, NotFound)
    assert isinstance(command("replay-context", exact, "--graph", "x").exception, NotFound)
