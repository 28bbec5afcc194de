"""The commands about facts, and about rules: remember, list, search, show, forget.

Facts are what is held to be true; rules are procedures and playbooks, with when they apply.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Annotated, Any, cast

import typer
from pydantic import JsonValue

from tiers.errors import NotFound, PolicyDenied, UsageError
from tiers.learning import is_live
from tiers.records import Fact, FactTier, Hit, Kind, Rule

from ..checks import checked
from ..handles.remembering_facts import METADATA, FactScope
from ..operations import SHORT_PAGE_MAX
from ..recaller import RecallResult
from .command import Answer, Note, Part, Rows, command, group
from .doors import AnyEzra, InAgent, InGraph, opened
from .lifecycle import explain
from .options import OwnTopics, Private, Reason, Shared, fields_of, one_of, said
from .turns import shortened

PAGE = 50
TIERS: tuple[FactTier, ...] = ("archival", "core")

facts_app = group(
    "Facts: what is held to be true, in every context (core) or found by recall (archival)."
)

Topics = Annotated[list[str] | None, typer.Option("--topic", help="With this topic. Repeatable.")]
Found = Annotated[int, typer.Option(help="How many, 1 to 100.")]
After = Annotated[str, typer.Option(help="Where the page before ended: its cursor.")]
OnPage = Annotated[int, typer.Option(help="The most on a page.", min=1, max=SHORT_PAGE_MAX)]
AsAgent = Annotated[
    str | None, typer.Option("--agent", help="As this member sees it; default: the operator.")
]


@command(facts_app, "list")
async def list_facts(
    at: InGraph,
    tier: str | None = None,
    topic: Topics = None,
    after: After = "",
    limit: OnPage = PAGE,
) -> Answer:
    """List a graph's shared facts that hold, the latest first, page by page.

    Args:
        tier: Only core or archival facts.

    Examples:
        ezra facts list imola
        ezra facts list imola --tier core --topic tyres
        ezra facts list imola --limit 100 --after CURSOR --json
    """
    kept = None if tier is None else one_of("--tier", tier, TIERS)
    found = await (await at.held()).latest_facts(
        tier=kept, topics=topic or None, after=after, limit=limit
    )
    rows = [(one.id, one.tier, one.topics, one.agent_id, shortened(one.text)) for one in found.rows]
    listed = Rows(("fact", "tier", "topics", "by", "text"), rows)
    return Answer(
        {"facts": found.rows, "cursor": found.cursor}, [listed, *more_after(found.cursor)]
    )


@command(facts_app)
async def search(
    at: InGraph,
    text: str,
    agent: AsAgent = None,
    topic: Topics = None,
    limit: Found = 10,
) -> Answer:
    """Find facts by words and meaning, best first; inherited ones too.

    Args:
        text: What the facts are to be about.

    Examples:
        ezra facts search imola 'tyre life'
        ezra facts search imola 'tyre life' --agent strategist --json
    """
    return await recalled(at, agent, text, "fact", topic, limit)


@command(facts_app)
async def show(at: InGraph, fact: list[str]) -> Answer:
    """Show shared facts in full, those that gave way or were forgotten included.

    Exit code 1 when one of them is not there.

    Args:
        fact: Ids of facts.

    Examples:
        ezra facts show imola 01985a4c-… --json
    """
    found = await (await at.held()).facts(fact)
    known = {one.id for one in found}
    missing = [NotFound("fact", wanted) for wanted in fact if wanted not in known]
    lines = [line for one in found for line in _lines(one)]
    return Answer(found, lines, error=missing[0] if missing else None)


command(facts_app, "history", "ezra facts history 01985a4c-… --json")(explain)


async def recalled(
    at: InGraph,
    agent: str | None,
    text: str,
    kind: Kind,
    topics: list[str] | None,
    limit: int,
) -> Answer:
    """Ask for one kind of record, as a member or as the graph's operator."""
    asked: dict[str, Any] = {"kinds": (kind,), "limit": limit, "topics": topics or None}
    if agent is not None:
        found = await (await at.as_agent(agent)).recall(text, **asked)
    else:
        found = await (await at.held()).recall(text, **asked)
    return Answer({"items": found.items, "degraded": found.degraded}, _recalled(found))


