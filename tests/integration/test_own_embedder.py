"""``Ezra.open(embedder=…)``: vectors from whatever the caller has."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ezra import Ezra, Settings
from ezra.evaluation.speed.vectors import DIMENSIONS, BagOfWords


class Counting(BagOfWords):
    """Counts what it is asked."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.queries: list[str] = []

    async def embed(
        self, texts: object, *, urgent: bool = False, query: bool = False
    ) -> tuple[tuple[float, ...], ...]:
        """Embed by words, and note what was asked."""
        assert isinstance(texts, list | tuple)
        (self.queries if query else self.texts).extend(texts)
        return await super().embed(texts, urgent=urgent, query=query)


async def test_an_embedder_of_ones_own_takes_the_place_of_the_settings(tmp_path: Path) -> None:
    """It embeds what is indexed and what is asked; another of its name finds the same."""
    settings = Settings(home=tmp_path, embedder="off")
    mine = Counting()
    async with Ezra.open(settings, embedder=mine) as ezra:
        assert ezra.embedder == f"bag-of-words/{DIMENSIONS}"
        graph = await ezra.create_session_graph("imola")
        agent = await graph.spawn_agent("keeper")
        await (await agent.turn("A narwhal was seen off the coast.")).reply("By whom?")
        await ezra.drain_learning()
        found = await agent.recall("narwhal")
        assert found.items[0].kind == "turn"
        assert found.degraded == ()
    assert any("narwhal" in text for text in mine.texts)
    assert mine.queries
    async with Ezra.open(settings, embedder=Counting()) as ezra:
        graph = await ezra.session_graph("imola")
        (again, *_) = (await graph.recall("narwhal")).items
        assert again.id == found.items[0].id


async def test_without_it_the_words_remain(tmp_path: Path) -> None:
    """What was indexed by an embedder that is gone is found by its words, and that is said."""
    settings = Settings(home=tmp_path, embedder="off")
    async with Ezra.open(settings, embedder=BagOfWords()) as ezra:
        graph = await ezra.create_session_graph("imola")
        agent = await graph.spawn_agent("keeper")
        await agent.remember("A narwhal was seen off the coast.")
        await ezra.drain_learning()
    async with Ezra.open(settings) as ezra:
        found = await (await ezra.session_graph("imola")).recall("narwhal")
        assert found.items[0].text.startswith("A narwhal")
        assert "dense" in found.degraded


class Bare(BagOfWords):
    """Answers with whatever a function of the texts says, as somebody's own code may."""

    def __init__(self, answer: Callable[[Sequence[str]], Any]) -> None:
        super().__init__()
        self.answer = answer

    async def embed(
        self, texts: Sequence[str], *, urgent: bool = False, query: bool = False
    ) -> Any:
        """Return what the function says."""
        del urgent, query
        return self.answer(texts)


def _refused(texts: Sequence[str]) -> None:
    raise OSError("connection refused")


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(_refused, id="raises"),
        pytest.param(lambda _: None, id="nothing"),
        pytest.param(lambda texts: [(1.0, 0.0)] * len(texts), id="short"),
        pytest.param(lambda texts: [(float("nan"),) * DIMENSIONS] * len(texts), id="not a number"),
        pytest.param(lambda texts: [(1.0,) * DIMENSIONS] * (len(texts) - 1), id="too few"),
        pytest.param(lambda texts: ["x" * DIMENSIONS] * len(texts), id="text"),
    ],
)
async def test_one_that_fails_leaves_words_and_what_waits_is_tried_again(
    tmp_path: Path, answer: Callable[[Sequence[str]], Any]
) -> None:
    """Turns, recall and commits go on without meaning and say so; other work is done."""
    settings = Settings(home=tmp_path, embedder="off", background=False)
    async with Ezra.open(settings, embedder=Bare(answer)) as ezra:
        graph = await ezra.create_session_graph("imola")
        agent = await graph.spawn_agent("keeper")
        await agent.remember("A narwhal was seen off the coast.")
        turn = await agent.turn("Where was the narwhal? I am allergic to peanuts.")
        await turn.reply("Off the coast.")
        assert "dense" in turn.degraded
        found = await agent.recall("narwhal")
        assert found.items[0].text.startswith("A narwhal")
        assert "dense" in found.degraded
        await agent.commit("The coast is clear.")
        await agent.commit("The coast is not clear.")
        assert [one.claim for one in await agent.beliefs()] == ["The coast is not clear."]
        report = await ezra.drain_learning()
        assert report.completed["extract"] == 1
        assert report.failed["index"]
        assert all("bag-of-words" in problem for problem in report.problems)
        facts = (await graph.latest_facts()).rows
        assert any("peanuts" in one.text for one in facts)
    async with Ezra.open(settings, embedder=BagOfWords()) as ezra:
        again = await (await ezra.session_graph("imola")).recall("narwhal")
        assert again.degraded == ()


async def test_rows_of_an_array_of_any_length_are_taken(tmp_path: Path) -> None:
    """What a library of models returns, an array of rows that are no unit vectors, is as good."""

    def rows(texts: Sequence[str]) -> Any:
        return np.array([[3.0, 4.0, *[0.0] * (DIMENSIONS - 2)]] * len(texts), dtype=np.float32)

    settings = Settings(home=tmp_path, embedder="off", background=False)
    async with Ezra.open(settings, embedder=Bare(rows)) as ezra:
        graph = await ezra.create_session_graph("imola")
        agent = await graph.spawn_agent("keeper")
        await agent.remember("A narwhal was seen off the coast.")
        await ezra.drain_learning()
        found = await agent.recall("a whale with a tusk", explain=True)
        assert [hit.text for hit in found.items] == ["A narwhal was seen off the coast."]
        assert found.reasons[found.items[0].id].cosine == pytest.approx(1.0, abs=1e-3)
        assert found.degraded == ()


class Plain:
    """Takes texts and nothing else, at once."""

    model_id = "plain"
    dimensions = DIMENSIONS

    def __init__(self) -> None:
        self.threads: set[int] = set()

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Return a row for each text, by its letters."""
        self.threads.add(threading.get_ident())
        return [
            [float(text.lower().count(chr(97 + place % 26))) for place in range(DIMENSIONS)]
            for text in texts
        ]


class PlainAsync(Plain):
    """The same, to be awaited."""

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:  # type: ignore[override]
        """Return a row for each text."""
        return super().embed(texts)


@pytest.mark.parametrize("mine", [Plain(), PlainAsync()])
async def test_an_embedder_may_take_texts_alone_and_need_not_be_async(
    tmp_path: Path, mine: Plain
) -> None:
    """What is not async does not hold the event loop."""
    async with Ezra.open(Settings(home=tmp_path), embedder=mine) as ezra:  # type: ignore[arg-type]
        agent = await (await ezra.create_session_graph("imola")).spawn_agent("keeper")
        await agent.remember("A narwhal was seen off the coast.")
        await ezra.drain_learning()
        found = await agent.recall("narwhals on coasts", mode="semantic")
        assert [hit.text for hit in found.items] == ["A narwhal was seen off the coast."]
        assert found.degraded == ()
    assert (threading.get_ident() in mine.threads) == isinstance(mine, PlainAsync)
