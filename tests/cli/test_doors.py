"""Every command through both doors: the embedded store of this machine, and a running server."""

from __future__ import annotations

from contextlib import chdir
from pathlib import Path
from typing import Any

import pytest
from support.doors import Door, run

QUESTIONS = (
    ("status",),
    ("status", "imola"),
    ("top", "--once"),
    ("top", "imola", "--once"),
    ("graph", "diff", "imola", "monaco"),
    ("recall", "imola", "How long do the mediums last?", "--explain"),
    ("recall", "imola", "How long do the mediums last?", "--agent", "Ada"),
    ("audit",),
    ("audit", "imola", "--kind", "spawned"),
    ("audit", "check", "imola"),
    ("audit", "sign", "imola"),
    ("audit", "key"),
    ("lifecycle", "work"),
    ("embedder", "rebuild"),
)
HERE_ONLY = (
    ("init",),
    ("doctor",),
    ("worker",),
    ("serve",),
    ("migrate", "--from", "embedded", "--to", "embedded"),
    ("eval", "set.json"),
    ("token", "list"),
    ("token", "create", "x"),
    ("token", "revoke", "x"),
    ("embedder", "install"),
    ("embedder", "status"),
)


def shape(value: Any) -> Any:
    """Return how a document is built: its keys, and what kind of value is under each."""
    if isinstance(value, dict):
        return {key: shape(one) for key, one in value.items()}
    if isinstance(value, list):
        return [shape(one) for one in value]
    return "number" if isinstance(value, int | float) else type(value).__name__


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: " ".join(map(str, question)))
def test_a_question_has_the_same_answer_through_either_door(
    embedded: Door, server: Door, question: tuple[object, ...]
) -> None:
    """The same keys and kinds of values, in lists of the same length; people see it too."""
    assert shape(embedded.document(*question)) == shape(server.document(*question))
    done = server.ezra(*question)
    assert done.code == 0, done.err
    assert done.out.strip()


def test_a_pass_of_the_lifecycle_is_run_through_either_door(door: Door) -> None:
    """It says what was done; a server's own background may have been faster."""
    done = door.document("lifecycle", "run", "imola")
    assert set(done) == {"lifecycle", "learning"}
    assert done["lifecycle"]["problems"] == done["learning"]["problems"] == []


def test_a_script_played_again_adds_nothing(door: Door, chat: Path) -> None:
    """Also through a server: every turn is known, whoever played it."""
    again = door.document("replay", chat, "--graph", "imola", "--ask", "Who drove 900 km?")
    assert (again["played"], again["known"]) == (0, 2)
    assert again["added"] == {"facts": 0, "rules": 0, "beliefs": 0}
    assert len(again["answers"]) == 1


@pytest.mark.parametrize("command", HERE_ONLY, ids=" ".join)
def test_a_command_about_this_machine_refuses_a_server(command: tuple[str, ...]) -> None:
    """Nobody takes what it says for what a server would say."""
    done = run(*command, "--url", "http://127.0.0.1:9")
    assert (done.code, done.out) == (2, "")
    assert "is about this machine" in done.err


def test_a_server_of_the_environment_is_not_asked_in_silence(embedded: Door) -> None:
    """A command about this machine says so, where people might think otherwise."""
    here = {"EZRA_HOME": str(embedded.home), "EZRA_URL": "http://127.0.0.1:9"}
    told = run("token", "list", **here)
    assert (told.code, told.err.split(":")[0]) == (0, "EZRA_URL is not asked")
    assert run("eval", "missing.json", **here).err.startswith("UsageError")
    # A folder that is named is stronger than a server in the environment.
    assert run("status", "--home", embedded.home, EZRA_URL="http://127.0.0.1:9").code == 0


@pytest.mark.parametrize(
    ("arguments", "variables", "code", "says"),
    [
        (("status",), {"EZRA_URL": "http://127.0.0.1:9"}, 1, "TierUnavailable: server tier"),
        (("top", "--once"), {"EZRA_URL": "http://127.0.0.1:9"}, 1, "is not reachable"),
        (("top",), {}, 2, "--once"),
        (("status", "--home", "x", "--url", "http://x"), {}, 2, "--home or --url"),
        (("status", "--url", "ftp://x"), {}, 3, "EZRA_URL"),
        (("status",), {"EZRA_URL": "http://x", "EZRA_TOKEN_FILE": "/nowhere"}, 3, "/nowhere"),
        (
            ("status",),
            {"EZRA_URL": "http://x", "EZRA_TOKEN_FILE": "/x", "EZRA_TOKEN": "y"},
            3,
            "only one",
        ),
    ],
)
def test_what_is_wrong_is_one_line_and_an_exit_code(
    tmp_path: Path, arguments: tuple[str, ...], variables: dict[str, str], code: int, says: str
) -> None:
    """No traceback, nothing on standard output, and no folder that nobody asked for."""
    home = tmp_path / "home"
    done = run(*arguments, **{"EZRA_HOME": str(home), **variables})
    assert (done.code, done.out) == (code, "")
    assert says in done.err
    assert len(done.err.splitlines()) == 1
    assert not home.exists()


