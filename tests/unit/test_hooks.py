"""Our hooks: in somebody else's settings, on the disk, and in their log."""

from __future__ import annotations

import copy
import json
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ezra.bridge import hook_log, hook_state
from ezra.bridge.config import BridgeConfig
from ezra.bridge.hook import POST_TOOL_USE, SESSION_START, STOP, UnusableEventError
from ezra.bridge.hook_events import DRAIN_SECONDS, is_due
from ezra.bridge.hook_file import BACKUPS_MAX, BYTES_MAX, SettingsFile
from ezra.bridge.hook_json import added, without
from ezra.bridge.hook_log import HookLog, error_words
from ezra.bridge.hook_settings import (
    EVENTS,
    commands,
    groups,
    installed,
    is_former,
    program_of,
    uninstalled,
)
from ezra.bridge.hook_state import (
    HANDOFF_CHARS_MAX,
    HANDOFF_DAYS_MAX,
    HookState,
    QueuedFile,
    TooManyFilesError,
    bounded,
)
from tiers.errors import ConfigError, Conflict, UsageError

# Our hooks in somebody else's settings: nothing but they is changed, and it can be undone.

PROGRAM = "/opt/ezra/bin/ezra-hook"
NOW = datetime(2026, 5, 15, 12, tzinfo=UTC)

TEXTS = st.text(st.characters(codec="utf-8"), max_size=6)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)
COMMAND = st.fixed_dictionaries({"type": st.just("command"), "command": TEXTS})
GROUP = st.fixed_dictionaries({"hooks": st.lists(COMMAND, max_size=2)})
HOOKS = st.dictionaries(
    st.sampled_from((*EVENTS, "PreToolUse", "Notification")), st.lists(GROUP, max_size=2)
)
SETTINGS = st.dictionaries(TEXTS.filter(lambda one: one != "hooks"), VALUES, max_size=3)
LAYOUTS = st.sampled_from(
    [
        {"indent": 2},
        {"indent": 4},
        {"indent": "\t"},
        {},
        {"separators": (",", ":")},
        {"indent": 2, "ensure_ascii": False},
    ]
)


@settings(max_examples=120)
@given(SETTINGS, st.none() | HOOKS, LAYOUTS, st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_hooks_are_added_and_taken_out_and_everything_else_stays(
    said: dict[str, Any],
    hooks: dict[str, Any] | None,
    layout: dict[str, Any],
    line_end: str,
    has_mark: bool,  # noqa: FBT001 - drawn
) -> None:
    """Whatever is there, however it is written: order, spaces, line ends, other people's hooks."""
    if hooks is not None:
        said = {"first": 1, "hooks": hooks, **said}
    text = json.dumps(said, **layout).replace("\n", line_end) + line_end
    text = ("\ufeff" if has_mark else "") + text
    expected = copy.deepcopy(said)
    for event, group in groups(PROGRAM).items():
        expected.setdefault("hooks", {}).setdefault(event, []).append(group)

    with_ours = installed(text, PROGRAM)
    found = json.loads(with_ours.removeprefix("\ufeff"))
    assert found == expected
    assert list(found) == list(expected)
    assert installed(with_ours, PROGRAM) == with_ours
    assert is_former(text, with_ours)
    assert commands(with_ours) == {event: [f"{PROGRAM} {EVENTS[event]}"] for event in EVENTS}

    without_ours = uninstalled(with_ours)
    assert commands(without_ours) == {}
    has_empty = not said or (hooks is not None and not all((hooks, *hooks.values())))
    if not has_empty:  # an empty list does not say whether it was there before
        assert without_ours == text
    if line_end == "\r\n":
        assert "\n" not in with_ours.replace("\r\n", "")


def test_what_is_added_looks_as_what_is_there() -> None:
    """On lines of its own where others are, with their indentation; else on their line."""
    wide = '{\n    "a": [\n        1\n    ],\n    "b": {}\n}'
    more = '1,\n        {\n            "x": 2\n        }\n    ]'
    assert added(wide, ("a", 1), {"x": 2}) == wide.replace("1\n    ]", more)
    assert added(wide, ("b", "c"), 3).endswith('"b": {\n        "c": 3\n    }\n}')
    assert added('{"a": 1}', ("b",), [2]) == '{"a": 1,"b": [2]}'
    assert added("{ }\n", ("b",), 2) == '{\n  "b": 2\n}\n'
    assert without('{"a": 1, "b": 2, "c": 3}', ("b",)) == '{"a": 1, "c": 3}'
    assert without('{"a": 1, "b": 2}', ("a",)) == '{"b": 2}'
    assert without('{"a": [1]}', ("a", 0)) == '{"a": []}'


def test_another_program_or_matcher_of_ours_is_replaced() -> None:
    """Installing from another environment leaves one hook of each event, and others' untouched."""
    text = json.dumps(
        {
            "hooks": {
                "Stop": [
                    {"hooks": [{"type": "command", "command": "say done"}]},
                    {
                        "matcher": "x",
                        "hooks": [
                            {"type": "command", "command": "'/old place/ezra-hook' stop"},
                            {"type": "command", "command": "make check"},
                        ],
                    },
                ]
            }
        },
        indent=2,
    )
    found = json.loads(installed(text, PROGRAM))["hooks"]
    assert [hook["command"] for group in found["Stop"] for hook in group["hooks"]] == [
        "say done",
        "make check",
        f"{PROGRAM} stop",
    ]
    again = installed(installed(text, PROGRAM), "ezra-hook")
    assert commands(again) == {event: [f"ezra-hook {EVENTS[event]}"] for event in EVENTS}


@pytest.mark.parametrize(
    ("command", "program"),
    [
        ("/a/ezra-hook stop", ["/a/ezra-hook"]),
        ("'/a b/ezra-hook' session-start", ["/a b/ezra-hook"]),
        ("python -P -m ezra.bridge.hook stop", ["python", "-P", "-m", "ezra.bridge.hook"]),
        ("/a/ezra-hook", None),
        ("/a/ezra-hook destroy", None),
        ("/a/my-ezra-hook stop", None),
        ("echo ezra-hook stop", None),
        ("'ezra-hook stop", None),
        ("", None),
    ],
    ids=range(9),
)
def test_only_our_own_commands_are_ours(command: str, program: list[str] | None) -> None:
    """By the name of the program and the event."""
    assert program_of(command) == program


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("{", "line 1, column 2"),
        ('{"a": 1, // a comment\n}', "line 1, column 10"),
        ("[]", "a JSON object"),
        ('{"hooks": []}', "settings: hooks"),
        ('{"hooks": {"Stop": {}}}', "hooks.Stop"),
        ('{"a": ' * 40_000, "nested"),
    ],
    ids=["cut", "comment", "list", "hooks", "event", "deep"],
)
def test_what_is_malformed_is_refused_and_stays(tmp_path: Path, text: str, named: str) -> None:
    """The error names the place, and there is neither a change nor a file beside it."""
    path = tmp_path / "settings.json"
    path.write_text(text)
    with pytest.raises(UsageError, match=named):
        SettingsFile(path).install(PROGRAM, NOW)
    with pytest.raises(UsageError, match=named):
        SettingsFile(path).uninstall(NOW)
    assert path.read_text() == text
    assert list(tmp_path.iterdir()) == [path]


