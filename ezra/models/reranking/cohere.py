"""A reranker behind Cohere's API, or a server that speaks it (Jina, vLLM, Infinity, LiteLLM)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Unpack

from pydantic import BaseModel, ConfigDict, FiniteFloat, JsonValue

from tiers.provider_clients import checked_model

from .port import TEXTS_MAX
from .remote import CallOptions, RemoteReranker, Scored

COHERE_MODEL = "rerank-v3.5"

_VERSIONED = re.compile(r".*/v\d+")


class _Result(BaseModel):
    model_config = ConfigDict(strict=True)

    index: int
    relevance_score: FiniteFloat


class _Answer(BaseModel):
    results: list[_Result]


class CohereReranker(RemoteReranker):
    """Speaks ``POST {url}/rerank``; implements ``ezra.models.reranking.port.Reranker``.

    Args:
        url: The server's address, with the version of its API like ``https://host/v1``; without
            one, ``/v2`` is asked.
        api_key: The key; ``None`` for servers that need none.
        model: The model, by the server's name for it.
        **options: See ``CallOptions``.

    Raises:
        ConfigError: The key or the address cannot be one.
        UsageError: Another argument is out of range.
    """

    def __init__(
        self,
        url: str,
        api_key: str | None = None,
        model: str = COHERE_MODEL,
        **options: Unpack[CallOptions],
    ) -> None:
        self._model = checked_model(model)
        super().__init__(
            "cohere", model, url, api_key=api_key, texts_per_request=TEXTS_MAX, **options
        )

    def _address(self, url: str) -> str:
        return f"{url}/rerank" if _VERSIONED.fullmatch(url) else f"{url}/v2/rerank"

    def _request(self, query: str, texts: Sequence[str]) -> dict[str, JsonValue]:
        documents: list[JsonValue] = [*texts]
        return {
            "model": self._model,
            "query": query,
            "documents": documents,
            "top_n": len(documents),  # all of them: the least is the lowest score, not none
        }

    def _read(self, content: bytes) -> Scored:
        found = _Answer.model_validate_json(content).results
        return [(one.index, one.relevance_score) for one in found]
