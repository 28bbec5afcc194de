"""The commands of who runs a fleet: the server, the meta-agents, and an index to be made once."""

from __future__ import annotations

from json import dumps
from typing import Annotated

import typer

from ..settings import Settings
from .command import Answer
from .doors import Folder, Memory
from .options import settings_at, stopped_by_signals
from .screen import Screen


async def serve(
    folder: Folder,
    host: Annotated[str | None, typer.Option(show_default="EZRA_SERVE_HOST or 127.0.0.1")] = None,
    port: Annotated[
        int | None,
        typer.Option(min=0, max=65_535, show_default="EZRA_SERVE_PORT or 8765"),
    ] = None,
    access_log: bool = True,
) -> Answer:
    """Serve the memory over HTTP until stopped: /console, /v1 (REST), /mcp, and /docs about them.

    Without tokens only this machine may ask, and may do everything. Stops cleanly on SIGTERM and
    SIGINT: nothing new is accepted, what runs is finished, the tiers are closed.

    Args:
        host: Where to listen; beyond loopback only with a token that counts.
        port: The port; 0 takes a free one.
        access_log: Log every request on standard error: ids, never content.

    Examples:
        ezra serve
        ezra serve --port 0 --json
        ezra token create lap-timer && ezra serve --host 0.0.0.0
    """
    folder.only("serve", tell=False)
    given = {"serve_host": host, "serve_port": port}
    chosen = settings_at(folder.home).model_copy(
        update={name: value for name, value in given.items() if value is not None}
    )
    await _served(chosen, Screen(), has_access=access_log, json=folder.json)
    return Answer()


async def _served(settings: Settings, screen: Screen, *, has_access: bool, json: bool) -> None:
    from ..app import Ezra
    from ..service.app import check_place, service_app
    from ..service.credentials import credentials_of
    from ..service.listening import listening
    from ..service.logs import log_to_stderr
    from ..telemetry.lag import what_stays_left_out

    stopped = stopped_by_signals()
    tokens = credentials_of(settings)
    await check_place(settings.serve_host, tokens)
    log_to_stderr(has_access=has_access, style=settings.serve_log)
    async with Ezra.open(settings) as ezra:
        app = service_app(ezra, tokens=tokens, settings=settings)
        await app.state.reference.draw()  # most of a second, that no first reader should wait
        with what_stays_left_out():
            async with listening(app, settings.serve_host, settings.serve_port) as url:
                asks = await tokens.needed()
                if json:
                    told = {"url": url, "tenant": settings.tenant, "tokens": asks}
                    screen.line(dumps({**told, "embedder": ezra.embedder}))
                else:
                    who = (
                        "who has a token" if asks else "everybody on this machine, without a token"
                    )
                    screen.line(
                        f"{url} serves tenant {settings.tenant!r} to {who}; stop with Ctrl-C"
                    )
                await stopped.wait()
                screen.note("stopping; what runs is finished")


async def worker(folder: Folder) -> Answer:
    """Run the meta-agents until stopped: learning, compression, re-embedding.

    For a fleet on servers whose agents run elsewhere. Several workers may run at once: leases
    decide which of them does what. Stops cleanly on SIGTERM and SIGINT.

    Examples:
        EZRA_MONGODB_URI=mongodb://db/ ezra worker
    """
    from ..app import Ezra
    from ..telemetry.lag import what_stays_left_out

    folder.only("worker")
    stopped = stopped_by_signals()
    settings = settings_at(folder.home).model_copy(update={"background": True})
    async with Ezra.open(settings) as ezra:
        started = {"tenant": settings.tenant, "embedder": ezra.embedder}
        told = f"working for tenant {settings.tenant!r}; stop with Ctrl-C"
        Answer(started, told).tell(json=folder.json)
        with what_stays_left_out():
            await stopped.wait()
        Screen().note("stopping; what was claimed and not finished is given back")
    return Answer()


async def search_index(memory: Memory) -> Answer:
    """Let Atlas find archival facts by meaning: make or check its indexes and fill them.

    Waits until they answer. Once is enough: every fact that comes later gets its vector in the
    background. A MongoDB without search needs none of this, the warm tier answers.

    Examples:
        EZRA_MONGODB_URI=mongodb+srv://… ezra search-index
    """
    from ..app import Ezra

    ezra = await memory.open(background=True)
    # A server tells of an index when it is there, and not before.
    is_told = isinstance(ezra, Ezra) and not memory.json
    told = (lambda name, state: Screen().note(f"{name}: {state}")) if is_told else None
    way = await ezra.ensure_archival_index(told)
    return Answer({"archival_recall": way}, f"archival facts are recalled by {way}")
