"""``$search``: the operators that are answered, and the stand-in's own scores.

Text scores are plain BM25 (k1 = 1.2, b = 0.75) over lower-cased words, one field at a time:
``ln(1 + (N - n + 0.5) / (n + 0.5)) * f * (k1 + 1) / (f + k1 * (1 - b + b * length / mean))``.
Atlas is Lucene: another analyzer, the same family of scores, other numbers. ``equals``, ``in``,
``range`` and ``exists`` score 1; ``filter`` and ``mustNot`` score nothing.
Source: Robertson and Zaragoza, The Probabilistic Relevance Framework, 2009.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable
from typing import Any

from .errors import bad_value, only, refuse
from .filters import compile_filter
from .search_index import SearchIndex
from .values import MISSING, Document, expanded, is_number, type_name

_K1 = 1.2
_B = 0.75
_KINDS = {"string": "token", "bool": "boolean", "objectId": "objectId", "date": "date"}
_WORD = re.compile(r"\w+")

Words = tuple[Counter[str], int]  # how often each occurs, and how many there are in all
Scores = dict[int, float]  # by place in the list of documents; those not in it do not match


def text_scores(
    documents: list[Document], index: SearchIndex | None, given: Document
) -> list[tuple[Document, float]]:
    """Return the documents that an operator matches with their score, best first.

    Raises:
        ValueError: The index does not hold what the operator needs; the message is Atlas's.
    """
    if len(given) != 1 or next(iter(given)) not in _OPERATORS:
        refuse(f"$search with {sorted(given)}")
    if index is None:
        return []
    scores = _run(_Search(documents, index), given)
    ranked = sorted(scores, key=lambda place: (-scores[place], place))
    return [(documents[place], scores[place]) for place in ranked]


class _Search:
    """One search: the documents, and how each path of theirs is indexed."""

    def __init__(self, documents: list[Document], index: SearchIndex) -> None:
        self.documents = documents
        self.index = index

    def need(self, path: str, kind: str) -> None:
        """Raise unless the path is indexed as ``kind``."""
        if kind not in self.index.text_types(path):
            raise ValueError(f"Path '{path}' needs to be indexed as {kind}")

    def having(self, query: Document) -> Scores:
        """Return the documents that match a filter, each with score 1."""
        test = compile_filter(query)
        return {place: 1.0 for place, document in enumerate(self.documents) if test(document)}

    def words(self, path: str) -> dict[int, Words]:
        """Return the words under a path, of the documents that have any."""
        if "string" not in self.index.text_types(path):
            return {}
        parts = tuple(path.split("."))

        def counted(document: Document) -> Words:
            values = [value for value in expanded(document, parts) if isinstance(value, str)]
            counts = Counter(word for value in values for word in tokens(value))
            return counts, counts.total()

        found = {}
        for place, document in enumerate(self.documents):
            words = self.index.derived.of(document, path, counted)
            if words[1]:
                found[place] = words
        return found


def tokens(text: str) -> list[str]:
    """Return the words of a text as they are compared."""
    return [match.group() for match in _WORD.finditer(text.lower())]


def _run(search: _Search, given: Any) -> Scores:
    if not isinstance(given, dict) or len(given) != 1:
        bad_value("a search operator is a document with one field")
    name, argument = next(iter(given.items()))
    if name not in _OPERATORS:
        refuse(f"the search operator {name}")
    known, operator = _OPERATORS[name]
    only(known, argument, f"the search operator {name}")
    return operator(search, argument)


def _paths(argument: Document) -> list[str]:
    path = argument.get("path")
    paths = path if isinstance(path, list) else [path]
    if not paths or any(not isinstance(one, str) for one in paths):
        refuse(f"the search path {path!r}")
    return paths


def _path(argument: Document) -> str:
    path = argument.get("path")
    if not isinstance(path, str):
        refuse(f"the search path {path!r}")
    return path


def _text(search: _Search, argument: Document) -> Scores:
    query = argument.get("query")
    texts = query if isinstance(query, list) else [query]
    if not texts or any(not isinstance(text, str) or not text for text in texts):
        bad_value('"query" cannot be empty')
    wanted = {word for text in texts for word in tokens(text)}
    needs_all = argument.get("matchCriteria", "any")
    if needs_all not in {"any", "all"}:
        bad_value('"matchCriteria" must be one of [any, all]')
    scores: Scores = {}
    for path in _paths(argument):
        held = search.words(path)
        for place, score in _bm25(held, wanted).items():
            if needs_all == "any" or wanted <= held[place][0].keys():
                scores[place] = scores.get(place, 0.0) + score
    return scores


def _bm25(held: dict[int, Words], wanted: set[str]) -> Scores:
    mean = sum(length for _, length in held.values()) / max(1, len(held))
    scores: Scores = {}
    # In order, so that equal documents get equal sums.
    for word in sorted(wanted):
        holders = [place for place, (counts, _) in held.items() if word in counts]
        rarity = math.log(1 + (len(held) - len(holders) + 0.5) / (len(holders) + 0.5))
        for place in holders:
            counts, length = held[place]
            count = counts[word]
            norm = _K1 * (1 - _B + _B * length / mean)
            scores[place] = scores.get(place, 0.0) + rarity * count * (_K1 + 1) / (count + norm)
    return scores


def _compound(search: _Search, argument: Document) -> Scores:
    clauses = {name: argument.get(name, []) for name in ("must", "should", "filter", "mustNot")}
    run = {
        name: [_run(search, one) for one in (given if isinstance(given, list) else [given])]
        for name, given in clauses.items()
    }
    if not any(run.values()):
        bad_value('"compound" needs at least one clause')
    needs = argument.get("minimumShouldMatch")
    if needs is None:
        # Without another clause that selects, something has to be matched.
        needs = 0 if run["must"] or run["filter"] else int(bool(run["should"]))
    if type(needs) is not int or not 0 <= needs <= len(run["should"]):
        bad_value('"minimumShouldMatch" must be between 0 and the number of should clauses')
    chosen = set(range(len(search.documents)))
    for scores in (*run["must"], *run["filter"]):
        chosen &= scores.keys()
    for scores in run["mustNot"]:
        chosen -= scores.keys()
    return {
        place: sum(scores.get(place, 0.0) for scores in (*run["must"], *run["should"]))
        for place in chosen
        if sum(place in scores for scores in run["should"]) >= needs
    }


def _kind(value: Any) -> str:
    """Return as what a path must be indexed to be compared with ``value``."""
    kind = "number" if is_number(value) else _KINDS.get(type_name(value))
    if kind is None:
        refuse(f"searching for a value of type {type_name(value)}")
    return kind


def _equals(search: _Search, argument: Document) -> Scores:
    path, value = _path(argument), argument.get("value", MISSING)
    search.need(path, _kind(value))
    return search.having({path: {"$eq": value}})


def _in(search: _Search, argument: Document) -> Scores:
    path, values = _path(argument), argument.get("value")
    if not isinstance(values, list):
        values = [values]
    if not values or len({_kind(value) for value in values}) > 1:
        bad_value('"value" must be an array of values of one type')
    search.need(path, _kind(values[0]))
    return search.having({path: {"$in": values}})


def _range(search: _Search, argument: Document) -> Scores:
    path = _path(argument)
    bounds = {name: value for name, value in argument.items() if name != "path"}
    if not bounds:
        bad_value('"range" needs a bound')
    for value in bounds.values():
        search.need(path, _kind(value))
    return search.having({path: {f"${name}": value for name, value in bounds.items()}})


def _exists(search: _Search, argument: Document) -> Scores:
    return search.having({_path(argument): {"$exists": True}})


_OPERATORS: dict[str, tuple[frozenset[str], Callable[[_Search, Document], Scores]]] = {
    "text": (frozenset({"query", "path", "matchCriteria"}), _text),
    "compound": (
        frozenset({"must", "should", "filter", "mustNot", "minimumShouldMatch"}),
        _compound,
    ),
    "equals": (frozenset({"path", "value"}), _equals),
    "in": (frozenset({"path", "value"}), _in),
    "range": (frozenset({"path", "gt", "gte", "lt", "lte"}), _range),
    "exists": (frozenset({"path"}), _exists),
}
