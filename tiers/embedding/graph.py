"""Builds the ONNX graph of a BERT sentence encoder straight from its weights, without torch.

The graph holds everything between token ids and the finished vector: embeddings, the encoder,
mean pooling over the attention mask and L2 normalisation (Reimers and Gurevych 2019,
section 3). Inputs ``input_ids`` and ``attention_mask``: int64, (batch, length). Output
``embedding``: float32, (batch, width), every row of unit length.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import QuantType, quantize_dynamic
from onnxruntime.quantization.quant_utils import add_pre_process_metadata
from safetensors import safe_open

from .installed import Precision

_OPSET = 20  # the first with Gelu
_IR_VERSION = 10  # the newest that onnxruntime 1.24 reads
_LAYERS = 6
_HEADS = 12
_WIDTH = 384
_EPSILON = 1e-12
_MASKED = -10_000.0
_TINY = 1e-9


class _Graph:
    """Collects nodes and constants; every node has one output, named like the node."""

    def __init__(self, weights: dict[str, npt.NDArray[np.float32]]) -> None:
        self.weights = weights
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []

    def node(self, operation: str, *inputs: str, **attributes: float | list[int]) -> str:
        """Add a node and return the name of its output."""
        name = f"{operation.lower()}_{len(self.nodes)}"
        node = helper.make_node(operation, inputs, [name], name=name)
        node.attribute.extend(helper.make_attribute(key, attributes[key]) for key in attributes)
        self.nodes.append(node)
        return name

    def constant(self, values: npt.ArrayLike, dtype: type[np.generic]) -> str:
        """Add a constant and return its name."""
        name = f"constant_{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(values, dtype, order="C"), name))
        return name

    def weight(self, key: str) -> str:
        """Add a weight as it is stored."""
        return self.constant(self.weights[key], np.float32)

    def dense(self, source: str, key: str) -> str:
        """Add ``source @ W.T + b``."""
        matrix = self.constant(self.weights[f"{key}.weight"].T, np.float32)
        return self.node("Add", self.node("MatMul", source, matrix), self.weight(f"{key}.bias"))

    def normalised(self, source: str, key: str) -> str:
        """Add a layer normalisation over the last axis."""
        return self.node(
            "LayerNormalization",
            source,
            self.weight(f"{key}.weight"),
            self.weight(f"{key}.bias"),
            axis=-1,
            epsilon=_EPSILON,
        )


def _embeddings(graph: _Graph) -> str:
    """Add word, position and (always the first) segment embeddings, and return their sum."""
    key = "embeddings.word_embeddings.weight"
    words = graph.node("Gather", graph.weight(key), "input_ids")
    places = graph.constant(
        graph.weights["embeddings.position_embeddings.weight"]
        + graph.weights["embeddings.token_type_embeddings.weight"][0],
        np.float32,
    )
    # Positions come from slicing the table: onnxruntime fuses Gather(Range) wrongly.
    length = graph.node("Shape", "input_ids", start=1, end=2)
    zero = graph.constant([0], np.int64)
    used = graph.node("Slice", places, zero, length, zero)
    return graph.normalised(graph.node("Add", words, used), "embeddings.LayerNorm")


def _attention(graph: _Graph, hidden: str, mask_bias: str, key: str) -> str:
    """Add multi-head self-attention (Vaswani et al. 2017, section 3.2) with its residual."""
    split = graph.constant([0, 0, _HEADS, _WIDTH // _HEADS], np.int64)

    def heads(part: str, axes: list[int]) -> str:
        projected = graph.dense(hidden, f"{key}.attention.self.{part}")
        return graph.node("Transpose", graph.node("Reshape", projected, split), perm=axes)

    scores = graph.node("MatMul", heads("query", [0, 2, 1, 3]), heads("key", [0, 2, 3, 1]))
    scale = graph.constant(1 / math.sqrt(_WIDTH // _HEADS), np.float32)
    biased = graph.node("Add", graph.node("Mul", scores, scale), mask_bias)
    shares = graph.node("Softmax", biased, axis=-1)
    mixed = graph.node("MatMul", shares, heads("value", [0, 2, 1, 3]))
    joined = graph.node(
        "Reshape",
        graph.node("Transpose", mixed, perm=[0, 2, 1, 3]),
        graph.constant([0, 0, _WIDTH], np.int64),
    )
    out = graph.dense(joined, f"{key}.attention.output.dense")
    return graph.normalised(graph.node("Add", out, hidden), f"{key}.attention.output.LayerNorm")


def _feed_forward(graph: _Graph, hidden: str, key: str) -> str:
    wide = graph.node("Gelu", graph.dense(hidden, f"{key}.intermediate.dense"))
    out = graph.dense(wide, f"{key}.output.dense")
    return graph.normalised(graph.node("Add", out, hidden), f"{key}.output.LayerNorm")


def _pooled(graph: _Graph, hidden: str, mask: str) -> str:
    """Add the mean over unmasked tokens, divided by its length."""
    tiny = graph.constant(_TINY, np.float32)
    tokens = graph.constant([1], np.int64)
    weights = graph.node("Unsqueeze", mask, graph.constant([2], np.int64))
    total = graph.node("ReduceSum", graph.node("Mul", hidden, weights), tokens, keepdims=0)
    count = graph.node("Max", graph.node("ReduceSum", weights, tokens, keepdims=0), tiny)
    mean = graph.node("Div", total, count)
    length = graph.node("Max", graph.node("ReduceL2", mean, tokens, keepdims=1), tiny)
    return graph.node("Div", mean, length)


def build_graph(weights: dict[str, npt.NDArray[np.float32]]) -> onnx.ModelProto:
    """Return the checked ONNX model of these weights (names as in the published checkpoint)."""
    graph = _Graph(weights)
    mask = graph.node("Cast", "attention_mask", to=TensorProto.FLOAT)
    per_key = graph.node("Unsqueeze", mask, graph.constant([1, 2], np.int64))
    hidden_keys = graph.node("Sub", graph.constant(1, np.float32), per_key)
    mask_bias = graph.node("Mul", hidden_keys, graph.constant(_MASKED, np.float32))
    hidden = _embeddings(graph)
    for layer in range(_LAYERS):
        key = f"encoder.layer.{layer}"
        hidden = _attention(graph, hidden, mask_bias, key)
        hidden = _feed_forward(graph, hidden, key)
    result = _pooled(graph, hidden, mask)
    graph.nodes.append(helper.make_node("Identity", [result], ["embedding"], name="embedding"))

    inputs = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "length"])
        for name in ("input_ids", "attention_mask")
    ]
    output = helper.make_tensor_value_info("embedding", TensorProto.FLOAT, ["batch", _WIDTH])
    model = helper.make_model(
        helper.make_graph(graph.nodes, "sentence-encoder", inputs, [output], graph.constants),
        opset_imports=[helper.make_opsetid("", _OPSET)],
        ir_version=_IR_VERSION,
        producer_name="ezra",
    )
    onnx.checker.check_model(model)
    return model


@contextmanager
def _quiet_quantizer() -> Iterator[None]:
    """Keep the quantizer's remarks off the root logger, and the root logger as it was.

    It calls ``logging.info``, which would install a handler for the whole process where there is
    none, and tells the reader of the log about every layer.
    """

    def foreign(record: logging.LogRecord) -> bool:
        return "onnxruntime" not in Path(record.pathname).parts

    root, silent = logging.getLogger(), logging.NullHandler()
    root.addHandler(silent)
    root.addFilter(foreign)
    try:
        yield
    finally:
        root.removeFilter(foreign)
        root.removeHandler(silent)


def write_model(weights_file: Path, model_file: Path, precision: Precision) -> None:
    """Write the ONNX model of a safetensors file; the same weights give the same bytes.

    ``int8`` keeps weights as int8 per channel, of 7 bits: on processors without VNNI the 8-bit
    products of two neighbours overflow their 16-bit sum. Measured on 300 chat messages against
    fp32: mean cosine 0.9906 with 7 bits, 0.9925 with 8; recall@10 of the dense leg alone on 760
    questions: 50.7 and 51.5 (fp32 50.8).
    """
    with safe_open(weights_file, "np") as stored:
        weights = {key: stored.get_tensor(key) for key in stored.keys()}  # noqa: SIM118
    model = build_graph(weights)
    if precision == "fp32":
        onnx.save_model(model, model_file)
        return
    add_pre_process_metadata(model)  # shapes are known throughout: there is nothing to prepare
    whole = model_file.with_suffix(".fp32.onnx")
    onnx.save_model(model, whole)
    with _quiet_quantizer():
        quantize_dynamic(
            whole, model_file, per_channel=True, reduce_range=True, weight_type=QuantType.QInt8
        )
    whole.unlink()
