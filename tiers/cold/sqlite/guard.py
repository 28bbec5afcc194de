"""The second lock on the scope's door: what a statement says is checked before SQLite gets it.

The first is ``scope.scoped``, which makes statements; this one reads them, whoever wrote them. Each
table that a statement reads, changes or removes from must be tied to the tenant and, if its rows
belong to a graph, to the graph, by a condition that holds for every row:

* ``t.tenant = :tenant`` and ``t.graph_id = :graph_id``, as a term of ``WHERE`` or ``ON`` that no
  ``OR`` stands beside;
* ``t.graph_id = g.graph_id`` where ``g`` is what the scope lists in ``:family``;
* the same columns of a table that is tied already.

A statement that is meant for a whole tenant, or for the whole store, has to ask for it (``Reach``).
What the guard does not understand, it refuses: an unknown table, a comma between tables, a comment.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from typing import Literal, NoReturn, TypeAlias

from ...errors import TierRejected

Reach: TypeAlias = Literal["graph", "tenant", "store"]
"""How far a statement goes: graphs of one scope, all of one tenant, or everybody's."""

SCOPED_TABLES = frozenset(
    "turns tail coverage summaries episodes consolidation facts fact_uses rules trigger_words "
    "rule_outcomes watermarks belief_events belief_contents belief_mentions beliefs belief_topics "
    "belief_words belief_spans belief_trust belief_heads receipts audit usage searchable "
    "word_totals documents document_revisions passages cards card_recipients "
    "card_reads".split()
)
"""Rows belong to a tenant and a graph."""

TENANT_TABLES = frozenset({"graphs", "agents", "parents"})
"""Rows belong to a tenant: the runtime asks for those of several graphs."""

FREE_TABLES = frozenset({"work", "leases", "topic_sets", "topic_members"})
"""The runtime's own, across tenants, or nobody's."""

WORDS_TABLE = "word_index"
"""Has no owner columns: a row is that of ``searchable`` with its number, and read with it only.

Counting rows takes the ``word_totals`` of the graph beside it instead.
"""

WORDS_PLACES = "word_index_places"
"""The same, read by term: a row for each place where one stands."""

WORDS_LEVELS = "word_index_data"
"""How the word index is laid out: numbers of its own, no words."""

_WORDS_TABLES = frozenset({WORDS_TABLE, WORDS_PLACES})
_TABLES = SCOPED_TABLES | TENANT_TABLES | FREE_TABLES | _WORDS_TABLES | {WORDS_LEVELS}
_INSERTED_WITH_GRAPH = (SCOPED_TABLES | TENANT_TABLES | {"work"}) - {"graphs"}
_INSERTED_WITH_TENANT = _INSERTED_WITH_GRAPH | {"graphs"}
_TELL_WHOSE = frozenset({"searchable", "word_totals"})
"""Tables with which words may be read."""
_WORDS_COMMANDS = frozenset({"optimize", "delete-all"})
"""What the word index may be told about itself as a whole, as FTS5 has it: by inserting it."""

_FUNCTIONS = frozenset({"json_each"})

_TOKEN = re.compile(
    r"\s+|(?P<string>'(?:[^']|'')*')|\"(?P<quoted>\w+)\"|(?P<param>:\w+)|(?P<word>\w+)"
    r"|(?P<refused>--|/\*|[;?@$#`\[\]\"'\\:])|(?P<mark><>|<=|>=|!=|==|\|\||->>|->|.)"
)
_CLAUSES = frozenset("from where group having window order limit set values returning".split())
_JOINERS = frozenset("join cross inner left outer right full natural".split())
_BEFORE_TABLES = frozenset({"from", "join", "into", "update"})
_CLOSED_BY = {"(": ")", "case": "end"}
_COMPOUNDS = frozenset({"union", "intersect", "except"})
_OWNERS = ("tenant", "graph_id")


