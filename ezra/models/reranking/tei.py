"""A cross-encoder behind Text Embeddings Inference, or a server that speaks like it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Unpack

from pydantic import BaseModel, ConfigDict, FiniteFloat, JsonValue, TypeAdapter

from tiers.provider_clients import checked_model

from .remote import CallOptions, RemoteReranker, Scored

TEXTS_PER_REQUEST = 32
"""What the server takes at once if nobody told it otherwise (``--max-client-batch-size``)."""

TEI_MODEL = "rerank"
"""What its one model is called where nobody says which it is."""


class _Score(BaseModel):
    model_config = ConfigDict(strict=True)

    index: int
    score: FiniteFloat


_ANSWER = TypeAdapter(list[_Score])


class TeiReranker(RemoteReranker):
    """Speaks ``POST {url}/rerank``; implements ``ezra.models.reranking.port.Reranker``.

    The scores are the server's normalised ones, so those of several requests can be compared.

    Args:
        url: The server's address.
        api_key: The key; ``None`` for servers that need none.
        model: What names and errors call the one model that the server has; it is not sent.
        **options: See ``CallOptions``.

    Raises:
        ConfigError: The key or the address cannot be one.
        UsageError: Another argument is out of range.
    """

    def __init__(
        self,
        url: str,
        api_key: str | None = None,
        model: str = TEI_MODEL,
        **options: Unpack[CallOptions],
    ) -> None:
        super().__init__(
            "tei",
            checked_model(model),
            url,
            api_key=api_key,
            texts_per_request=TEXTS_PER_REQUEST,
            **options,
        )

    def _address(self, url: str) -> str:
        return f"{url}/rerank"

    def _request(self, query: str, texts: Sequence[str]) -> dict[str, JsonValue]:
        return {"query": query, "texts": [*texts], "raw_scores": False, "truncate": True}

    def _read(self, content: bytes) -> Scored:
        return [(one.index, one.score) for one in _ANSWER.validate_json(content)]
