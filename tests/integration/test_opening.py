"""What ``Ezra.open`` and ``Ezra.connect`` refuse, and how long what they open stays open."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ezra import Agent, Ezra, Settings
from tiers.errors import ConfigError, TierUnavailable, UsageError


@pytest.mark.parametrize(
    ("given", "field", "accepted"),
    [
        ({"settings": "memory"}, "settings", "Settings(home="),
        ({"settings": {"home": "memory"}}, "settings", "Settings(home="),
        ({"model": "gpt"}, "model", "complete"),
        ({"model": SimpleNamespace(complete=print)}, "model", "name"),
        ({"embedder": "off"}, "embedder", "embed"),
        ({"embedder": SimpleNamespace(embed=print, model_id="a")}, "embedder", "dimensions"),
        ({"connectors": ["crm"]}, "connectors", "by their names"),
        ({"connectors": {"crm": 3}}, "connectors.crm", "function"),
        ({"connectors": {"": print}}, "connectors", "at least one character"),
        ({"clock": datetime.now(UTC)}, "clock", "function"),
        ({"clock": datetime.now}, "clock", "with its zone"),
    ],
)
async def test_what_is_no_part_of_a_runtime_is_named(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    given: Mapping[str, Any],
    field: str,
    accepted: str,
) -> None:
    """And no folder is made."""
    home = tmp_path / "memory"
    monkeypatch.setenv("EZRA_HOME", str(home))
    with pytest.raises(UsageError) as told:
        async with Ezra.open(**given):
            pass
    assert told.value.field == field
    assert accepted in told.value.accepted
    assert not home.exists()


async def test_a_folder_that_has_no_path_is_refused() -> None:
    """Python says so of a path with a NUL in an error that is none of ours."""
    with pytest.raises(ConfigError, match="EZRA_HOME: cannot make"):
        async with Ezra.open(Settings(home=Path("a\0b"))):
            pass


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"url": 8765}, "url"),
        ({"token": 5}, "token"),
        ({"timeout_seconds": 0}, "timeout_seconds"),
        ({"timeout_seconds": float("nan")}, "timeout_seconds"),
        ({"timeout_seconds": "2"}, "timeout_seconds"),
    ],
)
async def test_what_is_no_way_to_a_server_is_named(given: dict[str, Any], field: str) -> None:
    """The token's value is not repeated."""
    with pytest.raises(UsageError) as told:
        async with Ezra.connect(**{"url": "http://127.0.0.1:8765", **given}):
            pass
    assert told.value.field == field


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Return those of a home that is new."""
    return Settings(home=tmp_path / "memory", embedder="off")


async def _agent(ezra: Ezra) -> Agent:
    graph = await ezra.create_session_graph("imola", exist_ok=True)
    return await graph.spawn_agent("engineer", topics={"*"})


async def _tyres(agent: Agent) -> list[str]:
    return [hit.text for hit in (await agent.recall("mediums")).items]


async def test_what_is_no_key_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    """In a setting, in a file that it names, and in the one that is made in the home folder."""
    home, file = tmp_path / "memory", tmp_path / "key.pem"
    file.write_text("no key")
    file.chmod(0o600)
    for given, setting in (
        ({"signing_key": "no key"}, "EZRA_SIGNING_KEY"),
        ({"signing_key_file": file}, "EZRA_SIGNING_KEY_FILE"),
        ({"signing_key_file": tmp_path / "nowhere.pem"}, "EZRA_SIGNING_KEY_FILE"),
    ):
        with pytest.raises(ConfigError, match=f"{setting}: "):
            async with Ezra.open(Settings(home=home, background=False, **given)):
                pass
        assert not home.exists()
    async with Ezra.open(Settings(home=home, background=False)):
        assert not (home / "signing-key.pem").exists()
    file.rename(home / "signing-key.pem")
    with pytest.raises(ConfigError, match="EZRA_SIGNING_KEY_FILE: "):
        async with Ezra.open(Settings(home=home, background=False)):
            pass


async def test_what_is_awaited_is_open_until_it_is_closed(settings: Settings) -> None:
    """And the folder is free again then; closing may be repeated, also at once."""
    ezra = await Ezra.open(settings)
    agent = await _agent(ezra)
    await agent.remember("Mediums last 18 laps.")
    await asyncio.gather(ezra.close(), ezra.close())
    await ezra.close()
    with pytest.raises(TierUnavailable, match="closed"):
        await agent.recall("mediums")

    again = await Ezra.open(settings)
    try:
        assert await _tyres(await _agent(again)) == ["Mediums last 18 laps."]
    finally:
        await again.close()


async def test_a_block_may_be_closed_before_its_end(settings: Settings) -> None:
    """What its body fails with goes on."""

    async def closed_early() -> None:
        async with Ezra.open(settings) as ezra:
            await ezra.close()
            async with Ezra.open(settings) as other:
                await _agent(other)
            raise LookupError("the body's own")

    with pytest.raises(LookupError, match="the body's own"):
        await closed_early()


async def test_whoever_keeps_an_agent_alone_keeps_all_open(settings: Settings) -> None:
    """Nothing is collected beneath it."""

    async def made() -> Agent:
        return await _agent(await Ezra.open(settings))

    agent = await made()
    gc.collect()
    await asyncio.sleep(0)
    gc.collect()
    await agent.remember("Mediums last 18 laps.")
    assert await _tyres(agent) == ["Mediums last 18 laps."]


async def test_what_fails_to_open_says_why_when_it_is_awaited(settings: Settings) -> None:
    """As a block says it."""
    async with Ezra.open(settings):
        with pytest.raises(ConfigError, match="EZRA_HOME"):
            await Ezra.open(settings)


async def test_an_opening_that_is_cancelled_leaves_nothing_open(settings: Settings) -> None:
    """However far it had come."""
    cancelled = 0
    for rounds in range(12):
        opening = asyncio.ensure_future(Ezra.open(settings))
        for _ in range(rounds):
            await asyncio.sleep(0.002)
        opening.cancel()
        try:
            ezra = await opening
        except asyncio.CancelledError:
            cancelled += 1
        else:
            await ezra.close()
    assert cancelled > 1
    async with Ezra.open(settings) as ezra:
        await _agent(ezra)


def test_what_nobody_closed_ends_in_order_with_its_loop(
    settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    """``asyncio.run`` ends it; a later one is told that it is another loop's."""

    async def left_open() -> tuple[Ezra, Agent]:
        ezra = await Ezra.open(settings)
        agent = await _agent(ezra)
        await agent.remember("Mediums last 18 laps.")
        return ezra, agent

    async def used(ask: Callable[[], Any]) -> None:
        await ask()

    async def opened_again() -> list[str]:
        async with Ezra.open(settings) as ezra:
            return await _tyres(await _agent(ezra))

    ezra, agent = asyncio.run(left_open())
    for ask in (lambda: agent.recall("mediums"), lambda: agent.turn("Mediums?")):
        with pytest.raises(UsageError, match="the event loop in which it was opened"):
            asyncio.run(used(ask))
    asyncio.run(used(ezra.close))  # there is nothing left to close
    assert asyncio.run(opened_again()) == ["Mediums last 18 laps."]
    assert not [said for said in caplog.records if said.name == "asyncio"]


