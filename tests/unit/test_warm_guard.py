"""The guard at the way out of the warm tier: what passes, and each way not to."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import qdrant_edge as edge
from qdrant_client import models
from support.tier_samples import NOW, ancestor, entry_of, heir_of, query_of, record_id, scope_of

import tiers.warm
from tiers.errors import TierRejected
from tiers.records import Scope
from tiers.warm import edge_points, filters, qdrant_points
from tiers.warm.guard import (
    Bounds,
    check_filter,
    check_found,
    check_points,
    every_mark,
    marks_of,
    of_search,
    own_graph,
    whole_tenant,
)
from tiers.warm.payload import owner_of, payload_of, point_id

SCOPE = scope_of()
HEIR = heir_of(ancestor("a", "rule"), ancestor("b", "episode", as_of=NOW))
INHERITED = query_of(kinds=("rule", "episode"), inherited=True)
OWN = own_graph(SCOPE)
OWNER = '["acme", "race"]'
FAMILY = of_search(HEIR, INHERITED)


class Terms:
    """How to say a condition to one engine."""

    def __init__(self, engine: Any, rendered: Callable[[filters.Predicate], Any]) -> None:
        self.engine = engine
        self.rendered = rendered

    def equal(self, key: str, *values: Any, **more: Any) -> Any:
        """The key is one of the values."""
        if self.engine is edge:
            match = edge.MatchValue(*values) if len(values) == 1 else edge.MatchAny(list(values))
            return edge.FieldCondition(key, match=match, **more)
        if len(values) == 1:
            return models.FieldCondition(key=key, match=models.MatchValue(value=values[0]), **more)
        return models.FieldCondition(key=key, match=models.MatchAny(any=list(values)), **more)

    def matching(self, key: str, name: str, **said: Any) -> Any:
        """The key matches in a way of the engine."""
        made = getattr(self.engine, name)
        match = made(*said.values()) if self.engine is edge else made(**said)
        return self.engine.FieldCondition(key=key, match=match)

    def all_of(self, *must: Any, **parts: Any) -> Any:
        """All conditions hold."""
        return self.engine.Filter(must=list(must), **parts)

    def any_of(self, *should: Any) -> Any:
        """One of the conditions holds."""
        return self.engine.Filter(should=list(should))

    def none_of(self, *must_not: Any) -> Any:
        """None of the conditions holds."""
        return self.engine.Filter(must_not=list(must_not))

    def owned(self, *parts: Any) -> Any:
        """The entry is found by the name of such an owner."""
        return self.equal("owner", json.dumps(parts))

    def readers(self, owner: str) -> Any:
        """The entry is found by the name of those who read what is shared by such an owner."""
        return self.equal("readers", owner + '["", "", ""]')

    @property
    def own(self) -> Any:
        """An entry of the scope's own graph."""
        return self.equal("owner", OWNER)

    @property
    def tenant(self) -> Any:
        """The scope's own."""
        return self.equal("tenant", "acme")

    @property
    def graph(self) -> Any:
        """The scope's own."""
        return self.equal("graph", "race")


EDGE = Terms(edge, edge_points.rendered)
SERVER = Terms(models, qdrant_points.rendered)
BOTH = pytest.mark.parametrize("said", [EDGE, SERVER], ids=["edge", "server"])


@BOTH
def test_what_the_scope_asks_passes(said: Terms) -> None:
    """Every predicate there is, in its own bounds, and in those of nobody else."""
    reach, inherited = filters.reach(SCOPE, query_of()), filters.reach(HEIR, INHERITED)
    assert reach is not None
    assert inherited is not None
    held: list[tuple[Bounds, filters.Predicate]] = [
        (OWN, filters.of_graph(SCOPE)),
        (OWN, reach.visible),
        (OWN, filters.of_kind(SCOPE, "fact")),
        (OWN, filters.expired(SCOPE, NOW)),
        (OWN, filters.among(SCOPE, [record_id(1)])),
        (FAMILY, inherited.visible),
        (FAMILY, inherited.counted),
    ]
    others = (scope_of("acm"), scope_of(graph_id="rac"), scope_of("ACME"), scope_of(graph_id="a"))
    for bounds, predicate in held:
        rendered = said.rendered(predicate)
        check_filter("search", bounds, rendered)
        for wrong in (*map(own_graph, others), whole_tenant("acme"), marks_of("acme")):
            with pytest.raises(TierRejected):
                check_filter("search", wrong, rendered)


