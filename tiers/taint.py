"""Taint: what rests on a record, and setting it aside until somebody confirms or undoes that.

A roll-back empties records as a redaction does, so that everything which leaves out what was
redacted leaves them out as well; what they said is kept apart, under the roll-back, and comes back
from there. Beliefs are reverted instead, by events of their log.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from pydantic import Field

from .fields import Moment, Record

SET_ASIDE = "[set aside]"
"""What a record says while a roll-back keeps its content."""

TaintedKind: TypeAlias = Literal[
    "turn",
    "summary",
    "episode",
    "fact",
    "rule",
    "belief",
    "document",
    "passage",
    "card",
    "receipt",
]
Exposure: TypeAlias = Literal["root", "derived", "exposed"]
"""How certain it is that a record is tainted.

=======  ====================================================================================
root     it is what was asked about
derived  it names, as a source, a record that is; or it was believed during a turn that is
exposed  it came of a turn whose context showed a record that is: it may say something of it
=======  ====================================================================================
"""

Done: TypeAlias = Literal["set aside", "reverted", "stands again"]
RollBackState: TypeAlias = Literal["open", "undone", "confirmed"]

ITEMS_MAX = 5_000
"""So many records one roll-back changes."""


class Reason(Record):
    """Why a record counts as tainted: the record that it comes of, and how it does."""

    id: str
    how: str


class Resting(Record):
    """A record as a trace sees it.

    Attributes:
        text: How it begins; what an open roll-back keeps of it, if that is where its content is.
        reasons: The records that it names, and how it does: what it may rest on.
        is_gone: It has no content of its own any more.
        is_kept: Its content, or that it was believed, is kept by an open roll-back.
        is_over: A belief that a roll-back has taken back.
        is_retired: Retention has emptied it; what was made of it before tells of it still.
    """

    graph_id: str
    kind: TaintedKind
    id: str
    agent_id: str = ""
    user_id: str | None = None
    topics: tuple[str, ...] = ()
    private: bool = False
    recorded_at: Moment
    text: str = ""
    reasons: tuple[Reason, ...] = ()
    is_gone: bool = False
    is_kept: bool = False
    is_over: bool = False
    is_retired: bool = False


class RolledBack(Record):
    """One record that a roll-back changes, and how."""

    graph_id: str
    kind: TaintedKind
    id: str
    done: Done
    exposure: Exposure | None = None

    @property
    def named(self) -> tuple[str, str, str]:
        """Which record it is."""
        return self.graph_id, self.kind, self.id


class RollBack(Record):
    """One roll-back: what it changed, and whether it can still be undone.

    Attributes:
        record_id: The poisoned record.
        graph_id: Its graph; ``items`` name those of others too.
        exposed: Records that had only been exposed were rolled back as well.
        items: What was changed, in the order of the trace.
        kept: Of an undone one, what did not come back, and why: it was erased, or said again, or
            another belief has its key, or another roll-back took it as well.
    """

    id: str
    tenant: str
    graph_id: str
    record_id: str
    reason: str
    made_at: Moment
    state: RollBackState = "open"
    ended_at: Moment | None = None
    exposed: bool = False
    items: tuple[RolledBack, ...] = Field(default=(), max_length=ITEMS_MAX)
    kept: tuple[str, ...] = ()

    def ids_in(self, graph_id: str) -> dict[TaintedKind, list[str]]:
        """Return the records of a graph that were set aside, by kind."""
        ids: dict[TaintedKind, list[str]] = {}
        for one in self.items:
            if one.graph_id == graph_id and one.done == "set aside":
                ids.setdefault(one.kind, []).append(one.id)
        return ids

    @property
    def graph_ids(self) -> tuple[str, ...]:
        """The graphs of which records were changed, its own first."""
        return tuple(dict.fromkeys((self.graph_id, *(one.graph_id for one in self.items))))