def test_odd_entries_of_others_are_passed_over() -> None:
    """Groups and hooks that are no objects are theirs to mend."""
    text = '{"hooks": {"Stop": [1, {"hooks": 2}, {"hooks": [3, {"command": 4}]}], "Other": []}}'
    assert uninstalled(installed(text, PROGRAM)) == text


def test_a_file_comes_back_to_the_byte(tmp_path: Path) -> None:
    """Also one whose empty containers could have been ours; each change keeps what was there."""
    path = tmp_path / ".claude" / "settings.json"
    for place, text in enumerate(
        ("", " \n", "{}", "{\n\n}", '{"hooks": {}}', '{"hooks":{"Stop":[ ]}}')
    ):
        now = NOW + timedelta(seconds=10 * place)
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        path.chmod(0o640)
        file = SettingsFile(path)
        done = file.install(PROGRAM, now)
        assert (done.changed, done.removed) == (True, False)
        assert done.backup is not None
        assert done.backup.read_text() == text
        assert done.backup.stat().st_mode & 0o777 == path.stat().st_mode & 0o777 == 0o640
        assert not file.install(PROGRAM, now).changed
        assert file.uninstall(now + timedelta(seconds=1)).changed
        assert path.read_text() == text
        assert not file.uninstall(now + timedelta(seconds=2)).changed
    assert len(SettingsFile(path).backups()) == BACKUPS_MAX
    (path.with_name("settings.json.ezra-mine.bak")).write_text("another's")
    assert len(SettingsFile(path).backups()) == BACKUPS_MAX


def test_a_file_made_for_hooks_goes_with_them(tmp_path: Path) -> None:
    """But not when somebody wrote something into it."""
    path = tmp_path / ".claude" / "settings.json"
    file = SettingsFile(path)
    assert file.install(PROGRAM, NOW).backup is None
    done = file.uninstall(NOW + timedelta(seconds=1))
    assert done.removed
    assert not path.exists()
    assert not file.uninstall(NOW).changed

    file.install(PROGRAM, NOW + timedelta(seconds=2))
    path.write_text(path.read_text().replace("{\n", '{\n  "model": "x",\n', 1))
    file.uninstall(NOW + timedelta(seconds=3))
    assert path.read_text() == '{\n  "model": "x"\n}\n'


