"""The ``Embedder`` over any OpenAI-compatible server; the only embedding module of ``openai``."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Unpack

from pydantic import BaseModel, ValidationError

from ..addresses import checked_base_url
from ..errors import TierUnavailable, UsageError, check_within
from ..openai_api import BASE_URL, openai_client, openai_failures
from ..provider_clients import checked_key
from ..providers import first_problem, unreadable
from .remote import RemoteEmbedder, RemoteOptions

if TYPE_CHECKING:
    import httpx2

DEFAULT_MODEL = "text-embedding-3-small"
DIMENSIONS_MAX = 16_384
CHARACTERS_MAX = 200_000

_KEY_VARIABLE = "EZRA_OPENAI_API_KEY"
_MAX_CHARACTERS = 8_000  # OpenAI reads 8,192 tokens and refuses more
_PROBE = "How wide is a vector?"


class OpenAIEmbedder(RemoteEmbedder):
    """Vectors of a model behind the OpenAI API; implements ``tiers.ports.Embedder``.

    Works with OpenAI and with servers that speak its API (Ollama, vLLM, LM Studio). Questions are
    embedded like everything else: the API has no word for them. The name of the model says
    nothing about the server: moving to a server whose model of the same name differs calls for
    indexing anew.

    Args:
        api_key: The key; ``None`` for servers that need none. What the environment says about
            OpenAI is not used, so that a key never goes to a server it was not meant for.
        model: The model.
        base_url: The server's address with its version, like ``http://localhost:11434/v1``;
            ``None`` for OpenAI's own.
        dimensions: 1 to 16,384: the width to ask for, which not every model can give. ``None``
            asks for nothing and finds the model's own width by one request at opening.
        max_characters: Where texts are cut: 8,000, which OpenAI's models take whatever the
            script. Lower it for models that read less and refuse the rest.
        **options: See ``RemoteOptions``.

    Raises:
        ConfigError: The key or the address cannot be one.
        UsageError: Another argument is out of range.
    """

    texts_max = 256
    numbers_max = 65_536  # what is parsed in one go: 5 ms during which no other thread runs

    def __init__(
        self,
        api_key: str | None,
        model: str = DEFAULT_MODEL,
        *,
        base_url: str | None = None,
        dimensions: int | None = None,
        max_characters: int = _MAX_CHARACTERS,
        **options: Unpack[RemoteOptions],
    ) -> None:
        if dimensions is not None and not 1 <= dimensions <= DIMENSIONS_MAX:
            raise UsageError("dimensions", dimensions, f"1 to {DIMENSIONS_MAX}, or None")
        check_within("max_characters", max_characters, 1, CHARACTERS_MAX)
        self._key = None if api_key is None else checked_key(api_key, _KEY_VARIABLE)
        self._url = checked_base_url(base_url or BASE_URL, "EZRA_OPENAI_BASE_URL")
        self._asked_dimensions = dimensions
        self._dimensions = dimensions
        super().__init__(
            "openai",
            model,
            key=self._key,
            key_variable=_KEY_VARIABLE,
            max_characters=max_characters,
            **options,
        )

    @property
    def dimensions(self) -> int:
        """Length of every vector.

        Raises:
            TierUnavailable: It is not given and not found yet: the embedder has never been open.
        """
        if self._dimensions is None:
            reason = f"the width of {self._calls.model} is found out at opening"
            raise TierUnavailable("embedding", "open", reason)
        return self._dimensions

    async def _connect(self, http: httpx2.AsyncClient, exits: AsyncExitStack) -> None:
        self._client = await asyncio.to_thread(
            openai_client, self._key, self._url, http, part="embeddings", setting="EZRA_EMBEDDER"
        )
        exits.push_async_callback(self._client.close)
        if self._dimensions is None:
            self._dimensions = await self._calls.call("open", self._width)

    async def _width(self) -> int:
        """Return the width of the vector of one text."""
        vectors = await self._request([_PROBE], query=False)
        width = len(vectors[0]) if len(vectors) == 1 else 0
        if not 1 <= width <= DIMENSIONS_MAX:
            raise unreadable(f"{len(vectors)} vectors for one text, {width} numbers wide")
        return width

    async def _request(self, texts: Sequence[str], *, query: bool) -> Sequence[Sequence[float]]:
        del query
        import openai  # noqa: PLC0415 - loaded with the client

        asked = self._asked_dimensions
        with openai_failures():
            # Raw, because the library builds its objects out of whatever comes, unchecked.
            answer = await self._client.embeddings.with_raw_response.create(
                input=list(texts),
                model=self._calls.model,
                dimensions=openai.omit if asked is None else asked,
                encoding_format="float",  # base64, the library's default, is not known everywhere
            )
        return await asyncio.to_thread(_vectors, answer.content, len(texts))


class _Item(BaseModel):
    """One vector; ``index`` says of which text."""

    index: int | None = None
    embedding: list[float]


class _Answer(BaseModel):
    """What is read of an answer."""

    data: list[_Item]


def _vectors(content: bytes, count: int) -> list[list[float]]:
    """Return the vectors of an answer, in the order of the texts."""
    try:
        items = _Answer.model_validate_json(content).data
    except ValidationError as problem:
        raise unreadable(first_problem(problem)) from None  # it would show the whole answer
    if len(items) != count or all(item.index is None for item in items):
        # Not every server counts. A wrong number of vectors is for the caller to refuse.
        return [item.embedding for item in items]
    if sorted(-1 if item.index is None else item.index for item in items) != list(range(count)):
        raise unreadable(f"the vectors of {count} texts are not numbered from 0 to {count - 1}")
    return [item.embedding for item in sorted(items, key=lambda item: item.index or 0)]
