"""Giving redacted summaries and episodes a new text, made of what is left of their sources."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING

from tiers.drafts import index_work
from tiers.lexical import estimate_tokens
from tiers.paging import parts
from tiers.records import Episode, Scope, Summary, Turn
from tiers.upkeep import Redacted

from .periods import period_of
from .rules import LifecyclePolicy, SummaryOrEpisode, bottom_up
from .writing import Wording, Writer

if TYPE_CHECKING:
    from tiers.cold.stores import Redactor

REWRITES_PER_PAGE = 500
REWRITE_ATTEMPTS_MAX = 5


class Rewriter:
    """Writes anew what a redaction has emptied.

    Args:
        writer: Makes the texts.
        policy: Where days begin.
    """

    def __init__(self, writer: Writer, policy: LifecyclePolicy) -> None:
        self._writer = writer
        self._policy = policy

    async def rewrite(
        self,
        scope: Scope,
        redacted: Redacted,
        redactor: Redactor,
        leave: Collection[str] = (),
        is_barred: Callable[[str], bool] = lambda _: False,
    ) -> tuple[str, ...]:
        """Give records a new text, save those to ``leave``; return the ids of those that got one.

        One whose new text would be barred gets none. From the bottom up, so that an episode is made
        of records that have theirs already. What retention has emptied is no source any more: its
        words may be those that had to go.
        """
        ids = [*redacted.ids.get("summary", ()), *redacted.ids.get("episode", ())]
        wanted = [one for one in ids if one not in leave]
        lost: list[SummaryOrEpisode] = []
        for page in parts(wanted, REWRITES_PER_PAGE):
            found = await redactor.redacted(scope, page)
            lost += [one for one in found if isinstance(one, Summary | Episode)]
        written = [
            record.id
            for record in bottom_up(lost)
            if await self._rewrite(scope, record, redactor, is_barred)
        ]
        return tuple(written)

    async def _rewrite(
        self,
        scope: Scope,
        record: SummaryOrEpisode,
        redactor: Redactor,
        is_barred: Callable[[str], bool],
    ) -> bool:
        for _ in range(REWRITE_ATTEMPTS_MAX):
            wording = await self._wording(scope, record, await redactor.left_of(scope, record))
            if wording is None or is_barred(wording.text):
                return False
            fields: dict[str, object] = wording._asdict()
            if isinstance(record, Summary):
                fields["tokens"] = estimate_tokens(wording.text)
            work = [index_work(record.id, record.agent_id)]
            if await redactor.rewrite(scope, record.model_copy(update=fields), work):
                return True
            # Either somebody wrote it first, or more of its sources was redacted meanwhile.
            found = await redactor.redacted(scope, [record.id])
            still = [one for one in found if isinstance(one, Summary | Episode)]
            if not still:
                return False
            record = still[0]
        return False

    async def _wording(
        self, scope: Scope, record: SummaryOrEpisode, sources: Sequence[Turn | Summary | Episode]
    ) -> Wording | None:
        """Return the text of a record that is made of these; ``None`` when none of them is left."""
        if isinstance(record, Summary):
            turns = [one for one in sources if isinstance(one, Turn)]
            return await self._writer.summary(scope, turns) if turns else None
        members = [one for one in sources if not isinstance(one, Turn)]
        if not members:
            return None
        period = record.period or period_of(record.starts_at, record.grain, self._policy.zone)
        return await self._writer.episode(scope, record.grain, period, members)
