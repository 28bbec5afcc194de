"""Where the driver's exceptions become those of ``tiers.errors``."""

from __future__ import annotations

import builtins
import re
from collections.abc import Iterator
from contextlib import contextmanager

from redis.exceptions import (
    AuthenticationError,
    AuthorizationError,
    ClusterError,
    ConnectionError,  # noqa: A004 - the driver's own class
    NoPermissionError,
    OutOfMemoryError,
    ReadOnlyError,
    RedisClusterException,
    RedisError,
    ResponseError,
    TimeoutError,  # noqa: A004 - the driver's own class
    TryAgainError,
)

from ..errors import CorruptRecord, TierError, TierRejected, TierTimeout, TierUnavailable

_CAUSES_MAX = 8
_TLS_FAILURE = re.compile(r"\[SSL: (\w+)\](?:.*?certificate verify failed: ([^(]+))?")
_PASSING_TLS_FAILURES = {"UNEXPECTED_EOF_WHILE_READING", "APPLICATION_DATA_AFTER_CLOSE_NOTIFY"}
_NO_CLUSTER = "Cluster mode is not enabled"
"""What the cluster client says of every refusal, a missing permission included."""

_NOT_NOW = "Redis cannot serve this now"
_REFUSALS: tuple[tuple[type[Exception], str, type[TierError], str], ...] = (
    (NoPermissionError, "", TierRejected, "the user of the URL lacks a permission"),
    (
        ResponseError,
        "The user executing the script can't run",
        TierRejected,
        "the user of the URL lacks a permission that a script needs; 'ezra doctor' says which",
    ),
    (
        ResponseError,
        "cluster support disabled",
        TierRejected,
        "the server is not part of a cluster; its URL begins with redis://",
    ),
    (OutOfMemoryError, "", TierRejected, "Redis has reached its maxmemory and may not evict"),
    (ReadOnlyError, "", TierUnavailable, "the server is a replica, as it happens in a failover"),
    (ClusterError, "", TierUnavailable, _NOT_NOW),
    (TryAgainError, "", TierUnavailable, _NOT_NOW),
    (ResponseError, "BUSY ", TierUnavailable, _NOT_NOW),
    (ResponseError, "NOREPLICAS ", TierUnavailable, _NOT_NOW),
)
"""What the driver raises, the words in it, which error that is, and what to say first."""


@contextmanager
def translated(operation: str) -> Iterator[None]:
    """Turn what the driver raises inside the block into a ``TierError`` with the cause chained."""
    try:
        yield
    except (RedisError, RedisClusterException) as error:
        kind, reason = _meaning(error)
        raise kind("hot", operation, reason) from error
    except UnicodeDecodeError as error:
        reason = "stored bytes are not UTF-8"
        raise CorruptRecord("hot", operation, reason) from error


def _meaning(error: Exception) -> tuple[type[TierError], str]:
    """Return which error of the tree this is, and the reason for people.

    The driver wraps: a refused login while connecting to a socket, and anything while a cluster
    is looked for, come as the cause of something vaguer. The innermost that is known speaks.
    """
    known = [found for cause in _causes(error) if (found := _meaning_alone(cause)) is not None]
    return known[-1] if known else (TierRejected, f"Redis refused ({error})")


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield the error and its causes, and what a cluster client's vague error was raised over."""
    found: BaseException | None = error
    for _ in range(_CAUSES_MAX):
        if found is None:
            return
        yield found
        hidden = found.__context__ if _NO_CLUSTER in str(found) else None
        found = found.__cause__ or hidden


def _meaning_alone(error: BaseException) -> tuple[type[TierError], str] | None:
    """Return the meaning of one error by itself, or ``None`` when it has none."""
    if isinstance(error, TimeoutError):
        return TierTimeout, f"Redis gave no answer in time ({error})"
    if isinstance(error, AuthenticationError | AuthorizationError):
        return TierRejected, f"Redis refused the login ({error})"
    if isinstance(error, ConnectionError):
        return _broken_connection(error)
    if isinstance(error, RedisClusterException):
        # Slots without a node, nodes that disagree: what a cluster goes through in a failover.
        return TierUnavailable, f"the cluster is not complete ({error})"
    if isinstance(error, ResponseError | ClusterError):
        return _refusal(error)
    return None


def _broken_connection(error: ConnectionError) -> tuple[type[TierError], str]:
    tls = _TLS_FAILURE.search(str(error))
    if tls and tls[1] == "CERTIFICATE_VERIFY_FAILED":
        why = (tls[2] or "unknown reason").strip()
        advice = (
            "use the name it was made for"
            if "mismatch" in why
            else "name the authority that signed it with ?ssl_ca_certs=FILE"
        )
        return TierRejected, f"the certificate of the server is not trusted: {why}; {advice}"
    if tls and tls[1] == "WRONG_VERSION_NUMBER":
        return (
            TierRejected,
            "the server does not speak TLS on this port; rediss:// needs its TLS port",
        )
    if tls and tls[1] not in _PASSING_TLS_FAILURES:
        return TierRejected, f"no TLS connection is possible ({tls[1]}, {error})"
    if isinstance(error.__cause__, builtins.TimeoutError):
        return TierTimeout, "every connection of the pool was busy for too long"
    return TierUnavailable, f"Redis cannot be reached ({error})"


def _refusal(error: Exception) -> tuple[type[TierError], str]:
    said = str(error)
    for kind, words, meaning, reason in _REFUSALS:
        if isinstance(error, kind) and words in said:
            return meaning, f"{reason} ({said})"
    return TierRejected, f"Redis refused ({said})"
