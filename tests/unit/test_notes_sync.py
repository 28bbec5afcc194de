"""Notes between machines, without a memory: what to do, what is noted, what is written."""

from __future__ import annotations

import asyncio
import json
import os
from itertools import product
from pathlib import Path

import pytest

from ezra.bridge.config import BridgeConfig, bridge_config, roots_of
from ezra.bridge.notes.configured import indexer_of, memory_folder_of
from ezra.bridge.notes.folders import file_in, notes_in, text_of
from ezra.bridge.notes.names import digest_of, linked_name, memories_shelf, slug
from ezra.bridge.notes.note_files import local_notes, remove_note, write_note
from ezra.bridge.notes.sync_state import Agreed, SyncState
from ezra.bridge.notes.three_way import CONFLICTS, Sides, conflict_name, step_of
from tiers.errors import ConfigError, Conflict, UsageError

VERSIONS = (None, "a", "b", "c")


@pytest.mark.parametrize(("base", "local", "server"), list(product(VERSIONS, repeat=3)))
def test_no_step_takes_a_version_away_that_only_one_side_has(
    base: str | None, local: str | None, server: str | None
) -> None:
    """Of all that three sides may say: one that both have, or had, may go; others stay."""
    step = step_of(Sides(base, local, server))
    if step in ("push", "remove"):
        assert server == base
    elif step in ("pull", "delete"):
        assert local == base
    elif step == "unchanged":
        assert local == server
    else:
        assert step in CONFLICTS
        assert base not in (local, server)
        assert local != server
        assert (step == "restore") == (local is None)
        assert (step == "set_aside") == (server is None)
    assert (step == "remove") == (local is None and server == base and base is not None)
    assert (step == "delete") == (server is None and local == base and base is not None)


def test_a_conflicts_name_fits_every_file_system_and_is_repeatable() -> None:
    """Long names in any script stay below 255 bytes; a copy's copy does not grow."""
    digest = digest_of("x")
    name = conflict_name("a/Plan.md", "My Laptop", digest)
    assert name == f"a/Plan.conflict-my-laptop-{digest[:8]}.md"
    assert conflict_name(name, "My Laptop", digest) == name
    for stem, machine in (("ö" * 200, "m" * 200), ("佐" * 84, "佐藤" * 50)):
        assert len(conflict_name(f"{stem}.markdown", machine, digest, 64).encode()) <= 255


def test_what_was_agreed_is_read_back_and_a_torn_file_is_refused(tmp_path: Path) -> None:
    """The state is old or new, never half; what cannot be read is not taken for nothing."""
    state = SyncState(tmp_path / "state", "key", tmp_path / "notes")
    assert state.read() == {}
    state.path.parent.mkdir(parents=True)
    agreed = {"ö.md": Agreed("0" * 64, 3), "a/b.md": Agreed("1" * 64, 1)}
    state.write(agreed)
    assert state.read() == agreed
    assert state.path.stat().st_mode & 0o777 == 0o600
    assert [one.name for one in state.path.parent.iterdir()] == [state.path.name]
    whole = state.path.read_text()
    for torn in (whole[:-9], "[]", "{}", json.dumps({"version": 9, "notes": {}}), "\x00"):
        state.path.write_text(torn)
        with pytest.raises(ConfigError, match="remove it to compare"):
            state.read()
    assert SyncState(tmp_path / "state", "key", tmp_path / "other").read() == {}


async def test_one_sync_of_a_folder_at_a_time(tmp_path: Path) -> None:
    """A second one waits, not forever, and does not stop the loop meanwhile."""
    state = SyncState(tmp_path / "state", "key", tmp_path)
    async with state.held():
        with pytest.raises(UsageError, match="no other process"):
            async with SyncState(tmp_path / "state", "key", tmp_path).held(0.05):
                pytest.fail("both hold it")
    async with state.held(0.05):
        await asyncio.sleep(0)


def test_a_note_that_changed_meanwhile_is_not_overwritten(tmp_path: Path) -> None:
    """What was seen is looked at again right before it is replaced or removed."""
    seen = write_note(tmp_path, "deep/a.md", "one\n", None)
    assert local_notes(tmp_path)["deep/a.md"] == seen
    (tmp_path / "deep" / "a.md").write_text("two\n")
    with pytest.raises(Conflict):
        write_note(tmp_path, "deep/a.md", "three\n", seen)
    with pytest.raises(Conflict):
        remove_note(tmp_path, "deep/a.md", seen)
    with pytest.raises(Conflict):
        write_note(tmp_path, "deep/a.md", "three\n", None)
    assert (tmp_path / "deep" / "a.md").read_text() == "two\n"


def test_line_ends_of_a_file_stay_its_own(tmp_path: Path) -> None:
    """A note of another system is no change, and keeps its line ends when it is replaced."""
    (tmp_path / "a.md").write_bytes(b"one\r\ntwo\r\n")
    seen = local_notes(tmp_path)["a.md"]
    assert (seen.text, seen.digest) == ("one\ntwo\n", digest_of("one\ntwo\n"))
    write_note(tmp_path, "a.md", "three\nfour\n", seen)
    assert (tmp_path / "a.md").read_bytes() == b"three\r\nfour\r\n"


