"""What makes a fact an edge of the knowledge graph, and how its ends are known. Pure.

Ends are found by digests of their one spelling: as long as each other, whatever was said. Digests
go when a fact is redacted or retired, for they would tell what it said to who guesses it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import datetime
from functools import lru_cache
from typing import NamedTuple

from ..errors import UsageError
from ..knowledge import ALIAS, NAMES_MAX
from ..learning import spelled
from ..records import Fact, Scope

_HEX_CHARS = 32
"""128 bits: two names of an installation never meet by chance."""


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


def at_moment(scope: Scope, as_of: datetime | None) -> Scope:
    """Return the scope with ancestors that are read as of a moment, or of an earlier one."""
    if as_of is None:
        return scope
    lineage = tuple(
        one.model_copy(update={"as_of": as_of if one.as_of is None else min(as_of, one.as_of)})
        for one in scope.lineage
    )
    return scope.model_copy(update={"lineage": lineage})
