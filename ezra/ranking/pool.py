"""The pool: everything the engines found for a question, each record once, in its conversation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Literal, TypeAlias

from tiers.known_records import Seen, Sighted
from tiers.recollection import Said
from tiers.records import Hit, Kind

from .terms import KnownTurns, Reader, Reading, bag_of, reading_of
from .weights import NEIGHBOUR_WORDS, SESSION_GAP_HOURS, WINDOW_WORDS

SESSION_GAP = timedelta(hours=SESSION_GAP_HOURS)


Key: TypeAlias = tuple[str, str]
"""Names a record among those of several graphs: the graph's id and its own."""


NOWHERE = -1

FORMER = "former"
"""The leg of facts that held in the past that is asked about, and are over by now."""


@dataclass(slots=True, eq=False)
class Candidate:
    """A record that may answer a question.

    Attributes:
        key: Which record it is.
        kind: What it is.
        text: Its searchable form.
        counts: How often its text has each term, by the term's hash in this process.
        terms: How many terms it has, stop words aside.
        words: How many words it has.
        wording: The hash in this process of all of them, in order.
        has_time: Whether it says when something is, was or will be.
        has_number: Whether it has a number.
        only_asks: Whether it is a short question or greeting, and tells next to nothing.
        speaker: Who says it, if it was said.
        agent_id: Who wrote it.
        user_id: Whose it is.
        happened_at: When what it tells happened; when it was recorded if it does not say.
        hit: As an engine told it; ``None`` for a turn that only stood beside one, or is known.
        tier: Of a turn, where it was found: in the warm tier if there, which says it is indexed.
        words_only: Of a turn, whether it waits to be put into the vector index.
        cosine: How close its meaning is to the question, where known.
        ranks: Its rank in each leg that found it, from 1.
        row: Where it is in ``Pool.read``.
        place: Where it is among the candidates; ``NOWHERE`` as long as it only stands beside one.
        earlier: What was said before it in its conversation, as far as the budget of words
            reaches: the first and behind the last place in ``Pool.said``.
        before: The row of the turn before it, if both together are short. A number: two that
            refer to each other would have to wait for the garbage collector.
        after: The row of the turn behind it, likewise.
    """

    key: Key
    kind: Kind
    text: str
    counts: Mapping[int, int]
    terms: int
    words: int
    wording: int
    has_time: bool
    has_number: bool
    only_asks: bool
    speaker: str
    agent_id: str
    user_id: str | None
    happened_at: datetime
    hit: Hit | None = None
    tier: Literal["warm", "cold"] = "cold"
    words_only: bool = False
    cosine: float | None = None
    ranks: dict[str, int] = field(default_factory=dict)
    row: int = NOWHERE
    place: int = NOWHERE
    earlier: tuple[int, int] = (0, 0)
    before: int = NOWHERE
    after: int = NOWHERE

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
        tenant: Whose graph it is.

    Attributes:
        known: The turns of which engines need tell nothing.
        read: Every record that was read, once; candidates, or what only stands beside them.
        said: The rows of the turns of the conversations that were added, each in its order.
    """

    known: KnownTurns
    read: list[Candidate]
    said: list[int]

    def __init__(self, graph_id: str, reader: Reader, tenant: str = "") -> None:
        self.known = reader.known(tenant, graph_id)
        self.read = []
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

    def add_leg(
        self, leg: str, found: Iterable[Seen], *, are_cosines: bool = False, is_stored: bool = True
    ) -> None:
        """Add what a leg found, best first.

        Args:
            leg: Its name.
            found: Told, or known.
            are_cosines: Whether its scores are such.
            is_stored: Whether turns are told as they are stored, so that they can be known next.
        """
        for rank, one in enumerate(found, start=1):
            if isinstance(one, Sighted):
                candidate = self._of_sighted(one)
            else:
                candidate = self._of_hit(one, is_stored=is_stored)
            candidate.ranks.setdefault(leg, rank)
            if are_cosines:
                candidate.cosine = max(one.score, candidate.cosine or -1.0)

    def tell(self, candidate: Candidate, hit: Hit) -> None:
        """Let a candidate be what a hit says, whatever the index had of it: weighed as that."""
        (
            candidate.counts,
            candidate.terms,
            candidate.words,
            candidate.wording,
            candidate.has_time,
            candidate.has_number,
            candidate.only_asks,
        ) = self._reader.read(hit.text)
        candidate.hit, candidate.text = hit, hit.text

    def leave_out(self, keys: Iterable[Key]) -> None:
        """Let records be candidates no longer."""
        for key in keys:
            del self._candidates[key]

    def add_conversations(
        self, stretches: Iterable[Sequence[Said | Sighted]], *, joins: bool
    ) -> None:
        """Tell turns what stands around them; with ``joins`` that becomes candidates too."""
        for stretch in stretches:
            turns = [self._of_said(said) for said in stretch]
            if joins:
                for turn in turns:
                    if turn.place == NOWHERE:
                        self._join(turn)
            for session in sessions_of(turns):
                self._add_session(session)

    def _add_session(self, turns: Sequence[Candidate]) -> None:
        first = len(self.said)
        self.said += [turn.row for turn in turns]
        last: Candidate | None = None
        for place, turn in enumerate(turns):
            turn.earlier = (first + _window_from(turns, place), first + place)
            turn.before = turn.after = NOWHERE
            if last is not None and turn.words + last.words <= NEIGHBOUR_WORDS:
                turn.before, last.after = last.row, turn.row
            last = turn

    def _of_hit(self, hit: Hit, *, is_stored: bool) -> Candidate:
        key = (hit.graph_id, hit.id)
        candidate = self._candidates.get(key)
        if candidate is None:
            happened_at = hit.occurred_at or hit.recorded_at
            if is_stored and hit.kind == "turn" and hit.graph_id == self._graph_id:
                reading = self._of_stored(hit, happened_at)
            else:
                reading = reading_of(self._reader.read(hit.text), hit, happened_at)
            candidate = self._add(key, hit.kind, hit.text, reading)
            self._join(candidate)
            candidate.words_only = hit.words_only
        if candidate.hit is None or _tells_more(hit, candidate.hit):
            candidate.hit = hit
        _found_in(candidate, hit.tier)
        return candidate

    def _of_stored(self, turn: Hit, happened_at: datetime) -> Reading:
        if turn.id in self.known:
            return self.known[turn.id]
        reading = reading_of(bag_of(turn.text), turn, happened_at)
        self.known.keep(turn.id, reading)
        return reading

    def _of_sighted(self, sighted: Sighted) -> Candidate:
        key = (self._graph_id, sighted.id)
        candidate = self._candidates.get(key)
        if candidate is None:
            candidate = self._add(key, "turn", "", self.known[sighted.id])
            candidate.words_only = sighted.words_only
            self._join(candidate)
        _found_in(candidate, sighted.tier)
        return candidate

    def _of_said(self, said: Said | Sighted) -> Candidate:
        candidate = self._candidates.get((self._graph_id, said.id))
        if candidate is not None:
            return candidate
        if isinstance(said, Sighted):
            return self._add((self._graph_id, said.id), "turn", "", self.known[said.id])
        reading = reading_of(bag_of(said.text), said, said.occurred_at)
        self.known.keep(said.id, reading)
        return self._add((self._graph_id, said.id), "turn", said.text, reading)

    def _add(self, key: Key, kind: Kind, text: str, reading: Reading) -> Candidate:
        candidate = Candidate(key, kind, text, *reading)
        candidate.row = len(self.read)
        self.read.append(candidate)
        return candidate

    def _join(self, candidate: Candidate) -> None:
        candidate.place = len(self._candidates)
        self._candidates[candidate.key] = candidate


def sessions_of(stretch: Sequence[Candidate]) -> list[list[Candidate]]:
    """Cut a stretch where a long silence lies, or another user speaks."""
    sessions: list[list[Candidate]] = []
    last: Candidate | None = None
    for turn in stretch:
        goes_on = (
            last is not None
            and abs(turn.happened_at - last.happened_at) <= SESSION_GAP
            and turn.user_id == last.user_id
        )
        if goes_on:
            sessions[-1].append(turn)
        else:
            sessions.append([turn])
        last = turn
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
    """Whether a hit replaces another: the cold tier's, which has uses and validity, the warm's."""
    return hit.tier == "cold" and known.tier == "warm" and hit.kind != "turn"


def _found_in(candidate: Candidate, tier: str) -> None:
    if tier == "warm":
        candidate.tier, candidate.words_only = "warm", False