@dataclass(frozen=True, eq=False)
class _Group:
    """What stands between parentheses, or from ``CASE`` to ``END``."""

    items: list[str | _Group]

    @property
    def is_select(self) -> bool:
        return self.items[:1] in (["select"], ["with"], ["values"])


_Item: TypeAlias = str | _Group


@dataclass
class _Source:
    """One table, or what stands for one, of a FROM clause; ``ties`` are the columns tied so far."""

    name: str
    table: str | None = None
    is_family: bool = False
    ties: set[str] = field(default_factory=set)
    on: Sequence[_Item] = ()
    is_left: bool = False


@dataclass(frozen=True)
class _Arm:
    """One SELECT: what it selects, from what, and what its names mean."""

    listed: list[list[_Item]]
    sources: list[_Source]
    known: Mapping[str, _Source]


@lru_cache(maxsize=2048)
def required_params(sql: str, reach: Reach) -> frozenset[str]:
    """Return the parameters that keep a statement to its scope: they must not be empty.

    Raises:
        TierRejected: It goes further than ``reach``, or cannot be understood.
    """
    return _Reading(sql, reach).params()


def check_params(sql: str, reach: Reach, params: Mapping[str, object]) -> None:
    """Refuse a statement that is not kept to its scope, or whose scope is empty.

    Raises:
        TierRejected: It is one.
    """
    for name in required_params(sql, reach):
        if not isinstance(params.get(name), str) or not params[name]:
            what = "tenant" if name == "tenant" else "graph"
            _refuse(f"a statement without a {what}", sql)


def check_row(table: str, values: Mapping[str, object]) -> None:
    """Refuse a new row that does not say whose it is.

    Raises:
        TierRejected: It does not, or the table is unknown.
    """
    if table not in _TABLES:
        _refuse("an unknown table", table)
    if table in _INSERTED_WITH_TENANT and not _is_name(values.get("tenant")):
        _refuse("a row without a tenant", table)
    if table in _INSERTED_WITH_GRAPH and not _is_name(values.get("graph_id")):
        _refuse("a row without a graph", table)
    is_command = table == WORDS_TABLE and values.get(WORDS_TABLE) in _WORDS_COMMANDS
    if table == WORDS_TABLE and not is_command and not isinstance(values.get("rowid"), int):
        _refuse("words without their record", table)


def _is_name(value: object) -> bool:
    return isinstance(value, str) and value != ""


def _refuse(why: str, what: str) -> NoReturn:
    raise TierRejected("cold", "scope guard", f"{why}: {what}")


