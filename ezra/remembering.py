"""Storing what a handle is told to remember: checked, owned by its scope, queued for indexing."""

from __future__ import annotations

from metaagents.lifecycle.agent import index_work
from tiers.errors import NotFound, UsageError
from tiers.records import Fact, Rule, Scope

from .checks import checked
from .follow_up import judge_work
from .parts import Parts

Memory = str | Fact | Rule
"""What can be remembered: text (a fact), a ``Fact`` or a ``Rule``."""


def memory_of(what: Memory) -> Fact | Rule:
    """Return what was given as a record.

    Raises:
        UsageError: It is none, or says nothing.
    """
    record = checked(Fact, text=what) if isinstance(what, str) else what
    if not isinstance(record, Fact | Rule):
        raise UsageError("what", what, "text, a Fact or a Rule")
    return record


async def check_superseded(parts: Parts, scope: Scope, record: Fact | Rule, fact_id: str) -> None:
    """Refuse what cannot take a fact's place, before anything is stored.

    Raises:
        UsageError: A rule supersedes nothing.
        NotFound: There is no such fact in the scope's own graph.
    """
    if isinstance(record, Rule):
        raise UsageError("supersedes", fact_id, "nothing for a rule; facts are superseded")
    found = await parts.semantic.facts(scope, [fact_id])
    if not any(fact.graph_id == scope.graph_id for fact in found):
        raise NotFound("fact", fact_id)


async def store(
    parts: Parts,
    scope: Scope,
    record: Fact | Rule,
    topics: tuple[str, ...],
    *,
    private: bool,
    record_id: str | None = None,
) -> tuple[str, bool]:
    """Store a fact or rule as the scope's own; return its id and whether it is new.

    The same statement by the same writer for the same user is stored once. Without ``record_id``
    it gets an id of its own.
    """
    now = parts.clock()
    owned = {"topics": topics, "private": private or record.private}
    stamped = record.stamped(scope, record_id or parts.ids.new(), now).model_copy(update=owned)
    work = [index_work(stamped.id, scope.agent_id)]
    if isinstance(stamped, Rule):
        rule, was_new = await parts.procedural.put_rule(scope, stamped, work)
        parts.wake_learning()
        return rule.id, was_new
    # What ezra counts and decides is not the caller's to state.
    decided = {
        "uses": 0,
        "last_used_at": None,
        "superseded_by": None,
        "superseded_at": None,
        "superseded_as": None,
        "core_spans": (),
        "earned_from": 0,
        "judged_at": None,
        "forgotten_at": None,
        "retired_at": None,
    }
    work.append(judge_work(stamped))
    fact, was_new = await parts.semantic.put_fact(scope, stamped.model_copy(update=decided), work)
    parts.wake_learning()
    return fact.id, was_new


async def supersede(parts: Parts, scope: Scope, old_id: str, new_id: str) -> bool:
    """Let one fact take another's place; ``False`` when another did before.

    Raises:
        NotFound: One of them is no fact that the scope sees in its own graph.
    """
    done = await parts.semantic.supersede(
        scope, old_id, new_id, parts.clock(), [index_work(old_id, scope.agent_id)]
    )
    parts.wake_learning()
    return done


async def forget(parts: Parts, scope: Scope, fact_id: str, reason: str) -> bool:
    """Mark a fact as forgotten; ``False`` when it is none that lives in the scope's own graph.

    Raises:
        UsageError: The reason is blank.
    """
    if not reason.strip():
        raise UsageError("reason", reason, "why; it is kept in the audit feed")
    done = await parts.review.forget(
        scope, fact_id, reason, parts.clock(), [index_work(fact_id, None)]
    )
    parts.wake_learning()
    return done
