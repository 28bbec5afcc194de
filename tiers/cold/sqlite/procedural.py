"""Rules in SQLite, found by the words of their trigger."""

# ruff: noqa: S608 - statements are made of constants only; values are always parameters

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from ...errors import Conflict
from ...learning import OUTCOMES_DENSE
from ...lexical import content_words, stem
from ...records import Rule, Scope, WorkDraft
from ..learnt import is_said_again
from ..ownership import check_limit, check_owned, private_to
from .database import Database, Session
from .graphs import check_writable
from .identity import identity_of
from .queue import queue_work
from .rows import insert_owned, record_of, topic_set
from .scope import as_json, scoped
from .searchable import index_words

TEXT_WORDS_MAX = 256

_SELECT = "SELECT r.*, s.topics FROM rules r JOIN topic_sets s ON s.id = r.topic_set WHERE "
_KEPT = " AND r.redacted_at IS NULL"
_AMONG = _SELECT + f"$visible(r){_KEPT} AND r.id IN (SELECT value FROM json_each(:ids))"
_TAKEN = _SELECT + "$own(r) AND r.id = :id"
_SAME = _SELECT + (
    "$own(r) AND r.agent_id = :writer AND r.user_id IS :writers_user AND r.digest = :digest"
    f" AND r.topic_set = :topic_set AND r.private_to = :private_to{_KEPT}"
)
# Most shared words first, then what its outcomes say, then the trigger with the least besides, then
# the nearest graph. Few outcomes are chance and say nothing.
# CROSS JOIN fixes the order: graph and word together are what the key of the words begins with.
_MATCHING = (
    "SELECT r.*, s.topics FROM $family g"
    " CROSS JOIN trigger_words w ON w.tenant = :tenant AND w.graph_id = g.graph_id"
    " JOIN rules r ON r.row = w.rule_row JOIN topic_sets s ON s.id = r.topic_set"
    f" WHERE w.word IN (SELECT value FROM json_each(:words)) AND $inherited(r){_KEPT}"
    " GROUP BY r.row ORDER BY COUNT(*) DESC,"
    f" (r.successes + r.failures >= {OUTCOMES_DENSE})"
    " * ((r.successes > r.failures) - (r.successes < r.failures)) DESC,"
    " w.of_words, g.place, r.row LIMIT :limit"
)


class SqliteProceduralStore:
    """A ``ProceduralStore`` in SQLite."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def put_rule(
        self, scope: Scope, rule: Rule, work: Sequence[WorkDraft] = ()
    ) -> tuple[Rule, bool]:
        """Store a rule and return it, and whether it is new.

        One of the same writer, user, trigger, steps, topics and privacy is returned as it is; so
        is one of the same id that had these steps before it was refined.

        Raises:
            Conflict: The id is another rule's, or the graph is archived.
        """
        check_owned(scope, rule)

        def transaction(session: Session) -> tuple[Rule, bool]:
            if _known(session, scope, rule) is None:
                check_writable(session, scope)
            return put_rule(session, scope, rule, work)

        return await self._database.write("put_rule", transaction)

    async def match_rules(self, scope: Scope, text: str, limit: int) -> tuple[Rule, ...]:
        """Return visible rules whose trigger shares words with ``text``, best match first.

        Rules of the own graph and of the ancestors that carry ``rule``; of one read ``as_of`` a
        moment, those recorded by then. Best: most different words in common, stop words aside and
        plurals equal; then those more often confirmed than rejected before those without
        ``OUTCOMES_DENSE`` outcomes or with as many of each, and these before those more often
        rejected; then the shortest trigger; then the nearest graph.
        """
        check_limit(limit)
        asked = _stems(text)[:TEXT_WORDS_MAX]
        if not asked:
            return ()
        query = scoped(_MATCHING, scope, carrying="rule", words=as_json(asked), limit=limit)
        return await self._database.read(
            "match_rules", lambda session: tuple(record_of(Rule, row) for row in session.all(query))
        )


def read_rules(session: Session, scope: Scope, ids: Sequence[str]) -> dict[str, Rule]:
    """Return the visible rules of the own graph among ``ids``, by id."""
    query = scoped(_AMONG, scope, ids=as_json(ids))
    return {row["id"]: record_of(Rule, row) for row in session.all(query)}


def put_rule(
    session: Session, scope: Scope, rule: Rule, work: Sequence[WorkDraft]
) -> tuple[Rule, bool]:
    """Store a rule and return it, and whether it is new, inside the caller's transaction.

    Whether the graph may still be written to is not asked: what comes from elsewhere is stored.
    One of the same writer, user, trigger, steps, topics and privacy is returned as it is; so is one
    of the same id that had these steps before it was refined.

    Raises:
        Conflict: The id is another rule's.
    """
    known = _known(session, scope, rule)
    if known is not None:
        return known, False
    row = insert_owned(session, "rules", rule, digest=identity_of(rule))
    stems = _stems(rule.trigger)
    session.insert_all(
        "trigger_words",
        [
            {
                "tenant": rule.tenant,
                "graph_id": rule.graph_id,
                "word": word,
                "rule_row": row,
                "of_words": len(stems),
            }
            for word in stems
        ],
    )
    index_words(session, rule)
    queue_work(session, scope, work, rule.recorded_at)
    return rule, True


def _known(session: Session, scope: Scope, rule: Rule) -> Rule | None:
    """Return the stored rule that says the same for the same writer, or did, if any.

    Raises:
        Conflict: The id is another rule's.
    """
    same = same_rule(session, scope, rule)
    if same is not None:
        return record_of(Rule, same)
    taken = session.one(scoped(_TAKEN, scope, id=rule.id))
    if taken is None:
        return None
    known = record_of(Rule, taken)
    if is_said_again(known, rule):
        return known
    # Not what it says: the asker may not be allowed to see it.
    raise Conflict("rule", "an id of its own", rule.id)


def same_rule(session: Session, scope: Scope, rule: Rule) -> sqlite3.Row | None:
    """Return the row of the rule that says the same for the same writer, if any."""
    query = scoped(
        _SAME,
        scope,
        writer=rule.agent_id,
        writers_user=rule.user_id,
        digest=identity_of(rule),
        topic_set=topic_set(session, rule.topics),
        private_to=private_to(rule),
    )
    return session.one(query)


def _stems(text: str) -> list[str]:
    return list(dict.fromkeys(stem(word) for word in content_words(text)))
