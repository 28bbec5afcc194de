"""The second lock on the SQLite store's door: what it lets through, and what not."""

# ruff: noqa: S608 - statements that are to be refused, made of constants

from __future__ import annotations

import re
import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from support.cold_backends import raw_sqlite
from support.cold_samples import HOSTILE_NAMES, SCOPE, heir_of
from support.cold_statements import statements

from tiers.cold.sqlite.database import Database, Query, Session
from tiers.cold.sqlite.guard import (
    FREE_TABLES,
    SCOPED_TABLES,
    TENANT_TABLES,
    WORDS_TABLE,
    required_params,
)
from tiers.cold.sqlite.schema import migrate
from tiers.cold.sqlite.scope import scoped
from tiers.cold.sqlite.store import DATABASE_NAME
from tiers.errors import TierRejected

STATEMENTS = statements()
HEIR = heir_of("parent").model_copy(update={"denied": ("weather",)})
OWNER: dict[str, Any] = {"tenant": "acme", "graph_id": "race", "family": '[["race",null,1]]'}

OF_A_TENANT = {
    "arrival._AT_POSITION",
    "log._FIND",
    "log._LAST_POSITION",
    "upkeep._PAGE",
    "upkeep._COUNT",
}
"""Statements that go over all graphs of a tenant, and have to ask for it."""

OF_A_TENANTS_GRAPHS = {"fleet._SILENT"} | {
    f"graphs._{name}"
    for name in ("BY_ID", "OLDEST_FIRST", "KNOWN", "LINKS_ABOVE", "MOVE", "CONFIGURE")
}
"""Statements about graphs and members, which belong to a tenant."""

OF_THE_RUNTIME = {"leases", "queue", "upkeep", "word_renewal"}
"""Modules with statements that touch no scoped table."""


