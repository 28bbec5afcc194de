"""``Ezra.open(model=…)``: whatever a caller's own model raises or answers, what asks it goes on."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel
from support.mesh_sources import mesh_file, shop_at, stock

from ezra import Ezra, Settings
from ezra.evaluation.speed.vectors import BagOfWords


class Completing:
    """Answers in text, and knows of nothing else."""

    name = "mine"

    async def complete(self, messages: Sequence[dict[str, str]]) -> str:
        """Answer."""
        del messages
        return "Noted."


class Filling(Completing):
    """Answers with whatever a function of the schema says."""

    def __init__(self, answer: Callable[[type[BaseModel]], Any]) -> None:
        self.answer = answer

    async def generate(self, messages: Sequence[dict[str, str]], schema: type[BaseModel]) -> Any:
        """Return what the function says."""
        del messages
        return self.answer(schema)


class Plain(Completing):
    """Is no coroutine function."""

    def generate(self, *asked: Any) -> Any:
        """Fail before there is anything to await."""
        raise ValueError(len(asked))


def _failed(schema: type[BaseModel]) -> None:
    raise OSError(f"connection refused for {schema.__name__}")


@pytest.mark.parametrize(
    "model",
    [
        pytest.param(Completing(), id="text only"),
        pytest.param(Plain(), id="not async"),
        pytest.param(Filling(_failed), id="raises"),
        pytest.param(Filling(lambda _: None), id="nothing"),
        pytest.param(Filling(lambda _: {"verdicts": [], "question": ""}), id="a dict"),
        pytest.param(Filling(lambda schema: schema.model_construct()), id="empty"),
        pytest.param(
            Filling(lambda schema: schema.model_construct(verdicts=5, question=5, slots=[1])),
            id="unlike its schema",
        ),
    ],
)
async def test_the_rules_do_what_a_model_of_ones_own_cannot(
    tmp_path: Path, model: Completing
) -> None:
    """Learning, the judge of contradictions, and the choice of a question for live data."""
    settings = Settings(
        home=tmp_path / "home",
        embedder="off",
        background=False,
        judge="llm",
        contradiction_similarity=0.01,
        mesh_file=mesh_file(tmp_path / "mesh.yaml", stock=stock(shop_at(tmp_path / "shop.db"))),
    )
    async with Ezra.open(settings, model=model, embedder=BagOfWords()) as ezra:
        graph = await ezra.create_session_graph("imola")
        agent = await graph.spawn_agent("one")
        await agent.commit("The wing of the car is painted red.")
        await agent.commit("The wing of the car was built in May.")
        assert len(await agent.beliefs()) == 2
        turn = await agent.turn("Do we have any of A1? I am allergic to nuts.", mesh="stock")
        assert "mesh" not in turn.degraded
        assert any("no question fits" in one for one in turn.skipped)
        await turn.reply("Some.")
        report = await ezra.drain_learning()
        assert report.completed["extract"] == 1
        assert not report.failed
        assert any("allergic to nuts" in one.text for one in (await graph.latest_facts()).rows)


class AtOnce:
    """Answers without being awaited, and notes in which threads."""

    name = "mine"

    def __init__(self) -> None:
        self.threads: set[int] = set()

    def complete(self, messages: Sequence[dict[str, str]]) -> str:
        """Answer."""
        self.threads.add(threading.get_ident())
        return f"Heard: {messages[-1]['content']}"


async def test_a_model_that_is_not_async_answers_beside_the_event_loop(tmp_path: Path) -> None:
    """As many clients of models are."""
    model = AtOnce()
    settings = Settings(home=tmp_path, embedder="off")
    async with Ezra.open(settings, model=model) as ezra:  # type: ignore[arg-type]
        agent = await (await ezra.create_session_graph("imola")).spawn_agent("keeper")
        done = await agent.complete("Box now.")
        assert done.response == "Heard: Box now."
    assert threading.get_ident() not in model.threads
