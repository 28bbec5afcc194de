"""Tokens of an identity provider: real keys, a real HTTP server that has them, the real gate."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import httpx2
import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from jwt.algorithms import ECAlgorithm, RSAAlgorithm
from support.service import Ticking

from ezra import Ezra, Settings
from ezra.service.app import service_app
from ezra.service.credentials import credentials_of
from ezra.service.identity import AGAIN_SECONDS, KEYS_SECONDS, STALE_SECONDS, IdentityProvider
from ezra.service.tokens import TokenFile
from tiers.errors import ConfigError, TierUnavailable

AUDIENCE = "ezra-at-the-track"
RSA = rsa.generate_private_key(public_exponent=65_537, key_size=2_048)
OTHER_RSA = rsa.generate_private_key(public_exponent=65_537, key_size=2_048)
CURVE = ec.generate_private_key(ec.SECP256R1())


class Provider:
    """A stand-in for an identity provider: a discovery document and keys, over real HTTP."""

    def __init__(self) -> None:
        self.keys: dict[str, Any] = {"first": RSA}
        self.asked = 0
        self.is_away = False
        self.issuer = ""
        self.says_it_is: str | None = None
        self.keys_are: bytes | None = None

    def answer(self, path: str) -> dict[str, Any] | None:
        """Return what it has at a path."""
        if self.is_away:
            return None
        if path == "/.well-known/openid-configuration":
            return {"issuer": self.says_it_is or self.issuer, "jwks_uri": f"{self.issuer}/keys"}
        self.asked += 1
        return {"keys": [_public(name, key) for name, key in self.keys.items()]}

    def token(self, *, key: str = "first", signed_by: Any = None, **claims: Any) -> str:
        """Return a token; ``claims`` are changed, or left out where ``None``.

        Moments are given in seconds from now.
        """
        now = int(time.time())
        said = {
            "iss": self.issuer,
            "aud": AUDIENCE,
            "sub": "lena",
            "exp": 600,
            "ezra": {"role": "operator"},
        } | claims
        said = {name: value for name, value in said.items() if value is not None}
        said |= {name: now + said[name] for name in ("exp", "nbf") if name in said}
        private = signed_by or self.keys[key]
        algorithm = "RS256" if isinstance(private, rsa.RSAPrivateKey) else "ES256"
        return jwt.encode(said, private, algorithm=algorithm, headers={"kid": key})


def _public(name: str, key: Any) -> dict[str, Any]:
    maker = RSAAlgorithm if isinstance(key, rsa.RSAPrivateKey) else ECAlgorithm
    return {**json.loads(maker.to_jwk(key.public_key())), "kid": name, "use": "sig"}


@pytest.fixture
def provider() -> Iterator[Provider]:
    """A provider that listens on loopback."""
    made = Provider()

    class Answers(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            """Answer, or fail as a server does."""
            said = made.answer(self.path)
            body = json.dumps(said).encode()
            if made.keys_are is not None and self.path == "/keys":
                body = made.keys_are
            self.send_response(503 if said is None else 200)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    made.issuer = f"http://127.0.0.1:{server.server_port}"
    Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    yield made
    server.shutdown()
    server.server_close()


def _door(provider: Provider, seconds: Ticking | None = None) -> IdentityProvider:
    return IdentityProvider(provider.issuer, AUDIENCE, "default", seconds=seconds or Ticking())


@asynccontextmanager
async def _asking(home: Path, provider: Provider) -> AsyncIterator[httpx2.AsyncClient]:
    settings = Settings(
        home=home,
        embedder="off",
        background=False,
        serve_jwt_issuer=provider.issuer,
        serve_jwt_audience=AUDIENCE,
    )
    async with Ezra.open(settings) as ezra:
        for name in ("monza", "imola"):
            await ezra.create_session_graph(name)
        app = service_app(ezra, tokens=credentials_of(settings), settings=settings)
        way = httpx2.ASGITransport(app, raise_app_exceptions=False)
        async with httpx2.AsyncClient(transport=way, base_url="http://ezra.test") as http:
            yield http


def _shows(token: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token}"}


async def test_what_the_provider_signed_lets_in_and_limits(
    tmp_path: Path, provider: Provider
) -> None:
    """Its claim is what the bearer may do; without a token nobody gets in, and ours go on."""
    async with _asking(tmp_path, provider) as http:
        assert (await http.get("/v1/graphs")).status_code == 401
        found = await http.get("/v1/graphs", headers=_shows(provider.token()))
        assert found.status_code == 200
        assert {one["id"] for one in found.json()} == {"monza", "imola"}

        limited = _shows(provider.token(ezra={"role": "reader", "graph_id": "monza"}))
        assert (await http.get("/v1/graphs/monza", headers=limited)).status_code == 200
        assert (await http.get("/v1/graphs/imola", headers=limited)).status_code == 403
        assert (await http.get("/v1/graphs", headers=limited)).status_code == 403

        _, own = TokenFile(tmp_path / "tokens.json").create("own", "operator", expires_at=None)
        assert (await http.get("/v1/graphs", headers=_shows(own))).status_code == 200


@pytest.mark.parametrize(
    "changed",
    [
        {"exp": -3_600},
        {"exp": None},
        {"nbf": 3_600},
        {"aud": "another"},
        {"aud": None},
        {"iss": "https://another.example"},
        {"sub": None},
        {"ezra": None},
        {"ezra": "operator"},
        {"ezra": {"graph_id": "monza"}},
        {"ezra": {"role": "root"}},
        {"ezra": {"role": "operator", "tenant": "another"}},
        {"ezra": {"role": "reader", "agent_id": "strategist"}},
        {"signed_by": OTHER_RSA},
        {"signed_by": CURVE},
    ],
    ids="-".join,
)
async def test_what_does_not_count_lets_nobody_in(
    provider: Provider, changed: dict[str, Any]
) -> None:
    """Expired, too early, for others, by others, or without a claim that says what it is for."""
    door = _door(provider)
    assert await door.find(provider.token()) is not None
    assert await door.find(provider.token(**changed)) is None


async def test_a_token_that_nobody_signed_is_none(provider: Provider) -> None:
    """Neither ``none`` nor the public key as a shared secret makes a signature."""
    door = _door(provider)
    claims = jwt.decode(provider.token(), options={"verify_signature": False})
    unsigned = jwt.encode(claims, "", algorithm="none", headers={"kid": "first"})
    shared = jwt.encode(claims, "s" * 64, algorithm="HS256", headers={"kid": "first"})
    for hostile in (unsigned, shared, "a.b.c", "..", "x" * 100_000, provider.token()[:-4]):
        assert await door.find(hostile) is None


async def test_keys_are_asked_for_again_when_there_are_new_ones(provider: Provider) -> None:
    """Once for many tokens; for a key that is unknown at once, but not at every guess."""
    seconds = Ticking()
    door = _door(provider, seconds)
    for _ in range(3):
        assert await door.find(provider.token()) is not None
    assert provider.asked == 1

    provider.keys = {"second": CURVE}
    seconds.now += AGAIN_SECONDS
    assert await door.find(provider.token(key="second")) is not None
    assert provider.asked == 2
    for guess in range(20):
        assert await door.find(provider.token(key=f"guess{guess}", signed_by=RSA)) is None
    assert provider.asked == 2
    assert await door.find(provider.token(key="first", signed_by=RSA)) is None  # it was withdrawn


async def test_a_provider_that_is_away_is_missed_only_after_a_while(provider: Provider) -> None:
    """What is known goes on for an hour; then, and before anything is known, it is an error."""
    seconds = Ticking()
    door = _door(provider, seconds)
    token = provider.token()
    assert await door.find(token) is not None
    provider.is_away = True
    seconds.now += KEYS_SECONDS + 1
    assert await door.find(token) is not None
    seconds.now += STALE_SECONDS
    with pytest.raises(TierUnavailable, match="HTTP 503"):
        await door.find(token)
    with pytest.raises(TierUnavailable):
        await _door(provider).find(token)


async def test_a_discovery_document_of_another_is_not_believed(provider: Provider) -> None:
    """Nor one that has the keys where anybody on the way can change them."""
    provider.says_it_is = "https://another.example"
    with pytest.raises(TierUnavailable, match=r"another\.example"):
        await _door(provider).find(provider.token())


@pytest.mark.parametrize("url", ["http://id.example", "ftp://id.example", "https://", "id", ""])
def test_an_issuer_is_asked_over_a_way_that_nobody_can_change(url: str) -> None:
    """Https, or this machine itself; the error names the setting."""
    with pytest.raises(ConfigError, match="EZRA_SERVE_JWT_ISSUER"):
        IdentityProvider(url, AUDIENCE, "default")


def test_an_issuer_needs_an_audience() -> None:
    """Tokens of the same provider for another service must not count here."""
    with pytest.raises(ConfigError, match="EZRA_SERVE_JWT_AUDIENCE"):
        Settings(serve_jwt_issuer="https://id.example")


@pytest.mark.parametrize(
    "keys",
    [
        b'{"keys": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
        b'{"keys": [1, {"kty": "RSA", "kid": [], "n": 5, "e": {}}, null]}',
        b'{"keys": "none"}',
        b'{"keys": [' + b"{}," * 10_000 + b"{}]}",
        b'{"keys": [' + b" " * 2_000_000 + b"]}",
        b"\xff\xfe",
        b"NaN",
    ],
    ids=("deep", "odd", "text", "many", "long", "bytes", "nan"),
)
async def test_r9_37_keys_that_are_none_are_said_to_be_away(
    tmp_path: Path, provider: Provider, keys: bytes
) -> None:
    """Whatever stands where keys should be: nobody is let in, and nothing fails."""
    provider.keys_are = keys
    async with _asking(tmp_path, provider) as http:
        for _ in range(2):  # the second one does not wait for them again
            refused = await http.get("/v1/graphs", headers=_shows(provider.token()))
            assert refused.status_code == 503
            assert "identity provider" in refused.text
    assert provider.asked == 1


async def test_r9_37_a_token_that_is_nested_lets_nobody_in(
    tmp_path: Path, provider: Provider
) -> None:
    """Its head is read before anybody signed for it."""
    head = base64.urlsafe_b64encode(b"[" * 9_000 + b"]" * 2_900).decode().rstrip("=")
    async with _asking(tmp_path, provider) as http:
        refused = await http.get("/v1/graphs", headers=_shows(f"{head}.e30.e30"))
    assert refused.status_code == 401