def test_a_server_refuses_who_it_does_not_know(server: Door, tmp_path: Path) -> None:
    """A wrong token and none are configuration; a graph that is not there is an error."""
    for token in ("", "wrong"):
        done = server.ezra("status", EZRA_TOKEN=token)
        assert (done.code, done.out, len(done.err.splitlines())) == (3, "", 1)
        assert done.err.startswith("ConfigError: EZRA_TOKEN")
    unknown = server.ezra("status", "nowhere")
    assert (unknown.code, unknown.err.split(":")[0]) == (1, "NotFound")
    path = tmp_path / "token"
    path.write_text(f"{server.variables['EZRA_TOKEN']}\n")
    assert server.ezra("graph", "list", EZRA_TOKEN="", EZRA_TOKEN_FILE=str(path)).code == 0


def test_a_token_of_one_graph_looks_at_that_graph(server: Door) -> None:
    """It sees the graph's status, live too, and nothing of the tenant."""
    asked = ("token", "create", "one", "--role", "reader", "--graph", "imola", "--json")
    token = run(*asked, EZRA_HOME=str(server.home)).document["token"]
    seen = server.ezra("status", "imola", "--json", EZRA_TOKEN=token).document
    assert (seen["health"], seen["waiting_work"]) == (None, None)
    assert seen["graphs"]["imola"]["cold"]["turns"] == 2
    assert server.ezra("top", "imola", "--once", EZRA_TOKEN=token).code == 0
    for command in (("status",), ("status", "monaco"), ("top", "--once"), ("audit",)):
        done = server.ezra(*command, EZRA_TOKEN=token)
        assert (done.code, done.out, done.err.split(":")[0]) == (1, "", "PolicyDenied")


def test_a_token_as_one_agent_spawns_it_and_asks_as_it(server: Door) -> None:
    """Whoever may not look at the graph as a whole speaks, writes and recalls as the agent."""
    asked = ("token", "create", "one", "--graph", "imola", "--agent", "scout", "--topic", "tyres")
    token = run(*asked, "--json", EZRA_HOME=str(server.home)).document["token"]
    for command in (
        ("agent", "spawn", "imola", "scout", "--topic", "tyres", "--role", "Looks ahead."),
        ("agent", "spawn", "imola", "scout"),
        ("remember", "imola", "scout", "Hards lasted 31 laps."),
    ):
        done = server.ezra(*command, EZRA_TOKEN=token)
        assert (done.code, done.err) == (0, "")
    question = ("recall", "imola", "How long do hards last?", "--json")
    found = server.ezra(*question, "--agent", "scout", EZRA_TOKEN=token).document
    assert found["text"] == "Hards lasted 31 laps."
    for refused in (question, (*question, "--agent", "Ada"), ("agent", "spawn", "imola", "Ada")):
        done = server.ezra(*refused, EZRA_TOKEN=token)
        assert (done.code, done.err.split(":")[0]) == (1, "PolicyDenied")
    reader = ("token", "create", "one", "--role", "reader", "--graph", "imola", "--json")
    token = run(*reader, EZRA_HOME=str(server.home)).document["token"]
    done = server.ezra("graph", "diff", "imola", "monac", EZRA_TOKEN=token)
    assert done.code == 1
    assert "monaco" not in done.err


def test_init_makes_a_home_once(tmp_path: Path) -> None:
    """Nothing secret, what to do next, and again it only says what is there."""
    home = tmp_path / "new home"
    first = run("init", "--home", home, "--json").document
    assert (first["new"], first["session_graphs"], first["model"]) == (True, 0, None)
    assert first["environment"] == {"EZRA_HOME": str(home)}
    assert len(first["next"]) == 3
    assert not list(home.glob("*.pem"))
    assert not list(home.glob("*token*"))
    for command in first["next"]:
        words = command.replace("'", "").split(" ", 3)
        assert words[0] == "ezra"
        assert run(*words[1:3], "--help").code == 0
    run("graph", "create", "imola", EZRA_HOME=str(home))
    again = run("init", EZRA_HOME=str(home))
    assert f"{home}: here already, 1 session graph" in again.out
    assert "export" not in again.out


