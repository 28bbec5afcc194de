"""How the beliefs of two moments, or of two graphs, differ. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from tiers.records import Commitment


@dataclass(frozen=True)
class BeliefDiff:
    """How the beliefs of one moment, or of one graph, differ from another's.

    Attributes:
        began: Active in the second, not in the first.
        ended: Active in the first, not in the second.
        changed: Of these, pairs of one key: what stood for it in the first, and in the second.
        kept: How many are active in both.
    """

    began: tuple[Commitment, ...]
    ended: tuple[Commitment, ...]
    changed: tuple[tuple[Commitment, Commitment], ...]
    kept: int

    @property
    def is_empty(self) -> bool:
        """Whether there is no difference."""
        return not (self.began or self.ended)

    def by_topic(self) -> dict[str | None, BeliefDiff]:
        """Return the difference of each topic that has one; ``None`` for beliefs without."""
        return self._split([one.topic for one in (*self.began, *self.ended)], "topic")

    def by_agent(self) -> dict[str, BeliefDiff]:
        """Return the difference in what each agent believes that has one."""
        return self._split([one.agent_id for one in (*self.began, *self.ended)], "agent_id")

    def _split(self, names: Iterable[Any], field: str) -> dict[Any, BeliefDiff]:
        return {
            name: BeliefDiff(
                began=tuple(one for one in self.began if getattr(one, field) == name),
                ended=tuple(one for one in self.ended if getattr(one, field) == name),
                changed=tuple(
                    pair for pair in self.changed if name in {getattr(one, field) for one in pair}
                ),
                kept=0,
            )
            for name in dict.fromkeys(names)
        }


def diff_of(
    before: Sequence[Commitment], after: Sequence[Commitment], *, across: bool = False
) -> BeliefDiff:
    """Return how two sets of active beliefs differ. Pure.

    Args:
        before: The first.
        after: The second.
        across: They are of two graphs of which one may be a branch of the other: a belief is the
            same there as the one it was adopted from.
    """

    def name(one: Commitment) -> str:
        return one.origin_id or one.id if across else one.id

    first, second = {name(one): one for one in before}, {name(one): one for one in after}
    began = tuple(one for known, one in second.items() if known not in first)
    ended = tuple(one for known, one in first.items() if known not in second)
    by_key = {_key(one): one for one in ended if one.key is not None}
    changed = tuple((by_key[_key(one)], one) for one in began if _key(one) in by_key)
    return BeliefDiff(began, ended, changed, kept=len(first) - len(ended))


def _key(belief: Commitment) -> tuple[object, ...]:
    """Return what only one active belief of a graph stands for; never equal without a key."""
    private_to = belief.agent_id if belief.private else ""
    key = belief.key or belief.id
    return key, belief.topic, private_to, belief.user_id
