"""Summaries of turns, the episodes that are made of them, and what each of them is part of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from functools import partial
from typing import TypeVar

from pydantic import Field

from ...errors import Conflict
from ...grains import MADE_OF
from ...moments import microseconds
from ...plans import GRAINS
from ...records import Episode, Grain, Scope, Summary, WorkDraft
from ..conditions import Absent, Holds, Is, Present, Within
from ..ownership import check_limit, check_number, check_owned, in_order
from ..port import Collection, Find, Index, Lookup, Put, Replace, Request, Steps, asked, write
from .questions import among, by_then, equal, own
from .rows import all_bare, kept, moments, put
from .store_base import OverEngine
from .turns import TURNS, cover
from .words import SEARCHABLE, file_again, file_words
from .work import queue_work


class KeptSummary(Summary):
    """A summary as it is kept.

    Attributes:
        told_in: The episode that it is part of, by the grain of that.
    """

    told_in: dict[Grain, str] = Field(default_factory=dict)


class KeptEpisode(Episode):
    """An episode as it is kept.

    Attributes:
        told_in: The episode that it is part of, by the grain of that.
    """

    told_in: dict[Grain, str] = Field(default_factory=dict)


Told = TypeVar("Told", KeptSummary, KeptEpisode)

_BY_PERIOD = ("starts_at", "id")
_FULL = Absent("redacted_at")


SUMMARIES: Collection[KeptSummary] = Collection(
    "summaries",
    KeptSummary,
    fields={
        "level": lambda summary: summary.level,
        "episode": lambda summary: next(iter(summary.told_in.values()), None),
        "daily": lambda summary: summary.told_in.get("daily"),
        **moments("starts_at", "expires_at", "recorded_at", "redacted_at", "retired_at"),
    },
    indexes={
        "full": Index(_BY_PERIOD, where=(_FULL,)),
        "due": Index(_BY_PERIOD, where=(Absent("episode"), Present("expires_at"), _FULL)),
        "level": Index(("level", "id")),
        "loose_daily": Index(_BY_PERIOD, where=(Is("level", 0), Absent("daily"), _FULL)),
        "old": Index(("recorded_at", "id"), where=(Is("level", 0), _FULL)),
    },
)


def _loose(grain: Grain) -> Index:
    """Return the index of the episodes that can be made part of one of a grain."""
    return Index(_BY_PERIOD, where=(Is("grain", MADE_OF[grain]), Absent(grain), _FULL))


EPISODES: Collection[KeptEpisode] = Collection(
    "episodes",
    KeptEpisode,
    fields={
        "grain": lambda episode: episode.grain,
        "coarseness": lambda episode: GRAINS.index(episode.grain),
        "weekly": lambda episode: episode.told_in.get("weekly"),
        "monthly": lambda episode: episode.told_in.get("monthly"),
        "quarterly": lambda episode: episode.told_in.get("quarterly"),
        "yearly": lambda episode: episode.told_in.get("yearly"),
        **moments("starts_at", "ends_at", "redacted_at", "retired_at"),
    },
    indexes={
        "full": Index(_BY_PERIOD, where=(_FULL,)),
        "grain": Index(("grain", "redacted_at")),
        "coarseness": Index(("coarseness", "id")),
        "full_grain": Index(("grain", *_BY_PERIOD), where=(_FULL,)),
        **{f"loose_{grain}": _loose(grain) for grain in GRAINS if MADE_OF[grain] != "working"},
    },
    lists={
        "children": Lookup(lambda episode: child_keys(episode.grain, episode.children)),
    },
)


class EpisodicStore(OverEngine):
    """Summaries and episodes by session graph and time."""

    async def put_summary(
        self, scope: Scope, summary: Summary, work: Sequence[WorkDraft] = ()
    ) -> bool:
        """Store a summary and mark every turn in ``covers`` as covered, in one step.

        Returns ``False``, writing nothing, when the same summary id is already stored.

        Raises:
            Conflict: A turn is covered by another summary of the same level.
            NotFound: A turn in ``covers`` is not in the scope's graph.
        """
        check_owned(scope, summary)
        return await self._store.change("put_summary", lambda: put_summary(scope, summary, work))

    async def summaries(self, scope: Scope) -> tuple[Summary, ...]:
        """Return the visible summaries of the scope's graph that have their content.

        Oldest period first.
        """
        find = Find(SUMMARIES, scope, by="full", order=_BY_PERIOD)
        return all_bare(Summary, await self._all("summaries", find))

    async def put_episode(
        self,
        scope: Scope,
        episode: Episode,
        work: Sequence[WorkDraft] = (),
        *,
        made_of: Sequence[Summary | Episode] = (),
    ) -> bool:
        """Store an episode and mark the summaries in ``children`` as consolidated, in one step.

        Returns ``False``, writing nothing, when the same episode id is already stored.

        Args:
            scope: Whose.
            episode: It.
            work: Queued with it.
            made_of: Its children as they were read for its text.

        Raises:
            Conflict: A child belongs to another episode of the same grain, or lost its text since
                it was read, or has another one; save what retention has emptied.
        """
        check_owned(scope, episode)
        putting = partial(put_episode, scope, episode, work, made_of)
        return await self._store.change("put_episode", putting)

    async def due_summaries(
        self, scope: Scope, before: datetime, limit: int
    ) -> tuple[Summary, ...]:
        """Return summaries of the scope's graph that expire by ``before`` and have no episode.

        Every agent's and every topic's that has its content; oldest period first, at most
        ``limit``.
        """
        check_limit(limit)
        where = by_then("expires_at", before)
        find = Find(SUMMARIES, scope, "due", where, _BY_PERIOD, limit, reach="own")
        return all_bare(Summary, await self._all("due_summaries", find))

    async def episodes(
        self,
        scope: Scope,
        since: datetime | None = None,
        until: datetime | None = None,
        grain: Grain | None = None,
    ) -> tuple[Episode, ...]:
        """Return visible episodes of the graph that overlap ``[since, until)``, oldest first.

        Of one grain, or of all. Redacted and retired ones are left out.
        """
        where = [*equal(grain=grain)]
        if until is not None:
            where.append(Within("starts_at", until=microseconds(until)))
        if since is not None:
            where.append(Within("ends_at", since=microseconds(since)))
        by = "full" if grain is None else "full_grain"
        find = Find(EPISODES, scope, by, tuple(where), _BY_PERIOD)
        return all_bare(Episode, await self._all("episodes", find))

    async def written(self, scope: Scope, ids: Sequence[str]) -> tuple[Summary | Episode, ...]:
        """Return the visible summaries and episodes among ``ids``, in the order asked.

        Expired ones included, and those whose content is destroyed, which say so.
        """
        finds = (among(SUMMARIES, scope, ids), among(EPISODES, scope, ids))
        summaries, episodes = await self._store.read("written", lambda: asked(*finds))
        found: tuple[Summary | Episode, ...] = (
            *all_bare(Summary, summaries),
            *all_bare(Episode, episodes),
        )
        return in_order({one.id: one for one in found}, ids)


def child_keys(grain: Grain, children: Iterable[str]) -> tuple[str, ...]:
    """Return what episodes of a grain are looked up by that have one of the children."""
    return tuple(f"{grain} {child}" for child in children)


def episodes_of(scope: Scope, wanted: Sequence[str]) -> Find[KeptEpisode]:
    """Ask for the episodes of the scope's graph that have one of some parts, seen or not."""
    return Find(EPISODES, scope, "children", (Holds("children", tuple(wanted)),), reach="own")


