"""Tokens: only who holds one that counts is let in, and only as far as it goes."""

from __future__ import annotations

import asyncio
import hashlib
import json
import stat
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx2
import pytest
from support.runtime import MovingClock, running
from support.service import serving

from ezra import ConfigError, Ezra, NotFound, PolicyDenied, UsageError
from ezra.cli import main
from ezra.service import tokens as tokens_module
from ezra.service.tokens import TokenFile

BAD = "nothing basic empty malformed unknown wrong expired revoked".split()


@pytest.fixture
def file(tmp_path: Path, clock: MovingClock) -> TokenFile:
    """A file of tokens that is not there yet."""
    return TokenFile(tmp_path / "keys" / "tokens.json", clock)


def make(file: TokenFile, name: str = "one", **given: Any) -> tuple[str, str]:
    """Return the id of a new operator's token, and the token."""
    token, shown = file.create(name, **{"role": "operator", "expires_at": None, **given})
    return token.id, shown


async def test_a_token_is_kept_as_a_hash_that_its_owner_alone_may_read(
    file: TokenFile, tmp_path: Path
) -> None:
    """The file holds the SHA-256 of 256 random bits, and nothing that lets anybody in."""
    token_id, shown = make(file)
    path = tmp_path / "keys" / "tokens.json"
    secret = shown.removeprefix(f"ezra_{token_id}_")
    text = path.read_text()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert len(secret) == 43
    assert secret not in text
    assert hashlib.sha256(secret.encode()).hexdigest() in text
    found = await file.find(shown)
    assert found is not None
    assert (found.id, found.name, found.role) == (token_id, "one", "operator")
    assert "sha256" not in repr(found)


async def test_a_change_by_another_process_counts_at_once(file: TokenFile, tmp_path: Path) -> None:
    """What the command line creates and revokes, a server that runs sees with the next request."""
    other = TokenFile(tmp_path / "keys" / "tokens.json", MovingClock())
    assert not await file.needed()
    token_id, shown = make(other)
    assert await file.needed()
    assert await file.find(shown) is not None
    other.revoke(token_id)
    assert await file.find(shown) is None
    assert not await file.counts(token_id)
    assert other.revoke(token_id).revoked_at == other.tokens()[0].revoked_at


async def test_a_token_counts_until_its_last_moment(file: TokenFile, clock: MovingClock) -> None:
    """It expires by the clock, and none can be made that has expired already."""
    _, shown = make(file, expires_at=clock() + timedelta(days=1))
    clock.move(hours=23)
    assert await file.find(shown) is not None
    clock.move(hours=1)
    assert await file.find(shown) is None
    assert not await file.has_live()
    with pytest.raises(UsageError, match="a moment to come"):
        make(file, expires_at=clock())


async def test_what_was_closed_does_not_open_by_itself(file: TokenFile, tmp_path: Path) -> None:
    """Tokens stay needed when the last is revoked, and when the file vanishes or is broken."""
    path = tmp_path / "keys" / "tokens.json"
    token_id, shown = make(file)
    assert await file.needed()
    file.revoke(token_id)
    assert await file.needed()
    path.unlink()
    assert await file.needed()
    assert await file.find(shown) is None
    path.write_text('{"version": 1, "tokens": [{"id": "x"}]}')
    with pytest.raises(ConfigError, match="no file of tokens"):
        await file.needed()


def test_tokens_made_at_the_same_time_are_all_kept(tmp_path: Path) -> None:
    """Processes that change the file take turns."""
    path = tmp_path / "tokens.json"

    def one(number: int) -> str:
        return make(TokenFile(path), f"name {number}")[0]

    with ThreadPoolExecutor(8) as pool:
        made = set(pool.map(one, range(24)))
    assert {token.id for token in TokenFile(path).tokens()} == made


