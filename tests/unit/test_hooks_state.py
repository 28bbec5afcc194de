"""What hooks leave on the disk, when they hand over, and what stands in their log."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from ezra.bridge import hook_log, hook_state
from ezra.bridge.config import BridgeConfig
from ezra.bridge.hook import POST_TOOL_USE, SESSION_START, STOP, UnusableEventError
from ezra.bridge.hook_events import DRAIN_SECONDS, is_due
from ezra.bridge.hook_log import HookLog, error_words
from ezra.bridge.hook_state import (
    HANDOFF_CHARS_MAX,
    HANDOFF_DAYS_MAX,
    HookState,
    QueuedFile,
    TooManyFilesError,
    bounded,
)
from tiers.errors import ConfigError, UsageError

NOW = datetime(2026, 5, 15, 12, tzinfo=UTC)


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
