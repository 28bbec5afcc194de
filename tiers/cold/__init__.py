"""The cold tier: the source of truth, from which every other tier can be rebuilt.

    stores/      turns, facts, beliefs, documents, board, words, work, log …  each rule once
       │         a transaction is a generator: yields questions and writes, returns its answer
    port.py      RecordStore: read, change, scrub   visibility.py  the scope, and its guard
       │
       sqlite/         mongo/         find, count, list, put, replace, delete

* A collection is declared once (``Collection`` in ``tiers/cold/port.py``): its record, the fields
  that are looked up by, its indexes, its look-ups by several values (topics, words, recipients)
  and whether it is only appended to. Engines make tables, indexes, triggers and validators of it.
  The record itself lies in one column or field, ``body``, as JSON; what is looked up lies beside
  it, filled from the record by each write.
* A rule is a generator in ``tiers/cold/stores/``, and where a store's method is nothing else,
  ``@reading`` or ``@changing`` (``store_base.py``) makes the method of it. It names the index by
  which each question goes, so that no plan changes silently; contract tests read SQLite's plan of
  every question. SQLite carries a whole transaction out in one trip to a thread; MongoDB asks the
  questions of one step by one command.
* The scope is rendered in one place. ``visibility.py`` turns it into conditions; an engine renders
  these as it does all others. Behind that, ``check`` looks at each record before it leaves, and
  at each before it is written, by other means.
* Words are ours on every engine: stems by Porter's algorithm (``tiers/porter.py``), statistics
  per graph, BM25 (``stores/words.py``, ``word_search.py``). An engine only knows who has a value,
  and how often.
* Writes that wait together share a commit on SQLite (``sqlite/writing.py``). Each is answered
  after it, a refusal too: what it was refused for may be what another of them wrote.
* A turn has a desk (``tiers/turn_io.py``): what it begins with is one reading of one moment;
  its receipt, and the turn itself, are each one transaction with what they charge. So are 100
  turns that are recorded, with as many trips as one.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .cold_stores import ColdStores
    from .mongo import mongo_cold_store
    from .mongo.semantic import MongoSemanticStore
    from .owner import own_folder
    from .sqlite import sqlite_cold_store

__all__ = [
    "ColdStores",
    "MongoSemanticStore",
    "mongo_cold_store",
    "own_folder",
    "sqlite_cold_store",
]

_MODULES = {
    "ColdStores": "opened",
    "MongoSemanticStore": "mongo.semantic",
    "mongo_cold_store": "mongo.store",
    "own_folder": "owner",
    "sqlite_cold_store": "sqlite",
}


def __getattr__(name: str) -> Any:  # noqa: ANN401 - whatever the module holds
    """Import what is asked for: who holds the stores needs no engine, nor a server's driver."""
    if name not in _MODULES:
        raise AttributeError(name)
    return getattr(import_module(f".{_MODULES[name]}", __package__), name)
