"""A small history with a secret in each of its records, and the whole of an engine as text."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from tiers.records import (
    Commitment,
    Fact,
    Receipt,
    Rule,
    Scope,
    Settlement,
    Summary,
    ToolOutput,
    Turn,
)

from .cold_backends import Cold
from .cold_samples import (
    SCOPE,
    belief_by,
    draft,
    episode_by,
    fact_by,
    graph_of,
    receipt_by,
    rule_by,
    summary_by,
    turn_by,
)
from .tier_samples import NOW

LATER = NOW + timedelta(hours=2)

SECRETS = (
    *("xylograph", "zymotic", "quokka", "jacquard"),
    *("vuvuzela", "wyvern", "kumquat", "zugzwang", "fjordic", "glockenspiel"),
)
"""Words that no other word of the tests begins like, each of its own stem.

Said in: the turn's input, response and tool output; the summary; the episode; the fact's text and
its triple; the fact made of the fact; the receipt's question and the text of its slot; the name of
who spoke in the turn.
"""

KEPT = ("narwhal", "gazebo")
"""Said in the other turn, and in a fact that has nothing to do with it."""


@dataclass(frozen=True)
class History:
    """What was told: a turn with a secret, what was made of it, and what was not.

    Attributes:
        scope: Whose.
        told: The turn with the secret, another turn under the same summary, and one that waits.
        summary: Of the first two.
        episodes: Of the summary: a daily one, and a weekly one of that.
        facts: Of the first turn; of that fact; and one of nothing.
        rule: With a word of its own.
        receipts: Of the first turn; of a turn that saw its fact; and of another turn.
    """

    scope: Scope
    told: tuple[Turn, ...]
    summary: Summary
    episodes: tuple[Any, ...]
    facts: tuple[Fact, ...]
    rule: Rule
    receipts: tuple[Receipt, ...]

    @property
    def reached(self) -> dict[str, tuple[str, ...]]:
        """Return what redacting the first turn reaches, by kind."""
        return {
            "turn": (self.told[0].id,),
            "summary": (self.summary.id,),
            "episode": tuple(sorted(one.id for one in self.episodes)),
            "fact": tuple(sorted(one.id for one in self.facts[:2])),
            "receipt": tuple(sorted(one.id for one in self.receipts[:2])),
        }


def history_of(scope: Scope = SCOPE) -> History:
    """Return a history that is not stored yet."""
    first = turn_by(
        scope,
        f"The code is {SECRETS[0]}.",
        response=f"Noted, {SECRETS[1]}.",
        tool_outputs=(ToolOutput(tool="search", output=f"found {SECRETS[2]}"),),
        speaker=SECRETS[9],
        ref=f"{scope.graph_id} 1",
        private=True,
    )
    other = turn_by(scope, f"A {KEPT[0]} was seen.", private=True)
    waiting = turn_by(scope, f"It waits, {SECRETS[0]}.", response="")
    summary = summary_by(
        scope, (first, other), text=f"The code is {SECRETS[3]}; a {KEPT[0]}.", private=True
    )
    daily = episode_by(scope, [summary.id], text=f"A day of {SECRETS[4]}.", private=True)
    weekly = episode_by(scope, [daily.id], text=f"A week of {SECRETS[4]}.", grain="weekly")
    fact = fact_by(
        scope, f"Its name is {SECRETS[5]}.", source_ids=(first.id,), subject="it",
        predicate="is called", object=SECRETS[6], user_id=None,
    )  # fmt: skip
    derived = fact_by(scope, f"So {SECRETS[7]}.", source_ids=("x", fact.id), tier="core")
    lone = fact_by(scope, f"The {KEPT[1]} is green.")
    said = {"slots": [{"kind": "hot", "source_ids": [fact.id], "text": f"slot {SECRETS[8]}"}]}
    receipts = (
        receipt_by(scope, query=f"{SECRETS[8]}?", body={"turn_id": first.id, "slots": []}),
        receipt_by(scope, query=f"{SECRETS[8]}!", body=said),
        receipt_by(scope, query=f"{KEPT[1]}?", body={"slots": [{"source_ids": [first.id + "0"]}]}),
    )
    return History(
        scope=scope,
        told=(first, other, waiting),
        summary=summary,
        episodes=(daily, weekly),
        facts=(fact, derived, lone),
        rule=rule_by(scope, f"asked for a {SECRETS[0]}", steps=(f"Say {SECRETS[1]}.",)),
        receipts=receipts,
    )


async def store(cold: Cold, history: History, *, graph: bool = True) -> History:
    """Store a history through the ports, and return it as it was stored."""
    scope = history.scope
    if graph:
        await cold.graphs.create_graph(graph_of(scope.graph_id, tenant=scope.tenant))
    told = tuple([(await cold.turns.append_turn(scope, one))[0] for one in history.told])
    assert await cold.episodic.put_summary(scope, history.summary, [draft(history.summary.id)])
    for episode in history.episodes:
        assert await cold.episodic.put_episode(scope, episode)
    for fact in history.facts:
        assert (await cold.semantic.put_fact(scope, fact))[1]
    await cold.procedural.put_rule(scope, history.rule)
    for receipt in history.receipts:
        await cold.log.put_receipt(scope, receipt)
    return replace(history, told=told)


def words_in(whole: dict[str, str], words: tuple[str, ...]) -> dict[str, list[str]]:
    """Return which of the words stand where; tables without any are left out."""
    found = {name: [word for word in words if word in text] for name, text in whole.items()}
    return {name: there for name, there in found.items() if there}


BELIEF_SECRETS = (
    *("yttrium", "quincunx", "zeppelin", "obsidian", "marzipan", "gazpacho"),
    *("fandango", "bouzouki", "didgeridoo", "tamburin"),
)
"""Words like ``SECRETS``, each of its own stem.

