"""The cold tier on MongoDB or Atlas."""

from .store import mongo_cold_store

__all__ = ["mongo_cold_store"]
