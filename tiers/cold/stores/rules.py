"""Rules: stored once, found by the words of their trigger, counted and refined."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from ...errors import UsageError
from ...fields import AuditKind
from ...learning import outcome_factor, spelled
from ...lexical import content_words, stem
from ...records import Rule, Scope, WorkDraft
from ...turn_io import FREE, Charge
from ...upkeep import RuleOutcome
from ..conditions import Absent, Holds, Is
from ..digests import identity_of
from ..learned_state import id_taken, is_said_again, refined
from ..ownership import check_limit, check_owned, in_order
from ..port import RECORDED, Collection, Find, Index, Lookup, Put, Replace, Steps, every, one, write
from .graphs import check_writable
from .log import append_event
from .questions import among, audited, own, whole
from .rows import joined_id, moments, put, replace
from .sources import has_lost
from .store_base import OverEngine, changing
from .usage import charged
from .words import file_again, file_words
from .work import queue_work

TEXT_WORDS_MAX = 256


def _stems(text: str) -> list[str]:
    return list(dict.fromkeys(stem(word) for word in content_words(text)))


RULES: Collection[Rule] = Collection(
    "rules",
    Rule,
    fields={
        **moments("recorded_at", "redacted_at"),
        "identity": identity_of,
    },
    indexes={"identity": Index(("identity",), unique=True)},
    lists={
        "words": Lookup(lambda rule: () if rule.redacted_at else _stems(rule.trigger)),
        "sources": Lookup(lambda rule: rule.source_ids),
    },
)


class CountedOutcome(RuleOutcome):
    """One counted outcome of a rule, as it is kept."""

    tenant: str


OUTCOMES: Collection[CountedOutcome] = Collection(
    "rule_outcomes",
    CountedOutcome,
    key=lambda outcome: joined_id(outcome.rule_id, outcome.cause),
)


class ProceduralStore(OverEngine):
    """Rules by intent pattern and scope."""

    @changing
    def put_rule(
        self,
        scope: Scope,
        rule: Rule,
        work: Sequence[WorkDraft] = (),
        charge: Charge = FREE,
        *,
        made_of: Sequence[str] = (),
    ) -> Steps[tuple[Rule, bool]]:
        """Store a rule and return it, and whether it is new; a new one is charged.

        One of the same writer, user, trigger, steps, topics and privacy is returned as it is, in
        whatever case its trigger was typed; so is one of the same id that had these steps before
        it was refined. One that was ``made_of`` turns or facts of the graph of which one was
        redacted or rolled back since is returned as not new, and nothing is written.

        Raises:
            BudgetExceeded: It is new, and a count would come to lie above its limit.
            Conflict: The id is another rule's, or the graph is archived.
        """
        check_owned(scope, rule)
        if (yield from has_lost(scope, made_of)):
            return rule, False
        *found, taken = yield (*_alike(scope, rule), own(RULES, scope, [rule.id]))
        same = [one for alike in found for one in alike if _is_same(one, rule)]
        known: list[Rule] = same or taken
        if known:
            if same or is_said_again(known[0], rule):
                return known[0], False
            raise id_taken("rule", known[0], rule)
        yield from check_writable(scope)
        yield from charged(scope, charge)
        yield from put(RULES, scope, rule)
        yield from file_words(scope, rule)
        yield from queue_work(scope, work, rule.recorded_at)
        return rule, True

    async def match_rules(
        self, scope: Scope, text: str, limit: int, *, inherited: bool = False
    ) -> tuple[Rule, ...]:
        """Return visible rules whose trigger shares words with ``text``, best match first.

        Rules of the own graph and of the ancestors that carry ``rule``; of one read ``as_of`` a
        moment, those recorded by then, with the steps of then. Best: most different words in
        common, stop words aside and plurals equal, times ``learning.outcome_factor``; then the
        shortest trigger; then the nearest graph. ``inherited``: only those of ancestors, and of
        them those whose trigger ``text`` has whole.
        """
        check_limit(limit)
        finds = matching(scope, text)[int(inherited) :]
        if not finds:
            return ()
        found = await self._all("match_rules", *finds)
        if inherited:
            words = set(_stems(text))
            found = tuple(rule for rule in found if words.issuperset(_stems(rule.trigger)))
        return ranked(scope, found, text, limit)


class Playbooks(OverEngine):
    """Rules as the learning agent keeps count of them."""

    async def rules(self, scope: Scope, ids: Sequence[str]) -> tuple[Rule, ...]:
        """Return the visible rules of the own graph among ``ids``, in the order asked."""
        found = await self._all("rules", among(RULES, scope, ids, Absent("redacted_at")))
        return in_order({rule.id: rule for rule in found}, ids)

    @changing
    def record_outcome(
        self, scope: Scope, rule_id: str, cause: str, now: datetime, *, is_success: bool
    ) -> Steps[Rule | None]:
        """Count one success or failure of a rule of the own graph; return it as it now is.

        The same cause never counts twice, whatever it says. Audit event ``playbook confirmed`` or
        ``playbook rejected`` with the rule and the cause. ``None`` when there is no such rule.

        Raises:
            UsageError: The cause is empty.
        """
        if not cause:
            raise UsageError("cause", cause, "the id of what says how the rule did")
        outcome = CountedOutcome(
            tenant=scope.tenant,
            graph_id=scope.graph_id,
            rule_id=rule_id,
            cause=cause,
            is_success=is_success,
            recorded_at=now,
        )
        rule = yield from _counted_rule(scope, rule_id)
        return None if rule is None else (yield from _count(scope, rule, outcome))

    @changing
    def refine(
        self,
        scope: Scope,
        rule: Rule,
        steps: Sequence[str],
        source_ids: Sequence[str],
        now: datetime,
        work: Sequence[WorkDraft] = (),
        charge: Charge = FREE,
        *,
        made_of: Sequence[str] = (),
    ) -> Steps[bool]:
        """Give a rule new steps and the next version, which is charged; the former stay readable.

        ``False``, writing nothing, when the rule has moved on or is not there, when these are its
        steps already, and when another rule of the same writer, user, trigger, topics and privacy
        has them: two that say the same cannot be told apart, and that one is there to be found.
        So it is when the steps were ``made_of`` a turn or fact of the graph that was redacted or
        rolled back since.

        Raises:
            BudgetExceeded: A count would come to lie above its limit.
            UsageError: There are no steps, or one is blank or too long.
        """
        if refined(rule, steps, source_ids, now) is None:
            return False
        before = yield from _counted_rule(scope, rule.id)
        if before is None or before.version != rule.version:
            return False
        after = refined(before, steps, source_ids, now)
        if after is None or (yield from has_lost(scope, made_of)):
            return False
        found = yield from every(*_alike(scope, after))
        if any(_is_same(other, after) for other in found):
            return False
        yield from charged(scope, charge)
        yield from replace(RULES, scope, after)
        yield from file_again(scope, after)
        ids = (rule.id, *dict.fromkeys(source_ids))
        yield from append_event(scope, "playbook refined", ids, "", now)
        yield from queue_work(scope, work, now)
        return True


def _alike(scope: Scope, rule: Rule) -> list[Find[Rule]]:
    """Ask the whole graph for rules that may say the same: by identity, and by their triggers."""
    same = whole(RULES, scope, "identity", Is("identity", identity_of(rule) or ""), limit=1)
    return [same, *(find._replace(reach="own") for find in matching(scope, rule.trigger)[:1])]


def _is_same(one: Rule, other: Rule) -> bool:
    """Whether two rules say the same for the same writer, their triggers typed in any case.

    The identity that is stored keeps the case: rules that were stored apart stay two.
    """
    if spelled(one.trigger) != spelled(other.trigger):
        return False
    return identity_of(one.model_copy(update={"trigger": other.trigger})) == identity_of(other)


def matching(scope: Scope, text: str) -> list[Find[Rule]]:
    """Return the questions for rules that share words with a text, to the nearest graph first."""
    words = _words(text)
    if not words:
        return []
    where = (Holds("words", words), Absent("redacted_at"))
    graphs = (scope.graph_id, *(kin.graph_id for kin in scope.carrying("rule")))
    return [
        Find(RULES, scope, "words", where, (RECORDED,), graph_id=graph_id, sorts=True)
        for graph_id in graphs
    ]


def ranked(scope: Scope, found: Sequence[Rule], text: str, limit: int) -> tuple[Rule, ...]:
    """Return rules by how well they match a text, at most ``limit``.

    Of two that match alike, who comes first stays first: that of the nearest graph, in the order
    of recording. One of an ancestor that is read as of a moment has the steps of that moment.
    """
    words = _words(text)
    best = sorted(found, key=lambda rule: _rank(rule, words))[:limit]
    moments = {one.graph_id: one.as_of for one in scope.lineage}
    return tuple(
        rule if (moment := moments.get(rule.graph_id)) is None else rule.at(moment) for rule in best
    )


def _words(text: str) -> tuple[str, ...]:
    return tuple(_stems(text)[:TEXT_WORDS_MAX])


def _rank(rule: Rule, words: Sequence[str]) -> tuple[float, int]:
    """Return by what rules are sorted: words in common and outcomes, words of the trigger."""
    stems = _stems(rule.trigger)
    common = len(set(words).intersection(stems))
    return (-common * outcome_factor(rule.successes, rule.failures), len(stems))


def _counted_rule(scope: Scope, rule_id: str) -> Steps[Rule | None]:
    """Return a rule that the asker keeps count of: the runtime also of what agents keep private."""
    return one(among(RULES, scope, [rule_id], Absent("redacted_at"), reach=audited(scope)))


def _count(scope: Scope, rule: Rule, outcome: CountedOutcome) -> Steps[Rule]:
    """Count an outcome unless its cause was counted, and return the rule."""
    if (yield from one(among(OUTCOMES, scope, [OUTCOMES.key(outcome)]))) is not None:
        return rule
    name = "successes" if outcome.is_success else "failures"
    kind: AuditKind = "playbook confirmed" if outcome.is_success else "playbook rejected"
    after = rule.model_copy(update={name: getattr(rule, name) + 1})
    yield from write(Put(OUTCOMES, scope, outcome), Replace(RULES, scope, after))
    ids = (rule.id, outcome.cause)
    yield from append_event(scope, kind, ids, "", outcome.recorded_at)
    return after
