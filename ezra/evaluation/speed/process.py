"""Work that is measured in a process of its own, from this checkout or from another."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tiers.errors import EzraError, UsageError

LIMIT_SECONDS = 6 * 3600.0
"""A million records take hours on a slow machine; what takes longer has hung."""
SHOWN_CHARS = 2_000

_RUNNER = """
import asyncio, importlib.util, json, sys
name, path, spec = sys.argv[1:]
found = importlib.util.spec_from_file_location(name, path)
module = sys.modules[name] = importlib.util.module_from_spec(found)
found.loader.exec_module(module)
sys.stdout.write(json.dumps(asyncio.run(module.measured(**json.loads(spec)))))
"""
"""Loads a module of this package from its file, beside whatever ezra the path leads to."""

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]


class NotMeasured(EzraError):
    """A process that was to measure something failed."""

    def __init__(self, what: str, said: str) -> None:
        super().__init__(f"{what} could not be measured: {said[-SHOWN_CHARS:].strip()}")


def checkout(path: Path) -> Path:
    """Return the folder of another checkout.

    Raises:
        UsageError: There is none.
    """
    folder = path.resolve()
    if not (folder / "ezra" / "__init__.py").is_file():
        raise UsageError("against", str(path), "a folder with a checkout of ezra")
    return folder


async def done_apart(
    module: str, spec: Mapping[str, object], folder: Path = ROOT
) -> dict[str, Any]:
    """Call ``measured`` of a module of this package in a process of its own, and return its answer.

    Args:
        module: Its name.
        spec: The arguments.
        folder: The checkout whose ezra it uses.

    Raises:
        NotMeasured: It failed.
    """
    environment = {**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", "-c", _RUNNER),
        *(f"{__package__}.{module}", str(HERE / f"{module}.py"), json.dumps(spec)),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=environment,
        cwd=folder,
    )
    try:
        async with asyncio.timeout(LIMIT_SECONDS):
            said, problem = await process.communicate()
    except TimeoutError:
        raise NotMeasured(module, f"no end after {LIMIT_SECONDS:.0f} seconds") from None
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode:
        raise NotMeasured(module, problem.decode(errors="replace"))
    answer: dict[str, Any] = json.loads(said)
    return answer
