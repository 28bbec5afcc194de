"""Who looks at the console: a token, shown once, then a session that stands for it.

A session's cookie goes to the console alone, scripts cannot read it, and no other site can have it
sent. It leads to the token that was shown, which the gate then judges at every request exactly as
if it had come as a bearer token: expired or revoked, it ends the session at that moment.

What a session asked by a form is kept with it, so that the answer has an address: it may name a
person, and addresses are kept by proxies and browsers. So an address holds a key, and the question
is asked again whenever it is opened, with the rights that are there then.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from typing import TypeAlias, TypeVar
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Scope

from tiers.errors import UsageError

from ..limits import Latest
from .pages import PREFIX

COOKIE = "ezra_console"
CSRF = "csrf"
SESSIONS_MAX = 1_000
IDLE_SECONDS = 12 * 3_600.0
"""A session that nobody used for so long is over."""

QUESTIONS_MAX = 1_000
CHARS_MAX = 20_000
"""A longer question is answered where it is asked."""

_SECRET_BYTES = 32
_KEY_BYTES = 16
_OWN_SITES = frozenset({"same-origin", "none"})


@dataclass(frozen=True)
class Session:
    """What a cookie stands for.

    Attributes:
        shown: The token.
        csrf: What its forms carry.
    """

    shown: str = field(repr=False)
    csrf: str = field(repr=False)


_K = TypeVar("_K")
_V = TypeVar("_V")
Fields: TypeAlias = Sequence[tuple[str, str]]


class InUse(Latest[_K, tuple[float, _V]]):
    """What was used last, so much at most, and each only until nobody used it for so long.

    Args:
        most: How much.
        seconds: Monotonic seconds.
    """

    def __init__(self, most: int, seconds: Callable[[], float]) -> None:
        super().__init__(most)
        self._seconds = seconds

    def keep(self, key: _K, value: _V) -> None:
        """Keep a value, used now."""
        self.put(key, (self._seconds(), value))

    def find(self, key: _K) -> _V | None:
        """Return a value, used now; ``None`` when it is not kept, or no more."""
        if key not in self:
            return None
        since, value = self.pop(key)
        if self._seconds() - since > IDLE_SECONDS:
            return None
        self.keep(key, value)
        return value


class Sessions:
    """The sessions of one server, so many at once; a new start of the server ends them.

    Args:
        seconds: Monotonic seconds.
    """

    def __init__(self, seconds: Callable[[], float]) -> None:
        self._open: InUse[str, Session] = InUse(SESSIONS_MAX, seconds)
        self._local = Session("", secrets.token_urlsafe(_SECRET_BYTES))

    def begin(self, shown: str) -> str:
        """Begin a session for a token that was found to count; return its cookie."""
        cookie = secrets.token_urlsafe(_SECRET_BYTES)
        self._open.keep(_key(cookie), Session(shown, secrets.token_urlsafe(_SECRET_BYTES)))
        return cookie

    def find(self, cookie: str) -> Session | None:
        """Return the session of a cookie, used now; ``None`` when there is none, or no more."""
        return self._open.find(_key(cookie))

    def end(self, cookie: str) -> None:
        """End a session; one that is over is no error."""
        self._open.pop(_key(cookie), None)

    def of(self, headers: Headers) -> Session:
        """Return the session of a request; one for all where no token is needed."""
        return self.find(cookie_of(headers)) or self._local


class Questions:
    """The questions of one server, the latest thousand; a new start of the server forgets them.

    Args:
        seconds: Monotonic seconds.
    """

    def __init__(self, seconds: Callable[[], float]) -> None:
        self._kept: InUse[tuple[Session, str, str], Fields] = InUse(QUESTIONS_MAX, seconds)

    def keep(self, session: Session, path: str, fields: Fields) -> str | None:
        """Keep what a session asks at an address; return its key, ``None`` when it is too long."""
        if sum(len(name) + len(value) for name, value in fields) > CHARS_MAX:
            return None
        key = secrets.token_urlsafe(_KEY_BYTES)
        self._kept.keep((session, path, key), fields)
        return key

    def find(self, session: Session, path: str, key: str) -> Fields | None:
        """Return what a session asked at an address, used now; ``None`` when it is not kept."""
        return self._kept.find((session, path, key))


def cookie_of(headers: Headers) -> str:
    """Return the cookie of a request; empty when it has none that can be one."""
    try:
        found = SimpleCookie(headers.get("cookie", "")).get(COOKIE)
    except CookieError:
        return ""
    return "" if found is None else found.value


def give(answer: Response, cookie: str, scope: Scope) -> None:
    """Let an answer set the cookie of a session."""
    answer.set_cookie(
        COOKIE, cookie, path=PREFIX, secure=_is_safe(scope), httponly=True, samesite="strict"
    )


def take(answer: Response, scope: Scope) -> None:
    """Let an answer remove the cookie."""
    answer.delete_cookie(
        COOKIE, path=PREFIX, secure=_is_safe(scope), httponly=True, samesite="strict"
    )


def check_site(request: Request) -> None:
    """Refuse a form that another site sent.

    Raises:
        UsageError: It did.
    """
    site = request.headers.get("sec-fetch-site", "none")
    origin = request.headers.get("origin")
    host = request.headers.get("host", "")
    if site not in _OWN_SITES or (origin is not None and _host(origin) != host):
        raise UsageError("Origin", origin or site, "a form of this console")


def check_csrf(session: Session, given: str) -> None:
    """Refuse a form that does not carry what its session gave it.

    Raises:
        UsageError: It does not.
    """
    if not hmac.compare_digest(session.csrf.encode(), given.encode()):
        raise UsageError(CSRF, "another", "the form of a page of this session; load it again")


def inside(address: str) -> str:
    """Return where to go after signing in: the address if it is of the console, else its front."""
    split = urlsplit(address) if address.isprintable() and "\\" not in address else urlsplit("")
    is_ours = split.path == PREFIX or split.path.startswith(f"{PREFIX}/")
    return address if is_ours and not split.scheme and not split.netloc else PREFIX


def _key(cookie: str) -> str:
    """Kept as a digest: who reads the table cannot enter by it, and no comparison tells time."""
    return hashlib.sha256(cookie.encode()).hexdigest()


def _is_safe(scope: Scope) -> bool:
    """Return whether the browser came by TLS; a header that lies only harms who sends it."""
    forwarded = Headers(scope=scope).get("x-forwarded-proto", "")
    return "https" in (scope.get("scheme"), forwarded)


def _host(origin: str) -> str:
    try:
        return urlsplit(origin).netloc
    except ValueError:
        return ""
