"""Ed25519 keys: from a text, from a file, made once; and what they sign. No key is ever shown."""

from __future__ import annotations

import base64
import binascii
import contextlib
import hashlib
import os
import re
import secrets
import stat
from pathlib import Path
from typing import NoReturn, Self

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from ..errors import ConfigError, UsageError, refused
from ..saved_file import sync_folder

KEY_SETTING = "EZRA_SIGNING_KEY"
KEY_FILE_SETTING = "EZRA_SIGNING_KEY_FILE"

_SEED_BYTES = 32
_FILE_BYTES_MAX = 1 << 16
_PATH_CHARS_MAX = 4096
_OTHERS = 0o077
_ACCEPTED = (
    "an unencrypted Ed25519 private key in PEM (PKCS 8), or a seed of 32 bytes in hex or base64"
)
_KEY_DIGITS = re.compile(r"[0-9a-f]{64}")
_SIGNATURE_DIGITS = re.compile(r"[0-9a-f]{128}")


class SigningKey:
    """An Ed25519 private key. Neither its ``repr`` nor any error shows it.

    Attributes:
        public_hex: Its public key in hexadecimal digits.
    """

    def __init__(self, private: Ed25519PrivateKey) -> None:
        self._private = private
        self.public_hex = private.public_key().public_bytes_raw().hex()

    def __repr__(self) -> str:
        return f"SigningKey({self.key_id})"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a signing key is not copied to elsewhere")

    @classmethod
    def new(cls) -> Self:
        """Return a key that nobody had before."""
        return cls(Ed25519PrivateKey.generate())

    @classmethod
    def from_text(cls, text: str, setting: str = KEY_SETTING) -> Self:
        r"""Return the key of a text: PEM, or a seed of 32 bytes in hex or base64.

        White space around it does not count, and ``\n`` in PEM, as environments have it, does.

        Raises:
            ConfigError: It is none of these; under the name of ``setting``.
        """
        text = text.strip()
        if text.startswith("-----BEGIN"):
            return cls(_from_pem(text.replace("\\n", "\n").encode(), setting))
        seed = _seed(text)
        if seed is None:
            raise ConfigError(setting, f"is not {_ACCEPTED}")
        return cls(Ed25519PrivateKey.from_private_bytes(seed))

    @classmethod
    def from_file(cls, path: Path, setting: str = KEY_FILE_SETTING) -> Self:
        """Return the key of a file, which nobody but its owner may have access to.

        Raises:
            ConfigError: The file cannot be read, others may read it, or it holds no such key.
        """
        return cls.from_text(_private_text(path, setting), setting)

    @classmethod
    def generate(cls, path: Path, setting: str = KEY_FILE_SETTING) -> Self:
        """Make a key and its file in one step, or return the key that is there already.

        Of several processes that do so at once, one makes the key and all have it. Whatever is
        at ``path`` stays as it is.

        Raises:
            ConfigError: The file can be neither written nor read.
        """
        if not path.exists():
            draft = path.with_name(f"{path.name}.{secrets.token_hex(8)}.new")
            try:
                cls.new().write(draft, setting)
                with contextlib.suppress(FileExistsError):
                    os.link(draft, path)
                sync_folder(path.parent)
            except OSError as error:
                raise ConfigError(setting, f"cannot write {path}: {error.strerror}") from error
            finally:
                draft.unlink(missing_ok=True)
        return cls.from_file(path, setting)

    @property
    def key_id(self) -> str:
        """What people call it: the first 16 digits of the SHA-256 of its public key."""
        return key_id(self.public_hex)

    def sign(self, data: bytes) -> str:
        """Return the signature of data in hexadecimal digits."""
        return self._private.sign(data).hex()

    def write(self, path: Path, setting: str = KEY_FILE_SETTING) -> None:
        """Write the key into a new file that is only its owner's, durably.

        Raises:
            ConfigError: There is a file already, or it cannot be written.
        """
        pem = self._private.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        with refused(lambda why: ConfigError(setting, f"cannot write {path}: {why}")):
            number = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(number, "wb") as file:
                file.write(pem)
                file.flush()
                os.fsync(number)


