"""Collections as tables, and questions as statements whose text does not change from call to call.

Values are always parameters; the constants of an index stand in the text, without which a partial
index cannot be used. Lists of values are padded, so that few texts serve all lengths.
"""

# ruff: noqa: S608 - statements are made of declared names only; values are always parameters

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
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
from ..port import OWNERS, RECORDED, TOPICS, Collection, Count, Find, Near, Postings
from ..visibility import reached

PADDED = (1, 2, 4, 8, 16, 32, 64)
"""Lists of values are padded to these lengths; longer ones are one JSON parameter."""

TOGETHER = (1, 2, 4, 16)
"""So many places are asked about by one statement."""

FEW_SETS = 16
"""Up to so many sets of topics are named one by one, which an index can follow."""

TEXTS_REMEMBERED = 1_024
"""Texts of questions that are made once."""

_TOPICS = f'(SELECT s.topics FROM topic_sets s WHERE s.id = t.topic_set) AS "{TOPICS}"'

Parameter: TypeAlias = str | bytes | int | float | None
Sight: TypeAlias = Callable[[Topics], bytes]


class Statement(NamedTuple):
    """A text and its parameters, in order."""

    text: str
    values: list[Parameter]


@cache
def columns(collection: Collection[Any]) -> tuple[str, ...]:
    """Return the columns of a collection's table, in order, after the number of the row."""
    topics = ("topic_set",) if collection.owned else ()
    return (*collection.names, *topics, *collection.stretches, "body")


def postings(request: Postings[Any], sight: Sight) -> Statement:
    """Return the statement that tells who has the values of a list, and how often."""
    if request.every:
        return _all_postings(request, sight)
    find, field = request.found, ', t."{}"'
    if len(find.listed.values) == 1 and _is_decided_by_list(find):
        # Not joined, so that what a page leaves out before it is passed over unread.
        field = f', (SELECT r."{{}}" FROM {find.collection.name} r WHERE r.row = m.row)'
    fields = "".join(map(field.format, request.of))
    return found(find, sight, f"m.value, m.times{fields}", each=True)


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


def near(request: Near[Any], sight: Sight) -> Iterator[tuple[int, Statement]]:
    """Yield statements that answer for some places each, and for how many.

    The first column of an answer says for which of them. One statement for many places is sent
    once; of few lengths, so that few texts are made.
    """
    slots: Any = tuple(object() for _ in request.found.order)
    wanted = ", ".join(f't."{name}"' for name in request.of)
    text, values = found(request.at(slots), sight, wanted)
    first = values.index(slots[0])
    before, behind = values[:first], values[first + len(slots) :]
    start = 0
    while start < len(request.places):
        number = max(one for one in TOGETHER if one <= len(request.places) - start)
        each: list[Parameter] = []
        for place in request.places[start : start + number]:
            each += (*before, *place, *behind)
        yield number, Statement(_of_each(text, number), each)
        start += number


@lru_cache(maxsize=TEXTS_REMEMBERED)
def _of_each(text: str, number: int) -> str:
    """Return a question that is asked so many times, its answers with the number of each."""
    return " UNION ALL ".join(f"SELECT {one}, * FROM ({text})" for one in range(number))


def counted(request: Count[Any], sight: Sight) -> Statement:
    """Return the statement that counts, for each combination of fields or each value of a list."""
    if request.by_value:
        text, values = found(request.found, sight, "1", value="v.value")
        asked = json.dumps(request.found.listed.values, ensure_ascii=False)
        counting = f"SELECT v.value, (SELECT COUNT(*) FROM ({text})) FROM json_each(?) v"
        return Statement(counting, [*values, asked])
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
    value: str = "",
) -> Statement:
    """Return the statement that answers a question.

    Args:
        find: The question.
        sight: Which sets of topics a condition admits, a byte per set.
        wanted: What is selected.
        each: Whether who has several values of a list is found for each of them.
        joined: What is read beside what an index finds.
        value: What is asked of a list in the place of the values that the question names.

    Raises:
        TierRejected: The index that it names is none of the collection's.
    """
    values: list[Parameter] = []
    listed = find.listed if find.by in find.collection.lists else None
    if listed is not None:
        values += _owners_of(find)
        values += [] if value else _filled(listed.values)
    number = 1 if value else _padded(len(listed.values)) if listed else 0
    asked = (*reached(find), *(one for one in find.where if one is not listed))
    if number == 1 and "t." not in wanted and _is_decided_by_list(find):
        asked = ()
    first, rest = _parted(find, asked)
    shape = Shape(
        find.collection,
        find.by,
        number,
        _forms(first, sight, values),
        _forms(rest, sight, values),
        find.order,
        wanted,
        joined,
        each,
        value or "?",
    )
    return Statement(_text(shape), [*values, find.limit, find.skip])


def _owners_of(find: Find[Any]) -> list[str]:
    """Return whose list a question goes by."""
    own = {"graph_id": find.graph_id} if find.graph_id else {}
    return [own.get(one) or getattr(find.scope, one) for one in OWNERS[find.collection.extent]]


