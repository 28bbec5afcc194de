"""Acceptance of the bridge: rows BR-01, BR-02, BR-10 and BR-11, by its commands on either door."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any

import pytest
from support.bridges import free_port
from support.cli_doors import DOORS, Said, command, served

from tiers.ids import system_clock

AWAY = 4


class Desk:
    """Runs commands of the bridge as agents on one machine.

    Args:
        state: The machine's own folder.
        where: The options that lead to the memory.
        environment: Where variables are set.
    """

    def __init__(
        self, state: Path, where: tuple[str, ...], environment: pytest.MonkeyPatch
    ) -> None:
        self._where = where
        self._environment = environment
        environment.setenv("EZRA_BRIDGE_STATE", str(state))
        environment.setenv("EZRA_BRIDGE_MACHINE", "laptop")

    def run(self, agent: str, *arguments: object) -> Said:
        """Run a command as an agent, whatever comes of it."""
        self._environment.setenv("EZRA_BRIDGE_AGENT", agent)
        return command("bridge", *arguments, *self._where)

    def said(self, agent: str, *arguments: object) -> str:
        """Run a command as an agent, which must succeed; return what it printed."""
        found = self.run(agent, *arguments)
        assert found.code == 0, (arguments, found)
        return found.out.strip()

    def told(self, agent: str, *arguments: object) -> Any:
        """Run a command with ``--json`` as an agent, and return its document."""
        return json.loads(self.said(agent, *arguments, "--json"))

    def recalled(self, agent: str, *arguments: object) -> list[str]:
        """Return the ids of what an agent recalls, best first."""
        found = self.run(agent, "recall", *arguments, "--json")
        assert found.code in (0, 1), found
        return [one["id"] for one in found.document["memories"]]


@contextmanager
def opened(
    door: str, tmp_path: Path, environment: pytest.MonkeyPatch, name: str = "home"
) -> Iterator[Desk]:
    """Open a memory by a door, and a machine that works on it."""
    home = tmp_path / name
    if door == "embedded":
        yield Desk(tmp_path / "state", ("--home", str(home)), environment)
        return
    with served(home, clock=system_clock) as url:
        yield Desk(tmp_path / "state", ("--url", url), environment)


@pytest.mark.parametrize("door", DOORS)
def test_br_01_every_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, door: str) -> None:
    """Memories with content, messages, history, tasks, heartbeat, status and sync."""
    with opened(door, tmp_path, monkeypatch) as desk:
        memories(desk)
        messages(desk)
        tasks(desk)
        assert desk.told("builder", "heartbeat") == {"given": True}
        assert desk.told("builder", "heartbeat") == {"given": False}  # a minute has not passed
        found = desk.told("builder", "status")
        assert (found["reachable"], found["queued"], found["refused"]) == (True, 0, 0)
        assert (found["memories"], found["unread"], found["open_tasks"]) == (2, 1, 1)
        assert set(found["agents"]) == {"builder", "reviewer"}
        assert desk.told("builder", "sync")["left"] == 0


def memories(desk: Desk) -> None:
    """Remember, recall with content, show and forget."""
    labels = ("--tags", "auth,api", "--category", "security", "--title", "Token life")
    first = desk.said("builder", "remember", "decision", "Tokens live for 15 minutes.", *labels)
    shown = desk.said("reviewer", "recall", "how long do tokens live")
    assert "Token life\nTokens live for 15 minutes." in shown
    assert first in shown
    second = desk.said("reviewer", "remember", "decision", "Tokens live for an hour.")
    wrong = desk.said("builder", "remember", "observation", "Tokens are blue.")
    desk.said("builder", "forget", wrong)
    desk.said("builder", "forget", first, "--superseded-by", second)
    assert desk.recalled("builder", "tokens") == [second]
    assert f"superseded by {second}" in desk.said("builder", "show", first)
    assert "Tokens live for 15 minutes." in desk.said("builder", "show", first)
    assert "forgotten" in desk.said("builder", "show", wrong)
    private = desk.said("builder", "remember", "note", "Only mine.", "--scope", "private")
    assert desk.run("reviewer", "show", private).code == 1
    for bad in (("remember", " ", "x"), ("remember", "note", "  "), ("recall", "x", "--limit", "0"),
                ("recall", "x", "--keyword", "--semantic"), ("send", "a,*", "note", "x"),
                ("task", "update", first), ("history", "--last", "soon")):  # fmt: skip
        found = desk.run("builder", *bad)
        assert (found.code, len(found.err.splitlines())) == (2, 1), (bad, found)


def messages(desk: Desk) -> None:
    """Send, check, reply, ack, thread, broadcast; log and history."""
    sent = desk.said("builder", "send", "reviewer", "question", "Ready?", "--subject", "Tokens",
                     "--priority", "high", "--tags", "auth")  # fmt: skip
    (found,) = desk.told("reviewer", "check", "--unread")["messages"]
    assert (found["id"], found["priority"], found["title"]) == (sent, "high", "Tokens")
    reply = desk.said("reviewer", "reply", sent, "Yes.")
    assert desk.said("reviewer", "ack", sent) == "1 marked as read"
    assert desk.told("reviewer", "check", "--unread")["messages"] == []
    assert [one["id"] for one in desk.told("builder", "check")["messages"]] == [reply]
    assert "Yes." in desk.said("builder", "thread", reply)
    news = desk.said("builder", "broadcast", "news", "Green again.")
    assert [one["id"] for one in desk.told("reviewer", "check", "--type", "news")["messages"]] == [
        news
    ]
    desk.said("builder", "log", "commit", "Shorter.", "--files", "a.py,b.py", "--tags", "auth")
    (action,) = desk.told("reviewer", "history", "--agent", "builder", "--last", "1h")["actions"]
    assert (action["type"], action["details"]) == ("commit", {"files": ["a.py", "b.py"]})
    assert action["machine"] == "laptop"


def tasks(desk: Desk) -> None:
    """Start, current, update, done, fail, list, suspend; a final state is final."""
    task = desk.said("builder", "task", "start", "Write tests", "--priority", "high")
    assert desk.told("builder", "task", "current")["task"]["id"] == task
    desk.said("builder", "task", "update", "--status", "in_progress", "--note", "half")
    desk.said("builder", "task", "done", "--outcome", "all of it")
    refused = desk.run("builder", "task", "update", task, "--status", "in_progress")
    assert refused.code == 1
    assert "completed" in refused.err
    assert desk.told("builder", "status")["queued"] == 0  # who was told need not look for it
    failing = desk.said("builder", "task", "start", "Try it")
    desk.said("builder", "task", "fail", failing, "--reason", "cannot")
    kept = desk.said("builder", "task", "start", "Later")
    assert desk.said("builder", "suspend-tasks") == "1 suspended"
    found = {one["id"]: one["status"] for one in desk.told("reviewer", "task", "list")["tasks"]}
    assert found == {task: "completed", failing: "failed", kept: "suspended"}
    listed = desk.told("reviewer", "task", "list", "--status", "failed")["tasks"]
    assert [one["details"] for one in listed] == [{"reason": "cannot"}]


@pytest.mark.parametrize("door", DOORS)
def test_br_02_modes_decay_and_filters(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, door: str
) -> None:
    """Each mode answers; newer counts more by the half-life; filters must all hold, in the store.

    Older memories come with their dates, by an import.
    """
    old = {
        "kind": "memory", "id": "01985a4c-0000-7000-8000-000000000001", "type": "decision",
        "content": "Tokens live in the old place.", "tags": ["auth", "api"], "agent": "builder",
        "created_at": "2025-01-01T00:00:00+00:00",
    }  # fmt: skip
    lines = tmp_path / "old.ndjson"
    lines.write_text(json.dumps(old))
    with opened(door, tmp_path, monkeypatch) as desk:
        desk.said("builder", "import", lines)
        new = desk.said("builder", "remember", "decision", "Tokens live in the new place.",
                        "--tags", "auth", "--category", "security")  # fmt: skip
        note = desk.said("reviewer", "remember", "note", "Tokens live in some place.",
                         "--tags", "api")  # fmt: skip
        mine = desk.said("builder", "remember", "note", "Tokens, for me.", "--scope", "private")
        shown = desk.told("builder", "show", old["id"])
        assert shown["created_at"] == old["created_at"]
        query = ("tokens live in place", "--limit", "10")
        hybrid = desk.recalled("builder", *query)
        assert set(hybrid) == {old["id"], new, note, mine}
        assert hybrid.index(new) < hybrid.index(old["id"])  # the words are as good
        assert set(desk.recalled("builder", *query, "--keyword")) == set(hybrid)
        scores = recalled_scores(desk, *query)
        monkeypatch.setenv("EZRA_BRIDGE_HALF_LIFE_DAYS", "36500")
        slow = recalled_scores(desk, *query)
        monkeypatch.delenv("EZRA_BRIDGE_HALF_LIFE_DAYS")
        assert scores[old["id"]] / scores[new] < 0.1 < slow[old["id"]] / slow[new]
        for filters, expected in (
            (("--type", "Decision"), {old["id"], new}),
            (("--tag", "auth", "--tag", "api"), {old["id"]}),
            (("--category", "security"), {new}),
            (("--type", "note", "--tag", "auth"), set()),
            (("--scope", "private"), {mine}),
            (("--scope", "mine"), {old["id"], new, mine}),
            (("--scope", "shared", "--type", "note"), {note}),
        ):
            assert set(desk.recalled("builder", *query, *filters)) == expected, filters
        assert desk.recalled("reviewer", *query, "--scope", "private") == []
        meant = desk.run("builder", "recall", "tokens", "--semantic", "--json")
        assert "dense" in meant.document["degraded"]  # no model here, and it says so


def recalled_scores(desk: Desk, *query: object) -> dict[str, float]:
    """Return the score of each memory found."""
    found = desk.told("builder", "recall", *query)["memories"]
    return {one["id"]: one["score"] for one in found}


def away(door: str, home: Path) -> AbstractContextManager[object]:
    """Keep everybody away for the length of a block: nobody serves yet, or another has the folder.

    Tiers on servers have no folder that one process has for itself.
    """
    return served(home, clock=system_clock) if door == "embedded" else nullcontext()


@pytest.mark.parametrize("door", DOORS)
def test_br_10_offline_outbox(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tiers: str, door: str
) -> None:
    """Away: writes wait with exit code 0, reads end with 4. Back: all of it is sent, once."""
    home, port = tmp_path / "home", free_port()
    where = ("--home", home) if door == "embedded" else ("--url", f"http://127.0.0.1:{port}")
    desk = Desk(tmp_path / "state", tuple(map(str, where)), monkeypatch)
    if (door, tiers) == ("embedded", "servers"):
        assert desk.told("builder", "log", "step", "Nobody is in the way.")["state"] == "done"
        return
    with away(door, home):
        said = desk.told("builder", "remember", "decision", "Tokens live for 15 minutes.")
        assert said["state"] == "queued"
        task = desk.said("builder", "task", "start", "Write tests")
        desk.said("builder", "task", "done", "--outcome", "all")
        gone = "01985a4c-0000-7000-8000-000000000000"
        desk.said("builder", "task", "fail", gone)  # nobody can know yet that there is none
        desk.said("builder", "send", "reviewer", "note", "Ready.")
        for read in (("recall", "tokens"), ("check",), ("history",), ("show", task), ("sync",)):
            found = desk.run("builder", *read)
            assert (found.code, found.out) == (AWAY, ""), (read, found)
            assert "is away" in found.err
        told = desk.told("builder", "status")
        assert (told["reachable"], told["queued"]) == (False, 5)
        assert desk.told("builder", "heartbeat") == {"given": False}
    with back(door, home, port):
        found = desk.run("builder", "sync", "--json")
        states = [one["state"] for one in found.document["items"]]
        assert states == ["done", "done", "done", "refused", "done"]
        assert (found.code, found.document["left"]) == (1, 0)
        assert desk.recalled("builder", "tokens") == [said["id"]]
        assert desk.told("builder", "task", "list")["tasks"][0]["details"] == {"outcome": "all"}
        assert [one["text"] for one in desk.told("reviewer", "check")["messages"]] == ["Ready."]
        (refused,) = desk.told("builder", "sync", "--refused")["refused"]
        assert (refused["kind"], refused["arguments"]["id"]) == ("task_fail", gone)
        assert "does not exist" in refused["reason"]
        desk.said("builder", "sync", "--drop", refused["id"])
        assert desk.told("builder", "sync") == {
            "items": [], "done": 0, "refused": 0, "left": 0, "reason": None,
        }  # fmt: skip


@contextmanager
def back(door: str, home: Path, port: int) -> Iterator[None]:
    """Let the memory be reached for the length of a block."""
    if door == "embedded":
        yield
        return
    with served(home, clock=system_clock, port=port):
        yield


@pytest.mark.parametrize("door", DOORS)
def test_br_11_carrying_and_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, door: str
) -> None:
    """What one memory exports another imports, twice without doubling; counts say what there is."""
    lines = tmp_path / "all.ndjson"
    with opened(door, tmp_path, monkeypatch) as desk:
        first = desk.said("builder", "remember", "decision", "Tokens live for 15 minutes.",
                          "--title", "Tokens", "--tags", "auth")  # fmt: skip
        desk.said("reviewer", "remember", "note", "Äpfel, 梨, \u202e and 'quotes'.")
        asked = desk.said("builder", "send", "reviewer", "question", "Ready?")
        desk.said("reviewer", "reply", asked, "Yes.")
        desk.said("reviewer", "ack", asked)
        task = desk.said("builder", "task", "start", "Write tests")
        desk.said("builder", "task", "update", "--status", "in_progress", "--note", "half")
        desk.said("builder", "task", "done", "--outcome", "all")
        desk.said("reviewer", "log", "review", "Read all of it.", "--files", "a.py")
        counts = desk.told("builder", "dashboard")
        assert counts["memories"] == {"decision": 1, "note": 1}
        assert counts["memories_by_agent"] == {"builder": 1, "reviewer": 1}
        assert (counts["unread"], counts["tasks"]) == (
            {"builder": 1, "reviewer": 0},
            {"completed": 1},
        )
        ((_, today),) = counts["days"].items()
        assert today == {"actions": 4, "memories": 2, "messages": 2, "tasks": 1}
        assert desk.told("builder", "export", lines)["lines"] == 9
        first_line = json.loads(desk.said("builder", "export", "-").splitlines()[0])
        assert (first_line["id"], first_line["kind"], first_line["v"]) == (first, "memory", 1)
        monkeypatch.setenv("EZRA_BRIDGE_GRAPH", "another")
        for _ in range(2):
            done = desk.run("builder", "import", lines, "--json")
            assert (done.code, done.document["refused"]) == (0, 0), done
        again = tmp_path / "again.ndjson"
        desk.said("builder", "export", again)
        assert told_of(again) == told_of(lines)
        assert desk.told("builder", "task", "list")["tasks"][0]["id"] == task
        for bad in ("{", '{"kind": "song"}', '{"kind": "memory", "id": 7}', '["memory"]'):
            lines.write_text(f"{json.dumps(first_line)}\n{bad}\n")
            found = desk.run("builder", "import", lines)
            assert found.code == 1
            assert "line 2" in found.err


def told_of(path: Path) -> list[dict[str, Any]]:
    """Return what the lines of an export tell, without when and by what id a start was logged."""
    found = []
    for line in path.read_text().splitlines():
        said = json.loads(line)
        if said.get("type") == "task_created":
            del said["id"]
        said.pop("at", None)
        found.append(said)
    return sorted(found, key=lambda one: json.dumps(one, sort_keys=True))
