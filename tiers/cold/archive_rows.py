"""Rows of an archive as every engine takes them in. Pure."""

from __future__ import annotations

import re

from ..errors import UsageError
from ..records import LoggedBelief, Owned, ProjectedBelief, Receipt, Record, Scope
from ..upkeep import ARCHIVE_ROWS, Table
from .ownership import check_placed

_HEX = re.compile(r"(?:[0-9a-f]{2})*")


def core_of(record: Record) -> Record:
    """Return the part of a row that carries its identity."""
    if isinstance(record, LoggedBelief):
        return record.event
    return record.belief if isinstance(record, ProjectedBelief) else record


def check_tenant(tenant: str) -> None:
    """Refuse a tenant without a name.

    Raises:
        UsageError: It has none.
    """
    if not tenant:
        raise UsageError("tenant", tenant, "a name that is not empty")


def check_row(tenant: str, table: Table, record: Record) -> None:
    """Refuse a row that is no row of the tenant's table.

    Raises:
        UsageError: It is of another type or tenant, its salt is no salt, or its spans are not
            those of a belief with its status.
    """
    kind = ARCHIVE_ROWS[table]
    if not isinstance(record, kind):
        raise UsageError("rows", type(record).__name__, f"{kind.__name__} in table {table}")
    core = core_of(record)
    owner = getattr(core, "tenant", tenant)
    if owner != tenant:
        raise UsageError("rows", owner, f"rows of tenant {tenant!r}")
    if isinstance(core, Owned | Receipt):
        check_placed(Scope(tenant=tenant, graph_id=core.graph_id), core)
    if isinstance(record, LoggedBelief) and not _is_salt(record):
        raise UsageError("salt", record.event.id, "hex digits, absent together with the content")
    if isinstance(record, ProjectedBelief) and not _are_spans(record):
        accepted = "spans that follow each other, the last one open while the belief is active"
        raise UsageError("spans", record.belief.id, accepted)


def _are_spans(projected: ProjectedBelief) -> bool:
    spans, is_active = projected.spans, projected.belief.status == "active"
    ends = [span.until_seq for span in spans]
    begins = [span.since_seq for span in spans]
    closed = [end for end in ends if end is not None]
    is_open = bool(ends) and ends[-1] is None
    return (
        is_open == is_active
        and len(closed) == len(ends) - is_open
        and all(begin < end for begin, end in zip(begins, closed, strict=False))
        and all(end <= begin for end, begin in zip(closed, begins[1:], strict=False))
    )


def _is_salt(logged: LoggedBelief) -> bool:
    if logged.salt is None or logged.content is None:
        return logged.salt is None and logged.content is None
    return _HEX.fullmatch(logged.salt) is not None
