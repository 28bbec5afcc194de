"""Which ancestors a graph has and how each is read, and from when until when a fact was core."""

from __future__ import annotations

from datetime import timedelta
from random import Random

import pytest
from support.cold_samples import fact_by
from support.tier_samples import NOW

from tiers.cold.learned_state import begun, moved
from tiers.cold.lineage import (
    ANCESTORS_MAX,
    CATALOG_CARRIES,
    check_acyclic,
    check_parents,
    lineage_of,
)
from tiers.errors import UsageError
from tiers.fleet import CATALOG
from tiers.records import Ancestor, Parent, Span

Links = dict[str, list[Parent]]


def _links(**parents: str) -> Links:
    """Return links from ``child="parent parent"``."""
    return {
        child: [Parent(id=name, linked_at=NOW) for name in names.split()]
        for child, names in parents.items()
    }


def _ids(lineage: tuple[Ancestor, ...]) -> str:
    return " ".join(one.graph_id for one in lineage)


@pytest.mark.parametrize(
    ("links", "expected"),
    [
        (_links(), ""),
        (_links(x="a b", a="c", b="d"), "a b c d"),
        (_links(x="a b", a="c", c="b d"), "a b c d"),
        (_links(x="a", a="b x", b="a"), "a b"),
        (_links(x="x a"), "a"),
        (_links(y="a"), ""),
    ],
    ids=["none", "two sides", "nearest counts", "a cycle", "itself", "another's"],
)
def test_ancestors_are_nearest_first_then_in_list_order(links: Links, expected: str) -> None:
    """Each once and never the graph itself, even if a cycle were stored."""
    assert _ids(lineage_of("x", links)) == expected


def test_path_goes_from_the_own_parent_to_the_ancestor() -> None:
    """The first path to a graph is the one that is told, and it decides how the graph is read."""
    links = _links(x="a b", a="root", b="root", root="top")
    links["b"] = [Parent(id="root", episodes=True, linked_at=NOW)]
    known = {one.graph_id: one for one in lineage_of("x", links)}
    assert known["a"].path == ("a",)
    assert known["root"].path == ("a", "root")
    assert known["top"].path == ("a", "root", "top")
    assert known["root"].carries == ("rule",)


def test_what_a_link_does_not_carry_nothing_behind_it_carries() -> None:
    """Rules and episodes come through as far as every link on the way lets them."""

    def link(name: str, *, rules: bool, episodes: bool) -> list[Parent]:
        return [Parent(id=name, rules=rules, episodes=episodes)]

    links = {
        "x": link("a", rules=True, episodes=True),
        "a": link("b", rules=False, episodes=True),
        "b": link("c", rules=True, episodes=False),
    }
    carries = [set(one.carries) for one in lineage_of("x", links)]
    assert carries == [{"rule", "episode"}, {"episode"}, set()]


def test_behind_a_pinned_link_all_is_read_as_of_that_moment_or_earlier() -> None:
    """And links that were made after it are not there."""
    hours = [NOW + timedelta(hours=number) for number in range(4)]
    links = {
        "x": [Parent(id="a", as_of=hours[2], linked_at=hours[3])],
        "a": [
            Parent(id="late", linked_at=hours[3]),
            Parent(id="then", linked_at=hours[2]),
            Parent(id="b", as_of=hours[1], linked_at=hours[0]),
        ],
        "then": [Parent(id="c", as_of=hours[3], linked_at=hours[0])],
        "b": [Parent(id="too late", linked_at=hours[2])],
    }
    read = {one.graph_id: one.as_of for one in lineage_of("x", links)}
    assert read == {"a": hours[2], "then": hours[2], "b": hours[1], "c": hours[2]}


def test_the_catalog_comes_last_and_is_read_as_it_is() -> None:
    """Every graph but the catalog itself reads it, whatever its links carry."""
    links = {"x": [Parent(id="a", as_of=NOW, rules=False)]}
    lineage = lineage_of("x", links, has_catalog=True)
    assert _ids(lineage) == f"a {CATALOG}"
    assert lineage[-1] == Ancestor(graph_id=CATALOG, path=(CATALOG,), carries=CATALOG_CARRIES)
    assert lineage_of(CATALOG, {}, has_catalog=True) == ()


def test_random_graphs_are_walked_in_breadth() -> None:
    """Over 200 random graphs: who is there, how near, and by a path that exists."""
    random = Random(30)
    for _ in range(200):
        names = [f"g{number}" for number in range(random.randint(1, 12))]
        links = {
            name: [Parent(id=other) for other in random.sample(names, random.randint(0, 3))]
            if len(names) > 3
            else []
            for name in names
        }
        lineage = lineage_of("g0", links)
        lengths = [len(one.path) for one in lineage]
        assert lengths == sorted(lengths)
        reached = {"g0"}
        for _step in names:
            reached |= {parent.id for name in reached for parent in links[name]}
        assert {one.graph_id for one in lineage} == reached - {"g0"}
        for one in lineage:
            steps = zip(("g0", *one.path), one.path, strict=False)
            assert all(up in [parent.id for parent in links[down]] for down, up in steps)


@pytest.mark.parametrize(
    "parents", [("x",), ("a", CATALOG), ("a", "b", "a")], ids=["itself", "catalog", "twice"]
)
def test_parents_that_no_graph_can_have_are_refused(parents: tuple[str, ...]) -> None:
    """Whatever is stored."""
    with pytest.raises(UsageError, match="inherits_from"):
        check_parents("x", [Parent(id=name) for name in parents])
    check_parents("x", [Parent(id=name) for name in ("a", "b", "A")])


def test_link_that_closes_a_cycle_is_refused() -> None:
    """Near or far, and two ways to one ancestor are no cycle."""
    links = _links(a="b", b="c", x="c")
    check_acyclic("x", "a", links)
    for child in ("b", "c"):
        with pytest.raises(UsageError, match="does not inherit from this one"):
            check_acyclic(child, "a", links)
    with pytest.raises(UsageError, match="does not inherit from this one"):
        check_acyclic("a", "a", links)


def test_ancestors_are_counted_over_old_and_new_links() -> None:
    """A thousand are allowed, each counted once; one more is refused."""
    chain = _links(**{f"g{n}": f"g{n + 1}" for n in range(ANCESTORS_MAX - 1)}, x="g5 g1")
    check_acyclic("x", "g0", chain)
    with pytest.raises(UsageError, match="1000 ancestors"):
        check_acyclic("x", "g0", chain | _links(x="another"))


def test_a_fact_begins_its_first_span_when_it_is_recorded_as_core() -> None:
    """The store keeps the spans; what the caller says about them does not count."""
    claimed = (Span(since=NOW, until=NOW),)
    core = fact_by(tier="core", minute=3, core_spans=claimed)
    assert begun(core).core_spans == (Span(since=core.recorded_at),)
    assert begun(fact_by(core_spans=claimed)).core_spans == ()


def test_moving_a_fact_begins_and_ends_spans() -> None:
    """A clock that went back makes an empty span, never one that ends before it begins."""
    later = NOW + timedelta(hours=1)
    spans = moved((), "core", NOW)
    assert spans == (Span(since=NOW),)
    spans = moved(spans, "archival", later)
    assert spans == (Span(since=NOW, until=later),)
    assert moved(spans, "core", NOW) == (*spans, Span(since=NOW))
    back = moved((Span(since=later),), "archival", NOW)
    assert back == (Span(since=later, until=later),)
