"""Embedders and language models at providers: real client libraries, stand-ins for the servers."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any, TypeAlias

import pytest
from pydantic import BaseModel
from support.model_http import (
    KEY,
    WIDTH,
    Fault,
    ModelServer,
    gemini_says,
    openai_says,
    running_model_server,
    unit_vector,
)

from ezra.models import GeminiModel, OpenAIModel, TokenUsage
from ezra.recall import Degradation, Recaller
from tiers.embedding.gemini_embedder import GeminiEmbedder
from tiers.embedding.openai_embedder import OpenAIEmbedder
from tiers.errors import (
    ConfigError,
    EzraError,
    TierRejected,
    TierTimeout,
    TierUnavailable,
    UsageError,
)
from tiers.records import Hit

LIVE_KEY = os.environ.get("EZRA_TEST_GEMINI_KEY", "")
QUICK: dict[str, Any] = {"first_delay_seconds": 0.001}
SALT = "RETRIEVAL_DOCUMENT"

AnyEmbedder: TypeAlias = GeminiEmbedder | OpenAIEmbedder
AnyModel: TypeAlias = GeminiModel | OpenAIModel
Make: TypeAlias = Callable[..., Any]


@pytest.fixture(scope="module")
def running() -> Iterator[ModelServer]:
    """One server for all tests of the module."""
    with running_model_server() as server:
        yield server


@pytest.fixture
def server(running: ModelServer) -> ModelServer:
    """The server, in order and with nothing left over from the test before."""
    running.answers.clear()
    running.faults.clear()
    running.seen.clear()
    running.always = None
    running.most = running.dropped = 0
    return running


@pytest.fixture(params=["gemini", "openai"])
def provider(request: pytest.FixtureRequest) -> str:
    """Each provider."""
    return request.param


@pytest.fixture
def embedder(provider: str, server: ModelServer) -> Make:
    """What makes a closed embedder of 256 dimensions at the server."""

    def make(**changes: Any) -> AnyEmbedder:
        given = {"dimensions": 256, **QUICK, **changes}
        if provider == "gemini":
            return GeminiEmbedder(KEY, **{"base_url": server.url, **given})
        return OpenAIEmbedder(KEY, **{"base_url": f"{server.url}/open/v1", **given})

    return make


@pytest.fixture
def model(provider: str, server: ModelServer) -> Make:
    """What makes a closed language model at the server."""

    def make(**changes: Any) -> AnyModel:
        given = {**QUICK, **changes}
        if provider == "gemini":
            return GeminiModel(KEY, **{"base_url": server.url, **given})
        return OpenAIModel(given.pop("base_url", f"{server.url}/open/v1"), KEY, "gpt-test", **given)

    return make


def says(provider: str, text: str, finish: str | None = None) -> dict[str, Any]:
    """Return an answer in the provider's form."""
    if provider == "gemini":
        return gemini_says(text, finish or "STOP")
    return openai_says(text, finish or "stop")


def wanted(provider: str, text: str, width: int = 256) -> tuple[float, ...]:
    """Return the vector that a text must get."""
    return unit_vector(text, width, SALT if provider == "gemini" else "")


def question(text: str = "Which tyres?") -> list[dict[str, str]]:
    """Return one message."""
    return [{"role": "user", "content": text}]


