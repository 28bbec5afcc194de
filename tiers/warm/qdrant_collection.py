"""The collection behind a warm index: how it is named, made, and checked when it is there.

One collection holds one embedding model's vectors of every tenant. Its metadata say so, and in
which format: ``{"ezra": {"format": 2, "model_id": …}}``.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterator

from qdrant_client import AsyncQdrantClient, models

from ..errors import ConfigError, TierRejected, UsageError
from .payload import DENSE, FORMAT, INTEGER_KEYS, KEYWORD_KEYS, LEXICAL
from .qdrant_calls import QdrantCalls
from .qdrant_options import QdrantOptions

VERSION_MIN = (1, 19)
"""The first server that counts words inside one graph; an older one counts everybody's."""

EXACT_POINTS = 100_000
"""Vectors that a search still compares one by one, so that the same ones are always the nearest.

Of those that meet a search's conditions, per segment. Above it the server may walk its graph of
vectors, which finds nearly all of them.
"""

SLUG_CHARS = 40
PREFIX_CHARS = 64
OVERSAMPLING = 2.0

_NAME = re.compile(r"[a-z0-9-]+_[0-9a-f]{12}")
_REBUILD = "remove it and let it be rebuilt from the cold tier, or set another EZRA_QDRANT_PREFIX"
_HNSW_KEYS = ("owner",)
_KILOBYTES_MIN = 10  # a server takes no less
_TYPES = dict.fromkeys(KEYWORD_KEYS, models.PayloadSchemaType.KEYWORD) | dict.fromkeys(
    INTEGER_KEYS, models.PayloadSchemaType.INTEGER
)


def collection_name(prefix: str, model_id: str | None) -> str:
    """Return the name of a model's collection: prefix, readable part, digest.

    The digest tells apart what the readable part, of bounded length and few characters, does not;
    the two have no ``_``, so that no prefix is taken for another that begins like it.

    Raises:
        UsageError: The prefix is not one.
    """
    if not re.fullmatch(rf"[A-Za-z0-9_-]{{1,{PREFIX_CHARS}}}", prefix):
        accepted = f"1 to {PREFIX_CHARS} letters, digits, _ and -"
        raise UsageError("prefix", prefix, accepted)
    readable = "words only" if model_id is None else model_id
    slug = re.sub(r"[^a-z0-9]+", "-", readable.lower())[:SLUG_CHARS].strip("-") or "model"
    named = b"" if model_id is None else b"model:" + model_id.encode(errors="surrogatepass")
    return f"{prefix}_{slug}_{hashlib.sha256(named).hexdigest()[:12]}"


def is_named(prefix: str, name: str) -> bool:
    """Whether ``collection_name`` makes such names with this prefix."""
    return name.startswith(f"{prefix}_") and bool(_NAME.fullmatch(name[len(prefix) + 1 :]))


async def ensured(
    client: AsyncQdrantClient,
    calls: QdrantCalls,
    name: str,
    model_id: str | None,
    dimensions: int,
    options: QdrantOptions,
) -> None:
    """Make the collection when it is not there, else check it; make payload indexes that it lacks.

    Repeatable, and safe beside another process that does the same.

    Raises:
        ConfigError: It is there and is something else, or the server is too old.
        TierError: The server cannot be reached, or refuses.
    """
    await _check_version(client, calls)
    if not await calls.answer("open", lambda: client.collection_exists(name)):
        await _make(client, calls, name, model_id, dimensions, options)
    info = await calls.answer("open", lambda: client.get_collection(name))
    wrong = next(mismatches(info, dimensions), None)
    if wrong is not None:
        raise ConfigError("warm collection", f"{name} {wrong}; {_REBUILD}")
    for key in missing_indexes(info):
        await _index(client, calls, name, key)


def mismatches(info: models.CollectionInfo, dimensions: int | None) -> Iterator[str]:
    """Yield what makes a collection unusable, each with what is there and what is needed.

    ``dimensions`` is the embedder's; ``None`` where any will do.
    """
    said = (info.config.metadata or {}).get("ezra")
    stored_format = said.get("format") if isinstance(said, dict) else None
    if stored_format is None:
        yield "was not made by ezra"
    elif stored_format != FORMAT:
        yield f"has format {stored_format}, this version reads {FORMAT}"
    yield from _vector_mismatches(info.config.params, dimensions)
    for key, wanted in _TYPES.items():
        found = info.payload_schema.get(key)
        if found is not None and found.data_type != wanted:
            yield f"indexes {key} as {found.data_type}, needed is {wanted}"


