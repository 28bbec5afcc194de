"""One memory behind each door, with the same life in it, and one server for a whole module."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from support import cli_doors
from support.doors import Door, run, server_process

CHAT = (
    {"id": "1", "speaker": "Ada", "text": "The mediums lasted 18 laps.", "topics": ["tyres"]},
    {"id": "2", "speaker": "Ben", "text": "The gearbox has done 900 km.", "topics": ["gearbox"]},
    {"type": "belief", "id": "3", "speaker": "Ada", "claim": "We start on mediums.",
     "topic": "tyres", "key": ["start", "compound"], "value": "medium"},
    {"type": "belief", "id": "4", "speaker": "Ada", "claim": "We start on softs.",
     "topic": "tyres", "key": ["start", "compound"], "value": "soft"},
)  # fmt: skip


@pytest.fixture(scope="module")
def chat(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A conversation with turns and beliefs."""
    path = tmp_path_factory.mktemp("chat") / "chat.jsonl"
    at = {"at": "2026-05-14T10:00:00Z"}
    path.write_text("\n".join(json.dumps({**line, **at}) for line in CHAT))
    return path


@pytest.fixture(scope="module")
def embedded(tmp_path_factory: pytest.TempPathFactory, chat: Path) -> Door:
    """A folder of embedded data."""
    home = tmp_path_factory.mktemp("embedded") / "home"
    door = Door("embedded", {"EZRA_HOME": str(home)}, home)
    live(door, chat)
    return door


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, chat: Path) -> Iterator[Door]:
    """A running server that wants a token."""
    home = tmp_path_factory.mktemp("server") / "home"
    made = run("token", "create", "tests", "--role", "operator", "--json", EZRA_HOME=str(home))
    with server_process(home) as url:
        variables = {"EZRA_URL": url, "EZRA_TOKEN": made.document["token"]}
        door = Door("server", variables, home)
        live(door, chat)
        yield door


@pytest.fixture(params=["embedded", "server"])
def door(request: pytest.FixtureRequest) -> Door:
    """Each way to a memory."""
    found: Door = request.getfixturevalue(request.param)
    return found


def live(door: Door, chat: Path) -> None:
    """Let a memory live through the same everything."""
    for made in (
        ("graph", "create", "monaco"),
        ("replay", chat, "--graph", "imola", "--inherits-from", "monaco"),
        ("knowledge", "add", "imola", "Max", "drives for", "Red Bull", "--topic", "teams"),
        ("knowledge", "add", "imola", "Red Bull", "is based in", "Milton Keynes"),
        # What a server learns by itself meanwhile is learnt behind the other door too.
        ("lifecycle", "run", "imola"),
    ):
        done = door.ezra(*made)
        assert done.code == 0, (made, done.err)


@pytest.fixture(scope="session", params=cli_doors.DOORS)
def shared(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[cli_doors.Door]:
    """Each way to a memory that all tests share; each module has a graph of its own in it."""
    with cli_doors.door_to(request.param, tmp_path_factory.mktemp("shared") / "home") as door:
        yield door