def _recalled(found: RecallResult) -> Iterator[Part]:
    """Yield what was found, best first, and what did not take part."""
    rows: list[tuple[Any, ...]] = [
        (one.id, f"{one.score:.4f}", one.inherited_from, shortened(one.text)) for one in found.items
    ]
    outcomes = [_outcomes(one) for one in found.items]
    if any(outcomes):
        rows = [(*row[:3], one, row[3]) for row, one in zip(rows, outcomes, strict=True)]
        yield Rows(("id", "score", "from", "outcomes", "text"), rows)
    else:
        yield Rows(("id", "score", "from", "text"), rows)
    if not rows:
        yield Note("nothing found")
    if found.degraded:
        yield Note(f"degraded: {', '.join(found.degraded)}")


def _outcomes(hit: Hit) -> str:
    """Return how a rule did, where that is known; nothing for what is none."""
    if hit.successes is None:
        return ""
    return f"confirmed {hit.successes}, rejected {hit.failures}"


def more_after(cursor: str | None) -> list[Part]:
    """Say how to go on where a page is not the last one."""
    return [] if cursor is None else [Note(f"there is more: --after {cursor}")]


async def remember(
    at: InAgent,
    text: Annotated[str | None, typer.Argument()] = None,
    triple: Annotated[
        tuple[str, str, str] | None, typer.Option(metavar="SUBJECT PREDICATE OBJECT")
    ] = None,
    core: bool = False,
    topic: OwnTopics = None,
    private: Private = False,
    shared: Shared = False,
    confidence: float = 1.0,
    valid_from: datetime | None = None,
    supersedes: str | None = None,
) -> Answer:
    """Remember a fact as an agent, and say its id. The same statement is stored once.

    Agents of the agent's user see it, in this graph; --private narrows that, --shared widens it.

    Args:
        text: What to remember; - reads standard input.
        triple: The same as three parts, or instead of text.
        core: Into every context, instead of found by recall.
        confidence: How sure it is, 0 to 1.
        valid_from: Since when it is true; UTC without a zone.
        supersedes: Id of the fact whose place it takes.

    Examples:
        ezra remember imola strategist 'Mediums last about 18 laps.' --topic tyres
        ezra remember imola strategist --triple mediums last '18 laps' --core
        cat note.txt | ezra remember imola strategist - --private --json
    """
    if text is None and triple is None:
        raise UsageError("text", None, "what to remember, as text or as --triple")
    subject, predicate, object_ = triple or (None, None, None)
    fact = checked(
        Fact,
        text="" if text is None else said("text", text),
        subject=subject,
        predicate=predicate,
        object=object_,
        tier="core" if core else "archival",
        confidence=confidence,
        valid_from=valid_from,
    )
    member = await at.member()
    stored = await member.remember(
        fact, topics=topic or None, private=private, shared=shared, supersedes=supersedes
    )
    return Answer({"graph": at.graph, "agent": at.agent, "id": stored}, stored)


async def remember_fact(
    at: InAgent,
    text: str,
    scope: str = "user",
    metadata: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help=f"{', '.join(METADATA)}. Repeatable."),
    ] = None,
    topic: OwnTopics = None,
) -> Answer:
    """Remember a statement once for a person or an agent, whichever program says it.

    The id follows from whose it is and what it says. `ezra remember` has more to say of a fact.

    Args:
        text: One statement; - reads standard input.
        scope: user: the person the agent works for; agent: itself alone.

    Examples:
        ezra remember-fact imola concierge 'Jane drinks tea.'
        ezra remember-fact imola concierge 'Always answer in French.' --scope agent --metadata
            fact_type=constraint --json
    """
    content, known = said("text", text), _metadata(metadata or [])
    member = await at.member()
    owner = cast("FactScope", scope)
    done = await member.remember_fact(content, owner, known, topics=topic or None)
    return Answer(
        {"graph": at.graph, "agent": at.agent, "id": done.id, "was_new": done.was_new},
        done.id if done.was_new else (done.id, Note("it was known")),
    )