def _vector_mismatches(params: models.CollectionParams, dimensions: int | None) -> Iterator[str]:
    vectors = params.vectors if isinstance(params.vectors, dict) else {}
    dense = vectors.get(DENSE)
    if dense is None:
        yield f"has no vector named {DENSE}"
    elif dimensions is not None and dense.size != dimensions:
        yield f"holds vectors of {dense.size} dimensions, the embedder makes {dimensions}"
    elif dense.distance != models.Distance.COSINE:
        yield f"compares vectors by {dense.distance}, needed is {models.Distance.COSINE}"
    sparse = (params.sparse_vectors or {}).get(LEXICAL)
    if sparse is None:
        yield f"has no sparse vector named {LEXICAL}"
    elif sparse.modifier != models.Modifier.IDF:
        yield f"weighs words by {sparse.modifier}, needed is {models.Modifier.IDF}"


def missing_indexes(info: models.CollectionInfo) -> tuple[str, ...]:
    """Return the keys that predicates use and the collection does not index."""
    return tuple(key for key in _TYPES if key not in info.payload_schema)


def supported(version: str) -> bool:
    """Whether a server of this version ranks as the embedded engine does."""
    numbers = re.match(r"(\d+)\.(\d+)", version)
    return numbers is not None and (int(numbers[1]), int(numbers[2])) >= VERSION_MIN


def dense_params(options: QdrantOptions) -> models.SearchParams | None:
    """Return how the dense leg is searched: compressed vectors only choose the candidates.

    Nothing is said about being exact: how much is, the collection itself knows.
    """
    if options.quantization == "none":
        return None
    return models.SearchParams(
        quantization=models.QuantizationSearchParams(rescore=True, oversampling=OVERSAMPLING)
    )


async def _check_version(client: AsyncQdrantClient, calls: QdrantCalls) -> None:
    version = (await calls.answer("open", client.info)).version
    if not supported(version):
        needed = ".".join(map(str, VERSION_MIN))
        reason = f"the server is Qdrant {version}; needed is {needed} or later"
        raise ConfigError("EZRA_QDRANT_URL", reason)


async def _make(
    client: AsyncQdrantClient,
    calls: QdrantCalls,
    name: str,
    model_id: str | None,
    dimensions: int,
    options: QdrantOptions,
) -> None:
    try:
        await calls.answer(
            "create",
            lambda: client.create_collection(
                name,
                vectors_config={
                    DENSE: models.VectorParams(
                        size=dimensions,
                        distance=models.Distance.COSINE,
                        on_disk=False,
                    )
                },
                sparse_vectors_config={
                    LEXICAL: models.SparseVectorParams(
                        index=models.SparseIndexParams(on_disk=False),
                        modifier=models.Modifier.IDF,
                    )
                },
                # Every search names a tenant and a graph, so links across them would never be
                # walked: the graph over everything is left out, and only links inside them are
                # made. https://qdrant.tech/documentation/manage-data/multitenancy/
                hnsw_config=models.HnswConfigDiff(
                    m=0, payload_m=16, full_scan_threshold=_exact_kilobytes(dimensions)
                ),
                quantization_config=_quantization(options),
                shard_number=options.shard_number,
                replication_factor=options.replication_factor,
                metadata={"ezra": {"format": FORMAT, "model_id": model_id}},
                timeout=calls.server_seconds,
            ),
        )
    except TierRejected:
        # Another process may have been first, or the first try of this call.
        if not await calls.answer("open", lambda: client.collection_exists(name)):
            raise


def _exact_kilobytes(dimensions: int) -> int:
    """Return ``EXACT_POINTS`` as a server counts them: in kilobytes of vectors."""
    return max(_KILOBYTES_MIN, math.ceil(EXACT_POINTS * dimensions * 4 / 1024))


def _quantization(options: QdrantOptions) -> models.QuantizationConfig | None:
    if options.quantization == "scalar":
        scalar = models.ScalarQuantizationConfig(
            type=models.ScalarType.INT8, quantile=0.99, always_ram=True
        )
        return models.ScalarQuantization(scalar=scalar)
    if options.quantization == "binary":
        return models.BinaryQuantization(binary=models.BinaryQuantizationConfig(always_ram=True))
    return None


async def _index(client: AsyncQdrantClient, calls: QdrantCalls, name: str, key: str) -> None:
    schema: models.KeywordIndexParams | models.IntegerIndexParams
    if key in KEYWORD_KEYS:
        schema = models.KeywordIndexParams(
            type=models.KeywordIndexType.KEYWORD,
            is_tenant=key == "tenant",
            enable_hnsw=key in _HNSW_KEYS,
        )
    else:
        schema = models.IntegerIndexParams(
            type=models.IntegerIndexType.INTEGER, lookup=False, range=True, enable_hnsw=False
        )
    await calls.done(
        "index",
        lambda: client.create_payload_index(
            name, field_name=key, field_schema=schema, wait=True, timeout=calls.server_seconds
        ),
    )