Said in: the claim of the active belief; its key; its value; the one whose place it took; the one
that was taken back; why that one was; why the active and the kept one disagree; the belief made of
a fact; the fact made of the active belief; the receipt that names it.
"""

BELIEVED = ("pangolin", "okapi")
"""Said in the belief that is kept, and in its value."""


@dataclass(frozen=True)
class Convictions:
    """Beliefs with a secret in each, and what was made of them.

    Attributes:
        kept: Says nothing that goes; the active one was held against it.
        old: Superseded by ``active``, of the same key.
        active: Pinned; its sources are none of the graph's.
        mistaken: Taken back.
        root: A fact.
        derived: A belief that rests on ``root``, private.
        fact: Made of ``active``.
        receipt: Names ``active``.
    """

    kept: Commitment
    old: Commitment
    active: Commitment
    mistaken: Commitment
    root: Fact
    derived: Commitment
    fact: Fact
    receipt: Receipt


def convictions_of() -> Convictions:
    """Return beliefs that are not committed yet."""
    words = BELIEF_SECRETS
    key = (words[1], words[2])
    active = belief_by(SCOPE, f"It is {words[0]}.", key=key, value=words[3], turn_id="t 1")
    said = {"slots": [{"kind": "belief", "source_ids": [active.id], "text": words[9]}]}
    root = fact_by(SCOPE, f"It follows, {words[7]}.")
    return Convictions(
        kept=belief_by(SCOPE, f"A {BELIEVED[0]}.", key=None, value=BELIEVED[1]),
        old=belief_by(SCOPE, f"It was {words[4]}.", key=key),
        active=active,
        mistaken=belief_by(SCOPE, f"Never {words[5]}.", key=None),
        root=root,
        derived=belief_by(
            SCOPE, f"Then {words[7]}.", key=None, source_ids=("x", root.id), private=True
        ),
        fact=fact_by(SCOPE, f"So {words[8]}.", source_ids=(active.id,)),
        receipt=receipt_by(SCOPE, query=f"{words[9]}?", body=said),
    )


async def believe(cold: Cold, told: Convictions, scope: Scope = SCOPE) -> Convictions:
    """Commit and store all of it, in a graph that is new."""
    words = BELIEF_SECRETS
    await cold.graphs.create_graph(graph_of(scope.graph_id, tenant=scope.tenant))
    await cold.semantic.put_fact(scope, told.root)
    for belief in (told.kept, told.old, told.mistaken, told.derived):
        assert (await cold.beliefs.commit(scope, belief)).is_new
    settled = [
        _settled(told.old, "new", f"no more {words[4]}"),
        _settled(told.kept, "both", f"{words[6]} or not"),
    ]
    done = await cold.beliefs.commit(scope, told.active, settled)
    assert [one.id for one in done.superseded] == [told.old.id]
    await cold.beliefs.pin(scope, told.active.id, NOW)
    await cold.beliefs.revert(scope, told.mistaken.id, f"never {words[5]}", NOW)
    await cold.semantic.put_fact(scope, told.fact)
    await cold.log.put_receipt(scope, told.receipt)
    return told


def _settled(rival: Commitment, winner: Any, reason: str) -> Settlement:
    return Settlement(
        rival_id=rival.id, winner=winner, strategy="last_write_wins", found_by="test", reason=reason
    )
