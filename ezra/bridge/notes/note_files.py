"""A folder of notes that is kept like its shelf: read, written and removed with care."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path, PurePosixPath, PureWindowsPath

from tiers.errors import Conflict, UsageError, refused
from tiers.saved_file import replace_file

from ...documents.parsed import cleaned
from .folders import NoteFile, markdown_in, text_of
from .names import digest_of, is_note

INDEX_NOTE = "memory.md"
"""The note of a folder that lists its other notes, in any case: each machine has its own."""
_PART_BYTES_MAX = 255
_FILE_MODE = 0o666


@dataclass(frozen=True, slots=True)
class LocalNote:
    """A note as the folder has it.

    Attributes:
        path: Where it is.
        text: What it says, with line feeds alone; empty where it cannot be read.
        digest: SHA-256 of that: other line ends are no change.
        line_end: What ends its lines on the disk.
        problem: Why it cannot be read; empty when it can.
    """

    path: Path
    text: str
    digest: str
    line_end: str = "\n"
    problem: str = ""


def local_notes(folder: Path) -> dict[str, LocalNote]:
    """Return the notes of a folder by name, what cannot be read too. Reads the disk.

    Raises:
        UsageError: The folder cannot be read, or has too many files.
    """
    found: dict[str, LocalNote] = {}
    for file in sorted(markdown_in(folder), key=lambda one: (one.name, str(one.path))):
        if file.name.casefold() == INDEX_NOTE:
            continue
        if file.name in found:
            path = found[file.name].path
            problem = f"{path.name} and {file.path.name} are one name in two spellings; rename one"
            found[file.name] = LocalNote(path, "", "", problem=problem)
        else:
            found[file.name] = local_note(file)
    return found


def local_note(file: NoteFile) -> LocalNote:
    """Return a note as the disk has it now."""
    try:
        raw = text_of(file)
    except UsageError as error:
        return LocalNote(file.path, "", "", problem=str(error))
    text = raw.replace("\r\n", "\n").replace("\r", "\n")
    if cleaned(text) != text:
        # They would be gone on every other machine.
        return LocalNote(file.path, "", "", problem=f"{file.name} has control characters")
    return LocalNote(file.path, text, digest_of(text), "\r\n" if "\r\n" in raw else "\n")


def write_note(folder: Path, name: str, text: str, seen: LocalNote | None) -> LocalNote:
    """Write a note that still is as it was seen, and return it. Writes the disk.

    Args:
        folder: Of the notes.
        name: Its name on the shelf.
        text: What it is to say.
        seen: What was there; ``None`` when there was nothing.

    Raises:
        Conflict: It says something else now; nothing was written.
        UsageError: The name cannot be one of a note here, or the system refuses it.
    """
    path = _path_of(folder, name) if seen is None else seen.path
    with refused(lambda why: UsageError("note", name, f"a file that can be written: {why}")):
        _check_inside(folder, path, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        _check_seen(path, name, None if seen is None else seen.digest)
        line_end = "\n" if seen is None else seen.line_end
        replace_file(path, text.replace("\n", line_end).encode(), mode=_FILE_MODE)
    return LocalNote(path, text, digest_of(text), line_end)


def remove_note(folder: Path, name: str, seen: LocalNote) -> None:
    """Remove a note that still is as it was seen. Writes the disk.

    Raises:
        Conflict: It says something else now; nothing was removed.
        UsageError: The system refuses it.
    """
    with refused(lambda why: UsageError("note", name, f"a file that can be removed: {why}")):
        _check_inside(folder, seen.path, name)
        _check_seen(seen.path, name, seen.digest)
        seen.path.unlink()


def _path_of(folder: Path, name: str) -> Path:
    """Return where a note of the server goes. Its name is a stranger's word: it stays inside."""
    parts = PurePosixPath(name).parts
    is_plain = all(
        part not in (".", "..")
        and not part.startswith(".")
        and part.isprintable()
        and len(part.encode()) <= _PART_BYTES_MAX
        # What is one name here may be a drive or several folders elsewhere.
        and PureWindowsPath(part).name == part
        for part in parts
    )
    if not parts or not is_plain or not is_note(name) or name.casefold() == INDEX_NOTE:
        raise UsageError("note", name, "the name of a Markdown file inside of the folder")
    return folder.joinpath(*parts)


def _check_inside(folder: Path, path: Path, name: str) -> None:
    """Make sure that no link leads out of the folder on the way to a note."""
    real = Path(os.path.realpath(path.parent))
    if not real.is_relative_to(os.path.realpath(folder)):
        raise UsageError("note", name, "a file that no link leads out of the folder")


def _check_seen(path: Path, name: str, seen: str | None) -> None:
    if not os.path.lexists(path):
        found = None
    else:
        note = local_note(NoteFile(name, path))
        if note.problem:
            raise UsageError("note", name, f"a file that can be read: {note.problem}")
        found = note.digest
    if found != seen:
        raise Conflict(f"the file of {name}, which is being changed", seen, found)
