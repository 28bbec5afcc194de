"""The real model: where it is kept, published similarities, the mask, and what int8 costs."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt
import onnx
import onnxruntime
import pytest
from onnxruntime.quantization import QuantType, quantize_dynamic
from onnxruntime.quantization.quant_utils import add_pre_process_metadata
from support.model import installed_model, model_source
from tokenizers import Tokenizer

from tiers.embedding.graph import write_model
from tiers.embedding.installed import InstalledModel, Precision, default_model_folder, find_model
from tiers.embedding.onnx_embedder import OnnxEmbedder, SentenceModel, default_threads
from tiers.errors import ConfigError, TierUnavailable, UsageError

# The real model: published similarities, the mask in its graph, and what int8 costs.

CHAT = [
    "How long do the medium tyres last on this track?",
    "About eighteen laps before they fall off a cliff.",
    "Remind me to call the supplier on Thursday morning.",
    "Our daughter starts school in September and we are all a little nervous.",
    "I moved from Lisbon to Rotterdam last spring for the new job.",
    "The build fails with an import error on Windows only.",
    "Please never deploy on a Friday.",
    "He is allergic to peanuts, so check the menu first.",
    "What did she say about the contract?",
    "ok",
    "Thanks, that helped a lot!",
    "The invoice for March was paid twice by mistake.",
    "Rain is expected around lap forty, be ready for intermediates.",
    "I prefer tea to coffee, and green tea to black.",
    "My grandmother's recipe needs two eggs, flour, butter and a pinch of salt.",
    "Revenue grew by twelve percent in the third quarter.",
    "Can you summarise yesterday's meeting in three sentences?",
    "She finished the marathon in just under four hours.",
    "The database migration has to run before the new version starts.",
    "We adopted a grey cat called Pixel from the shelter.",
]


PRECISIONS: tuple[Precision, ...] = ("int8", "fp32")


@pytest.fixture(scope="module")
def loaded() -> Iterator[dict[Precision, SentenceModel]]:
    """The loaded model in both precisions."""
    models = {one: SentenceModel(installed_model(one), threads=2) for one in PRECISIONS}
    yield models
    for model in models.values():
        model.close()


@pytest.fixture(scope="module")
def vectors(loaded: dict[Precision, SentenceModel]) -> dict[Precision, npt.NDArray[np.float32]]:
    """The chat's vectors in both precisions."""
    return {precision: model.encode(CHAT) for precision, model in loaded.items()}


@pytest.fixture(params=PRECISIONS)
def model(loaded: dict[Precision, SentenceModel], request: pytest.FixtureRequest) -> SentenceModel:
    """The loaded model in each precision."""
    return loaded[request.param]


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> dict[Precision, Path]:
    """The file of each precision, as it is written from the model's own."""
    folder = tmp_path_factory.mktemp("written")
    for precision in PRECISIONS:
        write_model(model_source() / "model.safetensors", folder / f"{precision}.onnx", precision)
    return {precision: folder / f"{precision}.onnx" for precision in PRECISIONS}


def test_fp32_gives_the_published_similarities(loaded: dict[Precision, SentenceModel]) -> None:
    """The three similarities that the model's publisher documents come out to four digits."""
    texts = ["The weather is lovely today.", "It's so sunny outside!", "He drove to the stadium."]
    one, two, three = loaded["fp32"].encode(texts)
    found = (one @ two, one @ three, two @ three)
    assert found == pytest.approx((0.6660, 0.1046, 0.1411), abs=5e-5)


@pytest.mark.parametrize(
    ("text", "paraphrase", "unrelated"),
    [
        ("How long do medium tyres last?", "What is the life of a medium tyre?", "I like tea."),
        ("She is allergic to nuts.", "Nuts make her ill.", "The invoice was paid twice."),
        ("The deploy failed.", "Our release did not go through.", "We adopted a grey cat."),
        ("I moved to Rotterdam.", "I live in Rotterdam now.", "Rain is expected at lap forty."),
    ],
)
def test_a_paraphrase_is_closer_than_an_unrelated_text(
    model: SentenceModel, text: str, paraphrase: str, unrelated: str
) -> None:
    """Meaning decides, by a margin of at least 0.2 in cosine."""
    asked, near, far = model.encode([text, paraphrase, unrelated])
    assert asked @ near > asked @ far + 0.2


def test_int8_stays_close_to_fp32(vectors: dict[Precision, npt.NDArray[np.float32]]) -> None:
    """Mean cosine above 0.985 and none under 0.95 (measured on 300 messages: 0.991 and 0.958)."""
    cosines = np.sum(vectors["int8"] * vectors["fp32"], axis=1)
    assert cosines.mean() > 0.985
    assert cosines.min() > 0.95
    assert cosines.max() < 0.99999, "int8 and fp32 must be two models"


def test_int8_keeps_the_neighbours(vectors: dict[Precision, npt.NDArray[np.float32]]) -> None:
    """The nearest message of fp32 is among the three nearest of int8 for every message."""
    without_self = 2 * np.eye(len(CHAT))
    exact = np.argmax(vectors["fp32"] @ vectors["fp32"].T - without_self, axis=1)
    close = np.argsort(-(vectors["int8"] @ vectors["int8"].T - without_self), axis=1)[:, :3]
    assert all(nearest in row for nearest, row in zip(exact, close, strict=True))


