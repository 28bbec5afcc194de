"""Where the embedded indexes lie below the warm folder, and what is written down about each.

``<slug of the model id>/`` holds what ``edge_folder`` keeps there (lock, manifest, shard) and
``marks.json``: how far the index has come for each tenant. So removing the folder removes the
marks too, and a mark never speaks for an index that is not there.

The former layout had one index directly in the warm folder, whatever the model, and
``indexed.json`` naming for each tenant the model that had indexed it.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

from pydantic import Field, ValidationError

from ..records import Record
from ..upkeep import Generation
from .edge_folder import owned
from .payload import as_marked

WORDS_FOLDER = "words"
"""The folder of the index without a model; no model's is called that: theirs end in a digest."""

DROPPED = ".dropped"
"""Ends the name of a folder that is being removed: renamed first, so nothing half looks whole."""

_MARKS_FILE = "marks.json"
_FORMER_MARKER = "indexed.json"
_MOVING = ".moving"
_SLUG_CHARS_MAX = 80


class Marks(Record):
    """What ``marks.json`` says.

    Attributes:
        model_id: Whose vectors the index holds.
        tenants: How far it has come for each.
        leaving: Tenants without a mark whose entries are still to be removed.
        forms: The form of each tenant's entries; 1 where none is named.
    """

    model_id: str | None
    tenants: dict[str, Generation] = Field(default_factory=dict)
    leaving: tuple[str, ...] = ()
    forms: dict[str, int] = Field(default_factory=dict)

    def generation(self, tenant: str) -> Generation | None:
        """Return how far the index has come for a tenant; ``None`` for one without a mark."""
        mark = self.tenants.get(tenant)
        return None if mark is None else as_marked(mark, self.forms.get(tenant, 1))


def slug_of(model_id: str | None) -> str:
    """Return the name of a model's folder: readable, and different for every id.

    The digest tells apart what a file system takes for one name.
    """
    if model_id is None:
        return WORDS_FOLDER
    readable = re.sub(r"[^A-Za-z0-9@_.-]+", "-", model_id)[:_SLUG_CHARS_MAX].strip(".-")
    digest = hashlib.sha256(model_id.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{readable or 'model'}-{digest}"


def read_marks(folder: Path) -> Marks | None:
    """Return what is written down about the index in ``folder``.

    ``None`` when there is no index, it is being removed, or the marks cannot be read: it is then
    built from the start.
    """
    if folder.name.endswith(DROPPED) or not (folder / "shard").exists():
        return None
    try:
        return Marks.model_validate_json((folder / _MARKS_FILE).read_bytes())
    except (FileNotFoundError, ValidationError):
        return None


def write_marks(folder: Path, marks: Marks) -> None:
    """Replace the marks in one step: a killed process leaves the old or the new ones."""
    new = folder / f"{_MARKS_FILE}.new"
    new.write_text(marks.model_dump_json(), "utf-8")
    new.replace(folder / _MARKS_FILE)


def forget_marks(folder: Path) -> None:
    """Remove the marks of an index that is gone, or that cannot be read."""
    (folder / _MARKS_FILE).unlink(missing_ok=True)


def remove(folder: Path) -> None:
    """Remove a folder so that a crash in between leaves nothing that looks like an index."""
    dropped = folder.with_name(folder.name + DROPPED)
    if dropped.exists():
        shutil.rmtree(dropped)
    folder.rename(dropped)
    shutil.rmtree(dropped)


def prepare(warm: Path) -> None:
    """Make the warm folder, or finish in it what was begun, and move a former index into place.

    Raises:
        ConfigError: A former index is open in another process.
        OSError: The folder cannot be used.
    """
    warm.mkdir(parents=True, exist_ok=True)
    for left_over in warm.glob(f"*{DROPPED}"):
        shutil.rmtree(left_over)
    _move_into_place(warm)


def _move_into_place(warm: Path) -> None:
    """Move an index of the former layout into the folder of its model.

    Each step is a rename or can be repeated, and the former marker goes last: after a crash the
    next call finishes. An index of unknown models is removed; it is then built from cold.
    """
    marker, shard = warm / _FORMER_MARKER, warm / "shard"
    if not marker.exists() and not shard.exists():
        return
    with owned(warm):
        indexed = _read_former(marker)
        if indexed:
            _move(warm, indexed, datetime.fromtimestamp(marker.stat().st_mtime, UTC))
        if shard.exists():
            remove(shard)
        if (warm / "shard.new").exists():
            shutil.rmtree(warm / "shard.new")
        for name in ("manifest.json", "manifest.json.new", _FORMER_MARKER):
            (warm / name).unlink(missing_ok=True)
    (warm / "owner.lock").unlink(missing_ok=True)


def _move(warm: Path, indexed: dict[str, str | None], marked_at: datetime) -> None:
    """Move the shard below the folder of the model that most tenants were indexed with."""
    by_use = Counter(indexed.values()).most_common()
    model_id = next((model for model, _ in by_use if model is not None), None)
    place = warm / slug_of(model_id)
    moving = place.with_name(place.name + _MOVING)
    shard, manifest = warm / "shard", warm / "manifest.json"
    if shard.exists():
        if not manifest.exists():
            return
        moving.mkdir(exist_ok=True)
        content = manifest.read_text("utf-8")
        (moving / "manifest.json").write_text(content, "utf-8")
        marks = _former_marks(indexed, model_id, content, marked_at)
        if marks is None:
            shutil.rmtree(moving)
            return
        write_marks(moving, marks)
        shard.rename(moving / "shard")
    if (moving / "shard").exists():
        if place.exists():
            remove(place)
        moving.rename(place)
    elif moving.exists():
        shutil.rmtree(moving)


def _former_marks(
    indexed: dict[str, str | None], model_id: str | None, manifest: str, marked_at: datetime
) -> Marks | None:
    """Return the marks that say what the former marker said, or ``None`` if it cannot be told.

    Tenants of other models leave: their vectors cannot stay among these.
    """
    try:
        dimensions = int(json.loads(manifest)["dimensions"])
        mark = Generation(
            model_id=model_id, dimensions=dimensions, state="complete", marked_at=marked_at
        )
    except (ValueError, KeyError, TypeError):
        return None
    stay = {tenant: mark for tenant, model in indexed.items() if model == model_id}
    leave = tuple(tenant for tenant in indexed if tenant not in stay)
    return Marks(model_id=model_id, tenants=stay, leaving=leave)


def _read_former(marker: Path) -> dict[str, str | None]:
    """Return which model indexed each tenant; a marker that cannot be read is as good as none."""
    try:
        found = json.loads(marker.read_text("utf-8"))
    except (FileNotFoundError, ValueError):
        return {}
    if not isinstance(found, dict):
        return {}
    return {
        tenant: model for tenant, model in found.items() if model is None or isinstance(model, str)
    }
