"""Where models are kept, and finding one without reading it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from support.model import installed_model

from tiers.embedding.installed import default_model_folder, find_model


@pytest.mark.parametrize(
    ("env", "expected"),
    [
        ({"EZRA_MODELS": "/srv/models", "XDG_CACHE_HOME": "/cache"}, Path("/srv/models")),
        ({"EZRA_MODELS": "~/models"}, Path.home() / "models"),
        ({"EZRA_MODELS": "", "XDG_CACHE_HOME": "/cache"}, Path("/cache/ezra/models")),
        ({"XDG_CACHE_HOME": "relative"}, Path.home() / ".cache/ezra/models"),
        ({}, Path.home() / ".cache/ezra/models"),
    ],
)
def test_the_folder_follows_the_environment(env: dict[str, str], expected: Path) -> None:
    """``EZRA_MODELS`` wins, then the cache; a relative cache is ignored, as its rules ask."""
    assert default_model_folder(env) == expected


@pytest.fixture
def models(tmp_path: Path) -> Path:
    """A folder with a copy of the installed int8 model."""
    folder = installed_model().folder
    shutil.copytree(folder, tmp_path / folder.name)
    return tmp_path


def test_an_installed_model_is_found(models: Path) -> None:
    """The manifest comes back whole, with the folder it was found in."""
    found = find_model(models)
    assert found is not None
    assert found.model_id == "all-MiniLM-L6-v2/int8"
    assert (found.dimensions, found.max_tokens, found.precision) == (384, 256, "int8")
    assert found.folder == models / "all-MiniLM-L6-v2-int8"
    assert found == installed_model().model_copy(update={"folder": found.folder})
    assert find_model(models, "int8") == found
    assert found.damage() is None


def test_another_precision_is_another_model(models: Path) -> None:
    """Asking for fp32 does not give int8, also when its folder bears the wrong name."""
    assert find_model(models, "fp32") is None
    (models / "all-MiniLM-L6-v2-int8").rename(models / "all-MiniLM-L6-v2-fp32")
    assert find_model(models, "fp32") is None
    assert find_model(models) is None


def test_int8_is_preferred_and_fp32_found_alone(models: Path) -> None:
    """Without a wish the smaller model is taken; where there is only fp32, that one."""
    fp32 = installed_model("fp32").folder
    shutil.copytree(fp32, models / fp32.name)
    both = find_model(models)
    shutil.rmtree(models / "all-MiniLM-L6-v2-int8")
    alone = find_model(models)
    assert both is not None
    assert alone is not None
    assert (both.precision, alone.precision) == ("int8", "fp32")


def test_nothing_is_found_where_nothing_is(tmp_path: Path) -> None:
    """A folder that is empty or missing is not an error."""
    assert find_model(tmp_path) is None
    assert find_model(tmp_path / "missing") is None


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json", "manifest.json"])
def test_an_incomplete_model_is_not_found(models: Path, name: str) -> None:
    """A file that is missing or cut short means: not installed."""
    path = models / "all-MiniLM-L6-v2-int8" / name
    content = path.read_bytes()
    path.write_bytes(content[:-10])
    assert find_model(models) is None
    path.unlink()
    assert find_model(models) is None
    path.write_bytes(content)
    assert find_model(models) is not None


@pytest.mark.parametrize(
    "content",
    ["", "[]", "null", "{}", '{"layout": 1}', "\x00\xff", "[" * 10_000],
    ids=["empty", "list", "null", "object", "partial", "binary", "deep"],
)
def test_a_manifest_of_nonsense_counts_as_none(models: Path, content: str) -> None:
    """Whatever is in the manifest, looking for a model never fails."""
    manifest = models / "all-MiniLM-L6-v2-int8" / "manifest.json"
    manifest.write_text(content, encoding="latin-1")
    assert find_model(models) is None


@pytest.mark.parametrize("change", [{"layout": 2}, {"surprise": 1}, {"files": {}}])
def test_a_manifest_of_another_layout_counts_as_none(
    models: Path, change: dict[str, object]
) -> None:
    """What this version does not know it does not use; installing again repairs it."""
    manifest = models / "all-MiniLM-L6-v2-int8" / "manifest.json"
    manifest.write_text(json.dumps(json.loads(manifest.read_text()) | change))
    assert find_model(models) is None


def test_damage_names_the_file(models: Path) -> None:
    """A file of the right size and wrong content is found by ``damage``, which reads it."""
    path = models / "all-MiniLM-L6-v2-int8" / "tokenizer.json"
    content = bytearray(path.read_bytes())
    content[100] ^= 1
    path.write_bytes(content)
    found = find_model(models)
    assert found is not None
    assert found.damage() == "tokenizer.json is not the file that was installed"
    path.unlink()
    assert found.damage() == "tokenizer.json is missing"
