"""Writes ONNX models: the few messages of the format that a graph of ours needs, as protobuf.

The ``onnx`` package would do the same at the price of 28 MB that nothing else needs. Field numbers
are those of ``onnx.proto``; the tests read what is written back with that package.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

FLOAT, UINT8, INT8, INT64 = 1, 2, 3, 7
"""Numbers of element types, as ``Cast`` and files name them."""

_ELEMENT_TYPES = {"float32": FLOAT, "uint8": UINT8, "int8": INT8, "int64": INT64}
_ATTRIBUTE_FLOAT, _ATTRIBUTE_INT, _ATTRIBUTE_INTS = 1, 2, 7
_VARINT, _BYTES, _FIXED32 = 0, 2, 5  # wire types of protobuf

Attribute: TypeAlias = float | int | Sequence[int]


@dataclass(frozen=True, slots=True)
class Node:
    """An operation of a graph.

    Attributes:
        operation: Its type, such as ``MatMul``.
        inputs: Names of what it reads.
        outputs: Names of what it makes; the first names the node too.
        attributes: By name: a number, or whole numbers.
    """

    operation: str
    inputs: Sequence[str]
    outputs: Sequence[str]
    attributes: Mapping[str, Attribute]


@dataclass(frozen=True, slots=True)
class Value:
    """An input or an output of a graph.

    Attributes:
        name: Its name.
        element_type: One of the numbers of this module.
        shape: A length, or a name for one that is open, for each axis.
    """

    name: str
    element_type: int
    shape: Sequence[int | str]


def model_bytes(
    name: str,
    nodes: Iterable[Node],
    constants: Mapping[str, npt.NDArray[np.generic]],
    inputs: Iterable[Value],
    outputs: Iterable[Value],
    *,
    opset: int,
    ir_version: int,
) -> bytes:
    """Return a model as a file holds it; the same arguments give the same bytes.

    Args:
        name: The graph's name.
        nodes: Each behind those whose outputs it reads.
        constants: Arrays of ``float32``, ``uint8``, ``int8`` or ``int64`` by name.
        inputs: What it is given.
        outputs: What it gives.
        opset: The version of the standard operations.
        ir_version: The version of the format.
    """
    graph = b"".join(
        [
            *(_message(1, _node(node)) for node in nodes),
            _text(2, name),
            *(_message(5, _tensor(key, array)) for key, array in constants.items()),
            *(_message(11, _value(value)) for value in inputs),
            *(_message(12, _value(value)) for value in outputs),
        ]
    )
    version = _text(1, "") + _whole(2, opset)
    return _whole(1, ir_version) + _text(2, "ezra") + _message(7, graph) + _message(8, version)


def _node(node: Node) -> bytes:
    return b"".join(
        [
            *(_text(1, one) for one in node.inputs),
            *(_text(2, one) for one in node.outputs),
            _text(3, node.outputs[0]),
            _text(4, node.operation),
            *(_message(5, _attribute(key, value)) for key, value in node.attributes.items()),
        ]
    )


def _attribute(name: str, value: Attribute) -> bytes:
    if isinstance(value, int):
        return _text(1, name) + _whole(3, value) + _whole(20, _ATTRIBUTE_INT)
    if isinstance(value, float):
        number = _tag(2, _FIXED32) + struct.pack("<f", value)
        return _text(1, name) + number + _whole(20, _ATTRIBUTE_FLOAT)
    several = b"".join(_whole(8, one) for one in value)
    return _text(1, name) + several + _whole(20, _ATTRIBUTE_INTS)


def _tensor(name: str, array: npt.NDArray[np.generic]) -> bytes:
    content = np.ascontiguousarray(array)
    lengths = b"".join(_whole(1, length) for length in array.shape)
    element_type = _whole(2, _ELEMENT_TYPES[content.dtype.name])
    little_endian = content.astype(content.dtype.newbyteorder("<"), copy=False)
    return lengths + element_type + _text(8, name) + _message(9, little_endian.tobytes())


def _value(value: Value) -> bytes:
    axes = b"".join(
        _message(1, _text(2, one) if isinstance(one, str) else _whole(1, one))
        for one in value.shape
    )
    tensor = _whole(1, value.element_type) + _message(2, axes)
    return _text(1, value.name) + _message(2, _message(1, tensor))


def _message(field: int, content: bytes) -> bytes:
    return _tag(field, _BYTES) + _varint(len(content)) + content


def _text(field: int, text: str) -> bytes:
    return _message(field, text.encode())


def _whole(field: int, number: int) -> bytes:
    return _tag(field, _VARINT) + _varint(number)


def _tag(field: int, wire_type: int) -> bytes:
    return _varint(field << 3 | wire_type)


def _varint(number: int) -> bytes:
    """Return a number in groups of seven bits, the lowest first; a negative one as 64 bits."""
    rest = number & 0xFFFF_FFFF_FFFF_FFFF
    found = bytearray()
    while rest >> 7:
        found.append(rest & 0x7F | 0x80)
        rest >>= 7
    found.append(rest)
    return bytes(found)
