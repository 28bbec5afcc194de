"""The command line as a person or a program uses it: as a process."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import pytest
from support.command import COMMAND, started
from support.command import ezra as run
from support.doors import Said
from support.doors import run as run_here
from support.processes import PATIENCE_SECONDS

CHAT = """
{"id": "1", "speaker": "Ada", "text": "The mediums lasted 18 laps in Monaco.", "at": "2026-05-14T10:00:00Z"}
{"id": "2", "speaker": "Ben", "text": "The gearbox has done 900 km.", "at": "2026-05-14T10:01:00Z"}
""".strip()  # noqa: E501


# With words only, so that no model is needed.
ezra = partial(run, EZRA_EMBEDDER="off")


def here(home: Path, *arguments: object, **variables: str) -> Said:
    """Run a command in this process, by its entry point: what needs no process of its own."""
    return run_here(*arguments, EZRA_HOME=str(home), **variables)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Return a data folder that does not exist yet."""
    return tmp_path / "home"


@pytest.fixture
def chat(tmp_path: Path) -> Path:
    """Write a short conversation."""
    path = tmp_path / "chat.jsonl"
    path.write_text(CHAT)
    return path


def test_replay_reports_and_answers_with_sources(home: Path, chat: Path) -> None:
    """A report for people, with the source turn, its date and score."""
    asked = ("replay", str(chat), "--ask", "How long did the mediums last?")
    done = ezra(home, *asked, installed=True)
    assert done.returncode == 0, done.stderr
    assert "chat: 2 turns played, 0 known before" in done.stdout
    assert "2026-05-14 10:00  turn   chat:1" in done.stdout
    assert "turns 2/2" in done.stderr
    assert "time per step" in done.stdout


def test_replaying_twice_adds_nothing(home: Path, chat: Path) -> None:
    """The second run finds every turn known."""
    here(home, "replay", chat)
    again = here(home, "replay", chat, "--json").document
    assert (again["played"], again["known"]) == (0, 2)
    assert again["added"] == {"facts": 0, "rules": 0, "beliefs": 0}
    assert again["status"]["cold"]["turns"] == 2


def test_what_is_not_played_is_told(home: Path, tmp_path: Path) -> None:
    """How many messages of the files were left out; nothing of it where all were played."""
    chat = tmp_path / "chat.md"
    chat.write_text("**Ada:** The plan?\n\n**Ben:** This.\n\n## Steps\n\n1. Box.\n")
    done = here(home, "replay", chat)
    assert "left out: 1 (" in done.out
    assert here(home, "replay", chat, "--json").document["left_out"] == 1
    chat.write_text("**Ada:** The plan?\n\n**Ben:** This.\n")
    assert "left out" not in here(home, "replay", chat).out


def test_recording_says_nothing_of_contexts_that_were_not_made(home: Path, chat: Path) -> None:
    """The same turns as by playing, one after the other or with it; no step was timed."""
    done = here(home, "replay", chat, "--record", "--ask", "How long did the mediums last?")
    assert done.code == 0, done.err
    assert "chat: 2 turns recorded, 0 known before" in done.out
    assert "2026-05-14 10:00  turn   chat:1" in done.out
    assert "time per step" not in done.out
    assert "turns 2/2" in done.err
    again = here(home, "replay", chat, "--record", "--json").document
    assert (again["recorded"], again["played"], again["known"]) == (True, 0, 2)
    assert (again["steps"], again["degraded"]) == ({}, {})
    played = here(home, "replay", chat, "--json").document
    assert (played["recorded"], played["played"], played["known"]) == (False, 0, 2)


def test_json_is_one_document(home: Path, chat: Path) -> None:
    """Programs read standard output as it is."""
    played = json.loads(ezra(home, "replay", str(chat), "--graph", "g", "--json").stdout)
    assert played["graph_id"] == "g"
    recalled = json.loads(ezra(home, "recall", "g", "gearbox", "--json").stdout)
    assert recalled["sources"][0]["ref"] == "chat:2"
    assert "T" in recalled["sources"][0]["at"]  # ISO 8601, as over REST
    status = json.loads(ezra(home, "status", "--json").stdout)
    assert status["graphs"]["g"]["cold"]["turns"] == 2
    doctor = json.loads(ezra(home, "doctor", "--json").stdout)
    assert doctor["data"] == "usable, 1 session graphs"


