"""Rules in MongoDB as the learning agent keeps count of them.

The update of a rule decides, and what must follow is carried in the rule until it is done: see
``following``. A rule counts its changes, so that nobody counts a cause that was counted after they
looked for it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from ...errors import TierTimeout, UsageError
from ...moments import microseconds
from ...records import Rule, Scope, WorkDraft
from ..learnt import refined
from ..ownership import in_order
from .conditions import shown_fields
from .database import Database, Session
from .documents import Document, record_of
from .erasure import count_gained, difference, words_gained
from .following import ATTEMPTS_MAX, changed, finish, follow, told, told_once
from .procedural import rule_document
from .schema import Index, by, validator
from .scope import audited, own, visible

COLLECTIONS: Mapping[str, tuple[Sequence[Index], Mapping[str, Document] | None]] = {
    "rule_outcomes": (
        [by("rule_id", "cause", unique=True)],
        validator(("rule_id", "cause", "is_success", "recorded_at")),
    ),
}

_RULES = "rules"


class MongoPlaybooks:
    """A ``Playbooks`` in MongoDB."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def rules(self, scope: Scope, ids: Sequence[str]) -> tuple[Rule, ...]:
        """Return the visible rules of the own graph among ``ids``, in the order asked."""
        where = visible(scope, id={"$in": list(ids)}, redacted_at=None)

        async def question(session: Session) -> tuple[Rule, ...]:
            found = await session.collection(_RULES).find(where, fields=shown_fields(Rule))
            return in_order({one["id"]: record_of(Rule, one) for one in found}, ids)

        return await self._database.read("rules", question)

    async def record_outcome(
        self, scope: Scope, rule_id: str, cause: str, now: datetime, *, is_success: bool
    ) -> Rule | None:
        """Count one success or failure of a rule of the own graph; return it as it now is.

        The same cause never counts twice, whatever it says. An agent counts what it may see, the
        runtime every rule. ``None`` when there is no such rule.

        Raises:
            UsageError: The cause is empty.
            TierTimeout: Others were first again and again.
        """
        if not cause:
            raise UsageError("cause", cause, "the id of what says how the rule did")
        kind = "playbook confirmed" if is_success else "playbook rejected"
        follows = told(scope, kind, (rule_id, cause), "", now, ())
        outcome = {"rule_id": rule_id, "cause": cause, "is_success": is_success}
        follows["row"] = {
            "collection": "rule_outcomes",
            "document": outcome | {"recorded_at": microseconds(now)},
        }
        return await told_once(
            self._database,
            "record_outcome",
            scope,
            lambda session: _count(session, scope, outcome, follows),
        )

    async def refine(
        self,
        scope: Scope,
        rule: Rule,
        steps: Sequence[str],
        source_ids: Sequence[str],
        now: datetime,
        work: Sequence[WorkDraft] = (),
    ) -> bool:
        """Give a rule new steps and the next version; the former steps stay readable.

        ``False``, writing nothing, when the rule has moved on or is not there, when these are its
        steps already, and when another rule of the same writer, user, trigger, topics and privacy
        has them: two that say the same cannot be told apart, and that one is there to be found.

        Raises:
            UsageError: There are no steps, or one is blank or too long.
            TierTimeout: Others were first again and again.
        """
        if refined(rule, steps, source_ids, now) is None:
            return False
        about = (rule.id, *dict.fromkeys(source_ids))
        follows = told(scope, "playbook refined", about, "", now, work)

        async def change(session: Session) -> int | None:
            return await _refine(session, scope, rule, (steps, source_ids, now), follows)

        async def counted(session: Session, gained: int | None) -> None:
            await count_gained(session, scope, {"rule": gained or 0})

        gained = await told_once(self._database, "refine", scope, change, counted=counted)
        return gained is not None


async def _count(
    session: Session, scope: Scope, outcome: Document, follows: Document
) -> Rule | None:
    """Count an outcome unless its cause was counted, and return the rule, or ``None``."""
    rules = session.collection(_RULES)
    rule_id, cause = outcome["rule_id"], outcome["cause"]
    where = audited(scope, id=rule_id, redacted_at=None)
    counter = "successes" if outcome["is_success"] else "failures"
    for _ in range(ATTEMPTS_MAX):
        known = await _settled(session, scope, where)
        if known is None:
            return None
        outcomes = session.collection("rule_outcomes")
        if await outcomes.count(own(scope, rule_id=rule_id, cause=cause)):
            return record_of(Rule, known)
        change = changed(session, follows, {}, counting={counter: 1})
        found = await rules.find_and_update(where | _unchanged(known), change)
        if found is not None:
            await follow(session, scope, _RULES, found, follows)
            return record_of(Rule, found)
    raise TierTimeout("cold", "record_outcome", "others changed the rule again and again")


async def _refine(
    session: Session,
    scope: Scope,
    rule: Rule,
    new: tuple[Sequence[str], Sequence[str], datetime],
    follows: Document,
) -> int | None:
    """Return how many words a rule gained by being refined; ``None`` when it was not."""
    rules = session.collection(_RULES)
    where = audited(scope, id=rule.id, redacted_at=None)
    for _ in range(ATTEMPTS_MAX):
        known = await _settled(session, scope, where)
        before = None if known is None else record_of(Rule, known)
        if known is None or before is None or before.version != rule.version:
            return None
        after = refined(before, *new)
        if after is None or await _is_said_elsewhere(session, scope, after):
            return None
        update = difference(before, after)
        becomes, gone = update["$set"], tuple(update.get("$unset", ()))
        change = changed(session, follows, becomes, without=gone)
        found = await rules.find_and_update(where | _unchanged(known), change)
        if found is not None:
            await follow(session, scope, _RULES, found, follows)
            return words_gained(known, update)
    raise TierTimeout("cold", "refine", "others changed the rule again and again")


async def _settled(session: Session, scope: Scope, where: Document) -> Document | None:
    """Return a rule once what must follow from its last change is done, or ``None``."""
    rules = session.collection(_RULES)
    known = await rules.first(where)
    if known is None or "moved" not in known:
        return known
    await finish(session, scope, _RULES, [known["id"]])
    return await rules.first(where)


def _unchanged(known: Document) -> Document:
    """Return the condition that a rule was changed by nobody since it was read."""
    return {"moves": known.get("moves"), "moved": None}


async def _is_said_elsewhere(session: Session, scope: Scope, rule: Rule) -> bool:
    same = own(scope, identity=rule_document(rule)["identity"], id={"$ne": rule.id})
    return await session.collection(_RULES).count(same) > 0
