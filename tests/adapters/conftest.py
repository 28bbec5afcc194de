"""One runtime behind each door, for the adapters' tests."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from support.service import DOORS
from support.two_doors import House, house


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=DOORS)
async def home(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[House]:
    """One runtime behind each door, for all tests of this file."""
    async with house(tmp_path_factory.mktemp("home"), request.param) as opened:
        yield opened
