"""Turns that a search has found, with long outputs of tools as previews.

A search finds a turn by the beginning of what tools returned. What is shown names the rest.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from tiers.previews import has_long_output, may_be_long, shown_text
from tiers.records import Hit, Scope, Turn

from ..recaller import Degradation

if TYPE_CHECKING:
    from tiers.cold.stores import TurnStore


async def with_previews_of(
    turns: TurnStore, scope: Scope, hits: Sequence[Hit], state: Degradation
) -> tuple[Hit, ...]:
    """Return the hits; turns among them that have long outputs show previews of these.

    Only turns whose text is long enough for that are read. While the cold tier is away they are
    shown as they were found: the beginning of each output, without a key.
    """
    long = [one.id for one in hits if one.kind == "turn" and may_be_long(one.text)]
    if not long:
        return tuple(hits)
    found = await state.answer("cold", "previews", turns.turns(scope, long), ())
    texts = dict(_texts(found))
    return tuple(
        hit.model_copy(update={"text": texts[hit.id]}) if hit.id in texts else hit for hit in hits
    )


def _texts(turns: Iterable[Turn]) -> Iterable[tuple[str, str]]:
    for turn in turns:
        if turn.redacted_at is None and has_long_output(turn):
            yield turn.id, shown_text(turn)
