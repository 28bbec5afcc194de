"""The wheel holds the three packages, and they work from anywhere."""

from __future__ import annotations

import re
import sys
import tarfile
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest
import yaml
from packaging.metadata import Metadata
from support.processes import succeeded

ROOT = Path(__file__).parents[2]

IMPORT_ALL = """
import importlib, pathlib, pkgutil, sys
for name in ("tiers", "metaagents", "ezra"):
    package = importlib.import_module(name)
    assert pathlib.Path(package.__file__).is_relative_to(sys.argv[1]), package.__file__
    assert (pathlib.Path(package.__file__).parent / "py.typed").exists()
    for module in pkgutil.walk_packages(package.__path__, name + "."):
        if not module.name.startswith(tuple(sys.argv[2:])):
            importlib.import_module(module.name)
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the source distribution, and the wheel from that alone; returns their folder."""
    folder = tmp_path_factory.mktemp("built")
    command = (sys.executable, "-m", "build", "--outdir", folder, ROOT)
    succeeded(*command, timeout_seconds=200)
    return folder


@pytest.fixture(scope="module")
def wheel(built: Path) -> Path:
    """The wheel."""
    (found,) = built.glob("*.whl")
    return found


def test_the_metadata_is_what_an_index_takes(wheel: Path) -> None:
    """Valid as the index judges it, with a readme it can show; and refused by it until meant."""
    with zipfile.ZipFile(wheel) as packed:
        (name,) = (one for one in packed.namelist() if one.endswith(".dist-info/METADATA"))
        metadata = Metadata.from_email(packed.read(name), validate=True)
        assert f"{name.partition('/')[0]}/licenses/LICENSE" in packed.namelist()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert (metadata.name, str(metadata.version)) == ("ezra", project["version"])
    assert metadata.summary == project["description"]
    assert metadata.description_content_type == "text/markdown"
    assert metadata.description == (ROOT / "README.md").read_text()
    assert str(metadata.requires_python) == ">=3.11"
    assert metadata.license_expression == "Apache-2.0"
    assert set(metadata.provides_extra or ()) == set(project["optional-dependencies"])
    assert {"Private :: Do Not Upload", "Typing :: Typed"} <= set(metadata.classifiers or ())


def test_the_source_distribution_holds_what_it_takes_to_read_and_run_it(built: Path) -> None:
    """Packages, pages, pictures and the container's files; no tests, no locks of developers."""
    (path,) = built.glob("*.tar.gz")
    with tarfile.open(path) as packed:
        names = {name.partition("/")[2] for name in packed.getnames()}
    assert {"docs/index.md", "README.md", "SECURITY.md", "LICENSE", "compose.yaml"} <= names
    assert {"Dockerfile", "scripts/container", "scripts/requirements-image.lock"} <= names
    assert not any(name.startswith(("tests/", ".venv/", ".git/")) for name in names)
    # By its relative links the readme leads to what travels with it.
    linked = re.findall(r"\]\((?!https?:)([^)#]+)", (ROOT / "README.md").read_text())
    assert linked
    assert set(linked) <= names | {f"{name}/" for name in names}


def test_releases_are_published_only_where_somebody_said_so() -> None:
    """By a tag that names the version, after every test, without a token, by one guarded job."""
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "release.yml").read_text())
    assert workflow[True] == {"push": {"tags": ["v*"]}}  # YAML reads "on" as true
    assert workflow["permissions"] == {"contents": "read"}
    jobs = workflow["jobs"]
    assert (jobs["build"]["needs"], jobs["publish"]["needs"]) == ("test", "build")
    assert jobs["publish"]["if"] == "vars.EZRA_PUBLISH == 'yes'"
    assert jobs["publish"]["permissions"] == {"id-token": "write"}
    assert "scripts/test" in [step.get("run") for step in jobs["test"]["steps"]]
    for job in jobs.values():
        assert job["timeout-minutes"] <= 90
        for step in job["steps"]:
            assert "@" in step["uses"] if "uses" in step else step["run"]
            assert "secrets." not in str(step)


def test_the_wheel_holds_exactly_the_three_packages(wheel: Path) -> None:
    """No tests, no scripts; what is no Python is there too: Lua, sets, the console's pages."""
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0] for name in names if ".dist-info/" not in name} == {
        "ezra",
        "metaagents",
        "tiers",
    }
    suffixes = {".css", ".html", ".js", ".json", ".lua", ".py", ".svg"}
    in_tree = {
        str(path.relative_to(ROOT))
        for package in ("ezra", "metaagents", "tiers")
        for path in (ROOT / package).rglob("*")
        if path.suffix in suffixes
    }
    assert {Path(name).suffix for name in in_tree} == suffixes
    assert in_tree <= set(names)


@pytest.mark.parametrize("but", [("ezra.adapters.",), pytest.param((), marks=pytest.mark.slow)])
def test_every_module_imports_from_a_clean_environment(
    wheel: Path, tmp_path: Path, but: tuple[str, ...]
) -> None:
    """Installed alone, run from elsewhere; dependencies are those of this environment.

    The adapters take as long as all the rest: the frameworks do that they import.
    """
    venv.create(tmp_path / "env", with_pip=False)
    python = tmp_path / "env" / "bin" / "python"
    (site,) = (tmp_path / "env" / "lib").glob("python*/site-packages")
    zipfile.ZipFile(wheel).extractall(site)  # noqa: S202 - our own, just built
    here = [path for path in sys.path if path.endswith("site-packages")]
    (site / "dependencies.pth").write_text("\n".join(here))
    command = (python, "-W", "error", "-c", IMPORT_ALL, site, *but)
    succeeded(*command, cwd=tmp_path, timeout_seconds=110)
