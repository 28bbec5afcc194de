"""Reranking: a model that reads question and text together has the last word on the order.

Importing this loads no HTTP client; that happens when a reranker is opened.
"""

from __future__ import annotations

from .blending import RERANK_WEIGHT, blend, reranked
from .cohere import COHERE_MODEL, CohereReranker
from .local import LocalReranker
from .port import TEXTS_MAX, Reranker
from .resting import REST_SECONDS, RestingReranker
from .tei import TEI_MODEL, TeiReranker

__all__ = [
    "COHERE_MODEL",
    "RERANK_WEIGHT",
    "REST_SECONDS",
    "TEI_MODEL",
    "TEXTS_MAX",
    "CohereReranker",
    "LocalReranker",
    "Reranker",
    "RestingReranker",
    "TeiReranker",
    "blend",
    "reranked",
]
