"""The scope as conditions: what they say, that they are indexed, and the second lock."""

from __future__ import annotations

import pytest
from support.tier_samples import NOW, query_of, record_id, scope_of

from tiers.errors import UsageError
from tiers.warm import filters
from tiers.warm.edge_filter import rendered
from tiers.warm.filters import After, AnyOf, PointIds, Predicate, UpTo
from tiers.warm.payload import INTEGER_KEYS, KEYWORD_KEYS, expiry

SCOPE = scope_of("acme", "race", "strategist", ("tyres",))
QUERY = query_of(kinds=("fact", "turn"), tier="core", user_id="ada")

EVERY_PREDICATE: dict[str, Predicate] = {
    "of_graph": filters.of_graph(SCOPE),
    "visible": filters.visible(SCOPE, QUERY),
    "of_kind": filters.of_kind(SCOPE, "fact"),
    "of_any_kind": filters.of_kind(SCOPE, None),
    "expired": filters.expired(SCOPE, NOW),
    "among": filters.among(SCOPE, [record_id(1)]),
}


def test_visible_says_everything_the_port_asks_for() -> None:
    """Tenant, graph, kind, privacy, expiry, topics, tier and user, and nothing else."""
    assert set(filters.visible(SCOPE, QUERY)) == {
        AnyOf("tenant", ("acme",)),
        AnyOf("graph", ("race",)),
        AnyOf("kind", ("fact", "turn")),
        AnyOf("private_to", ("", "strategist")),
        AnyOf("topics", ("", "tyres")),
        AnyOf("tier", ("core", "")),
        AnyOf("user_id", ("ada",)),
        After("expires_at", expiry(NOW)),
    }


def test_runtime_scope_has_no_topic_condition_and_sees_no_private() -> None:
    """The runtime sees every topic, and shared records only."""
    conditions = filters.visible(SCOPE.for_graph(), query_of())
    assert AnyOf("private_to", ("",)) in conditions
    assert not [c for c in conditions if isinstance(c, AnyOf) and c.key in ("topics", "tier")]


def test_lineage_widens_nothing() -> None:
    """Only the own graph is searched, whatever the scope inherits."""
    heir = SCOPE.model_copy(update={"lineage": ("parent",)})
    assert filters.visible(heir, QUERY) == filters.visible(SCOPE, QUERY)


@pytest.mark.parametrize("name", EVERY_PREDICATE)
def test_every_condition_is_an_indexed_match(name: str) -> None:
    """No predicate uses a key that the engine would have to scan for."""
    for condition in EVERY_PREDICATE[name]:
        if isinstance(condition, AnyOf):
            assert condition.key in KEYWORD_KEYS
            assert condition.values
        elif isinstance(condition, After | UpTo):
            assert condition.key in INTEGER_KEYS
        else:
            assert isinstance(condition, PointIds)


@pytest.mark.parametrize("name", EVERY_PREDICATE)
def test_every_predicate_passes_its_own_scope_only(name: str) -> None:
    """The second lock opens for the scope a predicate was made for, and for no other."""
    rendered(SCOPE, EVERY_PREDICATE[name])
    for other in (scope_of("acm", "race"), scope_of("acme", "rac")):
        with pytest.raises(UsageError, match="predicate"):
            rendered(other, EVERY_PREDICATE[name])


@pytest.mark.parametrize(
    "predicate",
    [
        (),
        (AnyOf("tenant", ("acme",)),),
        (AnyOf("graph", ("race",)),),
        (AnyOf("tenant", ("acme", "other")), AnyOf("graph", ("race",))),
        (AnyOf("graph", ("acme",)), AnyOf("tenant", ("race",))),
        (PointIds((record_id(1),)),),
    ],
    ids=["nothing", "no graph", "no tenant", "two tenants", "swapped", "ids only"],
)
def test_predicate_without_tenant_and_graph_is_refused(predicate: Predicate) -> None:
    """Forgetting the scope finds nothing instead of everything."""
    with pytest.raises(UsageError, match="tenant and graph"):
        rendered(SCOPE, predicate)