def free_port() -> int:
    """Return a port at which nobody listens."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def test_importing_and_constructing_loads_no_client_library() -> None:
    """They take a third of a second each; only an opened provider pays, not every user of ezra."""
    code = (
        "import sys, ezra, ezra.models, ezra.runtime\n"
        "from tiers.embedding.gemini_embedder import GeminiEmbedder\n"
        "from tiers.embedding.openai_embedder import OpenAIEmbedder\n"
        "GeminiEmbedder('k'), OpenAIEmbedder(None), ezra.models.GeminiModel('k')\n"
        "ezra.models.OpenAIModel(None, 'k', 'm')\n"
        "print([name for name in ('google.genai', 'openai', 'httpx2') if name in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


# Embedding: what is sent and what comes back


async def test_vectors_are_those_of_their_texts_at_unit_length(
    provider: str, embedder: Make
) -> None:
    """Whatever length and order the server answers with, each text gets its own direction."""
    texts = [f"text {n}" for n in range(150)]
    async with embedder() as opened:
        vectors = await opened.embed(texts)
    for text, vector in zip(texts, vectors, strict=True):
        assert vector == pytest.approx(wanted(provider, text), abs=1e-6)


def test_the_model_is_named_with_provider_and_width() -> None:
    """So that vectors of different models or widths are never compared."""
    assert GeminiEmbedder(KEY).model_id == "gemini/gemini-embedding-001@768"
    assert OpenAIEmbedder(None, "bge-m3", dimensions=8).model_id == "openai/bge-m3@8"


@pytest.mark.parametrize("dimensions", [128, 768, 3072])
async def test_requests_stay_small_enough_to_read(server: ModelServer, dimensions: int) -> None:
    """At most 100 texts and 24,576 numbers for Gemini; every text is asked for once."""
    texts = [f"text {n}" for n in range(260)]
    async with GeminiEmbedder(KEY, base_url=server.url, dimensions=dimensions) as embedder:
        calls = [embedder.embed(texts[start : start + 52]) for start in range(0, 260, 52)]
        await asyncio.gather(*calls)
    sizes = [len(batch) for batch in server.embedded]
    assert max(sizes) <= min(100, 24_576 // dimensions)
    assert sorted(text for batch in server.embedded for text in batch) == sorted(texts)


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
    assert questions.path == "/v1/models/gemini-embedding-2:batchEmbedContents"


async def test_recall_embeds_its_question_as_one(server: ModelServer) -> None:
    """The question goes as a query, what may answer it as documents, and neither goes twice."""
    unused: Any = None
    now = datetime(2026, 11, 21, tzinfo=UTC)
    hits = [Hit(id="1", kind="fact", text="tyres last", score=1.0, tier="warm", recorded_at=now)]
    async with GeminiEmbedder(KEY, base_url=server.url, dimensions=128) as embedder:
        recaller = Recaller(unused, unused, unused, embedder, 20.0)
        state = Degradation(20.0)
        for _ in range(2):
            await recaller.relevant("medium tyres", hits, (), state)
    uses = [seen.body["requests"][0]["taskType"] for seen in server.seen]
    assert uses == ["RETRIEVAL_QUERY", "RETRIEVAL_DOCUMENT"]
    assert server.embedded == [["medium tyres"], ["tyres last"]]
    assert state.lost == {}


# Embedding: callers among each other


async def test_identical_texts_are_asked_for_once(
    provider: str, server: ModelServer, embedder: Make
) -> None:
    """Fifty callers at once and one later cost one request; a bounded cache remembers."""
    async with embedder(cache_size=3) as opened:
        await asyncio.gather(*(opened.embed(["same", "other"]) for _ in range(50)))
        await opened.embed(["other", "same"])
        assert server.embedded == [["same", "other"]]
        await opened.embed(["a", "b", "same"])
        assert opened.counts.held == 3
        assert server.embedded == [["same", "other"], ["a", "b"]]


async def test_urgent_texts_go_first(server: ModelServer, embedder: Make) -> None:
    """With one slot taken, an urgent text overtakes the background that waits."""
    gate = threading.Event()
    server.faults.append(Fault(gate=gate))
    async with embedder(concurrency=1) as opened:
        first = asyncio.create_task(opened.embed(["first"]))
        await server.until_seen(1)
        later = asyncio.create_task(opened.embed([f"b{n}" for n in range(5)]))
        urgent = asyncio.create_task(opened.embed(["urgent"], urgent=True))
        await server.until(lambda: opened.counts.waiting == 6)
        gate.set()
        await asyncio.gather(first, later, urgent)
    assert server.embedded == [["first"], ["urgent"], [f"b{n}" for n in range(5)]]


async def test_the_background_leaves_a_slot_to_what_is_urgent(
    server: ModelServer, embedder: Make
) -> None:
    """However much waits in the background, an urgent text is answered beside it."""
    gate = threading.Event()
    server.faults.extend([Fault(gate=gate), Fault(gate=gate)])
    async with embedder(concurrency=3) as opened:
        background = []
        for n in range(4):
            background.append(asyncio.create_task(opened.embed([f"b{n}"])))
            await asyncio.sleep(0)
            await server.until_seen(min(n + 1, 2))
        assert len(await opened.embed(["urgent"], urgent=True)) == 1
        assert not any(call.done() for call in background)
        gate.set()
        await asyncio.gather(*background)
    assert server.embedded[:3] == [["b0"], ["b1"], ["urgent"]]


async def test_no_more_requests_run_than_allowed(server: ModelServer, embedder: Make) -> None:
    """Two hundred callers share three slots."""
    async with embedder(concurrency=3) as opened:
        calls = [opened.embed([f"{n}" * 400 for n in range(k, k + 20)]) for k in range(200)]
        await asyncio.gather(*calls)
    assert server.most <= 3


# Embedding and models: failures


async def test_two_refusals_and_an_answer_are_an_answer(
    provider: str, server: ModelServer, embedder: Make, model: Make
) -> None:
    """A busy server is asked again; ``Retry-After`` is heeded, also when it is 0."""
    server.faults.extend([Fault(429, headers={"retry-after": "0"}), Fault(503)])
    async with embedder() as opened:
        (vector,) = await opened.embed(["text"])
    assert vector == pytest.approx(wanted(provider, "text"), abs=1e-6)
    assert len(server.seen) == 3
    server.faults.extend([Fault(500), Fault(cut=True)])
    async with model() as answering:
        assert await answering.complete(question()) == "echo: Which tyres?"
        assert answering.usage.calls == 1
    assert len(server.seen) == 6


@pytest.mark.parametrize(
    ("fault", "kind", "requests"),
    [
        (Fault(429), TierUnavailable, 3),
        (Fault(429, headers={"retry-after": "3600"}), TierUnavailable, 1),
        (Fault(500), TierUnavailable, 3),
        (Fault(503, body=b"<html>down</html>"), TierUnavailable, 3),
        (Fault(cut=True), TierUnavailable, 3),
        (Fault(504), TierTimeout, 3),
        (Fault(400), TierRejected, 1),
        (Fault(404), TierRejected, 1),
        (Fault(413, body=b""), TierRejected, 1),
        (Fault(302, headers={"location": "/elsewhere"}), TierRejected, 1),
        (Fault(401), ConfigError, 1),
        (Fault(403), ConfigError, 1),
        (Fault(body=b'{"data": [{"index": 0, "embed'), TierRejected, 1),
        (Fault(body=b"<html>hello</html>"), TierRejected, 1),
        (Fault(body=b""), TierRejected, 1),
        (Fault(body=b"\xff\xfe{}"), TierRejected, 1),
        (Fault(body=b"[]"), TierRejected, 1),
        (Fault(body=b"3"), TierRejected, 1),
        (Fault(body=b"null"), TierRejected, 1),
        (Fault(body=b"{}"), TierRejected, 1),
        (Fault(body=b'{"embeddings": "x", "data": 3, "candidates": 1}'), TierRejected, 1),
        (Fault(body=b'{"embeddings": [3], "data": [3], "choices": [3]}'), TierRejected, 1),
        (Fault(body=b'{"embeddings": [{"values": "x"}], "choices": []}'), TierRejected, 1),
        (Fault(body=b"[" * 100_000), TierRejected, 1),
    ],
    ids=str,
)
async def test_every_failure_is_an_error_of_the_tree(
    server: ModelServer,
    embedder: Make,
    model: Make,
    fault: Fault,
    kind: type[EzraError],
    requests: int,
) -> None:
    """Status, broken connection or strange answer: one error each, and the next call works."""
    server.always = fault
    async with embedder(attempts=3) as opened, model(attempts=3) as answering:
        for call in (lambda: opened.embed(["text"]), lambda: answering.complete(question())):
            server.seen.clear()
            server.always = fault
            with pytest.raises(EzraError) as caught:
                await call()
            assert type(caught.value) is kind
            assert len(server.seen) == requests
            server.always = None
            assert await call()


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


@pytest.mark.parametrize(
    ("indexes", "accepted"),
    [([2, 0, 1], True), ([None] * 3, True), ([0, 0, 1], False), ([0, 1, 9], False)],
)
async def test_the_index_says_which_text_a_vector_belongs_to(
    server: ModelServer, indexes: list[int | None], *, accepted: bool
) -> None:
    """Any order, or none at all; numbers that leave a text without its own vector are refused."""

    def change(answer: Any) -> Any:
        rows = [item["embedding"] for item in answer["data"]][::-1]
        places = range(3) if indexes[0] is None else indexes
        return {
            "data": [
                {"index": index, "embedding": rows[place % 3]}
                for index, place in zip(indexes, places, strict=True)
            ]
        }

    server.faults.append(Fault(change=change))
    url = f"{server.url}/local/v1"
    async with OpenAIEmbedder(None, "m", base_url=url, dimensions=16) as opened:
        if not accepted:
            with pytest.raises(TierRejected, match="not numbered"):
                await opened.embed(["a", "b", "c"])
            return
        vectors = await opened.embed(["a", "b", "c"])
    for text, vector in zip("abc", vectors, strict=True):
        assert vector == pytest.approx(unit_vector(text, 16), abs=1e-6)


async def test_a_server_that_hangs_is_a_timeout(
    server: ModelServer, embedder: Make, model: Make
) -> None:
    """The call ends at its deadline, and the request is withdrawn."""
    server.always = Fault(hang=True)
    async with embedder(timeout_seconds=0.2) as opened, model(timeout_seconds=0.2) as answering:
        with pytest.raises(TierTimeout, match=r"gave no answer within 0.2 s"):
            await opened.embed(["text"])
        with pytest.raises(TierTimeout, match=r"gave no answer within 0.2 s"):
            await answering.complete(question())
        await server.until(lambda: server.dropped == 2)
        server.always = None
        assert len(await opened.embed(["text"])) == 1


async def test_nobody_there_is_unavailable(embedder: Make, model: Make) -> None:
    """A refused connection is an outage, not a crash, for calls and for the doctor."""
    url = f"http://127.0.0.1:{free_port()}/v1"
    async with embedder(base_url=url) as opened, model(base_url=url) as answering:
        with pytest.raises(TierUnavailable, match="no answer"):
            await opened.embed(["text"])
        with pytest.raises(TierUnavailable, match="no answer"):
            await answering.complete(question())
        for found in (await opened.health(), await answering.health()):
            assert not found.reachable
            assert "check the address" in found.problems[0]


async def test_the_last_caller_takes_the_request_along(
    server: ModelServer, embedder: Make, model: Make
) -> None:
    """Cancelling one of two callers changes nothing; cancelling both cancels the HTTP request."""
    server.faults.append(Fault(hang=True))
    async with embedder() as opened, model() as answering:
        one, other = (asyncio.create_task(opened.embed(["shared"])) for _ in range(2))
        await server.until_seen(1)
        one.cancel()
        await asyncio.gather(one, return_exceptions=True)
        await asyncio.sleep(0.02)
        assert (server.dropped, other.done()) == (0, False)
        other.cancel()
        await server.until(lambda: server.dropped == 1)
        assert len(await opened.embed(["shared"])) == 1
        assert opened.counts.computed == 1
        server.faults.append(Fault(hang=True))
        asking = asyncio.create_task(answering.complete(question()))
        await server.until_seen(3)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        await server.until(lambda: server.dropped == 2)


async def test_closing_withdraws_what_runs_and_answers_everybody(
    server: ModelServer, embedder: Make
) -> None:
    """A request in work is cancelled; its callers and those who wait get ``TierUnavailable``."""
    server.always = Fault(hang=True)
    async with embedder(concurrency=1) as opened:
        running = asyncio.create_task(opened.embed(["running"]))
        await server.until_seen(1)
        waiting = asyncio.create_task(opened.embed(["waiting"]))
        await server.until(lambda: opened.counts.waiting == 1)
    for call in (running, waiting):
        with pytest.raises(TierUnavailable, match="not open"):
            await call
    await server.until(lambda: server.dropped == 1)
    with pytest.raises(TierUnavailable, match="not open"):
        await opened.embed(["late"])
    with pytest.raises(TierUnavailable, match="not open"):
        await opened.health()


async def test_a_wrong_key_is_named_by_its_setting_and_never_shown(
    provider: str, server: ModelServer
) -> None:
    """Also when the server repeats it; Gemini says it with a 400."""
    wrong = "AIza-wrong-0123456789"
    if provider == "gemini":
        embedder: AnyEmbedder = GeminiEmbedder(wrong, base_url=server.url)
        model: AnyModel = GeminiModel(wrong, base_url=server.url)
    else:
        url = f"{server.url}/open/v1"
        embedder = OpenAIEmbedder(wrong, base_url=url, dimensions=8)
        model = OpenAIModel(url, wrong, "gpt-test")
    async with embedder, model:
        for call in (lambda: embedder.embed(["x"]), lambda: model.complete(question())):
            with pytest.raises(ConfigError, match=f"^EZRA_{provider.upper()}_API_KEY: ") as caught:
                await call()
            assert wrong not in "".join(traceback.format_exception(caught.value))
        for found in (await embedder.health(), await model.health()):
            assert found.reachable
            assert f"set EZRA_{provider.upper()}_API_KEY" in found.problems[0]
            assert wrong not in found.model_dump_json()
    assert len(server.seen) == 4


async def test_the_environment_sends_no_key_anywhere(
    server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither a key of the client libraries nor an address of theirs takes the place of ours."""
    elsewhere = f"http://127.0.0.1:{free_port()}"
    for name, value in {
        "OPENAI_API_KEY": "leaked",
        "OPENAI_BASE_URL": elsewhere,
        "GOOGLE_API_KEY": "leaked",
        "GEMINI_API_KEY": "leaked",
        "GOOGLE_GEMINI_BASE_URL": elsewhere,
        "GOOGLE_GENAI_USE_VERTEXAI": "true",
    }.items():
        monkeypatch.setenv(name, value)
    local = f"{server.url}/local/v1"
    async with (
        OpenAIEmbedder(None, "m", base_url=local) as open_embedder,
        OpenAIModel(local, None, "m") as open_model,
        GeminiEmbedder(KEY, base_url=server.url) as gemini_embedder,
        GeminiModel(KEY, base_url=server.url) as gemini_model,
    ):
        await open_embedder.embed(["x"])
        await open_model.complete(question())
        await gemini_embedder.embed(["x"])
        await gemini_model.complete(question())
    assert len(server.seen) == 5
    assert not any("leaked" in str(seen.headers) for seen in server.seen)


