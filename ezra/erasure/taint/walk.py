"""A walk from a record along everything that came of it. Pure: who walks is told what to ask next.

What names a tainted record as a source is *derived*; what came of a context that showed one is
*exposed*. First everything derived is found, then what was exposed to any of it, and what came of
that in turn. So a record is exposed only if no chain of sources leads to it.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from tiers.records import Moment, Record
from tiers.taint import Exposure, Reason, Resting, TaintedKind

ASKED_AT_ONCE = 500
NODES_MAX = 10_000
"""So many records a walk finds at most."""


class TaintNode(Record):
    """A record in the tree of what came of another.

    Attributes:
        exposure: ``root``, ``derived`` (certain) or ``exposed`` (possible).
        parent_id: The record of the tree that it comes of; empty for the root.
        how: How it comes of that.
        depth: How far it is from the root.
        text: How it begins; empty for a receipt, which holds no text of a record.
        is_gone: It has no content of its own any more.
        is_kept: Its content, or that it was believed, is kept by an open roll-back.
        is_over: A belief that a roll-back has taken back already.
    """

    graph_id: str
    kind: TaintedKind
    id: str
    exposure: Exposure
    parent_id: str = ""
    how: str = ""
    depth: int = 0
    agent_id: str = ""
    user_id: str | None = None
    topics: tuple[str, ...] = ()
    private: bool = False
    recorded_at: Moment
    text: str = ""
    is_gone: bool = False
    is_kept: bool = False
    is_over: bool = False


class Shown(NamedTuple):
    """A receipt that a trace looks at: whose context or recall showed which records.

    Attributes:
        receipt: As a record without reasons.
        turn_id: The turn that the context was made for; empty for a recall.
        ids: The records that it showed.
    """

    receipt: Resting
    turn_id: str
    ids: frozenset[str]


class Walk:
    """Finds what came of a record, by pages.

    Args:
        root: The record.
        most: How many records it finds.
    """

    def __init__(self, root: Resting, most: int = NODES_MAX) -> None:
        self._most = most
        self._found: dict[tuple[str, str], TaintNode] = {}
        self._by_id: dict[str, TaintNode] = {}
        self._reasons: dict[tuple[str, str], tuple[Reason, ...]] = {}
        self._waiting: deque[TaintNode] = deque()
        self._aliases: dict[str, str] = {}
        self._taken: set[str] = set()
        self._exposure: Exposure = "root"
        self.is_whole = True
        self._add(root, None, "")
        self._exposure = "derived"

    def page(self) -> list[TaintNode]:
        """Return the next records to ask about; empty when all were asked."""
        return [self._waiting.popleft() for _ in range(min(ASKED_AT_ONCE, len(self._waiting)))]

    def expose(self) -> None:
        """Begin again with everything that was found: what comes now is exposed."""
        self._exposure = "exposed"
        self._waiting = deque(self._found.values())

    def add(self, found: Iterable[Resting]) -> None:
        """Note what rests on records that were found.

        A summary that has its content does not come of what has lost it: it was made anew since.
        It does come of what retention has emptied, which leaves texts as they are.
        """
        for one in found:
            reasons = ((self._parent(reason.id), reason.how) for reason in one.reasons)
            known = [(parent, how) for parent, how in reasons if parent is not None]
            is_new = one.kind in {"summary", "episode"} and not one.is_gone
            live = [each for each in known if not (is_new and each[0].id in self._taken)]
            if live:
                self._add(one, *min(live, key=lambda each: each[0].depth))

    def show(self, receipts: Sequence[Shown], page: Sequence[TaintNode]) -> list[str]:
        """Note which receipts showed the records of a page; return the turns they were made for."""
        ids = {node.id for node in page}
        turn_ids = []
        for shown in receipts:
            showed = ids & shown.ids
            if not showed:
                continue
            reasons = tuple(Reason(id=one, how="shown in") for one in sorted(showed))
            self.add([shown.receipt.model_copy(update={"reasons": reasons})])
            if shown.turn_id:
                self._aliases[shown.turn_id] = shown.receipt.id
                turn_ids.append(shown.turn_id)
        return turn_ids

    def answered(self, turns: Iterable[Resting]) -> None:
        """Note turns whose contexts were shown tainted records."""
        for turn in turns:
            reason = Reason(id=self._aliases[turn.id], how="answered with")
            self.add([turn.model_copy(update={"reasons": (reason,)})])

    @property
    def nodes(self) -> list[TaintNode]:
        """Everything that was found, each behind what it comes of, the root first."""
        return list(in_order(self._found.values()))

    def reasons_of(self, node: TaintNode) -> tuple[Reason, ...]:
        """Return everything that a record names as its source."""
        return self._reasons[node.graph_id, node.id]

    def _parent(self, record_id: str) -> TaintNode | None:
        found = self._by_id.get(record_id)
        return found or self._by_id.get(self._aliases.get(record_id, ""))

    def _add(self, one: Resting, parent: TaintNode | None, how: str) -> None:
        key = (one.graph_id, one.id)
        if key in self._found:
            return
        if len(self._found) >= self._most:
            self.is_whole = False
            return
        node = TaintNode(
            **one.model_dump(exclude={"reasons", "is_retired"}),
            exposure=self._exposure,
            parent_id="" if parent is None else parent.id,
            how=how,
            depth=0 if parent is None else parent.depth + 1,
        )
        self._found[key] = node
        self._by_id.setdefault(one.id, node)
        self._reasons[key] = one.reasons
        if one.is_gone and not one.is_retired:
            self._taken.add(one.id)
        self._waiting.append(node)


def in_order(nodes: Iterable[TaintNode]) -> Iterator[TaintNode]:
    """Yield the nodes of a tree as one reads it: each followed by what comes of it."""
    children: dict[str, list[TaintNode]] = {}
    for node in nodes:
        children.setdefault(node.parent_id, []).append(node)
    waiting = children.pop("", [])[::-1]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += children.pop(node.id, [])[::-1]


def counted(nodes: Iterable[TaintNode]) -> Mapping[Exposure, Mapping[TaintedKind, int]]:
    """Return how many records of each kind there are, by exposure."""
    counts: dict[Exposure, Counter[TaintedKind]] = {}
    for node in nodes:
        counts.setdefault(node.exposure, Counter())[node.kind] += 1
    return {exposure: dict(kinds) for exposure, kinds in counts.items()}
