"""The hot tier: per agent a ring of turns, the pinned beliefs and the latest mesh result."""

from .connect import redis_hot_store
from .embedded import embedded_hot_store
from .health import embedded_hot_health, redis_health
from .redis_store import RedisHotStore

__all__ = [
    "RedisHotStore",
    "embedded_hot_health",
    "embedded_hot_store",
    "redis_health",
    "redis_hot_store",
]
