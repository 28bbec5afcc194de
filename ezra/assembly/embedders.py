"""Which model makes vectors: installed here, of fastembed's, or at a provider.

With ``engines`` the only module that names concrete ones. What a model needs is loaded when it is
asked for, since it may not be installed.
"""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING

from pydantic import SecretStr

from tiers.embedding.installed import PRECISIONS, InstalledModel, find_model
from tiers.errors import ConfigError
from tiers.extras import needs
from tiers.health import TierHealth
from tiers.ports import Embedder

from ..settings import Settings, fastembed_name

if TYPE_CHECKING:
    from tiers.embedding.fastembed_models import FastEmbedEmbedder
    from tiers.embedding.gemini_embedder import GeminiEmbedder
    from tiers.embedding.onnx_embedder import OnnxEmbedder
    from tiers.embedding.openai_embedder import OpenAIEmbedder

GEMINI_EMBEDDING_MODEL = "gemini-embedding-001"
GEMINI_DIMENSIONS = 768
OPENAI_EMBEDDING_MODEL = "text-embedding-3-small"


def wanted_embedder(settings: Settings) -> AbstractAsyncContextManager[Embedder] | None:
    """Return the embedder that the settings ask for, to be entered, or ``None`` for words only.

    Raises:
        ConfigError: It is required and not installed, or a provider's key is missing.
    """
    if settings.embedder == "off":
        return None
    if settings.embedder in ("gemini", "openai"):
        return _provider_embedder(settings, settings.embedder, settings.embedding_model, None)
    if (name := fastembed_name(settings.embedder)) is not None:
        return _fastembed_embedder(settings, name)
    folder = settings.models_folder()
    installed = find_model(folder)
    if installed is None and settings.embedder == "required":
        reason = f"no embedding model in {folder}; run 'ezra embedder install'"
        raise ConfigError("EZRA_EMBEDDER", reason)
    if installed is None or (settings.embedder == "auto" and lacks_model_runtime() is not None):
        return None
    return _onnx_embedder(installed)


def embedder_of(settings: Settings, model_id: str) -> AbstractAsyncContextManager[Embedder] | None:
    """Return the embedder of a model, to be entered, or ``None`` when it cannot be had here.

    A former model answers with it while the index of the wanted one is built.
    """
    provider, _, rest = model_id.partition("/")
    name, _, dimensions = rest.rpartition("@")
    if provider in ("gemini", "openai") and name and dimensions.isdecimal():
        keys = {"gemini": settings.gemini_api_key, "openai": settings.openai_api_key}
        if keys[provider] is None and not (provider == "openai" and settings.openai_base_url):
            return None
        return _provider_embedder(settings, provider, name, int(dimensions))
    if provider == "fastembed" and rest:
        return _fastembed_embedder(settings, rest)
    if lacks_model_runtime() is not None:
        return None
    for precision in PRECISIONS:
        installed = find_model(settings.models_folder(), precision)
        if installed is not None and installed.model_id == model_id:
            return _onnx_embedder(installed)
    return None


async def embedder_health(settings: Settings) -> TierHealth:
    """Return what can be said of the embedder without loading a local model."""
    if settings.embedder in ("gemini", "openai"):
        provider = settings.embedder
        async with _provider_embedder(settings, provider, settings.embedding_model, None) as asked:
            return await asked.health()
    if (name := fastembed_name(settings.embedder)) is not None:
        model_id = _fastembed_embedder(settings, name).model_id
        return TierHealth(tier="embedding", engine="fastembed", details={"model": model_id})
    if settings.embedder == "off":
        return TierHealth(tier="embedding", engine="off", details={"recall": "by words only"})
    found: InstalledModel | None = find_model(settings.models_folder())
    missing = None if found is None else lacks_model_runtime()
    if found is not None and missing is None:
        return TierHealth(tier="embedding", engine="onnxruntime", details={"model": found.model_id})
    problem = "no embedding model: recall is by words only; run 'ezra embedder install'"
    if missing is not None:
        problem = f"recall is by words only: {missing.reason}"
    required = settings.embedder == "required"
    return TierHealth(tier="embedding", engine="none", reachable=not required, problems=(problem,))


def lacks_model_runtime() -> ConfigError | None:
    """Return what is missing here to run an embedding model; ``None``: nothing is."""
    try:
        with needs("embed", "EZRA_EMBEDDER"):
            from tiers.embedding import onnx_embedder  # noqa: F401, PLC0415 - it may be missing
    except ConfigError as error:
        return error
    return None


def _onnx_embedder(installed: InstalledModel) -> OnnxEmbedder:
    with needs("embed", "EZRA_EMBEDDER"):
        from tiers.embedding.onnx_embedder import OnnxEmbedder  # noqa: PLC0415 - likewise
    return OnnxEmbedder(installed)


def _fastembed_embedder(settings: Settings, name: str) -> FastEmbedEmbedder:
    with needs("fastembed", "EZRA_EMBEDDER"):
        from tiers.embedding.fastembed_models import FastEmbedEmbedder  # noqa: PLC0415 - likewise
    return FastEmbedEmbedder(name, settings.models_folder())


def _provider_embedder(
    settings: Settings, provider: str, model: str | None, dimensions: int | None
) -> GeminiEmbedder | OpenAIEmbedder:
    length = dimensions or settings.embedding_dimensions
    if provider == "openai":
        with needs("openai", "EZRA_EMBEDDER"):
            from tiers.embedding.openai_embedder import OpenAIEmbedder  # noqa: PLC0415 - likewise
        return OpenAIEmbedder(
            secret(settings.openai_api_key),
            model or OPENAI_EMBEDDING_MODEL,
            base_url=settings.openai_base_url,
            dimensions=length,
            requests_per_minute=settings.requests_per_minute,
        )
    key = required("EZRA_GEMINI_API_KEY", settings.gemini_api_key)
    with needs("gemini", "EZRA_EMBEDDER"):
        from tiers.embedding.gemini_embedder import GeminiEmbedder  # noqa: PLC0415 - likewise
    return GeminiEmbedder(
        key,
        model or GEMINI_EMBEDDING_MODEL,
        dimensions=length or GEMINI_DIMENSIONS,
        base_url=settings.gemini_base_url,
        requests_per_minute=settings.requests_per_minute,
    )


def secret(value: SecretStr | None) -> str | None:
    """Return a secret setting in the clear, if it is set."""
    return None if value is None else value.get_secret_value()


def required(key: str, value: SecretStr | None) -> str:
    """Return a key in the clear.

    Raises:
        ConfigError: It is not set.
    """
    if value is None:
        raise ConfigError(key, "is needed by the provider that was chosen")
    return value.get_secret_value()
