"""Data folders copied and read as cheaply as their data: the engine's files are mostly holes."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

HOLES = ["--sparse=always"] if sys.platform == "linux" else []
"""What was read once is no hole any more where files are kept in memory; it is still all zeros."""


def copied(source: Path, target: Path) -> None:
    """Copy a folder to ``target``, which is not there yet, leaving out what is only zeros.

    ``shutil.copytree`` would write them out: 190 MB for an empty index.
    """
    subprocess.run(["cp", "-R", *HOLES, str(source), str(target)], check=True)


def extents(file: Path) -> Iterator[tuple[int, bytes]]:
    """Yield what a file holds between its holes, with where it lies."""
    with file.open("rb") as opened:
        end = opened.seek(0, os.SEEK_END)
        start = 0
        while start < end:
            try:
                start = os.lseek(opened.fileno(), start, os.SEEK_DATA)
            except OSError:
                return  # nothing but a hole is left
            hole = os.lseek(opened.fileno(), start, os.SEEK_HOLE)
            opened.seek(start)
            yield start, opened.read(hole - start)
            start = hole


def digests(folder: Path) -> dict[str, str]:
    """Return a digest of each file in a folder, by name."""
    files = sorted(one for one in folder.rglob("*") if one.is_file())
    return {str(one.relative_to(folder)): _digest(one) for one in files}


def _digest(file: Path) -> str:
    digest = hashlib.sha256(str(file.stat().st_size).encode())
    for start, data in extents(file):
        digest.update(f"{start} {len(data)} ".encode() + data)
    return digest.hexdigest()