@BOTH
def test_names_of_readers_are_held_to_their_owners(said: Terms) -> None:
    """All of them, in the bounds of their owners and in those of nobody else."""
    named = said.any_of(said.readers('["acme", "a"]'), said.readers('["acme", "b", "turn"]'))
    check_filter("search", FAMILY, named)
    for wrong in (OWN, own_graph(scope_of("acm")), whole_tenant("acme"), marks_of("acme")):
        with pytest.raises(TierRejected):
            check_filter("search", wrong, named)


@BOTH
def test_whole_tenants_and_marks_must_be_meant(said: Terms) -> None:
    """Filters for them pass only where the operation says so, and for the tenant it says."""
    of_tenant = said.all_of(said.tenant)
    without_marks = said.all_of(said.tenant, must_not=[said.equal("graph", "")])
    mark = said.all_of(said.tenant, said.equal("graph", ""))
    marks = said.all_of(said.equal("graph", ""), said.equal("kind", "leaving"))
    held = [
        (whole_tenant("acme"), of_tenant),
        (whole_tenant("acme"), without_marks),
        (marks_of("acme"), mark),
        (every_mark(), marks),
    ]
    wrong = [OWN, FAMILY, whole_tenant("acm"), marks_of("acm"), whole_tenant(""), marks_of("")]
    for bounds, rendered in held:
        check_filter("drop", bounds, rendered)
        others = [one for one, other in held if one != bounds and other is not rendered]
        for other in [*wrong, *(one for one in others if one != whole_tenant("acme"))]:
            with pytest.raises(TierRejected):
                check_filter("drop", other, rendered)


