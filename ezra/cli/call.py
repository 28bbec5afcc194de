"""``ezra call``: every operation of the memory by its name, as the handles offer it.

Commands that people use often are written: they have words, tables and questions of their own.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import reduce
from typing import Annotated, Any

import typer

from tiers.errors import NotFound, UsageError

from ..wire.derivation import Handle, Offered
from ..wire.handles import HANDLES, TENANT
from .command import Answer, Rows
from .doors import Memory
from .options import fields_of


async def call(
    memory: Memory,
    operation: Annotated[str | None, typer.Argument()] = None,
    names: Annotated[list[str] | None, typer.Argument()] = None,
    asked: Annotated[list[str] | None, typer.Option("--with", metavar="NAME=VALUE")] = None,
) -> Answer:
    """Call any operation by the name that REST has for it, and print its answer; or list them all.

    For what no other command does. An answer is one JSON document, with and without --json.

    Args:
        operation: Such as graph.knowledge.entity; all are listed if not given.
        names: What its address names, in order: the graph, the agent, an id.
        asked: What it asks, as JSON or as plain text. Repeatable.

    Examples:
        ezra call
        ezra call graph.latest_facts imola --with limit=2
        ezra call agent.commit imola strategist --with claim='It will rain.' --with topic=sky
    """
    if operation is None:
        rows = [(name, " ".join(_names(one))) for name, one in _operations()]
        return Answer([name for name, _ in rows], [Rows(("operation", "names"), rows)])
    there = dict(_operations())
    offered = there.get(operation)
    if offered is None:
        raise NotFound("operation", operation).beside(list(there))
    wanted = _names(offered)
    if len(names or ()) != len(wanted):
        raise UsageError("names", " ".join(names or ()), " ".join(wanted) or "none")
    named = dict(zip(wanted, names or (), strict=True))
    arguments = offered.operation.asks.of(**_values(asked or ())).arguments
    handle = await _handle(memory, offered.handle, named)
    in_path = {name: named[part] for name, part in offered.in_path.items()}
    found = await getattr(handle, offered.method_name)(**in_path, **arguments)
    document = json.loads(offered.operation.answers.dump_json(found))
    return Answer(document, [lambda screen: screen.document(document)])


def _operations() -> Iterator[tuple[str, Offered]]:
    for handle in HANDLES:
        for method, offered in handle.offered.items():
            if method in handle.answers:
                continue  # what it returns is there for as long as this process
            yield offered.offer.name or f"{handle.name}.{method}", offered


def _names(offered: Offered) -> tuple[str, ...]:
    return (*offered.handle.names, *offered.in_path.values())


async def _handle(memory: Memory, handle: Handle, named: dict[str, str]) -> Any:  # noqa: ANN401
    """Return a handle of the agent, graph, catalog or tenant that is named."""
    first: Any
    match handle.names:
        case () if handle is TENANT:
            first = await memory.open()
        case ():
            first = await (await memory.open()).catalog()
        case (graph_id,):
            first = await memory.session_graph(named[graph_id])
        case _:
            first = await memory.session_agent(*(named[name] for name in handle.names))
    return reduce(getattr, handle.attributes, first)


def _values(given: Sequence[str]) -> dict[str, Any]:
    """Return what is asked, by name.

    Raises:
        UsageError: One is not ``NAME=VALUE``, or a name is there twice.
    """
    values: dict[str, Any] = {}
    for name, text in fields_of("--with", given).items():
        try:
            values[name] = json.loads(text)
        except ValueError:
            values[name] = text
    return values
