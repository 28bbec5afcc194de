"""The statement that answers a question about beliefs of the past."""

# ruff: noqa: S608 - statements are made of constants only; values are always parameters

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ...records import BeliefQuery, Scope
from .belief_spans import HELD, stations_of
from .database import Query, Session, Value
from .scope import as_json, scoped


class _Way(NamedTuple):
    """One way to look beliefs up.

    Attributes:
        param: The parameter that is there when the question names it.
        source: What is read, in this order; the beliefs are called ``b``.
        found: The condition of the look-up.
        checked: The same as a condition on beliefs that were looked up another way. The plus
            keeps it out of the choice of index.
        place: Where in the order of commitment it reads.
    """

    param: str
    source: str
    found: str
    checked: str
    place: str = "b.committed_seq"


_WAYS = (
    _Way(
        "ids",
        "json_each(:ids) i CROSS JOIN beliefs b",
        "b.id = i.value",
        "+b.id IN (SELECT value FROM json_each(:ids))",
    ),
    _Way(
        "attribute",
        "beliefs b",
        "b.key_subject = :key_subject AND b.key_attribute = :attribute",
        "+b.key_subject = :key_subject AND +b.key_attribute = :attribute",
    ),
    _Way(
        "subject",
        "beliefs b",
        "b.key_subject = :subject",
        "+b.key_subject = :subject",
    ),
    _Way(
        "filed_under",
        "belief_topics f CROSS JOIN beliefs b",
        # With the plus each row is looked up; without it the engine reads on from the first.
        "$own(f) AND f.topic = :filed_under AND b.committed_seq = +f.committed_seq",
        "EXISTS (SELECT 1 FROM belief_topics f WHERE $own(f) AND f.topic = :filed_under"
        " AND f.committed_seq = b.committed_seq)",
        "f.committed_seq",
    ),
    _Way("believer", "beliefs b", "b.user_id = :believer", "+b.user_id = :believer"),
    _Way("committer", "beliefs b", "b.agent_id = :committer", "+b.agent_id = :committer"),
    _Way(
        "statuses",
        "beliefs b",
        "b.status = :status",
        "+b.status IN (SELECT value FROM json_each(:statuses))",
    ),
    _Way(
        "seq",
        f"({HELD}) h CROSS JOIN beliefs b",
        "b.id = h.belief_id",
        "EXISTS (SELECT 1 FROM belief_spans o WHERE $own(o) AND o.belief_id = b.id"
        " AND o.since_seq <= :seq AND (o.until_seq IS NULL OR o.until_seq > :seq))",
    ),
)
"""One that a question names is the way; all others that it names are checked.

Each but those by ids and by a moment reads an index in the order of commitment, from where the
page begins: it costs what it returns. These two cost what they name.
"""

_EVERYTHING = _Way("", "beliefs b", "TRUE", "TRUE")
_RANGE = {"after": "> :after", "until": "< :until"}

PROBES = (16, 256)
"""Up to so many rows each way is tried, in this order, to find the one with the fewest."""


def narrowest(session: Session, scope: Scope, asked: BeliefQuery, last_seq: int) -> int:
    """Return the place, among the ways that a question names, of the one with the fewest rows.

    What is common among all beliefs may be rare among those that are active, or an agent's: a way
    that is chosen without looking may read the whole past to find nothing. Where each has many,
    it is the first.
    """
    values = _values(asked, last_seq)
    named = [way for way in _WAYS if way.param in values]
    for most in PROBES if len(named) > 1 else ():
        for place, way in enumerate(named):
            if _counted(session, scope, way, values, most) < most:
                return place
    return 0


def question_of(scope: Scope, asked: BeliefQuery, last_seq: int, by: int = 0) -> Query:
    """Return the statement that answers a question.

    Args:
        scope: Who asks.
        asked: What.
        last_seq: The last event of the log.
        by: The place of the way that it takes, among those that the question names.
    """
    values = _values(asked, last_seq)
    named = [way for way in _WAYS if way.param in values]
    way = named.pop(by) if named else _EVERYTHING
    conditions = ["$audited(b)", way.found, *(one.checked for one in named)]
    conditions += [f"{way.place} {_RANGE[name]}" for name in _RANGE if name in values]
    source = f"{way.source} CROSS JOIN topic_sets s ON s.id = b.topic_set"
    arm = f"SELECT b.*, s.topics FROM {source} WHERE " + " AND ".join(conditions)
    arms = [arm]
    if way.param == "statuses":
        # Each status in the order of commitment, and together: a merge, not a sort.
        statuses = list(dict.fromkeys(asked.statuses))
        arms = [arm.replace(":status", f":status{place}") for place in range(len(statuses))]
        values |= {f"status{place}": status for place, status in enumerate(statuses)}
    place = way.place if len(arms) == 1 else "committed_seq"
    sql = " UNION ALL ".join(arms) + f" ORDER BY {place} LIMIT :limit"
    return scoped(sql, scope, carrying=None, **values)


def _counted(
    session: Session, scope: Scope, way: _Way, values: Mapping[str, Value], most: int
) -> int:
    """Return how many beliefs of the page and behind it a way has, ``most`` at the most."""
    found = way.found.replace("= :status", "IN (SELECT value FROM json_each(:statuses))")
    conditions = ["$own(b)", found]
    conditions += [f"{way.place} {_RANGE[name]}" for name in _RANGE if name in values]
    rows = f"SELECT 1 FROM {way.source} WHERE " + " AND ".join(conditions) + " LIMIT :most"
    query = scoped(
        f"SELECT COUNT(*) AS found FROM ({rows})", scope, carrying=None, **values, most=most
    )
    return int(session.all(query)[0]["found"])


def _values(asked: BeliefQuery, last_seq: int) -> dict[str, Value]:
    """Return the parameters of what a question names; what it does not name is not among them."""
    subject, attribute = asked.key or (None, None)
    named: Mapping[str, Value] = {
        "ids": as_json(list(dict.fromkeys(asked.ids))) if asked.ids else None,
        "key_subject": subject,
        "attribute": attribute,
        "subject": asked.subject,
        "filed_under": asked.topic,
        "believer": asked.user_id,
        "committer": asked.agent_id,
        "statuses": as_json(asked.statuses) if asked.statuses else None,
        "until": asked.until_seq,
    }
    values: dict[str, Value] = {name: value for name, value in named.items() if value is not None}
    if asked.active_at is not None:
        values |= stations_of(asked.active_at, max(asked.active_at, last_seq))
    # One bound where there are two: an index is entered at one place.
    after = max(asked.after, (asked.since_seq or 0) - 1)
    return {**values, "after": after, "limit": asked.limit}
