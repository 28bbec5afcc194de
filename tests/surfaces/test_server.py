"""The server: what it refuses, what it bounds, what it repeats, and how it stops."""

from __future__ import annotations

import asyncio
import json
import logging
import re
import urllib.error
import urllib.request
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from support.mcp_client import told
from support.processes import PATIENCE_SECONDS
from support.service import Slow, Ticking, bearer, inside, serving

from ezra import Ezra, Settings
from ezra.moving.graph_status import overall
from ezra.service.limits import BUCKETS_MAX, Buckets, TooManyRequests
from ezra.service.mcp_door import MCP_PATH
from ezra.service.openapi import EXAMPLES
from ezra.service.repeats import READING, TAKING
from ezra.service.routes import handlers
from ezra.service.tokens import TokenFile
from ezra.wire.problems import CONTENT_TYPE
from tiers.errors import BudgetExceeded, TierUnavailable

NOW = 1_000.0


REFUSED = [
    ("GET", "/v1/graphs/monza", {}, 404, "NotFound"),
    ("GET", "/nowhere", {}, 404, "NotFound"),
    ("GET", "/v1/graphs/", {}, 404, "NotFound"),
    ("PUT", "/v1/graphs", {}, 405, "UsageError"),
    ("POST", "/v1/graphs", {"json": {"session_graph_id": "imola"}}, 409, "Conflict"),
    ("POST", "/v1/graphs", {"json": {}}, 422, "UsageError"),
    ("POST", "/v1/graphs", {"json": {"session_graph_id": "a", "zz": 1}}, 422, "UsageError"),
    ("POST", "/v1/graphs?exist_ok=true", {"json": {"session_graph_id": "b"}}, 422, "UsageError"),
    ("GET", "/v1/audit?limit=x", {}, 422, "UsageError"),
    ("GET", "/v1/audit?zz=1", {}, 422, "UsageError"),
    ("POST", "/v1/graphs", {"content": b"{"}, 415, "UsageError"),
    ("POST", "/v1/graphs", {"content": b"{", "json_": True}, 422, "UsageError"),
    (
        "POST",
        "/v1/graphs",
        {"content": b'{"x": NaN, "y": 1e999}', "json_": True},
        422,
        "UsageError",
    ),
    ("POST", "/v1/graphs", {"content": b'{"x": "\\ud800"}', "json_": True}, 422, "UsageError"),
    ("POST", "/v1/graphs", {"content": b'{"\xff": 1}', "json_": True}, 400, "UsageError"),
    ("POST", "/v1/graphs", {"content": b"x" * 2_000}, 413, "UsageError"),
    ("POST", "/v1/graphs", {"headers": {"idempotency-key": "x" * 256}}, 422, "UsageError"),
    ("GET", "/v1/graphs", {"headers": {"host": "ezra.example"}}, 403, "UsageError"),
    ("GET", "/v1/graphs", {"headers": {"host": "127.0.0.1.nip.io:80"}}, 403, "UsageError"),
    ("GET", "/v1/graphs", {"headers": {"host": "[::1"}}, 403, "UsageError"),
    ("GET", "/v1/graphs", {"headers": {"origin": "http://ezra.example"}}, 403, "UsageError"),
    ("GET", "/v1/graphs", {"headers": {"origin": "http://localhost:3000"}}, 403, "UsageError"),
    ("GET", "/v1/graphs", {"headers": {"origin": "null"}}, 403, "UsageError"),
    ("GET", "/v1/audit/feed", {"headers": {"last-event-id": "ten"}}, 422, "UsageError"),
    ("GET", "/v1/audit/feed?after=-1", {}, 422, "UsageError"),
    ("GET", "/v1/audit/feed?kinds=denied", {}, 422, "UsageError"),
    ("GET", "/v1/graphs/imola/beliefs/export?topic=tyres", {}, 422, "UsageError"),
]


