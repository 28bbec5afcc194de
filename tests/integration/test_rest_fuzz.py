"""The REST surface is asked whatever its own OpenAPI document allows, and what it forbids.

Whatever comes, the service does not fail, answers as its document says, and shows nobody what
another graph holds.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import hypothesis
import pytest
import requests
import schemathesis
from hypothesis import strategies as st
from schemathesis import Case, GenerationMode
from schemathesis.checks import CHECKS, load_all_checks
from schemathesis.core.failures import Failure, FailureGroup
from support.service import serving

from ezra import Ezra, Settings
from ezra.service.routes import handlers
from ezra.service.tokens import TokenFile

T = TypeVar("T")

HIDDEN = "zebra-quagga-okapi"
WITHOUT = frozenset({"audit.feed"})
"""Has no end."""

REJECTED = frozenset({"archival_index.ensure"})
"""The embedded cold tier has no such index, and says so."""


CHECKED = ("not_a_server_error", "status_code_conformance", "content_type_conformance")


POSITIVE = (GenerationMode.POSITIVE,)
ANSWERS = {operation.name: operation.answers for operation, _ in handlers}


class World:
    """A service in a thread, with a graph of its own for every operation that is tried.

    Attributes:
        url: Where it is.
        operator: Who may do everything.
        agent: Who may act in graphs called ``open``, and know nothing of others.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, ezra: Ezra, url: str) -> None:
        self.url = url
        self.operator: dict[str, str] = {}
        self.agent: dict[str, str] = {}
        self._loop = loop
        self._ezra = ezra

    def names(self, graph_id: str) -> dict[str, str]:
        """Make a graph in which something happened; return the names of what is there."""
        return self._run(self._made(graph_id, "The mediums last eighteen laps."))

    def hide(self) -> None:
        """Keep the secret in a graph that the agent's token does not reach."""
        self._run(self._made("hidden", f"The code is {HIDDEN}."))

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(30)

    async def _made(self, graph_id: str, text: str) -> dict[str, str]:
        graph = await self._ezra.create_session_graph(graph_id)
        agent = await graph.spawn_agent("strategist", topics={"tyres"})
        turn = await agent.turn(text, topics={"tyres"})
        await turn.reply(text)
        fact_id = await agent.remember(text, topics={"tyres"}, shared=True)
        belief = await agent.commit(text, topic="tyres")
        return {
            "graph_id": graph_id,
            "agent_id": "strategist",
            "turn_id": turn.id,
            "fact_id": fact_id,
            "record_id": fact_id,
            "belief_id": belief.id,
            "receipt_id": turn.receipt_id or "none",
        }


@contextmanager
def world(home: Path) -> Iterator[World]:
    """Run a service in a thread of its own: schemathesis asks over a real connection."""
    made: list[World] = []
    ready, over = threading.Event(), threading.Event()

    async def work() -> None:
        settings = Settings(home=home, embedder="off", background=False)
        tokens = TokenFile(home / "tokens.json")
        _, operator = tokens.create("operator", "operator", expires_at=None)
        _, agent = tokens.create("agent", "agent", graph_id="open", expires_at=None)
        async with Ezra.open(settings) as ezra, serving(ezra, tokens=tokens) as url:
            found = World(asyncio.get_running_loop(), ezra, url)
            found.operator = {"authorization": f"Bearer {operator}"}
            found.agent = {"authorization": f"Bearer {agent}"}
            made.append(found)
            ready.set()
            await asyncio.to_thread(over.wait)

    thread = threading.Thread(target=lambda: asyncio.run(work()), name="fuzzed")
    thread.start()
    try:
        assert ready.wait(30)
        yield made[0]
    finally:
        over.set()
        thread.join(60)


def fuzz(home: Path, examples: int) -> None:
    """Ask every operation so often, as its document says and as it forbids."""
    load_all_checks()
    with world(home) as there, requests.Session() as session:
        there.hide()
        opened = there.names("open")
        document = session.get(f"{there.url}/openapi.json", timeout=30).json()
        config = schemathesis.Config()
        config.projects.default.generation.update(with_security_parameters=False)
        schema = schemathesis.openapi.from_dict(document, config=config)
        operations = [found.ok() for found in schema.get_all_operations()]
        assert len(operations) > 80
        failures: list[str] = []
        for number, operation in enumerate(operations):
            name = operation.definition.raw["operationId"]
            if name in WITHOUT:
                continue
            own = opened if operation.method == "get" else there.names(f"g{number}")
            # What asks nothing but names forbids nothing: drawing for it would only take time.
            for mode in GenerationMode if _asks(operation.definition.raw) else POSITIVE:
                cases = operation.as_strategy(generation_mode=mode)
                asking = _asking(there, session, name, own, opened)
                run = hypothesis.given(case=cases, knows=st.sampled_from("yn"))(asking)
                try:
                    _seldom(examples)(run)()
                except (AssertionError, FailureGroup, Failure) as failure:
                    failures.append(f"{name}, {mode.value}: {failure}")
        assert not failures, "\n\n".join(failures)


def _asks(raw: dict[str, Any]) -> bool:
    places = {one["in"] for one in raw.get("parameters", ())}
    return "requestBody" in raw or "query" in places


def _seldom(examples: int) -> hypothesis.settings:
    return hypothesis.settings(
        max_examples=examples,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[hypothesis.Phase.generate],
        suppress_health_check=list(hypothesis.HealthCheck),
    )


def _asking(
    there: World, session: requests.Session, name: str, own: dict[str, str], opened: dict[str, str]
) -> Callable[[Case, str], None]:
    """Return what asks one operation, as somebody who may do all and as somebody who may not."""
    checks = [
        one
        for one in CHECKS.get_by_names(CHECKED)
        if name not in REJECTED or one.__name__ != "not_a_server_error"
    ]

    def ask(case: Case, knows: str) -> None:
        is_known = knows == "y"
        if is_known:
            case.path_parameters = _named(case, own)
            case.headers.pop("Idempotency-Key", None)  # of drawn keys many are alike
        answer = case.call(base_url=there.url, session=session, headers=there.operator)
        case.validate_response(answer, checks=checks)
        assert answer.headers["x-content-type-options"] == ["nosniff"]
        if answer.status_code == 200 and name in ANSWERS:
            # Instead of schemathesis, which trips over its own rewriting of tuples.
            ANSWERS[name].validate_json(answer.content)
        if is_known:
            case.path_parameters = _named(case, opened)
        answer = case.call(base_url=there.url, session=session, headers=there.agent)
        case.validate_response(answer, checks=checks)
        assert HIDDEN not in answer.text

    return ask


def _named(case: Case, names: dict[str, str]) -> dict[str, str]:
    return {name: names.get(name, "none") for name in case.path_parameters or {}}


def test_no_request_makes_the_service_fail(tmp_path: Path) -> None:
    """A few requests to every operation, always the same ones."""
    fuzz(tmp_path / "home", examples=2)


@pytest.mark.slow
@pytest.mark.timeout(1_800)
def test_no_request_makes_the_service_fail_at_length(tmp_path: Path) -> None:
    """Many requests to every operation."""
    fuzz(tmp_path / "home", examples=60)
