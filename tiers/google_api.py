"""What Google's APIs say when they refuse; pure, over the JSON of an error (AIP-193)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from .providers import ProviderFailure, answered

_KEY_INVALID = "API_KEY_INVALID"


def google_failure(
    status: int, message: object, body: object, headers: Mapping[str, str]
) -> ProviderFailure:
    """Return the failure of an answer that is no success.

    A wrong key is a 400 there, told from other bad requests by its reason only. How long to wait
    is said in the body (``google.rpc.RetryInfo``), not in a ``Retry-After``.

    Args:
        status: The HTTP status.
        message: What the error says.
        body: The JSON of the answer, whatever it is.
        headers: Of the answer.
    """
    details = list(_details(body))
    refused = any(detail.get("reason") == _KEY_INVALID for detail in details)
    failure = answered(status, str(message), headers, key_refused=refused)
    asked = [_seconds(detail.get("retryDelay")) for detail in details]
    failure.retry_after = max([failure.retry_after or 0.0, *asked]) or None
    return failure


def _details(body: object) -> Iterator[Mapping[str, object]]:
    error = body.get("error") if isinstance(body, dict) else None
    details = error.get("details") if isinstance(error, dict) else None
    for detail in details if isinstance(details, list) else []:
        if isinstance(detail, dict):
            yield detail


def _seconds(duration: object) -> float:
    """Return the seconds of a protobuf ``Duration`` in JSON, like ``37s`` or ``0.5s``; else 0."""
    if not isinstance(duration, str) or not duration.endswith("s"):
        return 0.0
    try:
        seconds = float(duration[:-1])
    except ValueError:
        return 0.0
    return seconds if math.isfinite(seconds) and seconds > 0 else 0.0
