"""Models of the fastembed library: dense embedders and cross-encoders by the names it knows.

Their files are fetched by fastembed from where it keeps them, at the first opening, into
``fastembed`` below the folder of models. Where nothing may be fetched, a folder there that is named
after the model, its slashes as ``--``, is taken as it is: the files of an ONNX export.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, TypeVar

import fastembed
import numpy as np
import numpy.typing as npt
from fastembed.rerank.cross_encoder import TextCrossEncoder

from ..errors import ConfigError, TierUnavailable
from .batching import QueuedEmbedder
from .onnx_embedder import default_threads
from .queueing import BatchQueue, ThreadRunner

FOLDER = "fastembed"
_MAX_CHARACTERS = 8_192  # as of the installed model; fastembed cuts to the model's own limit
_TINY = 1e-9
_SHOWN = 5  # names in an error

T = TypeVar("T")


class FastEmbedEmbedder(QueuedEmbedder):
    """Vectors of one of fastembed's dense models; implements ``tiers.ports.Embedder``.

    Every text is computed alone: in a padded batch, quantised models give vectors that depend on
    their neighbours. Vectors are brought to unit length, which not every model does.

    Args:
        name: As fastembed calls it: ``BAAI/bge-small-en-v1.5``.
        models: The folder that holds models.

    Raises:
        ConfigError: fastembed knows no such model.
    """

    asymmetric = True

    def __init__(self, name: str, models: Path) -> None:
        super().__init__(max_characters=_MAX_CHARACTERS)
        known = {
            one["model"]: one["dim"] for one in fastembed.TextEmbedding.list_supported_models()
        }
        self._name = _known_model(name, known, "EZRA_EMBEDDER")
        self._dimensions = int(known[self._name])
        self._models = models

    @property
    def model_id(self) -> str:
        """Library and model: ``fastembed/BAAI/bge-small-en-v1.5``."""
        return f"{FOLDER}/{self._name}"

    @property
    def dimensions(self) -> int:
        """Length of every vector."""
        return self._dimensions

    async def _opened_queue(self, exits: AsyncExitStack) -> BatchQueue:  # noqa: ARG002 - nothing to close
        def load() -> fastembed.TextEmbedding:
            return fastembed.TextEmbedding(self._name, **_options(self._name, self._models))

        model = await _loaded("embedding", self._name, self._models, load)
        self._forget()

        def texts(given: list[str]) -> list[bytes]:
            return self._checked(_unit(model.passage_embed(given, batch_size=1)), len(given))

        def questions(given: list[str]) -> list[bytes]:
            return self._checked(_unit(model.query_embed(given, batch_size=1)), len(given))

        return BatchQueue(ThreadRunner(texts, questions), self._keep, limit=self._queue_size)


class FastEmbedCrossEncoder:
    """The blocking half of a reranker: one of fastembed's cross-encoders.

    Args:
        name: As fastembed calls it: ``Xenova/ms-marco-MiniLM-L-6-v2``.
        models: The folder that holds models.

    Raises:
        ConfigError: fastembed knows no such model.
    """

    def __init__(self, name: str, models: Path) -> None:
        known = {one["model"]: None for one in TextCrossEncoder.list_supported_models()}
        self._name = _known_model(name, known, "EZRA_RERANKER")
        self._models = models

    @property
    def name(self) -> str:
        """Library and model: ``fastembed/Xenova/ms-marco-MiniLM-L-6-v2``."""
        return f"{FOLDER}/{self._name}"

    async def loaded(self) -> Callable[[str, Sequence[str]], list[float]]:
        """Return what scores texts for a question, blocking; in one thread at a time.

        Raises:
            TierUnavailable: Its files are not here and cannot be fetched, or cannot be read.
        """

        def load() -> TextCrossEncoder:
            return TextCrossEncoder(self._name, **_options(self._name, self._models))

        model = await _loaded("rerank", self._name, self._models, load)

        def scores(query: str, texts: Sequence[str]) -> list[float]:
            return [float(one) for one in model.rerank(query, list(texts))]

        return scores


def own_folder(name: str, models: Path) -> Path:
    """Return where a model's files may be put by hand."""
    return models / FOLDER / name.replace("/", "--")


def _known_model(name: str, known: dict[str, Any], key: str) -> str:
    for one in known:
        if one.lower() == name.lower():
            return one
    some = f"{', '.join(list(known)[:_SHOWN])} and {len(known) - _SHOWN} more"
    raise ConfigError(key, f"fastembed knows no model {name!r}; it knows {some}")


def _options(name: str, models: Path) -> dict[str, Any]:
    given = own_folder(name, models)
    place = {"specific_model_path": str(given)} if given.is_dir() else {}
    cache = str(models / FOLDER)
    return {"cache_dir": cache, "threads": default_threads(), "cuda": False, **place}


async def _loaded(tier: str, name: str, models: Path, load: Callable[[], T]) -> T:
    loading = asyncio.get_running_loop().run_in_executor(None, load)
    await asyncio.wait([loading])
    # Taken as a value: what it raises is whatever the libraries below it raise.
    problem = loading.exception()
    if problem is None:
        return loading.result()
    reason = (
        f"{FOLDER}/{name} could not be loaded: {type(problem).__name__}: {problem}; "
        f"where it cannot be fetched, put its files into {own_folder(name, models)}"
    )
    raise TierUnavailable(tier, "open", reason) from problem


def _unit(vectors: Iterable[Any]) -> npt.NDArray[np.float32]:
    rows = np.asarray(list(vectors), dtype=np.float32)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.maximum(lengths, _TINY), dtype=np.float32)