BAD: dict[str, Callable[[Terms], Any]] = {
    "nothing": lambda _: None,
    "no condition": lambda t: t.all_of(),
    "no owner": lambda t: t.all_of(t.equal("kind", "turn")),
    "tenant alone": lambda t: t.all_of(t.tenant),
    "tenant and graph": lambda t: t.all_of(t.tenant, t.graph),
    "owner and tenant": lambda t: t.all_of(t.own, t.tenant),
    "owner and graph": lambda t: t.all_of(t.own, t.graph),
    "other tenant": lambda t: t.all_of(t.owned("acm", "race")),
    "look-alike tenant": lambda t: t.all_of(t.owned("\u0430cme", "race")),
    "other graph": lambda t: t.all_of(t.owned("acme", "race ")),
    "other graph's kind": lambda t: t.all_of(t.owned("acme", "rac", "turn")),
    "swapped": lambda t: t.all_of(t.owned("race", "acme")),
    "two tenants": lambda t: t.all_of(t.equal("owner", OWNER, '["acm", "race"]')),
    "owner twice": lambda t: t.all_of(t.own, t.own),
    "owner and another": lambda t: t.all_of(t.own, t.owned("acm", "race")),
    "one graph too many": lambda t: t.all_of(t.equal("owner", OWNER, '["acme", "x"]')),
    "no owner of a list": lambda t: t.all_of(t.equal("owner")),
    "mark": lambda t: t.all_of(t.owned("acme", "")),
    "mark by its keys": lambda t: t.all_of(t.tenant, t.equal("graph", "")),
    "number": lambda t: t.all_of(t.equal("owner", 7)),
    "numbers": lambda t: t.all_of(t.owned("acme", 7)),
    "no list": lambda t: t.all_of(t.equal("owner", '"ar"')),
    "no JSON": lambda t: t.all_of(t.equal("owner", "acme/race")),
    "too short": lambda t: t.all_of(t.owned("acme")),
    "too long": lambda t: t.all_of(t.owned("acme", "race", "turn", "x")),
    "written otherwise": lambda t: t.all_of(t.equal("owner", '["acme","race"]')),
    "either owner or graph": lambda t: t.any_of(t.own, t.graph),
    "owner or anything": lambda t: t.all_of(
        t.any_of(t.all_of(t.own), t.all_of(t.equal("kind", "turn")))
    ),
    "owner or other": lambda t: t.all_of(t.any_of(t.all_of(t.own), t.all_of(t.owned("acme", "x")))),
    "owner or none of a list": lambda t: t.all_of(
        t.any_of(t.all_of(t.own), t.all_of(t.equal("owner")))
    ),
    "alternatives of keys": lambda t: t.all_of(
        t.any_of(t.all_of(t.tenant, t.graph), t.all_of(t.tenant, t.equal("graph", "a")))
    ),
    "alternative with tenant": lambda t: t.all_of(
        t.any_of(t.all_of(t.own, t.tenant), t.all_of(t.own, t.equal("tenant", "x")))
    ),
    "alternative without list": lambda t: t.all_of(t.any_of(t.own)),
    "alternatives on top": lambda t: t.all_of(t.own, should=[t.equal("kind", "x")]),
    "nested owner": lambda t: t.all_of(t.all_of(t.own)),
    "not the others": lambda t: t.all_of(must_not=[t.owned("acm", "race"), t.equal("tenant", "x")]),
    "not this owner": lambda t: t.all_of(must_not=[t.own]),
    "not, nested": lambda t: t.all_of(t.own, t.none_of(t.equal("graph", "x"))),
    "this and not others": lambda t: t.all_of(t.own, must_not=[t.owned("acm", "race")]),
    "alternatives and more": lambda t: t.all_of(
        t.all_of(t.equal("kind", "x"), should=[t.all_of(t.own)])
    ),
    "some of many": lambda t: t.all_of(
        t.own, min_should=t.engine.MinShould(conditions=[t.equal("kind", "x")], min_count=1)
    ),
    "owner or empty": lambda t: t.all_of(t.equal("owner", OWNER, is_empty=True)),
    "owner or null": lambda t: t.all_of(t.equal("owner", OWNER, is_null=False)),
    "prefix": lambda t: t.all_of(t.matching("owner", "MatchPrefix", prefix='["acme", "race"')),
    "text": lambda t: t.all_of(t.matching("owner", "MatchText", text=OWNER)),
    "all but": lambda t: t.all_of(t.matching("owner", "MatchExcept", **{"except": ["x"]})),
    "no match": lambda t: t.all_of(t.engine.FieldCondition(key="owner", is_null=False)),
    "readers of others": lambda t: t.any_of(t.readers(OWNER), t.readers('["acm", "race"]')),
    "readers or anything": lambda t: t.any_of(t.readers(OWNER), t.equal("kind", "x")),
    "readers that are a condition": lambda t: t.all_of(t.readers(OWNER)),
    "readers left out": lambda t: t.all_of(t.own, must_not=[t.readers(OWNER)]),
    "readers and an owner": lambda t: t.all_of(t.own, should=[t.readers(OWNER)]),
    "readers without an end": lambda t: t.any_of(t.equal("readers", OWNER)),
    "readers written otherwise": lambda t: t.any_of(t.equal("readers", OWNER + '["","",""]')),
    "readers of a list": lambda t: t.any_of(t.equal("readers", OWNER + "[1, 2]")),
    "no readers": lambda t: t.any_of(t.equal("readers", 7)),
    "vector": lambda t: t.all_of(t.own, _has_vector(t)),
    "condition, no filter": lambda t: t.own,
}


def _has_vector(said: Terms) -> Any:
    if said.engine is edge:
        return edge.HasVectorCondition("dense")
    return models.HasVectorCondition(has_vector="dense")


@BOTH
@pytest.mark.parametrize("name", BAD)
def test_what_is_not_held_or_not_understood_is_refused(said: Terms, name: str) -> None:
    """For the own graph and for the family; the reason names nobody."""
    rendered = BAD[name](said)
    for bounds in (OWN, Bounds("acme", frozenset({"race", "a"}))):
        with pytest.raises(TierRejected, match="the guard let nothing through") as caught:
            check_filter("search", bounds, rendered)
        assert not re.search(r"acme?|race", caught.value.reason)


def test_conditions_that_are_in_no_list_are_refused() -> None:
    """The driver would take a single one, which the guard does not read."""
    alone = models.Filter(must=SERVER.tenant)
    with pytest.raises(TierRejected):
        check_filter("search", whole_tenant("acme"), alone)


