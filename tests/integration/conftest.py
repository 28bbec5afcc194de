"""What integration tests share: where tiers are, servers of a file, and a memory to move."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from support.held import held
from support.model_http import ModelServer, running_model_server
from support.model_providers import PROVIDERS, Make, embedder_at, model_at
from support.mongo_deployments import Deployment, Opener, deployed
from support.moves import shared_inventory, shared_source
from support.qdrant_shim import running_shim
from support.servers import placed

from tiers.cold.mongo import mongo_cold_store


@pytest.fixture(params=("embedded", "servers"))
def tiers(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Where the tiers are; settings take it from the environment."""
    yield from placed(request.param, monkeypatch)


deployment = held(deployed, "module")
"""A MongoDB with transactions, for all tests of a file."""


@pytest.fixture(scope="module", params=("pymongo", "motor"))
def by_driver(request: pytest.FixtureRequest) -> Iterator[Deployment]:
    """A MongoDB for the tests of a file that do it no harm, for each of the drivers."""
    with deployed(request.param) as found:
        yield found


@pytest.fixture
def opener(by_driver: Deployment) -> Opener:
    """Opens one database of its own, as often as it is called."""
    server, name = by_driver.server, by_driver.server.fresh_database()
    return partial(mongo_cold_store, server.uri, database=name, driver=by_driver.driver)


shim = held(running_shim, "module")
"""A stand-in for Qdrant, for the tests of a file, which may hurt it."""


# Providers of models.


running = held(running_model_server, "module")
"""One server of models for all tests of a file."""


@pytest.fixture
def server(running: ModelServer) -> ModelServer:
    """The server of models, in order and with nothing left over from the test before."""
    running.reset()
    return running


@pytest.fixture(params=PROVIDERS)
def provider(request: pytest.FixtureRequest) -> str:
    """Each provider."""
    return str(request.param)


@pytest.fixture
def embedder(provider: str, server: ModelServer) -> Make:
    """What makes a closed embedder of 256 dimensions at the server."""
    return partial(embedder_at, server, provider)


@pytest.fixture
def model(provider: str, server: ModelServer) -> Make:
    """What makes a closed language model at the server."""
    return partial(model_at, server, provider)


# Moving a memory.


@pytest.fixture(scope="module")
def source() -> Path:
    """A memory of two tenants, which moves only read."""
    return shared_source()


@pytest.fixture(scope="module")
def expected() -> dict[str, Any]:
    """What that memory holds, and has to hold after every test."""
    return shared_inventory()


@pytest.fixture
def target(tmp_path: Path) -> Path:
    """A folder that does not exist yet."""
    return tmp_path / "target"


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    """A ledger that does not exist yet."""
    return tmp_path / "ledger.json"
