"""Stand-ins for the HTTP APIs of Gemini and OpenAI, on loopback, with faults to order.

They speak what the real client libraries send and expect, record every request, and refuse what
the real services refuse: a wrong key, an empty text, an unknown path. Vectors follow from the
text, are of a length that is not 1, and differ between questions and other texts where the real
model's would.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import math
import socket
import threading
import time
from collections import deque
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from .processes import PATIENCE_SECONDS, wait_until
from .threaded_server import ThreadedServer

KEY = "test-key-0123456789"
WIDTH = 64  # of an OpenAI model that is asked for no width
GEMINI_PATHS = ("/v1/models/", "/v1beta/models/")  # from google-genai 3 on, and before it


@dataclass(frozen=True)
class Seen:
    """One request as it came in."""

    path: str
    headers: dict[str, str]
    body: Any


@dataclass(frozen=True)
class Fault:
    """What one request is answered with instead.

    Attributes:
        status: The HTTP status.
        body: The body; ``None`` for an error in the provider's own words.
        headers: Added to the answer's.
        hang: Never answers.
        cut: Breaks the connection off within the body.
        gate: Answers once this is set.
        change: Applied to the right answer before it is sent.
    """

    status: int = 200
    body: bytes | None = None
    headers: dict[str, str] = field(default_factory=dict)
    hang: bool = False
    cut: bool = False
    gate: threading.Event | None = None
    change: Any = None


def raw_vector(text: str, width: int, salt: str = "") -> list[float]:
    """Return what the stand-ins answer to a text: a vector of length 3."""
    seed = int.from_bytes(hashlib.sha256(f"{salt}{text}".encode()).digest()[:8], "big")
    vector = np.random.default_rng(seed).normal(size=width)
    return [float(number) for number in 3 * vector / np.linalg.norm(vector)]


def unit_vector(text: str, width: int, salt: str = "") -> tuple[float, ...]:
    """Return the same at unit length."""
    vector = raw_vector(text, width, salt)
    length = math.sqrt(math.fsum(number * number for number in vector))
    return tuple(number / length for number in vector)


class ModelServer:
    """A running stand-in.

    Attributes:
        url: Its address, without a path.
        seen: Every request, in order of arrival.
        faults: What the next requests get, first in, first out; then all is well again.
        always: What every request gets when no fault is queued; ``None`` for the right answer.
        answers: What the next chats are answered with, first in, first out.
        running: Requests in work now.
        most: The most that were in work at the same time.
        dropped: Requests whose client went away before the answer.
    """

    def __init__(self) -> None:
        self.url = ""
        self.seen: list[Seen] = []
        self.faults: deque[Fault] = deque()
        self.always: Fault | None = None
        self.answers: deque[dict[str, Any]] = deque()
        self.running = 0
        self.most = 0
        self.dropped = 0

    def reset(self) -> None:
        """Forget every request and every order, so that the next test finds all well."""
        self.seen.clear()
        self.faults.clear()
        self.always = None
        self.answers.clear()
        self.most = self.dropped = 0

    @property
    def embedded(self) -> list[list[str]]:
        """The texts of every embedding request."""
        return [_texts_of(seen.body) for seen in self.seen if "mbed" in seen.path]

    async def until_seen(self, count: int) -> None:
        """Wait until that many requests have come."""
        await self.until(lambda: len(self.seen) >= count)

    async def until(self, condition: Any) -> None:
        """Wait until the condition holds; the server runs in another thread."""
        limit = time.monotonic() + PATIENCE_SECONDS
        while not condition():
            assert time.monotonic() < limit, "the stand-in waited in vain"
            await asyncio.sleep(0.002)

    async def handle(self, request: Request) -> Response:
        """Record a request and answer it, rightly or as ordered."""
        content = await request.body()
        body = json.loads(content) if content else None
        self.seen.append(Seen(request.url.path, dict(request.headers), body))
        fault = self.faults.popleft() if self.faults else self.always
        self.running += 1
        self.most = max(self.most, self.running)
        try:
            return await self._answer(request, body, fault)
        finally:
            self.running -= 1

    async def _answer(self, request: Request, body: Any, fault: Fault | None) -> Response:
        if fault is None:
            return _right(self, request, body)
        if fault.hang:
            await self._until_dropped(request)
        if fault.gate is not None:
            await self.until(fault.gate.is_set)
        if fault.cut:
            return StreamingResponse(_cut_off(), headers={"content-length": "1000"})
        if fault.change is not None:
            answer = json.loads(bytes(_right(self, request, body).body))
            return _json(fault.change(answer))
        if fault.status == 200 and fault.body is None:
            return _right(self, request, body)
        content = fault.body
        if content is None:
            content = bytes(_refusal(request, fault.status, "out of order").body)
        headers = {"content-type": "application/json", **fault.headers}
        return Response(content, fault.status, headers)

    async def _until_dropped(self, request: Request) -> None:
        while not await request.is_disconnected():  # noqa: ASYNC110 - nothing tells of it
            await asyncio.sleep(0.005)
        self.dropped += 1


async def _cut_off() -> AsyncIterator[bytes]:
    yield b'{"data": ['
    raise ConnectionResetError


def _json(answer: Any) -> Response:
    # Unlike JSONResponse, this lets NaN and Infinity through, as some servers do.
    return Response(json.dumps(answer), headers={"content-type": "application/json"})


def _texts_of(body: Any) -> list[str]:
    if "requests" in body:
        return [asked["content"]["parts"][0]["text"] for asked in body["requests"]]
    return list(body["input"])


def _right(server: ModelServer, request: Request, body: Any) -> Response:
    refused = _unwelcome(request)
    if refused is not None:
        return refused
    answers = {
        "batchEmbedContents": lambda: _gemini_vectors(request, body),
        "generateContent": lambda: _gemini_answer(server, body),
        "embeddings": lambda: _openai_vectors(request, body),
        "completions": lambda: _openai_answer(server, body),
    }
    asked = request.url.path.rsplit("/", 1)[-1].rsplit(":", 1)[-1]
    if asked not in answers:
        return _refusal(request, 404, f"nothing at {request.url.path}")
    return answers[asked]()


def _unwelcome(request: Request) -> Response | None:
    """Return the refusal of a request at a wrong place or with a wrong key, which it repeats."""
    path = request.url.path
    if path.startswith(GEMINI_PATHS):
        shown = request.headers.get("x-goog-api-key")
        if shown != KEY:
            detail = {"@type": "type.googleapis.com/google.rpc.ErrorInfo"}
            detail["reason"] = "API_KEY_INVALID"
            return _refusal(request, 400, f"API key not valid: {shown}", [detail])
    elif path.startswith("/open/v1/"):
        shown = request.headers.get("authorization")
        if shown != f"Bearer {KEY}":
            return _refusal(request, 401, f"Incorrect API key provided: {shown}")
    elif not path.startswith("/local/v1/"):
        return _refusal(request, 404, f"nothing at {path}")
    return None


def _refusal(request: Request, status: int, message: str, details: Any = ()) -> Response:
    if request.url.path.startswith(GEMINI_PATHS):
        error = {"code": status, "message": message, "status": "X", "details": list(details)}
    else:
        error = {"message": message, "type": "x", "code": None, "param": None}
    return JSONResponse({"error": error}, status)


def _gemini_vectors(request: Request, body: Any) -> Response:
    asked = body["requests"]
    if not 1 <= len(asked) <= 100:
        return _refusal(request, 400, "at most 100 requests can be in one batch")
    vectors = []
    for one in asked:
        parts = one["content"]["parts"]
        if len(parts) != 1 or not parts[0]["text"]:
            return _refusal(request, 400, "content must not be empty")
        width = one.get("outputDimensionality", 3072)
        salt = one.get("taskType", "")
        vectors.append({"values": raw_vector(parts[0]["text"], width, salt)})
    return _json({"embeddings": vectors})


def _gemini_answer(server: ModelServer, body: Any) -> Response:
    if not body.get("contents"):
        return JSONResponse({"error": {"code": 400, "message": "contents is required"}}, 400)
    usage = {"promptTokenCount": 11, "candidatesTokenCount": 3, "thoughtsTokenCount": 2}
    if server.answers:
        return _json({"usageMetadata": usage, **server.answers.popleft()})
    text = body["contents"][-1]["parts"][0]["text"]
    return _json({"usageMetadata": usage, **gemini_says(f"echo: {text}")})


def gemini_says(text: str, finish: str = "STOP") -> dict[str, Any]:
    """Return a Gemini answer."""
    content = {"role": "model", "parts": [{"text": text}]}
    return {"candidates": [{"content": content, "finishReason": finish, "index": 0}]}


def _openai_vectors(request: Request, body: Any) -> Response:
    if "input" not in body or body.get("encoding_format") != "float":
        return _refusal(request, 400, "this server wants input and encoding_format float")
    if not all(body["input"]) or not 1 <= len(body["input"]) <= 2048:
        return _refusal(request, 400, "'$.input' is invalid")
    width = body.get("dimensions", WIDTH)
    data = [
        {"object": "embedding", "index": index, "embedding": raw_vector(text, width)}
        for index, text in enumerate(body["input"])
    ]
    # Backwards: what counts is the index, and a client that goes by the order is found out.
    usage = {"prompt_tokens": 1, "total_tokens": 1}
    return _json({"object": "list", "data": data[::-1], "model": body["model"], "usage": usage})


def _openai_answer(server: ModelServer, body: Any) -> Response:
    if server.answers:
        return _json(server.answers.popleft())
    return _json(openai_says(f"echo: {body['messages'][-1]['content']}"))


def openai_says(text: str | None, finish: str = "stop", refusal: str | None = None) -> Any:
    """Return an OpenAI answer."""
    message = {"role": "assistant", "content": text, "refusal": refusal}
    return {
        "id": "1",
        "object": "chat.completion",
        "created": 1,
        "model": "stand-in",
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": {"prompt_tokens": 11, "completion_tokens": 5, "total_tokens": 16},
    }


@contextmanager
def running_model_server() -> Iterator[ModelServer]:
    """Run a stand-in in a thread of its own for the block."""
    server = ModelServer()
    app = Starlette(routes=[Route("/{path:path}", server.handle, methods=["GET", "POST"])])
    config = uvicorn.Config(app, log_level="critical", lifespan="off", ws="none")
    running = ThreadedServer(config)
    # With the protocol named, asyncio turns Nagle's algorithm off: 40 ms for each answer.
    with socket.socket(proto=socket.IPPROTO_TCP) as listening:
        listening.bind(("127.0.0.1", 0))
        server.url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        thread = threading.Thread(target=running.run, args=([listening],), name="model-server")
        thread.start()
        wait_until(lambda: running.started or not thread.is_alive(), "the stand-in")
        assert thread.is_alive(), "the stand-in did not start"
        try:
            yield server
        finally:
            running.end()
            thread.join(PATIENCE_SECONDS)
            assert not thread.is_alive(), "the stand-in did not stop"
