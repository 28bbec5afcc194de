"""Taint: what rests on a record, and setting it aside until somebody confirms or undoes that.

A roll-back empties records as a redaction does, so that everything which leaves out what was
redacted leaves them out as well; what they said is kept apart, under the roll-back, and comes back
from there. Beliefs are reverted instead, by events of their log.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Literal, Protocol, TypeAlias

from pydantic import Field

from .fields import Moment, Record
from .fleet import Scope

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
        is_kept: Its content is kept by an open roll-back.
        is_over: A belief that is active no longer.
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


class RolledBack(Record):
    """One record that a roll-back changes, and how."""

    graph_id: str
    kind: TaintedKind
    id: str
    done: Done
    exposure: Exposure | None = None


class RollBack(Record):
    """One roll-back: what it changed, and whether it can still be undone.

    Attributes:
        record_id: The poisoned record.
        graph_id: Its graph; ``items`` name those of others too.
        exposed: Records that had only been exposed were rolled back as well.
        items: What was changed, in the order of the trace.
        kept: Of an undone one, what did not come back, and why: it was erased, or said again, or
            another belief has its key.
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


class TaintStore(Protocol):
    """What rests on what, and roll-backs. Scopes are those of whole graphs."""

    async def described(self, scope: Scope, ids: Sequence[str]) -> tuple[Resting, ...]:
        """Return the records of the scope's graph among some ids, in no order."""

    async def resting_on(self, scope: Scope, ids: Sequence[str]) -> tuple[Resting, ...]:
        """Return the records of the scope's graph that rest on some of whichever graph.

        At first hand: summaries, episodes, facts, rules, beliefs, documents, passages and cards
        that name one of them, as ``Redactor.redact`` reaches them, and beliefs that were committed
        in one of the turns.

        Raises:
            UsageError: There are more than 500 ids.
        """

    async def set_aside(
        self,
        roll_back: RollBack,
        now: datetime,
        *,
        dry_run: bool = False,
    ) -> RollBack | None:
        """Carry out a roll-back, or what was added to an open one, in one transaction.

        Records lose their content as by a redaction, which is kept apart; beliefs are reverted, and
        what they or facts had taken the place of stands again, which the answer names. One audit
        event ``rolled back`` in each graph. ``None``, writing nothing, while another roll-back of
        the same record is open.

        Args:
            roll_back: With what is to be changed.
            now: When.
            dry_run: Only return what it would come to; nothing is written.

        Raises:
            Conflict: It is open no longer.
        """

    async def undo(self, scope: Scope, roll_back_id: str, reason: str, now: datetime) -> RollBack:
        """Bring everything back as it was, in one transaction; an undone one stays as it is.

        Raises:
            NotFound: The scope's graph has no such roll-back.
            Conflict: It was confirmed.
        """

    async def confirm(
        self, scope: Scope, roll_back_id: str, reason: str, now: datetime
    ) -> RollBack:
        """Destroy what an open roll-back keeps; a confirmed one stays as it is.

        Raises:
            NotFound: The scope's graph has no such roll-back.
            Conflict: It was undone.
        """

    async def roll_backs(self, scope: Scope) -> tuple[RollBack, ...]:
        """Return the latest 1,000 roll-backs of records of the scope's graph, the last first."""
