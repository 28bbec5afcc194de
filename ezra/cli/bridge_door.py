"""How the commands of the bridge reach their memory, and what they do while it is away."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from tiers.errors import ConfigError, FolderInUse, PolicyDenied, TierError, TierRejected, UsageError

from ..app import Ezra
from ..assembly.engines import has_memory
from ..bridge.client import AnyEzra, Away, Bridge, bridged
from ..bridge.config import BridgeConfig, bridge_config
from ..bridge.outbox import Kind, outbox_of
from ..bridge.reading import TO_BEGIN
from ..bridge.sending import Outcome
from .doors import TOKEN_VARIABLE, Url, token, token_in
from .indexing import index_what_was_written
from .options import Json, run, settings_at
from .screen import Screen

AWAY = 4
"""The exit code when nothing can be read because the memory is away."""

_TRY_SECONDS = 0.05

_T = TypeVar("_T")

Home = Annotated[
    Path | None,
    typer.Option(
        "--home",
        help="Folder of the embedded data, for every working directory.",
        show_default="EZRA_HOME, as set up, or ~/.local/share/ezra",
    ),
]
Tags = Annotated[
    str | None, typer.Option("--tags", metavar="A,B", help="Tags, with commas between them.")
]
Priority = Annotated[str, typer.Option(help="low, normal, high or urgent.")]

__all__ = [
    "AWAY",
    "Home",
    "Json",
    "Priority",
    "Tags",
    "Url",
    "ask",
    "configured",
    "listed_tags",
    "wrote",
]


def configured(home: Path | None, url: str | None) -> BridgeConfig:
    """Return who asks, and where, as options of a command have it.

    Raises:
        UsageError: Both options are given.
        ConfigError: A variable or the configuration file is not acceptable.
    """
    if home is not None and url is not None:
        raise UsageError("--home", str(home), "--home or --url: the data are here or on a server")
    return bridge_config().at(url=url, home=home)


def ask(
    home: Path | None,
    url: str | None,
    work: Callable[[Bridge], Awaitable[_T]],
    *,
    names: bool,
    creates: bool = False,
    is_about_itself: bool = False,
) -> _T:
    """Open the bridge and do a command's work; ends with ``AWAY`` where that cannot be read.

    Args:
        home: As ``--home`` gave it.
        url: As ``--url`` gave it.
        work: What the command does.
        names: Whether it needs to know who asks.
        creates: Whether it makes a memory where there is none.
        is_about_itself: Whether it does its work where there is none too, or where it is not let
            in, as with one that is away; it makes none.

    Raises:
        ConfigError: The configuration is not acceptable, says nothing of who asks, or there is no
            memory.
        EzraError: As the work does.
    """
    config = configured(home, url)
    if names:
        _ = config.named_agent

    async def done() -> _T:
        nothing = None if creates else await _nothing_there(config)
        if nothing is not None and is_about_itself:
            return await work(Bridge(config, None, away=nothing, is_missing=True))
        if nothing is not None and not _is_waiting(config):
            raise ConfigError("EZRA_HOME", f"{nothing}; {TO_BEGIN}")
        try:
            async with bridged(config, lambda: _opened(config)) as bridge:
                tell_refused(bridge)
                return await work(bridge)
        except PolicyDenied as denied:
            if not is_about_itself:
                raise
            return await work(Bridge(config, None, away=str(denied)))

    try:
        return run(done())
    except Away as error:
        Screen().error(error)
    except (TierError, FolderInUse) as error:
        if isinstance(error, TierRejected) and error.tier != "server":
            raise
        Screen().error(Away(config.target, str(error)))
    raise typer.Exit(AWAY)


def tell_refused(bridge: Bridge) -> None:
    """Say what the memory refused of what had waited: nobody was there to be told."""
    for one in bridge.first_sent.outcomes:
        if one.state == "refused":
            Screen().note(
                f"refused: {one.item.kind} {one.item.id}: {one.reason}"
                " (see 'ezra bridge sync --refused')"
            )


def wrote(
    home: Path | None,
    url: str | None,
    kind: Kind,
    *,
    json: bool,
    told: Callable[[Outcome], str] = lambda one: one.id,
    after: Callable[[Bridge, Outcome], None] | None = None,
    **arguments: Any,  # noqa: ANN401 - JSON values
) -> None:
    """Write something by way of the bridge, and print what came of it.

    Args:
        home: As ``--home`` gave it.
        url: As ``--url`` gave it.
        kind: What is to be done.
        json: Whether a program reads the answer.
        told: What people read of what was done.
        after: What this machine notes of it.
        arguments: With what it is done.

    Raises:
        EzraError: It was refused; nothing was written.
    """
    screen = Screen()

    async def work(bridge: Bridge) -> Outcome:
        outcome = await bridge.write(kind, **arguments)
        if after is not None:
            after(bridge, outcome)
        return outcome

    outcome = ask(home, url, work, names=True, creates=True)
    if json:
        screen.document(outcome.said)
        return
    screen.line(told(outcome) if outcome.state == "done" else outcome.id)
    if outcome.state == "queued":
        screen.note(f"queued on this machine, for later: {outcome.reason}")


def listed_tags(tags: str | None) -> list[str]:
    """Return the tags of an option, each once."""
    return list(dict.fromkeys(one.strip() for one in (tags or "").split(",") if one.strip()))


@asynccontextmanager
async def _opened(config: BridgeConfig) -> AsyncIterator[AnyEzra]:
    if config.url is None:
        async with AsyncExitStack() as stack:
            embedded = await _entered_when_free(stack, config)
            yield embedded
            await index_what_was_written(embedded)
        return
    seconds = config.timeout_seconds
    async with Ezra.connect(config.url, _token(config), timeout_seconds=seconds) as remote:
        yield remote


async def _entered_when_free(stack: AsyncExitStack, config: BridgeConfig) -> Ezra:
    """Open the embedded memory; while another process has it, ask again for a short time.

    Raises:
        FolderInUse: It has it still; names it.
    """
    settings = settings_at(config.home, background=False)
    until = time.monotonic() + config.wait_seconds
    while True:
        try:
            return await stack.enter_async_context(Ezra.open(settings))
        except FolderInUse:
            if time.monotonic() >= until:
                raise
        await asyncio.sleep(_TRY_SECONDS)


async def _nothing_there(config: BridgeConfig) -> str | None:
    """Return why there is no memory to read; ``None`` where there is one, or a server is asked."""
    if config.url is not None or await has_memory(settings_at(config.home, background=False)):
        return None
    return f"there is no memory in {config.target} yet"


def _is_waiting(config: BridgeConfig) -> bool:
    """Whether something waits on this machine, so that there will be a memory once it is sent."""
    return config.agent is not None and not outbox_of(config).is_empty()


def _token(config: BridgeConfig) -> str | None:
    if os.environ.get(TOKEN_VARIABLE, "").strip() or config.token_file is None:
        return token()
    return token_in(config.token_file)
