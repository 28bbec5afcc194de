"""An embedder that somebody brought along: its failures are its tier's, its vectors are checked."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from ..concurrency import answered
from ..errors import ConfigError, TierError, TierRejected
from ..ports import Embedder, Vector

_UNIT_TOLERANCE = 1e-6


def _taken(embed: Callable[..., object]) -> frozenset[str] | None:
    """Return by what names a function takes arguments; ``None`` where it takes any."""
    try:
        parameters = inspect.signature(embed).parameters.values()
    except (TypeError, ValueError):  # one that is not written in Python may have none
        return None
    if any(one.kind is one.VAR_KEYWORD for one in parameters):
        return None
    return frozenset(one.name for one in parameters)


class OwnEmbedder:
    """An ``Embedder`` around one that the runtime knows nothing of.

    Whatever that raises is a ``TierRejected``, so that what asks goes on by words. It may give
    rows of any numbers, of any length but none that is not finite: they are made unit vectors. A
    row of zeros stays one, near to nothing. Its ``embed`` need not be async, nor take more than the
    texts: one that is not works beside the event loop.

    Args:
        embedder: What does the work.
    """

    def __init__(self, embedder: Embedder) -> None:
        self._own = embedder
        self._takes = _taken(embedder.embed)

    @property
    def model_id(self) -> str:
        """As it calls itself."""
        return self._own.model_id

    @property
    def dimensions(self) -> int:
        """Length of every vector."""
        return self._own.dimensions

    async def embed(
        self, texts: Sequence[str], *, urgent: bool = False, query: bool = False
    ) -> tuple[Vector, ...]:
        """Return one unit vector per text, in order.

        Raises:
            TierRejected: It failed, or gave something else.
        """
        try:
            rows = await self._rows(texts, {"urgent": urgent, "query": query})
            found = tuple(map(self._unit, rows))
        except (ConfigError, TierError):
            raise
        except Exception as error:  # somebody else's code, which a turn must survive
            raise self._failed(f"{type(error).__name__}: {error}") from error
        if len(found) != len(texts):
            raise self._failed(f"{len(found)} vectors for {len(texts)} texts")
        return found

    async def _rows(self, texts: Sequence[str], asked: Mapping[str, bool]) -> Any:  # noqa: ANN401 - its
        taken = {name: asked[name] for name in asked if self._takes is None or name in self._takes}
        return await answered(partial(self._own.embed, texts, **taken))

    def _unit(self, row: Iterable[float]) -> Vector:
        numbers = tuple(map(float, row))
        if len(numbers) != self.dimensions:
            raise ValueError(f"a vector of {len(numbers)} numbers instead of {self.dimensions}")
        length = math.hypot(*numbers)
        if not math.isfinite(length):
            raise ValueError("a vector that is not finite")
        if length == 0 or abs(length - 1) <= _UNIT_TOLERANCE:
            return numbers
        return tuple(number / length for number in numbers)

    def _failed(self, why: str) -> TierRejected:
        return TierRejected("embedding", "embed", f"{self.model_id} failed: {why}")
