"""Answers and vectors of a provider: when it is loaded, what it is told, what is taken of it."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.model_http import (
    KEY,
    Fault,
    ModelServer,
    gemini_says,
    openai_says,
    running_model_server,
)
from support.model_providers import AnyModel, Make, Verdict, question, says, wanted
from support.processes import succeeded

from ezra.models import GeminiModel, OpenAIModel, TokenUsage
from tiers.embedding.gemini_embedder import GeminiEmbedder
from tiers.embedding.openai_embedder import OpenAIEmbedder
from tiers.errors import TierRejected, UsageError

# Language models at a provider: what they are told, and which answers are taken.


async def test_roles_are_said_in_the_providers_words(
    provider: str, server: ModelServer, model: Make
) -> None:
    """System messages are instructions to Gemini, and its assistant is a model."""
    messages = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Hello."},
        {"role": "assistant", "content": " "},
        {"role": "assistant", "content": "Hi."},
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": "Which tyres? \ud800"},
    ]
    async with model() as answering:
        assert await answering.complete(messages) == "echo: Which tyres? ?"
    body = server.seen[0].body
    if provider == "gemini":
        told = [(said["role"], said["parts"][0]["text"]) for said in body["contents"]]
        assert told == [("user", "Hello."), ("model", "Hi."), ("user", "Which tyres? ?")]
        assert body["systemInstruction"]["parts"] == [{"text": "Be brief.\n\nBe kind."}]
    else:
        kept = [message for message in messages if message["content"].strip()]
        assert [said["role"] for said in body["messages"]] == [said["role"] for said in kept]
        assert body["messages"][3]["content"] == "Be kind."


NO_ANSWER: list[tuple[str, dict[str, Any], str]] = [
    ("gemini", gemini_says(""), r"empty \(STOP\)"),
    ("gemini", {"candidates": []}, r"ended unexpectedly \(no answer at all\)"),
    ("gemini", {}, "ended unexpectedly"),
    ("gemini", {"candidates": [{"finishReason": "SAFETY"}]}, r"withheld \(SAFETY\)"),
    ("gemini", gemini_says("half", "RECITATION"), r"withheld \(RECITATION\)"),
    ("gemini", gemini_says("half", "MAX_TOKENS"), r"limit of tokens \(MAX_TOKENS\)"),
    ("gemini", gemini_says("half", "NEW_REASON_2027"), r"unexpectedly \(NEW_REASON_2027\)"),
    ("gemini", {"promptFeedback": {"blockReason": "OTHER"}}, "the prompt is blocked: OTHER"),
    ("openai", openai_says(""), r"empty \(stop\)"),
    ("openai", openai_says(None), "empty"),
    ("openai", openai_says(" \n"), "empty"),
    ("openai", openai_says("half", "length"), r"limit of tokens \(length\)"),
    ("openai", openai_says("half", "content_filter"), r"withheld \(content_filter\)"),
    ("openai", openai_says("half", "tool_calls"), r"unexpectedly \(tool_calls\)"),
    ("openai", openai_says(None, refusal="I cannot."), r"withheld \(the model refuses: I cannot"),
]


@pytest.mark.parametrize("case", NO_ANSWER, ids=range(len(NO_ANSWER)))
async def test_what_is_no_whole_answer_is_refused_with_its_reason(
    server: ModelServer, case: tuple[str, dict[str, Any], str]
) -> None:
    """Empty, withheld, cut off or ended in a way unknown today; counted, as it was paid for."""
    provider, answer, reason = case
    server.answers.append(answer)
    opening: AnyModel = GeminiModel(KEY, base_url=server.url)
    if provider == "openai":
        opening = OpenAIModel(f"{server.url}/open/v1", KEY, "gpt-test")
    async with opening as answering:
        with pytest.raises(TierRejected, match=reason):
            await answering.complete(question())
        assert answering.usage.calls == 1
        assert answering.usage.prompt_tokens == 11


async def test_the_schema_is_asked_for(provider: str, server: ModelServer, model: Make) -> None:
    """In Gemini's words, and in the strict form of OpenAI's."""
    server.answers.append(says(provider, '{"keep": true, "reason": "said twice"}'))
    async with model() as answering:
        verdict = await answering.generate(question(), Verdict)
    assert verdict == Verdict(keep=True, reason="said twice")
    body = server.seen[0].body
    if provider == "gemini":
        assert body["generationConfig"]["responseMimeType"] == "application/json"
        assert body["generationConfig"]["responseJsonSchema"] == Verdict.model_json_schema()
    else:
        asked = body["response_format"]["json_schema"]
        assert (body["response_format"]["type"], asked["strict"]) == ("json_schema", True)
        assert asked["name"] == "Verdict"
        assert asked["schema"]["required"] == ["keep", "reason"]
        assert asked["schema"]["additionalProperties"] is False


async def test_one_repair_is_asked_for_and_no_more(
    provider: str, server: ModelServer, model: Make
) -> None:
    """The model sees its answer and what is wrong with it; a second bad one is the end."""
    server.answers.append(says(provider, '{"keep": "maybe"}'))
    server.answers.append(says(provider, '```json\n{"keep": false}\n```'))
    async with model() as answering:
        assert await answering.generate(question(), Verdict) == Verdict(keep=False)
        said = json.dumps(server.seen[1].body)
        assert "maybe" in said
        assert "keep: Input should be a valid boolean" in said
        assert answering.usage == TokenUsage(2, 22, 10)
        server.answers.extend([says(provider, "no"), says(provider, "no"), says(provider, "{}")])
        with pytest.raises(TierRejected, match="fits no Verdict, asked twice"):
            await answering.generate(question(), Verdict)
    assert len(server.seen) == 4


async def test_an_answer_cut_off_is_not_repaired(
    provider: str, server: ModelServer, model: Make
) -> None:
    """It would be cut off again: the error says why at once."""
    finish = "MAX_TOKENS" if provider == "gemini" else "length"
    server.answers.append(says(provider, '{"keep": tr', finish))
    async with model() as answering:
        with pytest.raises(TierRejected, match="cut off at the limit of tokens"):
            await answering.generate(question(), Verdict)
    assert len(server.seen) == 1


async def test_models_keep_to_their_concurrency(server: ModelServer, model: Make) -> None:
    """Thirty callers share two slots, and each gets its own answer."""
    async with model(concurrency=2) as answering:
        answers = await asyncio.gather(*(answering.complete(question(f"q{n}")) for n in range(30)))
    assert answers == [f"echo: q{n}" for n in range(30)]
    assert server.most <= 2


# Texts embedded at a provider: what is sent, what comes back, and who waits for whom.


@pytest.mark.parametrize(
    "make",
    [
        lambda: GeminiEmbedder(KEY, dimensions=127),
        lambda: GeminiEmbedder(KEY, dimensions=3073),
        lambda: GeminiEmbedder(KEY, "../models"),
        lambda: GeminiEmbedder(KEY, queue_size=0),
        lambda: OpenAIEmbedder(KEY, dimensions=0),
        lambda: OpenAIEmbedder(KEY, max_characters=0),
        lambda: OpenAIEmbedder(KEY, cache_size=-1),
        lambda: GeminiModel(KEY, attempts=0),
        lambda: OpenAIModel(None, KEY, ""),
    ],
)
def test_arguments_out_of_range_are_refused(make: Callable[[], object]) -> None:
    """At construction, before anything is opened."""
    with pytest.raises(UsageError):
        make()


def test_the_model_is_named_with_provider_and_width() -> None:
    """So that vectors of different models or widths are never compared."""
    assert GeminiEmbedder(KEY).model_id == "gemini/gemini-embedding-001@768"
    assert OpenAIEmbedder(None, "bge-m3", dimensions=8).model_id == "openai/bge-m3@8"


async def test_vectors_are_those_of_their_texts_at_unit_length(
    provider: str, embedder: Make
) -> None:
    """Whatever length and order the server answers with, each text gets its own direction."""
    texts = [f"text {n}" for n in range(150)]
    async with embedder() as opened:
        vectors = await opened.embed(texts)
    for text, vector in zip(texts, vectors, strict=True):
        assert vector == pytest.approx(wanted(provider, text), abs=1e-6)


async def test_long_texts_are_cut_and_share_no_request(
    provider: str, server: ModelServer, embedder: Make
) -> None:
    """Each is cut at the documented length, and a request holds at most 250,000 characters."""
    limit = 8_192 if provider == "gemini" else 8_000
    texts = [f"{n:06}" + "x" * 20_000 for n in range(40)]
    async with embedder() as opened:
        await opened.embed(texts)
    sent = server.embedded
    assert {len(text) for batch in sent for text in batch} == {limit}
    assert all(sum(map(len, batch)) <= 250_000 for batch in sent)
    assert sum(map(len, sent)) == 40


def _zero(values: list[float]) -> list[float]:
    return [0.0] * len(values)


BENT: dict[str, Callable[[list[list[float]]], list[Any]]] = {
    "one too few": lambda rows: rows[:-1],
    "one too many": lambda rows: [*rows, rows[0]],
    "none": lambda rows: rows[:0],
    "too narrow": lambda rows: [row[:-1] for row in rows],
    "too wide": lambda rows: [[*row, 1.0] for row in rows],
    "one too narrow": lambda rows: [rows[0][:-1], *rows[1:]],
    "empty": lambda rows: [[] for _ in rows],
    "zero": lambda rows: [_zero(rows[0]), *rows[1:]],
    "not a number": lambda rows: [[float("nan"), *rows[0][1:]], *rows[1:]],
    "infinite": lambda rows: [[float("inf"), *rows[0][1:]], *rows[1:]],
    "beyond a float's square": lambda rows: [[1e300, *rows[0][1:]], *rows[1:]],
    "null": lambda rows: [[None, *rows[0][1:]], *rows[1:]],
    "words": lambda rows: [["x", *rows[0][1:]], *rows[1:]],
}


@pytest.mark.parametrize("bend", BENT.values(), ids=BENT.keys())
async def test_a_vector_that_is_none_reaches_nobody(
    provider: str, server: ModelServer, embedder: Make, bend: Callable[[Any], Any]
) -> None:
    """Wrong number, wrong width, no direction: refused with nothing kept; then all is well."""

    def change(answer: Any) -> Any:
        if provider == "gemini":
            rows = bend([item["values"] for item in answer["embeddings"]])
            return {"embeddings": [{"values": row} for row in rows]}
        rows = bend([item["embedding"] for item in answer["data"]])
        return {"data": [{"index": n, "embedding": row} for n, row in enumerate(rows)]}

    server.faults.append(Fault(change=change))
    async with embedder() as opened:
        with pytest.raises(TierRejected, match="the answer cannot be read"):
            await opened.embed(["a", "b", "c"])
        assert opened.counts.held == 0
        assert len(await opened.embed(["a", "b", "c"])) == 3


async def test_no_more_requests_run_than_allowed(server: ModelServer, embedder: Make) -> None:
    """Two hundred callers share three slots."""
    async with embedder(concurrency=3) as opened:
        calls = [opened.embed([f"{n}" * 400 for n in range(k, k + 20)]) for k in range(200)]
        await asyncio.gather(*calls)
    assert server.most <= 3


# A provider's library is loaded at opening, in a thread: not earlier, and not later.

# A process of its own: only there the libraries are not loaded yet. All four are opened before the
# first is asked, so that what one loads cannot hide what another forgot.
PROGRAM = """
import asyncio, contextlib, json, sys, threading
import ezra, ezra.models, ezra.assembly.assembler
from ezra.models import GeminiModel, OpenAIModel
from tiers.embedding.gemini_embedder import GeminiEmbedder
from tiers.embedding.openai_embedder import OpenAIEmbedder

