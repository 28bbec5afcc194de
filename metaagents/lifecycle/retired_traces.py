"""What retention leaves to be cleaned beside the records: receipts, the warm index and its files.

The cold tier empties records in one transaction. What stands elsewhere is cleaned behind it, with
the means that a redaction has; what fails is done by the next pass.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from tiers.errors import ConfigError, TierError
from tiers.ports import WarmStore
from tiers.records import Scope
from tiers.upkeep import Retiring, RewritableFiles

if TYPE_CHECKING:
    from tiers.cold.stores import Redactor, TaintStore

log = logging.getLogger(__name__)

REWRITE_EVERY = timedelta(hours=1)
"""Files of an index are written anew no more often: that takes as long as indexing did."""


class RetiredTraces:
    """Cleans what retired records have left outside their own rows.

    Args:
        redactor: Blanks receipts, which the audit feed names.
        warm: What retired records leave.
        taint: Keeps what was rolled back.
    """

    def __init__(self, *, redactor: Redactor, warm: WarmStore, taint: TaintStore) -> None:
        self._redactor = redactor
        self._taint = taint
        self._warm = warm
        self._blank_until: dict[tuple[str, str], datetime] = {}
        self._rewritten_at: datetime | None = None
        self._is_unclean = False

    async def blank_receipts(
        self, scope: Scope, before: datetime, reason: str, now: datetime
    ) -> tuple[str, ...]:
        """Blank the receipts of a graph that are older than its turns are kept; return which.

        A receipt holds the message of its turn word for word, and a recall's its question.
        """
        owner = (scope.tenant, scope.graph_id)
        since = self._blank_until.get(owner)
        done = await self._redactor.blank_receipts(
            scope, before=before, since=since, retiring=Retiring(reason, now)
        )
        self._blank_until[owner] = before
        return done

    async def confirm_roll_backs(
        self, scope: Scope, before: datetime, reason: str, now: datetime
    ) -> None:
        """Destroy what roll-backs keep that are as old: it would have been retired by now."""
        for one in await self._taint.roll_backs(scope):
            if one.state == "open" and one.made_at < before:
                await self._taint.confirm(scope, one.id, reason, now)

    async def clean_index(self, scope: Scope, ids: Sequence[str], now: datetime) -> None:
        """Take retired records out of the warm index and its files; once more if it failed before.

        Queued work takes them out as well. Files wait until they may be written anew again.
        """
        self._is_unclean = self._is_unclean or bool(ids)
        last = self._rewritten_at
        if not self._is_unclean:
            return
        try:
            await self._warm.delete(scope, ids)
            if not isinstance(self._warm, RewritableFiles):
                self._is_unclean = False
            elif last is None or not last <= now < last + REWRITE_EVERY:
                await self._warm.rewrite_files()
                self._rewritten_at, self._is_unclean = now, False
        except (TierError, ConfigError) as error:
            log.warning("what was retired is in the warm index for now: %s", error)
