"""How the commands of the bridge reach their memory, and what they do while it is away."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Annotated, Any, Self, TypeVar

import typer

from tiers.errors import (
    ConfigError,
    EzraError,
    FolderInUse,
    PolicyDenied,
    TierError,
    TierRejected,
)

from ..bridge.client import AnyEzra, Away, Bridge, bridged
from ..bridge.config import BridgeConfig, bridge_config
from ..bridge.outbox import Kind, outbox_of
from ..bridge.reading import TO_BEGIN
from ..bridge.sending import Outcome
from .command import Answer, Note, Part
from .doors import (
    TOKEN_VARIABLE,
    Url,
    check_one_place,
    index_what_was_written,
    token,
    token_in,
)
from .options import Json, folder_of, settings_at
from .screen import Screen

if TYPE_CHECKING:
    from ..app import Ezra
    from ..handles.agent import Agent

AWAY = 4
"""The exit code when nothing can be read because the memory is away."""

_TRY_SECONDS = 0.05

_T = TypeVar("_T")

Home = Annotated[
    Path | None,
    typer.Option(
        "--home",
        parser=folder_of,
        metavar="<path>",
        help="Folder of the embedded data, for every working directory.",
        show_default="EZRA_HOME, as set up, or ~/.local/share/ezra",
    ),
]
Tags = Annotated[
    str | None, typer.Option("--tags", metavar="A,B", help="Tags, with commas between them.")
]
Priority = Annotated[str, typer.Option(help="low, normal, high or urgent.")]


@dataclass
class Door:
    """The way of a command to the agent's memory; it ends with ``AWAY`` where that is away."""

    home: Home = None
    url: Url = None
    json: Json = False

    async def __aenter__(self) -> Self:
        """Begin; what is opened meanwhile is closed at the end."""
        self._stack = AsyncExitStack()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close what was opened; say where the memory is away.

        Raises:
            typer.Exit: It is.
        """
        failed = error
        try:
            await self._stack.__aexit__(kind, error, trace)
        except EzraError as raised:
            failed = raised
        is_refused = isinstance(failed, TierRejected) and failed.tier != "server"
        if isinstance(failed, TierError | FolderInUse) and not is_refused:
            failed = Away(self.config.target, str(failed))
        if isinstance(failed, Away):
            Screen().error(failed)
            raise typer.Exit(AWAY) from failed
        if failed is not error and failed is not None:
            raise failed

    @cached_property
    def config(self) -> BridgeConfig:
        """Who asks, and where.

        Raises:
            UsageError: Both options are given.
            ConfigError: A variable or the configuration file is not acceptable.
        """
        check_one_place(self.home, self.url)
        return bridge_config().at(url=self.url, home=self.home)

    async def bridge(
        self, *, names: bool = True, creates: bool = False, is_about_itself: bool = False
    ) -> Bridge:
        """Open the bridge.

        Args:
            names: Whether the command needs to know who asks.
            creates: Whether it makes a memory where there is none.
            is_about_itself: Whether it does its work where there is none too, as with one that
                is away; it makes none.

        Raises:
            ConfigError: The configuration is not acceptable, says nothing of who asks, or there
                is no memory.
        """
        config = self.config
        if names:
            _ = config.named_agent
        nothing = None if creates else await _nothing_there(config)
        if nothing is not None and is_about_itself:
            return Bridge(config, None, away=nothing, is_missing=True)
        if nothing is not None and not _is_waiting(config):
            raise ConfigError("EZRA_HOME", f"{nothing}; {TO_BEGIN}")
        at = bridged(config, lambda: _opened(config))
        bridge = await self._stack.enter_async_context(at)
        tell_refused(bridge)
        return bridge

    async def agent(self) -> Agent:
        """Open the bridge and return the handle of who asks."""
        return (await self.bridge()).agent()

    async def write(
        self,
        kind: Kind,
        *,
        line: Callable[[Outcome], str] = lambda one: one.id,
        after: Callable[[Bridge, Outcome], None] | None = None,
        **arguments: Any,  # noqa: ANN401 - JSON values
    ) -> Answer:
        """Write something by way of the bridge, and return what came of it.

        Args:
            kind: What is to be done.
            line: What people read of what was done.
            after: What this machine notes of it.
            arguments: With what it is done.

        Raises:
            EzraError: It was refused; nothing was written.
        """
        bridge = await self.bridge(creates=True)
        outcome = await bridge.write(kind, **arguments)
        if after is not None:
            after(bridge, outcome)
        parts: list[Part] = [line(outcome) if outcome.state == "done" else outcome.id]
        if outcome.state == "queued":
            parts.append(Note(f"queued on this machine, for later: {outcome.reason}"))
        return Answer(outcome.document, parts)

    async def about_itself(self, work: Callable[[Bridge], Awaitable[_T]], *, names: bool) -> _T:
        """Do work that is done too where there is no memory, or where it does not let one in."""
        try:
            return await work(await self.bridge(names=names, is_about_itself=True))
        except PolicyDenied as denied:
            return await work(Bridge(self.config, None, away=str(denied)))


def tell_refused(bridge: Bridge) -> None:
    """Say what the memory refused of what had waited: nobody was there to be told."""
    for one in bridge.first_sent.outcomes:
        if one.state == "refused":
            Screen().note(
                f"refused: {one.item.kind} {one.item.id}: {one.reason}"
                " (see 'ezra bridge sync --refused')"
            )


@asynccontextmanager
async def _opened(config: BridgeConfig) -> AsyncIterator[AnyEzra]:
    if config.url is None:
        async with AsyncExitStack() as stack:
            embedded = await _entered_when_free(stack, config)
            yield embedded
            await index_what_was_written(embedded)
        return
    from ..app import Ezra

    seconds = config.timeout_seconds
    async with Ezra.connect(config.url, _token(config), timeout_seconds=seconds) as remote:
        yield remote


async def _entered_when_free(stack: AsyncExitStack, config: BridgeConfig) -> Ezra:
    """Open the embedded memory; while another process has it, ask again for a short time.

    Raises:
        FolderInUse: It has it still; names it.
    """
    from ..app import Ezra

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
    from ..assembly.engines import has_memory

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
