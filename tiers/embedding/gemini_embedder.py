"""The ``Embedder`` over Gemini's embedding models; the only embedding module of google-genai."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

from ..errors import UsageError
from ..google_api import google_failure
from ..provider_clients import (
    checked_base_url,
    checked_key,
    checked_model,
    make_http_client,
    transport_failures,
    trusted_certificates,
)
from ..providers import (
    CallLimits,
    ProviderCalls,
    unreadable,
)
from .batching import DEFAULT_QUEUE_SIZE
from .remote import RemoteEmbedder

if TYPE_CHECKING:
    import httpx2
    from google import genai

BASE_URL = "https://generativelanguage.googleapis.com"
DEFAULT_MODEL = "gemini-embedding-001"
DIMENSIONS_MIN, DIMENSIONS_MAX = 128, 3072

_TEXTS_MAX = 100  # the API's limit for batchEmbedContents
# google-genai turns an answer into objects on the event loop: 100 vectors of 768 numbers held it
# for 34 ms, 32 of them for 9 ms. More requests of this size run side by side instead.
_NUMBERS_MAX = 24_576
_WITH_TASK_TYPE = re.compile(r"(gemini-embedding-(001|exp).*|text-embedding-\d+|embedding-001)")


class GeminiEmbedder(RemoteEmbedder):
    """Vectors of a Gemini model; implements ``tiers.ports.Embedder``.

    Questions are embedded as ``RETRIEVAL_QUERY``, everything else as ``RETRIEVAL_DOCUMENT``;
    ``gemini-embedding-2`` and later take no task type and get the prefixes that stand for them.
    Texts are cut at ``max_characters``: 8,192, which are about the 2,048 tokens that
    ``gemini-embedding-001`` reads, and 32,768 for later models; the API would cut them silently.

    Args:
        api_key: The key.
        model: The model.
        dimensions: 128 to 3072. Anything below 3072 is the model's own reduction (Kusupati et al.
            2022, "Matryoshka Representation Learning"), brought back to unit length here.
        base_url: Of another server that speaks the same API; ``None`` for Google's own.
        timeout_seconds: For one batch, with every attempt and wait.
        attempts: Requests for one batch.
        concurrency: Requests at a time; one of several is kept for urgent texts.
        requests_per_minute: What the quota allows; ``None`` to leave it to the provider's 429.
        cache_size: How many vectors are kept; ``None`` for as many as 32 MiB hold.
        queue_size: How many texts may wait, for each priority.
        first_delay_seconds: About the wait before the second attempt.
        key_variable: What errors call the key.
        url_variable: What errors call the address.

    Raises:
        ConfigError: The key or the address cannot be one.
        UsageError: Another argument is out of range.
    """

    def __init__(
        self,
        api_key: str,
        model: str = DEFAULT_MODEL,
        *,
        dimensions: int = 768,
        base_url: str | None = None,
        timeout_seconds: float = 30.0,
        attempts: int = 4,
        concurrency: int = 4,
        requests_per_minute: float | None = None,
        cache_size: int | None = None,
        queue_size: int = DEFAULT_QUEUE_SIZE,
        first_delay_seconds: float = 0.5,
        key_variable: str = "EZRA_GEMINI_API_KEY",
        url_variable: str = "EZRA_GEMINI_BASE_URL",
    ) -> None:
        if not DIMENSIONS_MIN <= dimensions <= DIMENSIONS_MAX:
            raise UsageError("dimensions", dimensions, f"{DIMENSIONS_MIN} to {DIMENSIONS_MAX}")
        self._key = checked_key(api_key, key_variable)
        self._name = checked_model(model)
        self._url = checked_base_url(base_url or BASE_URL, url_variable)
        self._dimensions = dimensions
        limits = CallLimits(
            timeout_seconds, attempts, concurrency, requests_per_minute, first_delay_seconds
        )
        calls = ProviderCalls(
            "embedding",
            "gemini",
            model,
            key=self._key,
            key_variable=key_variable,
            limits=limits,
        )
        super().__init__(calls, asymmetric=True, cache_size=cache_size, queue_size=queue_size)

    @property
    def model_id(self) -> str:
        """Provider, model and width: ``gemini/gemini-embedding-001@768``."""
        return f"gemini/{self._name}@{self._dimensions}"

    @property
    def dimensions(self) -> int:
        """Length of every vector."""
        return self._dimensions

    async def _connect(self, exits: AsyncExitStack) -> GeminiVectors:
        http = await asyncio.to_thread(make_http_client, self._calls.limits)
        exits.push_async_callback(http.aclose)
        client = await asyncio.to_thread(_make_client, self._key, self._url, http)
        exits.callback(client.close)
        return GeminiVectors(client, self._name, self._dimensions, self.model_id)


def _make_client(key: str, url: str, http: httpx2.AsyncClient) -> genai.Client:
    """Return a client that goes by its arguments; takes 0.4 s the first time.

    What the surroundings say (a key, Vertex AI or an address in the environment, aiohttp because
    it happens to be installed) does not count; only the version of the API is the library's.
    """
    from google import genai  # noqa: PLC0415 - 0.3 s, paid by those who use Gemini
    from google.genai import types  # noqa: PLC0415

    options = types.HttpOptions(
        base_url=url,
        httpx_async_client=http,
        # For what it makes besides and never uses here: a blocking client and websockets.
        client_args={"verify": trusted_certificates()},
        async_client_args={"ssl": trusted_certificates()},
    )
    return genai.Client(vertexai=False, api_key=key, http_options=options)


class GeminiVectors:
    """One request at a time to a Gemini model; implements ``remote.RemoteModel``.

    Args:
        client: The library's client.
        name: The model's name.
        dimensions: The width to ask for.
        model_id: The name of what comes out.
    """

    def __init__(self, client: genai.Client, name: str, dimensions: int, model_id: str) -> None:
        self._client = client
        self._name = name
        self._has_task_type = _WITH_TASK_TYPE.fullmatch(name.rsplit("/", 1)[-1]) is not None
        self.dimensions = dimensions
        self.model_id = model_id
        self.max_characters = 8_192 if self._has_task_type else 32_768
        self.texts_per_request = min(_TEXTS_MAX, _NUMBERS_MAX // dimensions)

    async def request(self, texts: Sequence[str], *, query: bool) -> Sequence[Sequence[float]]:
        """Return the vectors of one ``batchEmbedContents``."""
        from google.genai import errors, types  # noqa: PLC0415

        task = None
        if self._has_task_type:
            task = "RETRIEVAL_QUERY" if query else "RETRIEVAL_DOCUMENT"
        else:
            prefix = "task: search result | query: " if query else "title: none | text: "
            texts = [prefix + text for text in texts]
        config = types.EmbedContentConfig(task_type=task, output_dimensionality=self.dimensions)
        # One content each: of a list of strings, later models make one vector for all of them.
        contents = [types.Content(parts=[types.Part(text=text)]) for text in texts]
        try:
            with transport_failures():
                answer = await self._client.aio.models.embed_content(
                    model=self._name, contents=list(contents), config=config
                )
        except errors.APIError as problem:
            headers = getattr(problem.response, "headers", {})
            raise google_failure(
                problem.code, problem.message, problem.details, headers
            ) from problem
        except (ValueError, TypeError, AttributeError, KeyError) as problem:
            # The library takes an answer apart without looking at it first.
            raise unreadable(f"{type(problem).__name__}: {problem}") from problem
        return [embedding.values or [] for embedding in answer.embeddings or []]
