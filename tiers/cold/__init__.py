"""The cold tier: the source of truth, from which every other tier can be rebuilt."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .owner import own_folder
from .sqlite import sqlite_cold_store
from .stores import ColdStores

if TYPE_CHECKING:
    from .mongo import mongo_cold_store
    from .mongo.semantic import MongoSemanticStore

__all__ = [
    "ColdStores",
    "MongoSemanticStore",
    "mongo_cold_store",
    "own_folder",
    "sqlite_cold_store",
]

_OF_A_SERVER = {"MongoSemanticStore": "mongo.semantic", "mongo_cold_store": "mongo.store"}


def __getattr__(name: str) -> Any:  # noqa: ANN401 - whatever the module holds
    """Import what needs the server's driver when it is asked for."""
    if name not in _OF_A_SERVER:
        raise AttributeError(name)
    return getattr(import_module(f".{_OF_A_SERVER[name]}", __package__), name)
