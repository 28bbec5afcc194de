"""Which engine each tier runs on: the only module that names concrete stores and models.

A tier is on a server when its address is set, and embedded when it is not; each switches alone.
Nothing above this module knows which it is.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from tiers import hot
from tiers.cold.owner import own_folder
from tiers.cold.sqlite import (
    DATABASE_NAME,
    MADE_NAME,
    check_file,
    give_room,
    note_made,
    sqlite_cold_store,
)
from tiers.cold.sqlite.health import sqlite_health
from tiers.errors import ConfigError, refused
from tiers.extras import needs
from tiers.health import TierHealth
from tiers.ports import HotStore, LanguageModel, WarmStore
from tiers.upkeep import WarmGenerations
from tiers.warm import QdrantOptions, edge_generations, qdrant_generations, qdrant_health
from tiers.warm.edge_health import edge_health

from ..contradiction import ContradictionJudge, ModelJudge, NliJudge
from ..models import EchoModel, GeminiModel, OpenAIModel, ScriptedModel
from ..models.reranking import (
    COHERE_MODEL,
    TEI_MODEL,
    CohereReranker,
    LocalReranker,
    Reranker,
    RestingReranker,
    TeiReranker,
)
from ..moving.addresses import shown
from ..moving.side import House
from ..settings import Settings, fastembed_name
from .embedders import embedder_health, required, secret

if TYPE_CHECKING:
    from tiers.cold.cold_stores import ColdStores

GEMINI_MODEL = "gemini-2.5-flash"
OPENAI_MODEL = "gpt-4o-mini"


@asynccontextmanager
async def owned_home(settings: Settings) -> AsyncIterator[None]:
    """Own the folder of the embedded tiers for the length of the block, if there are any.

    Its database is looked at before anything else in it is opened.

    Raises:
        ConfigError: Another process owns it, it cannot be made, or its database has another
            version.
        CorruptRecord: Its database was emptied, cut short or damaged.
    """
    if not settings.needs_home:
        yield
        return
    async with own_folder(_new_folder(settings.home)):
        if settings.mongodb_uri is None:
            await asyncio.to_thread(check_file, settings.home / DATABASE_NAME)
        yield


async def has_memory(settings: Settings) -> bool:
    """Whether there is a memory to read: on a server always, embedded once its records are stored.

    The folder may be there without one: tokens are kept in it too.
    """
    if settings.mongodb_uri is not None:
        return True
    # One that is lost is opened all the same, which says so.
    signs = [settings.home / name for name in (DATABASE_NAME, MADE_NAME)]
    return await asyncio.to_thread(lambda: any(sign.exists() for sign in signs))


def hot_store(settings: Settings) -> AbstractAsyncContextManager[HotStore]:
    """Return the hot tier, to be entered."""
    if settings.redis_url is None:
        return hot.embedded_hot_store()
    return hot.redis_hot_store(
        settings.redis_url.get_secret_value(),
        prefix=settings.redis_prefix,
        connections_max=settings.redis_connections,
        timeout_seconds=min(settings.server_timeout_seconds, settings.step_timeout_seconds),
    )


def warm_generations(settings: Settings) -> AbstractAsyncContextManager[WarmGenerations]:
    """Return the warm tier's indexes, to be entered."""
    if settings.qdrant_url is None:
        return edge_generations(settings.home / "warm")
    return qdrant_generations(
        settings.qdrant_url.get_secret_value(),
        api_key=secret(settings.qdrant_api_key),
        prefix=settings.qdrant_prefix,
        options=QdrantOptions(
            shard_number=settings.qdrant_shards,
            replication_factor=settings.qdrant_replicas,
            quantization=settings.qdrant_quantization,
            timeout_seconds=settings.server_timeout_seconds,
        ),
    )


def cold_store(
    settings: Settings, archival_index: WarmStore | None = None
) -> AbstractAsyncContextManager[ColdStores]:
    """Return the cold tier, to be entered; ``archival_index`` finds facts by meaning."""
    if settings.mongodb_uri is None:
        return _embedded_cold(settings.home, archival_index)
    from tiers.cold.mongo import mongo_cold_store  # noqa: PLC0415 - only who uses it pays for it

    return mongo_cold_store(
        settings.mongodb_uri.get_secret_value(),
        database=settings.mongodb_database,
        driver=settings.mongodb_driver,
        archival_index=archival_index,
        timeout_seconds=settings.server_timeout_seconds,
        connections_max=settings.mongodb_connections,
    )