async def test_every_refusal_is_a_problem_document_that_names_our_error(behind: Ezra) -> None:
    """Unknown, unfit, too large, from a foreign page: one form, the same headers, no 5xx."""
    await behind.create_session_graph("imola")
    async with inside(behind, serve_body_bytes_max=1_024) as http:
        for verb, path, given, status, name in REFUSED:
            headers = dict(given.get("headers", {}))
            if given.get("json_"):
                headers["content-type"] = "application/json"
            sent = {key: value for key, value in given.items() if key in ("json", "content")}
            answer = await http.request(verb, path, headers=headers, **sent)
            said = answer.json()
            what = (verb, path, given)
            assert answer.status_code == said["status"] == status, (what, said)
            assert answer.headers["content-type"] == CONTENT_TYPE, what
            assert said["type"] == f"urn:ezra:error:{name}", what
            assert said["title"], what
            assert answer.headers["x-content-type-options"] == "nosniff"
            assert answer.headers["cache-control"] == "no-store"
            assert "access-control-allow-origin" not in answer.headers


async def test_a_refused_method_is_told_every_one_that_there_is(behind: Ezra) -> None:
    """``Allow`` names the methods of all routes of an address; only what has an end has HEAD."""
    async with inside(behind) as http:
        for verb, path, allowed in (
            ("OPTIONS", "/v1/graphs", "GET, HEAD, POST"),
            ("POST", "/v1/graphs/imola/agents/ada", "DELETE, GET, HEAD, PUT"),
            ("HEAD", "/v1/audit/feed", "GET"),
            ("HEAD", "/v1/erasures", "POST"),
        ):
            answer = await http.request(verb, path)
            assert (answer.status_code, answer.headers["allow"]) == (405, allowed)


async def test_head_answers_as_get_does_and_leaves_the_content_out(behind: Ezra) -> None:
    """Whoever watches a server asks for heads; a thing that is not there is not there either."""
    patience = {"timeout": PATIENCE_SECONDS}
    async with serving(behind) as url, httpx2.AsyncClient(base_url=url, **patience) as http:
        for path in ("/health", "/v1/graphs", "/v1/graphs/nowhere"):
            got, head = await http.get(path), await http.head(path)
            assert (head.status_code, head.content) == (got.status_code, b"")
            assert head.headers["content-length"] == got.headers["content-length"]


@pytest.mark.parametrize(
    "content",
    [b"[" * 90_000, b'{"a":' * 90_000, b'{"limit": ' + b"9" * 5_000 + b"}", b'{"\xff": 1}'],
)
async def test_json_that_cannot_be_read_is_refused(behind: Ezra, content: bytes) -> None:
    """A body that would exhaust the parser is no failure of the service; what would do is said."""
    async with inside(behind) as http:
        headers = {"content-type": "application/json"}
        answer = await http.post("/v1/graphs", content=content, headers=headers)
    assert answer.status_code in (400, 422)
    assert answer.json()["field"] == "body"
    assert answer.json()["accepted"].startswith("JSON in UTF-8")


async def test_a_refusal_names_the_field_its_value_and_what_is_accepted(behind: Ezra) -> None:
    """A person can mend the request without reading anything else; our own page is let in."""
    async with inside(behind) as http:
        bad_limit = await http.get("/v1/audit", params={"limit": "many"})
        headers = {"host": "localhost:8765", "origin": "http://localhost:8765"}
        own_page = await http.get("/v1/graphs", headers=headers)
    said = bad_limit.json()
    assert (said["field"], said["value"]) == ("limit", "many")
    assert "whole number" in said["accepted"]
    assert own_page.status_code == 200


async def test_a_name_that_is_given_twice_is_refused(behind: Ezra) -> None:
    """In a body however deep, and in an address: nobody knows which of the two was meant."""
    graph = await behind.create_session_graph("monza")
    agent = await graph.spawn_agent("keeper")
    kept = await agent.remember("Bob drinks tea.")
    twice = [
        ("erasures", b'{"subject": "Ada", "subject": "Bob", "reason": "case 1"}', "subject"),
        ("agents/keeper/memories", b'{"what": {"text": "a", "text": "b"}}', "text"),
        ("agents/keeper/memories", b'{"what": {"text": "a"}, "what": {"text": "b"}}', "what"),
    ]
    async with inside(behind) as client:
        for path, content, name in twice:
            headers = {"content-type": "application/json"}
            answer = await client.post(f"/v1/graphs/monza/{path}", content=content, headers=headers)
            problem = answer.json()
            assert (answer.status_code, problem["field"]) == (422, name)
            assert "given twice" in problem["accepted"]
        answer = await client.get("/v1/graphs/monza/facts?limit=1&limit=2")
        assert (answer.status_code, answer.json()["field"]) == (422, "limit")
        several = await client.get("/v1/graphs/monza/facts?topics=tyres&topics=fuel")
        assert several.status_code == 200
    assert [one.id for one in (await graph.latest_facts()).rows] == [kept]


