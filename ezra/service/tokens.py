"""Tokens: who may ask. The file keeps hashes alone, and is read again when somebody changed it.

A token is ``ezra_<id>_<secret>`` with 256 random bits of secret. Nobody can guess these, so a plain
SHA-256 keeps them: what a slow hash protects is passwords.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import TypedDict, Unpack

from filelock import FileLock, Timeout
from pydantic import Field, TypeAdapter, ValidationError

from tiers.errors import ConfigError, NotFound, PolicyDenied, UsageError
from tiers.fields import ALL_TOPICS, Misfit, Moment, Name, Record, Topics
from tiers.ids import Clock, system_clock
from tiers.saved_file import place_of, replace_file

from ..checks import checked
from .caller import Caller, Role

TOKENS_MAX = 10_000
SETTING = "EZRA_TOKENS_FILE"
_USUAL = timedelta(days=90)
DEFAULT_EXPIRY = f"{_USUAL.days}d"
NEVER = "never"
DAYS_MAX = 36_500
_SPAN = re.compile(r"(\d{1,6})([mhdw])")
_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_FILE_BYTES_MAX = 1 << 26
_WAIT_SECONDS = 10.0
_ID_CHARS = "abcdefghijklmnopqrstuvwxyz234567"
_ID_LENGTH = 12
_DRAWS = 8
_SECRET_BYTES = 32
_TOKEN = re.compile(r"ezra_([a-z2-7]{12})_([A-Za-z0-9_-]{43})")
_NOBODY = hashlib.sha256(b"").hexdigest()


_OF_CALLERS = {"name", "role", "graph_id", "agent_id", "user_id", "topics"}


class Bounds(TypedDict, total=False):
    """To what a token is bound; everything, where nothing is said."""

    graph_id: str | None
    agent_id: str | None
    user_id: str | None
    topics: tuple[str, ...]


class Token(Record):
    """What is known of a token; not the token itself.

    Attributes:
        id: The part of it that may be shown.
        name: What audit and logs call its bearer.
        role: What its bearer may do.
        tenant: The only tenant whose server it opens.
        graph_id: The only graph that it reaches; every graph if ``None``.
        agent_id: The only agent as whom it acts; every agent if ``None``.
        user_id: The only user for whom its agents work; any if ``None``.
        topics: The most that its agents may hold; ``("*",)`` sets no limit.
        created_at: When it was made.
        expires_at: From when on it counts no more; never if ``None``.
        revoked_at: When it was revoked.
        sha256: Of the secret, in hexadecimal.
    """

    id: str = Field(pattern=r"^[a-z2-7]{12}$")
    name: Name
    role: Role
    tenant: Name
    graph_id: Name | None = None
    agent_id: Name | None = None
    user_id: Name | None = None
    topics: Topics = (ALL_TOPICS,)
    created_at: Moment
    expires_at: Moment | None = None
    revoked_at: Moment | None = None
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$", repr=False)

    def counts_at(self, now: datetime) -> bool:
        """Return whether it lets anybody in at a moment."""
        return self.revoked_at is None and (self.expires_at is None or now < self.expires_at)

    def state_at(self, now: datetime) -> str:
        """Return ``live``, ``expired`` or ``revoked``."""
        if self.revoked_at is not None:
            return "revoked"
        return "live" if self.counts_at(now) else "expired"

    @property
    def caller(self) -> Caller:
        """Who asks with it."""
        return Caller(**self.model_dump(include=_OF_CALLERS), token_id=self.id)


class _Kept(Record):
    version: int = Field(default=1, ge=1, le=1)
    tokens: tuple[Token, ...] = Field(default=(), max_length=TOKENS_MAX)


def expiry_of(text: str, now: datetime) -> datetime | None:
    """Return the moment that a span said in words ends; ``None`` for one that never does.

    Args:
        text: Minutes, hours, days or weeks, as ``12h``, ``30d`` or ``4w``; or ``never``.
        now: When it begins.

    Raises:
        UsageError: It is no span.
    """
    if text == NEVER:
        return None
    found = _SPAN.fullmatch(text)
    span = timedelta(**{_UNITS[found[2]]: int(found[1])}) if found else timedelta()
    if not timedelta() < span <= timedelta(days=DAYS_MAX):
        raise UsageError("expires", text, f"such as 12h, 30d or 4w, at most {DAYS_MAX}d, or never")
    return now + span


def span_within(end: datetime | None, now: datetime) -> str:
    """Return the usual span, or the longest that ends before a moment: what a form offers.

    Args:
        end: When it has ended at the latest; ``None`` where nothing bounds it.
        now: When it begins. Whoever fills in the form has an hour, or a tenth of what is left.
    """
    if end is None or now + _USUAL <= end:
        return DEFAULT_EXPIRY
    left = end - now
    left -= min(timedelta(hours=1), left / 10)
    sizes = {unit: timedelta(**{_UNITS[unit]: 1}) for unit in "dhm"}
    unit = next((unit for unit, size in sizes.items() if left >= size), "m")
    return f"{max(1, left // sizes[unit])}{unit}"


_FILE = TypeAdapter(_Kept)
_Stamp = tuple[int, int, int]


class TokenFile:
    """The tokens of a server, in a file that other processes change while it runs.

    Args:
        path: The file; it need not exist.
        clock: Where the time comes from.
        tenant: Whose server asks, and for whom tokens are made; the file may hold others' too.
    """

    def __init__(self, path: Path, clock: Clock = system_clock, *, tenant: str = "default") -> None:
        self._path = path
        self._tenant = tenant
        self._clock = clock
        self._tokens: dict[str, Token] = {}
        self._stamp: _Stamp | None = None
        self._needed = False
        self._reading = asyncio.Lock()

    async def needed(self) -> bool:
        """Return whether nobody gets in without a token.

        From the first token on it is so, though it may expire or be revoked, and though the file
        may vanish: what was closed does not open by itself.

        Raises:
            ConfigError: The file cannot be read.
        """
        await self._fresh()
        return self._needed

    async def counts(self, token_id: str) -> bool:
        """Return whether a token that was found before still lets its bearer in.

        Raises:
            ConfigError: The file cannot be read.
        """
        await self._fresh()
        token = self._tokens.get(token_id)
        return token is not None and self._lets_in(token)

    async def has_live(self) -> bool:
        """Return whether there is a token that lets somebody in.

        Raises:
            ConfigError: The file cannot be read.
        """
        await self._fresh()
        return any(self._lets_in(token) for token in self._tokens.values())

    async def find(self, given: str) -> Token | None:
        """Return what is known of a token that counts now; all others look alike.

        Args:
            given: What the bearer shows, which may be anything.

        Raises:
            PolicyDenied: It counts, but for another tenant; who has it may know that.
            ConfigError: The file cannot be read.
        """
        await self._fresh()
        parts = _TOKEN.fullmatch(given)
        name, secret = parts.groups() if parts else ("", "")
        token = self._tokens.get(name)
        # Compared for unknown ids as well: the time that it takes says nothing about them.
        expected = _NOBODY if token is None else token.sha256
        is_right = hmac.compare_digest(_hash(secret), expected)
        if token is None or not is_right or not token.counts_at(self._clock()):
            return None
        if token.tenant != self._tenant:
            held = f"a token for the tenant {token.tenant}"
            raise PolicyDenied(token.name, "use this server", ("a token of its tenant",), held)
        return token

    def create(
        self,
        name: str,
        role: Role,
        *,
        expires_at: datetime | None,
        **bounds: Unpack[Bounds],
    ) -> tuple[Token, str]:
        """Make a token; return what is known of it, and the token, which nobody can tell again.

        Raises:
            ConfigError: The file cannot be read or written.
            UsageError: An argument is not acceptable, or there are too many tokens.
        """
        now = self._clock()
        if expires_at is not None and expires_at <= now:
            raise UsageError("expires_at", expires_at.isoformat(), "a moment to come")
        agent_id = bounds.get("agent_id")
        if agent_id is not None and role != "agent":
            raise UsageError("agent_id", agent_id, f"none for the role {role}, which is not one's")
        secret = secrets.token_urlsafe(_SECRET_BYTES)
        with self._changing() as held:
            tokens = held if len(held) < TOKENS_MAX else _without_dead(held, now)
            if len(tokens) >= TOKENS_MAX:
                raise UsageError("tokens", len(tokens), f"at most {TOKENS_MAX}; revoke some")
            taken = {token.id for token in tokens}
            token = checked(
                Token,
                id=_new_id(taken),
                name=name,
                role=role,
                tenant=self._tenant,
                created_at=now,
                expires_at=expires_at,
                sha256=_hash(secret),
                **bounds,
            )
            self._write((*tokens, token))
        return token, f"ezra_{token.id}_{secret}"

    def tokens(self) -> tuple[Token, ...]:
        """Return what is known of every token, oldest first.

        Raises:
            ConfigError: The file cannot be read.
        """
        return _read(self._path)[1]

    def revoke(self, token_id: str) -> Token:
        """Let nobody in with a token any more, at once and for ever; may be repeated.

        Raises:
            ConfigError: The file cannot be read or written.
            NotFound: There is no such token.
        """
        with self._changing() as tokens:
            found = next((token for token in tokens if token.id == token_id), None)
            if found is None:
                raise NotFound("token", token_id)
            if found.revoked_at is not None:
                return found
            revoked = found.model_copy(update={"revoked_at": self._clock()})
            self._write(tuple(revoked if one is found else one for one in tokens))
        return revoked

    def _lets_in(self, token: Token) -> bool:
        return token.tenant == self._tenant and token.counts_at(self._clock())

    async def _fresh(self) -> None:
        """Read the file if it is another one than before; ten thousand tokens take a while."""
        if _stamp(self._path) == self._stamp:
            return
        async with self._reading:
            if _stamp(self._path) == self._stamp:
                return
            stamp, tokens = await asyncio.to_thread(_read, self._path)
            self._tokens = {token.id: token for token in tokens}
            self._stamp = stamp
            self._needed = self._needed or bool(tokens)

    @contextmanager
    def _changing(self) -> Iterator[tuple[Token, ...]]:
        """Give what the file holds, and let nobody else change it inside the block."""
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with FileLock(f"{self._path}.lock", timeout=_WAIT_SECONDS):
                yield _read(self._path)[1]
        except Timeout as error:
            raise ConfigError(SETTING, f"{self._path} is locked by another process") from error
        except OSError as error:
            raise ConfigError(SETTING, f"{self._path} cannot be written: {error}") from error

    def _write(self, tokens: tuple[Token, ...]) -> None:
        """Put the file in the place of the former one, whole or not at all, for its owner alone."""
        replace_file(place_of(self._path), _FILE.dump_json(_Kept(tokens=tokens), indent=1))


def _read(path: Path) -> tuple[_Stamp | None, tuple[Token, ...]]:
    """Return what a file holds and the stamp of that very file; nothing if there is none."""
    try:
        with path.open("rb") as file:
            about = os.fstat(file.fileno())
            content = file.read(_FILE_BYTES_MAX)
        return _stamp_of(about), _FILE.validate_json(content).tokens
    except FileNotFoundError:
        return None, ()
    except ValidationError as error:
        first = Misfit.first_of(error)
        reason = f"{path} is no file of tokens: {first.field('the whole')}: {first.accepted}"
        raise ConfigError(SETTING, reason) from None
    except OSError as error:
        raise ConfigError(SETTING, f"{path} cannot be read: {error}") from error


def _stamp(path: Path) -> _Stamp | None:
    try:
        return _stamp_of(path.stat())
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ConfigError(SETTING, f"{path} cannot be read: {error}") from error


def _stamp_of(about: os.stat_result) -> _Stamp:
    return about.st_mtime_ns, about.st_size, about.st_ino


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


def _new_id(taken: set[str]) -> str:
    drawn = ("".join(secrets.choice(_ID_CHARS) for _ in range(_ID_LENGTH)) for _ in range(_DRAWS))
    return next(name for name in drawn if name not in taken)  # the second has odds of 1 in 10^14


def _without_dead(tokens: tuple[Token, ...], now: datetime) -> tuple[Token, ...]:
    return tuple(token for token in tokens if token.counts_at(now))
