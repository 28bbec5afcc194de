"""Names of who may read an entry, by which a dense search finds what it compares.

The engine takes points from the list that its index keeps of a name. What else is asked of them it
looks up point by point, which costs more than to compare their vectors: at 10,000 points of 384
dimensions a search took 5.3 ms of processor time with the conditions of a scope, and 1.8 ms with
the owner's name alone. So owner, writer, user and topic are one name here. A moment is none: what
expires has no such names and is asked for by the conditions, which finds little to look at.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import product
from math import prod
from typing import Any, NamedTuple

from .filters import AnyOf, Between, Condition, Predicate
from .payload import NEVER

READERS = "readers"
"""The key of the names."""

NAMES_MAX = 64
"""Most that one question is asked by: those of many topics in many graphs go by conditions."""

NAMES_REMEMBERED = 2_000
"""Those of a scope come with each of its entries and questions."""

_NAMED = ("owner", "private_to", "user_id", "topics")
_EXPIRY = "expires_at"


class Readable(NamedTuple):
    """What a question may find, in two parts that have no entry in common.

    Attributes:
        names: Of entries that never expire, one of which must be theirs.
        conditions: What must hold of those besides.
    """

    names: tuple[str, ...]
    conditions: Predicate


def readers_of(payload: Mapping[str, Any]) -> list[str]:
    """Return the names of who may read an entry; none where it expires."""
    if payload[_EXPIRY] != NEVER:
        return []
    writer, user = payload["private_to"], payload["user_id"]
    whose = product(payload["owner"], payload["topics"])
    return [_name(owner, writer, user, topic) for owner, topic in whose]


def readable(condition: Predicate) -> Readable | None:
    """Return the names of what never expires and meets a condition, moments left out.

    ``None`` where the condition leaves owner, writer, user or topic open, or has too many of them.
    """
    values: dict[str, tuple[str, ...]] = {}
    others: list[Condition] = []
    for one in condition:
        if isinstance(one, AnyOf) and one.key in _NAMED and one.key not in values:
            values[one.key] = one.values
        else:
            others.append(one)
    if len(values) < len(_NAMED):
        return None
    if prod(len(values[key]) for key in _NAMED) > NAMES_MAX:
        return None
    names = product(*(values[key] for key in _NAMED))
    return Readable(tuple(_name(*one) for one in names), tuple(others))


def parted(moments: Sequence[Condition]) -> tuple[Predicate, Predicate] | None:
    """Return what is asked of moments of entries that never expire, and of those that do.

    ``None`` where it is not asked that an entry has not expired.
    """
    for place, one in enumerate(moments):
        if isinstance(one, Between) and one.key == _EXPIRY and one.until is None:
            others = (*moments[:place], *moments[place + 1 :])
            return others, (*others, Between(_EXPIRY, one.since, NEVER))
    return None


@lru_cache(maxsize=NAMES_REMEMBERED)
def _name(owner: str, writer: str, user: str, topic: str) -> str:
    return owner + json.dumps([writer, user, topic])
