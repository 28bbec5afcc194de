"""Storing what a handle is told to remember: checked, owned by its scope, queued for indexing."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import nullcontext
from functools import partial

from pydantic import JsonValue

from metaagents.learning.predicates import is_multi_valued
from metaagents.learning.regexes import compiled
from metaagents.learning.remarks import as_said
from metaagents.learning.weighing import reason_of_place, takes_core
from tiers.cold.digests import said_by
from tiers.cold.stores.facts import TakenPlace
from tiers.drafts import index_work, judge_work
from tiers.errors import Conflict, NotFound, UsageError
from tiers.knowledge import is_apart
from tiers.learning import (
    check_as_visible,
    is_ahead,
    is_live,
    may_be_found,
    may_give_way,
    spelled,
)
from tiers.quarantine import Held
from tiers.records import Fact, Rule, Scope, Source, Superseded
from tiers.taint import Resting, TaintedKind
from tiers.turn_io import FREE, Charge

from ..checks import check_text, checked
from ..erasure.taint.tracing import sees_node
from ..runtime import Runtime
from ..write_guard import Write, admitted

Memory = str | Fact | Rule
"""What can be remembered: text (a fact), a ``Fact`` or a ``Rule``."""

_DECIDED = {
    "uses": 0,
    "last_used_at": None,
    "said_at": None,
    "said_seq": 0,
    "said_place": 0,
    "superseded_by": None,
    "superseded_at": None,
    "superseded_as": None,
    "core_spans": (),
    "earned_from": 0,
    "judged_at": None,
    "forgotten_at": None,
    "retired_at": None,
}
"""What ezra counts and decides about a fact: not the caller's to state."""


_CALLED: Mapping[TaintedKind, str] = {
    "turn": "graph.redact destroys its words",
    "fact": "forget ends it",
    "rule": "remember with supersedes gives it new steps, graph.redact destroys it",
    "belief": "graph.beliefs.revert ends it",
    "document": "documents.remove removes it",
    "passage": "documents.remove removes its document",
    "card": "the board changes tasks, graph.redact destroys what it says",
}
"""What ends or changes a record of each kind."""


def memory_of(what: Memory) -> Fact | Rule:
    """Return what was given as a record.

    Raises:
        UsageError: It is none, or says nothing.
    """
    if isinstance(what, str):
        check_text("what", what, "text that says something, a Fact or a Rule")
    record = checked(Fact, {"text": "what"}, text=what) if isinstance(what, str) else what
    if not isinstance(record, Fact | Rule):
        raise UsageError("what", what, "text, a Fact or a Rule")
    if isinstance(record, Fact):
        check_text("text", record.text)
    else:
        check_text("trigger", record.trigger)
        for number, step in enumerate(record.steps):
            check_text(f"steps[{number}]", step)
    return record


def check_sight(*, private: bool, shared: bool) -> None:
    """Refuse what one agent alone is to see, and agents of every user.

    Raises:
        UsageError: It is.
    """
    if private and shared:
        raise UsageError("shared", shared, "false where private is true")


async def missing(runtime: Runtime, scope: Scope, kind: str, record_id: str) -> NotFound:
    """Return the error for an id that is no record of a kind: what it is, if the scope sees that.

    And what is called for such a record instead.
    """
    for one in await runtime.taint.described(scope.for_graph(), [record_id]):
        # A message is seen by those that it is for alone.
        is_hidden = one.kind == "card" and not await runtime.board.cards(scope, [record_id])
        if one.kind in _CALLED and sees_node(scope, one) and not is_hidden:
            return NotFound(kind, record_id, _what_it_is(one, kind))
    for fact in await runtime.semantic.facts(scope, [record_id]):
        if fact.graph_id != scope.graph_id:
            where = f"it is inherited from {fact.graph_id!r}: it is to be ended there"
            return NotFound(kind, record_id, where)
    return NotFound(kind, record_id)


def _what_it_is(one: Resting, asked: str) -> str:
    """Return what a record is that is none of the kind that was asked for, or cannot be had."""
    if one.kind != asked:
        return f"it is a {one.kind}: {_CALLED[one.kind]}"
    if one.is_kept:
        return "a roll-back has set it aside: taint.undo brings it back"
    if one.is_gone or one.is_retired:
        return "its words were destroyed, by retention or on request"
    return f"it is private: agent {one.agent_id!r} has it" if one.private else ""


