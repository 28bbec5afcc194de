"""The cold tier in one SQLite file: the source of truth of an embedded ezra."""

from ..stores import ColdStores
from .store import DATABASE_NAME, sqlite_cold_store

__all__ = ["DATABASE_NAME", "ColdStores", "sqlite_cold_store"]
