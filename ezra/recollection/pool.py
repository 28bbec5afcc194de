"""The pool: everything the engines found for a question, each record once, in its conversation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TypeAlias

from tiers.recollection import Said
from tiers.records import Hit, Kind

from .terms import Reader
from .weights import NEIGHBOUR_WORDS, SESSION_GAP_HOURS, WINDOW_WORDS

SESSION_GAP = timedelta(hours=SESSION_GAP_HOURS)


Key: TypeAlias = tuple[str, str]
"""Names a record among those of several graphs: the graph's id and its own."""


@dataclass(slots=True)
class Candidate:
    """A record that may answer a question.

    Attributes:
        key: Which record it is.
        kind: What it is.
        text: Its searchable form.
        counts: How often its text has each term, by the term's hash in this process.
        terms: How many terms it has, stop words aside.
        words: How many words it has.
        has_time: Whether it says when something is, was or will be.
        has_number: Whether it has a number.
        only_asks: Whether it is a short question and tells next to nothing.
        speaker: Who says it, if it was said.
        agent_id: Who wrote it.
        user_id: Whose it is.
        happened_at: When what it tells happened; when it was recorded if it does not say.
        hit: As an engine found it; ``None`` for a turn that only stood beside one.
        cosine: How close its meaning is to the question, where known.
        ranks: Its rank in each leg that found it, from 1.
        earlier: What was said before it in its conversation, as far as the budget of words
            reaches: the first and behind the last place in ``Pool.said``.
        before: The turn before it, if both together are short.
        after: The turn behind it, if both together are short.
    """

    key: Key
    kind: Kind
    text: str
    counts: Mapping[int, int]
    terms: int
    words: int
    has_time: bool
    has_number: bool
    only_asks: bool
    speaker: str
    agent_id: str
    user_id: str | None
    happened_at: datetime
    hit: Hit | None = None
    cosine: float | None = None
    ranks: dict[str, int] = field(default_factory=dict)
    earlier: tuple[int, int] = (0, 0)
    before: Key | None = None
    after: Key | None = None

    @property
    def graph_id(self) -> str:
        """The graph that it is a record of."""
        return self.key[0]

    @property
    def id(self) -> str:
        """Its own id."""
        return self.key[1]


class Pool:
    """Candidates by key, in the order in which they came.

    Args:
        graph_id: The graph that is asked; what stands beside its turns is its own.
        reader: Reads their texts.

    Attributes:
        said: The turns of the conversations that were added, each in its order; candidates
            themselves, or not.
    """

    said: list[Candidate]

    def __init__(self, graph_id: str, reader: Reader) -> None:
        self.said = []
        self._graph_id = graph_id
        self._reader = reader
        self._candidates: dict[Key, Candidate] = {}

    def __len__(self) -> int:
        return len(self._candidates)

    def __iter__(self) -> Iterator[Candidate]:
        return iter(self._candidates.values())

    def get(self, key: Key | None) -> Candidate | None:
        """Return the candidate of this key, if it is in the pool."""
        return None if key is None else self._candidates.get(key)

    def add_leg(self, leg: str, hits: Iterable[Hit], *, are_cosines: bool = False) -> None:
        """Add what a leg found, best first; with ``are_cosines`` its scores are such."""
        for rank, hit in enumerate(hits, start=1):
            candidate = self._of_hit(hit)
            candidate.ranks.setdefault(leg, rank)
            if are_cosines:
                candidate.cosine = max(hit.score, candidate.cosine or -1.0)

    def add_conversations(self, stretches: Iterable[Sequence[Said]], *, joins: bool) -> None:
        """Tell turns what stands around them; with ``joins`` that becomes candidates too."""
        for stretch in stretches:
            for session in sessions_of(stretch):
                self._add_session(session, joins=joins)

    def _add_session(self, session: Sequence[Said], *, joins: bool) -> None:
        turns = [self._of_said(said, joins=joins) for said in session]
        first = len(self.said)
        self.said.extend(turns)
        last: Candidate | None = None
        for place, turn in enumerate(turns):
            turn.earlier = (first + _window_from(turns, place), first + place)
            turn.before = turn.after = None
            if last is not None and turn.words + last.words <= NEIGHBOUR_WORDS:
                turn.before, last.after = last.key, turn.key
            last = turn

    def _of_hit(self, hit: Hit) -> Candidate:
        key = (hit.graph_id, hit.id)
        candidate = self._candidates.get(key)
        if candidate is None:
            happened_at = hit.occurred_at or hit.recorded_at
            bag = self._reader.read(hit.text)
            candidate = Candidate(
                key, hit.kind, hit.text, *bag, hit.speaker, hit.agent_id, hit.user_id, happened_at
            )
            candidate.hit = hit
            self._candidates[key] = candidate
        elif candidate.hit is None or _tells_more(hit, candidate.hit):
            candidate.hit = hit
        return candidate

    def _of_said(self, said: Said, *, joins: bool) -> Candidate:
        key = (self._graph_id, said.id)
        candidate = self._candidates.get(key)
        if candidate is None:
            bag = self._reader.read(said.text)
            candidate = Candidate(
                key,
                "turn",
                said.text,
                *bag,
                said.speaker,
                said.agent_id,
                said.user_id,
                said.occurred_at,
            )
            if joins:
                self._candidates[key] = candidate
        return candidate


def sessions_of(stretch: Sequence[Said]) -> list[list[Said]]:
    """Cut a stretch where a long silence lies, or another user speaks."""
    sessions: list[list[Said]] = []
    for said in stretch:
        last = sessions[-1][-1] if sessions else None
        goes_on = (
            last is not None
            and abs(said.occurred_at - last.occurred_at) <= SESSION_GAP
            and said.user_id == last.user_id
        )
        if goes_on:
            sessions[-1].append(said)
        else:
            sessions.append([said])
    return sessions


def _window_from(turns: Sequence[Candidate], place: int) -> int:
    """Return the first of the turns right before one that fit into the window with it."""
    words = turns[place].words
    first = place
    while first > 0:
        words += turns[first - 1].words
        if words > WINDOW_WORDS:
            break
        first -= 1
    return first


def _tells_more(hit: Hit, known: Hit) -> bool:
    """Whether a hit replaces one of another tier, whichever was there first.

    Of a turn the warm tier's stays, which says that it is indexed; of anything else the cold
    tier's, which has its uses and validity.
    """
    better, worse = ("warm", "cold") if hit.kind == "turn" else ("cold", "warm")
    return hit.tier == better and known.tier == worse