def test_the_file_is_bounded(
    file: TokenFile, clock: MovingClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Dead tokens make room for new ones; when all are alive, no more are made."""
    monkeypatch.setattr(tokens_module, "TOKENS_MAX", 2)
    first, _ = make(file)
    make(file)
    with pytest.raises(UsageError, match="at most 2"):
        make(file)
    file.revoke(first)
    make(file)
    assert first not in {token.id for token in file.tokens()}
    with pytest.raises(NotFound):
        file.revoke(first)


@pytest.mark.parametrize(
    "given",
    [{"name": ""}, {"name": "a\nb"}, {"role": "king"}, {"agent_id": "a"}, {"topics": ("",)}],
    ids=str,
)
def test_a_token_that_makes_no_sense_is_not_made(file: TokenFile, given: dict[str, Any]) -> None:
    """Names, roles and bounds are checked before anything is written."""
    name = given.pop("name", "one")
    with pytest.raises(UsageError):
        make(file, name, **given)
    assert file.tokens() == ()


async def test_whatever_does_not_count_gets_the_same_answer(
    behind: Ezra, file: TokenFile, clock: MovingClock
) -> None:
    """An answer tells nobody whether a token was unknown, wrong, expired, revoked or malformed."""
    _, good = make(file)
    expiring_id, expiring = make(file, expires_at=clock() + timedelta(hours=1))
    revoked_id, revoked = make(file)
    file.revoke(revoked_id)
    clock.move(hours=2)
    shown = dict.fromkeys(BAD, "Bearer")
    shown |= {
        "basic": f"Basic {good}",
        "malformed": "Bearer ezra",
        "unknown": f"Bearer ezra_{'a' * 12}_{good[-43:]}",
        "wrong": f"Bearer {good[:-43]}{'A' * 43}",
        "expired": f"Bearer {expiring}",
        "revoked": f"Bearer {revoked}",
    }
    async with serving(behind, tokens=file) as url, httpx2.AsyncClient(base_url=url) as http:
        answers = {}
        for name, header in shown.items():
            headers = {} if name == "nothing" else {"authorization": header}
            answers[name] = await http.get("/v1/graphs", headers=headers)
        let_in = await http.get("/v1/graphs", headers={"authorization": f"bearer {good}"})
        health = await http.get("/health")
    assert let_in.status_code == 200
    assert health.status_code == 200
    assert {answer.status_code for answer in answers.values()} == {401}
    assert len({answer.content for answer in answers.values()}) == 1
    assert {answer.headers["www-authenticate"] for answer in answers.values()} == {"Bearer"}
    assert answers["wrong"].headers["content-type"] == "application/problem+json"
    assert expiring_id not in answers["expired"].text


async def test_a_server_whose_tokens_cannot_be_read_lets_nobody_in(
    behind: Ezra, file: TokenFile, tmp_path: Path
) -> None:
    """A broken file is a problem of the configuration, not an open door."""
    _, good = make(file)
    async with serving(behind, tokens=file) as url, httpx2.AsyncClient(base_url=url) as http:
        (tmp_path / "keys" / "tokens.json").write_text("{")
        headers = {"authorization": f"Bearer {good}"}
        answer = await http.get("/v1/graphs", headers=headers)
    assert answer.status_code == 503
    assert answer.json()["key"] == "EZRA_TOKENS_FILE"
    assert "tokens.json is no file of tokens: the whole: Invalid JSON" in answer.json()["reason"]


async def test_a_token_reaches_as_far_as_it_says(behind: Ezra, file: TokenFile) -> None:
    """Role, graph and agent of a token are checked before anything is read."""
    for name in ("imola", "monaco"):
        graph = await behind.create_session_graph(name)
        await graph.spawn_agent("strategist", topics={"tyres"})
    _, agents = make(file, role="agent", graph_id="imola", agent_id="strategist")
    _, reader = make(file, role="reader", graph_id="imola")
    async with serving(behind, tokens=file) as url:
        async with Ezra.connect(url, reader) as ezra:
            imola = await ezra.session_graph("imola")
            assert (await imola.status()).agents == 1
            for refused in (ezra.session_graphs(), ezra.session_graph("monaco"), imola.close()):
                with pytest.raises(PolicyDenied):
                    await refused
        async with httpx2.AsyncClient(base_url=url) as http:
            headers = {"authorization": f"Bearer {agents}"}
            at = "/v1/graphs/{}/agents/{}/usage"
            answers = [
                (await http.get(at.format(*names), headers=headers)).status_code
                for names in (("imola", "strategist"), ("imola", "x"), ("monaco", "strategist"))
            ]
    assert answers == [200, 403, 403]


async def test_the_first_token_closes_a_server_that_runs(behind: Ezra, file: TokenFile) -> None:
    """A server that began without tokens asks for one from the moment that there is one."""
    async with serving(behind, tokens=file) as url, httpx2.AsyncClient(base_url=url) as http:
        before = await http.get("/v1/graphs")
        make(file)
        after = await http.get("/v1/graphs")
    assert (before.status_code, after.status_code) == (200, 401)


def test_the_command_line_makes_shows_and_revokes_tokens(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A token is printed once, never listed, counts for 90 days, and is revoked by its id."""
    home = tmp_path / "home"

    def command(*arguments: str) -> tuple[int, str]:
        monkeypatch.setattr(sys, "argv", ["ezra", "token", *arguments])
        monkeypatch.setenv("EZRA_HOME", str(home))
        with pytest.raises(SystemExit) as end:
            main()
        return int(end.value.code or 0), capsys.readouterr().out

    bounds = "--graph imola --agent strategist --user team --topic Tyres --topic fuel".split()
    made = json.loads(command("create", "box", *bounds, "--json")[1])
    assert made["token"].startswith(f"ezra_{made['id']}_")
    assert (made["role"], made["graph_id"], made["agent_id"]) == ("agent", "imola", "strategist")
    assert (made["user_id"], made["topics"]) == ("team", ["fuel", "tyres"])
    (kept,) = TokenFile(home / "tokens.json").tokens()
    assert kept.expires_at is not None
    assert timedelta(days=89) < kept.expires_at - kept.created_at < timedelta(days=91)
    listed = command("list", "--json")[1] + command("list")[1]
    assert made["id"] in listed
    assert made["token"][-43:] not in listed
    assert "sha256" not in listed
    assert command("revoke", made["id"])[0] == 0
    (after,) = json.loads(command("list", "--json")[1])
    assert after["state"] == "revoked"
    never = command("create", "backup", "--expires", "never")
    assert never[1].startswith("ezra_")
    assert never[1].count("\n") == 1
    assert command("create", "x", "--expires", "soon")[0] == 2
    assert command("revoke", "nobody")[0] == 1


async def test_ten_thousand_tokens_do_not_hold_the_event_loop_up(
    file: TokenFile, tmp_path: Path
) -> None:
    """A large file is read beside the loop, which goes on in steps of some milliseconds."""
    _, shown = make(file)
    path = tmp_path / "keys" / "tokens.json"
    document = json.loads(path.read_text())
    (one,) = document["tokens"]
    ids = [f"{number:012d}".translate(str.maketrans("0189", "abcd")) for number in range(9_999)]
    document["tokens"] = [one, *({**one, "id": name} for name in dict.fromkeys(ids))]
    path.write_text(json.dumps(document))
    thread_of_reading: list[bool] = []
    read = tokens_module._read

    def noting(path: Path) -> Any:
        thread_of_reading.append(asyncio._get_running_loop() is None)
        return read(path)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tokens_module, "_read", noting)
        found = await asyncio.gather(*(file.find(shown) for _ in range(50)))
    assert all(token is not None for token in found)
    assert thread_of_reading == [True]


async def test_running_without_a_home_reads_no_tokens(tmp_path: Path) -> None:
    """A file that is not there is no problem, and is not made by looking."""
    file = TokenFile(tmp_path / "nowhere" / "tokens.json")
    async with running(tmp_path / "home"):
        assert not await file.has_live()
    assert file.tokens() == ()
    assert not (tmp_path / "nowhere").exists()
