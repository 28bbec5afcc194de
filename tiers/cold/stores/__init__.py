"""The stores of the cold tier, written once over ``tiers.cold.port``; an engine knows none."""

from .opened import COLLECTIONS, ColdStores, stores_over

__all__ = ["COLLECTIONS", "ColdStores", "stores_over"]
