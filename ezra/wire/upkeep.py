"""Lifecycle, learning, re-embedding, queued work, redaction and the signing key, as operations."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, TypeAdapter

from metaagents.lifecycle.reports import LifecycleReport
from metaagents.reindex.agent import ReembedReport
from metaagents.reindex.rules import Reembedding
from metaagents.work import WorkReport
from tiers.records import Text, Work

from ..erasure.redaction import RedactionReport
from ..mesh import SourceAbout
from ..moving.graph_status import Health
from ..operations import IDS_MAX
from .operation import Asked, Nothing, Operation
from .points import LISTED

_WorkIds = Annotated[tuple[str, ...], Field(max_length=IDS_MAX), LISTED]


class EraseAsked(Asked):
    """As ``erase``: a subject or a user, and why."""

    subject: Text | None = None
    user_id: Text | None = None
    reason: Text


class RerunAsked(Asked):
    """As ``Ezra.rerun_work``."""

    work_ids: _WorkIds


TICK = Operation(
    "lifecycle.tick",
    "POST",
    "/v1/graphs/{graph_id}/lifecycle",
    Nothing,
    TypeAdapter(LifecycleReport),
    "operate",
    "Compress, consolidate and evict for one graph now, and move it on if it is time.",
)
LEARN = Operation(
    "learning.drain",
    "POST",
    "/v1/learning",
    Nothing,
    TypeAdapter(WorkReport),
    "operate",
    "Finish all learning that is due.",
)
SOURCES = Operation(
    "mesh.sources",
    "GET",
    "/v1/mesh",
    Nothing,
    TypeAdapter(tuple[SourceAbout, ...]),
    "read",
    "Every live source with what it may be asked, and by whom.",
)
REEMBEDDING = Operation(
    "reembedding.get",
    "GET",
    "/v1/reembedding",
    Nothing,
    TypeAdapter(Reembedding | None),
    "read",
    "How far re-embedding with another model has come; null when there is nothing to do.",
)
REEMBED = Operation(
    "reembedding.finish",
    "POST",
    "/v1/reembedding",
    Nothing,
    TypeAdapter(ReembedReport),
    "operate",
    "Finish re-embedding now, or say what stopped it.",
)
ARCHIVAL_INDEX = Operation(
    "archival_index.ensure",
    "POST",
    "/v1/archival-index",
    Nothing,
    TypeAdapter(str),
    "operate",
    "Make or check the vector index of a cold tier that searches facts by meaning itself.",
)
HEALTH = Operation(
    "health.get",
    "GET",
    "/v1/health",
    Nothing,
    TypeAdapter(Health),
    "read",
    "Whether each tier answers, and in how many milliseconds; 200 also where one does not.",
)
METRICS = Operation(
    "metrics.get",
    "GET",
    "/v1/metrics",
    Nothing,
    TypeAdapter(str),
    "read",
    "The numbers in Prometheus' text form, as JSON; Prometheus itself reads /metrics.",
)
WAITING = Operation(
    "work.waiting",
    "GET",
    "/v1/waiting-work",
    Nothing,
    TypeAdapter(dict[str, int]),
    "read",
    "How much work waits, by kind, and how much is parked.",
)
PARKED = Operation(
    "work.parked",
    "GET",
    "/v1/parked-work",
    Nothing,
    TypeAdapter(tuple[Work, ...]),
    "read",
    "Work that failed too often, with its problem.",
)
RERUN = Operation(
    "work.rerun",
    "POST",
    "/v1/parked-work",
    RerunAsked,
    TypeAdapter(int),
    "operate",
    "Try parked work again; answers how many items were put back.",
    repeats=False,
)
ERASE = Operation(
    "tenant.erase",
    "POST",
    "/v1/erasures",
    EraseAsked,
    TypeAdapter(dict[str, RedactionReport]),
    "operate",
    "Erase a subject or a user from every graph of the tenant and from its catalog.",
    repeats=False,
)
PUBLIC_KEY = Operation(
    "key.get",
    "GET",
    "/v1/key",
    Nothing,
    TypeAdapter(str),
    "read",
    "The key by which others verify what this installation signs; hexadecimal.",
)
ROTATE_KEY = Operation(
    "key.rotate",
    "POST",
    "/v1/key",
    Nothing,
    TypeAdapter(str),
    "operate",
    "Make a new signing key, for which the present one vouches.",
    repeats=False,
)
