"""Finding what a claim without a key may contradict, by the words of active beliefs."""

from __future__ import annotations

from collections.abc import Sequence

from ...history.wording import LOOKED_THROUGH_MAX, NEWEST_MAX, claim_words
from ...records import Commitment, HistoricBelief, Scope
from ..conditions import Holds, Within
from ..ownership import check_limit
from ..port import Find, Steps, asked, every
from .belief_projection import BELIEFS, audited, commitment_of, filed_word
from .over_engine import OverEngine


class RivalSearch(OverEngine):
    """Finding what a claim without a key may contradict."""

    async def worded_like(
        self, scope: Scope, belief: Commitment, limit: int
    ) -> tuple[Commitment, ...]:
        """Return active beliefs that are filed like one and share words with its claim.

        Filed alike: of the same topic, privacy and user, and of the same topics when it names no
        topic. Those that share the most words come first, then the newest; ``belief`` itself is
        among them if it is active. The words are those of ``tiers.history.wording``.

        The cost is bounded, however many there are: for each word of the claim, at most 24, only
        the newest 64 that the scope sees are looked at, and these are among the newest 1,000. An
        older belief whose every word has been said that often since is not found.
        """
        check_limit(limit)
        words = claim_words(belief.claim)
        filed = [filed_word(belief, word) for word in words]
        found = await self._store.read("worded_like", lambda: _newest(scope, filed))

        def place(one: HistoricBelief) -> tuple[int, int]:
            return len(set(words) & set(claim_words(one.claim))), one.committed_seq

        unique = {one.id: one for one in found}
        best = sorted(unique.values(), key=place, reverse=True)
        return tuple(map(commitment_of, best[:limit]))


def _newest(scope: Scope, filed: Sequence[str]) -> Steps[list[HistoricBelief]]:
    """Return of each word the newest that the scope sees, as far as they are looked through."""
    order = ("-committed_seq",)
    words = [Holds("words", (word,)) for word in filed]
    if not words:
        return []
    ends = yield from asked(
        *(
            Find(
                *(BELIEFS, scope, "words", (word,), order, 1),
                skip=LOOKED_THROUGH_MAX - 1,
                reach="own",
            )
            for word in words
        )
    )
    floors = (Within("committed_seq", since=end[0].committed_seq if end else 0) for end in ends)
    return (
        yield from every(
            *(
                Find(
                    *(BELIEFS, scope, "words", (word, floor), order, NEWEST_MAX),
                    reach=audited(scope),
                )
                for word, floor in zip(words, floors, strict=True)
            )
        )
    )
