"""One runtime through either door: in process, or over HTTP from a real server."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from support.runtime import MovingClock, running
from support.service import DOORS, serving

from ezra import Ezra
from ezra.service.tokens import TokenFile


@pytest.fixture(params=DOORS)
def door(request: pytest.FixtureRequest) -> str:
    """Each way to a runtime, by name."""
    name: str = request.param
    return name


@pytest.fixture
def clock() -> MovingClock:
    """The time of the runtime, which moves only when a test moves it."""
    return MovingClock()


@pytest.fixture
async def behind(tmp_path: Path, clock: MovingClock) -> AsyncIterator[Ezra]:
    """The runtime itself, whichever door a test goes through."""
    async with running(tmp_path / "home", clock) as ezra:
        yield ezra


@pytest.fixture
async def runtime(door: str, behind: Ezra) -> AsyncIterator[Any]:
    """What has the methods of ``Ezra``: itself, or a client of a server over it."""
    if door == "in process":
        yield behind
        return
    async with serving(behind) as url, Ezra.connect(url) as remote:
        yield remote


@pytest.fixture
def tokens(tmp_path: Path, clock: MovingClock) -> TokenFile:
    """A file of tokens that is not there yet."""
    return TokenFile(tmp_path / "tokens.json", clock)
