"""Row BR-09: hooks of coding agents, which never stop the agent and lose nothing of its notes."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from support.cli_doors import DOORS, Said, command, served
from support.processes import kept

from ezra.bridge.config import bridge_config
from ezra.bridge.hook_log import log_of
from ezra.bridge.hook_state import HookState
from ezra.bridge.outbox import outbox_of
from ezra.cli.bridge_door import AWAY

HOOK = (sys.executable, "-P", "-m", "ezra.bridge.hook")
NO_RIGHTS = ("setpriv", "--bounding-set=-all", "--inh-caps=-all")
"""Runs a program of root's without the right to write wherever it likes."""
WAIT_SECONDS = 60.0

THEIRS = """{
    "model": "opus",
    "hooks": {
        "Stop": [ { "hooks": [ { "type": "command", "command": "say 'done'" } ] } ],
        "PreToolUse": []
    },
    "env": {"A": "ä\\u00e4"}
}"""


@pytest.fixture(autouse=True)
def tiers() -> None:
    """What hooks do is the same wherever the tiers are."""


class Machine:
    """A coding agent on a machine, with a project of Markdown notes.

    Args:
        folder: Where everything of it is.
        where: The option that leads to its memory, ``--home`` or ``--url``, and its value.
        variables: More of its environment.
    """

    def __init__(self, folder: Path, where: tuple[str, str], **variables: str) -> None:
        self.folder, self.where = folder, where
        self.project = folder / "project"
        (self.project / "notes" / "tasks").mkdir(parents=True, exist_ok=True)
        self.variables = {
            **kept(),
            "TMPDIR": str(folder),
            "HOME": str(folder),
            "EZRA_EMBEDDER": "off",
            where[0].removeprefix("--").upper().join(("EZRA_", "")): where[1],
            "EZRA_BRIDGE_AGENT": "scout",
            "EZRA_BRIDGE_STATE": str(folder / "state"),
            "EZRA_BRIDGE_WATCH_DIRS": str(self.project / "notes"),
            **variables,
        }

    @property
    def state(self) -> HookState:
        """What hooks have left."""
        return HookState(bridge_config(self.variables))

    def hook(
        self, event: str, said: object = None, *, prefix: tuple[str, ...] = (), **given: Any
    ) -> subprocess.CompletedProcess[str]:
        """Run a hook as the coding agent does; whatever it is, it must not fail."""
        about = {"session_id": "abc", "cwd": str(self.project)}
        text = said if isinstance(said, str) else json.dumps({**about, **(said or {})})  # type: ignore[dict-item]
        done = subprocess.run(
            [*prefix, *HOOK, event],
            cwd=self.project,
            env=self.variables,
            text=True,
            timeout=WAIT_SECONDS,
            check=False,
            **{"input": text, "capture_output": True, **given},
        )
        assert (done.returncode, done.stderr or "") == (0, "")
        return done

    def write(self, name: str, text: str) -> None:
        """Write a file as the coding agent does, which runs the hook."""
        path = self.project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        tool = {"tool_name": "Write", "tool_input": {"file_path": str(path), "content": text}}
        assert self.hook("post-tool-use", tool).stdout == ""

    def ezra(self, *arguments: object) -> Said:
        """Run a command of ``ezra bridge`` on the machine."""
        with pytest.MonkeyPatch.context() as patch:
            for name, value in self.variables.items():
                patch.setenv(name, value)
            patch.chdir(self.project)
            return command("bridge", *arguments)

    def asked(self, *arguments: object) -> Any:
        """Return what a command tells programs; a process behind hooks may have the folder."""
        told: list[Said] = []

        def is_told() -> bool:
            done = self.ezra(*arguments, *self.where, "--json")
            told.append(done)
            is_away = done.code == 0 and done.document.get("reachable") is False
            return done.code != AWAY and not is_away

        self.wait(is_told)
        assert told[-1].code == 0, told[-1]
        return told[-1].document

    def settled(self) -> None:
        """Wait until the process behind the hooks has done everything."""
        outbox = outbox_of(bridge_config(self.variables))
        self.wait(
            lambda: not self.state.waiting() and outbox.is_empty() and self.state.last(),
        )
        self.wait(lambda: not self.state.is_draining())

    def wait(self, until: Any) -> None:
        """Wait for something that another process does."""
        end = time.monotonic() + WAIT_SECONDS
        while not until():
            assert time.monotonic() < end, "\n".join(log_of(self.variables).lines())
            time.sleep(0.02)