# OpenAI-compatible servers: the width


async def test_a_width_that_is_not_given_is_found_at_opening(server: ModelServer) -> None:
    """By one request that asks for none; until then there is neither width nor name."""
    embedder = OpenAIEmbedder(None, "bge-m3", base_url=f"{server.url}/local/v1")
    with pytest.raises(TierUnavailable, match="found out at opening"):
        _ = embedder.dimensions
    with pytest.raises(TierUnavailable, match="found out at opening"):
        _ = embedder.model_id
    async with embedder:
        assert (embedder.dimensions, embedder.model_id) == (WIDTH, f"openai/bge-m3@{WIDTH}")
        await embedder.embed(["x"])
    async with embedder:
        pass
    assert len(server.seen) == 2
    assert not any("dimensions" in seen.body for seen in server.seen)
    async with OpenAIEmbedder(None, base_url=f"{server.url}/local/v1", dimensions=8) as narrow:
        await narrow.embed(["x"])
    assert server.seen[-1].body["dimensions"] == 8


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        (Fault(503), TierUnavailable),
        (Fault(404), TierRejected),
        (Fault(401), ConfigError),
        (Fault(body=b'{"data": [{"index": 0, "embedding": []}]}'), TierRejected),
        (Fault(body=b'{"data": []}'), TierRejected),
        (Fault(hang=True), TierTimeout),
    ],
    ids=["busy", "unknown model", "key", "no width", "no vector", "hangs"],
)
async def test_without_a_width_there_is_no_opening(
    server: ModelServer, fault: Fault, kind: type[EzraError]
) -> None:
    """A failed probe is the error of opening, within the limits of any call; nothing stays open."""
    server.always = fault
    url = f"{server.url}/local/v1"
    embedder = OpenAIEmbedder(None, "m", base_url=url, timeout_seconds=0.3, **QUICK)
    with pytest.raises(EzraError) as caught:
        await embedder.__aenter__()
    assert type(caught.value) is kind
    with pytest.raises(TierUnavailable, match="not open"):
        await embedder.embed(["x"])
    server.always = None
    async with embedder:
        assert embedder.dimensions == WIDTH


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


