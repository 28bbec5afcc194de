"""The command that serves the runtime over HTTP."""

from __future__ import annotations

from json import dumps
from typing import Annotated

import typer

from ..settings import Settings
from .command import Answer
from .doors import Folder
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
