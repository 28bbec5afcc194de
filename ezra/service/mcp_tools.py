"""The tools of MCP: each one call of the agent's handle, described for a model.

The docstring of a method of ``MemoryTools`` is what a model reads before it calls the tool.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Annotated, Any, Literal

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError, UnexpectedToolError
from mcp.server.mcpserver.tools import Tool
from mcp_types import ToolAnnotations
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from tiers.errors import EzraError, NotFound, UsageError
from tiers.fields import NAME_CHARS_MAX, TEXT_CHARS_MAX, TOPICS_MAX
from tiers.plans import AnyGrain
from tiers.records import Fact, Grain, Kind, Rule

from ..checks import checked
from ..request import DAYS_MAX, ModeName, Narrowing, ScopeName
from ..tool_outputs import RANGE_CHARS
from ..turn import ToolOutputLike
from .desk import Desk
from .mcp_agents import Seat, Seats
from .mcp_answers import (
    Belief,
    Beliefs,
    Days,
    Explained,
    Finished,
    Forgotten,
    Handoff,
    OutputShown,
    Recalled,
    Remembered,
    Started,
)
from .mcp_beliefs import explained
from .mcp_handoff import handoff_of

ITEMS_MAX = 50
BELIEFS_MAX = 200
OUTPUTS_MAX = 64
STEPS_MAX = 64
OUTPUT_RANGE_MAX = 50_000
PROBLEM_CHARS_MAX = 1_000

Id = Annotated[str, Field(min_length=1, max_length=NAME_CHARS_MAX)]
Name = Annotated[str, Field(max_length=NAME_CHARS_MAX)]
"""Empty stands for none: an argument that may be text or nothing is read as JSON on the way."""
Long = Annotated[str, Field(max_length=TEXT_CHARS_MAX)]
Topics = Annotated[
    tuple[Name, ...],
    Field(max_length=TOPICS_MAX, description="Topics, among yours; all of yours if not given."),
]
Question = Annotated[
    str, Field(min_length=1, max_length=TEXT_CHARS_MAX, description="A question or keywords.")
]
Limit = Annotated[int, Field(ge=1, le=ITEMS_MAX, description="How many at most.")]
DaysAgo = Annotated[int, Field(ge=0, le=DAYS_MAX)]
Moment = Annotated[
    str,
    Field(
        max_length=64,
        description="Answer as of this time, ISO 8601 with its zone: 2026-05-14T12:00:00Z.",
    ),
]
Reason = Annotated[
    str, Field(min_length=1, max_length=2_000, description="What was asked for, and why.")
]


class ToolOutputGiven(BaseModel):
    """What a tool returned on the way to an answer."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    tool: Id
    output: Long


