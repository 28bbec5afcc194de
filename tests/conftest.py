"""What holds for every test."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator
from functools import cache

import hypothesis
import pytest
import typer.testing
from qdrant_client.embed import type_inspector
from support.collected import note
from support.processes import succeeded
from support.ready_models import ready_model
from support.ready_tables import prepare_from_ready
from support.session import SESSION
from support.slow_run import is_left_to_the_slow_run
from support.warm_command import warm_python

from tiers.cold.sqlite import records
from tiers.embedding import onnx_embedder

# A busy machine may pause for longer than a tier may take in production. Such an answer lacks a
# tier and says so, which is right, and not what a test of rankings is about. Tests of deadlines
# set their own.
os.environ.setdefault("EZRA_STEP_TIMEOUT_SECONDS", "30")

# A run makes millions of short-lived objects around a million that stay: looked through for garbage
# as often as Python does by itself, they cost more than they hold.
gc.set_threshold(10_000, 20, 20)

# How long one example takes says how busy the machine is, not whether the code is right.
hypothesis.settings.register_profile(
    "ezra", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("ezra")


@pytest.fixture(scope="session", autouse=True)
def _shared() -> Iterator[None]:
    """Close what tests share when the last one has run.

    That is also the command line that runs in this process: making all its commands takes longer
    than most of them do, so a runner makes those of an app once. And a client of Qdrant copies what
    it knows of its models' fields, which takes longer than opening the rest of a runtime. So does
    making the tables of a new database, and loading the embedding model.
    """
    with SESSION, pytest.MonkeyPatch.context() as patched:
        patched.setattr(typer.testing, "_get_command", cache(typer.testing._get_command))
        parser = cache(type_inspector.ModelSchemaParser)
        patched.setattr(type_inspector, "ModelSchemaParser", parser)
        patched.setattr(records, "prepare", prepare_from_ready)
        patched.setattr(onnx_embedder, "SentenceModel", ready_model)
        yield


@pytest.fixture
def forked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Processes of ezra start where it is imported already: what comes of them is asked."""
    succeeded(warm_python(), "-c", "")  # from here on it is, so that no limit counts the imports
    monkeypatch.setattr(sys, "executable", str(warm_python()))


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Iterator[None]:
    """Never look through what is collected for garbage: a million objects that stay to the end."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(wrapper=True, tryfirst=True, specname="pytest_collection_modifyitems")
def pytest_note_collected(config: pytest.Config, items: list[pytest.Item]) -> Iterator[None]:
    """Keep how all are marked, before some are left out for it."""
    found = [*items]
    yield
    note(config.args, found)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what is left to the slow run, and what runs on a live server or provider.

    Only the environment adds these to a table.
    """
    for item in items:
        spec = getattr(item, "callspec", None)
        names = [str(getattr(value, "name", "")) for value in spec.params.values()] if spec else []
        if any(name.split()[-1:] == ["live"] or name.endswith("-live") for name in names):
            item.add_marker(pytest.mark.live)
        if is_left_to_the_slow_run(item.path, names):
            item.add_marker(pytest.mark.slow)
