"""A reranker's server: the stand-in for providers, answering as either style does.

It scores a text by the number in it, so that a test says the order it wants: ``plan 7`` gets 0.7.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from ezra.models.reranking import CohereReranker, TeiReranker
from tiers.records import Hit

from .model_http import KEY, Fault, ModelServer
from .model_providers import QUICK

STYLES = ("tei", "cohere")
AT = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)


def score_of(text: str) -> float:
    """Return what the server says of a text: a tenth of the first number in it."""
    found = re.search(r"\d+", text)
    return int(found.group()) / 10 if found else 0.0


def answering(server: ModelServer, change: Callable[[Any], Any] = lambda said: said) -> Fault:
    """Return the order to answer rightly, the best text first, or with something changed."""

    def answer(_: Any) -> Any:
        # The server records a request and answers it in one step of its own loop.
        return change(_right(server.seen[-1].body))

    return Fault(change=answer)


def _right(body: Any) -> Any:
    if "texts" in body:
        return _ranked(body["texts"], "score")
    results = _ranked(body["documents"], "relevance_score")[: body["top_n"]]
    return {"id": "1", "results": results, "meta": {"api_version": {"version": "2"}}}


def _ranked(texts: list[str], score: str) -> list[dict[str, Any]]:
    said = [{"index": place, score: score_of(text)} for place, text in enumerate(texts)]
    return sorted(said, key=lambda one: -one[score])


def says(style: str, *scores: Any) -> Fault:
    """Return the order to answer with exactly these ``(index, score)``, in the style's form."""
    word = "score" if style == "tei" else "relevance_score"
    rows = [{"index": index, word: score} for index, score in scores]
    return Fault(body=json.dumps(rows if style == "tei" else {"results": rows}).encode())


def reranker_at(server: ModelServer, style: str, **options: Any) -> CohereReranker | TeiReranker:
    """Return a closed reranker of a style at the server."""
    made = TeiReranker if style == "tei" else CohereReranker
    return made(f"{server.url}/{style}", KEY, **{**QUICK, **options})


def hits(*texts: str) -> tuple[Hit, ...]:
    """Return one hit per text, best first, each a step of 1 below the one before."""
    return tuple(
        Hit(
            id=f"h{place}",
            kind="rule" if text.startswith("When ") else "turn",
            text=text,
            score=float(len(texts) - place),
            tier="cold",
            recorded_at=AT,
        )
        for place, text in enumerate(texts)
    )
