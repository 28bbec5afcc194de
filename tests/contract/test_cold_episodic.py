"""The contract of ``EpisodicStore``."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path

import pytest
from support.cold_backends import Cold, ColdBackend
from support.cold_samples import (
    LONE_SURROGATE,
    OPERATOR,
    OTHER_AGENT,
    OTHER_GRAPH,
    SCOPE,
    STRANGERS,
    draft,
    episode_by,
    summary_by,
    turns_said,
)
from support.tier_samples import NOW

from tiers.errors import Conflict, NotFound, UsageError

HOUR = timedelta(hours=1)


async def test_nothing_is_an_empty_answer(cold: Cold) -> None:
    """A graph without history has no summaries, none due, and no episodes."""
    assert await cold.episodic.summaries(SCOPE) == ()
    assert await cold.episodic.due_summaries(SCOPE, NOW + 1000 * HOUR, 10) == ()
    assert await cold.episodic.episodes(SCOPE) == ()


async def test_summary_comes_back_and_covers_its_turns(
    cold: Cold, backend: ColdBackend, tmp_path: Path
) -> None:
    """The summary, its coverage and its work are one write."""
    turns = await turns_said(cold, 3)
    summary = summary_by(SCOPE, turns, tokens=7, user_id="team")
    assert await cold.episodic.put_summary(SCOPE, summary, [draft("s")])
    assert await cold.episodic.summaries(SCOPE) == (summary,)
    assert await cold.turns.waiting_turns(SCOPE, 0, 10) == ()
    covered = {row["id"]: row["covered_by"] for row in backend.rows(tmp_path, "turns")}
    assert covered == {turn.id: summary.id for turn in turns}
    assert [row["key"] for row in backend.rows(tmp_path, "work")] == ["s"]


async def test_summary_again_changes_nothing(cold: Cold) -> None:
    """The same id is stored once, and its work is queued once."""
    summary = summary_by(SCOPE, await turns_said(cold, 1))
    assert await cold.episodic.put_summary(SCOPE, summary)
    other = summary.model_copy(update={"text": "else"})
    assert not await cold.episodic.put_summary(SCOPE, other, [draft()])
    assert await cold.episodic.summaries(SCOPE) == (summary,)
    assert sum((await cold.queue.waiting()).values()) == 0


async def test_turn_covered_by_another_summary_is_a_conflict(cold: Cold) -> None:
    """All or nothing: the turns that were free stay free."""
    one, two, three = await turns_said(cold, 3)
    first = summary_by(SCOPE, [one, two])
    await cold.episodic.put_summary(SCOPE, first)
    with pytest.raises(Conflict, match=two.id) as conflict:
        await cold.episodic.put_summary(SCOPE, summary_by(SCOPE, [three, two]), [draft()])
    assert conflict.value.found == first.id
    assert await cold.turns.waiting_turns(SCOPE, 0, 10) == (three,)
    assert await cold.episodic.summaries(SCOPE) == (first,)
    assert sum((await cold.queue.waiting()).values()) == 0


async def test_levels_cover_apart(cold: Cold) -> None:
    """A turn has one summary per level, not one in all."""
    turns = await turns_said(cold, 2)
    assert await cold.episodic.put_summary(SCOPE, summary_by(SCOPE, turns))
    assert await cold.episodic.put_summary(SCOPE, summary_by(SCOPE, turns, level=1))
    with pytest.raises(Conflict):
        await cold.episodic.put_summary(SCOPE, summary_by(SCOPE, turns[:1], level=1))


async def test_summary_of_an_unknown_turn_is_refused(cold: Cold) -> None:
    """What covers a turn that is not there would break the account of every turn."""
    turns = await turns_said(cold, 1)
    (theirs,) = await turns_said(cold, 1, OTHER_GRAPH)
    with pytest.raises(NotFound, match="turn"):
        await cold.episodic.put_summary(SCOPE, summary_by(SCOPE, [*turns, theirs]))
    assert await cold.turns.waiting_turns(SCOPE, 0, 10) == tuple(turns)


async def test_racing_summaries_cover_each_turn_once(
    processes: Cold, backend: ColdBackend, tmp_path: Path
) -> None:
    """Twenty racing summaries over overlapping turns: each turn ends in exactly one."""
    turns = await turns_said(processes, 21)
    answers = await asyncio.gather(
        *(
            processes.episodic.put_summary(SCOPE, summary_by(SCOPE, turns[n : n + 2]))
            for n in range(20)
        ),
        return_exceptions=True,
    )
    assert all(answer is True or isinstance(answer, Conflict) for answer in answers)
    rows = backend.rows(tmp_path, "turns")
    covered = [(row["id"], row["covered_by"]) for row in rows if row["covered_by"] is not None]
    stored = await processes.episodic.summaries(SCOPE)
    assert sorted(covered) == sorted((id_, one.id) for one in stored for id_ in one.covers)
    waiting = await processes.turns.waiting_turns(SCOPE, 0, 100)
    assert len(covered) + len(waiting) == 21


async def test_summaries_are_ordered_by_period(cold: Cold) -> None:
    """Oldest period first, whatever was written first."""
    turns = await turns_said(cold, 3)
    stored = []
    for turn, hours in zip(turns, (5, 1, 3), strict=True):
        summary = summary_by(SCOPE, [turn], starts_at=NOW + hours * HOUR)
        await cold.episodic.put_summary(SCOPE, summary)
        stored.append(summary)
    assert await cold.episodic.summaries(SCOPE) == (stored[1], stored[2], stored[0])


async def test_summaries_and_episodes_are_not_seen_outside_their_scope(cold: Cold) -> None:
    """Another topic, graph or tenant gets none."""
    summary = summary_by(SCOPE, await turns_said(cold, 1))
    await cold.episodic.put_summary(SCOPE, summary)
    await cold.episodic.put_episode(SCOPE, episode_by(SCOPE, [summary.id]))
    for stranger in STRANGERS:
        assert await cold.episodic.summaries(stranger) == ()
        assert await cold.episodic.episodes(stranger) == ()


async def test_private_summaries_and_episodes_are_their_agents(cold: Cold) -> None:
    """Neither another agent nor the operator sees them; the agent does."""
    summary = summary_by(SCOPE, await turns_said(cold, 1), private=True)
    await cold.episodic.put_summary(SCOPE, summary)
    episode = episode_by(SCOPE, [summary.id], private=True)
    await cold.episodic.put_episode(SCOPE, episode)
    for other in (OTHER_AGENT, OPERATOR):
        assert await cold.episodic.summaries(other) == ()
        assert await cold.episodic.episodes(other) == ()
    assert await cold.episodic.summaries(SCOPE) == (summary,)
    assert await cold.episodic.episodes(SCOPE) == (episode,)


async def test_what_was_written_is_read_by_id(cold: Cold) -> None:
    """In the order asked, expired ones too; what was redacted says so, what is hidden is not."""
    turns = await turns_said(cold, 3)
    summary = summary_by(SCOPE, turns[:1], expires_at=NOW - HOUR)
    gone = summary_by(SCOPE, turns[1:2])
    mine = summary_by(SCOPE, turns[2:], private=True)
    for one in (summary, gone, mine):
        await cold.episodic.put_summary(SCOPE, one)
    episode = episode_by(SCOPE, [summary.id])
    await cold.episodic.put_episode(SCOPE, episode)
    await cold.redactor.redact(OPERATOR, [gone.id], "asked to", NOW)
    asked = [episode.id, "nobody", gone.id, summary.id, mine.id, turns[0].id, episode.id]
    found = await cold.episodic.written(SCOPE, asked)
    assert [one.id for one in found] == [episode.id, gone.id, summary.id, mine.id]
    assert (found[0], found[2], found[3]) == (episode, summary, mine)
    assert found[1].redacted_at == NOW
    assert gone.text not in found[1].text
    assert await cold.episodic.written(SCOPE, []) == ()
    for stranger in STRANGERS:
        assert await cold.episodic.written(stranger, asked) == ()
    seen = [one.id for one in await cold.episodic.written(OPERATOR, asked)]
    assert seen == [episode.id, gone.id, summary.id]


async def test_due_summaries_are_everybodys_and_without_episode(cold: Cold) -> None:
    """Expiring by the moment asked, private ones included; later, endless and done ones not."""
    turns = await turns_said(cold, 4)
    due = summary_by(SCOPE, turns[:1], expires_at=NOW + HOUR, private=True, starts_at=NOW + HOUR)
    also = summary_by(SCOPE, turns[1:2], expires_at=NOW + HOUR, starts_at=NOW)
    late = summary_by(SCOPE, turns[2:3], expires_at=NOW + 2 * HOUR)
    endless = summary_by(SCOPE, turns[3:], expires_at=None)
    for summary in (due, also, late, endless):
        await cold.episodic.put_summary(SCOPE, summary)
    assert await cold.episodic.due_summaries(OPERATOR, NOW + HOUR, 10) == (also, due)
    assert await cold.episodic.due_summaries(OPERATOR, NOW + HOUR, 1) == (also,)
    assert await cold.episodic.due_summaries(OTHER_GRAPH, NOW + HOUR, 10) == ()
    await cold.episodic.put_episode(SCOPE, episode_by(SCOPE, [also.id]))
    assert await cold.episodic.due_summaries(OPERATOR, NOW + HOUR, 10) == (due,)


async def test_episode_comes_back_once_with_its_work(
    cold: Cold, backend: ColdBackend, tmp_path: Path
) -> None:
    """Stored once under one id; a repeat writes and queues nothing."""
    episode = episode_by(SCOPE, ["child"], user_id="team")
    assert await cold.episodic.put_episode(SCOPE, episode, [draft("e")])
    assert not await cold.episodic.put_episode(SCOPE, episode, [draft("again")])
    assert await cold.episodic.episodes(SCOPE) == (episode,)
    assert [row["key"] for row in backend.rows(tmp_path, "work")] == ["e"]


async def test_child_has_one_episode_per_grain(cold: Cold) -> None:
    """A second daily episode of a child is a conflict that writes nothing; a weekly one is not."""
    first = episode_by(SCOPE, ["a", "b"])
    await cold.episodic.put_episode(SCOPE, first)
    with pytest.raises(Conflict, match="daily episode of b") as conflict:
        await cold.episodic.put_episode(SCOPE, episode_by(SCOPE, ["c", "b"]), [draft()])
    assert conflict.value.found == first.id
    assert await cold.episodic.put_episode(SCOPE, episode_by(SCOPE, ["c"]))
    assert await cold.episodic.put_episode(SCOPE, episode_by(SCOPE, ["a"], grain="weekly"))
    assert sum((await cold.queue.waiting()).values()) == 0


async def test_episodes_overlap_a_window_that_is_open_at_its_end(cold: Cold) -> None:
    """Episodes of one hour at hours 0, 2 and 4: touching the start counts, touching the end not."""
    for name, hours in (("c", 4), ("a", 0), ("b", 2)):
        start = NOW + hours * HOUR
        episode = episode_by(SCOPE, [name], text=name, starts_at=start, ends_at=start + HOUR)
        await cold.episodic.put_episode(SCOPE, episode)
    for since, until, found in (
        (None, None, "abc"),
        (NOW + 2 * HOUR, None, "bc"),
        (None, NOW + 2 * HOUR, "a"),
        (NOW + HOUR, NOW + 3 * HOUR, "ab"),
        (NOW + timedelta(minutes=61), NOW + 2 * HOUR, ""),
        (NOW - HOUR, NOW, ""),
        (NOW + 5 * HOUR, NOW + 9 * HOUR, "c"),
    ):
        episodes = await cold.episodic.episodes(SCOPE, since, until)
        assert "".join(episode.text for episode in episodes) == found, (since, until)


async def test_records_of_somebody_else_and_broken_text_are_refused(cold: Cold) -> None:
    """Nothing is written under another graph, nor half of a record that cannot be stored."""
    turns = await turns_said(cold, 1)
    with pytest.raises(UsageError, match="owner"):
        await cold.episodic.put_summary(SCOPE, summary_by(OTHER_GRAPH, turns))
    with pytest.raises(UsageError, match="owner"):
        await cold.episodic.put_episode(SCOPE, episode_by(OTHER_GRAPH, []))
    broken = summary_by(SCOPE, turns).model_copy(update={"text": LONE_SURROGATE})
    with pytest.raises(UsageError, match="surrogates"):
        await cold.episodic.put_summary(SCOPE, broken)
    assert await cold.turns.waiting_turns(SCOPE, 0, 10) == tuple(turns)
