"""The client of a Qdrant server."""

from __future__ import annotations

import functools
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import SplitResult, urlsplit

import httpx
from qdrant_client import AsyncQdrantClient

from ..errors import ConfigError
from .qdrant_options import QdrantOptions


@asynccontextmanager
async def qdrant_client(
    url: str, *, api_key: str | None, options: QdrantOptions
) -> AsyncIterator[AsyncQdrantClient]:
    """Open a client; nothing is sent before the first call.

    Args:
        url: ``http://`` or ``https://``; the port is 6333 when none is given.
        api_key: Of the server, if it wants one.
        options: Its limits are used here.

    Raises:
        ConfigError: The URL or the key cannot be used.
    """
    _check_address(url)
    client = AsyncQdrantClient(
        url=url,
        prefer_grpc=False,
        # It would ask in a thread of its own and warn; ``ensured`` asks, and raises.
        check_compatibility=False,
        # Whole seconds only, so that our own deadline is the one that is felt.
        timeout=int(options.timeout_seconds) + 2,
        # The driver's default for a server on this machine is a new connection for every call.
        limits=httpx.Limits(
            max_connections=options.connections_max,
            max_keepalive_connections=options.connections_max,
        ),
        verify=_trusted(),
        # As a header and not as ``api_key``, which would turn the scheme into https by itself.
        headers=_key_header(api_key),
    )
    try:
        yield client
    finally:
        await client.close()


@functools.cache
def _trusted() -> ssl.SSLContext:
    """Return whom we trust, read once: it takes 40 ms, and the driver would do it every time."""
    return httpx.create_ssl_context()


def _check_address(url: str) -> None:
    # Neither the URL nor what its parser says is repeated: it may hold a password.
    parts = _split(url)
    if parts is None or parts.scheme not in ("http", "https") or not parts.hostname:
        raise ConfigError("EZRA_QDRANT_URL", "is not an http:// or https:// URL with a host")
    if parts.username is not None or parts.query or parts.fragment:
        reason = "may hold no user, password, ? or #; a key goes into EZRA_QDRANT_API_KEY"
        raise ConfigError("EZRA_QDRANT_URL", reason)


def _split(url: str) -> SplitResult | None:
    if not url.isprintable() or " " in url:
        return None
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return None
    return None if port == 0 else parts


def _key_header(api_key: str | None) -> dict[str, str]:
    if not api_key:
        return {}
    if not api_key.isascii() or not api_key.isprintable() or " " in api_key:
        reason = "holds a character that no key has, perhaps a line break at its end"
        raise ConfigError("EZRA_QDRANT_API_KEY", reason)
    return {"api-key": api_key}
