"""``Ezra.open(embedder=…)``: vectors from whatever the caller has."""

from __future__ import annotations

from pathlib import Path

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
