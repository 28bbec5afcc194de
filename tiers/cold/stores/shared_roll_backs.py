"""What several roll-backs keep of one record, which came of the poison of each: a part of changes.

It stays set aside until the last of them is undone, and is destroyed with the first that is
confirmed. What is made of many records, a summary or an episode, has been made anew meanwhile:
each roll-back keeps the text of its time, and a text that tells of what another one took away
since is made anew rather than brought back.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, TypeAlias

from ...records import Episode, Scope, Summary
from ...taint import SET_ASIDE, RolledBack
from ..conditions import Absent, Present
from ..port import Steps, delete, every
from ..redaction import is_retired, pages, set_aside_form, sources_of, stand_in_id
from .questions import own
from .redactable_records import ASIDES, KEPT_IN, Aside, AsideKind, kept_of, leave_no_trace, own_of
from .rows import joined_id, put, replace
from .turns import KeptTurn

_Key: TypeAlias = tuple[AsideKind, str]

WRITTEN: tuple[AsideKind, ...] = ("summary", "episode")
_BY_RECORD = frozenset((*KEPT_IN, "former", "believed", "stand-in"))
"""What is kept of a record that was taken back; the rest follows from that."""


def share(scope: Scope, roll_back_id: str, items: Iterable[RolledBack]) -> Steps[None]:
    """Let a roll-back keep what another one has set aside already of its records."""
    ids = [one.id for one in items]
    for page in pages(ids):
        rows = yield from every(kept_of(scope, page))
        turns = [KeptTurn.model_validate_json(row.body) for row in rows if row.kind == "turn"]
        standing_in = {stand_in_id(turn) for turn in turns}
        if standing_in:
            rows += yield from every(kept_of(scope, sorted(standing_in)))
        mine = {_key(row) for row in rows if row.roll_back_id == roll_back_id}
        copies: dict[str, Aside] = {}
        for row in sorted(rows, key=lambda one: one.at):
            if row.kind in _BY_RECORD and _key(row) not in mine:
                copy = _under(row, roll_back_id)
                copies.setdefault(copy.id, copy)
        yield from put(ASIDES, scope, *copies.values())


def left_to_others(
    scope: Scope, rows: Sequence[Aside], now: datetime
) -> Steps[tuple[list[Aside], list[str]]]:
    """Return which of a roll-back's rows it may bring back, and what others keep from coming back.

    For the end of its undoing: texts that tell of what others took since are emptied, for whoever
    makes them anew.
    """
    others = yield from _of_others(scope, rows)
    apart = {row for row in rows if _is_left(row, others.get(_key(row), ()))}
    for row in apart:
        if row.kind in WRITTEN and _key(row) in others:
            yield from _pass_on(scope, row, others[_key(row)], now)
    for kind in WRITTEN:
        ids = [row.record_id for row in apart if row.kind == kind]
        yield from empty_for_new_text(scope, kind, ids, now)
    moved = [row for row in rows if (row not in apart) and _holder(row, rows, apart, others)]
    for row in moved:
        under = _under(row, _holder(row, rows, apart, others))
        known = yield from every(own(ASIDES, scope, [under.id]))
        yield from put(ASIDES, scope, *(() if known else (under,)))
    kept = [row.record_id for row in apart if row.kind not in {*WRITTEN, "former", "stand-in"}]
    return [row for row in rows if row not in apart and row not in moved], kept


def empty_for_new_text(
    scope: Scope, kind: AsideKind, ids: Sequence[str], now: datetime
) -> Steps[None]:
    """Empty texts that lack what has come back, for whoever makes them anew.

    One that can be made of less by now stays as it is: nothing in it was taken.
    """
    for page in pages(ids):
        wanted = own_of(scope, kind, page, Absent("redacted_at"))  # type: ignore[arg-type]
        full = yield from every(wanted)
        more = yield from _made_of_more(scope, full)
        emptied = [set_aside_form(one, now) for one in full if one.id not in more]
        yield from replace(KEPT_IN[kind], scope, *emptied)  # type: ignore[index]
        yield from leave_no_trace(scope, emptied, now)


def destroy_with(scope: Scope, rows: Sequence[Aside], now: datetime) -> Steps[None]:
    """Destroy what other roll-backs keep of the records of one that is confirmed."""
    for some in (yield from _of_others(scope, rows)).values():
        if some[0].kind in WRITTEN:
            yield from replace(ASIDES, scope, *(_emptied(row, now) for row in some))
        else:
            yield from delete(*(own(ASIDES, scope, [row.id]) for row in some))


def _of_others(scope: Scope, rows: Sequence[Aside]) -> Steps[dict[_Key, list[Aside]]]:
    """Return what other roll-backs keep of the records of one, the earliest first."""
    wanted = {_key(row): row.roll_back_id for row in rows if row.kind in _BY_RECORD}
    found: dict[_Key, list[Aside]] = {}
    for page in pages(sorted({record_id for _, record_id in wanted})):
        for row in (yield from every(kept_of(scope, page))):
            if wanted.get(_key(row), row.roll_back_id) != row.roll_back_id:
                found.setdefault(_key(row), []).append(row)
    return {key: sorted(some, key=lambda one: one.at) for key, some in found.items()}


def _is_left(row: Aside, others: Sequence[Aside]) -> bool:
    """Whether a record stays as it is when one of several roll-backs of it is undone.

    A text that was set aside last was made without what others had taken before: it comes back,
    unless it is destroyed.
    """
    if row.kind in WRITTEN:
        return _record(row).text == SET_ASIDE or any(one.at >= row.at for one in others)
    return bool(others)


def _pass_on(scope: Scope, row: Aside, others: Sequence[Aside], now: datetime) -> Steps[None]:
    """Leave the first text of a record to the next roll-back; those after it lack what is back."""
    later = [one for one in others if one.at > row.at]
    first = others[0]
    changed = [
        one.model_copy(update={"body": row.body}) if one is first else _emptied(one, now)
        for one in later
    ]
    yield from replace(ASIDES, scope, *changed)


def _made_of_more(scope: Scope, records: Sequence[Summary | Episode]) -> Steps[set[str]]:
    """Return the texts of which retention has emptied a source: made anew, they would say less."""
    more: set[str] = set()
    for record in records:
        kinds, ids = sources_of(record)
        for kind in kinds:
            for page in pages(ids):
                gone = yield from every(own_of(scope, kind, page, Present("redacted_at")))
                more |= {record.id for one in gone if is_retired(one)}
    return more


def _holder(
    row: Aside, rows: Sequence[Aside], apart: set[Aside], others: dict[_Key, list[Aside]]
) -> str:
    """Return the roll-back that what follows from others' records is left to; else nothing."""
    if row.kind == "revived":
        by = json.loads(row.body)["superseded_by"]
        return next((one.roll_back_id for one in others.get(("fact", by), ())), "")
    if row.kind == "trust":
        believed = [one for one in rows if one.kind == "believed"]
        if believed and all(one in apart for one in believed):
            return others[_key(believed[0])][0].roll_back_id
    return ""


def _emptied(row: Aside, now: datetime) -> Aside:
    return row.model_copy(update={"body": set_aside_form(_record(row), now).model_dump_json()})


def _record(row: Aside) -> Any:  # noqa: ANN401 - of any kind
    return KEPT_IN[row.kind].record.model_validate_json(row.body)  # type: ignore[index]


def _key(row: Aside) -> _Key:
    return row.kind, row.record_id


def _under(row: Aside, roll_back_id: str) -> Aside:
    """Return what is kept as another roll-back keeps it."""
    parts = json.loads(row.id)
    new = {"id": joined_id(roll_back_id, *parts[1:]), "roll_back_id": roll_back_id}
    return row.model_copy(update=new)
