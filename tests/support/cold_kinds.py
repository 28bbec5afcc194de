"""One record of each kind of the cold tier, stored."""

from __future__ import annotations

from tiers.records import Owned, Scope

from .cold_backends import Cold
from .cold_samples import SCOPE, belief_by, episode_by, fact_by, rule_by, summary_by, turn_by


async def one_of_each(cold: Cold, scope: Scope = SCOPE, **fields: object) -> dict[str, Owned]:
    """Store one record of each kind, all about tyres."""
    turn, _ = await cold.turns.append_turn(scope, turn_by(scope, "Which tyres?", **fields))
    summary = summary_by(scope, [turn], text="They spoke of tyres.", **fields)
    await cold.episodic.put_summary(scope, summary)
    episode = episode_by(scope, [summary.id], text="A day of tyres.", **fields)
    await cold.episodic.put_episode(scope, episode)
    fact, _ = await cold.semantic.put_fact(scope, fact_by(scope, "Tyres are round.", **fields))
    rule, _ = await cold.procedural.put_rule(scope, rule_by(scope, "worn tyres", **fields))
    belief = belief_by(scope, "Our tyres will last.", **fields)
    await cold.beliefs.commit(scope, belief)
    return {
        "turn": turn,
        "summary": summary,
        "episode": episode,
        "fact": fact,
        "rule": rule,
        "belief": belief,
    }