class MemoryTools:
    """The tools over one desk.

    Args:
        desk: Hands out handles, and keeps turns that wait for their reply.
        seats: Finds the agent of a caller.
        seat: Returns the agent of whoever is asking now.
    """

    def __init__(self, desk: Desk, seats: Seats, seat: Callable[[], Awaitable[Seat]]) -> None:
        self._desk = desk
        self._seats = seats
        self._seat = seat

    async def recall(
        self,
        query: Question,
        kinds: Annotated[
            tuple[Kind, ...], Field(max_length=8, description="Only these kinds; all if empty.")
        ] = (),
        limit: Limit = 10,
        scope: Annotated[
            ScopeName,
            Field(
                description="session: this graph; user: facts of your user; agent: your own; "
                "tenant: documents and what is inherited; any: all."
            ),
        ] = "any",
        as_of: Moment = "",
        min_days_ago: DaysAgo = 0,
        max_days_ago: DaysAgo | None = None,
        topics: Topics = (),
        grains: Annotated[
            tuple[Grain, ...], Field(max_length=5, description="Of episodes only these.")
        ] = (),
        mode: ModeName = "hybrid",
    ) -> Recalled:
        """Find what is remembered about a question: facts, turns, beliefs, rules, episodes.

        Call this before you answer from memory. Best first; each item says when it was
        recorded and who said it.
        """
        more: Narrowing = {
            "mode": mode,
            "grains": grains,
            "min_days_ago": min_days_ago,
            "max_days_ago": max_days_ago,
            "topics": topics or None,
        }
        found = await (await self._seat()).agent.recall(
            query, limit=limit, kinds=kinds or None, scope=scope, as_of=_moment(as_of), **more
        )
        return Recalled.of(found)

    async def search_memory(
        self,
        text: Annotated[Long, Field(description="What it is about; empty lists the latest.")] = "",
        grain: Annotated[
            AnyGrain, Field(description="working: single turns; else episodes of that length.")
        ] = "working",
        min_days_ago: DaysAgo = 0,
        max_days_ago: DaysAgo = 365,
        max_results: Limit = 10,
    ) -> Days:
        """List what happened in a window of days, each line beginning with its day or period.

        For questions about when. If nothing is found, follow the hint.
        """
        found = await (await self._seat()).agent.search_memory(
            text or None,
            grain=grain,
            min_days_ago=min_days_ago,
            max_days_ago=max_days_ago,
            max_results=max_results,
        )
        return Days.of(found)

    async def remember_fact(
        self,
        text: Annotated[Long, Field(description="One statement in words.")] = "",
        subject: Annotated[Long, Field(description="With predicate and object: a triple.")] = "",
        predicate: Long = "",
        object: Long = "",  # noqa: A002 - the third of a triple is called that
        topics: Topics = (),
        scope: Annotated[
            Literal["user", "agent"],
            Field(description="user: agents of your user see it; agent: only you."),
        ] = "user",
        supersedes: Annotated[
            Name, Field(description="Id of the fact that this one corrects and replaces.")
        ] = "",
    ) -> Remembered:
        """Remember one statement: give text, or subject, predicate and object, or both.

        One fact a call, complete in itself. The same statement is stored once.
        """
        triple = {"subject": subject, "predicate": predicate, "object": object}
        said = {name: value for name, value in triple.items() if value}
        fact_id = await (await self._seat()).agent.remember(
            checked(Fact, text=text, **said),
            topics=topics or None,
            private=scope == "agent",
            supersedes=supersedes or None,
        )
        return Remembered(id=fact_id)

    async def remember_rule(
        self,
        trigger: Annotated[
            str, Field(min_length=1, max_length=2_000, description="When to do it.")
        ],
        steps: Annotated[tuple[Long, ...], Field(min_length=1, max_length=STEPS_MAX)],
        topics: Topics = (),
        scope: Literal["user", "agent"] = "user",
    ) -> Remembered:
        """Remember how something is done: when the trigger matches what is asked, do the steps."""
        rule_id = await (await self._seat()).agent.remember(
            checked(Rule, trigger=trigger, steps=steps),
            topics=topics or None,
            private=scope == "agent",
        )
        return Remembered(id=rule_id)

    async def read_tool_output(
        self,
        turn_id: Annotated[Id, Field(description="A turn's id from recall, or its ref.")],
        index: Annotated[
            int, Field(ge=0, le=10_000, description="Which of the turn's outputs, from 0.")
        ] = 0,
        start: Annotated[
            int, Field(ge=0, le=TEXT_CHARS_MAX, description="The first character.")
        ] = 0,
        length: Annotated[int, Field(ge=1, le=OUTPUT_RANGE_MAX)] = RANGE_CHARS,
    ) -> OutputShown:
        """Read what a tool returned during a turn, word for word, a range at a time.

        Summaries leave out what you need here: read on from next_start instead of guessing.
        """
        agent = (await self._seat()).agent
        return OutputShown.of(await agent.read_tool_output(turn_id, index, start, length))

    async def commit_belief(
        self,
        claim: Annotated[Long, Field(min_length=1, description="What you hold to be true.")],
        topic: Annotated[Name, Field(description="One of your topics.")] = "",
        key: Annotated[
            tuple[Long, ...],
            Field(max_length=2, description="[subject, attribute]: what it is about."),
        ] = (),
        value: Annotated[Long, Field(description="What the attribute is held to be.")] = "",
        *,
        private: Annotated[bool, Field(description="Whether only you may see it.")] = False,
        ref: Annotated[
            Name, Field(description="Your name for it: the same ref commits once.")
        ] = "",
    ) -> Belief:
        """Commit to a belief that others rely on; the history keeps it, with who and when.

        A belief that contradicts it is settled at once: look at status and superseded_by.
        """
        if len(key) == 1:
            raise UsageError("key", key, "[subject, attribute]")
        belief = await (await self._seat()).agent.commit(
            claim,
            topic=topic or None,
            key=(key[0], key[1]) if key else None,
            value=value or None,
            private=private,
            ref=ref or None,
        )
        return Belief.of(belief)

    async def beliefs(
        self,
        as_of: Moment = "",
        turn: Annotated[
            int | None, Field(ge=0, description="Or as of this turn of the graph, from 1.")
        ] = None,
        limit: Annotated[int, Field(ge=1, le=BELIEFS_MAX)] = 100,
    ) -> Beliefs:
        """List the active beliefs that you see, or those that were active at a moment."""
        if as_of and turn is not None:
            raise UsageError("turn", turn, "a turn or as_of, not both")
        point = turn if turn is not None else _moment(as_of)
        return Beliefs.of(await (await self._seat()).agent.beliefs(as_of=point), limit)

    async def explain_belief(self, belief_id: Id) -> Explained:
        """Say where a belief came from, what it replaced, and what replaced it."""
        seat = await self._seat()
        graph = await self._seats.graph(seat)
        member = await self._seats.member(graph, seat.agent.id)
        if member is None:
            raise NotFound("agent", seat.agent.id)
        return await explained(graph, member, belief_id)

    async def forget(self, fact_id: Id, reason: Reason) -> Forgotten:
        """Forget a fact, ONLY when a person has explicitly asked for it to be forgotten.

        Never call it to tidy up or to correct: remember_fact with supersedes corrects. The fact
        is in no answer from then on; a tombstone with the reason stays.
        """
        done = await (await self._seat()).agent.forget(fact_id, reason=reason)
        return Forgotten(fact_id=fact_id, forgotten=done)

    async def start_turn(
        self,
        message: Annotated[Long, Field(min_length=1, description="What was said to you.")],
        speaker: Annotated[Name, Field(description="Who said it.")] = "",
        topics: Topics = (),
        *,
        private: Annotated[bool, Field(description="Whether only you may see the turn.")] = False,
        ref: Annotated[Name, Field(description="Your name for the turn.")] = "",
    ) -> Started:
        """Open a turn: returns the messages to answer from, with what memory knows put in.

        Answer them, then call finish_turn with the turn_id. A turn that is not finished within
        an hour is not remembered.
        """
        seat = await self._seat()
        turn = await seat.agent.turn(
            message,
            speaker=speaker or None,
            topics=topics or None,
            private=private,
            ref=ref or None,
        )
        self._desk.keep(seat.graph_id, seat.agent.id, turn)
        return Started.of(turn)

    async def finish_turn(
        self,
        turn_id: Id,
        response: Annotated[Long, Field(description="What you answered.")],
        tool_outputs: Annotated[
            tuple[ToolOutputGiven, ...],
            Field(max_length=OUTPUTS_MAX, description="What tools returned on the way, whole."),
        ] = (),
    ) -> Finished:
        """Remember a turn that start_turn opened: your answer, and what tools returned."""
        seat = await self._seat()
        turn = self._desk.turn(seat.graph_id, seat.agent.id, turn_id)
        outputs: list[ToolOutputLike] = [one.model_dump() for one in tool_outputs]
        written = await turn.reply(response, outputs)
        return Finished(turn_id=written.turn.id, seq=written.turn.seq, was_new=written.was_new)

    async def session_handoff(
        self, turns: Annotated[int, Field(ge=1, le=20, description="How many last turns.")] = 5
    ) -> Handoff:
        """Summarise this session for the next one: active beliefs, core facts, last turns."""
        return await handoff_of(await self._seat(), turns)


