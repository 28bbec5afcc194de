"""The warm tier: a hybrid (dense and BM25) index, rebuildable from cold."""

from .edge_store import EdgeWarmStore, edge_warm_store

__all__ = ["EdgeWarmStore", "edge_warm_store"]
