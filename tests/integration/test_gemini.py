"""What is Gemini's alone: batches, task types, thoughts; and, with a key, Gemini itself."""

from __future__ import annotations

import asyncio
import os
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest
from support.model_http import GEMINI_PATHS, KEY, ModelServer, gemini_says
from support.model_providers import Verdict, question

from ezra.models import GeminiModel
from ezra.recaller import Degradation, Recaller
from tiers.embedding.gemini_embedder import GeminiEmbedder
from tiers.records import Hit

LIVE_KEY = os.environ.get("EZRA_TEST_GEMINI_KEY", "")


@pytest.mark.parametrize(("dimensions", "count"), [(128, 260), (768, 200), (3072, 60)])
async def test_requests_stay_small_enough_to_read(
    server: ModelServer, dimensions: int, count: int
) -> None:
    """At most 100 texts and 24,576 numbers for Gemini; every text is asked for once."""
    texts, each = [f"text {n}" for n in range(count)], count // 5
    async with GeminiEmbedder(KEY, base_url=server.url, dimensions=dimensions) as embedder:
        calls = [embedder.embed(texts[start : start + each]) for start in range(0, count, each)]
        await asyncio.gather(*calls)
    sizes = [len(batch) for batch in server.embedded]
    assert max(sizes) <= min(100, 24_576 // dimensions)
    assert sorted(text for batch in server.embedded for text in batch) == sorted(texts)


async def test_questions_and_other_texts_are_told_apart(server: ModelServer) -> None:
    """Gemini gets one task type per request, and the same text in both uses has two vectors."""
    async with GeminiEmbedder(KEY, base_url=server.url, dimensions=128) as embedder:
        calls = [embedder.embed(["same", f"{n}"], query=n % 2 == 0) for n in range(6)]
        answers = await asyncio.gather(*calls)
    assert answers[0][0] != answers[1][0]
    assert {answer[0] for answer in answers[::2]} == {answers[0][0]}
    for seen in server.seen:
        uses = {asked["taskType"] for asked in seen.body["requests"]}
        numbers = {asked["content"]["parts"][0]["text"] for asked in seen.body["requests"]}
        assert uses == {"RETRIEVAL_QUERY"} if "0" in numbers else {"RETRIEVAL_DOCUMENT"}
    assert len(server.seen) == 2


async def test_later_gemini_models_get_prefixes_and_one_content_each(server: ModelServer) -> None:
    """They take no task type, and of a plain list of strings they make a single vector."""
    opening = GeminiEmbedder(KEY, "gemini-embedding-2", base_url=server.url, dimensions=128)
    async with opening as embedder:
        assert len(await embedder.embed(["a", "b"])) == 2
        assert len(await embedder.embed(["a", "b"], query=True)) == 2
    texts, questions = server.seen
    assert [len(seen.body["requests"]) for seen in server.seen] == [2, 2]
    assert "taskType" not in texts.body["requests"][0]
    assert server.embedded[0] == ["title: none | text: a", "title: none | text: b"]
    assert server.embedded[1][0] == "task: search result | query: a"
    assert questions.path.startswith(GEMINI_PATHS)
    assert questions.path.endswith("/models/gemini-embedding-2:batchEmbedContents")


async def test_recall_embeds_its_question_as_one(server: ModelServer) -> None:
    """The question goes as a query, what may answer it as documents, and neither goes twice.

    What the index says how close it is goes not at all.
    """
    unused: Any = None
    now = datetime(2026, 11, 21, tzinfo=UTC)
    hits = [Hit(id="1", kind="fact", text="tyres last", score=1.0, tier="warm", recorded_at=now)]
    async with GeminiEmbedder(KEY, base_url=server.url, dimensions=128) as embedder:
        warm: Any = SimpleNamespace(serving=SimpleNamespace(embedder=embedder))
        recaller = Recaller(warm, unused, unused, embedder, 20.0)
        state = Degradation(20.0)
        for _ in range(2):
            await recaller.relevant("medium tyres", hits, (), state)
        told = [hit.model_copy(update={"text": "rain soon", "cosine": 0.7}) for hit in hits]
        assert await recaller.relevant("box now", told, (), state) == tuple(told)
    uses = [seen.body["requests"][0]["taskType"] for seen in server.seen]
    assert uses == ["RETRIEVAL_QUERY", "RETRIEVAL_DOCUMENT"]
    assert server.embedded == [["medium tyres"], ["tyres last"]]
    assert state.lost == {}


async def test_thoughts_are_no_part_of_the_answer(server: ModelServer) -> None:
    """Gemini marks them; several parts of the answer are one text."""
    answer = gemini_says("")
    answer["candidates"][0]["content"]["parts"] = [
        {"text": "Let me think.", "thought": True},
        {"text": "Medium"},
        {"functionCall": {"name": "x"}},
        {"text": "s."},
    ]
    server.answers.append(answer)
    async with GeminiModel(KEY, base_url=server.url) as answering:
        assert await answering.complete(question()) == "Mediums."


if LIVE_KEY:

    @pytest.mark.live
    async def test_gemini_itself_embeds() -> None:
        """Two texts and a question: unit vectors, and the right text is the nearer one."""
        texts = ["Medium tyres last about 18 laps.", "The cat sleeps on the sofa."]
        async with GeminiEmbedder(LIVE_KEY) as embedder:
            near, far = await embedder.embed(texts)
            (asked,) = await embedder.embed(["How long do mediums last?"], urgent=True, query=True)
            assert (await embedder.health()).problems == ()
            assert len(await embedder.embed(["", "\x00", "🏁"])) == 3

        def cosine(one: tuple[float, ...], other: tuple[float, ...]) -> float:
            return sum(a * b for a, b in zip(one, other, strict=True))

        assert cosine(near, near) == pytest.approx(1.0, abs=1e-5)
        assert cosine(asked, near) > cosine(asked, far)

    @pytest.mark.live
    async def test_gemini_itself_answers() -> None:
        """In free text, and with an object that fits."""
        async with GeminiModel(LIVE_KEY) as answering:
            assert await answering.complete(question("Answer with one word: ready."))
            asked = question("Is water wet? Set keep to true if it is, and give a reason.")
            assert isinstance(await answering.generate(asked, Verdict), Verdict)
            assert answering.usage.prompt_tokens > 0