def _is_decided_by_list(find: Find[Any]) -> bool:
    """Whether a list tells all that is asked of one value of it: who has that, in the graph."""
    is_whole = find.reach == "own" and find.graph_id is None and len(find.where) == 1
    return is_whole and find.order in ((), (RECORDED,))


def _parted(
    find: Find[Any], asked: Sequence[Condition]
) -> tuple[Sequence[Condition], Sequence[Condition]]:
    """Return the conditions that SQLite goes by, and those into which it does not look.

    Of what is read in order, it goes by those alone that keep to a part of that order: of many
    terms it takes the answer for so small that it sorts it.
    """
    is_listed = find.by in find.collection.lists
    if not is_listed and (find.sorts or not find.order):
        return asked, ()
    order = _order_of(find.collection, find.by)
    kinds = _LEADING_A_LIST if is_listed else _LEADING
    first: list[Condition] = []
    rest: list[Condition] = []
    for condition in asked:
        leads = type(condition) in kinds and _leads(condition, order)
        (first if leads else rest).append(condition)
    return first, rest


_LEADING = {Is, Among, Absent, Present, Within, Beyond}
_LEADING_A_LIST = {Within, Beyond}


def _leads(condition: Any, order: frozenset[str]) -> bool:  # noqa: ANN401 - of one that can
    if isinstance(condition, Beyond):
        return all(direction(step)[0] in order for step in condition.order)
    return condition.field in order


@lru_cache(maxsize=TEXTS_REMEMBERED)
def _order_of(collection: Collection[Any], by: str) -> frozenset[str]:
    """Return the fields in whose order an index or list has what it has."""
    if by in collection.lists:
        return frozenset(collection.lists[by].order)
    if by == "id":
        return frozenset((*OWNERS[collection.extent], "id"))
    if by not in collection.indexes:
        raise TierRejected("cold", "find", f"{collection.name} has no index {by!r}")
    index = collection.indexes[by]
    return frozenset((*OWNERS[index.of or collection.extent], *index.fields))


Form: TypeAlias = tuple[Any, ...]
"""A condition without its values: what it is, of which field, and how many values it has."""


def _forms(
    conditions: Sequence[Condition], sight: Sight, values: list[Parameter]
) -> tuple[Form, ...]:
    """Return the forms of conditions; add their values."""
    forms: list[Form] = []
    for condition in conditions:
        render = _FORMS.get(type(condition))
        if render is not None:
            form, given = render(condition)
            values += given
        elif isinstance(condition, Topics):
            form = _form_of_topics(sight(condition), values)
        elif isinstance(condition, Either):
            each = condition.alternatives
            form = "either", tuple(_forms(all_, sight, values) for all_ in each)
        else:
            raise TierRejected("cold", "find", f"a condition {condition!r}")
        forms.append(form)
    return tuple(forms)


_FORMS: Mapping[type, Callable[[Any], tuple[Form, Sequence[Parameter]]]] = {
    Is: lambda one: (("=", one.field), (one.value,)),
    Among: lambda one: (("in", one.field, _padded(len(one.values))), _filled(one.values)),
    Other: lambda one: (("<>", one.field), (one.value,)),
    Absent: lambda one: (("absent", one.field), ()),
    Present: lambda one: (("present", one.field), ()),
    Within: lambda one: (
        ("within", one.field, one.since is not None, one.until is not None),
        [edge for edge in (one.since, one.until) if edge is not None],
    ),
    Beyond: lambda one: (("beyond", one.order), one.place),
    Holds: lambda one: (("holds", one.name, _padded(len(one.values))), _filled(one.values)),
    Lacks: lambda one: (("lacks", one.name, _padded(len(one.values))), _filled(one.values)),
    During: lambda one: (("during", one.name), (one.at, one.at)),
}
"""How each kind of condition is told apart from its values."""


def _form_of_topics(seen: bytes, values: list[Parameter]) -> Form:
    few = [number for number, admitted in enumerate(seen, 1) if admitted][: FEW_SETS + 1]
    if len(few) > FEW_SETS:
        values.append(seen)
        return ("sight",)
    values += few + [few[-1] if few else 0] * (FEW_SETS - len(few))
    return "in", "topic_set", FEW_SETS


def _filled(some: Sequence[str | int]) -> Sequence[Parameter]:
    """Return values padded to one of few lengths; more than the longest as one of JSON."""
    if not some:
        return (None,)  # equals nothing
    length = _padded(len(some))
    if length:
        return (*some, *[some[-1]] * (length - len(some)))
    return (json.dumps(list(some), ensure_ascii=False),)


def _padded(number: int) -> int:
    """Return as how many parameters so many values are given; 0: as one of JSON."""
    for length in PADDED:
        if number <= length:
            return length
    return 0


class Shape(NamedTuple):
    """What stays the same of a question from call to call; of it the text is made, once."""

    collection: Collection[Any]
    by: str
    listed: int
    first: tuple[Form, ...]
    rest: tuple[Form, ...]
    order: tuple[str, ...]
    wanted: str
    joined: str
    each: bool
    value: str


