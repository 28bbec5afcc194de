"""What the write guard of a server has put aside."""

from __future__ import annotations

from ..quarantine import QuarantineReview
from .handle import RemoteHandle


class RemoteQuarantine(RemoteHandle, QuarantineReview, of=QuarantineReview):
    """The texts that a session graph has put aside, on a server."""
