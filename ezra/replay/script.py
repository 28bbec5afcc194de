"""What a replay plays: conversations as frozen records, validated before anything is played."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal, Self, TypeAlias

from pydantic import Field, StringConstraints, model_validator

from tiers.records import (
    Fact,
    FactTier,
    Moment,
    Name,
    Record,
    Rule,
    Text,
    ToolOutput,
    Topics,
)

_OF_FACTS = set("text subject predicate object tier confidence valid_from valid_to".split())


class _Said(Record):
    """What every line has, whatever its kind.

    Attributes:
        conversation: The conversation's id.
        ref: Unique in the script and the same in every reading of the same file.
        speaker: Who said it.
        agent: The agent that owns it.
        at: When it was said, in UTC.
        topics: ``None`` when the file names none, which is not the same as ``()``: deliberately
            none.
    """

    conversation: Name
    ref: Name
    speaker: Name
    agent: Name
    at: Moment
    topics: Topics | None = None


class TurnLine(_Said):
    """Something said, with its reply and what tools returned on the way to it."""

    kind: Literal["turn"] = "turn"
    text: Text = ""
    response: Text = ""
    tool_outputs: tuple[ToolOutput, ...] = ()

    @property
    def content(self) -> str:
        """The words of the line, reply included."""
        return f"{self.text}\n{self.response}" if self.response else self.text


class FactLine(_Said):
    """A fact that the speaker asks to be remembered."""

    kind: Literal["fact"] = "fact"
    text: Text = ""
    subject: Text | None = None
    predicate: Text | None = None
    object: Text | None = None
    tier: FactTier = "archival"
    confidence: float = Field(default=1.0, ge=0.0, le=1.0)
    valid_from: Moment | None = None
    valid_to: Moment | None = None

    @model_validator(mode="after")
    def _makes_a_fact(self) -> Self:
        # What cannot become a record must fail while reading, not half way through a replay.
        _ = self.fact
        return self

    @property
    def fact(self) -> Fact:
        """The record to remember."""
        # By ``model_validate``, whose error keeps the field that does not fit within a validator.
        said = self.model_dump(include=_OF_FACTS)
        return Fact.model_validate({**said, "topics": self.topics or ()})

    @property
    def content(self) -> str:
        """The words of the line."""
        return self.fact.text


class RuleLine(_Said):
    """A procedure that the speaker asks to be remembered."""

    kind: Literal["rule"] = "rule"
    trigger: Annotated[Text, StringConstraints(min_length=1)]
    steps: tuple[Text, ...] = Field(min_length=1)

    @property
    def rule(self) -> Rule:
        """The record to remember."""
        return Rule(trigger=self.trigger, steps=self.steps, topics=self.topics or ())

    @property
    def content(self) -> str:
        """The words of the line."""
        return self.rule.text


class BeliefLine(_Said):
    """A claim the speaker commits to; its one ``topic`` and ``key`` decide what it replaces."""

    kind: Literal["belief"] = "belief"
    claim: Annotated[Text, StringConstraints(min_length=1)]
    topic: str | None = None
    key: tuple[Name, Name] | None = None
    value: Text | None = None

    @property
    def content(self) -> str:
        """The words of the line."""
        return self.claim


Line: TypeAlias = Annotated[
    TurnLine | FactLine | RuleLine | BeliefLine, Field(discriminator="kind")
]


class Conversation(Record):
    """The lines of one conversation, in the order of its file.

    Attributes:
        skipped: Messages left out on purpose: instructions to a model, and messages that hold
            nothing; of a Markdown chat the parts behind a heading or a line of dashes that nobody
            says.
    """

    id: Name
    lines: tuple[Line, ...] = Field(min_length=1)
    skipped: int = Field(default=0, ge=0)

    @property
    def agents(self) -> tuple[str, ...]:
        """The agents that own a line, in order of first appearance."""
        return tuple(dict.fromkeys(line.agent for line in self.lines))


class Script(Record):
    """Conversations in the order to play them."""

    conversations: tuple[Conversation, ...] = Field(min_length=1)

    def __len__(self) -> int:
        """Return the number of lines of every kind."""
        return sum(len(conversation.lines) for conversation in self.conversations)

    def lines(self) -> Iterator[TurnLine | FactLine | RuleLine | BeliefLine]:
        """Yield every line, conversation by conversation."""
        for conversation in self.conversations:
            yield from conversation.lines

    @property
    def turns(self) -> int:
        """How many lines are turns."""
        return sum(line.kind == "turn" for line in self.lines())

    @property
    def skipped(self) -> int:
        """How many messages the files hold that are not played."""
        return sum(conversation.skipped for conversation in self.conversations)

    @property
    def agents(self) -> tuple[str, ...]:
        """The agents of all conversations, in order of first appearance."""
        return tuple(dict.fromkeys(line.agent for line in self.lines()))