def test_an_empty_family_lets_nothing_pass() -> None:
    """Not even no graph at all."""
    nobody = of_search(scope_of(), INHERITED)
    for rendered in (EDGE.all_of(EDGE.tenant), EDGE.all_of(EDGE.tenant, EDGE.equal("graph", ""))):
        with pytest.raises(TierRejected):
            check_filter("search", nobody, rendered)


@pytest.mark.parametrize(
    ("change", "scope"),
    [
        ({"tenant": "acm"}, SCOPE),
        ({"graph": "race2"}, SCOPE),
        ({"graph": ""}, SCOPE),
        ({"tenant": None}, SCOPE),
        ({"owner": None}, SCOPE),
        ({"owner": []}, SCOPE),
        ({"owner": [OWNER, '["acme", "race2"]']}, SCOPE),
        ({"owner": '["acm", "race"]'}, SCOPE),
        ({"owner": [{"acme": "race"}]}, SCOPE),
        ({"readers": ['["acme", "race2"]["", "", ""]']}, SCOPE),
        ({"readers": [OWNER]}, SCOPE),
        ({"id": None}, SCOPE),
        ({"id": 7}, SCOPE),
        ({"id": record_id(2)}, SCOPE),
        ({}, scope_of("acm")),
        ({}, scope_of(graph_id="rac")),
    ],
    ids=str,
)
def test_points_of_others_are_refused(change: dict[str, Any], scope: Scope) -> None:
    """By payload, by id, and before anything is written; without a payload too."""
    payload = payload_of(entry_of(SCOPE, 1))
    own = point_id(SCOPE, record_id(1))
    made: list[Callable[[str, dict[str, Any]], Any]] = [
        lambda one, held: edge.Point(one, {}, held),
        lambda one, held: models.PointStruct(id=one, vector={}, payload=held),
    ]
    for point in made:
        good = point(own, payload)
        check_points("upsert", OWN, [good])
        check_found("search", OWN, [good.payload])
        theirs = point_id(scope, record_id(1))
        for bad in (point(theirs, {**payload, **change}), point(own, {})):
            with pytest.raises(TierRejected):
                check_points("upsert", OWN, [good, bad])
        if "owner" in change:
            with pytest.raises(TierRejected):
                check_found("search", OWN, [payload | change])
        with pytest.raises(TierRejected):
            check_points("upsert", own_graph(scope_of("other")), [good])


@pytest.mark.parametrize(
    "change",
    [
        {"tenant": "other"},
        {"graph": "other"},
        {"owner": []},
        {"owner": None},
        {"owner": [owner_of("other", "g1")]},
        {"id": None},
    ],
)
def test_one_of_others_among_own_points_is_refused(change: dict[str, Any]) -> None:
    """Wherever it stands: that those before it are the asker's own says nothing of it."""
    payload = payload_of(entry_of(SCOPE, 1))
    more = payload_of(entry_of(SCOPE, 2))
    check_found("search", OWN, [payload, more, payload])
    for payloads in ([payload, more, payload | change], [payload | change, payload]):
        with pytest.raises(TierRejected):
            check_found("search", OWN, payloads)


def test_points_are_written_into_named_graphs_only() -> None:
    """A whole tenant is no place to write to, and neither is everybody's."""
    point = edge.Point(point_id(SCOPE, record_id(1)), {}, payload_of(entry_of(SCOPE, 1)))
    for bounds in (whole_tenant("acme"), every_mark(), marks_of("acme")):
        with pytest.raises(TierRejected):
            check_points("upsert", bounds, [point])


def test_commands_about_points_leave_in_two_guarded_places() -> None:
    """No other module of the tier speaks to an engine about points."""
    commands = re.compile(
        r"_?(?:shard|client|engine|copy)\.(?:update|query\w*|scroll|count|retrieve|upsert\w*|delete|facet"
        r"|search\w*|\w+_payload|\w+_vectors|batch_update_points|upload\w*)[(,]"
    )
    found = {
        path.name: set(commands.findall(path.read_text("utf-8")))
        for path in Path(tiers.warm.__file__).parent.glob("*.py")
    }
    assert {name for name, calls in found.items() if calls} == {
        "edge_folder.py",
        "edge_points.py",
        "qdrant_points.py",
    }
    # Where the shard is made, only payload indexes are; rewritten, every point as it is.
    assert found["edge_folder.py"] == {"shard.update(", "engine.scroll(", "copy.update("}
