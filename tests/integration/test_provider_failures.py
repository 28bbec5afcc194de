"""Providers that refuse, hang, break off or are not there: one error each, and no key shown."""

from __future__ import annotations

import asyncio
import gzip
import traceback

import pytest
from support.model_http import KEY, Fault, ModelServer
from support.model_providers import AnyEmbedder, AnyModel, Make, free_port, question, wanted

from ezra.models import GeminiModel, OpenAIModel
from tiers.embedding.gemini_embedder import GeminiEmbedder
from tiers.embedding.openai_embedder import OpenAIEmbedder
from tiers.errors import ConfigError, EzraError, TierRejected, TierTimeout, TierUnavailable
from tiers.provider_clients import PROVIDER_BYTES_MAX


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


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        (Fault(body=b" " * (PROVIDER_BYTES_MAX + 1)), "has more than 16777216 bytes"),
        (
            Fault(body=gzip.compress(b" " * 1_000_000), headers={"content-encoding": "gzip"}),
            "is compressed, which was not asked for",
        ),
    ],
    ids=["endless", "compressed"],
)
async def test_an_answer_is_read_no_further_than_its_limit(
    server: ModelServer, embedder: Make, model: Make, fault: Fault, reason: str
) -> None:
    """Who answers without end fills no memory, as bytes or unpacked, and is not asked again."""
    server.always = fault
    async with embedder(attempts=3) as opened, model(attempts=3) as answering:
        for call in (lambda: opened.embed(["text"]), lambda: answering.complete(question())):
            server.seen.clear()
            with pytest.raises(TierRejected, match=reason):
                await call()
            assert len(server.seen) == 1
            assert server.seen[0].headers["accept-encoding"] == "identity"


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
