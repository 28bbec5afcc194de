"""A real MCP server as a source, as a program and over HTTP."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from support.mesh_sources import NOW, SECRET, answer, called, timing
from support.mesh_tools import server_of

from ezra.mesh import source_of
from ezra.mesh.mcp_tools import McpSource, unfit
from tiers.errors import (
    ConfigError,
    TierError,
    TierRejected,
    TierTimeout,
    TierUnavailable,
    UsageError,
)


async def test_a_program_is_started_asked_and_ended(tmp_path: Path) -> None:
    """Declared tools with declared arguments; fields, text, failure, and a lost end."""
    log = tmp_path / "calls"
    source = source_of("timing", timing(log, timeout_seconds=5.0))
    assert isinstance(source, McpSource)
    try:
        found = await answer(source, "laps", driver="Kim", first=2)
        assert found.rows == (
            {"lap": 2, "time_ms": 80_911, "compound": "soft"},
            {"lap": 3, "time_ms": 81_977, "compound": "medium"},
        )
        assert (found.rows_total, found.time_travel_available) == (2, True)
        assert "xyzzy" not in found.model_dump_json()
        past = await answer(source, "laps", driver="Kim", as_of=datetime(2026, 1, 1, tzinfo=UTC))
        assert past.as_of == datetime(2026, 1, 1, tzinfo=UTC)

        words = await answer(source, "forecast", place="imola")
        assert [row["text"] for row in words.rows][:2] == ["Rain in Imola.", "## Core facts"]
        assert words.text.isprintable()
        with pytest.raises(TierRejected, match="the tool says that it failed"):
            await answer(source, "forecast", place="Atlantis")
        with pytest.raises(UsageError, match="no time travel for forecast"):
            await answer(source, "forecast", place="Imola", as_of=NOW)
        with pytest.raises(TierUnavailable):
            await answer(source, "laps", driver="gone")
        again = await answer(source, "laps", driver="Ada")
        assert len(again.rows) == 3
    finally:
        await source.close()
    assert not source.is_open
    assert [one["tool"] for one in called(log)].count("wipe") == 0
    assert called(log)[:2] == [
        {"tool": "laps", "driver": "Kim", "first": 2, "at": ""},
        {"tool": "laps", "driver": "Kim", "first": 1, "at": "2026-01-01T00:00:00Z"},
    ]


@asynccontextmanager
async def over_http(log: Path) -> AsyncIterator[str]:
    """Serve the tools over streamable HTTP in a thread; yields the address."""
    app = server_of(log).streamable_http_app()
    config = uvicorn.Config(app, host="127.0.0.1", port=0, log_level="error", ws="none")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        while not server.started:  # noqa: ASYNC110 - another thread sets it
            await asyncio.sleep(0.01)
        port = server.servers[0].sockets[0].getsockname()[1]
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        server.should_exit = True
        await asyncio.to_thread(thread.join)


async def test_a_server_over_http_is_asked_the_same(tmp_path: Path) -> None:
    """What is declared and not there is said when it is opened."""
    log = tmp_path / "calls"
    async with over_http(log) as url:
        declared = {**timing(log), "url": url}
        del declared["command"]
        source = source_of("timing", declared)
        await source.open()
        assert len((await answer(source, "laps", driver="Kim")).rows) == 3
        await source.close()
        late = source_of("timing", {**declared, "timeout_seconds": 0.4})
        with pytest.raises(TierTimeout, match=r"no answer within 0\.4 s"):
            await answer(late, "laps", driver="slow")
        await late.close()
        for change, why in (
            ({"tools": ["laps", "forecast", "fuel"]}, "the server has no 'fuel'"),
            ({"answer_chars_max": 1_000}, None),
        ):
            changed = source_of("timing", {**declared, **change})
            if why is None:
                await changed.open()
            else:
                with pytest.raises(ConfigError, match=why):
                    await changed.open()
            await changed.close()
        questions = {"laps": {**declared["questions"]["laps"], "arguments": {"pilot": "{driver}"}}}
        wrong = source_of("timing", {**declared, "questions": questions})
        with pytest.raises(ConfigError, match="laps takes no argument 'pilot'"):
            await wrong.open()
        await wrong.close()


@pytest.mark.parametrize(
    "command", [["/nowhere/at/all"], ["false"], ["echo", "no protocol"]], ids=lambda one: one[0]
)
async def test_a_program_that_is_no_server_is_away(command: list[str], tmp_path: Path) -> None:
    """It is said in one line; closing it twice is harmless."""
    source = source_of("timing", timing(tmp_path / "log", command=command, timeout_seconds=1.0))
    with pytest.raises(TierError) as told:
        await source.open()
    assert len(str(told.value)) < 200
    await source.close()
    await source.close()
    assert SECRET not in str(told.value)


SCHEMA = {
    "type": "object",
    "properties": {
        "driver": {"type": "string", "maxLength": 3},
        "first": {"type": ["integer", "null"], "minimum": 1},
        "tyre": {"enum": ["soft"]},
    },
    "required": ["driver"],
}


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ({"driver": "Kim", "first": 1, "tyre": "soft"}, None),
        ({"first": 1}, "driver is needed"),
        ({"driver": "Kimi"}, "driver is beyond its maxLength"),
        ({"driver": 3}, "driver is no string"),
        ({"driver": "Kim", "first": True}, "first is no integer or null"),
        ({"driver": "Kim", "first": 0}, "first is beyond its minimum"),
        ({"driver": "Kim", "tyre": "hard"}, "tyre is none of its values"),
        ({"driver": "Kim", "more": 1}, "more is no argument"),
    ],
    ids=lambda one: one if isinstance(one, str) else "",
)
def test_arguments_are_compared_with_the_tools_schema(
    arguments: dict[str, Any], why: str | None
) -> None:
    """Before the server is asked."""
    assert unfit(SCHEMA, arguments) == why
