"""What records of a database from before users kept apart are asked for since.

Which user a record is for, in the form in which the scope predicate asks for it; for core facts,
since when they are; and for statements of users, what tells them from another user's. Beliefs gain
it with their history.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress

from ...errors import CorruptRecord
from ...records import Fact, Rule
from ..spans import begun
from .documents import NO_USER, Document, document_of, record_of
from .statements import identity_of


def owner_fields(collection: str, document: Document) -> Document:
    """Return what gives a document of a collection its user, and what its kind has besides.

    Nothing for one that has it. One that cannot be read back keeps what it was known by: it must
    not keep all others away.
    """
    if "for_user" in document:
        return {}
    known: Document = {"for_user": document.get("user_id") or NO_USER}
    with suppress(CorruptRecord):
        known |= _MORE[collection](document) if collection in _MORE else {}
    return known


def _of_fact(document: Document) -> Document:
    fact = begun(record_of(Fact, document))
    filled: Document = {"core_spans": document_of(fact)["core_spans"]}
    if "active_identity" in document:
        filled["active_identity"] = identity_of(fact, fact.text)
    return filled


def _of_rule(document: Document) -> Document:
    rule = record_of(Rule, document)
    return {"identity": identity_of(rule, rule.trigger, *rule.steps)}


_MORE: Mapping[str, Callable[[Document], Document]] = {"facts": _of_fact, "rules": _of_rule}
