"""Reranking: a model that reads question and text together has the last word on the order.

Importing this loads no HTTP client; that happens when a reranker is opened.
"""

from __future__ import annotations

from .blending import RERANK_WEIGHT, REST_SECONDS, RestingReranker, blend, reranked
from .local import LocalReranker
from .port import TEXTS_MAX, Reranker
from .remote import COHERE_MODEL, TEI_MODEL, CohereReranker, TeiReranker

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
