"""The scope as conditions: what they say, that they are indexed, and how engines get them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Any, get_args

import pytest
from qdrant_client import models
from support.tier_samples import NOW, ancestor, heir_of, query_of, record_id, scope_of

from tiers.moments import microseconds
from tiers.records import ALL_TOPICS, Kind, Scope, SearchQuery
from tiers.warm import edge_points, filters, qdrant_points
from tiers.warm.filters import (
    Absent,
    AnyOf,
    Between,
    Condition,
    Either,
    NoneOf,
    PointIds,
    Predicate,
)
from tiers.warm.payload import INTEGER_KEYS, KEYWORD_KEYS, expiry, owner_of

SCOPE = scope_of("acme", "race", "strategist", ("tyres",), user_id="ada", denied=("fuel",))
QUERY = query_of(kinds=("fact", "turn"), tier="core", user_id="ada")
NARROW = query_of(
    kinds=("turn", "episode", "tool_output"),
    as_of=NOW,
    since=NOW,
    grains=("daily", "weekly"),
    topics=("tyres",),
    writer_id="engineer",
)
INHERITED = query_of(kinds=("rule", "fact", "episode"), inherited=True)
EARLIER = NOW - timedelta(days=1)
MIXED = heir_of(
    ancestor("a", "rule", "fact"),
    ancestor("b", "rule", as_of=EARLIER),
    ancestor("c", "fact", "rule"),
)


def _visible(scope: Scope, query: SearchQuery) -> Predicate:
    reach = filters.reach(scope, query)
    assert reach is not None
    return reach.visible


def _counted(scope: Scope, query: SearchQuery) -> Predicate:
    reach = filters.reach(scope, query)
    assert reach is not None
    return reach.counted


def _owned(graph_ids: Sequence[str], *labels: str) -> AnyOf:
    """The entries of these graphs, of these kinds where some are named: one condition."""
    kinds = [(label,) for label in labels] or [()]
    names = [owner_of("acme", graph_id, *kind) for graph_id in graph_ids for kind in kinds]
    return AnyOf("owner", tuple(names))


EVERY_PREDICATE: dict[str, Predicate] = {
    "of_graph": filters.of_graph(SCOPE),
    "visible": _visible(SCOPE, QUERY),
    "narrow": _visible(SCOPE, NARROW),
    "inherited": _visible(MIXED, INHERITED),
    "inherited words": _counted(MIXED, INHERITED),
    "of_kind": filters.of_kind(SCOPE, "fact"),
    "of_any_kind": filters.of_kind(SCOPE, None),
    "expired": filters.expired(SCOPE, NOW),
    "among": filters.among(SCOPE, [record_id(1)]),
}


def test_visible_says_everything_the_port_asks_for() -> None:
    """Tenant and graph, kind, privacy, expiry, topics, users, tier, and nothing else."""
    assert set(_visible(SCOPE, QUERY)) == {
        _owned(["race"]),
        AnyOf("kind", ("fact", "turn")),
        AnyOf("private_to", ("", "strategist")),
        AnyOf("topics", ("", "tyres")),
        NoneOf("topics", ("fuel",)),
        AnyOf("user_id", ("", "ada")),
        AnyOf("tier", ("core", "")),
        AnyOf("user_id", ("ada",)),
        Between("expires_at", expiry(NOW) + 1, None),
    }


def test_what_is_asked_comes_on_top_of_what_is_visible() -> None:
    """Grains stand among the kinds; when something happened is one of two stored moments."""
    at = microseconds(NOW)
    every = query_of(kinds=get_args(Kind))
    assert set(_visible(SCOPE, NARROW)) - set(_visible(SCOPE, every)) == {
        AnyOf("kind", ("turn", "episode/daily", "episode/weekly", "tool_output")),
        Between("recorded_at", None, at + 1),
        AnyOf("topics", ("tyres",)),
        AnyOf("agent_id", ("engineer",)),
        Either(
            (
                (Between("occurred_at", at, None),),
                (Absent("occurred_at"), Between("recorded_at", at, None)),
            )
        ),
    }
    assert _counted(SCOPE, NARROW) == (
        *filters.of_graph(SCOPE),
        Between("recorded_at", None, at + 1),
    )


def test_every_kind_is_no_condition() -> None:
    """Of the own graph and of an ancestor that carries all: whose it is says everything."""
    every: tuple[Kind, ...] = tuple(kind for kind in get_args(Kind) if kind != "tool_output")
    heir = heir_of(ancestor("a", *every))
    for kinds in (every, get_args(Kind)):
        own, inherited = query_of(kinds=kinds), query_of(kinds=kinds, inherited=True)
        for query, graph_id in ((own, heir.graph_id), (inherited, "a")):
            conditions = _visible(heir, query)
            assert conditions[0] == _owned([graph_id])
            assert "kind" not in _keys(conditions)


def test_kinds_stand_in_the_name_unless_turns_are_among_them() -> None:
    """Turns are most of a graph: beside them the others are no name of their own each."""
    others: tuple[Kind, ...] = ("fact", "rule", "episode")
    for inherited in (False, True):
        heir = heir_of(ancestor("a", *others, "turn"))
        graph_id = "a" if inherited else heir.graph_id
        conditions = _visible(heir, query_of(kinds=others, inherited=inherited))
        assert conditions[0] == _owned([graph_id], *others)
        assert "kind" not in _keys(conditions)
        conditions = _visible(heir, query_of(kinds=("turn",), inherited=inherited))
        assert conditions[0] == _owned([graph_id], "turn")
        conditions = _visible(heir, query_of(kinds=(*others, "turn"), inherited=inherited))
        assert conditions[:2] == (_owned([graph_id]), AnyOf("kind", (*others, "turn")))
    monthly = query_of(kinds=("fact", "episode"), grains=("monthly",))
    assert _visible(SCOPE, monthly)[0] == _owned(["race"], "fact", "episode/monthly")


def test_runtime_scope_sees_every_topic_and_user_and_no_private() -> None:
    """No condition on topics or users is there at all; privacy is."""
    conditions = _visible(SCOPE.for_graph(), query_of())
    assert AnyOf("private_to", ("",)) in conditions
    assert _keys(conditions) == {"owner", "private_to"}


def test_who_works_for_nobody_sees_what_is_nobodys() -> None:
    """No user is a condition, and not the absence of one."""
    assert AnyOf("user_id", ("",)) in _visible(scope_of(), query_of())


def test_all_topics_denied_leaves_what_has_none() -> None:
    """Whatever is held beside."""
    for topics in ((ALL_TOPICS,), ("tyres",)):
        conditions = _visible(scope_of(topics=topics, denied=(ALL_TOPICS,)), query_of())
        assert [c for c in conditions if isinstance(c, AnyOf | NoneOf) and c.key == "topics"] == [
            AnyOf("topics", ("",))
        ]


def test_lineage_widens_nothing_unless_asked() -> None:
    """The own graph alone is searched, whatever the scope inherits."""
    heir = SCOPE.model_copy(update={"lineage": MIXED.lineage})
    assert filters.reach(heir, QUERY) == filters.reach(SCOPE, QUERY)


def test_ancestors_that_are_read_alike_are_one_list_of_graphs() -> None:
    """The usual case: no alternatives, however many ancestors there are."""
    heir = heir_of(*(ancestor(f"g{number}", "rule") for number in range(30)), user_id="ada")
    graph_ids = [f"g{number}" for number in range(30)]
    assert _counted(heir, INHERITED) == (_owned(graph_ids),)
    assert set(_visible(heir, INHERITED)) == {
        _owned(graph_ids, "rule"),
        AnyOf("private_to", ("",)),
        AnyOf("tier", ("archival", "")),
        AnyOf("user_id", ("", "ada")),
        Between("expires_at", expiry(NOW) + 1, None),
    }


def test_ancestors_that_are_read_differently_are_alternatives() -> None:
    """By kinds among those asked, and by moment; words are counted by moment too."""
    early = Between("recorded_at", None, microseconds(EARLIER) + 1)
    assert MIXED.lineage[0].carries != MIXED.lineage[2].carries
    assert _visible(MIXED, INHERITED)[0] == Either(
        ((_owned(["a", "c"], "rule", "fact"),), (_owned(["b"], "rule"), early))
    )
    assert _counted(MIXED, INHERITED)[0] == Either(((_owned(["a", "c"]),), (_owned(["b"]), early)))
    facts = INHERITED.model_copy(update={"kinds": ("fact",)})
    assert _visible(MIXED, facts)[0] == _owned(["a", "c"], "fact")


@pytest.mark.parametrize(
    ("scope", "query"),
    [
        (SCOPE, query_of(kinds=())),
        (SCOPE, INHERITED),
        (MIXED, query_of(kinds=("turn", "episode"), inherited=True)),
        (MIXED, query_of(kinds=(), inherited=True)),
    ],
    ids=["no kind", "no ancestor", "nothing carried", "nothing asked"],
)
def test_what_cannot_find_anything_reaches_nothing(scope: Scope, query: SearchQuery) -> None:
    """The engine is not asked, and no empty list of alternatives can be taken for all."""
    assert filters.reach(scope, query) is None


def _keys(predicate: Predicate) -> set[str]:
    """Return the keys that must equal something, or must not."""
    return {one.key for one in predicate if isinstance(one, AnyOf | NoneOf)}


def _single(predicate: Predicate) -> Iterator[Condition]:
    for condition in predicate:
        if isinstance(condition, Either):
            assert len(condition.alternatives) > 1
            for one in condition.alternatives:
                yield from _single(one)
        else:
            yield condition


@pytest.mark.parametrize("name", EVERY_PREDICATE)
def test_every_condition_is_an_indexed_match(name: str) -> None:
    """No predicate uses a key that the engine would have to scan for."""
    for condition in _single(EVERY_PREDICATE[name]):
        if isinstance(condition, AnyOf | NoneOf):
            assert condition.key in KEYWORD_KEYS
            assert condition.values
        elif isinstance(condition, Between | Absent):
            assert condition.key in INTEGER_KEYS
        else:
            assert isinstance(condition, PointIds)


def _plain(rendered: Any) -> Any:
    """Return an engine's filter without the engine: names of classes, keys and values.

    What is left out of what is left out is what was asked for.
    """
    kind = type(rendered).__name__
    if kind == "Filter":
        inner = [] if rendered.must else rendered.must_not or []
        if len(inner) == 1 and type(inner[0]).__name__ == "Filter":
            return _plain(inner[0].must_not[0])
        parts = {name: getattr(rendered, name) for name in ("must", "should", "must_not")}
        return {name: [_plain(one) for one in part] for name, part in parts.items() if part}
    if kind == "HasIdCondition":
        ids = rendered.has_id if hasattr(rendered, "has_id") else rendered.point_ids
        return sorted(map(str, ids))
    match, span = rendered.match, rendered.range
    if match is not None:
        return rendered.key, getattr(match, "any", None) or match.value
    if span is None:
        return rendered.key, rendered.is_empty
    return rendered.key, span.gt, span.gte, span.lt, span.lte


@pytest.mark.parametrize("name", EVERY_PREDICATE)
def test_both_engines_get_the_same(name: str) -> None:
    """Condition by condition, alternatives and what is left out included."""
    predicate = EVERY_PREDICATE[name]
    server = qdrant_points.rendered(predicate)
    assert isinstance(server, models.Filter)
    assert _plain(edge_points.rendered(predicate)) == _plain(server)
    assert len(_plain(server)["must"]) == len(predicate)
