"""The hot tier as a user with few rights: the smallest rule, and what each missing right does."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from redis import Redis
from support.hot_backends import walk
from support.redis_server import RedisServer, running_redis
from support.tier_samples import belief_of, mesh_of, scope_of, turn_of

from tiers.errors import ConfigError, TierRejected
from tiers.hot import health, redis_health, redis_hot_store
from tiers.hot.health import STORE_COMMANDS

SCOPE = scope_of()
RAW = "p@ss:/?#%"
LOGIN = "keeper:p%40ss%3A%2F%3F%23%25"


@pytest.fixture(scope="module")
def server() -> Iterator[RedisServer]:
    """One real Redis for this file."""
    with running_redis() as running:
        yield running


def _rule(*, without: str = "", keys: str = "~ezra:*", also: tuple[str, ...] = ()) -> list[str]:
    grants = [f"+{name.lower()}" for name in STORE_COMMANDS if name != without]
    return ["on", f">{RAW}", "resetchannels", keys, "-@all", *grants, *also]


def _url(server: RedisServer, rule: list[str]) -> str:
    """Make the user anew, and the server forget scripts and keys; return the user's URL."""
    with Redis(unix_socket_path=str(server.socket)) as admin:
        admin.flushall()
        admin.script_flush()
        admin.execute_command("ACL", "SETUSER", "keeper", "reset", *rule)
        admin.acl_log_reset()
    return f"unix://{LOGIN}@{server.socket}"


async def _everything(url: str) -> None:
    """Use every command of the store."""
    async with redis_hot_store(url) as store:
        for seq in (1, 2):
            await store.append(SCOPE, turn_of(SCOPE, seq), 1)
        await store.restore(SCOPE, [turn_of(SCOPE, 3)], 8)
        await store.pin(SCOPE, belief_of(SCOPE, "b"))
        await store.put_mesh(SCOPE, mesh_of("m"))
        await store.read(SCOPE)
        await store.unpin(SCOPE, "b")
        await store.clear(SCOPE)


def test_documented_rule_is_the_tested_one() -> None:
    """The rule that people copy grants exactly the commands that the tests grant."""
    assert health.__doc__ is not None
    rule = health.__doc__.split("::")[1].split("Besides")[0].split()
    assert rule[:3] == ["ACL", "SETUSER", "ezra"]
    assert {word for word in rule if word.startswith("+")} == {
        f"+{name.lower()}" for name in STORE_COMMANDS
    }
    assert {"resetchannels", "~ezra:*", "-@all"} < set(rule)


async def test_smallest_rule_suffices(server: RedisServer) -> None:
    """With it everything works, and the server has refused nothing."""
    url = _url(server, _rule())
    async with redis_hot_store(url) as store:
        await walk(store, 60)
    await _everything(url)
    with Redis(unix_socket_path=str(server.socket)) as admin:
        assert admin.acl_log() == []
    health = await redis_health(url)
    assert health.problems == ()
    assert "+info" in str(health.details["info"])


@pytest.mark.parametrize("command", STORE_COMMANDS)
async def test_each_missing_command_is_an_error_and_shows_in_the_health(
    server: RedisServer, command: str
) -> None:
    """No grant is superfluous; without it the error says permission, and the doctor says which."""
    url = _url(server, _rule(without=command))
    with pytest.raises((ConfigError, TierRejected), match="permission"):
        await _everything(url)
    health = await redis_health(url)
    assert health.reachable
    assert len(health.problems) == 1
    assert command.lower() in health.problems[0].lower()


async def test_keys_outside_the_rule_are_an_error_and_show_in_the_health(
    server: RedisServer,
) -> None:
    """A user of another prefix is told which keys it needs."""
    url = _url(server, _rule(keys="~other:*"))
    with pytest.raises(TierRejected, match="permission"):
        await _everything(url)
    assert (await redis_health(url)).problems == (
        "the user may not use keys that begin with ezra: - grant ~ezra:*",
    )
    assert (await redis_health(url, prefix="other")).problems == ()


async def test_health_leaves_nothing_behind(server: RedisServer) -> None:
    """The key on which permissions are tried is gone afterwards."""
    assert (await redis_health(_url(server, _rule(also=("+info",))))).problems == ()
    with Redis(unix_socket_path=str(server.socket)) as admin:
        assert admin.dbsize() == 0


async def test_what_options_of_the_url_need_besides(server: RedisServer) -> None:
    """A database and a name of the client need one more right each."""
    url = _url(server, _rule(also=("+select", "+client|setname")))
    async with redis_hot_store(f"{url}?db=3&client_name=ezra-1") as store:
        await store.append(SCOPE, turn_of(SCOPE, 1), 8)
        with Redis(unix_socket_path=str(server.socket), db=3) as admin:
            assert admin.dbsize() == 1
            assert "ezra-1" in {client["name"] for client in admin.client_list()}
    url = _url(server, _rule())
    for option in ("db=3", "client_name=ezra-1"):
        with pytest.raises(ConfigError, match="permission"):
            async with redis_hot_store(f"{url}?{option}"):
                pass


async def test_disabled_user_is_refused(server: RedisServer) -> None:
    """A user switched off is a refused login, without the password in the error."""
    url = _url(server, [*_rule(), "off"])
    with pytest.raises(ConfigError, match="login") as caught:
        async with redis_hot_store(url):
            pass
    assert "ss:/" not in str(caught.value)
    health = await redis_health(url)
    assert (health.reachable, len(health.problems)) == (True, 1)
