"""Worlds of tenants, graphs, agents, users and topics that are easily taken for each other.

Every text carries a mark, a word that occurs in one record only, so that whatever an engine hands
out says whose it is. Everything else in the texts is the same everywhere.
"""

from __future__ import annotations

import math
import re
import uuid
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from random import Random
from typing import Any, Literal, TypeVar

from tiers.board import Card, CardKind
from tiers.documents import Document, Passage, document_id
from tiers.forms import entry_of
from tiers.quarantine import Quarantined
from tiers.records import (
    NAME_CHARS_MAX,
    Commitment,
    Episode,
    Fact,
    IndexEntry,
    Owned,
    Receipt,
    Rule,
    Scope,
    SignedHead,
    Summary,
    Turn,
    WorkDraft,
)

from ..tier_samples import DIMENSIONS, NOW
from .names import AGENTS, GRAPHS, TENANTS, TOPICS, USERS, crowd_of_topics

MARK = re.compile(r"mk\d{6}x")
SHARED_WORDS = "zebra mediums last 18 laps"
LATER = NOW + timedelta(days=1)
"""When attempts are made: after everything was recorded, before anything expires."""

READ_UP_TO = 7
"""Where every planted watermark stands."""

_NAMES = uuid.UUID("6ba7b811-9dad-11d1-80b4-00c04fd430c8")
_WITH_A_LOG = 2
"""Of each house, so many owners have a word of their own in what is known of the belief log."""

_TRAPS = (
    ("acme", "race"),
    ("acm", "race"),
    ("acme", "race/2"),
    ("acme/race", "2"),
    ("ACME", "race"),
    ("\u0430cme", "race"),
    ("acme", "@catalog"),
    ("acm", "@catalog"),
    ("acme", "Race"),
    ("{acme}", "race}:hot"),
    ("n" * NAME_CHARS_MAX, "$own(t)"),
)

PlantedKind = Literal[
    "turn", "summary", "episode", "core", "archival", "rule", "belief", "receipt", "audit", "work",
    "agent", "mesh", "trust", "head", "watermark", "document", "passage",
    "card", "quarantined",
]  # fmt: skip

SEARCHABLE = ("turn", "summary", "episode", "core", "archival", "rule", "belief", "passage")
"""The kinds that are records with a text."""

PLACED = (*SEARCHABLE, "receipt", "document", "card", "quarantined")
"""The kinds that have an id of their own."""

R = TypeVar("R", bound=Owned)
House = tuple[str, str]
"""A tenant and a graph."""


@dataclass(frozen=True)
class Corner:
    """One owner: who wrote, for whom, under which topics, for all or for the writer alone."""

    tenant: str
    graph_id: str
    agent_id: str
    user_id: str | None
    topics: tuple[str, ...]
    private: bool

    @property
    def house(self) -> House:
        """The tenant and the graph."""
        return self.tenant, self.graph_id

    def scope(self, **others: Any) -> Scope:
        """Return the scope of the writer, with some fields otherwise."""
        mine: dict[str, Any] = {
            "tenant": self.tenant,
            "graph_id": self.graph_id,
            "agent_id": self.agent_id or None,
            "user_id": self.user_id,
            "topics": self.topics,
        }
        return Scope(**{**mine, **others})


@dataclass(frozen=True)
class Planted:
    """A record that lies in a world: what it is, whose it is, and the mark in its text.

    ``record`` is what was handed to the store, or its text where there is no record.
    """

    kind: PlantedKind
    corner: Corner
    mark: str
    id: str
    recorded_at: datetime
    record: Any = None

    @property
    def is_searchable(self) -> bool:
        """Whether there is an index entry of it."""
        return self.kind in SEARCHABLE

    @property
    def vector(self) -> tuple[float, ...]:
        """The vector under which the record is indexed: its own, of unit length."""
        return vector_of(self.mark)

    @property
    def entry(self) -> IndexEntry:
        """The record as the warm index holds it."""
        return entry_of(self.record).model_copy(update={"vector": self.vector})


