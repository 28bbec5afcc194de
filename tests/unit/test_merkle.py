"""Merkle trees: the roots and proofs that are known from certificate transparency, and any size."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiers.errors import UsageError
from tiers.history.merkle import (
    EMPTY_ROOT,
    Frontier,
    consistency_proof,
    inclusion_proof,
    leaf_hash,
    node_hash,
    root_of,
    verify_consistency,
    verify_inclusion,
)

LEAVES = [
    bytes.fromhex(one)
    for one in (
        "", "00", "10", "2021", "3031", "40414243", "5051525354555657",
        "606162636465666768696a6b6c6d6e6f",
    )
]  # fmt: skip
ROOTS = [
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
]
H1 = "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7"
H23 = "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e"
H4567 = "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4"
H4 = "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b"
H45 = "0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a"
H6 = "b08693ec2e721597130641e8211e7eedccb4c26413963eee6c1e2ed16ffb1a5f"
H67 = "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0"


def hexes(proof: Sequence[bytes]) -> list[str]:
    """Return a proof in hexadecimal digits."""
    return [one.hex() for one in proof]


@pytest.mark.parametrize("size", range(9))
def test_roots_are_the_known_ones(size: int) -> None:
    """At once, and leaf by leaf through a frontier that is stored in between."""
    assert root_of(LEAVES[:size]).hex() == ROOTS[size]
    frontier = Frontier()
    for leaf in LEAVES[:size]:
        frontier = Frontier.of(frontier.size, frontier.roots)
        frontier.append(leaf)
    assert (frontier.size, frontier.root().hex()) == (size, ROOTS[size])


@pytest.mark.parametrize(
    ("index", "size", "proof"),
    [
        (0, 1, []),
        (0, 8, [H1, H23, H4567]),
        (5, 8, [H4, H67, ROOTS[4]]),
        (2, 3, [ROOTS[2]]),
        (1, 5, [ROOTS[1], H23, H4]),
    ],
)
def test_inclusion_proofs_are_the_known_ones(index: int, size: int, proof: list[str]) -> None:
    """And they hold for their own leaf, place, size and root alone."""
    made = inclusion_proof(LEAVES[:size], index)
    assert hexes(made) == proof
    for other in range(9):
        for place in range(-1, 9):
            root = bytes.fromhex(ROOTS[other])
            holds = verify_inclusion(LEAVES[index], place, other, made, root)
            assert holds == ((place, other) == (index, size))


@pytest.mark.parametrize(
    ("first", "second", "proof"),
    [
        (1, 1, []),
        (1, 8, [H1, H23, H4567]),
        (6, 8, [H45, H67, ROOTS[4]]),
        (2, 5, [H23, H4]),
        (6, 7, [H45, H6, ROOTS[4]]),
    ],
)
def test_consistency_proofs_are_the_known_ones(first: int, second: int, proof: list[str]) -> None:
    """And they hold for their own two trees alone."""
    made = consistency_proof(LEAVES[:second], first)
    assert hexes(made) == proof
    roots = [bytes.fromhex(one) for one in ROOTS]
    assert verify_consistency(first, second, made, roots[first], roots[second])
    for wrong in range(9):
        if wrong not in {first, second}:
            assert not verify_consistency(first, second, made, roots[wrong], roots[second])
            assert not verify_consistency(first, second, made, roots[first], roots[wrong])


def reference_root(leaves: Sequence[bytes]) -> bytes:
    """Return the root by the RFC's own recursive words (section 2.1.1)."""
    if not leaves:
        return hashlib.sha256().digest()
    if len(leaves) == 1:
        return leaf_hash(leaves[0])
    k = max(1 << bit for bit in range(10) if 1 << bit < len(leaves))
    return node_hash(reference_root(leaves[:k]), reference_root(leaves[k:]))


def leaves_of(size: int) -> list[bytes]:
    """Return different leaves."""
    return [b"leaf %d" % number for number in range(size)]