def test_malformed_input_names_file_line_and_field_and_stores_nothing(
    home: Path, tmp_path: Path
) -> None:
    """Exit code 2, one line, and nothing half-ingested."""
    path = tmp_path / "bad.jsonl"
    path.write_text(CHAT + '\n{"speaker": "Ada", "texxt": "oops", "at": "2026-05-14T10:02:00Z"}')
    done = ezra(home, "replay", str(path))
    assert done.returncode == 2
    assert "bad.jsonl:3: texxt" in done.stderr
    assert "Traceback" not in done.stderr
    assert "there is no memory" in here(home, "status", "--json").err


def test_a_changed_turn_is_a_conflict_and_nothing_is_played(home: Path, chat: Path) -> None:
    """An id that now says something else is never stored beside the old one."""
    here(home, "replay", chat)
    new = CHAT.splitlines()[0].replace('"id": "1"', '"id": "9"')
    chat.write_text(f"{CHAT.replace('900 km', '950 km')}\n{new}\n")
    done = ezra(home, "replay", str(chat))
    assert done.returncode == 1
    assert "Conflict: turn chat:2" in done.stderr
    assert here(home, "status", "--json").document["graphs"]["chat"]["cold"]["turns"] == 2


@pytest.mark.parametrize(
    ("arguments", "code", "text"),
    [
        (("recall", "nowhere", "what?"), 1, "session graph 'nowhere' does not exist"),
        (("replay", "missing.jsonl"), 2, "missing.jsonl"),
        (("replay", "chat.jsonl", "--inherits-from", "nowhere"), 1, "'nowhere' does not exist"),
        (("embedder", "install", "--precision", "int2"), 2, "accepted: int8, fp32"),
        (("unknown",), 2, "unknown"),
    ],
)
def test_errors_are_one_clear_line_with_an_exit_code(
    home: Path,
    chat: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: tuple[str, ...],
    code: int,
    text: str,
) -> None:
    """No traceback, whatever is wrong."""
    monkeypatch.chdir(chat.parent)
    assert here(home, "init").code == 0
    done = here(home, *arguments)
    assert done.code == code, done.err
    assert text in done.err
    assert "Traceback" not in done.err


def test_a_bad_setting_is_a_configuration_error(home: Path) -> None:
    """Exit code 3 and the variable's name."""
    done = run(None, "status", "--home", home, EZRA_RING_CAPACITY="many")
    assert done.returncode == 3
    assert "EZRA_RING_CAPACITY" in done.stderr


def test_help_needs_no_memory(home: Path) -> None:
    """The command shows its help where nothing was made yet, and makes nothing."""
    done = here(home, "--help")
    assert done.code == 0, done.err
    assert "replay" in done.out
    assert not home.exists()


def test_the_worker_runs_until_it_is_told_to_stop(home: Path) -> None:
    """It says that it works, and SIGTERM ends it cleanly."""
    command = ("worker", "--home", home)
    with started(*command, program=COMMAND, EZRA_EMBEDDER="off") as process:
        assert process.stdout is not None
        assert "working for tenant 'default'" in process.stdout.readline()
        process.terminate()
        _, errors = process.communicate(timeout=PATIENCE_SECONDS)
    assert process.returncode == 0, errors
    assert "Traceback" not in errors


def test_the_doctor_examines_what_a_wrong_setting_leaves(home: Path) -> None:
    """Each wrong setting is a problem of its own row; the other tiers are examined all the same."""
    wrong = {"EZRA_QDRANT_URL": "ftp://x", "EZRA_EMBEDDER": "gemini"}
    done = here(home, "doctor", "--json", **wrong)
    assert done.code == 1
    assert done.err == ""
    tiers = {tier["tier"]: tier for tier in done.document["tiers"]}
    assert "EZRA_QDRANT_URL" in tiers["warm"]["problems"][0]
    assert "EZRA_GEMINI_API_KEY" in tiers["embedding"]["problems"][0]
    assert tiers["hot"]["reachable"]
    assert tiers["cold"]["reachable"]
