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
    from .public import *  # noqa: F403 - what is there


def _public() -> dict[str, Any]:
    """Return what people need, by name."""
    return {
        name: one
        for name, one in vars(import_module(".public", __name__)).items()
        if not name.startswith("_")
    }


def __getattr__(name: str) -> Any:  # noqa: ANN401 - whatever has that name
    if name == "__all__":
        return sorted(_public())
    if name.startswith("__") or name not in (public := _public()):
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    return public[name]


def __dir__() -> list[str]:
    return sorted({*globals(), *_public()})
