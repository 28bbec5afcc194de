"""What an installation lacks is named by the feature that needs it; the core needs none of it."""

from __future__ import annotations

import importlib.util
import json
import sys
import tomllib
from functools import cache
from importlib.metadata import Distribution, distribution, packages_distributions
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from support.evaluation_sets import garage
from support.processes import succeeded

from tiers.errors import ConfigError
from tiers.extras import needs

ROOT = Path(__file__).parents[2]
SIZES = ROOT / "scripts" / "install_sizes.py"

IMPORTED_AS = {
    "embed": {"numpy", "onnxruntime", "safetensors", "tokenizers"},
    "fastembed": {"fastembed"},
    "servers": {"bson", "pymongo", "qdrant_client", "redis"},
    "serve": {"jwt", "mcp"},
    "documents": {"docx", "pypdf", "watchfiles"},
    "mesh": {"bson", "mcp", "pymongo", "sqlalchemy"},
    "gemini": {"google", "numpy"},
    "openai": {"numpy", "openai"},
    "adk": {"google"},
    "langgraph": {"langchain_core", "langgraph"},
    "openai-agents": {"agents"},
    "pydantic-ai": {"pydantic_ai"},
    "telemetry": {"opentelemetry.sdk", "opentelemetry.exporter"},
    "motor": {"motor"},
}
"""By what names the packages of an extra are imported."""

PROGRAM = """
import asyncio, importlib, importlib.abc, json, sys
from pathlib import Path

lacking, home = json.loads(sys.argv[1]), Path(sys.argv[2])

class Lacking(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if any(name == one or name.startswith(one + ".") for one in lacking):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Lacking())

from pydantic import SecretStr

from ezra import Ezra, EzraError, Settings
from ezra.cli.app import app_of
from ezra.mesh.mcp_tools import McpSource
from ezra.mesh.mongo import MongoSource
from ezra.mesh.specs import McpSpec, MongoSpec, SqlSpec
from ezra.mesh.sql import SqlSource
from ezra.service.credentials import credentials_of

def run(arguments):
    app_of(arguments)(arguments)

async def opened(**settings):
    keys = {"gemini_api_key": "k", "openai_api_key": "k"}
    async with Ezra.open(Settings(home=home / "other", **{"embedder": "off", **keys, **settings})):
        pass

async def read(data):
    from ezra.documents.apart import read_document
    await read_document("a.pdf", data, None, keep_text=False)

async def watched():
    from ezra.documents.following import changes_in
    async for _ in changes_in((home,)):
        break

async def asked(source, spec, url, **more):
    declared = spec.model_construct(url=SecretStr(url), questions={}, headers={}, **more)
    await source("stock", declared, 1.0).open()

async def core():
    async with Ezra.open(Settings(home=home / "core")) as ezra:
        graph = await ezra.create_session_graph("g")
        agent = await graph.spawn_agent("a", topics={"tyres"})
        turn = await agent.turn("How long do the medium tyres last?")
        await turn.reply("About 18 laps.")
        text = "---\\ntopics: [tyres]\\n---\\n# Tyres\\n\\nHard tyres last 40 laps."
        await agent.documents.put("t.md", text)
        await ezra.drain_learning()
        hits = await agent.recall("how many laps do tyres last", limit=5)
        return [hit.text for hit in hits.items]

def features():
    def opening(**settings):
        return lambda: asyncio.run(opened(**settings))

    yield "embed", "embedder install", lambda: run(["embedder", "install"])
    yield "embed", "eval", lambda: run(["eval", "file", str(home / "set.json")])
    yield "fastembed", "embedder", opening(embedder="fastembed:BAAI/bge-small-en-v1.5")
    yield "fastembed", "reranker", opening(reranker="fastembed:BAAI/bge-reranker-base")
    yield "servers", "redis", opening(redis_url="redis://127.0.0.1:1")
    yield "servers", "qdrant", opening(qdrant_url="http://127.0.0.1:1")
    yield "servers", "mongodb", opening(mongodb_uri="mongodb://127.0.0.1:1")
    mcp = ["mcp", "run", "--graph", "g", "--agent", "a"]
    yield "serve", "mcp run", lambda: run([*mcp, "--create", "--home", str(home / "mcp")])
    yield "serve", "mcp bridge", lambda: run([*mcp, "--url", "http://127.0.0.1:1"])
    yield "serve", "identity", lambda: credentials_of(Settings(
        home=home, serve_jwt_issuer="https://id.example", serve_jwt_audience="ezra"))
    for provider in ("gemini", "openai"):
        yield provider, "embedder", opening(embedder=provider)
        yield provider, "llm", opening(llm=provider)
    yield "documents", "pdf", lambda: asyncio.run(read(b"%PDF-1.4"))
    yield "documents", "pdf apart", lambda: asyncio.run(read(b"%PDF-1.4" + bytes(1_000_000)))
    yield "documents", "watch", lambda: asyncio.run(watched())
    yield "mesh", "sql", lambda: asyncio.run(asked(SqlSource, SqlSpec, "sqlite:////x", tables={}))
    yield "mesh", "mongodb", lambda: asyncio.run(
        asked(MongoSource, MongoSpec, "mongodb://127.0.0.1:1", database="d", collections={}))
    yield "mesh", "mcp", lambda: asyncio.run(
        asked(McpSource, McpSpec, "http://127.0.0.1:1/mcp", answer_chars_max=1000, tools=("t",)))
    yield "telemetry", "spans", opening(otlp_endpoint="http://127.0.0.1:1")
    for extra in ("adk", "langgraph", "openai-agents", "pydantic-ai"):
        module = "ezra.adapters." + extra.replace("-", "_")
        yield extra, "adapter", lambda module=module: importlib.import_module(module)

found = {}
# A process that reads a document apart finds its modules where this one does.
for name in lacking:
    (home / "lacking").mkdir(exist_ok=True)
    lack = f"raise ModuleNotFoundError(name={name!r})"
    if "." not in name:
        (home / "lacking" / f"{name}.py").write_text(lack)
sys.path.insert(0, str(home / "lacking"))
(home / "set.json").write_text(sys.argv[3])
found["core"] = asyncio.run(core())
found["imported"] = sorted({name.partition(".")[0] for name in sys.modules})
for extra, feature, attempt in features():
    try:
        attempt()
        said = "nothing was refused"
    except EzraError as error:
        said = f"{type(error).__name__}: {error}"
    except SystemExit as error:
        said = f"exit {error.code}"
    found[f"{extra} by {feature}"] = said
print(json.dumps(found))
"""
"""Does what needs an extra, without any of them; prints what each said.

Prints before what the core alone answered, and what it had imported by then.
"""


