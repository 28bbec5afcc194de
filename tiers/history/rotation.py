"""Handing over from one key to the next, so that whoever trusts the first trusts the last.

Beside the key's file lies ``<file>.rotations.json``, in which each key has signed who came after
it. A rotation writes the new key to ``<file>.next``, then the record, then puts the new key in the
old one's place; whoever comes after a crash finishes or discards what it finds.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from filelock import FileLock, Timeout
from pydantic import TypeAdapter, ValidationError

from ..errors import ConfigError, IntegrityError, UsageError, refused
from ..fields import Moment, Record, in_utc
from ..saved_file import replace_file, sync_folder
from .chain import canonical, written
from .signing import KEY_FILE_SETTING, SigningKey, is_public_key, key_id, verify

ROTATIONS_MAX = 10_000
_FILE_BYTES_MAX = 1 << 24
_WAIT_SECONDS = 10.0


class Rotation(Record):
    """A key's word on which key comes after it.

    Attributes:
        from_key: The public key that signs, in hexadecimal digits.
        to_key: The public key that counts from then on.
        rotated_at: From when on; ``from_key`` counts until then.
        signature: By ``from_key``, over every other field.
    """

    from_key: str
    to_key: str
    rotated_at: Moment
    signature: str


class TrustedKey(NamedTuple):
    """A key, and from when until when what it signs counts; ``None`` is without end."""

    public_key: str
    since: datetime | None = None
    until: datetime | None = None

    def counts_at(self, moment: datetime) -> bool:
        """Return whether a signature of that moment counts."""
        begun = self.since is None or self.since <= moment
        return begun and (self.until is None or moment <= self.until)


_FILE = TypeAdapter(tuple[Rotation, ...])


def handed_over(old: SigningKey, new: SigningKey, now: datetime) -> Rotation:
    """Return the record by which ``old`` names ``new`` as the key that comes after it."""
    unsigned = Rotation(
        from_key=old.public_hex, to_key=new.public_hex, rotated_at=in_utc(now), signature=""
    )
    return unsigned.model_copy(update={"signature": old.sign(_signed_bytes(unsigned))})


def check_rotation(rotation: Rotation) -> str | None:
    """Return what is wrong with a rotation by itself, or ``None``."""
    if not is_public_key(rotation.from_key) or not is_public_key(rotation.to_key):
        return "it names what is no public key"
    if rotation.from_key == rotation.to_key:
        return f"key {key_id(rotation.from_key)} hands over to itself"
    if not verify(rotation.from_key, rotation.signature, _signed_bytes(rotation)):
        return (
            f"it is not signed by the key that it takes the place of, {key_id(rotation.from_key)}"
        )
    return None


def check_rotations(rotations: Sequence[Rotation]) -> dict[int, str]:
    """Return what is wrong with each rotation of a chain, by its index."""
    problems: dict[int, str] = {}
    seen: set[str] = set()
    for index, one in enumerate(rotations):
        before = rotations[index - 1] if index else None
        problem = check_rotation(one)
        if problem is None and before is not None:
            if one.from_key != before.to_key:
                problem = "it does not go on from the key of the rotation before"
            elif one.rotated_at < before.rotated_at:
                problem = "it is from before the rotation before"
        if problem is None and one.to_key in seen:
            problem = f"key {key_id(one.to_key)} was in use before"
        if problem is not None:
            problems[index] = problem
        seen |= {one.from_key, one.to_key}
    return problems


def trusted_keys(first_public: str, rotations: Sequence[Rotation]) -> tuple[TrustedKey, ...]:
    """Return the keys that whoever trusts a key may trust, and from when until when.

    Rotations that led to ``first_public`` say nothing about the keys before it: the new key has
    signed for none of them.

    Args:
        first_public: The key that is known to be right.
        rotations: In order.

    Raises:
        UsageError: ``first_public`` is no key.
        IntegrityError: A rotation is forged or broken, or none goes on from ``first_public``.
    """
    if not is_public_key(first_public):
        raise UsageError("public_key", first_public, "64 lower-case hexadecimal digits")
    for index, problem in check_rotations(rotations).items():
        raise IntegrityError("rotations", index + 1, problem)
    if not rotations or rotations[-1].to_key == first_public:
        return (TrustedKey(first_public),)
    begins = [index for index, one in enumerate(rotations) if one.from_key == first_public]
    if not begins:
        raise IntegrityError("rotations", 1, f"none goes on from key {key_id(first_public)}")
    key = TrustedKey(first_public)
    keys: list[TrustedKey] = []
    for one in rotations[begins[0] :]:
        keys.append(key._replace(until=one.rotated_at))
        key = TrustedKey(one.to_key, one.rotated_at)
    return (*keys, key)


def rotations_of(path: Path) -> tuple[Rotation, ...]:
    """Return the rotations of a key file, the first one first; none where there were none.

    Raises:
        ConfigError: They cannot be read.
    """
    file = _rotations_path(path.resolve())
    try:
        with file.open("rb") as source:
            return _FILE.validate_json(source.read(_FILE_BYTES_MAX))
    except FileNotFoundError:
        return ()
    except OSError as error:
        raise ConfigError(KEY_FILE_SETTING, f"cannot read {file}: {error.strerror}") from error
    except ValidationError as error:
        raise ConfigError(KEY_FILE_SETTING, f"{file} does not hold rotations") from error


def load_key(path: Path) -> SigningKey:
    """Return the key of a file; a rotation that was interrupted is finished first.

    Raises:
        ConfigError: The file cannot be read, others may read it, or it holds no key.
    """
    path = path.resolve()
    if _next_path(path).exists():
        with _alone(path):
            _finish(path)
    before = _identity(path)
    try:
        return SigningKey.from_file(path)
    except ConfigError:
        # The file was opened just before a rotation put another in its place and blanked it.
        if _identity(path) == before:
            raise
        return SigningKey.from_file(path)


def rotate(path: Path, now: datetime) -> Rotation:
    """Put a new key in the place of a file's; the old one signs for it and is destroyed.

    A crash leaves the old key or the new one, never neither and never a new one that nobody has
    signed for.

    Args:
        path: The key's file.
        now: From when on the new key counts; later, where the last rotation is later.

    Raises:
        ConfigError: The key cannot be read or written, or another process is rotating it.
    """
    path = path.resolve()
    with _alone(path):
        _finish(path)
        path.chmod(0o600)  # so that it can be blanked in the end
        old, new = SigningKey.from_file(path), SigningKey.new()
        known = rotations_of(path)
        if len(known) >= ROTATIONS_MAX:
            raise ConfigError(KEY_FILE_SETTING, f"{path} was rotated {ROTATIONS_MAX} times already")
        if known and known[-1].to_key != old.public_hex:
            reason = f"{_rotations_path(path)} ends at another key than that of {path}"
            raise ConfigError(KEY_FILE_SETTING, reason)
        rotation = handed_over(old, new, max(now, known[-1].rotated_at) if known else now)
        new.write(_next_path(path))
        sync_folder(path.parent)  # it must not be lost once the record is there
        _write_rotations(path, (*known, rotation))
        _finish(path)
    return rotation


def _signed_bytes(rotation: Rotation) -> bytes:
    return canonical(written(rotation, "rotated_at", "signature"))


def _rotations_path(path: Path) -> Path:
    return path.with_name(f"{path.name}.rotations.json")


def _next_path(path: Path) -> Path:
    return path.with_name(f"{path.name}.next")


@contextlib.contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Let no other process rotate the key meanwhile."""
    lock = path.with_name(f"{path.name}.lock")
    try:
        with FileLock(lock, timeout=_WAIT_SECONDS, mode=0o600):
            yield
    except Timeout as error:
        reason = f"another process has been rotating {path} for {_WAIT_SECONDS:g} s"
        raise ConfigError(KEY_FILE_SETTING, reason) from error
    except OSError as error:
        raise ConfigError(KEY_FILE_SETTING, f"cannot rotate {path}: {error.strerror}") from error


