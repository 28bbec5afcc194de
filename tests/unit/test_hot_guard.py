"""The way out of the hot tier: what is not about the scope's agent does not leave."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any, cast
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st
from redis.asyncio import Redis
from redis.asyncio.cluster import RedisCluster
from support.tier_samples import TWIN_SCOPES, belief_of, mesh_of, scope_of, turn_of

import tiers.hot
from tiers.errors import TierRejected
from tiers.hot import RedisHotStore, guard
from tiers.hot.guard import KEYLESS, GuardedClient, send_without_key
from tiers.hot.health import STORE_COMMANDS

SCOPE = scope_of("acme", "race", "a b")
KEY = "ezra:{acme/race/a%20b}:hot"
NAMES = st.text(st.characters(codec="utf-8"), min_size=1, max_size=6)


class _Wire:
    """A driver's client that notes what would have left."""

    def __init__(self) -> None:
        self.sent: list[tuple[Any, ...]] = []

    async def execute_command(self, *command: Any, **_options: Any) -> None:
        self.sent.append(command)


def _guarded(wire: _Wire) -> GuardedClient:
    return GuardedClient(cast("Redis", wire), "ezra")


async def test_command_about_the_scopes_agent_leaves() -> None:
    """One key, that of the agent: every form that the store uses."""
    wire = _Wire()
    commands: list[tuple[Any, ...]] = [
        ("HGETALL", KEY),
        ("DEL", KEY),
        ("HSET", KEY, "field", "value"),
        ("EVALSHA", "sha", 1, KEY, 60_000, "argument"),
        ("EVAL", "return 0", "1", KEY),
    ]
    for command in commands:
        await _guarded(wire).send(SCOPE, "test", *command)
    assert wire.sent == commands


WRONG_KEYS = [
    "ezra:{other/race/a%20b}:hot",
    "ezra:{acme/other/a%20b}:hot",
    "ezra:{acme/race/other}:hot",
    "ezra:{acme/race/a b}:hot",
    "ezra:{acme/race/%61%20b}:hot",
    "ezra:{acme/race/a%20b}:hot2",
    "ezra:{acme/race}:hot",
    "ezra:{acme/race/a%20b/}:hot",
    "ezra:{acm/erace/a%20b}:hot",
    "ezra:acme/race/a%20b:hot",
    "ezra2:{acme/race/a%20b}:hot",
    "ezra:{x}:{acme/race/a%20b}:hot",
    "ezra:{acme/race/a%20b}:hot\n",
    "ezra:{ACME/race/a%20b}:hot",
    "ezra:{acme/race/a%20b%00}:hot",
    "ezra:{acme/race/*}:hot",
    "*",
    "",
]


@pytest.mark.parametrize("key", WRONG_KEYS)
async def test_key_of_anybody_else_is_refused(key: str) -> None:
    """Other names, other encodings of the same names, other prefixes, and no key at all."""
    wire = _Wire()
    for command in (("HGETALL", key), ("DEL", key), ("EVALSHA", "sha", 1, key, KEY)):
        with pytest.raises(TierRejected, match="not sent"):
            await _guarded(wire).send(SCOPE, "read", *command)
    assert wire.sent == []


@pytest.mark.parametrize(
    "command",
    [
        ("DEL", KEY, KEY),
        ("DEL",),
        ("HGETALL",),
        ("EVALSHA", "sha", 2, KEY, KEY),
        ("EVALSHA", "sha", 0, KEY),
        ("EVALSHA", "sha", "1 ", KEY),
        ("EVALSHA", "sha", -1, KEY),
        ("EVALSHA", "sha"),
        ("MGET", KEY),
        ("hgetall", KEY),
        ("FLUSHALL",),
        ("KEYS", "*"),
        ("PING",),
    ],
    ids=str,
)
async def test_other_number_of_keys_is_refused(command: tuple[Any, ...]) -> None:
    """None, two, a count that is none, and commands whose keys nobody knows."""
    wire = _Wire()
    with pytest.raises(TierRejected, match="exactly one key"):
        await _guarded(wire).send(SCOPE, "read", *command)
    assert wire.sent == []


async def test_scope_without_an_agent_has_no_key() -> None:
    """The runtime's own scope of a graph names no hash."""
    wire = _Wire()
    with pytest.raises(TierRejected):
        await _guarded(wire).send(SCOPE.for_graph(), "read", "HGETALL", KEY)
    assert wire.sent == []


async def test_only_questions_about_the_server_need_no_key() -> None:
    """Who asks without a key says so, and may ask for three things."""
    wire = _Wire()
    for command in sorted(KEYLESS):
        await send_without_key(cast("RedisCluster", wire), command)
    assert wire.sent == [("HELLO",), ("INFO",), ("PING",)]
    for command in set(STORE_COMMANDS) - KEYLESS | {"FLUSHALL", "KEYS"}:
        with pytest.raises(TierRejected):
            await send_without_key(cast("RedisCluster", wire), command)
    assert len(wire.sent) == 3


@pytest.mark.parametrize("pair", TWIN_SCOPES, ids=range(len(TWIN_SCOPES)))
async def test_store_that_mixes_up_keys_sends_nothing(
    pair: tuple[Any, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Were keys made wrong, for a name that looks alike, every operation would be refused."""
    left, right = (scope_of(*names) for names in pair)
    wire = _Wire()
    store = RedisHotStore(cast("Redis", wire))
    wrong = store._key(right, "test")
    monkeypatch.setattr("tiers.hot.redis_store.hot_key", lambda _prefix, _scope: wrong)
    for call in (
        store.append(left, turn_of(left, 1), 8),
        store.read(left),
        store.restore(left, [turn_of(left, 1)], 8),
        store.pin(left, belief_of(left, "b")),
        store.unpin(left, "b"),
        store.put_mesh(left, mesh_of("m")),
        store.clear(left),
    ):
        with pytest.raises(TierRejected, match="scope's agent"):
            await call
    assert wire.sent == []


@given(st.tuples(NAMES, NAMES, NAMES), st.tuples(NAMES, NAMES, NAMES))
async def test_key_and_scope_meet_exactly_when_the_names_are_equal(
    left: tuple[str, str, str], right: tuple[str, str, str]
) -> None:
    """Whatever the names, the guard accepts the agent's own key and no other."""
    wire = _Wire()
    scope = scope_of().model_copy(
        update=dict(zip(("tenant", "graph_id", "agent_id"), left, strict=True))
    )
    for names in (left, right):
        key = "ezra:{" + "/".join(quote(name, safe="") for name in names) + "}:hot"
        if names == left:
            await _guarded(wire).send(scope, "read", "HGETALL", key)
        else:
            with pytest.raises(TierRejected):
                await _guarded(wire).send(scope, "read", "HGETALL", key)
    assert len(wire.sent) == 1 + (left == right)


def test_there_is_one_way_out() -> None:
    """No other module of the hot tier has a client do anything, and the guard makes no keys."""
    folder = Path(tiers.hot.__file__).parent
    beside = {"initialize", "get_primaries"}
    for path in sorted(folder.glob("*.py")):
        if path.name in {"guard.py", "client.py"}:
            continue
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Attribute) and _is_client(node.value):
                assert node.attr in beside, f"{path.name}:{node.lineno}"
    source = Path(guard.__file__).read_text("utf-8")
    imported = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.ImportFrom)]
    assert "keys" not in {node.module for node in imported}


def _is_client(node: ast.expr) -> bool:
    name = node.id if isinstance(node, ast.Name) else getattr(node, "attr", "")
    return name in {"client", "_client"}
