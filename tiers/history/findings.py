"""What a verification finds: where, and in words."""

from __future__ import annotations

from typing import Any

from ..fields import Record

PROBLEMS_MAX = 100
_WHAT_CHARS_MAX = 500


class Problem(Record):
    """Something that cannot be so in a log that nobody has touched.

    Attributes:
        line: Of the file, from 1; 0 where there is no file, or no line to blame.
        seq: The event; ``None`` where it is about none.
        what: In words.
    """

    line: int = 0
    seq: int | None = None
    what: str

    def __str__(self) -> str:
        line = f"line {self.line}" if self.line else ""
        event = "" if self.seq is None else f"event {self.seq}"
        place = ", ".join(one for one in (line, event) if one)
        return f"{place}: {self.what}" if place else self.what


class Verification(Record):
    """What a verification came to.

    Attributes:
        ok: Nothing is wrong.
        problems: What is, by line and event; the first ones.
        problem_count: How many there are.
        tenant: Whose log it is.
        graph_id: Of which graph.
        events: How many there are.
        redacted: How many beliefs were redacted.
        destroyed: Of how many events the content was destroyed with them.
        heads: How many signed heads.
        audit: How many audit events.
        root: Of the Merkle tree over all events; empty where it cannot be told.
        last_hash: The hash of the last event; 64 zeros without one.
        key_ids: Of the keys that have signed something in it.
        signed: Something in it was signed by a key that is trusted.
        signed_size: How many of the first events are.
        anchored_size: How many of the first events are those of the anchor.
        trust: What the result rests on.
        warnings: What is as it was made, and still not as it should be: times in the future.
    """

    ok: bool
    problems: tuple[Problem, ...]
    problem_count: int
    tenant: str
    graph_id: str
    events: int
    redacted: int
    destroyed: int
    heads: int
    audit: int = 0
    root: str
    last_hash: str
    key_ids: tuple[str, ...]
    signed: bool
    signed_size: int
    anchored_size: int
    trust: str
    warnings: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Return it for programs."""
        return self.model_dump(mode="json")


class Problems:
    """Gathers what is found, and keeps no more than ``PROBLEMS_MAX`` of it."""

    def __init__(self) -> None:
        self.count = 0
        self._kept: list[Problem] = []

    def add(self, what: str, *, line: int = 0, seq: int | None = None) -> None:
        """Take in a problem."""
        self.count += 1
        if len(self._kept) < PROBLEMS_MAX:
            self._kept.append(Problem(line=line, seq=seq, what=what[:_WHAT_CHARS_MAX]))

    def in_order(self) -> tuple[Problem, ...]:
        """Return those that were kept by line and event, those of no line last."""
        return tuple(sorted(self._kept, key=lambda one: (not one.line, one.line, one.seq or 0)))