def put_summary(scope: Scope, summary: Summary, work: Sequence[WorkDraft] = ()) -> Steps[bool]:
    """Store a summary with what follows from it, inside a transaction.

    Returns ``False``, writing nothing, when the same summary id is already stored.

    Raises:
        Conflict: A turn is covered by another summary of the same level.
        NotFound: A turn in ``covers`` is not in the scope's graph.
    """
    for name in ("level", "tokens", "lost"):
        check_number(name, getattr(summary, name))
    known, turns, above, filed = yield from asked(
        own(SUMMARIES, scope, [summary.id]),
        own(TURNS, scope, summary.covers),
        _made_of(scope, summary.id),
        own(SEARCHABLE, scope, [summary.id]),
    )
    if known:
        return False
    for turn in turns:
        if summary.level in turn.covered_by:
            taken_by = turn.covered_by[summary.level]
            raise Conflict(f"summary of turn {turn.id}", summary.id, taken_by)
    yield from cover(scope, summary.covers, turns, summary.level, summary.id)
    told_in = {episode.grain: episode.id for episode in above}
    yield from put(SUMMARIES, scope, kept(KeptSummary, summary, told_in=told_in))
    # One that stood for a turn and was taken out again has kept its place among the words.
    yield from (file_again if filed else file_words)(scope, summary)
    yield from queue_work(scope, work, summary.recorded_at)
    return True


def put_episode(
    scope: Scope,
    episode: Episode,
    work: Sequence[WorkDraft] = (),
    made_of: Sequence[Summary | Episode] = (),
) -> Steps[bool]:
    """Store an episode with what follows from it, inside a transaction.

    Returns ``False``, writing nothing, when the same episode id is already stored.

    Raises:
        Conflict: A child belongs to another episode of the same grain, or is not as it was read.
    """
    check_number("lost", episode.lost)
    children = dict.fromkeys(episode.children)
    known, rivals, above, summaries, episodes = yield from asked(
        own(EPISODES, scope, [episode.id]),
        episodes_of(scope, child_keys(episode.grain, children)),
        _made_of(scope, episode.id),
        own(SUMMARIES, scope, children),
        own(EPISODES, scope, children),
    )
    if known:
        return False
    if rivals:
        taken = next(child for child in rivals[0].children if child in children)
        raise Conflict(f"{episode.grain} episode of {taken}", episode.id, rivals[0].id)
    now = {one.id: one.text for one in (*summaries, *episodes) if one.retired_at is None}
    changed = [one.id for one in made_of if now.get(one.id, one.text) != one.text]
    if changed:
        raise Conflict(f"text of {changed[0]}", "as it was read", "another one by now")
    told_in = {one.grain: one.id for one in above}
    yield from write(
        Put(EPISODES, scope, kept(KeptEpisode, episode, told_in=told_in)),
        *(Replace(SUMMARIES, scope, _part_of(one, episode)) for one in summaries),
        *(Replace(EPISODES, scope, _part_of(one, episode)) for one in episodes),
    )
    yield from file_words(scope, episode)
    yield from queue_work(scope, work, episode.recorded_at)
    return True


def _made_of(scope: Scope, record_id: str) -> Request:
    """Ask what was made of a record: rows of an archive may come before those they are made of."""
    return episodes_of(
        scope, [part for grain in GRAINS for part in child_keys(grain, (record_id,))]
    )


def _part_of(record: Told, episode: Episode) -> Told:
    told_in = {**record.told_in, episode.grain: episode.id}
    return record.model_copy(update={"told_in": told_in})
