"""Whose embedded memory the bridge has, who waits for it, and what its first commands say."""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path

import pytest
from support.cli_doors import Said, command, served

from ezra import ConfigError, UsageError
from ezra.bridge.carrying import read_line
from ezra.bridge.config import bridge_config
from tiers.cold.owner import own_folder

CONFIGURATION = 3
AWAY = 4


@pytest.fixture(autouse=True)
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A fresh machine of a user, who works in one of two folders."""
    home = tmp_path / "user"
    for name, value in {
        "HOME": home,
        "XDG_DATA_HOME": "",
        "XDG_STATE_HOME": "",
        "EZRA_BRIDGE_STATE": "",
        "EZRA_BRIDGE_AGENT": "",
        "EZRA_BRIDGE_WAIT_SECONDS": "0.1",
    }.items():
        monkeypatch.setenv(name, str(value))
    for folder in (home, tmp_path / "one", tmp_path / "two"):
        folder.mkdir()
    monkeypatch.chdir(tmp_path / "one")
    return home


def files_of(folder: Path) -> set[Path]:
    """Return every file and folder below one."""
    return set(folder.rglob("*"))


def bridge(*arguments: object) -> Said:
    """Run a command of the bridge."""
    return command("bridge", *arguments)


def test_r9_28_every_working_directory_has_the_users_memory(
    machine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What one remembers in one folder it recalls in another; the folders stay clean."""
    monkeypatch.setenv("EZRA_BRIDGE_AGENT", "builder")
    known = bridge("remember", "note", "Rain at two.").out.strip()
    monkeypatch.chdir(tmp_path / "two")
    (found,) = bridge("recall", "rain", "--json").document["memories"]
    assert found["id"] == known
    assert not files_of(tmp_path / "one") | files_of(tmp_path / "two")
    assert any((machine / ".local/share/ezra").iterdir())


