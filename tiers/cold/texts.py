"""What each kind of record says: all that redacting it destroys. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from ..board import Card
from ..documents import Document, Passage
from ..quarantine import Quarantined
from ..records import Commitment, Episode, Fact, Owned, Rule, Summary, Turn

T = TypeVar("T")


def _of_rule(rule: Rule) -> Iterable[str]:
    former = (step for version in rule.former for step in version.steps)
    return (rule.trigger, *rule.steps, *former)


def _of_card(card: Card) -> Iterable[str]:
    said = said_in(card.details, names=True)
    return (card.type, card.title, card.text, card.machine, *card.tags, *said)


_TEXTS: Mapping[type[Owned], Callable[[Any], Iterable[str]]] = {
    Turn: lambda one: (one.speaker, one.input, one.response, *(t.output for t in one.tool_outputs)),
    Summary: lambda one: (one.text,),
    Episode: lambda one: (one.text,),
    Fact: lambda one: filter(None, (one.text, one.subject, one.predicate, one.object)),
    Rule: _of_rule,
    Commitment: lambda one: (one.claim, *(one.key or ()), *filter(None, (one.value,))),
    Document: lambda one: (
        *(one.name, one.title, one.text),
        *said_in(one.properties, names=True),
    ),
    Passage: lambda one: (*one.headings, one.text),
    Card: _of_card,
    Quarantined: lambda one: (one.text, *said_in(one.payload, names=True)),
}


def texts_of(record: Owned) -> Iterable[str]:
    """Return what a record says: all that redacting it destroys. Names of tools are none of it."""
    return of_kind(_TEXTS, record, "has no texts")(record)


def of_kind(table: Mapping[type[Any], T], record: Owned, problem: str) -> T:
    """Return what a table has for a record of its type, or of one that it is a form of.

    Raises:
        TypeError: It has nothing.
    """
    for kind in type(record).__mro__:
        if kind in table:
            return table[kind]
    message = f"{type(record).__name__} {problem}"
    raise TypeError(message)


def said_in(whole: Any, *, names: bool = False) -> Iterable[str]:  # noqa: ANN401 - any JSON
    """Yield every text of a JSON value; with ``names`` what its values are called, too."""
    waiting: list[Any] = [whole]
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict):
            waiting += [*value, *value.values()] if names else value.values()
        elif isinstance(value, list | tuple):
            waiting += value
