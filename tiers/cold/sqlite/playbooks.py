"""Rules in SQLite as the learning agent keeps count of them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from ...errors import UsageError
from ...moments import microseconds
from ...records import Rule, Scope, WorkDraft
from ..learnt import refined
from ..ownership import in_order
from .database import Database, Session
from .identity import identity_of
from .log import append_event
from .procedural import read_rules, same_rule
from .queue import queue_work
from .rows import record_of, stored
from .scope import scoped
from .searchable import reindex_words

# Who asks for a whole graph keeps count of every rule of it, also of one that its agent keeps for
# itself.
_ONE = (
    "SELECT r.*, s.topics FROM rules r JOIN topic_sets s ON s.id = r.topic_set"
    " WHERE $audited(r) AND r.id = :id AND r.redacted_at IS NULL"
)
_COUNT_OUTCOME = (
    "INSERT INTO rule_outcomes (tenant, graph_id, rule_id, cause, is_success, recorded_at)"
    " VALUES (:tenant, :graph_id, :id, :cause, :is_success, :now)"
    " ON CONFLICT (tenant, graph_id, rule_id, cause) DO NOTHING"
)
_ADD_OUTCOME = (
    "UPDATE rules AS r SET successes = successes + :is_success,"
    " failures = failures + 1 - :is_success WHERE $own(r) AND r.id = :id"
)
_REFINE = (
    "UPDATE rules AS r SET steps = :steps, version = :version, former = :former,"
    " source_ids = :source_ids, digest = :digest WHERE $own(r) AND r.id = :id"
)


class SqlitePlaybooks:
    """A ``Playbooks`` in SQLite."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def rules(self, scope: Scope, ids: Sequence[str]) -> tuple[Rule, ...]:
        """Return the visible rules of the own graph among ``ids``, in the order asked."""
        return await self._database.read(
            "rules", lambda session: in_order(read_rules(session, scope, ids), ids)
        )

    async def record_outcome(
        self, scope: Scope, rule_id: str, cause: str, now: datetime, *, is_success: bool
    ) -> Rule | None:
        """Count one success or failure of a rule of the own graph; return it as it now is.

        The same cause never counts twice, whatever it says. An agent counts what it may see, the
        runtime every rule. ``None`` when there is no such rule.

        Raises:
            UsageError: The cause is empty.
        """
        if not cause:
            raise UsageError("cause", cause, "the id of what says how the rule did")

        def transaction(session: Session) -> Rule | None:
            if _rule(session, scope, rule_id) is None:
                return None
            outcome = scoped(
                _COUNT_OUTCOME,
                scope,
                id=rule_id,
                cause=cause,
                is_success=int(is_success),
                now=microseconds(now),
            )
            if session.run(outcome) > 0:
                session.run(scoped(_ADD_OUTCOME, scope, id=rule_id, is_success=int(is_success)))
                kind = "playbook confirmed" if is_success else "playbook rejected"
                append_event(session, scope, kind, (rule_id, cause), "", now)
            return _rule(session, scope, rule_id)

        return await self._database.write("record_outcome", transaction)

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
        """
        if refined(rule, steps, source_ids, now) is None:
            return False

        def transaction(session: Session) -> bool:
            before = _rule(session, scope, rule.id)
            if before is None or before.version != rule.version:
                return False
            after = refined(before, steps, source_ids, now)
            if after is None or same_rule(session, scope, after) is not None:
                return False
            _store(session, scope, before, after)
            ids = (rule.id, *dict.fromkeys(source_ids))
            append_event(session, scope, "playbook refined", ids, "", now)
            queue_work(session, scope, work, now)
            return True

        return await self._database.write("refine", transaction)


def _rule(session: Session, scope: Scope, rule_id: str) -> Rule | None:
    row = session.one(scoped(_ONE, scope, id=rule_id))
    return None if row is None else record_of(Rule, row)


def _store(session: Session, scope: Scope, before: Rule, after: Rule) -> None:
    session.run(
        scoped(
            _REFINE,
            scope,
            id=after.id,
            steps=stored(after.steps),
            version=after.version,
            former=stored(after.former),
            source_ids=stored(after.source_ids),
            digest=identity_of(after),
        )
    )
    reindex_words(session, scope, before, after)
