"""The labelled sets that learning is measured on: read from the package, and checked.

What the fields mean to who writes a set is in ``sets/README.md``.
"""

from __future__ import annotations

from importlib.resources import files
from typing import Literal, Self, TypeVar

from pydantic import Field, ValidationError, model_validator

from tiers.errors import UsageError, refused
from tiers.fields import Misfit
from tiers.records import Moment, Name, Record, Source, Text

FOLDER = "sets"
EITHER = "|"
"""Between words of which one is enough."""

R = TypeVar("R", bound=Record)


class Label(Record):
    """One fact that a turn states.

    Attributes:
        subject: Names of whom it is about, one of which a fact must have; the speaker's if none.
        attribute: What is said of them, for people who read the set.
        values: Words that a fact must have, each of them; ``a|b`` accepts either.
        says: Words without which the values say the opposite; ``""``: there are none.
        wrong: Words that make a fact false unless all values are there too.
        negated: Whether the fact denies its values; ``"either"`` where good wording does both.
        since: When it began to be true, as the beginning of an ISO date; ``""``: not said.
    """

    subject: tuple[Name, ...] = ()
    attribute: Name
    values: tuple[Name, ...] = Field(min_length=1)
    says: str = ""
    wrong: tuple[Name, ...] = ()
    negated: bool | Literal["either"] = False
    since: str = Field(default="", pattern=r"^(\d{4}(-\d{2}){0,2})?$")


class SaidTurn(Record):
    """What somebody says, and what is to be learnt of it.

    Attributes:
        asked: What the agent said just before; ``""``: the talk begins with this turn.
        facts: Its labels; none: nothing may be learnt.
        also: Words of what else it says truly, which need not be learnt but may.
    """

    id: Name
    kind: Name
    speaker: Name
    asked: str = ""
    text: Text
    facts: tuple[Label, ...] = ()
    also: tuple[tuple[Name, ...], ...] = ()


class StatementSet(Record):
    """Turns of talk; ``at`` is when they are all said, and what the clock shows."""

    name: Name
    about: Text
    at: Moment
    turns: tuple[SaidTurn, ...]

    @model_validator(mode="after")
    def _ids_differ(self) -> Self:
        _once("id", [turn.id for turn in self.turns])
        return self


class Held(Record):
    """Something that is held or is not: words that a fact of it has, all of them.

    Attributes:
        values: The words; ``a|b`` accepts either.
    """

    values: tuple[Text, ...] = Field(min_length=1)

    def is_in(self, text: str) -> bool:
        """Whether a text has its words, whatever their case."""
        told = text.lower()
        return all(any(way in told for way in one.lower().split("|")) for one in self.values)


class DatedTurn(Record):
    """A message, by whom, and when it was said."""

    at: Moment
    speaker: Name
    text: Text


class Timeline(Record):
    """Messages days to months apart.

    Attributes:
        now: What holds at the end because something has changed.
        ended: What was said before and holds no more.
        still: What was said and holds still, though something like it was said after it.
    """

    id: Name
    turns: tuple[DatedTurn, ...] = Field(min_length=1)
    now: tuple[Held, ...] = ()
    ended: tuple[Held, ...] = ()
    still: tuple[Held, ...] = ()


