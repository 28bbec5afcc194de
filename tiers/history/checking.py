"""Checks a belief log event by event, as an auditor would who trusts nobody. Pure.

What follows from something wrong is not told as well: after the first event that is not as it was
made, what the log comes to and the roots of its trees say nothing any more.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ..beliefs import BeliefEvent, BeliefKind, BranchPoint, Commitment, LoggedBelief, Settlement
from ..errors import UsageError
from .chain import (
    EVENT_FIELDS_SINCE,
    FIRST_PREVIOUS_HASH,
    FORMAT_VERSION,
    FORMER_VERSION,
    canonical,
    event_hash,
    stored_digest,
    uncovered,
)
from .export import parsed, shown, spoken_of
from .findings import Problems
from .fold import Fold
from .merkle import HASH_BYTES, Frontier, is_hash
from .plan import SPEAKING_KINDS

_HEX_DIGITS = frozenset("0123456789abcdef")


class _Said(BaseModel):
    """What is needed of a content; what else it says is not asked."""

    model_config = ConfigDict(extra="allow", strict=True)


class _Superseded(_Said):
    superseded_by: str


class _Rewound(_Said):
    to_seq: int = Field(ge=0)


class _Trusted(_Said):
    agent_id: str
    topic: str | None
    before: float = Field(ge=0.0, le=1.0)
    after: float = Field(ge=0.0, le=1.0)


_SHAPES: Mapping[BeliefKind, type[BaseModel]] = {
    "branched": BranchPoint,
    "adopted": Commitment,
    "committed": Commitment,
    "contradicted": Settlement,
    "superseded": _Superseded,
    "rewound": _Rewound,
    "trusted": _Trusted,
}


def said_by(entry: LoggedBelief) -> dict[str, Any] | str:
    """Return what an event says, or why that is not what it was made with.

    The content is there. What is returned has the shape that the kind of event asks for.
    """
    event, content, salt = entry.event, entry.content, entry.salt
    if content is None or salt is None or not _is_hex(salt):
        return "its content and its salt are not both there"
    try:
        written = content.encode()
    except UnicodeEncodeError:
        return "its content is no text"
    if stored_digest(bytes.fromhex(salt), written) != event.content_digest:
        return "its content is not what its digest was made of"
    found = _object(content)
    if found is None:
        return "its content is no canonical JSON object"
    return _shape_problem(event, found) or found


def _object(content: str) -> dict[str, Any] | None:
    """Return the JSON object of a canonical text; ``None`` for whatever else it is."""
    try:
        found = parsed(content)
        if isinstance(found, dict) and canonical(found) == content.encode():
            return found
    except (ValueError, RecursionError, UsageError):
        pass
    return None


def _shape_problem(event: BeliefEvent, content: dict[str, Any]) -> str | None:
    shape = _SHAPES.get(event.kind)
    try:
        if shape is not None:
            shape.model_validate(content)
    except (ValidationError, OverflowError):
        return f"its content is not what an event that {event.kind} something says"
    if event.kind not in {"adopted", "committed"}:
        return None
    owner = (content.get("id"), content.get("tenant"), content.get("graph_id"))
    is_own = owner == (event.belief_id, event.tenant, event.graph_id)
    return None if is_own else "its content is that of another belief"


def _is_hex(text: str) -> bool:
    return len(text) % 2 == 0 and _HEX_DIGITS.issuperset(text)


_Place = tuple[int, int]
"""Line and ``seq`` of an event."""


class LogCheck:
    """The events of one log, in order, and what is wrong with them.

    Memory grows with the number of beliefs and, by 32 bytes each, of events.

    Args:
        tenant: Whose log it is to be.
        graph_id: Of which graph.
        problems: Where to tell.
        keeps_contents: Whether the fold is to have what beliefs say.

    Attributes:
        owner: Tenant and graph.
        fold: What the log comes to, as far as it is as it was made.
        events: How many there were.
        destroyed: Of how many of them the content was destroyed.
        redacted: Which beliefs were redacted.
        last_hash: The hash of the last event.
        leaves: The hashes of events, 32 bytes each, as far as the log is as it was made.
        is_whole: Whether it is, to the end.
    """

    def __init__(
        self, tenant: str, graph_id: str, problems: Problems, *, keeps_contents: bool
    ) -> None:
        self.fold = Fold()
        self.events = self.destroyed = 0
        self.last_hash = FIRST_PREVIOUS_HASH
        self.redacted: set[str] = set()
        self.leaves = bytearray()
        self.is_whole = True
        self.owner = (tenant, graph_id)
        self._problems = problems
        self._keeps_contents = keeps_contents
        self._last: BeliefEvent | None = None
        self._may_precede: set[str] = {FIRST_PREVIOUS_HASH}
        self._missing: dict[str, list[_Place]] = {}
        self._missing_rivals: dict[str, tuple[str, _Place]] = {}
        self._spoken: dict[str, list[_Place]] = {}
        self._knows_trust = True

    @property
    def size(self) -> int:
        """How many of the first events are as they were made."""
        return len(self.leaves) // HASH_BYTES

    def add(self, entry: LoggedBelief, line: int = 0) -> None:
        """Take in the next event."""
        event, place = entry.event, (line, entry.event.seq)
        self.events += 1
        before = self._problems.count
        self._check_place(event, place)
        self._check_hash(event, place)
        if self._problems.count != before:
            self.is_whole = False
        if self.is_whole:
            self.leaves += bytes.fromhex(event.hash)
        self._check_content(entry, place)
        self._last, self.last_hash = event, event.hash

    def lose(self) -> None:
        """Take in that there was a line which said nothing that can be known."""
        self.is_whole = False
        self._may_precede = set()
        if self._last is not None:
            self._last = self._last.model_copy(update={"seq": self._last.seq + 1})

    def conclude(self) -> None:
        """Tell what can only be known at the end: contents that nothing has destroyed.

        Where an event was changed or is missing, it may have been the one that explains it.
        """
        if not self.is_whole:
            return
        missing = [place for places in self._missing.values() for place in places]
        rivals = [place for _, place in self._missing_rivals.values()]
        for line, seq in [*missing, *rivals]:
            what = "its content is missing, and no later event redacts it"
            self._problems.add(what, line=line, seq=seq)

    def _check_place(self, event: BeliefEvent, place: _Place) -> None:
        """Tell when an event is not the one that comes next."""
        last = self._last
        owner = (event.tenant, event.graph_id)
        if owner != self.owner:
            self.is_whole = False
            if last is None or owner != (last.tenant, last.graph_id):
                log = f"{shown(event.graph_id)} of {shown(event.tenant)}"
                self._tell(place, f"it is of another log: that of {log}")
        expected = 1 if last is None else last.seq + 1
        is_first_known = last is None and not self._may_precede
        if event.seq != expected and not is_first_known:
            self._tell(place, f"event {expected} should be here")
        elif self._may_precede and event.previous_hash not in self._may_precede:
            self._tell(place, "its previous_hash is not the hash of the event before")
        if last is not None and event.recorded_at < last.recorded_at:
            self._tell(place, "it was recorded before the event before")
        if last is not None and event.turn < last.turn:
            self._tell(place, "its turn is before that of the event before")

    def _check_hash(self, event: BeliefEvent, place: _Place) -> None:
        if not FORMER_VERSION <= event.version <= FORMAT_VERSION:
            self._tell(place, f"its version is not known here: {shown(str(event.version))}")
        problem = uncovered(event, EVENT_FIELDS_SINCE)
        if problem is not None:
            self._tell(place, problem)
        made = event_hash(event)
        if made != event.hash or not is_hash(event.hash):
            self._tell(place, "its hash is not that of its fields")
        # Either its fields or its hash were changed: what follows goes on from one of them.
        self._may_precede = {made, event.hash}

    def _check_content(self, entry: LoggedBelief, place: _Place) -> None:
        event = entry.event
        if event.kind == "redacted":
            self._forget(entry)
        if entry.content is None and entry.salt is None:
            self.destroyed += 1
            self._note_missing(event, place)
            self._apply(entry, None, place)
            return
        content = said_by(entry)
        if isinstance(content, str):
            self._tell(place, content)
            self.is_whole = False
            return
        if event.kind in SPEAKING_KINDS:
            for belief_id in spoken_of(event, content):
                self._spoken.setdefault(belief_id, []).append(place)
        self._apply(entry, content, place)

    def _note_missing(self, event: BeliefEvent, place: _Place) -> None:
        """Remember a content that is gone, which a later event must explain.

        Of two beliefs that contradicted each other, either may have been redacted, and which was
        the other was part of the content.
        """
        if event.kind == "contradicted":
            self._missing_rivals[event.id] = (event.belief_id, place)
        elif event.kind in SPEAKING_KINDS:
            self._missing.setdefault(event.belief_id, []).append(place)
        else:
            self._knows_trust = False
            what = f"its content is missing, which nothing destroys for an event that {event.kind}"
            self._tell(place, what)

    def _forget(self, entry: LoggedBelief) -> None:
        """Take in a redaction: it explains what is missing, and forbids what is still there.

        Older ones do not say in which contradictions their belief was the rival.
        """
        event, content = entry.event, said_by(entry)
        self.redacted.add(event.belief_id)
        self._missing.pop(event.belief_id, None)
        named = None if isinstance(content, str) else content.get("rival_in")
        if isinstance(named, list):
            for name, (about, _) in list(self._missing_rivals.items()):
                if about == event.belief_id or name in named:
                    del self._missing_rivals[name]
        else:
            self._missing_rivals.clear()
        for place in self._spoken.pop(event.belief_id, ()):
            self._tell(place, f"its content is still here, although event {event.seq} redacted it")

    def _apply(self, entry: LoggedBelief, content: dict[str, Any] | None, place: _Place) -> None:
        """Let the fold take the event in, as long as it has taken in all before."""
        if not self.is_whole:
            return
        event = entry.event
        self._check_trust(event, content, place)
        problem = self.fold.apply(entry)
        if problem is not None:
            self._tell(place, f"it {problem}")
        belief = self.fold.beliefs.get(event.belief_id)
        if belief is not None and not self._keeps_contents:
            belief.content = None

    def _check_trust(
        self, event: BeliefEvent, content: dict[str, Any] | None, place: _Place
    ) -> None:
        if content is None or not self._knows_trust or event.version == 1:
            return
        trust = self.fold.trust_of(content.get("agent_id", ""), content.get("topic"))
        if event.kind == "trusted" and content["before"] != trust:
            self._tell(place, f"it says that trust was {content['before']!r}, and it was {trust}")
        elif event.kind == "committed" and content.get("trust") != trust:
            before = content.get("trust")
            self._tell(place, f"it says that trust in its agent was {before!r}, and it was {trust}")

    def _tell(self, place: _Place, what: str) -> None:
        line, seq = place
        self._problems.add(what, line=line, seq=seq)


def leaf_at(leaves: bytearray, index: int) -> bytes:
    """Return the hash of the event at ``index``, from 0."""
    return bytes(leaves[HASH_BYTES * index : HASH_BYTES * (index + 1)])


def roots_at(leaves: bytearray, sizes: set[int]) -> dict[int, str]:
    """Return the roots of the trees over the first ``size`` events, in hexadecimal digits."""
    tree, found = Frontier(), {}
    for index in range(max(sizes, default=0)):
        if index in sizes:
            found[index] = tree.root().hex()
        tree.append(leaf_at(leaves, index))
    found[tree.size] = tree.root().hex()
    return found