READS = ToolAnnotations(
    read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)
ADDS = ToolAnnotations(
    read_only_hint=False, destructive_hint=False, idempotent_hint=False, open_world_hint=False
)
ADDS_ONCE = ADDS.model_copy(update={"idempotent_hint": True})
ENDS = ADDS_ONCE.model_copy(update={"destructive_hint": True})
"""Superseding and forgetting end what was there; done twice, they do no more."""


class MemoryTool(Tool):
    """A tool that refuses unknown arguments, and whose problems are told in one short line."""

    drop: Callable[[], None] = Field(exclude=True)

    async def run(
        self,
        arguments: dict[str, Any],
        context: Context[Any, Any],
        convert_result: bool = False,  # noqa: FBT001, FBT002 - as the SDK calls it
    ) -> Any:  # noqa: ANN401 - as the SDK declares it
        """Run the tool.

        Raises:
            ToolError: What was asked is not acceptable, or an error of ezra.
        """
        unknown = sorted(set(arguments) - set(self.parameters.get("properties", {})))
        if unknown:
            raise ToolError(_short(f"there is no argument {', '.join(unknown)}"))
        try:
            return await super().run(arguments, context, convert_result)
        except UnexpectedToolError as crash:
            if not isinstance(crash.__cause__, EzraError):
                raise
            raise self._told(crash.__cause__) from crash.__cause__
        except ToolError as refused:
            if not isinstance(refused.__cause__, ValidationError):
                raise
            raise ToolError(_short(_of_arguments(refused.__cause__))) from refused.__cause__

    def _told(self, error: EzraError) -> ToolError:
        if isinstance(error, UsageError) and error.field == "agent":
            self.drop()
        return ToolError(_short(f"{type(error).__name__}: {error}"))


