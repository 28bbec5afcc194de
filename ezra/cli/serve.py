"""The command that serves the runtime over HTTP."""

from __future__ import annotations

import asyncio
import signal
from json import dumps
from typing import Annotated

import typer

from ..app import Ezra
from ..settings import Settings
from .doors import NoUrl, only_here
from .options import Home, Json, run, settings_at
from .screen import Screen

EXAMPLES = (
    "Examples: ezra serve  ·  ezra serve --port 0 --json  ·  "
    "ezra token create lap-timer && ezra serve --host 0.0.0.0"
)


def serve(
    host: Annotated[
        str | None,
        typer.Option(
            help="Where to listen; beyond loopback only with a token that counts.",
            show_default="EZRA_SERVE_HOST or 127.0.0.1",
        ),
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=65_535,
            help="The port; 0 takes a free one.",
            show_default="EZRA_SERVE_PORT or 8765",
        ),
    ] = None,
    access_log: Annotated[
        bool, typer.Option(help="Log every request on standard error: ids, never content.")
    ] = True,
    home: Home = None,
    url: NoUrl = None,
    json: Json = False,
) -> None:
    """Serve the memory over HTTP until stopped: /console, /v1 (REST), /mcp, and /docs about them.

    Without tokens only this machine may ask, and may do everything. Stops cleanly on SIGTERM and
    SIGINT: nothing new is accepted, what runs is finished, the tiers are closed.
    """
    only_here("serve", url, tell=False)
    given = {"serve_host": host, "serve_port": port}
    chosen = settings_at(home).model_copy(
        update={name: value for name, value in given.items() if value is not None}
    )
    run(_served(chosen, Screen(), has_access=access_log, json=json))


async def _served(settings: Settings, screen: Screen, *, has_access: bool, json: bool) -> None:
    # A web framework is a third of a second of imports that no other command should pay.
    from ..service.app import check_place, service_app  # noqa: PLC0415
    from ..service.credentials import credentials_of  # noqa: PLC0415
    from ..service.lag import what_stays_left_out  # noqa: PLC0415
    from ..service.listening import listening  # noqa: PLC0415
    from ..service.logs import log_to_stderr  # noqa: PLC0415

    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for name in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(name, stopped.set)
    tokens = credentials_of(settings)
    await check_place(settings.serve_host, tokens)
    log_to_stderr(has_access=has_access, style=settings.serve_log)
    async with Ezra.open(settings) as ezra:
        app = service_app(ezra, tokens=tokens, settings=settings)
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
