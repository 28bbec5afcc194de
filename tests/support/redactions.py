"""A small history with a secret in each of its records, and the whole of an engine as text."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from tiers.cold.mongo.store import collections
from tiers.records import Fact, Receipt, Rule, Scope, Summary, ToolOutput, Turn

from .cold_backends import Cold, ColdBackend
from .cold_samples import (
    SCOPE,
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
    *("vuvuzela", "wyvern", "kumquat", "zugzwang", "fjordic"),
)
"""Words that no other word of the tests begins like, each of its own stem.

Said in: the turn's input, response and tool output; the summary; the episode; the fact's text and
its triple; the fact made of the fact; the receipt's question and the text of its slot.
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


def dump(backend: ColdBackend, folder: Path) -> dict[str, str]:
    """Return everything that the engine holds, by table or collection, shadow tables included."""
    tables = ["meta", *collections()]
    if backend.name == "sqlite":
        master = backend.rows(folder, "sqlite_master")
        tables = [row["name"] for row in master if row["type"] == "table"]
        assert "word_index_data" in tables
    return {name: "\n".join(map(repr, backend.rows(folder, name))) for name in tables}


def words_in(whole: dict[str, str], words: tuple[str, ...]) -> dict[str, list[str]]:
    """Return which of the words stand where; tables without any are left out."""
    found = {name: [word for word in words if word in text] for name, text in whole.items()}
    return {name: there for name, there in found.items() if there}