async def check_superseded(
    runtime: Runtime,
    scope: Scope,
    fact_id: str,
    source: Source = "user",
    *,
    is_private: bool = False,
) -> Sequence[Fact]:
    """Return the fact whose place is to be taken, last, before anything is stored.

    Before it, where the one that is named has given way, that one and what had its place since:
    who names it looked before somebody else did, and two would stand.

    Raises:
        UsageError: It was forgotten. What an agent wrote supersedes no core fact, and what is
            private none that others see.
        NotFound: There is no such fact in the scope's own graph.
    """
    line = await _line(runtime, scope, fact_id)
    if not line:
        raise await missing(runtime, scope, "fact", fact_id)
    named, former = line[0], line[-1]
    if named.superseded_by is None and not is_live(named):
        raise UsageError("supersedes", fact_id, "a fact that was not forgotten, or none")
    if source == "agent" and former.tier == "core":
        raise UsageError("supersedes", fact_id, "an archival fact for what an agent wrote")
    check_as_visible(former, is_private=is_private, field="private", value=True)
    return line


async def _line(runtime: Runtime, scope: Scope, fact_id: str) -> Sequence[Fact]:
    """Return a fact of the own graph and what had its place since, as far as the scope sees it."""
    line: dict[str, Fact] = {}
    following: str | None = fact_id
    while following is not None and following not in line:
        found = await runtime.semantic.line(scope, following)
        own = {one.id: one for one in found if one.graph_id == scope.graph_id}
        if not own:
            break
        line |= own
        following = found[-1].superseded_by
    return tuple(line.values())


async def store(
    runtime: Runtime,
    scope: Scope,
    record: Fact | Rule,
    topics: tuple[str, ...],
    *,
    private: bool,
    record_id: str | None = None,
    source: Source = "user",
    is_released: bool = False,
    place: Mapping[str, JsonValue] | None = None,
    former: Sequence[Fact] = (),
    taken: TakenPlace | None = None,
    restates: bool = False,
    charge: Charge = FREE,
) -> tuple[str, bool]:
    """Store a fact or rule as the scope's own; return its id and whether it is new.

    The same statement by the same writer for the same user is stored once. What has the place that
    is ``taken`` gives way to it in the same step. Who repeats what took a place among the
    ``former`` ones, whoever said it, and has lost it since, gets the id that it has: it is known,
    and over. Without ``record_id`` it gets an id of its own. ``is_released`` says that a person has
    let it pass. ``place`` says what the caller lets give way to it then, for who releases it
    (``quarantine.py``). What ``restates`` gives its confidence to the statement that is there. What
    is new is charged.

    Raises:
        BudgetExceeded: It is new, and there is no write left.
        WriteRefused: The write guard keeps it out of memory.
        UsageError: An agent's own words are to be core.
    """
    if source == "agent" and isinstance(record, Fact) and record.tier == "core":
        accepted = "archival for what an agent wrote; core needs a user's or a tool's words"
        raise UsageError("tier", record.tier, accepted)
    if not is_released:
        held: Held = "rule" if isinstance(record, Rule) else "fact"
        is_private = private or record.private
        more = {"record_id": record_id, **(place or {})}
        write = Write(held, source, topics, is_private, more)
        record = await admitted(runtime, scope, write, record)
    await runtime.make_room()
    now = runtime.saying()
    owned = {"topics": topics, "private": private or record.private}
    if isinstance(record, Fact):
        by_clock = now.astimezone(runtime.settings.zone)
        await compiled()
        record = as_said(record, scope.user_id or scope.agent_id or "", by_clock)
    stamped = record.stamped(scope, record_id or runtime.ids.new(), now).model_copy(update=owned)
    work = [index_work(stamped.id, scope.agent_id)]
    if isinstance(stamped, Rule):
        # What ezra counts is not the caller's to state: it moves the rule's rank.
        counted = {"successes": 0, "failures": 0, "version": 1, "former": ()}
        stamped = stamped.model_copy(update=counted)
        put_rule = partial(runtime.procedural.put_rule, scope, stamped, work, charge)
        return await _put(runtime, scope, stamped.id, put_rule)
    # What is found by its address alone is in no index, and compared with nothing.
    work = [] if is_apart(stamped) else [*work, judge_work(stamped.id)]
    stamped = stamped.model_copy(update={"source": source, **_DECIDED})
    # What has no place any more leaves it to who says the same again.
    for one in former[1:] if former and is_live(former[-1]) else ():
        if said_by(one) == said_by(stamped) and one.superseded_by is not None:
            return one.id, False
    new = (stamped, work, charge)
    put_fact = partial(runtime.semantic.put_fact, scope, *new, restates=restates, place=taken)
    return await _put(runtime, scope, stamped.id if work else None, put_fact)


