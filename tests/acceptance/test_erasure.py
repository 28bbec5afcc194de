"""After an erasure nothing is left anywhere, and the log still proves itself. Row EZ-13."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from support.erasure_story import (
    KEPT,
    OF_BELIEF,
    OF_SUBJECT,
    OF_USER,
    SUBJECT,
    USER,
    Story,
    opened,
    told,
)
from support.places import PLACES
from support.raw_stores import files_with, places_with
from support.runtime import MovingClock

from ezra import Ezra

OURS = ("ezra", "metaagents", "tiers")
"""Packages whose every log record is looked at, down to the lowest level."""


async def test_nothing_is_left_of_a_belief_a_subject_and_a_user(
    tiers: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """By belief, by subject, by user: every file, table, key, field, vector, document and log."""
    for name in OURS:
        caplog.set_level(logging.DEBUG, logger=name)
    clock = MovingClock()
    async with opened(tmp_path, clock) as ezra:
        story = await told(ezra, clock)
        await _check_found(ezra, tmp_path, tiers)
        others = await _others(story)

        report = await story.graph.beliefs.redact(story.belief.id, reason="asked to")
        assert report.is_complete
        await _check_gone(ezra, tmp_path, OF_BELIEF)

        report = await story.graph.erase(subject=SUBJECT, reason="asked to")
        assert report.is_complete
        assert report.receipt is not None
        await _check_gone(ezra, tmp_path, (*OF_BELIEF, *OF_SUBJECT))
        assert await places_with(ezra, tmp_path, OF_USER), "somebody else's is still there"

        assert (await story.graph.erase(user_id=USER, reason="asked to")).is_complete
        gone = (*OF_BELIEF, *OF_SUBJECT, *OF_USER)
        await _check_gone(ezra, tmp_path, gone)
        await _check_alive(ezra, story, others)
        await _check_gone(ezra, tmp_path, gone)
    assert not files_with(tmp_path, gone)
    assert not [word for word in gone if word in caplog.text.casefold()]


async def _check_found(ezra: Ezra, home: Path, tiers: str) -> None:
    """The search can find: in every place that can hold words, and in none that cannot."""
    found = await places_with(ezra, home, (*OF_BELIEF, *OF_SUBJECT, *OF_USER))
    stores = {"redis", "qdrant"} | ({"sqlite", "home"} if tiers == "embedded" else {"mongodb"})
    telling = [one for one in PLACES if one.store in stores and one.holds in {"text", "key"}]
    fields = {(one.store, one.name): {*one.fields} or {""} for one in telling}
    unlisted = {place for place in found if place[2] not in fields.get(place[:2], ())}
    assert not unlisted, "words stand where the list says that none can"
    idle = fields.keys() - {place[:2] for place in found}
    # Work has no problem, no vector is made, and the ends of a fact are known by digests.
    digests = {"facts__ends", "facts__joins"}
    files = {"ezra.db", "ezra.db-wal"}  # as far as the log has been written back into the database
    names = {name for _, name in idle}
    assert names <= {"work", "dense", *files, *digests}
    assert not files <= names


async def _check_gone(ezra: Ezra, home: Path, words: Iterable[str]) -> None:
    assert await places_with(ezra, home, words) == set()


async def _check_alive(ezra: Ezra, story: Story, others: dict[str, Any]) -> None:
    """The chain verifies, the projection follows from it, and everybody else goes on."""
    for graph in (story.graph, story.branch):
        verified = await graph.beliefs.verify()
        assert verified.ok, verified.problems
    assert await _others(story) == others
    turn = await story.keeper.turn("What was seen, what is green, what sleeps?")
    context = " ".join(slot.text for slot in turn.slots)
    assert all(word in context for word in KEPT[1:3])
    await turn.reply("A narwhal.")
    hits = await story.keeper.recall(" ".join(KEPT), limit=50)
    assert all(any(word in hit.text for hit in hits.items) for word in KEPT)
    await ezra.drain_learning()


async def _others(story: Story) -> dict[str, Any]:
    """Return the records that have nothing to do with any of it, as they are stored."""
    runtime, scope, kept = story.graph._runtime, story.graph._scope, story.kept
    turns = await runtime.turns.turns(scope.for_agent("keeper"), [kept["turn"]])
    rules = await runtime.procedural.match_rules(scope, "a kumquat is ripe", 10)
    beliefs = await story.graph.beliefs.active()
    facts = await story.graph.facts([kept["fact"]])
    return {
        "turn": turns,
        "fact": [one.text for one in facts],  # its uses are counted
        "rule": [one for one in rules if one.id == kept["rule"]],
        "belief": [one for one in beliefs if one.id == kept["belief"]],
    }
