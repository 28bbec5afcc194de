"""The handle of an agent on a server, and of its turns."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from tiers.errors import BudgetExceeded, UsageError
from tiers.records import Ancestor, Fact

from ..handles.agent import Agent
from ..handles.recording import BATCH_TURNS, PastTurn, PastTurnLike, Recorded, past_turns
from ..handles.turn import Completion, OpenTurn, TurnAnswer
from ..mesh import ask_of
from ..operations import checks_arguments
from ..turn.output_checks import ToolOutputLike, check_usage, outputs_of
from ..turn.routing import Written
from ..wire import Asked, Nothing, Operation, agents, handles
from ..wire.agents import PastTurnAsked, RecordAsked
from ..wire.graphs import AgentAnswer
from .connection import Connection
from .handle import RemoteAgentBoard, RemoteDocuments, RemoteHandle, RemoteKnowledge

_PLACE = re.compile(r"^turns\[(\d+)\]")
REQUEST_BYTES_MAX = 2_000_000
"""Well below what a server reads of one request; a turn that is longer goes alone."""


class RemoteAgentRecording(RemoteHandle):
    """The part of an agent's handle that records what was said elsewhere."""

    async def record(self, turns: Iterable[PastTurnLike]) -> Recorded:
        """Record a history, as ``Agent.record`` does, in requests of 100 turns.

        Each is stored as a whole or not at all. One that got no answer is asked again where every
        turn of it has a ``ref``.

        Raises:
            BudgetExceeded: ``stored`` says how many turns were stored before.
            UsageError: A turn is not acceptable. What only the server can tell, a topic that is
                none, it tells when the turns before are stored.
        """
        operation = handles.AGENT.offered["record"].operation
        ids: list[str] = []
        new = 0
        for some in _requests(await past_turns(turns)):
            asked = RecordAsked(turns=tuple(some))
            is_named = all(one.ref is not None for one in some)
            try:
                done = await self.ask(replace(operation, repeats=is_named), asked)
            except BudgetExceeded as refusal:
                raise refusal.after(new) from refusal
            except UsageError as error:
                raise _misplaced(error, len(ids)) from error
            ids += done.ids
            new += done.new
        return Recorded(tuple(ids), new)


def _requests(past: Sequence[PastTurn]) -> Iterator[list[PastTurnAsked]]:
    """Yield what one request brings: bounded in turns, and in bytes of JSON."""
    some: list[PastTurnAsked] = []
    size = 0
    for one in past:
        asked = PastTurnAsked.model_construct(one.model_fields_set, **one.__dict__)
        length = len(asked.model_dump_json(exclude_unset=True).encode())
        size += length
        if some and (len(some) == BATCH_TURNS or size > REQUEST_BYTES_MAX):
            yield some
            some, size = [], length
        some.append(asked)
    if some:
        yield some


def _misplaced(error: UsageError, before: int) -> UsageError:
    """Return what is wrong with a turn of a request with its place in the whole history."""
    field = _PLACE.sub(lambda place: f"turns[{int(place[1]) + before}]", error.field)
    return UsageError(field, error.value, error.accepted)


_A = TypeVar("_A", bound=Asked)
_R = TypeVar("_R")


