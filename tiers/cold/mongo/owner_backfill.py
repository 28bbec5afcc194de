"""Gives records of a database from before users kept apart what they are asked for since.

Which user a record is for, in the form in which the scope predicate asks for it; for core facts,
since when they are; and for statements of users, what tells them from another user's. Run again,
or by several processes at once, it comes to the same. Beliefs gain it with their history.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any

from ...errors import CorruptRecord
from ...records import Fact, Rule
from ..spans import begun
from .documents import NO_USER, Document, document_of, record_of
from .renewal import renew
from .statements import identity_of

_UNREAD = ("terms", "embedding")


async def tell_users_apart(database: Any) -> None:  # noqa: ANN401 - of either driver
    """Fill in what records lack, in every collection that holds records of users.

    After validators that ask for it are in force: older processes write no more such records.

    Raises:
        TierError: The server cannot be reached, or refuses.
    """
    for name, filled in _FILLED.items():
        await renew(database[name], "for_user", partial(_told, filled), without=_UNREAD)


def _told(filled: Callable[[Document], Document], document: Document) -> Document:
    """Return what gives a document its user, and what its kind has besides.

    One that cannot be read back keeps what it was known by: it must not keep all others away.
    """
    known: Document = {"for_user": document.get("user_id") or NO_USER}
    with suppress(CorruptRecord):
        known |= filled(document)
    return {"$set": known}


def _plain(_: Document) -> Document:
    return {}


def _of_fact(document: Document) -> Document:
    fact = begun(record_of(Fact, document))
    filled: Document = {"core_spans": document_of(fact)["core_spans"]}
    if "active_identity" in document:
        filled["active_identity"] = identity_of(fact, fact.text)
    return filled


def _of_rule(document: Document) -> Document:
    rule = record_of(Rule, document)
    return {"identity": identity_of(rule, rule.trigger, *rule.steps)}


_FILLED: Mapping[str, Callable[[Document], Document]] = {
    "turns": _plain,
    "summaries": _plain,
    "episodes": _plain,
    "facts": _of_fact,
    "rules": _of_rule,
}
