"""Rerankers over real HTTP: what they send, what they believe, and that recall fails open."""

from __future__ import annotations

import json
from typing import Any

import pytest
from support.model_http import KEY, Fault, ModelServer
from support.reranking import STYLES, answering, hits, reranker_at, says, score_of

from ezra import Settings
from ezra.assembly.engines import check_up, reranker_of
from ezra.models.reranking import TEXTS_MAX, CohereReranker, TeiReranker, reranked
from ezra.models.reranking.remote import TEXT_CHARS_SENT
from ezra.recaller import Degradation
from tiers.errors import (
    ConfigError,
    EzraError,
    TierError,
    TierRejected,
    TierTimeout,
    TierUnavailable,
    UsageError,
)
from tiers.provider_clients import ANSWER_BYTES_MAX

TEXTS = ["plan 1", "plan 3", "plan 2"]


@pytest.fixture
def server(running: ModelServer) -> ModelServer:
    """The server, in order and with nothing left over from the test before."""
    running.reset()
    running.always = answering(running)
    return running


async def test_tei_is_asked_as_it_documents(server: ModelServer) -> None:
    """Scores come back in the order of the texts, whatever order the server ranks them in."""
    async with reranker_at(server, "tei") as reranker:
        assert reranker.name == "tei/rerank"
        assert await reranker.rerank("which plan?", TEXTS) == (0.1, 0.3, 0.2)
    (seen,) = server.seen
    assert (seen.path, seen.headers["authorization"]) == ("/tei/rerank", f"Bearer {KEY}")
    assert seen.body == {
        "query": "which plan?",
        "texts": TEXTS,
        "raw_scores": False,
        "truncate": True,
    }


@pytest.mark.parametrize(
    ("place", "path"),
    [("cohere", "/cohere/v2/rerank"), ("one/v1/", "/one/v1/rerank"), ("v2", "/v2/rerank")],
)
async def test_cohere_is_asked_as_it_documents(server: ModelServer, place: str, path: str) -> None:
    """At the version that the address names, and for the score of every text."""
    async with CohereReranker(f"{server.url}/{place}", model="jina/reranker-v2") as reranker:
        assert reranker.name == "cohere/jina/reranker-v2"
        assert await reranker.rerank("which plan?", TEXTS) == (0.1, 0.3, 0.2)
    (seen,) = server.seen
    assert seen.path == path
    assert "authorization" not in seen.headers
    assert seen.body == {
        "model": "jina/reranker-v2",
        "query": "which plan?",
        "documents": TEXTS,
        "top_n": 3,
    }


async def test_a_server_takes_so_many_texts_at_once(server: ModelServer) -> None:
    """TEI takes 32, and the others go side by side; Cohere takes them all."""
    texts = [f"plan {place}" for place in range(70)]
    wanted = tuple(score_of(text) for text in texts)
    async with reranker_at(server, "tei") as reranker:
        assert await reranker.rerank("q", texts) == wanted
        assert await reranker.rerank("q", []) == ()
        with pytest.raises(UsageError, match=f"at most {TEXTS_MAX}"):
            await reranker.rerank("q", ["x"] * (TEXTS_MAX + 1))
    assert sorted(len(seen.body["texts"]) for seen in server.seen) == [6, 32, 32]
    server.seen.clear()
    async with reranker_at(server, "cohere") as reranker:
        assert await reranker.rerank("q", texts) == wanted
    assert [len(seen.body["documents"]) for seen in server.seen] == [70]


async def test_one_part_that_fails_fails_them_all(server: ModelServer) -> None:
    """Scores of a part would put the other texts last."""
    server.faults.append(Fault(422))
    async with reranker_at(server, "tei") as reranker:
        with pytest.raises(TierRejected, match="HTTP 422"):
            await reranker.rerank("q", ["plan"] * 40)


