"""Does what is asked of lifecycle, learning, queued work, redaction and the signing key."""

from __future__ import annotations

from collections.abc import Mapping

from metaagents.lifecycle.reports import LifecycleReport
from metaagents.reindex.agent import ReembedReport
from metaagents.reindex.rules import Reembedding
from metaagents.work import WorkReport
from tiers.records import Work

from ..erasure.redaction import RedactionReport
from ..mesh import SourceAbout
from ..moving.graph_status import Health
from ..wire import Nothing
from ..wire import upkeep as wire
from ..wire.upkeep import (
    EraseAsked,
    RerunAsked,
)
from .caller import Caller
from .desk import Desk
from .handlers import handlers

Names = Mapping[str, str]


@handlers.does(wire.TICK)
async def tick(desk: Desk, _: Caller, names: Names, __: Nothing) -> LifecycleReport:
    """Run the lifecycle of a graph now."""
    return await desk.ezra.run_lifecycle_tick(names["graph_id"])


@handlers.does(wire.LEARN)
async def learn(desk: Desk, _: Caller, __: Names, ___: Nothing) -> WorkReport:
    """Finish all learning that is due."""
    return await desk.ezra.drain_learning()


@handlers.does(wire.SOURCES)
async def sources(desk: Desk, _: Caller, __: Names, ___: Nothing) -> tuple[SourceAbout, ...]:
    """Return every live source."""
    return await desk.ezra.mesh_sources()


@handlers.does(wire.REEMBEDDING)
async def reembedding(desk: Desk, _: Caller, __: Names, ___: Nothing) -> Reembedding | None:
    """Return how far re-embedding has come."""
    return desk.ezra.reembedding


@handlers.does(wire.REEMBED)
async def reembed(desk: Desk, _: Caller, __: Names, ___: Nothing) -> ReembedReport:
    """Finish re-embedding now."""
    return await desk.ezra.reembed()


@handlers.does(wire.ARCHIVAL_INDEX)
async def archival_index(desk: Desk, _: Caller, __: Names, ___: Nothing) -> str:
    """Make or check the cold tier's vector index."""
    return await desk.ezra.ensure_archival_index()


@handlers.does(wire.HEALTH)
async def health(desk: Desk, _: Caller, __: Names, ___: Nothing) -> Health:
    """Return whether each tier answers."""
    return await desk.ezra.health()


@handlers.does(wire.METRICS)
async def metrics(desk: Desk, _: Caller, __: Names, ___: Nothing) -> str:
    """Return the numbers."""
    return await desk.ezra.metrics()


@handlers.does(wire.WAITING)
async def waiting(desk: Desk, _: Caller, __: Names, ___: Nothing) -> dict[str, int]:
    """Return how much work waits."""
    return await desk.ezra.waiting_work()


@handlers.does(wire.PARKED)
async def parked(desk: Desk, _: Caller, __: Names, ___: Nothing) -> tuple[Work, ...]:
    """Return work that failed too often."""
    return await desk.ezra.parked_work()


@handlers.does(wire.RERUN)
async def rerun(desk: Desk, _: Caller, __: Names, asked: RerunAsked) -> int:
    """Try parked work again."""
    return await desk.ezra.rerun_work(asked.work_ids)


@handlers.does(wire.ERASE)
async def erase(desk: Desk, _: Caller, __: Names, asked: EraseAsked) -> dict[str, RedactionReport]:
    """Erase a subject or a user from the tenant."""
    return await desk.ezra.erase(**asked.said)


@handlers.does(wire.PUBLIC_KEY)
async def public_key(desk: Desk, _: Caller, __: Names, ___: Nothing) -> str:
    """Return the public signing key."""
    return await desk.ezra.public_key()


@handlers.does(wire.ROTATE_KEY)
async def rotate_key(desk: Desk, _: Caller, __: Names, ___: Nothing) -> str:
    """Make a new signing key."""
    return await desk.ezra.rotate_key()
