"""Collections as tables, and questions as statements whose text does not change from call to call.

Values are always parameters; the constants of an index stand in the text, without which a partial
index cannot be used. Lists of values are padded, so that few texts serve all lengths.
"""

# ruff: noqa: S608 - statements are made of declared names only; values are always parameters

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

from ...errors import TierRejected
from ..conditions import (
    Absent,
    Among,
    Beyond,
    Condition,
    During,
    Either,
    Holds,
    Is,
    Lacks,
    Other,
    Present,
    Topics,
    Within,
    direction,
)
from ..port import OWNERS, RECORDED, TOPICS, Collection, Count, Find, Postings
from ..sight import reached

PADDED = (1, 2, 4, 16, 64)
"""Lists of values are padded to these lengths; longer ones are one JSON parameter."""

FEW_SETS = 16
"""Up to so many sets of topics are named one by one, which an index can follow."""

_TOPICS = f'(SELECT s.topics FROM topic_sets s WHERE s.id = t.topic_set) AS "{TOPICS}"'

Parameter: TypeAlias = str | bytes | int | float | None
Sight: TypeAlias = Callable[[Topics], bytes]


class Statement(NamedTuple):
    """A text and its parameters, in order."""

    text: str
    values: list[Parameter]


def schema(collection: Collection[Any]) -> Iterator[str]:
    """Yield the statements that make a collection's table, indexes, look-ups and triggers."""
    name, owners = collection.name, OWNERS[collection.extent]
    topics = ("topic_set INTEGER NOT NULL",) if collection.owned else ()
    stretches = [f'"{one}" TEXT NOT NULL' for one in collection.stretches]
    listed = ", ".join([*(f'"{one}"' for one in collection.names), *topics, *stretches])
    yield f"CREATE TABLE {name} (row INTEGER PRIMARY KEY, {listed}, body TEXT NOT NULL)"
    yield f"CREATE UNIQUE INDEX {name}__id ON {name} ({_names((*owners, 'id'))})"
    for short, index in collection.indexes.items():
        fields = _names((*OWNERS[index.of or collection.extent], *index.fields))
        unique = "UNIQUE " if index.unique else ""
        where = " AND ".join(_constant(condition) for condition in index.where)
        partial = f" WHERE {where}" if where else ""
        yield f"CREATE {unique}INDEX {name}__{short} ON {name} ({fields}){partial}"
    for short, lookup in collection.lists.items():
        order = lookup.order
        key = _names((*owners, "value", *order, "row"))
        fields = ", ".join(("row INTEGER", "value TEXT", _names((*owners, *order, "times"))))
        side = f"{name}__{short}"
        yield f"CREATE TABLE {side} ({fields}, PRIMARY KEY ({key})) WITHOUT ROWID"
        if lookup.sought:
            yield f"CREATE INDEX {side}__row ON {side} (row, value)"
    yield from _triggers(collection)


def _triggers(collection: Collection[Any]) -> Iterator[str]:
    """Yield what keeps records as they are, for whoever else opens the file too."""
    name = collection.name
    if not (collection.append_only or collection.write_once):
        return
    refused = f"BEGIN SELECT RAISE(ABORT, '{name} is never changed'); END"
    yield f"CREATE TRIGGER {name}__no_update BEFORE UPDATE ON {name} {refused}"
    # INSERT OR REPLACE deletes without asking a trigger on deletion.
    taken = " OR ".join(_taken(collection))
    yield f"CREATE TRIGGER {name}__no_replace BEFORE INSERT ON {name} WHEN {taken} {refused}"
    if collection.append_only:
        kept = f"BEGIN SELECT RAISE(ABORT, '{name} is only appended to'); END"
        yield f"CREATE TRIGGER {name}__no_delete BEFORE DELETE ON {name} {kept}"


