"""The Markdown files of watched folders, as the disk has them now."""

from __future__ import annotations

import os
import stat
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tiers.documents import PATH_CHARS_MAX
from tiers.errors import UsageError, refused
from tiers.fields import TEXT_CHARS_MAX

from ..config import Root
from .names import is_note
from .rules import is_entity_file

FILES_MAX = 20_000
DEPTH_MAX = 32
FILE_BYTES_MAX = 4 * TEXT_CHARS_MAX
"""A character has four bytes in UTF-8 at most."""
_OPEN = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0)


@dataclass(frozen=True, slots=True)
class NoteFile:
    """A Markdown file in a folder.

    Attributes:
        name: Relative to the folder, with ``/``, in one spelling of its characters (NFC).
        path: Where it is.
    """

    name: str
    path: Path


def notes_in(root: Path) -> tuple[NoteFile, ...]:
    """Return the Markdown files under a folder that are entities, by name. Reads the disk.

    Hidden files and folders are left out, and links are not followed.

    Raises:
        UsageError: It is no folder that can be read, or has too many files.
    """
    if not root.is_dir():
        raise UsageError("folder", str(root), "a folder that is there")
    found = sorted(
        (one for one in markdown_in(root) if is_entity_file(one.name)), key=lambda one: one.name
    )
    names: dict[str, NoteFile] = {}
    for one in found:
        # Two spellings of one name are one note; the first stays.
        names.setdefault(one.name, one)
    return tuple(names.values())


def markdown_in(root: Path) -> Iterator[NoteFile]:
    """Yield all Markdown files under a folder, in no order. Reads the disk.

    Raises:
        UsageError: There are more than ``FILES_MAX``, or a folder cannot be read.
    """
    count = 0
    folders: list[tuple[Path, int]] = [(root, 0)]
    while folders:
        folder, depth = folders.pop()
        try:
            entries = list(os.scandir(folder))
        except OSError as error:
            reason = error.strerror or "it cannot be read"
            raise UsageError(
                "folder", str(folder), f"a folder that can be read: {reason}"
            ) from error
        for entry in entries:
            if entry.name.startswith(".") or entry.is_symlink():
                continue
            if entry.is_dir(follow_symlinks=False):
                if depth < DEPTH_MAX:
                    folders.append((folder / entry.name, depth + 1))
            elif is_note(entry.name) and entry.is_file(follow_symlinks=False):
                count += 1
                if count > FILES_MAX:
                    raise UsageError("folder", str(root), f"at most {FILES_MAX} Markdown files")
                yield NoteFile(name_in(root, folder / entry.name), folder / entry.name)


def name_in(root: Path, path: Path) -> str:
    """Return the name of a file relative to a folder that it is in."""
    return unicodedata.normalize("NFC", path.relative_to(root).as_posix())


def file_in(roots: Sequence[Root], path: Path) -> tuple[Root, NoteFile]:
    """Return in which watched folder a file is, and its name there. Reads the disk.

    Raises:
        UsageError: It is in none of them.
    """
    # The folder's links are resolved as those of the roots are; the file itself must be none.
    real = Path(os.path.realpath(path.parent)) / path.name
    for root in roots:
        if real.is_relative_to(root.path):
            return root, NoteFile(name_in(root.path, real), real)
    watched = ", ".join(str(root.path) for root in roots)
    raise UsageError("path", str(path), f"a file in a watched folder: {watched}")


def text_of(file: NoteFile) -> str:
    """Return what a note says. Reads the disk; line ends stay as they are.

    Raises:
        UsageError: It cannot be read, is too long, or is no text in UTF-8.
    """
    if len(file.name) > PATH_CHARS_MAX:
        raise UsageError("path", file.name, f"a name of {PATH_CHARS_MAX} characters at most")
    with refused(lambda why: UsageError("path", file.name, f"a file that can be read: {why}")):
        # A link, or something that never ends, may have taken the file's place meanwhile.
        descriptor = os.open(file.path, _OPEN)
        with os.fdopen(descriptor, "rb") as stream:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise UsageError("path", file.name, "a regular file")
            content = stream.read(FILE_BYTES_MAX + 1)
    return _decoded(file.name, content)


def _decoded(name: str, content: bytes) -> str:
    try:
        text = content.decode() if len(content) <= FILE_BYTES_MAX else None
    except UnicodeDecodeError as error:
        raise UsageError("path", name, f"text in UTF-8; byte {error.start + 1} is none") from error
    if text is None or len(text) > TEXT_CHARS_MAX:
        raise UsageError("path", name, f"a note of {TEXT_CHARS_MAX:,} characters at most")
    if "\x00" in text:
        raise UsageError("path", name, "text; it has NUL characters")
    return text
