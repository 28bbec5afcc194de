"""The cold tier on MongoDB or Atlas."""

from ...extras import needs

with needs("servers", "EZRA_MONGODB_URI"):
    from .store import mongo_cold_store

__all__ = ["mongo_cold_store"]