def key_id(public_key: str) -> str:
    """Return what people call a key: the first 16 digits of the SHA-256 of its 32 bytes."""
    return hashlib.sha256(bytes.fromhex(public_key)).hexdigest()[:16]


def verify(public_key: str, signature_hex: str, data: bytes) -> bool:
    """Return whether a key has signed data; ``False`` for whatever is no key or no signature."""
    if not is_public_key(public_key) or not _SIGNATURE_DIGITS.fullmatch(signature_hex):
        return False
    try:
        public = Ed25519PublicKey.from_public_bytes(bytes.fromhex(public_key))
        public.verify(bytes.fromhex(signature_hex), data)
    except (InvalidSignature, ValueError):
        return False
    return True


def is_public_key(text: str) -> bool:
    """Return whether a text has the form of a public key: 64 lower-case hexadecimal digits."""
    return _KEY_DIGITS.fullmatch(text) is not None


def public_key_of(given: str, field: str = "public_key") -> str:
    """Return the public key that somebody gave: in hex or PEM, or a file that holds either.

    Raises:
        UsageError: It is none of these.
    """
    given = given.strip()
    found = _public_key(given)
    if found is None and given and len(given) <= _PATH_CHARS_MAX:
        with contextlib.suppress(OSError, ValueError), Path(given).open("rb") as file:
            found = _public_key(file.read(_FILE_BYTES_MAX).decode("ascii").strip())
    if found is None:
        # What was given may be a private key by mistake, so it is not shown.
        accepted = "an Ed25519 public key in 64 hexadecimal digits or PEM, or a file that holds it"
        raise UsageError(field, "…", accepted)
    return found


def _public_key(text: str) -> str | None:
    if not text.startswith("-----BEGIN PUBLIC"):
        return text.lower() if is_public_key(text.lower()) else None
    with contextlib.suppress(ValueError, UnsupportedAlgorithm):
        public = serialization.load_pem_public_key(text.encode())
        if isinstance(public, Ed25519PublicKey):
            return public.public_bytes_raw().hex()
    return None


def _from_pem(pem: bytes, setting: str) -> Ed25519PrivateKey:
    try:
        private = serialization.load_pem_private_key(pem, password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        # Not chained: the library's message may quote the text.
        raise ConfigError(setting, f"is not {_ACCEPTED}") from None
    if not isinstance(private, Ed25519PrivateKey):
        raise ConfigError(setting, f"is a key of another kind, not {_ACCEPTED}")
    return private


def _seed(text: str) -> bytes | None:
    """Return the 32 bytes that a text stands for, if it does."""
    if not text.isascii():
        return None
    try:
        seed = bytes.fromhex(text)
    except ValueError:
        standard = text.translate(str.maketrans("-_", "+/")).rstrip("=")
        try:
            seed = base64.b64decode(standard + "=" * (-len(standard) % 4), validate=True)
        except binascii.Error:
            return None
    return seed if len(seed) == _SEED_BYTES else None


def _private_text(path: Path, setting: str) -> str:
    """Return the text of a key file after a look at who may read it.

    The look is at the open file, so that nobody can put another in its place in between.
    """
    try:
        number = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        with os.fdopen(number, "rb") as file:
            found = os.fstat(number)
            if not stat.S_ISREG(found.st_mode):
                raise ConfigError(setting, f"{path} is not a regular file")
            mode = stat.S_IMODE(found.st_mode)
            if os.name != "nt" and mode & _OTHERS:
                reason = f"{path} is open to others (mode {mode:04o}); chmod 600 it"
                raise ConfigError(setting, reason)
            return file.read(_FILE_BYTES_MAX).decode("ascii")
    except OSError as error:
        raise ConfigError(setting, f"cannot read {path}: {error.strerror}") from error
    except UnicodeDecodeError:
        raise ConfigError(setting, f"{path} is not {_ACCEPTED}") from None
