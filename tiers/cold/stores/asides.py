"""What roll-backs keep apart: records as they were, and the roll-backs themselves."""

from __future__ import annotations

from collections.abc import Collection as Ids
from collections.abc import Iterable
from typing import Literal, TypeAlias

from ...records import Moment, Record, Scope
from ...taint import RollBack
from ..conditions import Among, Is
from ..port import Collection, Find, Index, Steps, counts, delete, every
from ..redaction import RecordKind, pages
from .rows import plain

AsideKind: TypeAlias = RecordKind | Literal["former", "revived", "believed", "trust", "stand-in"]
"""What is kept: a record of a kind, or

========  ===================================================================================
former    a former revision of a document
revived   a fact that stands again, as it was
believed  a belief, as it was; its content is not here but in the log
trust     how trust in an agent moved
stand-in  nothing; the record is the summary that stands for a turn which waited for one
========  ===================================================================================
"""


class Aside(Record):
    """One record as it was before a roll-back.

    Attributes:
        record_id: Its id; of a former revision that of its document.
        at: When it was set aside: what has changed it since has done so later.
        body: Its JSON.
    """

    id: str
    tenant: str
    graph_id: str
    roll_back_id: str
    record_id: str
    kind: AsideKind
    at: Moment
    body: str = ""


ASIDES: Collection[Aside] = Collection(
    "set_aside",
    Aside,
    fields=plain("roll_back_id", "record_id", "kind"),
    indexes={"roll_back": Index(("roll_back_id", "id")), "record": Index(("record_id",))},
)

ROLL_BACKS: Collection[RollBack] = Collection(
    "roll_backs",
    RollBack,
    fields={"state": lambda roll_back: roll_back.state},
    indexes={"state": Index(("state", "id"))},
)


def kept_by(scope: Scope, roll_back_id: str) -> Find[Aside]:
    """Ask for what a roll-back keeps of the scope's graph, in the order of ids."""
    where = (Is("roll_back_id", roll_back_id),)
    return Find(ASIDES, scope, "roll_back", where, ("id",), reach="own")


def kept_of(scope: Scope, ids: Iterable[str]) -> Find[Aside]:
    """Ask for what is kept of records of the scope's graph, under whichever roll-back."""
    return Find(ASIDES, scope, "record", (Among("record_id", tuple(ids)),), reach="own")


def drop(scope: Scope, ids: Iterable[str]) -> Steps[int]:
    """Destroy what is kept of records, inside a transaction; return how many rows that were."""
    gone = 0
    for page in pages(ids):
        gone += yield from delete(kept_of(scope, page))
    return gone


def held_apart(scope: Scope, ids: Ids[str]) -> Steps[set[str]]:
    """Return which records have their content, or had it, under a roll-back."""
    found = (yield from counts(kept_of(scope, ids), "record_id")) if ids else {}
    return {str(record_id) for (record_id,) in found}


def forms_of(scope: Scope, ids: Iterable[str]) -> Steps[list[Aside]]:
    """Return what is kept of records of the scope's graph."""
    return (yield from every(kept_of(scope, ids)))