async def test_who_sends_no_body_is_told_what_one_is(behind: Ezra) -> None:
    """Where everything has a default, an empty object will do; where nothing is asked, nothing."""
    await behind.create_session_graph("imola")
    async with inside(behind) as http:
        for path, status in (("graphs/imola/beliefs/verify", 422), ("graphs/imola/close", 200)):
            answer = await http.post(f"/v1/{path}")
            assert answer.status_code == status, answer.text
        verified = await http.post("/v1/graphs/imola/beliefs/verify", json={})
        refused = (await http.post("/v1/graphs/imola/beliefs/verify")).json()
    assert verified.status_code == 200
    assert (refused["field"], refused["accepted"][:18]) == ("body", "a JSON object: {} ")


async def test_a_failure_of_the_service_tells_no_details(
    behind: Ezra, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The answer carries an id; under that id the log says where, and neither quotes content."""

    async def broken(_: Ezra) -> dict[str, int]:
        message = "the driver's secret"
        raise RuntimeError(message)

    monkeypatch.setattr(Ezra, "waiting_work", broken)
    with caplog.at_level(logging.INFO, "ezra"):
        async with inside(behind) as http:
            answer = await http.get("/v1/waiting-work")
    assert answer.status_code == 500
    assert answer.headers["content-type"] == CONTENT_TYPE
    (failed,) = (record for record in caplog.records if record.levelname == "ERROR")
    fields = vars(failed)["fields"]
    assert answer.json()["id"] == fields["request"] == answer.headers["x-request-id"]
    assert fields["error"] == "RuntimeError"
    assert "broken" in fields["where"]
    assert "secret" not in answer.text + json.dumps(fields) + failed.getMessage()


async def test_the_access_log_holds_ids_and_never_content(
    behind: Ezra, tokens: TokenFile, caplog: pytest.LogCaptureFixture
) -> None:
    """One line a request: who by the token's id, which route and which names, how it went."""
    await (await behind.create_session_graph("imola")).spawn_agent("strategist")
    headers = bearer(tokens)
    with caplog.at_level(logging.INFO, "ezra.access"):
        async with inside(behind, tokens) as http:
            path = "/v1/graphs/imola/agents/strategist/recall"
            await http.post(path, json={"query": "hush hush"}, headers=headers)
            await http.get("/v1/hush-hush?token=hush", headers={"authorization": "Bearer hush"})
    first, second = (vars(record)["fields"] for record in caplog.records)
    assert first["route"] == "/v1/graphs/{graph_id}/agents/{agent_id}/recall"
    assert (first["graph_id"], first["agent_id"], first["status"]) == ("imola", "strategist", 200)
    assert first["token"] == tokens.tokens()[0].id
    assert (second["token"], second["route"], second["status"]) == (None, None, 401)
    said = json.dumps([first, second])
    assert "hush" not in said
    assert headers["authorization"][-43:] not in said


def test_a_bucket_holds_a_minute_and_fills_as_time_goes_by() -> None:
    """So many at once, then as they come back; callers do not take from each other."""
    buckets = Buckets(60)
    for _ in range(60):
        buckets.take("one", NOW)
    with pytest.raises(TooManyRequests) as full:
        buckets.take("one", NOW + 0.5)
    assert full.value.seconds == 1
    assert isinstance(full.value, BudgetExceeded)
    buckets.take("other", NOW)
    buckets.take("one", NOW + 1)
    with pytest.raises(TooManyRequests):
        buckets.take("one", NOW + 1)
    for number in range(BUCKETS_MAX + 10):
        buckets.take(str(number), NOW)
    assert len(buckets._buckets) == BUCKETS_MAX


async def test_a_token_has_so_many_requests_per_minute(behind: Ezra, tokens: TokenFile) -> None:
    """One too many is told when to come again, and another token goes on."""
    one, other = bearer(tokens), bearer(tokens)
    ticking = Ticking()
    async with inside(behind, tokens, seconds=ticking, serve_requests_per_minute=3) as http:
        answers = [await http.get("/v1/graphs", headers=one) for _ in range(4)]
        apart = await http.get("/v1/graphs", headers=other)
        ticking.now += 20
        again = await http.get("/v1/graphs", headers=one)
    assert [answer.status_code for answer in answers] == [200, 200, 200, 429]
    assert answers[-1].headers["retry-after"] == "20"
    assert answers[-1].json()["limit"] == 3
    assert (apart.status_code, again.status_code) == (200, 200)


async def test_a_body_that_never_ends_is_cut_off(behind: Ezra) -> None:
    """What does not say how large it is, is read no further than the limit."""
    read = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal read
        for _ in range(10_000):
            read += 1_000
            yield b"x" * 1_000

    async with serving(behind) as url, httpx2.AsyncClient(base_url=url) as http:
        try:
            status = (await http.post("/v1/graphs", content=endless())).status_code
        except httpx2.HTTPError:
            status = 413  # it hung up on us, which says the same
        large = await http.post("/v1/graphs", content=b"x" * 9_000_000)
    assert status == 413
    assert read < 10_000_000
    assert large.status_code == 413
    assert large.headers["content-type"] == CONTENT_TYPE


async def test_who_hangs_up_after_asking_is_told_that_the_body_was_too_large(
    behind: Ezra,
) -> None:
    """A client of the standard library sends to its end before it reads, and closes then."""
    async with serving(behind) as url, httpx2.AsyncClient(base_url=url) as http:
        for _ in range(5):
            large = await http.post(
                "/v1/graphs", content=b"x" * 9_000_000, headers={"connection": "close"}
            )
            assert large.status_code == 413
        asking = urllib.request.Request(f"{url}/v1/graphs", b"x" * 9_000_000)  # noqa: S310
        with pytest.raises(urllib.error.HTTPError) as told:
            await asyncio.to_thread(urllib.request.urlopen, asking)
        told.value.close()
        assert told.value.code == 413


@pytest.mark.parametrize("sent", ["[]", "[1]", "5", '"text"'])
async def test_a_body_that_is_no_object_is_told_what_is_accepted(behind: Ezra, sent: str) -> None:
    """What the refusal accepts are fields; no error of ours shows through."""
    headers = {"content-type": "application/json"}
    async with inside(behind) as http:
        refused = await http.post("/v1/graphs", content=sent, headers=headers)
    assert (refused.status_code, refused.json()["accepted"]) == (422, "fields")


async def test_a_repeated_key_gets_the_answer_that_it_got_before(
    behind: Ezra, tokens: TokenFile
) -> None:
    """The work is done once per caller and key, another body is refused, and keys wear off."""
    one, other = bearer(tokens), bearer(tokens)
    ticking = Ticking()
    key = {"idempotency-key": "k1"}

    async with inside(behind, tokens, seconds=ticking) as http:

        async def create(name: str, who: dict[str, str]) -> httpx2.Response:
            body = {"session_graph_id": name}
            return await http.post("/v1/graphs", json=body, headers=who | key)

        first, repeated = await create("imola", one), await create("imola", one)
        another = await create("monaco", one)
        apart = await create("imola", other)
        ticking.now += 601
        late = await create("imola", one)
    assert first.status_code == repeated.status_code == 200
    assert first.content == repeated.content
    assert "idempotent-replayed" not in first.headers
    assert repeated.headers["idempotent-replayed"] == "true"
    assert another.status_code == 409
    assert another.json()["type"] == "urn:ezra:error:Conflict"
    assert apart.status_code == 409, "the other caller's key is its own: the graph is there"
    assert late.status_code == 409, "after ten minutes it is done anew: the graph is there"
    assert [graph.id for graph in await behind.session_graphs()] == ["imola"]


def test_what_reads_and_what_takes_away_is_known_by_the_last_word_of_an_address() -> None:
    """Each word is one of an operation, and none is of both kinds."""
    ends = {one.path.rpartition("/")[2] for one, _ in handlers if one.verb == "POST"}
    assert ends >= READING
    assert ends >= TAKING
    assert not READING & TAKING


async def test_no_kept_answer_says_what_was_erased(behind: Ezra) -> None:
    """A read is read anew; a write is neither done twice nor answered with words that are gone."""
    graph = await behind.create_session_graph("imola")
    await graph.spawn_agent("boss", topics={"*"})
    async with inside(behind) as http:

        async def ask(what: str, body: dict[str, Any]) -> httpx2.Response:
            path = f"/v1/graphs/imola/agents/boss/{what}"
            return await http.post(path, json=body, headers={"idempotency-key": what})

        claim, query = {"claim": "Yorrick Blandford is ill."}, {"query": "Yorrick Blandford"}
        assert "Yorrick" in (await ask("beliefs", claim)).text
        assert (await ask("beliefs", claim)).headers["idempotent-replayed"] == "true"
        assert "is ill" in (await ask("recall", query)).text
        body = {"subject": "Yorrick Blandford", "reason": "GDPR 17"}
        refused = await http.post("/v1/graphs/imola/erasures", json={**body, "reason": " "})
        assert refused.status_code // 100 == 4
        assert (await ask("beliefs", claim)).headers["idempotent-replayed"] == "true"
        key = {"idempotency-key": "erase"}
        for is_again in (False, True):
            erased = await http.post("/v1/graphs/imola/erasures", json=body, headers=key)
            assert erased.status_code == 200
            assert ("idempotent-replayed" in erased.headers) is is_again
        repeated, read = await ask("beliefs", claim), await ask("recall", query)
    assert repeated.status_code == 409
    assert read.status_code == 200
    assert "is ill" not in repeated.text + read.text
    assert (await graph.status()).cold["beliefs"] == 0, "it is not said again"


async def test_no_kept_answer_says_what_was_forgotten_over_mcp(behind: Ezra) -> None:
    """Whichever door takes a fact away, a repeated request does not tell it any more."""
    await (await behind.create_session_graph("imola")).spawn_agent("boss", topics={"*"})
    patience = {"timeout": PATIENCE_SECONDS}
    async with serving(behind) as url, httpx2.AsyncClient(base_url=url, **patience) as http:

        async def ask() -> httpx2.Response:
            path, body = "/v1/graphs/imola/agents/boss/turns", {"message": "How is Yorrick?"}
            return await http.post(path, json=body, headers={"idempotency-key": "one"})

        seat = streamable_http_client(f"{url}{MCP_PATH}?graph=imola&agent=boss", http_client=http)
        async with Client(seat) as client:
            fact = await told(client, "remember_fact", text="Yorrick is ill.")
            assert "is ill" in (await ask()).text
            await told(client, "recall", query="Yorrick")
            assert (await ask()).headers["idempotent-replayed"] == "true"
            await told(client, "forget", fact_id=fact["id"], reason="He asked for it.")
        repeated = await ask()
    assert (repeated.status_code, "is ill" in repeated.text) == (409, False)


async def test_who_leaves_takes_no_words_along(behind: Ezra) -> None:
    """Answers of others are still kept when an agent leaves, a link ends or a pin is taken out."""
    await behind.create_session_graph("monaco")
    graph = await behind.create_session_graph("imola", inherits_from=["monaco"])
    boss, _ = await graph.spawn_agent("boss"), await graph.spawn_agent("guest")
    belief = await boss.commit("Start on mediums.")
    await boss.pin(belief.id)
    async with inside(behind) as http:

        async def say() -> httpx2.Response:
            path, key = "/v1/graphs/imola/agents/boss/memories", {"idempotency-key": "one"}
            return await http.post(path, json={"what": "Mediums last 18 laps."}, headers=key)

        first = await say()
        for path in ("agents/guest", "parents/monaco", f"beliefs/{belief.id}/pin"):
            assert (await http.delete(f"/v1/graphs/imola/{path}")).status_code == 200
            assert (await say()).content == first.content
    deletes = {one.name for one, _ in handlers if one.verb == "DELETE"}
    # What an import left is of a graph that never was: nobody had an answer from it.
    known = {"agent.leave", "graph.revoke", "beliefs.unpin", "graph.discard_import"}
    assert deletes == known, "others may take words away"


async def test_who_asks_the_same_meanwhile_waits_for_the_first(tmp_path: Path) -> None:
    """Two requests with one key at a time are one call of the model."""
    slow = Slow()
    settings = Settings(home=tmp_path / "home", embedder="off", background=False)
    async with (
        asyncio.timeout(PATIENCE_SECONDS),
        Ezra.open(settings, model=slow) as ezra,
        inside(ezra) as http,
    ):
        await (await ezra.create_session_graph("imola")).spawn_agent("strategist")

        async def complete() -> httpx2.Response:
            path = "/v1/graphs/imola/agents/strategist/complete"
            headers = {"idempotency-key": "once"}
            return await http.post(path, json={"message": "how long?"}, headers=headers)

        tasks = [asyncio.create_task(complete()) for _ in range(3)]
        await slow.asked.wait()
        slow.let.set()
        answers = await asyncio.gather(*tasks)
        turns = (await (await ezra.session_graph("imola")).status()).cold["turns"]
    assert {answer.status_code for answer in answers} == {200}
    assert len({answer.content for answer in answers}) == 1
    assert turns == 1


async def test_a_failure_is_not_repeated(behind: Ezra, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the same key, what failed at the server is tried again."""
    tried = 0

    async def once_broken(_: Ezra) -> Any:
        nonlocal tried
        tried += 1
        raise TierUnavailable("cold", "rotate", "down")

    monkeypatch.setattr(Ezra, "rotate_key", once_broken)
    async with inside(behind) as http:
        headers = {"idempotency-key": "k"}
        answers = [await http.post("/v1/key", headers=headers) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [503, 503]
    assert tried == 2


async def test_health_names_tiers_and_nothing_else(
    behind: Ezra, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without cold nothing goes; without another tier the service says that it is degraded."""
    async with inside(behind) as http:
        answer = await http.get("/health")
    tiers = {"hot": "ok", "warm": "ok", "cold": "ok"}
    assert (answer.status_code, answer.json()) == (200, {"status": "ok", "tiers": tiers})
    assert overall({**tiers, "warm": "unavailable"}) == "degraded"

    async def down(*_: object) -> Any:
        raise TierUnavailable("cold", "graph", "down")

    monkeypatch.setattr(type(behind._runtime.graphs), "graph", down)
    async with inside(behind) as http:
        answer = await http.get("/health")
    assert answer.status_code == 503
    assert answer.json() == {"status": "failing", "tiers": {**tiers, "cold": "unavailable"}}


async def test_the_runtime_says_how_its_tiers_answer(
    runtime: Any, behind: Ezra, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Through either door: each tier in milliseconds; one that does not answer is no error."""
    found = await runtime.health()
    assert (found.status, list(found.tiers)) == ("ok", ["hot", "warm", "cold"])
    assert all(one.state == "ok" and one.milliseconds > 0 for one in found.tiers.values())

    async def down(*_: object) -> Any:
        raise TierUnavailable("warm", "count", "down")

    monkeypatch.setattr(type(behind._runtime.warm), "count", down)
    found = await runtime.health()
    assert found.status == "degraded"
    assert (found.tiers["warm"].state, found.tiers["warm"].milliseconds) == ("unavailable", None)
    assert found.tiers["cold"].state == "ok"


async def test_the_openapi_document_is_whole(behind: Ezra) -> None:
    """It has every operation, each reference leads somewhere, and each example is accepted."""
    async with inside(behind) as http:
        answer = await http.get("/openapi.json")
    document = answer.json()
    names = [one["operationId"] for path in document["paths"].values() for one in path.values()]
    ours = {operation.name: operation for operation, _ in handlers}
    assert len(names) == len(set(names))
    assert set(ours) <= set(names)
    assert {"audit.feed", "health", "beliefs.export"} <= set(names)
    schemas = document["components"]["schemas"]
    references = set(re.findall(r'"\$ref":\s*"([^"]+)"', answer.text))
    assert references
    assert {one.rpartition("/")[0] for one in references} == {"#/components/schemas"}
    assert {one.rpartition("/")[2] for one in references} <= set(schemas)
    for name, example in EXAMPLES.items():
        ours[name].asks.model_validate(example)
    shown = [
        one["requestBody"]["content"]["application/json"]["example"]
        for path in document["paths"].values()
        for one in path.values()
        if one["operationId"] in EXAMPLES
    ]
    assert len(shown) == len(EXAMPLES)
    assert "http" not in json.dumps(document["info"])