@pytest.mark.parametrize(
    "name",
    ["../out.md", "/etc/out.md", "a/../../out.md", ".hidden.md", "a/.git/x.md", "out.txt",
     "c:\\out.md", "a\\b.md", "memory.md", "a\x00b.md", f"{'x' * 300}.md", "C:out.md"],
    ids=lambda name: f"{name[:14]!a}",
)  # fmt: skip
def test_a_strangers_name_does_not_lead_out_of_the_folder(tmp_path: Path, name: str) -> None:
    """Names come from a server: whatever they say, nothing is written elsewhere."""
    folder = tmp_path / "notes"
    folder.mkdir()
    with pytest.raises(UsageError, match="note"):
        write_note(folder, name, "stolen", None)
    assert list(folder.iterdir()) == []
    assert [one.name for one in tmp_path.iterdir()] == ["notes"]


def test_links_lead_nowhere(tmp_path: Path) -> None:
    """A link in a folder is neither read nor written through."""
    folder, outside = tmp_path / "notes", tmp_path / "outside"
    folder.mkdir()
    outside.mkdir()
    (outside / "secret.md").write_text("secret")
    (folder / "linked").symlink_to(outside)
    (folder / "secret.md").symlink_to(outside / "secret.md")
    assert local_notes(folder) == {}
    assert notes_in(folder) == ()
    with pytest.raises(UsageError):
        write_note(folder, "linked/new.md", "x", None)
    assert [one.name for one in outside.iterdir()] == ["secret.md"]
    root, file = file_in(roots_of("", folder), folder / "secret.md")
    with pytest.raises(UsageError, match="can be read"):
        text_of(file)
    assert root.name == "notes"


def test_what_is_no_text_is_told_and_is_no_removal(tmp_path: Path) -> None:
    """A note that cannot be read is not one that is gone."""
    (tmp_path / "torn.md").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "bell.md").write_text("ding \x07")
    (tmp_path / "long.md").write_text("x" * 200_001)
    os.mkfifo(tmp_path / "pipe.md")
    found = local_notes(tmp_path)
    assert set(found) == {"torn.md", "bell.md", "long.md"}
    assert "UTF-8" in found["torn.md"].problem
    assert "control" in found["bell.md"].problem
    assert "200,000" in found["long.md"].problem


def test_watched_folders_have_names_of_their_own_and_stand_apart(tmp_path: Path) -> None:
    """Two of one name, or one in the other, are refused by the name of the variable."""
    for path in ("a/notes", "b/notes", "a/notes/deep"):
        (tmp_path / path).mkdir(parents=True)

    def named(*entries: str) -> list[tuple[str, Path]]:
        found = roots_of(os.pathsep.join(entries), tmp_path)
        return [(one.name, one.path) for one in found]

    real = Path(os.path.realpath(tmp_path))
    assert named("a/notes", f"other={tmp_path}/b/notes") == [
        ("notes", real / "a/notes"), ("other", real / "b/notes"),
    ]  # fmt: skip
    assert [one.path for one in roots_of("", tmp_path)] == [real]
    for wrong in (("a/notes", "b/notes"), ("a/notes", "deep=a/notes/deep")):
        with pytest.raises(ConfigError, match="EZRA_BRIDGE_WATCH_DIRS"):
            named(*wrong)


def test_who_is_configured(tmp_path: Path) -> None:
    """Without an agent nothing is indexed, without a folder nothing is synced."""
    config = bridge_config(
        {
            "EZRA_BRIDGE_STATE": str(tmp_path / "state"),
            "EZRA_BRIDGE_AGENT": "scout",
            "EZRA_BRIDGE_RELATIONS": "owner",
            "EZRA_BRIDGE_MEMORY_PATH": str(tmp_path / "n"),
        }
    )
    indexer = indexer_of(config, tmp_path)
    assert indexer.rules.relations[-1] == "owner"
    assert indexer.shelf_of(indexer.roots[0]) == f"notes:scout/{indexer.roots[0].name}"
    memory = memory_folder_of(config)
    assert (memory.shelf, memory.folder) == ("memories:scout", (tmp_path / "n").resolve())
    with pytest.raises(ConfigError, match="EZRA_BRIDGE_AGENT"):
        indexer_of(BridgeConfig(tmp_path), tmp_path)
    with pytest.raises(ConfigError, match="EZRA_BRIDGE_MEMORY_PATH"):
        memory_folder_of(BridgeConfig(tmp_path, agent="scout"))
    with pytest.raises(UsageError):
        memories_shelf("x" * 250)


def test_names_of_any_script_make_ids() -> None:
    """Spellings of one name are one; what has no letters is told apart by its digest."""
    assert slug("  Zoë's  Plan_v2.0 ") == "zoë-s-plan-v2-0"
    assert slug("Räikkönen") == slug("RA\u0308IKKO\u0308NEN")
    assert slug("🏁") != slug("🏎")
    assert len(slug("🏁")) == 8
    assert linked_name("![[Race plan#Tyres|the plan]]") == "Race plan"
