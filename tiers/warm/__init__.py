"""The warm tier: a hybrid (dense and BM25) index, rebuildable from cold.

* Qdrant. One collection per embedding model, all tenants in it, links built per graph.
  How far a tenant's index has come is a point of the collection itself, so that losing the
  collection loses the mark too and the index is built again.
"""

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
