"""One runtime behind either door for the tests of a file; a graph of its own for each of them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from support.runtime import MovingClock, running
from support.service import DOORS, serving

from ezra import Ezra


class House:
    """A runtime, and what has its methods behind the door that was chosen.

    Attributes:
        behind: The runtime itself.
        runtime: Itself, or a client of a server over it.
        clock: Its time.
    """

    def __init__(self, behind: Ezra, runtime: Any, clock: MovingClock) -> None:
        self.behind, self.runtime, self.clock = behind, runtime, clock
        self._graphs = 0

    async def agent(self, graph_id: str | None = None, name: str = "one", **given: Any) -> Any:
        """Return an agent about tyres, of a new graph or of one that is there."""
        if graph_id is not None:
            graph = await self.runtime.session_graph(graph_id)
        else:
            self._graphs += 1
            graph = await self.runtime.create_session_graph(f"graph-{self._graphs}")
        return await graph.spawn_agent(name, **{"topics": {"tyres"}, **given})


@asynccontextmanager
async def house(home: Path, door: str, **settings: object) -> AsyncIterator[House]:
    """Open a runtime on a folder, through one of ``support.service.DOORS``."""
    clock = MovingClock()
    async with AsyncExitStack() as stack:
        behind = await stack.enter_async_context(running(home, clock, **settings))
        runtime: Any = behind
        if door == "remote":
            url = await stack.enter_async_context(serving(behind))
            runtime = await stack.enter_async_context(Ezra.connect(url))
        yield House(behind, runtime, clock)


def house_for_a_file() -> Any:
    """Return a fixture: a runtime behind each door, for all tests of a file."""

    @pytest_asyncio.fixture(scope="module", loop_scope="module", params=DOORS)
    async def found(
        request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
    ) -> AsyncIterator[House]:
        async with house(tmp_path_factory.mktemp("home"), request.param) as opened:
            yield opened

    return found
