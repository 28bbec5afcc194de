"""Where the embedded indexes lie below the warm folder, and what is written down about each.

``<slug of the model id>/`` holds what ``edge_folder`` keeps there (lock, manifest, shard) and
``marks.json``: how far the index has come for each tenant. So removing the folder removes the
marks too, and a mark never speaks for an index that is not there.
"""

from __future__ import annotations

import hashlib
import re
import shutil
from pathlib import Path

from pydantic import Field, ValidationError

from ..records import Record
from ..upkeep import Generation
from .edge_folder import is_former

WORDS_FOLDER = "words"
"""The folder of the index without a model; no model's is called that: theirs end in a digest."""

DROPPED = ".dropped"
"""Ends the name of a folder that is being removed: renamed first, so nothing half looks whole."""

_MARKS_FILE = "marks.json"
_SLUG_CHARS_MAX = 80


class Marks(Record):
    """What ``marks.json`` says.

    Attributes:
        model_id: Whose vectors the index holds.
        tenants: How far it has come for each.
        leaving: Tenants without a mark whose entries are still to be removed.
    """

    model_id: str | None
    tenants: dict[str, Generation] = Field(default_factory=dict)
    leaving: tuple[str, ...] = ()

    def generation(self, tenant: str) -> Generation | None:
        """Return how far the index has come for a tenant; ``None`` for one without a mark."""
        return self.tenants.get(tenant)


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

    ``None`` when there is no index or a former version's, it is being removed, or the marks cannot
    be read: it is then built from the start.
    """
    if folder.name.endswith(DROPPED) or not (folder / "shard").exists() or is_former(folder):
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
    """Make the warm folder, or finish in it what was begun.

    Raises:
        OSError: The folder cannot be used.
    """
    warm.mkdir(parents=True, exist_ok=True)
    for left_over in warm.glob(f"*{DROPPED}"):
        shutil.rmtree(left_over)
