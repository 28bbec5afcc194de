"""Models of fastembed's by name: its own loading code over files that the test makes."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace
from tokenizers.processors import TemplateProcessing

from ezra import Ezra, Settings
from ezra.assembly.engines import check_up, reranker_of
from tiers.embedding.fastembed_models import FastEmbedCrossEncoder, FastEmbedEmbedder, own_folder
from tiers.embedding.onnx_file import FLOAT, INT64, Node, Value, model_bytes
from tiers.errors import ConfigError, TierUnavailable

EMBEDDER = "BAAI/bge-small-en-v1.5"
RERANKER = "Xenova/ms-marco-MiniLM-L-6-v2"
WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "tyres", "medium", "wing", "last", "laps", "rain"]
WIDTH = 384
GIVEN = ("input_ids", "attention_mask", "token_type_ids")


def _files(folder: Path, model: bytes, model_file: str) -> None:
    """Write a model with the tokenizer and settings that fastembed looks for beside it."""
    (folder / model_file).parent.mkdir(parents=True, exist_ok=True)
    (folder / model_file).write_bytes(model)
    tokenizer = Tokenizer(WordLevel({word: at for at, word in enumerate(WORDS)}, "[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    marks = [("[CLS]", 2), ("[SEP]", 3)]
    tokenizer.post_processor = TemplateProcessing(
        "[CLS] $A [SEP]", "[CLS] $A [SEP] $B [SEP]", marks
    )
    tokenizer.save(str(folder / "tokenizer.json"))
    special = {
        "pad_token": "[PAD]",
        "unk_token": "[UNK]",
        "cls_token": "[CLS]",
        "sep_token": "[SEP]",
    }
    (folder / "config.json").write_text(json.dumps({"pad_token_id": 0}))
    length = {"model_max_length": 64, "max_length": 64}
    (folder / "tokenizer_config.json").write_text(json.dumps({**special, **length}))
    (folder / "special_tokens_map.json").write_text(json.dumps(special))


def _model(nodes: list[Node], table: np.ndarray, output: Value) -> bytes:
    axis = np.array([1], np.int64)
    inputs = [Value(name, INT64, ["batch", "length"]) for name in GIVEN]
    constants = {"table": table.astype(np.float32), "tokens": axis}
    return model_bytes("tiny", nodes, constants, inputs, [output], opset=17, ir_version=8)


@pytest.fixture
def models(tmp_path: Path) -> Path:
    """A folder with a tiny embedder and a tiny cross-encoder under names that fastembed knows.

    The embedder's first token is the sum of all; a score is the number of words that are "tyres".
    """
    rows = np.random.default_rng(7).normal(size=(len(WORDS), WIDTH))
    rows[:4] = 0
    shape: list[int | str] = ["batch", "length", WIDTH]
    nodes = [
        Node("Gather", ["table", "input_ids"], ["rows"], {}),
        Node("ReduceSum", ["rows", "tokens"], ["sum"], {"keepdims": 1}),
        Node("Add", ["rows", "sum"], ["last_hidden_state"], {}),
    ]
    embedder = _model(nodes, rows, Value("last_hidden_state", FLOAT, shape))
    _files(own_folder(EMBEDDER, tmp_path), embedder, "model_optimized.onnx")

    scores = np.zeros((len(WORDS), 1))
    scores[WORDS.index("tyres")] = 1
    nodes = [
        Node("Gather", ["table", "input_ids"], ["rows"], {}),
        Node("ReduceSum", ["rows", "tokens"], ["logits"], {"keepdims": 0}),
    ]
    reranker = _model(nodes, scores, Value("logits", FLOAT, ["batch", 1]))
    _files(own_folder(RERANKER, tmp_path), reranker, "onnx/model.onnx")
    return tmp_path


async def test_a_model_by_name_makes_unit_vectors(models: Path) -> None:
    """Of the width that fastembed says, the same alone and beside others, close where words are."""
    async with FastEmbedEmbedder(EMBEDDER, models) as embedder:
        assert (embedder.model_id, embedder.dimensions) == (f"fastembed/{EMBEDDER}", WIDTH)
        near, far, alone = await embedder.embed(["medium tyres last", "rain", "tyres"])
        (asked,) = await embedder.embed(["tyres"], query=True)
    assert np.allclose(asked, alone)
    assert np.isclose(np.linalg.norm(near), 1.0)
    assert np.dot(asked, near) > np.dot(asked, far) + 0.2


async def test_a_cross_encoder_by_name_reranks(models: Path) -> None:
    """Scores come back in the order of the texts, through the settings that name it."""
    settings = Settings(models=models, reranker=f"fastembed:{RERANKER}", embedder="off")
    async with reranker_of(settings) as reranker:
        assert reranker is not None
        assert reranker.name == f"fastembed/{RERANKER}"
        assert await reranker.rerank("medium", ["rain", "tyres tyres", "tyres"]) == (0.0, 2.0, 1.0)
        assert await reranker.rerank("medium", []) == ()
    assert "rerank" in {health.tier for health in await check_up(settings) if health.reachable}


async def test_a_memory_is_found_by_a_model_of_fastembeds(models: Path, tmp_path: Path) -> None:
    """``EZRA_EMBEDDER=fastembed:…`` is all it takes; the index carries the model's name."""
    settings = Settings(home=tmp_path / "home", models=models, embedder=f"fastembed:{EMBEDDER}")
    async with Ezra.open(settings) as ezra:
        assert ezra.embedder == f"fastembed/{EMBEDDER}"
        graph = await ezra.create_session_graph("imola")
        agent = await graph.spawn_agent("strategist")
        await agent.remember("medium tyres")
        await agent.remember("rain")
        await ezra.drain_learning()
        hits = await agent.recall("tyres last", limit=1)
        assert [hit.text for hit in hits.items] == ["medium tyres"]
        assert "dense" not in hits.degraded