def test_no_link_is_followed(tmp_path: Path) -> None:
    """Neither of the file nor of its folder; what it leads to is named, and is not touched."""
    real = tmp_path / "dotfiles" / "settings.json"
    real.parent.mkdir()
    real.write_text("{}")
    folder = tmp_path / ".claude"
    folder.mkdir()
    (folder / "settings.json").symlink_to(real)
    (tmp_path / "linked").symlink_to(real.parent)
    for path in (folder / "settings.json", tmp_path / "linked" / "settings.json"):
        with pytest.raises(UsageError, match=str(real)):
            SettingsFile(path).install(PROGRAM, NOW)
    assert real.read_text() == "{}"
    SettingsFile(real).install(PROGRAM, NOW)
    assert commands(real.read_text())


def test_what_is_no_file_or_too_long_is_refused(tmp_path: Path) -> None:
    """A folder, a pipe that nobody writes to, megabytes, no UTF-8."""
    folder, pipe, long, odd = (tmp_path / name for name in ("folder", "pipe", "long", "odd"))
    folder.mkdir()
    os.mkfifo(pipe)
    long.write_bytes(b" " * (BYTES_MAX + 1))
    odd.write_bytes(b'{"a": "\xff"}')
    for path, named in (
        (folder, "directory"),
        (pipe, "regular"),
        (long, "at most"),
        (odd, "UTF-8"),
    ):
        with pytest.raises(UsageError, match=named):
            SettingsFile(path).install(PROGRAM, NOW)


def test_what_somebody_else_writes_meanwhile_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between reading and replacing the file is looked at once more."""
    path = tmp_path / "settings.json"
    path.write_text("{}")
    file = SettingsFile(path)
    write = SettingsFile._write

    def interrupted(self: SettingsFile, draft: Path, data: bytes) -> None:
        write(self, draft, data)
        path.write_text('{"theirs": 1}')

    monkeypatch.setattr(SettingsFile, "_write", interrupted)
    with pytest.raises(Conflict):
        file.install(PROGRAM, NOW)
    assert path.read_text() == '{"theirs": 1}'
    assert [one for one in tmp_path.iterdir() if one.name.startswith(".")] == []


# What hooks leave on the disk, when they hand over, and what stands in their log.


def state_in(folder: Path, agent: str = "scout") -> HookState:
    """Return what hooks keep for an agent."""
    return HookState(BridgeConfig(state=folder, agent=agent, home=folder / "home"))


def file(path: str, minute: int = 0) -> QueuedFile:
    """Return a file that was written."""
    return QueuedFile(path, "d", "/project", NOW.replace(minute=minute).isoformat())


def test_a_file_waits_once_until_it_is_done(tmp_path: Path) -> None:
    """Writing it again while it is being indexed queues it anew; who dies with it leaves it."""
    state = state_in(tmp_path)
    for one in (file("/b.md", 2), file("/a.md", 1), file("/b.md", 3)):
        state.queue(one)
    assert (state.waiting(), state.has_new()) == (2, True)
    assert state.take() == (file("/a.md", 1), file("/b.md", 3))
    assert not state.has_new()
    state.queue(file("/a.md", 4))
    assert state.has_new()
    state.done(file("/a.md", 1))
    assert state.take() == (file("/b.md", 3), file("/a.md", 4))
    assert state_in(tmp_path, "other").waiting() == 0
    for one in state.take():
        state.done(one)
    state.done(file("/a.md"))
    assert (state.waiting(), state.take()) == (0, ())


def test_what_no_hook_wrote_is_removed(tmp_path: Path) -> None:
    """Broken entries, and those under a name that is not theirs."""
    state = state_in(tmp_path)
    state.queue(file("/a.md"))
    folder = state.folder / "files"
    (entry,) = folder.iterdir()
    (folder / f"{'0' * 32}.json").write_bytes(entry.read_bytes())
    (folder / f"{'1' * 32}.json").write_text("{")
    (folder / f"{'2' * 32}.json").write_text('{"path": "/x.md"}')
    assert state.take() == (file("/a.md"),)
    assert state.waiting() == 1


def test_the_queue_has_an_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One more file is refused; one that waits already is not."""
    monkeypatch.setattr(hook_state, "FILES_MAX", 2)
    state = state_in(tmp_path)
    state.queue(file("/a.md"))
    state.queue(file("/b.md"))
    with pytest.raises(TooManyFilesError, match="index-all"):
        state.queue(file("/c.md"))
    state.queue(file("/a.md", 5))
    assert state.waiting() == 2


