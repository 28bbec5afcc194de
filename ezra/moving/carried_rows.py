"""Whether the rows of a graph that is carried fit to each other and to its belief log. Pure.

Whatever a store would refuse while it puts rows in is found before, and so is what it would take:
a belief that does not follow from the log, a number that others contradict, an id that leads
nowhere. What one row alone says, and no other, can only be known by the hash over all lines.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping
from datetime import datetime
from typing import Any, get_args

from metaagents.lifecycle.keeper import everything_of
from tiers.beliefs import TrustRow
from tiers.board import Card
from tiers.documents import Document, FormerDocument, Passage, document_id, passage_digest
from tiers.evidence import ChainedAudit
from tiers.grains import MADE_OF, RETIRED
from tiers.history.differences import differences
from tiers.history.verification import LogVerifier
from tiers.ids import derived_id
from tiers.knowledge import statement_of
from tiers.learning import is_live
from tiers.owned import REDACTED, Owned
from tiers.quarantine import Quarantined
from tiers.records import (
    NAME_CHARS_MAX,
    AgentRecord,
    Episode,
    Fact,
    LoggedBelief,
    ProjectedBelief,
    Receipt,
    Record,
    Rule,
    SessionGraph,
    SignedHead,
    Summary,
    Turn,
    Usage,
    WorkKind,
)
from tiers.taint import SET_ASIDE
from tiers.upkeep import FactUse, QueuedWork, RuleOutcome, Table, UsageRow, Watermark

from .digest import NAMES

_EMPTIED = (REDACTED, RETIRED, SET_ASIDE)
_BOUND = ("salt", "reason_digest", "previous_hash", "hash", "placed")
_COUNTED = (LoggedBelief, ProjectedBelief, ChainedAudit)
"""Rows whose names a chain counts, or that are looked at inside."""


class Misfit(Exception):
    """A row that does not fit.

    Attributes:
        line: Where it stands.
        why: In words, which tell nothing of what it holds.
    """

    def __init__(self, line: int, why: str) -> None:
        super().__init__(why)
        self.line = line
        self.why = why


class RowsCheck:
    """Takes in the rows of one graph, table by table, in the order in which they are carried.

    Memory grows with the number of rows, and with what beliefs say.

    Args:
        graph: The graph.
    """

    def __init__(self, graph: SessionGraph) -> None:
        self._graph = graph
        self._log = LogVerifier(graph.tenant, graph.id)
        self._line = 0
        self._lines: dict[tuple[Hashable, ...], int] = {}
        self._turns: dict[str, Turn] = {}
        self._seqs: dict[str, dict[int, int]] = defaultdict(dict)
        self._made: dict[str, Summary | Episode] = {}
        self._facts: dict[str, Fact] = {}
        self._rules: dict[str, Rule] = {}
        self._uses: dict[str, list[datetime]] = defaultdict(list)
        self._outcomes: dict[str, list[int]] = defaultdict(lambda: [0, 0])
        self._documents: dict[str, Document] = {}
        self._revisions: dict[str, int] = defaultdict(int)
        self._passages: dict[str, set[int]] = defaultdict(set)
        self._used: dict[str, Usage] = {}
        self._trust: set[tuple[str, str | None]] = set()
        self._emptied: set[str] = set()
        self._audit_has_chain: bool | None = None
        self._audited = self._position = 0
        self._checks: Mapping[type[Record], Callable[[Any], None]] = {
            AgentRecord: self._agent,
            UsageRow: self._usage,
            Turn: self._turn,
            Summary: self._summary,
            Episode: self._episode,
            Fact: self._fact,
            FactUse: self._use,
            Rule: self._rule,
            RuleOutcome: self._outcome,
            Watermark: self._watermark,
            Document: self._document,
            FormerDocument: self._former,
            Passage: self._passage,
            Card: self._card,
            Quarantined: self._quarantined,
            LoggedBelief: self._event,
            ProjectedBelief: self._belief,
            TrustRow: self._trusted,
            SignedHead: self._head,
            Receipt: self._receipt,
            ChainedAudit: self._audit,
            QueuedWork: self._work,
        }

    def add(self, table: Table, record: Record, line: int) -> None:
        """Take in a row.

        Raises:
            Misfit: It does not fit to those before it.
        """
        self._line = line
        names = NAMES.get(type(record), ("id",))
        if not isinstance(record, _COUNTED):
            values = (getattr(record, name) for name in names)
            self._once((table, *values), f"there is a row of {table} of the same {names[0]}")
        if isinstance(record, Owned):
            self._owned(record)
        self._checks[type(record)](record)

    def conclude(self) -> None:
        """Look at what can only be known at the end.

        Raises:
            Misfit: Something does not fit.
        """
        found = self._log.result()
        for problem in found.problems:
            why = problem.model_copy(update={"line": 0})
            raise Misfit(problem.line or self._line, f"the belief log is not intact: {why}")
        fold = self._log.fold
        self._all(fold.beliefs, "beliefs", "a belief of the log has no row")
        if fold.trust.keys() != self._trust:
            raise Misfit(self._line, "trust that the log tells of has no row")
        self._check_numbers()
        self._check_facts()
        self._check_documents()
        self._check_used()

    # What is common to many

    def _wrong(self, why: str) -> Misfit:
        return Misfit(self._line, why)

    def _once(self, key: tuple[Hashable, ...], why: str) -> None:
        if key in self._lines:
            raise self._wrong(f"{why} in line {self._lines[key]}")
        self._lines[key] = self._line

    def _has(self, table: Table, record_id: str) -> bool:
        return (table, record_id) in self._lines

    def _all(self, ids: Iterable[str], table: Table, why: str) -> None:
        if not all(self._has(table, one) for one in ids):
            raise Misfit(self._line, why)

    def _needs_agent(self, agent_id: str | None) -> None:
        if agent_id and not self._has("agents", agent_id):
            raise self._wrong("its agent is not one of the graph")

    def _owned(self, record: Owned) -> None:
        if not 0 < len(record.id) <= NAME_CHARS_MAX:
            raise self._wrong(f"its id has not 1 to {NAME_CHARS_MAX} characters")
        if record.private and not record.agent_id:
            raise self._wrong("it is private to nobody")
        retired_at = None if isinstance(record, Passage) else getattr(record, "retired_at", None)
        if retired_at is not None and record.redacted_at is None:
            raise self._wrong("it was retired and is not without its content")
        if record.redacted_at is not None:
            self._emptied.add(record.id)

    def _needs_emptied(self, record: Owned, *texts: str | None) -> None:
        """Refuse a record that has lost its content and still says something, or otherwise."""
        if record.redacted_at is not None and texts[0] not in _EMPTIED:
            raise self._wrong("it says something although its content was destroyed")
        if record.redacted_at is not None and any(texts[1:]):
            raise self._wrong("it says something although its content was destroyed")

    # Agents, turns and what is made of them

    def _agent(self, agent: AgentRecord) -> None:
        if agent.released and agent.left_at is None:
            raise self._wrong("it was let go and has not left")

    def _usage(self, row: UsageRow) -> None:
        self._needs_agent(row.agent_id)
        self._used[row.agent_id] = row.used

    def _turn(self, turn: Turn) -> None:
        if not turn.agent_id:
            raise self._wrong("it is nobody's turn")
        self._needs_agent(turn.agent_id)
        if turn.seq < 1:
            raise self._wrong("its seq is below 1")
        self._once(("turn seq", turn.agent_id, turn.seq), "a turn of its agent has the same seq")
        if turn.ref is not None:
            self._once(("ref", turn.ref), "a turn has the same ref")
        if turn.tail is not None and turn.tail.since > turn.seq:
            raise self._wrong("its tail begins behind it")
        self._needs_emptied(turn, turn.input, turn.response)
        # What it said is not needed any more.
        self._turns[turn.id] = turn.model_copy(
            update={"input": "", "response": "", "tool_outputs": (), "mentions": ""}
        )
        self._seqs[turn.agent_id][turn.seq] = self._line

    def _summary(self, summary: Summary) -> None:
        known = [self._turns.get(one) for one in summary.covers]
        if None in known:
            raise self._wrong("it covers a turn that is not there")
        turns = [one for one in known if one is not None]
        if any((one.agent_id, one.private) != (summary.agent_id, summary.private) for one in turns):
            raise self._wrong("it covers a turn of another agent, or one that others may not see")
        for one in summary.covers:
            why = "a summary of its level covers the same turn"
            self._once(("covered", summary.level, one), why)
        if (summary.starts_at, summary.ends_at) != (
            turns[0].occurred_at,
            turns[-1].occurred_at,
        ):
            raise self._wrong("its time is not that of the turns it covers")
        if summary.level != 0:
            raise self._wrong("its level is not 0")
        self._needs_emptied(summary, summary.text)
        # What is redacted before it is compressed has a stand-in.
        self._derived(summary, ("summary", "redacted"), summary.covers, summary.starts_at)

    def _episode(self, episode: Episode) -> None:
        known = [self._made.get(one) for one in episode.children]
        children = [one for one in known if one is not None]
        if any(one.private != episode.private for one in children):
            raise self._wrong("it is made of something that others may not see")
        if not children or len(children) != len(known):
            raise self._wrong("it is made of something that is not there")
        finer = MADE_OF[episode.grain]
        for child in children:
            if (child.grain if isinstance(child, Episode) else "working") != finer:
                raise self._wrong(f"a {episode.grain} episode is made of {finer} ones")
            why = f"a {episode.grain} episode is made of the same"
            self._once(("in", episode.grain, child.id), why)
        ends_at = max(child.ends_at for child in children)
        if (episode.starts_at, episode.ends_at) != (children[0].starts_at, ends_at):
            raise self._wrong("its time is not that of what it is made of")
        self._needs_agent(episode.agent_id)
        self._needs_emptied(episode, episode.text)
        self._derived(episode, (episode.grain,), episode.children, episode.starts_at)

    def _derived(
        self,
        record: Summary | Episode,
        kinds: Iterable[str],
        sources: tuple[str, ...],
        at: datetime,
    ) -> None:
        self._made[record.id] = record
        owner = (self._graph.tenant, self._graph.id)
        if record.id not in {derived_id(at, kind, *owner, *sources) for kind in kinds}:
            raise self._wrong("its id is not that of something made of these")

    # Facts and rules

    def _fact(self, fact: Fact) -> None:
        self._needs_agent(fact.agent_id)
        self._needs_emptied(fact, fact.text, fact.subject, fact.predicate, fact.object)
        # What gave way before moments and reasons were kept has neither.
        is_dated = fact.superseded_at is not None
        was_superseded = fact.superseded_by is not None
        if is_dated != (was_superseded and (is_dated or fact.superseded_as is not None)):
            raise self._wrong("it was superseded by nothing, or never")
        if fact.superseded_as is not None and not was_superseded:
            raise self._wrong("it says how it was superseded, and was not")
        if is_live(fact) and fact.redacted_at is None:
            said = (statement_of(fact), fact.agent_id, fact.user_id, fact.topics, fact.private)
            self._once(("said", *said), "a fact that stands says the same")
        self._facts[fact.id] = fact

    def _use(self, use: FactUse) -> None:
        if use.fact_id not in self._facts:
            raise self._wrong("its fact is not there")
        self._uses[use.fact_id].append(use.used_at)

    def _rule(self, rule: Rule) -> None:
        self._needs_agent(rule.agent_id)
        self._needs_emptied(rule, rule.trigger)
        versions = [one.version for one in rule.former]
        before = range(rule.version - len(versions), rule.version)
        if versions != list(before) or (rule.version > 1 and not versions):
            raise self._wrong("its version does not follow from the former ones")
        if rule.redacted_at is None:
            said = (rule.trigger, rule.steps, rule.agent_id, rule.user_id, rule.topics)
            self._once(("rule", *said, rule.private), "a rule says the same")
        self._rules[rule.id] = rule

    def _outcome(self, outcome: RuleOutcome) -> None:
        if outcome.rule_id not in self._rules:
            raise self._wrong("its rule is not there")
        self._outcomes[outcome.rule_id][outcome.is_success] += 1

    def _watermark(self, mark: Watermark) -> None:
        self._needs_agent(mark.agent_id)
        if mark.seq > max(self._seqs[mark.agent_id], default=0):
            raise self._wrong("it is behind the last turn of its agent")

    # Documents and cards

    def _document(self, document: Document) -> None:
        self._named(document)
        self._once(("name", document.shelf, document.name), "a document has the same name")
        if document.changed_at < document.recorded_at and document.revision == 1:
            raise self._wrong("its first revision is older than it")
        self._documents[document.id] = document

    def _named(self, document: Document) -> None:
        named = (document.tenant, document.graph_id, document.shelf, document.name)
        if document.redacted_at is None and document.id != document_id(*named):
            raise self._wrong("its id is not that of its name")
        self._needs_emptied(document, document.title, document.text, *document.properties)

    def _former(self, document: FormerDocument) -> None:
        now = self._documents.get(document.id)
        if now is None:
            raise self._wrong("its document is not there")
        if document.revision >= now.revision:
            raise self._wrong("it is no former revision of its document")
        self._named(document)
        self._revisions[document.id] += 1

    def _passage(self, passage: Passage) -> None:
        document = self._documents.get(passage.document_id)
        if document is None:
            raise self._wrong("its document is not there")
        until = document.revision + 1 if passage.until is None else passage.until
        if not passage.since < until <= document.revision + 1:
            raise self._wrong("its revisions are not those of its document")
        if (passage.until is None) != (passage.retired_at is None):
            raise self._wrong("it was retired by no revision, or never")
        self._needs_emptied(passage, passage.text, *passage.headings)
        says = passage_digest(passage.headings, passage.text)
        if passage.redacted_at is None and passage.digest != says:
            raise self._wrong("its digest is not that of what it says")
        if passage.until is None:
            if _audience(passage) != _audience(document):
                raise self._wrong("others may see it than its document")
            why = "a passage of its document has the same place"
            self._once(("place", passage.document_id, passage.number), why)
            self._passages[passage.document_id].add(passage.number)

    def _card(self, card: Card) -> None:
        if (card.kind == "task") != (card.status is not None):
            raise self._wrong("a task has a status, and nothing else has")
        if card.kind != "message" and (card.read_by or card.to):
            raise self._wrong("only messages are read by somebody")
        if card.kind != "task" and card.version != 1:
            raise self._wrong("only tasks change")
        self._needs_emptied(card, card.text, card.title)
        if card.version == 1 and card.changed_at != card.recorded_at and card.redacted_at is None:
            raise self._wrong("it was changed and is of its first version")

    def _quarantined(self, held: Quarantined) -> None:
        if (held.state == "held") != (held.decided_at is None):
            raise self._wrong("somebody decided about it, or it waits")
        self._needs_emptied(held, held.text)

    # The belief log, what follows from it, and what tells of it

    def _event(self, entry: LoggedBelief) -> None:
        self._once(("event", entry.event.id), "an event has the same id")
        self._log.add_entries([entry], self._line)

    def _belief(self, row: ProjectedBelief) -> None:
        self._owned(row.belief)
        self._once(("beliefs", row.belief.id), "a belief has the same id")
        if not self._log.is_whole:
            return  # what is wrong with the log is told at the end
        for problem in differences(self._log.fold, [row]):
            raise self._wrong(problem)

    def _trusted(self, row: TrustRow) -> None:
        if self._log.is_whole:
            trust = self._log.fold.trust.get((row.agent_id, row.topic))
            if trust != row.trust:
                raise self._wrong("trust is not what the log says")
        self._trust.add((row.agent_id, row.topic))

    def _head(self, head: SignedHead) -> None:
        self._log.add_heads([head], self._line)

    def _receipt(self, receipt: Receipt) -> None:
        if not 0 < len(receipt.id) <= NAME_CHARS_MAX:
            raise self._wrong(f"its id has not 1 to {NAME_CHARS_MAX} characters")
        self._needs_agent(receipt.agent_id)

    def _audit(self, event: ChainedAudit) -> None:
        has_chain = any(getattr(event, name) for name in _BOUND)
        if self._audit_has_chain not in {None, has_chain}:
            raise self._wrong("a part of the audit feed is chained, and a part is not")
        self._audit_has_chain = has_chain
        self._audited += 1
        if event.seq != self._audited:
            raise self._wrong(f"audit event {self._audited} should be here")
        if event.position:
            self._once(("position", event.position), "an event has the same position")
            if event.position < self._position:
                raise self._wrong("its position is before that of the event before")
            self._position = event.position
        if has_chain:
            self._log.add_audit([event], self._line)
        if event.kind == "redacted":
            for one in event.record_ids:
                is_kept = one in self._turns or one in self._facts
                if is_kept and one not in self._emptied:
                    raise self._wrong("it tells of a redaction, and the record has its content")

    def _work(self, work: QueuedWork) -> None:
        self._needs_agent(work.agent_id)
        if work.kind not in get_args(WorkKind) or work.kind == "index":
            raise self._wrong("its kind is none that is carried")
        agent_id = work.agent_id or ""
        keys = {"extract": {agent_id}, "compress": {agent_id, everything_of(agent_id)}}
        if work.key not in keys.get(work.kind, {work.key}):
            raise self._wrong("its key is not its agent")
        if work.kind == "judge" and work.key not in self._facts:
            raise self._wrong("its fact is not there")
        if work.attempts < 0:
            raise self._wrong("its attempts are below 0")

    # What can only be known at the end

    def _check_numbers(self) -> None:
        for seqs in self._seqs.values():
            last = max(seqs)
            if last != len(seqs):
                raise Misfit(seqs[last], f"its seq is {last}, and its agent has {len(seqs)} turns")

    def _check_facts(self) -> None:
        for fact in self._facts.values():
            line = self._lines["facts", fact.id]
            if fact.superseded_by is not None and fact.superseded_by not in self._facts:
                raise Misfit(line, "it was superseded by a fact that is not there")
            used = self._uses[fact.id]
            if (fact.uses, fact.last_used_at) != (len(used), max(used, default=None)):
                raise Misfit(line, "its uses are not those that it has")
        for rule in self._rules.values():
            if [rule.failures, rule.successes] != self._outcomes[rule.id]:
                why = "its outcomes are not as many as it has"
                raise Misfit(self._lines["rules", rule.id], why)

    def _check_documents(self) -> None:
        for document in self._documents.values():
            line = self._lines["documents", document.id]
            current = 0 if document.removed_at is not None else document.passages
            if self._passages[document.id] != set(range(current)):
                raise Misfit(line, "its passages are not those that it has")
            if self._revisions[document.id] != document.revision - 1:
                raise Misfit(line, "its former revisions are not all there")

    def _check_used(self) -> None:
        whole = self._used.get("")
        for name in Usage.model_fields if whole is not None else ():
            by_agents = sum(getattr(used, name) for who, used in self._used.items() if who)
            if by_agents > getattr(whole, name):
                why = f"its agents have used more {name} than the graph"
                raise Misfit(self._lines["usage", ""], why)


def _audience(record: Document | Passage) -> tuple[object, ...]:
    """Return what decides who sees a document, or a passage of it."""
    return record.topics, record.private, record.private and record.agent_id, record.user_id
