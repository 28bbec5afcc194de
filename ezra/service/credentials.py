"""What lets somebody in: a token of this server, or one that an identity provider signed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from tiers.extras import needs

from ..settings import Settings
from .caller import Caller
from .tokens import TokenFile

if TYPE_CHECKING:
    from .identity import IdentityProvider


class Admitted(Protocol):
    """Somebody who is let in."""

    @property
    def id(self) -> str:
        """What logs and limits call who asks; no secret."""

    @property
    def caller(self) -> Caller:
        """Who asks, and what for."""


class Credentials(Protocol):
    """Knows who may ask."""

    async def needed(self) -> bool:
        """Return whether nobody gets in without showing something."""

    async def has_live(self) -> bool:
        """Return whether there is something that lets somebody in."""

    async def counts(self, token_id: str) -> bool:
        """Return whether what let somebody in before still does."""

    async def find(self, given: str) -> Admitted | None:
        """Return who shows this; ``None`` if it lets nobody in."""


def credentials_of(settings: Settings) -> Credentials:
    """Return who may ask, as the settings have it.

    Raises:
        ConfigError: An address of the identity provider cannot be one, or what reads its tokens is
            not installed.
    """
    tokens = TokenFile(settings.tokens_path, tenant=settings.tenant)
    if settings.serve_jwt_issuer is None or settings.serve_jwt_audience is None:
        return tokens
    with needs("serve", "EZRA_SERVE_JWT_ISSUER"):
        from .identity import IdentityProvider  # noqa: PLC0415 - it may be missing
    provider = IdentityProvider(
        settings.serve_jwt_issuer,
        settings.serve_jwt_audience,
        settings.tenant,
        keys_url=settings.serve_jwt_keys_url,
        claim=settings.serve_jwt_claim,
    )
    return TokensOrIdentity(tokens, provider)


def file_of(credentials: Credentials | None) -> TokenFile | None:
    """Return the file of a server's own tokens; ``None`` where it has none."""
    if isinstance(credentials, TokensOrIdentity):
        return credentials.file
    return credentials if isinstance(credentials, TokenFile) else None


class TokensOrIdentity:
    """Credentials of both sorts.

    Args:
        tokens: The server's own tokens.
        provider: Who signs the others.
    """

    def __init__(self, tokens: TokenFile, provider: IdentityProvider) -> None:
        self._tokens = tokens
        self._provider = provider

    @property
    def file(self) -> TokenFile:
        """The server's own tokens."""
        return self._tokens

    async def needed(self) -> bool:
        """Return whether nobody gets in without showing something: so it is with a provider."""
        return True

    async def has_live(self) -> bool:
        """Return whether something lets somebody in: what the provider signs does."""
        return True

    async def counts(self, token_id: str) -> bool:
        """Return whether what let somebody in before still does."""
        return self._provider.counts(token_id) or await self._tokens.counts(token_id)

    async def find(self, given: str) -> Admitted | None:
        """Return who shows this; ``None`` if it lets nobody in.

        Raises:
            ConfigError: The file of tokens cannot be read.
            PolicyDenied: It is for another tenant.
            TierUnavailable: The provider's keys cannot be had.
        """
        if given.count(".") == 2:  # noqa: PLR2004 - header, claims and signature of a JWT
            return await self._provider.find(given)
        return await self._tokens.find(given)