async def test_texts_are_sent_so_that_a_server_can_read_them(server: ModelServer) -> None:
    """Cut, without half characters, and none of them blank."""
    async with reranker_at(server, "tei") as reranker:
        scores = await reranker.rerank("q" * 9_999, [f"{'x' * 3_000}7", "half \ud83c 5", " \n"])
    assert scores == (0.0, 0.5, 0.0)
    body = server.seen[0].body
    assert body["query"] == "q" * TEXT_CHARS_SENT
    assert body["texts"] == ["x" * TEXT_CHARS_SENT, "half ? 5", "(empty)"]


def _wrong(style: str, **rows: Any) -> dict[str, Fault]:
    return {name: says(style, *scores) for name, scores in rows.items()}


def _faults(style: str) -> list[Any]:
    """Return what can come back of two texts, and the error that it has to be."""
    wrong = _wrong(
        style,
        missing=[(0, 0.5)],
        none=[],
        twice=[(0, 0.5), (0, 0.5)],
        thrice=[(0, 0.5), (1, 0.5), (1, 0.5)],
        outside=[(0, 0.5), (2, 0.5)],
        below=[(0, 0.5), (-1, 0.5)],
        word=[(0, 0.5), ("1", 0.5)],
        truth=[(0, 0.5), (True, 0.5)],
        nan=[(0, 0.5), (1, float("nan"))],
        infinite=[(0, 0.5), (1, float("-inf"))],
        text=[(0, 0.5), (1, "0.5")],
        null=[(0, 0.5), (1, None)],
    )
    right = says(style, (0, 0.5), (1, 0.5))
    cases: list[tuple[str, Fault, type[EzraError]]] = []
    cases += [(name, fault, TierRejected) for name, fault in wrong.items()]
    cases += [
        ("prose", Fault(body=b"Sure! The first."), TierRejected),
        ("other", Fault(body=b'{"data": []}'), TierRejected),
        ("huge", Fault(body=(right.body or b"").ljust(ANSWER_BYTES_MAX + 1)), TierRejected),
        ("moved", Fault(302, headers={"location": "/elsewhere"}), TierRejected),
        ("broken", Fault(500), TierUnavailable),
        ("busy", Fault(429), TierUnavailable),
        ("cut", Fault(cut=True), TierUnavailable),
        ("slow", Fault(hang=True), TierTimeout),
        ("key", Fault(401, body=f"who is {KEY}?".encode()), ConfigError),
    ]
    return [pytest.param(style, fault, kind, id=f"{style}-{name}") for name, fault, kind in cases]


@pytest.mark.parametrize(("style", "fault", "kind"), [*_faults("tei"), *_faults("cohere")])
async def test_whatever_goes_wrong_recall_keeps_its_order(
    server: ModelServer, style: str, fault: Fault, kind: type[EzraError]
) -> None:
    """It is an error of ours that names the tier, holds no key, and costs the recall nothing."""
    server.always = fault
    state, found = Degradation(1.0), hits("plan 1", "plan 2")
    seconds = 0.05 if fault.hang else 5.0
    async with reranker_at(server, style, timeout_seconds=seconds) as reranker:
        with pytest.raises(kind) as caught:
            await reranker.rerank("which plan?", ["plan 1", "plan 2"])
        kept = await reranked(
            reranker, "which plan?", found, state, candidates=40, timeout_seconds=5.0
        )
    assert kept == (found, False)
    assert tuple(state.lost) == ("rerank",)
    assert KEY not in f"{caught.value} {state.skipped}"
    if isinstance(caught.value, TierError):
        assert caught.value.tier == "rerank"


@pytest.mark.parametrize("style", STYLES)
async def test_an_answer_moves_the_best_to_the_front(server: ModelServer, style: str) -> None:
    """And one attempt may fail."""
    server.faults.append(Fault(503))
    state = Degradation(1.0)
    async with reranker_at(server, style) as reranker:
        found, used = await reranked(
            reranker, "q", hits(*TEXTS), state, candidates=40, timeout_seconds=5.0
        )
    assert ([hit.text for hit in found], used) == (["plan 3", "plan 2", "plan 1"], True)
    assert (state.lost, len(server.seen)) == ({}, 2)


