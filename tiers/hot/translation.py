"""Where the driver's exceptions become those of ``tiers.errors``."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from redis.exceptions import (
    AuthenticationError,
    AuthorizationError,
    ClusterDownError,
    ConnectionError,  # noqa: A004 - the driver's own class
    RedisClusterException,
    RedisError,
    ResponseError,
    TimeoutError,  # noqa: A004 - the driver's own class
)

from ..errors import CorruptRecord, TierRejected, TierTimeout, TierUnavailable


@contextmanager
def translated(operation: str) -> Iterator[None]:
    """Turn what the driver raises inside the block into a ``TierError`` with the cause chained."""
    try:
        yield
    except TimeoutError as error:
        raise TierTimeout("hot", operation, f"Redis gave no answer in time ({error})") from error
    except ConnectionError as error:
        if _login_refused(error):
            raise TierRejected("hot", operation, f"Redis refused the login ({error})") from error
        raise TierUnavailable("hot", operation, f"Redis cannot be reached ({error})") from error
    except ClusterDownError as error:
        raise TierUnavailable("hot", operation, f"the cluster is down ({error})") from error
    except (RedisError, RedisClusterException) as error:
        raise TierRejected("hot", operation, f"Redis refused ({error})") from error
    except UnicodeDecodeError as error:
        reason = "stored bytes are not UTF-8"
        raise CorruptRecord("hot", operation, reason) from error


def _login_refused(error: ConnectionError) -> bool:
    """Whether the server answered and said no, which the driver also calls a connection error."""
    refused = (AuthenticationError, AuthorizationError, ResponseError)
    return isinstance(error, refused) or isinstance(error.__cause__, refused)