def _taken(collection: Collection[Any]) -> Iterator[str]:
    """Yield when a new record would take the place of another, by each of its unique keys."""
    owners = OWNERS[collection.extent]
    keys: list[tuple[tuple[str, ...], tuple[Condition, ...]]] = [(("row",), ())]
    keys.append(((*owners, "id"), ()))
    keys += [
        ((*OWNERS[index.of or collection.extent], *index.fields), index.where)
        for index in collection.indexes.values()
        if index.unique
    ]
    for names, where in keys:
        held = [f't."{one}" = NEW."{one}"' for one in names]
        held += [_constant(one, prefix) for one in where for prefix in ("t.", "NEW.")]
        yield f"EXISTS (SELECT 1 FROM {collection.name} t WHERE {' AND '.join(held)})"


def postings(request: Postings[Any], sight: Sight) -> Statement:
    """Return the statement that tells who has the values of a list, and how often."""
    if request.every:
        return _all_postings(request, sight)
    fields = "".join(f', t."{name}"' for name in request.of)
    return found(request.found, sight, f"m.value, m.times{fields}", each=True)


def _all_postings(request: Postings[Any], sight: Sight) -> Statement:
    """Return the statement that tells every value of a list, of what an index finds.

    What the list is ordered by stands in it too, and is read there.
    """
    collection, side = request.found.collection, f"{request.found.collection.name}__{request.every}"
    order = collection.lists[request.every].order
    fields = "".join(f', {"m" if name in order else "t"}."{name}"' for name in request.of)
    tied = " AND ".join(f"m.{name} = t.{name}" for name in ("row", *OWNERS[collection.extent]))
    joined = f" CROSS JOIN {side} m INDEXED BY {side}__row ON {tied}"
    return found(request.found, sight, f"m.value, m.times{fields}", joined=joined)


def counted(request: Count[Any], sight: Sight) -> Statement:
    """Return the statement that counts, for each combination of fields."""
    fields = [_TOPICS if name == TOPICS else f't."{name}"' for name in request.of]
    text, values = found(request.found, sight, ", ".join([*fields, "1"]))
    names = "".join(f'"{name}", ' for name in request.of)
    group = f" GROUP BY {names[:-2]}" if names else ""
    return Statement(f"SELECT {names}COUNT(*) FROM ({text}){group}", values)


def found(
    find: Find[Any],
    sight: Sight,
    wanted: str = "t.body",
    *,
    each: bool = False,
    joined: str = "",
) -> Statement:
    """Return the statement that answers a question.

    Args:
        find: The question.
        sight: Which sets of topics a condition admits, a byte per set.
        wanted: What is selected.
        each: Whether who has several values of a list is found for each of them.
        joined: What is read beside what an index finds.

    Raises:
        TierRejected: The index that it names is none of the collection's.
    """
    values: list[Parameter] = []
    rendering = _Rendering(find, sight, values, each=each, reads="t." in wanted)
    source, order = rendering.source(), rendering.order()
    where = rendering.where()
    values += [find.limit, find.skip]
    text = f"SELECT {wanted} FROM {source}{joined} WHERE {where}{order} LIMIT ? OFFSET ?"
    return Statement(text, values)


