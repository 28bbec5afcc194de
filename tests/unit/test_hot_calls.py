"""The pure parts of the hot tier: calls made again, URLs, keys, and for whom a hash was filled."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any
from urllib.parse import quote

import pytest
from fakeredis import FakeAsyncRedis
from hypothesis import given
from hypothesis import strategies as st
from redis.exceptions import (
    AuthenticationError,
    BusyLoadingError,
    ClusterDownError,
    ConnectionError,  # noqa: A004 - the driver's own class
    NoPermissionError,
    OutOfMemoryError,
    ReadOnlyError,
    RedisClusterException,
    ResponseError,
    SlotNotCoveredError,
    TimeoutError,  # noqa: A004 - the driver's own class
)
from support.tier_samples import scope_of, turn_of

from tiers.errors import ConfigError, TierRejected, TierTimeout, TierUnavailable, UsageError
from tiers.hot import RedisHotStore
from tiers.hot.address import parse_redis_url
from tiers.hot.calls import CallLimits, limited
from tiers.hot.client import ClientLimits
from tiers.hot.view import RUNTIME_VIEW, may_see, view_of

# When a call on the hot tier is made again, and how long it may take.


def _failing(error: Exception, times: int) -> tuple[Callable[[], Awaitable[str]], list[int]]:
    """Return a call that fails some times before it answers, and a list as long as its tries."""
    tries: list[int] = []

    async def call() -> str:
        tries.append(1)
        if len(tries) <= times:
            raise error
        return "answer"

    return call, tries


PASSING = [
    ConnectionError("gone"),
    BusyLoadingError("loading"),
    ReadOnlyError("demoted"),
    ClusterDownError("CLUSTERDOWN"),
    SlotNotCoveredError("nobody serves it"),
    ResponseError("BUSY Redis is busy running a script"),
    ResponseError("NOREPLICAS Not enough good replicas to write."),
]
LASTING = [
    AuthenticationError("wrong"),
    NoPermissionError("may not"),
    OutOfMemoryError("full"),
    ResponseError("WRONGTYPE"),
    ConnectionError("[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: expired (_ssl)"),
]


@pytest.mark.parametrize("error", PASSING, ids=repr)
async def test_an_outage_is_tried_again(error: Exception) -> None:
    """What passes by itself, as in a failover, is repeated as often as allowed."""
    call, tries = _failing(error, 2)
    assert await limited("read", CallLimits(retries_max=2), call) == "answer"
    assert len(tries) == 3
    call, tries = _failing(error, 3)
    with pytest.raises(TierUnavailable) as caught:
        await limited("read", CallLimits(retries_max=2), call)
    assert len(tries) == 3
    assert caught.value.__cause__ is error


@pytest.mark.parametrize("error", LASTING, ids=repr)
async def test_a_refusal_is_not_tried_again(error: Exception) -> None:
    """The server said no; asking again changes nothing."""
    call, tries = _failing(error, 1)
    with pytest.raises(TierRejected):
        await limited("read", CallLimits(), call)
    assert len(tries) == 1


async def test_a_late_answer_is_not_tried_again() -> None:
    """After a timeout the outcome is unknown, and the caller is late already."""
    call, tries = _failing(TimeoutError("late"), 1)
    with pytest.raises(TierTimeout):
        await limited("read", CallLimits(), call)
    assert len(tries) == 1


async def test_the_call_as_a_whole_has_a_deadline() -> None:
    """A call that never ends is ended, cleaned up and reported."""
    cleaned: list[str] = []

    async def forever() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            cleaned.append("up")

    with pytest.raises(TierTimeout, match=r"0\.01 s"):
        await limited("read", CallLimits(timeout_seconds=0.01), forever)
    assert cleaned == ["up"]


async def test_no_wait_goes_beyond_the_deadline() -> None:
    """An outage stays an outage: it does not become a timeout by waiting."""
    call, tries = _failing(ConnectionError("gone"), 99)
    with pytest.raises(TierUnavailable):
        await limited("read", CallLimits(timeout_seconds=0.02, retries_max=10), call)
    assert len(tries) == 1


async def test_cancellation_is_not_an_error_of_the_tier() -> None:
    """Whoever cancels sees the cancellation."""

    async def forever() -> None:
        await asyncio.Event().wait()

    task = asyncio.create_task(limited("read", CallLimits(), forever))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_an_error_around_the_call_does_not_change_its_meaning() -> None:
    """A call made while another error is handled is judged by its own error."""
    call, _ = _failing(RedisClusterException("All slots are not covered"), 9)
    other, _ = _failing(AuthenticationError("of somebody else"), 9)
    try:
        await other()
    except AuthenticationError:
        with pytest.raises(TierUnavailable):
            await limited("read", CallLimits(retries_max=0), call)


@pytest.mark.parametrize(
    "made",
    [
        lambda: CallLimits(timeout_seconds=0),
        lambda: CallLimits(timeout_seconds=float("nan")),
        lambda: CallLimits(retries_max=-1),
        lambda: CallLimits(retries_max=11),
        lambda: ClientLimits(connections_max=0),
        lambda: ClientLimits(timeout_seconds=-1),
        lambda: ClientLimits(health_check_seconds=-1),
    ],
)
def test_limits_that_are_none_are_refused(made: Callable[[], object]) -> None:
    """Every limit is a positive number, and retries have an upper bound."""
    with pytest.raises(UsageError):
        made()


# Reading a deployment's URL: every form, every refusal, and no password ever shown.

ACCEPTED: list[tuple[str, dict[str, Any]]] = [
    ("redis://", {"kind": "standalone", "hosts": (("localhost", 6379),), "db": 0, "tls": None}),
    ("redis://cache", {"hosts": (("cache", 6379),)}),
    ("REDIS://cache:7000/3", {"hosts": (("cache", 7000),), "db": 3}),
    ("redis://cache/?db=4", {"db": 4}),
    (" redis://cache:7000\n", {"hosts": (("cache", 7000),)}),
    ("redis://[::1]:7000", {"hosts": (("::1", 7000),)}),
    ("redis://:pw@cache", {"username": None, "password": "pw"}),
    ("redis://me:p%40%3A%2F%3F%23%25@cache", {"username": "me", "password": "p@:/?#%"}),
    ("redis://me:a:b@cache", {"username": "me", "password": "a:b"}),
    ("redis://cache?client_name=ezra", {"client_name": "ezra"}),
    ("redis://cache?socket_keepalive=no", {"keepalive": False}),
    (
        "unix:///run/redis%20one.sock?db=2",
        {"kind": "standalone", "hosts": (), "path": "/run/redis one.sock", "db": 2},
    ),
    ("unix://me:pw@/run/r.sock", {"username": "me", "password": "pw", "path": "/run/r.sock"}),
    (
        "redis+sentinel://me:pw@one,two:7001,[::1]:7002/main/5",
        {
            "kind": "sentinel",
            "hosts": (("one", 26379), ("two", 7001), ("::1", 7002)),
            "service": "main",
            "db": 5,
            "username": "me",
            "password": "pw",
            "sentinel_password": None,
        },
    ),
    (
        "rediss+sentinel://one/main?sentinel_username=s&sentinel_password=%26%3D",
        {"service": "main", "sentinel_username": "s", "sentinel_password": "&="},
    ),
    (
        "redis+cluster://one:7000,two:7001",
        {"kind": "cluster", "hosts": (("one", 7000), ("two", 7001))},
    ),
    ("redis+cluster://one/0", {"kind": "cluster", "hosts": (("one", 6379),)}),
]

REFUSED = [
    ("", "redis://, rediss://"),
    ("http://host", "redis+cluster://"),
    ("host:6379", "must start with"),
    ("hunter2", "must start with"),
    ("redis://:hunter2@host:port", "host must be name:port"),
    ("redis://:hunter2@host:0", "from 1 to 65535"),
    ("redis://:hunter2@host:65536", "from 1 to 65535"),
    ("redis://:hunter2@host:", "name:port"),
    ("redis://:hunter2@::1:6379", "IPv6"),
    ("redis://:hun/ter2@host", "percent-encoded"),
    ("redis://:hun?ter2@host", "percent-encoded"),
    ("redis://:hun#ter2@host", "percent-encoded"),
    ("redis://:hun ter2@host", "percent-encoded"),
    ("redis://:hunter2%ff@host", "UTF-8"),
    ("redis://:hunter2@host/db", "number"),
    ("redis://:hunter2@host/1/2", "one number"),
    ("redis://:hunter2@host/1?db=2", "one number"),
    ("redis://host?hunter2", "name=value"),
    ("redis://host?hunter=2", "client_name"),
    ("redis://host?db=1&db=2", "twice"),
    ("redis://host?password=hunter2", "before the host"),
    ("redis://host?socket_timeout=5", "timeout_seconds"),
    ("redis://host?socket_keepalive=perhaps", "true or false"),
    ("redis://host?ssl_ca_certs=ca.pem", "client_name, db, socket_keepalive"),
    ("rediss://host?ssl_cert_reqs=perhaps", "none, optional or required"),
    ("rediss://host?ssl_min_version=SSLv3", "TLSv1.2"),
    ("rediss://host?ssl_include_verify_flags=hunter2", "VERIFY_X509_STRICT"),
    ("unix://", "absolute path"),
    ("unix://host/run/redis.sock", "absolute path"),
    ("redis+sentinel://host", "name the master"),
    ("redis+sentinel:///main", "name:port"),
    ("redis+sentinel://one,,two/main", "name:port"),
    ("redis+cluster://host/1", "no database but 0"),
    ("redis+cluster://" + ",".join(["host"] * 65), "at most 64"),
    ("rediss+unix:///run/redis.sock", "must start with"),
]


@pytest.mark.parametrize(("url", "parts"), ACCEPTED, ids=[url for url, _ in ACCEPTED])
def test_url_is_understood(url: str, parts: dict[str, Any]) -> None:
    """Each form of URL gives its parts, decoded."""
    address = parse_redis_url(url)
    assert {name: getattr(address, name) for name in parts} == parts


@pytest.mark.parametrize(("url", "said"), REFUSED, ids=[url for url, _ in REFUSED])
def test_url_is_refused(url: str, said: str) -> None:
    """What cannot be understood names the setting and what is accepted, and shows no secret."""
    with pytest.raises(ConfigError) as caught:
        parse_redis_url(url)
    assert caught.value.key == "EZRA_REDIS_URL"
    assert said in caught.value.reason
    for part in ("hunter2", "ter2", "%ff"):
        assert part not in str(caught.value)
    # A chained cause would show what the message hides.
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


def test_tls_options_are_read_and_checked_by_default() -> None:
    """The certificate and its name are checked unless the URL says otherwise."""
    plain = parse_redis_url("rediss://host").tls
    assert plain == {"cert_reqs": "required", "check_hostname": True, "password": ""}
    given_options = parse_redis_url(
        "rediss+cluster://host?ssl_ca_certs=/ca.pem&ssl_certfile=/c.pem&ssl_keyfile=/k.pem"
        "&ssl_cert_reqs=none&ssl_check_hostname=false&ssl_min_version=TLSv1.3"
        "&ssl_include_verify_flags=VERIFY_X509_STRICT&ssl_password=pw"
    ).tls
    assert given_options == {
        "ca_certs": "/ca.pem",
        "certfile": "/c.pem",
        "keyfile": "/k.pem",
        "cert_reqs": "none",
        "check_hostname": False,
        "min_version": ssl.TLSVersion.TLSv1_3,
        "include_verify_flags": [ssl.VerifyFlags.VERIFY_X509_STRICT],
        "password": "pw",
    }


SECRETS = st.text(st.characters(codec="utf-8"), min_size=4, max_size=12)


@given(SECRETS, SECRETS)
def test_any_login_survives_percent_encoding_and_is_never_shown(name: str, secret: str) -> None:
    """User and password come back whole; the repr of the address has neither."""
    login = f"{quote(name, safe='')}:{quote(secret, safe='')}"
    address = parse_redis_url(f"redis://{login}@host:1/2")
    assert (address.username, address.password) == (name, secret)
    bare = parse_redis_url("redis://host:1/2")
    assert repr(address) == repr(bare)


@given(st.text(max_size=40))
def test_any_text_is_understood_or_refused(text: str) -> None:
    """Nothing but a ConfigError comes out, whatever goes in."""
    for url in (text, f"redis://{text}", f"redis+sentinel://{text}", f"rediss://host?{text}"):
        with suppress(ConfigError):
            assert parse_redis_url(url).kind in {"standalone", "sentinel"}


# The hot tier's keys: different agents never share one, and no name leaves its place.

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


# For whom a hash of the hot tier was filled: the digest, and who may see a record.

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
