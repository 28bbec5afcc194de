"""The cold tier: the source of truth, from which every other tier can be rebuilt."""

from .owner import own_folder
from .sqlite import ColdStores, sqlite_cold_store

__all__ = ["ColdStores", "own_folder", "sqlite_cold_store"]
