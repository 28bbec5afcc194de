"""Which contract tests are left to the slow run for the backend that they ask."""

from __future__ import annotations

from pathlib import Path

_SAME_STORES = {"motor": "mongo", "qdrant memory": "qdrant http"}
"""Backends with the stores of another one, which the normal run asks: through another driver, or
through that driver's own imitation of the server."""

_ASKED_OF_ALL = frozenset(
    {"test_cold_beliefs.py", "test_cold_lifetime.py", "test_cold_queue.py", "test_warm_machine.py"}
)
"""Contracts in which steps of several documents and the driver count most, and the one that asks
everything of an index in any order."""


def is_left_to_the_slow_run(test: Path, backends: list[str]) -> bool:
    """Whether a contract test of these backends says nothing new of another driver.

    The whole contract of SQLite, of MongoDB and of Qdrant belongs to the normal run.
    """
    if test.parent.name != "contract" or test.name in _ASKED_OF_ALL:
        return False
    return not _SAME_STORES.keys().isdisjoint(backends)
