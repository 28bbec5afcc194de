"""Finding files: nothing hidden, nothing outside, no circles, and names that mean one document."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ezra.documents.folders import Patterns, found_in, gone_of, patterns_of, read_file
from tiers.errors import UsageError


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A folder with all sorts of files, and one beside it."""
    root = tmp_path / "book"
    for name in ("a.md", "part/b.txt", "part/deep/c.html", ".git/config", "part/.d.md", "e.png"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("text")
    (root / "tool").write_bytes(b"\x7fELF\x00")
    (root / "README").write_text("text")
    (tmp_path / "outside.md").write_text("secret")
    (root / "out.md").symlink_to(tmp_path / "outside.md")
    (root / "in.md").symlink_to(root / "a.md")
    (root / "circle").symlink_to(root)
    (root / "broken.md").symlink_to(root / "nothing.md")
    os.mkfifo(root / "pipe.md")
    return root


def _names(root: Path, patterns: Patterns) -> list[str]:
    return [one.name for one in found_in([root], patterns).files]


def test_a_folder_is_its_readable_files_under_its_own_name(root: Path) -> None:
    """Links out of it, links to folders, pipes, programs and pictures are left out, and counted."""
    found = found_in([root], Patterns())
    assert [(one.name, one.below) for one in found.files] == [
        ("book/README", "book"),
        ("book/a.md", "book"),
        ("book/in.md", "book"),
        ("book/part/b.txt", "part"),
        ("book/part/deep/c.html", "part"),
    ]
    assert found.ignored == 8
    assert found.is_inside("book/x")
    assert not found.is_inside("bookshelf/x")
    assert found.path_of("book/part/x.md") == root / "part/x.md"


def test_patterns_are_held_against_path_and_name(root: Path) -> None:
    """What is excluded is out, whatever is included."""
    assert _names(root, patterns_of(["*.md"], None)) == ["book/a.md", "book/in.md"]
    assert _names(root, patterns_of(["part/*"], ["deep/*", "part/deep/*"])) == ["book/part/b.txt"]
    assert _names(root, patterns_of(["**/c.html"], None)) == ["book/part/deep/c.html"]
    with pytest.raises(UsageError, match="include"):
        patterns_of([" "], None)


def test_files_may_be_named_themselves(root: Path, tmp_path: Path) -> None:
    """Under their own names; two that would be one document are refused, and what is not there."""
    found = found_in([root / "a.md", root / "part"], Patterns())
    assert [one.name for one in found.files] == ["a.md", "part/b.txt", "part/deep/c.html"]
    assert list(found.roots) == ["part/"]
    assert len(found_in([root, root], Patterns()).files) == 5
    other = tmp_path / "other" / "book"
    other.mkdir(parents=True)
    (other / "a.md").write_text("text")
    with pytest.raises(UsageError, match=r"book/a\.md"):
        found_in([root, other], Patterns())
    with pytest.raises(UsageError, match="nowhere"):
        found_in([root / "nowhere"], Patterns())
    with pytest.raises(UsageError, match="path"):
        found_in([root / "pipe.md"], Patterns())


def test_only_plain_files_are_read(root: Path) -> None:
    """Nobody waits for a pipe, and what went away is told by its name."""
    assert read_file(root / "a.md") == b"text"
    for name in ("pipe.md", "nothing.md", "part"):
        with pytest.raises(UsageError, match=name):
            read_file(root / name)


def test_what_cannot_be_looked_at_is_not_gone(root: Path) -> None:
    """A document is removed only when its file is surely not there."""
    names = {"there": root / "a.md", "gone": root / "x.md", "below": root / "a.md/x.md"}
    assert gone_of(names | {"odd": Path("a\x00b")}) == ["gone", "below"]
