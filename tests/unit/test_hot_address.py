"""Reading a deployment's URL: every form, every refusal, and no password ever shown."""

from __future__ import annotations

import ssl
from contextlib import suppress
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiers.errors import ConfigError
from tiers.hot.address import parse_redis_url

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
