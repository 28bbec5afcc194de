"""What agents are asked that their methods do not say alone: turns, and what is remembered.

What people said or named travels in bodies. Addresses are for ids: proxies log them.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self, TypeAlias

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, TypeAdapter

from tiers.fields import TOPICS_MAX
from tiers.records import Fact, Rule, Source, ToolOutput

from ..handles.recording import PastTurn
from ..handles.tool_outputs import RANGE_CHARS
from ..handles.turn import Course, TurnAnswer
from ..turn.output_checks import OUTPUTS_MAX
from ..turn.routing import Written
from .graphs import AGENT_PATH
from .operation import LISTED, Asked, Count, Nothing, Number, Operation, Switch, Time

RECORDED_MAX = 1_000
"""So many turns are recorded by one request."""

_RULE_FIELDS = ("trigger", "steps")


class ReplyAsked(Asked):
    """What an agent answered, and what tools returned on the way."""

    response: str
    tool_outputs: tuple[ToolOutput, ...] = Field(default=(), max_length=OUTPUTS_MAX)
    usage_tokens: Number | None = None


class PastTurnAsked(PastTurn):
    """A turn that was had elsewhere."""

    at: Time | None = None


class RecordAsked(Asked):
    """Turns that were had elsewhere, in order."""

    turns: tuple[PastTurnAsked, ...] = Field(min_length=1, max_length=RECORDED_MAX)


def _form(what: object) -> str | None:
    """Return what is to be remembered, by what it looks like."""
    if isinstance(what, str):
        return "text"
    if isinstance(what, Rule) or (
        isinstance(what, dict) and any(name in what for name in _RULE_FIELDS)
    ):
        return "rule"
    return "fact" if isinstance(what, Fact | dict) else None


_What: TypeAlias = Annotated[
    Annotated[str, Tag("text")] | Annotated[Fact, Tag("fact")] | Annotated[Rule, Tag("rule")],
    Discriminator(
        _form,
        custom_error_type="no_memory",
        custom_error_message="text, a Fact or a Rule",
    ),
]


class ToolOutputAsked(Asked):
    """Which of a turn's outputs, and which range of it; ``length=all`` reads to the end.

    In the path stands a turn's id or ``ref``, or the key of an output, ``<turn id>/<index>``.
    """

    index: Count | None = None
    start: Count = 0
    length: Count | Literal["all"] = RANGE_CHARS

    @classmethod
    def of(cls, *, length: int | None = RANGE_CHARS, **given: Any) -> Self:  # noqa: ANN401
        """Return what is asked by a call of ``read_tool_output``."""
        return super().of(**given, length="all" if length is None else length)

    @property
    def arguments(self) -> dict[str, Any]:
        """The arguments of ``read_tool_output``."""
        return {**super().arguments, "length": None if self.length == "all" else self.length}


class RememberAsked(Asked):
    """What is to be remembered: text, the fields of a fact, or those of a rule."""

    what: _What
    topics: Annotated[tuple[str, ...], LISTED] | None = None
    private: Switch = False
    shared: Switch = False
    supersedes: str | None = None
    id: str | None = None
    source: Source = "user"


class CatalogRememberAsked(Asked):
    """As ``Catalog.remember``: text, the fields of a fact, or those of a rule."""

    what: str | Fact | Rule
    topics: Annotated[tuple[str, ...], Field(max_length=TOPICS_MAX), LISTED] | None = None
    supersedes: str | None = None


class _Answer(BaseModel):
    model_config = ConfigDict(frozen=True)


class ReplyAnswer(_Answer):
    """What was remembered of a turn, and how it went."""

    written: Written
    course: Course


class ResponseAnswer(_Answer):
    """What the configured model said, not remembered yet, and how it went."""

    response: str
    course: Course


class CompletionAnswer(_Answer):
    """What the configured model said, which model it was, what it saw, and what was remembered."""

    response: str
    model: str
    turn: TurnAnswer
    written: Written


TURN_REPLY = Operation(
    "turn.reply",
    "POST",
    f"{AGENT_PATH}/turns/{{turn_id}}/reply",
    ReplyAsked,
    TypeAdapter(ReplyAnswer),
    "act",
    "Remember a turn with its answer. It is stored once.",
    repeats=False,
)
TURN_COMPLETE = Operation(
    "turn.complete",
    "POST",
    f"{AGENT_PATH}/turns/{{turn_id}}/complete",
    Nothing,
    TypeAdapter(ResponseAnswer),
    "act",
    "Ask the configured model without remembering its answer yet.",
    repeats=False,
)
