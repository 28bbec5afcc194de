"""The ``Embedder`` over an installed all-MiniLM-L6-v2: tokenizers and onnxruntime, no torch."""

from __future__ import annotations

import asyncio
import hashlib
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack

import numpy as np
import numpy.typing as npt
import onnxruntime
from tokenizers import Tokenizer

from ..errors import ConfigError, EzraError, TierUnavailable, UsageError
from .batching import QueuedEmbedder
from .installed import MODEL_FILE, TOKENIZER_FILE, InstalledModel
from .queueing import BatchQueue

THREADS_MAX = 64

_DEFAULT_THREADS_MAX = 4
_MAX_CHARACTERS = 8_192  # 32 a token: what is cut would only be read of text with endless words
_ERRORS_ONLY = 3  # onnxruntime's severity; it warns of every optimisation it cannot do


def default_threads() -> int:
    """Return how many texts are computed side by side: the cores this process may use, at most 4.

    The affinity mask counts, not the machine: in a container they differ.
    """
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return max(1, min(usable or 1, _DEFAULT_THREADS_MAX))


class SentenceModel:
    """The blocking half: a ``VectorModel`` over the files of an installed model.

    Every text is computed alone, ``threads`` of them side by side, never padded into a batch:

    * int8 quantises each activation tensor as a whole, so in a batch a vector would depend on
      its neighbours (measured: cosine down to 0.965 between the same text alone and in a batch
      of 32, as much as quantisation itself costs). Alone, it depends on the text only.
    * It is no slower: 890 texts a second on two cores, against 910 in padded batches.
    * onnxruntime's own threads spin between runs and take a core away from the event loop.

    Args:
        installed: Whose files to load; their digests are checked.
        threads: How many texts are computed side by side.

    Raises:
        ConfigError: A file is missing or not the one that was installed.
    """

    def __init__(self, installed: InstalledModel, *, threads: int) -> None:
        self._installed = installed
        tokenizer = Tokenizer.from_str(_content(installed, TOKENIZER_FILE).decode())
        tokenizer.no_padding()
        tokenizer.enable_truncation(installed.max_tokens)
        self._tokenizer = tokenizer
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        options.log_severity_level = _ERRORS_ONLY
        self._session = onnxruntime.InferenceSession(
            _content(installed, MODEL_FILE), options, providers=["CPUExecutionProvider"]
        )
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="ezra-embedding-text")

    @property
    def model_id(self) -> str:
        """Name and precision of the model."""
        return self._installed.model_id

    @property
    def dimensions(self) -> int:
        """Length of every vector."""
        return self._installed.dimensions

    @property
    def max_characters(self) -> int:
        """More than this is cut: tokenizing it would take time and change nothing."""
        return _MAX_CHARACTERS

    def encode(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Return unit vectors, one row per text."""
        if len(texts) == 1:
            return self._encode_one(texts[0])
        return np.vstack(list(self._pool.map(self._encode_one, texts)))

    def close(self) -> None:
        """Let go of the threads. ``encode`` must not be called any more."""
        self._pool.shutdown(wait=False)

    def _encode_one(self, text: str) -> npt.NDArray[np.float32]:
        ids = np.array([self._tokenizer.encode(text).ids], dtype=np.int64)
        given = {"input_ids": ids, "attention_mask": np.ones_like(ids)}
        (vector,) = self._session.run(["embedding"], given)
        return np.asarray(vector, dtype=np.float32)


def _content(installed: InstalledModel, name: str) -> bytes:
    """Return a file of the model; what is checked is what is used."""
    path = installed.folder / name
    try:
        content = path.read_bytes()
    except OSError as problem:
        raise ConfigError("embedder", f"{path} cannot be read: install the model") from problem
    if hashlib.sha256(content).hexdigest() != installed.files[name].sha256:
        raise ConfigError("embedder", f"{path} is not what was installed: install the model again")
    return content


class OnnxEmbedder(QueuedEmbedder):
    """Vectors of an installed model; implements ``tiers.ports.Embedder``.

    An async context manager: entering loads the model in a thread (about 0.2 s), leaving lets the
    running batch end and refuses what waits. May be opened again; the cache starts empty.

    Args:
        installed: From ``find_model`` or ``install_model``.
        threads: How many texts are computed side by side; by default the usable cores, at most 4.
    """

    def __init__(self, installed: InstalledModel, *, threads: int | None = None) -> None:
        if threads is not None and not 1 <= threads <= THREADS_MAX:
            raise UsageError("threads", threads, f"1 to {THREADS_MAX}, or None")
        super().__init__(max_characters=_MAX_CHARACTERS)
        self._installed = installed
        self._threads = threads or default_threads()

    @property
    def model_id(self) -> str:
        """Name and precision of the model."""
        return self._installed.model_id

    @property
    def dimensions(self) -> int:
        """Length of every vector."""
        return self._installed.dimensions

    async def _opened_queue(self, exits: AsyncExitStack) -> BatchQueue:
        model = await self._load()
        exits.callback(model.close)
        self._forget()
        return self._threaded(model)

    async def _load(self) -> SentenceModel:
        def load() -> SentenceModel:
            return SentenceModel(self._installed, threads=self._threads)

        loading = asyncio.get_running_loop().run_in_executor(None, load)
        await asyncio.wait([loading])
        # Taken as a value: tokenizers raises bare Exception, which nothing narrower catches.
        problem = loading.exception()
        if problem is None or isinstance(problem, EzraError):
            return loading.result()
        reason = f"{self.model_id} could not be loaded: {type(problem).__name__}: {problem}"
        raise TierUnavailable("embedding", "open", reason) from problem
