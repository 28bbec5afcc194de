"""The timeline from the words of its port alone: a plain list of records, filtered and sorted.

And random worlds of records to compare the engines with, of every kind that is imported as it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from random import Random
from typing import Any, get_args

from tiers.forms import entry_of, hit_of
from tiers.recollection import Place
from tiers.records import (
    ALL_TOPICS,
    Episode,
    Fact,
    Grain,
    Hit,
    Owned,
    Scope,
    SearchQuery,
    Summary,
    ToolOutput,
)
from tiers.upkeep import Table

from .cold_samples import asked, episode_by, fact_by, rule_by, summary_by, turn_by
from .tier_samples import NOW, scope_of

HOUR = timedelta(hours=1)
GRAINS: tuple[Grain, ...] = get_args(Grain)
CHANCE = 0.2
"""Of each condition to be part of a question."""

USERS = (None, None, "ann", "bob")
TOPICS = ((), ("tyres",), ("weather",), ("tyres", "weather"))

ASKERS = (
    scope_of("acme", "race", "strategist", topics=("tyres",), user_id="ann"),
    scope_of("acme", "race", "engineer", topics=(ALL_TOPICS,), denied=("weather",)),
    Scope.of_graph("acme", "race"),
)


def world_of(random: Random) -> Mapping[Table, list[Any]]:
    """Return records of two graphs by table, most of them within two days of each other."""

    def owner() -> tuple[Scope, dict[str, Any]]:
        graph = random.choice(["race", "race", "race", "monza"])
        scope = scope_of(
            "acme", graph, random.choice(["strategist", "engineer"]), user_id=random.choice(USERS)
        )
        return scope, {"topics": random.choice(TOPICS), "private": random.random() < 0.15}

    def some(count: int) -> Iterator[tuple[Scope, dict[str, Any], datetime]]:
        for _ in range(count):
            yield (*owner(), NOW - random.randrange(48) * HOUR)

    output = ToolOutput(tool="radar", output="dry")
    turns = [
        turn_by(scope, occurred_at=at, tool_outputs=random.choice([(), (output,)]), **more)
        for scope, more, at in some(24)
    ]
    summaries = [
        summary_by(
            scope_of("acme", turn.graph_id, turn.agent_id, user_id=turn.user_id),
            [turn],
            topics=turn.topics,
            private=turn.private,
            starts_at=turn.occurred_at,
            ends_at=turn.occurred_at + random.randrange(1, 9) * HOUR,
            expires_at=NOW + random.randrange(-9, 9) * HOUR,
        )
        for turn in turns[::3]
    ]
    episodes = [
        episode_by(
            scope,
            [],
            starts_at=at,
            ends_at=at + random.randrange(1, 9) * HOUR,
            grain=random.choice(GRAINS),
            **more,
        )
        for scope, more, at in some(16)
    ]
    facts = [
        _ended(
            fact_by(
                scope,
                f"Fact {number}.",
                valid_from=random.choice([None, at]),
                minute=-random.randrange(600),
                tier=random.choice(["core", "archival"]),
                **more,
            ),
            random,
        )
        for number, (scope, more, at) in enumerate(some(24))
    ]
    rules = [rule_by(scope, f"rule {n}", **more) for n, (scope, more, _) in enumerate(some(4))]
    seq: dict[tuple[str, str], int] = {}
    for place, turn in enumerate(turns):
        key = (turn.graph_id, turn.agent_id)
        seq[key] = seq.get(key, 0) + 1
        turns[place] = turn.model_copy(update={"seq": seq[key]})
    return {
        "turns": turns,
        "summaries": summaries,
        "episodes": episodes,
        "facts": facts,
        "rules": rules,
    }


def _ended(fact: Fact, random: Random) -> Fact:
    end = fact.recorded_at + random.randrange(1, 300) * timedelta(minutes=1)
    superseded = {"superseded_by": "another", "superseded_at": end, "superseded_as": "natural"}
    ways: list[dict[str, Any]] = [{}, {}, superseded, {"forgotten_at": end}]
    return fact.model_copy(update=random.choice(ways))


def question(random: Random) -> SearchQuery:
    """Return a question with some conditions of every kind."""
    kinds = ("turn", "tool_output", "summary", "episode", "fact", "rule", "document")
    conditions: dict[str, Any] = {
        "as_of": NOW - random.randrange(500) * timedelta(minutes=1),
        "since": NOW - random.randrange(12, 48) * HOUR,
        "until": NOW - random.randrange(24) * HOUR,
        "grains": tuple(random.sample(GRAINS, 2)),
        "topics": random.choice([("tyres",), ("tyres", "rain")]),
        "writer_id": "engineer",
        "user_id": "ann",
        "tier": "core",
    }
    said: dict[str, Any] = {
        "kinds": tuple(random.sample(kinds, random.randrange(2, 8))),
        "limit": random.choice([3, 200]),
        "mode": random.choice(["hybrid", "words", "dense"]),
    }
    said |= {name: one for name, one in conditions.items() if random.random() < CHANCE}
    if "topics" in said and {"writer_id", "user_id", "tier"} & said.keys():
        said["all_topics"] = said.pop("topics")
    return asked("words are not looked at", **said)


def latest(records: Sequence[Owned], scope: Scope, query: SearchQuery) -> list[Hit]:
    """Return what the timeline must answer."""
    found = [
        one
        for one in records
        if _sees(scope, one) and _stands(one, query) and _is_asked(one, query)
    ]
    found.sort(key=lambda one: (-_last(one).timestamp(), one.id))
    return [hit_of(one, 0.0, scope.graph_id) for one in found[: query.limit]]


def place_of(one: Owned) -> Place:
    """Return where a record stands in the order of the timeline."""
    return Place(_last(one), one.id)


def _last(one: Owned) -> datetime:
    entry = entry_of(one)
    if isinstance(one, Summary | Episode):
        return one.ends_at
    return entry.occurred_at or entry.recorded_at


def _sees(scope: Scope, one: Owned) -> bool:
    topics = set(one.topics)
    return (
        (one.tenant, one.graph_id) == (scope.tenant, scope.graph_id)
        and (not one.private or one.agent_id == scope.agent_id)
        and (ALL_TOPICS in scope.topics or not topics or bool(topics & set(scope.topics)))
        and not topics & set(scope.denied)
        and (scope.every_user or one.user_id in {None, scope.user_id})
    )


def _stands(one: Owned, query: SearchQuery) -> bool:
    if isinstance(one, Summary):
        at = query.as_of or query.now
        return one.expires_at is None or one.expires_at > at
    if not isinstance(one, Fact):
        return True
    ends = [end for end in (one.superseded_at, one.forgotten_at) if end is not None]
    return not ends if query.as_of is None else all(end > query.as_of for end in ends)


def _is_asked(one: Owned, query: SearchQuery) -> bool:
    entry = entry_of(one)
    at = entry.occurred_at or entry.recorded_at
    return (
        not {entry.kind, *entry.also}.isdisjoint(query.kinds)
        and (query.as_of is None or one.recorded_at <= query.as_of)
        and (query.since is None or at >= query.since)
        and (query.until is None or at < query.until)
        and (not query.grains or entry.grain is None or entry.grain in query.grains)
        and (not query.topics or not set(one.topics).isdisjoint(query.topics))
        and set(query.all_topics) <= set(one.topics)
        and query.writer_id in {None, one.agent_id}
        and query.user_id in {None, one.user_id}
        and (query.tier is None or entry.tier in {None, query.tier})
    )
