"""What lies in the folder of the embedded warm tier, for ``ezra doctor``."""

from __future__ import annotations

import asyncio
from importlib.metadata import version
from pathlib import Path

from ..health import TierHealth


async def edge_health(folder: Path) -> TierHealth:
    """Return which indexes there are and how large they are.

    Nothing is opened: an index has one owner at a time, who may be at work.
    """
    return await asyncio.to_thread(_looked_at, folder)


def _looked_at(folder: Path) -> TierHealth:
    indexes = {path.parent.name: _megabytes(path.parent) for path in folder.glob("*/manifest.json")}
    details = {"indexes_mb": dict(sorted(indexes.items()))}
    engine = "qdrant-edge"
    return TierHealth(
        tier="warm", engine=engine, version=version("qdrant-edge-py"), details=details
    )


def _megabytes(folder: Path) -> float:
    """Return what the files of a folder hold; one that goes while it is counted counts nothing."""
    total = 0
    for path in folder.rglob("*"):
        try:
            total += path.stat().st_size
        except FileNotFoundError:
            continue
    return round(total / 1e6, 1)