def test_a_shell_completes_the_ids_of_graphs(door: Door) -> None:
    """From the store behind either door; what cannot be asked completes to nothing, in silence."""

    def completed(line: str, **more: str) -> list[str]:
        asked = {"_EZRA_COMPLETE": "complete_bash", "COMP_WORDS": line}
        place = {"COMP_CWORD": str(len(line.split(" ")) - 1)}
        done = door.ezra(**asked, **place, **more)
        assert (done.code, done.err) == (0, "")
        return done.out.split()

    assert completed("ezra status im") == ["imola"]
    assert {"imola", "monaco"} <= set(completed("ezra graph show "))
    assert completed("ezra status --url http://127.0.0.1:9 im", EZRA_TOKEN="") == []
    assert completed("ezra status im", EZRA_RING_CAPACITY="many", EZRA_URL="") == []


def test_completing_makes_no_home(tmp_path: Path) -> None:
    """A key that was pressed leaves nothing behind."""
    home = tmp_path / "home"
    asked = {"_EZRA_COMPLETE": "complete_bash", "COMP_WORDS": "ezra status ", "COMP_CWORD": "2"}
    assert run(EZRA_HOME=str(home), **asked).out.strip() == ""
    assert not home.exists()


@pytest.mark.parametrize("folder", ["missing", "empty"])
def test_r9_35_a_mistyped_home_is_named_and_not_made(folder: str, tmp_path: Path) -> None:
    """No command that reads, nor one about a graph that cannot be there, makes a memory."""
    home = tmp_path / "typo"
    if folder == "empty":
        home.mkdir()
    others = (
        ("doctor",),
        ("mcp", "run", "--graph", "imola", "--agent", "Ada"),
        ("remember", "imola", "Ada", "Mediums last 18 laps."),
        ("agent", "spawn", "imola", "Ada"),
        ("turn", "say", "imola", "Ada", "hello"),
        ("export", "imola", str(tmp_path / "out.ezra")),
    )
    for command in (*QUESTIONS, *others):
        done = run(*command, EZRA_HOME=str(home))
        assert done.code != 0, command
        assert f"there is no memory in {home}; 'ezra init' makes one" in done.out + done.err
        assert [*home.glob("*")] == [], command
    assert home.exists() == (folder == "empty")
    assert run("graph", "create", "imola", EZRA_HOME=str(home)).code == 0
    assert run("graph", "list", EZRA_HOME=str(home)).code == 0


def test_mcp_goes_to_the_memory_that_every_command_goes_to(tmp_path: Path) -> None:
    """A folder that is named is stronger than the variable, and the token may be in a file."""
    named = ("--graph", "imola", "--agent", "Ada")
    home, away = ("--home", str(tmp_path / "here")), {"EZRA_URL": "http://127.0.0.1:1"}
    started = run("mcp", "run", *named, *home, **away)
    assert (started.code, "there is no memory in" in started.err) == (3, True)
    shown = run("mcp", "config", *named, *home, "--json", **away).document
    (entry,) = shown["configuration"]["mcpServers"].values()
    assert entry["args"][-2:] == list(home)
    for command in ("run", "config"):
        both = run("mcp", command, *named, *home, "--url", "http://127.0.0.1:1")
        assert (both.code, both.err.split(":")[1].strip()) == (2, "--home")
    secret = run("mcp", "run", *named, **away, EZRA_TOKEN_FILE=str(tmp_path / "none"))
    assert (secret.code, secret.err.split(":")[1].strip()) == (3, "EZRA_TOKEN_FILE")


def test_a_new_memory_is_its_users_alone(tmp_path: Path) -> None:
    """Nobody else on the machine enters the folder; one that was there stays as it was."""
    there = tmp_path / "there"
    there.mkdir(mode=0o750)
    for home, mode in ((tmp_path / "new", 0o700), (there, there.stat().st_mode & 0o777)):
        assert run("init", EZRA_HOME=str(home)).code == 0
        assert home.stat().st_mode & 0o777 == mode


@pytest.mark.parametrize("empty", ["", "  "])
def test_an_empty_name_of_a_folder_is_refused(empty: str, tmp_path: Path) -> None:
    """Of a script's variable that is not set: it would be the folder that one stands in."""
    with chdir(tmp_path):
        for command in (
            ("graph", "create", "imola", "--home", empty),
            ("init", "--home", empty),
            ("bridge", "remember", "note", "x", "--home", empty),
            ("migrate", "--from", "embedded", "--to", "embedded", "--to-home", empty),
        ):
            done = run(*command, HOME=str(tmp_path / "own"))
            assert (done.code, done.out) == (2, ""), command
            assert "must be the name of a folder" in done.err
    assert list(tmp_path.iterdir()) == []
