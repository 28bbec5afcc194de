"""Making and revoking tokens over a network: for who answers for the whole installation.

Who asks came by a token of this server that is for everything: an operator, of every graph, agent,
user and topic. What is made lasts no longer than that token. Each deed is in the audit feed of the
tenant's catalog, or it is not done.
"""

from __future__ import annotations

import asyncio
from datetime import datetime
from typing import Unpack

from tiers.errors import EzraError, NotFound, PolicyDenied, UsageError
from tiers.fields import AuditKind
from tiers.fleet import CATALOG
from tiers.records import Scope

from ..app import Ezra
from .caller import Caller, Role
from .tokens import Bounds, Token, TokenFile

MADE: AuditKind = "token made"
REVOKED: AuditKind = "token revoked"
"""What the audit feed calls it."""


class Issuing:
    """The tokens of one server's tenant, as its administrators see and change them.

    Args:
        tokens: The server's file.
        ezra: The runtime, whose audit feed is told.
    """

    def __init__(self, tokens: TokenFile, ezra: Ezra) -> None:
        self._tokens = tokens
        self._ezra = ezra

    async def issued(self, caller: Caller) -> tuple[Token, ...]:
        """Return what is known of the tokens of the tenant, the latest first.

        Raises:
            PolicyDenied: The caller is no administrator.
            ConfigError: The file cannot be read.
        """
        _check(caller, "list tokens")
        known = await asyncio.to_thread(self._tokens.tokens)
        return tuple(one for one in reversed(known) if one.tenant == self._tenant)

    async def make(
        self,
        caller: Caller,
        name: str,
        role: Role,
        *,
        expires_at: datetime | None,
        **bounds: Unpack[Bounds],
    ) -> tuple[Token, str]:
        """Make a token; return what is known of it, and the token, which nobody can tell again.

        Raises:
            PolicyDenied: The caller is no administrator, or came without a token of this server.
            UsageError: An argument is not acceptable, or it would outlive the caller's own token.
            ConfigError: The file cannot be read or written.
        """
        own = await self._own(caller, "make a token")
        if own.expires_at is not None and (expires_at is None or expires_at > own.expires_at):
            accepted = f"at most {own.expires_at.isoformat()}, when your own token ends"
            said = "never" if expires_at is None else expires_at.isoformat()
            raise UsageError("expires", said, accepted)
        made, shown = await asyncio.to_thread(
            self._tokens.create, name, role, expires_at=expires_at, **bounds
        )
        named = (("graph", made.graph_id), ("agent", made.agent_id), ("user", made.user_id))
        reach = ", ".join(f"{what} {one}" for what, one in named if one) or "everything"
        until = "never ends" if expires_at is None else f"ends {expires_at.isoformat()}"
        try:
            await self._tell(MADE, made, caller, f"{role} {name} for {reach}, {until}")
        except EzraError:
            await asyncio.to_thread(self._tokens.revoke, made.id)
            raise
        return made, shown

    async def revoke(self, caller: Caller, token_id: str, *, reason: str) -> Token:
        """Let nobody in with a token any more; may be repeated.

        Raises:
            PolicyDenied: The caller is no administrator, or came without a token of this server.
            NotFound: The tenant has no such token.
            UsageError: The reason is blank.
            ConfigError: The file cannot be read or written.
        """
        await self._own(caller, "revoke a token")
        if not reason.strip():
            raise UsageError("reason", reason, "why; it is kept in the audit feed")
        known = {one.id: one for one in await self.issued(caller)}
        if token_id not in known:
            raise NotFound("token", token_id)
        await self._tell(REVOKED, known[token_id], caller, reason)
        return await asyncio.to_thread(self._tokens.revoke, token_id)

    @property
    def _tenant(self) -> str:
        return self._ezra.settings.tenant

    async def _own(self, caller: Caller, action: str) -> Token:
        """Return the token by which an administrator came.

        Raises:
            PolicyDenied: The caller is none, or came otherwise.
        """
        known = {one.id: one for one in await self.issued(caller)}
        own = known.get(caller.token_id or "")
        if own is None:
            held = "no token of this server; ezra token create makes one where the server runs"
            raise PolicyDenied(caller.name, action, ("a token of this server",), held)
        return own

    async def _tell(self, kind: AuditKind, token: Token, caller: Caller, reason: str) -> None:
        runtime = self._ezra._runtime  # noqa: SLF001 - no handle appends to an audit feed, and none should
        await self._ezra.catalog()
        scope = Scope.of_graph(self._tenant, CATALOG)
        text = f"by {caller.name} ({caller.token_id}): {reason}"
        await runtime.log.append_audit(scope, kind, (token.id,), text, runtime.clock())


def _check(caller: Caller, action: str) -> None:
    """Refuse who does not answer for the whole installation.

    Raises:
        PolicyDenied: The caller does not.
    """
    caller.check("operate", action, None, None)
