"""Finding the files of folders, and reading them: nothing hidden and nothing outside."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path, PurePath
from typing import NamedTuple

from tiers.documents import one_form, spellings
from tiers.errors import UsageError, refused

from .formats import is_known
from .parsed import FILE_BYTES_MAX

FILES_MAX = 100_000
DEPTH_MAX = 64
_ANYWHERE = "**/"
_HEAD_BYTES = 1_024


class FoundFile(NamedTuple):
    """A file that is to be read.

    Attributes:
        path: Where it is.
        name: What its document is called: the name of the folder that was asked for, and the path
            in it, with ``/``; of a file that was asked for by itself, its own name.
        below: The folder under the one that was asked for; that one itself for files right in it.
        stamp: When it was changed and how large it is: with the same stamp it is taken for the
            same.
    """

    path: Path
    name: str
    below: str
    stamp: tuple[int, int, int]


class Found(NamedTuple):
    """What is in folders.

    Attributes:
        files: Those that are to be read, in the order of their names.
        ignored: How many are not: hidden, excluded, or of a format that is not read.
        roots: The folders, by what the names of all their documents begin with.
    """

    files: tuple[FoundFile, ...]
    ignored: int
    roots: dict[str, Path]

    def is_inside(self, name: str) -> bool:
        """Return whether a document of that name is one of the folders."""
        return one_form(name).startswith(tuple(self.roots))

    def paths_of(self, name: str) -> tuple[Path, ...]:
        """Return where the file of a document of the folders is, or was, as it may be called."""
        plain = one_form(name)
        prefix = next(one for one in self.roots if plain.startswith(one))
        return tuple(self.roots[prefix] / one for one in spellings(plain.removeprefix(prefix)))


class Patterns(NamedTuple):
    """Which files of a folder count, by patterns such as ``*.md`` or ``drafts/*``.

    A pattern is held against the path in the folder, and against the name of the file alone.

    Attributes:
        include: Only those that match one of these; all if there are none.
        exclude: None that matches one of these.
    """

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()

    def take(self, relative: str) -> bool:
        """Return whether a file counts."""
        if any(_matches(relative, one) for one in self.exclude):
            return False
        return not self.include or any(_matches(relative, one) for one in self.include)


def found_in(paths: Sequence[Path], patterns: Patterns) -> Found:
    """Return the files of folders, and files that are named themselves. For a thread.

    Links to folders are not followed, and links to files only where they stay inside. What is
    named itself counts whatever the patterns say, and its format is looked at when it is read.

    Raises:
        UsageError: A path is neither file nor folder, two files would be one document, or there
            are too many.
    """
    files: dict[str, FoundFile] = {}
    roots: dict[str, Path] = {}
    ignored = 0
    for path in paths:
        whole = _resolved(path)
        if whole.is_dir():
            roots.setdefault(f"{one_form(whole.name)}/", whole)
            inside, unread = _below(whole, patterns)
            ignored += unread
        elif whole.is_file():
            # As it was named: a link stands under its own name.
            name = one_form(path.name)
            inside = [FoundFile(whole, name, whole.parent.name, _stamp(whole.stat()))]
        else:
            raise UsageError("path", str(path), "a file or a folder")
        for one in inside:
            if files.setdefault(one.name, one).path != one.path:
                accepted = "names of their own; use a shelf for each folder"
                raise UsageError("path", one.name, accepted)
    names = sorted(files)
    return Found(tuple(files[name] for name in names), ignored, roots)


def gone_of(paths: Mapping[str, Sequence[Path]]) -> list[str]:
    """Return the names whose file is at none of its paths. For a thread."""
    return [name for name, where in paths.items() if all(map(_is_gone, where))]


def _is_gone(path: Path) -> bool:
    """Whether a file is not there; what cannot be looked at is."""
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return True
    except (OSError, ValueError):
        return False
    return False


def read_file(path: Path) -> bytes:
    """Return what a file holds. For a thread.

    Raises:
        UsageError: It cannot be read, is no plain file, or is larger than is read.
    """
    with refused(lambda why: UsageError("path", path.name, f"a file that can be read: {why}")):
        # Whoever opens a pipe or a device would wait for it.
        number = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(number, "rb") as file:
            about = os.fstat(number)
            if not stat.S_ISREG(about.st_mode):
                raise UsageError("path", path.name, "a file")
            data = file.read(FILE_BYTES_MAX + 1)
    if len(data) > FILE_BYTES_MAX:
        raise UsageError("path", path.name, f"{FILE_BYTES_MAX // 2**20} MiB at most")
    return data


def _below(root: Path, patterns: Patterns) -> tuple[list[FoundFile], int]:
    """Return the files below a folder that count, and how many do not."""
    files: list[FoundFile] = []
    ignored = 0
    waiting: list[tuple[Path, tuple[str, ...]]] = [(root, ())]
    while waiting:
        folder, parts = waiting.pop()
        for entry in _entries(folder):
            inside = (*parts, entry.name)
            if entry.name.startswith("."):
                ignored += 1
            elif entry.is_dir(follow_symlinks=False):
                if len(inside) > DEPTH_MAX:
                    raise UsageError("path", "/".join(parts), f"{DEPTH_MAX} folders deep at most")
                waiting.append((Path(entry.path), inside))
            elif (stamp := _stamp_if_counted(entry, root, "/".join(inside), patterns)) is not None:
                name = one_form("/".join((root.name, *inside)))
                below = inside[0] if len(inside) > 1 else root.name
                files.append(FoundFile(Path(entry.path), name, below, stamp))
            else:
                ignored += 1
        if len(files) + ignored > FILES_MAX:
            raise UsageError("path", root.name, f"{FILES_MAX:,} files at most")
    return files, ignored


def _stamp_if_counted(
    entry: os.DirEntry[str], root: Path, relative: str, patterns: Patterns
) -> tuple[int, int, int] | None:
    """Return the stamp of a file that counts, or ``None``."""
    if not is_known(entry.name) or not patterns.take(relative):
        return None
    try:
        about = entry.stat()
        if not stat.S_ISREG(about.st_mode) or _is_program(entry):
            return None
        if entry.is_symlink() and root not in Path(entry.path).resolve(strict=True).parents:
            return None
    except (OSError, RuntimeError):
        return None  # it went away, or goes round in circles
    return _stamp(about)


def _is_program(entry: os.DirEntry[str]) -> bool:
    """Whether a file without a suffix holds no text."""
    if PurePath(entry.name).suffix:
        return False
    with Path(entry.path).open("rb") as file:
        return b"\x00" in file.read(_HEAD_BYTES)


def _entries(folder: Path) -> Iterator[os.DirEntry[str]]:
    """Yield what is in a folder in order; nothing where it may not be read or went away."""
    try:
        with os.scandir(folder) as listed:
            yield from sorted(listed, key=lambda one: one.name)
    except OSError:
        return


def _resolved(path: Path) -> Path:
    try:
        return path.expanduser().resolve(strict=True)
    except (OSError, RuntimeError, ValueError) as error:
        raise UsageError("path", str(path), "a file or a folder that is there") from error


def _stamp(about: os.stat_result) -> tuple[int, int, int]:
    return about.st_mtime_ns, about.st_size, about.st_ino


def _matches(relative: str, pattern: str) -> bool:
    plain = pattern.removeprefix(_ANYWHERE)
    name = relative.rpartition("/")[2]
    return any(fnmatchcase(one, plain) for one in (relative, name))


def patterns_of(include: Iterable[str] | None, exclude: Iterable[str] | None) -> Patterns:
    """Return patterns that may have been given.

    Raises:
        UsageError: One is blank.
    """
    given = Patterns(tuple(include or ()), tuple(exclude or ()))
    for name, some in (("include", given.include), ("exclude", given.exclude)):
        if any(not one.strip() for one in some):
            raise UsageError(name, "", "patterns such as *.md or drafts/*")
    return given
