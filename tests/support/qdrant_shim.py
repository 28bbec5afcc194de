"""A stand-in for a Qdrant server: its REST interface on loopback, over the real engine.

Bodies are parsed by the driver's own models, so what the driver cannot say is not understood.
The server can be stopped and started with its data, frozen, and made to fail. What it does not
implement it refuses with 501. It is no Qdrant: consensus, replicas, quantization and the HNSW
graph are not there.
"""

from __future__ import annotations

import asyncio
import atexit
import functools
import json
import socket
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import uvicorn
from pydantic import TypeAdapter, ValidationError
from qdrant_client import models
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from .processes import wait_until
from .qdrant_collections import Collection, IndexParams, Refused, untranslated
from .threaded_server import ThreadedServer

VERSION = "1.20.0"
BODY_BYTES_MAX = 32 * 2**20
"""What a server takes as one request unless it is told otherwise."""

REQUESTS_MAX = 5_000
"""Most requests that are remembered; after that the older half is forgotten."""

_QUERY_KEYS = {"wait", "timeout", "consistency"}
_SELECTOR: TypeAdapter[models.PointsSelector] = TypeAdapter(models.PointsSelector)


@dataclass(frozen=True)
class Seen:
    """A request as it came in."""

    method: str
    path: str
    query: dict[str, str]
    body: bytes


@dataclass(frozen=True)
class Fault:
    """How to fail.

    Attributes:
        status: Sent with an error in the server's form; 0 sends ``body`` with 200.
        body: Text of the error, or the whole body.
        cut: Send only half of the body and close.
        headers: Sent too.
        times: How often; the requests after that are served.
    """

    status: int = 0
    body: str = ""
    cut: bool = False
    headers: tuple[tuple[str, str], ...] = ()
    times: int = 1_000_000


