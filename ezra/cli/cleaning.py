"""What the terminal is told of an erasure: what it reached, and which stores are not clean yet."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..erasure.redaction import RedactionReport
from .command import Answer


def redaction_answer(done: RedactionReport, said: str) -> Answer:
    """Return the answer of a command that destroys content; exit code 1 while a store is not clean.

    Args:
        done: What came of it.
        said: What was destroyed, in words.
    """
    count = sum(len(ids) for ids in done.ids.values())
    lines = (f"{said}, {count:,} records and receipts in all", *_of_graphs(done))
    return Answer(done, lines, code=0 if done.is_complete else 1)


def not_clean(waiting: Mapping[str, str], graph: str = "") -> Iterator[str]:
    """Yield a line for each store that is not clean yet, of another graph with its name."""
    for store, why in waiting.items():
        yield f"not clean yet: {f'{graph}, ' if graph else ''}{store}: {why}"


def _of_graphs(done: RedactionReport, graph: str = "") -> Iterator[str]:
    yield from not_clean(done.waiting, graph)
    for name, one in done.branches.items():
        yield from _of_graphs(one, name)
