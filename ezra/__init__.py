"""ezra: the memory runtime under fleets of AI agents.

    async with Ezra.open() as ezra:
        graph = await ezra.create_session_graph("race-weekend")
        agent = await graph.spawn_agent("strategist", topics={"tyres"})
        await agent.remember("Mediums last about 18 laps.", topics={"tyres"})
        hits = await agent.recall("medium tyre life")

Everything people need is exported here; all other modules may change. It is loaded when it is first
asked for: hooks of coding agents import a small part of the package, and have no second to wait.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .public import *  # noqa: F403 - the list is there

_PUBLIC = ".public"


def __getattr__(name: str) -> Any:  # noqa: ANN401 - whatever has that name
    if name.startswith("__") and name != "__all__":
        raise AttributeError(name)
    public = import_module(_PUBLIC, __name__)
    if name != "__all__" and name not in public.__all__:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    return getattr(public, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *import_module(_PUBLIC, __name__).__all__})