@pytest.fixture(params=DOORS)
def machine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Machine]:
    """A machine with a memory of its own folder, or on a server."""
    with ExitStack() as stack:
        where = ("--home", str(tmp_path / "home"))
        if request.param == "server":
            clock = lambda: datetime.now(UTC)  # noqa: E731 - as short as it is said
            where = ("--url", stack.enter_context(served(tmp_path / "home", clock=clock)))
        yield Machine(tmp_path, where)


def test_br_09_a_written_note_is_in_the_memory_after_the_session(machine: Machine) -> None:
    """By the process behind the hooks; the next session is told what happened."""
    with machine.state.draining():  # nobody is to be started yet
        assert machine.hook("session-start", {"source": "startup"}).stdout == ""
        assert machine.hook("session-start", {"source": "compact"}).stdout == ""
        machine.write("notes/tasks/login.md", "---\nstatus: blocked\n---\n# Mend the login\n")
        machine.write("notes/tasks/login.py", "print('no note')\n")
        machine.write("elsewhere/other.md", "# Not watched\n")
        assert machine.hook("stop").stdout == ""
    machine.hook("stop")  # now one process is
    machine.settled()
    shown = machine.asked("entity", "show", "login")
    assert (shown["id"], shown["status"]) == ("scout-tasks-login", "blocked")
    assert machine.ezra("graph", "search", "watched", "--all-time", *machine.where).code == 1
    actions = [(one["type"], one["text"]) for one in machine.asked("history")["actions"]]
    assert sorted(actions) == [
        ("session-end", "session abc"),
        ("session-start", "session abc"),
        ("session-start", "session abc"),
    ]
    assert machine.asked("status")["agents"].keys() == {"scout"}

    odd = machine.project / "notes" / "odd.md"
    odd.write_bytes(b"\xff\xfe")
    with machine.state.draining():  # nobody is to be started yet
        machine.write("notes/tasks/login.md", "---\nstatus: done\n---\n# Mend the login\n")
        machine.hook("post-tool-use", {"tool_input": {"file_path": str(odd)}})
    assert machine.asked("hooks", "status")["files"] == 2
    done = machine.asked("hooks", "drain")
    assert done["indexed"] == {"changed": 1, "failed": 1}
    assert machine.asked("hooks", "status")["last"]["failed"] == [str(odd)]
    assert machine.asked("entity", "show", "login")["revision"] == 2
    with machine.state.draining():  # nobody is to be started
        told = machine.hook("session-start", {"source": "resume"}).stdout
    assert told.startswith("What the memory had for the next session")
    assert "`scout-tasks-login` Mend the login (done)" in told
    (line,) = machine.ezra("hooks", "log").lines
    assert line.endswith("drain 1 files not indexed; see 'hooks status'")


def test_br_09_notes_of_the_agent_are_kept_alike_behind_the_hooks(machine: Machine) -> None:
    """Where it has a folder of them; a conflict is told to the next session, nothing else is."""
    folder = machine.folder / "memories"
    folder.mkdir()
    (folder / "style.md").write_text("Short sentences.\n")
    machine.variables["EZRA_BRIDGE_MEMORY_PATH"] = str(folder)
    assert machine.asked("hooks", "drain")["memories"] == {"pushed": 1}
    other = Machine(machine.folder / "other", machine.where, EZRA_BRIDGE_MACHINE="other")
    there = other.folder / "memories"
    there.mkdir()
    (there / "style.md").write_text("Long sentences.\n")
    other.variables["EZRA_BRIDGE_MEMORY_PATH"] = str(there)
    done = other.asked("hooks", "drain")
    assert (done["memories"], done["needs_people"]) == ({"conflict": 1}, True)
    assert {one.read_text() for one in there.iterdir()} == {
        "Short sentences.\n",
        "Long sentences.\n",
    }
    with other.state.draining():  # nobody is to be started
        assert "ezra bridge sync-memories" in other.hook("session-start").stdout


