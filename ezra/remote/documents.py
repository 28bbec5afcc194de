"""The documents of a handle on a server. They are read and cut on this side of the wire."""

from __future__ import annotations

from typing import Any

from tiers.errors import UsageError

from ..documents import Documents
from .handle import RemoteHandle


class RemoteDocuments(RemoteHandle, Documents, of=Documents):
    """Documents as one agent, the operator of a graph or a catalog sees them, on a server.

    What ``put`` is given is read here, and its text is sent: what the server takes at once is its
    setting ``EZRA_SERVE_BODY_BYTES_MAX``.
    """

    async def _ask(self, name: str, given: dict[str, Any]) -> Any:  # noqa: ANN401 - as the method
        try:
            return await super()._ask(name, given)
        except UsageError as error:
            if error.field != "body":
                raise
            accepted = f"{error.accepted}, as the server's EZRA_SERVE_BODY_BYTES_MAX says"
            raise UsageError("content", error.value, accepted) from error
