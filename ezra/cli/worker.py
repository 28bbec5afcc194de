"""The commands of who runs a fleet on servers: the meta-agents, and an index to be made once."""

from __future__ import annotations

from .command import Answer
from .doors import Folder, Memory
from .options import settings_at, stopped_by_signals
from .screen import Screen


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