@cache
def declared() -> dict[str, list[str]]:
    """Return the extras of the project with what each asks for."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras: dict[str, list[str]] = project["optional-dependencies"]
    return extras


def sizes() -> Any:
    """Return the program that measures installations, as a module."""
    spec = importlib.util.spec_from_file_location("install_sizes", SIZES)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_every_feature_names_the_extra_that_it_lacks(tmp_path: Path) -> None:
    """A ``ConfigError`` with the command that helps; and by words everything goes on without."""
    lacking = sorted(set().union(*IMPORTED_AS.values()))
    arguments = [json.dumps(lacking), str(tmp_path), json.dumps(garage())]
    command = (sys.executable, "-W", "error", "-c", PROGRAM, *arguments)
    done = succeeded(*command, cwd=ROOT, timeout_seconds=200)
    found = json.loads(done.stdout.splitlines()[-1])
    core, imported = found.pop("core"), found.pop("imported")
    owners, brought = packages_distributions(), {"ezra", *brought_by_the_core()}
    installed = {one for one in imported if one in owners} - {
        "_distutils_hack"
    }  # the environment's
    for one in installed:
        assert brought & {canonicalize_name(name) for name in owners[one]}, one
    assert any("18 laps" in text for text in core)
    assert any("40 laps" in text for text in core)
    for feature, said in found.items():
        extra = feature.partition(" by ")[0]
        assert said.startswith("ConfigError: "), (feature, said)
        assert said.endswith(f"which is not installed: pip install 'ezra[{extra}]'"), said
    assert {feature.partition(" by ")[0] for feature in found} == set(IMPORTED_AS) - {"motor"}


def test_each_extra_has_its_row_and_all_has_every_extra() -> None:
    """A new extra is measured, imported and refused like the others, and comes with ``all``."""
    extras = set(declared()) - {"all"}
    assert extras == set(IMPORTED_AS) == set(sizes().FEATURES) - {"core"}
    (everything,) = declared()["all"]
    assert set(everything.removeprefix("ezra[").removesuffix("]").split(",")) == extras


def test_a_module_of_ours_that_is_missing_is_no_matter_of_extras() -> None:
    """Only what others bring can be installed; the rest is a defect, and stays one."""
    with (
        pytest.raises(ModuleNotFoundError, match=r"tiers\.nowhere"),
        needs("embed", "EZRA_EMBEDDER"),
    ):
        importlib.import_module("tiers.nowhere")
    with (
        pytest.raises(
            ConfigError, match=r"^EZRA_EMBEDDER: needs nowhere_at_all, .*'ezra\[embed\]'"
        ),
        needs("embed", "EZRA_EMBEDDER"),
    ):
        importlib.import_module("nowhere_at_all")


def test_the_core_is_small() -> None:
    """Within its target, as its packages are here; that it works is above, and below by pip."""
    brought = brought_by_the_core().values()
    files = [file.locate() for one in brought for file in one.files or ()]
    ours = [path for name in ("ezra", "metaagents", "tiers") for path in (ROOT / name).rglob("*")]
    size = sum(path.stat().st_size for path in map(Path, [*files, *ours]) if path.is_file())
    program = sizes()
    core = program.Installed("core", len(brought) + 1, size / 1e6, ())
    assert core.packages > len(declared_for_the_core())
    assert program.above_target(core) == []


@pytest.mark.slow
@pytest.mark.timeout(1_200)
@pytest.mark.parametrize("extra", ["core", *sorted(declared())])
def test_each_extra_installs_what_it_is_for(extra: str, tmp_path: Path) -> None:
    """From the wheel into an empty environment, by pip: what needs it can be imported there.

    The core alone is within its target there, and remembers.
    """
    program = sizes()
    found = program.installed(program.built_wheel(tmp_path), extra, tmp_path / extra)
    assert found.problems == ()
    assert extra != "core" or program.above_target(found) == []


def declared_for_the_core() -> list[str]:
    """Return what the project asks for without any extra."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    required: list[str] = project["dependencies"]
    return required


def brought_by_the_core() -> dict[str, Distribution]:
    """Return the distributions that installing the core brings, by name, as they are here."""
    found: dict[str, Distribution] = {}
    waiting = [(one, "") for one in declared_for_the_core()]
    while waiting:
        asked, extra = waiting.pop()
        required = Requirement(asked)
        if required.marker is not None and not required.marker.evaluate({"extra": extra}):
            continue
        name = canonicalize_name(required.name)
        extras = required.extras if name in found else {"", *required.extras}
        found.setdefault(name, distribution(name))
        waiting += [(one, more) for one in found[name].requires or () for more in extras]
    return found
