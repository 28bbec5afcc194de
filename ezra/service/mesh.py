"""Does what is asked of live sources."""

from __future__ import annotations

from collections.abc import Mapping

from tiers.records import MeshResult

from ..mesh import SourceAbout
from ..wire import Nothing
from ..wire import mesh as wire
from .acting import acting
from .caller import Caller
from .desk import Desk
from .handlers import handlers

Names = Mapping[str, str]


@handlers.does(wire.SOURCES)
async def sources(desk: Desk, _: Caller, __: Names, ___: Nothing) -> tuple[SourceAbout, ...]:
    """Return every live source."""
    return await desk.ezra.mesh_sources()


@handlers.does(wire.AGENT_SOURCES)
async def agent_sources(
    desk: Desk, caller: Caller, names: Names, _: Nothing
) -> tuple[SourceAbout, ...]:
    """Return the live sources that an agent may ask."""
    return await (await acting(desk, caller, names)).mesh_sources()


@handlers.does(wire.ASK_MESH)
async def ask_mesh(
    desk: Desk, caller: Caller, names: Names, asked: wire.AskMeshAsked
) -> MeshResult:
    """Ask a live source as an agent."""
    return await (await acting(desk, caller, names)).ask_mesh(**asked.said)
