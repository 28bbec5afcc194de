"""What callers pass in, made into records or refused by name."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import TypeVar, get_args
from uuid import UUID

from tiers.errors import Conflict, UnfitRecord, UsageError
from tiers.fields import NAMED_MAX
from tiers.fleet import CATALOG
from tiers.lexical import is_blank
from tiers.records import ALL_TOPICS, MergeStrategy, Parent, Record, SessionGraph, Source, Turn

from .arguments import checked_name

_R = TypeVar("_R", bound=Record)


def checked(
    record: type[_R], names: Mapping[str, str] = MappingProxyType({}), /, **values: object
) -> _R:
    """Return ``record(**values)`` of what a caller said; what does not fit is a ``UsageError``.

    A plain one, as it comes over a wire: the caller makes no record, and knows of none.

    Args:
        record: Of which kind.
        names: What the caller calls a field that has another name.
        values: Its fields.
    """
    try:
        return record(**values)
    except UnfitRecord as error:
        raise UsageError(_as_called(error.field, names), error.value, error.accepted) from error


@contextmanager
def called(**names: str) -> Iterator[None]:
    """Tell what is refused in the block by what its caller calls it.

    Args:
        names: That, by what it is called further in.
    """
    try:
        yield
    except UsageError as error:
        field = _as_called(error.field, names)
        if field == error.field:
            raise
        raise UsageError(field, error.value, error.accepted) from error


def _as_called(field: str, names: Mapping[str, str]) -> str:
    name, *inner = re.split(r"(?=[.\[])", field, maxsplit=1)
    return "".join((names.get(name, name), *inner))


SKEW = timedelta(minutes=1)
"""So far the clocks of several machines may be apart, and so long a question may be on its way."""

TEXT_ACCEPTED = "text that is not blank"

KNOWN_MAX = 200
"""So many names are looked at for one that is near a name that is not there."""


def check_text(field: str, given: object, accepted: str = TEXT_ACCEPTED) -> None:
    """Refuse what is no text, or says nothing.

    Raises:
        UsageError: It is none, or does not.
    """
    if not isinstance(given, str) or is_blank(given):
        raise UsageError(field, given, accepted)


def checked_topic(topic: str | None) -> str | None:
    """Return the topic that something is about, where there is one, as topics are compared.

    Raises:
        UsageError: It is no topic.
    """
    if topic is None:
        return None
    try:
        return checked(Turn, topics=(topic,)).topics[0]
    except UsageError as error:
        raise UsageError("topic", topic, error.accepted) from error


def narrowing_topics(field: str, given: Iterable[str] | None, *, every: bool) -> tuple[str, ...]:
    """Return the topics that an answer is kept to; none where it is kept to all of them.

    Args:
        field: What the topics are called where they were given.
        given: Names of topics, or ``*``, which every record meets, as an agent that holds it does.
        every: Whether a record needs every one of them, or just one.

    Raises:
        UsageError: They are no names of topics.
    """
    if given is None:
        return ()
    topics = checked(Turn, {"topics": field}, topics=given).topics
    if every:
        return tuple(one for one in topics if one != ALL_TOPICS)
    return () if ALL_TOPICS in topics else topics


def checked_key(key: Sequence[str] | None) -> tuple[str, str] | None:
    """Return a belief's key, where there is one, in the one spelling in which keys are compared.

    Raises:
        UsageError: It has not just two parts, or one of them says nothing.
    """
    if key is None:
        return None
    if len(key) != len(("subject", "attribute")):
        raise UsageError("key", key, "[subject, attribute]")
    for part in key:
        check_text("key", part, "[subject, attribute], neither of them blank")
    return part_of_key(key[0]), part_of_key(key[1])


def part_of_key(said: str) -> str:
    """Return a part of a key without space around it, however its accents were typed."""
    return unicodedata.normalize("NFC", said.strip())


def checked_id(field: str, given: object) -> str:
    """Return the id that a caller chose for what is to be stored.

    Raises:
        UsageError: It is no UUID in its usual form.
    """
    try:
        if isinstance(given, str) and str(UUID(given)) == given:
            return given
    except ValueError:
        pass
    example = "0198a1b2-0c3d-7e4f-8a5b-6c7d8e9fa0b1"
    raise UsageError(field, given, f"a UUID in small letters with hyphens, such as {example}")


def checked_ids(field: str, given: object, most: int = NAMED_MAX) -> tuple[str, ...]:
    """Return ids that a caller named, in the order given.

    Raises:
        UsageError: They are no list of texts, as a single text is none, or too many.
    """
    accepted = f"a list of at most {most:,} ids"
    if not isinstance(given, Collection) or isinstance(given, str | bytes | Mapping):
        raise UsageError(field, given, accepted)
    if len(given) > most:
        raise UsageError(field, len(given), accepted)
    if not all(isinstance(one, str) for one in given):
        raise UsageError(field, given, accepted)
    return tuple(given)


def check_source(given: object) -> None:
    """Refuse what is no class of sources.

    Raises:
        UsageError: It is none.
    """
    if given not in get_args(Source):
        raise UsageError("source", given, ", ".join(get_args(Source)))


def parent_of(given: str | Parent, now: datetime) -> Parent:
    """Return a link made at ``now`` to what the caller named.

    Raises:
        UsageError: It is no name, or the parent is to be read as of a moment that is to come.
    """
    link = checked(Parent, id=given) if isinstance(given, str) else given
    if not isinstance(link, Parent):
        raise UsageError("inherits_from", given, "the id of a graph, or a Parent")
    as_of = None if link.as_of is None else come_by("as_of", link.as_of, now)
    return link.model_copy(update={"as_of": as_of, "linked_at": now})


def come_by(field: str, moment: datetime, now: datetime) -> datetime:
    """Return a moment as of which a graph is read for good: now for one just ahead of this clock.

    What is read as of a moment to come goes on changing until then, so that it is no past at all.

    Raises:
        UsageError: The moment is to come.
    """
    if moment > now + SKEW:
        raise UsageError(field, moment.isoformat(), f"a time up to now, {now.isoformat()}")
    return min(moment, now)


def apart_from_now(asked: datetime | None, said: datetime, now: datetime) -> datetime | None:
    """Return the moment that is asked about; ``None`` for now, as of which whatever is there is.

    Args:
        asked: That moment, if one is named.
        said: The time of what is said now; later than ``now`` where the clock was set back.
        now: The time by the clock.
    """
    if asked is None or abs(asked - now) > SKEW:
        return asked
    return None if asked >= now or said > now else asked


def check_graph_id(session_graph_id: str) -> None:
    """Refuse an empty name and the catalog where a session graph is named.

    Raises:
        UsageError: It is empty, or the catalog, which every graph reads.
    """
    checked_name("session_graph_id", session_graph_id)
    if session_graph_id == CATALOG:
        raise UsageError("session_graph_id", CATALOG, "another id; ezra.catalog() is the catalog")


def check_agrees(asked: SessionGraph, there: SessionGraph, strategy: MergeStrategy | None) -> None:
    """Refuse a graph that is there where another one was asked for.

    Args:
        asked: The graph as it would be made.
        there: The graph of that id.
        strategy: The merge strategy that was asked for, if one was.

    Raises:
        Conflict: Its parents are others, what comes through from them included, or its strategy is.
    """
    what = f"session graph {asked.id!r}"
    wanted, found = (tuple(map(_link, one.parents)) for one in (asked, there))
    if wanted != found:
        expected, has = (", ".join(one) or "none" for one in (wanted, found))
        raise Conflict(f"{what} with parents", expected, has)
    if strategy is not None and strategy != there.merge_strategy:
        raise Conflict(f"{what} with merge strategy", strategy, there.merge_strategy)


def _link(parent: Parent) -> str:
    """Return a link to a parent in words; when it was made is no part of it."""
    then = f" as of {parent.as_of.isoformat()}" if parent.as_of is not None else ""
    rules = "" if parent.rules else " without rules"
    more = " with episodes" * parent.episodes + " with archival facts" * parent.archival
    return f"{parent.id}{then}{rules}{more}"