@asynccontextmanager
async def _embedded_cold(home: Path, archival_index: WarmStore | None) -> AsyncIterator[ColdStores]:
    await asyncio.to_thread(give_room, home)
    async with sqlite_cold_store(home, archival_index=archival_index) as cold:
        await asyncio.to_thread(note_made, home)
        yield cold


@asynccontextmanager
async def language_model(
    settings: Settings, given: LanguageModel | None = None
) -> AsyncIterator[LanguageModel]:
    """Hold the language model for the length of the block: the one given, or the settings' one.

    Raises:
        ConfigError: A provider's key is missing.
    """
    if given is not None or settings.llm == "none":
        yield given or EchoModel()
        return
    async with _provider_model(settings) as model:
        yield model


def meta_agents_model(settings: Settings, model: LanguageModel) -> LanguageModel | None:
    """Return the model that the meta-agents may use; ``None``: they do with rules alone.

    An echo says nothing, and a script's answers are meant for who asks in order.
    """
    if settings.meta_agents_model == "off" or isinstance(model, EchoModel | ScriptedModel):
        return None
    return model


@asynccontextmanager
async def contradiction_judge(
    settings: Settings, model: LanguageModel
) -> AsyncIterator[ContradictionJudge | None]:
    """Hold who judges claims without a key for the length of the block; ``None``: rules alone do.

    Raises:
        ConfigError: A cross-encoder is asked for and its address is missing or cannot be one.
    """
    wanted = settings.judge
    if wanted == "auto":
        wanted = "rules" if settings.nli_url is None else "nli"
    if wanted == "rules":
        yield None
    elif wanted == "llm":
        yield ModelJudge(model, timeout_seconds=settings.model_timeout_seconds)
    elif settings.nli_url is None:
        raise ConfigError("EZRA_NLI_URL", "EZRA_JUDGE=nli needs the address of a cross-encoder")
    else:
        async with NliJudge(
            settings.nli_url,
            api_key=secret(settings.nli_api_key),
            contradiction_label=settings.nli_contradiction_label,
            timeout_seconds=settings.server_timeout_seconds,
        ) as judge:
            yield judge


@asynccontextmanager
async def reranker_of(settings: Settings) -> AsyncIterator[Reranker | None]:
    """Hold who reranks for the length of the block; ``None``: recall keeps its own order.

    Raises:
        ConfigError: The address or the key cannot be one.
    """
    if settings.rerank_url is None and settings.reranker is None:
        yield None
        return
    async with _reranker(settings) as reranker:
        yield RestingReranker(reranker, settings.rerank_timeout_seconds)


@asynccontextmanager
async def opened_house(settings: Settings, beside: House | None = None) -> AsyncIterator[House]:
    """Hold one end of a move for the length of the block.

    Args:
        settings: Which tiers are where.
        beside: The other end. A tier at the same place as one of its tiers is taken from it, and a
            folder that it owns is not owned again.

    Raises:
        ConfigError: The folder is owned by another process or cannot be used.
    """
    embedded = f"embedded {settings.home.resolve()}"
    cold_at = embedded if settings.mongodb_uri is None else _mongodb_place(settings)
    warm_at = embedded if settings.qdrant_url is None else _qdrant_place(settings)
    async with AsyncExitStack() as stack:
        theirs = () if beside is None else (beside.cold_at, beside.warm_at)
        if settings.needs_home and embedded not in theirs:
            await stack.enter_async_context(own_folder(_new_folder(settings.home)))
        if beside is not None and warm_at == beside.warm_at:
            generations = beside.generations
        else:
            generations = await stack.enter_async_context(warm_generations(settings))
        if beside is not None and cold_at == beside.cold_at:
            archive, leases, taint = beside.cold, beside.leases, beside.taint
        else:
            cold = await stack.enter_async_context(cold_store(settings))
            archive, leases, taint = cold.archive, cold.leases, cold.taint
        yield House(archive, generations, leases, taint, cold_at=cold_at, warm_at=warm_at)


