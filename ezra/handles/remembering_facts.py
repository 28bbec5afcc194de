"""A statement remembered under an id that its words and its owner make, whoever says it.

Two processes that are told the same for the same person come to the same record, and a call whose
answer was lost may be repeated.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args
from unicodedata import normalize

from tiers.errors import Conflict, UsageError
from tiers.ids import derived_id
from tiers.learning import is_live
from tiers.lexical import is_blank
from tiers.records import UNRECORDED, Fact, Scope, Source
from tiers.turn_io import FREE, Charge

from ..checks import checked
from ..runtime import Runtime
from .remembering import store

FactScope: TypeAlias = Literal["user", "agent"]
FACT_SCOPES: tuple[FactScope, ...] = get_args(FactScope)

METADATA: tuple[str, ...] = (
    "confidence",
    "fact_type",
    "valid_from",
    "valid_to",
    "source_ids",
    "subject",
    "predicate",
    "object",
)
"""What may be said of a statement besides: the fields of a fact that people fill in."""

ATTEMPTS = 3
LIVES_MAX = 64
"""So often may the same statement give way and be said again."""


class _Ended(Conflict):
    """An id is taken by what nobody sees any more: the statement was redacted."""


@dataclass(frozen=True)
class RememberedFact:
    """What came of remembering a statement.

    Attributes:
        id: The fact that says it.
        was_new: Whether this call stored it, or it was known.
    """

    id: str
    was_new: bool


def fact_of(content: object, metadata: object) -> Fact:
    """Return a statement as a fact.

    Raises:
        UsageError: It says nothing, or the metadata name what a fact has no place for.
    """
    if not isinstance(content, str) or is_blank(content):
        raise UsageError("content", content, "a statement that is not blank")
    if metadata is not None and not isinstance(metadata, Mapping):
        raise UsageError("metadata", type(metadata).__name__, f"an object of {', '.join(METADATA)}")
    said = dict(metadata or {})
    unknown = sorted(str(name) for name in said if name not in METADATA)
    if unknown:
        raise UsageError("metadata", unknown[0], ", ".join(METADATA))
    return checked(Fact, {"text": "content"}, text=content.strip(), **said)


def owner_of(scope: Scope, fact_scope: str) -> str:
    """Return whose a statement becomes: the person an agent works for, or the agent itself.

    Raises:
        UsageError: There is no such scope, or the handle names nobody for it.
    """
    if fact_scope not in FACT_SCOPES:
        raise UsageError("scope", fact_scope, ", ".join(FACT_SCOPES))
    owner = scope.user_id if fact_scope == "user" else scope.agent_id
    if owner is None:
        needed = {
            "user": "agent, or a handle whose agent was spawned with a user_id",
            "agent": "the handle of an agent",
        }
        raise UsageError("scope", fact_scope, needed[fact_scope])
    return owner


def fact_id(scope: Scope, fact_scope: str, topics: Sequence[str], content: str, life: int) -> str:
    """Return the id of a statement: derived from graph, owner, topics and words.

    Topics are part of it, because who holds other ones would not see what was remembered.

    Args:
        scope: Who remembers it, and where.
        fact_scope: ``user`` or ``agent``.
        topics: What it is about.
        content: Its words.
        life: How often the same was said before and has ended since: superseded, forgotten or
            redacted. What has ended stays as it is; saying it again is a new record.
    """
    return derived_id(
        UNRECORDED,
        "remembered fact",
        scope.tenant,
        scope.graph_id,
        fact_scope,
        owner_of(scope, fact_scope),
        json.dumps(sorted(topics)),
        normalize("NFC", content),
        str(life),
    )


async def remember_fact(
    runtime: Runtime,
    scope: Scope,
    fact: Fact,
    topics: tuple[str, ...],
    fact_scope: FactScope,
    source: Source = "user",
    charge: Charge = FREE,
) -> RememberedFact:
    """Store a statement for its owner, once; a new one is charged.

    Raises:
        BudgetExceeded: It is new, and there is no write left.
        Conflict: The graph is archived, or the statement ended and came back too often.
    """
    for first in range(0, LIVES_MAX, 4):
        lives = {
            fact_id(scope, fact_scope, topics, fact.text, life): life
            for life in range(first, first + 4)
        }
        known = {one.id: one for one in await runtime.semantic.facts(scope, list(lives))}
        for name in lives:
            if name not in known:
                try:
                    new = (fact, topics, name, fact_scope, source, charge)
                    return await _stored(runtime, scope, *new)
                except _Ended:
                    continue
            if is_live(known[name]) and known[name].redacted_at is None:
                return RememberedFact(name, was_new=False)
    raise Conflict("fact", f"at most {LIVES_MAX} lives of a statement", fact.text[:80])


async def _stored(
    runtime: Runtime,
    scope: Scope,
    fact: Fact,
    topics: tuple[str, ...],
    name: str,
    fact_scope: FactScope,
    source: Source,
    charge: Charge,
) -> RememberedFact:
    """Store a statement under an id.

    Raises:
        Conflict: The graph is archived; ``_Ended`` where the id is taken for good.
    """
    is_private = fact_scope == "agent"
    for _ in range(ATTEMPTS):
        try:
            stored, was_new = await store(
                runtime,
                scope,
                fact,
                topics,
                private=is_private,
                record_id=name,
                source=source,
                charge=charge,
            )
        except Conflict as conflict:
            if conflict.what != "fact":
                raise
        else:
            return RememberedFact(stored, was_new)
        # Another agent of the same person was faster, perhaps in a write that is not over yet.
        found = await runtime.semantic.facts(scope, [name])
        if found and found[0].text == fact.text:
            return RememberedFact(name, was_new=False)
    raise _Ended("fact", "an id of its own", name)
