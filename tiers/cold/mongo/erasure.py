"""One redaction as a step of the database.

On a replica set it is one transaction. A standalone server has none: there a redaction writes down
first what it is about to do, in ``redactions``, and takes it away when everything is done. One
that was cut off is carried on by the next that names one of its records; every part of it may be
repeated, and its audit event is known by it.

The asked records lose their content first, and what was made of them is looked for after: whatever
is made of them meanwhile is either found, or refused for the summary that each turn has by then.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial, singledispatch
from typing import NamedTuple, TypeVar

from bson import ObjectId

from ...board import Card
from ...documents import Document as Shelved
from ...documents import Passage
from ...errors import TierTimeout
from ...forms import is_searchable
from ...moments import microseconds, moment
from ...records import (
    Commitment,
    Fact,
    Owned,
    Receipt,
    Rule,
    Scope,
    Summary,
    Turn,
    WorkDraft,
)
from ...upkeep import Redacted
from ..redaction import (
    ATTEMPTS_MAX,
    AUDIT_KIND,
    MODELS,
    Grown,
    Reach,
    RecordKind,
    Redactable,
    Survey,
    Trace,
    Written,
    blanked,
    known_of,
    leaves_index,
    pages,
    redacted_form,
    stand_in,
    stand_in_id,
)
from .belief_log import Salts, caught_up, fresh_salt
from .belief_projection import belief_document
from .belief_redaction import forget, silence
from .board import card_document, finish_cards
from .coverage import mark_covered, summary_document
from .database import Session
from .documents import Document, document_of, record_of
from .log import append_event
from .outbox import send, with_outbox
from .pacing import each, worked_out
from .procedural import rule_document
from .reached import COLLECTIONS_OF, made_of, records_of, traces
from .scope import own
from .semantic import fact_document
from .shelf_changes import finish as finish_shelving
from .shelf_changes import passage_document, silence_formers
from .terms import searchable_fields
from .translation import DuplicateKey
from .word_counts import count_words
from .work_items import queue_work

T = TypeVar("T")

_VECTOR = dict.fromkeys(("embedding", "embedding_model"), "")


class _Begun(NamedTuple):
    """How far the asked records are.

    Attributes:
        fresh: Those that have their content or lost it to retention, and those of redactions that
            were cut off.
        before: Those that have lost it on request.
        left: Redactions of some of them that were cut off.
        stand_ins: Ids of summaries that only stand for turns among all of these.
    """

    fresh: list[Trace]
    before: list[Trace]
    left: list[Document]
    stand_ins: list[str]


class Done(NamedTuple):
    """What was done, and what the statistics of words have to know of it.

    Attributes:
        reached: What has no content any more.
        gained: By how many words records have grown, by kind; mostly below 0.
        new: Summaries that were not there before.
    """

    reached: Redacted
    gained: Counter[RecordKind]
    new: tuple[Summary, ...] = ()


@dataclass
class Redaction:
    """One redaction, to be carried out inside a step, which may run several times.

    Attributes:
        scope: Whose graph.
        asked: The records that somebody named.
        reason: Why.
        now: When.
        name: Tells it from any other.
        looked_for: The records whose receipts were looked for.
        receipts: Those receipts.
        salts: Makes the salts of belief events.
    """

    scope: Scope
    asked: Sequence[str]
    reason: str
    now: datetime
    name: str = field(default_factory=lambda: str(ObjectId()))
    looked_for: frozenset[str] = frozenset()
    receipts: Sequence[str] = ()
    salts: Salts = fresh_salt

    async def survey(self, session: Session) -> frozenset[str]:
        """Return the ids of all that has to go.

        Raises:
            NotFound: One of the asked is no record of the graph.
            UsageError: Too much would be reached.
        """
        begun = await self._begun(session)
        return _to_go(begun, await self._reached(session, begun))

    async def carry_out(self, session: Session) -> Done:
        """Do all of it and return what has no content any more.

        Raises:
            Grown: More has to go than was looked for.
            DuplicateKey: Somebody else changed the log of beliefs, or the feed, at this moment.
        """
        await caught_up(session, self.scope)
        await finish_shelving(session, self.scope)
        await finish_cards(session, self.scope)
        begun = await self._begun(session)
        if all(trace.is_redacted for trace in begun.fresh) and not begun.left:
            # Of what retention has emptied something may be left that was made of it.
            survey = await self._reached(session, begun)
            if not self.receipts and all(trace.is_redacted for trace in survey.fresh.found):
                return Done(survey.reached(), Counter())
        told = [*begun.left, *await self._announced(session, begun)]
        gained = await self._destroy(session, begun.fresh)
        new = await self._stand_in(session, begun.fresh)
        survey = await self._reached(session, begun)
        names = _to_go(begun, survey)
        if not names <= self.looked_for:
            raise Grown
        roots = {(trace.kind, trace.id) for trace in begun.fresh}
        made = [one for one in survey.fresh.found if (one.kind, one.id) not in roots]
        gained.update(await self._destroy(session, made))
        await self._mark_again(session, begun, survey.fresh.found)
        await blank(session, self.scope, self.receipts)
        emptied = {trace.id for trace in survey.fresh.found if trace.is_retired}
        await self._queue(session, names - emptied)
        await self._tell(session, told)
        return Done(survey.reached(self.receipts), gained, new)

    async def count(self, session: Session, done: Done) -> None:
        """Bring the statistics of words up to date."""
        await count_gained(session, self.scope, done.gained)
        await count_words(session, *done.new)

    async def _begun(self, session: Session) -> _Begun:
        among: Document = {"$in": list(self.asked)}
        found = await each(
            session, (traces(session, self.scope, kind, id=among) for kind in MODELS)
        )
        known = known_of(self.asked, (trace for of_kind in found for trace in of_kind))
        left = await session.collection("redactions").find(own(self.scope, asked=among))
        roots = {trace.id: trace for trace in known if not trace.was_asked_away}
        for one in left:
            roots |= {name: Trace(kind, name, is_redacted=True) for kind, name in one["fresh"]}
        before = [trace for trace in known if trace.id not in roots]
        turn_ids = [trace.id for trace in (*known, *roots.values()) if trace.kind == "turn"]
        turns = await records_of(session, self.scope, "turn", turn_ids)
        stand_ins = [stand_in_id(turn) for turn in turns if isinstance(turn, Turn)]
        return _Begun(list(roots.values()), before, left, stand_ins)

    async def _reached(self, session: Session, begun: _Begun) -> Survey:
        survey = Survey(
            Reach(begun.fresh, begun.stand_ins),
            Reach(begun.before, begun.stand_ins, only_redacted=True),
        )
        for reach in survey:
            while page := reach.page():
                made = await each(session, made_of(session, self.scope, page))
                reach.add(trace for of_kind in made for trace in of_kind)
        return survey

    async def _announced(self, session: Session, begun: _Begun) -> list[Document]:
        """Return what is about to be done, written down where a crash could come in between."""
        known = {name for one in begun.left for _, name in one["fresh"]}
        fresh = [[trace.kind, trace.id] for trace in begun.fresh if trace.id not in known]
        if not fresh:
            return []
        told = own(
            self.scope,
            id=self.name,
            asked=list(self.asked),
            fresh=fresh,
            reason=self.reason,
            agent_id=self.scope.agent_id,
            at=microseconds(self.now),
        )
        if not session.is_atomic:
            await session.collection("redactions").insert([dict(told)])
        return [told]

    async def _destroy(self, session: Session, traces: Iterable[Trace]) -> Counter[RecordKind]:
        """Destroy the content of those that have it; return how many words they gained, by kind."""
        by_kind: dict[RecordKind, list[str]] = {}
        for trace in traces:
            by_kind.setdefault(trace.kind, []).append(trace.id)
        beliefs = by_kind.get("belief", [])
        await silence(session, self.scope, beliefs, self.reason, self.now, self.salts)
        await forget(session, self.scope, beliefs)
        gained = await empty(
            session, self.scope, by_kind, lambda record: redacted_form(record, self.now)
        )
        # Behind the documents: a revision that is stored meanwhile finds them changed.
        for document in await records_of(
            session, self.scope, "document", by_kind.get("document", [])
        ):
            if isinstance(document, Shelved):
                await silence_formers(session, self.scope, document)
        return gained

    async def _stand_in(self, session: Session, roots: Iterable[Trace]) -> tuple[Summary, ...]:
        """Let each turn that waits for a summary have one; return those that are new."""
        summaries = session.collection("summaries")
        new: list[Summary] = []
        gone = (trace.id for trace in roots if trace.kind == "turn" and not trace.is_retired)
        for page in pages(gone):
            covering = await summaries.find(
                own(self.scope, covers={"$in": page}, level=0), fields=["covers"]
            )
            covered = {turn_id for one in covering for turn_id in one["covers"]}
            for turn in await records_of(session, self.scope, "turn", page):
                if not isinstance(turn, Turn) or turn.id in covered:
                    continue
                summary = stand_in(turn, self.now)
                try:
                    await summaries.insert([summary_document(summary)])
                except DuplicateKey:
                    if session.is_atomic:
                        raise
                    continue  # somebody covered it meanwhile: that summary is found after this
                new.append(summary)
            await mark_covered(session, self.scope, page)
        return tuple(new)

    async def _mark_again(self, session: Session, begun: _Begun, traces: Iterable[Trace]) -> None:
        """Move the moment at which records lost their content: who rewrites them comes too late."""
        roots = {trace.id for trace in begun.fresh}
        again = [one for one in traces if one.was_asked_away and one.id not in roots]
        kinds: tuple[RecordKind, ...] = ("summary", "episode")
        for kind in kinds:
            rows = session.collection(COLLECTIONS_OF[kind])
            for page in pages(trace.id for trace in again if trace.kind == kind):
                where = own(self.scope, id={"$in": page}, redacted_at={"$ne": None})
                await rows.update(where, {"$inc": {"redacted_at": 1}}, many=True)

    async def _queue(self, session: Session, names: Collection[str]) -> None:
        """Queue the work by which records leave the warm index."""
        await leave_index(session, self.scope, MODELS, names, self.now)

    async def _tell(self, session: Session, told: Sequence[Document]) -> None:
        """Append the audit event of each redaction that is done by now."""
        for one in told:
            asker = self.scope.for_graph().model_copy(update={"agent_id": one["agent_id"]})
            cause = f"{AUDIT_KIND}/{one['id']}"
            at = moment(one["at"])
            await append_event(session, asker, AUDIT_KIND, one["asked"], one["reason"], at, cause)
            if "_id" in one or not session.is_atomic:
                done = own(self.scope, id=one["id"])
                await session.collection("redactions").delete(done, many=False)


async def empty(
    session: Session,
    scope: Scope,
    ids: Mapping[RecordKind, Sequence[str]],
    form: Callable[[Redactable], Redactable],
) -> Counter[RecordKind]:
    """Bring records that have their content into a form without it.

    Args:
        session: The step.
        scope: Whose graph.
        ids: Of the records, by kind.
        form: Makes the form.

    Returns:
        How many words the records gained, by kind.

    Raises:
        TierTimeout: Others changed them again and again.
    """
    gained: Counter[RecordKind] = Counter()
    for kind, names in ids.items():
        rows = session.collection(COLLECTIONS_OF[kind])
        for page in pages(names):
            for _ in range(ATTEMPTS_MAX):
                found = await rows.find(own(scope, id={"$in": page}, redacted_at=None))
                changes = await worked_out(len(found), partial(_changes, scope, kind, found, form))
                # Who comes in between either empties some as well, or gives them other content.
                if await rows.update_each(changes) == len(changes):
                    more = zip(found, changes, strict=True)
                    gained[kind] += sum(words_gained(one, change) for one, (_, change) in more)
                    break
            else:
                raise TierTimeout("cold", f"empty {kind}", "others changed them again and again")
    return gained


def _changes(
    scope: Scope,
    kind: RecordKind,
    found: Sequence[Document],
    form: Callable[[Redactable], Redactable],
) -> list[tuple[Document, Document]]:
    """Return the updates that empty records, each while it is as it was read."""
    changes: list[tuple[Document, Document]] = []
    for one in found:
        before: Redactable = record_of(MODELS[kind], one)
        where = own(scope, id=before.id, redacted_at=None, moves=one.get("moves"))
        changes.append((where, difference(before, form(before))))
    return changes


async def leave_index(
    session: Session,
    scope: Scope,
    kinds: Iterable[RecordKind],
    ids: Iterable[str],
    now: datetime,
) -> None:
    """Queue the work by which records of some kinds leave the warm index.

    What went wrong with their work before is forgotten: it may quote them.
    """
    for page in pages(sorted(ids)):
        found = await each(session, (records_of(session, scope, kind, page) for kind in kinds))
        records = (record for of_kind in found for record in of_kind)
        work = [leaves_index(one) for one in records if is_searchable(one)]
        await session.collection("work").update(
            own(scope, key={"$in": page}, problem={"$ne": None}),
            {"$set": {"problem": None}},
            many=True,
        )
        await queue_work(session, scope, work, now)


async def blank(session: Session, scope: Scope, ids: Sequence[str]) -> None:
    """Blank receipts of the scope's graph, by their ids."""
    receipts = session.collection("receipts")
    for page in pages(ids):
        for found in await receipts.find(own(scope, id={"$in": page})):
            after = document_of(blanked(record_of(Receipt, found)))
            said = {name: after[name] for name in ("query", "body")}
            await receipts.update(own(scope, id=after["id"]), {"$set": said})


