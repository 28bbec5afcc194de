"""Playing a script through the runtime: resumable, and playing it twice adds nothing.

Each turn line goes through all eight steps of the router with the speaker's agent and is
acknowledged once it is durable; or it is recorded in bulk, with the lines around it and without a
context. Turns are stored under the script's refs, so a replay that was killed goes on where it
stopped. Facts and rules are stored under ids that their refs make: what was forgotten, redacted or
erased meanwhile has its id still, and is not stored again.
"""

from __future__ import annotations

import statistics
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, TypeAlias

from tiers.documents import Citation
from tiers.errors import Conflict, NotFound, WriteRefused
from tiers.forms import dated_text
from tiers.ids import derived_id
from tiers.records import UNRECORDED, Fact, Kind, Rule, Turn

from ..handles.agent import Agent
from ..handles.graph import Graph
from ..handles.recording import BATCH_TURNS, PastTurn, past_turns, record_together
from ..moving.graph_status import GraphStatus
from ..recaller import Reason, RecallResult
from ..remote.handle import RemoteHandle
from .script import BeliefLine, Conversation, FactLine, Line, RuleLine, Script, TurnLine

if TYPE_CHECKING:
    from ..app import Ezra
    from ..remote.ezra import RemoteEzra

AnyEzra: TypeAlias = "Ezra | RemoteEzra"
"""In process or on a server: a script is played through either."""

SOURCES_SHOWN = 5
ANSWER_KINDS: tuple[Kind, ...] = ("turn", "fact", "belief", "rule", "document")

OnLine = Callable[[TurnLine | FactLine | RuleLine | BeliefLine, bool], None]
"""Called after each line is durable, with whether it was new."""


@dataclass(frozen=True)
class Source:
    """One record an answer rests on."""

    ref: str
    kind: str
    speaker: str
    at: datetime | None
    score: float
    text: str
    inherited_from: str | None
    id: str
    tier: str
    folded: tuple[str, ...] = ()
    reason: Reason | None = None
    citation: Citation | None = None


@dataclass(frozen=True)
class Answer:
    """What recall says to a question; the text is the best source's own words."""

    question: str
    text: str
    sources: tuple[Source, ...]
    degraded: tuple[str, ...]
    skipped: tuple[str, ...] = ()
    rerank_used: bool = False
    receipt_id: str | None = None


@dataclass(frozen=True)
class StepTime:
    """Milliseconds of one router step over a replay."""

    p50: float
    p95: float
    total: float


@dataclass
class ReplayReport:
    """What a replay did and what the tiers hold after it.

    Attributes:
        graph_id: Where it was played.
        recorded: Whether turns were recorded without contexts. Then no step was timed, and nothing
            can be said of what a context went without.
        played: Turns played now.
        known: Turns that were there before.
        left_out: Messages of the files that are not played: instructions to a model, those without
            a word, and what nobody says.
        added: Facts, rules and beliefs that are new, by name.
        status: What each tier holds.
        summaries: Level-0 summaries of the graph.
        covered: Turns they stand for.
        waiting: Overflowed turns that wait for company.
        promotions: Texts of facts promoted by this replay, with the reason.
        steps: Time per router step.
        degraded: How many turns went without a tier or capability, by name.
        problems: Background work that failed; it is tried again. And facts, rules and beliefs that
            the write guard keeps out, each by its reference.
        seconds: Wall time, from the first line to the report.
        answers: To the questions, in order.
    """

    graph_id: str
    recorded: bool = False
    played: int = 0
    known: int = 0
    left_out: int = 0
    added: dict[str, int] = field(default_factory=dict)
    status: GraphStatus | None = None
    summaries: int = 0
    covered: int = 0
    waiting: int = 0
    promotions: list[tuple[str, str]] = field(default_factory=list)
    steps: dict[str, StepTime] = field(default_factory=dict)
    degraded: dict[str, int] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    seconds: float = 0.0
    answers: list[Answer] = field(default_factory=list)


