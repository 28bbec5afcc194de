"""What re-embedding decides: which index serves, which is built, what comes next. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from tiers.records import Hit, IndexEntry, Scope
from tiers.upkeep import Generation, RecordRef

RRF_K = 10
"""Smoothing of reciprocal ranks, as everywhere else."""


@dataclass(frozen=True)
class Plan:
    """What to do with a tenant's generations.

    Attributes:
        serve: Answers.
        build: Is brought up to all records, behind ``serve`` or in its place; ``None`` for none.
        idle: The others. They are right until the first write that they do not get.
    """

    serve: Generation
    build: Generation | None = None
    idle: tuple[Generation, ...] = ()


@dataclass(frozen=True)
class Reembedding:
    """How far an index has come.

    Attributes:
        model_from: The model that serves meanwhile; ``None`` when words alone do.
        model_to: The model whose vectors are being made; ``None`` for an index of words.
        done: Records indexed so far.
        total: Records there are to index; at least ``done``.
    """

    model_from: str | None
    model_to: str | None
    done: int
    total: int


def plan(known: Sequence[Generation], wanted: Generation, models: Collection[str]) -> Plan:
    """Decide which generation serves and which is built.

    The wanted one serves when it is complete. Until then another complete one does, behind which
    the wanted one is built; without one, the wanted one serves while it is built in place. When
    no vectors are wanted any complete one serves, by its words, and nothing has to be built;
    without one the newest serves as it is, since building it would take its vectors away.

    Args:
        known: The tenant's generations, the one marked last first.
        wanted: The generation of the wanted model as it would be made new.
        models: Models, beside the wanted one, that questions can be embedded with.
    """
    target = next((one for one in known if one.model_id == wanted.model_id), wanted)
    if target.state == "complete":
        return _planned(known, target, None)
    complete = [one for one in known if one.state == "complete"]
    if wanted.model_id is None:
        serve = next(iter([*complete, *known]), target)
        return _planned(known, serve, target if serve is target else None)
    usable = [one for one in complete if one.model_id is None or one.model_id in models]
    # By meaning rather than by words; sorting is stable, so the newest of each comes first.
    usable.sort(key=lambda one: one.model_id is None)
    return _planned(known, usable[0] if usable else target, target)


def _planned(known: Sequence[Generation], serve: Generation, build: Generation | None) -> Plan:
    used = {serve.model_id} if build is None else {serve.model_id, build.model_id}
    return Plan(serve, build, tuple(one for one in known if one.model_id not in used))


def started(generation: Generation) -> bool:
    """Whether building it has got anywhere."""
    return bool(generation.cursor or generation.done)


def from_the_start(generation: Generation, now: datetime) -> Generation:
    """Return the mark of a generation that has to be built anew."""
    return Generation(model_id=generation.model_id, dimensions=generation.dimensions, marked_at=now)


def progress(model_from: str | None, building: Generation) -> Reembedding:
    """Return how far building has come; records that are stored meanwhile count as well."""
    total = max(building.total, building.done)
    return Reembedding(model_from, building.model_id, building.done, total)


def by_owner(tenant: str, refs: Sequence[RecordRef]) -> dict[Scope, list[str]]:
    """Group ids by the scope in which the runtime reads them, in the order given."""
    grouped: dict[tuple[str, str | None], list[str]] = defaultdict(list)
    for ref in refs:
        grouped[ref.graph_id, ref.agent_id].append(ref.id)
    scopes = {
        owner: Scope.of_graph(tenant, owner[0]).model_copy(update={"agent_id": owner[1]})
        for owner in grouped
    }
    return {scopes[owner]: ids for owner, ids in grouped.items()}


def indexable(entries: Sequence[IndexEntry]) -> list[IndexEntry]:
    """Return the entries that belong into the index: those with a text to be found by."""
    return [entry for entry in entries if entry.text]


def filled_in(indexed: Sequence[Hit], by_words: Sequence[Hit], limit: int) -> tuple[Hit, ...]:
    """Put what an unfinished index lacks among its hits, at the rank that its words have.

    By reciprocal ranks, as ``1 / (k + rank)`` with rank counted from 1. Among the words, rank
    counts half less: it was reached against the records that the index holds as well. Hits that
    are ``words_only`` anyway stay out: who asks knows them from the word search.
    """
    held = {hit.id for hit in indexed}
    scored = [
        hit.model_copy(update={"score": 1 / (RRF_K + rank)})
        for rank, hit in enumerate(indexed, start=1)
    ]
    scored += [
        hit.model_copy(update={"score": 1 / (RRF_K + rank - 0.5)})
        for rank, hit in enumerate(by_words, start=1)
        if hit.id not in held and not hit.words_only
    ]
    return tuple(sorted(scored, key=lambda hit: (-hit.score, hit.id))[:limit])