def tools_of(tools: MemoryTools, drop: Callable[[], None]) -> list[Tool]:
    """Return the tools as the SDK takes them.

    Args:
        tools: What they do.
        drop: Forgets the handle of whoever asks: its agent has left.
    """
    hints: dict[Callable[..., Any], ToolAnnotations] = {
        tools.recall: READS,
        tools.search_memory: READS,
        tools.read_tool_output: READS,
        tools.beliefs: READS,
        tools.explain_belief: READS,
        tools.session_handoff: READS,
        tools.remember_fact: ENDS,
        tools.remember_rule: ADDS_ONCE,
        tools.commit_belief: ADDS.model_copy(update={"destructive_hint": True}),
        tools.forget: ENDS,
        tools.start_turn: ADDS,
        tools.finish_turn: ADDS,
    }
    return [_tool(function, hint, drop) for function, hint in hints.items()]


def _tool(
    function: Callable[..., Any], hints: ToolAnnotations, drop: Callable[[], None]
) -> MemoryTool:
    described = " ".join((function.__doc__ or "").split())
    made = Tool.from_function(function, description=described, annotations=hints)
    parts = {name: getattr(made, name) for name in Tool.model_fields}
    parts["parameters"] = {**made.parameters, "additionalProperties": False}
    return MemoryTool(**parts, drop=drop)


def _moment(text: str) -> datetime | None:
    """Return the moment that is asked about, if any.

    Raises:
        UsageError: It is none, or has no zone.
    """
    if not text:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None:
        raise UsageError("as_of", text, "a time with its zone, such as 2026-05-14T12:00:00Z")
    return moment


def _of_arguments(error: ValidationError) -> str:
    """Return what is wrong with the arguments, without what they said."""
    problems = error.errors(include_url=False, include_context=False, include_input=False)[:5]
    return "; ".join(
        f"{'.'.join(map(str, one['loc'])) or 'arguments'}: {one['msg']}" for one in problems
    )


def _short(text: str) -> str:
    return text if len(text) <= PROBLEM_CHARS_MAX else f"{text[: PROBLEM_CHARS_MAX - 1]}…"