def test_a_handoff_is_bounded_and_grows_old(tmp_path: Path) -> None:
    """Cut after a whole line; too old it is not told, and removed; empty it is taken away."""
    state = state_in(tmp_path)
    assert state.handoff(0) is None
    lines = "".join(f"- line {number} of many\n" for number in range(2_000))
    state.write_handoff(lines)
    path = state.folder / "handoff.md"
    os.utime(path, (1_000, 1_000))
    found = state.handoff(1_060)
    assert found is not None
    text, ago = found
    assert (len(text) <= HANDOFF_CHARS_MAX, ago) == (True, 60)
    assert "many\n… cut" in text
    assert bounded(text) == text
    assert state.handoff(1_001 + 86_400 * HANDOFF_DAYS_MAX) is None
    assert not path.exists()
    state.write_handoff("something")
    state.write_handoff("")
    assert not path.exists()


def test_one_process_drains_and_one_starts(tmp_path: Path) -> None:
    """Locks of the operating system, here of two descriptors."""
    state = state_in(tmp_path)
    assert not state.is_draining()
    with state.draining() as is_ours, state_in(tmp_path).draining(0.0) as is_theirs:
        assert (is_ours, is_theirs, state.is_draining()) == (True, False, True)
    assert not state.is_draining()
    with state.starting() as last:
        assert last == 0.0
        with state_in(tmp_path).starting() as theirs:
            assert theirs is None
        state.note_start(77.0)
    with state.starting() as last:
        assert last == 77.0


def test_a_session_that_stops_often_ended_once(tmp_path: Path) -> None:
    """Within the time; another session has ended, too."""
    state = state_in(tmp_path)
    asked = [("a", 0), ("a", 200), ("b", 210), ("b", 400), ("a", 410), ("a", 800), ("a", 700)]
    found = [state.is_new_stop(session, 1_000 + at, 300) for session, at in asked]
    assert found == [True, False, True, False, True, True, True]


@pytest.mark.parametrize(
    ("name", "ago", "is_away", "waits", "due"),
    [
        (SESSION_START, DRAIN_SECONDS, False, False, True),
        (SESSION_START, 1.0, False, True, False),
        (POST_TOOL_USE, 1.0, False, True, False),
        (POST_TOOL_USE, DRAIN_SECONDS, True, True, True),
        (STOP, 1.0, False, True, True),
        (STOP, 1.0, False, False, False),
        (STOP, 1.0, True, True, False),
        (STOP, -1.0, True, False, True),
    ],
    ids=range(8),
)
def test_when_a_run_is_due(name: str, ago: float, *, is_away: bool, waits: bool, due: bool) -> None:
    """Now and then; after a stop at once, unless the memory was just found away."""
    assert is_due(name, ago, is_away=is_away, waits=waits) is due


def test_a_log_is_bounded_and_never_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It goes on in another folder where its own cannot be written, if that is nobody else's."""
    monkeypatch.setattr(hook_log, "BYTES_MAX", 2_000)
    log = HookLog(tmp_path / "hooks", tmp_path / "instead")
    for number in range(100):
        log.note("stop", f"number {number}\nand {'x' * 900}", NOW)
    files = list((tmp_path / "hooks").iterdir())
    assert sorted(one.name for one in files) == ["hooks.log", "hooks.log.1"]
    assert sum(one.stat().st_size for one in files) < 6_000
    assert log.lines(1)[0].startswith("2026-05-15T12:00:00.000+00:00 stop number 99 and xxx")
    assert len(log.lines(1)[0]) < 600
    assert log.lines(0) == ()

    (tmp_path / "taken").write_text("no folder")
    log = HookLog(tmp_path / "taken", tmp_path / "instead")
    log.note("stop", "elsewhere", NOW)
    assert log.lines()[-1].endswith("stop elsewhere")
    assert (tmp_path / "instead").stat().st_mode & 0o777 == 0o700
    (tmp_path / "instead" / "hooks.log").unlink()
    (tmp_path / "instead").chmod(0o777)
    log.note("stop", "where everybody writes", NOW)
    assert not (tmp_path / "instead" / "hooks.log").exists()
    HookLog(None, tmp_path / "taken" / "deep").note("stop", "nowhere", NOW)


def test_a_log_says_which_error_and_nothing_that_was_written() -> None:
    """Words of settings and of ours are told; of everything else the place."""
    assert error_words(UnusableEventError("the event is no JSON")).endswith("the event is no JSON")
    assert "EZRA_URL" in error_words(ConfigError("EZRA_URL", "is malformed"))
    for error in (
        UsageError("text", "a secret", "none"),
        ValueError("a secret"),
        OSError("secret"),
    ):
        with pytest.raises(type(error)) as raised:
            _raise(error)
        said = error_words(raised.value)
        assert "secret" not in said
        assert Path(__file__).name in said


def _raise(error: Exception) -> None:
    raise error
