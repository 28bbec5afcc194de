"""What lies in the folder of the embedded warm tier, for ``ezra doctor``."""

from __future__ import annotations

import asyncio
import shutil
from importlib.metadata import version
from pathlib import Path

from pydantic import JsonValue

from ..health import TierHealth
from .edge_folder import DAMAGED, WRITE_BYTES_MIN

_NEEDED = f"{WRITE_BYTES_MIN // 2**20} MiB"


async def edge_health(folder: Path) -> TierHealth:
    """Return which indexes there are and how large they are.

    Nothing is opened: an index has one owner at a time, who may be at work.
    """
    return await asyncio.to_thread(_looked_at, folder)


def _looked_at(folder: Path) -> TierHealth:
    indexes = {path.parent.name: _megabytes(path.parent) for path in folder.glob("*/manifest.json")}
    details: dict[str, JsonValue] = {"indexes_mb": dict(sorted(indexes.items()))}
    free = shutil.disk_usage(next(one for one in (folder, *folder.parents) if one.exists())).free
    details["free_mb"] = free // 10**6
    kept = sorted(folder.glob(f"*/{DAMAGED}"))
    problems = tuple(
        f"a damaged index was set aside as {path} and is built again from the cold tier; look at "
        "the disk, then remove it"
        for path in kept
    )
    if free < WRITE_BYTES_MIN:
        problems = (*problems, f"the disk is full: nothing is indexed until {_NEEDED} are free")
    return TierHealth(
        tier="warm",
        engine="qdrant-edge",
        version=version("qdrant-edge-py"),
        details=details,
        problems=problems,
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
