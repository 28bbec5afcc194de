"""The handles whose methods are operations: where each is found, and who may use it."""

from __future__ import annotations

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
from .agents import CatalogRememberAsked, RememberAsked
from .audit import AuditAsked
from .derivation import Handle
from .graphs import AGENT_PATH, GRAPH_PATH
from .operation import Nothing
from .recalling import CatalogRecallAsked, RecallAsked

_CATALOG_PATH = "/v1/catalog"

AGENT = Handle(
    "agent", AGENT_PATH, Agent, "see", "act", {"recall": RecallAsked, "remember": RememberAsked}
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
    "graph", GRAPH_PATH, Graph, "read", "operate", {"audit": AuditAsked, "recall": RecallAsked}
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
    {"audit": AuditAsked, "ensure_archival_index": Nothing},
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
