"""Redaction: one transaction, after which nothing that is kept has the words any more.

What was made of the records, and which receipts name them, is looked for before the transaction
and by pages, so that nobody is held up by more than the change itself. The transaction looks
again; what was made meanwhile makes it begin anew.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import datetime
from functools import partial
from typing import Any

from ...errors import TierTimeout, UsageError
from ...history.audit_chain import name_of
from ...records import Episode, Scope, Summary, Turn, WorkDraft
from ...upkeep import Page, RecordRef, Redacted, Retiring
from .. import redaction as rules
from ..conditions import Absent, Present
from ..ownership import check_owned, in_order
from ..port import Find, RecordStore
from ..redaction import PAGE_IDS, RecordKind, Redactable, Written, pages
from ..subject_mentions import (
    NO_SERVICE,
    Search,
    Service,
    Subject,
    made_between,
    plain,
    wanted,
    wanted_receipts,
)
from .erasure import Redaction, blank, looked_through, naming, receipts_that, rewrite, survey
from .erasures import Erasures
from .graphs import silence_roles
from .log import AUDIT, silence_reasons
from .questions import whole
from .redactable_records import bare_of, behind, found_by, own_of
from .store_base import OverEngine


class Redactor(OverEngine):
    """Destroys content on request. Rows, ids, ``seq``, coverage and lengths of chains stay.

    Args:
        store: The engine.
        erasures: Those that have begun.
    """

    def __init__(self, store: RecordStore, erasures: Erasures) -> None:
        super().__init__(store)
        self._erasures = erasures

    async def redact(
        self,
        scope: Scope,
        record_ids: Sequence[str],
        reason: str,
        now: datetime,
        *,
        found: bool = False,
    ) -> Redacted:
        """Destroy the content of records of the scope's graph, and of all that was made of them.

        Records are turns, summaries, episodes, facts, rules, beliefs, documents, passages,
        cards and quarantined texts, of any agent, user and topic. A belief's content and salts are
        destroyed in the log, which gains a ``redacted`` event for each, and what contradicted it no
        longer says why. A document goes with all of its revisions and passages, a passage with its
        document, a task with the actions that tell of its changes.

        What was made of a record: summaries that cover it, episodes that have it as a child, facts,
        beliefs and rules that name it as a source, and so on from these; and receipts that name any
        of them, whose question is blanked. Texts become ``[redacted]``, ``redacted_at`` is set,
        words leave the word index, and an ``index`` work item for each record is queued, by which
        it leaves the warm index. One audit event ``redacted`` names the asked records and the
        reason; for records that were ``found`` by whose they are, instead of being named by
        somebody, another one, ``erased``, follows.

        In one transaction, after which nothing of it is left in logs or in memory. What is redacted
        already is passed over; if all is, nothing is written. What names it as a source is looked
        for again, and not passed over. Nor is what was made of a record that retention has emptied.

        Returns what has no content any more: what lost it now, and what lost it with the asked
        records before and was given no new text since. Receipts are those that were blanked now.

        Raises:
            NotFound: One of the ids is no such record of the graph.
            UsageError: ``reason`` is blank, there are more than ``IDS_MAX`` ids, or more than
                ``REACHED_MAX`` records would be reached.
            TierTimeout: More was made of the records under each attempt; or it is all done, but
                the engine's log could not be emptied, which repeating does.
        """
        asked = rules.checked_request(record_ids, reason)
        for _ in range(rules.ATTEMPTS_MAX):
            known = await self._store.read("redact", lambda: survey(scope, asked))
            # What retention has emptied may stand in a receipt as it was.
            names = frozenset(one.id for one in known.fresh.found if not one.was_asked_away)
            receipts = await self._receipts_naming(scope, names)
            redaction = Redaction(scope, asked, found, reason, now, names, receipts)
            try:
                reached = await self._store.change("redact", redaction.carry_out, is_brief=False)
            except rules.Grown:
                continue
            await self._store.scrub()
            return reached
        raise TierTimeout("cold", "redact", "more was made of the records under each attempt")

    async def rewrite_files(self) -> None:
        """Leave nothing of what was redacted between the rows of the engine's files.

        For the end of an erasure: ``redact`` itself overwrites what it finds where it lies.

        Raises:
            TierError: The files could not be written anew; repeating does so.
        """
        await self._store.scrub(files=True)

    async def begin_erasure(
        self,
        scope: Scope,
        erasure_id: str,
        *,
        subject: str | None = None,
        user_id: str | None = None,
        agent_id: str | None = None,
        shared_by: Service = NO_SERVICE,
        everything: bool = False,
    ) -> None:
        """Let no turn that is open be stored any more with what is to be erased.

        Called before an erasure asks ``holding``, with the same arguments. Whatever was stored
        before this returns is found by it, and ``TurnDesk.keep_turn`` refuses what comes later, by
        the same test. A process that did not begin it refuses every turn that was opened before.

        Args:
            scope: Whose graph; one that is not known has no turns to be stored.
            erasure_id: Names this erasure; of no other one.
            subject: As ``holding`` has it, like the next.
            user_id: As there.
            agent_id: As there.
            shared_by: As there.
            everything: As there.

        Raises:
            UsageError: As ``holding``.
        """
        reaches = wanted(subject, user_id, agent_id, shared_by, everything=everything)
        given = {
            "subject": subject,
            "user": user_id,
            "agent": agent_id,
            "graph": everything or None,
        }
        (whose,) = (name for name, value in given.items() if value is not None)
        beginning = partial(self._erasures.begin, scope, erasure_id, whose, reaches)
        await self._store.change("begin_erasure", beginning)

    async def holding(
        self,
        scope: Scope,
        *,
        subject: str | None = None,
        user_id: str | None = None,
        agent_id: str | None = None,
        shared_by: Service = NO_SERVICE,
        everything: bool = False,
        cursor: str = "",
        limit: int = 1000,
    ) -> Page[RecordRef]:
        """Return records that speak of a subject, belong to a user, or an agent wrote; pages.

        Or, with ``everything``, whatever there is. What no agent wrote has the empty ``agent_id``.
        What one of ``shared_by`` wrote for nobody
        in particular while it worked for the user counts as the user's.

        Of every kind that can be redacted, whoever could see them, that have their content. A
        record speaks of a subject when one of its texts (claim, key, value, speaker, tool, tool
        output, subject and object included) holds it as whole words, whatever the case and the
        white space between its words; NFKC forms are compared. A name is found by its parts as
        well, in any order and the last alone, and a number however it is written
        (``tiers.cold.mentions``).
        So is what retention has emptied, by what it said then, as long as it keeps marks of that:
        what was made of it may say so still, and is reached by redacting it. It has lost its user,
        and is found as what one of ``shared_by`` wrote. A page may hold fewer rows than
        ``limit`` and still name a cursor: it has looked through a bounded number of records.

        Raises:
            UsageError: Not exactly one of the four is given, or a subject or user is blank; a
                limit out of range, or a cursor that no page gave.
        """
        is_wanted = wanted(subject, user_id, agent_id, shared_by, everything=everything)
        search = Search(is_wanted, cursor, limit)
        while (kind := search.kind) is not None:
            page = partial(behind, scope, kind, search.after, search.room)
            found = await self._store.read("holding", page)
            # Many records, or long texts, take longer than the event loop may be held up.
            await asyncio.to_thread(search.take, found.records, found.former)
        return search.page()

    async def blank_receipts(
        self,
        scope: Scope,
        *,
        subject: str | None = None,
        agent_ids: Sequence[str] = (),
        record_ids: Sequence[str] = (),
        shared_by: Service = NO_SERVICE,
        everything: bool = False,
        before: datetime | None = None,
        since: datetime | None = None,
        retiring: Retiring | None = None,
    ) -> tuple[str, ...]:
        """Blank receipts that speak of a subject, agents were given, name records, or are old.

        Of the scope's graph; for what no record of it holds: a question that found nothing, a turn
        that was never replied to, a record of a graph that it inherits from. Returns the ids of
        those that were not blank before. May be repeated.

        Args:
            scope: Whose graph.
            subject: Those that speak of it.
            agent_ids: Those that one of these agents was given.
            record_ids: Those that name one of these records.
            shared_by: Those that one of these agents was given while it worked for the user.
            everything: All of them.
            before: Those that were recorded before this moment.
            since: With ``before``: what was recorded earlier than this is blank already and need
                not be looked at, as far as ids tell when they were made.
            retiring: Why, and when: the audit feed names them as ``retired`` in the same step.

        Raises:
            UsageError: None of them is given, or the subject is blank.
            TierTimeout: It is all done, but the engine's log could not be emptied, which the next
                redaction does.
        """
        is_wanted = wanted_receipts(
            subject, agent_ids, record_ids, before, shared_by, everything=everything
        )
        only_old = subject is None and not (agent_ids or record_ids or shared_by or everything)
        between = made_between(since, before) if only_old else ("", "")
        found = await receipts_that(self._store, "blank_receipts", scope, is_wanted, between)
        for page in pages(found):
            blanking = partial(blank, scope, page, retiring)
            await self._store.change("blank_receipts", blanking, is_brief=False)
        if found:
            await self._store.scrub()
        return found

    async def erase_reasons(self, scope: Scope, subject: str, now: datetime) -> tuple[str, ...]:
        """Destroy the reasons in the audit feed of the scope's graph that name a subject.

        The events stay, and an event of its own names them, so that the feed still verifies.
        Returns how that one names them. May be repeated.

        Raises:
            UsageError: The subject is blank.
        """
        if not plain(subject):
            raise UsageError("subject", subject, "a name that is not blank")
        whom, find = Subject(subject), whole(AUDIT, scope, "seq", order=("seq",), limit=PAGE_IDS)
        found = await looked_through(
            self._store, "erase_reasons", find, lambda event: whom.is_in(event.reason)
        )
        for some in pages(found):
            silencing = partial(silence_reasons, scope, [one.seq for one in some], now)
            await self._store.change("erase_reasons", silencing, is_brief=False)
        if found:
            await self._store.scrub()
        return tuple(map(name_of, found))

    async def erase_roles(
        self, scope: Scope, subject: str | None, reason: str, now: datetime
    ) -> tuple[str, ...]:
        """Take the role, and each prompt, that names a subject from the agents of a graph.

        Without a subject every role and prompt.

        Whole, in one step with the event of the audit feed that names the agents. Returns their
        ids. May be repeated.

        Raises:
            UsageError: The subject is blank.
        """
        if subject is not None and not plain(subject):
            raise UsageError("subject", subject, "a name that is not blank")
        is_named_in = bool if subject is None else Subject(subject).is_in
        erasing = partial(silence_roles, scope, is_named_in, reason, now)
        named = await self._store.change("erase_roles", erasing)
        if named:
            await self._store.scrub()
        return named

    async def rewrite(self, scope: Scope, record: Written, work: Sequence[WorkDraft] = ()) -> bool:
        """Give a redacted summary or episode a new text, made of what is left of its sources.

        ``record`` is as ``redacted`` returned it, with its ``redacted_at`` and the new text.
        ``False``, writing nothing, when it is not there, not redacted, emptied by retention, or
        reached by another redaction since: then the text may be made of what is gone by now.

        Raises:
            UsageError: The text is blank, or the record another graph's.
        """
        check_owned(scope, record)
        rules.check_new_text(record)
        return await self._store.change("rewrite", lambda: rewrite(scope, record, work))

    async def redacted(self, scope: Scope, record_ids: Sequence[str]) -> tuple[Redactable, ...]:
        """Return the redacted records of the scope's graph among ids, whoever could see them.

        Not those that retention has emptied: their content is gone for another reason.
        """
        finds = {
            kind: own_of(scope, kind, record_ids, Present("redacted_at")) for kind in rules.MODELS
        }
        found = bare_of(await self._store.read("redacted", lambda: found_by(finds)))
        return in_order({one.id: one for one in found if not rules.is_retired(one)}, record_ids)

    async def left_of(self, scope: Scope, record: Written) -> tuple[Turn | Summary | Episode, ...]:
        """Return what is not redacted of that which a summary covers or an episode has, in order.

        Whoever could see it.
        """
        kinds, ids = rules.sources_of(record)
        finds: dict[RecordKind, Find[Any]] = {
            kind: own_of(scope, kind, ids, Absent("redacted_at")) for kind in kinds
        }
        found = bare_of(await self._store.read("left_of", lambda: found_by(finds)))
        left = {one.id: one for one in found if isinstance(one, Turn | Summary | Episode)}
        return in_order(left, ids)

    async def _receipts_naming(self, scope: Scope, ids: frozenset[str]) -> tuple[str, ...]:
        """Return the receipts of the graph that name one of the records; reads them all."""
        if not ids:
            return ()
        return await receipts_that(self._store, "redact", scope, naming(ids))