@dataclass
class World:
    """Everything that lies in the stores at the beginning, and what attackers add.

    Attributes:
        corners: All owners, house by house.
        planted: What was there before the first attempt.
        by_mark: Every record by its mark; of a copied text there is more than one.
    """

    corners: tuple[Corner, ...]
    planted: list[Planted] = field(default_factory=list)
    by_mark: dict[str, list[Planted]] = field(default_factory=lambda: defaultdict(list))
    by_place: dict[tuple[str, str, str], list[Planted]] = field(
        default_factory=lambda: defaultdict(list)
    )
    _first: set[tuple[str, str, str]] = field(default_factory=set)
    _in_house: dict[House, list[Planted]] = field(default_factory=dict)
    _marks: int = 0

    @property
    def houses(self) -> tuple[House, ...]:
        """Every tenant and graph, each once."""
        return tuple(dict.fromkeys(corner.house for corner in self.corners))

    @property
    def tenants(self) -> tuple[str, ...]:
        """Every tenant once."""
        return tuple(dict.fromkeys(corner.tenant for corner in self.corners))

    def of_house(self, house: House) -> tuple[Corner, ...]:
        """Return the owners in a house."""
        return tuple(corner for corner in self.corners if corner.house == house)

    def planted_in(self, house: House) -> list[Planted]:
        """Return what was in a house before the first attempt."""
        if not self._in_house:
            for one in self.planted:
                self._in_house.setdefault(one.corner.house, []).append(one)
        return self._in_house.get(house, [])

    def new_mark(self) -> str:
        """Return a word that no text has yet."""
        self._marks += 1
        return f"mk{self._marks:06d}x"

    def note(self, planted: Planted, *, is_first: bool = False) -> Planted:
        """Remember whose a mark is, and its place unless somebody was there from the beginning."""
        self.by_mark[planted.mark].append(planted)
        if is_first:
            self.planted.append(planted)
        if planted.kind not in PLACED:
            return planted
        place = (*planted.corner.house, planted.id)
        if is_first:
            self._first.add(place)
        if is_first or place not in self._first:
            self.by_place[place].append(planted)
        return planted

    def holds(self, house: House, record_id: str) -> bool:
        """Whether the house has a record of this id, from the beginning or since."""
        return (*house, record_id) in self.by_place


def world_of(
    seed: int, *, houses: int = len(_TRAPS), corners: int = 6, pairs: Sequence[House] | None = None
) -> World:
    """Return a world; the same numbers give the same world.

    Args:
        seed: Chooses names and owners beyond the first, which are always the worst.
        houses: How many pairs of tenant and graph.
        corners: How many owners in each.
        pairs: The houses themselves, instead of those that are the worst.
    """
    random = Random(seed)
    chosen = _pairs(random, houses) if pairs is None else pairs
    world = World(tuple(_corners(chosen, corners)))
    for house in world.houses:
        for slot, corner in enumerate(world.of_house(house)):
            _fill(world, corner, slot)
    return world


def vector_of(mark: str) -> tuple[float, ...]:
    """Return a unit vector that is a mark's own."""
    random = Random(mark)
    raw = [random.gauss(0, 1) for _ in range(DIMENSIONS)]
    length = math.hypot(*raw)
    return tuple(number / length for number in raw)


def _pairs(random: Random, houses: int) -> list[House]:
    pairs = list(_TRAPS[:houses])
    others = [(tenant, graph) for tenant in TENANTS for graph in GRAPHS]
    random.shuffle(others)
    return pairs + [pair for pair in others if pair not in pairs][: max(0, houses - len(pairs))]