class TimelineSet(Record):
    """Timelines."""

    name: Name
    about: Text
    timelines: tuple[Timeline, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _ids_differ(self) -> Self:
        _once("id", [one.id for one in self.timelines])
        return self


class Pair(Record):
    """Two statements, one after the other.

    Attributes:
        speaker: Who remembers the earlier.
        new_speaker: Who remembers the later; ``""``: the same.
        same: Whether they say the same, in a set of duplicates.
        contradict: Whether the later may take the place of the earlier though it says another
            thing; nobody may merge them.
        old_topics: Of the earlier.
        new_topics: Of the later.
    """

    id: Name
    kind: Name
    speaker: Name = "Ines"
    new_speaker: str = ""
    old: Text
    new: Text
    same: bool = False
    contradict: bool = False
    old_topics: tuple[Name, ...] = ()
    new_topics: tuple[Name, ...] = ()


class PairSet(Record):
    """Pairs of statements."""

    name: Name
    about: Text
    pairs: tuple[Pair, ...]

    @model_validator(mode="after")
    def _ids_differ(self) -> Self:
        _once("id", [pair.id for pair in self.pairs])
        return self


class Template(Record):
    """Two statements with slots: ``{city}``, and ``{city2}`` for another of the same."""

    kind: Name
    old: Text
    new: Text
    speaker: Text = "{name}"
    new_speaker: str = ""


class TemplateSet(Record):
    """Templates, what their slots are filled with, and how many pairs each makes."""

    name: Name
    about: Text
    seed: int
    fillings: int = Field(ge=1)
    slots: dict[str, tuple[Name, ...]]
    templates: tuple[Template, ...]


class Line(Record):
    """What somebody says to an agent, and what the agent answers; slots stand in both."""

    speaker: Text
    text: Text
    answer: str = "Noted."


class Talk(Record):
    """A conversation, with summaries of it and facts from it as a good model writes them.

    Attributes:
        false: Sentences in the same style that nobody said.
    """

    id: Name
    turns: tuple[Line, ...] = Field(min_length=1)
    summaries: tuple[Text, ...]
    facts: tuple[Text, ...]
    false: tuple[Text, ...] = ()


class HonestSet(Record):
    """Conversations; each sentence of their summaries and each of their facts is stated there."""

    name: Name
    about: Text
    at: Moment
    talks: tuple[Talk, ...]

    @model_validator(mode="after")
    def _ids_differ(self) -> Self:
        _once("id", [talk.id for talk in self.talks])
        return self


class Claim(Record):
    """A statement that nobody makes in some turns; with slots."""

    turns: tuple[Line, ...] = Field(min_length=1)
    text: str


class Family(Record):
    """Statements that are false in one way."""

    kind: Name
    claims: tuple[Claim, ...] = Field(min_length=1)


class HostileSet(Record):
    """Families of false statements, how often each is filled, and talk to put around them."""

    name: Name
    about: Text
    at: Moment
    seed: int
    fillings: int = Field(ge=1)
    slots: dict[str, tuple[Name, ...]]
    asides: tuple[Line, ...]
    families: tuple[Family, ...]


class AttackFamily(Record):
    """Texts of one kind; ``{slot}`` is filled, and ``spelling`` says how the whole is written."""

    name: Name
    source: Source
    texts: tuple[Text, ...] = Field(min_length=1)
    spelling: str = ""


class AttackSet(Record):
    """Families of texts that attack a memory, or that only look as if they did."""

    name: Name
    about: Text
    seed: int
    slots: dict[str, tuple[Name, ...]]
    families: tuple[AttackFamily, ...]


def attack_set(name: str) -> AttackSet:
    """Return a set of texts for the write guard; raises as ``statements``."""
    return _read(name, AttackSet)


def honest(name: str) -> HonestSet:
    """Return a set of conversations with what good models write; raises as ``statements``."""
    return _read(name, HonestSet)


def hostile(name: str) -> HostileSet:
    """Return a set of families of false statements; raises as ``statements``."""
    return _read(name, HostileSet)


def statements(name: str) -> StatementSet:
    """Return a set of turns by its name.

    Raises:
        UsageError: It is not part of this installation, or not in order.
    """
    return _read(name, StatementSet)


def pairs(name: str) -> PairSet:
    """Return a set of pairs by its name; raises as ``statements``."""
    return _read(name, PairSet)


def timelines(name: str) -> TimelineSet:
    """Return a set of timelines of this installation."""
    return _read(name, TimelineSet)


def templates(name: str) -> TemplateSet:
    """Return a set of templates by its name; raises as ``statements``."""
    return _read(name, TemplateSet)


def _read(name: str, form: type[R]) -> R:
    with refused(lambda why: UsageError("set", name, f"a set of this installation ({why})")):
        text = (files(__package__) / FOLDER / f"{name}.json").read_text(encoding="utf-8")
    return parsed(name, text, form)


def parsed(name: str, text: str, form: type[R]) -> R:
    """Return a set from its JSON.

    Raises:
        UsageError: It is not in order; the field is the set's name and the path to the mistake.
    """
    try:
        return form.model_validate_json(text)
    except ValidationError as error:
        first = Misfit.first_of(error)
        field = f"{name}: {first.field('document')}"
        raise UsageError(field, first.value, first.accepted) from error


def _once(field: str, values: list[str]) -> None:
    twice = sorted({value for value in values if values.count(value) > 1})
    if twice:
        raise ValueError(f"every {field} once; {', '.join(twice)} stand there twice")
