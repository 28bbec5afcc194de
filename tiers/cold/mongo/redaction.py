"""Redaction in MongoDB: one transaction on a replica set, steps that can be carried on elsewhere.

What a redaction does is in ``erasure``. Which receipts name the records is looked for before, by
pages, each within the time of a question.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from ...errors import TierTimeout
from ...records import Episode, Kind, Scope, Summary, Turn, WorkDraft
from ...upkeep import Redacted
from ..ownership import check_owned, in_order
from ..redaction import (
    ATTEMPTS_MAX,
    MODELS,
    RECEIPTS_PER_PAGE,
    Grown,
    Names,
    Redactable,
    Written,
    check_new_text,
    checked_request,
    sources_of,
)
from .database import Database, Session
from .documents import Document
from .erasure import Redaction, count_gained, each, records_of, rewrite
from .log import audit_key
from .schema import Index, by, validator
from .scope import own
from .translation import DuplicateKey

COLLECTIONS: Mapping[str, tuple[Sequence[Index], Mapping[str, Document] | None]] = {
    "redactions": (
        [by("id", unique=True), by("asked")],
        validator(("id", "asked", "fresh", "reason", "at")),
    ),
}


class MongoRedactor:
    """A ``Redactor`` in MongoDB."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def redact(
        self, scope: Scope, record_ids: Sequence[str], reason: str, now: datetime
    ) -> Redacted:
        """Destroy the content of records of the scope's graph, and of all that was made of them.

        One transaction on a replica set; on a standalone server repeating the call carries on.
        Returns what has no content any more: what lost it now, and what lost it with the asked
        records before and was given no new text since. Receipts are those that were blanked now.

        Raises:
            NotFound: One of the ids is no such record of the graph.
            UsageError: ``reason`` is blank, an id is a belief's, there are more than ``IDS_MAX``
                ids, or more than ``REACHED_MAX`` records would be reached.
            TierTimeout: More was made of the records under each attempt, or there was no answer.
        """
        asked = checked_request(record_ids, reason)
        redaction = Redaction(scope, asked, reason, now)
        for _ in range(ATTEMPTS_MAX):
            names = await self._database.read("redact", redaction.survey)
            receipts = await self._receipts_naming(scope, names)
            redaction.looked_for, redaction.receipts = names, receipts
            try:
                done = await self._database.step(
                    "redact",
                    redaction.carry_out,
                    alone=audit_key(scope.tenant),
                    counted=redaction.count,
                )
            except (DuplicateKey, Grown):
                continue
            return done.reached
        raise TierTimeout("cold", "redact", "more was made of the records under each attempt")

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

        async def change(session: Session) -> Counter[Kind] | None:
            return await rewrite(session, scope, record, work)

        async def counted(session: Session, gained: Counter[Kind] | None) -> None:
            await count_gained(session, scope, gained or {})

        for _ in range(ATTEMPTS_MAX):
            try:
                gained = await self._database.step("rewrite", change, counted=counted)
            except DuplicateKey:
                continue  # somebody queued the same work at this moment
            return gained is not None
        raise TierTimeout("cold", "rewrite", "others were first again and again")

    async def redacted(self, scope: Scope, record_ids: Sequence[str]) -> tuple[Redactable, ...]:
        """Return the redacted records among ``record_ids``, whoever could see them, in order."""

        async def question(session: Session) -> tuple[Redactable, ...]:
            gone = {"redacted_at": {"$ne": None}}
            found = await each(
                session, (records_of(session, scope, kind, record_ids, **gone) for kind in MODELS)
            )
            return in_order({one.id: one for of_kind in found for one in of_kind}, record_ids)

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

    async def _receipts_naming(self, scope: Scope, ids: Collection[str]) -> tuple[str, ...]:
        """Return the receipts of the graph that name one of the records; reads them all."""
        names, found, after = Names(ids), list[str](), ""
        while ids:
            where = own(scope, id={"$gt": after})

            async def question(session: Session, where: Document = where) -> list[Document]:
                return await session.collection("receipts").find(
                    where, sort=[("id", 1)], limit=RECEIPTS_PER_PAGE, fields=["id", "body"]
                )

            page = await self._database.read("redact", question)
            found += [one["id"] for one in page if names.is_in(one["body"])]
            if len(page) < RECEIPTS_PER_PAGE:
                break
            after = page[-1]["id"]
        return tuple(found)
