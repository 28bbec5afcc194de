"""The embedding model of a test run, loaded once.

Loading it takes longer than most tests that ask it. It keeps nothing of what it is asked, and may
be asked by several threads, so the runtimes of a process share one.
``tests/unit/test_embedding_model.py`` is about loading it.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from tiers.embedding.installed import InstalledModel
from tiers.embedding.onnx_embedder import SentenceModel

from .session import SESSION

_INSTALLED: dict[Path, InstalledModel] = {}


class ReadyModel(SentenceModel):
    """A model that stays loaded when who uses it closes it."""

    def close(self) -> None:
        """Keep the threads for who comes next."""


def ready_model(installed: InstalledModel, *, threads: int) -> SentenceModel:
    """Return a model that was loaded before, or load it."""
    if _INSTALLED.setdefault(installed.folder, installed) != installed:
        return SentenceModel(installed, threads=threads)
    return _loaded(installed.folder, threads)


@cache
def _loaded(folder: Path, threads: int) -> ReadyModel:
    model = ReadyModel(_INSTALLED[folder], threads=threads)
    SESSION.callback(SentenceModel.close, model)
    return model