def _finish(path: Path) -> None:
    """Bring a rotation to its end, or discard a new key for which nobody has signed yet."""
    draft = _next_path(path)
    if not draft.exists():
        return
    known = rotations_of(path)
    if not known or known[-1].to_key == SigningKey.from_file(path).public_hex:
        draft.unlink()
        return
    if known[-1].to_key != SigningKey.from_file(draft).public_hex:
        raise ConfigError(KEY_FILE_SETTING, f"{draft} is not the key that {path} was rotated to")
    with path.open("r+b") as old:
        draft.replace(path)
        sync_folder(path.parent)
        # Its blocks are free from here on; what is in them is nobody's to find.
        old.write(bytes(os.fstat(old.fileno()).st_size))
        old.flush()
        os.fsync(old.fileno())


def _identity(path: Path) -> tuple[int, int] | None:
    """Return which file is at a path; ``None`` where there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _write_rotations(path: Path, rotations: Sequence[Rotation]) -> None:
    """Replace the file of rotations in one step."""
    file = _rotations_path(path)
    lines = [canonical(written(one, "rotated_at")).decode() for one in rotations]
    with refused(lambda why: ConfigError(KEY_FILE_SETTING, f"cannot write {file}: {why}")):
        replace_file(file, ("[\n" + ",\n".join(lines) + "\n]\n").encode(), mode=0o666)
        sync_folder(file.parent)
