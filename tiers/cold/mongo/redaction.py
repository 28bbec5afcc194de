"""Redaction in MongoDB: one transaction on a replica set, steps that can be carried on elsewhere.

What a redaction does is in ``erasure``. Which receipts name the records is looked for before, by
pages, each within the time of a question.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from functools import partial

from ...errors import TierTimeout
from ...records import Episode, Receipt, Scope, Summary, Turn, WorkDraft
from ...upkeep import Page, RecordRef, Redacted
from ..ownership import check_owned, in_order
from ..redaction import (
    ATTEMPTS_MAX,
    MODELS,
    RECEIPTS_PER_PAGE,
    Grown,
    Names,
    RecordKind,
    Redactable,
    Written,
    blanked,
    check_new_text,
    checked_request,
    is_retired,
    sources_of,
)
from ..speaking_of import Search, wanted, wanted_receipts
from .belief_log import Salts, fresh_salt
from .beliefs import bring_up_to_date
from .board import finish_cards
from .conditions import shown_fields
from .database import Database, Session
from .documents import Document, record_of
from .erasure import Redaction, blank, count_gained, rewrite
from .log import audit_key
from .pacing import each
from .reached import COLLECTIONS_OF, records_of
from .schema import Index, by, validator
from .scope import own
from .shelf_changes import formers_of
from .translation import DuplicateKey

COLLECTIONS: Mapping[str, tuple[Sequence[Index], Mapping[str, Document] | None]] = {
    "redactions": (
        [by("id", unique=True), by("asked")],
        validator(("id", "asked", "fresh", "reason", "at")),
    ),
}


class MongoRedactor:
    """A ``Redactor`` in MongoDB.

    Args:
        database: Where the records are.
        salts: Makes the salt of each belief event; must be unpredictable outside tests.
    """

    def __init__(self, database: Database, salts: Salts = fresh_salt) -> None:
        self._database = database
        self._salts = salts

    async def redact(
        self, scope: Scope, record_ids: Sequence[str], reason: str, now: datetime
    ) -> Redacted:
        """Destroy the content of records of the scope's graph, and of all that was made of them.

        One transaction on a replica set; on a standalone server repeating the call carries on.
        Returns what has no content any more: what lost it now, and what lost it with the asked
        records before and was given no new text since. Receipts are those that were blanked now.

        Raises:
            NotFound: One of the ids is no such record of the graph.
            UsageError: ``reason`` is blank, there are more than ``IDS_MAX`` ids, or more than
                ``REACHED_MAX`` records would be reached.
            TierTimeout: More was made of the records under each attempt, or there was no answer.
        """
        asked = checked_request(record_ids, reason)
        redaction = Redaction(scope, asked, reason, now, salts=self._salts)
        for _ in range(ATTEMPTS_MAX):
            await bring_up_to_date(self._database, scope, "redact")
            names = await self._database.read("redact", redaction.survey)
            receipts = await self._receipts_naming(scope, names)
            redaction.looked_for, redaction.receipts = names, receipts
            try:
                return await self._carried_out(redaction)
            except (DuplicateKey, Grown):
                continue
        raise TierTimeout("cold", "redact", "more was made of the records under each attempt")

    async def holding(
        self,
        scope: Scope,
        *,
        subject: str | None = None,
        user_id: str | None = None,
        agent_id: str | None = None,
        cursor: str = "",
        limit: int = 1000,
    ) -> Page[RecordRef]:
        """Return records that speak of a subject, or are a user's or an agent's; pages.

        Of every kind that can be redacted, whoever could see them, that have their content: kind
        by kind, in the order of ids. A page looks at ``LOOKED_THROUGH_MAX`` records at most.

        Raises:
            UsageError: Not exactly one of the three is given, or a subject or user is blank; a
                limit out of range, or a cursor that no page gave.
        """
        search = Search(wanted(subject, user_id, agent_id), cursor, limit)
        await bring_up_to_date(self._database, scope, "holding")
        if not self._database.server.has_transactions:
            await self._database.write(
                "holding",
                lambda session: finish_cards(session, scope),
                alone=audit_key(scope.tenant),
            )
        await self._database.read("holding", lambda session: _look(session, scope, search))
        return search.page()

    async def blank_receipts(
        self,
        scope: Scope,
        *,
        subject: str | None = None,
        agent_ids: Sequence[str] = (),
        record_ids: Sequence[str] = (),
    ) -> tuple[str, ...]:
        """Blank receipts that speak of a subject, that agents were given, or that name records.

        Raises:
            UsageError: None of them is given, or the subject is blank.
        """
        is_wanted = wanted_receipts(subject, agent_ids, record_ids)
        done: list[str] = []
        after = ""
        while True:
            where = own(scope, id={"$gt": after})

            async def question(session: Session, where: Document = where) -> list[Receipt]:
                found = await session.collection("receipts").find(
                    where, sort=[("id", 1)], limit=RECEIPTS_PER_PAGE
                )
                return [record_of(Receipt, one) for one in found]

            page = await self._database.read("blank_receipts", question)
            ids = await asyncio.to_thread(_ids_of, page, is_wanted)
            if ids:
                await self._database.write("blank_receipts", partial(blank, scope=scope, ids=ids))
            done += ids
            if len(page) < RECEIPTS_PER_PAGE:
                return tuple(done)
            after = page[-1].id

    async def rewrite(self, scope: Scope, record: Written, work: Sequence[WorkDraft] = ()) -> bool:
        """Give a redacted summary or episode a new text, made of what is left of its sources.

        ``record`` is as ``redacted`` returned it, with its ``redacted_at`` and the new text.
        ``False``, writing nothing, when it is not there, not redacted, or was reached by another
        redaction since: then the text may be made of what is gone by now.

        Raises:
            UsageError: The text is blank, or the record another graph's.
        """
        check_owned(scope, record)
        check_new_text(record)

        async def change(session: Session) -> Counter[RecordKind] | None:
            return await rewrite(session, scope, record, work)

        async def counted(session: Session, gained: Counter[RecordKind] | None) -> None:
            await count_gained(session, scope, gained or {})

        for _ in range(ATTEMPTS_MAX):
            try:
                gained = await self._database.step("rewrite", change, counted=counted)
            except DuplicateKey:
                continue  # somebody queued the same work at this moment
            return gained is not None
        raise TierTimeout("cold", "rewrite", "others were first again and again")

    async def redacted(self, scope: Scope, record_ids: Sequence[str]) -> tuple[Redactable, ...]:
        """Return the redacted records among ``record_ids``, whoever could see them, in order.

        Not those that retention has emptied.
        """

        async def question(session: Session) -> tuple[Redactable, ...]:
            gone = {"redacted_at": {"$ne": None}}
            found = await each(
                session, (records_of(session, scope, kind, record_ids, **gone) for kind in MODELS)
            )
            records = (one for of_kind in found for one in of_kind if not is_retired(one))
            return in_order({one.id: one for one in records}, record_ids)

        return await self._database.read("redacted", question)

    async def left_of(self, scope: Scope, record: Written) -> tuple[Turn | Summary | Episode, ...]:
        """Return what is not redacted of that which a summary covers or an episode has, in order.

        Whoever could see it.
        """
        kinds, ids = sources_of(record)

        async def question(session: Session) -> tuple[Turn | Summary | Episode, ...]:
            left: dict[str, Turn | Summary | Episode] = {}
            for kind in kinds:
                for one in await records_of(session, scope, kind, ids, redacted_at=None):
                    if isinstance(one, Turn | Summary | Episode):
                        left[one.id] = one
            return in_order(left, ids)

        return await self._database.read("left_of", question)

    async def _carried_out(self, redaction: Redaction) -> Redacted:
        """Carry a redaction out, while nobody else of this process changes what is believed."""
        scope = redaction.scope
        async with self._database.one_at_a_time("beliefs", scope.tenant, scope.graph_id):
            done = await self._database.step(
                "redact",
                redaction.carry_out,
                alone=audit_key(scope.tenant),
                counted=redaction.count,
            )
        return done.reached

    async def _receipts_naming(self, scope: Scope, ids: Collection[str]) -> tuple[str, ...]:
        """Return the receipts of the graph that name one of the records and are not blank.

        Reads them all.
        """
        names, found, after = Names(ids), list[str](), ""
        while ids:
            where = own(scope, id={"$gt": after})

            async def question(session: Session, where: Document = where) -> list[Document]:
                return await session.collection("receipts").find(
                    where, sort=[("id", 1)], limit=RECEIPTS_PER_PAGE
                )

            page = await self._database.read("redact", question)
            naming = [record_of(Receipt, one) for one in page if names.is_in(one["body"])]
            found += [one.id for one in naming if one != blanked(one)]
            if len(page) < RECEIPTS_PER_PAGE:
                break
            after = page[-1]["id"]
        return tuple(found)


async def _look(session: Session, scope: Scope, search: Search) -> None:
    """Let a search look at the records of the scope's graph until its page is complete."""
    while (kind := search.kind) is not None:
        model = MODELS[kind]
        found = await session.collection(COLLECTIONS_OF[kind]).find(
            own(scope, id={"$gt": search.after}),
            sort=[("id", 1)],
            limit=search.room,
            fields=shown_fields(model),
        )
        former = await formers_of(session, scope, found) if kind == "document" else {}
        # Many records, or long texts, take longer than the event loop may be held up.
        await asyncio.to_thread(_take, search, model, found, former)


def _take(
    search: Search,
    model: type[Redactable],
    found: Sequence[Document],
    former: Mapping[str, Sequence[Document]],
) -> None:
    before = {name: [record_of(model, one) for one in rows] for name, rows in former.items()}
    search.take([record_of(model, one) for one in found], before)


def _ids_of(page: Sequence[Receipt], is_wanted: Callable[[Receipt], bool]) -> list[str]:
    return [one.id for one in page if is_wanted(one)]
