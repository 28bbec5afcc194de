"""Digests by which facts and rules are known again: ends of edges, statements, addresses. Pure.

They are as long as each other, whatever was said. They go when a record is redacted or retired, for
they would tell what it said to who guesses it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple
from unicodedata import normalize

from ..errors import UsageError
from ..knowledge import ALIAS, NAMES_MAX, statement_of
from ..learning import fact_key, spelled
from ..records import Fact, Rule
from .ownership import private_to

_HEX_CHARS = 32
"""128 bits: two names or statements of an installation never meet by chance."""

KEYS_REMEMBERED = 4_096
"""Names whose digests are made once: a fact's are asked for with each of its look-ups."""


class Edge(NamedTuple):
    """The digests of a fact's three parts."""

    subject: str
    predicate: str
    object: str

    @property
    def is_alias(self) -> bool:
        """Whether it joins two names and says nothing else."""
        return self.predicate == ALIAS_KEY


class Step(NamedTuple):
    """A fact on the way: its id, and the digests of the names at its ends."""

    id: str
    subject: str
    object: str


@lru_cache(maxsize=KEYS_REMEMBERED)
def key_of(name: str) -> str:
    """Return the digest of a name in its one spelling; empty for a blank one."""
    text = spelled(name)
    if not text:
        return ""
    # Half a surrogate pair is a name that no stored fact has.
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:_HEX_CHARS]


ALIAS_KEY = key_of(ALIAS)


def edge_of(fact: Fact) -> Edge | None:
    """Return the edge that a fact is; ``None`` without three parts, or without its content."""
    if fact.subject is None or fact.predicate is None or fact.object is None:
        return None
    keys = Edge(key_of(fact.subject), key_of(fact.predicate), key_of(fact.object))
    return keys if all(keys) and fact.redacted_at is None else None


def keys_of(names: Sequence[str]) -> tuple[str, ...]:
    """Return the digests of names, each once, in their order; blank names have none.

    Raises:
        UsageError: There are more than ``NAMES_MAX``.
    """
    if len(names) > NAMES_MAX:
        raise UsageError("names", len(names), f"{NAMES_MAX} at most")
    return tuple(key for key in dict.fromkeys(map(key_of, names)) if key)


def said_by(record: Fact | Rule) -> str | None:
    """Return the digest of what a record says, and for which user; ``None`` without content.

    What is said for one user is not what is said for another. Whether an accent was typed with its
    letter or behind it (NFC, NFD) makes no other statement.
    """
    if record.redacted_at is not None:
        return None
    texts = [statement_of(record)] if isinstance(record, Fact) else [record.trigger, *record.steps]
    return _digest(record.user_id, [normalize("NFC", text) for text in texts])


def identity_of(record: Fact | Rule) -> str | None:
    """Return the digest of what makes a record the same as another of its writer."""
    return digests_of(record)[0]


def digests_of(record: Fact | Rule) -> tuple[str | None, str | None]:
    """Return the digests of what makes a record the same as another, and of what it says."""
    statement = said_by(record)
    if statement is None:
        return None, None
    return _digest(
        statement, [record.agent_id, *sorted(record.topics)], private_to(record)
    ), statement


def address_of(fact: Fact) -> str | None:
    """Return the digest of a keyed fact's address, by which it is found; else ``None``."""
    key = None if fact.redacted_at is not None else fact_key(fact)
    return None if key is None else _digest(*key)


def _digest(*parts: str | Sequence[str] | None) -> str:
    """Return the digest of parts that never run together; half a character is as good as any."""
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:_HEX_CHARS]
