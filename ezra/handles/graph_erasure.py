"""The part of a graph's handle that destroys: what is held of somebody, erasing it, purging.

For those who answer for the data: it reaches the records of every agent and every user.
"""

from __future__ import annotations

from typing import Annotated, TypeAlias

from pydantic import Field

from tiers.fields import Word
from tiers.records import Scope, Text

from ..checks import checked_ids
from ..erasure.holdings import PAGE_MAX, Holding, holding_of
from ..erasure.redaction import RedactionReport, erase, purge, redact
from ..erasure.subjects import Whose
from ..operations import Ids, Reason, operation
from ..runtime import Runtime

_Page: TypeAlias = Annotated[int, Field(ge=1, le=PAGE_MAX)]


class ErasureOfGraph:
    """What a graph holds of somebody, and destroying it."""

    _runtime: Runtime
    _scope: Scope

    @operation("POST", "/holdings")
    async def holding(
        self,
        *,
        subject: Text | None = None,
        user_id: Word | None = None,
        agent_id: Word | None = None,
        cursor: str = "",
        limit: _Page = 100,
    ) -> Holding:
        """Return what is held of a subject, a user or an agent, page by page; changes nothing.

        These are the records that ``erase`` would redact, and the agents whose role or prompts
        name the subject; with the records goes what was made of them, and every receipt that
        shows one. Whoever could see them, private ones included.

        Args:
            subject: A name: records in whose texts it stands, or a part of it that is as telling.
            user_id: A person: records that are theirs.
            agent_id: An agent: records that it wrote.
            cursor: That of the page before; blank begins.
            limit: 1 to 500 records.

        Raises:
            UsageError: Not exactly one of the three is given, or something is blank or out of
                range.
        """
        whose = Whose(subject, user_id, agent_id)
        return await holding_of(self._runtime, self._scope, whose, cursor=cursor, limit=limit)

    @operation("POST", "/erasures", changes=True, repeats=False)
    async def erase(
        self,
        *,
        subject: Text | None = None,
        user_id: Word | None = None,
        agent_id: Word | None = None,
        reason: Reason,
    ) -> RedactionReport:
        """Redact every record that speaks of a subject, or is a user's or an agent's, with proof.

        Turns, tool outputs, summaries, episodes, facts, rules and beliefs, and all that was made
        of them, in every store; branches of the graph included where beliefs were copied, and
        graphs that inherit from it where something names a record as its source. With a subject
        also the role, and each prompt, of an agent that names it. The report says what was
        cleaned where; its receipt is signed where there is a key. One that was cut off is finished
        by calling it again, with whatever reason. Rows keep their ids, moments, topics, agent and
        user.

        Args:
            subject: A name: records in whose texts it stands as whole words.
            user_id: A person: records that are theirs.
            agent_id: An agent: records that it wrote, or that were made of what it said.
            reason: Why, without the subject's name; must not be blank.

        Raises:
            UsageError: Not exactly one of the three is given, something is blank, or the reason
                names the subject.
        """
        whose = Whose(subject, user_id, agent_id)
        return await erase(self._runtime, self._scope, whose, reason)

    @operation("POST", "/purges", changes=True, repeats=False)
    async def purge(self, *, reason: Reason) -> RedactionReport:
        """Redact everything that the graph holds, in every store, with proof; as ``erase``.

        What it believes, as a branch, from another graph goes as well, and so do the roles and
        prompts of its agents, which keep their ids, users and topics.

        Rows, ids and the chain of beliefs stay, so that others' links to them still hold. The graph
        is there as before and can be used on, so no other graph can have its id.
        """
        return await purge(self._runtime, self._scope, reason)

    @operation("POST", "/redactions", changes=True, repeats=False)
    async def redact(self, record_ids: Ids, *, reason: Reason) -> RedactionReport:
        """Destroy the content of records for good, and of all that was made of them.

        Rows, ids and coverage stay, and the audit feed says who, when and why. Summaries and
        episodes that lost their text get a new one from what is left. May be repeated.

        Args:
            record_ids: Turns, summaries, episodes, facts, rules, beliefs, documents, passages or
                cards of the board, of this graph.
            reason: Why; must not be blank.

        Raises:
            NotFound: One of the ids is no such record of this graph.
            UsageError: The reason is blank.
        """
        ids = checked_ids("record_ids", record_ids)
        return await redact(self._runtime, self._scope, ids, reason)