def test_r9_28_what_is_named_counts_before_the_users_own(
    machine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A configured folder or server stays; then the variables, then the user's data folder."""
    assert bridge_config({"HOME": str(machine)}).target == str(machine / ".local/share/ezra")
    given = {"XDG_DATA_HOME": str(tmp_path / "data"), "EZRA_BRIDGE_STATE": str(tmp_path / "state")}
    assert bridge_config(given).target == str(tmp_path / "data" / "ezra")
    assert bridge_config(given | {"EZRA_HOME": "/srv/e"}).target == "/srv/e"
    assert bridge_config(given | {"EZRA_URL": "http://m"}).target == "http://m"
    monkeypatch.setenv("EZRA_BRIDGE_STATE", str(tmp_path / "state"))
    bridge("setup", "--home", tmp_path / "kept")
    assert bridge_config(given).target == str(tmp_path / "kept")
    told = bridge("status", "--home", tmp_path / "said", "--json").document
    assert told["memory"] == str(tmp_path / "said")


def test_r9_28_the_first_status_helps_and_makes_nothing(tmp_path: Path, machine: Path) -> None:
    """Without a name and with one; who then does as it says has a memory."""
    before = files_of(tmp_path)
    first = bridge("status")
    assert (first.code, first.err) == (0, "")
    assert "not made yet" in first.out
    assert "ezra bridge setup --agent NAME" in first.out
    assert "ezra bridge remember" in first.out
    assert files_of(tmp_path) == before
    bridge("setup", "--agent", "builder")
    told = bridge("status", "--json").document
    assert (told["is_there"], told["reachable"], len(told["next"])) == (False, False, 1)
    assert bridge("heartbeat", "--json").document == {"given": False}
    assert not (machine / ".local/share").exists()
    assert bridge("remember", "note", "Rain at two.").code == 0
    told = bridge("status", "--json").document
    assert (told["is_there"], told["memories"], told["next"]) == (True, 1, [])


def test_r9_28_reading_makes_no_memory_and_says_how(tmp_path: Path) -> None:
    """Every reading command names the folder and what to do; nothing is made on the way."""
    bridge("setup", "--agent", "builder")
    before = files_of(tmp_path)
    for read in (("recall", "rain"), ("show", "x"), ("check",), ("history",), ("task", "list"),
                 ("dashboard",), ("export",), ("graph", "search", "rain")):  # fmt: skip
        found = bridge(*read)
        assert (found.code, found.out, len(found.err.splitlines())) == (3, "", 1), (read, found)
        assert str(tmp_path / "user" / ".local/share/ezra") in found.err
        assert "ezra bridge remember" in found.err
    assert files_of(tmp_path) == before


def test_r9_28_a_status_of_a_server_without_the_graph_helps(tmp_path: Path) -> None:
    """Who has no name yet is told so by a memory that has no graph of the bridge."""
    with served(tmp_path / "home") as url:
        found = bridge("status", "--url", url)
    assert (found.code, found.err) == (0, "")
    assert "ezra bridge setup --agent NAME" in found.out


def test_r9_28_a_command_waits_for_the_one_before_it(
    machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another command has the memory: who comes next waits for it; not for ever, and says for whom.

    What is written waits on this machine then.
    """
    monkeypatch.setenv("EZRA_BRIDGE_AGENT", "builder")
    known = bridge("remember", "note", "Rain at two.").out.strip()
    monkeypatch.setenv("EZRA_BRIDGE_WAIT_SECONDS", "0.1")
    folder = machine / ".local/share/ezra"
    with own_folder(folder):
        began = time.monotonic()
        read = bridge("recall", "rain")
        assert time.monotonic() - began >= 0.1
        assert (read.code, read.out) == (AWAY, "")
        assert "is in use by process" in read.err
        assert bridge("remember", "note", "Rain at three.", "--json").document["state"] == "queued"
    owner = own_folder(folder)
    owner.__enter__()
    monkeypatch.setenv("EZRA_BRIDGE_WAIT_SECONDS", "60")
    release = threading.Timer(0.3, owner.__exit__, (None, None, None))
    release.start()
    found = bridge("recall", "rain", "--json").document["memories"]
    release.join()
    assert known in {one["id"] for one in found}
    assert len(found) == 2


def test_what_waits_is_told_by_the_id_of_what_it_changes(
    machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As when the memory is there: whoever goes on with the id that is printed has the record's.

    What makes a record, an answer to a message for one, has the id that the record will have.
    """
    monkeypatch.setenv("EZRA_BRIDGE_AGENT", "builder")
    known = bridge("remember", "note", "Rain at two.").out.strip()
    with own_folder(machine / ".local/share/ezra"):
        task = bridge("task", "start", "Write tests").out.strip()
        for change in (("update", "--note", "half"), ("done",)):
            assert bridge("task", *change).out.strip() == task
        assert bridge("task", "fail", task, "--json").document["id"] == task
        forgotten = bridge("forget", known, "--json").document
        answer = bridge("reply", task, "Yes.", "--json").document
    assert forgotten["id"] == known != forgotten["item"]
    assert answer["id"] == answer["item"]


def test_r9_28_how_long_it_waits_is_a_setting() -> None:
    """Above 0, a minute at most; what is not is refused by name."""
    for wrong in ("0", "-1", "61", "soon"):
        environment = {"EZRA_BRIDGE_STATE": "/nowhere", "EZRA_BRIDGE_WAIT_SECONDS": wrong}
        with pytest.raises(Exception, match="EZRA_BRIDGE_WAIT_SECONDS"):
            bridge_config(environment)


def test_paths_that_cannot_be_are_refused_in_one_line(machine: Path) -> None:
    """Too long for a name, without one, or where nothing can be made."""
    long = str(machine / ("y" * 300))
    bridge("setup", "--agent", "builder")
    bridge("remember", "note", "Rain at two.")
    for asked in (
        ("hooks", "install", "--settings", long),
        ("hooks", "uninstall", "--settings", long),
        ("sync-memories", "--folder", long),
        ("sync-memories", "--folder", "/proc/none"),
        ("export", ""),
        ("export", long),
    ):
        found = bridge(*asked)
        assert (found.code, found.out, len(found.err.splitlines())) == (2, "", 1), (asked, found)
        assert found.err.startswith("UsageError: ")


@pytest.mark.parametrize(
    "said", ["First the reason.\n\nThen what follows.", "   indented\n\ncode", "# Head\n\nBody."]
)
def test_paragraphs_without_a_title_come_back_as_they_were_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: str
) -> None:
    """The first paragraph is no title, also after an export was read in elsewhere."""
    monkeypatch.setenv("EZRA_BRIDGE_AGENT", "builder")
    one, two = (("--home", tmp_path / name) for name in ("first", "second"))
    known = bridge("remember", "note", said, *one).out.strip()
    assert bridge("remember", "note", said, *one).out.strip() == known
    bridge("export", tmp_path / "all.ndjson", *one)
    bridge("import", tmp_path / "all.ndjson", *two)
    for place in (one, two):
        shown = bridge("show", known, "--json", *place).document
        assert (shown["title"], shown["content"]) == ("", said)


def test_words_that_another_has_forgotten_are_in_no_export(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Read in where the memory lives it is forgotten there; where it is not, nothing is stored."""
    monkeypatch.setenv("EZRA_BRIDGE_AGENT", "builder")
    first, second, third = (("--home", tmp_path / name) for name in ("first", "second", "third"))
    known = bridge("remember", "note", "Zebulon owes us.", *first).out.strip()
    bridge("export", tmp_path / "before.ndjson", *first)
    bridge("import", tmp_path / "before.ndjson", *second)
    bridge("forget", known, *first)
    monkeypatch.setenv("EZRA_BRIDGE_AGENT", "reviewer")
    bridge("export", tmp_path / "after.ndjson", *first)
    written = (tmp_path / "after.ndjson").read_text()
    assert known in written
    assert "Zebulon" not in written
    for place in (second, third):
        assert (
            bridge("import", tmp_path / "after.ndjson", "--json", *place).document["refused"] == 0
        )
    assert "forgotten_at" in bridge("show", known, "--json", *second).document
    assert bridge("show", known, *third).code == 1


def test_a_note_that_is_recalled_says_its_title_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The title that a passage is found by is no part of what the note says."""
    monkeypatch.setenv("EZRA_BRIDGE_AGENT", "builder")
    monkeypatch.setenv("EZRA_BRIDGE_MEMORY_PATH", str(tmp_path / "notes"))
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "style.md").write_text("---\nname: House style\n---\nTabs.\n")
    bridge("sync-memories", "--home", tmp_path / "home")
    (found,) = bridge("recall", "tabs", "--json", "--home", tmp_path / "home").document["memories"]
    assert (found["title"], found["content"]) == ("House style", "Tabs.")


def test_what_is_mine_is_told_to_who_has_a_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without one the error says how to get it, and names no scope that nobody gave."""
    monkeypatch.setenv("EZRA_BRIDGE_AGENT", "builder")
    bridge("remember", "note", "Rain at two.")
    monkeypatch.setenv("EZRA_BRIDGE_AGENT", "")
    refused = bridge("recall", "rain", "--scope", "mine")
    assert (refused.code, refused.out) == (3, "")
    assert refused.err.startswith("ConfigError: EZRA_BRIDGE_AGENT: is not set")


def test_a_file_that_an_editor_saved_with_a_byte_order_mark_is_read() -> None:
    """Its first line says what it did."""
    line = {"v": 1, "kind": "memory", "id": "m", "agent": "a", "type": "note", "content": "Dürre"}
    data = json.dumps({**line, "created_at": "2026-05-15T12:00:00Z"}).encode("utf-8-sig")
    assert (read_line(1, data) or {})["content"] == "Dürre"


@pytest.mark.parametrize(
    ("field", "value", "accepted"),
    [
        ("tags", "auth", "a list"),
        ("private", "false", "true or false"),
        ("title", 7, "text"),
        ("v", 2, "1, as this ezra writes it"),
    ],
)
def test_a_field_of_another_shape_is_refused_by_its_name(
    field: str, value: object, accepted: str
) -> None:
    """A line that somebody wrote, or another version; what says nothing may be null."""
    line = {"kind": "memory", "id": "1", "type": "note", "content": "Tabs.", "agent": "builder",
            "created_at": "2026-01-01T00:00:00Z"}  # fmt: skip
    assert read_line(1, json.dumps(line | {field: None} | {"v": 1}).encode()) is not None
    with pytest.raises(UsageError) as refused:
        read_line(1, json.dumps(line | {field: value}).encode())
    assert str(refused.value) == f"line 1: {field}: {value!r} is not accepted; accepted: {accepted}"


@pytest.mark.parametrize(
    "field",
    [{"status": "flying"}, {"status": 5}, {"status": ["completed"]},
     {"title": "", "status": "completed"}],
)  # fmt: skip
def test_a_task_that_is_refused_is_refused_whole_and_once(
    field: dict[str, object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One in a state that is none was counted as read, too, and stayed as a task just created.

    And one that was not taken was told twice: its last state was asked for, of a task that is not.
    """
    monkeypatch.setenv("EZRA_BRIDGE_AGENT", "builder")
    good = {"kind": "task", "id": "01985a4c-0000-7000-8000-000000000001", "agent": "builder",
            "at": "2026-01-01T00:00:00Z", "title": "Shorten", "status": "suspended"}  # fmt: skip
    bad = good | {"id": "01985a4c-0000-7000-8000-000000000002"} | field
    file = tmp_path / "tasks.ndjson"
    file.write_text(f"{json.dumps(bad)}\n{json.dumps(good)}\n")
    told = bridge("import", file, "--json")
    assert (told.code, told.document["task"], told.document["refused"]) == (1, 1, 1)
    (problem,) = told.document["problems"]
    assert problem.startswith(f"line 1: task {bad['id']}: {next(iter(field))}: ")
    (task,) = bridge("task", "list", "--json").document["tasks"]
    assert (task["id"], task["status"]) == (good["id"], "suspended")


@pytest.mark.parametrize(
    "address",
    ["ftp://memory.example", "http://scout:opensesame@127.0.0.1:1", "//memory", "http://"],
)
def test_an_address_that_no_server_has_is_refused_and_nothing_waits_for_it(
    machine: Path, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By an option, a variable and ``setup``, as everywhere else; what it is stays unsaid."""
    monkeypatch.setenv("EZRA_BRIDGE_AGENT", "builder")
    written = ("remember", "note", "Rain at two.", "--url", address)
    for asked in (("status", "--url", address), ("setup", "--url", address), written):
        said = bridge(*asked)
        assert said.code == CONFIGURATION
        assert said.err.startswith("ConfigError: EZRA_URL: ")
        assert "opensesame" not in said.err
    with pytest.raises(ConfigError, match=r"^EZRA_URL: "):
        bridge_config({"HOME": str(machine), "EZRA_URL": address})
    assert not files_of(machine)


def test_a_value_of_the_file_is_called_after_the_file(machine: Path) -> None:
    """Nobody looks for a variable that was never set; ``setup`` puts another value in its place."""
    state = machine / ".local/state/ezra/bridge"
    state.mkdir(parents=True)
    (state / "bridge.toml").write_text('agent = "builder"\nhalf_life_days = "long"\n')
    refused = bridge("status")
    assert refused.code == CONFIGURATION
    assert f"{state / 'bridge.toml'}: half_life_days: must be a number" in refused.err
    assert bridge("setup", "--half-life-days", "-1").err.startswith(
        "ConfigError: EZRA_BRIDGE_HALF_LIFE_DAYS: must be a number"
    )
    assert bridge("setup", "--half-life-days", "30").code == 0
    assert bridge("status").code == 0
