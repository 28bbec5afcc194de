"""What the figures were measured on, and how fast that is by itself."""

from __future__ import annotations

import hashlib
import os
import platform
import statistics
import time
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

_CPU_INFO = Path("/proc/cpuinfo")
_ROUNDS = 5
_ADDED = 1_000_000
_HASHED = bytes(20_000_000)


@dataclass(frozen=True)
class Machine:
    """What the figures were measured on.

    Attributes:
        python_ms: Processor time of adding a million numbers in Python.
        hash_ms: Of hashing 20 MB by SHA-256.
        load: Processes that wanted to run in the last minute, on the average; 0 where unknown.
    """

    ezra: str
    processor: str
    cores: int
    system: str
    python: str
    python_ms: float
    hash_ms: float
    load: float


def this_machine() -> Machine:
    """Return what this machine is and how fast: the median of a few rounds."""
    rounds = [(_python_ms(), _hash_ms()) for _ in range(_ROUNDS)]
    return Machine(
        ezra=version("ezra"),
        processor=_processor(),
        cores=os.cpu_count() or 1,
        system=f"{platform.system()} {platform.release()}",
        python=platform.python_version(),
        python_ms=statistics.median(one for one, _ in rounds),
        hash_ms=statistics.median(two for _, two in rounds),
        load=os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0,
    )


def _python_ms() -> float:
    started = time.process_time()
    total = 0
    for number in range(_ADDED):
        total += number
    return 1000 * (time.process_time() - started)


def _hash_ms() -> float:
    started = time.process_time()
    hashlib.sha256(_HASHED).digest()
    return 1000 * (time.process_time() - started)


def _processor() -> str:
    if _CPU_INFO.exists():
        for line in _CPU_INFO.read_text(encoding="utf-8", errors="replace").splitlines():
            name, _, value = line.partition(":")
            if name.strip() == "model name":
                return value.strip()
    return platform.processor() or platform.machine()
