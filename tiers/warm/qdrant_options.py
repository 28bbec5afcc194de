"""What one can say about the use of a Qdrant server, without its driver."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Literal

from ..errors import UsageError
from .checks import check_positive


@dataclass(frozen=True, slots=True)
class QdrantOptions:
    """How a Qdrant server is used. The first three count when a collection is made.

    Attributes:
        shard_number: Shards of a collection; ``None`` leaves it to the server. Word statistics
            are kept per shard, so more than one makes rare words weigh a little differently.
        replication_factor: Copies of each shard; ``None`` leaves it to the server.
        quantization: Keep vectors in a quarter (``scalar``) or a thirty-second (``binary``) of
            the memory; candidates are scored again with the full vectors.
        rrf_k: How much the fusion favours the first ranks; smaller favours them more.
        overfetch: Candidates per leg before fusion.
        timeout_seconds: For each call, its repetitions included.
        connections_max: Calls at the same time; more wait, at most ``timeout_seconds``.

    Raises:
        UsageError: A number is not above 0.
    """

    shard_number: int | None = None
    replication_factor: int | None = None
    quantization: Literal["none", "scalar", "binary"] = "none"
    rrf_k: int = 10
    overfetch: int = 80
    timeout_seconds: float = 5.0
    connections_max: int = 32

    def __post_init__(self) -> None:
        numbers = {name: one for name, one in asdict(self).items() if isinstance(one, int | float)}
        check_positive(**numbers)
        if self.quantization not in ("none", "scalar", "binary"):
            raise UsageError("quantization", self.quantization, "none, scalar or binary")
