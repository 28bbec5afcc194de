"""One owner per data folder."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from support.processes import killed_after, running_process

from tiers.cold import own_folder
from tiers.errors import ConfigError


def test_owner_is_noted_and_the_note_goes_with_it(tmp_path: Path) -> None:
    """Process, program, host and start, for people and messages."""
    with own_folder(tmp_path):
        note = json.loads((tmp_path / "owner.json").read_text())
        assert note["pid"] == os.getpid()
        assert set(note) == {"pid", "program", "host", "since"}
    assert not (tmp_path / "owner.json").exists()


def test_second_owner_in_this_process_is_refused(tmp_path: Path) -> None:
    """Two runtimes in one process would be two owners as well."""
    with own_folder(tmp_path):
        with pytest.raises(ConfigError, match=rf"in use by process {os.getpid()} ") as refusal:
            own_folder(tmp_path).__enter__()
        assert refusal.value.key == "EZRA_HOME"
        assert str(tmp_path) in refusal.value.reason
    with own_folder(tmp_path):
        pass


async def test_async_form_is_the_same(tmp_path: Path) -> None:
    """Entered with ``async with``, refused and released alike."""
    async with own_folder(tmp_path):
        with pytest.raises(ConfigError):
            await own_folder(tmp_path).__aenter__()
    async with own_folder(tmp_path):
        pass


def test_other_process_is_named_until_it_is_killed(tmp_path: Path) -> None:
    """Refused with its process and program; after SIGKILL the folder opens at once."""
    with running_process("cold_writer", tmp_path, warm=False) as process:
        assert process.stdout is not None
        process.stdout.readline()
        with pytest.raises(ConfigError) as refusal:
            own_folder(tmp_path).__enter__()
        assert f"process {process.pid} (program cold_writer.py" in refusal.value.reason
        assert "close it, or" in refusal.value.reason
        killed_after(process, 1)
        assert (tmp_path / "owner.json").exists(), "the killed owner could not tidy up"
        with own_folder(tmp_path):
            assert json.loads((tmp_path / "owner.json").read_text())["pid"] == os.getpid()


@pytest.mark.parametrize("note", [None, "", "[]", "{", '{"pid": 1}', "\x00" * 10_000])
def test_missing_or_broken_note_still_refuses(tmp_path: Path, note: str | None) -> None:
    """The lock decides; the note only explains."""
    with own_folder(tmp_path):
        path = tmp_path / "owner.json"
        path.unlink() if note is None else path.write_text(note)
        with pytest.raises(ConfigError, match="another process"):
            own_folder(tmp_path).__enter__()


def test_refused_owner_takes_nothing_from_the_first(tmp_path: Path) -> None:
    """Being refused neither frees the lock nor removes the note."""
    with own_folder(tmp_path):
        for _ in range(3):
            with pytest.raises(ConfigError):
                own_folder(tmp_path).__enter__()
        assert (tmp_path / "owner.json").exists()


def test_folder_is_made_and_an_unusable_one_is_refused(tmp_path: Path) -> None:
    """A new folder is made; a file in its place is a configuration error."""
    with own_folder(tmp_path / "new" / "home"):
        assert (tmp_path / "new" / "home").is_dir()
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="cannot use"):
        own_folder(tmp_path / "file").__enter__()


def test_lock_is_released_when_the_block_fails(tmp_path: Path) -> None:
    """An error inside goes through, and the folder is free."""
    with pytest.raises(RuntimeError, match="inside"), own_folder(tmp_path):
        raise RuntimeError("inside")
    with own_folder(tmp_path):
        pass