@lru_cache(maxsize=TEXTS_REMEMBERED)
def _text(shape: Shape) -> str:
    return _Text(shape).whole()


class _Text:
    def __init__(self, shape: Shape) -> None:
        self._shape = shape
        self._collection = shape.collection
        self._lookup = shape.collection.lists.get(shape.by)
        in_order = self._lookup is not None and (shape.each or shape.listed == 1)
        self._in_order: tuple[str, ...] = self._lookup.order if self._lookup and in_order else ()
        self._is_read_in_order = in_order

    def whole(self) -> str:
        """Return the text of a question."""
        shape = self._shape
        order = [direction(step) for step in shape.order]
        steps = (f"{self._column(name)}{' DESC' if falls else ''}" for name, falls in order)
        ordered = f" ORDER BY {', '.join(steps)}" if order else ""
        source, where = self._source()
        index = shape.collection.indexes.get(shape.by)
        terms = [*where, *map(self._clause, shape.first)]
        if shape.rest:
            terms.append(f"CASE WHEN {self._all(shape.rest)} THEN 1 END")
        terms += [constant(one, "t.") for one in (index.where if index else ())]
        asked = " AND ".join(terms) or "1"
        return (
            f"SELECT {shape.wanted} FROM {source}{shape.joined} WHERE {asked}{ordered}"
            " LIMIT ? OFFSET ?"
        )

    def _source(self) -> tuple[str, list[str]]:
        """Return what is read, the table by its index or a list that goes first, and its terms."""
        shape, name = self._shape, self._collection.name
        if self._lookup is None:
            return f"{name} t INDEXED BY {name}__{shape.by}", []
        side = f"{name}__{shape.by} m NOT INDEXED"
        held = [f"m.{owner} = ?" for owner in OWNERS[self._collection.extent]]
        held.append(_among("m.value", shape.listed, shape.value))
        if not (shape.first or shape.rest or "t." in shape.wanted):
            return side, held
        joined = f"CROSS JOIN {name} t ON t.row = m.row"
        if self._is_read_in_order:
            return f"{side} {joined} AND {' AND '.join(held)}", []
        return f"(SELECT DISTINCT m.row FROM {side} WHERE {' AND '.join(held)}) m {joined}", []

    def _column(self, field: str) -> str:
        """Return a field; of a list that has it in its order, by which it is then looked up."""
        if field == RECORDED:
            return "m.row" if self._is_read_in_order else "t.row"
        return f'{"m" if field in self._in_order else "t"}."{field}"'

    def _clause(self, form: Form) -> str:  # noqa: C901, PLR0911 - one for each
        match form:
            case (("=" | "<>") as sign, field):
                return f"{self._column(field)} {sign} ?"
            case ("in", field, number):
                return _among(self._column(field), number)
            case ("absent", field):
                return f"{self._column(field)} IS NULL"
            case ("present", field) | ("within", field, False, False):
                return f"{self._column(field)} IS NOT NULL"
            case ("within", field, since, until):
                edges = ((">=", since), ("<", until))
                column = self._column(field)
                return " AND ".join(f"{column} {sign} ?" for sign, is_given in edges if is_given)
            case ("beyond", order):
                named = ", ".join(self._column(direction(step)[0]) for step in order)
                sign = "<" if direction(order[0])[1] else ">"
                return f"({named}) {sign} ({_marks(len(order))})"
            case ("holds", name, number):
                return f"EXISTS ({self._side(name, number)})"
            case ("lacks", name, number):
                return f"NOT EXISTS ({self._side(name, number)})"
            case ("during", name):
                return (
                    f'EXISTS (SELECT 1 FROM json_each(t."{name}") x WHERE x.value ->> 0 <= ?'
                    " AND (x.value ->> 1 IS NULL OR x.value ->> 1 > ?))"
                )
            case ("either", alternatives):
                return f"({' OR '.join(self._all(one) for one in alternatives)})"
            case _:
                return "substr(?, t.topic_set, 1) = x'01'"

    def _all(self, forms: Sequence[Form]) -> str:
        return " AND ".join(map(self._clause, forms)) or "1"

    def _side(self, name: str, number: int) -> str:
        """Return what finds values of a list in one record, by the key of the list's table."""
        order = self._collection.lists[name].order
        tied = [f"x.{one} = t.{one}" for one in (*OWNERS[self._collection.extent], "row")]
        tied += [f'x."{one}" IS t."{one}"' for one in order]
        where = " AND ".join((*tied, _among("x.value", number)))
        return f"SELECT 1 FROM {self._collection.name}__{name} x NOT INDEXED WHERE {where}"


def _among(column: str, number: int, value: str = "?") -> str:
    if number == 1:
        return f"{column} = {value}"
    return (
        f"{column} IN ({_marks(number)})"
        if number
        else f"{column} IN (SELECT value FROM json_each(?))"
    )


def constant(condition: Condition, prefix: str = "") -> str:
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


def _marks(number: int) -> str:
    return ", ".join("?" * number)