async def test_nobody_listens(server: ModelServer) -> None:
    """A refused connection and a closed reranker are the same to a recall: it does without."""
    reranker = reranker_at(server, "tei")
    for _ in range(2):
        with pytest.raises(TierUnavailable, match="not open"):
            await reranker.rerank("q", TEXTS)
        async with reranker:
            assert len(await reranker.rerank("q", TEXTS)) == len(TEXTS)
            with pytest.raises(UsageError, match="opened twice"):
                await reranker.__aenter__()
    state = Degradation(1.0)
    async with TeiReranker("http://127.0.0.1:9", first_delay_seconds=0.001) as nowhere:
        _, used = await reranked(
            nowhere, "q", hits(*TEXTS), state, candidates=40, timeout_seconds=5.0
        )
    assert (used, tuple(state.lost)) == (False, ("rerank",))


@pytest.mark.parametrize("made", [TeiReranker, CohereReranker])
@pytest.mark.parametrize(
    ("given", "kind"),
    [
        ({"url": "ftp://host"}, ConfigError),
        ({"url": "http://user:secret@host"}, ConfigError),
        ({"api_key": "a secret"}, ConfigError),
        ({"model": "no/../model"}, UsageError),
        ({"timeout_seconds": 0}, UsageError),
    ],
)
def test_what_cannot_be_is_refused_at_once(
    made: type[TeiReranker | CohereReranker], given: dict[str, Any], kind: type[EzraError]
) -> None:
    """When the reranker is made, not when it is asked; no secret is repeated."""
    with pytest.raises(kind) as caught:
        made(**{"url": "http://localhost:8080", **given})
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("given", "name", "path"),
    [
        ({}, "tei/rerank", "/rerank"),
        ({"rerank_model": "BAAI/bge-reranker-base"}, "tei/BAAI/bge-reranker-base", "/rerank"),
        ({"rerank_style": "cohere"}, "cohere/rerank-v3.5", "/v2/rerank"),
    ],
)
async def test_settings_alone_choose_a_reranker(
    server: ModelServer, given: dict[str, Any], name: str, path: str
) -> None:
    """With its key and its limit of time; without an address there is none."""
    settings = Settings(
        rerank_url=server.url, rerank_api_key=KEY, rerank_timeout_seconds=0.4, **given
    )
    assert KEY not in repr(settings)
    async with reranker_of(settings) as reranker:
        assert reranker is not None
        assert reranker.name == name
        assert await reranker.rerank("q", TEXTS) == (0.1, 0.3, 0.2)
        server.always = Fault(hang=True)
        with pytest.raises(TierTimeout, match=r"within 0\.4 s"):
            await reranker.rerank("q", TEXTS)
    assert (server.seen[0].path, server.seen[0].headers["authorization"]) == (path, f"Bearer {KEY}")
    async with reranker_of(Settings()) as none:
        assert none is None


async def test_a_check_up_asks_the_reranker(server: ModelServer, tmp_path: Any) -> None:
    """Only where there is one; what is wrong with it comes with what to do."""
    settings = Settings(home=tmp_path, embedder="off", rerank_url=server.url, rerank_api_key=KEY)
    found = {tier.tier: tier for tier in await check_up(settings)}["rerank"]
    assert (found.engine, found.reachable, found.problems) == ("tei", True, ())
    assert found.round_trip_ms is not None
    server.always = Fault(401)
    found = {tier.tier: tier for tier in await check_up(settings)}["rerank"]
    assert "set EZRA_RERANK_API_KEY" in found.problems[0]
    without = await check_up(Settings(home=tmp_path, embedder="off"))
    assert "rerank" not in {tier.tier for tier in without}
    assert json.loads(found.model_dump_json())["details"] == {"model": "rerank"}
