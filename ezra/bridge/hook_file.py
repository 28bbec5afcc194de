"""The settings file of a coding agent on the disk: read, saved beside itself, replaced in one step.

It is somebody else's file. No link is followed to another one, what changed since it was read is
not overwritten, and before each change the former text is kept beside it.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from tiers.errors import Conflict, UsageError

from .hook_settings import installed, is_former, uninstalled
from .own_files import open_regular

BYTES_MAX = 4 * 1024 * 1024
BACKUPS_MAX = 5

_BACKUP = ".ezra-{0:%Y%m%dT%H%M%S}{0.microsecond:06d}.bak"
_BACKUP_NAME = re.compile(r"\.ezra-\d{8}T\d{12}\.bak")


@dataclass(frozen=True)
class Change:
    """What came of changing settings.

    Attributes:
        path: The file.
        changed: Whether it was changed.
        backup: Where its former text is; ``None`` when it was not changed, or was not there.
        removed: Whether the file is gone: it had been made for our hooks alone.
    """

    path: Path
    changed: bool
    backup: Path | None = None
    removed: bool = False


class SettingsFile:
    """The settings file of a coding agent.

    Args:
        path: Where it is; it need not exist.
    """

    def __init__(self, path: Path) -> None:
        self.path = path.expanduser().absolute()

    def text(self) -> str | None:
        """Return what it says; ``None`` when it is not there.

        Raises:
            UsageError: It is a link, is in one, is no file, is too long, or cannot be read.
        """
        data = self._data()
        return None if data is None else self._decoded(data)

    def install(self, program: str, now: datetime) -> Change:
        """Put our hooks into it; what else is there stays as it is.

        Args:
            program: How the hook is called, as a shell reads it.
            now: The time, for the name of the backup.

        Raises:
            UsageError: It cannot be read or written, or is no JSON; nothing was changed.
            Conflict: It was changed meanwhile; nothing was written.
        """
        data = self._data()
        text = "" if data is None else self._decoded(data)
        return self._change(data, installed(text, program), now)

    def uninstall(self, now: datetime) -> Change:
        """Take our hooks out of it: where nothing else was changed, to the byte as it was.

        Raises:
            UsageError: It cannot be read or written, or is no JSON; nothing was changed.
            Conflict: It was changed meanwhile; nothing was written.
        """
        data = self._data()
        if data is None:
            return Change(self.path, changed=False)
        text = self._decoded(data)
        bare = uninstalled(text)
        if bare == text:
            return Change(self.path, changed=False)
        for was in self._saved():
            if is_former(was, text):
                return self._change(data, was, now)
        return self._change(data, None if is_former("", text) else bare, now)

    def backups(self) -> tuple[Path, ...]:
        """Return the files with former texts, the latest first."""
        try:
            found = list(self.path.parent.iterdir())
        except OSError:
            return ()
        name = self.path.name
        ours = [
            one
            for one in found
            if one.name.startswith(name)
            and _BACKUP_NAME.fullmatch(one.name[len(name) :])
            and stat.S_ISREG(one.lstat().st_mode)
        ]
        return tuple(sorted(ours, key=lambda one: one.name, reverse=True))

    def _saved(self) -> list[str]:
        texts = []
        for path in self.backups():
            with contextlib.suppress(OSError, UnicodeDecodeError):
                texts.append(path.read_bytes().decode())
        return texts

    def _data(self) -> bytes | None:
        try:
            self._check_no_link()
            with open(self.path, "rb", opener=open_regular) as file:
                if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                    raise UsageError("settings", str(self.path), "a regular file")
                data = file.read(BYTES_MAX + 1)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise self._unusable("read", error) from error
        if len(data) > BYTES_MAX:
            raise UsageError("settings", str(self.path), f"a file of {BYTES_MAX:,} bytes at most")
        return data

    def _check_no_link(self) -> None:
        for one in (self.path, self.path.parent):
            if one.is_symlink():
                real = Path(os.path.realpath(self.path))
                accepted = f"no link; if you mean the file behind it, name that: {real}"
                raise UsageError("settings", str(one), accepted)

    def _decoded(self, data: bytes) -> str:
        try:
            return data.decode()
        except UnicodeDecodeError as error:
            accepted = f"text in UTF-8; byte {error.start + 1} is none"
            raise UsageError("settings", str(self.path), accepted) from error

    def _change(self, was: bytes | None, text: str | None, now: datetime) -> Change:
        new = None if text is None else text.encode()
        if new == was:
            return Change(self.path, changed=False)
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            backup = None if was is None else self._back_up(was, now)
            self._replace(was, new)
            for old in self.backups()[BACKUPS_MAX:]:
                old.unlink(missing_ok=True)
        except OSError as error:
            raise self._unusable("written", error) from error
        return Change(self.path, changed=True, backup=backup, removed=new is None)

    def _back_up(self, was: bytes, now: datetime) -> Path:
        path = self.path.with_name(self.path.name + _BACKUP.format(now))
        self._write(path, was)
        return path

    def _replace(self, was: bytes | None, new: bytes | None) -> None:
        """Put a new text in the file's place, or remove it, if it still is what was read."""
        draft = self.path.with_name(f".{self.path.name}.ezra-{os.getpid()}")
        try:
            if new is not None:
                self._write(draft, new)
            if self._data() != was:
                raise Conflict(str(self.path), "what was read", "something else; nothing written")
            if new is None:
                self.path.unlink()
            else:
                draft.replace(self.path)
        finally:
            draft.unlink(missing_ok=True)

    def _write(self, path: Path, data: bytes) -> None:
        """Write a new file that is no more open to others than the settings are."""
        try:
            mode = stat.S_IMODE(self.path.lstat().st_mode)
        except FileNotFoundError:
            mode = 0o600
        number = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        with os.fdopen(number, "wb") as file:
            file.write(data)
            os.fchmod(number, mode)
            file.flush()
            os.fsync(number)

    def _unusable(self, what: str, error: OSError) -> UsageError:
        accepted = f"a file that can be {what}: {error.strerror or error}"
        return UsageError("settings", str(self.path), accepted)
