"""Questions that were asked by a form, so that their answers have addresses.

A question may name a person, and addresses are kept by proxies and browsers: so an address holds a
key, and the question stays here, for the session that asked it. It is asked again whenever the
address is opened, with the rights that are there then.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

from ..limits import Latest
from .signing_in import IDLE_SECONDS, Session

QUESTIONS_MAX = 1_000
CHARS_MAX = 20_000
"""A longer question is answered where it is asked."""

_KEY_BYTES = 16

Fields: TypeAlias = Sequence[tuple[str, str]]


class _Kept(NamedTuple):
    used_at: float
    session: Session
    path: str
    fields: Fields


class Questions:
    """The questions of one server, the latest thousand; a new start of the server forgets them.

    Args:
        seconds: Monotonic seconds.
    """

    def __init__(self, seconds: Callable[[], float]) -> None:
        self._seconds = seconds
        self._kept: Latest[str, _Kept] = Latest(QUESTIONS_MAX)

    def keep(self, session: Session, path: str, fields: Fields) -> str | None:
        """Keep what a session asks at an address; return its key, ``None`` when it is too long."""
        if sum(len(name) + len(value) for name, value in fields) > CHARS_MAX:
            return None
        key = secrets.token_urlsafe(_KEY_BYTES)
        self._kept.put(key, _Kept(self._seconds(), session, path, fields))
        return key

    def find(self, session: Session, path: str, key: str) -> Fields | None:
        """Return what a session asked at an address, used now; ``None`` when it is not kept."""
        kept = self._kept.get(key)
        if kept is None or (kept.session, kept.path) != (session, path):
            return None
        now = self._seconds()
        if now - kept.used_at > IDLE_SECONDS:
            del self._kept[key]
            return None
        self._kept.put(key, kept._replace(used_at=now))
        return kept.fields