class Replayer:
    """Plays one script into one graph.

    Args:
        ezra: The runtime, in process or on a server.
        script: What to play.
        topics: Topics of every agent and of lines that name none, by conversation.
        on_line: Called after each line is durable.
        records: Whether turns are recorded in bulk, without contexts.
    """

    def __init__(
        self,
        ezra: AnyEzra,
        script: Script,
        topics: dict[str, tuple[str, ...]],
        on_line: OnLine | None = None,
        *,
        records: bool = False,
    ) -> None:
        self._ezra = ezra
        self._script = script
        self._topics = topics
        self._on_line = on_line or (lambda _line, _new: None)
        self._records = records
        self._named_after = _first_refs(script)
        self._step_ms: dict[str, list[float]] = defaultdict(list)

    async def play(
        self, graph_id: str, inherits_from: Sequence[str], questions: Sequence[str]
    ) -> ReplayReport:
        """Play the script and answer the questions.

        Raises:
            Conflict: The graph has other parents, or a ref of the script names a different turn;
                nothing was played.
            NotFound: A parent does not exist; nothing was played.
        """
        started = time.perf_counter()
        report = ReplayReport(graph_id, self._records, left_out=self._script.skipped)
        graph = await self._graph(graph_id, inherits_from)
        known = await self._stored_turns(graph)
        heard = await _last_audit(graph)
        before = (await graph.status()).cold
        for conversation in self._script.conversations:
            await self._play_conversation(graph, conversation, known, report)
        await self._ezra.drain_learning()
        report.answers = [await answer(graph, question) for question in questions]
        await self._finish(graph, heard, before, report)
        report.seconds = time.perf_counter() - started
        return report

    async def _graph(self, graph_id: str, inherits_from: Sequence[str]) -> Graph:
        try:
            graph = await self._ezra.session_graph(graph_id)
        except NotFound:
            return await self._ezra.create_session_graph(graph_id, inherits_from=inherits_from)
        if inherits_from and tuple(inherits_from) != graph.inherits_from:
            raise Conflict(
                f"parents of session graph {graph_id!r}", tuple(inherits_from), graph.inherits_from
            )
        return graph

    async def _stored_turns(self, graph: Graph) -> dict[str, Turn]:
        turns = [line for line in self._script.lines() if isinstance(line, TurnLine)]
        known = await graph.turns_by_ref([line.ref for line in turns])
        for line in turns:
            stored = known.get(line.ref)
            if stored is None or stored.redacted_at is not None or stored.retired_at is not None:
                continue  # what was destroyed stays so, and is compared with nothing
            expected = (line.agent, *_exchange(line))
            found = (stored.agent_id, stored.input, stored.response)
            if found != expected:
                raise Conflict(f"turn {line.ref}", expected, found)
        return known

    async def _play_conversation(
        self,
        graph: Graph,
        conversation: Conversation,
        known: dict[str, Turn],
        report: ReplayReport,
    ) -> None:
        agents = await self._spawn(graph, conversation)
        for turns, line in self._parted(conversation):
            await self._record(agents, turns, known, report)
            if line is None:
                continue
            was_new = line.ref not in known
            if was_new:
                try:
                    was_new = await self._play_line(agents[line.agent], line, report)
                except WriteRefused as refused:
                    report.problems.append(f"{line.ref}: {refused}")
                    was_new = False
            if isinstance(line, TurnLine):
                report.played += was_new
                report.known += not was_new
            self._on_line(line, was_new)
        tick = await self._ezra.run_lifecycle_tick(graph.id)
        report.problems += tick.problems
        report.waiting = tick.turns_waiting

    def _parted(self, conversation: Conversation) -> Iterator[tuple[list[TurnLine], Line | None]]:
        """Yield turns to record together, 100 at most, and the line that is played after them."""
        turns: list[TurnLine] = []
        for line in conversation.lines:
            if not self._records or not isinstance(line, TurnLine):
                yield turns, line
                turns = []
                continue
            turns.append(line)
            if len(turns) == BATCH_TURNS:
                yield turns, None
                turns = []
        yield turns, None

    async def _record(
        self,
        agents: Mapping[str, Agent],
        lines: Sequence[TurnLine],
        known: Mapping[str, Turn],
        report: ReplayReport,
    ) -> None:
        """Record turns in their order; on a server each agent's together, one after the other."""
        new_lines = [line for line in lines if line.ref not in known]
        past = await past_turns(map(_past, new_lines))
        recorders = {
            name: agent._recorder()  # noqa: SLF001 - no handle gives it: alone, an agent records itself
            for name, agent in agents.items()
            if not isinstance(agent, RemoteHandle)
        }
        if recorders:
            by = [(recorders[line.agent], one) for line, one in zip(new_lines, past, strict=True)]
            new = (await record_together(by)).new
        else:
            new = await _recorded_apart(agents, zip(new_lines, past, strict=True))
        report.played += new
        report.known += len(lines) - new
        for line in lines:
            self._on_line(line, line.ref not in known)

    async def _spawn(self, graph: Graph, conversation: Conversation) -> dict[str, Agent]:
        """Spawn one agent per speaker: its topics are those it names and the conversation's."""
        named: dict[str, set[str]] = defaultdict(set)
        for line in conversation.lines:
            named[line.agent].update(line.topics or ())
            if isinstance(line, BeliefLine) and line.topic:
                named[line.agent].add(line.topic)
        shared = self._topics.get(conversation.id, ())
        return {
            agent_id: await graph.spawn_agent(agent_id, topics=named[agent_id] | set(shared))
            for agent_id in conversation.agents
        }

    async def _play_line(
        self,
        agent: Agent,
        line: TurnLine | FactLine | RuleLine | BeliefLine,
        report: ReplayReport,
    ) -> bool:
        if isinstance(line, TurnLine):
            return await self._play_turn(agent, line, report)
        if isinstance(line, BeliefLine):
            await agent.commit(
                line.claim, topic=line.topic, key=line.key, value=line.value, ref=line.ref
            )
            return True
        return await self._remember(agent, line)

    async def _remember(self, agent: Agent, line: FactLine | RuleLine) -> bool:
        """Store a fact or rule; ``False`` where the line was played before and has ended since."""
        name = derived_id(
            UNRECORDED, "played", agent.graph_id, self._named_after[line.ref], line.content
        )
        try:
            await agent.remember(_record(line), topics=line.topics, id=name)
        except Conflict as conflict:
            # Nobody else has the id: its words were destroyed, or it has other topics since.
            if conflict.what != line.kind:
                raise
            return False
        return True

    async def _play_turn(self, agent: Agent, line: TurnLine, report: ReplayReport) -> bool:
        said, response = _exchange(line)
        turn = await agent.turn(
            said,
            at=line.at,
            speaker=line.speaker,
            topics=line.topics,
            ref=line.ref,
        )
        written = await turn.reply(response, line.tool_outputs)
        for step, elapsed in turn.step_ms.items():
            self._step_ms[step].append(elapsed)
        for name in turn.degraded:
            report.degraded[name] = report.degraded.get(name, 0) + 1
        return written.was_new

    async def _finish(
        self, graph: Graph, heard: int, before: dict[str, int], report: ReplayReport
    ) -> None:
        learnt = await self._ezra.drain_learning()
        report.problems += learnt.problems
        report.status = await graph.status()
        cold = report.status.cold
        new = {name: count - before[name] for name, count in cold.items()}
        report.added = {
            "facts": new["facts_core"] + new["facts_archival"],
            "rules": new["rules"],
            "beliefs": new["beliefs"],
        }
        report.summaries = cold["summaries"]
        report.covered = cold["covered_turns"]
        promoted = [event for event in await graph.audit(after=heard) if event.kind == "promoted"]
        reasons = {event.record_ids[0]: event.reason for event in promoted}
        facts = await graph.facts(list(reasons))
        report.promotions = [(fact.text, reasons[fact.id]) for fact in facts]
        report.steps = {step: _step_time(times) for step, times in self._step_ms.items()}


