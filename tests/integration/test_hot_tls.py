"""The hot tier over TLS, and as a user with few rights."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass

import pytest
from redis import Redis
from support.held import held
from support.hot_backends import walk
from support.redis_deployments import (
    Certificates,
    certificates,
    free_ports,
    running_cluster,
    running_sentinel,
)
from support.redis_server import RedisServer, running_redis
from support.tier_samples import belief_of, mesh_of, scope_of, turn_of

from tiers.errors import ConfigError, TierRejected, TierTimeout, TierUnavailable
from tiers.hot import health, redis_health, redis_hot_store
from tiers.hot.health import STORE_COMMANDS

# The hot tier over TLS: whom it trusts, and what it says when it does not.

SCOPE = scope_of()


@dataclass(frozen=True)
class _Encrypted:
    files: Certificates
    port: int
    server: RedisServer

    @property
    def trusted(self) -> str:
        return f"rediss://127.0.0.1:{self.port}?ssl_ca_certs={self.files.authority}"


@pytest.fixture(scope="module")
def encrypted() -> Iterator[_Encrypted]:
    """A server that listens with TLS and on a socket."""
    (port,) = free_ports(1)
    with certificates() as files, running_redis("--tls-port", str(port), *files.options) as server:
        yield _Encrypted(files, port, server)


async def test_trusted_server_works_like_any_other(encrypted: _Encrypted) -> None:
    """Every operation over TLS; what it wrote is read over the socket."""
    async with redis_hot_store(encrypted.trusted, prefix="walk") as store:
        await walk(store, 60)
        await store.append(SCOPE, turn_of(SCOPE, 1), 8)
    async with redis_hot_store(encrypted.server.url, prefix="walk") as store:
        assert (await store.read(SCOPE)).turns == (turn_of(SCOPE, 1),)


@pytest.mark.parametrize("known", ["", "?ssl_ca_certs={stranger}"], ids=["system", "stranger"])
async def test_unknown_authority_is_refused(encrypted: _Encrypted, known: str) -> None:
    """A certificate that nobody we know has signed: what is wrong and which option helps."""
    option = known.format(stranger=encrypted.files.stranger)
    with pytest.raises(ConfigError, match=r"not trusted.*ssl_ca_certs") as caught:
        async with redis_hot_store(f"rediss://127.0.0.1:{encrypted.port}{option}"):
            pass
    assert caught.value.key == "EZRA_REDIS_URL"


async def test_certificate_of_another_name_is_refused(encrypted: _Encrypted) -> None:
    """The name is checked too, and the advice is another one."""
    url = encrypted.trusted.replace("127.0.0.1", "127.0.0.2")
    with pytest.raises(ConfigError, match=r"mismatch.*name it was made for"):
        async with redis_hot_store(url):
            pass
    async with redis_hot_store(f"{url}&ssl_check_hostname=no") as store:
        await store.read(SCOPE)


@pytest.mark.parametrize("option", ["ssl_ca_certs", "ssl_certfile", "ssl_keyfile"])
async def test_missing_file_is_named(option: str) -> None:
    """OpenSSL does not say which file it misses; we do."""
    with pytest.raises(ConfigError, match=f"{option}: /nowhere.pem does not exist"):
        async with redis_hot_store(f"rediss://127.0.0.1:1?{option}=/nowhere.pem"):
            pass


async def test_file_of_another_kind_is_refused(encrypted: _Encrypted) -> None:
    """A key is no authority."""
    url = f"rediss://127.0.0.1:{encrypted.port}?ssl_ca_certs={encrypted.files.key}"
    with pytest.raises(ConfigError, match="TLS files"):
        async with redis_hot_store(url):
            pass


async def test_tls_to_a_port_without_it_is_a_timeout() -> None:
    """Redis waits for the rest of what it takes for a command; the advice names the scheme."""
    (port,) = free_ports(1)
    with (
        running_redis("--port", str(port)),
        pytest.raises(TierTimeout, match=r"does not speak TLS, the URL begins with redis$"),
    ):
        async with redis_hot_store(f"rediss://127.0.0.1:{port}", timeout_seconds=0.2):
            pass


async def test_no_tls_to_a_port_with_it_is_unavailable(encrypted: _Encrypted) -> None:
    """The server hangs up without a word; the advice names the scheme."""
    with pytest.raises(TierUnavailable, match=r"expects TLS, the URL begins with rediss$"):
        async with redis_hot_store(f"redis://127.0.0.1:{encrypted.port}"):
            pass


async def _let_in(url: str) -> None:
    """Open a store; once more where the server closed before its reason was read."""
    for _ in range(5):
        with suppress(TierUnavailable):
            async with redis_hot_store(url):
                return


async def test_server_may_ask_for_a_certificate() -> None:
    """Where clients need a certificate too, it comes in the URL, and its absence is refused."""
    (port,) = free_ports(1)
    with certificates() as files:
        options = (*files.options, "--tls-auth-clients", "yes")
        with running_redis("--tls-port", str(port), *options):
            url = f"rediss://127.0.0.1:{port}?ssl_ca_certs={files.authority}"
            with pytest.raises(ConfigError, match="CERTIFICATE_REQUIRED"):
                await _let_in(url)
            login = f"&ssl_certfile={files.certificate}&ssl_keyfile={files.key}"
            async with redis_hot_store(url + login) as store:
                await store.append(SCOPE, turn_of(SCOPE, 1), 8)


async def test_killed_server_behind_tls_is_an_outage(encrypted: _Encrypted) -> None:
    """An encrypted connection that breaks is no problem of trust, and the store goes on."""
    async with redis_hot_store(encrypted.trusted, prefix="kill") as store:
        await asyncio.gather(*(store.read(SCOPE) for _ in range(8)))
        encrypted.server.kill()
        with pytest.raises(TierUnavailable):
            await store.read(SCOPE)
        encrypted.server.start()
        assert await store.append(SCOPE, turn_of(SCOPE, 1), 8) == ()


async def test_server_that_hangs_does_not_keep_the_store_from_closing(
    encrypted: _Encrypted,
) -> None:
    """The farewell of TLS, which a frozen server never answers, is neither awaited nor an error."""
    async with redis_hot_store(encrypted.trusted, timeout_seconds=3.0, prefix="hang") as store:
        await asyncio.gather(*(store.read(SCOPE) for _ in range(8)))
        freezing = ExitStack()
        freezing.enter_context(encrypted.server.frozen())
        with pytest.raises(TierTimeout):
            await store.read(SCOPE)
    freezing.close()


async def test_distrust_shows_in_the_health(encrypted: _Encrypted) -> None:
    """The doctor says the same and does not raise."""
    health = await redis_health(f"rediss://127.0.0.1:{encrypted.port}")
    assert "not trusted" in health.problems[0]
    assert (await redis_health(encrypted.trusted)).problems == ()


async def test_sentinel_and_its_master_over_tls() -> None:
    """The certificate counts for both, and an unknown authority is refused by both."""
    with certificates() as files:
        options = (*files.options, "--tls-replication", "yes")
        with running_sentinel(options, tls=True) as deployment:
            async with redis_hot_store(
                deployment.url(options=f"?ssl_ca_certs={files.authority}")
            ) as store:
                await walk(store, 30)
            with pytest.raises(ConfigError, match="not trusted"):
                async with redis_hot_store(deployment.url()):
                    pass


async def test_cluster_over_tls() -> None:
    """Every node, those learnt later included, is reached over TLS."""
    with certificates() as files, running_cluster(1, files.options, tls=True) as deployment:
        url = f"{deployment.url}?ssl_ca_certs={files.authority}"
        async with redis_hot_store(url) as store:
            await walk(store, 30)
        with pytest.raises(ConfigError, match="not trusted"):
            async with redis_hot_store(deployment.url):
                pass


# The hot tier as a user with few rights: the smallest rule, and what each missing right does.

RAW = "p@ss:/?#%"
LOGIN = "keeper:p%40ss%3A%2F%3F%23%25"


server = held(running_redis, "module")
"""One real Redis for this file."""


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
