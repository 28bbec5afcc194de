"""That no question about beliefs in SQLite costs more than its answer: what the engine reads."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import pytest
from support.cold_samples import OPERATOR, SCOPE
from support.cold_statements import statements

from tiers.cold.sqlite.belief_query import question_of
from tiers.cold.sqlite.belief_spans import stations_of
from tiers.cold.sqlite.database import Query
from tiers.cold.sqlite.guard import required_params
from tiers.cold.sqlite.schema import migrate
from tiers.cold.sqlite.scope import scoped
from tiers.records import BeliefQuery

_PARAM = re.compile(r":(\w+)")
DENIED = SCOPE.model_copy(update={"denied": ("weather",), "user_id": "ann"})
ASKERS = (OPERATOR, SCOPE, DENIED)
STATEMENTS = statements()
OF_THE_LOG = {
    "belief_history._EVENTS": "SEARCH e USING PRIMARY KEY (tenant=? AND graph_id=? AND seq>?)",
    "belief_history._LAST_BY_TIME": "belief_events_by_time (tenant=? AND graph_id=? AND recorded_",
    "belief_history._LAST_BY_TURN": "belief_events_by_turn (tenant=? AND graph_id=? AND turn<?)",
    "belief_history._NAMING": "belief_events_by_belief (tenant=? AND graph_id=? AND belief_id=?",
    "belief_words._BEST": "belief_words_by_belief (tenant=? AND graph_id=? AND committed_seq=? AND",
    "belief_words._FORGET": "belief_words_by_belief (tenant=? AND graph_id=? AND committed_seq=?)",
    "belief_words._NEWEST": "beliefs_in_order (tenant=? AND graph_id=? AND committed_seq=?)",
    "beliefs._ACTIVE": "SEARCH b USING INDEX beliefs_active (tenant=? AND graph_id=?)",
    "beliefs._RIVAL": "SEARCH b USING INDEX beliefs_one_per_key (tenant=? AND graph_id=? AND key_",
    "beliefs._REPLACED": "beliefs_by_successor (tenant=? AND graph_id=? AND superseded_by=?)",
    "beliefs._OPEN": "SEARCH o USING INDEX belief_spans_open (tenant=? AND graph_id=? AND since_",
    "beliefs._KEPT": "SEARCH b USING INDEX sqlite_autoindex_beliefs_1 (tenant=? AND graph_id=? AND",
}
"""Where one index is as good as no other, and another would read the whole log."""

UNSORTED: set[str] = {
    "belief_history._EVENTS",
    "belief_history._LOGGED",
    "belief_history._LAST_SEQ",
    "belief_history._LAST_BY_TIME",
    "belief_history._LAST_BY_TURN",
    "belief_history._PROJECTED",
    "belief_projection._LAST_EVENT",
    "belief_words._NEWEST",
    "beliefs._ACTIVE",
}
"""Questions for one row or one page of many: what has to be sorted has to be read whole."""


@pytest.fixture(scope="module")
def plan_of() -> Iterator[Callable[[Query], list[str]]]:
    """Says how the engine answers a statement, step by step; it has no statistics to go by."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        migrate(connection)

        def plan(query: Query) -> list[str]:
            named = dict.fromkeys(_PARAM.findall(query.sql))
            rows = connection.execute(
                f"EXPLAIN QUERY PLAN {query.sql}", named | dict(query.params)
            ).fetchall()
            return [row[3] for row in rows]

        yield plan


def _assert_looked_up(plan: list[str]) -> None:
    """Each step looks into an index; only lists that came with the question are gone through."""
    tables = [step for step in plan if step.startswith("SCAN") and "VIRTUAL TABLE" not in step]
    assert [step for step in tables if step not in ("SCAN n", "SCAN w", "SCAN h")] == [], plan
    assert not any("AUTOMATIC" in step for step in plan), plan


@pytest.mark.parametrize("name", sorted(UNSORTED | OF_THE_LOG.keys()))
def test_statements_look_into_the_one_index_that_knows(plan_of: Any, name: str) -> None:
    """And read in its order where they are asked for one row, or for a page."""
    for scope in ASKERS:
        plan = plan_of(scoped(STATEMENTS[name], scope))
        _assert_looked_up(plan)
        assert any(OF_THE_LOG.get(name, "") in step for step in plan), plan
        assert name not in UNSORTED or not any("B-TREE" in step for step in plan), plan


@pytest.mark.parametrize(
    ("fields", "index", "sorts"),
    [
        ({}, "beliefs_in_order (tenant=? AND graph_id=? AND committed_seq>?)", False),
        ({"ids": ("a", "b")}, "autoindex_beliefs_1 (tenant=? AND graph_id=? AND id=?)", True),
        ({"topic": "t"}, "graph_id=? AND topic=? AND committed_seq>?", False),
        ({"topic": "t"}, "beliefs_in_order (tenant=? AND graph_id=? AND committed_seq=?)", False),
        ({"agent_id": "a"}, "beliefs_by_agent (tenant=? AND graph_id=? AND agent_id=?", False),
        ({"user_id": "a"}, "beliefs_by_user (tenant=? AND graph_id=? AND user_id=?", False),
        ({"subject": "s"}, "beliefs_by_subject (tenant=? AND graph_id=? AND key_subj", False),
        ({"key": ("s", "a")}, "beliefs_by_key (tenant=? AND graph_id=? AND key_subject=?", False),
        ({"statuses": ("active",)}, "beliefs_by_status (tenant=? AND graph_id=? AND sta", False),
        ({"statuses": ("active", "reverted", "redacted")}, "beliefs_by_status (tenan", False),
        ({"since_seq": 3, "until_seq": 7, "after": 4}, "AND committed_seq<?)", False),
        ({"active_at": 4}, "belief_spans_open (tenant=? AND graph_id=? AND since_seq<?)", True),
        ({"active_at": 4}, "_from (tenant=? AND graph_id=? AND node=? AND since_seq<?)", True),
        ({"active_at": 4}, "_until (tenant=? AND graph_id=? AND node=? AND until_seq>?)", True),
        ({"topic": "t", "active_at": 4, "statuses": ("active",)}, "AND topic=? AND com", False),
        ({"agent_id": "a", "user_id": "a", "topic": "t"}, "AND topic=? AND committed_seq>?", False),
        ({"key": ("s", "a"), "subject": "s", "agent_id": "a"}, "beliefs_by_key", False),
    ],
    ids=str,
)
def test_every_filter_is_looked_up(
    plan_of: Any, fields: dict[str, Any], index: str, sorts: Any
) -> None:
    """A page is read in the order of commitment from where it begins, whatever is asked for."""
    for scope in ASKERS:
        query = question_of(scope, BeliefQuery(**fields), 1000)
        assert required_params(query.sql, "graph") >= {"tenant", "graph_id"}
        plan = plan_of(query)
        _assert_looked_up(plan)
        assert any(index in step for step in plan), plan
        assert sorts or not any("B-TREE" in step for step in plan), plan


def test_a_moment_is_one_statement_over_its_stations(plan_of: Any) -> None:
    """Open spans by where they begin, closed ones by node and end; beliefs by their id."""
    stations = stations_of(500, 1000)
    query = scoped(STATEMENTS["belief_history._AS_OF"], OPERATOR, carrying=None, **stations)
    plan = plan_of(query)
    found = [step.partition(" (")[0].rpartition(" ")[2] for step in plan if "INDEX " in step]
    for index in ("belief_spans_open", "belief_spans_from", "belief_spans_until"):
        assert found.count(index) == 1, plan
    assert "sqlite_autoindex_beliefs_1" in found
