"""The commands about rules: procedures and playbooks, and when they apply."""

from __future__ import annotations

from tiers.records import Rule

from ..checks import checked
from .command import Answer, command, group
from .doors import InAgent, InGraph
from .facts import PAGE, After, AsAgent, Found, OnPage, Topics, more_after, recalled
from .lifecycle import explain
from .options import OwnTopics, Private, Shared

rules_app = group("Rules: what is to be done when something is asked, with how it went so far.")


@command(rules_app)
async def add(
    at: InAgent,
    trigger: str,
    step: list[str],
    topic: OwnTopics = None,
    private: Private = False,
    shared: Shared = False,
    supersedes: str | None = None,
) -> Answer:
    """Add a rule as an agent, and say its id. The same rule is stored once.

    Args:
        trigger: When it applies.
        step: What to do, step by step.
        supersedes: Id of the rule of this trigger that gets these steps as its next version.

    Examples:
        ezra rules add imola strategist 'it rains' 'Box for inters.' 'Watch lap 2.'
    """
    rule = checked(Rule, trigger=trigger, steps=tuple(step))
    member = await at.member()
    stored = await member.remember(
        rule, topics=topic or None, private=private, shared=shared, supersedes=supersedes
    )
    return Answer({"graph": at.graph, "agent": at.agent, "id": stored}, stored)


@command(rules_app, "list")
async def list_rules(
    at: InGraph,
    topic: Topics = None,
    after: After = "",
    limit: OnPage = PAGE,
) -> Answer:
    """List a graph's shared rules, the latest first, page by page, and how they did.

    Examples:
        ezra rules list imola
        ezra rules list imola --topic tyres --json
    """
    found = await (await at.held()).latest_rules(topics=topic or None, after=after, limit=limit)
    lines = [line for one in found.rows for line in _lines(one)]
    return Answer(
        {"rules": found.rows, "cursor": found.cursor}, [*lines, *more_after(found.cursor)]
    )


@command(rules_app)
async def search(
    at: InGraph,
    text: str,
    agent: AsAgent = None,
    topic: Topics = None,
    limit: Found = 10,
) -> Answer:
    """Find the rules that apply, best first; inherited ones too.

    Args:
        text: What is asked, or going on.

    Examples:
        ezra rules search imola 'it rains'
        ezra rules search imola 'it rains' --agent strategist --json
    """
    return await recalled(at, agent, text, "rule", topic, limit)


command(rules_app, "history", "ezra rules history 01985a4c-… --json")(explain)


def _lines(rule: Rule) -> list[str]:
    went = f"confirmed {rule.successes} times, rejected {rule.failures}"
    topics = ", ".join(rule.topics) or "-"
    head = f"{rule.id}  when {' '.join(rule.trigger.split())}"
    about = f"  version {rule.version}, {went}; topics {topics}; by {rule.agent_id or 'ezra'}"
    steps = [f"  {number}. {' '.join(step.split())}" for number, step in enumerate(rule.steps, 1)]
    return [head, *steps, about]
