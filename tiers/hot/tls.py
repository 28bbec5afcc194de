"""TLS to Redis: options of the URL, and one context for all connections of a client.

The driver makes a context per connection, which reads the system's authorities each time: 17 ms
on the event loop. Here it is made once, in a thread.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable, Mapping
from pathlib import Path

from redis.asyncio.connection import RedisSSLContext
from redis.exceptions import RedisError

from ..errors import ConfigError

_YES = {"1", "true", "yes"}
_NO = {"0", "false", "no"}
_VERSIONS = {
    "tlsv1.2": ssl.TLSVersion.TLSv1_2,
    "771": ssl.TLSVersion.TLSv1_2,
    "tlsv1.3": ssl.TLSVersion.TLSv1_3,
    "772": ssl.TLSVersion.TLSv1_3,
}


def yes_or_no(value: str) -> bool:
    """Return what a word says.

    Raises:
        ValueError: It is neither; the message is what is accepted.
    """
    if value.lower() not in _YES | _NO:
        raise ValueError("true or false")
    return value.lower() in _YES


def _requirement(value: str) -> str:
    if value not in {"none", "optional", "required"}:
        raise ValueError("none, optional or required")
    return value


def _version(value: str) -> ssl.TLSVersion:
    if value.lower() not in _VERSIONS:
        raise ValueError("TLSv1.2 or TLSv1.3")
    return _VERSIONS[value.lower()]


def _flags(value: str) -> list[ssl.VerifyFlags]:
    names = [name.strip() for name in value.strip("[]").split(",")]
    if any(name not in ssl.VerifyFlags.__members__ for name in names):
        raise ValueError(f"names among {', '.join(ssl.VerifyFlags.__members__)}")
    return [ssl.VerifyFlags[name] for name in names]


_READERS: Mapping[str, Callable[[str], object]] = {
    "ssl_ca_certs": str,
    "ssl_ca_path": str,
    "ssl_ca_data": str,
    "ssl_certfile": str,
    "ssl_keyfile": str,
    "ssl_password": str,
    "ssl_cert_reqs": _requirement,
    "ssl_check_hostname": yes_or_no,
    "ssl_min_version": _version,
    "ssl_ciphers": str,
    "ssl_include_verify_flags": _flags,
    "ssl_exclude_verify_flags": _flags,
}
"""The driver's options and how each is read from text."""

TLS_OPTIONS = tuple(_READERS)


def tls_arguments(key: str, options: Mapping[str, str]) -> dict[str, object]:
    """Return the options of a URL as arguments of the driver's context.

    Raises:
        ConfigError: A value is not accepted; ``key`` names the setting it came from.
    """
    arguments: dict[str, object] = {
        # The driver's context, unlike its connections, trusts everybody unless told otherwise.
        "cert_reqs": "required",
        "check_hostname": True,
        # Without one OpenSSL asks the terminal for the password of an encrypted key.
        "password": "",
    }
    for name, value in options.items():
        if name in _READERS:
            try:
                arguments[name.removeprefix("ssl_")] = _READERS[name](value)
            except ValueError as error:
                raise ConfigError(key, f"{name} must be {error}") from None
    return arguments


async def tls_context(key: str, arguments: Mapping[str, object]) -> RedisSSLContext:
    """Return the context, made and checked in a thread because it reads files.

    Raises:
        ConfigError: A file is missing or is not what it should be.
    """
    try:
        return await asyncio.to_thread(_context, arguments)
    except (OSError, ValueError, RedisError) as error:
        reason = f"the TLS files or options cannot be used: {error}"
        raise ConfigError(key, reason) from error


def _context(arguments: Mapping[str, object]) -> RedisSSLContext:
    for name in ("ca_certs", "ca_path", "certfile", "keyfile"):
        path = arguments.get(name)
        if isinstance(path, str) and not Path(path).exists():
            # OpenSSL does not say which one.
            raise FileNotFoundError(f"ssl_{name}: {path} does not exist")
    context = RedisSSLContext(**arguments)  # type: ignore[arg-type]
    context.get()
    return context
