"""The cold tier on MongoDB or Atlas.

* MongoDB. A step that changes several documents is one transaction; a standalone server, which
  has none, is refused on opening, and so is a database of another schema version. A reading sees
  one moment (a snapshot session). Numbers without gaps (turns, audit, beliefs) are read and
  inserted under a unique index, not counted. The list of commands that are ever sent is in
  ``tiers/cold/mongo/database.py`` and pinned by tests.
"""

from ...extras import needs

with needs("servers", "EZRA_MONGODB_URI"):
    from .store import mongo_cold_store

__all__ = ["mongo_cold_store"]
