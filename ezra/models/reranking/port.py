"""The port of rerankers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

TEXTS_MAX = 200
"""Texts that one call may bring; as many as a search returns at most."""


class Reranker(Protocol):
    """Says of each text how well it answers a question, having read both together."""

    @property
    def name(self) -> str:
        """What receipts and errors call it: ``tei/rerank``."""
        ...

    async def rerank(self, query: str, texts: Sequence[str]) -> tuple[float, ...]:
        """Return one finite score per text, in the order of the texts; higher is better.

        Scores are comparable inside one call only. There is an answer to every text or none at
        all: what a provider says of a part is a failure. May be repeated. No text, no request.

        Raises:
            UsageError: More than ``TEXTS_MAX`` texts.
            ConfigError: The provider refuses the key.
            TierError: Of tier ``rerank``: not open, not reachable, late, or an answer that is
                not one number for each text.
        """
        ...
