"""Rerankers behind HTTP: texts cut and sent, answers of limited size, checked.

Two are spoken to: Text Embeddings Inference with a cross-encoder, and Cohere's API, which Jina,
vLLM, Infinity and LiteLLM speak too. Each brings an address, a request and what an answer looks
like. What comes back is from a stranger: it has one finite number for each text, or it is an error.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar, TypeAlias, TypedDict, Unpack

from pydantic import BaseModel, ConfigDict, FiniteFloat, JsonValue, TypeAdapter, ValidationError

from tiers.addresses import checked_base_url
from tiers.concurrency import together
from tiers.errors import check_at_most
from tiers.health import TierHealth
from tiers.provider_clients import JsonEndpoint, checked_key, checked_model
from tiers.providers import CallLimits, ProviderCalls, first_problem, unreadable

from .port import TEXTS_MAX

TEXT_CHARS_SENT = 2_000
"""Of a question and of each text: cross-encoders read 512 tokens of both, and cut the rest."""

_BLANK = "(empty)"  # some servers refuse a whole request for one blank text

Scored: TypeAlias = list[tuple[int, float]]
"""What an answer says: the place of a text in the request, and its score."""


class CallOptions(TypedDict, total=False):
    """How a reranker is called.

    Attributes:
        timeout_seconds: For one answer, with every request, attempt and wait; 2 if not given.
        attempts: Requests for one part of the texts; 2 if not given.
        concurrency: Requests at a time, further ones wait; 16 if not given.
        first_delay_seconds: About the wait before the second attempt; 0.1 if not given.
        key_variable: What errors call the key.
        url_variable: What errors call the address.
    """

    timeout_seconds: float
    attempts: int
    concurrency: int
    first_delay_seconds: float
    key_variable: str
    url_variable: str


class RemoteReranker(JsonEndpoint, ABC):
    """The shell of a reranker at a provider; implements ``ezra.models.reranking.port.Reranker``.

    Outside of ``async with`` every call raises ``TierUnavailable``. Texts that need several
    requests are asked about side by side, all within one deadline.

    Args:
        url: The server's address.
        api_key: Sent as a bearer; ``None`` for servers that need none.
        model: What names and errors call the model, and requests too where they name one; what is
            usual of the kind if not given.
        **options: See ``CallOptions``.

    Raises:
        ConfigError: The key or the address cannot be one.
        UsageError: Another argument is out of range.
    """

    provider: ClassVar[str]
    """What names and errors call the server's kind."""

    usual_model: ClassVar[str]

    texts_per_request: ClassVar[int]
    """The most texts that the server takes at once."""

    def __init__(
        self,
        url: str,
        api_key: str | None = None,
        model: str | None = None,
        **options: Unpack[CallOptions],
    ) -> None:
        self._model = checked_model(self.usual_model if model is None else model)
        key_variable = options.get("key_variable", "EZRA_RERANK_API_KEY")
        url_variable = options.get("url_variable", "EZRA_RERANK_URL")
        address = self._address(checked_base_url(url, url_variable))
        key = None if api_key is None else checked_key(api_key, key_variable)
        limits = CallLimits(
            options.get("timeout_seconds", 2.0),
            options.get("attempts", 2),
            options.get("concurrency", 16),
            None,
            options.get("first_delay_seconds", 0.1),
        )
        calls = ProviderCalls(
            "rerank",
            self.provider,
            self._model,
            key=key,
            key_variable=key_variable,
            limits=limits,
        )
        super().__init__(calls, address, key)

    @abstractmethod
    def _address(self, url: str) -> str:
        """Return where to ask, for the address of the server without a slash at its end."""

    @abstractmethod
    def _request(self, query: str, texts: Sequence[str]) -> dict[str, JsonValue]:
        """Return the body of a request."""

    @abstractmethod
    def _read(self, content: bytes) -> Scored:
        """Return what an answer says.

        Raises:
            ValidationError: It is not what the provider documents, or a number is not finite.
        """

    @property
    def name(self) -> str:
        """Provider and model: ``cohere/rerank-v3.5``."""
        return self._calls.engine

    async def rerank(self, query: str, texts: Sequence[str]) -> tuple[float, ...]:
        """Return one score per text; see ``ezra.models.reranking.port.Reranker``.

        Question and texts are cut at ``TEXT_CHARS_SENT`` characters.
        """
        check_at_most("texts", len(texts), TEXTS_MAX)
        asked, sent, step = _sent(query), [_sent(text) for text in texts], self.texts_per_request
        self.check_open("rerank")
        async with self._calls.deadline("rerank"):
            parts = await self._side_by_side(
                asked, [sent[at : at + step] for at in range(0, len(sent), step)]
            )
        return tuple(score for part in parts for score in part)

    async def health(self) -> TierHealth:
        """Return what one tiny question, asked once, says about the server.

        Raises:
            TierUnavailable: Not open.
        """
        self.check_open("health")

        async def attempt() -> dict[str, JsonValue]:
            await self._ask("ready?", ["ready"])
            return {}

        return await self._calls.health(attempt, {})

    async def _side_by_side(self, query: str, parts: Sequence[list[str]]) -> list[list[float]]:
        """Ask about every part at once; the first failure ends them all, and is raised bare."""

        async def ask(texts: list[str]) -> list[float]:
            return await self._calls.call("rerank", lambda: self._ask(query, texts))

        return await together(ask(texts) for texts in parts)

    async def _ask(self, query: str, texts: Sequence[str]) -> list[float]:
        """Make one request and return its scores; raises ``ProviderFailure``."""
        content = await self.post(self._request(query, texts))
        try:
            found = self._read(content)
        except ValidationError as problem:
            raise unreadable(first_problem(problem)) from None  # it would show the whole answer
        scores = dict(found)
        if len(found) != len(texts) or scores.keys() != set(range(len(texts))):
            raise unreadable(f"{len(found)} scores do not name each of {len(texts)} texts once")
        return [scores[place] for place in range(len(texts))]


def _sent(text: str) -> str:
    """Return a text as it is sent: cut, and without lone surrogates, which no UTF-8 can say."""
    bare = text[:TEXT_CHARS_SENT].encode("utf-8", "replace").decode()
    return bare if bare.strip() else _BLANK


TEI_TEXTS = 32
"""What the server takes at once if nobody told it otherwise (``--max-client-batch-size``)."""

TEI_MODEL = "rerank"
"""What its one model is called where nobody says which it is."""


class _Score(BaseModel):
    model_config = ConfigDict(strict=True)

    index: int
    score: FiniteFloat


_SCORES = TypeAdapter(list[_Score])


class TeiReranker(RemoteReranker):
    """Speaks ``POST {url}/rerank``; implements ``ezra.models.reranking.port.Reranker``.

    The scores are the server's normalised ones, so those of several requests can be compared. It
    has one model, which requests do not name.
    """

    provider = "tei"
    usual_model = TEI_MODEL
    texts_per_request = TEI_TEXTS

    def _address(self, url: str) -> str:
        return f"{url}/rerank"

    def _request(self, query: str, texts: Sequence[str]) -> dict[str, JsonValue]:
        return {"query": query, "texts": [*texts], "raw_scores": False, "truncate": True}

    def _read(self, content: bytes) -> Scored:
        return [(one.index, one.score) for one in _SCORES.validate_json(content)]


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

    An address may have the version of its API, like ``https://host/v1``; without one, ``/v2`` is
    asked.
    """

    provider = "cohere"
    usual_model = COHERE_MODEL
    texts_per_request = TEXTS_MAX

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
