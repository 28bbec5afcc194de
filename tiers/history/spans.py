"""Finding the spans of events that hold at one event, at a cost that does not grow with the log.

A closed span is filed under one node of a binary tree over all event numbers: the number within it
that is divisible by the highest power of two. A span that holds at ``seq`` is filed under one of
the few nodes above, at or below ``seq`` that ``stations`` names, and there one end decides: left of
a node, where it begins, right of it, where it ends. So each of some twenty look-ups in an index
returns only what is sought. (The relational interval tree of Kriegel, Pötke and Seidl, VLDB 2000.)
"""

from __future__ import annotations

from typing import NamedTuple


class Stations(NamedTuple):
    """Where the spans that hold at one event are filed.

    Attributes:
        after: Nodes behind it: of their spans those that begin at or before it hold.
        before: Nodes before it, and itself: of their spans those that end after it hold.
    """

    after: tuple[int, ...]
    before: tuple[int, ...]


def node_of(since_seq: int, until_seq: int) -> int:
    """Return the node under which a span is filed that ends before ``until_seq``.

    Args:
        since_seq: The first event at which it holds, from 1.
        until_seq: The first at which it no longer does; above ``since_seq``.
    """
    last = until_seq - 1
    common = ((since_seq - 1) ^ last).bit_length() - 1
    return last >> common << common


def stations(seq: int, last_seq: int) -> Stations:
    """Return the nodes of spans that may hold at ``seq``, in a log of ``last_seq`` events."""
    after: list[int] = []
    before: list[int] = []
    for level in range(max(1, last_seq).bit_length()):
        node = (seq >> (level + 1) << (level + 1)) + (1 << level)
        if node > seq:
            after.append(node)
        else:
            before.append(node)
    return Stations(tuple(after), tuple(before))
