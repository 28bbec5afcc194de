"""The commands of who runs a fleet on servers: the meta-agents, and an index to be made once."""

from __future__ import annotations

import asyncio
import signal

from ..app import Ezra
from .doors import NoUrl, Url, only_here, opened
from .options import Home, Json, run, settings_at
from .screen import Screen

WORKER_EXAMPLES = "Example: EZRA_MONGODB_URI=mongodb://db/ ezra worker"
INDEX_EXAMPLES = "Example: EZRA_MONGODB_URI=mongodb+srv://… ezra search-index"


def worker(home: Home = None, url: NoUrl = None, json: Json = False) -> None:
    """Run the meta-agents until stopped: learning, compression, re-embedding.

    For a fleet on servers whose agents run elsewhere. Several workers may run at once: leases
    decide which of them does what. Stops cleanly on SIGTERM and SIGINT.
    """
    only_here("worker", url)
    screen = Screen()

    async def work() -> None:
        stopped = asyncio.Event()
        loop = asyncio.get_running_loop()
        for name in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(name, stopped.set)
        settings = settings_at(home).model_copy(update={"background": True})
        async with Ezra.open(settings) as ezra:
            started = {"tenant": settings.tenant, "embedder": ezra.embedder}
            if json:
                screen.document(started)
            else:
                screen.line(f"working for tenant {settings.tenant!r}; stop with Ctrl-C")
            await stopped.wait()
            screen.note("stopping; what was claimed and not finished is given back")

    run(work())


def search_index(home: Home = None, url: Url = None, json: Json = False) -> None:
    """Let Atlas find archival facts by meaning: make or check its indexes and fill them.

    Waits until they answer. Once is enough: every fact that comes later gets its vector in the
    background. A MongoDB without search needs none of this, the warm tier answers.
    """
    screen = Screen()

    async def work() -> None:
        async with opened(home, url, background=True) as ezra:
            # A server tells of an index when it is there, and not before.
            is_told = isinstance(ezra, Ezra) and not json
            told = (lambda name, state: screen.note(f"{name}: {state}")) if is_told else None
            way = await ezra.ensure_archival_index(told)
            if json:
                screen.document({"archival_recall": way})
            else:
                screen.line(f"archival facts are recalled by {way}")

    run(work())
