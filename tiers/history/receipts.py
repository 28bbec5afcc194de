"""Signed receipts of erasure: what was cleaned where, told in ids and counts, never in content."""

from __future__ import annotations

from ..fields import Moment, Record
from .chain import canonical, written
from .signing import SigningKey


class ErasureReceipt(Record):
    """What an erasure reached.

    Attributes:
        asked_by: What was asked for: ``records``, a ``subject``, a ``user``, an ``agent``, or the
            whole ``graph``.
        ids: What lost its content, by kind.
        cleaned: How many of them in each store.
        waiting: Stores that were not clean yet.
        branches: Graphs in which copies were cleaned as well.
        log: ``size`` and ``last_hash`` of the belief log after it.
        public_key: 32 bytes in hexadecimal digits; empty where there was no key.
        signature: Ed25519 over the canonical form of every other field.
    """

    version: int = 1
    tenant: str
    graph_id: str
    asked_by: str
    reason: str
    erased_at: Moment
    ids: dict[str, tuple[str, ...]]
    cleaned: dict[str, int]
    waiting: tuple[str, ...] = ()
    branches: tuple[str, ...] = ()
    log: dict[str, str | int]
    public_key: str = ""
    signature: str = ""


def signed_receipt(receipt: ErasureReceipt, key: SigningKey) -> ErasureReceipt:
    """Return a receipt with a key's signature."""
    named = receipt.model_copy(update={"public_key": key.public_hex, "signature": ""})
    signed = canonical(written(named, "erased_at", "signature"))
    return named.model_copy(update={"signature": key.sign(signed)})
