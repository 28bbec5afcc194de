"""Does what platforms ask of agents: statements, knowledge brought, contexts compared."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from ..context_report import ContextReport
from ..injecting import Injected
from ..remembering_facts import RememberedFact
from ..wire import platform as wire
from .acting import acting
from .caller import Caller
from .desk import Desk
from .handlers import handlers

Names: TypeAlias = Mapping[str, str]


@handlers.does(wire.REMEMBER_FACT)
async def remember_fact(
    desk: Desk, caller: Caller, names: Names, asked: wire.RememberFactAsked
) -> RememberedFact:
    """Remember a statement once."""
    return await (await acting(desk, caller, names)).remember_fact(**asked.said)


@handlers.does(wire.INJECT)
async def inject(desk: Desk, caller: Caller, names: Names, asked: wire.InjectAsked) -> Injected:
    """Bring what is known about a message."""
    return await (await acting(desk, caller, names)).inject(**asked.said)


@handlers.does(wire.CONTEXT_REPORT)
async def context_report(
    desk: Desk, caller: Caller, names: Names, asked: wire.ContextReportAsked
) -> ContextReport:
    """Return how an agent's last contexts followed one another."""
    return await (await acting(desk, caller, names)).context_report(**asked.said)
