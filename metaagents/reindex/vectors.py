"""Texts to vectors when one text may be poison."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterable, Mapping, Sequence

from tiers.errors import TierRejected, UsageError
from tiers.ports import Embedder, Vector
from tiers.records import IndexEntry

log = logging.getLogger(__name__)


async def vectors_of(texts: Iterable[str], embedder: Embedder | None) -> dict[str, Vector | None]:
    """Return each text's vector, ``None`` for a text that the embedder refuses.

    Never urgent. Without an embedder every text has ``None``.

    Raises:
        TierError: The embedder failed, which is no fault of the texts.
    """
    wanted = list(dict.fromkeys(texts))
    if embedder is None:
        return dict.fromkeys(wanted)
    if not wanted:
        return {}
    try:
        return dict(zip(wanted, await embedder.embed(wanted), strict=True))
    except (TierRejected, UsageError) as error:
        found = {text: await _alone(text, embedder) for text in wanted}
        if not any(found.values()):
            # Who refuses even this is out of order: its error goes on, and nothing was decided.
            await embedder.embed([_harmless(wanted)])
        refused = sum(vector is None for vector in found.values())
        log.warning("%s refuses %d texts: %s", embedder.model_id, refused, error)
        return found


def _harmless(texts: Sequence[str]) -> str:
    """Return what any model can embed, new for every batch: no cache may answer for the model."""
    digest = hashlib.sha256("".join(texts).encode("utf-8", "surrogatepass")).hexdigest()
    return f"memory {digest[:8]}"


async def _alone(text: str, embedder: Embedder) -> Vector | None:
    try:
        return (await embedder.embed([text]))[0]
    except (TierRejected, UsageError):
        return None


def with_vectors(
    entries: Sequence[IndexEntry], vectors: Mapping[str, Vector | None]
) -> list[IndexEntry]:
    """Return the entries with the vectors of their texts."""
    return [entry.model_copy(update={"vector": vectors[entry.text]}) for entry in entries]