async def rewrite(
    session: Session, scope: Scope, record: Written, work: Sequence[WorkDraft]
) -> Counter[RecordKind] | None:
    """Give a redacted record its new text inside a step; ``None`` when it is not as it was read.

    Returns how many words it gained.
    """
    then = record.redacted_at
    if then is None:
        return None
    kind: RecordKind = "summary" if isinstance(record, Summary) else "episode"
    collection = COLLECTIONS_OF[kind]
    where = own(scope, id=record.id, redacted_at=microseconds(then), retired_at=None)
    found = await session.collection(collection).first(where)
    if found is None:
        return None
    before = record_of(type(record), found)
    told: dict[str, object] = {
        "text": record.text,
        "made_by": record.made_by,
        "lost": record.lost,
        "redacted_at": None,
    }
    if isinstance(record, Summary):
        told["tokens"] = record.tokens
    update = difference(before, before.model_copy(update=told))
    update["$set"] |= with_outbox(session, {}, work, then)
    if not await session.collection(collection).update(where, update):
        return None
    await send(session, scope, collection, record.id, work, then)
    return Counter({kind: words_gained(found, update)})


def _to_go(begun: _Begun, survey: Survey) -> frozenset[str]:
    """Return the ids of all that has to go, or has gone when its redaction was cut off."""
    roots = {trace.id for trace in begun.fresh}
    return frozenset(
        trace.id
        for trace in survey.fresh.found
        if begun.left or not trace.was_asked_away or trace.id in roots
    )