@pytest.fixture(scope="module")
def session() -> Iterator[Session]:
    """An empty database in memory."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        connection.row_factory = sqlite3.Row
        migrate(connection)
        yield Session(connection)


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    """An open database."""
    async with Database(tmp_path / DATABASE_NAME, migrate) as opened:
        yield opened


@pytest.mark.parametrize("name", STATEMENTS)
def test_statements_of_the_stores_are_kept_to_their_scope(name: str) -> None:
    """Each needs its tenant and its graph, but for those that are listed above."""
    query = scoped(STATEMENTS[name], HEIR)
    if name in OF_A_TENANT:
        with pytest.raises(TierRejected, match="without a graph"):
            required_params(query.sql, "graph")
        assert required_params(query.sql, "tenant") == {"tenant"}
    elif name in OF_A_TENANTS_GRAPHS:
        assert required_params(query.sql, "graph") == {"tenant"}
    elif name.partition(".")[0] in OF_THE_RUNTIME:
        assert required_params(query.sql, "graph") <= {"tenant", "graph_id"}
    else:
        assert required_params(query.sql, "graph") >= {"tenant"}
        assert required_params(query.sql, "graph") & {"graph_id", "family"}


TIED = "t.tenant = :tenant AND t.graph_id = :graph_id"
ADDED = "INSERT INTO tail (tenant, graph_id) VALUES (:tenant, :graph_id)"
FAMILY = "(SELECT value ->> 0 AS graph_id FROM json_each(:family))"
OF_FAMILY = "f.tenant = :tenant AND f.graph_id = g.graph_id"
LINKED = "w.tenant = t.tenant AND t.graph_id = w.graph_id"


@pytest.mark.parametrize(
    ("statement", "why"),
    [
        ("SELECT * FROM turns", "tenant"),
        ("SELECT * FROM facts f WHERE f.graph_id = :graph_id", "tenant"),
        ("SELECT * FROM facts f WHERE f.tenant = :tenant", "graph"),
        ("SELECT * FROM usage u WHERE u.tenant = :tenant AND u.agent_id = 'a'", "graph"),
        ("SELECT * FROM turns WHERE tenant = 'acme' AND graph_id = 'race'", "tenant"),
        ("SELECT * FROM turns t WHERE t.tenant <> :tenant AND t.graph_id = :graph_id", "tenant"),
        ("SELECT * FROM turns t WHERE t.tenant = :graph_id AND t.graph_id = :tenant", "tenant"),
        ("SELECT * FROM turns t WHERE t.tenant = :tenant OR t.graph_id = :graph_id", "tenant"),
        (f"SELECT * FROM turns t WHERE {TIED} OR TRUE", "tenant"),
        (f"SELECT * FROM turns t WHERE ({TIED}) OR TRUE", "tenant"),
        (f"SELECT * FROM turns t WHERE NOT {TIED}", "tenant"),
        (f"SELECT * FROM turns t WHERE ({TIED}) IS NOT 7", "tenant"),
        (f"SELECT * FROM turns t WHERE t.seq BETWEEN 0 AND {TIED}", "tenant"),
        (f"SELECT * FROM turns t WHERE CASE WHEN 1 AND {TIED} AND 1 THEN 1 ELSE 1 END", "tenant"),
        ("SELECT * FROM turns t WHERE t.tenant = :tenant COLLATE NOCASE", "tenant"),
        ("SELECT * FROM turns t WHERE 't.tenant = :tenant' AND t.graph_id = :graph_id", "tenant"),
        (f"SELECT * FROM turns t JOIN facts f ON f.id = t.id WHERE {TIED}", "tenant"),
        (f"SELECT * FROM turns t JOIN facts f ON f.tenant = t.tenant WHERE {TIED}", "graph"),
        (f"SELECT * FROM turns t LEFT JOIN facts f ON {TIED}", "tenant"),
        (f"SELECT (SELECT MAX(f.uses) FROM facts f) FROM turns t WHERE {TIED}", "tenant"),
        (f"SELECT * FROM turns t WHERE {TIED} AND EXISTS (SELECT 1 FROM rules)", "tenant"),
        (f"SELECT * FROM turns t WHERE {TIED} UNION SELECT * FROM turns t", "tenant"),
        ("WITH x AS (SELECT * FROM turns) SELECT * FROM x", "tenant"),
        ("WITH turns AS (SELECT 1) SELECT * FROM turns", "WITH"),
        ("SELECT * FROM (SELECT * FROM turns) t WHERE t.tenant = :tenant", "tenant"),
        ("SELECT * FROM (SELECT 1 AS tenant) f JOIN turns t ON t.tenant = f.tenant", "tenant"),
        (f"SELECT * FROM turns t, facts f WHERE {TIED}", "joined"),
        (f"SELECT * FROM turns t NATURAL JOIN facts WHERE {TIED}", "joined"),
        (f"SELECT * FROM main.turns t WHERE {TIED}", "unknown table"),
        (f'SELECT * FROM "turns" u JOIN turns t ON TRUE WHERE {TIED}', "tenant"),
        (f"SELECT * FROM turns t JOIN turns t ON TRUE WHERE {TIED}", "one name"),
        (f"SELECT * FROM turns t -- WHERE {TIED}", "'--'"),
        (f"SELECT * FROM turns t /* WHERE {TIED} */", "'/\\*'"),
        (f"SELECT * FROM turns t WHERE {TIED}; DELETE FROM turns", "';'"),
        ("SELECT * FROM turns t WHERE t.tenant = ? AND t.graph_id = ?", "'\\?'"),
        ("SELECT * FROM turns t WHERE $own(t)", "'\\$'"),
        ("SELECT * FROM sqlite_schema", "unknown table"),
        ("SELECT * FROM word_index_docsize", "unknown table"),
        ("SELECT * FROM pragma_table_info('turns')", "unknown table"),
        ("SELECT * FROM secrets s WHERE s.tenant = :tenant", "unknown table"),
        ("SELECT rowid FROM word_index WHERE word_index MATCH 'tyres'", "words"),
        ("SELECT doc FROM word_index_places WHERE term = 'tyres'", "words"),
        ("SELECT * FROM graphs", "tenant"),
        ("SELECT * FROM parents p WHERE p.graph_id = :graph_id", "tenant"),
        ("SELECT 1 FROM agents a JOIN  beliefs b ON b.agent_id = a.id", "tenant"),
        ("UPDATE facts SET tier = 'core'", "tenant"),
        ("UPDATE facts SET tier = 'core' WHERE tenant = :tenant", "graph"),
        (f"UPDATE facts AS t SET graph_id = 'theirs' WHERE {TIED}", "owns"),
        (f"UPDATE facts AS t SET (tenant, tier) = ('acm', 'core') WHERE {TIED}", "owns"),
        (f"UPDATE facts AS t SET text = r.text FROM summaries r WHERE {TIED}", "tenant"),
        (f"UPDATE OR REPLACE facts AS t SET tier = 'core' WHERE {TIED}", "unknown table"),
        ("DELETE FROM tail", "tenant"),
        ("DELETE FROM tail WHERE tenant = :tenant AND seq = 1", "graph"),
        ("INSERT INTO coverage SELECT 'x' FROM json_each('[1]')", "INSERT"),
        ("INSERT INTO tail (tenant, graph_id, seq) VALUES ('acm', :graph_id, 1)", "tenant"),
        ("INSERT INTO tail (tenant, graph_id, seq) VALUES (:tenant, 'x', 1)", "graph"),
        ("INSERT INTO tail (tenant, seq) VALUES (:tenant, 1)", "graph"),
        ("INSERT INTO word_index (words) VALUES ('tyres')", "words"),
        ("INSERT INTO work (tenant, key) VALUES (:tenant, 'k')", "graph"),
        (f"{ADDED} ON CONFLICT DO UPDATE SET tenant = 'acm'", "owns"),
        (f"INSERT INTO tail (tenant, graph_id) SELECT t.id, t.id FROM turns t WHERE {TIED}", "ten"),
        ("INSERT OR REPLACE INTO turns (tenant, graph_id) VALUES (:tenant, :graph_id)", "INSERT"),
        ("REPLACE INTO turns (tenant, graph_id) VALUES (:tenant, :graph_id)", "unknown kind"),
        ("PRAGMA user_version", "unknown kind"),
        ("PRAGMA secure_delete = ON; DROP TABLE turns", "';'"),
        ("DROP TABLE turns", "unknown kind"),
        ("ATTACH 'x' AS other", "unknown kind"),
        ("", "unknown kind"),
    ],
)
def test_statement_that_is_not_kept_to_its_scope_is_refused(
    session: Session, statement: str, why: str
) -> None:
    """Whoever writes it finds nothing instead of everything, and changes nothing."""
    for attempt in (session.run, session.all, session.one):
        with pytest.raises(TierRejected, match=f"scope guard: .*{why}.*:"):
            attempt(Query(statement, OWNER))


@pytest.mark.parametrize(
    "statement",
    [
        f"SELECT * FROM turns t WHERE {TIED}",
        "select * from TURNS as T where +T.Tenant = :tenant and t.graph_id = :graph_id",
        "SELECT * FROM turns WHERE tenant = :tenant AND graph_id = :graph_id AND (seq = 1 OR TRUE)",
        f"SELECT * FROM turns t JOIN tail w ON {LINKED} WHERE {TIED}",
        f"SELECT (SELECT 1 FROM tail w WHERE {LINKED}) FROM turns t WHERE {TIED}",
        f"SELECT 1 FROM {FAMILY} g CROSS JOIN facts f ON {OF_FAMILY}",
        f"DELETE FROM turns AS t WHERE {TIED} RETURNING id",
        "UPDATE agents SET seen_at = 1 WHERE tenant = :tenant",
        "SELECT * FROM work WHERE parked = 1",
        f"SELECT 1 FROM word_index_places w JOIN searchable t ON t.row = w.doc WHERE {TIED}",
        f"SELECT (SELECT COUNT(*) FROM word_index) FROM word_totals t WHERE {TIED}",
    ],
)
def test_statement_that_is_kept_to_its_scope_is_carried_out(
    session: Session, statement: str
) -> None:
    """The guard is not in the way of what is in order."""
    assert session.all(Query(statement, OWNER)) == []


@pytest.mark.parametrize("missing", ["tenant", "graph_id", "family"])
@pytest.mark.parametrize("value", [None, "", 0, ...], ids=str)
def test_statement_with_an_empty_owner_is_refused(
    session: Session, missing: str, value: object
) -> None:
    """A predicate that compares with nothing is no predicate."""
    statement = {
        "tenant": f"SELECT * FROM turns t WHERE {TIED}",
        "graph_id": f"SELECT * FROM turns t WHERE {TIED}",
        "family": f"SELECT 1 FROM json_each(:family) g CROSS JOIN facts f ON {OF_FAMILY}",
    }[missing]
    params = {name: known for name, known in OWNER.items() if name != missing}
    if value is not ...:
        params[missing] = value
    with pytest.raises(TierRejected, match="without a"):
        session.all(Query(statement, params))


@pytest.mark.parametrize(
    ("table", "values"),
    [
        ("turns", {"graph_id": "race"}),
        ("turns", {"tenant": "", "graph_id": "race"}),
        ("turns", {"tenant": "acme"}),
        ("usage", {"tenant": "acme", "graph_id": None}),
        ("work", {"tenant": "acme"}),
        ("agents", {"tenant": "acme"}),
        ("graphs", {"id": "race"}),
        ("word_index", {"words": "tyres"}),
        ("word_index", {"word_index": "rebuild"}),
        ("secrets", {"tenant": "acme", "graph_id": "race"}),
    ],
)
def test_row_without_an_owner_is_refused(
    session: Session, table: str, values: dict[str, Any]
) -> None:
    """Alone, and as the second of two of which the first is in order."""
    with pytest.raises(TierRejected, match="scope guard"):
        session.insert(table, values)
    with pytest.raises(TierRejected, match="scope guard"):
        session.insert_all(table, [{"rowid": 1, **OWNER}, values])


def test_a_further_reach_is_asked_for_and_bounded(session: Session) -> None:
    """A whole tenant still needs its tenant; only the whole store needs nothing."""
    of_a_tenant = "SELECT * FROM turns t WHERE t.tenant = :tenant"
    assert session.all(Query(of_a_tenant, OWNER, reach="tenant")) == []
    for sql, params in ((of_a_tenant, {}), ("SELECT * FROM turns", OWNER)):
        with pytest.raises(TierRejected, match="without a tenant"):
            session.all(Query(sql, params, reach="tenant"))
    assert session.all(Query("SELECT DISTINCT tenant FROM graphs", {}, reach="store")) == []
    with pytest.raises(TierRejected, match="unknown table"):
        session.all(Query("SELECT * FROM sqlite_schema", {}, reach="store"))


@pytest.mark.parametrize("name", HOSTILE_NAMES)
def test_names_are_values_and_never_part_of_a_statement(session: Session, name: str) -> None:
    """Whatever a scope holds, the statement is the same."""
    scope = HEIR.model_copy(update={"tenant": name, "graph_id": name, "user_id": name})
    for template in STATEMENTS.values():
        assert scoped(template, scope).sql == scoped(template, HEIR).sql


def test_scope_is_not_replaced_by_a_parameter() -> None:
    """A statement cannot bring a tenant, graph, user or topics of its own."""
    for name in ("tenant", "graph_id", "agent_id", "asking_user", "topics", "denied"):
        with pytest.raises(TierRejected, match="scope guard"):
            scoped("SELECT 1", SCOPE, **{name: "x"})
    with pytest.raises(TierRejected, match="scope guard"):
        scoped("SELECT 1 FROM $family g", SCOPE, family="[]")


async def test_guard_knows_every_table(database: Database, tmp_path: Path) -> None:
    """A table that is added to the schema is refused until the guard is told what it is."""
    with closing(raw_sqlite(tmp_path)) as connection:
        columns = {
            row["name"]: {column["name"] for column in _columns(connection, row["name"])}
            for row in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")
            if re.match("sqlite_|word_index", row["name"]) is None
        }
    owned = {table for table, names in columns.items() if {"tenant", "graph_id"} <= names}
    assert owned - {"agents", "parents", "work"} == SCOPED_TABLES
    assert {"graphs", "agents", "parents"} == TENANT_TABLES
    known = SCOPED_TABLES | TENANT_TABLES | FREE_TABLES
    assert set(columns) == known
    assert WORDS_TABLE not in known


def _columns(connection: sqlite3.Connection, table: str) -> list[sqlite3.Row]:
    return connection.execute("SELECT name FROM pragma_table_info(?)", (table,)).fetchall()
