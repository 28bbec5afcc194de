"""What a run of tests has collected, and by which mark the normal run judges each test.

To collect everything once more takes eight seconds, so who asks what the normal run holds looks
here first.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
_FOLDERS = ("contract", "acceptance")

_MARKS: dict[str, str] = {}


def note(arguments: Iterable[str], items: Iterable[pytest.Item]) -> None:
    """Remember the tests of two folders, unless the run was asked for single ones."""
    if any("::" in one for one in arguments):
        return
    folders = tuple(f"tests/{name}/" for name in _FOLDERS)
    _MARKS.update({one.nodeid: _mark(one) for one in items if one.nodeid.startswith(folders)})


def _mark(item: pytest.Item) -> str:
    """Return the mark that counts. A case that its file marks is left out on purpose."""
    spec = getattr(item, "callspec", None)
    if spec is not None and "slow" in [mark.name for mark in spec.marks]:
        return "by its case"
    return "not slow" if item.get_closest_marker("slow") is None else "slow"


def marks() -> Mapping[str, str] | None:
    """Return the mark of each test by its id; ``None`` where the run left out one of the files."""
    files = {path for name in _FOLDERS for path in (TESTS / name).glob("test_*.py")}
    if files - {TESTS.parent / one.partition("::")[0] for one in _MARKS}:
        return None
    return _MARKS