url, key = sys.argv[1:]

closed = (
    GeminiModel(key, base_url=url),
    OpenAIModel(f"{url}/open/v1", key, "gpt-test"),
    GeminiEmbedder(key, base_url=url, dimensions=128),
    OpenAIEmbedder(key, base_url=f"{url}/open/v1", dimensions=64),
)
early = [name for name in ("google.genai", "openai", "httpx2") if name in sys.modules]

class Watch:
    on_the_loop = []

    def find_spec(self, name, path=None, target=None):
        if threading.current_thread() is threading.main_thread():
            self.on_the_loop.append(name)

async def main():
    said = [{"role": "user", "content": "Which tyres?"}]
    async with contextlib.AsyncExitStack() as exits:
        opened = [await exits.enter_async_context(one) for one in closed]
        sys.meta_path.insert(0, Watch())
        answers = [await model.complete(said) for model in opened[:2]]
        return answers + [len(await embedder.embed(["a"])) for embedder in opened[2:]]

answers = asyncio.run(main())
print(json.dumps({"early": early, "answers": answers, "loaded": Watch.on_the_loop}))
"""


def test_only_opening_loads_a_library() -> None:
    """Importing and constructing load none; once open, each answers, and nothing is left to load.

    They take a third of a second each: only who opens a provider pays.
    """
    with running_model_server() as server:
        ran = succeeded(
            sys.executable, "-c", PROGRAM, server.url, KEY, cwd=Path(__file__).parents[2]
        )
    said = "echo: Which tyres?"
    answers = [said, said, 1, 1]
    assert json.loads(ran.stdout) == {"early": [], "answers": answers, "loaded": []}