async def count_gained(session: Session, scope: Scope, gained: Mapping[RecordKind, int]) -> None:
    """Change the sums of words by as much as records have grown or shrunk."""
    totals = session.collection("word_totals")
    for kind, more in gained.items():
        if more:
            found_as = "document" if kind == "passage" else kind
            await totals.update(own(scope, kind=found_as), {"$inc": {"length": more}})


def words_gained(found: Document, change: Mapping[str, Document]) -> int:
    """Return by how many words a stored record grows with a change."""
    before = found.get("length", 0)  # a document has none: it is found by its passages
    return int(change["$set"].get("length", before) - before)


def difference(before: Redactable, after: Redactable) -> dict[str, Document]:
    """Return the update that turns one stored form of a record into another."""
    old, new = _document(before), _document(after)
    changed = {name: value for name, value in new.items() if name not in old or old[name] != value}
    gone = dict.fromkeys(old.keys() - new.keys(), "")
    if isinstance(after, Fact):
        gone |= _VECTOR
    return {"$set": changed} | ({"$unset": gone} if gone else {})


@singledispatch
def _document(record: Owned) -> Document:
    """Return a record in the form in which its own store would have stored it."""
    return document_of(record, **searchable_fields(record))


_document.register(Commitment, belief_document)
_document.register(Fact, fact_document)
_document.register(Rule, rule_document)
_document.register(Passage, passage_document)
_document.register(Shelved, document_of)
_document.register(Card, card_document)
