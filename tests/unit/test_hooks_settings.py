"""Our hooks in somebody else's settings: nothing but they is changed, and it can be undone."""

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

from ezra.bridge.hook_file import BACKUPS_MAX, BYTES_MAX, SettingsFile
from ezra.bridge.hook_json import added, without
from ezra.bridge.hook_settings import (
    EVENTS,
    commands,
    groups,
    installed,
    is_former,
    program_of,
    uninstalled,
)
from tiers.errors import Conflict, UsageError

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
