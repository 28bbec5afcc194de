"""What each kind of record says: all that redacting it destroys. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from functools import singledispatch
from typing import Any

from ..board import Card
from ..documents import Document, Passage
from ..records import Commitment, Episode, Fact, Owned, Rule, Summary, Turn


@singledispatch
def texts_of(record: Owned) -> Iterable[str]:
    """Return what a record says: all that redacting it destroys. Names of tools are none of it."""
    message = f"{type(record).__name__} has no texts"
    raise TypeError(message)


@texts_of.register
def _of_turn(turn: Turn) -> Iterable[str]:
    return (turn.speaker, turn.input, turn.response, *(one.output for one in turn.tool_outputs))


@texts_of.register
def _of_summary(summary: Summary) -> Iterable[str]:
    return (summary.text,)


@texts_of.register
def _of_episode(episode: Episode) -> Iterable[str]:
    return (episode.text,)


@texts_of.register
def _of_fact(fact: Fact) -> Iterable[str]:
    return filter(None, (fact.text, fact.subject, fact.predicate, fact.object))


@texts_of.register
def _of_rule(rule: Rule) -> Iterable[str]:
    former = (step for version in rule.former for step in version.steps)
    return (rule.trigger, *rule.steps, *former)


@texts_of.register
def _of_belief(belief: Commitment) -> Iterable[str]:
    return (belief.claim, *(belief.key or ()), *filter(None, (belief.value,)))


@texts_of.register
def _of_document(document: Document) -> Iterable[str]:
    return (
        document.name,
        document.title,
        document.text,
        *said_in(document.properties, names=True),
    )


@texts_of.register
def _of_passage(passage: Passage) -> Iterable[str]:
    return (*passage.headings, passage.text)


@texts_of.register
def _of_card(card: Card) -> Iterable[str]:
    said = said_in(card.details, names=True)
    return (card.type, card.title, card.text, card.machine, *card.tags, *said)


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
