"""Tokens of an identity provider: OpenID Connect's JSON Web Tokens, verified by PyJWT.

A token counts when the provider signed it for this server's audience, it has not expired, and one
claim of it says what its bearer may do here. That claim is an object of the provider's own making:

    "ezra": {"role": "agent", "graph_id": "monza-2026", "agent_id": "strategist",
             "user_id": "driver-16", "topics": ["tyres"], "tenant": "default"}

Only ``role`` is required; what is missing sets no limit, as with this server's own tokens. A token
for another tenant lets nobody in. Keys are signed with asymmetrically, or not at all: who can read
this server's memory cannot sign.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Any
from urllib.parse import urlsplit

import httpx2
import jwt
from pydantic import Field, ValidationError

from tiers.bounded_answers import AnswerRefused, bounded
from tiers.errors import ConfigError, TierUnavailable
from tiers.fields import ALL_TOPICS, Name, Record, Topics

from .caller import Caller, Role
from .limits import Latest, is_loopback

ALGORITHMS = (
    *("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"),
    *("ES256", "ES384", "ES512", "EdDSA"),
)
LEEWAY_SECONDS = 30
"""So far the clocks of the provider and of this server may be apart."""

KEYS_SECONDS = 300.0
"""So long keys are kept before they are asked for again."""

STALE_SECONDS = 3_600.0
"""So long they serve at most while the provider does not answer."""

AGAIN_SECONDS = 10.0
"""Not sooner than that an unknown key makes this server ask again."""

ASK_SECONDS = 5.0
ANSWER_BYTES_MAX = 1 << 20
TOKEN_CHARS_MAX = 16_384
SUBJECTS_MAX = 10_000
DISCOVERY = "/.well-known/openid-configuration"
KEYS_MAX = 100
_ODD = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
"""What PyJWT and the readers below it raise for a document that is not what it should be."""

_REQUIRED = ("exp", "iss", "aud", "sub")


class _Claim(Record):
    """What a token says of its bearer."""

    role: Role
    graph_id: Name | None = None
    agent_id: Name | None = None
    user_id: Name | None = None
    topics: Topics = (ALL_TOPICS,)
    tenant: Name | None = None


class _Subject(Record):
    sub: Name
    exp: float = Field(gt=0)


@dataclass(frozen=True)
class Identified:
    """Somebody for whom the provider vouches.

    Attributes:
        id: What logs and limits call them: a hash of the provider's name for them.
        caller: Who asks, and what for.
    """

    id: str
    caller: Caller


@dataclass(frozen=True)
class _Keys:
    by_id: Mapping[str, jwt.PyJWK]
    since: float


@dataclass(eq=False)
class IdentityProvider:
    """Lets those in for whom a provider vouches.

    Attributes:
        issuer: The provider's address, as its tokens have it in ``iss``.
        audience: What its tokens for this server have in ``aud``.
        tenant: The server's.
        keys_url: Where its keys are; found by its discovery document if not given.
        claim: The claim that says what a bearer may do here.
        seconds: Monotonic seconds.
        now: Seconds since 1970.

    Raises:
        ConfigError: An address is none that keys may be had from: https, or this machine's own.
    """

    issuer: str
    audience: str
    tenant: str
    _: KW_ONLY
    keys_url: str | None = None
    claim: str = "ezra"
    seconds: Callable[[], float] = time.monotonic
    now: Callable[[], float] = time.time
    _keys: _Keys | None = field(default=None, init=False)
    _asked_at: float | None = field(default=None, init=False)
    _asking: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)
    _until: Latest[str, float] = field(default_factory=lambda: Latest(SUBJECTS_MAX), init=False)

    def __post_init__(self) -> None:
        _check_address("EZRA_SERVE_JWT_ISSUER", self.issuer)
        if self.keys_url is not None:
            _check_address("EZRA_SERVE_JWT_KEYS_URL", self.keys_url)

    def counts(self, token_id: str) -> bool:
        """Return whether the last token of somebody who was let in has not expired."""
        return self.now() < self._until.get(token_id, 0.0)

    async def find(self, given: str) -> Identified | None:
        """Return for whom a token vouches; ``None`` if it does not count.

        Raises:
            TierUnavailable: The provider's keys cannot be had.
        """
        key = await self._key_of(given)
        if key is None:
            return None
        try:
            claims = jwt.decode(
                given,
                key,
                algorithms=ALGORITHMS,
                audience=self.audience,
                issuer=self.issuer,
                leeway=LEEWAY_SECONDS,
                options={"require": list(_REQUIRED)},
            )
        except (jwt.PyJWTError, *_ODD):
            return None
        return self._identified(claims)

    def _identified(self, claims: Mapping[str, Any]) -> Identified | None:
        try:
            claim = _Claim.model_validate(claims.get(self.claim))
            subject = _Subject.model_validate({"sub": claims["sub"], "exp": claims["exp"]})
        except ValidationError:
            return None
        if claim.tenant not in (None, self.tenant):
            return None
        if claim.agent_id is not None and claim.role != "agent":
            return None
        name = hashlib.sha256(f"{self.issuer}\n{subject.sub}".encode()).hexdigest()
        found = Identified(
            f"jwt-{name[:12]}",
            Caller(name=subject.sub, **claim.model_dump(exclude={"tenant"})),
        )
        self._until.put(found.id, subject.exp + LEEWAY_SECONDS)
        return found

    async def _key_of(self, given: str) -> jwt.PyJWK | None:
        """Return the key by which a token says it is signed, if it is one of the provider's."""
        if len(given) > TOKEN_CHARS_MAX:
            return None
        try:
            header = jwt.get_unverified_header(given)
        except (jwt.PyJWTError, *_ODD):
            return None
        name = header.get("kid")
        if not isinstance(name, str) or header.get("alg") not in ALGORITHMS:
            return None
        keys = await self._fresh(name)
        return keys.by_id.get(name)

    async def _fresh(self, name: str) -> _Keys:
        """Return the keys, asked for anew when they are old or lack one that may be new."""
        if self._serves(name):
            return self._keys or _Keys({}, 0.0)
        async with self._asking:
            if self._serves(name):
                return self._keys or _Keys({}, 0.0)
            if self._keys is None and self._was_asked_just_now():
                # Who has no keys yet and shows tokens one by one must not wait for each.
                raise _away(f"asked less than {AGAIN_SECONDS:g} s ago, without an answer")
            self._asked_at = self.seconds()
            try:
                self._keys = _Keys(await self._fetch(), self.seconds())
            except TierUnavailable:
                if self._keys is None or self.seconds() - self._keys.since > STALE_SECONDS:
                    raise
            return self._keys

    def _serves(self, name: str) -> bool:
        """Whether what is kept will do: it is not old, or was asked for a moment ago."""
        if self._keys is None:
            return False
        now = self.seconds()
        if self._was_asked_just_now():
            return now - self._keys.since <= STALE_SECONDS
        return now - self._keys.since <= KEYS_SECONDS and name in self._keys.by_id

    def _was_asked_just_now(self) -> bool:
        return self._asked_at is not None and self.seconds() - self._asked_at < AGAIN_SECONDS

    async def _fetch(self) -> dict[str, jwt.PyJWK]:
        hooks = bounded(ANSWER_BYTES_MAX)
        async with httpx2.AsyncClient(
            timeout=ASK_SECONDS, follow_redirects=False, event_hooks=hooks
        ) as http:
            where = self.keys_url
            if where is None:
                found = await _document(http, self.issuer.rstrip("/") + DISCOVERY)
                where = str(found.get("jwks_uri", ""))
                if found.get("issuer") != self.issuer:
                    raise _away(f"the discovery document is of {found.get('issuer')!r}")
                if not _may_ask(where):
                    raise _away(f"the discovery document has the keys at {where!r}")
            document = await _document(http, where)
        return await asyncio.to_thread(_keys_of, document)


