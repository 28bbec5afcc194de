"""Calls to the file system, and what its refusals are called."""

from __future__ import annotations

from types import TracebackType

from ..errors import TierUnavailable


class DiskCall:
    """A block of file operations; what the operating system refuses is ``TierUnavailable``."""

    def __init__(self, operation: str) -> None:
        self._operation = operation

    def __enter__(self) -> None:
        return None

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if isinstance(error, OSError):
            raise TierUnavailable("warm", self._operation, str(error)) from error