# Language models


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


class Verdict(BaseModel):
    """What a model is asked to answer with."""

    keep: bool
    reason: str = "none"


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


async def test_the_doctor_gets_one_tiny_request(
    provider: str, server: ModelServer, embedder: Make, model: Make
) -> None:
    """It says what answers and how fast, without a retry; a failure says what to do."""
    async with embedder() as opened, model() as answering:
        for tier, found in (
            ("embedding", await opened.health()),
            ("model", await answering.health()),
        ):
            assert (found.tier, found.engine, found.reachable) == (tier, provider, True)
            assert found.problems == ()
            assert found.round_trip_ms is not None
            assert found.details["model"]
        server.seen.clear()
        server.always = Fault(404)
        for found in (await opened.health(), await answering.health()):
            assert found.reachable
            assert "check the name of the model" in found.problems[0]
        assert len(server.seen) == 2
    server.always = Fault(hang=True)
    async with model(timeout_seconds=0.1) as answering:
        late = await answering.health()
    assert not late.reachable
    assert "gave no answer" in late.problems[0]


if LIVE_KEY:

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

    async def test_gemini_itself_answers() -> None:
        """In free text, and with an object that fits."""
        async with GeminiModel(LIVE_KEY) as answering:
            assert await answering.complete(question("Answer with one word: ready."))
            asked = question("Is water wet? Set keep to true if it is, and give a reason.")
            assert isinstance(await answering.generate(asked, Verdict), Verdict)
            assert answering.usage.prompt_tokens > 0