class RemoteTurn(OpenTurn):
    """A turn on a server, whose context is ready and whose answer is not there yet.

    The server keeps it for an hour, unless others of the same token need its room.
    """

    def __init__(self, agent: RemoteAgent, answer: TurnAnswer) -> None:
        self._agent = agent
        self._answer = answer

    @property
    def answer(self) -> TurnAnswer:
        """All of it as one value, as the server said it."""
        return self._answer

    @checks_arguments()
    async def reply(
        self,
        response: str,
        tool_outputs: Iterable[ToolOutputLike] = (),
        *,
        usage_tokens: int | None = None,
    ) -> Written:
        """Remember the turn. When this returns it is durable; as ``OpenTurn.reply``.

        Raises:
            Conflict: The turn was replied to before, or its ``ref`` names a different turn.
            ErasedMeanwhile: An erasure that ran while it was open reaches it: its user, its agent
                or a subject of its words was erased. Nothing was stored: open the turn anew.
            NotFound: The server does not keep the turn any more: open it anew.
        """
        check_usage(usage_tokens)
        asked = agents.ReplyAsked(
            response=response,
            tool_outputs=tuple(outputs_of(tool_outputs)),
            usage_tokens=usage_tokens,
        )
        done = await self._ask(agents.TURN_REPLY, asked)
        self._answer = replace(self._answer, course=done.course)
        return done.written

    async def complete(self) -> str:
        """Ask the server's model without remembering the answer yet.

        Raises:
            NotFound: The server does not keep the turn any more: open it anew.
        """
        done = await self._ask(agents.TURN_COMPLETE, Nothing())
        self._answer = replace(self._answer, course=done.course)
        return done.response

    async def _ask(self, operation: Operation[_A, _R], asked: _A) -> _R:
        """Ask the server about the turn, also where its agent has left: what it thought is kept."""
        return await RemoteHandle.ask(self._agent, operation, asked, turn_id=self.id)


class RemoteAgent(RemoteAgentRecording, RemoteHandle, Agent, of=Agent):
    """One agent of a session graph on a server.

    Made by ``spawn_agent`` and ``agent`` of a graph's handle.

    Args:
        connection: To the server.
        graph_id: The agent's graph.
        spawned: What the server said of the agent.
    """

    def __init__(self, connection: Connection, graph_id: str, spawned: AgentAnswer) -> None:
        names = {"graph_id": graph_id, "agent_id": spawned.id}
        super().__init__(connection, handles.AGENT, names)
        self._spawned = spawned
        self._present = True

    @property
    def id(self) -> str:
        """The agent's id in its graph."""
        return self._spawned.id

    @property
    def graph_id(self) -> str:
        """The session graph that it is a member of."""
        return self._names["graph_id"]

    @property
    def topics(self) -> tuple[str, ...]:
        """What the agent may see and write, as it was when the handle was made."""
        return self._spawned.topics

    @property
    def core_at_spawn(self) -> tuple[Fact, ...]:
        """The core facts in scope when the agent was spawned, inherited ones included."""
        return self._spawned.core_at_spawn

    @property
    def lineage(self) -> tuple[Ancestor, ...]:
        """The graphs that the agent's graph inherited from when the handle was made."""
        return self._spawned.lineage

    @property
    def knowledge(self) -> RemoteKnowledge:
        """The knowledge graph over the facts that the agent sees, to read and to change."""
        return RemoteKnowledge(self._connection, handles.AGENT_KNOWLEDGE, self._names)

    @property
    def documents(self) -> RemoteDocuments:
        """The documents that the agent sees, and those that it puts."""
        return RemoteDocuments(self._connection, handles.AGENT_DOCUMENTS, self._names)

    @property
    def board(self) -> RemoteAgentBoard:
        """The graph's board as the agent sees it: messages, tasks, and what agents did."""
        return RemoteAgentBoard(self._connection, handles.AGENT_BOARD, self._names)

    async def _ask(self, name: str, given: dict[str, Any]) -> Any:  # noqa: ANN401 - as the method
        if given.get("mesh") is not None:
            given["mesh"] = ask_of(given["mesh"])
        answer = await super()._ask(name, given)
        if isinstance(answer, TurnAnswer):
            return RemoteTurn(self, answer)
        if isinstance(answer, agents.CompletionAnswer):
            turn = RemoteTurn(self, answer.turn)
            return Completion(answer.response, answer.model, turn, answer.written)
        return answer

    async def leave(self) -> None:
        """Leave the graph. Idempotent; the graph closes when its last agent has left."""
        if self._present:
            await self.ask(self._of.offered["leave"].operation, Nothing())
            self._present = False

    def release(self) -> None:
        """Be no longer of use: the graph was closed."""
        self._present = False

    async def ask(self, operation: Operation[_A, _R], asked: _A, **names: str) -> _R:
        """Ask the server for something that this agent does.

        Raises:
            UsageError: The agent has left.
        """
        if not self._present:
            raise UsageError("agent", self.id, "an agent that has not left its graph")
        return await self._connection.call(operation, asked, **self._names, **names)
