"""``ezra migrate`` as a process: to folders and servers, what it says and what it refuses."""

from __future__ import annotations

import asyncio
import json
import os
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from support.command import ezra as run
from support.folder_copies import copied
from support.moves import CHANGES, everything, raw
from support.servers import server_variables

from tiers.cold.owner import own_folder

TESTS = Path(__file__).parents[1]

# No data folder is set: each test names its own.
ezra = partial(run, None, PYTHONPATH=os.pathsep.join([str(TESTS), str(TESTS.parent)]))


def test_the_command_moves_and_says_so(source: Path, target: Path, ledger: Path) -> None:
    """For people and for programs; run again, it is done; compared, it is equal."""
    ends = ("--from", "embedded", "--to", "embedded", "--home", source, "--to-home", target)
    where = (*ends, "--ledger", ledger)
    first = ezra("migrate", *where, "--tenant", "acme")
    assert first.returncode == 0, first.stderr
    assert "acme: moved" in first.stdout
    assert "vectors bit for bit" in first.stdout
    assert "hot tier: not moved" in first.stdout
    assert "[##########]" in first.stderr
    both_tenants = json.loads(ezra("migrate", *where, "--json").stdout)
    assert [one["state"] for one in both_tenants["tenants"]] == ["moved", "moved before"]
    assert both_tenants["ok"]
    raw(target, CHANGES["facts"])
    differs = ezra("migrate", *where, "--verify-only")
    assert differs.returncode == 1
    assert "DIFFERS acme, facts: at least 0 rows are missing" in differs.stdout
    assert "secret" not in differs.stdout + differs.stderr


async def test_everything_moves_to_servers_and_back(
    source: Path, target: Path, ledger: Path, expected: dict[str, Any]
) -> None:
    """The command, through the real clients, to the stand-ins of both servers and back again."""
    servers = server_variables()
    cold, warm, hot = (
        servers[f"EZRA_{name}"] for name in ("MONGODB_URI", "QDRANT_URL", "REDIS_URL")
    )
    there = await asyncio.to_thread(
        ezra,
        *("migrate", "--from", "embedded", "--to", cold, "--to", warm, "--to", hot),
        *("--home", source, "--ledger", ledger, "--json"),
        **servers,
    )
    assert there.returncode == 0, there.stderr
    assert json.loads(there.stdout)["ok"]
    back = await asyncio.to_thread(
        ezra,
        *("migrate", "--from", "env:EZRA_MONGODB_URI", "--from", "env:EZRA_QDRANT_URL"),
        *("--to", "embedded", "--home", target, "--ledger", ledger.with_name("back.json")),
        **servers,
    )
    assert back.returncode == 0, back.stderr
    assert await everything(target) == expected


def test_a_folder_without_a_memory_is_no_source(tmp_path: Path, target: Path) -> None:
    """Whoever mistypes it gets no memory made there, and is not told that it was moved."""
    empty = tmp_path / "empty"
    empty.mkdir()
    ends = ("--from", "embedded", "--to", "embedded", "--home", empty, "--to-home", target)
    for more in ((), ("--verify-only",)):
        done = ezra("migrate", *ends, *more)
        assert done.returncode == 3, done.stderr
        assert f"there is no memory in {empty}" in done.stderr
    assert [*empty.iterdir()] == []
    assert not target.exists()


def test_who_leaves_tokens_behind_is_told(source: Path, tmp_path: Path) -> None:
    """The new home would let in everybody on its machine; one that has tokens does not."""
    home, target = tmp_path / "home", tmp_path / "new"
    copied(source, home)
    ends = ("--from", "embedded", "--to", "embedded", "--home", home, "--to-home", target)
    assert "tokens: " not in ezra("migrate", *ends).stdout
    (home / "tokens.json").write_text("{}")
    assert "tokens: not moved" in ezra("migrate", *ends).stdout
    (target / "tokens.json").write_text("{}")
    assert "tokens: " not in ezra("migrate", *ends).stdout


def test_a_folder_in_use_is_refused(source: Path, target: Path, ledger: Path) -> None:
    """Whoever has the folder is named; exit code 3, and no ledger."""
    ends = ("--from", "embedded", "--to", "embedded", "--home", source, "--to-home", target)
    for folder in (source, target):
        with own_folder(folder):
            done = ezra("migrate", *ends, "--ledger", ledger)
        assert done.returncode == 3, done.stderr
        assert f"{folder} is in use by process {os.getpid()}" in done.stderr
    assert not ledger.exists()


@pytest.mark.parametrize(
    "target",
    [
        ("mongo://me:hunter2-ch@nge/me@db.example/ezra",),
        ("http://a", "--to", "http://me:hunter2@b"),
    ],
)
def test_what_is_not_accepted_is_one_line_without_secrets(
    source: Path, target: tuple[str, ...]
) -> None:
    """Exit code 2 and what would be accepted; never a password or a traceback."""
    done = ezra("migrate", "--from", "embedded", "--to", *target, "--home", source)
    assert done.returncode == 2, done.stderr
    assert "accepted: " in done.stderr
    assert not any(part in done.stderr + done.stdout for part in ("hunter2", "nge", "Traceback"))