def _keys_of(document: Mapping[str, Any]) -> dict[str, jwt.PyJWK]:
    """Return the keys of a document, by id.

    Raises:
        TierUnavailable: There are none that can be used, or more than a provider has.
    """
    listed = document.get("keys")
    if isinstance(listed, list) and len(listed) > KEYS_MAX:
        raise _away(f"{len(listed)} keys, more than {KEYS_MAX}")
    try:
        keys = jwt.PyJWKSet.from_dict(dict(document)).keys
        named = [key for key in keys if isinstance(key.key_id, str) and key.key_id]
        return {str(key.key_id): key for key in named if key.key_type != "oct"}
    except (jwt.PyJWTError, *_ODD) as error:
        raise _away(f"no keys that can be used: {type(error).__name__}") from error


async def _document(http: httpx2.AsyncClient, url: str) -> Mapping[str, Any]:
    """Return the JSON object at an address.

    Raises:
        TierUnavailable: There is none, or it is too large.
    """
    try:
        async with asyncio.timeout(ASK_SECONDS), http.stream("GET", url) as answer:
            if answer.status_code != httpx2.codes.OK:
                raise _away(f"HTTP {answer.status_code} from {url}")
            content = await answer.aread()
        document = await asyncio.to_thread(json.loads, content)
    except AnswerRefused as error:
        raise _away(f"{url}: {error}") from error
    except (httpx2.HTTPError, httpx2.InvalidURL, TimeoutError, *_ODD) as error:
        raise _away(f"{url}: {type(error).__name__}") from error
    if not isinstance(document, dict):
        raise _away(f"no JSON object at {url}")
    return document


def _away(reason: str) -> TierUnavailable:
    return TierUnavailable("identity provider", "keys", reason)


def _check_address(setting: str, url: str) -> None:
    if not _may_ask(url):
        raise ConfigError(setting, f"must be https, or http of this machine, got {url!r}")


def _may_ask(url: str) -> bool:
    """Whether keys may be had from an address: nobody on the way can put others in their place."""
    try:
        parts = urlsplit(url)
        host = parts.hostname
    except ValueError:
        return False
    if not host or parts.username is not None:
        return False
    return parts.scheme == "https" or (parts.scheme == "http" and is_loopback(host))
