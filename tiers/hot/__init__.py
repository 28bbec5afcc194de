"""The hot tier: per agent a ring of turns, the pinned beliefs and the latest mesh result.

* Redis. One hash per agent, one hash tag, each operation one Lua script: atomic on a cluster too.
  Scripts are loaded again when a server has forgotten them. One deadline spans waiting,
  connecting, discovery and retries; only what may be repeated is.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ..extras import needs
from .embedded import EmbeddedHotStore, embedded_hot_health, embedded_hot_store

if TYPE_CHECKING:
    from .connect import redis_hot_store
    from .health import redis_health
    from .redis_store import RedisHotStore

__all__ = [
    "EmbeddedHotStore",
    "RedisHotStore",
    "embedded_hot_health",
    "embedded_hot_store",
    "redis_health",
    "redis_hot_store",
]

_OF_A_SERVER = {
    "RedisHotStore": "redis_store",
    "redis_health": "health",
    "redis_hot_store": "connect",
}


def __getattr__(name: str) -> Any:  # noqa: ANN401 - whatever the module holds
    """Import what needs the server's driver when it is asked for."""
    if name not in _OF_A_SERVER:
        raise AttributeError(name)
    with needs("servers", "EZRA_REDIS_URL"):
        return getattr(import_module(f".{_OF_A_SERVER[name]}", __package__), name)