def test_another_loop_than_its_own_is_refused_while_it_is_open(settings: Settings) -> None:
    """Nobody waits for ever for an answer that comes in elsewhere."""
    mine, other = asyncio.new_event_loop(), asyncio.new_event_loop()
    try:
        ezra = mine.run_until_complete(_opened(settings))
        agent = mine.run_until_complete(_agent(ezra))
        for ask in (agent.remember, agent.recall, lambda _: ezra.close()):
            with pytest.raises(UsageError, match="the event loop in which it was opened"):
                other.run_until_complete(ask("Mediums last 18 laps."))
        mine.run_until_complete(agent.remember("Mediums last 18 laps."))
        assert mine.run_until_complete(_tyres(agent)) == ["Mediums last 18 laps."]
        mine.run_until_complete(ezra.close())
    finally:
        mine.close()
        other.close()


async def _opened(settings: Settings) -> Ezra:
    return await Ezra.open(settings)


async def test_a_connection_is_awaited_and_closed_likewise() -> None:
    """It asks no server before it is used."""
    ezra = await Ezra.connect("http://127.0.0.1:9")
    await ezra.close()
    await ezra.close()
    with pytest.raises(TierUnavailable, match="not open"):
        await ezra.session_graph("imola")


async def test_what_is_no_function_decides_no_contradiction(tmp_path: Path) -> None:
    """Neither as a callback nor as a graph's own resolver, and no graph is made."""
    async with Ezra.open(Settings(home=tmp_path, embedder="off", background=False)) as ezra:
        wrong: Any = "old"
        with pytest.raises(UsageError, match="callback"):
            ezra.on_contradiction(wrong)
        with pytest.raises(UsageError, match="resolver"):
            await ezra.create_session_graph("a", merge_strategy="custom", resolver=wrong)
        assert await ezra.session_graphs() == ()