class _Reading:
    """Reads one statement; every part of it is looked at, or it is refused."""

    def __init__(self, sql: str, reach: Reach) -> None:
        self._sql = sql
        self._reach = reach
        self._ctes: set[str] = set()
        self._params: set[str] = set()
        self._tables: list[str] = []
        self._reads_words = False
        self._words_are_tied = False

    def params(self) -> frozenset[str]:
        tokens = list(self._tokens())
        self._statement(self._grouped(tokens))
        # Counted a second time, in the plainest way: nothing may have been passed over.
        places = [name for word, name in pairwise(tokens) if word in _BEFORE_TABLES]
        if sorted(name for name in places if name in _TABLES) != sorted(self._tables):
            self._refuse("a table in an unknown place")
        if self._reads_words and not self._words_are_tied:
            self._refuse("words without their record")
        return frozenset(self._params)

    def _refuse(self, why: str) -> NoReturn:
        _refuse(why, self._sql)

    def _tokens(self) -> Iterator[str]:
        for found in _TOKEN.finditer(self._sql):
            if found["refused"]:
                self._refuse(f"a statement with {found['refused']!r} in it")
            if found["word"] or found["quoted"]:
                yield (found["word"] or found["quoted"]).lower()
            elif found["string"] or found["param"] or found["mark"]:
                yield found[0]

    def _grouped(self, tokens: Sequence[str]) -> list[_Item]:
        open_items: list[list[_Item]] = [[]]
        closers: list[str] = []
        for word in tokens:
            if word in _CLOSED_BY:
                open_items.append([])
                closers.append(_CLOSED_BY[word])
            elif word in _CLOSED_BY.values():
                if not closers or closers.pop() != word:
                    self._refuse("a statement with an end too many")
                group = _Group(open_items.pop())
                open_items[-1].append(group)
            else:
                open_items[-1].append(word)
        if closers:
            self._refuse("a statement without an end")
        return open_items[0]

    def _statement(self, items: list[_Item]) -> None:
        items = self._after_ctes(items, {})
        match items[:1]:
            case ["select"]:
                self._select(items, {})
            case ["insert"]:
                self._insert(items)
            case ["update"]:
                clauses = self._clauses(items[1:])
                self._check_settings(clauses.get("set", []))
                self._changed(clauses, clauses.pop("", []))
            case ["delete"]:
                clauses = self._clauses(items)
                self._changed(clauses, clauses.pop("from", []))
            case _:
                self._refuse("a statement of an unknown kind")

    def _after_ctes(self, items: list[_Item], outer: Mapping[str, _Source]) -> list[_Item]:
        """Check the parts that WITH names, and return what follows them."""
        if items[:1] != ["with"]:
            return items
        rest = [item for item in items[1:] if item not in ("recursive", "materialized")]
        bodies: list[_Group] = []
        is_more = True
        while is_more:
            match rest:
                case [str(name), "as", _Group() as body, *rest] if body.is_select:
                    pass
                case [str(name), _Group(), "as", _Group() as body, *rest] if body.is_select:
                    pass
                case _:
                    self._refuse("a WITH that is not understood")
            if name in _TABLES:
                self._refuse("a WITH that is called like a table")
            self._ctes.add(name)
            bodies.append(body)
            is_more = rest[:1] == [","]
            rest = rest[1:] if is_more else rest
        for body in bodies:
            self._select(body.items, outer)
        return rest

    def _select(self, items: list[_Item], outer: Mapping[str, _Source]) -> list[_Arm]:
        """Check a SELECT, compound or not, and return its arms."""
        arms = _split(self._after_ctes(items, outer), _COMPOUNDS)
        return [self._arm(part[part[:1] == ["all"] :], outer) for part in arms]

    def _arm(self, items: Sequence[_Item], outer: Mapping[str, _Source]) -> _Arm:
        if items[:1] not in (["select"], ["values"]):
            self._refuse("a SELECT that is not understood")
        clauses = self._clauses(items)
        listed = clauses.pop("", [])
        sources = self._sources(clauses.pop("from", []), outer)
        known = self._tie(sources, clauses.get("where", []), outer)
        for part in (listed, *clauses.values()):
            self._nested(part, known)
        return _Arm(_split(_selected(listed), {","}), sources, known)

    def _changed(self, clauses: dict[str, list[_Item]], target: Sequence[_Item]) -> None:
        """Check what an UPDATE or DELETE changes, and from what it takes its values."""
        sources = self._sources(target, {}) + self._sources(clauses.pop("from", []), {})
        known = self._tie(sources, clauses.get("where", []), {})
        for part in clauses.values():
            self._nested(part, known)

    def _insert(self, items: Sequence[_Item]) -> None:
        match items:
            case [_, "into", str(table), _Group() as columns, *rest] if table in _TABLES:
                self._tables.append(table)
            case _:
                self._refuse("an INSERT that is not understood")
        conflict = _place_of(rest, "on", "conflict")
        rest, on_conflict = rest[:conflict], rest[conflict:]
        names = [part[0] for part in _split(columns.items, {","}) if part]
        if rest[:1] == ["values"]:
            rows = [part for part in rest[1:] if isinstance(part, _Group)]
            arms = [_Arm(_split(row.items, {","}), [], {}) for row in rows]
            self._nested(rest, {})
        else:
            arms = self._select(rest, {})
        for arm in arms or [_Arm([], [], {})]:
            self._check_inserted(table, dict(zip(names, arm.listed, strict=False)), arm.known)
        settings = self._clauses(on_conflict)
        self._check_settings(settings.get("set", []))
        for part in settings.values():
            self._nested(part, {})

    def _check_inserted(
        self, table: str, values: Mapping[_Item, Sequence[_Item]], known: Mapping[str, _Source]
    ) -> None:
        """Refuse new rows whose owner is neither the scope nor that of a row that is tied."""
        tables = {"tenant": _INSERTED_WITH_TENANT, "graph_id": _INSERTED_WITH_GRAPH}
        for column in _OWNERS:
            if table not in tables[column]:
                continue
            match list(values.get(column, ())):
                case [param] if param == f":{column}":
                    self._params.add(column)
                case [str(name), ".", same] if (
                    same == column and name in known and column in known[name].ties
                ):
                    pass
                case _:
                    self._refuse(f"a row without a {column.removesuffix('_id')}")
        if table == WORDS_TABLE and "rowid" not in values:
            self._refuse("words without their record")

    def _check_settings(self, items: Sequence[_Item]) -> None:
        """Refuse a SET that would give a row to somebody else."""
        for part in _split(items, {","}) if items else ():
            if not part or not isinstance(part[0], str) or part[0] in _OWNERS:
                self._refuse("a change of who owns a row")

    def _clauses(self, items: Sequence[_Item]) -> dict[str, list[_Item]]:
        """Cut a statement into its clauses, by the word that each begins with; ``""`` is first."""
        found: dict[str, list[_Item]] = {"": []}
        name = ""
        for item in items:
            if isinstance(item, str) and item in _CLAUSES:
                if item in found:
                    self._refuse(f"a statement with {item.upper()} twice")
                name = item
                found[name] = []
            else:
                found[name].append(item)
        return found

    def _sources(self, items: Sequence[_Item], outer: Mapping[str, _Source]) -> list[_Source]:
        """Return what a FROM clause names, with the conditions of its joins."""
        found: list[_Source] = []
        rest = list(items)
        is_left = False
        while rest:
            source, rest = self._source(rest, outer)
            source.is_left = is_left
            if rest[:1] == ["on"]:
                end = next((n for n, item in enumerate(rest) if item in _JOINERS), len(rest))
                source.on, rest = rest[1:end], rest[end:]
            found.append(source)
            if rest:
                is_left = rest[0] == "left"
                rest = rest[1:] if rest[0] in ("cross", "inner", "left") else rest
                if rest[:1] != ["join"] or len(rest) == 1:
                    self._refuse("tables that are joined in an unknown way")
                rest = rest[1:]
        if len({source.name for source in found}) != len(found):
            self._refuse("a statement with one name for two tables")
        return found

    def _source(
        self, items: list[_Item], outer: Mapping[str, _Source]
    ) -> tuple[_Source, list[_Item]]:
        """Return the first source of a FROM clause, and what follows it."""
        first, rest = items[0], items[1:]
        if isinstance(first, _Group):
            if not first.is_select:
                self._refuse("tables that are joined in an unknown way")
            arms = self._select(first.items, outer)
            is_family = len(arms) == 1 and [one.is_family for one in arms[0].sources] == [True]
            source = _Source("", is_family=is_family)
        elif rest and isinstance(rest[0], _Group):
            if first not in _FUNCTIONS:
                self._refuse("an unknown table")
            self._nested(rest[0].items, outer)
            source = _Source(first, is_family=rest[0].items == [":family"])
            rest = rest[1:]
        elif first in _TABLES:
            self._tables.append(first)
            self._reads_words |= first in _WORDS_TABLES
            source = _Source(first, table=first)
        elif first in self._ctes:
            source = _Source(first)
        else:
            self._refuse("an unknown table")
        rest = rest[1:] if rest[:1] == ["as"] else rest
        if rest and isinstance(rest[0], str) and rest[0] not in _JOINERS | {"on", ","}:
            source.name, rest = rest[0], rest[1:]
        return source, rest

    def _tie(
        self, sources: Sequence[_Source], where: Sequence[_Item], outer: Mapping[str, _Source]
    ) -> Mapping[str, _Source]:
        """Find the ties of all sources; return what names mean where they are.

        Raises:
            TierRejected: A table is not tied as far as the reach asks for.
        """
        known = {**outer, **{source.name: source for source in sources}}
        for source in sources:
            self._nested(source.on, known)
        everywhere = [*_terms(where)]
        for source in sources:
            everywhere += () if source.is_left else _terms(source.on)
        count = -1
        while count != (count := sum(len(source.ties) for source in sources)):
            for source in sources:
                for term in (*everywhere, *(_terms(source.on) if source.is_left else ())):
                    self._tie_one(source, term, known, is_sole=len(sources) == 1)
        for source in sources:
            self._check_tied(source)
        return known

    def _tie_one(
        self,
        source: _Source,
        term: Sequence[_Item],
        known: Mapping[str, _Source],
        *,
        is_sole: bool,
    ) -> None:
        """Note what a term of a condition ties of a source."""
        match [item for item in term if item != "+"]:
            case [str(column), "=", value] if is_sole and source.name == source.table:
                pass
            case [str(name), ".", str(column), "=", value] if name == source.name:
                pass
            case [str(one), ".", str(column), "=", str(other), ".", same] if column == same:
                for name, tied in ((one, other), (other, one)):
                    if name == source.name and tied in known:
                        self._tie_to(source, column, known[tied])
                return
            case _:
                return
        if column in _OWNERS and value == f":{column}":
            source.ties.add(column)
            self._params.add(column)

    def _tie_to(self, source: _Source, column: str, other: _Source) -> None:
        if other.is_family and column == "graph_id":
            source.ties.add(column)
            self._params.add("family")
        elif other is not source and column in other.ties:
            source.ties.add(column)

    def _check_tied(self, source: _Source) -> None:
        table = source.table
        if table in _TELL_WHOSE and source.ties.issuperset(_OWNERS):
            self._words_are_tied = True
        if self._reach == "store":
            self._words_are_tied = True
            return
        if table in SCOPED_TABLES | TENANT_TABLES and "tenant" not in source.ties:
            self._refuse("a statement without a tenant")
        if table in SCOPED_TABLES and "graph_id" not in source.ties and self._reach == "graph":
            self._refuse("a statement without a graph")

    def _nested(self, items: Sequence[_Item], known: Mapping[str, _Source]) -> None:
        """Check every SELECT inside of parentheses, however deep."""
        for item in items:
            if isinstance(item, _Group):
                if item.is_select:
                    self._select(item.items, known)
                else:
                    self._nested(item.items, known)


def _selected(listed: Sequence[_Item]) -> Sequence[_Item]:
    """Return what stands after SELECT, DISTINCT aside."""
    return [item for item in listed if item not in ("select", "distinct")]


def _terms(condition: Sequence[_Item]) -> list[list[_Item]]:
    """Return the terms that all must hold; none where an OR makes each of them optional.

    The AND of a BETWEEN separates no terms, so a condition with one has none either.
    """
    return [] if "or" in condition or "between" in condition else _split(condition, {"and"})


def _split(items: Sequence[_Item], separators: frozenset[str] | set[str]) -> list[list[_Item]]:
    parts: list[list[_Item]] = [[]]
    for item in items:
        if isinstance(item, str) and item in separators:
            parts.append([])
        else:
            parts[-1].append(item)
    return parts


def _place_of(items: Sequence[_Item], *words: str) -> int:
    """Return where words follow each other, or the length if they do not."""
    for place in range(len(items)):
        if tuple(items[place : place + len(words)]) == words:
            return place
    return len(items)
