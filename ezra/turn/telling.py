"""What a context tells once, of summaries, episodes and turns that were found. Pure.

A month in which little was said tells what its week and its day do, and a day in which one thing
was said is that turn. Each sentence is told once. The summary of some turns stands for several of
which it tells every statement. Other turns come first, as the better witnesses; then the best of
the summaries and episodes, and those that follow tell the rest. The same sentence of another day,
or of somebody else, is something else.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from zoneinfo import ZoneInfo

from metaagents.lifecycle.material import Note, notes_in, notes_said
from metaagents.lifecycle.statements import is_statement
from tiers.lexical import sentences
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
        self._unread = list(hits)

    def add(self, hit: Hit) -> None:
        """Tell a text as well; it is read once a summary or an episode is compared with it."""
        self._unread.append(hit)

    def known_of(self, hit: Hit) -> tuple[int, ...]:
        """Return the places of those sentences of a summary or an episode that are told already."""
        if hit.kind not in SHORTER:
            return ()
        for told in self._unread:
            self._notes.update(self._notes_of(told))
        self._unread.clear()
        notes = enumerate(self._notes_of(hit))
        return tuple(place for place, note in notes if self._has_note(note))

    def has(self, hit: Hit) -> bool:
        """Whether every sentence of a summary or an episode is told already."""
        known = self.known_of(hit)
        return bool(known) and len(known) == len(self._notes_of(hit))

    def _has_note(self, note: Note) -> bool:
        day, _, said = note
        return note in self._notes or (day, ANYBODY, said) in self._notes

    def _notes_of(self, hit: Hit) -> Collection[Note]:
        since = local(hit.occurred_at or hit.recorded_at, self._zone)
        if hit.kind != "turn":
            return notes_in(hit.text, since) if hit.kind in SHORTER else ()
        day, speaker = f"{since:%Y-%m-%d}", hit.speaker or hit.agent_id
        said, _, rest = hit.text.removeprefix(f"{speaker}: ").partition("\n")
        return notes_said(day, speaker, said) | notes_said(day, ANYBODY, rest)


def witnesses(
    turns: Sequence[Hit], summaries: Sequence[Hit]
) -> tuple[tuple[Hit, ...], tuple[Hit, ...]]:
    """Return the turns that come before summaries, and those for which their own one stands.

    A summary may leave out what it covers: it stands for turns of which it tells all statements,
    where these are more than one. A single turn says the same in fewer words, and as it was said.
    """
    stands: list[Hit] = []
    for summary in summaries:
        told = [hit for hit in turns if _stands_for(summary, hit)]
        stands += told if len(told) > 1 else []
    return tuple(hit for hit in turns if hit not in stands), tuple(stands)


def _stands_for(summary: Hit, turn: Hit) -> bool:
    if summary.kind != "summary" or turn.id not in summary.source_ids:
        return False
    said = turn.text.partition(": ")[2]
    statements = [one.rstrip(".!") for one in sentences(said) if is_statement(one)]
    return all(one in summary.text for one in statements)


def telling_more(hits: Sequence[Hit], turns: Sequence[Hit], zone: ZoneInfo = UTC_ZONE) -> list[Hit]:
    """Return the summaries and episodes that tell more than turns and better ones do.

    Args:
        hits: Best first.
        turns: Which are told besides.
        zone: Where days begin.
    """
    telling = Telling(zone, witnesses(turns, hits)[0])
    kept: list[Hit] = []
    for hit in hits:
        if not telling.has(hit):
            telling.add(hit)
            kept.append(hit)
    return kept