@given(st.integers(1, 300), st.data())
def test_any_leaf_of_any_tree_is_proven_and_nothing_else(size: int, data: st.DataObject) -> None:
    """Another leaf, place, size or root, and a proof with anything changed, are refused."""
    leaves = leaves_of(size)
    root = reference_root(leaves)
    assert root_of(leaves) == root
    index = data.draw(st.integers(0, size - 1))
    proof = inclusion_proof(leaves, index)
    assert verify_inclusion(leaves[index], index, size, proof, root)
    assert not verify_inclusion(b"other", index, size, proof, root)
    other = data.draw(st.integers(-2, size + 2).filter(lambda one: one != index))
    assert not verify_inclusion(leaves[index], other, size, proof, root)
    assert not verify_inclusion(leaves[index], index, size, proof, leaf_hash(root))
    for wrong in spoiled(proof, data):
        assert not verify_inclusion(leaves[index], index, size, wrong, root)


@given(st.integers(1, 300), st.data())
def test_any_tree_begins_with_its_own_first_leaves(size: int, data: st.DataObject) -> None:
    """And with no others: a rewritten beginning has no proof."""
    leaves = leaves_of(size)
    first = data.draw(st.integers(0, size))
    proof = consistency_proof(leaves, first)
    old, new = reference_root(leaves[:first]), reference_root(leaves)
    assert verify_consistency(first, size, proof, old, new)
    for wrong in spoiled(proof, data):
        assert not verify_consistency(first, size, wrong, old, new)
    if 0 < first < size:
        rewritten = [*leaves[: first - 1], b"other", *leaves[first:]]
        other = reference_root(rewritten)
        assert not verify_consistency(first, size, proof, old, other)
        remade = consistency_proof(rewritten, first)
        assert not verify_consistency(first, size, remade, old, other)
        assert not verify_consistency(size, first, proof, new, old)


def spoiled(proof: Sequence[bytes], data: st.DataObject) -> list[tuple[bytes, ...]]:
    """Return proofs with a hash too many, too few, of another length, or with a bit flipped."""
    wrong: list[tuple[bytes, ...]] = [(*proof, bytes(32)), (bytes(32), *proof)]
    if proof:
        at = data.draw(st.integers(0, len(proof) - 1))
        bit = data.draw(st.integers(0, 255))
        flipped = (int.from_bytes(proof[at], "big") ^ 1 << bit).to_bytes(32, "big")
        wrong += [
            (*proof[:at], *proof[at + 1 :]),
            (*proof[:at], flipped, *proof[at + 1 :]),
            (*proof[:at], proof[at][:-1], *proof[at + 1 :]),
            (*proof[:at], proof[at] + b"\x00", *proof[at + 1 :]),
        ]
    return wrong


@given(st.integers(0, 200), st.integers(0, 200))
def test_a_frontier_goes_on_from_where_it_was_stored(size: int, more: int) -> None:
    """With as many subtrees as there are powers of two in its size, each over its own leaves."""
    leaves = leaves_of(size + more)
    frontier = Frontier()
    for leaf in leaves[:size]:
        frontier.append(leaf)
    frontier = Frontier.of(size, frontier.roots)
    for leaf in leaves[size:]:
        frontier.append(leaf)
    assert frontier.root() == reference_root(leaves)
    ends = [0]
    for since, until, root in frontier.spans():
        assert (since, root) == (ends[-1], reference_root(leaves[since:until]))
        ends.append(until)
    assert ends[-1] == size + more


@pytest.mark.parametrize(
    ("size", "roots"),
    [
        (-1, []), (0, [ROOTS[1]]), (3, [ROOTS[2]]), (2, [ROOTS[2].upper()]), (1, ["6e34"]),
        (1, ["z" * 64]), (1, ["\u0660" * 64]),
    ],
)  # fmt: skip
def test_what_is_no_frontier_is_refused(size: int, roots: list[str]) -> None:
    """One hash in lower-case hexadecimal digits per power of two, and nothing else."""
    with pytest.raises(UsageError, match="frontier"):
        Frontier.of(size, roots)


def test_proofs_of_what_is_not_there_are_refused() -> None:
    """A place outside the tree is the caller's mistake."""
    for index in (-1, 8):
        with pytest.raises(UsageError, match="index"):
            inclusion_proof(LEAVES, index)
    for first in (-1, 9):
        with pytest.raises(UsageError, match="first"):
            consistency_proof(LEAVES, first)
    assert not verify_consistency(3, 8, (), EMPTY_ROOT, EMPTY_ROOT)
