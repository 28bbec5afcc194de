"""One roll-back, or its undoing, of the records of one graph: a part of a transaction.

What setting a record aside takes from it, and what of that comes back, is said first.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from pydantic import JsonValue

from ...documents import Document
from ...forms import is_current, is_searchable
from ...history.rolling_back import TrustMove, comes_back, roll_back_plan, trust_back, undo_plan
from ...learning import DENIAL_COSTS, may_stand_again
from ...records import Episode, Fact, HistoricBelief, Record, Rule, Scope, Summary
from ...taint import SET_ASIDE, RollBack, RolledBack
from ..conditions import Absent, Among
from ..digests import identity_of
from ..learned_state import stands_again
from ..port import Collection, Steps, delete, every, one, write
from ..redaction import (
    Redactable,
    pages,
    set_aside_form,
    stand_in,
    stand_in_id,
)
from .belief_past import CHAIN_MAX, given_way, rolled_back_among, with_successors
from .belief_projection import BELIEFS, append, key_of, trusts_of
from .beliefs import keys_taken
from .documents import FORMERS, former_ones, silence_formers
from .episodes import SUMMARIES, put_summary
from .questions import own, whole
from .redactable_records import ASIDES, KEPT_IN, Aside, AsideKind, kept_by, leave_no_trace, own_of
from .rows import joined_id, over, put, replace
from .rules import RULES
from .shared_roll_backs import WRITTEN, empty_for_new_text, left_to_others, share
from .statements import FACTS, move_facts, the_same
from .turns import TURNS, KeptTurn
from .words import file_again, unfile
from .work import queue_indexing

_WRITTEN = ("text", "made_by", "lost", "answers", "tokens", "redacted_at")
"""What a summary or an episode is given anew, made of what is left of its sources."""


def restored_form(former: Redactable, current: Redactable, at: datetime) -> Redactable | None:
    """Return a record with what it said before it was set aside; ``None``: it stays as it is.

    What setting aside did not touch stays as it is by now: a turn may have been compressed since.

    Args:
        former: As it was.
        current: As it is.
        at: When it was set aside.
    """
    if getattr(current, "retired_at", None) != getattr(former, "retired_at", None):
        return None
    is_written = isinstance(former, Summary | Episode)
    if not is_written and current.redacted_at != at:
        return None  # it was given another content since
    aside = set_aside_form(former, at)
    names = [name for name, value in aside if value != getattr(former, name)]
    names += [name for name in _WRITTEN if is_written and name in type(former).model_fields]
    return current.model_copy(update={name: getattr(former, name) for name in names})


def revived_form(fact: Fact, successor: Fact | None, now: datetime) -> Fact:
    """Return a superseded fact as it stands again, since what took its place is gone.

    The end of its period goes if it came of the successor, and so does what a denial cost.
    """
    ends = () if successor is None else (successor.valid_from, successor.said_at)
    back = stands_again(fact, now)
    restored: dict[str, object] = {}
    if fact.valid_to is not None and fact.valid_to in ends:
        restored["valid_to"] = None
    if fact.superseded_as == "denial":
        restored["confidence"] = min(1.0, fact.confidence + DENIAL_COSTS)
    return back.model_copy(update=restored)


class Part(NamedTuple):
    """What a roll-back does in one graph.

    Attributes:
        scope: Of the whole graph.
        roll_back: Of which this is a part.
        now: When.
    """

    scope: Scope
    roll_back: RollBack
    now: datetime

    @property
    def because(self) -> Mapping[str, JsonValue]:
        """What belief events say of why they were made."""
        return {"reason": self.roll_back.reason, "roll_back": self.roll_back.id}

    def aside(
        self, kind: AsideKind, record_id: str, body: str, name: str = "", *, under: str = ""
    ) -> Aside:
        """Return what is kept of a record, under its id and, where there are several, a name.

        By this roll-back, or by another one.
        """
        roll_back_id = under or self.roll_back.id
        return Aside(
            id=joined_id(roll_back_id, kind, record_id, name),
            tenant=self.scope.tenant,
            graph_id=self.scope.graph_id,
            roll_back_id=roll_back_id,
            record_id=record_id,
            kind=kind,
            at=self.now,
            body=body,
        )


def set_aside(part: Part, items: Sequence[RolledBack]) -> Steps[list[RolledBack]]:
    """Set records aside and revert beliefs; return what stands again for that."""
    beliefs = [one.id for one in items if one.kind == "belief"]
    back: list[RolledBack] = []
    for kind in KEPT_IN:
        ids = [] if kind == "belief" else [one.id for one in items if one.kind == kind]
        for page in pages(ids):
            found = yield from every(own_of(part.scope, kind, page, Absent("redacted_at")))
            if kind == "fact":
                found = yield from _as_they_gave_way(part.scope, found)
            yield from _empty(part, kind, found)
            if kind == "fact":
                back += yield from _revive(part, found)
    back += yield from _revert(part, beliefs)
    yield from share(part.scope, part.roll_back.id, items)
    return back


def _as_they_gave_way(scope: Scope, facts: Sequence[Fact]) -> Steps[list[Fact]]:
    """Return facts as what they are: one that stands since another is set aside had given way."""
    _, revived = yield from _kept_facts(scope)
    rows = [revived[one.id] for one in facts if one.id in revived]
    former = {row.record_id: Fact.model_validate_json(row.body) for row in rows}
    yield from delete(*(own(ASIDES, scope, [row.id]) for row in rows))
    return [_given_way_as(one, former[one.id]) if one.id in former else one for one in facts]


def _empty(part: Part, kind: Any, found: Sequence[Redactable]) -> Steps[None]:  # noqa: ANN401
    scope = part.scope
    emptied = [set_aside_form(one, part.now) for one in found]
    rows = [part.aside(kind, one.id, one.model_dump_json()) for one in found]
    yield from _keep(scope, rows)
    yield from replace(KEPT_IN[kind], scope, *emptied)
    yield from leave_no_trace(scope, emptied, part.now)
    for record in emptied:
        if isinstance(record, KeptTurn) and 0 not in record.covered_by:
            # Who has read the turn before and compresses it comes too late.
            yield from put_summary(scope, stand_in(record, part.now, SET_ASIDE))
            yield from put(ASIDES, scope, part.aside("stand-in", stand_in_id(record), ""))
        elif isinstance(record, Document):
            formers = yield from every(former_ones(scope, [record.id]))
            kept = [
                part.aside("former", record.id, one.model_dump_json(), str(one.revision))
                for one in formers
            ]
            yield from _keep(scope, kept)
            yield from silence_formers(scope, record)


def _keep(scope: Scope, rows: Sequence[Aside]) -> Steps[None]:
    """Keep what records said; of one that had been set aside before, what it says since.

    Of a text that was made anew, and of a former revision, the first: it is the whole one.
    """
    found = yield from every(own(ASIDES, scope, [row.id for row in rows]))
    known = {row.id: row for row in found}
    kept = [row for row in rows if row.id not in known or row.kind not in {*WRITTEN, "former"}]
    yield from write(*(over(known.get(row.id), ASIDES, scope, row) for row in kept))


def _revive(part: Part, tainted: Sequence[Fact]) -> Steps[list[RolledBack]]:
    """Let facts stand again that gave way to tainted ones, unless they were said anew since.

    Also by way of what other roll-backs keep apart. Not those that gave way as duplicates: they
    say what is to go.
    """
    apart, _ = yield from _kept_facts(part.scope)
    successors = tuple({*apart, *(one.id for one in tainted)})
    found = whole(FACTS, part.scope, "superseded", Among("superseded_by", successors))
    given_way = yield from every(found)
    back = yield from _stand_again(part, [one for one in given_way if one.id not in apart], apart)
    return [_rolled_back(part, "fact", one) for one in back]


def _kept_facts(scope: Scope) -> Steps[tuple[dict[str, Aside], dict[str, Aside]]]:
    """Return which facts of a graph are set aside, and which stand for that, by id."""
    kinds = Among("kind", ("fact", "revived"))
    rows = yield from every(whole(ASIDES, scope, "roll_back", kinds))
    apart = {row.record_id: row for row in rows if row.kind == "fact"}
    return apart, {row.record_id: row for row in rows if row.kind == "revived"}


def _stand_again(part: Part, facts: Sequence[Fact], apart: Mapping[str, Aside]) -> Steps[list[str]]:
    """Let those facts stand that gave way to what is set aside alone; return their ids.

    What each was is kept with what it gave way to: it gives way again when that comes back.
    """
    gone = {one: Fact.model_validate_json(row.body) for one, row in apart.items()}
    states = yield from _states(part.scope, gone.values(), facts)
    chosen = [
        one for one in facts if may_stand_again(one) and comes_back(one.superseded_by, states)
    ]
    taken = yield from _taken_identities(part.scope, chosen)
    back: dict[str, Fact] = {}
    for fact in sorted(chosen, key=lambda each: each.recorded_at, reverse=True):
        after = revived_form(fact, gone.get(fact.superseded_by or ""), part.now)
        if identity_of(after) not in taken:
            taken.add(identity_of(after))
            back[fact.id] = after
    for fact in chosen:
        if fact.id in back and (successor := apart.get(fact.superseded_by or "")) is not None:
            under = successor.roll_back_id
            row = part.aside("revived", fact.id, fact.model_dump_json(), under=under)
            known = yield from one(own(ASIDES, part.scope, [row.id]))  # it may have stood before
            yield from write(over(known, ASIDES, part.scope, row))
    yield from move_facts(part.scope, *back.values())
    yield from queue_indexing(part.scope, back.values(), part.now)
    return list(back)


def _states(
    scope: Scope, gone: Iterable[Fact], facts: Iterable[Fact]
) -> Steps[dict[str, tuple[bool, str | None]]]:
    """Return of what is set aside whether it stood, and what it had given way to.

    Also of what confirmed roll-backs took, as far as these facts lead to it.
    """
    states = {fact.id: (_is_standing(fact), fact.superseded_by) for fact in gone}
    links = {fact.superseded_by for fact in facts} | {link for _, link in states.values()}
    for _ in range(CHAIN_MAX):
        names = sorted(link for link in links if link is not None and link not in states)
        if not names:
            break
        found = yield from every(own(FACTS, scope, names))
        emptied = [fact for fact in found if fact.redacted_at and fact.text == SET_ASIDE]
        away = [fact for fact in emptied if fact.forgotten_at is None]
        states |= {fact.id: (fact.superseded_by is None, fact.superseded_by) for fact in away}
        links = {fact.superseded_by for fact in away}
    return states


def _revert(part: Part, ids: Sequence[str]) -> Steps[list[RolledBack]]:
    if not ids:
        return []
    scope = part.scope
    found = yield from every(own(BELIEFS, scope, ids, Absent("redacted_at")))
    gone = yield from rolled_back_among(scope, found)
    tainted = [one for one in found if one.id not in gone]
    active = [one.id for one in tainted if one.status == "active"]
    replaced = yield from given_way(scope, active, {one.id for one in tainted})
    taken = yield from keys_taken(scope, map(key_of, replaced), active)
    trust_of = yield from trusts_of(scope, [(one.agent_id, one.topic) for one in tainted])
    plan = roll_back_plan(tainted, replaced, taken, key_of, part.because, trust_of)
    believed = [part.aside("believed", one.id, _bare_state(one)) for one in tainted]
    yield from put(ASIDES, scope, *believed)
    for move in plan.trusts:
        yield from _keep_trust(part, move)
    yield from append(scope, plan.events, part.now)
    return [_rolled_back(part, "belief", one.id) for one in plan.back]


def _keep_trust(part: Part, move: TrustMove) -> Steps[None]:
    """Keep how trust moved; of a roll-back that goes on, from before its first move."""
    name = joined_id(move.agent_id, move.topic)
    known = yield from one(own(ASIDES, part.scope, [part.aside("trust", name, "").id]))
    former = None if known is None else TrustMove(*json.loads(known.body))
    row = part.aside("trust", name, json.dumps(move.since(former)))
    yield from write(over(known, ASIDES, part.scope, row))


def _bare_state(belief: HistoricBelief) -> str:
    """Return what a belief was, without what it said: that stays in its row."""
    return json.dumps([belief.status, belief.superseded_by, belief.pinned])


def restore(part: Part) -> Steps[list[str]]:
    """Bring back what a roll-back keeps of a graph; return what does not come back.

    What another roll-back keeps as well stays with that one.
    """
    mine = yield from every(kept_by(part.scope, part.roll_back.id))
    rows, left = yield from left_to_others(part.scope, mine, part.now)
    by_kind: dict[str, list[Aside]] = {}
    for row in rows:
        by_kind.setdefault(row.kind, []).append(row)
    kept = yield from _end_again(part, by_kind.pop("revived", []))
    kept += yield from _believe_again(part, by_kind.pop("believed", []), by_kind.pop("trust", []))
    for row in by_kind.pop("stand-in", []):
        yield from _remove_stand_in(part.scope, row.record_id)
    for kind, some in by_kind.items():
        collection: Collection[Any] = FORMERS if kind == "former" else KEPT_IN[kind]  # type: ignore[index]
        kept += yield from _put_former_forms(part, collection, some)
    yield from delete(kept_by(part.scope, part.roll_back.id))
    there = {row.record_id for row in mine}
    for kind, ids in part.roll_back.ids_in(part.scope.graph_id).items():
        if kind in WRITTEN:  # an erasure has made it anew since, without what is back
            again = [one for one in ids if one not in there]
            yield from empty_for_new_text(part.scope, kind, again, part.now)
    yield from _follow(part, [row.record_id for row in by_kind.get("fact", [])])
    return left + kept


def _put_former_forms(
    part: Part, collection: Collection[Any], rows: Sequence[Aside]
) -> Steps[list[str]]:
    kept: list[str] = []
    former = {row.id: collection.record.model_validate_json(row.body) for row in rows}
    at = {row.id: row.at for row in rows}
    names = {name: collection.key(one) for name, one in former.items()}
    found = yield from every(own(collection, part.scope, names.values()))
    current = {collection.key(one): one for one in found}
    back = []
    for name, record in former.items():
        now = current.get(names[name])
        after = None if now is None else restored_form(record, now, at[name])
        if after is None:
            kept.append(record.id)
        else:
            back.append(after)
    back, again = yield from _not_said_again(part.scope, back)
    yield from replace(collection, part.scope, *back)
    indexed = [one for one in back if is_searchable(one)]
    yield from file_again(part.scope, *indexed)
    yield from queue_indexing(part.scope, indexed, part.now)
    return kept + again


def _not_said_again(
    scope: Scope, records: Sequence[Redactable]
) -> Steps[tuple[list[Redactable], list[str]]]:
    """Return which records may be stored, and those whose statement was stored anew meanwhile."""
    live = [one for one in records if isinstance(one, Rule) or _is_standing(one)]
    taken = yield from _taken_identities(scope, live)
    said = sorted((one.id, identity_of(one)) for one in live)  # type: ignore[arg-type]
    again: list[str] = []
    for record_id, identity in said:  # of several that say the same the first comes back
        again += [record_id] if identity in taken else []
        taken |= {identity} - {None}
    return [one for one in records if one.id not in again], again


def _taken_identities(scope: Scope, records: Sequence[Record]) -> Steps[set[str | None]]:
    """Return which identities of facts and rules others have that stand."""
    said = the_same(*(one for one in records if isinstance(one, Fact)))
    digests = (identity_of(one) for one in records if isinstance(one, Rule))
    rules = Among("identity", tuple(filter(None, digests)))
    found = yield whole(FACTS, scope, "said", *said), whole(RULES, scope, "identity", rules)
    return {identity_of(one) for some in found for one in some}


def _end_again(part: Part, rows: Sequence[Aside]) -> Steps[list[str]]:
    """Let facts that stood again give way as they had; return those that do not stand."""
    former = {row.record_id: Fact.model_validate_json(row.body) for row in rows}
    found = {one.id: one for one in (yield from every(own(FACTS, part.scope, former)))}
    kept = [one for one in former if one not in found or not _is_standing(found[one])]
    back = [_given_way_as(found[one], former[one]) for one in former if one not in kept]
    yield from move_facts(part.scope, *back)
    yield from queue_indexing(part.scope, back, part.now)
    return kept


def _given_way_as(fact: Fact, former: Fact) -> Fact:
    """Return a fact that has given way as a former form of it; else it is as it is by now."""
    fields = ("superseded_by", "superseded_at", "superseded_as", "core_spans", "valid_to")
    former_fields = {name: getattr(former, name) for name in (*fields, "confidence")}
    return fact.model_copy(update=former_fields)


def _follow(part: Part, ids: Sequence[str]) -> Steps[None]:
    """Let facts be what follows from what is set aside still, once some came back."""
    apart, revived = yield from _kept_facts(part.scope)
    gone = (Fact.model_validate_json(row.body) for row in apart.values())
    former = {one: Fact.model_validate_json(row.body) for one, row in revived.items()}
    states = yield from _states(part.scope, gone, former.values())
    ended = [
        revived[one] for one, fact in former.items() if not comes_back(fact.superseded_by, states)
    ]
    yield from _end_again(part, ended)
    yield from delete(*(own(ASIDES, part.scope, [row.id]) for row in ended))
    facts = yield from every(own(FACTS, part.scope, ids, Absent("redacted_at")))
    yield from _stand_again(part, facts, apart)


def _believe_again(
    part: Part, believed: Sequence[Aside], trusts: Sequence[Aside]
) -> Steps[list[str]]:
    if not believed:
        return []
    scope, states = part.scope, {row.record_id: json.loads(row.body) for row in believed}
    items = (one for one in part.roll_back.items if one.graph_id == scope.graph_id)
    # Roll-backs of before kept what stood again for them, too.
    ids = [one.id for one in items if one.done == "reverted" and one.id in states]
    found: list[HistoricBelief] = yield from every(own(BELIEFS, scope, ids, Absent("redacted_at")))
    then = {one: {"status": states[one][0], "pinned": states[one][2]} for one in ids}
    aside = [one.model_copy(update=then[one.id]) for one in found]
    replaced = yield from given_way(scope, ids, set(ids))
    below = [one for one in replaced if one.status == "active"]
    moved = [one.id for one in (*aside, *below)]
    known = yield from with_successors(scope, moved)
    taken = yield from keys_taken(scope, map(key_of, aside), moved)
    events, kept = undo_plan(aside, below, known, taken, key_of, part.because)
    moves = [TrustMove(*json.loads(row.body)) for row in trusts]
    trust_of = yield from trusts_of(scope, [(one.agent_id, one.topic) for one in moves])
    events += trust_back(moves, f"roll-back {part.roll_back.id} undone", trust_of)
    yield from append(scope, events, part.now)
    return kept + [one for one in ids if one not in known]


def _remove_stand_in(scope: Scope, summary_id: str) -> Steps[None]:
    """Let a turn wait for a summary again; one that an episode tells of by now stays."""
    known = yield from one(own(SUMMARIES, scope, [summary_id]))
    if known is None or known.told_in:
        return
    turns: list[KeptTurn] = yield from every(own(TURNS, scope, known.covers))
    for turn in turns:
        left = {level: by for level, by in turn.covered_by.items() if by != summary_id}
        yield from replace(TURNS, scope, turn.model_copy(update={"covered_by": left}))
    yield from unfile(scope, summary_id)
    yield from delete(own(SUMMARIES, scope, [summary_id]))


def _rolled_back(part: Part, kind: Any, record_id: str) -> RolledBack:  # noqa: ANN401
    graph_id = part.scope.graph_id
    return RolledBack(graph_id=graph_id, kind=kind, id=record_id, done="stands again")


def _is_standing(record: Record) -> bool:
    return isinstance(record, Fact) and is_current(record)