def test_the_graph_ignores_what_the_mask_hides(written: dict[Precision, Path]) -> None:
    """A padded batch through a fresh fp32 graph gives the vectors of the texts alone.

    ezra never pads, but the file is an ordinary export that others may run.
    """
    session = onnxruntime.InferenceSession(written["fp32"], providers=["CPUExecutionProvider"])
    tokenizer = Tokenizer.from_file(str(model_source() / "tokenizer.json"))

    def run(texts: list[str]) -> npt.NDArray[np.float32]:
        encoded = tokenizer.encode_batch(texts)
        given = {
            "input_ids": np.array([text.ids for text in encoded], np.int64),
            "attention_mask": np.array([text.attention_mask for text in encoded], np.int64),
        }
        return np.asarray(session.run(["embedding"], given)[0])

    tokenizer.enable_padding(length=64)
    padded = run(CHAT)
    tokenizer.no_padding()
    alone = np.vstack([run([text]) for text in CHAT])
    assert np.abs(padded - alone).max() < 1e-6


@pytest.mark.parametrize("precision", PRECISIONS)
def test_the_file_is_one_that_onnx_accepts(
    written: dict[Precision, Path], precision: Precision
) -> None:
    """Read back by the format's own library: well formed, and every shape in it agrees."""
    model = onnx.load(written[precision])
    onnx.checker.check_model(model, full_check=True)
    assert [one.name for one in model.graph.input] == ["input_ids", "attention_mask"]
    assert [one.name for one in model.graph.output] == ["embedding"]


def test_int8_gives_the_vectors_of_onnxruntimes_own_quantizer(
    written: dict[Precision, Path], tmp_path: Path
) -> None:
    """To the last bit, where one does the same operations of both.

    The tool notes shapes in its file, of which onnxruntime makes another, slower sum.
    """
    whole = onnx.load(written["fp32"])
    add_pre_process_metadata(whole)
    onnx.save(whole, tmp_path / "whole.onnx")
    quantize_dynamic(
        tmp_path / "whole.onnx",
        tmp_path / "theirs.onnx",
        per_channel=True,
        reduce_range=True,
        weight_type=QuantType.QInt8,
    )
    tokenizer = Tokenizer.from_file(str(model_source() / "tokenizer.json"))
    tokenizer.no_padding()
    ours, theirs = (
        onnxruntime.InferenceSession(
            path, providers=["CPUExecutionProvider"], disabled_optimizers=["SkipLayerNormFusion"]
        )
        for path in (written["int8"], tmp_path / "theirs.onnx")
    )
    for text in CHAT:
        ids = np.array([tokenizer.encode(text).ids], np.int64)
        given = {"input_ids": ids, "attention_mask": np.ones_like(ids)}
        assert np.array_equal(ours.run(None, given)[0], theirs.run(None, given)[0])


def test_texts_are_cut_to_256_tokens(model: SentenceModel) -> None:
    """The 254th word counts and the 255th does not: two of the tokens are the model's own."""
    words = ["tyre"] * 254
    whole, longer, changed = model.encode(
        [" ".join(words), " ".join([*words, "rain"]), " ".join([*words[:253], "rain"])]
    )
    assert np.array_equal(whole, longer)
    assert not np.array_equal(whole, changed)


def test_the_number_of_threads_changes_no_vector() -> None:
    """One thread and four give the same vectors to the last bit."""
    one, four = (SentenceModel(installed_model(), threads=count) for count in (1, 4))
    assert np.array_equal(one.encode(CHAT), four.encode(CHAT))
    one.close()
    four.close()


def test_default_threads_are_between_one_and_four() -> None:
    """More threads than four would take the machine from the rest of the runtime."""
    assert 1 <= default_threads() <= 4


@pytest.mark.parametrize("threads", [0, -1, 65])
def test_threads_out_of_range_are_refused(threads: int) -> None:
    """A pool without threads would wait for ever."""
    with pytest.raises(UsageError, match="threads"):
        OnnxEmbedder(installed_model(), threads=threads)


@pytest.fixture
def copied(tmp_path: Path) -> InstalledModel:
    """A copy of the installed model that a test may spoil."""
    folder = tmp_path / "model"
    shutil.copytree(installed_model().folder, folder)
    return installed_model().model_copy(update={"folder": folder})


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json"])
async def test_a_changed_file_is_never_loaded(copied: InstalledModel, name: str) -> None:
    """One flipped byte in the middle of a file is a ``ConfigError`` that names the file."""
    path = copied.folder / name
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    with pytest.raises(ConfigError, match=rf"embedder: .*{name} is not what was installed"):
        await OnnxEmbedder(copied).__aenter__()


async def test_a_missing_file_says_what_to_do(copied: InstalledModel) -> None:
    """A model folder that went away after the start is a ``ConfigError`` with its cause."""
    shutil.rmtree(copied.folder)
    with pytest.raises(ConfigError, match="cannot be read: install the model") as error:
        await OnnxEmbedder(copied).__aenter__()
    assert isinstance(error.value.__cause__, FileNotFoundError)


async def test_a_model_onnxruntime_cannot_read_is_unavailable(copied: InstalledModel) -> None:
    """The driver's own exception stays inside, as the cause."""
    tokenizer = copied.files["tokenizer.json"]
    shutil.copyfile(copied.folder / "tokenizer.json", copied.folder / "model.onnx")
    disguised = copied.model_copy(update={"files": copied.files | {"model.onnx": tokenizer}})
    with pytest.raises(TierUnavailable, match="could not be loaded: InvalidProtobuf") as error:
        await OnnxEmbedder(disguised).__aenter__()
    assert error.value.__cause__ is not None


# Where models are kept, and finding one without reading it.


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
