"""What a belief log comes to. Pure: the judge of every projection, and the offline verifier's.

Events are enough to know which beliefs are active; contents only say what they claim.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..beliefs import TRUST_AT_FIRST, BeliefEvent, BeliefSpan, BeliefStatus, LoggedBelief

BEGINNING = frozenset(("adopted", "committed", "restored"))
"""Events after which their belief is active."""

ENDING: Mapping[str, BeliefStatus] = {
    "superseded": "superseded",
    "reverted": "reverted",
    "redacted": "redacted",
}
"""Events after which their belief is active no longer, and what became of it then."""

PINNING = {"pinned": True, "unpinned": False}


@dataclass
class FoldedBelief:
    """A belief as events have left it so far."""

    id: str
    committed_seq: int
    status: BeliefStatus = "active"
    ended_seq: int | None = None
    superseded_by: str | None = None
    spans: list[BeliefSpan] = field(default_factory=list)
    content: dict[str, Any] | None = None
    left: str | None = None

    @property
    def is_active(self) -> bool:
        """Whether it is believed now."""
        return self.status == "active"

    @property
    def pinned(self) -> bool:
        """Whether it comes first now."""
        return self.is_active and self.spans[-1].pinned

    def active_at(self, seq: int) -> BeliefSpan | None:
        """Return the span in which it was active right after an event, if it was."""
        for span in self.spans:
            if span.since_seq <= seq and (span.until_seq is None or seq < span.until_seq):
                return span
        return None

    def begin(self, seq: int, *, pinned: bool = False) -> None:
        """Let it be active from an event on."""
        self.status, self.ended_seq, self.superseded_by = "active", None, None
        self.spans.append(BeliefSpan(since_seq=seq, pinned=pinned))

    def end(self, seq: int) -> None:
        """Let its open span end at an event; a span that would last for no event stays out."""
        last = self.spans.pop()
        if last.since_seq < seq:
            self.spans.append(last.model_copy(update={"until_seq": seq}))


class Fold:
    """The beliefs of a log, event by event. Feed it every event, in order."""

    def __init__(self) -> None:
        self.beliefs: dict[str, FoldedBelief] = {}
        self.trust: dict[tuple[str, str | None], float] = {}
        self.seq = 0

    def apply(self, entry: LoggedBelief) -> str | None:
        """Take in the next event; return what is impossible about it, or ``None``.

        An impossible event changes nothing.
        """
        event = entry.event
        content = entry.said
        self.seq = event.seq
        if event.kind in {"branched", "contradicted", "rewound"}:
            return None
        if event.kind == "trusted":
            if content is not None:
                self.trust[content["agent_id"], content["topic"]] = content["after"]
            return None
        if event.kind in {"adopted", "committed"}:
            return self._begin(event, content)
        belief = self.beliefs.get(event.belief_id)
        if belief is None:
            return f"{event.kind} a belief that was never committed"
        return self._change(event, belief, content)

    def active(self) -> list[FoldedBelief]:
        """Return the active beliefs in order of commitment."""
        return [one for one in self.beliefs.values() if one.is_active]

    def active_at(self, seq: int) -> list[FoldedBelief]:
        """Return the beliefs that were active right after an event, in order of commitment."""
        return [one for one in self.beliefs.values() if one.active_at(seq) is not None]

    def trust_of(self, agent_id: str, topic: str | None) -> float:
        """Return the trust in an agent about a topic."""
        return self.trust.get((agent_id, topic), TRUST_AT_FIRST)

    def _begin(self, event: BeliefEvent, content: dict[str, Any] | None) -> str | None:
        if event.belief_id in self.beliefs:
            return f"{event.kind} a belief that was committed before"
        belief = FoldedBelief(event.belief_id, event.seq, content=content)
        belief.begin(event.seq)
        self.beliefs[event.belief_id] = belief
        return None

    def _change(
        self, event: BeliefEvent, belief: FoldedBelief, content: dict[str, Any] | None
    ) -> str | None:
        if event.kind == "restored":
            if belief.is_active or belief.status == "redacted":
                return f"restored a belief that is {belief.status}"
            belief.begin(event.seq)
            return None
        if event.kind == "redacted":
            belief.content = None
            belief.left = (content or {}).get("left")
        elif not belief.is_active:
            return f"{event.kind} a belief that is {belief.status}"
        if belief.is_active:
            belief.end(event.seq)
            belief.ended_seq = event.seq
        if event.kind in PINNING:
            belief.begin(event.seq, pinned=PINNING[event.kind])
            return None
        belief.status = ENDING[event.kind]
        if event.kind == "superseded" and content is not None:
            belief.superseded_by = content["superseded_by"]
        return None
