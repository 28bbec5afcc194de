"""Which documents a query has to look at: the range of one index, in the asked order if it can.

Only a saving. Every candidate is still tested by the whole filter.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from .errors import bad_value, refuse
from .filters import compile_filter, equalities, is_operators
from .store import Collection
from .uniqueness import Index, Keys
from .values import Document, Key, key_of, sort_key

Sort = list[tuple[str, int]]

_MAX_RANGES = 300  # combinations of $in values that are looked up one by one


@dataclass(frozen=True)
class _Plan:
    index: Index
    prefixes: tuple[Keys, ...]
    low: Keys = ()
    high: Keys = ()
    is_sorted: bool = False
    backward: bool = False

    @property
    def rank(self) -> tuple[int, bool, bool]:
        """Better plans are greater: more fixed fields, then a range, then the order."""
        return (len(self.prefixes[0]), bool(self.low or self.high), self.is_sorted)

    def ids(self) -> Iterator[Key]:
        """Yield the ids of the candidates; those of several ranges may repeat."""
        for prefix in self.prefixes:
            yield from self.index.scan(
                prefix + self.low, prefix + self.high, backward=self.backward
            )


def checked_sort(sort: Any) -> Sort:
    """Return a sort document as pairs."""
    if not isinstance(sort, dict):
        bad_value("sort must be a document")
    for path, direction in sort.items():
        if direction not in (1, -1):
            refuse(f"sorting {path!r} by {direction!r}")
        if path.startswith("$"):
            refuse(f"sorting by {path}")
    return [(path, int(direction)) for path, direction in sort.items()]


def sorted_by(documents: list[Document], sort: Sort, limit: int | None = None) -> list[Document]:
    """Return documents in order, at most ``limit`` of them."""
    specs = [(tuple(path.split(".")), direction) for path, direction in sort]
    if limit is not None and len({direction for _, direction in sort}) == 1:
        pick = heapq.nsmallest if sort[0][1] > 0 else heapq.nlargest
        return pick(limit, documents, key=lambda d: [sort_key(d, p, way) for p, way in specs])
    for parts, direction in reversed(specs):
        documents = sorted(
            documents,
            key=lambda d, p=parts, way=direction: sort_key(d, p, way),
            reverse=direction < 0,
        )
    return documents[:limit]


def matching(
    target: Collection, query: Document, sort: Sort | None = None, limit: int | None = None
) -> list[Document]:
    """Return the documents that match, in order, at most ``limit``."""
    test = compile_filter(query)
    plan = _best(target, query, sort or [])
    found = (document for document in _candidates(target, plan) if test(document))
    if not sort or (plan is not None and plan.is_sorted):
        return list(itertools.islice(found, limit))
    return sorted_by(list(found), sort, limit)


def _candidates(target: Collection, plan: _Plan | None) -> Iterator[Document]:
    if plan is None:
        yield from target.every()
        return
    seen: set[Key] = set()
    for id_key in plan.ids():
        if len(plan.prefixes) > 1:
            if id_key in seen:
                continue
            seen.add(id_key)
        document = target.get(id_key)
        if document is not None:
            yield document


def _best(target: Collection, query: Document, sort: Sort) -> _Plan | None:
    fixed = {
        path: values
        for path, values in equalities(query).items()
        if not any(isinstance(value, list) for value in values)
    }
    plans = (_plan(index, query, fixed, sort) for index in target.declared.values())
    return max((plan for plan in plans if plan), key=lambda plan: plan.rank, default=None)


def _plan(index: Index, query: Document, fixed: dict[str, list[Any]], sort: Sort) -> _Plan | None:
    first, _ = index.fields[0]
    if not (sort or first in fixed or first in query) or not _holds_all(index, query, fixed):
        return None
    columns: list[list[Key]] = []
    for path, _ in index.fields:
        if path not in fixed:
            break
        columns.append(sorted({key_of(value) for value in fixed[path]}))
    prefixes = tuple(itertools.islice(itertools.product(*columns), _MAX_RANGES + 1))
    if not prefixes or len(prefixes) > _MAX_RANGES:
        return None
    low, high = _range(index, query, len(columns))
    single = {path for path, values in fixed.items() if len(values) == 1}
    is_sorted = (
        bool(sort) and len(prefixes) == 1 and _gives_order(index, len(columns), sort, single)
    )
    if not columns and not (low or high) and not is_sorted:
        return None
    backward = is_sorted and _open_fields(sort, single)[0][1] < 0
    return _Plan(index, prefixes, low, high, is_sorted, backward)


def _holds_all(index: Index, query: Document, fixed: dict[str, list[Any]]) -> bool:
    """Whether every document that the query can match is in the index."""
    if index.partial is not None:
        return all(
            _implies(query, fixed, field, condition) for field, condition in index.partial.items()
        )
    return True


def _implies(query: Document, fixed: dict[str, list[Any]], field: str, condition: Any) -> bool:
    """Whether what matches the query meets a condition of a partial index.

    It does when the query says the same, or says what a field is that must only be there.
    """
    if field in query and key_of(query[field]) == key_of(condition):
        return True
    if condition != {"$exists": True}:
        return False
    if field in fixed:
        return None not in fixed[field]
    given = query.get(field)
    compared = given.keys() & {"$gt", "$gte", "$lt", "$lte"} if is_operators(given) else ()
    return any(given[name] is not None for name in compared)


def _range(index: Index, query: Document, at: int) -> tuple[Keys, Keys]:
    """Return bounds for the field after the fixed ones."""
    # Two bounds on an array may be met by two of its elements.
    if at >= len(index.fields) or index.multikey:
        return (), ()
    condition = query.get(index.fields[at][0])
    if not is_operators(condition):
        return (), ()
    low = [condition[name] for name in ("$gt", "$gte") if name in condition]
    high = [condition[name] for name in ("$lt", "$lte") if name in condition]
    return tuple(map(key_of, low[:1])), tuple(map(key_of, high[:1]))


def _open_fields(sort: Sort, single: set[str]) -> Sort:
    return [(path, direction) for path, direction in sort if path not in single]


def _gives_order(index: Index, at: int, sort: Sort, single: set[str]) -> bool:
    rest = _open_fields(sort, single)
    if index.multikey or not rest or len({direction for _, direction in rest}) > 1:
        return False
    following = [path for path, _ in index.fields[at:]]
    return [path for path, _ in rest] == following[: len(rest)]
