"""Who indexes which folders, and whose notes are kept alike where, by the bridge's settings."""

from __future__ import annotations

from pathlib import Path

from tiers.errors import ConfigError

from ..config import MEMORY_VARIABLE, BridgeConfig, roots_of
from .indexing import NoteIndexer
from .rules import rules_of
from .sync_state import SyncState
from .syncing import MemoryFolder


def indexer_of(config: BridgeConfig, folder: Path) -> NoteIndexer:
    """Return who indexes which folders.

    Args:
        config: Of the bridge.
        folder: Where the command runs: watched where nothing else is configured.

    Raises:
        ConfigError: A setting is malformed, or nobody is named.
    """
    return NoteIndexer(
        agent=config.named_agent,
        machine=config.machine,
        roots=roots_of(config.watch_dirs, folder),
        rules=rules_of(config.note_types, config.note_relations),
    )


def memory_folder_of(config: BridgeConfig, folder: Path | None = None) -> MemoryFolder:
    """Return whose notes are kept alike where.

    Args:
        config: Of the bridge.
        folder: Of the notes; the configured one if not given.

    Raises:
        ConfigError: There is no folder, or nobody is named.
    """
    where = config.memory_path if folder is None else folder
    if where is None:
        raise ConfigError(MEMORY_VARIABLE, "is not set; name the folder of your notes with it")
    # One folder has one state, whichever way leads to it.
    real = where.expanduser().resolve()
    return MemoryFolder(
        agent=config.named_agent,
        machine=config.machine,
        folder=real,
        state=SyncState(config.state, config.key, real),
    )
