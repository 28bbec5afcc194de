"""The ``Embedder`` over Gemini's embedding models; the only embedding module of google-genai."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Unpack

from ..addresses import checked_base_url
from ..errors import check_within
from ..google_api import BASE_URL, google_client, google_failures
from ..provider_clients import checked_key
from .remote import RemoteEmbedder, RemoteOptions

if TYPE_CHECKING:
    import httpx2

DEFAULT_MODEL = "gemini-embedding-001"
DIMENSIONS_MIN, DIMENSIONS_MAX = 128, 3072

_KEY_VARIABLE = "EZRA_GEMINI_API_KEY"
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
        **options: See ``RemoteOptions``.

    Raises:
        ConfigError: The key or the address cannot be one.
        UsageError: Another argument is out of range.
    """

    asymmetric = True
    texts_max = 100  # the API's limit for batchEmbedContents
    # google-genai turns an answer into objects on the event loop, and answers that come at once are
    # taken apart in one go. On a busy machine 200 vectors of 768 numbers, four requests side by
    # side, held it for some 60 ms in requests of 32 texts, 50 ms of ten and 34 ms of five.
    numbers_max = 4_096

    def __init__(
        self,
        api_key: str,
        model: str = DEFAULT_MODEL,
        *,
        dimensions: int = 768,
        base_url: str | None = None,
        **options: Unpack[RemoteOptions],
    ) -> None:
        check_within("dimensions", dimensions, DIMENSIONS_MIN, DIMENSIONS_MAX)
        self._key = checked_key(api_key, _KEY_VARIABLE)
        self._url = checked_base_url(base_url or BASE_URL, "EZRA_GEMINI_BASE_URL")
        self._dimensions = dimensions
        self._has_task_type = _WITH_TASK_TYPE.fullmatch(model.rsplit("/", 1)[-1]) is not None
        super().__init__(
            "gemini",
            model,
            key=self._key,
            key_variable=_KEY_VARIABLE,
            max_characters=8_192 if self._has_task_type else 32_768,
            **options,
        )

    @property
    def dimensions(self) -> int:
        """Length of every vector."""
        return self._dimensions

    async def _connect(self, http: httpx2.AsyncClient, exits: AsyncExitStack) -> None:
        self._client = await asyncio.to_thread(
            google_client, self._key, self._url, http, setting="EZRA_EMBEDDER"
        )
        exits.callback(self._client.close)

    async def _request(self, texts: Sequence[str], *, query: bool) -> Sequence[Sequence[float]]:
        """Return the vectors of one ``batchEmbedContents``."""
        from google.genai import types  # noqa: PLC0415 - loaded with the client

        task = None
        if self._has_task_type:
            task = "RETRIEVAL_QUERY" if query else "RETRIEVAL_DOCUMENT"
        else:
            prefix = "task: search result | query: " if query else "title: none | text: "
            texts = [prefix + text for text in texts]
        config = types.EmbedContentConfig(task_type=task, output_dimensionality=self._dimensions)
        # One content each: of a list of strings, later models make one vector for all of them.
        contents = [types.Content(parts=[types.Part(text=text)]) for text in texts]
        with google_failures():
            answer = await self._client.aio.models.embed_content(
                model=self._calls.model, contents=list(contents), config=config
            )
        return [embedding.values or [] for embedding in answer.embeddings or []]
