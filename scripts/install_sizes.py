"""What installing ezra brings: packages and megabytes of the core and of each extra.

    .venv/bin/python scripts/install_sizes.py                  the core and every extra
    .venv/bin/python scripts/install_sizes.py core embed       these alone

Builds the wheel, installs it into an empty environment for each, by pip as it is set up here, and
tries there what it is for. Ends with 1 when something does not work, or the core is above its
target. Nothing is left behind.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import tomllib
import venv
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CORE = "core"
CORE_PACKAGES_MAX = 40
CORE_MEGABYTES_MAX = 120
PIP_SECONDS = 900
COMMAND_SECONDS = 120

COMMANDS = (
    ("--version",),
    ("init",),
    ("graph", "create", "imola"),
    ("agent", "spawn", "imola", "strategist"),
    ("remember", "imola", "strategist", "The medium tyres last about 18 laps."),
    ("recall", "imola", "How long do the medium tyres last?"),
    ("doctor",),
)
"""What the core has to do, in order."""

FOUND = "18 laps"

FEATURES = {
    CORE: "ezra.service.app ezra.service.console ezra.remote ezra.documents.markdown",
    "embed": "tiers.embedding.install tiers.embedding.onnx_embedder ezra.evaluation.baselines",
    "fastembed": "tiers.embedding.fastembed_models",
    "servers": "tiers.hot.connect tiers.cold.mongo.store tiers.warm.qdrant_indexes",
    "serve": "ezra.service.mcp ezra.service.mcp_bridge ezra.service.identity",
    "documents": "ezra.documents.pdf ezra.documents.docx watchfiles",
    "mesh": "ezra.mesh.sql ezra.mesh.mongo sqlalchemy pymongo mcp.client.client",
    "gemini": "tiers.embedding.gemini_embedder google.genai",
    "openai": "tiers.embedding.openai_embedder openai",
    "adk": "ezra.adapters.adk",
    "langgraph": "ezra.adapters.langgraph",
    "openai-agents": "ezra.adapters.openai_agents",
    "pydantic-ai": "ezra.adapters.pydantic_ai",
    "telemetry": "opentelemetry.sdk.trace opentelemetry.exporter.otlp.proto.http.trace_exporter",
    "motor": "tiers.cold.mongo.store motor.motor_asyncio",
}
"""What has to be importable with each extra; with ``all``, all of it."""


@dataclass(frozen=True)
class Installed:
    """What an installation came to.

    Attributes:
        extra: Which extra, or ``core``.
        packages: Distributions, ezra included.
        megabytes: Size of the files, bytecode included, in millions of bytes.
        problems: What does not work there.
    """

    extra: str
    packages: int
    megabytes: float
    problems: tuple[str, ...]


def extras() -> tuple[str, ...]:
    """Return the names of the extras, as ``pyproject.toml`` has them."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return tuple(project["optional-dependencies"])


def built_wheel(folder: Path) -> Path:
    """Build the wheel into a folder and return it."""
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps"]
    command += ["--wheel-dir", str(folder), str(ROOT)]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=PIP_SECONDS)
    if done.returncode:
        sys.exit(f"the wheel cannot be built: {_last(done.stderr)}")
    (wheel,) = folder.glob("*.whl")
    return wheel


def installed(wheel: Path, extra: str, folder: Path) -> Installed:
    """Install a wheel with an extra into an empty environment below a folder, and try it."""
    home = folder / "home"
    home.mkdir(parents=True)
    venv.create(folder / "env", with_pip=False)
    python = folder / "env" / "bin" / "python"
    wanted = str(wheel) if extra == CORE else f"{wheel}[{extra}]"
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", wanted]
    done = subprocess.run(pip, check=False, capture_output=True, text=True, timeout=PIP_SECONDS)
    if done.returncode:
        return Installed(extra, 0, 0.0, (done.stderr.strip(),))
    (site,) = (folder / "env" / "lib").glob("python*/site-packages")
    size = sum(path.lstat().st_size for path in site.rglob("*") if not path.is_dir())
    packages = len(list(site.glob("*.dist-info")))
    problems = _importing(python, extra, home)
    if extra == CORE:
        problems += _commands(python.with_name("ezra"), home)
    return Installed(extra, packages, round(size / 1e6, 1), tuple(problems))


def above_target(core: Installed) -> list[str]:
    """Return in what the core is larger than it should be."""
    over = []
    if core.packages > CORE_PACKAGES_MAX:
        over.append(f"{core.packages} packages, {CORE_PACKAGES_MAX} are the target")
    if core.megabytes > CORE_MEGABYTES_MAX:
        over.append(f"{core.megabytes} MB, {CORE_MEGABYTES_MAX} are the target")
    return over


def _environment(home: Path) -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    return {**kept, "HOME": str(home), "EZRA_HOME": str(home / ".ezra"), "NO_COLOR": "1"}


def _importing(python: Path, extra: str, home: Path) -> list[str]:
    names = " ".join(FEATURES.values()) if extra == "all" else FEATURES[extra]
    program = f"import importlib\nfor name in {names.split()}: importlib.import_module(name)"
    done = _run([str(python), "-c", program], home)
    return [] if done.returncode == 0 else [f"{extra}: {_last(done.stderr)}"]


def _commands(ezra: Path, home: Path) -> list[str]:
    problems = []
    for arguments in COMMANDS:
        done = _run([str(ezra), *arguments], home)
        if done.returncode:
            problems.append(f"ezra {' '.join(arguments)}: {_last(done.stderr)}")
        elif arguments[0] == "recall" and FOUND not in done.stdout:
            problems.append("ezra recall: does not find what was remembered")
    return problems


def _run(command: Sequence[str], home: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        check=False,
        capture_output=True,
        text=True,
        timeout=COMMAND_SECONDS,
        env=_environment(home),
        cwd=home,
        stdin=subprocess.DEVNULL,
    )


def _last(text: str) -> str:
    return text.strip().splitlines()[-1] if text.strip() else "failed"


def main() -> int:
    """Print the table; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("extras", nargs="*", help="core, or names of extras; all of them if none")
    parser.add_argument("--wheel", type=Path, help="a wheel that is built already")
    parser.add_argument("--json", action="store_true", help="print JSON lines")
    given = parser.parse_args()
    unknown = set(given.extras) - {CORE, *extras()}
    if unknown:
        parser.error(f"no extra: {', '.join(sorted(unknown))}")
    failed = False
    with tempfile.TemporaryDirectory(prefix="ezra-install-") as name:
        folder = Path(name)
        wheel = given.wheel or built_wheel(folder)
        if not given.json:
            print(f"{'installed':<16}{'packages':>9}{'MB':>8}")
        for extra in given.extras or (CORE, *extras()):
            found = installed(wheel, extra, folder / extra)
            problems = [*found.problems, *(above_target(found) if extra == CORE else ())]
            failed |= bool(problems)
            if given.json:
                print(json.dumps({**asdict(found), "problems": problems}), flush=True)
                continue
            label = extra if extra == CORE else f"ezra[{extra}]"
            print(f"{label:<16}{found.packages:>9}{found.megabytes:>8}", flush=True)
            for problem in problems:
                print(f"  {problem}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
