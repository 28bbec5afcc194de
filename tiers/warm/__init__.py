"""The warm tier: a hybrid (dense and BM25) index, rebuildable from cold."""

from .edge_generations import EdgeGenerations, edge_generations
from .edge_store import EdgeWarmStore, edge_warm_store
from .qdrant_opening import qdrant_generations, qdrant_health
from .qdrant_options import QdrantOptions

__all__ = [
    "EdgeGenerations",
    "EdgeWarmStore",
    "QdrantOptions",
    "edge_generations",
    "edge_warm_store",
    "qdrant_generations",
    "qdrant_health",
]