def _first_refs(script: Script) -> dict[str, str]:
    """Return, for each line to remember, the ref of the first one that says the same.

    They are stored once: what the first one stored must not come back by the second.
    """
    first: dict[tuple[object, ...], str] = {}
    lines = (line for line in script.lines() if isinstance(line, FactLine | RuleLine))
    return {
        line.ref: first.setdefault((line.kind, line.agent, line.topics, line.content), line.ref)
        for line in lines
    }


def _record(line: FactLine | RuleLine) -> Fact | Rule:
    """Return what a line asks to remember; a fact holds from when it was said."""
    if isinstance(line, RuleLine):
        return line.rule
    since = line.fact.valid_from or line.at
    return line.fact.model_copy(update={"valid_from": since})


async def _recorded_apart(
    agents: Mapping[str, Agent], told: Iterable[tuple[TurnLine, PastTurn]]
) -> int:
    """Let each agent record its own turns; return how many of all are new."""
    of_agent: dict[str, list[PastTurn]] = defaultdict(list)
    for line, past in told:
        of_agent[line.agent].append(past)
    return sum([(await agents[name].record(some)).new for name, some in of_agent.items()])


def _past(line: TurnLine) -> PastTurn:
    """Return a line as a turn that was had before."""
    said, response = _exchange(line)
    return PastTurn(
        message=said,
        response=response,
        at=line.at,
        speaker=line.speaker,
        topics=line.topics,
        ref=line.ref,
        tool_outputs=line.tool_outputs,
    )


def _exchange(line: TurnLine) -> tuple[str, str]:
    """Return input and response; a reply to nothing is what the agent said by itself."""
    return (line.text, line.response) if line.text.strip() else (line.response, "")


async def answer(graph: Graph, question: str, limit: int = SOURCES_SHOWN) -> Answer:
    """Answer from recall: the best source's own words, with all sources."""
    return answer_of(question, await graph.recall(question, limit=limit, kinds=ANSWER_KINDS))


def answer_of(question: str, found: RecallResult) -> Answer:
    """Return what a recall found as an answer with its sources."""
    sources = tuple(
        Source(
            ref=hit.ref or hit.id,
            kind=hit.kind,
            speaker=hit.speaker or hit.agent_id,
            at=hit.occurred_at or hit.valid_from or hit.recorded_at,
            score=hit.score,
            text=dated_text(hit),
            inherited_from=hit.inherited_from,
            id=hit.id,
            tier=hit.tier,
            folded=hit.folded,
            reason=found.reasons.get(hit.id),
            citation=hit.citation,
        )
        for hit in found.items
    )
    text = sources[0].text if sources else "Nothing is known about this."
    return Answer(
        question, text, sources, found.degraded, found.skipped, found.rerank_used, found.receipt_id
    )


async def _last_audit(graph: Graph) -> int:
    """Return the last ``seq`` of the graph's audit feed."""
    after = 0
    while events := await graph.audit(after=after):
        after = events[-1].seq
    return after


def _step_time(times: Sequence[float]) -> StepTime:
    ordered = sorted(times)
    p95 = ordered[min(len(ordered) - 1, int(len(ordered) * 0.95))]
    return StepTime(statistics.median(ordered), p95, sum(ordered))
