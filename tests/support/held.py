"""Fixtures that are what a block holds, in a line."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any, Literal

import pytest


def held(
    running: Callable[[], AbstractContextManager[object]],
    scope: Literal["function", "module"] = "function",
) -> Any:
    """Return a fixture of what a context manager gives: for each test, or for all of a file."""

    def found() -> Iterator[object]:
        with running() as one:
            yield one

    return pytest.fixture(found, scope=scope)
