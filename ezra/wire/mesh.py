"""Live sources: which there are, which an agent may ask, and asking one.

What is asked travels in a body. Addresses are for ids: proxies log them.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, StringConstraints, TypeAdapter

from tiers.records import NAME_CHARS_MAX, TEXT_CHARS_MAX, MeshResult

from ..mesh import SourceAbout
from ..mesh.ask import SLOTS_MAX, Given
from .agents import AGENT
from .operation import Asked, Nothing, Operation
from .points import Time

SlotName = Annotated[str, StringConstraints(max_length=NAME_CHARS_MAX)]


class AskMeshAsked(Asked):
    """As ``Agent.ask_mesh``."""

    source: str
    question: str | None = None
    slots: dict[SlotName, Given] | None = Field(default=None, max_length=SLOTS_MAX)
    as_of: Time | None = None
    message: Annotated[str, StringConstraints(max_length=TEXT_CHARS_MAX)] | None = None


_SOURCES = TypeAdapter(tuple[SourceAbout, ...])

SOURCES = Operation(
    "mesh.sources",
    "GET",
    "/v1/mesh",
    Nothing,
    _SOURCES,
    "read",
    "Every live source with what it may be asked, and by whom.",
)
AGENT_SOURCES = Operation(
    "agent.mesh_sources",
    "GET",
    f"{AGENT}/mesh",
    Nothing,
    _SOURCES,
    "see",
    "The live sources that an agent may ask.",
)
ASK_MESH = Operation(
    "agent.ask_mesh",
    "POST",
    f"{AGENT}/mesh",
    AskMeshAsked,
    TypeAdapter(MeshResult),
    "act",
    "Ask a live source now, and keep the answer for the agent's next context.",
    repeats=False,  # whoever asks decides whether to ask others' systems again
)

OPERATIONS: tuple[Operation[Any, Any], ...] = (SOURCES, AGENT_SOURCES, ASK_MESH)