async def _put(
    runtime: Runtime,
    scope: Scope,
    indexed_as: str | None,
    put: Callable[[], Awaitable[tuple[Fact | Rule, bool]]],
) -> tuple[str, bool]:
    """Store a record; return its id, and whether it is new.

    Args:
        runtime: Where.
        scope: Who stores it.
        indexed_as: The id under which it is to be found by meaning at once, if it is.
        put: Stores it.
    """
    announced = nullcontext() if indexed_as is None else runtime.arriving(scope, indexed_as)
    with announced:
        async with runtime.meter.refusals(scope):
            stored, was_new = await put()
    if indexed_as is not None and not was_new:
        runtime.recaller.warm.arrivals.arrived(scope, [indexed_as])
    runtime.wake_learning()
    return stored.id, was_new


async def refine(
    runtime: Runtime,
    scope: Scope,
    rule: Rule,
    rule_id: str,
    topics: tuple[str, ...],
    source: Source,
    *,
    is_released: bool = False,
    charge: Charge = FREE,
) -> tuple[str, bool]:
    """Give a rule of the scope's own graph the steps of another, as its next version.

    Returns:
        Its id, and whether these steps are new, which are charged then. The former ones stay
        readable, and what was counted stays.

    Raises:
        BudgetExceeded: They are new, and there is no write left.
        NotFound: There is no such rule in the scope's own graph.
        UsageError: It has another trigger, or an agent wrote the steps.
        Conflict: It has been refined meanwhile, or another rule has these steps.
        WriteRefused: The write guard keeps the steps out of memory.
    """
    if source == "agent":
        raise UsageError("supersedes", rule_id, "nothing for a rule that an agent wrote itself")
    found = await runtime.playbooks.rules(scope, [rule_id])
    if not found:
        raise await missing(runtime, scope, "rule", rule_id)
    (known,) = found
    if spelled(known.trigger) != spelled(rule.trigger):
        accepted = f"the trigger of the rule whose place it takes, {known.trigger!r}"
        raise UsageError("trigger", rule.trigger, accepted)
    if rule.steps == known.steps:
        return known.id, False
    write = Write("rule", source, topics, known.private, {"refines": rule_id})
    admitted_rule = rule if is_released else await admitted(runtime, scope, write, rule)
    work = [index_work(known.id, known.agent_id)]
    new = (known, admitted_rule.steps, admitted_rule.source_ids, runtime.clock(), work)
    async with runtime.meter.refusals(scope):
        done = await runtime.playbooks.refine(scope, *new, charge)
    if not done:
        raise Conflict(f"rule {known.id}", f"version {known.version}", "another one by now")
    runtime.wake_learning()
    return known.id, True


async def supersede(
    runtime: Runtime, scope: Scope, old_id: str, new_id: str, *, how: Superseded = "natural"
) -> bool:
    """Let one fact take another's place, in core as well; ``False`` when another did before.

    Args:
        runtime: Where the facts are.
        scope: Who asks.
        old_id: What gives way.
        new_id: What stands.
        how: ``denial`` for what was wrong or is not wanted any more: nobody who asks about the
            past is told of it.

    Raises:
        NotFound: One of them is no fact that the scope sees in its own graph.
        UsageError: They are the same, what stands is to give way to what gave way to it, or a
            fact that others see to a private one.
    """
    work = [index_work(old_id, scope.agent_id)]
    try:
        done = await runtime.semantic.supersede(
            scope, old_id, new_id, runtime.clock(), work, how=how, in_core=_in_core
        )
    except UsageError as error:  # what the port calls ``by``
        raise UsageError("superseded_by", error.value, error.accepted) from error
    runtime.wake_learning()
    return done


def _in_core(new: Fact, old: Fact) -> str | None:
    """Return why a fact becomes core that takes the place of another; ``None``: it does not."""
    return reason_of_place(old) if takes_core(new, old) and is_live(new) else None


