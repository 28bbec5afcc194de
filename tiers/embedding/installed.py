"""Where embedding models are kept on disk, and what an installed one says about itself."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, TypeAlias

from pydantic import Field

from ..records import Record

Precision: TypeAlias = Literal["int8", "fp32"]
PRECISIONS: tuple[Precision, ...] = ("int8", "fp32")

MODEL_NAME = "all-MiniLM-L6-v2"
MODEL_FILE = "model.onnx"
TOKENIZER_FILE = "tokenizer.json"
MANIFEST_FILE = "manifest.json"

_MANIFEST_BYTES_MAX = 64 * 1024


class BuiltFile(Record):
    """A file of an installed model.

    Attributes:
        sha256: Digest of the content, in hexadecimal.
        size_bytes: Length of the content.
    """

    sha256: str
    size_bytes: int


class InstalledModel(Record):
    """A model in its folder, as its manifest describes it.

    Attributes:
        layout: Version of this description and of the graph; another one is not read.
        model_id: Name and precision; vectors of different ids are never compared.
        dimensions: Length of every vector.
        max_tokens: What a text is cut to, special tokens included.
        precision: ``int8`` or ``fp32`` weights.
        source: The package the weights came from.
        source_sha256: Digests of the files taken from it, by name.
        files: The files next to the manifest, by name.
        folder: Where they are; not part of the manifest.
    """

    layout: Literal[1] = 1
    model_id: str
    dimensions: int
    max_tokens: int
    precision: Precision
    source: str
    source_sha256: dict[str, str]
    files: dict[str, BuiltFile]
    folder: Path = Field(exclude=True)

    def damage(self) -> str | None:
        """Return what is wrong with the files, or ``None``; reads and hashes all of them."""
        for name, built in self.files.items():
            path = self.folder / name
            if not path.is_file():
                return f"{name} is missing"
            with path.open("rb") as content:
                if hashlib.file_digest(content, "sha256").hexdigest() != built.sha256:
                    return f"{name} is not the file that was installed"
        return None


def default_model_folder(env: Mapping[str, str]) -> Path:
    """Return the folder that holds models: ``EZRA_MODELS``, else ``ezra/models`` in the cache.

    The cache is ``XDG_CACHE_HOME`` where that is an absolute path, as its specification asks,
    else ``~/.cache``.
    """
    if chosen := env.get("EZRA_MODELS"):
        return Path(chosen).expanduser()
    cache = Path(env.get("XDG_CACHE_HOME", ""))
    return (cache if cache.is_absolute() else Path.home() / ".cache") / "ezra" / "models"


def model_folder(models: Path, precision: Precision) -> Path:
    """Return the folder of one model below the folder that holds models."""
    return models / f"{MODEL_NAME}-{precision}"


def find_model(folder: Path, precision: Precision | None = None) -> InstalledModel | None:
    """Return the model installed below ``folder``, or ``None``.

    Cheap enough for every start: reads one manifest and compares file sizes, no content. Without
    ``precision`` the int8 model is preferred. A manifest that cannot be read counts as none.
    """
    for wanted in PRECISIONS if precision is None else (precision,):
        found = _read_manifest(model_folder(folder, wanted))
        if found is not None and found.precision == wanted:
            return found
    return None


def _read_manifest(folder: Path) -> InstalledModel | None:
    try:
        with (folder / MANIFEST_FILE).open("rb") as manifest:
            facts = json.loads(manifest.read(_MANIFEST_BYTES_MAX))
        model = InstalledModel.model_validate(facts | {"folder": folder})
        whole = all(
            (folder / name).stat().st_size == built.size_bytes
            for name, built in model.files.items()
        )
    except (OSError, ValueError, TypeError, RecursionError):  # unreadable, no JSON, no object
        return None
    return model if whole and {MODEL_FILE, TOKENIZER_FILE} <= model.files.keys() else None
