"""Checks signed heads against the events that they speak of. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..beliefs import SignedHead
from .audit_chain import AuditCheck
from .checking import LogCheck, leaf_at, roots_at
from .export import shown
from .findings import Problems
from .heads import check_head, head_digest
from .merkle import Frontier, root_of
from .signing import key_id
from .trusted_keys import Trust

_Lined = tuple[int, SignedHead]


class HeadCheck:
    """Whether heads are of the events that were read.

    Args:
        log: The events.
        trust: Whose heads count.
        problems: Where to tell.

    Attributes:
        signed_size: How many of the first events a trusted key has signed for.
        anchored_size: How many are those of the anchor.
    """

    def __init__(self, log: LogCheck, trust: Trust, problems: Problems) -> None:
        self.signed_size = self.anchored_size = 0
        self._log = log
        self._trust = trust
        self._problems = problems
        self._good: list[SignedHead] = []

    def check(self, heads: Sequence[_Lined]) -> None:
        """Tell what is wrong with heads, which are in order of size, each with its line."""
        self._check_order(heads)
        genuine = [one for one in heads if self._is_genuine(*one)]
        self._check_chain(heads)
        roots = roots_at(self._log.leaves, {head.size for _, head in genuine if self._has(head)})
        bad: list[_Lined] = []
        for line, head in genuine:
            if self._has(head):
                is_right = (head.root, head.last_hash) == (roots[head.size], self._hash_of(head))
                if is_right:
                    self._take(line, head)
                else:
                    bad.append((line, head))
            elif self._log.is_whole:
                self._tell_missing("it speaks", head, line)
        for line, head in bad:
            first, last = self._differing(head)
            what = f"it was signed for other events: {_differs(first, last)}"
            self._problems.add(what, line=line, seq=first)

    def check_anchor(self, anchor: SignedHead, first_line: int) -> None:
        """Tell in which events the log is not the one that a head kept elsewhere is of.

        Args:
            anchor: That head.
            first_line: The line of event 1; 0 where there are no lines.
        """
        problem = check_head(anchor) or self._stranger(anchor)
        problem = problem or self._trust.refusal(anchor.public_key, anchor.signed_at)
        if problem is not None:
            self._problems.add(f"the anchor is not to be used: {problem}")
        elif self._has(anchor):
            root = roots_at(self._log.leaves, {anchor.size})[anchor.size]
            if (root, self._hash_of(anchor)) == (anchor.root, anchor.last_hash):
                self.anchored_size = anchor.size
                return
            first, last = self._differing(anchor)
            what = f"the anchor of {anchor.size} events is of other events: {_differs(first, last)}"
            line = first_line + first - 1 if first_line and self._log.is_whole else 0
            self._problems.add(what, line=line, seq=first)
        elif self._log.is_whole:
            line = first_line + self._log.events - 1 if first_line else 0
            self._tell_missing("the anchor speaks", anchor, line)

    def _check_order(self, heads: Iterable[_Lined]) -> None:
        size, seen = 0, set[tuple[int, str]]()
        for line, head in heads:
            if (head.size, head.public_key) in seen:
                self._problems.add("it is there twice", line=line, seq=head.size)
            elif head.size < size:
                what = f"it is of fewer events than the head before, {head.size} after {size}"
                self._problems.add(what, line=line, seq=head.size)
            seen.add((head.size, head.public_key))
            size = head.size

    def check_audit(self, heads: Sequence[_Lined], audit: AuditCheck) -> None:
        """Tell which heads the audit feed is not the one of."""
        for line, head in heads:
            who = f"the head of {head.size} events was signed"
            audit.check_reached(head.audit_size, head.audit_hash, who, line)

    def check_reached(self, heads: Sequence[_Lined], number: int) -> None:
        """Tell when there were more heads once."""
        last = max((head.number for _, head in heads), default=0)
        if last < number:
            what = f"{number} heads were kept, and the last one is head {last}: some are missing"
            self._problems.add(what)

    def _check_chain(self, heads: Iterable[_Lined]) -> None:
        """Tell where heads that were kept one after the other are not all there."""
        last: SignedHead | None = None
        for line, head in sorted(heads, key=lambda one: one[1].number):
            if not head.number:
                continue
            expected = 1 if last is None else last.number + 1
            if head.number != expected:
                what = f"head {expected} is missing before it, which is head {head.number}"
                self._problems.add(what, line=line, seq=head.size)
            elif last is not None and head.previous != head_digest(last):
                what = f"head {last.number} is not the one that it was kept after"
                self._problems.add(what, line=line, seq=head.size)
            last = head

    def _is_genuine(self, line: int, head: SignedHead) -> bool:
        problem = check_head(head) or self._stranger(head)
        if problem is not None:
            self._problems.add(f"the head is not right: {problem}", line=line)
            return False
        self._trust.note(head.public_key)
        return True

    def _stranger(self, head: SignedHead) -> str | None:
        if (head.tenant, head.graph_id) == self._log.owner:
            return None
        return f"it is of another log: that of {shown(head.graph_id)} of {shown(head.tenant)}"

    def _take(self, line: int, head: SignedHead) -> None:
        """Take in a head that is right, if its key counts."""
        self._good.append(head)
        refusal = self._trust.refusal(head.public_key, head.signed_at)
        if refusal is not None:
            self._problems.add(refusal, line=line, seq=head.size)
        elif self._trust.counts(head.public_key, head.signed_at):
            self.signed_size = max(self.signed_size, head.size)

    def _has(self, head: SignedHead) -> bool:
        """Return whether the events that a head speaks of are known."""
        return head.size <= self._log.size

    def _hash_of(self, head: SignedHead) -> str:
        return leaf_at(self._log.leaves, head.size - 1).hex()

    def _differing(self, head: SignedHead) -> tuple[int, int]:
        """Return between which events, both included, is the first that a head is not of.

        Other heads of its key, or of trusted ones, say how far the events are right. Its own
        frontier, which its root proves, says of each perfect subtree whether it is.
        """
        right, last = 0, head.size
        for one in self._good:
            is_witness = one.public_key == head.public_key or self._trust.counts(
                one.public_key, one.signed_at
            )
            if is_witness and one.size < head.size:
                right = max(right, one.size)
        if head.frontier:
            for since, until, root in Frontier.of(head.size, head.frontier).spans():
                leaves = (leaf_at(self._log.leaves, index) for index in range(since, until))
                if until > right and root_of(leaves) != root:
                    right, last = max(right, since), until
                    break
                right = max(right, until)
        return min(right + 1, last), last

    def _tell_missing(self, who: str, head: SignedHead, line: int) -> None:
        found = self._log.events
        what = f"{who} of {head.size} events, and there are only {found}: the last are missing"
        what = f"{what} (signed by key {key_id(head.public_key)})"
        self._problems.add(what, line=line, seq=found + 1)


def _differs(first: int, last: int) -> str:
    if first == last:
        return f"event {first} is not as it was"
    before = f"the first {first - 1} are as they were, and " if first > 1 else ""
    return f"{before}one of events {first} to {last} is not as it was"