class _Rendering:
    def __init__(
        self,
        find: Find[Any],
        sight: Sight,
        values: list[Parameter],
        *,
        each: bool,
        reads: bool,
    ) -> None:
        self._find = find
        self._each = each
        self._reads = reads
        self._tie = ""
        self._sight = sight
        self._values = values
        self._name = find.collection.name
        self._index = find.collection.indexes.get(find.by)
        self._lookup = find.collection.lists.get(find.by)
        self._listed: tuple[str, ...] = ()
        if self._index is None and self._lookup is None and find.by != "id":
            raise TierRejected("cold", "find", f"{self._name} has no index {find.by!r}")

    def source(self) -> str:
        """Return what is read: the table by its index, or by a list that goes first."""
        if self._lookup is None:
            return f"{self._name} t INDEXED BY {self._name}__{self._find.by}"
        side = f"{self._name}__{self._find.by}"
        for condition in self._find.where:
            if isinstance(condition, Holds) and self._is_listed(condition):
                self._listed = condition.values
                break
        else:
            raise TierRejected("cold", "find", f"{self._name} by {self._find.by!r} without a value")
        owners = OWNERS[self._find.collection.extent]
        for owner in owners:
            own = self._find.graph_id if owner == "graph_id" else None
            self._values.append(own or getattr(self._find.scope, owner))
        tied = [*(f"m.{owner} = ?" for owner in owners), self._among("m.value", self._listed)]
        held, joined = " AND ".join(tied), f"CROSS JOIN {self._name} t ON t.row = m.row"
        if self._is_told_by_list:
            self._tie = held
            return f"{side} m NOT INDEXED"
        if self._is_read_in_order:
            return f"{side} m NOT INDEXED {joined} AND {held}"
        return f"(SELECT DISTINCT m.row FROM {side} m NOT INDEXED WHERE {held}) m {joined}"

    def order(self) -> str:
        """Return the clause that orders the answer."""
        if not self._find.order:
            return ""
        steps = []
        for step in self._find.order:
            name, falls = direction(step)
            steps.append(f"{self._column(name)}{' DESC' if falls else ''}")
        return f" ORDER BY {', '.join(steps)}"

    def _column(self, field: str) -> str:
        """Return a field; of a list that has it in its order, by which it is then looked up."""
        in_order = self._lookup is not None and self._is_read_in_order
        if field == RECORDED:
            return "m.row" if in_order else "t.row"
        order = self._lookup.order if self._lookup and in_order else ()
        return f'{"m" if field in order else "t"}."{field}"'

    @property
    def _is_read_in_order(self) -> bool:
        """Whether what a list has for a value is read as it stands there."""
        return self._each or len(self._listed) == 1

    @property
    def _is_told_by_list(self) -> bool:
        """Whether a list tells all that is asked: who has one value, in the whole graph."""
        find = self._find
        others = [one for one in find.where if not self._is_listed(one)]
        is_whole = find.reach == "own" and find.graph_id is None and not others
        return is_whole and not find.order and not self._reads and len(self._listed) == 1

    def where(self) -> str:
        """Return all conditions, the scope's first.

        Of what is read in order, whatever does not keep to a part of it is one term that SQLite
        does not look into: of many terms it takes the answer for so small that it sorts it.
        """
        if self._tie:
            return self._tie
        constants = () if self._index is None else self._index.where
        asked = [one for one in self._find.where if not self._is_listed(one)]
        held = (*reached(self._find), *asked)
        if self._lookup is None and (self._find.sorts or not self._find.order):
            first, rest = list(held), []
        else:
            first = [one for one in held if self._is_in_order(one)]
            rest = [one for one in held if one not in first]
        terms = [self._condition(one) for one in first]
        terms += [f"CASE WHEN {self._all(rest)} THEN 1 END"] if rest else []
        terms += [_constant(one, "t.") for one in constants]
        return " AND ".join(terms) or "1"

    def _is_listed(self, condition: Condition) -> bool:
        """Whether this is what the list is looked up by."""
        return isinstance(condition, Holds) and condition.name == self._find.by

    def _is_in_order(self, condition: Condition) -> bool:
        """Whether this keeps to a part of the order that the index or list has."""
        order = self._ordered
        if isinstance(condition, Beyond):
            return all(direction(step)[0] in order for step in condition.order)
        if self._lookup is not None:
            return isinstance(condition, Within) and condition.field in order
        tells = Is | Among | Absent | Present | Within
        return isinstance(condition, tells) and condition.field in order

    @property
    def _ordered(self) -> tuple[str, ...]:
        """The fields in whose order the index or list has what it has."""
        if self._lookup is not None:
            return self._lookup.order
        extent = self._find.collection.extent
        if self._index is None:
            return (*OWNERS[extent], "id")
        return (*OWNERS[self._index.of or extent], *self._index.fields)

    def _condition(self, condition: Condition) -> str:  # noqa: C901, PLR0911 - one for each
        match condition:
            case Is(field, value):
                self._values.append(value)
                return f"{self._column(field)} = ?"
            case Among(field, values):
                return self._among(self._column(field), values)
            case Other(field, value):
                self._values.append(value)
                return f"{self._column(field)} <> ?"
            case Absent(field):
                return f"{self._column(field)} IS NULL"
            case Present(field):
                return f"{self._column(field)} IS NOT NULL"
            case Within(field, since, until):
                return self._within(self._column(field), since, until)
            case Beyond(order, place):
                return self._beyond(order, place)
            case Holds(name, values):
                return f"EXISTS ({self._side(name, values)})"
            case Lacks(name, values):
                return f"NOT EXISTS ({self._side(name, values)})"
            case During(name, at):
                self._values += [at, at]
                return (
                    f'EXISTS (SELECT 1 FROM json_each(t."{name}") x WHERE x.value ->> 0 <= ?'
                    " AND (x.value ->> 1 IS NULL OR x.value ->> 1 > ?))"
                )
            case Topics():
                return self._topics(condition)
            case Either(alternatives):
                return f"({' OR '.join(self._all(one) for one in alternatives)})"

    def _all(self, conditions: Sequence[Condition]) -> str:
        return " AND ".join(self._condition(one) for one in conditions) or "1"

    def _among(self, column: str, values: Sequence[str | int]) -> str:
        if not values:
            self._values.append(None)  # equals nothing
            return f"{column} = ?"
        for length in PADDED:
            if len(values) <= length:
                self._values += [*values, *[values[-1]] * (length - len(values))]
                return f"{column} = ?" if length == 1 else f"{column} IN ({_marks(length)})"
        self._values.append(json.dumps(list(values), ensure_ascii=False))
        return f"{column} IN (SELECT value FROM json_each(?))"

    def _within(self, column: str, since: Parameter, until: Parameter) -> str:
        parts = []
        for sign, edge in ((">=", since), ("<", until)):
            if edge is not None:
                self._values.append(edge)
                parts.append(f"{column} {sign} ?")
        return " AND ".join(parts) or f"{column} IS NOT NULL"

    def _beyond(self, order: Sequence[str], place: Sequence[str | int | float]) -> str:
        named = ", ".join(self._column(direction(step)[0]) for step in order)
        sign = "<" if direction(order[0])[1] else ">"
        self._values += place
        return f"({named}) {sign} ({_marks(len(place))})"

    def _side(self, name: str, values: Sequence[str]) -> str:
        among = self._among("x.value", values)
        return f"SELECT 1 FROM {self._name}__{name} x WHERE x.row = t.row AND {among}"

    def _topics(self, condition: Topics) -> str:
        sight = self._sight(condition)
        few = [number for number, admitted in enumerate(sight, 1) if admitted][: FEW_SETS + 1]
        if len(few) <= FEW_SETS:
            self._values += [*few, *[few[-1] if few else 0] * (FEW_SETS - len(few))]
            return f"t.topic_set IN ({_marks(FEW_SETS)})"
        self._values.append(sight)
        return "substr(?, t.topic_set, 1) = x'01'"


def _constant(condition: Condition, prefix: str = "") -> str:
    """Return a condition of an index with its value in the text.

    Raises:
        TierRejected: It is of a kind that no index takes.
    """
    match condition:
        case Is(field, value):
            text = str(value) if isinstance(value, int) else f"'{value}'"
            return f'{prefix}"{field}" = {text}'
        case Absent(field):
            return f'{prefix}"{field}" IS NULL'
        case Present(field):
            return f'{prefix}"{field}" IS NOT NULL'
    raise TierRejected("cold", "schema", f"an index of {condition!r}")


def _names(names: Sequence[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)


def _marks(number: int) -> str:
    return ", ".join("?" * number)
