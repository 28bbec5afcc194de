"""For whom a hash of the hot tier was filled: the digest, and who may see a record."""

from __future__ import annotations

from typing import Any

import pytest
from support.tier_samples import scope_of, turn_of

from tiers.hot.view import RUNTIME_VIEW, may_see, view_of

VIEWS: list[dict[str, Any]] = [
    {},
    {"user_id": "ada"},
    {"user_id": "null"},
    {"topics": ()},
    {"topics": ("tyres",)},
    {"topics": ("tyres",), "every_user": True},
    {"topics": ("fuel", "tyres")},
    {"topics": ('fuel", "tyres',)},
    {"topics": ("fuel",), "denied": ("tyres",)},
    {"denied": ("tyres",)},
    {"denied": ("tyres",), "every_user": True},
    {"every_user": True},
]

SEEN: list[tuple[dict[str, Any], dict[str, Any], bool]] = [
    ({"topics": ("tyres",)}, {"topics": ()}, True),
    ({"topics": ()}, {"topics": ("tyres",)}, False),
    ({"topics": ("fuel",)}, {"topics": ("fuel", "tyres")}, True),
    ({"denied": ("fuel",)}, {"topics": ("fuel", "tyres")}, False),
    ({}, {"user_id": "ada"}, False),
    ({"user_id": "ada"}, {"user_id": "ada"}, True),
    ({"user_id": "ada"}, {"user_id": None}, True),
    ({"user_id": "ada"}, {"user_id": "adam"}, False),
    ({"every_user": True}, {"user_id": "ada"}, True),
    ({"every_user": True}, {"private": True, "agent_id": "colleague"}, False),
    ({}, {"private": True}, True),
]


def test_different_views_have_different_digests() -> None:
    """Whoever differs in user, topics or what is denied has another view; the runtime has none."""
    assert len({view_of(scope_of(**view)) for view in VIEWS}) == len(VIEWS)
    assert [view for view in VIEWS if view_of(scope_of(**view)) == RUNTIME_VIEW] == [
        {"every_user": True}
    ]


def test_a_view_does_not_depend_on_who_asks_where() -> None:
    """Tenant, graph and agent are in the key; the order of topics is no difference."""
    one = scope_of("acme", "race", "a", ("fuel", "tyres"), user_id="ada")
    other = scope_of("other", "graph", "b", ("tyres", "fuel"), user_id="ada")
    assert view_of(one) == view_of(other)


@pytest.mark.parametrize(("view", "fields", "seen"), SEEN)
def test_record_is_seen_as_the_scope_says(
    view: dict[str, Any],
    fields: dict[str, Any],
    seen: bool,  # noqa: FBT001
) -> None:
    """Topics meet or are none, none is denied, the user is the same or nobody, and privacy."""
    scope = scope_of(**view)
    assert may_see(scope, turn_of(scope, 1).model_copy(update=fields)) == seen
