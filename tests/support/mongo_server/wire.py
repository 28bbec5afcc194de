"""The wire protocol: OP_MSG both ways.

https://github.com/mongodb/specifications/blob/master/source/message/OP_MSG.md
"""

from __future__ import annotations

import asyncio
import itertools
import struct
from dataclasses import dataclass
from typing import Any

import bson

OP_MSG = 2013
MAX_MESSAGE_BYTES = 48_000_000

_HEADER = struct.Struct("<iiii")
_INT = struct.Struct("<i")
_UINT = struct.Struct("<I")
_CHECKSUM_PRESENT = 1
_MORE_TO_COME = 2
_EXHAUST_ALLOWED = 1 << 16
_KNOWN_FLAGS = _CHECKSUM_PRESENT | _MORE_TO_COME | _EXHAUST_ALLOWED
_numbers = itertools.count(1)


class ProtocolError(Exception):
    """The bytes are not a message that this side understands; the connection is closed."""


@dataclass(frozen=True)
class Message:
    """One request.

    Attributes:
        request_id: Repeated in the answer.
        body: The command, document sequences put in as arrays.
        expects_reply: False for an unacknowledged write.
    """

    request_id: int
    body: dict[str, Any]
    expects_reply: bool


async def read_message(reader: asyncio.StreamReader) -> Message:
    """Read one request; ``IncompleteReadError`` at the end of the stream."""
    length, request_id, _, op_code = _HEADER.unpack(await reader.readexactly(_HEADER.size))
    if not _HEADER.size < length <= MAX_MESSAGE_BYTES:
        raise ProtocolError(f"a message of {length} bytes")
    payload = await reader.readexactly(length - _HEADER.size)
    if op_code != OP_MSG:
        raise ProtocolError(f"op code {op_code}")
    return _op_msg(request_id, payload)


def _op_msg(request_id: int, payload: bytes) -> Message:
    (flags,) = _UINT.unpack_from(payload)
    if flags & 0xFFFF & ~_KNOWN_FLAGS:
        raise ProtocolError(f"unknown required flag bits {flags:#x}")
    # The checksum is CRC-32C, which Python's library lacks: it is stepped over.
    end = len(payload) - (_UINT.size if flags & _CHECKSUM_PRESENT else 0)
    body: dict[str, Any] | None = None
    sequences: dict[str, list[dict[str, Any]]] = {}
    at = _UINT.size
    while at < end:
        kind = payload[at]
        (size,) = _INT.unpack_from(payload, at + 1)
        section = payload[at + 1 : at + 1 + size]
        if kind == 0:
            body = bson.decode(section)
        elif kind == 1:
            name_end = section.index(b"\0", _INT.size)
            name = section[_INT.size : name_end].decode()
            sequences[name] = bson.decode_all(section[name_end + 1 :])
        else:
            raise ProtocolError(f"section of kind {kind}")
        at += 1 + size
    if body is None:
        raise ProtocolError("a message without a body")
    body.update(sequences)
    return Message(request_id, body, not flags & _MORE_TO_COME)


def encode_reply(request: Message, document: dict[str, Any]) -> bytes:
    """Return the answer to ``request`` as bytes."""
    body = bson.encode(document)
    payload = b"\0\0\0\0\0" + body  # no flags, one section of kind 0
    length = _HEADER.size + len(payload)
    return _HEADER.pack(length, next(_numbers), request.request_id, OP_MSG) + payload