@pytest.mark.parametrize("place", ["user", "project", "named"])
def test_br_09_install_merges_and_uninstall_restores(tmp_path: Path, place: str) -> None:
    """In the settings of the user, of the project, or another file."""
    machine = Machine(tmp_path, ("--home", str(tmp_path / "home")))
    path = {
        "user": tmp_path / ".claude" / "settings.json",
        "project": machine.project / ".claude" / "settings.json",
        "named": tmp_path / "mine.json",
    }[place]
    where = {"user": (), "project": ("--project",), "named": ("--settings", path)}[place]
    path.parent.mkdir(exist_ok=True)
    path.write_text(THEIRS, encoding="utf-8")

    done = machine.ezra("hooks", "install", *where)
    assert (done.code, done.lines) == (0, [f"installed  {path}"])
    now = path.read_text(encoding="utf-8")
    said = json.loads(now)
    assert list(said) == ["model", "hooks", "env"]
    assert said["hooks"]["Stop"][0] == json.loads(THEIRS)["hooks"]["Stop"][0]
    assert [len(said["hooks"][name]) for name in ("SessionStart", "PostToolUse", "Stop")] == [
        1,
        1,
        2,
    ]
    assert said["hooks"]["PostToolUse"][0]["matcher"] == "Write|Edit|MultiEdit|NotebookEdit"
    again = machine.ezra("hooks", "install", *where, "--json").document
    assert (again["state"], path.read_text(encoding="utf-8")) == ("unchanged", now)
    status = machine.ezra("hooks", "status", *(where[:2] if place == "named" else ()), "--json")
    (found,) = [one for one in status.document["settings"] if one["events"]]
    assert (found["file"], found["missing"], found["not_found"]) == (str(path), [], [])

    # What is installed is a command that a shell runs.
    (hook,) = said["hooks"]["PostToolUse"][0]["hooks"]
    variables = {**machine.variables, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    ran = subprocess.run(
        ["/bin/sh", "-c", hook["command"]],
        env=variables,
        input="{}",
        text=True,
        capture_output=True,
        timeout=WAIT_SECONDS,
        check=False,
    )
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")

    assert machine.ezra("hooks", "uninstall", *where, "--json").document["state"] == "uninstalled"
    assert path.read_text(encoding="utf-8") == THEIRS
    assert machine.ezra("hooks", "uninstall", *where).lines == [f"unchanged  {path}"]
    path.write_text("{ // mine\n}")
    refused = machine.ezra("hooks", "install", *where)
    assert (refused.code, refused.out) == (2, "")
    assert "line 1, column 3" in refused.err
    assert path.read_text() == "{ // mine\n}"


BAD = {
    "empty": "",
    "garbage": "\x00\x7f{[",
    "list": "[1, 2]",
    "deep": "[" * 100_000,
    "huge": '{"a": "' + "x" * 9_000_000 + '"}',
}


@pytest.fixture(scope="module")
def unlucky(tmp_path_factory: pytest.TempPathFactory) -> Machine:
    """A machine whose hooks are given all sorts of things."""
    folder = tmp_path_factory.mktemp("unlucky")
    return Machine(folder, ("--home", str(folder / "home")))


@pytest.mark.parametrize("name", BAD)
def test_br_09_garbage_ends_well_and_is_logged(unlucky: Machine, name: str) -> None:
    """Nothing is printed, nothing is queued, and the log says why without what it said."""
    before = len(log_of(unlucky.variables).lines())
    for event in ("session-start", "post-tool-use"):
        assert unlucky.hook(event, BAD[name]).stdout == ""
    lines = log_of(unlucky.variables).lines()[before:]
    assert [line.split()[1] for line in lines] == ["session-start", "post-tool-use"]
    assert all("the event" in line and len(line) < 200 for line in lines)
    assert not unlucky.state.waiting()


def test_br_09_odd_calls_end_well(unlucky: Machine) -> None:
    """No such event, odd values in one, no input at all, nobody who reads."""
    unlucky.hook("reboot")
    assert "unknown" in log_of(unlucky.variables).lines()[-1]
    odd: dict[str, Any]
    for odd in ({"tool_input": 1}, {"tool_input": {"file_path": "a\x00.md"}}, {"cwd": 7}):
        unlucky.hook("post-tool-use", odd)
    gone = {"tool_input": {"file_path": str(unlucky.project / "notes" / "gone.md")}}
    unlucky.hook("post-tool-use", gone)
    (unlucky.project / "notes" / "folder.md").mkdir()
    unlucky.hook("post-tool-use", {"tool_input": {"file_path": "notes/folder.md"}})
    unlucky.hook("stop", input=None, stdin=subprocess.DEVNULL)
    assert not unlucky.state.waiting()
    with unlucky.state.draining():
        unlucky.state.write_handoff("Something to tell.")
        reading, writing = os.pipe()
        os.close(reading)
        unlucky.hook("session-start", capture_output=False, stdout=writing)
        os.close(writing)
    assert "BrokenPipeError" in log_of(unlucky.variables).lines()[-1]


def test_br_09_without_a_name_or_a_folder_to_write_to_hooks_end_well(tmp_path: Path) -> None:
    """It is logged, elsewhere where the folder itself cannot be written."""
    machine = Machine(tmp_path, ("--home", str(tmp_path / "home")), EZRA_BRIDGE_AGENT="")
    machine.hook("stop")
    (line,) = log_of(machine.variables).lines()
    assert "ezra bridge setup --agent" in line

    (tmp_path / "taken").write_text("no folder")
    machine = Machine(tmp_path, machine.where, EZRA_BRIDGE_STATE=str(tmp_path / "taken"))
    machine.hook("session-start")
    assert "ConfigError" in log_of(machine.variables).lines()[-1]

    closed = tmp_path / "closed"
    closed.mkdir(mode=0o500)
    machine = Machine(tmp_path, machine.where, EZRA_BRIDGE_STATE=str(closed))
    prefix = NO_RIGHTS if os.geteuid() == 0 and shutil.which(NO_RIGHTS[0]) else ()
    if prefix or os.geteuid():
        machine.hook("stop", prefix=prefix)
        assert "cannot be used" in log_of(machine.variables).lines()[-1]
        assert machine.ezra("hooks", "log", "--limit", 1).lines == [
            *log_of(machine.variables).lines(1)
        ]
        assert list(closed.iterdir()) == []


def test_br_09_while_the_server_is_away_hooks_end_well_and_nothing_is_lost(tmp_path: Path) -> None:
    """One process tries in vain, holding nothing of the agent's open; later everything is there."""
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen(8)
        port = silent.getsockname()[1]
        machine = Machine(
            tmp_path, ("--url", f"http://127.0.0.1:{port}"), EZRA_BRIDGE_TIMEOUT_SECONDS="1"
        )
        # The pipes of the hook are read to their end, while who was started waits for an answer.
        machine.hook("session-start")
        machine.wait(machine.state.is_draining)
        machine.write("notes/tasks/login.md", "# Mend the login\n")
        machine.hook("stop")
        machine.wait(lambda: machine.state.last().get("state") == "away")
        machine.wait(lambda: not machine.state.is_draining())
    # A name was in vain just now: neither of these starts another one.
    machine.write("notes/tasks/logout.md", "# Mend the logout\n")
    machine.hook("stop")
    lines = [line.split(" ", 1)[1] for line in log_of(machine.variables).lines()]
    assert lines == ["drain the memory is away; what waits still waits"]
    found = machine.asked("hooks", "status")
    assert (found["files"], found["queued"]) == (2, 2)
    assert machine.ezra("hooks", "drain", *machine.where).code == 4
    assert found["last"]["state"] == "away"

    with served(tmp_path / "home", clock=lambda: datetime.now(UTC), port=port):
        done = machine.asked("hooks", "drain")
        assert (done["sent"], done["indexed"]) == (2, {"new": 2})
        types = [one["type"] for one in machine.asked("history")["actions"]]
        assert types == ["session-end", "session-start"]


@pytest.mark.slow
def test_br_09_a_hook_whose_event_never_ends_gives_up(unlucky: Machine) -> None:
    """After five seconds, with exit code 0 as always."""
    reading, writing = os.pipe()
    began = time.monotonic()
    unlucky.hook("stop", input=None, stdin=reading)
    assert time.monotonic() - began < WAIT_SECONDS / 2
    os.close(reading)
    os.close(writing)
    assert "it took longer than 5 s" in log_of(unlucky.variables).lines()[-1]