def _corners(pairs: Sequence[House], corners: int) -> Iterator[Corner]:
    first = TOPICS[0]
    topics = ((first,), (), (TOPICS[2],), (first, TOPICS[1]), _many(first))
    for number, (tenant, graph_id) in enumerate(pairs):
        for slot in range(corners):
            # Even slots are alike in every house, odd ones differ.
            turn = slot if slot % 2 == 0 else slot + number
            yield Corner(
                tenant,
                graph_id,
                _of(AGENTS, turn, 3 + corners // 6),
                (None, *USERS)[slot % min(3 + corners // 6, len(USERS) + 1)],
                topics[turn % len(topics)],
                private=slot % 3 == 2,
            )


def _of(names: tuple[str, ...], number: int, first: int) -> str:
    return names[number % min(first, len(names))]


def _many(topic: str) -> tuple[str, ...]:
    return tuple(sorted({topic, *crowd_of_topics(topic)[:-1]}))


def _fill(world: World, corner: Corner, slot: int) -> None:
    """Plant one record of every kind, and the turns that a summary needs."""
    known = len(world.planted)
    plant = _Planter(world, corner, slot)
    turns = [plant.turn(number) for number in range(2)]
    summary = plant.summary(turns[:1])
    plant.episode([summary])
    for tier in ("core", "archival"):
        plant.fact(tier)
    plant.rule()
    plant.belief()
    plant.document()
    plant.receipt()
    plant.card()
    plant.quarantined()
    plant.others()
    if slot < _WITH_A_LOG:
        plant.log()
    assert len(world.planted) > known


@dataclass
class _Planter:
    world: World
    corner: Corner
    slot: int

    def __post_init__(self) -> None:
        self.scope = self.corner.scope()
        self.at = NOW + timedelta(minutes=self.slot)

    def _id(self, what: str) -> str:
        """Return an id: of even slots the same in every house."""
        places = (str(self.slot), what, *(self.corner.house if self.slot % 2 else ()))
        return str(uuid.uuid5(_NAMES, "\x00".join(places)))

    def _put(self, kind: PlantedKind, mark: str, record_id: str, record: Any) -> None:
        found = Planted(kind, self.corner, mark, record_id, self.at, record)
        self.world.note(found, is_first=True)

    def _owned(self, kind: PlantedKind, mark: str, record: R, what: str = "") -> R:
        record_id = self._id(what or kind)
        shown = {"topics": self.corner.topics, "private": self.corner.private}
        stamped = record.model_copy(update=shown).stamped(self.scope, record_id, self.at)
        self._put(kind, mark, record_id, stamped)
        return stamped

    def turn(self, number: int) -> Turn:
        mark = self.world.new_mark()
        record = Turn(
            ref=f"chat:{self.slot}:{number}",
            input=f"{mark} {SHARED_WORDS}?",
            response=f"{mark} about 18",
            occurred_at=self.at,
        )
        return self._owned("turn", mark, record, f"turn {number}")

    def summary(self, turns: list[Turn]) -> Summary:
        mark = self.world.new_mark()
        record = Summary(
            text=f"{mark} {SHARED_WORDS}",
            covers=tuple(turn.id for turn in turns),
            starts_at=self.at,
            ends_at=self.at,
            expires_at=self.at + timedelta(days=30),
        )
        return self._owned("summary", mark, record)

    def episode(self, summaries: list[Summary]) -> Episode:
        mark = self.world.new_mark()
        record = Episode(
            grain="daily",
            text=f"{mark} {SHARED_WORDS}",
            children=tuple(one.id for one in summaries),
            starts_at=self.at,
            ends_at=self.at,
        )
        return self._owned("episode", mark, record)

    def fact(self, tier: Any) -> Fact:
        mark = self.world.new_mark()
        record = Fact(
            text=f"{mark} {SHARED_WORDS}",
            subject="mediums",
            predicate="last",
            object="18 laps",
            tier=tier,
        )
        return self._owned(tier, mark, record)

    def rule(self) -> Rule:
        mark = self.world.new_mark()
        record = Rule(trigger=f"{mark} {SHARED_WORDS}", steps=(f"{mark} box",))
        return self._owned("rule", mark, record)

    def belief(self) -> Commitment:
        mark = self.world.new_mark()
        record = Commitment(
            claim=f"{mark} {SHARED_WORDS}",
            topic=self.corner.topics[0] if self.corner.topics else None,
            # Two owners of one house that differ in neither topic, user nor privacy would take
            # each other's beliefs away.
            key=("start", "compound" if self.slot < 2 else f"compound {self.slot}"),
            value=mark,
        )
        return self._owned("belief", mark, record)

    def document(self) -> None:
        """Plant a document and a passage of it, both of a name that only this owner has."""
        mark, (tenant, graph_id) = self.world.new_mark(), self.corner.house
        name = f"{self.slot} of {tenant} and {graph_id}"
        record = Document(
            shelf="files",
            name=name,
            title=mark,
            text=f"{mark} {SHARED_WORDS}",
            properties={"said": mark},
            digest=mark,
            topics=self.corner.topics,
            private=self.corner.private,
            passages=1,
            changed_at=self.at,
        )
        record_id = document_id(tenant, graph_id, "files", name)
        self._put("document", mark, record_id, record.stamped(self.scope, record_id, self.at))
        mark = self.world.new_mark()
        passage = Passage(
            document_id=record_id,
            number=0,
            headings=(mark,),
            text=f"{mark} {SHARED_WORDS}",
            digest=mark,
        )
        self._owned("passage", mark, passage)

    def receipt(self) -> None:
        mark = self.world.new_mark()
        record = Receipt(
            id=self._id("receipt"),
            tenant=self.corner.tenant,
            graph_id=self.corner.graph_id,
            agent_id=self.corner.agent_id,
            kind="turn",
            query=f"{mark} {SHARED_WORDS}?",
            body={"slots": [{"text": mark}]},
            recorded_at=self.at,
        )
        self._put("receipt", mark, record.id, record)

    def card(self) -> None:
        """Plant a task, a message to all or an action; its type is its mark."""
        mark = self.world.new_mark()
        kinds: tuple[CardKind, ...] = ("task", "message", "action")
        kind = kinds[self.slot % len(kinds)]
        record = Card(
            kind=kind,
            type=mark,
            thread=f"thread {self.slot}",
            status="created" if kind == "task" else None,
            title=f"{mark} {SHARED_WORDS}",
            text=mark,
            tags=(mark,),
            details={"said": mark},
            changed_at=self.at,
        )
        self._owned("card", mark, record)

    def quarantined(self) -> None:
        """Plant a text that was put aside."""
        mark = self.world.new_mark()
        record = Quarantined(
            held="fact", source="tool", text=f"{mark} {SHARED_WORDS}", payload={"said": mark}
        )
        self._owned("quarantined", mark, record)

    def others(self) -> None:
        mark = self.world.new_mark()
        self._put("audit", mark, f"audit {self.slot}", f"{mark} said so")
        mark = self.world.new_mark()
        draft = WorkDraft(
            kind="learn",
            key=f"key {self.slot}",
            agent_id=self.corner.agent_id,
            payload={"said": mark},
        )
        self._put("work", mark, draft.key, draft)
        mark = self.world.new_mark()
        self._put("agent", mark, self.corner.agent_id, f"{mark} strategist")
        mark = self.world.new_mark()
        self._put("mesh", mark, "mesh", f"{mark} {SHARED_WORDS}")
        mark = self.world.new_mark()
        self._put("watermark", mark, f"watermark {self.slot}", READ_UP_TO)

    def log(self) -> None:
        mark = self.world.new_mark()
        self._put("trust", mark, f"trust {self.slot}", 0.5)
        mark = self.world.new_mark()
        head = SignedHead(
            tenant=self.corner.tenant,
            graph_id=self.corner.graph_id,
            size=self.slot + 1,
            last_hash="0" * 64,
            root="0" * 64,
            signed_at=self.at,
            public_key=mark,
        )
        self._put("head", mark, f"head {self.slot}", head)