async def forget(
    at: InAgent,
    fact: str,
    reason: Reason,
    yes: Annotated[bool, typer.Option("--yes", "-y")] = False,
) -> Answer:
    """Forget a fact: it is in no search and no context any more, and stays as a tombstone.

    Its content is destroyed by retention later, or by 'ezra graph redact' at once. Exit code 1
    when the agent sees no such fact that lives in its graph.

    Args:
        fact: Id of the fact.
        yes: Do not ask; needed where nobody can be asked.

    Examples:
        ezra forget imola strategist 01985a4c-… --reason 'it was wrong'
        ezra forget imola strategist 01985a4c-… --reason 'asked by Jane' --yes --json
    """
    if not reason.strip():
        raise UsageError("--reason", reason, "why; it is kept in the audit feed")
    if not yes and not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise UsageError("--yes", yes, "--yes where nobody can be asked")
    if not yes:
        # Nothing is open while a person thinks.
        async with opened(at.home, at.url) as ezra:
            shown = await _to_forget(ezra, at.graph, fact)
        if not typer.confirm(f"Forget {shown}?", default=False, err=True):
            return Answer(notes=["nothing was forgotten"], code=1)
    done = await (await at.member()).forget(fact, reason=reason)
    missing = f"{fact} is no fact that lives in {at.graph}, or {at.agent} does not see it"
    document = {"id": fact, "forgotten": done}
    return Answer(document, f"forgot {fact}" if done else missing, code=0 if done else 1)


async def _to_forget(ezra: AnyEzra, graph: str, fact: str) -> str:
    """Return what is to be forgotten: its text, where whoever asks may read the graph."""
    try:
        found = await (await ezra.session_graph(graph)).facts([fact])
    except PolicyDenied:
        return fact
    return f"{fact} ({found[0].text})" if found else fact


def _metadata(given: Sequence[str]) -> dict[str, JsonValue]:
    known: dict[str, JsonValue] = {}
    for name, value in fields_of("--metadata", given, among=METADATA).items():
        known[name] = value
        if name == "source_ids":
            known[name] = [*value.split(",")]
        elif name == "confidence":
            with suppress(ValueError):  # what is none is refused with the record
                known[name] = float(value)
    return known


def _lines(fact: Fact) -> list[str]:
    who = f"by {fact.agent_id or 'ezra'} at {fact.recorded_at:%Y-%m-%d %H:%M}"
    about = f"{fact.tier}, topics {', '.join(fact.topics) or '-'}, user {fact.user_id or '-'}"
    lines = [f"{fact.id}  {fact.text}", f"  {who}; {about}"]
    lines.append(f"  confidence {fact.confidence:g}, used {fact.uses} times")
    if fact.subject is not None:
        lines.append(f"  {fact.subject} → {fact.predicate} → {fact.object}")
    if fact.superseded_by is not None:
        lines.append(f"  gave way to {fact.superseded_by}")
    elif not is_live(fact):
        lines.append("  is forgotten" if fact.forgotten_at else "  holds no more")
    return lines


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
    lines = [line for one in found.rows for line in _rule_lines(one)]
    return Answer(
        {"rules": found.rows, "cursor": found.cursor}, [*lines, *more_after(found.cursor)]
    )


@command(rules_app, "search")
async def search_rules(
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


def _rule_lines(rule: Rule) -> list[str]:
    went = f"confirmed {rule.successes} times, rejected {rule.failures}"
    topics = ", ".join(rule.topics) or "-"
    head = f"{rule.id}  when {' '.join(rule.trigger.split())}"
    about = f"  version {rule.version}, {went}; topics {topics}; by {rule.agent_id or 'ezra'}"
    steps = [f"  {number}. {' '.join(step.split())}" for number, step in enumerate(rule.steps, 1)]
    return [head, *steps, about]
