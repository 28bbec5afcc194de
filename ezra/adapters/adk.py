"""Google ADK: a memory service over ``ezra``, and a toolset. Install ``ezra[adk]``.

An application is a session graph of its name, and each of its users is an agent of it: what
sessions say is seen by their user's agent alone, and found in all sessions of that user. An
operator may make the graph beforehand, with the graphs that it inherits from.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from tiers.errors import NotFound, UsageError, WriteRefused
from tiers.extras import needs
from tiers.fencing import flat, quoted
from tiers.fields import TEXT_CHARS_MAX
from tiers.forms import dated_text
from tiers.paging import parts
from tiers.records import Hit

from ..app import Ezra
from ..handles.agent import Agent
from ..handles.graph import Graph
from ..handles.lookup import graph_or_new, present
from ..handles.recording import PastTurn
from ..remote.ezra import RemoteEzra
from ..wire.tools import ToolSpec, agent_tools
from .adk_events import USER, name_of, ref_of, said_in, words_of
from .keeping import encodable

with needs("adk", "ezra.adapters.adk"):
    from google.adk.agents.readonly_context import ReadonlyContext
    from google.adk.events.event import Event
    from google.adk.memory.base_memory_service import BaseMemoryService, SearchMemoryResponse
    from google.adk.memory.memory_entry import MemoryEntry
    from google.adk.sessions.session import Session
    from google.adk.tools.base_tool import BaseTool
    from google.adk.tools.base_toolset import BaseToolset, ToolPredicate
    from google.adk.tools.tool_context import ToolContext
    from google.genai import types

AnyEzra: TypeAlias = Ezra | RemoteEzra
Finding: TypeAlias = Callable[[ReadonlyContext], Awaitable[Agent]]

LIMIT = 10
EVENTS_MAX = 10_000
DELETED = "deleted through ADK's memory service"

_NO_SESSION = "none"
_REFS_AT_ONCE = 500


class EzraMemoryService(BaseMemoryService):
    """ADK's memory service: sessions become turns, and recall answers searches.

    A user's message and the answer are one turn, with what tools returned on the way, whole. What
    memory itself returned is left out: it is remembered already, until it is forgotten. A session
    may be added again with more events, and events one by one: each is remembered once. A message
    without an answer yet is remembered by itself.

    Args:
        ezra: The runtime, in process or on a server; there the token must be an operator's.
        topics: What the users' agents may see and write; what is without topics if empty.
        limit: How many memories a search returns at most, 1 to 100.
    """

    def __init__(self, ezra: AnyEzra, *, topics: Iterable[str] = (), limit: int = LIMIT) -> None:
        self._ezra = ezra
        self._topics = tuple(topics)
        self._limit = limit

    async def add_session_to_memory(self, session: Session) -> None:
        """Remember what a session has said since it was added last."""
        await self._add(session.app_name, session.user_id, session.id, session.events)

    async def add_events_to_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        events: Sequence[Event],
        session_id: str | None = None,
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Remember those of some events that are not remembered yet; metadata is not kept."""
        del custom_metadata
        await self._add(app_name, user_id, session_id or _NO_SESSION, events)

    async def add_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        memories: Sequence[MemoryEntry],
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Remember statements as facts of the user; metadata is not kept.

        Raises:
            UsageError: One has no text; none is remembered.
            WriteRefused: The write guard has put one aside; the others are remembered.
        """
        del custom_metadata
        texts = [words_of(memory.content) for memory in memories]
        if not all(texts):
            raise UsageError("memories", "without text", "memories with text")
        agent = await self.agent(app_name, user_id)
        refused: WriteRefused | None = None
        for text in texts:
            try:
                await agent.remember(text)
            except WriteRefused as error:
                refused = refused or error  # one that is put aside keeps no other out
        if refused is not None:
            raise refused

    async def search_memory(
        self, *, app_name: str, user_id: str, query: str
    ) -> SearchMemoryResponse:
        """Return what is remembered about a question, best first; nothing of a blank one."""
        if not query.strip():
            return SearchMemoryResponse()
        agent = await self.agent(app_name, user_id)
        found = await agent.recall(encodable(query[:TEXT_CHARS_MAX]), limit=self._limit)
        return SearchMemoryResponse(memories=[_entry(hit, user_id) for hit in found.items])

    async def delete_memory(
        self, *, app_name: str, user_id: str, memory_id: str | None = None
    ) -> None:
        """Forget a fact on request; its tombstone stays.

        What was said in a session is history: ``graph.redact`` destroys it, with proof.

        Raises:
            NotFound: It is no live fact that the user's agent sees.
        """
        agent = await self.agent(app_name, user_id)
        if memory_id is None or not await agent.forget(memory_id, reason=DELETED):
            raise NotFound("fact", memory_id or "")

    async def agent(self, app_name: str, user_id: str) -> Agent:
        """Return the agent of a user of an application; graph and agent are made when new.

        Raises:
            UsageError: No graph may have the name of the application.
        """
        return await self._agent(await self._graph(app_name), user_id)

    async def agent_in(self, context: ReadonlyContext) -> Agent:
        """Return the agent of whoever ADK is running for; what ``EzraToolset`` asks."""
        session = context.session
        return await self.agent(session.app_name, session.user_id)

    async def _graph(self, app_name: str) -> Graph:
        return await graph_or_new(self._ezra, name_of(app_name))

    async def _agent(self, graph: Graph, user_id: str) -> Agent:
        # Named apart from agents that are spawned under a name of their own.
        agent_id, user = name_of(f"adk:{user_id}"), name_of(user_id)
        found = await present(graph.agent(agent_id))
        return found or await graph.spawn_agent(agent_id, topics=self._topics, user_id=user)

    async def _add(
        self, app_name: str, user_id: str, session_id: str, events: Sequence[Event]
    ) -> None:
        if len(events) > EVENTS_MAX:
            raise UsageError("events", len(events), f"at most {EVENTS_MAX:,} of one session")
        if not events:
            return
        refs = {event.id: ref_of(user_id, session_id, event.id) for event in events}
        graph = await self._graph(app_name)
        known: set[str] = set()
        for some in parts(list(refs.values()), _REFS_AT_ONCE):
            known |= set(await graph.turns_by_ref(some))
        agent = await self._agent(graph, user_id)
        await agent.record(
            PastTurn(
                message=said.text,
                response=said.response,
                at=said.at,
                speaker=name_of(user_id if said.author == USER else said.author),
                ref=refs[said.event_id],
                tool_outputs=said.outputs,
            )
            for said in said_in(events, lambda event_id: refs[event_id] in known)
        )


class EzraToolset(BaseToolset):
    """The tools by which a model uses memory: recall, remember_fact, read_tool_output, ….

    Args:
        agent: The agent whose memory it is; or what finds it by the context of the run, such as
            ``EzraMemoryService.agent_in``. What a model says never chooses it.
        tool_filter: Which of the tools: their names, or a predicate of ADK.
        tool_name_prefix: Put before each name.
    """

    def __init__(
        self,
        agent: Agent | Finding,
        *,
        tool_filter: ToolPredicate | list[str] | None = None,
        tool_name_prefix: str | None = None,
    ) -> None:
        super().__init__(tool_filter=tool_filter, tool_name_prefix=tool_name_prefix)
        self._tools: list[BaseTool] = [MemoryTool(spec, agent) for spec in agent_tools()]

    async def get_tools(self, readonly_context: ReadonlyContext | None = None) -> list[BaseTool]:
        """Return the tools that the filter lets through."""
        return [one for one in self._tools if self._is_tool_selected(one, readonly_context)]


class MemoryTool(BaseTool):
    """One tool over an agent's memory.

    Args:
        spec: Which.
        agent: The agent, or what finds it.
    """

    def __init__(self, spec: ToolSpec, agent: Agent | Finding) -> None:
        super().__init__(name=spec.name, description=spec.description)
        self._spec = spec
        self._agent = agent

    def _get_declaration(self) -> types.FunctionDeclaration:
        return types.FunctionDeclaration(
            name=self.name,
            description=self.description,
            parameters_json_schema=self._spec.parameters,
        )

    async def run_async(self, *, args: dict[str, Any], tool_context: ToolContext) -> dict[str, Any]:
        """Return what memory answers; ``{"error": …}`` for a call that is to be mended."""
        agent = self._agent(tool_context) if callable(self._agent) else self._agent
        return await self._spec.answered(agent, args)


def _entry(hit: Hit, user_id: str) -> MemoryEntry:
    # ADK's tools put memories into a prompt, one below the other: none may look like another.
    role = "user" if hit.speaker == name_of(user_id) else "model"
    return MemoryEntry(
        id=hit.id,
        content=types.Content(role=role, parts=[types.Part(text=quoted(dated_text(hit)))]),
        author=flat(hit.speaker) or None,
        timestamp=(hit.occurred_at or hit.recorded_at).isoformat(),
        custom_metadata={"kind": hit.kind, "score": round(hit.score, 4)},
    )
