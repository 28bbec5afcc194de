"""Merkle trees over SHA-256 as RFC 9162 has them (section 2.1; the same trees as RFC 6962). Pure.

A leaf is given as bytes; for a belief log these are the 32 bytes of an event's hash. Proofs are
made from the hashes of all leaves and checked with a few hashes. Hashes are ``bytes`` here, and
hexadecimal digits only in what is stored.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Self

from ..errors import UsageError, check_within

EMPTY_ROOT = hashlib.sha256(b"").digest()
HASH_BYTES = 32
_HASH_DIGITS = re.compile(r"[0-9a-f]{64}")


def leaf_hash(leaf: bytes) -> bytes:
    """Return the hash of a leaf."""
    return hashlib.sha256(b"\x00" + leaf).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """Return the hash of a node from those of its children."""
    return hashlib.sha256(b"\x01" + left + right).digest()


class Frontier:
    """The perfect subtrees of which a tree is made, by their roots, the largest first.

    Enough to append leaves and to have the root, each in O(log n). The sizes of the subtrees are
    the powers of two in ``size``.
    """

    def __init__(self) -> None:
        self.size = 0
        self._roots: list[bytes] = []

    @classmethod
    def of(cls, size: int, roots: Sequence[str]) -> Self:
        """Return the frontier of ``size`` leaves from roots in lower-case hexadecimal digits.

        Raises:
            UsageError: It cannot be one of a tree of that size.
        """
        if size < 0 or len(roots) != size.bit_count() or not all(map(is_hash, roots)):
            raise UsageError("frontier", roots, f"one SHA-256 in hex per power of two in {size}")
        frontier = cls()
        frontier.size, frontier._roots = size, [bytes.fromhex(one) for one in roots]
        return frontier

    @property
    def roots(self) -> tuple[str, ...]:
        """The roots of the subtrees in hexadecimal digits."""
        return tuple(one.hex() for one in self._roots)

    def append(self, leaf: bytes) -> None:
        """Add a leaf at the end."""
        grown, size = leaf_hash(leaf), self.size
        while size & 1:
            grown, size = node_hash(self._roots.pop(), grown), size >> 1
        self._roots.append(grown)
        self.size += 1

    def root(self) -> bytes:
        """Return the root of the tree as it is."""
        if not self._roots:
            return EMPTY_ROOT
        root = self._roots[-1]
        for left in reversed(self._roots[:-1]):
            root = node_hash(left, root)
        return root

    def spans(self) -> list[tuple[int, int, bytes]]:
        """Return each subtree as its first leaf, the leaf after its last, and its root."""
        found: list[tuple[int, int, bytes]] = []
        since = 0
        for bit in range(self.size.bit_length() - 1, -1, -1):
            if self.size >> bit & 1:
                found.append((since, since + (1 << bit), self._roots[len(found)]))
                since += 1 << bit
        return found


def is_hash(text: str) -> bool:
    """Return whether a text is a SHA-256 in lower-case hexadecimal digits."""
    return _HASH_DIGITS.fullmatch(text) is not None


def root_of(leaves: Iterable[bytes]) -> bytes:
    """Return the root of a tree over leaves."""
    frontier = Frontier()
    for leaf in leaves:
        frontier.append(leaf)
    return frontier.root()


def inclusion_proof(leaves: Sequence[bytes], index: int) -> tuple[bytes, ...]:
    """Return the audit path of the leaf at ``index``, from the bottom up (section 2.1.3.1).

    Raises:
        UsageError: There is no such leaf.
    """
    if not 0 <= index < len(leaves):
        raise UsageError("index", index, f"0 to {len(leaves) - 1}")
    path: list[bytes] = []
    since, until = 0, len(leaves)
    while until - since > 1:
        middle = since + _split(until - since)
        if index < middle:
            path.append(_root_between(leaves, middle, until))
            until = middle
        else:
            path.append(_root_between(leaves, since, middle))
            since = middle
    return tuple(reversed(path))


def verify_inclusion(
    leaf: bytes, index: int, size: int, proof: Sequence[bytes], root: bytes
) -> bool:
    """Return whether a proof shows that a leaf is at ``index`` of a tree (section 2.1.3.2)."""
    if not 0 <= index < size:
        return False
    node, last, found = index, size - 1, leaf_hash(leaf)
    for sibling in proof:
        if last == 0 or len(sibling) != HASH_BYTES:
            return False
        if node & 1 or node == last:
            found = node_hash(sibling, found)
            while node and not node & 1:
                node, last = node >> 1, last >> 1
        else:
            found = node_hash(found, sibling)
        node, last = node >> 1, last >> 1
    return last == 0 and found == root


def consistency_proof(leaves: Sequence[bytes], first: int) -> tuple[bytes, ...]:
    """Return the proof that a tree begins with its first leaves (section 2.1.4.1).

    Empty for none and for all of them.

    Raises:
        UsageError: There are not as many leaves.
    """
    check_within("first", first, 0, len(leaves))
    if first in {0, len(leaves)}:
        return ()
    path: list[bytes] = []
    since, until, is_whole = 0, len(leaves), True
    while first != until:
        middle = since + _split(until - since)
        if first <= middle:
            path.append(_root_between(leaves, middle, until))
            until = middle
        else:
            path.append(_root_between(leaves, since, middle))
            since, is_whole = middle, False
    if not is_whole:
        path.append(_root_between(leaves, since, until))
    return tuple(reversed(path))


def verify_consistency(
    first: int, second: int, proof: Sequence[bytes], first_root: bytes, second_root: bytes
) -> bool:
    """Return whether a proof shows that one tree begins with another (section 2.1.4.2).

    The empty tree begins every tree.
    """
    if not 0 <= first <= second or any(len(one) != HASH_BYTES for one in proof):
        return False
    if first == second:
        return not proof and first_root == second_root
    if first == 0:
        return not proof and first_root == EMPTY_ROOT
    is_power = first & (first - 1) == 0
    path = [first_root, *proof] if is_power else list(proof)
    if not path:
        return False
    node, last = first - 1, second - 1
    while node & 1:
        node, last = node >> 1, last >> 1
    of_first = of_second = path[0]
    for sibling in islice(path, 1, None):
        if last == 0:
            return False
        if node & 1 or node == last:
            of_first, of_second = node_hash(sibling, of_first), node_hash(sibling, of_second)
            while node and not node & 1:
                node, last = node >> 1, last >> 1
        else:
            of_second = node_hash(of_second, sibling)
        node, last = node >> 1, last >> 1
    return last == 0 and of_first == first_root and of_second == second_root


def _split(size: int) -> int:
    """Return the largest power of two below ``size``, which is 2 or more."""
    return 1 << (size - 1).bit_length() - 1


def _root_between(leaves: Sequence[bytes], since: int, until: int) -> bytes:
    return root_of(islice(leaves, since, until))
