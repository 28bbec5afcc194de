"""What a Qdrant server says about itself and our collections, for ``ezra doctor``.

Nothing is changed: what a key may do is found out by asking to remove what does not exist.
"""

from __future__ import annotations

import uuid
from functools import partial
from urllib.parse import urlsplit

from pydantic import JsonValue
from qdrant_client import AsyncQdrantClient, models

from ..errors import ConfigError, TierError
from ..health import Findings, TierHealth, round_trip_ms
from .qdrant_calls import QdrantCalls
from .qdrant_collection import VERSION_MIN, is_named, mismatches, missing_indexes, supported
from .qdrant_connect import qdrant_client
from .qdrant_options import QdrantOptions

COLLECTIONS_MAX = 50
"""Most collections that are looked at; one is made for each embedding model."""

_LOCAL_HOSTS = ("localhost", "127.0.0.1", "::1")


async def examined(
    url: str, *, api_key: str | None, prefix: str, timeout_seconds: float
) -> TierHealth:
    """Return what is there and what is wrong with it; see ``qdrant_health``."""
    options = QdrantOptions(timeout_seconds=timeout_seconds)
    async with qdrant_client(url, api_key=api_key, options=options) as client:
        examination = _Examination(client, QdrantCalls(timeout_seconds), prefix)
        if api_key and _is_open(url):
            examination.found.problems.append("the key travels unencrypted; use an https:// URL")
        await examination.run()
        return examination.found.as_health()


class _Examination:
    """One look at one server; what it finds is collected as it goes."""

    def __init__(self, client: AsyncQdrantClient, calls: QdrantCalls, prefix: str) -> None:
        self.found = Findings("warm", "qdrant")
        self._client = client
        self._calls = calls
        self._prefix = prefix

    async def run(self) -> None:
        """Look at the server, the key and the collections; stop where nothing more can be seen."""
        try:
            await self._look_at_server()
            await self._look_at_key()
            await self._look_at_collections()
        except ConfigError as error:
            self.found.reachable = True
            self.found.problems.append(f"{error}; set the key of this server")
        except TierError as error:
            self.found.problems.append(f"{error.reason}; look at the server and at EZRA_QDRANT_URL")

    async def _look_at_server(self) -> None:
        answer = partial(self._calls.answer, "health", self._client.info)
        self.found.version = version = (await answer()).version
        self.found.reachable = True
        self.found.round_trip_ms = await round_trip_ms(answer)
        if not supported(version):
            needed = ".".join(map(str, VERSION_MIN))
            self.found.problems.append(f"Qdrant {version} is too old; update it to {needed}")

    async def _look_at_key(self) -> None:
        """Find out whether collections may be made and removed, with one that does not exist."""
        probe = f"{self._prefix}_probe_{uuid.uuid4().hex}"
        try:
            await self._calls.answer("manage", lambda: self._client.delete_collection(probe))
        except ConfigError:
            self.found.details["may_manage"] = False
            self.found.problems.append(
                "the key may not make or remove collections; give one that may, or the index of "
                "a new embedding model cannot be made"
            )
        else:
            self.found.details["may_manage"] = True

    async def _look_at_collections(self) -> None:
        listed = await self._calls.answer("health", self._client.get_collections)
        names = sorted(one.name for one in listed.collections if is_named(self._prefix, one.name))
        found: dict[str, JsonValue] = {}
        for name in names[:COLLECTIONS_MAX]:
            info = await self._calls.answer("health", partial(self._client.get_collection, name))
            found[name] = _described(info)
            self.found.problems += (f"{name} {problem}" for problem in _problems(info))
        self.found.details["collections"] = found
        if len(names) > COLLECTIONS_MAX:
            left = len(names) - COLLECTIONS_MAX
            self.found.problems.append(
                f"{left} more collections were not looked at; drop unused ones"
            )


def _described(info: models.CollectionInfo) -> dict[str, JsonValue]:
    params = info.config.params
    optimizer = info.optimizer_status
    said = (info.config.metadata or {}).get("ezra")
    return {
        "model_id": said.get("model_id") if isinstance(said, dict) else None,
        "points": info.points_count,
        "indexed_vectors": info.indexed_vectors_count,
        "segments": info.segments_count,
        "status": str(info.status),
        "optimizer": "ok" if optimizer == models.OptimizersStatusOneOf.OK else "failed",
        "shards": params.shard_number,
        "replicas": params.replication_factor,
        "write_consistency": params.write_consistency_factor,
        "quantized": info.config.quantization_config is not None,
        "indexes": list[JsonValue](sorted(info.payload_schema)),
    }


def _problems(info: models.CollectionInfo) -> list[str]:
    problems = [f"{wrong}; drop it and build it again" for wrong in mismatches(info, None)]
    missing = missing_indexes(info)
    if missing:
        named = ", ".join(missing)
        problems.append(f"lacks indexes on {named}: searches scan; open it with ezra to make them")
    elif not _is_tenant(info):
        problems.append("does not know tenant as the tenant key; make that index again")
    if info.status == models.CollectionStatus.RED:
        problems.append("is red: an operation failed and was not made good; see the server's log")
    elif info.status == models.CollectionStatus.GREY:
        problems.append("is grey: it waits to be optimised; any write to it starts that")
    if info.optimizer_status != models.OptimizersStatusOneOf.OK:
        problems.append("cannot be optimised; see the server's log, often the disk is full")
    return problems


def _is_tenant(info: models.CollectionInfo) -> bool:
    params = info.payload_schema["tenant"].params
    return isinstance(params, models.KeywordIndexParams) and bool(params.is_tenant)


def _is_open(url: str) -> bool:
    parts = urlsplit(url)
    return parts.scheme == "http" and parts.hostname not in _LOCAL_HOSTS