class QdrantShim:
    """One stand-in on a port of its own, which it keeps when it is started again.

    Args:
        api_key: Wanted from every request.
        version: What it says it is.
        has_indexes: A collection that is made like one before has the payload indexes that one got,
            as if another process had been first. Asking for them takes longer than most tests.
    """

    def __init__(
        self, *, api_key: str | None = None, version: str = VERSION, has_indexes: bool = False
    ) -> None:
        self.api_key = api_key
        self.version = version
        self._indexes: dict[bytes, dict[str, IndexParams]] | None = {} if has_indexes else None
        self.collections: dict[str, Collection] = {}
        self.requests: list[Seen] = []
        self.refusals: list[str] = []
        self.may_manage = True
        self._port = 0
        self._frozen = False
        self._fault: Fault | None = None
        self._failed = 0
        self._server: ThreadedServer | None = None
        self._thread: threading.Thread | None = None
        self._listener: socket.socket | None = None
        self._app = self._routed()

    @property
    def url(self) -> str:
        """The address for clients."""
        return f"http://127.0.0.1:{self._port}"

    def start(self) -> None:
        """Listen, on the same port as before, and wait until it does."""
        # Named, because asyncio leaves out TCP_NODELAY for protocol 0, which costs 40 ms a request.
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", self._port))
        self._port = listener.getsockname()[1]
        self._listener = listener
        config = uvicorn.Config(
            self._answer,
            interface="asgi3",
            lifespan="off",
            loop="asyncio",
            http="h11",
            ws="none",
            log_level="critical",
            access_log=False,
        )
        self._server = ThreadedServer(config)
        self._thread = threading.Thread(
            target=self._server.run, kwargs={"sockets": [listener]}, daemon=True
        )
        self._thread.start()
        wait_until(lambda: self._server is not None and self._server.started, "the stand-in")

    def stop(self) -> None:
        """Break every connection and stop listening; the data stay. May be repeated."""
        if self._server is not None and self._thread is not None:
            self._frozen = False
            self._server.end()
            self._thread.join()
            self._server = self._thread = None
        if self._listener is not None:
            # The server leaves it open when it is told to stop in the moment of its start.
            self._listener.close()
            self._listener = None

    def heal(self) -> None:
        """Start when stopped, let everybody in, and forget every point and request."""
        if self._server is None:
            self.start()
        self.api_key, self.version, self.may_manage = None, VERSION, True
        for collection in self.collections.values():
            collection.empty()
        self.requests.clear()
        self.refusals.clear()

    def forget(self, prefix: str = "") -> None:
        """Remove every collection whose name begins so: each takes some 20 MB of memory."""
        for name in [one for one in self.collections if one.startswith(prefix)]:
            self.collections.pop(name).close()

    def close(self) -> None:
        """Stop, and remove the data."""
        self.stop()
        self.forget()

    @contextmanager
    def frozen(self) -> Iterator[None]:
        """Accept requests for the block and answer none before its end."""
        self._frozen = True
        try:
            yield
        finally:
            self._frozen = False

    @contextmanager
    def failing(self, fault: Fault) -> Iterator[None]:
        """Fail for the block."""
        self._fault, self._failed = fault, 0
        try:
            yield
        finally:
            self._fault = None

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        body = await request.body()
        self.requests.append(Seen(request.method, scope["path"], dict(request.query_params), body))
        if len(self.requests) > REQUESTS_MAX:
            del self.requests[: REQUESTS_MAX // 2]
        while self._frozen:  # noqa: ASYNC110 - set by another thread
            await asyncio.sleep(0.005)
        fault = self._fault
        if fault is not None and self._failed < fault.times:
            self._failed += 1
            await _fail(fault, send)
            return
        await self._app(scope, _replayed(body), send)

    def _routed(self) -> Starlette:
        at = "/collections/{name}"
        routes: list[tuple[str, str, Callable[[Request], Awaitable[Any]]]] = [
            ("GET", "/collections", self._list),
            ("GET", f"{at}/exists", self._exists),
            ("GET", at, self._info),
            ("PUT", at, self._create),
            ("PATCH", at, self._update),
            ("DELETE", at, self._drop),
            ("PUT", f"{at}/index", self._index),
            ("PUT", f"{at}/points", self._upsert),
            ("POST", f"{at}/points/delete", self._delete),
            ("POST", f"{at}/points/count", self._count),
            ("POST", f"{at}/points/scroll", self._scroll),
            ("POST", f"{at}/points/query/batch", self._query_batch),
        ]
        return Starlette(
            routes=[
                Route("/", self._root),
                *(Route(path, self._served(act), methods=[verb]) for verb, path, act in routes),
            ],
            exception_handlers={404: _unknown, 405: _unknown},
        )

    def _served(self, act: Callable[[Request], Awaitable[Any]]) -> Any:
        async def endpoint(request: Request) -> Response:
            try:
                self._check(request)
                return JSONResponse({"result": await act(request), "status": "ok", "time": 0.0})
            except Refused as refused:
                self.refusals.append(refused.reason)
                return _error(refused.status, refused.reason)
            except ValidationError as error:
                return _error(400, f"Format error in JSON body: {error.title}")

        return endpoint

    def _check(self, request: Request) -> None:
        if self.api_key is not None and request.headers.get("api-key") != self.api_key:
            raise Refused(401, "Invalid API key or JWT")
        if int(request.headers.get("content-length", 0)) > BODY_BYTES_MAX:
            raise Refused(413, "Payload too large")
        unknown = request.query_params.keys() - _QUERY_KEYS
        if unknown:
            raise untranslated(sorted(unknown))
        if int(request.query_params.get("timeout", 1)) < 1:
            raise Refused(422, "timeout must be 1 or more")

    def _of(self, request: Request) -> Collection:
        name = request.path_params["name"]
        if name not in self.collections:
            raise Refused(404, f"Not found: Collection `{name}` doesn't exist!")
        return self.collections[name]

    def _manage(self) -> None:
        if not self.may_manage:
            raise Refused(403, "Forbidden: Global manage access is required")

    async def _root(self, _request: Request) -> Response:
        return JSONResponse({"title": "qdrant - stand-in", "version": self.version})

    async def _list(self, _request: Request) -> Any:
        return {"collections": [{"name": name} for name in self.collections]}

    async def _exists(self, request: Request) -> Any:
        return {"exists": request.path_params["name"] in self.collections}

    async def _info(self, request: Request) -> Any:
        return self._of(request).info().model_dump(mode="json", exclude_none=True)

    async def _create(self, request: Request) -> Any:
        self._manage()
        body = await request.body()
        made = models.CreateCollection.model_validate_json(body)
        name = request.path_params["name"]
        if name in self.collections:
            raise Refused(409, f"Wrong input: Collection `{name}` already exists!")
        self.collections[name] = collection = Collection(made)
        if self._indexes is not None:
            collection.index_all(self._indexes.get(body, {}))
            self._indexes[body] = collection.schema
        return True

    async def _update(self, request: Request) -> Any:
        self._manage()
        asked = models.UpdateCollection.model_validate_json(await request.body())
        self._of(request).update(asked)
        return True

    async def _drop(self, request: Request) -> Any:
        self._manage()
        collection = self.collections.pop(request.path_params["name"], None)
        if collection is None:
            return False
        collection.close()
        return True

    async def _index(self, request: Request) -> Any:
        asked = models.CreateFieldIndex.model_validate_json(await request.body())
        self._of(request).index(asked)
        return _written(request)

    async def _upsert(self, request: Request) -> Any:
        asked = models.PointsList.model_validate_json(await request.body())
        self._of(request).upsert(asked.points)
        return _written(request)

    async def _delete(self, request: Request) -> Any:
        selector = _SELECTOR.validate_json(await request.body())
        self._of(request).delete(selector)
        return _written(request)

    async def _count(self, request: Request) -> Any:
        asked = models.CountRequest.model_validate_json(await request.body())
        if not asked.exact:
            raise untranslated("estimated counts")
        return {"count": self._of(request).count(asked.filter)}

    async def _scroll(self, request: Request) -> Any:
        asked = models.ScrollRequest.model_validate_json(await request.body())
        return self._of(request).scroll(asked)

    async def _query_batch(self, request: Request) -> Any:
        asked = models.QueryRequestBatch.model_validate_json(await request.body())
        return [self._of(request).query(one) for one in asked.searches]


@functools.cache
def shared_shim() -> QdrantShim:
    """Return the stand-in of this test run, started when first asked for; hurt another one."""
    shim = QdrantShim(has_indexes=True)
    shim.start()
    atexit.register(shim.close)
    return shim


@contextmanager
def running_shim(*, api_key: str | None = None, version: str = VERSION) -> Iterator[QdrantShim]:
    """Run a stand-in for the block."""
    shim = QdrantShim(api_key=api_key, version=version)
    try:
        shim.start()
        yield shim
    finally:
        shim.close()


def _written(request: Request) -> dict[str, Any]:
    waited = request.query_params.get("wait") == "true"
    return {"operation_id": 0, "status": "completed" if waited else "acknowledged"}


def _error(status: int, reason: str) -> JSONResponse:
    return JSONResponse({"status": {"error": reason}, "time": 0.0}, status_code=status)


async def _unknown(request: Request, _error: Exception) -> Response:
    reason = f"the stand-in does not implement {request.method} {request.url.path}"
    return JSONResponse({"status": {"error": reason}, "time": 0.0}, status_code=501)


async def _fail(fault: Fault, send: Send) -> None:
    body = fault.body.encode()
    if fault.status:
        body = json.dumps({"status": {"error": fault.body}, "time": 0.0}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
    headers += [(name.encode(), value.encode()) for name, value in fault.headers]
    await send({"type": "http.response.start", "status": fault.status or 200, "headers": headers})
    sent = body[: len(body) // 2] if fault.cut else body
    await send({"type": "http.response.body", "body": sent})


def _replayed(body: bytes) -> Receive:
    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body, "more_body": False}

    return receive
