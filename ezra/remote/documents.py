"""The documents of a handle on a server. They are read and cut on this side of the wire."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import cast

from pydantic import JsonValue

from tiers.documents import Revised
from tiers.errors import UsageError

from ..documents import SHELF, Documents, Draft, drafted
from .handle import RemoteHandle


class RemoteDocuments(RemoteHandle, Documents, of=Documents):
    """Documents as one agent, the operator of a graph or a catalog sees them, on a server."""

    async def put(
        self,
        name: str,
        content: str | bytes,
        *,
        shelf: str = SHELF,
        title: str | None = None,
        media_type: str | None = None,
        properties: Mapping[str, JsonValue] | None = None,
        topics: Iterable[str] | None = None,
        keep_text: bool = False,
        expected_revision: int | None = None,
        machine: str = "",
        private: bool = False,
        even_if_redacted: bool = False,
    ) -> Revised:
        """Read a document, cut it into passages, and store it or its next revision.

        It is read here, and its text is sent: what the server takes at once is its setting
        ``EZRA_SERVE_BODY_BYTES_MAX``.
        """
        draft = await drafted(
            name,
            content,
            shelf=shelf,
            title=title,
            media_type=media_type,
            properties=properties,
            topics=topics,
            keep_text=keep_text,
        )
        return await self.store(
            draft,
            expected_revision=expected_revision,
            machine=machine,
            private=private,
            even_if_redacted=even_if_redacted,
        )

    async def store(
        self,
        draft: Draft,
        *,
        expected_revision: int | None = None,
        machine: str = "",
        private: bool = False,
        even_if_redacted: bool = False,
    ) -> Revised:
        """Store what ``drafted`` has read; otherwise as ``put``."""
        given = {
            "draft": draft,
            "expected_revision": expected_revision,
            "machine": machine,
            "private": private,
            "even_if_redacted": even_if_redacted,
        }
        try:
            return cast("Revised", await self._ask("store", given))
        except UsageError as error:
            if error.field != "body":
                raise
            accepted = f"{error.accepted}, as the server's EZRA_SERVE_BODY_BYTES_MAX says"
            raise UsageError("content", error.value, accepted) from error
