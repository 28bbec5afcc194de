"""The cold tier in one SQLite file: the source of truth of an embedded ezra."""

from ..stores import ColdStores
from .file_size import MADE_NAME, give_room, note_made
from .schema import check_file
from .store import DATABASE_NAME, sqlite_cold_store

__all__ = [
    "DATABASE_NAME",
    "MADE_NAME",
    "ColdStores",
    "check_file",
    "give_room",
    "note_made",
    "sqlite_cold_store",
]