async def check_up(settings: Settings) -> tuple[TierHealth, ...]:
    """Return what each tier's engine and each model that is configured say about themselves.

    Engines are asked one after the other: a round trip is then the engine's own. A setting that
    does not allow to ask one is a problem of that one, and the others are asked all the same.
    """
    checks: dict[str, Callable[[Settings], Awaitable[TierHealth]]] = {
        "hot": _hot_health,
        "warm": _warm_health,
        "cold": _cold_health,
        "embedding": embedder_health,
    }
    if settings.llm != "none":
        checks["model"] = _model_health
    if settings.rerank_url is not None or settings.reranker is not None:
        checks["rerank"] = _reranker_health
    return tuple([await _health_of(tier, check, settings) for tier, check in checks.items()])


async def _health_of(
    tier: str, check: Callable[[Settings], Awaitable[TierHealth]], settings: Settings
) -> TierHealth:
    try:
        return await check(settings)
    except ConfigError as error:
        return TierHealth(tier=tier, engine="unknown", reachable=False, problems=(str(error),))


async def _hot_health(settings: Settings) -> TierHealth:
    if settings.redis_url is None:
        return await hot.embedded_hot_health()
    url = settings.redis_url.get_secret_value()
    return await hot.redis_health(url, settings.redis_prefix, settings.server_timeout_seconds)


async def _warm_health(settings: Settings) -> TierHealth:
    if settings.qdrant_url is None:
        return await edge_health(settings.home / "warm")
    return await qdrant_health(
        settings.qdrant_url.get_secret_value(),
        api_key=secret(settings.qdrant_api_key),
        prefix=settings.qdrant_prefix,
        timeout_seconds=settings.server_timeout_seconds,
    )


async def _cold_health(settings: Settings) -> TierHealth:
    if settings.mongodb_uri is None:
        return await sqlite_health(settings.home)
    from tiers.cold.mongo.health import mongo_health  # noqa: PLC0415 - likewise

    return await mongo_health(
        settings.mongodb_uri.get_secret_value(),
        settings.mongodb_database,
        settings.mongodb_driver,
        settings.server_timeout_seconds,
    )


def _provider_model(settings: Settings) -> GeminiModel | OpenAIModel:
    if settings.llm == "openai":
        return OpenAIModel(
            settings.openai_base_url,
            secret(settings.openai_api_key),
            settings.llm_model or OPENAI_MODEL,
            timeout_seconds=settings.model_timeout_seconds,
            requests_per_minute=settings.requests_per_minute,
        )
    return GeminiModel(
        required("EZRA_GEMINI_API_KEY", settings.gemini_api_key),
        settings.llm_model or GEMINI_MODEL,
        base_url=settings.gemini_base_url,
        timeout_seconds=settings.model_timeout_seconds,
        requests_per_minute=settings.requests_per_minute,
    )


def _reranker(settings: Settings) -> CohereReranker | TeiReranker | LocalReranker:
    if (name := fastembed_name(settings.reranker)) is not None:
        with needs("fastembed", "EZRA_RERANKER"):
            from tiers.embedding.fastembed_models import FastEmbedCrossEncoder  # noqa: PLC0415
        return LocalReranker(FastEmbedCrossEncoder(name, settings.models_folder()))
    url = settings.rerank_url or ""
    key, seconds = secret(settings.rerank_api_key), settings.rerank_timeout_seconds
    if settings.rerank_style == "cohere":
        model = settings.rerank_model or COHERE_MODEL
        return CohereReranker(url, key, model, timeout_seconds=seconds)
    model = settings.rerank_model or TEI_MODEL
    return TeiReranker(url, key, model, timeout_seconds=seconds)


async def _model_health(settings: Settings) -> TierHealth:
    return await _of_provider(_provider_model(settings))


async def _reranker_health(settings: Settings) -> TierHealth:
    return await _of_provider(_reranker(settings))


async def _of_provider(
    provider: GeminiModel | OpenAIModel | CohereReranker | LocalReranker | TeiReranker,
) -> TierHealth:
    async with provider:
        return await provider.health()


def _mongodb_place(settings: Settings) -> str:
    return f"{shown(secret(settings.mongodb_uri) or '')}, {settings.mongodb_database}"


def _qdrant_place(settings: Settings) -> str:
    return f"{shown(secret(settings.qdrant_url) or '')}, {settings.qdrant_prefix}"


def _new_folder(home: Path) -> Path:
    with refused(lambda why: ConfigError("EZRA_HOME", f"cannot make {home}: {why}"), ValueError):
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
    return home
