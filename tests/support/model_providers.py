"""Embedders and language models of each provider, closed, at the stand-in for its server."""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import Any, TypeAlias

from pydantic import BaseModel

from ezra.models import GeminiModel, OpenAIModel
from tiers.embedding.gemini_embedder import GeminiEmbedder
from tiers.embedding.openai_embedder import OpenAIEmbedder

from .model_http import KEY, ModelServer, gemini_says, openai_says, unit_vector

PROVIDERS = ("gemini", "openai")
QUICK: dict[str, Any] = {"first_delay_seconds": 0.001}
SALT = "RETRIEVAL_DOCUMENT"

AnyEmbedder: TypeAlias = GeminiEmbedder | OpenAIEmbedder
AnyModel: TypeAlias = GeminiModel | OpenAIModel
Make: TypeAlias = Callable[..., Any]


class Verdict(BaseModel):
    """What a model is asked to answer with."""

    keep: bool
    reason: str = "none"


def embedder_at(server: ModelServer, provider: str, **changes: Any) -> AnyEmbedder:
    """Return a closed embedder of 256 dimensions at the server."""
    given = {"dimensions": 256, **QUICK, **changes}
    if provider == "gemini":
        return GeminiEmbedder(KEY, **{"base_url": server.url, **given})
    return OpenAIEmbedder(KEY, **{"base_url": f"{server.url}/open/v1", **given})


def model_at(server: ModelServer, provider: str, **changes: Any) -> AnyModel:
    """Return a closed language model at the server."""
    given = {**QUICK, **changes}
    if provider == "gemini":
        return GeminiModel(KEY, **{"base_url": server.url, **given})
    return OpenAIModel(given.pop("base_url", f"{server.url}/open/v1"), KEY, "gpt-test", **given)


def says(provider: str, text: str, finish: str | None = None) -> dict[str, Any]:
    """Return an answer in the provider's form."""
    if provider == "gemini":
        return gemini_says(text, finish or "STOP")
    return openai_says(text, finish or "stop")


def wanted(provider: str, text: str, width: int = 256) -> tuple[float, ...]:
    """Return the vector that a text must get."""
    return unit_vector(text, width, SALT if provider == "gemini" else "")


def question(text: str = "Which tyres?") -> list[dict[str, str]]:
    """Return one message."""
    return [{"role": "user", "content": text}]


def free_port() -> int:
    """Return a port at which nobody listens."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])
