"""The handles whose methods are operations: where each is found, and who may use it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, Strict, TypeAdapter

from tiers.fields import Record, Word
from tiers.records import AuditFilter, Grain

from ..beliefs.history import History
from ..documents import Documents
from ..erasure.taint.handle import Taint
from ..handles.agent import Agent
from ..handles.board import AgentBoard
from ..handles.catalog import Catalog
from ..handles.graph import Graph
from ..handles.graph_board import GraphBoard
from ..handles.knowledge import Knowledge
from ..handles.quarantine import QuarantineReview
from ..handles.tenant import Tenant
from ..handles.turn import OpenTurn, TurnAnswer
from ..operations import EventsPage
from ..recall.request import (
    KINDS_NAMED_MAX,
    KindNamed,
    ModeName,
    ScopeName,
    checked_grains,
    checked_kinds,
)
from .agents import (
    CatalogRememberAsked,
    CompletionAnswer,
    RecordAsked,
    RememberAsked,
    ReplyAsked,
    ToolOutputAsked,
)
from .derivation import Handle
from .graphs import (
    AGENT_PATH,
    GRAPH_PATH,
    AgentAnswer,
    GraphAnswer,
    RevokedAnswer,
    SpawnAsked,
)
from .operation import LISTED, Asked, Count, Nothing, Number, Operation, Switch, Time


class RecallAsked(Asked):
    """A question to recall, and what narrows it."""

    query: str
    limit: Number = 10
    kinds: (
        Annotated[
            tuple[KindNamed, ...],
            Field(max_length=KINDS_NAMED_MAX),
            BeforeValidator(checked_kinds),
            LISTED,
        ]
        | None
    ) = None
    scope: ScopeName = "any"
    as_of: Time | None = None
    rerank: Switch = True
    mode: ModeName = "hybrid"
    grains: Annotated[tuple[Grain, ...], BeforeValidator(checked_grains), LISTED] = ()
    min_days_ago: Number = 0
    max_days_ago: Number | None = None
    topics: Annotated[tuple[str, ...], LISTED] | None = None
    all_topics: Annotated[tuple[str, ...], LISTED] | None = None
    ids: Annotated[tuple[str, ...], LISTED] = ()
    token_budget: Number | None = None
    depth: Number = 1
    explain: Switch = False
    receipt: Switch = False
    half_life_days: Annotated[float, Strict()] | None = None

    @property
    def writes(self) -> bool:
        """A receipt is kept."""
        return self.receipt


class CatalogRecallAsked(RecallAsked):
    """As ``Catalog.recall``; there is one scope class, the catalog."""

    scope: Literal["any"] = "any"

    @property
    def arguments(self) -> dict[str, Any]:
        """What was said, by keyword; there is one scope."""
        return {name: one for name, one in super().arguments.items() if name != "scope"}


KINDS_MAX = 64


class AuditAsked(Asked):
    """A page of the feed, and the fields of ``AuditFilter`` beside it."""

    after: Count = 0
    limit: EventsPage = 1000
    kinds: Annotated[tuple[str, ...], Field(max_length=KINDS_MAX)] = ()
    graph_id: Word | None = None
    agent_id: Word | None = None
    record_id: str | None = None
    since: Time | None = None
    until: Time | None = None
    before: Annotated[Count, Field(ge=1)] | None = None

    @classmethod
    def of(cls, *, only: AuditFilter | None = None, **given: Any) -> Self:  # noqa: ANN401
        """Return what is asked for one page of the events that ``only`` describes."""
        wanted = {} if only is None else only.model_dump(exclude_unset=True)
        return cls(**given, **wanted)

    @property
    def arguments(self) -> dict[str, Any]:
        """The arguments of ``audit``."""
        only = AuditFilter(**self.model_dump(exclude={"after", "limit"}))
        return {"after": self.after, "limit": self.limit, "only": only}


_CATALOG_PATH = "/v1/catalog"

AGENT = Handle(
    "agent",
    AGENT_PATH,
    Agent,
    "see",
    "act",
    {
        "read_tool_output": ToolOutputAsked,
        "recall": RecallAsked,
        "record": RecordAsked,
        "remember": RememberAsked,
    },
    {"complete": CompletionAnswer, "turn": TurnAnswer},
)
AGENT_BOARD = Handle("agent.board", f"{AGENT_PATH}/board", AgentBoard, "see", "act")
AGENT_DOCUMENTS = Handle("agent.documents", f"{AGENT_PATH}/documents", Documents, "see", "act")
AGENT_KNOWLEDGE = Handle("agent.knowledge", f"{AGENT_PATH}/knowledge", Knowledge, "see", "act")
BELIEFS = Handle("beliefs", f"{GRAPH_PATH}/beliefs", History, "read", "operate")
CATALOG = Handle(
    "catalog",
    _CATALOG_PATH,
    Catalog,
    "read",
    "operate",
    {"audit": AuditAsked, "recall": CatalogRecallAsked, "remember": CatalogRememberAsked},
)
CATALOG_DOCUMENTS = Handle(
    "catalog.documents", f"{_CATALOG_PATH}/documents", Documents, "read", "operate"
)
GRAPH = Handle(
    "graph",
    GRAPH_PATH,
    Graph,
    "read",
    "operate",
    {"audit": AuditAsked, "recall": RecallAsked, "spawn_agent": SpawnAsked},
    {
        "agent": AgentAnswer,
        "branch": GraphAnswer,
        "configure": GraphAnswer,
        "inherit": GraphAnswer,
        "revoke": RevokedAnswer,
        "spawn_agent": AgentAnswer,
    },
)
GRAPH_BOARD = Handle("graph.board", f"{GRAPH_PATH}/board", GraphBoard, "read", "operate")
GRAPH_DOCUMENTS = Handle("graph.documents", f"{GRAPH_PATH}/documents", Documents, "read", "operate")
GRAPH_KNOWLEDGE = Handle("graph.knowledge", f"{GRAPH_PATH}/knowledge", Knowledge, "read", "operate")
GRAPH_QUARANTINE = Handle(
    "graph.quarantine", f"{GRAPH_PATH}/quarantine", QuarantineReview, "read", "operate"
)
GRAPH_TAINT = Handle("graph.taint", f"{GRAPH_PATH}/taint", Taint, "read", "operate")

TENANT = Handle(
    "tenant",
    "/v1",
    Tenant,
    "read",
    "operate",
    {"audit": AuditAsked},
    {"create_session_graph": GraphAnswer},
)

HANDLES = (
    AGENT,
    AGENT_BOARD,
    AGENT_DOCUMENTS,
    AGENT_KNOWLEDGE,
    BELIEFS,
    CATALOG,
    CATALOG_DOCUMENTS,
    GRAPH,
    GRAPH_BOARD,
    GRAPH_DOCUMENTS,
    GRAPH_KNOWLEDGE,
    GRAPH_TAINT,
    GRAPH_QUARANTINE,
    TENANT,
)


_ASKED_OF: Mapping[type[Asked], Callable[..., Any]] = {
    AuditAsked: Graph.audit,
    CatalogRecallAsked: Catalog.recall,
    CatalogRememberAsked: Catalog.remember,
    RecallAsked: Agent.recall,
    RememberAsked: Agent.remember,
    ReplyAsked: OpenTurn.reply,
    SpawnAsked: Graph.spawn_agent,
    ToolOutputAsked: Agent.read_tool_output,
}
for _asked, _method in _ASKED_OF.items():
    _asked.method = _method


class ExportedAnswer(Record):
    """What a streamed export holds: ``Exported`` without the path, which is the caller's."""

    events: int
    redacted: int
    heads: int
    last_hash: str
    key_id: str | None


EXPORT = Operation(
    "beliefs.export",
    "GET",
    f"{BELIEFS.path}/export",
    Nothing,
    TypeAdapter(ExportedAnswer),
    "read",
    "The whole log as a file that anybody can verify; what it holds is told by a header.",
)
"""No handler does it: its answer is a file, and ``ANSWER_HEADER`` has what it says."""
