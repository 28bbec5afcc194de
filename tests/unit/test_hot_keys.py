"""The hot tier's keys: different agents never share one, and no name leaves its place."""

from __future__ import annotations

from fakeredis import FakeAsyncRedis
from hypothesis import given
from hypothesis import strategies as st
from support.tier_samples import scope_of

from tiers.hot import RedisHotStore

NAMES = st.text(
    alphabet=st.one_of(st.sampled_from("{}:/%*?[] ~.a"), st.characters(codec="utf-8")),
    min_size=1,
    max_size=6,
).filter(lambda name: name.isprintable() and name == name.strip() and name != "")
OWNERS = st.tuples(NAMES, NAMES, NAMES)


STORE = RedisHotStore(FakeAsyncRedis())


def _key(owner: tuple[str, str, str]) -> str:
    return STORE._key(scope_of(*owner), "test")


@given(OWNERS, OWNERS)
def test_different_owners_have_different_keys(
    left: tuple[str, str, str], right: tuple[str, str, str]
) -> None:
    """The key is a one-to-one image of (tenant, graph, agent)."""
    assert (_key(left) == _key(right)) == (left == right)


@given(OWNERS)
def test_key_has_one_hash_tag_of_three_parts(owner: tuple[str, str, str]) -> None:
    """Whatever the names, the key has one pair of braces around three parts, all ASCII."""
    key = _key(owner)
    assert key.isascii()
    assert (key.count("{"), key.count("}")) == (1, 1)
    assert key.startswith("ezra:{")
    assert key.endswith("}:hot")
    assert key.count("/") == 2
