"""Kills code between two steps on the disk, wherever there is one."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

_STEPS: tuple[tuple[Any, str], ...] = (
    (Path, "rename"),
    (Path, "replace"),
    (Path, "unlink"),
    (Path, "write_text"),
    (shutil, "rmtree"),
)


class Killed(BaseException):
    """Stands for the death of the process: nothing but the test catches it."""


class Countdown:
    """Lets a number of steps pass and kills at the next one; ``None`` kills never."""

    def __init__(self, steps: int | None) -> None:
        self.left = steps

    def step(self) -> None:
        """One step is about to be taken."""
        if self.left is not None:
            self.left -= 1
            if self.left < 0:
                raise Killed


@contextmanager
def killed_at(step: int) -> Iterator[Countdown]:
    """Kill whatever runs in the block before its ``step``-th change of the disk, from 0."""
    countdown = Countdown(step)
    with pytest.MonkeyPatch.context() as patch:
        for owner, name in _STEPS:
            patch.setattr(owner, name, _counted(getattr(owner, name), countdown))
        yield countdown


def _counted(function: Callable[..., Any], countdown: Countdown) -> Callable[..., Any]:
    def counted(*args: Any, **kwargs: Any) -> Any:
        countdown.step()
        return function(*args, **kwargs)

    return counted