@pytest.mark.parametrize("setting", ["embedder", "reranker"])
async def test_a_name_that_fastembed_does_not_know_is_refused(setting: str, tmp_path: Path) -> None:
    """With the key, the name and some that it knows."""
    settings = Settings(home=tmp_path, models=tmp_path, embedder="off")
    settings = settings.model_copy(update={setting: "fastembed:nobody/knows"})
    with pytest.raises(ConfigError, match=rf"EZRA_{setting.upper()}: .*'nobody/knows'; it knows "):
        async with Ezra.open(settings):
            pass


@pytest.mark.parametrize("made", [FastEmbedEmbedder, FastEmbedCrossEncoder])
async def test_files_that_cannot_be_read_are_unavailable(models: Path, made: type) -> None:
    """The library's own exception stays inside, as the cause, and the folder is named."""
    name = EMBEDDER if made is FastEmbedEmbedder else RERANKER
    folder = own_folder(name, models)
    (folder / "tokenizer.json").unlink()
    model = made(name, models)
    opened = model.__aenter__ if made is FastEmbedEmbedder else model.loaded
    with pytest.raises(TierUnavailable, match="put its files into") as error:
        await opened()
    assert error.value.__cause__ is not None


@pytest.mark.parametrize("value", ["fastembed:", "fastembed: ", "fastembed"])
def test_a_name_is_needed(value: str) -> None:
    """Both settings say what they accept."""
    for setting in ("embedder", "reranker"):
        with pytest.raises(ConfigError, match="fastembed: and the name of a model"):
            Settings(**{setting: value})


def test_there_is_one_reranker() -> None:
    """Two settings that name one are refused."""
    with pytest.raises(ConfigError, match="EZRA_RERANKER: and EZRA_RERANK_URL are two"):
        Settings(reranker=f"fastembed:{RERANKER}", rerank_url="http://127.0.0.1:1")