def checked_place(stored_id: str, named: str | None) -> str:
    """Return the id of what was stored in the place of a fact.

    Raises:
        UsageError: It is the fact itself that is ``named``.
    """
    if stored_id == named:
        raise UsageError("supersedes", named, "another fact than the one that says so")
    return stored_id


async def replace_former(
    runtime: Runtime, scope: Scope, stored_id: str, *, was_new: bool
) -> tuple[str, ...]:
    """Let the values that a stored fact is to replace give way to it; return their ids.

    Another process may be storing a value too: only what came before gives way, so that of two
    that are new at once one is left. What is to hold later takes no place yet, and has none.
    """
    (new,) = await runtime.semantic.facts(scope, [stored_id])
    now = runtime.clock()
    if new.predicate is None or is_multi_valued(new.predicate) or is_ahead(new, now):
        return ()
    stated = partial(
        runtime.knowledge.statements, scope, new.subject or "", new.predicate, live_only=True
    )
    same = {one.id for one in await stated(value=new.object or "")}
    former = [
        old
        for old in await stated()
        if old.id not in same
        and not is_ahead(old, now)
        and may_give_way(old, new)
        and not (was_new and (old.recorded_at, old.id) > (new.recorded_at, new.id))
    ]
    done = {old.id: await supersede(runtime, scope, old.id, stored_id) for old in former}
    return tuple(fact_id for fact_id, is_done in done.items() if is_done)


def place_of(fact_id: str, sight: Scope) -> TakenPlace:
    """Return the place of a fact, or of what has taken it since, as far as that is seen."""
    return TakenPlace(fact_id, sight, _in_core)


async def place_to_correct(runtime: Runtime, scope: Scope, fact_id: str, reason: str) -> TakenPlace:
    """Return the place of a shared fact and of all that say the same for the same user."""
    twins = await runtime.review.twins(scope, fact_id)
    return TakenPlace(fact_id, scope, _in_core, twins, reason)


async def forget_all(
    runtime: Runtime, scope: Scope, fact_ids: Sequence[str], reason: str
) -> tuple[str, ...]:
    """Mark facts as forgotten as ``forget`` does; return those that could be found until now.

    What a framework keeps apart goes alone: two of its sessions may hold the same words.

    Raises:
        UsageError: The reason is blank.
    """
    check_text("reason", reason, "why; it is kept in the audit feed")
    seen = (
        *await runtime.semantic.facts(scope, fact_ids),
        *await runtime.review.rolled_back(scope, fact_ids),
    )
    own = [one for one in seen if one.graph_id == scope.graph_id and may_be_found(one)]
    ids = [one.id for one in own if not is_apart(one)]
    twins = [twin for one in ids for twin in await runtime.review.twins(scope, one)]
    ids = [*twins, *(one.id for one in own)]
    indexed = [index_work(one, None) for one in dict.fromkeys((*twins, *ids))]
    done = (
        await runtime.review.forget_all(scope, ids, reason, runtime.saying(), indexed)
        if ids
        else ()
    )
    runtime.wake_learning()
    named = set(fact_ids)
    return tuple(one for one in done if one in named)


async def forget(runtime: Runtime, scope: Scope, fact_id: str, reason: str) -> bool:
    """Mark a fact as forgotten; ``False`` when nothing finds it any more.

    With it goes what says the same under other topics or by another writer, and what said so until
    another fact took its place: who forgets a statement would see the next one instead. So it
    does when a roll-back has set it aside, and is undone. The named fact is the last, so that a
    call that was cut off may be repeated.

    Raises:
        NotFound: It is no fact that the scope sees in its own graph.
        UsageError: The reason is blank.
    """
    check_text("reason", reason, "why; it is kept in the audit feed")
    seen = await runtime.semantic.facts(scope, [fact_id])
    is_own = any(one.graph_id == scope.graph_id for one in seen)
    if not (is_own or await runtime.review.rolled_back(scope, [fact_id])):
        raise await missing(runtime, scope, "fact", fact_id)
    done = False
    for one in (*await runtime.review.twins(scope, fact_id), fact_id):
        done = await runtime.review.forget(
            scope, one, reason, runtime.saying(), [index_work(one, None)]
        )
    runtime.wake_learning()
    return done
