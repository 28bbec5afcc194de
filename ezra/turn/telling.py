"""What a context tells once, of summaries, episodes and turns that were found. Pure.

A month in which little was said tells what its week and its day do, and a day in which one thing
was said is that turn. Each sentence is told once: by the turn itself, which nobody has put
together, else by the best of the summaries and episodes. Those that follow tell the rest. The same
sentence of another day, or of somebody else, is something else.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from zoneinfo import ZoneInfo

from metaagents.lifecycle.material import Note, notes_in, notes_said
from tiers.moments import UTC_ZONE, local
from tiers.records import Hit

from ..ranking.choosing import SHORTER

ANYBODY = ""
"""Who said a sentence of a turn that may be of the message or of the answer to it."""


class Telling:
    """What texts tell together.

    Args:
        zone: Where days begin.
        hits: Summaries, episodes and turns; others tell nothing that can be compared.
    """

    def __init__(self, zone: ZoneInfo = UTC_ZONE, hits: Iterable[Hit] = ()) -> None:
        self._zone = zone
        self._notes: set[Note] = set()
        for hit in hits:
            self.add(hit)

    def add(self, hit: Hit) -> None:
        """Tell a text as well."""
        if hit.kind in SHORTER:
            self._notes.update(self._notes_of(hit))
        elif hit.kind == "turn":
            day = f"{local(hit.occurred_at or hit.recorded_at, self._zone):%Y-%m-%d}"
            speaker = hit.speaker or hit.agent_id
            said, _, rest = hit.text.removeprefix(f"{speaker}: ").partition("\n")
            self._notes |= notes_said(day, speaker, said) | notes_said(day, ANYBODY, rest)

    def known_of(self, hit: Hit) -> tuple[int, ...]:
        """Return the places of those sentences of a summary or an episode that are told already."""
        if hit.kind not in SHORTER:
            return ()
        return tuple(
            place
            for place, (day, who, said) in enumerate(self._notes_of(hit))
            if (day, who, said) in self._notes or (day, ANYBODY, said) in self._notes
        )

    def has(self, hit: Hit) -> bool:
        """Whether every sentence of a summary or an episode is told already."""
        known = self.known_of(hit)
        return bool(known) and len(known) == len(self._notes_of(hit))

    def _notes_of(self, hit: Hit) -> list[Note]:
        return notes_in(hit.text, local(hit.occurred_at or hit.recorded_at, self._zone))


def telling_more(hits: Sequence[Hit], turns: Sequence[Hit], zone: ZoneInfo = UTC_ZONE) -> list[Hit]:
    """Return the summaries and episodes that tell more than turns and better ones do.

    Args:
        hits: Best first.
        turns: Which are told in any case.
        zone: Where days begin.
    """
    telling = Telling(zone, turns)
    kept: list[Hit] = []
    for hit in hits:
        if not telling.has(hit):
            telling.add(hit)
            kept.append(hit)
    return kept
